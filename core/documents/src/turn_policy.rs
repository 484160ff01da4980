//! What a run tells the hook of its agent: a file in the state home, and the hook's own log
//! beside it.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::document::{self, DocumentError};
use onloop_permission::rules::{GivenRules, Source};
use onloop_permission::{Decision, TurnPolicy};
use onloop_syntax::syntax::strict_json;

/// Names the file with the policy of a turn in the environment of its client, so that hooks which
/// the user has installed judge by it, too.
pub const TURN_POLICY_VARIABLE: &str = "ONLOOP_TURN_POLICY";

/// The policy of one turn.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct PolicyDocument {
    verification: Vec<String>,
    allowed: Vec<String>,
    on_ask: String,
    /// The state home, to which the agent must not write; the agent's environment does not name it.
    state_home: String,
    /// File to which the hook adds a line for each call that it judged.
    calls: String,
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    confined: bool,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    rules: Option<RulesDocument>,
    /// The folder for temporary files that the run has for itself.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    temporary: Option<String>,
}

/// The rules of user and project, where the hook cannot read them itself.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct RulesDocument {
    /// Whose file it is, and what it says about permissions.
    files: Vec<(String, String)>,
    /// Why a file could not be read.
    unreadable: Vec<String>,
}

/// What the hook of a turn is told.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TurnGuard {
    /// What the run says about calls.
    pub policy: TurnPolicy,
    /// The state home, absolute.
    pub state_home: String,
    /// File to which the hook adds a line for each call that it judged.
    pub calls: String,
    /// The rules of user and project; `None`: the hook reads the configuration itself.
    pub rules: Option<GivenRules>,
    /// The folder for temporary files that the run has for itself; `None`: it has none.
    pub temporary: Option<String>,
}

/// The file that tells it.
pub fn write(guard: &TurnGuard) -> Vec<u8> {
    let policy = &guard.policy;
    let document = PolicyDocument {
        verification: policy.verification.clone(),
        allowed: policy.allowed.clone(),
        on_ask: policy.on_ask.as_str().to_owned(),
        state_home: guard.state_home.clone(),
        calls: guard.calls.clone(),
        confined: policy.confined,
        rules: guard.rules.as_ref().map(|rules| RulesDocument {
            files: rules
                .files
                .iter()
                .map(|(source, yaml)| (source_word(*source).to_owned(), yaml.clone()))
                .collect(),
            unreadable: rules.unreadable.clone(),
        }),
        temporary: guard.temporary.clone(),
    };
    document::line(&document)
}

/// What such a file tells.
///
/// # Errors
///
/// The bytes are no such file.
pub fn read(bytes: &[u8]) -> Result<TurnGuard, DocumentError> {
    let text = std::str::from_utf8(bytes).map_err(|_| DocumentError::NotUtf8)?;
    let document: PolicyDocument = serde_json::from_value(strict_json::parse(text)?)?;
    let on_ask = document.on_ask.parse();
    let on_ask = on_ask.map_err(|error| DocumentError::member("on_ask", error))?;
    let PolicyDocument { verification, allowed, state_home, calls, confined, rules, .. } = document;
    let temporary = document.temporary;
    let policy = TurnPolicy { verification, allowed, on_ask, confined };
    let rules = rules.map(read_rules).transpose()?;
    Ok(TurnGuard { policy, state_home, calls, rules, temporary })
}

fn source_word(source: Source) -> &'static str {
    match source {
        Source::Project { trusted: false } => "project",
        Source::Project { trusted: true } => "trusted_project",
        Source::Local => "local",
    }
}

fn read_rules(document: RulesDocument) -> Result<GivenRules, DocumentError> {
    let sources = [Source::Local, Source::Project { trusted: true }];
    let sources = sources.into_iter().chain([Source::Project { trusted: false }]);
    let source = |word: &str| sources.clone().find(|source| source_word(*source) == word);
    let read = |(word, yaml): (String, String)| {
        let unknown = || DocumentError::member("rules.files", format!("{word:?} is nobody's"));
        Ok((source(&word).ok_or_else(unknown)?, yaml))
    };
    let files = document.files.into_iter().map(read).collect::<Result<_, DocumentError>>()?;
    Ok(GivenRules { files, unreadable: document.unreadable })
}

/// A call that the hook judged.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct JudgedCall {
    /// The tool.
    pub tool: String,
    /// What it does, on one line.
    pub about: String,
    /// What was decided: `allow` or `deny`.
    pub decision: String,
    /// Whether a rule or a person decided; otherwise nobody did, and the run's terms counted.
    pub decided: bool,
    /// Why, on one line.
    pub reason: String,
    /// What tells the call from others, the same in every line about it; `None`: nothing does.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub id: Option<String>,
    /// Whether it was judged by a hook that the user has installed, which the run's own hook does as
    /// well.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub by_installed: bool,
}

