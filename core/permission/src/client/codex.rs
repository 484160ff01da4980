//! Rules of Codex: `prefix_rule(pattern = […], decision = "…")` in files of Starlark, as
//! developers.openai.com/codex/rules describes them, and `rules.prefix_rules` of `requirements.toml`.

use super::claude::verb;
use crate::verdict::{Decision, Finding, Rule};
use onloop_syntax::text;
use toml_edit::Document;

/// A rule that asks about or forbids commands that begin with certain words.
#[derive(Clone, Debug)]
pub(super) struct CodexRule {
    /// What each word may be.
    pattern: Vec<Vec<String>>,
    decision: Decision,
}

/// Reads the rules of a file that ask or forbid. `None` for a file with more than calls whose arguments
/// are texts and lists.
pub(super) fn read(file: &str) -> Option<Vec<CodexRule>> {
    let mut reader = RulesReader { rest: file };
    let mut rules = Vec::new();
    while !reader.is_at_end() {
        let function = reader.name()?;
        reader.expect('(')?;
        let (mut pattern, mut decision) = (Vec::new(), Decision::Allow);
        while !reader.eat(')') {
            let name = reader.name()?;
            reader.expect('=')?;
            let value = reader.value(0)?;
            match (name, value) {
                // Rules about the network have a decision of their own.
                _ if function != "prefix_rule" => {}
                ("pattern", Value::List(words)) => {
                    pattern = words.into_iter().map(Value::texts).collect();
                }
                ("decision", Value::Text(said)) => {
                    decision = decision_of(&said)?;
                }
                ("pattern" | "decision", _) => return None,
                _ => {}
            }
            if !reader.eat(',') {
                reader.expect(')')?;
                break;
            }
        }
        if function == "prefix_rule" && decision > Decision::Allow {
            rules.push(CodexRule { pattern, decision });
        }
    }
    Some(rules)
}

/// Reads the rules of a `requirements.toml`. `None` for a file that is not understood.
pub(super) fn read_requirements(file: &str) -> Option<Vec<CodexRule>> {
    let file: Document<String> = file.parse().ok()?;
    let rules = file.get("rules").and_then(|rules| rules.get("prefix_rules"));
    let Some(rules) = rules else { return Some(Vec::new()) };
    let rules = rules.clone().into_value().ok()?;
    let word = |word: &toml_edit::Value| -> Option<Vec<String>> {
        let word = word.as_inline_table()?;
        match (word.get("token"), word.get("any_of")) {
            (Some(text), None) => Some(vec![text.as_str()?.to_owned()]),
            (None, Some(any)) => {
                any.as_array()?.iter().map(|text| text.as_str().map(str::to_owned)).collect()
            }
            _ => None,
        }
    };
    let rule = |rule: &toml_edit::Value| {
        let rule = rule.as_inline_table()?;
        let pattern = rule.get("pattern")?.as_array()?.iter().map(word).collect::<Option<_>>()?;
        Some(CodexRule { pattern, decision: decision_of(rule.get("decision")?.as_str()?)? })
    };
    rules.as_array()?.iter().map(rule).collect()
}

fn decision_of(said: &str) -> Option<Decision> {
    match said {
        "allow" => Some(Decision::Allow),
        "prompt" => Some(Decision::Ask),
        "forbidden" => Some(Decision::Deny),
        _ => None,
    }
}

impl CodexRule {
    /// What the rule says about a command, if it begins so. `names` are those of its program.
    pub(super) fn command(&self, names: &[&str], words: &[String]) -> Option<Finding> {
        let is = |pattern: &[String], word: &str| pattern.iter().any(|text| text == word);
        let (first, rest) = self.pattern.split_first()?;
        let begins = names.iter().any(|name| is(first, name))
            && rest.len() <= words.len()
            && rest.iter().zip(words).all(|(pattern, word)| is(pattern, word));
        begins.then(|| {
            let shown: Vec<String> = self.pattern.iter().map(|word| word.join("|")).collect();
            let shown = text::one_line(&shown.join(" "));
            let reason = format!("your rules of Codex {} it: `{shown}`", verb(self.decision));
            let rule = Rule::Client(self.decision);
            Finding { decision: self.decision, ..Finding::ask(rule, reason) }
        })
    }
}

/// An argument.
enum Value {
    Text(String),
    List(Vec<Value>),
}

impl Value {
    /// The texts in it.
    fn texts(self) -> Vec<String> {
        match self {
            Value::Text(text) => vec![text],
            Value::List(values) => values.into_iter().flat_map(Value::texts).collect(),
        }
    }
}

/// What of a file is not read yet.
struct RulesReader<'f> {
    rest: &'f str,
}

impl<'f> RulesReader<'f> {
    fn skip(&mut self) {
        self.rest = self.rest.trim_start();
        while self.rest.starts_with('#') {
            self.rest = self.rest.split_once('\n').map_or("", |(_, rest)| rest).trim_start();
        }
    }

    fn is_at_end(&mut self) -> bool {
        self.skip();
        self.rest.is_empty()
    }

    fn eat(&mut self, sign: char) -> bool {
        self.skip();
        let rest = self.rest.strip_prefix(sign);
        self.rest = rest.unwrap_or(self.rest);
        rest.is_some()
    }

    fn expect(&mut self, sign: char) -> Option<()> {
        self.eat(sign).then_some(())
    }

    fn name(&mut self) -> Option<&'f str> {
        self.skip();
        let is_end = |c: char| !c.is_ascii_alphanumeric() && c != '_';
        let end = self.rest.find(is_end).unwrap_or(self.rest.len());
        let (name, rest) = self.rest.split_at(end);
        self.rest = rest;
        (!name.is_empty()).then_some(name)
    }

    fn value(&mut self, depth: usize) -> Option<Value> {
        const DEEPEST: usize = 4;
        self.skip();
        if depth > DEEPEST || !self.rest.starts_with('[') {
            return self.text().map(Value::Text);
        }
        self.expect('[')?;
        let mut values = Vec::new();
        while !self.eat(']') {
            values.push(self.value(depth + 1)?);
            if !self.eat(',') {
                self.expect(']')?;
                break;
            }
        }
        Some(Value::List(values))
    }

    fn text(&mut self) -> Option<String> {
        self.skip();
        let quote = ["\"\"\"", "'''", "\"", "'"].into_iter().find(|q| self.rest.starts_with(q))?;
        let mut text = String::new();
        let mut rest = &self.rest[quote.len()..];
        loop {
            if let Some(behind) = rest.strip_prefix(quote) {
                self.rest = behind;
                return Some(text);
            }
            let mut chars = rest.chars();
            match chars.next()? {
                '\\' => text.push(match chars.next()? {
                    'n' => '\n',
                    't' => '\t',
                    quoted @ ('"' | '\'' | '\\') => quoted,
                    _ => return None,
                }),
                '\n' if quote.len() == 1 => return None,
                plain => text.push(plain),
            }
            rest = chars.as_str();
        }
    }
}
