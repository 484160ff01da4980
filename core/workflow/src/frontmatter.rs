//! The frontmatter, between the first `---` and the next: settings of the whole workflow.

use std::collections::BTreeSet;
use std::ops::RangeInclusive;

use onloop_effect::{BranchName, Network, OperatingSystem, Shell};
use onloop_syntax::diagnostic::Span;
use onloop_syntax::limits;
use onloop_syntax::money::Money;
use onloop_syntax::syntax::strict_yaml;
use onloop_syntax::text::{self, words};

use super::finding::{self, Findings};
use super::format::Section;
use super::line::{Cursor, Line};
use super::place::PlaceKind;
use super::suggest;
use super::value::{self, Kind, Style, Value};
use super::verify::CommandDefaults;
use super::{Budgets, CommitWhen, EvidenceRules, Isolation, Risk, is_model, markdown};

words! {
    /// A key of the format, in the order of the documentation.
    #[derive(PartialOrd, Ord)]
    pub(super) enum FrontmatterKey {
        Intent = "intent",
        SuccessCriteria = "success_criteria",
        RiskLevel = "risk_level",
        AutoApprove = "auto_approve",
        Branch = "branch",
        Worktree = "worktree",
        DirtyWorktree = "dirty_worktree",
        Progress = "progress",
        ReportDetail = "report_detail",
        MaxTotalAttempts = "max_total_attempts",
        MaxAgents = "max_agents",
        MaxCostUsd = "max_cost_usd",
        MaxTokens = "max_tokens",
        MaxElapsedMinutes = "max_elapsed_minutes",
        MaxParallel = "max_parallel",
        Allow = "allow",
        Protect = "protect",
        Commit = "commit",
        Review = "review",
        Model = "model",
        Setup = "setup",
        Shell = "shell",
        Platform = "platform",
        Confine = "confine",
        Network = "network",
        RequireChecks = "require_checks",
        VerifyClean = "verify_clean",
        MaxReviewRounds = "max_review_rounds",
        Baseline = "baseline",
        PolicyProfile = "policy_profile",
    }
}

/// The values of the frontmatter; `None` for absent or invalid ones.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Frontmatter {
    /// Its lines, without the `---` lines.
    pub span: Option<Span>,
    pub intent: Option<String>,
    pub success_criteria: Option<String>,
    pub risk: Option<Risk>,
    pub auto_approve: bool,
    pub branch: Option<BranchName>,
    pub isolation: Option<Isolation>,
    pub progress_verbose: bool,
    pub report_full: bool,
    pub dirty_allowed: bool,
    pub budgets: Budgets,
    pub max_parallel: Option<u32>,
    pub allow: Vec<String>,
    pub protect: Vec<String>,
    pub commit: CommitWhen,
    pub review: Option<String>,
    pub model: Option<String>,
    pub setup: Vec<String>,
    pub command: CommandDefaults,
    pub confine: bool,
    pub network: Option<Network>,
    pub evidence: EvidenceRules,
    pub baseline: bool,
}

/// Reads the frontmatter at the cursor and moves the cursor past it.
pub(super) fn read(cursor: &mut Cursor<'_>, findings: &mut Findings) -> Frontmatter {
    let Some(opening) = cursor.peek().filter(|line| line.text.trim_end() == "---") else {
        let span = cursor.peek().map_or(Span::at(cursor.position()), |line| line.span());
        let has_content = !cursor.source()[cursor.position()..].trim().is_empty();
        findings.push(finding::frontmatter::missing(span, has_content));
        return Frontmatter::default();
    };
    cursor.advance();
    let start = cursor.position();
    let end = find_end(cursor, opening, findings);
    if end - start > limits::FRONTMATTER_BYTES {
        findings.push(finding::frontmatter::too_large(opening.span(), end - start));
        return Frontmatter::default();
    }
    let mut reader = Reader {
        cursor: Cursor::new(&cursor.source()[..end], start),
        findings,
        front: Frontmatter::default(),
        seen: BTreeSet::new(),
    };
    reader.read_entries();
    reader.require_keys(opening.span());
    reader.require_worktree();
    Frontmatter { span: Some(Span::new(start, end)), ..reader.front }
}