impl JudgedCall {
    /// Whether the call was refused.
    pub fn is_denied(&self) -> bool {
        self.decision != Decision::Allow.as_str()
    }

    /// The line of the log, with its line break.
    pub fn line(&self) -> Vec<u8> {
        document::line(self)
    }

    /// The calls in a log, each once. A line that is torn or damaged is passed over: the call was
    /// judged, and the log is for counting.
    pub fn read_log(bytes: &[u8]) -> Vec<JudgedCall> {
        let lines = bytes.split(|byte| *byte == b'\n');
        let mut calls: Vec<JudgedCall> =
            lines.filter_map(|line| serde_json::from_slice(line).ok()).collect();
        // A client may name two calls alike, but its own hook is asked once about each.
        let by_run = calls.iter().filter(|call| !call.by_installed);
        let known: BTreeSet<String> = by_run.filter_map(|call| call.id.clone()).collect();
        calls.retain(|call| {
            let is_known = call.id.as_ref().is_some_and(|id| known.contains(id));
            !(call.by_installed && is_known)
        });
        calls
    }
}

/// The member of a call's input that tells most, or all of it.
pub fn told(input: &Value) -> String {
    let keys = ["command", "cmd", "file_path", "filePath", "notebook_path", "path", "url"];
    let found = keys.iter().find_map(|key| input[*key].as_str());
    found.map_or_else(|| input.to_string(), str::to_owned)
}

#[cfg(test)]
mod tests {
    use super::*;
    use onloop_permission::OnAsk;

    #[test]
    fn a_policy_is_read_back_and_nothing_else_is_one() {
        let policy = TurnPolicy {
            verification: vec!["make\t\"all\"".to_owned()],
            allowed: vec!["npm run *".to_owned()],
            on_ask: OnAsk::Pause,
            confined: true,
        };
        let rules = GivenRules {
            files: vec![
                (Source::Project { trusted: false }, "permissions: {}\n".to_owned()),
                (Source::Local, String::new()),
            ],
            unreadable: vec!["it is torn".to_owned()],
        };
        let (state_home, calls) = ("/s".to_owned(), "/s/calls".to_owned());
        let temporary = Some("/tmp/onloop-1".to_owned());
        let guard = TurnGuard { policy, state_home, calls, rules: Some(rules), temporary };
        assert_eq!(read(&write(&guard)), Ok(guard));
        let table: [&[u8]; 6] = [
            b"",
            b"{}",
            b"\xff",
            br#"{"verification":[],"allowed":[],"on_ask":"allow","state_home":"/s","calls":"/c"}"#,
            br#"{"verification":[],"allowed":[],"on_ask":"deny","state_home":"/s","calls":"/c","more":1}"#,
            br#"{"verification":[],"allowed":[],"on_ask":"deny","state_home":"/s","calls":"/c","rules":{"files":[["mine",""]],"unreadable":[]}}"#,
        ];
        for bytes in table {
            assert!(read(bytes).is_err(), "{bytes:?}");
        }
    }

    #[test]
    fn damaged_lines_of_a_log_do_not_hide_the_others() {
        let call = JudgedCall {
            tool: "Bash".to_owned(),
            about: "ls".to_owned(),
            decision: "deny".to_owned(),
            decided: true,
            reason: "no".to_owned(),
            id: None,
            by_installed: false,
        };
        let log = [&call.line()[..], b"{\"tool\":\n\n", &call.line()].concat();
        assert_eq!(JudgedCall::read_log(&log), [call.clone(), call]);
    }

    #[test]
    fn a_call_that_installed_hooks_judged_as_well_counts_once() {
        // The id of a call, and `i` where an installed hook judged it.
        let table = [
            (vec!["a", "ai"], 1),
            (vec!["ai", "a"], 1),
            (vec!["ai", "ai", "a"], 1),
            (vec!["a", "ai", "a", "ai"], 2),
            (vec!["a", "bi"], 2),
            (vec!["bi"], 1),
            (vec!["", "i"], 2),
        ];
        for (lines, expected) in table {
            let call = |line: &&str| JudgedCall {
                tool: "Bash".to_owned(),
                about: "ls".to_owned(),
                decision: "deny".to_owned(),
                decided: true,
                reason: "no".to_owned(),
                id: line.chars().next().filter(|id| *id != 'i').map(String::from),
                by_installed: line.ends_with('i'),
            };
            let log: Vec<u8> = lines.iter().flat_map(|line| call(line).line()).collect();
            assert_eq!(JudgedCall::read_log(&log).len(), expected, "{lines:?}");
        }
    }
}
