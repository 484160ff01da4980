//! `onloop run --simulate`: everything is told, and nothing is done.

use std::collections::BTreeMap;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use serde_json::Value;

use super::{FILE, project, workflow};
use crate::workspace::Workspace;

const STEPS: &str = "\
- [ ] **Step 1: Write**
action: write it
loop: until it is there
max_iterations: 4
verify:
  - test -s out.txt
  - type: shell
    command: grep -q bad out.txt
    expect: fail
    timeout: 1m
```sh
echo done > out.txt
touch /tmp/never
```

- [ ] **Step 2: Show**
action: show it
loop: false
gate: human
verify:
  type: human-review
  prompt: Does it look good?
";

const FRONT: &str = "setup: [npm ci]\nmax_cost_usd: 2.50\n";

/// Every file below a folder with its content and time of change; links are not followed.
fn everything(root: &Path) -> BTreeMap<String, (Vec<u8>, std::time::SystemTime)> {
    let mut found = BTreeMap::new();
    let mut open = vec![root.to_owned()];
    while let Some(path) = open.pop() {
        let about = path.symlink_metadata().unwrap();
        let mut content = Vec::new();
        if about.is_dir() {
            open.extend(path.read_dir().unwrap().map(|entry| entry.unwrap().path()));
        } else if about.is_file() {
            content = std::fs::read(&path).unwrap();
        }
        found.insert(path.to_string_lossy().into_owned(), (content, about.modified().unwrap()));
    }
    found
}

fn repository() -> Workspace {
    let project = Workspace::git();
    project.write(".gitignore", ".env\n");
    project.write(".worktreeinclude", ".env\n");
    project.write(FILE, workflow(FRONT, STEPS));
    project.commit("Begin");
    project.write(".env", "KEY=1\n");
    project
}

#[test]
fn a_simulated_run_tells_everything_and_changes_nothing() {
    let project = repository();
    let before = everything(&project.path(".."));
    let run = project.onloop(&["run", FILE, "--agent", "script", "--simulate"]).expect_exit(0);
    assert!(everything(&project.path("..")) == before, "something was changed");
    let root = project.path("..").canonicalize().unwrap().to_string_lossy().into_owned();
    let worktree = format!("{root}/.hotl-worktrees/project/hotl-w");
    let expected = format!(
        "\
Simulation: Try it
Nothing is started or changed.

Where
  create the worktree `{worktree}` on branch `hotl/w`
  copy the workflow file `{FILE}`
  branch hotl/w
  works in {worktree}
  not confined: agent, checks and setup may do what you may do

Agent: script

Before the first step
  copy .env
  run  npm ci

In this order, when every attempt succeeds at once
  Step 1: Write (at most 4 attempts)
    | echo done > out.txt
    | touch /tmp/never
    verify: test -s out.txt
    verify that this fails: grep -q bad out.txt
  Step 2: Show (at most 1 attempt)
    no script: its checks decide
    a person looks: Does it look good?
  All steps
    1 check by a machine, once more

At most
  5 attempts
  10 h 54 min of work by agents and checks
  $2.50, and what the response under way costs then
  tokens: not bounded (`max_tokens` bounds them)
"
    );
    assert_eq!(run.stdout, expected);
    assert_eq!(run.stderr, "");
}

#[test]
fn every_agent_is_told_of_that_may_act() {
    let project = repository();
    for client in ["claude", "codex"] {
        let path = format!("../bin/{client}");
        project.write(&path, "#!/bin/sh\n");
        std::fs::set_permissions(project.path(&path), PermissionsExt::from_mode(0o755)).unwrap();
    }
    let words = ["run", FILE, "--agent", "claude,opencode,codex", "--simulate"];
    let run = project.onloop(&words).expect_exit(0);
    assert!(run.stdout.contains("\nAgent: claude\n  claude -p "), "{}", run.stdout);
    let next = "\nTakes over where those before are rate-limited: codex\n  codex exec --json ";
    assert!(run.stdout.contains(next), "{}", run.stdout);
    assert!(run.stderr.contains("`opencode` is not on PATH and left out"), "{}", run.stderr);
    let run = project.onloop(&[&words[..], &["--json"]].concat()).expect_exit(0);
    let document: Value = serde_json::from_str(&run.stdout).unwrap();
    assert_eq!(document["agent"]["name"], "claude");
    assert_eq!(document["successors"][0]["name"], "codex");
    assert_eq!(document["successors"][0]["command"][0], "codex");
}

