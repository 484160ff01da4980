//! Starts git with hardened settings and a clean environment.

use std::env;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::Command;

use onloop_core::effect::{Failure, FailureKind};
use onloop_core::time::Timestamp;
use onloop_core::{limits, text};

use super::super::{known_failures, settings};
use crate::host::processes::{Bounds, HostProgramEnd, HostProgramError, HostPrograms};
use crate::host::{Interrupts, RunningGroup};

/// Options of a command that is isolated from the checkout: an index of its own, no network, and a
/// time limit, because git blocks on a named pipe in place of a `.gitignore`.
#[derive(Clone, Copy, Debug)]
pub(super) struct IsolatedOptions<'a> {
    /// Index file; `None`: the checkout's, which is only read.
    pub(super) index: Option<&'a Path>,
    /// Time of a new commit, whose author is onloop and not the user.
    pub(super) committed: Option<Timestamp>,
    /// Most bytes of the output.
    pub(super) limit_bytes: u64,
    /// Names of files behind the other arguments.
    pub(super) paths: &'a [String],
}

impl Default for IsolatedOptions<'_> {
    fn default() -> Self {
        let limit_bytes = limits::GIT_ANSWER_BYTES;
        IsolatedOptions { index: None, committed: None, limit_bytes, paths: &[] }
    }
}

/// Whether hooks of the repository and of the user may run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Hooks {
    Off,
    On,
}

/// Whether git inherits this variable.
fn is_inherited(name: &str) -> bool {
    !name.starts_with("GIT_")
        || settings::INHERITED_VARIABLES.contains(&name)
        || settings::INHERITED_PREFIXES.iter().any(|prefix| name.starts_with(prefix))
}

/// The git program.
#[derive(Debug)]
pub(crate) struct GitProgram {
    executable: OsString,
    programs: HostPrograms,
    /// Longest time of each command.
    longest_ms: u64,
}

/// Exit code of a git that a signal ended.
pub(super) const SIGNALLED: i32 = -1;

/// What git answered.
#[derive(Debug)]
pub(super) struct Answer {
    pub(super) exit: i32,
    pub(super) stdout: Vec<u8>,
    stderr: Vec<u8>,
    /// The current folder of the command.
    cwd: PathBuf,
    /// The command, for messages.
    asked: String,
}

impl GitProgram {
    pub(crate) fn new(executable: OsString) -> GitProgram {
        GitProgram { executable, programs: HostPrograms::default(), longest_ms: u64::MAX }
    }

    /// Lets `interrupts` end commands, and adds them to `running`.
    pub(crate) fn among(self, interrupts: &Interrupts, running: &RunningGroup) -> GitProgram {
        GitProgram { programs: HostPrograms::new(interrupts, running), ..self }
    }

    /// Bounds the time of each command.
    pub(crate) fn at_most_ms(self, timeout_ms: u64) -> GitProgram {
        GitProgram { longest_ms: timeout_ms, ..self }
    }

    /// Returns a program that no interrupt ends, for a rollback after an interrupt.
    pub(super) fn undisturbed(&self) -> GitProgram {
        let executable = self.executable.clone();
        let longest_ms = limits::GIT_QUESTION_TIMEOUT_MS.min(self.longest_ms);
        GitProgram { executable, programs: self.programs.undisturbed(), longest_ms }
    }

    /// Clears the interrupt, once every command of the request has ended.
    pub(crate) fn take_interrupt(&self) {
        self.programs.take_interrupt();
    }

    /// Runs a quick command in `cwd`.
    pub(super) fn answer(&self, cwd: &Path, args: &[&str]) -> Result<Answer, Failure> {
        self.answer_to(cwd, args, &[])
    }

    /// Runs a quick command in `cwd` with `input` on its standard input.
    pub(super) fn answer_to(
        &self,
        cwd: &Path,
        args: &[&str],
        input: &[u8],
    ) -> Result<Answer, Failure> {
        self.perform(cwd, args, input, Hooks::Off, limits::GIT_QUESTION_TIMEOUT_MS)
    }

    /// Runs a quick command in `cwd` with the user's hooks.
    pub(super) fn answer_with_hooks(&self, cwd: &Path, args: &[&str]) -> Result<Answer, Failure> {
        self.perform(cwd, args, &[], Hooks::On, limits::GIT_QUESTION_TIMEOUT_MS)
    }

    /// Runs a command in `cwd` that may take long.
    pub(super) fn act(&self, cwd: &Path, args: &[&str]) -> Result<Answer, Failure> {
        self.perform(cwd, args, &[], Hooks::Off, limits::GIT_ACT_TIMEOUT_MS)
    }

    /// Like [`GitProgram::act`], with `input` on its standard input.
    pub(super) fn act_on(
        &self,
        cwd: &Path,
        args: &[&str],
        input: &[u8],
    ) -> Result<Answer, Failure> {
        self.perform(cwd, args, input, Hooks::Off, limits::GIT_ACT_TIMEOUT_MS)
    }

