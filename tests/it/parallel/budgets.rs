//! Bounds on the whole run that several steps at work pass together.

use super::{SHARED, Step, forks, meets, project};
use crate::workspace::Workspace;

/// Two steps side by side and one after them, with an agent of their own.
fn spending(front: &str, check: &str, agent: &str) -> Workspace {
    let repeat = "loop: until done\nmax_iterations: 5\n";
    let beside = format!("depends_on: []\n{repeat}");
    let front = format!("max_parallel: 2\n{front}");
    let project = project(
        &front,
        &[
            Step(repeat, check, ""),
            Step(&beside, check, ""),
            Step(&format!("depends_on: [1, 2]\n{repeat}"), check, ""),
        ],
    );
    project.write("agent.sh", format!("echo x >> {SHARED}/turns\n{agent}"));
    project.commit("agent");
    project
}

fn turns(project: &Workspace) -> usize {
    let turns = std::fs::read_to_string(super::shared(project, "turns")).expect("it has worked");
    turns.lines().count()
}

#[test]
fn what_two_steps_cost_together_stops_both_and_counts_once() {
    let agent = format!(
        "case $ONLOOP_STEP in\n1) {}\n;;\n2) {}\n;;\nesac\n\
         echo '{{\"cost_usd\": 0.60, \"tokens\": 100}}' > $ONLOOP_USAGE_FILE\n",
        meets(SHARED, "a", &["b"]),
        meets(SHARED, "b", &["a"])
    );
    let project = spending("max_cost_usd: 1.00\n", "true", &agent);
    let said = project.onloop(&["run", "--agent-command", "sh ./agent.sh"]).expect_exit(3).stderr;
    assert!(said.contains("max_cost_usd is 1.00 (used: 1.20)"), "{said}");
    assert!(said.contains(" --raise max_cost_usd=unlimited\n"), "{said}");
    let cost = || project.onloop(&["cost"]).expect_exit(0).stdout;
    assert!(cost().contains("total       $1.20      2     200"), "{}", cost());
    let said = project.onloop(&["resume"]).expect_exit(3).stderr;
    assert!(said.contains(" --raise max_cost_usd=unlimited\n"), "{said}");
    project.onloop(&["resume", "--raise", "max_cost_usd=2"]).expect_exit(0);
    assert_eq!(forks(&project), ["done merged", "done merged", "done -"]);
    assert!(cost().contains("total       $1.80      3     300"), "{}", cost());
    assert_eq!(turns(&project), 3);
}

#[test]
#[ignore = "only with --all"]
fn the_attempts_of_all_steps_count_together() {
    let check = format!("test -e {SHARED}/done");
    let agent = "echo $ONLOOP_ATTEMPT >> f$ONLOOP_STEP; sleep 1\n";
    let project = spending("max_total_attempts: 4\n", &check, agent);
    let said = project.onloop(&["run", "--agent-command", "sh ./agent.sh"]).expect_exit(3).stderr;
    assert!(said.contains("max_total_attempts is 4 (used: "), "{said}");
    assert!(said.contains(" --raise max_total_attempts=unlimited\n"), "{said}");
    // One that the other step had begun meanwhile is cut short.
    assert!((4..=6).contains(&turns(&project)), "{}", turns(&project));
    std::fs::write(super::shared(&project, "done"), "").unwrap();
    project.onloop(&["resume", "--raise", "max_total_attempts=20"]).expect_exit(0);
    assert_eq!(forks(&project), ["done merged", "done merged", "done -"]);
}

/// The main process has ended at a gate, so the steps beside it hold the limit themselves.
#[test]
#[ignore = "only with --all"]
fn a_limit_holds_for_all_steps_together_while_the_run_waits_at_a_gate() {
    for limit in ["max_total_attempts", "max_agents"] {
        let repeat = "loop: until done\nmax_iterations: 9\n";
        let beside = format!("depends_on: []\n{repeat}");
        let never = format!("test -e {SHARED}/done");
        let project = project(
            &format!("max_parallel: 4\n{limit}: 5\n"),
            &[
                Step(&format!("gate: human\n{repeat}"), "true", ""),
                Step(&beside, &never, ""),
                Step(&beside, &never, ""),
                Step(&beside, &never, ""),
            ],
        );
        let agent = "echo $ONLOOP_ATTEMPT >> f$ONLOOP_STEP";
        project.write("agent.sh", format!("echo x >> {SHARED}/turns\n{agent}\n"));
        project.commit("agent");
        project.onloop(&["run", "--agent-command", "sh ./agent.sh"]).expect_exit(3);
        crate::run::wait_until("no step is at work", || {
            super::endings::drivers(&project).is_empty()
        });
        assert_eq!(turns(&project), 5, "{limit}");
        project.onloop(&["approve", "w"]).expect_exit(0);
        let said = project.onloop(&["resume"]).expect_exit(3).stderr;
        assert!(said.contains(&format!("{limit} is 5 (used: 5)")), "{said}");
        assert_eq!(turns(&project), 5, "{limit}: {said}");
    }
}
