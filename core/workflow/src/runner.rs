//! The test runners that a check starts by their names.

use super::command::outside_quotes;
use super::implied::started_program;
use super::named::each_command;

/// A test runner that a command line starts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TestRunner {
    /// Its name, as people write it.
    pub name: &'static str,
    /// The option or verb with which it runs no test, but lists or builds them.
    pub lists: Option<&'static str>,
}

/// Program, verb or option that makes it one, and what makes it run no test. All of them say at their
/// end how many tests ran, unless they are told to be silent.
/// Sources: the manuals of cargo 1.95, cargo-nextest 0.9, pytest 8, Jest 29, Vitest 3, Mocha 11,
/// Node 22, Go 1.24, CTest 3.31, .NET 9, RSpec 3 and PHPUnit 11.
const RUNNERS: [(&str, &str, &str); 13] = [
    ("cargo", "test", "--no-run --list --help"),
    ("cargo", "nextest", "list --no-run --help"),
    ("pytest", "", "--collect-only --co --setup-plan --fixtures --markers --version --help"),
    ("py.test", "", "--collect-only --co --setup-plan --fixtures --markers --version --help"),
    ("unittest", "", "--help"),
    ("jest", "", "--listTests --showConfig --version --help"),
    ("vitest", "", "list --version --help"),
    ("mocha", "", "--dry-run --list-files --version --help"),
    ("node", "--test", ""),
    ("go", "test", "-list -c -n"),
    ("ctest", "", "-N --show-only --print-labels --version --help"),
    ("rspec", "", "--dry-run --version --help"),
    ("phpunit", "", "--list-tests --list-suites --list-groups --version --help"),
];

/// The test runners of a command line, in its order.
pub fn test_runners(command: &str) -> Vec<TestRunner> {
    let mut found = Vec::new();
    each_command(&outside_quotes(command), "", 0, &mut |_, _, words| {
        found.extend(test_runner(words));
    });
    found
}

fn test_runner(words: &[&str]) -> Option<TestRunner> {
    let [program, arguments @ ..] = started_program(words) else { return None };
    let name = program.rsplit('/').next().unwrap_or_default();
    // A Python with a path or a version.
    let (name, arguments) = match arguments {
        ["-m", module, rest @ ..] if name.starts_with("python") => (*module, rest),
        _ => (name, arguments),
    };
    let verb = arguments.iter().find(|word| !word.starts_with(['-', '+']));
    let is_one = |(program, verb_or_option, _): &&(&str, &str, &str)| {
        let asks = match *verb_or_option {
            "" => true,
            option if option.starts_with('-') => arguments.contains(&option),
            expected => verb.is_some_and(|verb| *verb == expected),
        };
        *program == name && asks
    };
    let (program, _, listing) = RUNNERS.iter().find(is_one)?;
    let lists = listing.split_whitespace().find(|option| {
        arguments.iter().any(|word| word.split('=').next().is_some_and(|word| word == *option))
    });
    let name = match *program {
        "cargo" if verb.is_some_and(|verb| *verb == "test") => "cargo test",
        "cargo" => "cargo nextest",
        "node" => "node --test",
        "go" => "go test",
        program => program,
    };
    Some(TestRunner { name, lists })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn runners_are_told_from_other_commands_and_from_what_only_lists_tests() {
        let table = [
            ("cargo test --workspace", Some(("cargo test", None))),
            ("cargo +nightly test -- --list", Some(("cargo test", Some("--list")))),
            ("cargo build", None),
            ("RUST_LOG=x cargo nextest run", Some(("cargo nextest", None))),
            ("uv run pytest --co -q", Some(("pytest", Some("--co")))),
            ("/p/.venv/bin/python3.11 -m unittest tests.a", Some(("unittest", None))),
            ("npx vitest list", Some(("vitest", Some("list")))),
            ("node --test", Some(("node --test", None))),
            ("node app.js", None),
            ("go test -list=. ./...", Some(("go test", Some("-list")))),
            ("go vet ./... && go test ./...", Some(("go test", None))),
            ("grep -q 'cargo test; pytest' README.md", None),
            ("npm test", None),
        ];
        for (command, expected) in table {
            let found = test_runners(command);
            let found = found.first().map(|runner| (runner.name, runner.lists));
            assert_eq!(found, expected, "{command}");
        }
    }
}
