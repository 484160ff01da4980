//! Many processes write one record at the same moment.

use std::process::Child;
use std::sync::atomic::{AtomicBool, Ordering};

use serde_json::Value;

use super::{OnDisk, ballast};
use crate::rounds::rounds;
use crate::run::{begin, output_of, project};
use crate::workspace::{Run, Workspace};

/// Processes at once.
const WRITERS: usize = 32;

/// Step 1 is done and approved, step 2 may start, step 3 waits.
fn prepared(large: bool) -> Workspace {
    // Several actions, since one line has its bounds.
    let ballast = ballast();
    let lines = ballast.as_bytes().chunks(1000).map(|line| std::str::from_utf8(line).unwrap());
    let action = if large { lines.collect::<Vec<_>>().join("\n  ") } else { "go".to_owned() };
    let project = project(
        "",
        &format!(
            "- [ ] **Step 1: First**\naction: |\n  {action}\nloop: false\nverify: true\ngate: human\n\n\
         - [ ] **Step 2: Second**\naction: go\nloop: until it is done\nmax_iterations: 500\n\
         verify: false\n\n\
         - [ ] **Step 3: Third**\naction: go\nloop: false\nverify: true\n"
        ),
    );
    project.onloop(&["init", crate::run::FILE]).expect_exit(0);
    for words in [&["step", "1", "start"][..], &["step", "1", "verify"], &["gate", "1", "approved"]]
    {
        project.onloop(words).expect_exit(0);
    }
    project
}

/// The command of writer `number`, and what the record counts it as.
fn command(number: usize) -> (Vec<String>, String) {
    let (line, counted) = match number % 4 {
        0 => ("step 2 start".to_owned(), "step_started 2".to_owned()),
        1 => ("gate 1 approved".to_owned(), "gate_decided 1 approved".to_owned()),
        2 => ("gate 1 rejected".to_owned(), "gate_decided 1 rejected".to_owned()),
        _ => (format!("step 3 block --reason w{number}"), format!("step_blocked 3 w{number}")),
    };
    (line.split(' ').map(str::to_owned).collect(), counted)
}

/// Starts all writers, looks at the record as long as they run, and gives what each said.
fn race(project: &Workspace, disk: &OnDisk) -> Vec<(Run, String)> {
    let over = AtomicBool::new(false);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            while !over.load(Ordering::Relaxed) {
                disk.snapshot();
                std::thread::yield_now();
            }
        });
        let writers: Vec<(Child, String)> = (0..WRITERS)
            .map(|number| {
                let (words, counted) = command(number);
                let words: Vec<&str> = words.iter().map(String::as_str).collect();
                (begin(project, &words), counted)
            })
            .collect();
        let said = writers.into_iter().map(|(child, counted)| (output_of(child), counted));
        let said = said.collect();
        over.store(true, Ordering::Relaxed);
        said
    })
}

fn no_update_is_lost(large: bool) {
    let project = prepared(large);
    let disk = OnDisk::of(&project);
    let begun = disk.save();
    for round in 0..rounds(2, 50) {
        disk.restore(&begun);
        let (before, mut expected) = (disk.revision(), disk.tally());
        let mut winners = 0;
        for (run, counted) in race(&project, &disk) {
            match run.exit {
                Some(0) => {
                    assert!(!run.stdout.is_empty(), "round {round}: {run:?}");
                    *expected.entry(counted).or_insert(0) += 1;
                    winners += 1;
                }
                Some(1 | 4) => {
                    assert!(run.stdout.is_empty(), "round {round}: {run:?}");
                    let clear = run.stderr.starts_with("error: ");
                    assert!(clear, "round {round}: {run:?}");
                }
                _ => panic!("round {round}: {run:?}"),
            }
        }
        assert!(winners > 0, "round {round}: nobody won");
        assert_eq!(disk.tally(), expected, "round {round}");
        assert_eq!(disk.revision(), before + winners, "round {round}: one change for each winner");
        consistent(&disk.snapshot(), round);
    }
}

/// Attempts are those that are in the log, and a step that somebody blocked is blocked.
fn consistent(record: &Value, round: u64) {
    let log = record["events"].to_string();
    if log.contains("\"step_blocked\"") {
        assert_eq!(record["steps"][2]["status"], "blocked", "round {round}");
        assert_eq!(record["status"], "blocked", "round {round}");
    }
}

#[test]
fn no_update_of_a_small_record_is_lost() {
    no_update_is_lost(false);
}

#[test]
fn no_update_of_a_large_record_is_lost() {
    no_update_is_lost(true);
}

#[test]
fn of_many_that_resume_at_once_exactly_one_works() {
    let steps = "- [ ] **Step 1: Only**\naction: go\nloop: false\nverify: test -e go\n\
                 ```sh\necho x >> acted; while ! test -e go; do sleep 0.01; done\n```\n";
    for round in 0..rounds(1, 20) {
        let project = project("", steps);
        project.onloop(&["init", crate::run::FILE]).expect_exit(0);
        let mut children: Vec<_> =
            (0..8).map(|_| begin(&project, &["resume", "--agent", "script"])).collect();
        // All but one end while that one waits.
        crate::run::wait_until("seven are refused", || {
            let ended = |child: &mut Child| child.try_wait().unwrap().is_some();
            children.iter_mut().filter_map(|child| ended(child).then_some(())).count() == 7
        });
        crate::run::wait_until("one acts", || project.path("acted").exists());
        project.write("go", "");
        let mut exits = Vec::new();
        for run in children.into_iter().map(output_of) {
            if run.exit == Some(4) {
                assert!(
                    crate::flat(&run.stderr).contains("another onloop works on run"),
                    "{run:?}"
                );
                assert!(run.stdout.is_empty(), "{run:?}");
            }
            exits.push(run.exit);
        }
        exits.sort_unstable();
        let mut expected = vec![Some(0)];
        expected.extend([Some(4); 7]);
        assert_eq!(exits, expected, "round {round}");
        assert_eq!(project.read("acted"), "x\n", "round {round}");
    }
}
