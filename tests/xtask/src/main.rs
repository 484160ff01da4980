//! `cargo xtask NAME…`: the project's own automation, which `./test` calls.

mod apt;
mod bounded;
mod browser;
mod cargo;
mod command;
mod crates;
mod deny;
mod fleet;
mod hosts;
mod links;
mod npm;
mod pinned;
mod prebuilt;
mod purity;
mod release;
mod runner;
mod site;
mod sizes;
mod sources;
mod stage;
mod summary;
mod tally;
mod vscode;

use std::process::ExitCode;
use std::time::Instant;

use crates::Package;
use stage::Stage;
use summary::Outcome;

/// What the command line asks for.
#[derive(Debug, Default, PartialEq, Eq)]
struct Wish {
    /// Runs the long rounds as well.
    is_long: bool,
    /// Names of stages.
    stages: Vec<&'static str>,
    /// Names of crates.
    crates: Vec<String>,
}

fn main() -> ExitCode {
    if let Err(error) = interrupts_end_it() {
        eprintln!("xtask: {error}");
        return ExitCode::FAILURE;
    }
    let words: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    let done = match words.as_slice() {
        [runner::INNER, name] => {
            return ended(stage::find(name).is_some_and(runner::perform_here));
        }
        ["sim", options @ ..] => read_minutes(options).map(simulate),
        words if words.iter().any(|word| matches!(*word, "help" | "-h" | "--help")) => {
            print!("{}", usage());
            Ok(true)
        }
        words => crates::all().and_then(|packages| read(words, &packages)).and_then(perform),
    };
    match done {
        Ok(is_well) => ended(is_well),
        Err(message) => {
            eprint!("xtask: {message}\n\n{}", usage());
            ExitCode::from(2)
        }
    }
}

fn ended(is_well: bool) -> ExitCode {
    if is_well { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

/// A shell starts a command before `&` with SIGINT ignored, `nohup` one with SIGHUP, and programs
/// inherit that. They do not inherit a handler, so tests that send either work there as well.
#[cfg(unix)]
fn interrupts_end_it() -> std::io::Result<()> {
    let seen = std::sync::Arc::default();
    signal_hook::flag::register(signal_hook::consts::SIGHUP, seen)?;
    let mut interrupts = signal_hook::iterator::Signals::new([signal_hook::consts::SIGINT])?;
    std::thread::spawn(move || {
        if interrupts.forever().next().is_some() {
            bounded::end_all();
            std::process::exit(130);
        }
    });
    Ok(())
}

#[cfg(not(unix))]
fn interrupts_end_it() -> std::io::Result<()> {
    Ok(())
}

fn read(words: &[&str], packages: &[Package]) -> Result<Wish, String> {
    let mut wish = Wish::default();
    for word in words {
        let crates = crates::named(word, packages);
        match stage::find(word) {
            _ if *word == "--all" => wish.is_long = true,
            Some(stage) => wish.stages.push(stage.name),
            None if !crates.is_empty() => wish.crates.extend(crates),
            None => return Err(format!("`{word}` is not a stage, a crate or a folder of crates")),
        }
    }
    Ok(wish)
}

fn read_minutes(options: &[&str]) -> Result<u32, String> {
    let minutes = match options {
        [] => Ok(1),
        ["--minutes", minutes] => minutes.parse(),
        _ => return Err("`sim` takes `--minutes N` and nothing else".to_owned()),
    };
    minutes.map_err(|_| "`--minutes` is followed by a whole number".to_owned())
}

/// Another range of seeds each time; a failure prints the seed that repeats it.
fn simulate(minutes: u32) -> bool {
    let line = format!("run --quiet --package onloop-tests --bin simulate -- --minutes {minutes}");
    let result = cargo::Cargo::new(&line).run();
    result.map_err(|stop| eprintln!("{}", stop.why)).is_ok()
}

/// Runs the crates, then the stages, or everything where nothing is named. Whether all of it passed.
fn perform(wish: Wish) -> Result<bool, String> {
    if !wish.crates.is_empty() {
        if let Err(stop) = crates::check(&wish.crates, wish.is_long) {
            eprintln!("{}", stop.why);
            return Ok(false);
        }
        if wish.stages.is_empty() {
            return Ok(true);
        }
    }
    let named: Vec<&'static Stage> =
        wish.stages.iter().filter_map(|name| stage::find(name)).collect();
    let stages = match named.is_empty() {
        true => stage::whole_run(wish.is_long),
        false => stage::with_needs(&named),
    };
    let started = Instant::now();
    let entries = runner::run(&stages, wish.is_long)?;
    if let [_, _, ..] = entries.as_slice() {
        print!("{}", summary::render(&entries, started.elapsed()));
    }
    Ok(entries.iter().all(|entry| matches!(entry.outcome, Outcome::Passed)))
}

fn usage() -> String {
    let mut text = String::from(
        "usage: ./test [--all] [CRATE|FOLDER|STAGE]…

Without a name it runs all stages, side by side. `--all` leaves no test out.
A crate, or a folder such as `core`, gets its format, lints and tests.

",
    );
    for stage in stage::STAGES {
        let mark = match stage.when {
            stage::When::Always => "",
            stage::When::Long => " (with --all)",
            stage::When::Named => " (by name, or where a named stage needs it)",
        };
        text.push_str(&format!("  {:<12} {}{mark}\n", stage.name, stage.about));
    }
    text.push_str(
        "  sim [--minutes N]  random lives of the simulated machine, for 1 minute by default\n",
    );
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn wish(line: &str) -> Result<Wish, String> {
        let words: Vec<&str> = line.split_whitespace().collect();
        read(&words, &crates::all().expect("the manifests can be read"))
    }

    #[test]
    fn the_command_line_names_stages_and_crates() {
        let stages =
            |stages: &[&'static str]| Ok(Wish { stages: stages.to_vec(), ..Wish::default() });
        assert_eq!(wish(""), stages(&[]));
        assert_eq!(wish("fmt clippy"), stages(&["fmt", "clippy"]));
        assert_eq!(wish("--all").map(|wish| wish.is_long), Ok(true));
        let crates = wish("native/fleet fmt").expect("a folder and a stage");
        assert_eq!((crates.crates, crates.stages), (vec!["onloop-fleet".to_owned()], vec!["fmt"]));
        assert!(wish("core").is_ok_and(|wish| wish.crates.contains(&"onloop-core".to_owned())));
        for refused in ["frmt", "--al", "fmt 5"] {
            assert!(wish(refused).is_err(), "{refused}");
        }
    }

    #[test]
    fn a_simulation_takes_minutes() {
        assert_eq!(read_minutes(&[]), Ok(1));
        assert_eq!(read_minutes(&["--minutes", "5"]), Ok(5));
        for refused in
            [&["5"][..], &["--minutes"], &["--minutes", "-1"], &["--minutes", "5", "fmt"]]
        {
            assert!(read_minutes(refused).is_err(), "{refused:?}");
        }
    }
}
