//! Decisions, and who takes them.

use onloop_syntax::text::words;
use serde::{Deserialize, Serialize};

/// Who decided something, and through which channel. What the operating system says about the user
/// is recorded, not proven.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Decider {
    /// Name of the account, where the environment says it.
    pub user: Option<String>,
    /// How the decision came in.
    pub channel: DecisionChannel,
}

words! {
    /// How a decision came in.
    pub enum DecisionChannel {
        /// An answer at the terminal.
        Terminal = "terminal",
        /// A command, such as `onloop gate`.
        Command = "command",
        /// A tool of the Model Context Protocol, whose client asked a person.
        Mcp = "mcp",
        /// A Telegram chat.
        Telegram = "telegram",
        /// The page of `onloop web`.
        Web = "web",
        /// The commands of an editor that onloop is built into.
        Editor = "editor",
    }
}

words! {
    /// A decision at a gate.
    #[derive(clap::ValueEnum)]
    pub enum GateDecision {
        /// Continue.
        Approved = "approved",
        /// Do not.
        Rejected = "rejected",
    }
}

words! {
    /// Who decides at a gate.
    #[derive(clap::ValueEnum)]
    pub enum Mode {
        /// The rules, where they allow it.
        Auto = "auto",
        /// A person.
        Human = "human",
    }
}
