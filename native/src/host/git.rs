//! Git repositories, through the git program of the machine.
//!
//! [`Task`] knows what a request needs; this starts the git commands that it asks for.

mod steps;

#[cfg(test)]
mod tests;

use std::env;
use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::thread;

use onloop_core::effect::{Failure, FailureKind, GitRequest, Outcome};
use onloop_core::git::{CommandEnd, GitCommand, Step, StepReply, Surroundings, Task, TaskTurn};

use super::processes::{Bounds, HostProgramEnd, HostProgramError, HostPrograms};
use super::{Interrupts, RunningGroup, failure};

/// Answers [`GitRequest`]s.
#[derive(Debug)]
pub struct OsGit {
    executable: OsString,
    programs: HostPrograms,
    /// Longest time of each command; `None`: as long as each may take.
    longest_ms: Option<u64>,
}

/// The folders of a search path, as they are named without links.
fn real_folders(path: &OsStr) -> OsString {
    let real = |folder: PathBuf| folder.canonicalize().unwrap_or(folder);
    env::join_paths(env::split_paths(path).map(real)).unwrap_or_else(|_| path.to_owned())
}

impl Default for OsGit {
    fn default() -> OsGit {
        OsGit::new()
    }
}

impl OsGit {
    /// Uses the `git` on `PATH`.
    pub fn new() -> OsGit {
        OsGit::with_program("git")
    }

    /// Uses `executable`.
    pub fn with_program(executable: impl Into<OsString>) -> OsGit {
        let programs = HostPrograms::default();
        OsGit { executable: executable.into(), programs, longest_ms: None }
    }

    /// Lets `interrupts` end a command, and adds each command to `running`.
    #[must_use]
    pub fn among(self, interrupts: &Interrupts, running: &RunningGroup) -> OsGit {
        OsGit { programs: HostPrograms::new(interrupts, running), ..self }
    }

    /// Bounds the time of each git command.
    #[must_use]
    pub fn at_most_ms(self, timeout_ms: u64) -> OsGit {
        OsGit { longest_ms: Some(timeout_ms), ..self }
    }

    /// Performs one request. Paths in it are absolute, or relative to the current folder of
    /// the process.
    pub fn perform(&mut self, request: &GitRequest) -> Result<Outcome, Failure> {
        self.drive(Task::new(request.clone(), self.surroundings()))
    }

    /// Returns every branch, tag and remote branch, as a line of an id and a name.
    #[cfg(target_os = "linux")]
    pub(super) fn reference_lines(&self, git_folder: &Path) -> Result<Vec<u8>, Failure> {
        let folder = steps::text_of(git_folder.to_owned());
        self.bytes_of(Task::reference_lines(folder, self.surroundings()))
    }

    /// Returns what the file `HEAD` of a git folder says, wherever the repository keeps its refs.
    #[cfg(target_os = "linux")]
    pub(super) fn head_line(&self, git_folder: &Path) -> Result<Vec<u8>, Failure> {
        let folder = steps::text_of(git_folder.to_owned());
        self.bytes_of(Task::head_line(folder, self.surroundings()))
    }

    #[cfg(target_os = "linux")]
    fn bytes_of(&self, task: Task) -> Result<Vec<u8>, Failure> {
        match self.drive(task)? {
            Outcome::KeptFile { bytes } => Ok(bytes.into()),
            other => panic!("the task ended with {other:?}"),
        }
    }

    fn surroundings(&self) -> Surroundings {
        let env = env::vars_os().filter_map(|(name, value)| {
            let name = name.into_string().ok().filter(|name| Surroundings::needs(name))?;
            let value = if name == "PATH" { real_folders(&value) } else { value };
            Some((name, value.to_string_lossy().into_owned()))
        });
        let cwd = env::current_dir().map(steps::text_of).unwrap_or_default();
        Surroundings { cwd, env: env.collect(), longest_ms: self.longest_ms }
    }

    fn drive(&self, mut task: Task) -> Result<Outcome, Failure> {
        let mut reply = None;
        loop {
            match task.resume(reply.take()) {
                TaskTurn::Step(Step::Run { commands }) => reply = Some(self.run(commands)),
                TaskTurn::Step(step) => reply = Some(steps::perform(step)),
                TaskTurn::End(outcome) => {
                    if outcome.as_ref().is_err_and(Failure::is_interrupted) {
                        // Every command of the request has ended.
                        self.programs.take_interrupt();
                    }
                    return outcome;
                }
            }
        }
    }

    /// Runs commands at once.
    fn run(&self, commands: Vec<GitCommand>) -> Result<StepReply, Failure> {
        let ends: Result<Vec<CommandEnd>, Failure> = thread::scope(|scope| {
            let mut commands = commands.into_iter();
            let first = commands.next();
            let others: Vec<_> =
                commands.map(|command| scope.spawn(|| self.run_one(command))).collect();
            let first = first.map(|command| self.run_one(command));
            let others = others.into_iter().map(|running| {
                running.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
            });
            first.into_iter().chain(others).collect()
        });
        Ok(StepReply::Ended { ends: ends? })
    }

    fn run_one(&self, command: GitCommand) -> Result<CommandEnd, Failure> {
        let GitCommand { timeout_ms, limit_bytes, .. } = command;
        let cwd = steps::path_of(&command.cwd);
        let mut started = Command::new(&self.executable);
        started.current_dir(&cwd).args(command.args);
        // What is set comes last: it replaces what was inherited.
        for name in command.env_remove {
            started.env_remove(name);
        }
        started.envs(command.env);
        let programs = match command.interruptible {
            true => &self.programs,
            false => &self.programs.undisturbed(),
        };
        let bounds = Bounds { timeout_ms, limit_bytes };
        match programs.run(started, &command.stdin, bounds) {
            Ok(HostProgramEnd::Ended { exit, stdout, stderr }) => {
                let (stdout, stderr) = (stdout.into(), stderr.into());
                Ok(CommandEnd::Exited { exit, stdout, stderr })
            }
            Ok(HostProgramEnd::TooLarge) => Ok(CommandEnd::TooLarge),
            Ok(HostProgramEnd::TimedOut(waits_for)) => Ok(CommandEnd::TimedOut { waits_for }),
            Ok(HostProgramEnd::Interrupted(waits_for)) => Ok(CommandEnd::Interrupted { waits_for }),
            Err(HostProgramError::Unstarted(error)) => Err(self.unstarted(&cwd, &error)),
            Err(HostProgramError::Failed(failure)) => Err(failure),
        }
    }

    /// Spawning fails in the same way for a missing folder and a missing program.
    fn unstarted(&self, cwd: &Path, error: &std::io::Error) -> Failure {
        match error.kind() {
            std::io::ErrorKind::NotFound if cwd.is_dir() => {
                let name = self.executable.to_string_lossy();
                let message = format!("the program `{name}` is not installed");
                Failure::new(FailureKind::Unsupported, message)
            }
            _ => failure::of(error, &format!("`{}`", cwd.display())),
        }
    }
}
