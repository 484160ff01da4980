//! Rules that people write, in `.agentize.yaml` and `.agentize.local.yaml`.
//!
//! A rule is a regular expression that is searched in the words of one command, as the
//! program would get them, or in the target of another tool. An error in a file never makes
//! a decision milder: a deny rule that cannot be used asks, an allow rule that cannot be used is
//! left out, and a file that cannot be read allows nothing at all.

use fancy_regex::{Regex, RegexBuilder};

use super::expand::{Arg, HOLE};
use super::leading::without_leading_options;
use super::paths::{Places, TemporaryPolicy, file_name, in_system_folder};
use super::target::Target;
use super::tools;
pub use super::verdict::Source;
use super::verdict::{Decision, Finding, Rule};
use onloop_syntax::limits;
use onloop_syntax::syntax::strict_yaml;
use onloop_syntax::text;

/// All rules that hold for a call.
#[derive(Clone, Debug, Default)]
pub struct Rules {
    rules: Vec<Matcher>,
    faults: Vec<String>,
    notes: Vec<String>,
    temporary: TemporaryPolicy,
    unconfined: bool,
}

#[derive(Clone, Debug)]
struct Matcher {
    rule: Rule,
    /// What it decides where it matches.
    decision: Decision,
    tool: String,
    /// Whether it is about lines of shell, which clients have tools of many names for.
    in_shell: bool,
    pattern: Pattern,
}

/// What is wrong with a configuration file. Displayed, it completes a sentence about the file.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
enum Malformed {
    #[error("{0}")]
    Yaml(String),
    #[error("is not a mapping")]
    Document,
    #[error("has `permissions` that is not a mapping")]
    Permissions,
    #[error("has `permissions.{}` that is not a list", .0.as_str())]
    List(Decision),
    #[error("has an entry {}[{}] that is not a rule", .0.as_str(), .1)]
    Entry(Decision, usize),
    #[error("has `permissions.confine` that is neither `auto` nor `off`")]
    Confine,
    #[error("has `permissions.temporary` that is neither `allow` nor `ask`")]
    Temporary,
}

#[derive(Clone, Debug)]
enum Pattern {
    Search(Box<Regex>),
    /// A pattern that does not compile: it asks about every call of its tool.
    Unusable(String),
}

/// The rules of configuration files, for a program that cannot read them itself.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct GivenRules {
    /// Whose each file is, and its text, which has nothing but `permissions` in it.
    pub files: Vec<(Source, String)>,
    /// Why a file could not be read: then nothing is allowed.
    pub unreadable: Vec<String>,
}

impl GivenRules {
    /// Adds a file, of which only what it says about permissions is kept: the rest has secrets.
    pub fn add_file(&mut self, source: Source, yaml: &str) {
        match only_permissions(yaml) {
            Ok(kept) => self.files.push((source, kept)),
            Err(why) => self.unreadable.push(why),
        }
    }

    /// The rules in these files.
    pub fn rules(&self) -> Rules {
        let mut rules = Rules::default();
        self.files.iter().for_each(|(source, yaml)| rules.add_file(*source, yaml));
        self.unreadable.iter().for_each(|why| rules.add_unreadable(why));
        rules
    }
}

fn only_permissions(yaml: &str) -> Result<String, String> {
    let value = strict_yaml::parse(yaml, strict_yaml::CONFIGURATION);
    let mut value = value.map_err(|error| error.to_string())?;
    match &mut value {
        serde_yaml::Value::Null => return Ok(String::new()),
        serde_yaml::Value::Mapping(top) => {
            top.retain(|key, _| key.as_str() == Some("permissions"));
        }
        _ => return Err("it is not a mapping".to_owned()),
    }
    serde_yaml::to_string(&value).map_err(|error| error.to_string())
}

impl Rules {
    /// Adds the rules of one file. Files are added in the order of their precedence.
    pub fn add_file(&mut self, source: Source, yaml: &str) {
        if let Err(fault) = self.read_file(source, yaml) {
            self.faults.push(format!("the {} configuration {fault}", source.as_str()));
        }
    }