#[test]
fn the_same_as_json_with_the_agents_command() {
    let project = repository();
    let before = everything(&project.path(".."));
    let words = ["run", FILE, "--agent", "claude", "--simulate", "--json"];
    // As the real start without that agent.
    let run = project.onloop(&words).expect_exit(2);
    assert!(everything(&project.path("..")) == before, "something was changed");
    let document: Value = serde_json::from_str(&run.stdout).unwrap();
    assert_eq!(document["schema"], "onloop.simulation/v1");
    let missing = "error: `claude` is not on PATH\n";
    assert!(document["blocked_by"].as_str().unwrap().starts_with(missing), "{document:#}");
    assert_eq!(document["agent"]["is_found"], false);
    assert_eq!(document["confine"], "off");
    assert_eq!(
        document["setup"],
        serde_json::json!({ "copied": [".env"], "commands": ["npm ci"] })
    );
    assert_eq!(document["at_most"]["cost_usd"], 2.5);
    let command = document["agent"]["command"].as_array().unwrap();
    let words: Vec<&str> = command.iter().map(|word| word.as_str().unwrap()).collect();
    assert_eq!(words[..2], ["claude", "-p"]);
    assert!(words.ends_with(&["--max-budget-usd", "2.5"]), "{words:?}");
    let settings = words.iter().position(|word| *word == "--settings").unwrap();
    assert!(words[settings + 1].contains("1-1.policy.json"), "{words:?}");
    let kinds = |moment: &Value| moment["kind"].as_str().unwrap().to_owned();
    let order: Vec<String> = document["order"].as_array().unwrap().iter().map(kinds).collect();
    assert_eq!(order, ["act", "verify", "act", "verify", "look", "repeat"]);
    let second = &document["order"][1]["checks"][1];
    assert_eq!((&second["expect"], &second["timeout_ms"]), (&"fail".into(), &60_000.into()));
}

#[test]
fn what_would_stop_the_run_is_told_with_its_exit_code() {
    let project = repository();
    project.write("dirt.txt", "x");
    let run = project.onloop(&["run", FILE, "--agent", "script", "--simulate"]).expect_exit(4);
    assert!(run.stdout.contains("It would not begin by itself\n  error:"), "{}", run.stdout);
    assert!(run.stdout.contains("  Step 1: Write (at most 4 attempts)\n"), "{}", run.stdout);
    assert!(!run.stdout.contains("works in"), "{}", run.stdout);
}

#[test]
fn steps_that_can_run_at_the_same_time_are_shown_with_what_they_need() {
    let step = |number: u32, lines: &str| {
        format!(
            "- [ ] **Step {number}: S{number}**\naction: a\nloop: false\nverify: make\n{lines}\n"
        )
    };
    let graph = [
        step(1, ""),
        step(2, "depends_on: [1]"),
        step(3, "depends_on: [1]"),
        step(4, "depends_on: [2, 3]"),
    ]
    .concat();
    let project = Workspace::git();
    project.write(FILE, workflow("worktree: true\nmax_parallel: 2\n", &graph));
    project.commit("Begin");
    let words = ["run", FILE, "--agent", "script", "--simulate"];
    let run = project.onloop(&words).expect_exit(0);
    let expected = "
At most 2 steps at the same time, each when the steps that it needs are done
  Step 1 at once
  Step 2 after step 1
  Step 3 after step 1
  Step 4 after steps 2 and 3

In this order,";
    assert!(run.stdout.contains(expected), "{}", run.stdout);
    let run = project.onloop(&[&words[..], &["--json"]].concat()).expect_exit(0);
    let document: Value = serde_json::from_str(&run.stdout).unwrap();
    assert_eq!(
        document["graph"],
        serde_json::json!({
            "max_parallel": 2,
            "groups": [[1], [2, 3], [4]],
            "steps": [
                { "step": 1, "depends_on": [] },
                { "step": 2, "depends_on": [1] },
                { "step": 3, "depends_on": [1] },
                { "step": 4, "depends_on": [2, 3] },
            ],
        })
    );
    let run = project.onloop(&[&words[..], &["--mode", "branch"]].concat()).expect_exit(0);
    let one = "\nOne step at a time, because the run has no worktree of its own\n\nIn this order,";
    assert!(run.stdout.contains(one), "{}", run.stdout);
    let sequence =
        workflow("worktree: true\nmax_parallel: 2\n", &[step(1, ""), step(2, "")].concat());
    project.write(FILE, sequence);
    project.commit("Edit");
    let run = project.onloop(&[&words[..], &["--json"]].concat()).expect_exit(0);
    assert!(!run.stdout.contains("graph"), "{}", run.stdout);
}

#[test]
fn an_unfinished_run_and_a_bound_are_seen() {
    let steps = "- [ ] **Step 1: One**\naction: a\nloop: false\nverify: false\n```sh\ntrue\n```\n\
                 - [ ] **Step 2: Two**\naction: b\nloop: false\nverify: true\n```sh\ntrue\n```\n";
    let project = project("max_total_attempts: 1\n", steps);
    let simulate = |more: &[&str]| {
        project
            .onloop(&[&["run", "--mode", "none", "--agent", "script", "--simulate"], more].concat())
    };
    let run = simulate(&[]).expect_exit(0);
    let end = "  Stops before step 2: max_total_attempts is 1\n\nAt most\n  1 attempt\n";
    assert!(run.stdout.contains(end), "{}", run.stdout);
    super::run(&project, &["--agent", "script"]).expect_exit(1);
    let run = simulate(&[]).expect_exit(3);
    assert!(run.stdout.contains("is unfinished: `onloop resume "), "{}", run.stdout);
    simulate(&["--fresh"]).expect_exit(0);
}
