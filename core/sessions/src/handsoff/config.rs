//! What `.agentize.local.yaml` says about sessions, approval and supervision.
//!
//! Reading never fails: whatever cannot be used becomes a note and is replaced by the value that
//! costs no money, sends nothing and allows nothing. With a file that cannot be read at all,
//! calls are still judged and everything else is off.
//!
//! ```
//! use onloop_sessions::handsoff::config::Config;
//!
//! let yaml = "handsoff:\n  max_continuations: 3\n  auto_permission: no\n";
//! let config = Config::read(yaml, "/home/me");
//! assert_eq!(config.max_continuations, 3);
//! assert!(!config.auto_permission);
//! assert!(config.notes[0].starts_with("line 3, column 20: `handsoff.auto_permission` is `no`"));
//! ```

mod environment;
pub mod keys;
mod notify;
mod prices;
mod read;
#[cfg(test)]
mod tests;

use std::fmt;

pub use notify::{Notify, Receiver, Template, Webhook};
pub use prices::Prices;

use onloop_effect::Network;
use onloop_syntax::money::Money;
use onloop_syntax::text::words;

/// Longest time that a person can be given to answer.
pub const LONGEST_ANSWER_MS: u64 = keys::MOST_TIMEOUT_SEC as u64 * 1000;

/// What agents of all runs of a machine may cost, in local time; `None`: any amount.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct MachineBudget {
    /// On one day.
    pub day: Option<Money>,
    /// In one month.
    pub month: Option<Money>,
}

/// The settings of a session.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Config {
    /// Whether our hooks do anything at all.
    pub enabled: bool,
    /// How many times a session is continued at most.
    pub max_continuations: u32,
    /// Whether a language model is asked about calls that no rule decides.
    pub auto_permission: bool,
    /// Whether decisions are logged.
    pub debug: bool,
    /// Who writes the prompts of continuations.
    pub supervisor: Supervisor,
    /// Where calls that nothing else decides are sent.
    pub telegram: Option<Telegram>,
    /// What models cost, where their clients do not say it; only when all of it can be used.
    pub prices: Option<Prices>,
    /// What agents of all runs may cost.
    pub budget: MachineBudget,
    /// Notifications; `None` sends none.
    pub notify: Option<Notify>,
    /// Workflows that the user added; what is wrong with one leaves that one out.
    pub workflows: Vec<CustomWorkflow>,
    /// Whether agents and checks of runs are confined.
    pub confine: ConfineWhen,
    /// Whether a decision starts a driver in the background.
    pub continue_runs: ContinueWhen,
    /// Whether all checks of every run pass on a clean checkout before it completes.
    pub verify_clean: bool,
    /// The network of confined agents, checks and lines of `setup` unless a workflow says it.
    pub network: Option<Network>,
    /// Paths of caches, besides those of known tools, that confined commands may write.
    pub confine_caches: Vec<String>,
    /// Paths, besides those of known tools, that confined commands may read in a home folder.
    pub confine_read: Vec<String>,
    /// Days for which checkpoints and logs of finished runs are kept.
    pub retention_days: u32,
    /// Whose review of a pull request counts besides those who may write to its repository.
    pub review_from: Vec<String>,
    /// Whether onloop merges a pull request whose checks passed.
    pub auto_merge: bool,
    /// Whether exported telemetry has texts of prompts, checks and outputs.
    pub telemetry_content: bool,
    /// What is wrong with the configuration, one line each, safe to print on a terminal.
    pub notes: Vec<String>,
}

/// Who writes the prompts of continuations.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Supervisor {
    /// The agent.
    pub provider: Provider,
    /// Its model; `None` for our default. Never begins with `-`.
    pub model: Option<String>,
    /// Additional arguments, passed unchanged, without a shell.
    pub flags: Vec<String>,
}

words! {
    /// An agent that can write prompts.
    #[derive(Default)]
    pub enum Provider {
        /// No supervisor: onloop writes the prompt.
        #[default]
        None = "none",
        /// Claude Code.
        Claude = "claude",
        /// Codex.
        Codex = "codex",
        /// Cursor's command line.
        Cursor = "cursor",
        /// opencode.
        Opencode = "opencode",
    }
}

