//! The whole program, measured against a floor in the same run: what the machine needs for
//! the processes and the durable writes that the work cannot do without.
//!
//! `cargo bench -p onloop-tests --bench program` prints ratios and differences; absolute
//! numbers say more about the machine. Each figure is the median of several rounds in which
//! floor and program take turns, so that a busy machine slows both.

mod measured;

use std::fs::File;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::LazyLock;
use std::time::Duration;

use measured::{assert_near_goal, median, ratio, time};

static PROGRAM: LazyLock<PathBuf> = LazyLock::new(measured::program);
static EMPTY: LazyLock<PathBuf> = LazyLock::new(measured::empty_program);

/// Rounds of everything that is short.
const ROUNDS: usize = 41;
/// Goals; see `docs/testing-reference.md`.
const LINT_RATIO: f64 = 3.0;
const STEP_START_RATIO: f64 = 1.3;
const STEP_START_GROWTH: f64 = 1.3;
const STEP_OVERHEAD: Duration = Duration::from_millis(2);
const CYCLE_OVERHEAD: Duration = Duration::from_millis(3);
const MEMORY_KIB: u64 = 20 * 1024;

fn main() {
    LazyLock::force(&PROGRAM);
    LazyLock::force(&EMPTY);
    lint();
    let (few, many) = (step_start(5), step_start(500));
    let growth = ratio(many, few);
    println!(
        "growth of `step start` from few steps to many: {growth:.2} (goal: at most {STEP_START_GROWTH})"
    );
    assert_near_goal("growth of `step start`", growth, STEP_START_GROWTH);
    cycles(20);
    memory(500);
    // Last, because the disk is busy for a while afterwards.
    let mut per_step = Vec::new();
    for (steps, rounds) in [(50, 5), (500, 3), (5_000, 1)] {
        per_step.push((steps, overhead(steps, rounds)));
    }
    let (first, last) = (per_step[0].1, per_step[per_step.len() - 1].1);
    let growth = ratio(last, first);
    println!("growth of the overhead from the shortest run to the longest: {growth:.2}");
}

/// `onloop lint` of a file with 50 steps, in empty programs.
fn lint() {
    let folder = tempfile::tempdir().expect("there is a temporary folder");
    let file = workflow(folder.path(), 50, "make check");
    let (mut floor, mut program) = (Vec::new(), Vec::new());
    for _ in 0..ROUNDS {
        floor.push(time(|| start(Command::new(&*EMPTY))));
        program.push(time(|| start(onloop(folder.path(), &["lint", &file]))));
    }
    let (floor, program) = (median(floor), median(program));
    let ratio = ratio(program, floor);
    println!(
        "lint of 50 steps: {program:?}, an empty program: {floor:?}; ratio {ratio:.2} (goal: at most \
         {LINT_RATIO})"
    );
    assert_near_goal("lint of 50 steps, in empty programs", ratio, LINT_RATIO);
}

/// What `onloop run` adds to each step beyond two shells and a durable write of a small file.
fn overhead(steps: u32, rounds: usize) -> Duration {
    let mut beyond = Vec::new();
    let mut floors = Vec::new();
    for _ in 0..rounds {
        let floor = floor_of_a_step(100);
        let folder = tempfile::tempdir().expect("there is a temporary folder");
        let file = workflow(folder.path(), steps, "true");
        let run = ["run", "--mode", "none", "--no-reverify", "--agent", "script", &file];
        let whole = time(|| start(onloop(folder.path(), &run)));
        beyond.push((whole / steps).saturating_sub(floor));
        floors.push(floor);
    }
    let (beyond, floor) = (median(beyond), median(floors));
    println!(
        "run of {steps} steps: {beyond:?} a step beyond a floor of {floor:?} (goal: at most \
         {STEP_OVERHEAD:?})"
    );
    let goal = STEP_OVERHEAD.as_secs_f64();
    assert_near_goal("seconds of a step beyond its floor", beyond.as_secs_f64(), goal);
    beyond
}

/// `onloop step 2 start`, in empty programs that make one line durable.
fn step_start(steps: u32) -> Duration {
    let folder = tempfile::tempdir().expect("there is a temporary folder");
    let file = workflow(folder.path(), steps, "true");
    start(onloop(folder.path(), &["init", &file]));
    for verb in ["start", "verify"] {
        start(onloop(folder.path(), &["step", "1", verb]));
    }
    let begun = files_below(folder.path());
    let (mut floor, mut program) = (Vec::new(), Vec::new());
    for _ in 0..ROUNDS {
        let line = [b'x'; 400];
        floor.push(time(|| {
            start(Command::new(&*EMPTY));
            append_durably(&folder.path().join("floor"), &line);
        }));
        program.push(time(|| start(onloop(folder.path(), &["step", "2", "start"]))));
        for (path, bytes) in &begun {
            put_back(path, bytes);
        }
    }
    let (floor, program) = (median(floor), median(program));
    let ratio = ratio(program, floor);
    println!(
        "`step start` of {steps} steps: {program:?}, an empty program and a durable append: \
         {floor:?}; ratio {ratio:.2} (goal: at most {STEP_START_RATIO})"
    );
    assert_near_goal("`step start`, in empty programs", ratio, STEP_START_RATIO);
    program
}

/// Makes a file what it was, durably: the append that is measured must not have to write out what
/// was put back here.
fn put_back(path: &Path, bytes: &[u8]) {
    if std::fs::read(path).is_ok_and(|now| now == bytes) {
        return;
    }
    let mut file = File::create(path).expect("the folder is writable");
    file.write_all(bytes).and_then(|()| file.sync_all()).expect("the disk works");
}

