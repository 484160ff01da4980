//! `--loop-runner onloop`: tasks that are workflows, from the plan to the evidence, with the
//! real program.

use onloop_core::auto::AutoEnding;
use onloop_core::effect::{Exit, Program, Request};
use onloop_tests::{Ended, Moment, PowerLoss, SimHost, SimProcess};
use serde_json::Value;

use crate::rounds::is_long;
use crate::run::workflow;
use crate::workspace::{Run, Workspace};

const AUTO: &[&str] = &["auto", "--loop-runner", "onloop"];
const PROGRESS: &str = ".ai/PROGRESS.md";

/// A step that does `script` and is checked by `verify`.
fn step(number: u32, script: &str, verify: &str) -> String {
    format!(
        "- [ ] **Step {number}: Do it**\naction: do it\nloop: false\n{verify}\n\
         ```sh\n{script}\n```\n\n"
    )
}

/// A project without git with these tasks: the status of each, and its workflow's steps.
fn project(tasks: &[(&str, &str)]) -> Workspace {
    let project = Workspace::plain();
    lay_out(&project, "", tasks);
    project
}

fn lay_out(project: &Workspace, front: &str, tasks: &[(&str, &str)]) {
    project.write(".ai/CONTEXT.md", "# Context\n");
    let mut table = "## Task Status\n| Task | Title | Status | Commit |\n".to_owned();
    for (number, (status, steps)) in (1..).zip(tasks) {
        table += &format!("| TASK-0{number} | A title | {status} | - |\n");
        project.write(&format!(".ai/workflows/TASK-0{number}.md"), workflow(front, steps));
    }
    project.write(PROGRESS, table);
}

fn auto(project: &Workspace, arguments: &[&str]) -> Run {
    project.onloop(&[AUTO, arguments].concat())
}

/// Status and commit of every task.
fn table(project: &Workspace) -> String {
    let text = project.read(PROGRESS);
    let rows = text.lines().filter(|line| line.starts_with("| TASK-"));
    let cells = rows.map(|row| row.split('|').skip(3).map(str::trim).collect::<Vec<_>>());
    cells.map(|cells| cells[..2].join(" ")).collect::<Vec<_>>().join(", ")
}

fn cycle(number: u32, target: &str) -> String {
    format!("AUTO_CYCLE={number}\nAUTO_ROUTE_TARGET={target}\n")
}

/// What the loop answered in the only run, in the order of its cycles.
fn answers(project: &Workspace) -> Vec<String> {
    let logs = project.path(".ai/runtime/logs");
    let mut paths: Vec<_> = std::fs::read_dir(logs)
        .expect("logs")
        .flat_map(|run| std::fs::read_dir(run.unwrap().path()).expect("a folder"))
        .map(|file| file.unwrap().path())
        .filter(|path| path.to_string_lossy().ends_with(".result.md"))
        .collect();
    paths.sort();
    paths.iter().map(|path| std::fs::read_to_string(path).expect("an answer")).collect()
}

fn value<'a>(answer: &'a str, key: &str) -> &'a str {
    let found = answer.lines().find_map(|line| line.strip_prefix(key)?.strip_prefix('='));
    found.unwrap_or_else(|| panic!("no {key}: {answer}"))
}

#[test]
fn a_plan_becomes_verified_steps_and_evidence() {
    let project = Workspace::plain();
    project.write(".ai/CONTEXT.md", "# Context\n");
    project.write(PROGRESS, "## Task Status\n| Task | Title | Status | Commit |\n");
    // The agent plans, and later acts on the steps of what it has planned.
    let steps = "- [ ] **Step 1: Greet**\naction: greet\nloop: until the greeting is there\n\
                 max_iterations: 3\nverify: grep -q hello greeting.txt\n";
    project.write("plan.md", workflow("", steps));
    project.write(
        "agent.sh",
        "cat > /dev/null\n\
         if test -n \"$ONLOOP_STEP\"; then\n\
         test -e tried && echo hello > greeting.txt; touch tried; exit 0\nfi\n\
         test \"$ONLOOP_AUTO_TARGET\" = rw-planner || exit 9\n\
         mkdir -p .ai/workflows; cp plan.md .ai/workflows/TASK-01.md\n\
         echo '| TASK-01 | Greeting | pending | - |' >> .ai/PROGRESS.md\n\
         echo NEXT_COMMAND=rw-loop\n",
    );
    let run = auto(&project, &["--agent-command", "sh agent.sh", "add a greeting"]).expect_exit(0);
    let expected = cycle(1, "rw-planner") + &cycle(2, "rw-loop") + "NEXT_COMMAND=done\n";
    assert_eq!(run.stdout, expected, "{}", run.stderr);
    assert_eq!(table(&project), "completed -");

    let answers = answers(&project);
    let [answer] = answers.as_slice() else { panic!("{answers:?}") };
    let record = project.record();
    assert_eq!(record["status"], "completed");
    assert_eq!(record["run_id"], value(answer, "RUN_ID"));
    assert_eq!(record["steps"][0]["attempts"], 2, "the first attempt was not believed");
    let report = std::fs::read_to_string(value(answer, "RUN_REPORT")).expect("a report");
    assert!(report.contains("grep -q hello greeting.txt"), "{report}");
    assert!(!project.path(".ai/runtime/rw-auto.lock").exists());
}

