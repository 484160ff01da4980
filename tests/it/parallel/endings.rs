//! Failures, interruptions and deaths while several steps are at work.

use std::os::unix::fs::PermissionsExt;

use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;

use super::{SHARED, Step, forks, meets, project, run, shared, worktrees};
use crate::run::{begin, output_of, wait_until};
use crate::workspace::Workspace;

/// Two steps that meet, then wait until the file `go` is there, and a last one.
fn waiting() -> Workspace {
    let script = |me: &str, other: &str| {
        let go = format!("until test -e {SHARED}/go; do sleep 0.02; done\n");
        format!("{}{go}echo x >> {me}.txt\n", meets(SHARED, me, &[other]))
    };
    let check = |me: &str| format!("test \"$(cat {me}.txt)\" = x");
    project(
        "max_parallel: 2\n",
        &[
            Step("loop: until done\n", &check("a"), &script("a", "b")),
            Step("depends_on: []\nloop: until done\n", &check("b"), &script("b", "a")),
            Step("depends_on: [1, 2]\n", "test -e a.txt -a -e b.txt", "touch last.txt"),
        ],
    )
}

fn is_at_work(project: &Workspace) -> bool {
    shared(project, "a").exists() && shared(project, "b").exists()
}

/// The drivers of forks that live.
pub(super) fn drivers(project: &Workspace) -> Vec<i32> {
    let forks = project.kept_ids().into_iter().filter(|id| id.contains(".step-"));
    forks
        .filter_map(|id| {
            let lock = std::fs::read_to_string(project.kept(&id, "driver.lock")).ok()?;
            let pid = serde_json::from_str::<Value>(&lock).ok()?["pid"].as_i64()?;
            let pid = i32::try_from(pid).ok()?;
            std::path::Path::new(&format!("/proc/{pid}")).exists().then_some(pid)
        })
        .collect()
}

fn completes(project: &Workspace) {
    std::fs::write(shared(project, "go"), "").unwrap();
    project.onloop(&["resume"]).expect_exit(0);
    assert_eq!(forks(project), ["done merged", "done merged", "done -"]);
    assert_eq!(worktrees(project), 2);
}

#[test]
fn an_interrupt_ends_all_drivers_and_the_run_is_resumed() {
    let project = waiting();
    let child = begin(&project, &["run", "--agent", "script"]);
    wait_until("both work", || is_at_work(&project));
    kill_process(Pid::from_child(&child), Signal::INT).unwrap();
    output_of(child).expect_exit(130);
    assert_eq!(drivers(&project), [] as [i32; 0]);
    suggests_nothing_that_is_refused(&project);
    completes(&project);
    suggests_nothing_that_is_refused(&project);
}

/// Every command in the output of a fork names its run.
fn suggests_nothing_that_is_refused(project: &Workspace) {
    let ids = project.kept_ids();
    let (id, forks) = ids.split_first().expect("a run");
    for fork in forks {
        let log = std::fs::read_to_string(project.kept(fork, "driver.log")).unwrap();
        let commands: Vec<&str> = log.lines().filter(|line| line.contains("onloop ")).collect();
        assert!(commands.contains(&&*format!("  onloop status {id}")), "{log}");
        assert!(commands.iter().all(|line| !line.contains(fork.as_str())), "{log}");
    }
}

#[test]
#[ignore = "only with --all"]
fn a_step_at_work_is_no_run_that_a_person_continues_or_decides() {
    let project = waiting();
    let child = begin(&project, &["run", "--agent", "script"]);
    wait_until("both work", || is_at_work(&project));
    let ids = project.kept_ids();
    let (id, fork) = (&ids[0], &ids[1]);
    let expected = format!("run `{fork}` is step 1 of run `{id}`, which drives it");
    for (exit, verb) in [
        (4, &["resume", fork][..]),
        (4, &["stop", fork]),
        (4, &["approve", fork]),
        (4, &["abandon", fork, "--reason", "x"]),
        (1, &["finish", fork, "merge"]),
        (4, &["undo", "0", "--run-id", fork]),
        (1, &["step", "1", "reopen", "--reason", "x", "--run-id", fork]),
    ] {
        let said = project.onloop(verb).expect_exit(exit).stderr;
        let said = said.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(said.contains(&expected), "{verb:?}: {said}");
        assert!(said.ends_with(&format!("onloop status {id}")), "{verb:?}: {said}");
    }
    // What shows it is allowed.
    project.onloop(&["status", fork]).expect_exit(0);
    assert_eq!(drivers(&project).len(), 2);
    std::fs::write(shared(&project, "go"), "").unwrap();
    output_of(child).expect_exit(0);
    // Nor is it afterwards.
    project.onloop(&["finish", fork, "merge"]).expect_exit(1);
}

#[test]
#[ignore = "only with --all"]
fn stop_ends_the_drivers_of_a_run_whose_own_was_killed() {
    let project = waiting();
    let mut child = begin(&project, &["run", "--agent", "script"]);
    wait_until("both work", || is_at_work(&project));
    child.kill().unwrap();
    child.wait().unwrap();
    assert_eq!(drivers(&project).len(), 2, "they outlive it");
    project.onloop(&["stop"]).expect_exit(0);
    assert_eq!(drivers(&project), [] as [i32; 0]);
    completes(&project);
}

