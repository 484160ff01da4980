//! Starting a confined program, measured against starting the same one unconfined.
//!
//! `cargo bench -p onloop-tests --bench confine` prints what confinement adds to each process of a run,
//! and, by each mechanism that this machine has, to `onloop confine` of an empty program, which tries
//! the mechanism first, against the same two programs one after the other. Everything that is looked
//! at before and cleaned up afterwards is included. Each figure is the median of several rounds in
//! which floor and confined program take turns, so that a busy machine slows both.

mod measured;

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::LazyLock;
use std::time::Duration;

use measured::{assert_near_goal, difference, median, processor_ticks, time};

static PROGRAM: LazyLock<PathBuf> = LazyLock::new(measured::program);

const ROUNDS: usize = 101;
/// Runs that are compared, and the checks in each; its agent is one process more.
const RUNS: usize = 9;
const CHECKS: u32 = 40;
const GOAL: Duration = Duration::from_millis(15);
/// Checkouts beside the one that is confined to, each of which has a file to hide.
const NEIGHBOURS: [usize; 2] = [0, 20];

fn main() {
    LazyLock::force(&PROGRAM);
    for neighbours in NEIGHBOURS {
        // Not below the system's folder for temporary files, all of which is hidden.
        let folder = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).expect("there is a folder");
        let checkout = fill(folder.path(), neighbours);
        println!("{neighbours} checkouts beside it, each with a `.env`:");
        processes_of_a_run(folder.path(), &checkout);
        for mechanism in ["bubblewrap", "landlock"] {
            match confined(folder.path(), &checkout, mechanism).output() {
                Ok(output) if output.status.success() => {
                    compare(folder.path(), &checkout, mechanism);
                }
                Ok(output) => {
                    println!("  {mechanism}: {}", String::from_utf8_lossy(&output.stderr).trim());
                }
                Err(error) => println!("  {mechanism}: {error}"),
            }
        }
    }
}

/// What a process of a run takes longer where it is confined.
fn processes_of_a_run(top: &Path, checkout: &Path) {
    const FRONT: &str = "intent: Try\nsuccess_criteria: It works\nrisk_level: low\n";
    let checks = "  - type: shell\n    command: 'true'\n".repeat(CHECKS as usize);
    let workflow = format!(
        "---\n{FRONT}dirty_worktree: allow\n---\n\n- [ ] **Step 1: Go**\naction: Go.\nloop: false\n\
         verify:\n{checks}\n```bash\ntrue\n```\n"
    );
    let file = checkout.join("hotl-workflow-try.md");
    let words = ["--fresh", "--mode", "none", "--no-reverify", "--agent", "script", "--confine"];
    let mut times = [Vec::new(), Vec::new()];
    let mut ticks = [0, 0];
    for _ in 0..RUNS {
        for (at, confine) in ["off", "on"].into_iter().enumerate() {
            // What a run ticks in it is another file for the next one.
            std::fs::write(&file, &workflow).expect("the folder is writable");
            let before = processor_ticks();
            let run = [&["run", "hotl-workflow-try.md"], &words[..], &[confine]].concat();
            times[at].push(time(|| start(onloop(top, checkout, &run))));
            ticks[at] += processor_ticks() - before;
        }
    }
    let [off, on] = times.map(median);
    let added = on.saturating_sub(off) / (CHECKS + 1);
    let processes = RUNS * (CHECKS as usize + 1);
    println!(
        "  a process of a run: {added:?} more (goal: at most {GOAL:?}), {:?} of it of the processor",
        difference(ticks[1], ticks[0], processes)
    );
    assert_near_goal("seconds of a confined process", added.as_secs_f64(), GOAL.as_secs_f64());
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
        "  onloop confine --with {mechanism}: {measured:?}, unconfined: {floor:?}; {added:?} more, {:?} \
         of it of the processor",
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
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    let status = command.status();
    assert!(status.expect("it is there").success(), "{command:?}");
}

/// A linked worktree of a repository with neighbours, and a home with secrets.
fn fill(top: &Path, neighbours: usize) -> PathBuf {
    let write = |path: &str| {
        let path = top.join(path);
        std::fs::create_dir_all(path.parent().expect("it is below")).expect("there is room");
        std::fs::write(path, "a\n").expect("there is room");
    };
    for secret in [".ssh/id_ed25519", ".aws/credentials", ".netrc", ".claude/.credentials.json"] {
        write(&format!("home/{secret}"));
    }
    for number in 0..neighbours {
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
