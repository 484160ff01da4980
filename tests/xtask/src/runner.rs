//! Runs stages side by side: one compiles while others wait for processes, timers and browsers.
//!
//! Each stage is a process whose output goes to a file, which the runner prints when the stage ends.

use std::fs::File;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::mpsc::{Sender, channel};
use std::thread;
use std::time::{Duration, Instant};

use crate::bounded::{self, Ending};
use crate::command::target_folder;
use crate::stage::{self, Stage};
use crate::summary::{self, Entry, Outcome};
use crate::tally::Tally;

/// Tells stages and tests to run their long rounds.
pub(crate) const LONG_VARIABLE: &str = "ONLOOP_TEST_ALL";
/// Longest time of a stage, and of one with long rounds. One that hangs is named before a whole run has
/// taken too long.
const LONGEST: Duration = Duration::from_secs(60 * 60);
const LONGEST_WITH_ALL: Duration = Duration::from_secs(4 * 60 * 60);
/// Makes this program perform one stage in its own process.
pub(crate) const INNER: &str = "--stage";

/// Whether this process belongs to a run with `--all`.
pub(crate) fn is_long() -> bool {
    std::env::var_os(LONG_VARIABLE).is_some()
}

/// How a run performs its stages.
struct Runner {
    /// A copy of this program: the stage `programs` replaces the original.
    program: PathBuf,
    logs: PathBuf,
    is_long: bool,
    /// A single stage writes to the terminal directly.
    is_live: bool,
}

/// A stage that ended, and what it printed.
type Ended = (Entry, Vec<u8>);