/// Moves past the closing line and returns its start. Without one, the frontmatter ends at the
/// first step or section, so that their findings are reported.
fn find_end(cursor: &mut Cursor<'_>, opening: Line<'_>, findings: &mut Findings) -> usize {
    while let Some(line) = cursor.peek() {
        if matches!(line.text.trim_end(), "---" | "...") {
            cursor.advance();
            return line.start;
        }
        let is_step = line.text.starts_with("- [") && markdown::header(line).is_some();
        if is_step || markdown::heading_level(line.text).is_some_and(|level| level >= 2) {
            break;
        }
        cursor.advance();
    }
    findings.push(finding::frontmatter::unterminated(opening.span()));
    cursor.position()
}

struct Reader<'c, 'f> {
    cursor: Cursor<'c>,
    findings: &'f mut Findings,
    front: Frontmatter,
    seen: BTreeSet<FrontmatterKey>,
}

impl<'c> Reader<'c, '_> {
    fn read_entries(&mut self) {
        while let Some(line) = self.cursor.peek() {
            self.cursor.advance();
            let trimmed = line.trimmed();
            if trimmed.is_empty() || line.text.starts_with('#') {
                continue;
            }
            match value::key(line.text) {
                Some((key, length)) => self.read_entry(line, key, length),
                None => self.findings.push(finding::frontmatter::not_a_key(line.span())),
            }
        }
    }

    fn read_entry(&mut self, line: Line<'c>, key: &'c str, length: usize) {
        let key_span = Span::new(line.start, line.start + key.len());
        let value = self.read_value(line, line.start + length);
        let known =
            FrontmatterKey::ALL.into_iter().find(|known| known.as_str().eq_ignore_ascii_case(key));
        let what = known.map_or(PlaceKind::Unknown(Section::Frontmatter), |known| {
            PlaceKind::Field(Section::Frontmatter, known.as_str())
        });
        self.findings.places.note(what, key_span, value.span);
        let Some(known) = known else {
            let suggestion = suggest::nearest(key, FrontmatterKey::WORDS);
            self.findings.push(finding::frontmatter::unknown_key(key_span, key, suggestion));
            return;
        };
        let name = known.as_str();
        if !self.seen.insert(known) {
            self.findings.push(finding::frontmatter::duplicate_key(key_span, name));
        } else if value.is_empty() {
            self.findings.push(finding::frontmatter::empty_key(key_span, name));
        } else {
            self.interpret(known, name, &value);
        }
    }

    /// The value, with list items directly below the key.
    fn read_value(&mut self, line: Line<'c>, from: usize) -> Value<'c> {
        let inline = Value::inline(line, from);
        let has_list_below =
            inline.is_empty() && self.cursor.peek().is_some_and(|next| next.text.starts_with("- "));
        if !has_list_below {
            return Value::read(&mut self.cursor, line, from, 0, Kind::Meta);
        }
        let mut text = String::new();
        let (start, mut end) = (self.cursor.position(), from);
        while let Some(next) = self.cursor.peek() {
            let continues = next.text.starts_with("- ") || next.indent() > 0;
            if !continues && !next.is_blank() {
                break;
            }
            text.push_str(next.text);
            text.push('\n');
            if !next.is_blank() {
                end = next.end();
            }
            self.cursor.advance();
        }
        Value { span: Span::new(start, end), text: text.into(), style: Style::Below, ..inline }
    }

    fn require_keys(&mut self, span: Span) {
        let required = [
            (FrontmatterKey::Intent, "say in one sentence what the workflow builds"),
            (FrontmatterKey::SuccessCriteria, "say how to know that the work is done"),
            (FrontmatterKey::RiskLevel, "write `risk_level: low`, `medium` or `high`"),
        ];
        for (key, help) in required {
            if !self.seen.contains(&key) {
                self.findings.push(finding::frontmatter::missing_key(span, key.as_str(), help));
            }
        }
    }

    /// Steps that run at the same time need worktrees.
    fn require_worktree(&mut self) {
        let is_parallel = self.front.max_parallel.is_some_and(|most| most > 1);
        if !is_parallel || self.front.isolation == Some(Isolation::Worktree) {
            return;
        }
        let place = |name| self.findings.places.of(Section::Frontmatter, name);
        let (Some(parallel), worktree) = (place("max_parallel"), place("worktree")) else { return };
        // A value that cannot be read is a finding of its own.
        if worktree.is_some() && self.front.isolation.is_none() {
            return;
        }
        let written =
            worktree.map(|place| self.cursor.source()[place.value.start..place.value.end].trim());
        let found = finding::frontmatter::parallel_without_worktree(parallel, written);
        self.findings.push(found);
    }

    fn interpret(&mut self, known: FrontmatterKey, key: &'static str, value: &Value<'_>) {
        match known {
            FrontmatterKey::Intent => {
                self.front.intent = self.prose(key, value).map(|t| text::one_line(&t))
            }
            FrontmatterKey::SuccessCriteria => {
                self.front.success_criteria = self.prose(key, value).map(|t| text::printable(&t));
            }
            FrontmatterKey::RiskLevel => {
                let risks = Risk::ALL.map(|risk| (risk.as_str(), risk));
                let hotl = |found: &str| {
                    format!("risk_level must be low, medium, or high (got: '{found}')")
                };
                self.front.risk = self.one_of(key, value, &risks, hotl);
            }
            FrontmatterKey::AutoApprove => {
                self.front.auto_approve = self.truth(key, value);
            }
            FrontmatterKey::Worktree => {
                let modes = [
                    ("true", Isolation::Worktree),
                    ("false", Isolation::Branch),
                    ("host", Isolation::Host),
                ];
                self.front.isolation = self.one_of(key, value, &modes, |found| {
                    format!("worktree must be true, false, or host if set (got: '{found}')")
                });
            }
            FrontmatterKey::DirtyWorktree => {
                self.front.dirty_allowed = self.flag(key, value, "allow")
            }
            FrontmatterKey::Progress => {
                self.front.progress_verbose = self.flag(key, value, "verbose")
            }
            FrontmatterKey::ReportDetail => self.front.report_full = self.flag(key, value, "full"),
            FrontmatterKey::Allow => self.front.allow = self.lines(key, value),
            FrontmatterKey::Protect => self.front.protect = self.globs(key, value),
            FrontmatterKey::Commit => {
                let moments = CommitWhen::ALL.map(|when| (when.as_str(), when));
                let when = self.one_of(key, value, &moments, |found| {
                    format!("commit must be end, step, or never if set (got: '{found}')")
                });
                self.front.commit = when.unwrap_or_default();
            }
            FrontmatterKey::Review => self.front.review = self.agent(key, value),
            FrontmatterKey::Model => self.front.model = self.model(key, value),
            FrontmatterKey::Setup => self.front.setup = self.lines(key, value),
            FrontmatterKey::Shell => {
                let shells = Shell::ALL.map(|shell| (shell.as_str(), shell));
                let shell = self.one_of(key, value, &shells, |found| {
                    format!("shell must be bash, sh, pwsh, or cmd if set (got: '{found}')")
                });
                self.front.command.shell = shell.unwrap_or_default();
            }
            FrontmatterKey::Platform => {
                let systems = OperatingSystem::ALL.map(|system| (system.as_str(), system));
                self.front.command.platform = self.one_of(key, value, &systems, |found| {
                    format!("platform must be linux, macos, or windows if set (got: '{found}')")
                });
            }
            FrontmatterKey::Confine => self.front.confine = self.flag(key, value, "on"),
            FrontmatterKey::Network => self.front.network = self.network(key, value),
            FrontmatterKey::RequireChecks => {
                self.front.evidence.require_checks = self.truth(key, value);
            }
            FrontmatterKey::VerifyClean => {
                self.front.evidence.verify_clean = self.truth(key, value);
            }
            FrontmatterKey::MaxReviewRounds => {
                self.front.evidence.max_review_rounds = self.whole(key, value, 0..=MOST_ROUNDS);
            }
            FrontmatterKey::Baseline => self.front.baseline = self.truth(key, value),
            FrontmatterKey::PolicyProfile => {
                self.flag(key, value, "standard");
            }
            FrontmatterKey::Branch => self.front.branch = self.branch(value),
            FrontmatterKey::MaxTotalAttempts => {
                self.front.budgets.total_attempts = self.count(key, value)
            }
            FrontmatterKey::MaxAgents => self.front.budgets.agents = self.count(key, value),
            FrontmatterKey::MaxTokens => self.front.budgets.tokens = self.count(key, value),
            FrontmatterKey::MaxElapsedMinutes => {
                self.front.budgets.elapsed_minutes = self.count(key, value)
            }
            FrontmatterKey::MaxParallel => {
                let most = limits::PARALLEL_STEPS;
                self.front.max_parallel = self.whole(key, value, 1..=most);
            }
            FrontmatterKey::MaxCostUsd => self.front.budgets.cost = self.money(key, value),
        }
    }

    /// The value as text for people: each item of a list becomes a line.
    fn prose(&mut self, key: &str, value: &Value<'_>) -> Option<String> {
        if strict_yaml::open_brackets(&value.text) > limits::FRONTMATTER_OPEN_BRACKETS {
            self.findings.push(finding::frontmatter::too_nested(value.span));
            return None;
        }
        let text = value.trimmed();
        let result = match value.style {
            Style::Block => text.to_owned(),
            Style::Below if text.starts_with("- ") => self.list(key, value),
            Style::Inline | Style::Lines | Style::Below => {
                self.scalar(key, value.span, text).unwrap_or_else(|| joined(text))
            }
        };
        if result.trim().is_empty() {
            let span = value.span;
            self.findings.push(finding::frontmatter::empty_key(span, key));
            return None;
        }
        Some(result)
    }

    fn list(&mut self, key: &str, value: &Value<'_>) -> String {
        let mut items: Vec<String> = Vec::new();
        for line in value.text.lines() {
            let trimmed = line.trim();
            let is_item = line.starts_with("- ") || trimmed == "-";
            match items.last_mut() {
                Some(item) if !is_item => {
                    item.push(' ');
                    item.push_str(trimmed);
                }
                Some(_) | None => items.push(trimmed.trim_start_matches('-').trim().to_owned()),
            }
        }
        let text = |item: &String| self.scalar(key, value.span, item.trim());
        let items: Vec<_> = {
            let mut text = text;
            items.iter().map(|item| text(item).unwrap_or_else(|| item.trim().to_owned())).collect()
        };
        items.join("\n")
    }

    /// A quoted or bracketed value, read as YAML; `None` for plain text.
    fn scalar(&mut self, key: &str, span: Span, text: &str) -> Option<String> {
        let last = text.bytes().last()?;
        let parsed = match (text.as_bytes()[0], last) {
            (b'"', b'"') | (b'\'', b'\'') if text.len() > 1 => {
                serde_yaml::from_str::<String>(text).ok()
            }
            (b'[', b']') => {
                serde_yaml::from_str::<Vec<String>>(text).ok().map(|items| items.join("\n"))
            }
            _ => return None,
        };
        if parsed.is_none() {
            self.findings.push(finding::frontmatter::unreadable_quotes(span, key));
        }
        parsed
    }

    /// The value as one word, without quotes and comment, in lower case.
    fn word<'v>(&mut self, value: &'v Value<'_>) -> (&'v str, Span) {
        // An empty line belongs to the value, too, so that its position in the file is right.
        let first_line = value.text.lines().next().unwrap_or(&value.text[..0]);
        let text = value::without_comment(first_line);
        let bare = value::unquoted(text);
        let start = value.span.start + (bare.as_ptr() as usize - value.text.as_ptr() as usize);
        (bare, Span::new(start, start + bare.len()))
    }

    fn one_of<T: Copy>(
        &mut self,
        key: &'static str,
        value: &Value<'_>,
        choices: &[(&str, T)],
        hotl_text: impl Fn(&str) -> String,
    ) -> Option<T> {
        let (text, span) = self.word(value);
        let (word, rest) = text.split_once([' ', '\t']).unwrap_or((text, ""));
        let chosen = choices.iter().find(|(name, _)| name.eq_ignore_ascii_case(word));
        let Some((_, choice)) = chosen else {
            let names: Vec<&str> = choices.iter().map(|(name, _)| *name).collect();
            let expected = text::alternatives(&names);
            let hotl = Some(hotl_text(word));
            let found = finding::frontmatter::invalid_value(span, key, text, &expected, hotl);
            self.findings.push(match suggest::nearest(word, &names) {
                Some(near) => found.with_help(format!("did you mean `{near}`?")),
                None => found,
            });
            return None;
        };
        let word_span = Span::new(span.start, span.start + word.len());
        if !rest.trim().is_empty() && span.end <= value.span.end {
            let rest_span = Span::new(span.end - rest.trim_start().len(), span.end);
            let ignored = rest.trim();
            self.findings.push(finding::frontmatter::ignored_text(word_span, rest_span, ignored));
        }
        Some(*choice)
    }

    fn flag(&mut self, key: &'static str, value: &Value<'_>, word: &str) -> bool {
        let hotl = |found: &str| format!("{key} must be '{word}' if set (got: '{found}')");
        self.one_of(key, value, &[(word, ())], hotl).is_some()
    }

    /// `true` or `false`; anything else is a finding and counts as `false`.
    fn truth(&mut self, key: &'static str, value: &Value<'_>) -> bool {
        let hotl = |found: &str| format!("{key} must be true or false (got: '{found}')");
        self.one_of(key, value, &[("true", true), ("false", false)], hotl).unwrap_or(false)
    }

    /// The items of a list, or the lines of a text.
    fn lines(&mut self, key: &'static str, value: &Value<'_>) -> Vec<String> {
        let text = value.trimmed();
        if value.style != Style::Block && !is_list(text) {
            let expected = "a list of texts: `[a, b]`, or an indented line `- a` for each";
            let found = finding::frontmatter::invalid_value(value.span, key, text, expected, None);
            self.findings.push(found);
            return Vec::new();
        }
        let lines = self.prose(key, value).unwrap_or_default();
        let lines = lines.lines().map(str::trim).filter(|line| !line.is_empty());
        lines.map(str::to_owned).collect()
    }

    fn globs(&mut self, key: &'static str, value: &Value<'_>) -> Vec<String> {
        let globs = self.lines(key, value);
        for glob in &globs {
            if !names_files(glob) {
                let expected = "names or patterns of files below the root, such as `ci/**`, without \
                                `key: value` and `{a,b}`";
                let span = value.span;
                let found = finding::frontmatter::invalid_value(span, key, glob, expected, None);
                self.findings.push(found);
            }
        }
        globs
    }

    fn network(&mut self, key: &'static str, value: &Value<'_>) -> Option<Network> {
        let network = value::network(value);
        if let Err(invalid) = &network {
            let text = value.trimmed();
            self.findings
                .push(finding::frontmatter::invalid_network(value.span, key, text, invalid));
        }
        network.ok()
    }

    /// The name of an agent. Command lines of agents are only allowed on the command line.
    fn agent(&mut self, key: &'static str, value: &Value<'_>) -> Option<String> {
        let (name, span) = self.word(value);
        if !name.is_empty() && name.chars().all(|c| c.is_ascii_alphanumeric()) {
            return Some(name.to_owned());
        }
        let expected = "the name of an agent, such as `claude`";
        let found = finding::frontmatter::invalid_value(span, key, name, expected, None);
        self.findings.push(found);
        None
    }

    fn model(&mut self, key: &'static str, value: &Value<'_>) -> Option<String> {
        let (name, span) = self.word(value);
        if is_model(name) {
            return Some(name.to_owned());
        }
        let expected = finding::MODEL_EXPECTED;
        let found = finding::frontmatter::invalid_value(span, key, name, expected, None);
        self.findings.push(found);
        None
    }

    fn branch(&mut self, value: &Value<'_>) -> Option<BranchName> {
        let (name, span) = self.word(value);
        let branch = name.parse().ok();
        if branch.is_none() {
            let expected = "a name that git accepts for a branch";
            let found = finding::frontmatter::invalid_value(span, "branch", name, expected, None);
            self.findings.push(found);
        }
        branch
    }

    fn count(&mut self, key: &'static str, value: &Value<'_>) -> Option<u64> {
        let (text, span) = self.word(value);
        match text.parse::<u64>() {
            Ok(count) if (1..=MOST).contains(&count) => Some(count),
            Ok(_) | Err(_) => {
                let expected = "a whole number of at least 1";
                let found = finding::frontmatter::invalid_value(span, key, text, expected, None);
                self.findings.push(found);
                None
            }
        }
    }

    fn whole(
        &mut self,
        key: &'static str,
        value: &Value<'_>,
        range: RangeInclusive<u32>,
    ) -> Option<u32> {
        let (text, span) = self.word(value);
        let number = text.parse().ok().filter(|number| range.contains(number));
        if number.is_none() {
            let expected = format!("a whole number from {} to {}", range.start(), range.end());
            let found = finding::frontmatter::invalid_value(span, key, text, &expected, None);
            self.findings.push(found);
        }
        number
    }

    fn money(&mut self, key: &'static str, value: &Value<'_>) -> Option<Money> {
        let (text, span) = self.word(value);
        let money: Option<Money> = text.strip_prefix('$').unwrap_or(text).parse().ok();
        let money = money.filter(|money| *money != Money::ZERO);
        if money.is_none() {
            let expected = "an amount in US dollars, such as `2.50`";
            let found = finding::frontmatter::invalid_value(span, key, text, expected, None);
            self.findings.push(found);
        }
        money
    }
}

