//! Starting git so that it does what we ask and nothing else.

use std::env;
use std::ffi::OsString;
use std::io::{Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use onloop_core::effect::{Failure, FailureKind};
use onloop_core::limits;
use onloop_core::time::Timestamp;

use super::super::trouble;

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

/// What is asked with an index of its own comes out the same whatever the repository configures:
/// what git remembers of a file counts only while size and every time are the same.
const ASIDE_CONFIG: [&str; 10] = [
    "core.splitIndex=false",
    "core.untrackedCache=false",
    "core.trustctime=true",
    "core.checkStat=default",
    "core.ignoreStat=false",
    "core.safecrlf=false",
    "core.logAllRefUpdates=false",
    "index.sparse=false",
    "index.skipHash=true",
    "i18n.commitEncoding=UTF-8",
];

/// Git that is asked beside the checkout: with an index of its own, without a network, and not for
/// ever. A named pipe in the place of a `.gitignore` would hold it for good.
#[derive(Clone, Copy, Debug)]
pub(super) struct Aside<'a> {
    /// The index instead of the checkout's; `None`: the checkout's, which is only read.
    pub(super) index: Option<&'a Path>,
    /// Time of a commit that git makes; then it is ours and not the user's.
    pub(super) committed: Option<Timestamp>,
    /// Most bytes that git may answer.
    pub(super) limit_bytes: u64,
    /// For the commands of git that refuse to be told that a path is no pattern.
    pub(super) takes_patterns: bool,
}

impl Default for Aside<'_> {
    fn default() -> Self {
        Aside { index: None, committed: None, limit_bytes: u64::MAX, takes_patterns: false }
    }
}

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
    /// Where it was asked.
    cwd: PathBuf,
    /// What was asked, for people.
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
        let mut command = self.command(cwd, hooks);
        command.args(args);
        let output = run(command, input).map_err(|error| self.unstarted(cwd, &error))?;
        answered(output, cwd, args)
    }

    /// Spawning fails in the same way for a missing folder and a missing program.
    fn unstarted(&self, cwd: &Path, error: &std::io::Error) -> Failure {
        match error.kind() {
            std::io::ErrorKind::NotFound if cwd.is_dir() => {
                let name = self.executable.to_string_lossy();
                let message = format!("the program `{name}` is not installed");
                Failure::new(FailureKind::Unsupported, message)
            }
            _ => super::super::rollback::failure(cwd, error),
        }
    }

    /// Runs git in `cwd` beside the checkout, with `input` on its standard input.
    ///
    /// # Errors
    ///
    /// `TooLarge` when it answers more than it may; `Other` when it takes longer than
    /// [`limits::CHECKPOINT_TIMEOUT_MS`].
    pub(super) fn answer_aside(
        &self,
        cwd: &Path,
        args: &[&str],
        input: &[u8],
        aside: Aside<'_>,
    ) -> Result<Answer, Failure> {
        let mut command = self.command(cwd, Hooks::Off);
        for setting in ASIDE_CONFIG {
            command.args(["-c", setting]);
        }
        command.args(args).env("GIT_NO_LAZY_FETCH", "1").env("GIT_ALLOW_PROTOCOL", "none");
        if aside.takes_patterns {
            command.env_remove("GIT_LITERAL_PATHSPECS");
        }
        if let Some(index) = aside.index {
            command.env("GIT_INDEX_FILE", index).env("GIT_INDEX_VERSION", "4");
        }
        if let Some(at) = aside.committed {
            let date = format!("@{} +0000", at.as_millis().div_euclid(1000));
            for who in ["AUTHOR", "COMMITTER"] {
                command
                    .env(format!("GIT_{who}_NAME"), "onloop")
                    .env(format!("GIT_{who}_EMAIL"), "onloop@localhost")
                    .env(format!("GIT_{who}_DATE"), &date);
            }
        }
        let asked = question(cwd, args);
        let time = Duration::from_millis(limits::CHECKPOINT_TIMEOUT_MS);
        match run_bounded(command, input, aside.limit_bytes, time) {
            Ok(Bounded::Ended(output)) => answered(output, cwd, args),
            Ok(Bounded::TooLong) => {
                let message = format!("{asked} was not done after {} s", time.as_secs());
                Err(Failure::new(FailureKind::Other, message))
            }
            Ok(Bounded::TooLarge) => {
                let message = format!("{asked}: more than {} bytes", aside.limit_bytes);
                Err(Failure::new(FailureKind::TooLarge, message))
            }
            Err(error) => Err(self.unstarted(cwd, &error)),
        }
    }

    fn command(&self, cwd: &Path, hooks: Hooks) -> Command {
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
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        command
    }
}

