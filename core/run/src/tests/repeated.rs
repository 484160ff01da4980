//! Which checks are evaluated once more later.

use super::*;

fn shell(command: &str) -> ShellCheck {
    ShellCheck::new(command)
}

/// Whether `first` is repeated where a later step has the check `later`.
fn is_repeated(first: ShellCheck, later: ShellCheck) -> bool {
    let check = Check::Shell(first);
    let one = Step { checks: vec![check.clone()], ..step(1) };
    let two = Step { checks: vec![Check::Shell(later)], ..step(2) };
    begin(vec![one, two]).is_repeated(1, &check)
}

#[test]
fn a_negated_command_is_repeated_unless_a_later_step_turns_it() {
    let fails = |command| ShellCheck { expect: Expectation::Fail, ..shell(command) };
    let below = |command| ShellCheck { cwd: Some("sub".to_owned()), ..shell(command) };
    let table = [
        (shell("make"), shell("make"), true),
        (shell("! grep -r old src"), shell("make"), true),
        (shell("! make test"), shell("make test"), false),
        (shell(" !  make test "), shell(" make test"), false),
        (shell("! make test"), shell("make tests"), true),
        (shell("! make test"), shell("! make test"), true),
        (shell("! make test"), fails("make test"), true),
        (shell("! make test"), below("make test"), true),
        (fails("make test"), shell("make"), false),
        (fails("! make test"), shell("make"), false),
    ];
    for (first, later, repeated) in table {
        assert_eq!(is_repeated(first.clone(), later.clone()), repeated, "{first:?}, {later:?}");
    }
    // What an earlier step verifies does not turn it.
    let red = Check::Shell(shell("! make"));
    let steps = [Check::Shell(shell("make")), red.clone()].map(|check| vec![check]);
    let steps = (1..).zip(steps).map(|(n, checks)| Step { checks, ..step(n) }).collect();
    assert!(begin(steps).is_repeated(2, &red));
}

#[test]
fn what_only_a_person_verifies_is_not_repeated() {
    let file = Check::Artifact { path: "f".to_owned(), assertion: Assertion::Exists };
    let page = Check::Browser { url: "u".to_owned(), check: "c".to_owned() };
    let look = Check::HumanReview { prompt: "nice?".to_owned() };
    let run = begin(vec![step(1)]);
    assert_eq!([file, page, look].map(|check| run.is_repeated(1, &check)), [true, false, false]);
}
