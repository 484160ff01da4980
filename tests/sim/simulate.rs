//! Lives random lives: `simulate [--minutes N | --lives N] [--seed FIRST] [--threads N]`, for one
//! minute unless said. With a seed and nothing else, lives that one.

use std::cell::Cell;
use std::process::ExitCode;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use onloop_tests::model::live;

fn main() -> ExitCode {
    let words: Vec<String> = std::env::args().skip(1).collect();
    match read(&words) {
        Some(wish) => simulate(&wish),
        None => {
            eprintln!(
                "usage: simulate [--minutes N | --lives N] [--seed FIRST] [--threads N]\n\
                 lives on every processor for one minute, or one life if only a seed is said"
            );
            ExitCode::from(2)
        }
    }
}

/// What the caller wants.
struct Wish {
    first: u64,
    until: Until,
    threads: usize,
}

/// When it is enough.
#[derive(Clone, Copy)]
enum Until {
    Elapsed(Duration),
    Lived(u64),
}

fn read(words: &[String]) -> Option<Wish> {
    let (mut minutes, mut lives, mut seed, mut threads) = (None, None, None, None);
    for pair in words.chunks(2) {
        let [name, value] = pair else { return None };
        let value: u64 = value.parse().ok()?;
        match name.as_str() {
            "--minutes" => minutes = Some(value),
            "--lives" => lives = Some(value),
            "--seed" => seed = Some(value),
            "--threads" => threads = Some(usize::try_from(value).ok()?),
            _ => return None,
        }
    }
    let until = match (minutes, lives, seed) {
        (Some(_), Some(_), _) => return None,
        (Some(minutes), None, _) => Until::Elapsed(Duration::from_secs(minutes.checked_mul(60)?)),
        (None, Some(lives), _) => Until::Lived(lives),
        (None, None, Some(_)) => Until::Lived(1),
        (None, None, None) => Until::Elapsed(Duration::from_secs(60)),
    };
    // Another range each time; the seed of a failure is what repeats it.
    let now = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs());
    let processors = || thread::available_parallelism().map_or(1, usize::from);
    Some(Wish {
        first: seed.unwrap_or(now * 1_000_000),
        until,
        threads: threads.unwrap_or_else(processors).max(1),
    })
}

thread_local! {
    /// The life that this thread lives now.
    static SEED: Cell<u64> = const { Cell::new(0) };
}

/// One thread has found what must not be; the others stop.
static FAILED: AtomicBool = AtomicBool::new(false);

/// What came of the lives of one thread.
#[derive(Default)]
struct Tally {
    lives: u64,
    programs: u64,
    cuts: u64,
    kills: u64,
}

/// Where the threads get their seeds from. One after the other, so that the same number of lives
/// from the same seed are the same lives on any number of threads.
struct Seeds {
    first: u64,
    until: Until,
    started: Instant,
    taken: AtomicU64,
}

impl Seeds {
    fn next(&self) -> Option<u64> {
        let number = self.taken.fetch_add(1, Ordering::Relaxed);
        let enough = match self.until {
            Until::Elapsed(time) => number > 0 && self.started.elapsed() >= time,
            Until::Lived(lives) => number >= lives,
        };
        let goes_on = !enough && !FAILED.load(Ordering::Relaxed);
        goes_on.then(|| self.first.wrapping_add(number))
    }
}

fn simulate(wish: &Wish) -> ExitCode {
    // In a release build a panic ends the program at once.
    let usual = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |panic| {
        failed(SEED.get(), || usual(panic));
    }));
    let seeds = Seeds {
        first: wish.first,
        until: wish.until,
        started: Instant::now(),
        taken: AtomicU64::new(0),
    };
    let tallies: Vec<Option<Tally>> = thread::scope(|scope| {
        let threads: Vec<_> = (0..wish.threads).map(|_| scope.spawn(|| lives(&seeds))).collect();
        threads.into_iter().map(|thread| thread.join().ok().flatten()).collect()
    });
    let mut all = Tally::default();
    for tally in tallies {
        let Some(tally) = tally else { return ExitCode::FAILURE };
        all.lives += tally.lives;
        all.programs += tally.programs;
        all.cuts += tally.cuts;
        all.kills += tally.kills;
    }
    let (Tally { lives, programs, cuts, kills }, first) = (all, wish.first);
    println!(
        "{lives} lives from seed {first}: {programs} programs, {cuts} power cuts, {kills} kills, \
         all well"
    );
    ExitCode::SUCCESS
}

/// The lives of one thread; `None`: one of them was not as it must be, which was said.
fn lives(seeds: &Seeds) -> Option<Tally> {
    let mut tally = Tally::default();
    while let Some(seed) = seeds.next() {
        SEED.set(seed);
        match live(seed) {
            Ok(trace) => {
                tally.lives += 1;
                tally.programs += u64::from(trace.programs);
                tally.cuts += u64::from(trace.power_cuts);
                tally.kills += u64::from(trace.kills);
            }
            Err(why) => {
                failed(seed, || eprintln!("{why}"));
                return None;
            }
        }
    }
    Some(tally)
}

/// Says what was wrong with a life, in one piece even if others fail at the same time.
fn failed(seed: u64, say: impl FnOnce()) {
    FAILED.store(true, Ordering::Relaxed);
    let _whole = std::io::stderr().lock();
    say();
    eprintln!("live it again: simulate --seed {seed}");
}
