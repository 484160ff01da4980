//! A language model, played by a script, and a supervisor.

use std::os::unix::fs::PermissionsExt;

use crate::workspace::Workspace;

use super::{Run, finish, probe};

/// A project with a `claude` that runs this script.
fn project(yaml: &str, script: &str) -> Workspace {
    let project = Workspace::plain();
    project.write(".agentize.local.yaml", yaml);
    project.write("../bin/claude", format!("#!/bin/sh\n{script}\n"));
    let mode = std::fs::Permissions::from_mode(0o755);
    std::fs::set_permissions(project.path("../bin/claude"), mode).unwrap();
    project
}

fn ask(project: &Workspace, target: &str) -> String {
    super::ask(project, target)
}

#[test]
fn one_word_decides() {
    let table = [
        ("echo allow", "allow"),
        ("echo deny", "deny: a language model judged it to be dangerous"),
        ("echo ask", "no answer: no rule decides; a language model would ask"),
        (
            "echo 'Allowing this would be dangerous: deny'",
            "no answer: no rule decides; a language model did not answer in one word",
        ),
        (
            "echo allow; exit 3",
            "no answer: no rule decides; the language model ended with status 3",
        ),
        ("kill -9 $$", "no answer: no rule decides; the language model was stopped"),
    ];
    for (script, expected) in table {
        assert_eq!(ask(&project("", script), "make"), expected, "{script}");
    }
}

#[test]
fn the_model_is_asked_without_a_shell_and_outside_of_the_project() {
    let script = "printf '%s|' \"$@\" >args; cat >prompt; pwd >cwd; echo $ONLOOP_HOOK_DEPTH$CLAUDECODE >depth; echo ask";
    let project = project("", script).with_env("CLAUDECODE", "1");
    ask(&project, "echo $(touch owned)");
    assert_eq!(project.read("../home/args"), "--model|haiku|-p|");
    assert!(project.read("../home/prompt").contains("echo $(touch owned)\n"));
    assert_eq!(project.read("../home/depth"), "1\n");
    assert!(!project.path("owned").exists() && !project.path("../home/owned").exists());
}

#[test]
fn what_must_not_ask_does_not() {
    let owned = "touch asked; echo allow";
    let off = project("handsoff: {auto_permission: false}", owned);
    assert_eq!(ask(&off, "make"), "no answer: no rule decides");
    let all_off = project("handsoff: {enabled: false}", owned);
    assert_eq!(ask(&all_off, "make"), "no answer: hands-off mode is off");
    let inside = project("", owned).with_env("ONLOOP_HOOK_DEPTH", "1");
    assert!(ask(&inside, "make").contains("has no say"));
    let damaged = project("handsoff: [", owned);
    assert_eq!(ask(&damaged, "make"), "no answer: no rule decides");
    let fine = project("", owned);
    assert!(ask(&fine, "make \u{202e}x").contains("characters that cannot be shown"));
    assert!(ask(&fine, &"x".repeat(20_000)).contains("too long"));
    for project in [off, all_off, inside, damaged, fine] {
        assert!(!project.path("../home/asked").exists());
    }
}

#[test]
fn a_model_that_takes_too_long_is_ended() {
    let project = project("", "sleep 60 & wait; echo allow");
    let child = probe(&project, &["escalate", "s", "make", "10300"]).spawn().unwrap();
    assert_eq!(
        finish(&project, child),
        "no answer: no rule decides; the language model took too long"
    );
}

fn supervise(project: &Workspace) -> String {
    let output = probe(project, &["supervise", "so far"]).output().expect("the probe is there");
    let run: Run = output.into();
    run.expect_exit(0).stdout.trim_end().to_owned()
}

#[test]
fn a_supervisor_writes_the_prompt_or_nothing() {
    let yaml = "handsoff:\n  supervisor:\n    provider: claude\n    model: $(touch owned)\n    flags: --x $(touch${IFS}owned)\n";
    let script = "printf '%s|' \"$@\" >args; cat >prompt; echo '  Finish step two.  '";
    let good = project(yaml, script);
    assert_eq!(supervise(&good), "Finish step two.");
    assert_eq!(good.read("args"), "-p|--model|$(touch owned)|--x|$(touch${IFS}owned)|");
    assert!(good.read("prompt").contains("continuation 2 of 8"));
    assert!(!good.path("owned").exists());
    for script in ["exit 1", "true", "echo half; kill -9 $$", "yes | head -c 1000000"] {
        assert_eq!(supervise(&project(yaml, script)), "nothing", "{script}");
    }
    assert_eq!(supervise(&project("", "echo unasked")), "nothing");
}
