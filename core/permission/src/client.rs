//! The permission rules of the client's own configuration. They deny and ask; they never allow
//! more than onloop does.
//!
//! A call that one of them is about is never allowed, and never runs as another line, which the
//! client would then compare with its rules in place of the line that the agent wrote.

mod claude;
mod codex;
mod opencode;
mod path;

pub use opencode::agent as opencode_agent;
use serde_json::Value;

use super::expand::{Arg, HOLE, Shape};
use super::leading::without_leading_options;
use super::paths::{Access, Places, file_name, parts, paths_in};
use super::shell::Simple;
use super::verdict::{Decision, Finding, Rule};
use onloop_syntax::{limits, text};

/// The deny and ask rules of a client.
#[derive(Clone, Debug, Default)]
pub struct ClientRules {
    claude: Vec<claude::ClaudeRule>,
    codex: Vec<codex::CodexRule>,
    opencode: Vec<opencode::Layer>,
    /// Why a file could not be used.
    fault: Option<String>,
}

impl ClientRules {
    /// Adds `permissions.deny` and `permissions.ask` of a settings file of Claude Code. `folders` are
    /// those that a path in its rules may start from; `home` is the person's home folder.
    pub fn add_claude(&mut self, settings: &Value, folders: &[&str], home: Option<&str>) {
        for (list, decision) in [("deny", Decision::Deny), ("ask", Decision::Ask)] {
            let rules = settings["permissions"][list].as_array().map_or(&[][..], Vec::as_slice);
            let rules = rules.iter().filter_map(Value::as_str);
            self.claude.extend(rules.map(|rule| claude::read(rule, decision, folders, home)));
        }
        self.bound();
    }

    /// Sets the rules of opencode: `permission` of its configuration, merged from all its files, and
    /// the `permission` of each agent.
    pub fn set_opencode(&mut self, configuration: &Value) {
        self.opencode = opencode::read(configuration);
        if opencode::has_substitutions(configuration) {
            self.add_unreadable("a permission of opencode has `{env:…}` or `{file:…}` in it");
        }
        self.bound();
    }

    /// Adds the rules of a file of Codex, by its name `*.rules` or `requirements.toml`. Whether it could be
    /// read.
    pub fn add_codex(&mut self, name: &str, file: &str) -> bool {
        let rules = match name {
            "requirements.toml" => codex::read_requirements(file),
            _ => codex::read(file),
        };
        let is_read = rules.is_some();
        self.codex.extend(rules.into_iter().flatten());
        self.bound();
        is_read
    }

    /// Records that a file is there and cannot be used; then every call is asked about.
    pub fn add_unreadable(&mut self, reason: &str) {
        self.fault.get_or_insert_with(|| text::one_line(reason));
    }

    /// The rules of opencode by themselves: of the whole configuration, and of each agent with it. Empty
    /// without rules that hold for every agent, or where some are not known.
    pub(super) fn opencode_layers(&self) -> Vec<ClientRules> {
        let is_known = self.fault.is_none() && opencode::has_common(&self.opencode);
        let layers = self.opencode.iter().filter(|_| is_known);
        let alone = |layer: &opencode::Layer| ClientRules {
            opencode: vec![layer.clone()],
            ..ClientRules::default()
        };
        layers.map(alone).collect()
    }

    fn bound(&mut self) {
        let opencode: usize = self.opencode.iter().map(opencode::Layer::len).sum();
        if self.claude.len() + self.codex.len() + opencode > limits::CONFIG_RULES {
            self.claude.truncate(limits::CONFIG_RULES);
            self.codex.truncate(limits::CONFIG_RULES);
            self.add_unreadable("the client has too many permission rules");
        }
    }

    fn is_empty(&self) -> bool {
        let has_rules =
            !self.claude.is_empty() || !self.codex.is_empty() || !self.opencode.is_empty();
        !has_rules && self.fault.is_none()
    }

    /// What the rules say about a call as a whole: its tool, the paths and addresses that it names, and
    /// its line.
    pub(super) fn call(&self, tool: &str, input: &Value, places: &Places) -> Option<Finding> {
        if self.is_empty() {
            return None;
        }
        let fault = self.fault.as_ref().map(|why| {
            Finding::ask(
                Rule::Client(Decision::Ask),
                format!("the client's own permissions cannot be read ({why})"),
            )
        });
        let claude = self.claude.iter().filter(|rule| rule.is_about(tool, input, places));
        let opencode = self.opencode.iter().filter_map(|layer| layer.call(tool, input, places));
        let found = claude.map(claude::ClaudeRule::finding).chain(opencode).chain(fault);
        found.max_by_key(|finding| finding.decision)
    }

