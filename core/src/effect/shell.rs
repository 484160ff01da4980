//! The shells that a line can be written for.

use serde::Serialize;

use crate::text::words;

words! {
    /// A shell that reads a command line.
    #[derive(Serialize)]
    #[serde(rename_all = "snake_case")]
    pub enum Shell {
        /// `bash -c`.
        Bash = "bash",
        /// `sh -c`.
        Sh = "sh",
        /// `pwsh -NoProfile -Command`.
        Pwsh = "pwsh",
        /// `cmd /C`.
        Cmd = "cmd",
    }
}
