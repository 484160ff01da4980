//! A checkpoint of a large checkout, measured against `git status` there in the same run.
//!
//! `cargo bench -p onloop-tests --bench checkpoint` prints the ratio; each figure is the median of
//! several rounds in which both take turns, so that a busy machine slows both. What they cost in
//! time of the processor is the same on a busy machine: there, several short programs wait longer for
//! it than one that does the same work.

mod measured;

use std::path::Path;
use std::process::Command;

use measured::{assert_near_goal, median, processor_ticks, ratio, time};
use onloop::host::git::OsGit;
use onloop_core::effect::{GitRequest, Outcome};
use onloop_core::time::Timestamp;

const ROUNDS: usize = 31;
const FOLDERS: usize = 100;
const FILES_IN_EACH: usize = 100;
/// Files that change between two checkpoints.
const CHANGED: usize = 10;
const GOAL: f64 = 3.0;

fn main() {
    let folder = tempfile::tempdir().expect("there is a temporary folder");
    let checkout = folder.path().join("checkout");
    fill(&checkout);
    let mut parent = Some(keep(folder.path(), &checkout, None));
    let (mut floor, mut measured) = (Vec::new(), Vec::new());
    let (mut floor_ticks, mut measured_ticks) = (0, 0);
    for round in 0..ROUNDS {
        for number in 0..CHANGED {
            let path = checkout.join(format!("folder{number}/file{}", round % FILES_IN_EACH));
            std::fs::write(path, format!("changed {round}\n")).expect("the folder is writable");
        }
        let before = processor_ticks();
        floor.push(time(|| git(&checkout, &["status"])));
        let between = processor_ticks();
        measured.push(time(|| parent = Some(keep(folder.path(), &checkout, parent.take()))));
        floor_ticks += between - before;
        measured_ticks += processor_ticks() - between;
    }
    let (floor, measured) = (median(floor), median(measured));
    let ratio = ratio(measured, floor);
    println!(
        "checkpoint of {} files, {CHANGED} changed: {measured:?}, git status: {floor:?}; ratio \
         {ratio:.2} (goal: at most {GOAL})",
        FOLDERS * FILES_IN_EACH
    );
    assert_near_goal("a checkpoint, in `git status`", ratio, GOAL);
    if floor_ticks > 0 {
        let ratio = measured_ticks as f64 / floor_ticks as f64;
        println!("the same in time of the processor: ratio {ratio:.2}");
    }
}

fn fill(checkout: &Path) {
    for folder in 0..FOLDERS {
        let folder = checkout.join(format!("folder{folder}"));
        std::fs::create_dir_all(&folder).expect("the folder is writable");
        for file in 0..FILES_IN_EACH {
            let text = format!("{} {file}\n", folder.display()).repeat(20);
            std::fs::write(folder.join(format!("file{file}")), text).expect("there is room");
        }
    }
    git(checkout, &["init", "--quiet"]);
    git(checkout, &["add", "--all"]);
    let who = ["-c", "user.name=A", "-c", "user.email=a@example.org"];
    git(checkout, &[&who[..], &["commit", "--quiet", "--message", "all"]].concat());
}

fn git(checkout: &Path, args: &[&str]) {
    let output = Command::new("git").current_dir(checkout).args(args).output();
    assert!(output.expect("git is installed").status.success(), "git {args:?}");
}

fn keep(folder: &Path, checkout: &Path, parent: Option<String>) -> String {
    let text = |path: &Path| path.to_str().expect("temporary folders have plain names").to_owned();
    let request = GitRequest::Checkpoint {
        cwd: text(checkout),
        index: text(&folder.join("index")),
        name: "run/1-1".to_owned(),
        parent,
        message: "kept\n".to_owned(),
        at: Timestamp::EPOCH,
        limit_bytes: 1_000_000,
        programs: None,
    };
    match OsGit::new().perform(&request) {
        Ok(Outcome::Checkpoint(kept)) => kept.commit,
        other => panic!("{other:?}"),
    }
}