    fn read_file(&mut self, source: Source, yaml: &str) -> Result<(), Malformed> {
        let value = strict_yaml::parse(yaml, strict_yaml::CONFIGURATION)
            .map_err(|error| Malformed::Yaml(error.to_string()))?;
        let top = match &value {
            serde_yaml::Value::Null => return Ok(()),
            serde_yaml::Value::Mapping(top) => top,
            _ => return Err(Malformed::Document),
        };
        let permissions = match top.get("permissions") {
            None | Some(serde_yaml::Value::Null) => return Ok(()),
            Some(serde_yaml::Value::Mapping(permissions)) => permissions,
            Some(_) => return Err(Malformed::Permissions),
        };
        let mut result = Ok(());
        for (key, value) in permissions {
            let key = key.as_str().unwrap_or_default();
            let read = match key {
                "deny" => self.read_list(source, Decision::Deny, value),
                "ask" => self.read_list(source, Decision::Ask, value),
                "allow" => self.read_list(source, Decision::Allow, value),
                "temporary" => self.read_temporary(source, value),
                "confine" => self.read_confine(value),
                _ => {
                    self.notes.push(format!("`permissions.{}` is not known", text::one_line(key)));
                    Ok(())
                }
            };
            result = result.and(read);
        }
        result
    }

    /// Anybody may have calls asked about that could run confined.
    fn read_confine(&mut self, value: &serde_yaml::Value) -> Result<(), Malformed> {
        match value {
            serde_yaml::Value::Bool(false) => self.unconfined = true,
            value => match value.as_str() {
                Some("auto") => {}
                Some("off") => self.unconfined = true,
                _ => return Err(Malformed::Confine),
            },
        }
        Ok(())
    }

    fn read_temporary(
        &mut self,
        source: Source,
        value: &serde_yaml::Value,
    ) -> Result<(), Malformed> {
        let may = matches!(source, Source::Local | Source::Project { trusted: true });
        match value.as_str() {
            Some("allow") if may => self.temporary = TemporaryPolicy::Allow,
            Some("allow" | "ask") => {}
            _ => return Err(Malformed::Temporary),
        }
        Ok(())
    }

    fn read_list(
        &mut self,
        source: Source,
        list: Decision,
        value: &serde_yaml::Value,
    ) -> Result<(), Malformed> {
        let items = match value {
            serde_yaml::Value::Null => return Ok(()),
            serde_yaml::Value::Sequence(items) => items,
            _ => return Err(Malformed::List(list)),
        };
        let mut result = Ok(());
        for (index, item) in items.iter().enumerate() {
            let rule = Rule::Configured { source, list, index };
            let (pattern, tool) = match item {
                serde_yaml::Value::String(pattern) => (Some(pattern.as_str()), "Bash"),
                serde_yaml::Value::Mapping(map) => {
                    let tool = map.get("tool").map_or(Some("Bash"), serde_yaml::Value::as_str);
                    (map.get("pattern").and_then(serde_yaml::Value::as_str), tool.unwrap_or(""))
                }
                _ => (None, ""),
            };
            match pattern {
                Some(pattern) if !tool.is_empty() => self.add(source, rule, list, tool, pattern),
                _ if list == Decision::Allow => {
                    self.notes
                        .push(format!("`{rule}` is neither a pattern nor a pattern with a tool"));
                }
                _ => result = Err(Malformed::Entry(list, index)),
            }
        }
        result
    }

    fn add(&mut self, source: Source, rule: Rule, decision: Decision, tool: &str, pattern: &str) {
        if decision == Decision::Allow && source == (Source::Project { trusted: false }) {
            self.notes.push(format!("`{rule}` waits for `onloop permit trust`"));
            return;
        }
        if self.rules.len() >= limits::CONFIG_RULES {
            self.faults.push(format!("the {} configuration has too many rules", source.as_str()));
            return;
        }
        let compiled = RegexBuilder::new(pattern)
            .backtrack_limit(limits::PATTERN_STEPS)
            .delegate_size_limit(limits::PATTERN_BYTES)
            .build();
        let pattern = match compiled {
            Ok(regex) => Pattern::Search(Box::new(regex)),
            Err(error) => {
                self.notes.push(format!("`{rule}` cannot be used: {error}"));
                if decision == Decision::Allow {
                    return;
                }
                Pattern::Unusable(error.to_string())
            }
        };
        let mut named = tools::names().filter(|name| is_called(tool, name)).peekable();
        if named.peek().is_none() && !tool.starts_with("mcp") {
            let tool = text::one_line(tool);
            self.notes.push(format!("`{rule}` names the tool `{tool}`, which is not known"));
        }
        let in_shell = named.any(tools::starts_programs);
        self.rules.push(Matcher { rule, decision, tool: tool.to_owned(), in_shell, pattern });
    }