words! {
    /// When agents and checks of a run are confined.
    #[derive(Default)]
    pub enum ConfineWhen {
        /// Where the machine can do it.
        #[default]
        Auto = "auto",
        /// Always: where it cannot be done, nothing is started.
        On = "on",
        /// Never.
        Off = "off",
    }
}

words! {
    /// When the decision of a person starts a driver for a run that has none.
    #[derive(Default)]
    pub enum ContinueWhen {
        /// Where a driver can run in the background.
        #[default]
        Auto = "auto",
        /// Never: the command that continues the run is printed.
        Never = "never",
    }
}

/// A chat in which people answer. It exists only when all that it needs is configured.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Telegram {
    /// The bot's token.
    pub token: BotToken,
    /// The chat: negative for a group.
    pub chat_id: i64,
    /// How long to wait for an answer.
    pub timeout_ms: u64,
    /// How long one `getUpdates` may wait for an update.
    pub poll_interval_ms: u64,
    /// Who may answer; never empty.
    pub allowed_user_ids: Vec<i64>,
}

/// A bot's token. `Debug` does not show it; only [`BotToken::expose`] does.
#[derive(Clone, PartialEq, Eq)]
pub struct BotToken(String);

/// A workflow that the user added.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CustomWorkflow {
    /// What a prompt begins with; `/` and a word.
    pub command: String,
    /// Its name in session files: letters, digits, `-` and `_`.
    pub name: String,
    /// Absolute path of the file with the prompt of its continuations.
    pub prompt_file: String,
}

impl Default for Config {
    /// The settings without a configuration file.
    fn default() -> Config {
        Config {
            max_continuations: 10,
            auto_permission: true,
            retention_days: 90,
            ..Config::safe()
        }
    }
}

impl Config {
    /// Calls are judged; nothing costs money, sends anything, continues a session or is removed.
    pub fn safe() -> Config {
        Config {
            enabled: true,
            max_continuations: 0,
            auto_permission: false,
            debug: false,
            supervisor: Supervisor::default(),
            telegram: None,
            prices: None,
            budget: MachineBudget::default(),
            notify: None,
            workflows: Vec::new(),
            confine: ConfineWhen::Auto,
            continue_runs: ContinueWhen::Auto,
            verify_clean: false,
            network: None,
            confine_caches: Vec::new(),
            confine_read: Vec::new(),
            retention_days: keys::MOST_RETENTION_DAYS as u32,
            review_from: Vec::new(),
            auto_merge: false,
            telemetry_content: false,
            notes: Vec::new(),
        }
    }

    /// Reads the content of a configuration file in `folder`.
    pub fn read(yaml: &str, folder: &str) -> Config {
        read::config(yaml, folder)
    }

    /// [`Config::safe`] with a note: what the file `is`, instead of a configuration.
    pub fn unusable(is: &str) -> Config {
        let note = format!(
            "the local configuration {}; until that is fixed, nothing is continued, asked or sent",
            onloop_syntax::text::one_line(is)
        );
        Config { notes: vec![note], ..Config::safe() }
    }

    /// The configuration, overridden by the environment. `variable` returns the value of a
    /// variable that is set and not empty.
    pub fn with_environment<'v>(self, variable: impl Fn(&str) -> Option<&'v str>) -> Config {
        environment::overridden(self, variable)
    }
}

impl Provider {
    fn in_any_case(word: &str) -> Option<Provider> {
        word.trim().to_lowercase().parse().ok()
    }
}

impl BotToken {
    /// A token of the form that Telegram gives out: digits, `:`, then letters, digits, `-`
    /// and `_`. It becomes a part of an address, so nothing else is let in.
    pub fn new(text: &str) -> Option<BotToken> {
        let (bot, secret) = text.split_once(':')?;
        let is_secret = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'-' || byte == b'_';
        let fits = !bot.is_empty()
            && bot.bytes().all(|byte| byte.is_ascii_digit())
            && !secret.is_empty()
            && secret.bytes().all(is_secret)
            && text.len() <= 256;
        fits.then(|| BotToken(text.to_owned()))
    }

    /// The token itself, for the address of a request and for nothing else.
    pub fn expose(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for BotToken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("BotToken(…)")
    }
}
