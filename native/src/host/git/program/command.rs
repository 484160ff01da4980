//! Starting git so that it does what we ask and nothing else.

use std::env;
use std::ffi::OsString;
use std::io::Write;
use std::path::Path;
use std::process::{Command, Output, Stdio};
use std::thread;

use onloop_core::effect::{Failure, FailureKind};

/// What git would start or touch on its own, turned off.
///
/// Filters and credential helpers stay: without filters a checkout holds the wrong bytes, and
/// a partial clone may have to fetch. `core.hooksPath` is not a folder, so that there are no
/// hooks; the file system monitor is a program too.
const CONFIG: [&str; 5] = [
    "core.fsmonitor=false",
    "submodule.recurse=false",
    "gc.auto=0",
    "maintenance.auto=false",
    "advice.detachedHead=false",
];

/// Turns hooks off, see [`CONFIG`].
const NO_HOOKS: &str = "core.hooksPath=/dev/null";

/// Whether hooks of the repository and of the user may run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Hooks {
    Off,
    On,
}

/// Variables about git that say who the user is and how to reach a server. Every other one
/// that starts with `GIT_` is removed: it could point git at another repository, another
/// index or another program.
const KEPT: [&str; 12] = [
    "GIT_CONFIG_GLOBAL",
    "GIT_CONFIG_SYSTEM",
    "GIT_CONFIG_NOSYSTEM",
    "GIT_EXEC_PATH",
    "GIT_SSH",
    "GIT_SSH_COMMAND",
    "GIT_AUTHOR_NAME",
    "GIT_AUTHOR_EMAIL",
    "GIT_COMMITTER_NAME",
    "GIT_COMMITTER_EMAIL",
    "GIT_SSL_CAINFO",
    "GIT_SSL_CAPATH",
];

/// The git program under the name it is started by.
#[derive(Debug)]
pub(crate) struct GitProgram {
    executable: OsString,
}

/// What git answered.
#[derive(Debug)]
pub(super) struct Answer {
    pub(super) exit: i32,
    pub(super) stdout: Vec<u8>,
    stderr: Vec<u8>,
    /// Where and what was asked, for people.
    asked: String,
}

impl GitProgram {
    pub(crate) fn new(executable: OsString) -> GitProgram {
        GitProgram { executable }
    }

    /// Runs git in `cwd`.
    pub(super) fn answer(&self, cwd: &Path, args: &[&str]) -> Result<Answer, Failure> {
        self.answer_to(cwd, args, &[])
    }

    /// Runs git in `cwd` for something that the user's hooks may refuse.
    pub(super) fn answer_with_hooks(&self, cwd: &Path, args: &[&str]) -> Result<Answer, Failure> {
        self.perform(cwd, args, &[], Hooks::On)
    }

    /// Runs git in `cwd` with `input` on its standard input.
    pub(super) fn answer_to(
        &self,
        cwd: &Path,
        args: &[&str],
        input: &[u8],
    ) -> Result<Answer, Failure> {
        self.perform(cwd, args, input, Hooks::Off)
    }

    fn perform(
        &self,
        cwd: &Path,
        args: &[&str],
        input: &[u8],
        hooks: Hooks,
    ) -> Result<Answer, Failure> {
        let asked = format!("`git {}` in `{}`", args.join(" "), cwd.display());
        let output = run(self.command(cwd, args, hooks), input).map_err(|error| {
            // Spawning fails in the same way for a missing folder and a missing program.
            match error.kind() {
                std::io::ErrorKind::NotFound if cwd.is_dir() => {
                    let name = self.executable.to_string_lossy();
                    let message = format!("the program `{name}` is not installed");
                    Failure::new(FailureKind::Unsupported, message)
                }
                _ => super::super::rollback::failure(cwd, &error),
            }
        })?;
        if interrupted(&output) {
            return Err(Failure::new(FailureKind::Interrupted, format!("{asked}: interrupted")));
        }
        let exit = output.status.code().unwrap_or(-1);
        Ok(Answer { exit, stdout: output.stdout, stderr: output.stderr, asked })
    }

    fn command(&self, cwd: &Path, args: &[&str], hooks: Hooks) -> Command {
        let mut command = Command::new(&self.executable);
        command.current_dir(cwd);
        for (name, _) in env::vars_os() {
            let git = name.to_string_lossy();
            if git.starts_with("GIT_") && !KEPT.contains(&&*git) {
                command.env_remove(&name);
            }
        }
        command
            .env("LC_ALL", "C")
            .env("GIT_TERMINAL_PROMPT", "0")
            // Reading must not write: a refreshed index would be a change nobody asked for.
            .env("GIT_OPTIONAL_LOCKS", "0")
            .env("GIT_LITERAL_PATHSPECS", "1");
        command.arg("--no-pager");
        for setting in CONFIG {
            command.args(["-c", setting]);
        }
        if hooks == Hooks::Off {
            command.args(["-c", NO_HOOKS]);
        }
        command.args(args);
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        command
    }
}

impl Answer {
    pub(super) fn into_failure(self) -> Failure {
        let said = String::from_utf8_lossy(&self.stderr);
        let said = said.trim_end();
        let said = if said.is_empty() { "no reason given" } else { said };
        let message = format!("{} ended with {}: {said}", self.asked, self.exit);
        Failure::new(FailureKind::Other, message)
    }
}

fn run(mut command: Command, input: &[u8]) -> std::io::Result<Output> {
    let mut child = command.spawn()?;
    let stdin = child.stdin.take();
    thread::scope(|scope| {
        scope.spawn(move || {
            // A program that stops reading early has its own reasons and reports them.
            let _ = stdin.map(|mut stdin| stdin.write_all(input));
        });
        child.wait_with_output()
    })
}

#[cfg(unix)]
fn interrupted(output: &Output) -> bool {
    use std::os::unix::process::ExitStatusExt;
    const SIGINT: i32 = 2;
    output.status.signal() == Some(SIGINT)
}

#[cfg(not(unix))]
fn interrupted(_output: &Output) -> bool {
    false
}

/// An answer of one line, without its line break.
pub(super) fn text(output: &[u8]) -> String {
    let output = output.strip_suffix(b"\n").unwrap_or(output);
    String::from_utf8_lossy(output).into_owned()
}

/// The parts of an output that terminates each of them with NUL.
pub(super) fn lines_until_nul(output: &[u8]) -> impl Iterator<Item = &[u8]> {
    output.split(|&byte| byte == 0).filter(|part| !part.is_empty())
}