    /// Records that a file exists but cannot be read; from then on nothing is allowed.
    pub fn add_unreadable(&mut self, reason: &str) {
        self.faults
            .push(format!("a configuration file cannot be read ({})", text::one_line(reason)));
    }

    /// Whether there are no rules.
    pub fn is_empty(&self) -> bool {
        self.rules.is_empty()
    }

    /// Why nothing may be allowed, if a file cannot be used.
    pub fn fault(&self) -> Option<&str> {
        self.faults.first().map(String::as_str)
    }

    /// Warnings about the files, for people.
    pub fn notes(&self) -> &[String] {
        &self.notes
    }

    /// Whether calls that no rule decides may run confined instead of being asked about.
    pub fn may_confine(&self) -> bool {
        !self.unconfined
    }

    /// Whether writing to temporary folders asks.
    pub fn temporary(&self) -> TemporaryPolicy {
        self.temporary
    }

    /// Whether an allow rule about this command matches `option` in it, too.
    pub(super) fn names_option(&self, args: &[Arg], option: &str) -> bool {
        let words: Vec<&str> = args.iter().map(Arg::guessed).collect();
        let lines = [called(args).join(" "), words.join(" ")];
        let allows = self.rules.iter().filter(|rule| rule.decision == Decision::Allow);
        allows.filter(|rule| rule.is_for("Bash")).any(|rule| match &rule.pattern {
            Pattern::Search(regex) => lines.iter().any(|line| {
                let found = regex.find(line).ok().flatten();
                found.is_some_and(|found| {
                    found.as_str().split([' ', '=']).any(|word| word == option)
                })
            }),
            Pattern::Unusable(_) => false,
        })
    }

    /// What the rules say about one command: deny before ask before allow.
    pub(super) fn command(&self, args: &[Arg], places: &Places) -> Option<Finding> {
        let short = without_leading_options(args);
        let [plain, quoted] = spellings(args);
        // A program of the same name in another folder is another program.
        let path = args.first().map_or("", |arg| arg.text.as_str());
        let name = file_name(args.first().map_or("", Arg::guessed));
        let behind = plain[name.len()..].to_owned();
        let certain = args.iter().all(|arg| !arg.text.contains(HOLE));
        let mut targets = match certain {
            true if path.contains('/') && !in_system_folder(path) => Target::program(path, places),
            true => vec![Target::text(file_name(path))],
            false => vec![Target::default()],
        };
        let to_allow = targets.iter_mut().flat_map(|target| &mut target.to_allow);
        to_allow.for_each(|spelling| spelling.push_str(&behind));
        let to_forbid = [plain, quoted].into_iter();
        let to_forbid = to_forbid.chain(short.iter().flat_map(|args| spellings(args)));
        targets[0].to_forbid = to_forbid.collect();
        self.target("Bash", &targets)
    }

    /// The deny and ask rules that match a whole line of shell.
    pub(super) fn line(&self, line: &str) -> Option<Finding> {
        self.target("Bash", &[Target { to_allow: Vec::new(), ..Target::text(line) }])
    }

    /// What the rules say about the targets of a call: one that is denied or asked about is enough, and
    /// all of them have to be allowed.
    pub(super) fn target(&self, tool: &str, targets: &[Target]) -> Option<Finding> {
        let of = |decision| {
            self.rules.iter().filter(move |rule| rule.decision == decision && rule.is_for(tool))
        };
        for rule in of(Decision::Deny).chain(of(Decision::Ask)) {
            if let Some(finding) = targets.iter().find_map(|target| rule.forbids(target)) {
                return Some(finding);
            }
        }
        let covers =
            |target: &Target| of(Decision::Allow).find(|rule| rule.covers(tool, &target.to_allow));
        let covering: Option<Vec<&Matcher>> = targets.iter().map(covers).collect();
        let rule = &covering?.first()?.rule;
        Some(Finding::allow(rule.clone(), format!("`{rule}` allows it")))
    }
}

