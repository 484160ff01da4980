//! Prompts that start workflows, and those that do not, as data.

use onloop_core::handsoff::command::detect;
use serde_json::Value;

use super::{prompt, state};
use crate::workspace::Workspace;

const VECTORS: &str = include_str!("../../vectors/session-commands.jsonl");

fn vectors() -> Vec<Value> {
    VECTORS.lines().map(|line| serde_json::from_str(line).expect("a vector is JSON")).collect()
}

#[test]
fn every_sample_of_a_prompt_starts_what_it_should() {
    let mut wrong = Vec::new();
    for vector in vectors() {
        let text = vector["prompt"].as_str().expect("a prompt is a text");
        let found = detect(text, &[]);
        let expected = &vector["expected"];
        let number = |number: Option<u64>| number.map_or(Value::Null, Value::from);
        let same = match &found {
            None => expected["workflow"].is_null(),
            Some(started) => {
                expected["workflow"] == started.workflow.as_str()
                    && expected["issue_no"] == number(started.issue_no)
                    && expected["pr_no"] == number(started.pr_no)
            }
        };
        if !same {
            wrong.push(format!("{}: {found:?}, expected {expected}", vector["id"]));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn what_a_prompt_starts_is_what_the_file_says() {
    let starting = |vector: &Value| !vector["expected"]["workflow"].is_null();
    for vector in vectors().into_iter().filter(starting).step_by(5) {
        let project = Workspace::plain();
        prompt(&project, vector["prompt"].as_str().unwrap());
        let session = state(&project, "s1");
        for key in ["workflow", "issue_no", "pr_no"] {
            assert_eq!(session[key], vector["expected"][key], "{} {key}", vector["id"]);
        }
    }
}
