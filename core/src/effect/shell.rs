//! The shells that a line can be written for.

use std::fmt;
use std::str::FromStr;

use serde::Serialize;

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

impl Shell {
    const ALL: [Shell; 4] = [Shell::Bash, Shell::Sh, Shell::Pwsh, Shell::Cmd];

    /// Its name in workflow files, records and requests.
    pub fn as_str(self) -> &'static str {
        match self {
            Shell::Bash => "bash",
            Shell::Sh => "sh",
            Shell::Pwsh => "pwsh",
            Shell::Cmd => "cmd",
        }
    }
}

/// The text is not the name of a [`Shell`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct UnknownShell;

impl fmt::Display for UnknownShell {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("expected `bash`, `sh`, `pwsh` or `cmd`")
    }
}

impl FromStr for Shell {
    type Err = UnknownShell;

    fn from_str(name: &str) -> Result<Shell, UnknownShell> {
        Shell::ALL.into_iter().find(|shell| shell.as_str() == name).ok_or(UnknownShell)
    }
}