    /// Like [`GitProgram::act`], with the user's hooks.
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
            Err(HostProgramError::Unstarted(error)) => return Err(self.unstarted(cwd, &error)),
            Err(HostProgramError::Failed(failure)) => return Err(failure),
        };
        let waits = |program: Option<String>| {
            program.map_or_else(String::new, |program| format!(": it was waiting for `{program}`"))
        };
        let (kind, message) = match ended {
            HostProgramEnd::Ended { exit, stdout, stderr } => {
                return Ok(Answer { exit, stdout, stderr, cwd: cwd.to_owned(), asked });
            }
            HostProgramEnd::TooLarge => {
                let limit = bounds.limit_bytes;
                (FailureKind::TooLarge, format!("{asked}: more than {limit} bytes"))
            }
            HostProgramEnd::TimedOut(program) => {
                let time = text::span(bounds.timeout_ms);
                let waits = waits(program);
                (FailureKind::Other, format!("{asked} was ended after {time}{waits}"))
            }
            HostProgramEnd::Interrupted(program) => {
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
    pub(super) fn answer_isolated(
        &self,
        cwd: &Path,
        args: &[&str],
        input: &[u8],
        options: IsolatedOptions<'_>,
    ) -> Result<Answer, Failure> {
        let mut command = self.command(cwd, Hooks::Off);
        for setting in settings::ISOLATED_CONFIG {
            command.args(["-c", setting]);
        }
        command.args(args).args(options.paths.iter().map(|path| os_name(&text::name_bytes(path))));
        command.env("GIT_NO_LAZY_FETCH", "1").env("GIT_ALLOW_PROTOCOL", "none");
        if let Some(index) = options.index {
            command.env("GIT_INDEX_FILE", index).env("GIT_INDEX_VERSION", "4");
        }
        if let Some(at) = options.committed {
            let date = format!("@{} +0000", at.as_millis().div_euclid(1000));
            for who in ["AUTHOR", "COMMITTER"] {
                command
                    .env(format!("GIT_{who}_NAME"), "onloop")
                    .env(format!("GIT_{who}_EMAIL"), "onloop@localhost")
                    .env(format!("GIT_{who}_DATE"), &date);
            }
        }
        let (timeout_ms, limit_bytes) = (limits::CHECKPOINT_TIMEOUT_MS, options.limit_bytes);
        self.run(command, cwd, args, input, Bounds { timeout_ms, limit_bytes })
    }

    fn command(&self, cwd: &Path, hooks: Hooks) -> Command {
        let mut command = Command::new(&self.executable);
        command.current_dir(cwd);
        for (name, _) in env::vars_os().filter(|(name, _)| !is_inherited(&name.to_string_lossy())) {
            command.env_remove(name);
        }
        command.envs(settings::ENVIRONMENT.iter().copied()).arg("--no-pager");
        for setting in settings::HARDENED_CONFIG {
            command.args(["-c", setting]);
        }
        if hooks == Hooks::Off {
            command.args(["-c", settings::NO_HOOKS]);
        }
        command
    }
}

impl Answer {
    /// The answer of a command that had finished its work when it was ended.
    pub(super) fn done(cwd: &Path) -> Answer {
        let (stdout, stderr) = (Vec::new(), Vec::new());
        Answer { exit: 0, stdout, stderr, cwd: cwd.to_owned(), asked: String::new() }
    }

    /// Returns the standard error.
    pub(super) fn said(&self) -> String {
        String::from_utf8_lossy(&self.stderr).trim_end().to_owned()
    }

    pub(super) fn into_failure(self) -> Failure {
        let said = self.said();
        if let Some(named) = known_failures::recognize(&said, &self.cwd) {
            return named;
        }
        if self.exit == SIGNALLED {
            let message = format!("{} was ended by a signal", self.asked);
            return Failure::new(FailureKind::Unknown, message);
        }
        let said = if said.is_empty() { "no reason given" } else { &said };
        let message = format!("{} ended with {}: {said}", self.asked, self.exit);
        Failure::new(FailureKind::Other, message)
    }
}

/// Returns an answer of one line, without its line break.
pub(super) fn text(output: &[u8]) -> String {
    let output = output.strip_suffix(b"\n").unwrap_or(output);
    String::from_utf8_lossy(output).into_owned()
}

/// The name of a file as an argument of a program.
#[cfg(unix)]
pub(super) fn os_name(name: &[u8]) -> OsString {
    use std::os::unix::ffi::OsStringExt;
    OsString::from_vec(name.to_vec())
}

#[cfg(not(unix))]
pub(super) fn os_name(name: &[u8]) -> OsString {
    String::from_utf8_lossy(name).into_owned().into()
}

/// Joins paths, each terminated by NUL.
pub(super) fn until_nul<'p>(paths: impl Iterator<Item = &'p [u8]>) -> Vec<u8> {
    paths.flat_map(|path| [path, b"\0"]).collect::<Vec<_>>().concat()
}

/// The files that a request names, each terminated by NUL.
pub(super) fn list_of(names: &[String]) -> Vec<u8> {
    until_nul(
        names.iter().map(|name| text::name_bytes(name)).collect::<Vec<_>>().iter().map(|n| &**n),
    )
}

/// The name of a file, for people.
pub(super) fn shown_name(name: &[u8]) -> String {
    text::one_line(&text::name_text(name))
}

/// Splits an output at NUL.
pub(super) fn lines_until_nul(output: &[u8]) -> impl Iterator<Item = &[u8]> {
    output.split(|&byte| byte == 0).filter(|part| !part.is_empty())
}