#[test]
fn what_was_killed_is_resumed_and_nothing_is_done_twice() {
    let project = waiting();
    let mut child = begin(&project, &["run", "--agent", "script"]);
    wait_until("both work", || is_at_work(&project));
    // The first ends by itself while nobody waits for it, the second is killed as well.
    child.kill().unwrap();
    child.wait().unwrap();
    let killed = drivers(&project)[1];
    kill_process(Pid::from_raw(killed).unwrap(), Signal::KILL).unwrap();
    std::fs::write(shared(&project, "go"), "").unwrap();
    wait_until("the first has ended", || drivers(&project).is_empty());
    completes(&project);
}

#[test]
#[ignore = "only with --all"]
fn a_driver_that_dies_is_started_again() {
    let project = waiting();
    let child = begin(&project, &["run", "--agent", "script"]);
    wait_until("both work", || is_at_work(&project));
    let killed = drivers(&project)[0];
    kill_process(Pid::from_raw(killed).unwrap(), Signal::KILL).unwrap();
    std::fs::write(shared(&project, "go"), "").unwrap();
    output_of(child).expect_exit(0);
    assert_eq!(forks(&project), ["done merged", "done merged", "done -"]);
}

/// Another process ends git, once each: the run pauses, and the next driver merges the step.
#[test]
#[ignore = "only with --all"]
fn a_git_that_is_killed_while_it_merges_pauses_the_run() {
    for word in ["merge-tree", "commit-tree", "update-ref", "read-tree", "diff-tree -r -z --raw"] {
        let step = |file: &str| format!("echo $ONLOOP_STEP >> {file}");
        let (one, two) = (step("one.txt"), step("two.txt"));
        let steps =
            [Step("", "test -s one.txt", &one), Step("depends_on: []\n", "test -s two.txt", &two)];
        let project = project("max_parallel: 2\n", &steps);
        // Checkpoints use the same commands, in the worktrees of the forks and before there is something to
        // merge.
        let git = format!(
            "#!/bin/sh\ncase \" $* \" in\n*' merge-tree '*) touch {merges};;\nesac\n\
             case \"$(pwd) $* \" in\n*.step-?' '*) ;;\n*' {word} '*) if [ '{word}' = 'diff-tree -r -z --raw' -o -e {merges} ] \
             && mkdir {killed} 2>/dev/null; then kill -9 $$; fi;;\nesac\n\
             exec \"$(PATH=\"${{PATH#*:}}\" command -v git)\" \"$@\"\n",
            merges = shared(&project, "merges").display(),
            killed = shared(&project, "killed").display(),
        );
        project.write("../bin/git", git);
        let mode = std::fs::Permissions::from_mode(0o755);
        std::fs::set_permissions(project.path("../bin/git"), mode).unwrap();
        let said = crate::flat(&run(&project, &[]).expect_exit(3).stderr);
        assert!(shared(&project, "killed").exists(), "{word}: {said}");
        assert!(said.contains(" was not merged: "), "{word}: {said}");
        project.onloop(&["resume"]).expect_exit(0);
        assert_eq!(forks(&project), ["done merged", "done merged"], "{word}");
        for file in ["one.txt", "two.txt"] {
            let work = std::fs::read_to_string(project.worktree("hotl/w").join(file)).unwrap();
            assert_eq!(work.lines().count(), 1, "{word}: {file}");
        }
    }
}

#[test]
fn a_step_that_fails_beside_others_blocks_with_its_reason_and_is_tried_again_in_the_run() {
    let project = project(
        "max_parallel: 2\n",
        &[
            Step(
                "loop: until fixed\nmax_iterations: 2\n",
                &format!("test -e {SHARED}/fixed"),
                "echo x >> tries",
            ),
            Step("depends_on: []\n", "test -e b.txt", "touch b.txt"),
        ],
    );
    let said = run(&project, &[]).expect_exit(1).stderr;
    assert!(said.contains("Still failing after 2 attempts"), "{said}");
    let record = project.record();
    assert_eq!(record["steps"][0]["attempts"], 2, "those of its fork");
    // What it had done is there, and the next attempt continues with it.
    let tries = || std::fs::read_to_string(project.worktree("hotl/w").join("tries")).unwrap();
    assert_eq!(tries(), "x\nx\n");
    for attempt in ["1-1", "1-2"] {
        let change = project.onloop(&["diff", "w", attempt]).expect_exit(0).stdout;
        assert_eq!(change.matches("\n+x").count(), 1, "{attempt}: {change}");
    }
    std::fs::write(shared(&project, "fixed"), "").unwrap();
    project.onloop(&["resume"]).expect_exit(0);
    assert_eq!(forks(&project), ["done merged", "done merged"]);
}

