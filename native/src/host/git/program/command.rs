//! Starting git so that it does what we ask and nothing else.

use std::env;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::Command;

use onloop_core::effect::{Failure, FailureKind};
use onloop_core::time::Timestamp;
use onloop_core::{limits, text};

use super::super::trouble;
use crate::host::processes::{Bounds, OwnEnd, OwnError, OwnPrograms};
use crate::host::{Interrupts, RunningGroup};

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
}

impl Default for Aside<'_> {
    fn default() -> Self {
        let limit_bytes = limits::GIT_ANSWER_BYTES;
        Aside { index: None, committed: None, limit_bytes }
    }
}

/// Whether hooks of the repository and of the user may run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Hooks {
    Off,
    On,
}

/// Variables about git that say who the user is, how to reach a server, where repositories are looked
/// for and what configuration the user adds. Every other one that starts with `GIT_` is removed: it
/// could point git at another repository or another index. What we configure ourselves counts more than
/// all of it.
const KEPT: [&str; 36] = [
    "GIT_ALLOW_PROTOCOL",
    "GIT_ASKPASS",
    "GIT_ATTR_NOSYSTEM",
    "GIT_CEILING_DIRECTORIES",
    "GIT_CONFIG_COUNT",
    "GIT_DISCOVERY_ACROSS_FILESYSTEM",
    "GIT_HTTP_LOW_SPEED_LIMIT",
    "GIT_HTTP_LOW_SPEED_TIME",
    "GIT_HTTP_PROXY_AUTHMETHOD",
    "GIT_HTTP_USER_AGENT",
    "GIT_LFS_SKIP_SMUDGE",
    "GIT_PROTOCOL_FROM_USER",
    "GIT_PROXY_COMMAND",
    "GIT_PROXY_SSL_CAINFO",
    "GIT_PROXY_SSL_CERT",
    "GIT_PROXY_SSL_CERT_PASSWORD_PROTECTED",
    "GIT_PROXY_SSL_KEY",
    "GIT_SSH_VARIANT",
    "GIT_SSL_CERT",
    "GIT_SSL_CERT_PASSWORD_PROTECTED",
    "GIT_SSL_CIPHER_LIST",
    "GIT_SSL_KEY",
    "GIT_SSL_NO_VERIFY",
    "GIT_SSL_VERSION",
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

/// Where numbered variables begin, of which each is one setting: see `GIT_CONFIG_COUNT`.
const KEPT_NUMBERED: [&str; 2] = ["GIT_CONFIG_KEY_", "GIT_CONFIG_VALUE_"];

/// Whether git gets to know this variable of ours.
fn is_kept(name: &str) -> bool {
    !name.starts_with("GIT_")
        || KEPT.contains(&name)
        || KEPT_NUMBERED.iter().any(|start| name.starts_with(start))
}

/// The git program under the name it is started by.
#[derive(Debug)]
pub(crate) struct GitProgram {
    executable: OsString,
    programs: OwnPrograms,
    /// Longest time for one command, whatever it is.
    longest_ms: u64,
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
        GitProgram { executable, programs: OwnPrograms::default(), longest_ms: u64::MAX }
    }

    /// The same program, which `interrupts` disturbs and whoever has no time finds in `running`.
    pub(crate) fn among(self, interrupts: &Interrupts, running: &RunningGroup) -> GitProgram {
        GitProgram { programs: OwnPrograms::new(interrupts, running), ..self }
    }

    /// The same program, which never takes longer than this.
    pub(crate) fn at_most_ms(self, timeout_ms: u64) -> GitProgram {
        GitProgram { longest_ms: timeout_ms, ..self }
    }

    /// The same program, which no interrupt disturbs: for putting right what was interrupted.
    pub(super) fn undisturbed(&self) -> GitProgram {
        let executable = self.executable.clone();
        let longest_ms = limits::GIT_QUESTION_TIMEOUT_MS.min(self.longest_ms);
        GitProgram { executable, programs: self.programs.undisturbed(), longest_ms }
    }

    /// An interrupt has done what it is for.
    pub(crate) fn take_interrupt(&self) {
        self.programs.take_interrupt();
    }

    /// Asks git in `cwd`.
    pub(super) fn answer(&self, cwd: &Path, args: &[&str]) -> Result<Answer, Failure> {
        self.answer_to(cwd, args, &[])
    }

    /// Asks git in `cwd` with `input` on its standard input.
    pub(super) fn answer_to(
        &self,
        cwd: &Path,
        args: &[&str],
        input: &[u8],
    ) -> Result<Answer, Failure> {
        self.perform(cwd, args, input, Hooks::Off, limits::GIT_QUESTION_TIMEOUT_MS)
    }

    /// Asks git in `cwd` about something that the user's hooks may refuse.
    pub(super) fn answer_with_hooks(&self, cwd: &Path, args: &[&str]) -> Result<Answer, Failure> {
        self.perform(cwd, args, &[], Hooks::On, limits::GIT_QUESTION_TIMEOUT_MS)
    }

    /// Lets git do something in `cwd` that takes its time.
    pub(super) fn act(&self, cwd: &Path, args: &[&str]) -> Result<Answer, Failure> {
        self.perform(cwd, args, &[], Hooks::Off, limits::GIT_ACT_TIMEOUT_MS)
    }

    /// The same with `input` on its standard input.
    pub(super) fn act_on(
        &self,
        cwd: &Path,
        args: &[&str],
        input: &[u8],
    ) -> Result<Answer, Failure> {
        self.perform(cwd, args, input, Hooks::Off, limits::GIT_ACT_TIMEOUT_MS)
    }

    /// The same for something that the user's hooks may refuse.
    pub(super) fn act_with_hooks(&self, cwd: &Path, args: &[&str]) -> Result<Answer, Failure> {
        self.perform(cwd, args, &[], Hooks::On, limits::GIT_ACT_TIMEOUT_MS)
    }

    fn perform(
        &self,
        cwd: &Path,
        args: &[&str],
        input: &[u8],
        hooks: Hooks,
        timeout_ms: u64,
    ) -> Result<Answer, Failure> {
        let mut command = self.command(cwd, hooks);
        command.args(args);
        let bounds = Bounds { timeout_ms, limit_bytes: limits::GIT_ANSWER_BYTES };
        self.run(command, cwd, args, input, bounds)
    }

    fn run(
        &self,
        command: Command,
        cwd: &Path,
        args: &[&str],
        input: &[u8],
        bounds: Bounds,
    ) -> Result<Answer, Failure> {
        self.demand_no_links(cwd, args)?;
        let asked = format!("`git {}` in `{}`", args.join(" "), cwd.display());
        let bounds = Bounds { timeout_ms: bounds.timeout_ms.min(self.longest_ms), ..bounds };
        let ended = match self.programs.run(command, input, bounds) {
            Ok(ended) => ended,
            Err(OwnError::Unstarted(error)) => return Err(self.unstarted(cwd, &error)),
            Err(OwnError::Failed(failure)) => return Err(failure),
        };
        let waits = |program: Option<String>| {
            program.map_or_else(String::new, |program| format!(": it was waiting for `{program}`"))
        };
        let (kind, message) = match ended {
            OwnEnd::Ended { exit, stdout, stderr } => {
                return Ok(Answer { exit, stdout, stderr, cwd: cwd.to_owned(), asked });
            }
            OwnEnd::TooLarge => {
                let limit = bounds.limit_bytes;
                (FailureKind::TooLarge, format!("{asked}: more than {limit} bytes"))
            }
            OwnEnd::TimedOut(program) => {
                let time = text::span(bounds.timeout_ms);
                let waits = waits(program);
                (FailureKind::Other, format!("{asked} was ended after {time}{waits}"))
            }
            OwnEnd::Interrupted(program) => {
                (FailureKind::Interrupted, format!("{asked} was interrupted{}", waits(program)))
            }
        };
        Err(Failure::new(kind, message))
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

    /// Asks git in `cwd` beside the checkout, with `input` on its standard input.
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
        let (timeout_ms, limit_bytes) = (limits::CHECKPOINT_TIMEOUT_MS, aside.limit_bytes);
        self.run(command, cwd, args, input, Bounds { timeout_ms, limit_bytes })
    }

    fn command(&self, cwd: &Path, hooks: Hooks) -> Command {
        let mut command = Command::new(&self.executable);
        command.current_dir(cwd);
        for (name, _) in env::vars_os().filter(|(name, _)| !is_kept(&name.to_string_lossy())) {
            command.env_remove(name);
        }
        command
            .env("LC_ALL", "C")
            .env("GIT_TERMINAL_PROMPT", "0")
            // Reading must not write: a refreshed index would be a change nobody asked for.
            .env("GIT_OPTIONAL_LOCKS", "0")
            .env("GIT_LITERAL_PATHSPECS", "1")
            // An agent that writes to the repository could put other content and parents in place.
            .env("GIT_NO_REPLACE_OBJECTS", "1")
            .env("GIT_GRAFT_FILE", "/dev/null/none")
            .arg("--no-pager");
        for setting in CONFIG {
            command.args(["-c", setting]);
        }
        if hooks == Hooks::Off {
            command.args(["-c", NO_HOOKS]);
        }
        command
    }
}

impl Answer {
    /// Git had done all that it was asked for in `cwd` when it was ended.
    pub(super) fn done(cwd: &Path) -> Answer {
        let (stdout, stderr) = (Vec::new(), Vec::new());
        Answer { exit: 0, stdout, stderr, cwd: cwd.to_owned(), asked: String::new() }
    }

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