#[test]
fn tasks_are_done_one_a_cycle_in_their_order() {
    let append = |name: &str| step(1, &format!("echo {name} >> log"), "verify: test -e log");
    let project = project(&[
        ("pending", &append("one")),
        ("in-progress", &append("two")),
        ("completed", &append("never")),
        ("pending", &append("four")),
    ]);
    let run = auto(&project, &[]).expect_exit(0);
    let cycles: String = (1..=3).map(|number| cycle(number, "rw-loop")).collect();
    assert_eq!(run.stdout, cycles + "NEXT_COMMAND=done\n");
    assert_eq!(project.read("log"), "two\none\nfour\n");
    assert_eq!(table(&project), "completed -, completed -, completed -, completed -");
    let again = auto(&project, &[]).expect_exit(0);
    assert_eq!(again.stdout, cycle(1, "rw-loop") + "NEXT_COMMAND=done\n");
    assert_eq!(project.records().len(), 3, "nothing was done twice");
}

/// The lines of a stop that waits for a person.
fn review(reason: &str, hint: &str) -> String {
    format!(
        "{}FEATURE_REVIEW_REQUIRED\nFEATURE_REVIEW_REASON={reason}\n\
         FEATURE_FILE=.ai/workflows/TASK-01.md\nFEATURE_REVIEW_HINT={hint}\n\
         NEXT_COMMAND=rw-planner\n",
        cycle(1, "rw-loop")
    )
}

#[test]
fn a_blocked_task_stops_the_run_and_is_taken_up_again() {
    let steps = step(1, "echo x >> tries", "verify: test -e mended");
    let project = project(&[("pending", &steps)]);
    let run = auto(&project, &[]).expect_exit(10);
    let record = project.record();
    let report = project.path(&format!(".hotl/reports/{}.md", record["run_id"].as_str().unwrap()));
    let hint = format!(
        "TASK-01 is blocked: read {}, fix the cause, then run rw-auto again",
        report.display()
    );
    assert_eq!(run.stdout, review("RUN_BLOCKED", &hint));
    assert_eq!(table(&project), "blocked -");
    project.write("mended", "");
    let run = auto(&project, &[]).expect_exit(0);
    assert_eq!(run.stdout, cycle(1, "rw-loop") + "NEXT_COMMAND=done\n");
    assert_eq!(table(&project), "completed -");
    assert_eq!(project.record()["run_id"], record["run_id"], "the same run went on");
}

#[test]
fn a_gate_waits_for_a_person_and_flags_for_the_loop_may_open_it() {
    let steps = step(1, "touch done", "verify: test -e done\ngate: human");
    let project = project(&[("pending", &steps)]);
    let run = auto(&project, &[]).expect_exit(10);
    let id = project.record()["run_id"].as_str().expect("an id").to_owned();
    let hint =
        format!("TASK-01 waits for a decision: see `onloop status {id}`, then run rw-auto again");
    assert_eq!(run.stdout, review("RUN_PAUSED", &hint));
    assert_eq!(table(&project), "in-progress -");
    // The person finishes the run by hand; the table hears of it.
    project.onloop(&["gate", "1", "approved"]).expect_exit(0);
    project.onloop(&["resume"]).expect_exit(0);
    auto(&project, &[]).expect_exit(0);
    assert_eq!(table(&project), "completed -");
    assert_eq!(project.record()["run_id"].as_str(), Some(id.as_str()));

    let unattended = self::project(&[("pending", &steps)]);
    auto(&unattended, &["--no-hitl"]).expect_exit(0);
    assert_eq!(table(&unattended), "completed -");
}

#[test]
fn what_cannot_be_run_leaves_the_table_as_it_was() {
    let project = project(&[("pending", "no steps at all\n")]);
    let before = project.read(PROGRESS);
    let run = auto(&project, &[]).expect_exit(20);
    let expected = "AUTO_SUBAGENT_RESULT_INVALID\nNEXT_COMMAND=rw-auto\n";
    assert_eq!(run.stdout, cycle(1, "rw-loop") + expected);
    assert!(run.stderr.contains("`.ai/workflows/TASK-01.md` was refused"), "{}", run.stderr);
    assert_eq!(project.read(PROGRESS), before);
    assert_eq!(project.records(), Vec::<Value>::new());
}

