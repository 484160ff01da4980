//! An agent that decides in place of a person: in its turn, and with our marks taken off.

use super::{project, run, standing};

/// A workflow whose first step tries `line` and keeps what it said; the second one has a gate.
fn trying(line: &str) -> crate::workspace::Workspace {
    project(
        "",
        &format!(
            "- [ ] **Step 1: Try**\naction: go\nloop: false\nverify: test -e said\n\
             ```sh\nid=$ONLOOP_RUN_ID\n{line} > said 2>&1\necho \"exit $?\" >> said\n```\n\n\
             - [ ] **Step 2: Ship**\naction: go\nloop: false\ngate: human\n```sh\ntrue\n```\n"
        ),
    )
}

/// What the agent was told, without numbers of processes and the id of the run.
fn told(line: &str) -> String {
    let project = trying(line);
    run(&project, &[]).expect_exit(3);
    assert_eq!(standing(&project), "paused: done, done", "`{line}` changed the run");
    let id = project.record()["run_id"].as_str().expect("a run has an id").to_owned();
    let said = project.read("said").replace(&id, "ID");
    without_numbers(&said).trim_end().to_owned()
}

/// `process 123` with `N` for the number.
fn without_numbers(text: &str) -> String {
    const MARK: &str = "process ";
    let mut out = String::new();
    let mut rest = text;
    while let Some(at) = rest.find(MARK).map(|at| at + MARK.len()) {
        out += &rest[..at];
        rest = &rest[at..];
        let end = rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(rest.len());
        if end > 0 {
            out.push('N');
        }
        rest = &rest[end..];
    }
    out + rest
}

const LEAVE: &str = "fix: leave it to the person who runs onloop";

#[test]
fn what_is_a_persons_to_decide_is_refused_in_an_agents_turn() {
    let marked = "this was started by the agent of step 1 (ONLOOP_STEP is set)";
    let cases = [
        ("onloop gate 2 approved", "the decision at a gate", 1),
        ("onloop step 1 reopen --reason x", "opening a step again", 1),
        ("onloop abandon $id --reason x", "abandoning a run", 4),
        ("onloop adopt $id --yes", "adopting a run", 4),
        ("onloop approve $id", "an approval", 4),
        ("onloop reject $id --reason x", "a rejection", 4),
        ("onloop stop $id", "stopping a run", 4),
        ("onloop relocate $id --to /", "moving a run", 4),
        ("onloop resume $id --take-over --reason x", "how a run continues", 4),
        ("onloop resume $id --interrupted done", "how a run continues", 4),
    ];
    for (line, what, exit) in cases {
        let expected =
            format!("error: {what} is for a person to decide cause: {marked} {LEAVE} exit {exit}");
        assert_eq!(crate::flat(&told(line)), expected, "{line}");
    }
}

#[test]
#[cfg(target_os = "linux")]
fn an_agent_without_our_marks_still_has_the_run_above_it() {
    let below = "this was started below process N, which drives run ID";
    let cases = [
        ("onloop gate 2 approved --run-id $id", "the decision at a gate", 1),
        ("onloop abandon $id --reason x", "abandoning a run", 4),
        ("onloop adopt $id --yes", "adopting a run", 4),
        ("onloop relocate $id --to /", "moving a run", 4),
        ("onloop resume $id --take-over --reason x", "how a run continues", 4),
    ];
    for (line, what, exit) in cases {
        let line = format!("env -u ONLOOP_STEP setsid -w {line}");
        let expected =
            format!("error: {what} is for a person to decide cause: {below} {LEAVE} exit {exit}");
        assert_eq!(crate::flat(&told(&line)), expected, "{line}");
    }
}

#[test]
#[cfg(target_os = "linux")]
fn an_agent_without_any_of_our_variables_still_has_the_run_above_it() {
    let below = "this was started below process N, which drives run ID";
    for verb in ["gate 2 approved", "gate 2 approved --run-id $id", "adopt $id --yes"] {
        // Another home, as where the run was started with a state home of its own.
        let line = format!("env -i PATH=\"$PATH\" HOME=/nowhere onloop {verb}");
        let said = crate::flat(&told(&line));
        assert!(said.contains(&format!("is for a person to decide cause: {below} ")), "{said}");
        assert!(!said.contains("onloop adopt"), "{said}");
    }
}

#[test]
fn nobody_else_drives_a_run_step_by_step_while_it_is_driven() {
    let driven = "error: process N drives run `ID` and records what happens in it fix: an agent in \
                  its turn does the work and ends fix: a person can watch: onloop status ID exit 1";
    let lines = [
        "onloop step 1 start",
        "onloop step 1 verify",
        "onloop step 1 retry",
        "onloop step 1 block --reason x",
        "onloop finalize",
    ];
    for line in lines {
        let said = told(&format!("{line} --run-id $id"));
        assert_eq!(crate::flat(&said), driven, "{line}");
    }
    let busy = told("env -u ONLOOP_STEP onloop resume $id");
    let expected = "error: another onloop works on run `ID`\n  cause: ";
    assert!(busy.starts_with(expected), "{busy}");
    assert!(
        busy.ends_with("\n  fix: wait until it is done, or stop it:\n    onloop stop ID\nexit 4"),
        "{busy}"
    );
}
