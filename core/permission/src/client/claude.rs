//! Rules of Claude Code: `Tool` or `Tool(what)`, as its settings reference describes them.

use serde_json::Value;

use super::path::PathPattern;
use super::wildcard;
use crate::paths::{Access, Places};
use crate::tools;
use crate::verdict::{Decision, Finding, Rule};
use crate::web;
use onloop_syntax::text;

/// The agent that a call without a name starts. Source: "Subagents" in the manual of Claude Code 2.
const DEFAULT_AGENT: &str = "general-purpose";

/// A rule of `permissions.deny` or `permissions.ask`.
#[derive(Clone, Debug)]
pub(super) struct ClaudeRule {
    decision: Decision,
    /// As it is written.
    text: String,
    tool: String,
    what: What,
    /// A member of the input and a pattern for its value, which `name:value` may be as well.
    member: Option<(String, String)>,
}

/// What a rule is about, besides the tool.
#[derive(Clone, Debug)]
enum What {
    /// Every call of the tool.
    Anything,
    /// Lines of shell.
    Command(String),
    /// Files that are read.
    Read(PathPattern),
    /// Files that are written.
    Write(PathPattern),
    /// Addresses at a host.
    Domain(String),
    /// The name of a skill or of an agent.
    Named(String),
}

/// Reads a rule. One that cannot be understood is about every call of its tool.
pub(super) fn read(
    rule: &str,
    decision: Decision,
    folders: &[&str],
    home: Option<&str>,
) -> ClaudeRule {
    let rule = rule.trim();
    let (tool, what) = match rule.strip_suffix(')').and_then(|rule| rule.split_once('(')) {
        Some((tool, what)) => (tool.trim(), what.trim()),
        None => (rule, ""),
    };
    let is_name = |name: &str| name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
    // `Bash(git:*)` is about lines that begin so.
    let member = what.split_once(':').filter(|(name, value)| {
        is_name(name) && !value.is_empty() && !(tool == "Bash" && *value == "*")
    });
    let member = member.map(|(name, value)| (name.to_owned(), value.trim().to_owned()));
    let pattern = || PathPattern::new(what, folders, home);
    let what = match (tool, what) {
        (_, "" | "*") => What::Anything,
        ("Bash", line) => What::Command(match line.strip_suffix(":*") {
            Some(begin) => format!("{begin} *"),
            None => line.to_owned(),
        }),
        ("Read", _) => What::Read(pattern()),
        ("Edit" | "Write" | "MultiEdit" | "NotebookEdit", _) => What::Write(pattern()),
        ("WebFetch", address) => match address.strip_prefix("domain:") {
            Some(host) => What::Domain(host.trim().to_lowercase()),
            None => What::Anything,
        },
        (_, name) => What::Named(name.to_owned()),
    };
    ClaudeRule { decision, text: text::one_line(rule), tool: tool.to_owned(), what, member }
}

impl ClaudeRule {
    pub(super) fn finding(&self) -> Finding {
        let (verb, rule) = (verb(self.decision), Rule::Client(self.decision));
        let reason = format!("your settings of Claude Code {verb} it: `{}`", self.text);
        Finding { decision: self.decision, ..Finding::ask(rule, reason) }
    }

    /// What is asked about a line in which a pattern or an unknown part may stand for what the rule is
    /// about.
    pub(super) fn question(&self, access: Access) -> Finding {
        let verb = if access == Access::Write { "write" } else { "read" };
        let reason =
            format!("it may {verb} what your settings of Claude Code name: `{}`", self.text);
        Finding::ask(Rule::Client(Decision::Ask), reason)
    }

