//! Many hooks of one session at the same moment, and hooks that are killed.

use std::io::Write;
use std::process::{Child, Stdio};

use serde_json::{Value, json};

use super::{claude_input, prompt, state};
use crate::workspace::{Workspace, program};

fn begin(project: &Workspace, input: &Value) -> Child {
    let mut command = project.command_at(".", program());
    command.args(["hook", "codex"]).stdin(Stdio::piped());
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    child.stdin.take().unwrap().write_all(input.to_string().as_bytes()).unwrap();
    child
}

fn project(maximum: u32) -> Workspace {
    let project = Workspace::plain();
    let yaml = format!("handsoff: {{max_continuations: {maximum}}}\n");
    project.write(".agentize.local.yaml", yaml);
    prompt(&project, "/issue-to-impl 42");
    project
}

fn message(number: usize) -> Value {
    let members = json!({ "last_assistant_message": format!("part {number}") });
    claude_input("s1", "Stop", members)
}

#[test]
fn d24_of_fifty_hooks_at_once_no_count_is_lost() {
    let project = project(1000);
    let children: Vec<Child> = (0..50).map(|number| begin(&project, &message(number))).collect();
    let mut numbers = Vec::new();
    for child in children {
        let output = child.wait_with_output().unwrap();
        assert_eq!(output.status.code(), Some(0), "{output:?}");
        let said: Value = serde_json::from_slice(&output.stdout).expect("a whole answer");
        let reason = said["reason"].as_str().unwrap();
        let (number, _) = reason.split_once("/1000").expect("a count in the first line");
        numbers.push(number.rsplit(' ').next().unwrap().parse::<u32>().unwrap());
    }
    numbers.sort_unstable();
    assert_eq!(numbers, (1..=50).collect::<Vec<u32>>());
    assert_eq!(state(&project, "s1")["continuation_count"], 50);
}

#[test]
fn a_hook_that_is_killed_leaves_a_whole_file_and_no_lock_that_lasts() {
    let project = project(1000);
    let mut acknowledged = 0;
    for round in 0..40_u64 {
        let mut child = begin(&project, &message(usize::try_from(round).unwrap()));
        // The moments spread over the life of a hook.
        std::thread::sleep(std::time::Duration::from_micros(round * 97));
        let _ = child.kill();
        let output = child.wait_with_output().unwrap();
        if output.stdout.ends_with(b"\n") {
            acknowledged += 1;
        }
        let count = state(&project, "s1")["continuation_count"].as_u64().unwrap();
        assert!(count >= acknowledged, "round {round}: {count} of {acknowledged}");
    }
    let last = begin(&project, &message(99)).wait_with_output().unwrap();
    assert!(String::from_utf8_lossy(&last.stdout).contains("/1000"), "{last:?}");
}