/// Runs these stages, each after those that it needs. A failure stops only the stages that need it.
pub(crate) fn run(stages: &[&'static Stage], is_long: bool) -> Result<Vec<Entry>, String> {
    let logs = target_folder().join("stages");
    let program = logs.join(format!("xtask{}", std::env::consts::EXE_SUFFIX));
    let failed = |error: std::io::Error| format!("{}: {error}", logs.display());
    std::fs::create_dir_all(&logs).map_err(failed)?;
    // Another run may still execute its copy. Removing the name leaves that one alone.
    if program.exists() {
        std::fs::remove_file(&program).map_err(failed)?;
    }
    std::fs::copy(std::env::current_exe().map_err(failed)?, &program).map_err(failed)?;
    let runner = Runner { program, logs, is_long, is_live: stages.len() == 1 };
    let at_once = thread::available_parallelism().map_or(2, usize::from) + 1;
    let mut entries = Vec::new();
    let mut plan = Plan::new(stages);
    let (sender, ended) = channel();
    thread::scope(|scope| {
        loop {
            for stage in plan.next(at_once) {
                if !runner.is_live {
                    let log = runner.log(stage.name);
                    println!("--- {} started; its output goes to {}", stage.name, log.display());
                }
                let (runner, sender) = (&runner, Sender::clone(&sender));
                scope.spawn(move || sender.send(runner.perform(stage)).expect("the loop listens"));
            }
            if plan.running.is_empty() {
                break;
            }
            let (entry, output): Ended = ended.recv().expect("a running stage sends its end");
            print_end(&entry, &output);
            plan.end(entry.name, matches!(entry.outcome, Outcome::Passed));
            entries.push(entry);
        }
    });
    entries.extend(plan.waiting.iter().map(|stage| Entry::skipped(stage.name)));
    entries.sort_by_key(|entry| stages.iter().position(|stage| stage.name == entry.name));
    Ok(entries)
}

impl Runner {
    fn log(&self, name: &str) -> PathBuf {
        self.logs.join(format!("{name}.log"))
    }

    fn perform(&self, stage: &Stage) -> Ended {
        let (started, log) = (Instant::now(), self.log(stage.name));
        let result = self.start(stage.name, &log);
        let elapsed = started.elapsed();
        let output =
            if self.is_live { Vec::new() } else { std::fs::read(&log).unwrap_or_default() };
        let text = String::from_utf8_lossy(&output);
        let counts = text.lines().filter_map(Tally::of_line);
        let tests = counts.fold(Tally::default(), std::ops::Add::add);
        let (outcome, failures) = match result {
            Ok(Ending::Passed) => (Outcome::Passed, Vec::new()),
            Ok(Ending::Failed) => (Outcome::Failed(headline(&text, stage.name)), failures(&text)),
            Ok(Ending::Late) => (Outcome::Failed(hangs(&text, elapsed)), failures(&text)),
            Err(why) => (Outcome::Failed(why), Vec::new()),
        };
        (Entry { name: stage.name, elapsed, tests, outcome, failures }, output)
    }

    fn start(&self, name: &str, log: &Path) -> Result<Ending, String> {
        let failed = |error: std::io::Error| format!("{}: {error}", log.display());
        let mut command = Command::new(&self.program);
        command.args([INNER, name]);
        if self.is_long {
            command.env(LONG_VARIABLE, "1");
        }
        if !self.is_live {
            let file = File::create(log).map_err(failed)?;
            command.stdin(Stdio::null());
            command.stdout(file.try_clone().map_err(failed)?).stderr(file);
            let longest = if self.is_long { LONGEST_WITH_ALL } else { LONGEST };
            return bounded::run(command, longest).map_err(failed);
        }
        let status = command.status().map_err(failed)?;
        Ok(if status.success() { Ending::Passed } else { Ending::Failed })
    }
}

/// What is said of a stage that was ended because it took too long.
fn hangs(output: &str, elapsed: Duration) -> String {
    let last = output.lines().rfind(|line| !line.trim().is_empty()).unwrap_or_default();
    let last: String = last.chars().take(200).collect();
    format!("ended after {}; it printed last: {last}", summary::duration(elapsed))
}

/// Why a stage failed, which it says in its last line.
fn headline(output: &str, name: &str) -> String {
    let last = output.lines().last().unwrap_or_default();
    let why = last.strip_prefix(name).and_then(|rest| rest.strip_prefix(": "));
    why.unwrap_or(last).to_owned()
}

/// The tests that failed, and what ended a test binary before it could count them.
fn failures(output: &str) -> Vec<String> {
    let of_line = |line: &str| {
        let line = line.trim_end();
        let of_rust = line.strip_prefix("test ").and_then(|rest| rest.strip_suffix(" ... FAILED"));
        let of_node = || line.trim_start().strip_prefix("not ok ")?.split_once(" - ");
        let name = of_rust.or_else(|| of_node().map(|(_, name)| name));
        let is_death = ["overflowed its stack", "(signal: ", "error: could not compile"];
        let death = || is_death.iter().any(|part| line.contains(part)).then_some(line.trim_start());
        name.or_else(death).map(str::to_owned)
    };
    output.lines().filter_map(of_line).collect()
}

fn print_end(entry: &Entry, output: &[u8]) {
    if output.is_empty() {
        return;
    }
    println!("\n=== {}", entry.name);
    print!("{}", String::from_utf8_lossy(output));
    let (word, time) = (entry.outcome.word(), summary::duration(entry.elapsed));
    println!("=== {}: {word} after {time}\n", entry.name);
}

/// Which stages may start.
struct Plan {
    waiting: Vec<&'static Stage>,
    running: Vec<&'static Stage>,
    passed: Vec<&'static str>,
    /// Every stage of the run.
    names: Vec<&'static str>,
}

impl Plan {
    fn new(stages: &[&'static Stage]) -> Plan {
        let names = stages.iter().map(|stage| stage.name).collect();
        Plan { waiting: stages.to_vec(), running: Vec::new(), passed: Vec::new(), names }
    }

    /// Takes the stages that start now, so that at most `at_once` run.
    fn next(&mut self, at_once: usize) -> Vec<&'static Stage> {
        let mut starting = Vec::new();
        let mut at = 0;
        while at < self.waiting.len() && self.running.len() < at_once {
            let stage = self.waiting[at];
            if self.may_start(stage) {
                self.running.push(stage);
                starting.push(self.waiting.remove(at));
            } else {
                at += 1;
            }
        }
        starting
    }

    fn may_start(&self, stage: &Stage) -> bool {
        let is_free = !stage.compiles || !self.running.iter().any(|other| other.compiles);
        let needs = stage.needs.iter().map(|need| stage::made_by(need, &self.names));
        is_free && needs.into_iter().all(|need| self.passed.contains(&need))
    }

    fn end(&mut self, name: &'static str, has_passed: bool) {
        self.running.retain(|stage| stage.name != name);
        if has_passed {
            self.passed.push(name);
        }
    }
}

/// Prints how a stage that ran in this process ended; the last line is for the summary.
pub(crate) fn perform_here(stage: &Stage) -> bool {
    let started = Instant::now();
    let result = (stage.run)();
    let time = summary::duration(started.elapsed());
    match result {
        Ok(tests) if tests.passed > 0 => {
            println!("{}: {} tests passed in {time}{}", stage.name, tests.passed, tests.left_out());
            true
        }
        Ok(_) => {
            println!("{}: passed in {time}", stage.name);
            true
        }
        Err(stop) => {
            eprintln!("{}\n{}: {}", stop.why, stage.name, stop.headline());
            false
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plan(names: &[&str]) -> Plan {
        let stages: Vec<&'static Stage> =
            names.iter().map(|name| stage::find(name).expect("a stage")).collect();
        Plan::new(&stages)
    }

    fn started(plan: &mut Plan, at_once: usize) -> Vec<&'static str> {
        plan.next(at_once).iter().map(|stage| stage.name).collect()
    }

    #[test]
    fn stages_start_in_order_after_what_they_need_and_one_of_them_compiles() {
        let mut plan = plan(&["fmt", "programs", "npm-package", "test", "clippy", "npm"]);
        assert_eq!(started(&mut plan, 2), ["fmt", "programs"]);
        plan.end("fmt", true);
        assert_eq!(started(&mut plan, 3), ["npm-package"], "`test` needs `programs`");
        plan.end("programs", true);
        assert_eq!(started(&mut plan, 3), ["test"]);
        plan.end("npm-package", true);
        assert_eq!(started(&mut plan, 3), ["npm"], "`clippy` waits for `test`");
        plan.end("test", false);
        assert_eq!(started(&mut plan, 3), ["clippy"], "a failure stops only what needs it");
    }

    #[test]
    fn the_last_line_says_why_a_stage_failed() {
        let output = "test a ... FAILED\nfailed: cargo test\ntest: failed: cargo test\n";
        assert_eq!(headline(output, "test"), "failed: cargo test");
        assert_eq!(headline("Killed\n", "test"), "Killed");
        assert_eq!(headline("", "test"), "");
    }

    #[test]
    fn what_failed_is_found_in_what_the_test_runners_print() {
        let output = "test a ... ok\ntest b::c ... FAILED\n    not ok 3 - writes a file\nok 4 - d\n\
                      thread 'e' (7) has overflowed its stack\n\
                      \x20 process didn't exit successfully: `it` (signal: 6, SIGABRT)\n";
        let expected = [
            "b::c",
            "writes a file",
            "thread 'e' (7) has overflowed its stack",
            "process didn't exit successfully: `it` (signal: 6, SIGABRT)",
        ];
        assert_eq!(failures(output), expected);
    }

    #[test]
    fn a_stage_does_not_start_where_one_that_it_needs_failed() {
        let mut plan = plan(&["programs", "test"]);
        assert_eq!(started(&mut plan, 3), ["programs"]);
        plan.end("programs", false);
        assert_eq!(started(&mut plan, 3), [""; 0]);
        assert_eq!(plan.waiting.len(), 1);
    }
}
