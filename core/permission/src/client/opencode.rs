//! Rules of opencode: `permission`, by kind of tool and pattern, of which the last match counts.

use serde_json::Value;

use super::claude::verb;
use super::wildcard;
use crate::tools;
use crate::verdict::{Decision, Finding, Rule};

/// The rules that are in force together: those of the whole configuration, or of one agent.
#[derive(Clone, Debug)]
pub(super) struct Layer {
    rules: Vec<(String, String, Decision)>,
    /// Whether the rules are an agent's. Which agent calls is not known, so that they only ask.
    of_agent: bool,
}

/// Reads the layers of a configuration.
pub(super) fn read(configuration: &Value) -> Vec<Layer> {
    let mut layers = Vec::new();
    let common = rules(&configuration["permission"], &configuration["tools"]);
    for key in ["agent", "mode"] {
        let agents = configuration[key].as_object().into_iter().flatten();
        layers.extend(agents.filter_map(|(_, agent)| {
            let own = rules(&agent["permission"], &agent["tools"]);
            let all = [common.clone(), own.clone()].concat();
            (!own.is_empty()).then_some(Layer { rules: all, of_agent: true })
        }));
    }
    if !common.is_empty() {
        layers.push(Layer { rules: common, of_agent: false });
    }
    layers
}

fn rules(permission: &Value, tools: &Value) -> Vec<(String, String, Decision)> {
    let action = |value: &Value| -> Option<Decision> { value.as_str()?.parse().ok() };
    let everything = || "*".to_owned();
    if let Some(decision) = action(permission) {
        return vec![(everything(), everything(), decision)];
    }
    // A tool that is switched off is denied.
    let switched = tools.as_object().into_iter().flatten();
    let mut found: Vec<_> = switched
        .filter(|(_, on)| **on == Value::Bool(false))
        .map(|(kind, _)| (kind.clone(), everything(), Decision::Deny))
        .collect();
    for (kind, value) in permission.as_object().into_iter().flatten() {
        if let Some(decision) = action(value) {
            found.push((kind.clone(), everything(), decision));
        }
        for (pattern, value) in value.as_object().into_iter().flatten() {
            let Some(decision) = action(value) else { continue };
            found.push((kind.clone(), pattern.clone(), decision));
        }
    }
    found
}

impl Layer {
    pub(super) fn len(&self) -> usize {
        self.rules.len()
    }

    fn finding(&self, kind: &str, subjects: &[String]) -> Option<Finding> {
        let last = |subject: &String| {
            let mut rules = self.rules.iter().rev();
            rules.find(|(of, pattern, _)| wildcard(of, kind) && wildcard(pattern, subject))
        };
        let found = subjects.iter().filter_map(last).max_by_key(|(_, _, decision)| *decision);
        let (_, pattern, decision) =
            found.filter(|(_, _, decision)| *decision > Decision::Allow)?;
        let decision = if self.of_agent { Decision::Ask } else { *decision };
        let reason = format!(
            "your permissions of opencode {} it: `{kind}`, `{}`",
            verb(decision),
            onloop_syntax::text::one_line(pattern)
        );
        Some(Finding { decision, ..Finding::ask(Rule::Client(decision), reason) })
    }

    /// What the rules say about a call as a whole.
    pub(super) fn call(&self, tool: &str, input: &Value) -> Option<Finding> {
        // Of a line each command counts.
        if tools::starts_programs(tool) {
            return None;
        }
        let kind = if tools::writes_files(tool) { "edit" } else { tool };
        let mut subjects: Vec<String> =
            tools::paths(input).into_iter().map(str::to_owned).collect();
        let members = ["pattern", "url", "name"];
        subjects.extend(members.iter().filter_map(|key| input[*key].as_str().map(str::to_owned)));
        if subjects.is_empty() {
            subjects.push("*".to_owned());
        }
        self.finding(kind, &subjects)
    }

    /// What they say about a command of a line.
    pub(super) fn command(&self, spellings: &[String]) -> Option<Finding> {
        // opencode compares every command but `cd`, by the name that the line has for it.
        let written: Vec<String> = spellings.iter().step_by(2).cloned().collect();
        let moves = written.first().is_none_or(|line| line.split(' ').next() == Some("cd"));
        if moves { None } else { self.finding("bash", &written) }
    }
}
