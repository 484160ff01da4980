//! Every key of the configuration, in one table: what is read, documented and put into the
//! schema all come from here.

use super::{ConfineWhen, ContinueWhen, Provider, Template};
use onloop_run::NoticeKind;

/// What a key may be set to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum KeyKind {
    /// `true` or `false`, or one of their other names.
    Flag,
    /// A whole number, clamped to its bounds.
    Number {
        /// Smallest.
        min: i64,
        /// Largest.
        max: i64,
    },
    /// One of these words.
    Word(&'static [&'static str]),
    /// Text on one line.
    Text,
    /// Text that is never shown.
    Secret,
    /// The id of a chat.
    Id,
    /// Ids of people: one, a list, or a string with commas.
    Ids,
    /// Arguments: a string that is split at white space, or a list of strings.
    Arguments,
    /// `all`, `loopback`, `none`, names with commas between them, or a list of names.
    Network,
    /// Any of these words: one, a list, or a string with commas.
    Words(&'static [&'static str]),
    /// A list of workflows, each a mapping.
    Workflows,
    /// Rules, which the permission engine reads.
    Rules,
    /// What models cost.
    Prices,
    /// An amount of US dollars, at least 0.
    Usd,
}

/// One key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ConfigKey {
    /// Its path: names separated by dots.
    pub path: &'static str,
    /// What it may be set to.
    pub kind: KeyKind,
    /// Its default, as it is written in the file; empty if there is none.
    pub default: &'static str,
    /// The environment variable that overrides it.
    pub variable: Option<&'static str>,
    /// What it does, in one line of Markdown.
    pub about: &'static str,
}

/// Most continuations that can be asked for.
pub(super) const MOST_CONTINUATIONS: i64 = 1000;
/// Longest wait for an answer from a phone, in seconds.
pub(super) const MOST_TIMEOUT_SEC: i64 = 7200;
/// Longest time between two looks at the answers, in seconds.
pub(super) const MOST_POLL_SEC: i64 = 300;

/// Longest time for which the files of a finished run can be kept, in days: a century.
pub(super) const MOST_RETENTION_DAYS: i64 = 36_500;

macro_rules! keys {
    ($($path:literal ($($kind:tt)+) $default:literal, $variable:expr => $about:literal)*) => {
        /// All keys, in the order in which the documentation shows them.
        pub const KEYS: &[ConfigKey] = &[$(ConfigKey {
            path: $path,
            kind: KeyKind::$($kind)+,
            default: $default,
            variable: $variable,
            about: $about,
        }),*];
    };
}

