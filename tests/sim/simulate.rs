//! Lives random lives for a given time: `simulate [--minutes N] [--seed FIRST]`. With a seed
//! and no time, lives that one.

use std::process::ExitCode;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use onloop_tests::model::live;

fn main() -> ExitCode {
    let words: Vec<String> = std::env::args().skip(1).collect();
    match read(&words) {
        Some((time, first)) => simulate(time, first),
        None => {
            eprintln!("usage: simulate [--minutes N] [--seed FIRST]");
            ExitCode::from(2)
        }
    }
}

fn read(words: &[String]) -> Option<(Duration, u64)> {
    let (mut minutes, mut seed) = (None, None);
    for pair in words.chunks(2) {
        let [name, value] = pair else { return None };
        match name.as_str() {
            "--minutes" => minutes = Some(value.parse::<u64>().ok()?),
            "--seed" => seed = Some(value.parse::<u64>().ok()?),
            _ => return None,
        }
    }
    let time = match (minutes, seed) {
        (Some(minutes), _) => Duration::from_secs(minutes * 60),
        (None, Some(_)) => Duration::ZERO,
        (None, None) => Duration::from_secs(60),
    };
    // Another range each time; the seed of a failure is what repeats it.
    let now = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs());
    Some((time, seed.unwrap_or(now * 1000)))
}

/// The life that is lived now.
static SEED: AtomicU64 = AtomicU64::new(0);

fn simulate(time: Duration, first: u64) -> ExitCode {
    // In a release build a panic ends the program at once.
    let usual = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |panic| {
        usual(panic);
        eprintln!("live it again: simulate --seed {}", SEED.load(Ordering::Relaxed));
    }));
    let started = Instant::now();
    let (mut seed, mut programs, mut cuts, mut kills) = (first, 0, 0, 0);
    loop {
        SEED.store(seed, Ordering::Relaxed);
        match live(seed) {
            Ok(trace) => {
                programs += u64::from(trace.programs);
                cuts += u64::from(trace.power_cuts);
                kills += u64::from(trace.kills);
            }
            Err(why) => {
                eprintln!("{why}\nlive it again: simulate --seed {seed}");
                return ExitCode::FAILURE;
            }
        }
        seed += 1;
        if started.elapsed() >= time {
            break;
        }
    }
    let lives = seed - first;
    println!(
        "{lives} lives from seed {first}: {programs} programs, {cuts} power cuts, {kills} kills, \
         all well"
    );
    ExitCode::SUCCESS
}
