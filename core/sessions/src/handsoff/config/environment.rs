//! What the environment overrides. It wins over every file.

use super::read::{flag_word, is_model};
use super::{Config, ConfineWhen, ContinueWhen, Provider, Supervisor, keys};
use onloop_syntax::text;

pub(super) fn overridden<'v>(
    mut config: Config,
    variable: impl Fn(&str) -> Option<&'v str>,
) -> Config {
    let mut notes = Vec::new();
    let mut wrong = |name: &str, found: &str, expected: &str| {
        let found = text::ellipsis(&text::one_line(found), 60);
        notes.push(format!("the variable `{name}` is `{found}`; expected {expected}"));
    };
    let mut flag = |name: &str, now: bool, safe: bool| match variable(name) {
        None => now,
        Some(word) => flag_word(word).unwrap_or_else(|| {
            wrong(name, word, "`true` or `false`");
            safe
        }),
    };
    // An unreadable switch neither disables the rules nor allows unattended sessions.
    let switch = "HANDSOFF_MODE";
    let is_unclear = variable(switch).is_some_and(|word| flag_word(word).is_none());
    config.enabled = flag(switch, config.enabled, true);
    config.auto_permission = flag("HANDSOFF_AUTO_PERMISSION", config.auto_permission, false);
    config.debug = flag("HANDSOFF_DEBUG", config.debug, false);
    if let Some(number) = variable("HANDSOFF_MAX_CONTINUATIONS") {
        let most = number.trim().parse::<i64>().ok();
        config.max_continuations = most.map_or_else(
            || {
                wrong("HANDSOFF_MAX_CONTINUATIONS", number, "a whole number");
                0
            },
            |most| u32::try_from(most.clamp(0, keys::MOST_CONTINUATIONS)).unwrap_or(0),
        );
    }
    if let Some(word) = variable("HANDSOFF_SUPERVISOR") {
        let provider = Provider::in_any_case(word);
        if provider.is_none() {
            wrong("HANDSOFF_SUPERVISOR", word, &text::alternatives(Provider::WORDS));
        }
        // Model and flags of the file were meant for the provider of the file.
        if provider != Some(config.supervisor.provider) {
            let provider = provider.unwrap_or(Provider::None);
            config.supervisor = Supervisor { provider, ..Supervisor::default() };
        }
    }
    if let Some(model) = variable("HANDSOFF_SUPERVISOR_MODEL") {
        if is_model(model.trim()) {
            config.supervisor.model = Some(model.trim().to_owned());
        } else {
            wrong("HANDSOFF_SUPERVISOR_MODEL", model, "the name of a model");
            config.supervisor = Supervisor::default();
        }
    }
    if let Some(word) = variable("ONLOOP_CONFINE") {
        match word.trim().to_lowercase().parse() {
            Ok(when) => config.confine = when,
            Err(_) => wrong("ONLOOP_CONFINE", word, &text::alternatives(ConfineWhen::WORDS)),
        }
    }
    if let Some(word) = variable("ONLOOP_CONTINUE") {
        config.continue_runs = word.trim().to_lowercase().parse().unwrap_or_else(|_| {
            wrong("ONLOOP_CONTINUE", word, &text::alternatives(ContinueWhen::WORDS));
            ContinueWhen::Never
        });
    }
    config.notes.append(&mut notes);
    if is_unclear {
        let Config { workflows, notes, confine, network, continue_runs, .. } = config;
        config = Config { workflows, notes, confine, network, continue_runs, ..Config::safe() };
    }
    config
}
