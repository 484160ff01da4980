//! The `onloop-fleet` program.

use std::ffi::OsString;
use std::path::Path;
use std::process::{Command, ExitCode};

fn main() -> ExitCode {
    let args: Vec<OsString> = std::env::args_os().collect();
    match args.get(1).and_then(|verb| verb.to_str()) {
        Some("guard") => guard(&args[2..]),
        Some("leash") => leash(&args[2..]),
        Some("conduct") if args.len() == 3 => onloop_fleet::conduct::conduct(Path::new(&args[2])),
        Some("worker") => worker(&args[1..]),
        _ => {
            let words: Vec<String> =
                args.iter().map(|word| word.to_string_lossy().into_owned()).collect();
            match onloop_fleet::submit::is_meant(&words) {
                true => onloop_fleet::submit::submit(&words),
                false => onloop_fleet::person::onloop(),
            }
        }
    }
}

fn guard(args: &[OsString]) -> ExitCode {
    let parent = args.first().and_then(|pid| pid.to_str()?.parse().ok());
    let error = onloop_fleet::guard::become_guarded(parent.unwrap_or(0), &args[1..]);
    eprintln!("error: {error}");
    ExitCode::from(4)
}

fn leash(args: &[OsString]) -> ExitCode {
    let lasts_ms = args.first().and_then(|ms| ms.to_str()?.parse().ok());
    let (Some(lasts_ms), Some((program, rest))) = (lasts_ms, args[1..].split_first()) else {
        return ExitCode::from(2);
    };
    let mut driver = Command::new(program);
    driver.args(rest);
    match onloop_fleet::leash::watch(driver, lasts_ms) {
        Ok(code) => ExitCode::from(code),
        Err(error) => {
            eprintln!("error: {}: {error}", Path::new(program).display());
            ExitCode::from(4)
        }
    }
}

fn worker(args: &[OsString]) -> ExitCode {
    use clap::Parser;
    #[derive(Parser)]
    struct Line { #[command(flatten)] args: onloop_fleet::worker::WorkerArgs }
    match Line::try_parse_from(args) {
        Ok(line) => onloop_fleet::worker::worker(&line.args),
        Err(error) => { let _ = error.print(); ExitCode::from(2) }
    }
}