impl Answer {
    /// What git said besides its answer.
    pub(super) fn said(&self) -> String {
        String::from_utf8_lossy(&self.stderr).trim_end().to_owned()
    }

    pub(super) fn into_failure(self) -> Failure {
        let said = self.said();
        if let Some(named) = trouble::named(&said, &self.cwd) {
            return named;
        }
        let said = if said.is_empty() { "no reason given" } else { &said };
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

fn question(cwd: &Path, args: &[&str]) -> String {
    format!("`git {}` in `{}`", args.join(" "), cwd.display())
}

fn answered(output: Output, cwd: &Path, args: &[&str]) -> Result<Answer, Failure> {
    let asked = question(cwd, args);
    if interrupted(&output) {
        return Err(Failure::new(FailureKind::Interrupted, format!("{asked}: interrupted")));
    }
    let exit = output.status.code().unwrap_or(-1);
    let cwd = cwd.to_owned();
    Ok(Answer { exit, stdout: output.stdout, stderr: output.stderr, cwd, asked })
}

/// How a program with bounds came to its end.
enum Bounded {
    Ended(Output),
    TooLarge,
    TooLong,
}

/// Runs a program that may say and take only so much; otherwise it is killed.
fn run_bounded(
    mut command: Command,
    input: &[u8],
    limit_bytes: u64,
    time: Duration,
) -> std::io::Result<Bounded> {
    if input.is_empty() {
        command.stdin(Stdio::null());
    }
    let mut child = command.spawn()?;
    let (stdin, stdout, stderr) = (child.stdin.take(), child.stdout.take(), child.stderr.take());
    let (done, waits) = mpsc::channel();
    // Not joined: what git left behind may hold its pipes open after it was killed.
    if let Some(mut stdin) = stdin {
        let input = input.to_vec();
        thread::spawn(move || {
            // A program that stops reading early has its own reasons and reports them.
            let _ = stdin.write_all(&input);
        });
    }
    let errors = thread::spawn(move || read_up_to(stderr, STDERR_BYTES));
    thread::spawn(move || {
        let said = read_up_to(stdout, limit_bytes);
        let _ = done.send((said, errors.join().unwrap_or_default()));
    });
    let end = match waits.recv_timeout(time) {
        Err(_) => Bounded::TooLong,
        Ok((said, _)) if said.len() as u64 > limit_bytes => Bounded::TooLarge,
        Ok((stdout, stderr)) => {
            return Ok(Bounded::Ended(Output { status: child.wait()?, stdout, stderr }));
        }
    };
    let _ = child.kill();
    child.wait()?;
    Ok(end)
}

/// What git says about a failure is longer only when it repeats itself.
const STDERR_BYTES: u64 = 64 * 1024;

/// One byte more than the limit where there is more.
fn read_up_to(stream: Option<impl Read>, limit_bytes: u64) -> Vec<u8> {
    let mut bytes = Vec::new();
    if let Some(stream) = stream {
        let _ = stream.take(limit_bytes.saturating_add(1)).read_to_end(&mut bytes);
    }
    bytes
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

/// Paths as git reads them, each ended by NUL.
pub(super) fn until_nul<'p>(paths: impl Iterator<Item = &'p [u8]>) -> Vec<u8> {
    paths.flat_map(|path| [path, b"\0"]).collect::<Vec<_>>().concat()
}

/// The parts of an output that terminates each of them with NUL.
pub(super) fn lines_until_nul(output: &[u8]) -> impl Iterator<Item = &[u8]> {
    output.split(|&byte| byte == 0).filter(|part| !part.is_empty())
}