/// Largest number of review rounds: each is paid for.
const MOST_ROUNDS: u32 = 20;

/// Largest count: JSON readers keep whole numbers exact up to 2^53.
const MOST: u64 = 1 << 53;

/// Whether a value is a list or text. In brackets, YAML must read it as a list of texts; keys with
/// values in braces are neither.
fn is_list(text: &str) -> bool {
    if strict_yaml::open_brackets(text) > limits::FRONTMATTER_OPEN_BRACKETS {
        return true;
    }
    let has_values = |pairs: serde_yaml::Mapping| pairs.values().any(|value| !value.is_null());
    match (text.chars().next(), text.chars().next_back()) {
        (Some('['), Some(']')) => serde_yaml::from_str::<Vec<String>>(text).is_ok(),
        (Some('{'), Some('}')) => !serde_yaml::from_str(text).is_ok_and(has_values),
        _ => true,
    }
}

/// Whether a pattern can name a file below the root.
pub(super) fn names_files(glob: &str) -> bool {
    let leads_out = glob.starts_with('/') || glob.split('/').any(|part| part == "..");
    glob::Pattern::new(glob).is_ok() && !leads_out && !matches_nothing(glob)
}

/// Whether a pattern is meant as something that patterns cannot say: a key with a value, or
/// alternatives.
fn matches_nothing(glob: &str) -> bool {
    let has_alternatives =
        |start: &str| start.split_once('}').is_some_and(|(between, _)| between.contains(','));
    glob.contains(": ") || glob.ends_with(':') || glob.split('{').skip(1).any(has_alternatives)
}

/// Lines of a plain value as one line, as YAML folds them.
fn joined(text: &str) -> String {
    text.lines().map(str::trim).filter(|line| !line.is_empty()).collect::<Vec<_>>().join(" ")
}