// Path, kind, default and the variable that overrides it; what it does.
keys! {
    "handsoff.enabled" (Flag) "true", Some("HANDSOFF_MODE") =>
        "Whether onloop's hooks do anything at all. `false`: sessions are not continued, calls are not judged"
    "handsoff.max_continuations" (Number { min: 0, max: MOST_CONTINUATIONS }) "10", Some("HANDSOFF_MAX_CONTINUATIONS") =>
        "How many times one session is continued; `0`: never"
    "handsoff.auto_permission" (Flag) "true", Some("HANDSOFF_AUTO_PERMISSION") =>
        "Whether a language model is asked about calls that no rule decides"
    "handsoff.debug" (Flag) "false", Some("HANDSOFF_DEBUG") =>
        "Whether decisions and changes of sessions are logged in `.tmp`"
    "handsoff.supervisor.provider" (Word(Provider::WORDS)) "none", Some("HANDSOFF_SUPERVISOR") =>
        "The agent that writes the prompt of a continuation; `none`: onloop's own prompt"
    "handsoff.supervisor.model" (Text) "", Some("HANDSOFF_SUPERVISOR_MODEL") =>
        "Its model. Default: `opus` for Claude, `gpt-5.2-codex` for Codex, `gpt-5.2-codex-xhigh` for Cursor, `openai/gpt-5.2-codex` for opencode"
    "handsoff.supervisor.flags" (Arguments) "\"\"", None =>
        "Further arguments for it. They never pass through a shell; text is split at white space, a list is taken as it is"
    "handsoff.workflows" (Workflows) "[]", None =>
        "Workflows of your own, see [below](#workflows-of-your-own)"
    "telegram.enabled" (Flag) "false", None =>
        "Whether calls that nothing else decides are sent to a Telegram chat"
    "telegram.token" (Secret) "", None =>
        "The bot's token, as @BotFather gives it. Keep the file to yourself"
    "telegram.chat_id" (Id) "", None =>
        "The chat: your own id, or a group's, which is negative"
    "telegram.timeout_sec" (Number { min: 1, max: MOST_TIMEOUT_SEC }) "60", None =>
        "How long to wait for an answer. A host with a shorter limit for hooks ends the wait before: `onloop doctor` names it, `onloop install` raises it"
    "telegram.poll_interval_sec" (Number { min: 1, max: MOST_POLL_SEC }) "5", None =>
        "How long one request for answers may stay open at Telegram, and the pause after an error"
    "telegram.allowed_user_ids" (Ids) "", None =>
        "Who may answer: a number, a list, or text with commas. May be left out only for a private chat, where it is you"
    "run.confine" (Word(ConfineWhen::WORDS)) "auto", Some("ONLOOP_CONFINE") =>
        "Whether agents and checks of runs are [confined](confinement.md): `auto`: where this machine can, `on`: always, `off`: not. A file that says `confine: on` asks for more, `--confine` says it for one run"
    "run.continue" (Word(ContinueWhen::WORDS)) "auto", Some("ONLOOP_CONTINUE") =>
        "Whether your decision continues a run that no process drives: `auto`: a driver starts in the [background](phone.md), `never`: the command is printed"
    "run.verify_clean" (Flag) "false", None =>
        "Whether all checks of every run pass on a [clean checkout](good-checks.md#verify-on-a-clean-checkout) before it completes; a file that says `verify_clean: true` asks for the same"
    "run.network" (Network) "", None =>
        "The [network](confinement.md#network) of confined agents, checks and lines of `setup` unless the workflow says it: `all`, `loopback`, `none` or a list of names"
    "run.confine_caches" (Arguments) "[]", None =>
        "Paths of caches, besides those of known build tools, that [confined](confinement.md) commands may write; `~/` is your home folder"
    "run.confine_read" (Arguments) "[]", None =>
        "Paths in a home folder, besides those of known tools, that [confined](confinement.md) commands may read; `~/` is your home folder"
    "retention.days" (Number { min: 1, max: MOST_RETENTION_DAYS }) "90", None =>
        "After how many days `onloop doctor --prune` removes checkpoints and logs of finished runs, and what was kept for sessions; ledgers and reports stay"
    "review_from" (Arguments) "[]", None =>
        "Accounts whose review of a [pull request](pull-request.md) goes back to the agent, besides those who may write to the repository"
    "auto_merge" (Flag) "false", None =>
        "Whether onloop merges a followed [pull request](pull-request.md) once its required checks passed. Never at high risk, and never with an open warning or an unchecked step"
    "telemetry.content" (Flag) "false", None =>
        "Whether exported [telemetry](telemetry.md) has texts: actions of steps, commands of checks, their outputs and findings of reviews"
    "notify.events" (Words(NoticeKind::WORDS)) "all", None =>
        "What you are told of, see [notices](notify.md): a run `waits` for you, is `blocked` or `completed`, an agent's usage `limit` or a run's `budget` is reached, a `session` ended; a pull request is `pr_green`, `pr_red` (it needs changes) or `pr_merged`"
    "notify.command" (Text) "", None =>
        "A line for `sh` that is run for each notice, in the folder of this file"
    "notify.webhook.url" (Secret) "", None =>
        "An address that each notice is sent to: `https://`, or `http://` on this machine"
    "notify.webhook.template" (Word(Template::WORDS)) "json", None =>
        "In which form"
    "notify.webhook.token" (Secret) "", None =>
        "Sent as `Authorization: Bearer`, where the server asks for one"
    "notify.desktop" (Flag) "false", None =>
        "Whether this machine's desktop shows each notice, with `notify-send` or `osascript`"
    "notify.telegram" (Flag) "false", None =>
        "Whether each notice is sent to the chat of `telegram`, which has to be set up and switched on"
    "prices" (Prices) "", None =>
        "What models cost where their clients do not say it: `{as_of: DATE, MODEL: {input, cached_input, output}}`, in US dollars for a million tokens. Costs are then marked as estimated, see [agents](agents.md#costs-and-budgets)"
    "budget.day_usd" (Usd) "", None =>
        "US dollars that agents of all runs may cost on one day, in local time; then runs pause, see [agents](agents.md#costs-and-budgets)"
    "budget.month_usd" (Usd) "", None =>
        "The same for one month"
    "permissions" (Rules) "", None =>
        "Rules for tool calls, see [permissions](permission.md)"
}

/// Keys of one workflow in `handsoff.workflows`, and what they mean.
pub const WORKFLOW_KEYS: &[(&str, &str)] = &[
    ("command", "What the prompt begins with, such as `/my-flow`; required"),
    ("name", "Its name in session files. Default: the command without `/`"),
    (
        "prompt_file",
        "File with the prompt of its continuations, relative to the configuration file; required",
    ),
];

/// Keys at the top of the file that belong to other tools which read the same file.
pub(super) const FOREIGN: &[&str] = &[
    "agentize",
    "git",
    "impl",
    "metadata",
    "planner",
    "project",
    "server",
    "workflows",
    "worktree",
];

/// The mappings that keys stand in, by their path; the file itself is `""`.
pub(super) const SECTIONS: &[&str] = &[
    "",
    "handsoff",
    "handsoff.supervisor",
    "telegram",
    "run",
    "retention",
    "telemetry",
    "notify",
    "notify.webhook",
    "budget",
];

/// Whether a key somewhere below a section is a secret: what stands there instead may be one.
pub(super) fn has_secrets(section: &str) -> bool {
    let is_below =
        |path: &str| path.strip_prefix(section).is_some_and(|rest| rest.starts_with('.'));
    KEYS.iter().any(|key| key.kind == KeyKind::Secret && is_below(key.path))
}

/// Names that may stand in a section.
pub(super) fn names_in(section: &str) -> Vec<&'static str> {
    let mut names = Vec::new();
    for key in KEYS {
        let rest = match section {
            "" => Some(key.path),
            _ => key.path.strip_prefix(section).and_then(|rest| rest.strip_prefix('.')),
        };
        let name = rest.and_then(|rest| rest.split('.').next());
        if let Some(name) = name.filter(|name| names.last() != Some(name)) {
            names.push(name);
        }
    }
    names
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sections_know_their_names() {
        assert_eq!(
            names_in(""),
            [
                "handsoff",
                "telegram",
                "run",
                "retention",
                "review_from",
                "auto_merge",
                "telemetry",
                "notify",
                "prices",
                "budget",
                "permissions"
            ]
        );
        assert_eq!(names_in("handsoff.supervisor"), ["provider", "model", "flags"]);
        assert!(names_in("telegram").contains(&"chat_id"));
    }

    #[test]
    fn every_key_stands_in_a_section() {
        for key in KEYS {
            let section = key.path.rsplit_once('.').map_or("", |(section, _)| section);
            assert!(SECTIONS.contains(&section), "{}", key.path);
        }
    }
}
