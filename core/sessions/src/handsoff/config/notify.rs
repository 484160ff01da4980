//! Configuration of notifications.

use std::fmt;

use super::BotToken;
use onloop_run::NoticeKind;
use onloop_syntax::text::words;

/// The events that send notifications, and their channels.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Notify {
    /// Of what.
    pub kinds: Vec<NoticeKind>,
    /// How; never empty.
    pub receivers: Vec<Receiver>,
}

/// One way to tell a person.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Receiver {
    /// A line for a shell.
    Command {
        /// The line.
        line: String,
        /// The folder in which it is run: that of the configuration.
        folder: String,
    },
    /// A server.
    Webhook(Webhook),
    /// The desktop of this machine.
    Desktop,
    /// The chat in which calls are approved.
    Telegram {
        /// The bot's token.
        token: BotToken,
        /// The chat.
        chat_id: i64,
    },
}

impl Receiver {
    /// Its name in messages and documents.
    pub fn name(&self) -> &'static str {
        match self {
            Receiver::Command { .. } => "command",
            Receiver::Webhook(_) => "webhook",
            Receiver::Desktop => "desktop",
            Receiver::Telegram { .. } => "telegram",
        }
    }
}

/// A server that takes notices.
#[derive(Clone, PartialEq, Eq)]
pub struct Webhook {
    /// Its address, which may contain a secret.
    pub url: String,
    /// In which form it takes them.
    pub template: Template,
    /// What it wants to see as `Authorization: Bearer`.
    pub token: Option<String>,
}

impl fmt::Debug for Webhook {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Webhook").field("template", &self.template).finish_non_exhaustive()
    }
}

words! {
    /// The form in which a server takes notices.
    pub enum Template {
        /// Every fact as a member of its own.
        Json = "json",
        /// An incoming webhook of Slack.
        Slack = "slack",
        /// A topic of ntfy.
        Ntfy = "ntfy",
        /// A webhook of Discord.
        Discord = "discord",
    }
}