/// Every file below a folder, and what is in it.
fn files_below(folder: &Path) -> Vec<(PathBuf, Vec<u8>)> {
    let mut files = Vec::new();
    for entry in std::fs::read_dir(folder).expect("the folder is readable") {
        let path = entry.expect("it is readable").path();
        if path.is_dir() {
            files.extend(files_below(&path));
        } else {
            let bytes = std::fs::read(&path).expect("the folder is readable");
            files.push((path, bytes));
        }
    }
    files
}

/// Two starts of a shell, and what is known afterwards made durable.
fn floor_of_a_step(count: u32) -> Duration {
    let folder = tempfile::tempdir().expect("there is a temporary folder");
    let record = folder.path().join("record");
    let whole = time(|| {
        for _ in 0..count {
            for shell in ["sh", "bash"] {
                let mut command = Command::new(shell);
                command.args(["-c", "true"]).current_dir(folder.path());
                start(command);
            }
            append_durably(&record, &[b'x'; 400]);
        }
    });
    whole / count
}

fn append_durably(path: &Path, line: &[u8]) {
    let mut file = File::options().create(true).append(true).open(path).expect("it is writable");
    file.write_all(line).and_then(|()| file.sync_data()).expect("the disk works");
}

/// What `onloop auto` adds to each cycle beyond the shell that plays the child.
fn cycles(count: u32) {
    const CHILD: &str = "cat > /dev/null; echo NEXT_COMMAND=rw-loop";
    let folder = tempfile::tempdir().expect("there is a temporary folder");
    let put = |name: &str, text: &str| {
        let path = folder.path().join(name);
        std::fs::create_dir_all(path.parent().expect("it is in a folder"))
            .and_then(|()| std::fs::write(path, text))
            .expect("the folder is writable");
    };
    put(".ai/CONTEXT.md", "# Context\n");
    put(".ai/PROGRESS.md", "## Task Status\n| TASK-01 | x | pending | - |\n");
    let bound = format!("--max-cycles={count}");
    let (mut floor, mut program) = (Vec::new(), Vec::new());
    for _ in 0..5 {
        floor.push(time(|| {
            for _ in 0..count {
                let mut child = Command::new("sh");
                child.args(["-c", CHILD]).current_dir(folder.path());
                child.stdin(Stdio::null()).stdout(Stdio::null());
                start(child);
            }
        }));
        let auto = ["auto", "--agent-command", CHILD, &bound];
        program.push(time(|| {
            let ended = onloop(folder.path(), &auto).status().expect("the program is there");
            assert!(ended.code().is_some(), "it was not killed");
        }));
    }
    let beyond = median(program).saturating_sub(median(floor)) / count;
    println!(
        "rw-auto of {count} cycles: {beyond:?} a cycle beyond its children (goal: at most \
         {CYCLE_OVERHEAD:?})"
    );
    let goal = CYCLE_OVERHEAD.as_secs_f64();
    assert_near_goal("seconds of a cycle beyond its children", beyond.as_secs_f64(), goal);
}

/// The most memory that a run of this many steps had at one time.
fn memory(steps: u32) {
    let folder = tempfile::tempdir().expect("there is a temporary folder");
    let file = workflow(folder.path(), steps, "true");
    let mut child = onloop(
        folder.path(),
        &["run", "--mode", "none", "--no-reverify", "--agent", "script", &file],
    )
    .spawn()
    .expect("the program is there");
    let status = format!("/proc/{}/status", child.id());
    let mut peak_kib = 0;
    // The kernel keeps the peak itself; the last look before the end is close to it.
    while child.try_wait().expect("a child can be waited for").is_none() {
        let status = std::fs::read_to_string(&status).unwrap_or_default();
        let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
        let kib = line.and_then(|line| line.trim().trim_end_matches(" kB").parse().ok());
        peak_kib = kib.unwrap_or(peak_kib);
        std::thread::sleep(Duration::from_millis(1));
    }
    println!("memory of a run of {steps} steps: {peak_kib} KiB (goal: at most {MEMORY_KIB} KiB)");
    assert!(peak_kib > 0, "the system says how much memory a process has");
    assert_near_goal("KiB of memory", peak_kib as f64, MEMORY_KIB as f64);
}

/// Writes a workflow whose scripts are `true`, and whose checks are `check`.
fn workflow(folder: &Path, steps: u32, check: &str) -> String {
    let mut text = String::from(
        "---\nintent: Measure\nsuccess_criteria: It is fast\nrisk_level: low\n---\n\n## Steps\n",
    );
    for number in 1..=steps {
        text += &format!(
            "\n- [ ] **Step {number}: Do the work of step {number}**\naction: Nothing that takes \
             time.\nloop: false\nverify: {check}\n```sh\ntrue\n```\n"
        );
    }
    let path = folder.join("hotl-workflow-measure.md");
    std::fs::write(&path, text).expect("the folder is writable");
    path.into_os_string().into_string().expect("temporary folders have plain names")
}

fn onloop(folder: &Path, arguments: &[&str]) -> Command {
    let mut command = Command::new(&*PROGRAM);
    command.args(arguments).current_dir(folder).env("ONLOOP_STATE_HOME", folder.join("state"));
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    command
}

fn start(mut command: Command) {
    let status = command.status().expect("the program is there");
    assert!(status.success(), "{command:?} ended with {status}");
}
