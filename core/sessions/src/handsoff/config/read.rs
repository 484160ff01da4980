//! From YAML to a [`Config`], with a note for everything that cannot be used.

mod notify;
mod workflows;

use serde_yaml::{Mapping, Value};

use super::keys::{self, KeyKind};
use super::{BotToken, Config, MachineBudget, Prices, Provider, Supervisor, Telegram};
use super::{ConfineWhen, ContinueWhen};
use onloop_effect::Network;
use onloop_syntax::limits;
use onloop_syntax::money::Money;
use onloop_syntax::syntax::strict_yaml::{self, Part, described};
use onloop_syntax::text::{self, alternatives};
use onloop_workflow::suggest;

/// What is found where a key should be.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum ConfigValue<T> {
    /// Nothing, or `null`.
    Absent,
    /// Something that can be used.
    Set(T),
    /// Something that cannot, which was said.
    Faulty,
}

impl<T> ConfigValue<T> {
    /// The value, `default` where there is none, `safe` where it cannot be used.
    pub(super) fn or(self, default: T, safe: T) -> T {
        match self {
            ConfigValue::Absent => default,
            ConfigValue::Set(value) => value,
            ConfigValue::Faulty => safe,
        }
    }

    /// The value, if there is one that can be used.
    pub(super) fn usable(self) -> Option<T> {
        match self {
            ConfigValue::Set(value) => Some(value),
            ConfigValue::Absent | ConfigValue::Faulty => None,
        }
    }
}

pub(super) fn config(yaml: &str, folder: &str) -> Config {
    let value = match strict_yaml::parse(yaml, strict_yaml::CONFIGURATION) {
        Ok(value) => value,
        Err(error) => return Config::unusable(&error.to_string()),
    };
    let empty = Mapping::new();
    let top = match &value {
        Value::Null => &empty,
        Value::Mapping(top) => top,
        other => {
            return Config::unusable(&format!("is {} and not a mapping", described(other)));
        }
    };
    let mut reader = Reader { yaml, top, notes: Vec::new(), unsaid: 0 };
    reader.name_unknown_keys();
    let mut config = reader.handsoff();
    config.telegram = reader.telegram();
    config.workflows = reader.workflows(folder);
    config.prices = reader.prices();
    config.notify = reader.notify(config.telegram.as_ref(), folder);
    config.confine = reader.confine();
    config.continue_runs = reader.continue_runs();
    // A mistyped value asks for more, never for less.
    config.verify_clean = reader.flag("run.verify_clean").or(false, true);
    config.network = reader.network();
    config.confine_caches = reader.arguments("run.confine_caches").or(Vec::new(), Vec::new());
    config.confine_read = reader.arguments("run.confine_read").or(Vec::new(), Vec::new());
    config.budget = reader.budget();
    let days = reader.number("retention.days").or(90, keys::MOST_RETENTION_DAYS);
    config.retention_days = u32::try_from(days).unwrap_or(u32::MAX);
    config.review_from = reader.arguments("review_from").or(Vec::new(), Vec::new());
    config.auto_merge = reader.flag("auto_merge").or(false, false);
    config.telemetry_content = reader.flag("telemetry.content").or(false, false);
    // A mistyped switch does not allow unattended sessions.
    if reader.flag("handsoff.enabled") == ConfigValue::Faulty {
        let Config { workflows, prices, confine, confine_caches, confine_read, .. } = config;
        let retention_days = config.retention_days;
        let kept = Config { workflows, prices, confine, confine_caches, ..Config::safe() };
        config = Config {
            confine_read,
            retention_days,
            continue_runs: config.continue_runs,
            verify_clean: config.verify_clean,
            network: config.network,
            budget: config.budget,
            ..kept
        };
    }
    config.notes = reader.notes();
    config
}

struct Reader<'y> {
    yaml: &'y str,
    top: &'y Mapping,
    notes: Vec<String>,
    unsaid: usize,
}

impl<'y> Reader<'y> {
    fn handsoff(&mut self) -> Config {
        let default = Config::default();
        let flags = self.arguments("handsoff.supervisor.flags");
        let model = self.text("handsoff.supervisor.model", is_model, "the name of a model");
        let provider = self.provider();
        let faulty = flags == ConfigValue::Faulty || model == ConfigValue::Faulty;
        let supervisor = match provider.or(Provider::None, Provider::None) {
            Provider::None => Supervisor::default(),
            _ if faulty => Supervisor::default(),
            provider => Supervisor {
                provider,
                model: model.usable(),
                flags: flags.or(Vec::new(), Vec::new()),
            },
        };
        let most = self.number("handsoff.max_continuations");
        Config {
            enabled: self.flag("handsoff.enabled").or(true, true),
            max_continuations: u32::try_from(most.or(i64::from(default.max_continuations), 0))
                .unwrap_or(0),
            auto_permission: self.flag("handsoff.auto_permission").or(true, false),
            debug: self.flag("handsoff.debug").or(false, false),
            supervisor,
            ..Config::safe()
        }
    }

