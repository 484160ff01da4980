//! Starting a confined program, measured against starting the same one unconfined.
//!
//! `cargo bench -p onloop-tests --bench confine` prints what confinement adds, by each mechanism that
//! this machine has: `onloop confine` of an empty program, everything that is looked at before and
//! cleaned up afterwards included, against the same two programs one after the other. Each
//! figure is the median of several rounds in which floor and confined program take turns, so that a
//! busy machine slows both.

mod measured;

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::LazyLock;
use std::time::Duration;

use measured::{difference, median, processor_ticks, time};

static PROGRAM: LazyLock<PathBuf> = LazyLock::new(measured::program);

const ROUNDS: usize = 101;
const GOAL: Duration = Duration::from_millis(15);
/// Checkouts beside the one that is confined to, each of which may have something to hide.
const NEIGHBOURS: usize = 20;

fn main() {
    // `cargo test --benches` only wants to know that it starts.
    if !std::env::args().any(|word| word == "--bench") {
        return;
    }
    LazyLock::force(&PROGRAM);
    // Not below the system's folder for temporary files, all of which is hidden.
    let folder = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).expect("there is a folder");
    let checkout = fill(folder.path());
    for mechanism in ["bubblewrap", "landlock"] {
        match confined(folder.path(), &checkout, mechanism).output() {
            Ok(output) if output.status.success() => compare(folder.path(), &checkout, mechanism),
            Ok(output) => {
                println!("{mechanism}: {}", String::from_utf8_lossy(&output.stderr).trim());
            }
            Err(error) => println!("{mechanism}: {error}"),
        }
    }
}

fn compare(top: &Path, checkout: &Path, mechanism: &str) {
    let (mut floor, mut measured) = (Vec::new(), Vec::new());
    let (mut floor_ticks, mut measured_ticks) = (0, 0);
    for _ in 0..ROUNDS {
        let before = processor_ticks();
        floor.push(time(|| {
            start(onloop(top, checkout, &["--version"]));
            start(in_place(Command::new(EMPTY), top, checkout));
        }));
        let between = processor_ticks();
        measured.push(time(|| start(confined(top, checkout, mechanism))));
        floor_ticks += between - before;
        measured_ticks += processor_ticks() - between;
    }
    let (floor, measured) = (median(floor), median(measured));
    let added = measured.saturating_sub(floor);
    println!(
        "{mechanism}: {measured:?}, unconfined: {floor:?}; {added:?} more (goal: at most {GOAL:?}), \
         {:?} of it of the processor",
        difference(measured_ticks, floor_ticks, ROUNDS)
    );
}

const EMPTY: &str = env!("CARGO_BIN_EXE_empty-program");

fn confined(top: &Path, checkout: &Path, mechanism: &str) -> Command {
    onloop(top, checkout, &["confine", "--with", mechanism, "--", EMPTY])
}

fn onloop(top: &Path, checkout: &Path, words: &[&str]) -> Command {
    let mut command = in_place(Command::new(&*PROGRAM), top, checkout);
    command.args(words);
    command
}

fn in_place(mut command: Command, top: &Path, checkout: &Path) -> Command {
    command.current_dir(checkout).env("HOME", top.join("home"));
    command.env("ONLOOP_STATE_HOME", top.join("state"));
    command
}

fn start(mut command: Command) {
    let status = command.stdin(Stdio::null()).stdout(Stdio::null()).status();
    assert!(status.expect("it is there").success(), "{command:?}");
}

/// A linked worktree of a repository with neighbours, and a home with secrets.
fn fill(top: &Path) -> PathBuf {
    let write = |path: &str| {
        let path = top.join(path);
        std::fs::create_dir_all(path.parent().expect("it is below")).expect("there is room");
        std::fs::write(path, "a\n").expect("there is room");
    };
    for secret in [".ssh/id_ed25519", ".aws/credentials", ".netrc", ".claude/.credentials.json"] {
        write(&format!("home/{secret}"));
    }
    for number in 0..NEIGHBOURS {
        write(&format!("code/neighbour{number}/.env"));
    }
    write("code/repo/a.txt");
    let repository = top.join("code/repo");
    let who = ["-c", "user.name=A", "-c", "user.email=a@example.org"];
    for words in [
        &["init", "--quiet"][..],
        &["add", "--all"],
        &[&who[..], &["commit", "--quiet", "--message", "all"]].concat(),
        &["worktree", "add", "--quiet", "../worktree", "-b", "work"],
    ] {
        let mut git = in_place(Command::new("git"), top, &repository);
        git.args(words);
        start(git);
    }
    top.join("code/worktree")
}
