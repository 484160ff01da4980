//! The shells and the operating systems that a line can be written for.

use serde::{Deserialize, Serialize};

use onloop_syntax::text::words;

/// A shell that reads a command line.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Shell {
    /// `bash -c`.
    #[default]
    Bash,
    /// `sh -c`.
    Sh,
    /// `pwsh -NoProfile -Command`.
    Pwsh,
    /// `cmd /C`.
    Cmd,
}

words! { impl pub Shell { Bash = "bash", Sh = "sh", Pwsh = "pwsh", Cmd = "cmd", } }

/// An operating system that a command is written for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum OperatingSystem {
    /// Linux.
    Linux,
    /// macOS.
    Macos,
    /// Windows.
    Windows,
}

words! {
    impl pub OperatingSystem { Linux = "linux", Macos = "macos", Windows = "windows", }
}
