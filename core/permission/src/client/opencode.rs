//! Rules of opencode: `permission`, by kind of tool and pattern, of which the last match counts.

use serde_json::{Value, json};

use super::claude::verb;
use super::wildcard;
use crate::paths::{Places, below};
use crate::tools;
use crate::verdict::{Decision, Finding, Rule};
use onloop_syntax::syntax::strict_yaml;

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

/// Whether opencode puts text from elsewhere into the permissions of a configuration.
pub(super) fn has_substitutions(configuration: &Value) -> bool {
    let agents = ["agent", "mode"].into_iter().flat_map(|key| configuration[key].as_object());
    let agents = agents.flat_map(|agents| agents.values());
    std::iter::once(configuration).chain(agents).any(|of| {
        let text = format!("{}{}", of["permission"], of["tools"]);
        text.contains("{env:") || text.contains("{file:")
    })
}

/// Whether one of the layers holds for agents without rules of their own.
pub(super) fn has_common(layers: &[Layer]) -> bool {
    layers.iter().any(|layer| !layer.of_agent)
}

/// `permission` and `tools` of an agent that a file of Markdown describes; null for one without rules.
///
/// # Errors
///
/// Why the head of the file cannot be read, where it has rules.
pub fn agent(markdown: &str) -> Result<Value, String> {
    let text = markdown.replace("\r\n", "\n");
    let head = text.trim_start_matches('\u{feff}').strip_prefix("---\n");
    let head = head.and_then(|rest| Some(rest.split_once("\n---")?.0)).unwrap_or_default();
    // opencode reads other values that are no YAML, such as `description: Use for: reviews`.
    let mut is_ours = false;
    let ours = head.lines().filter(|line| {
        if line.starts_with(|c: char| c.is_ascii_alphanumeric() || "\"'{".contains(c)) {
            is_ours = ["permission", "tools"].iter().any(|key| line.contains(key));
        }
        is_ours
    });
    let head = &ours.collect::<Vec<_>>().join("\n");
    if head.is_empty() {
        return Ok(Value::Null);
    }
    let head = strict_yaml::parse(head, strict_yaml::CONFIGURATION).map_err(|it| it.to_string())?;
    let head = serde_json::to_value(head).map_err(|error| error.to_string())?;
    Ok(json!({ "permission": head["permission"], "tools": head["tools"] }))
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
        .map(|(kind, _)| match kind.as_str() {
            "write" | "patch" | "multiedit" => "edit".to_owned(),
            _ => kind.clone(),
        })
        .map(|kind| (kind, everything(), Decision::Deny))
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

    /// What the rules say about the worst of `subjects`, each of which may have several names.
    fn finding(&self, kind: &str, subjects: &[Vec<String>]) -> Option<Finding> {
        let last = |names: &Vec<String>| {
            let named = |pattern: &str| names.iter().any(|name| wildcard(pattern, name));
            let mut rules = self.rules.iter().rev();
            rules.find(|(of, pattern, _)| wildcard(of, kind) && named(pattern))
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
    pub(super) fn call(&self, tool: &str, input: &Value, places: &Places) -> Option<Finding> {
        // Of a line each command counts.
        if tools::starts_programs(tool) {
            return None;
        }
        let edits = tools::writes_files(tool);
        let mut subjects = Vec::new();
        for path in tools::named_paths(tool, input) {
            let names = names(path, places);
            // opencode compares what it edits by the path in the project, and other paths as they are.
            if !edits {
                subjects.push(vec![path.to_owned()]);
            }
            subjects.push(names);
        }
        let members = ["pattern", "url", "name", "query", "subagent_type"];
        let named = members.iter().filter_map(|key| input[*key].as_str());
        subjects.extend(named.map(|name| vec![name.to_owned()]));
        if subjects.is_empty() {
            // A search without a folder is below the one of the call.
            let here = tools::reads_files(tool).then(|| names(".", places));
            subjects.push(here.unwrap_or_else(|| vec!["*".to_owned()]));
        }
        self.finding(if edits { "edit" } else { tool }, &subjects)
    }

    /// What they say about a command of a line.
    pub(super) fn command(&self, spellings: &[String], short: &[String]) -> Option<Finding> {
        // opencode compares every command but `cd`, by the name that the line has for it.
        let written: Vec<String> = spellings.iter().step_by(2).cloned().collect();
        // A rule about the command with its options counts as it does for opencode.
        let short = short
            .iter()
            .flat_map(|short| written.iter().map(|written| vec![written.clone(), short.clone()]));
        let short = self.finding("bash", &short.collect::<Vec<_>>());
        self.line(written).into_iter().chain(short).max_by_key(|found| found.decision)
    }

    /// What they say about a command as it is written.
    pub(super) fn source(&self, written: &[String]) -> Option<Finding> {
        self.line(written.to_vec())
    }

    fn line(&self, written: Vec<String>) -> Option<Finding> {
        let moves = written.last().is_none_or(|line| line.split(' ').next() == Some("cd"));
        let subjects: Vec<Vec<String>> = written.into_iter().map(|line| vec![line]).collect();
        if moves { None } else { self.finding("bash", &subjects) }
    }
}

/// What a pattern may call a path: as the call has it, absolute, and below the project or the home folder.
/// A link is what it leads to, too.
fn names(path: &str, places: &Places) -> Vec<String> {
    let mut names = vec![path.to_owned()];
    for absolute in places.named(path) {
        let inside = places.root.as_deref().and_then(|root| below(&absolute, root));
        names.extend(inside.map(str::to_owned));
        let home = places.user_home.as_deref().and_then(|home| below(&absolute, home));
        names.extend(
            home.into_iter().flat_map(|rest| ["~", "$HOME"].map(|it| format!("{it}/{rest}"))),
        );
        names.push(absolute);
    }
    names
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_agent_is_read_though_the_rest_of_its_head_is_no_yaml() {
        let file =
            "---\ndescription: Use for: reviews\npermission:\n  edit: deny\nmode: a: b\n---\nX\n";
        let read = agent(file).unwrap();
        assert_eq!(read["permission"], json!({ "edit": "deny" }));
        assert_eq!(agent("---\ndescription: a: b\n---\n").unwrap(), Value::Null);
        assert!(agent("---\npermission: [\n---\n").is_err());
    }
}
