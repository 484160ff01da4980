//! `cargo xtask STAGE…`: the project's own automation.
//!
//! `cargo xtask ci` is the whole of it and what `./test` runs; every stage also runs alone.

mod apt;
mod browser;
mod cargo;
mod command;
mod deny;
mod fleet;
mod hosts;
mod links;
mod npm;
mod pinned;
mod purity;
mod release;
mod site;
mod sizes;
mod sources;
mod stage;
mod summary;
mod tally;
mod vscode;

use std::process::ExitCode;
use std::time::Instant;

use stage::Stage;
use summary::{Entry, Outcome};

/// What the command line asks for.
#[derive(Debug, PartialEq, Eq)]
enum Wish {
    /// These stages, in this order.
    Run(Vec<&'static str>),
    /// Random lives of the simulated machine, for so long.
    Simulate {
        /// Whole minutes.
        minutes: u32,
    },
    /// The list of stages.
    Help,
}

fn main() -> ExitCode {
    let words: Vec<String> = std::env::args().skip(1).collect();
    match read(&words) {
        Ok(Wish::Help) => {
            print!("{}", usage());
            ExitCode::SUCCESS
        }
        Ok(Wish::Run(names)) => perform(&names),
        Ok(Wish::Simulate { minutes }) => simulate(minutes),
        Err(message) => {
            eprint!("xtask: {message}\n\n{}", usage());
            ExitCode::from(2)
        }
    }
}

fn read(words: &[String]) -> Result<Wish, String> {
    if words.is_empty() {
        return Err("no stage named".to_owned());
    }
    if let Some(("sim", options)) = words.split_first().map(|(first, rest)| (first.as_str(), rest))
    {
        return read_simulation(options);
    }
    let mut names = Vec::new();
    for word in words {
        match word.as_str() {
            "help" | "-h" | "--help" => return Ok(Wish::Help),
            "ci" => names.extend(stage::CI.iter().map(|stage| stage.name)),
            name => match stage::find(name) {
                Some(stage) => names.push(stage.name),
                None => return Err(format!("`{name}` is not a stage")),
            },
        }
    }
    Ok(Wish::Run(names))
}

fn read_simulation(options: &[String]) -> Result<Wish, String> {
    let minutes = match options {
        [] => Ok(1),
        [name, minutes] if name == "--minutes" => minutes.parse(),
        _ => return Err("`sim` takes `--minutes N` and nothing else".to_owned()),
    };
    let minutes = minutes.map_err(|_| "`--minutes` is followed by a whole number".to_owned())?;
    Ok(Wish::Simulate { minutes })
}

/// Another range of seeds each time; a failure prints the seed that repeats it.
fn simulate(minutes: u32) -> ExitCode {
    let line = format!("run --quiet --package onloop-tests --bin simulate -- --minutes {minutes}");
    match cargo::Cargo::new(&line).run() {
        Ok(_) => ExitCode::SUCCESS,
        Err(stop) => {
            eprintln!("{}", stop.why);
            ExitCode::FAILURE
        }
    }
}

/// Runs stages up to the first that fails; the summary names those that were not run.
fn perform(names: &[&'static str]) -> ExitCode {
    let mut entries = Vec::new();
    let mut failed = false;
    for name in names {
        let stage = stage::find(name).expect("names come from the table");
        let entry = if failed { Entry::skipped(stage.name) } else { perform_one(stage) };
        failed |= matches!(entry.outcome, Outcome::Failed(_));
        entries.push(entry);
    }
    print!("{}", summary::render(&entries));
    if failed { ExitCode::FAILURE } else { ExitCode::SUCCESS }
}

fn perform_one(stage: &Stage) -> Entry {
    println!("\n=== {}: {}", stage.name, stage.about);
    let started = Instant::now();
    let result = (stage.run)();
    let elapsed = started.elapsed();
    let entry = match result {
        Ok(tests) => Entry { name: stage.name, elapsed, tests, outcome: Outcome::Passed },
        Err(stop) => {
            eprintln!("{}", stop.why);
            let outcome = Outcome::Failed(stop.headline());
            Entry { name: stage.name, elapsed, tests: stop.tests, outcome }
        }
    };
    println!("=== {}: {} after {}", stage.name, entry.outcome.word(), summary::duration(elapsed));
    entry
}

fn usage() -> String {
    let mut text = String::from(
        "usage: cargo xtask STAGE…\n\n  ci           every stage below, up to the first that fails\n",
    );
    for stage in stage::CI.iter().chain(stage::ON_DEMAND) {
        text.push_str(&format!("  {:<12} {}\n", stage.name, stage.about));
    }
    text.push_str(
        "  sim [--minutes N]  random lives of the simulated machine, 1 minute unless said\n",
    );
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(line: &str) -> Vec<String> {
        line.split_whitespace().map(str::to_owned).collect()
    }

    #[test]
    fn the_command_line_names_stages() {
        assert_eq!(read(&words("fmt clippy")), Ok(Wish::Run(vec!["fmt", "clippy"])));
        assert_eq!(read(&words("generate")), Ok(Wish::Run(vec!["generate"])));
        assert_eq!(read(&words("fmt --help")), Ok(Wish::Help));
        assert_eq!(read(&words("frmt")), Err("`frmt` is not a stage".to_owned()));
        assert_eq!(read(&words("sim")), Ok(Wish::Simulate { minutes: 1 }));
        assert_eq!(read(&words("sim --minutes 5")), Ok(Wish::Simulate { minutes: 5 }));
        for refused in ["sim 5", "sim --minutes", "sim --minutes -1", "sim --minutes 5 fmt"] {
            assert!(read(&words(refused)).is_err(), "{refused}");
        }
        assert_eq!(read(&[]), Err("no stage named".to_owned()));
    }

    #[test]
    fn ci_is_every_stage_once_and_writes_nothing() {
        let Ok(Wish::Run(mut names)) = read(&words("ci")) else { panic!("`ci` is a wish") };
        assert!(!names.contains(&"generate"), "a check must not change what it checks");
        let count = names.len();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), count);
    }
}