    /// Whether the rule is about a call of `tool` as a whole.
    pub(super) fn is_about(&self, tool: &str, input: &Value, places: &Places) -> bool {
        let has = |(name, pattern): &(String, String)| match &input[name] {
            Value::String(text) => wildcard(pattern, text),
            value @ (Value::Bool(_) | Value::Number(_)) => wildcard(pattern, &value.to_string()),
            Value::Null | Value::Array(_) | Value::Object(_) => false,
        };
        if self.member.as_ref().is_some_and(has) && self.is_for(tool) {
            return true;
        }
        match &self.what {
            What::Anything => self.is_for(tool),
            What::Command(pattern) => {
                let line = input["command"].as_str().filter(|_| tools::runs_a_line(tool));
                line.is_some_and(|line| wildcard(pattern, line.trim()))
            }
            What::Read(pattern) => {
                let paths = tools::paths(input);
                let here = tools::reads_files(tool) && paths.is_empty();
                tools::reads_files(tool)
                    && (paths.iter().any(|path| pattern.matches(path, places))
                        || (here && pattern.matches(".", places)))
            }
            What::Write(pattern) => {
                let paths = tools::named_paths(tool, input);
                tools::writes_files(tool) && paths.iter().any(|path| pattern.matches(path, places))
            }
            What::Domain(host) => {
                self.is_for(tool) && tools::urls(input).iter().any(|url| is_at(url, host))
            }
            What::Named(name) => {
                let members = ["skill", "name", "command", "subagent_type", "agent_type"];
                let named = |key: &&str| input[*key].as_str().is_some_and(|it| wildcard(name, it));
                let is_default = matches!(tool, "Task" | "Agent")
                    && input["subagent_type"].as_str().is_none_or(str::is_empty)
                    && wildcard(name, DEFAULT_AGENT);
                self.is_for(tool) && (is_default || members.iter().any(named))
            }
        }
    }

    /// Whether it is about a command of a line.
    pub(super) fn is_about_command(&self, command: &str) -> bool {
        // Quotes that a wrapper took away, or that a rule has others of, do not matter.
        let plain = |text: &str| text.replace(['"', '\'', '\\'], "");
        matches!(&self.what, What::Command(pattern)
            if wildcard(pattern, command) || wildcard(&plain(pattern), &plain(command)))
    }

    /// Which files it is about, if it is about this access to files.
    fn files(&self, access: Access) -> Option<&PathPattern> {
        match (&self.what, access) {
            (What::Read(pattern), Access::Read) | (What::Write(pattern), Access::Write) => {
                Some(pattern)
            }
            _ => None,
        }
    }

    /// Whether it is about this access to `path`.
    pub(super) fn is_about_path(&self, path: &str, access: Access, places: &Places) -> bool {
        self.files(access).is_some_and(|pattern| pattern.matches(path, places))
    }

    /// Whether it may be about this access to a file that `glob` stands for.
    pub(super) fn may_be_about_path(&self, glob: &str, access: Access, places: &Places) -> bool {
        self.files(access).is_some_and(|pattern| pattern.may_match(glob, places))
    }

    /// How files are used that it is about, if it is about files of commands.
    pub(super) fn access(&self) -> Option<Access> {
        let is_for =
            |access: &Access| self.files(*access).is_some() || self.is_for_every_file(*access);
        [Access::Write, Access::Read].into_iter().find(is_for)
    }

    /// Whether it is about this access to every file.
    pub(super) fn is_for_every_file(&self, access: Access) -> bool {
        let tools = if access == Access::Write { &["Edit", "Write"][..] } else { &["Read"] };
        matches!(self.what, What::Anything) && tools.iter().any(|tool| wildcard(&self.tool, tool))
    }

    /// Whether the name of the rule's tool stands for `tool`: a server stands for all of its tools,
    /// `Bash` for every tool that runs a line, and `Read` and `Edit` for every tool that reads or edits
    /// files.
    fn is_for(&self, tool: &str) -> bool {
        let name = self.tool.as_str();
        let of_server = name.starts_with("mcp__")
            && tool.strip_prefix(name).is_some_and(|rest| rest.starts_with("__"));
        let kind = match name {
            "Bash" => tools::starts_programs(tool),
            "Read" => tools::reads_files(tool),
            "Edit" => tools::writes_files(tool),
            _ => false,
        };
        let agent = matches!((name, tool), ("Agent", "Task") | ("Task", "Agent"));
        wildcard(name, tool) || of_server || kind || agent
    }
}

pub(super) fn verb(decision: Decision) -> &'static str {
    if decision == Decision::Deny { "deny" } else { "ask about" }
}

/// Whether `url` leads to `host`, or below it where it begins with `*.`.
fn is_at(url: &str, host: &str) -> bool {
    let name = web::authority(url).rsplit('@').next().unwrap_or_default();
    let name = name.split(':').next().unwrap_or_default().trim_end_matches('.').to_lowercase();
    wildcard(host, &name) || host.strip_prefix("*.").is_some_and(|bare| bare == name)
}
