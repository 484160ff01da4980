//! Processes that end after a while, with everything that they have started.

use std::process::{Child, Command, ExitStatus};
use std::sync::Mutex;
use std::thread;
use std::time::{Duration, Instant};

/// How a process ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Ending {
    Passed,
    Failed,
    /// It took too long and was killed.
    Late,
}

/// How long one look at a process is behind the one before.
const PAUSE: Duration = Duration::from_millis(50);

/// The process groups that are under way.
static GROUPS: Mutex<Vec<u32>> = Mutex::new(Vec::new());

/// Runs a command in a process group of its own, for `longest` at most.
pub(crate) fn run(mut command: Command, longest: Duration) -> std::io::Result<Ending> {
    #[cfg(unix)]
    std::os::unix::process::CommandExt::process_group(&mut command, 0);
    let mut child = command.spawn()?;
    groups().push(child.id());
    let ended = wait(&mut child, longest);
    groups().retain(|group| *group != child.id());
    Ok(match ended? {
        None => Ending::Late,
        Some(status) if status.success() => Ending::Passed,
        Some(_) => Ending::Failed,
    })
}

/// Kills everything that is under way: an interrupt at the terminal does not reach other groups.
pub(crate) fn end_all() {
    groups().iter().for_each(|group| end(*group));
}

fn groups() -> std::sync::MutexGuard<'static, Vec<u32>> {
    GROUPS.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
}

fn wait(child: &mut Child, longest: Duration) -> std::io::Result<Option<ExitStatus>> {
    let until = Instant::now() + longest;
    loop {
        if let Some(status) = child.try_wait()? {
            return Ok(Some(status));
        }
        if Instant::now() >= until {
            end(child.id());
            let _ = child.kill();
            child.wait()?;
            return Ok(None);
        }
        thread::sleep(PAUSE);
    }
}

/// The shell has `kill` where no program of that name is installed.
fn end(group: u32) {
    let line = format!("kill -KILL -{group}");
    let _ = Command::new("sh").args(["-c", &line]).status();
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    fn shell(script: &str) -> Command {
        let mut command = Command::new("sh");
        command.args(["-c", script]);
        command
    }

    #[test]
    fn what_takes_too_long_is_ended_with_all_that_it_started() {
        let began = Instant::now();
        assert_eq!(run(shell("exit 0"), Duration::from_secs(60)).unwrap(), Ending::Passed);
        assert_eq!(run(shell("exit 3"), Duration::from_secs(60)).unwrap(), Ending::Failed);
        let mut command = shell("sleep 600 & echo $!; wait");
        let (mut reader, writer) = std::io::pipe().unwrap();
        command.stdout(writer);
        assert_eq!(run(command, Duration::from_millis(300)).unwrap(), Ending::Late);
        // The pipe ends with the last process that has it.
        let mut said = String::new();
        std::io::Read::read_to_string(&mut reader, &mut said).unwrap();
        assert!(said.trim().parse::<u32>().is_ok(), "{said}");
        assert!(began.elapsed() < Duration::from_secs(300));
        assert!(groups().is_empty());
    }
}
