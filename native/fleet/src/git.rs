//! The git program, for the clones that a worker keeps.

use std::io;
use std::path::Path;
use std::process::{Command, Stdio};

/// Why a git command failed.
#[derive(Debug, thiserror::Error)]
pub enum GitError {
    /// It could not be started.
    #[error("git could not be started: {0}")]
    Start(#[from] io::Error),
    /// It ended with an error.
    #[error("git {verb}: {said}")]
    Failed {
        /// The subcommand.
        verb: String,
        /// The end of its standard error, on one line.
        said: String,
    },
}

/// Most characters of git's message that are shown.
const SAID_CHARS: usize = 300;

/// Runs git in `folder` and returns its standard output without the last line break.
///
/// # Errors
///
/// It cannot be started, or its exit code is not 0.
pub fn git(folder: &Path, args: &[&str]) -> Result<String, GitError> {
    let mut command = Command::new("git");
    // Hooks and the file system monitor of a repository do not run, and no variable names another
    // repository.
    command.args(["-c", "core.hooksPath=/dev/null", "-c", "core.fsmonitor=false"]);
    command.args(["-c", "gc.auto=0", "-c", "maintenance.auto=false"]);
    command.args(args).current_dir(folder);
    for (name, _) in std::env::vars_os() {
        let is_of_git = name.to_str().is_some_and(|name| name.starts_with("GIT_"));
        if is_of_git && !KEPT.iter().any(|kept| name == *kept) {
            command.env_remove(&name);
        }
    }
    command.env("GIT_TERMINAL_PROMPT", "0").env("LC_ALL", "C");
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let ended = command.output()?;
    if ended.status.success() {
        return Ok(String::from_utf8_lossy(&ended.stdout).trim_end().to_owned());
    }
    let said = String::from_utf8_lossy(&ended.stderr);
    let said = onloop_core::text::one_line(said.trim());
    let verb = args.first().copied().unwrap_or_default().to_owned();
    Err(GitError::Failed { verb, said: onloop_core::text::ellipsis(&said, SAID_CHARS) })
}

/// Variables that say how git reaches remotes: the user decides it.
const KEPT: [&str; 6] = [
    "GIT_SSH",
    "GIT_SSH_COMMAND",
    "GIT_ASKPASS",
    "GIT_CONFIG_GLOBAL",
    "GIT_CONFIG_SYSTEM",
    "GIT_CONFIG_NOSYSTEM",
];