/// The words of a command, with the name of its program alone.
fn called(args: &[Arg]) -> Vec<&str> {
    let mut words: Vec<&str> = args.iter().map(Arg::guessed).collect();
    if let Some(program) = words.first_mut() {
        *program = file_name(program);
    }
    words
}

/// A command as rules name it: its words, and its words quoted.
fn spellings(args: &[Arg]) -> [String; 2] {
    let words = called(args);
    let plain = words.join(" ");
    let quoted: Vec<_> = words.into_iter().map(text::shell_word).collect();
    [plain, quoted.join(" ")]
}

/// The options in words of a command, without their values: `-h` of `-hx`, `--host` of `--host=x`.
fn options(words: &str) -> impl Iterator<Item = &str> {
    let options = words.split(' ').filter(|word| word.len() > 1 && word.starts_with('-'));
    options.filter(|word| *word != "--").map(|word| match word.strip_prefix("--") {
        Some(_) => word.split('=').next().unwrap_or(word),
        None => word.char_indices().nth(2).map_or(word, |(end, _)| &word[..end]),
    })
}

/// Whether a rule's name for tools, which may end in `*`, stands for `tool`.
fn is_called(name: &str, tool: &str) -> bool {
    name.strip_suffix('*').map_or(tool == name, |start| tool.starts_with(start))
}

impl Matcher {
    fn is_for(&self, tool: &str) -> bool {
        if tool == "Bash" { self.in_shell } else { is_called(&self.tool, tool) }
    }

    fn forbids(&self, target: &Target) -> Option<Finding> {
        let found =
            |decision, reason| Finding { decision, ..Finding::ask(self.rule.clone(), reason) };
        let regex = match &self.pattern {
            Pattern::Unusable(error) => {
                let reason = format!(
                    "`{}` cannot be used ({}), so a person has to look",
                    self.rule,
                    text::one_line(error)
                );
                return Some(found(Decision::Ask, reason));
            }
            Pattern::Search(regex) => regex,
        };
        // What a pattern excludes is named from the folder that its writer thought of.
        let excludes = regex.as_str().contains("(?!") || regex.as_str().contains("(?<!");
        let elsewhere = target.elsewhere.iter().filter(|_| !excludes);
        // Names of folders around the checkout are not meant: the match begins where the path does.
        let is_about_path = |spelling: &String| {
            let found = regex.find(spelling)?;
            Ok(found.is_some_and(|it| it.start() <= target.prefix && it.end() > target.prefix))
        };
        let here = target.to_forbid.iter().map(|spelling| regex.is_match(spelling));
        for result in here.chain(elsewhere.map(is_about_path)) {
            match result {
                Ok(false) => {}
                Ok(true) => {
                    let verb =
                        if self.decision == Decision::Deny { "denies" } else { "asks about" };
                    return Some(found(self.decision, format!("`{}` {verb} it", self.rule)));
                }
                Err(_) => {
                    let reason =
                        format!("`{}` takes too long to match, so a person has to look", self.rule);
                    return Some(found(Decision::Ask, reason));
                }
            }
        }
        None
    }

    /// Whether an allow rule covers one of `spellings`. What it matches must end at the end of a word:
    /// `^frob` is about `frob`, not about `frobnicate`. A word of a command ends at the next blank. An option
    /// that it names and that a command has again may have another value there.
    fn covers(&self, tool: &str, spellings: &[String]) -> bool {
        let Pattern::Search(regex) = &self.pattern else {
            return false;
        };
        let inside = |c: char| match tool {
            "Bash" => !c.is_whitespace(),
            _ => c.is_alphanumeric() || "_-.:/~@+%^".contains(c),
        };
        spellings.iter().any(|spelling| {
            let Ok(Some(found)) = regex.find(spelling) else {
                return false;
            };
            let behind = &spelling[found.end()..];
            if tool == "Bash"
                && options(found.as_str()).any(|it| options(behind).any(|again| again == it))
            {
                return false;
            }
            let last = spelling[..found.end()].chars().next_back();
            let next = behind.chars().next();
            match (last, next) {
                (_, None) => true,
                (Some(last), Some(next)) => !last.is_alphanumeric() || !inside(next),
                (None, Some(_)) => true,
            }
        })
    }
}