    fn provider(&mut self) -> ConfigValue<Provider> {
        let provider = |value: &Value| value.as_str().and_then(Provider::in_any_case);
        self.value("handsoff.supervisor.provider", &alternatives(Provider::WORDS), provider)
    }

    /// A mistyped value cannot be guessed, so the machine decides.
    fn confine(&mut self) -> ConfineWhen {
        let when = |value: &Value| match value {
            // YAML 1.1 has them as flags.
            Value::Bool(true) => Some(ConfineWhen::On),
            Value::Bool(false) => Some(ConfineWhen::Off),
            value => value.as_str()?.trim().to_lowercase().parse().ok(),
        };
        let read = self.value("run.confine", &alternatives(ConfineWhen::WORDS), when);
        read.or(ConfineWhen::Auto, ConfineWhen::Auto)
    }

    /// A mistyped value allows no name.
    fn network(&mut self) -> Option<Network> {
        let network = |value: &Value| match value {
            Value::String(word) => word.trim().parse().ok(),
            Value::Sequence(names) => {
                let names: Option<Vec<&str>> = names.iter().map(Value::as_str).collect();
                Network::of_names(names?).ok()
            }
            Value::Null
            | Value::Bool(_)
            | Value::Number(_)
            | Value::Mapping(_)
            | Value::Tagged(_) => None,
        };
        let expected = "`all`, `loopback`, `none` or a list of names";
        let read = self.value("run.network", expected, |value| network(value).map(Some));
        read.or(None, Some(Network::Loopback))
    }

    /// A mistyped value starts nothing.
    fn continue_runs(&mut self) -> ContinueWhen {
        let when = |value: &Value| value.as_str()?.trim().to_lowercase().parse().ok();
        let read = self.value("run.continue", &alternatives(ContinueWhen::WORDS), when);
        read.or(ContinueWhen::Auto, ContinueWhen::Never)
    }

    /// A chat only when all of it can be used: half a chat would answer to strangers. A chat that is
    /// switched off may hold the placeholders of an example.
    fn telegram(&mut self) -> Option<Telegram> {
        if self.flag("telegram.enabled") != ConfigValue::Set(true) {
            return None;
        }
        let token = self.token();
        let chat_id = self.id("telegram.chat_id");
        let users = self.ids("telegram.allowed_user_ids");
        let timeout = self.number("telegram.timeout_sec");
        let poll = self.number("telegram.poll_interval_sec");
        let faulty = token == ConfigValue::Faulty
            || chat_id == ConfigValue::Faulty
            || users == ConfigValue::Faulty
            || timeout == ConfigValue::Faulty
            || poll == ConfigValue::Faulty;
        if faulty {
            self.note("`telegram` is off until the problems above are fixed".to_owned());
            return None;
        }
        let (ConfigValue::Set(token), ConfigValue::Set(chat_id)) = (token, chat_id) else {
            self.note("`telegram` is off: it needs `token` and `chat_id`".to_owned());
            return None;
        };
        let allowed_user_ids = match users.or(Vec::new(), Vec::new()) {
            users if !users.is_empty() => users,
            // The id of a private chat is the id of the person.
            _ if chat_id > 0 => vec![chat_id],
            _ => {
                let why =
                    "anybody in a group could answer, so `telegram.allowed_user_ids` is required";
                self.note(format!("`telegram` is off: {why}"));
                return None;
            }
        };
        let milliseconds = |seconds: ConfigValue<i64>, default: i64| {
            u64::try_from(seconds.or(default, default)).unwrap_or(1) * 1000
        };
        Some(Telegram {
            token,
            chat_id,
            timeout_ms: milliseconds(timeout, 60),
            poll_interval_ms: milliseconds(poll, 5),
            allowed_user_ids,
        })
    }

    /// A mistyped amount lets nothing be spent.
    fn budget(&mut self) -> MachineBudget {
        let mut amount = |path| {
            let usd = |value: &Value| match value {
                Value::Number(number) => Money::from_number(&number.to_string()),
                Value::String(text) => Money::from_number(text.trim()),
                Value::Null
                | Value::Bool(_)
                | Value::Sequence(_)
                | Value::Mapping(_)
                | Value::Tagged(_) => None,
            };
            let read = self.value(path, "an amount of US dollars", |value| usd(value).map(Some));
            read.or(None, Some(Money::ZERO))
        };
        MachineBudget { day: amount("budget.day_usd"), month: amount("budget.month_usd") }
    }