#[test]
fn a_task_without_a_workflow_is_the_agents() {
    let project = project(&[("pending", "")]);
    std::fs::remove_file(project.path(".ai/workflows/TASK-01.md")).expect("a workflow");
    let run = auto(&project, &["--agent-command", "echo NEXT_COMMAND=done"]).expect_exit(0);
    assert_eq!(run.stdout, cycle(1, "rw-loop") + "NEXT_COMMAND=done\n");
    let run = auto(&project, &[]).expect_exit(23);
    let expected = "error: there is no agent for `rw-loop`\n  fix: name one with `--agent NAME` or \
        `--agent-command LINE`\n";
    assert_eq!(run.stderr, expected);
}

#[test]
fn tasks_that_share_a_branch_build_on_each_other() {
    let project = Workspace::git();
    let commit = "git add made; git commit --quiet --message made";
    let first = step(1, &format!("echo one > made; {commit}"), "verify: test -e made");
    let second = step(1, &format!("echo two >> made; {commit}"), "verify: grep -q one made");
    lay_out(&project, "branch: work\n", &[("pending", &first), ("pending", &second)]);
    project.write(".gitignore", ".ai/runtime/\n.hotl/\n");
    project.commit("Plan");
    let run = auto(&project, &[]).expect_exit(0);
    assert!(run.stdout.ends_with("NEXT_COMMAND=done\n"), "{}", run.stdout);
    assert_eq!(project.git_says(&["show", "work:made"]), "one\ntwo");
    let commits = ["work~1", "work"].map(|name| project.git_says(&["rev-parse", name]));
    let [one, two] = commits.map(|commit| commit[..10].to_owned());
    assert_eq!(table(&project), format!("completed {one}, completed {two}"));
}

const SIMULATED: &[&str] = &["onloop", "auto", "--loop-runner", "onloop"];

/// A simulated machine whose only task is a step that makes a file.
fn simulated() -> SimHost {
    let mut host = SimHost::new();
    host.disk.put(".ai/CONTEXT.md", "# Context\n");
    host.disk.put(PROGRESS, "## Task Status\n| TASK-01 | A title | pending | - |\n");
    let steps = step(1, "make it", "verify: look for it");
    host.disk.put(".ai/workflows/TASK-01.md", workflow("", &steps));
    host.on("make it", |disk, _| {
        disk.put("made", "x");
        SimProcess { duration_ms: 15 * 60 * 1000, ..SimProcess::exit(0, "") }
    });
    host.on("look for it", |disk, _| SimProcess::exit(i32::from(disk.get("made").is_none()), ""));
    host
}

#[test]
fn a_power_cut_anywhere_neither_loses_a_task_nor_believes_it() {
    let mut whole = simulated();
    assert_eq!(whole.run(SIMULATED), Ended::Exit(AutoEnding::Done.exit()), "{}", whole.notes());
    let wakes = whole.requests.iter().filter(|r| matches!(r, Request::Wait { .. })).count();
    // Three of them follow the announcements of who acts and of who checks.
    assert_eq!(wakes, 7, "the lock is stamped while a step of the workflow is at work");
    let moments = [(Moment::Before, true), (Moment::Within, false), (Moment::After, false)];
    for at_request in 0..whole.requests.len() {
        // The power fails at each request; `--all` tries each moment of it.
        let tried = if is_long() { moments.iter() } else { moments[at_request % 3..][..1].iter() };
        for &(moment, lose_relaxed) in tried {
            let about = format!("{at_request} {moment:?}: {:?}", whole.requests[at_request]);
            let mut host = simulated();
            host.lose_power(PowerLoss { at_request, moment, lose_relaxed });
            assert_eq!(host.run(SIMULATED), Ended::PowerCut, "{about}");
            let text = |host: &SimHost| {
                String::from_utf8_lossy(host.disk.get(PROGRESS).expect("a table")).into_owned()
            };
            assert!(!text(&host).contains("completed") || host.disk.get("made").is_some());
            let sleeper = Program::new(host.start(&["sleep"]), |io| async move {
                io.sleep(600_000).await.map_or(Exit::Failed, |()| Exit::Done)
            });
            host.run_program(sleeper);
            let ended = host.run(SIMULATED);
            let done = Ended::Exit(AutoEnding::Done.exit());
            assert_eq!(ended, done, "{about}\n{}\n{}", host.results(), host.notes());
            assert!(text(&host).contains("| completed |"), "{about}\n{}", text(&host));
            assert!(host.disk.get("made").is_some(), "{about}");
        }
    }
}
