//! Bounds on whole runs, and agents that get nowhere.

use crate::run::{FILE, command_below, project, run, standing, workflow};
use crate::workspace::Workspace;

/// Needs three turns of an agent.
const UNTIL_THREE: &str = "- [ ] **Step 1: Only**\naction: go\nloop: until it is three\n\
                           max_iterations: 10\nverify: test $(wc -l < turns) -ge 3\n";

fn turns(project: &Workspace) -> usize {
    project.read("turns").lines().count()
}

/// Pauses after `turns` turns for the bound `name`; raising it as printed finishes the run.
fn is_blocked_by(front: &str, agent: &str, after: usize, name: &str, observed: &str) {
    let project = project(front, UNTIL_THREE);
    let agent = format!("echo x >> turns; {agent}");
    let paused = run(&project, &["--agent-command", &agent]).expect_exit(3);
    assert_eq!(turns(&project), after, "{front}: {}", paused.stderr);
    assert!(standing(&project).starts_with("paused: "), "{front}");
    assert!(paused.stderr.contains(name), "{front}: {}", paused.stderr);
    assert!(paused.stderr.contains(observed), "{front}: {}", paused.stderr);
    let raise = command_below(&paused, "Raise it and continue");
    assert!(raise.contains(&format!("{name}=unlimited")), "{front}: {raise}");
    // Continuing alone changes nothing.
    project.onloop(&["resume", "--agent-command", &agent]).expect_exit(3);
    assert_eq!(turns(&project), after, "{front}");
    project.shell(&raise).expect_exit(0);
    assert_eq!(turns(&project), 3, "{front}");
}

#[test]
fn a_bound_holds_until_a_person_raises_it() {
    is_blocked_by("max_total_attempts: 2\n", "true", 2, "max_total_attempts", "2");
    is_blocked_by("max_agents: 1\n", "true", 1, "max_agents", "1");
}

#[test]
#[ignore = "only with --all"]
fn money_is_counted_as_agents_report_it() {
    let report = |usd: &str| format!("echo '{{\"cost_usd\": {usd}}}' > \"$ONLOOP_USAGE_FILE\"");
    is_blocked_by("max_cost_usd: 0.50\n", &report("0.30"), 2, "max_cost_usd", "0.60");
    is_blocked_by("max_cost_usd: 0.50\n", &report("0.50"), 1, "max_cost_usd", "0.50");
    // What nobody knows is not within a bound.
    for unknown in
        ["true", "echo '{}' > \"$ONLOOP_USAGE_FILE\"", &report("-1"), &report("\"free\"")]
    {
        is_blocked_by("max_cost_usd: 0.50\n", unknown, 1, "max_cost_usd", "unknown");
    }
    let project = project("max_cost_usd: 1\n", UNTIL_THREE);
    let agent = format!("echo x >> turns; {}", report("0.3"));
    run(&project, &["--agent-command", &agent]).expect_exit(0);
    let observed = &project.record()["budgets"]["observed"];
    assert_eq!(observed["agents"], 3);
    assert_eq!(observed["cost_usd"], 0.9);
}

#[test]
fn what_is_raised_has_a_name_and_an_amount() {
    let project = project("max_total_attempts: 1\n", UNTIL_THREE);
    run(&project, &["--agent-command", "echo x >> turns"]).expect_exit(3);
    let before = project.record();
    for raise in ["max_attempts=3", "max_total_attempts", "max_agents=-1", "max_cost_usd=NaN"] {
        let refused = project.onloop(&["resume", "--raise", raise]).expect_exit(2);
        assert!(crate::flat(&refused.stderr).contains(raise), "{}", refused.stderr);
    }
    assert_eq!(project.record(), before);
}

/// Ten attempts are allowed; every one of them fails in the same way.
const HOPELESS: &str = "- [ ] **Step 1: Only**\naction: go\nloop: until it holds\n\
                        max_iterations: 10\nverify: test -e holds\n";

fn attempts(project: &Workspace) -> u64 {
    project.record()["steps"][0]["attempts"].as_u64().unwrap()
}

#[test]
fn an_agent_that_gets_nowhere_is_not_paid_for_ever() {
    let project = Workspace::git();
    project.write(FILE, workflow("", HOPELESS));
    project.commit("Plan");
    let blocked =
        project.onloop(&["run", "--mode", "branch", "--agent-command", "true"]).expect_exit(1);
    let why =
        "2 attempts in a row changed no file and failed the same way: verify failed: exit code 1";
    assert!(crate::flat(&blocked.stderr).contains(why), "{}", blocked.stderr);
    assert_eq!(attempts(&project), 2);
    assert_eq!(standing(&project), "blocked: blocked");
    project.onloop(&["resume", "--agent-command", "true"]).expect_exit(1);
    assert_eq!(attempts(&project), 4, "a person has two more tried");
    project.write("holds", "");
    project.onloop(&["resume", "--agent-command", "true"]).expect_exit(0);
    assert_eq!(standing(&project), "completed: done");
}

#[test]
fn an_agent_that_fails_in_the_same_way_is_not_started_for_ever() {
    let project = Workspace::git();
    project.write(FILE, workflow("", HOPELESS));
    project.commit("Plan");
    let agent = "echo no credit >&2; exit 4";
    let blocked =
        project.onloop(&["run", "--mode", "branch", "--agent-command", agent]).expect_exit(1);
    let why = "2 attempts in a row changed no file and failed the same way";
    assert!(crate::flat(&blocked.stderr).contains(why), "{}", blocked.stderr);
    assert_eq!(attempts(&project), 2);
}

#[test]
#[ignore = "only with --all"]
fn an_agent_that_changes_something_may_use_all_its_attempts() {
    let project = Workspace::git();
    project.write(FILE, workflow("", HOPELESS));
    project.commit("Plan");
    project
        .onloop(&["run", "--mode", "branch", "--agent-command", "echo x >> tried"])
        .expect_exit(1);
    assert_eq!(attempts(&project), 10);
}

/// The budget of the machine holds over all runs, and says how to go on.
#[test]
fn a_budget_of_the_day_counts_all_runs_of_the_machine() {
    let report = |usd: &str| format!("echo '{{\"cost_usd\": {usd}}}' > \"$ONLOOP_USAGE_FILE\"");
    let project = project("", "- [ ] **Step 1: Only**\naction: go\nloop: false\nverify: true\n");
    project.write(".agentize.local.yaml", "budget:\n  day_usd: 1\n  month_usd: 50\n");
    let again = |words: &[&str]| run(&project, &[&["--fresh"], words].concat());
    again(&["--agent-command", &report("0.7")]).expect_exit(0);
    again(&["--agent-command", &report("0.5")]).expect_exit(0);
    let paused = again(&["--agent-command", &report("0.5")]).expect_exit(3);
    let said = crate::flat(&paused.stderr);
    assert!(said.contains("`budget.day_usd: 1` of your configuration is used up"), "{said}");
    assert!(said.contains("onloop resume "), "{said}");
    // It costs nothing.
    again(&["--agent", "script"]);
    project.write(".agentize.local.yaml", "budget: { day_usd: 2.00, month_usd: 50 }\n");
    let id = project.kept_ids().pop().expect("a run");
    project.onloop(&["resume", &id, "--agent-command", &report("0.1")]).expect_exit(0);
    // What cannot be read lets nothing be spent.
    project.write(".agentize.local.yaml", "budget: { day_usd: lots }\n");
    let paused = again(&["--agent-command", "true"]).expect_exit(3);
    assert!(paused.stderr.contains("`budget.day_usd: 0`"), "{}", paused.stderr);
}