    fn prices(&mut self) -> Option<Prices> {
        let fields = match self.find("prices")? {
            Value::Mapping(fields) => fields,
            other => {
                let _: ConfigValue<()> = self.wrong("prices", &described(other), "a mapping");
                return None;
            }
        };
        match Prices::read(fields) {
            Ok(prices) => Some(prices),
            Err((path, what)) => {
                let at = self.place("prices", Part::Key);
                self.note(format!("{at}`{path}` {what}; no prices are used"));
                None
            }
        }
    }

    fn flag(&mut self, path: &str) -> ConfigValue<bool> {
        self.value(path, "`true` or `false`", |value| match value {
            Value::Bool(flag) => Some(*flag),
            Value::Number(number) => number.as_f64().map(|number| number != 0.0),
            Value::String(word) => flag_word(word),
            Value::Null | Value::Sequence(_) | Value::Mapping(_) | Value::Tagged(_) => None,
        })
    }

    /// The value at `path` as `convert` understands it; `expected` is said where it does not.
    fn value<T>(
        &mut self,
        path: &str,
        expected: &str,
        convert: impl FnOnce(&'y Value) -> Option<T>,
    ) -> ConfigValue<T> {
        match self.find(path) {
            None => self.absent(path),
            Some(value) => match convert(value) {
                Some(converted) => ConfigValue::Set(converted),
                None => self.wrong(path, &described(value), expected),
            },
        }
    }

    /// A whole number, brought into its bounds.
    fn number(&mut self, path: &str) -> ConfigValue<i64> {
        let number = match self.value(path, "a whole number", whole) {
            ConfigValue::Set(number) => number,
            other => return other,
        };
        let bounds = keys::KEYS.iter().find(|key| key.path == path).map(|key| key.kind);
        let Some(KeyKind::Number { min, max }) = bounds else {
            return ConfigValue::Set(number);
        };
        let clamped = number.clamp(min, max);
        if clamped != number {
            let at = self.place(path, Part::Value);
            self.note(format!("{at}`{path}` is {number}; {clamped} is used"));
        }
        ConfigValue::Set(clamped)
    }

    fn id(&mut self, path: &str) -> ConfigValue<i64> {
        self.value(path, "the id of a chat", |value| whole(value).filter(|id| *id != 0))
    }

    fn ids(&mut self, path: &str) -> ConfigValue<Vec<i64>> {
        self.value(path, "the ids of people, as `123, 456`", |value| {
            let ids: Option<Vec<i64>> = match value {
                Value::String(list) => {
                    let parts = list.split(',').map(str::trim).filter(|part| !part.is_empty());
                    parts.map(|part| part.parse().ok()).collect()
                }
                Value::Sequence(items) => items.iter().map(whole).collect(),
                other => whole(other).map(|id| vec![id]),
            };
            ids.filter(|ids| ids.iter().all(|id| *id > 0))
        })
    }

    fn arguments(&mut self, path: &str) -> ConfigValue<Vec<String>> {
        self.value(path, "a string, or a list of strings", |value| {
            let words: Option<Vec<String>> = match value {
                Value::String(text) => Some(text.split_whitespace().map(str::to_owned).collect()),
                Value::Sequence(items) => {
                    items.iter().map(|item| item.as_str().map(str::to_owned)).collect()
                }
                _ => None,
            };
            words.filter(|words| words.iter().all(|word| !word.contains('\0')))
        })
    }

    fn text(&mut self, path: &str, fits: fn(&str) -> bool, expected: &str) -> ConfigValue<String> {
        let Some(value) = self.find(path) else {
            return self.absent(path);
        };
        match value.as_str().map(str::trim) {
            Some("") => ConfigValue::Absent,
            Some(text) if fits(text) => ConfigValue::Set(text.to_owned()),
            Some(_) | None => self.wrong(path, &described(value), expected),
        }
    }

    /// What is found instead of a token is not repeated: it may be most of one.
    fn token(&mut self) -> ConfigValue<BotToken> {
        let path = "telegram.token";
        let Some(value) = self.find(path) else {
            return self.absent(path);
        };
        let is = match value.as_str().map(|text| BotToken::new(text.trim())) {
            Some(Some(token)) => return ConfigValue::Set(token),
            Some(None) => "a string of another form".to_owned(),
            None => veiled(value),
        };
        self.wrong(path, &is, "a bot's token, as `123456:ABC-DEF`")
    }

    /// The value at a path; `None`: there is none, or nothing that has names.
    fn find(&self, path: &str) -> Option<&'y Value> {
        let mut names = path.split('.');
        let mut value = self.top.get(names.next()?)?;
        for name in names {
            value = value.as_mapping()?.get(name)?;
        }
        (!value.is_null()).then_some(value)
    }

