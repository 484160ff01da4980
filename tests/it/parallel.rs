//! Steps that work side by side: each in a worktree and under a driver of its own, merged in their order.

mod budgets;
mod changes;
mod conflicts;
mod endings;
mod simulated;

use std::path::PathBuf;

use serde_json::Value;

use crate::run::wait_until;
use crate::workspace::{Run, Workspace};

/// A step of these tests: further fields, its check and its script.
struct Step<'a>(&'a str, &'a str, &'a str);

/// A workflow whose steps may work side by side.
fn workflow(front: &str, steps: &[Step<'_>]) -> String {
    let mut file = format!(
        "---\nintent: Try it\nsuccess_criteria: It works\nrisk_level: low\nworktree: true\n{front}---\n"
    );
    for (number, Step(fields, check, script)) in (1..).zip(steps) {
        let repeat = if fields.contains("loop:") { "" } else { "loop: false\n" };
        file += &format!(
            "\n- [ ] **Step {number}: S{number}**\naction: go\n{repeat}{fields}verify: {check}\n\n\
             ```sh\n{script}\n```\n"
        );
    }
    file
}

/// A repository with such a workflow, in which a driver may start others.
fn project(front: &str, steps: &[Step<'_>]) -> Workspace {
    let project = Workspace::git();
    project.write("base.txt", "one\ntwo\nthree\nfour\nfive\nsix\nseven\n");
    project.write(crate::run::FILE, workflow(front, steps));
    project.commit("begin");
    std::fs::create_dir_all(shared(&project, "")).expect("a folder");
    project
}

/// A file that scripts of all worktrees see.
fn shared(project: &Workspace, name: &str) -> PathBuf {
    project.path("../shared").join(name)
}

/// A script that says that it is there, and waits until all `others` are.
fn meets(project: &str, me: &str, others: &[&str]) -> String {
    let mut script = format!("touch {project}/{me}\n");
    for other in others {
        script += &format!("until test -e {project}/{other}; do sleep 0.02; done\n");
    }
    script
}

fn run(project: &Workspace, arguments: &[&str]) -> Run {
    project.onloop(&[&["run", "--agent", "script"], arguments].concat())
}

/// `step: status, state of its fork` of each step.
fn forks(project: &Workspace) -> Vec<String> {
    let record = project.record();
    let steps = record["steps"].as_array().expect("a run has steps").clone();
    let word = |value: &Value| value.as_str().unwrap_or("-").to_owned();
    steps
        .iter()
        .map(|step| format!("{} {}", word(&step["status"]), word(&step["fork"]["state"])))
        .collect()
}

/// The worktrees of the repository.
fn worktrees(project: &Workspace) -> usize {
    project.git_says(&["worktree", "list"]).lines().count()
}

/// A relative path from a worktree beside the project to the shared folder.
const SHARED: &str = "../../../shared";

#[test]
fn steps_work_side_by_side_and_are_merged_in_their_order() {
    let left = meets(SHARED, "left", &["right"]) + "echo left > left.txt\n";
    let right = meets(SHARED, "right", &["left"]) + "echo right > right.txt\n";
    let project = project(
        "max_parallel: 2\ncommit: step\n",
        &[
            Step("", "test -e first.txt", "echo 1 > first.txt"),
            // The one with the smaller number ends last.
            Step("depends_on: [1]\n", "test -e left.txt", &(left + "sleep 0.3\n")),
            Step("depends_on: [1]\n", "test -e right.txt", &right),
            Step("depends_on: [2, 3]\n", "test -e left.txt -a -e right.txt", "echo 4 > last.txt"),
        ],
    );
    let said = run(&project, &[]).expect_exit(0).stderr;
    let at = |line: &str| said.find(line).unwrap_or_else(|| panic!("no `{line}`:\n{said}"));
    assert!(at("→ Step 3: S3, in a worktree of its own") < at("\n✓ Step 2: S2"));
    assert!(at("\n  ✓ Step 3: Done (1 attempt)") < at("\n  ✓ Step 2: Done (1 attempt)"));
    assert!(at("\n✓ Step 2: S2") < at("\n✓ Step 3: S3"));
    assert!(at("\n✓ Step 3: S3") < at("→ Step 4: S4"));
    assert_eq!(forks(&project), ["done -", "done merged", "done merged", "done -"]);
    // Nothing is left but the worktree of the run.
    assert_eq!(worktrees(&project), 2, "{}", project.git_says(&["worktree", "list"]));
    assert_eq!(project.git_says(&["branch", "--list", "onloop/*"]), "");
    assert_eq!(project.records().len(), 1, "forks are parts of their run");
    project.onloop(&["finish", "w", "merge"]).expect_exit(0);
    let subjects = project.git_says(&["log", "--reverse", "--no-merges", "--format=%s"]);
    let steps: Vec<&str> = subjects.lines().skip(2).collect();
    assert_eq!(steps.len(), 4, "{subjects}");
    for (number, subject) in (1..).zip(&steps) {
        assert!(subject.contains(&format!("S{number}")), "{subjects}");
    }
}

#[test]
#[ignore = "only with --all"]
fn what_depends_on_nothing_begins_at_once_and_no_more_work_than_may() {
    let counted = |name: &str| {
        format!(
            "echo begin >> {SHARED}/count; sleep 0.2; ls -d {SHARED}/at-* 2>/dev/null | wc -l; \
             mkdir {SHARED}/at-{name}; ls -d {SHARED}/at-* | wc -l >> {SHARED}/most; sleep 0.2; \
             rmdir {SHARED}/at-{name}; touch {name}.txt"
        )
    };
    let project = project(
        "max_parallel: 2\n",
        &[
            Step("", "test -e a.txt", &counted("a")),
            Step("depends_on: []\n", "test -e b.txt", &counted("b")),
            Step("depends_on: []\n", "test -e c.txt", &counted("c")),
            Step("depends_on: []\n", "test -e d.txt", &counted("d")),
        ],
    );
    run(&project, &[]).expect_exit(0);
    let most = std::fs::read_to_string(shared(&project, "most")).expect("they counted");
    assert!(most.lines().all(|line| line.trim().parse::<u32>().is_ok_and(|n| n <= 2)), "{most}");
    let begun = std::fs::read_to_string(shared(&project, "count")).expect("they counted");
    assert_eq!(begun.lines().count(), 4, "each step worked once");
    assert_eq!(forks(&project), ["done merged"; 4]);
}

#[test]
fn without_a_worktree_the_steps_run_one_after_the_other_and_the_run_says_so() {
    let project = project(
        "max_parallel: 4\n",
        &[Step("", "true", "true"), Step("depends_on: []\n", "true", "true")],
    );
    let said = run(&project, &["--mode", "branch"]).expect_exit(0).stderr;
    assert!(
        said.contains("note: the steps run one after the other: the run has no worktree"),
        "{said}"
    );
    assert!(!said.contains("in a worktree of its own"), "{said}");
    assert_eq!(forks(&project), ["done -", "done -"]);
}

#[test]
fn a_gate_stops_only_the_steps_that_depend_on_it() {
    let project = project(
        "max_parallel: 3\n",
        &[
            Step("gate: human\n", "true", "touch one.txt"),
            Step("", "true", "touch two.txt"),
            Step(
                "depends_on: []\n",
                "test -e three.txt",
                &format!("touch {SHARED}/three three.txt"),
            ),
            Step("depends_on: []\n", "test -e four.txt", "touch four.txt"),
        ],
    )
    .with_env("ONLOOP_CONTINUE", "auto");
    run(&project, &[]).expect_exit(3);
    wait_until("the others have worked", || {
        shared(&project, "three").exists()
            && project.kept_ids().iter().filter(|id| id.contains(".step-")).all(|id| {
                let ledger = std::fs::read_to_string(project.kept(id, "ledger.jsonl"));
                ledger.is_ok_and(|ledger| ledger.contains("run_finalized"))
            })
    });
    let states = forks(&project);
    assert_eq!(states, ["done merged", "pending -", "pending working", "pending working"]);
    let status = project.onloop(&["status"]).expect_exit(0).stdout;
    assert!(status.contains("Waiting for you"), "{status}");
    let id = project.record()["run_id"].as_str().expect("an id").to_owned();
    project.onloop(&["approve", &id]).expect_exit(0);
    wait_until("the run completes", || project.record()["status"] == "completed");
    assert_eq!(forks(&project), ["done merged", "done -", "done merged", "done merged"]);
}

#[test]
#[ignore = "only with --all"]
fn a_step_that_is_ready_alone_begins_while_another_one_waits_at_its_gate() {
    let project = project(
        "max_parallel: 2\n",
        &[
            Step("depends_on: []\n", "test -e one.txt", "touch one.txt"),
            Step("depends_on: []\ngate: human\n", "test -e two.txt", "touch two.txt"),
            Step("depends_on: [1]\n", "test -e one.txt", &format!("touch {SHARED}/three")),
            Step("depends_on: [2, 3]\n", "true", "true"),
        ],
    )
    .with_env("ONLOOP_CONTINUE", "auto");
    run(&project, &[]).expect_exit(3);
    wait_until("step 3 works", || shared(&project, "three").exists());
    let states = forks(&project);
    assert_eq!(states, ["done merged", "done merged", "pending working", "pending -"]);
    let id = project.record()["run_id"].as_str().expect("an id").to_owned();
    project.onloop(&["approve", &id]).expect_exit(0);
    wait_until("the run completes", || project.record()["status"] == "completed");
}

#[test]
#[ignore = "only with --all"]
fn a_later_merge_that_breaks_an_earlier_step_is_found_before_the_next_one_begins() {
    // Each holds alone; together the sum is too large.
    let sum = "test $(cat *.n | wc -l) -le 2";
    let agent = "case \"$(cat \"$ONLOOP_PROMPT_FILE\")\" in *'passed before'*) rm -f b.n;; \
                 *) case $ONLOOP_STEP in 1) echo 1 > a.n; echo 1 >> a.n;; 2) echo 1 > b.n;; \
                 3) touch c;; esac;; esac";
    let project = project(
        "max_parallel: 2\n",
        &[
            Step("loop: until small\nmax_iterations: 3\n", sum, ":"),
            Step("depends_on: []\nloop: until there\n", "true", ":"),
            Step("depends_on: [1, 2]\n", sum, ":"),
        ],
    );
    project.write("agent.sh", agent);
    project.commit("agent");
    let said = project.onloop(&["run", "--agent-command", "sh ./agent.sh"]).expect_exit(0).stderr;
    let at = |line: &str| said.find(line).unwrap_or_else(|| panic!("no `{line}`:\n{said}"));
    assert!(at("passed before, but not after a later change") < at("→ Step 3: S3"), "{said}");
}
