//! The shells that a line can be written for.

use serde::Serialize;

use onloop_syntax::text::words;

/// A shell that reads a command line.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Shell {
    /// `bash -c`.
    Bash,
    /// `sh -c`.
    Sh,
    /// `pwsh -NoProfile -Command`.
    Pwsh,
    /// `cmd /C`.
    Cmd,
}

words! { impl pub Shell { Bash = "bash", Sh = "sh", Pwsh = "pwsh", Cmd = "cmd", } }