    /// A key below something that is not a mapping is as faulty as that.
    fn absent<T>(&self, path: &str) -> ConfigValue<T> {
        let sections = keys::SECTIONS.iter().filter(|section| {
            path.strip_prefix(**section).is_some_and(|rest| rest.starts_with('.'))
        });
        for section in sections {
            if self.find(section).is_some_and(|value| !value.is_mapping()) {
                return ConfigValue::Faulty;
            }
        }
        ConfigValue::Absent
    }

    fn name_unknown_keys(&mut self) {
        for section in keys::SECTIONS {
            let fields = match (*section, self.find(section)) {
                ("", _) => self.top,
                (_, None) => continue,
                (_, Some(Value::Mapping(fields))) => fields,
                (_, Some(other)) => {
                    let is =
                        if keys::has_secrets(section) { veiled(other) } else { described(other) };
                    let _: ConfigValue<()> = self.wrong(section, &is, "a mapping");
                    continue;
                }
            };
            for (key, _) in fields {
                let is_foreign = key.as_str().is_some_and(|key| keys::FOREIGN.contains(&key));
                if !(section.is_empty() && is_foreign) {
                    self.name_unknown_key(section, key, &keys::names_in(section));
                }
            }
        }
    }

    fn name_unknown_key(&mut self, section: &str, key: &Value, known: &[&str]) {
        let Some(name) = key.as_str() else {
            let of = if section.is_empty() { String::new() } else { format!(" of `{section}`") };
            self.note(format!("a key{of} is {}; expected a name", described(key)));
            return;
        };
        if known.contains(&name) {
            return;
        }
        let path = if section.is_empty() { name.to_owned() } else { format!("{section}.{name}") };
        // A name with a dot in it has no path.
        let at = if name.contains('.') { String::new() } else { self.place(&path, Part::Key) };
        let shown = text::ellipsis(&text::one_line(&path), 100);
        let note = match suggest::nearest(name, known) {
            Some(meant) => format!("{at}`{shown}` is not known; did you mean `{meant}`?"),
            None => format!("{at}`{shown}` is not known and has no effect"),
        };
        self.note(note);
    }

    /// Says that something else was found than expected.
    fn wrong<T>(&mut self, path: &str, found: &str, expected: &str) -> ConfigValue<T> {
        let at = self.place(path, Part::Value);
        self.note(format!("{at}`{path}` is {found}; expected {expected}"));
        ConfigValue::Faulty
    }

    /// `line 2, column 4: `.
    fn place(&self, path: &str, part: Part) -> String {
        let names: Vec<&str> = path.split('.').collect();
        match strict_yaml::locate(self.yaml, &names, part) {
            Some(place) => format!("line {}, column {}: ", place.line, place.column),
            None => String::new(),
        }
    }

    fn note(&mut self, note: String) {
        match self.notes.len() < limits::CONFIG_NOTES {
            _ if self.notes.contains(&note) => {}
            true => self.notes.push(note),
            false => self.unsaid += 1,
        }
    }

    fn notes(self) -> Vec<String> {
        let mut notes = self.notes;
        if self.unsaid > 0 {
            notes.push(format!(
                "{} about the configuration",
                text::counted(self.unsaid as u64, "more note")
            ));
        }
        notes
    }
}

/// The words that stand for `true` and `false`; any other says neither.
pub(super) fn flag_word(word: &str) -> Option<bool> {
    match word.trim().to_lowercase().as_str() {
        "true" | "1" | "on" | "enable" => Some(true),
        "false" | "0" | "off" | "disable" => Some(false),
        _ => None,
    }
}

fn whole(value: &Value) -> Option<i64> {
    match value {
        Value::Number(number) => number.as_i64(),
        Value::String(text) => text.trim().parse().ok(),
        _ => None,
    }
}

/// What is found where a secret may be meant, without what it says.
fn veiled(value: &Value) -> String {
    match value {
        Value::Sequence(_) | Value::Mapping(_) => described(value),
        Value::String(_) => "a string".to_owned(),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::Tagged(_) => {
            "not a string".to_owned()
        }
    }
}

/// A model is the value of an option, so it must not look like one.
pub(super) fn is_model(text: &str) -> bool {
    text.len() <= 200 && !text.starts_with('-') && !text.chars().any(char::is_control)
}
