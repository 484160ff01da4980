//! Runs cargo and listens to what its tests say.

use std::io::{BufRead, BufReader, Write};
use std::process::{Command, Stdio};

use crate::stage::Stop;
use crate::tally::Tally;
use crate::{runner, sources};

/// One cargo command, run in the root of the workspace.
#[derive(Debug)]
pub(crate) struct Cargo {
    arguments: Vec<String>,
    environment: Vec<(&'static str, String)>,
}

impl Cargo {
    /// A command whose arguments are the words of `line`.
    pub(crate) fn new(line: &str) -> Cargo {
        Cargo { arguments: Vec::new(), environment: Vec::new() }.args(line)
    }

    /// Adds the words of `line` as arguments.
    pub(crate) fn args(mut self, line: &str) -> Cargo {
        self.arguments.extend(line.split_whitespace().map(str::to_owned));
        self
    }

    /// Adds one argument.
    pub(crate) fn arg(mut self, argument: &str) -> Cargo {
        self.arguments.push(argument.to_owned());
        self
    }

    /// Sets an environment variable.
    pub(crate) fn env(mut self, name: &'static str, value: &str) -> Cargo {
        self.environment.push((name, value.to_owned()));
        self
    }

    /// Runs it in plain view.
    pub(crate) fn run(self) -> Result<Tally, Stop> {
        let status = self.command().status().map_err(|error| self.not_started(&error))?;
        if status.success() { Ok(Tally::default()) } else { Err(self.failed().into()) }
    }

    /// Runs its tests in plain view and counts them: also those that say `ignore`, where `is_long`.
    pub(crate) fn tests(self, is_long: bool) -> Result<Tally, Stop> {
        let cargo = match is_long {
            true => self.env(runner::LONG_VARIABLE, "1").args("-- --include-ignored"),
            false => self,
        };
        Ok(cargo.counted()?.judged(is_long)?)
    }

    fn counted(self) -> Result<Tally, Stop> {
        let mut child = self
            .command()
            .stdout(Stdio::piped())
            .spawn()
            .map_err(|error| self.not_started(&error))?;
        let output = child.stdout.take().expect("the output is piped");
        let tests = pass_on(output).map_err(|error| format!("{}: {error}", self.shown()))?;
        let status = child.wait().map_err(|error| self.not_started(&error))?;
        if status.success() { Ok(tests) } else { Err(self.failed().into()) }
    }

    /// Runs it silently and returns what it prints.
    pub(crate) fn output(self) -> Result<String, Stop> {
        let output = self
            .command()
            .stdin(Stdio::null())
            .stderr(Stdio::inherit())
            .output()
            .map_err(|error| self.not_started(&error))?;
        if !output.status.success() {
            return Err(self.failed().into());
        }
        String::from_utf8(output.stdout)
            .map_err(|error| format!("{}: output is not UTF-8: {error}", self.shown()).into())
    }

    fn command(&self) -> Command {
        // Set by the cargo that runs us, so that both are the same version.
        let mut command = Command::new(std::env::var_os("CARGO").unwrap_or("cargo".into()));
        command.args(&self.arguments).current_dir(sources::workspace_root());
        command.envs(self.environment.iter().map(|(name, value)| (name, value)));
        println!("$ {}", self.shown());
        command
    }

    fn shown(&self) -> String {
        let mut words: Vec<String> =
            self.environment.iter().map(|(name, value)| format!("{name}='{value}'")).collect();
        words.push("cargo".to_owned());
        words.extend(self.arguments.iter().cloned());
        words.join(" ")
    }

    fn failed(&self) -> String {
        format!("failed: {}", self.shown())
    }

    fn not_started(&self, error: &std::io::Error) -> String {
        format!("could not run {}: {error}", self.shown())
    }
}

/// Copies a test runner's output to ours as it comes and counts what it reports.
pub(crate) fn pass_on(output: impl std::io::Read) -> std::io::Result<Tally> {
    let mut tests = Tally::default();
    let mut reader = BufReader::new(output);
    let mut line = Vec::new();
    while reader.read_until(b'\n', &mut line)? > 0 {
        let mut stdout = std::io::stdout().lock();
        stdout.write_all(&line)?;
        stdout.flush()?;
        tests = tests + Tally::of_line(&String::from_utf8_lossy(&line)).unwrap_or_default();
        line.clear();
    }
    Ok(tests)
}