    /// What they say about one command of a line.
    pub(super) fn command(&self, args: &[Arg], places: &Places) -> Option<Finding> {
        if self.is_empty() {
            return None;
        }
        let short = without_leading_options(args);
        let short_spellings = short.iter().flat_map(|args| spellings(args));
        let short_spellings: Vec<String> = short_spellings.collect();
        let spellings = spellings(args);
        let operands = || args.iter().skip(1);
        let claude = self.claude.iter().filter(|rule| {
            let is_read = |path| rule.is_about_path(path, Access::Read, places);
            let mut all = spellings.iter().chain(&short_spellings);
            all.any(|spelling| rule.is_about_command(spelling))
                || operands().any(|arg| paths_in(arg.guessed()).any(is_read))
        });
        // Which files a pattern stands for is not known. An unknown part may name the current folder.
        let maybe = self.claude.iter().filter(|rule| {
            let may_be_read = |glob| rule.may_be_about_path(glob, Access::Read, places);
            let mut uncertain = operands().filter(|arg| arg.shape != Shape::Exact);
            uncertain.any(|arg| paths_in(behind_unknown(&arg.text)).any(may_be_read))
        });
        let maybe = maybe.map(|rule| rule.question(Access::Read));
        let opencode =
            self.opencode.iter().filter_map(|layer| layer.command(&spellings, &short_spellings));
        let commands = std::iter::once(args).chain(short.iter().map(Vec::as_slice));
        let codex = commands.flat_map(|args| {
            let words: Vec<String> = args.iter().map(plain).collect();
            self.codex.iter().filter_map(move |rule| {
                let (program, words) = words.split_first()?;
                rule.command(&[program, file_name(program)], words)
            })
        });
        let claude = claude.map(claude::ClaudeRule::finding).chain(maybe);
        let found = claude.chain(opencode).chain(codex);
        found.max_by_key(|found| found.decision)
    }

    /// What they say about a command as it is written, with its assignments and quotes.
    pub(super) fn source(&self, simple: &Simple) -> Option<Finding> {
        if self.is_empty() {
            return None;
        }
        let starts = 0..=simple.assignments.len().min(simple.source.len());
        let written: Vec<String> = starts.map(|at| simple.source[at..].join(" ")).collect();
        let about = |rule: &&claude::ClaudeRule| written.iter().any(|it| rule.is_about_command(it));
        let claude = self.claude.iter().filter(about).map(claude::ClaudeRule::finding);
        let opencode = self.opencode.iter().filter_map(|layer| layer.source(&written));
        claude.chain(opencode).max_by_key(|found| found.decision)
    }

    /// What they ask about a command of which it is not known which of its words are files that it reads
    /// or writes.
    pub(super) fn uncertain(&self, args: &[Arg], places: &Places) -> Option<Finding> {
        let found = self.claude.iter().filter_map(|rule| {
            let access = rule.access()?;
            let is_about = |path: &str| rule.is_about_path(path, access, places);
            let may_be_about = |part: &str| rule.may_be_about_path(part, access, places);
            let names = |arg: &Arg| {
                paths_in(arg.guessed()).any(is_about)
                    || parts(&arg.text).map(behind_unknown).any(may_be_about)
            };
            let is_asked = rule.is_for_every_file(access) || args.iter().skip(1).any(names);
            is_asked.then(|| rule.question(access))
        });
        found.max_by_key(|found| found.decision)
    }

    /// What they say about a file that a line writes, or whose content it shows.
    pub(super) fn file(&self, file: &Arg, access: Access, places: &Places) -> Option<Finding> {
        let found = self.claude.iter().filter_map(|rule| {
            let is_about = |path| rule.is_about_path(path, access, places);
            let may_be_about = |path| rule.may_be_about_path(path, access, places);
            if rule.is_for_every_file(access) || paths_in(file.guessed()).any(is_about) {
                return Some(rule.finding());
            }
            let is_uncertain = file.shape != Shape::Exact && may_be_about(&file.text);
            is_uncertain.then(|| rule.question(access))
        });
        found.max_by_key(|found| found.decision)
    }
}

/// A command as a person may have written it in a rule: as it is called, by the program's name
/// alone, and with its words quoted.
fn spellings(args: &[Arg]) -> Vec<String> {
    let words: Vec<String> = args.iter().map(plain).collect();
    let Some((program, rest)) = words.split_first() else { return Vec::new() };
    let joined = |first: &str, rest: &[String]| [&[first.to_owned()], rest].concat().join(" ");
    let quoted: Vec<String> = rest.iter().map(|word| text::shell_word(word)).collect();
    vec![joined(program, rest), joined(file_name(program), rest), joined(program, &quoted)]
}

/// A word without its unknown parts.
fn plain(arg: &Arg) -> String {
    arg.guessed().replace(HOLE, "")
}

/// What stands behind the unknown parts of a word, as a path from the current folder.
fn behind_unknown(text: &str) -> &str {
    text.rsplit_once(HOLE).map_or(text, |(_, rest)| rest.trim_start_matches('/'))
}

/// Whether `text` matches `pattern`, in which `*` stands for any text, and ` *` at the end also for
/// none.
fn wildcard(pattern: &str, text: &str) -> bool {
    if let Some(start) = pattern.strip_suffix(" *")
        && glob(start.as_bytes(), text.as_bytes())
    {
        return true;
    }
    glob(pattern.as_bytes(), text.as_bytes())
}

fn glob(pattern: &[u8], text: &[u8]) -> bool {
    let (mut p, mut t) = (0, 0);
    let mut star: Option<(usize, usize)> = None;
    while t < text.len() {
        match (pattern.get(p), star) {
            (Some(b'*'), _) => {
                star = Some((p + 1, t));
                p += 1;
            }
            (Some(b'?'), _) => (p, t) = (p + 1, t + 1),
            (Some(byte), _) if *byte == text[t] => (p, t) = (p + 1, t + 1),
            (_, Some((after, from))) => {
                star = Some((after, from + 1));
                (p, t) = (after, from + 1);
            }
            (_, None) => return false,
        }
    }
    pattern[p..].iter().all(|byte| *byte == b'*')
}

#[cfg(test)]
mod tests;