#[test]
fn a_run_that_is_discarded_takes_its_forks_along() {
    let project = waiting();
    let mut child = begin(&project, &["run", "--agent", "script"]);
    wait_until("both work", || is_at_work(&project));
    child.kill().unwrap();
    child.wait().unwrap();
    project.onloop(&["abandon", "--reason", "not needed"]).expect_exit(0);
    assert_eq!(drivers(&project), [] as [i32; 0]);
    project.onloop(&["finish", "w", "discard", "--confirm", "discard"]).expect_exit(0);
    assert_eq!(worktrees(&project), 1, "{}", project.git_says(&["worktree", "list"]));
    assert_eq!(project.git_says(&["branch", "--list", "onloop/*"]), "");
}

/// The merge would not have it, and the worktree is the only place where it is.
#[test]
#[ignore = "only with --all"]
fn work_that_no_commit_holds_blocks_the_step_and_its_worktree_stays() {
    let commit = "git -c user.name=S -c user.email=s@example.org commit -q --allow-empty -m x";
    for (script, why) in [
        (format!("git init -q sub && cd sub && {commit}"), "`sub` is a repository of its own"),
        ("git init -q sub && touch sub/x".to_owned(), "its checkpoint leaves out sub"),
        (
            "echo 'gitdir: nowhere' > .git; mkdir sub".to_owned(),
            "points to a repository that is not there",
        ),
    ] {
        let steps = [Step("", "true", "touch a.txt"), Step("depends_on: []\n", "true", &script)];
        let project = project("max_parallel: 2\n", &steps);
        run(&project, &[]).expect_exit(1);
        let reason = project.record()["steps"][1]["block_reason"].as_str().unwrap().to_owned();
        assert!(reason.contains(why), "{reason}");
        let (_, kept) = reason.split_once("what it did is in ").expect("it says where");
        assert!(std::path::Path::new(kept).join("sub").exists(), "{reason}");
    }
}

/// A run whose second step left in its fork what no commit holds, and is blocked.
fn with_a_kept_worktree() -> Workspace {
    let script = "case $PWD in *step-2*) git init -q sub; touch sub/x;; esac; touch b.txt";
    let second = Step("depends_on: []\n", "test -e b.txt", script);
    let project = project("max_parallel: 2\n", &[Step("", "true", "touch a.txt"), second]);
    run(&project, &[]).expect_exit(1);
    assert_eq!(worktrees(&project), 3);
    project
}

#[test]
#[ignore = "only with --all"]
fn a_worktree_that_stayed_is_discarded_with_its_run() {
    let project = with_a_kept_worktree();
    project.onloop(&["abandon", "--reason", "not needed"]).expect_exit(0);
    project.onloop(&["finish", "w", "discard", "--confirm", "discard"]).expect_exit(0);
    assert_eq!(worktrees(&project), 1, "{}", project.git_says(&["worktree", "list"]));
    assert_eq!(project.git_says(&["branch", "--list", "onloop/*"]), "");
}

#[test]
#[ignore = "only with --all"]
fn a_worktree_that_stayed_is_kept_with_its_run_and_goes_when_it_is_merged() {
    let project = with_a_kept_worktree();
    project.onloop(&["resume"]).expect_exit(0);
    project.onloop(&["finish", "w", "keep"]).expect_exit(0);
    assert_eq!(worktrees(&project), 3);
    project.onloop(&["finish", "w", "merge"]).expect_exit(0);
    assert_eq!(worktrees(&project), 1, "{}", project.git_says(&["worktree", "list"]));
    assert_eq!(project.git_says(&["branch", "--list", "onloop/*"]), "");
    assert!(project.path("b.txt").exists());
}

/// As a process that is killed at the end of its run leaves it.
#[test]
#[ignore = "only with --all"]
fn a_worktree_that_is_not_needed_is_pruned() {
    let project = waiting();
    std::fs::write(shared(&project, "go"), "").unwrap();
    run(&project, &[]).expect_exit(0);
    let fork = project.kept_ids().remove(1);
    let branch = format!("onloop/{fork}");
    let path = project.worktree(&fork);
    project.git_says(&["worktree", "add", "-q", "-b", &branch, path.to_str().unwrap()]);
    let said = project.onloop(&["doctor", "--prune"]).expect_exit(0).stdout;
    assert!(
        said.contains(&format!("Removed the worktree of {fork}, which is not needed")),
        "{said}"
    );
    assert!(!path.exists());
    assert_eq!(worktrees(&project), 2);
    assert_eq!(project.git_says(&["branch", "--list", "onloop/*"]), "");
}

#[test]
fn a_protected_file_that_a_step_beside_others_changed_does_not_come_along() {
    let project = project(
        "max_parallel: 2\nprotect: [base.txt]\n",
        &[
            Step("", "true", "touch a.txt"),
            Step("depends_on: []\n", "true", "echo changed > base.txt; touch b.txt"),
        ],
    );
    let said = run(&project, &[]).expect_exit(1).stderr;
    assert!(said.contains("the agent changed base.txt, which is protected"), "{said}");
    let worktree = project.worktree("hotl/w");
    assert!(worktree.join("b.txt").exists(), "{said}");
    let base = std::fs::read_to_string(worktree.join("base.txt")).unwrap();
    assert!(base.starts_with("one\n"), "{base}");
}
