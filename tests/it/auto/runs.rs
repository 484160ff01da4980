//! What runs do when locks, disks, hosts and people do not play along.

use onloop_core::auto::{LOCK_PATH, STATE_PATH};
use onloop_core::effect::{Exit, Failure, ProcessEnd, ProcessSpec, ProcessStatus};
use onloop_core::time::Timestamp;
use onloop_core::verb::auto::{
    AutoArgs, AutoInitArgs, AutoResumeArgs, AutoRunArgs, AutoVerb, BeginArgs, RouteArgs, RuleArgs,
    auto,
};
use proptest::prelude::*;
use serde_json::Value;

use super::machine::{Ended, Machine, Running, exited, nobody, variable};
use crate::rounds::cases;

const NOW: &str = "2026-02-24T01:00:00Z";
const GUARD: &str = ".ai/runtime/rw-auto.guard";
const PENDING: &str = "## Task Status\n| TASK-01 | x | pending | - |\n";
const LOOP_CYCLE: &str = "AUTO_CYCLE=1\nAUTO_ROUTE_TARGET=rw-loop\n";

fn workspace() -> Machine {
    let machine = Machine::new(NOW);
    machine.put(".ai/CONTEXT.md", "# Context\n");
    machine.put(".ai/PROGRESS.md", PENDING);
    machine
}

fn run_args(words: &[&str]) -> AutoArgs {
    let run = AutoRunArgs {
        argument: words.iter().map(|&word| word.to_owned()).collect(),
        agent_command: Some("agent".to_owned()),
        ..AutoRunArgs::default()
    };
    AutoArgs { verb: None, run }
}

fn verb(verb: AutoVerb) -> AutoArgs {
    AutoArgs { verb: Some(verb), run: AutoRunArgs::default() }
}

fn begin(machine: &mut Machine) -> Ended {
    machine.run(|io| auto(io, verb(AutoVerb::Begin(BeginArgs::default()))), &mut nobody)
}

fn resume(machine: &mut Machine, result_file: Option<&str>) -> Ended {
    let result_file = result_file.map(str::to_owned);
    let args = verb(AutoVerb::Resume(AutoResumeArgs { result_file, failed: None }));
    machine.run(|io| auto(io, args), &mut nobody)
}

fn result_file(ended: &Ended) -> String {
    let last = ended.stdout.lines().last().expect("a line");
    let last: Value = serde_json::from_str(last).expect("JSON");
    last["dispatch"]["result_file"].as_str().expect("a dispatch").to_owned()
}

fn code(ended: &Ended) -> u8 {
    ended.exit.code()
}

/// A child that answers `next`.
fn says(
    next: &'static str,
) -> impl FnMut(&mut Machine, &ProcessSpec) -> Result<ProcessEnd, Failure> {
    move |_, _| Ok(exited(0, &format!("NEXT_COMMAND={next}\n")))
}

fn advance(machine: &mut Machine, seconds: i64) {
    machine.now = Timestamp::from_millis(machine.now.as_millis() + seconds * 1000);
}

#[test]
fn a_live_run_keeps_its_lock_however_old_it_is() {
    let mut machine = workspace();
    let mut long = machine.begin(|io| auto(io, run_args(&[])));
    let mut second = None;
    let mut player = |machine: &mut Machine, _: &ProcessSpec| {
        advance(machine, 3600);
        second = Some(machine.run(|io| auto(io, run_args(&[])), &mut nobody));
        Ok(exited(0, "NEXT_COMMAND=done\n"))
    };
    while long.ended.is_none() {
        machine.step(&mut long, &mut player);
    }
    let second = second.expect("a second run");
    assert_eq!(second.stdout, "AUTO_LOCK_HELD\nNEXT_COMMAND=rw-auto\n");
    assert_eq!(code(&second), 12);
    assert_eq!(
        second.stderr,
        "note: `.ai/runtime/rw-auto.guard` is held by program 1\n\
         note: another rw-auto works here; wait for it, or remove\n      \
         `.ai/runtime/rw-auto.lock` if none does\n"
    );
    assert_eq!(long.stdout, format!("{LOOP_CYCLE}NEXT_COMMAND=done\n"));
    assert!(!machine.path(LOCK_PATH).exists());
}

#[test]
fn a_run_that_has_lost_its_lock_stops_and_leaves_it_alone() {
    let mut machine = workspace();
    let foreign = "{\"owner\":\"someone\",\"acquired_at\":\"2026-02-24T01:00:00Z\"}";
    let ended =
        machine.run(|io| auto(io, run_args(&[])), &mut |machine: &mut Machine, _: &ProcessSpec| {
            machine.put(LOCK_PATH, foreign);
            Ok(exited(0, "NEXT_COMMAND=rw-loop\n"))
        });
    assert_eq!(ended.stdout, format!("{LOOP_CYCLE}AUTO_LOCK_HELD\nNEXT_COMMAND=rw-auto\n"));
    assert_eq!(machine.text(LOCK_PATH).as_deref(), Some(foreign));
}

#[test]
fn a_lock_that_a_child_swept_away_is_taken_again() {
    let mut machine = workspace();
    let mut cycles = 0;
    let ended = machine.run(
        |io| auto(io, run_args(&["--max-cycles=2"])),
        &mut |machine: &mut Machine, _: &ProcessSpec| {
            cycles += 1;
            assert!(machine.path(LOCK_PATH).exists(), "held in cycle {cycles}");
            std::fs::remove_file(machine.path(LOCK_PATH)).expect("a lock");
            Ok(exited(0, "NEXT_COMMAND=rw-loop\n"))
        },
    );
    assert_eq!((code(&ended), cycles), (13, 2));
    assert!(!machine.path(LOCK_PATH).exists());
}

#[test]
fn the_stamp_is_renewed_in_every_cycle_and_the_beginning_is_kept() {
    let mut machine = workspace();
    let mut seen = Vec::new();
    machine.run(
        |io| auto(io, run_args(&["--max-cycles=3"])),
        &mut |machine: &mut Machine, _: &ProcessSpec| {
            let lock: Value = serde_json::from_str(&machine.text(LOCK_PATH).unwrap()).unwrap();
            seen.push(format!("{} {}", lock["acquired_at"], lock["refreshed_at"]));
            advance(machine, 540);
            Ok(exited(0, "NEXT_COMMAND=rw-loop\n"))
        },
    );
    let clock = |time: &str| format!("\"2026-02-24T{time}+00:00\"");
    let first = clock("01:00:00");
    let expected =
        ["01:00:00", "01:09:00", "01:18:00"].map(|time| format!("{first} {}", clock(time)));
    assert_eq!(seen, expected);
}

#[test]
fn a_disk_without_room_is_no_workspace() {
    let mut machine = workspace();
    machine.is_full = true;
    let ended = machine.run(|io| auto(io, run_args(&[])), &mut nobody);
    assert_eq!(ended.stdout, "TARGET_ROOT_INVALID\nNEXT_COMMAND=rw-planner\n");
    assert_eq!(code(&ended), 22);
    let expected = "note: cannot write `.ai/runtime/rw-auto.lock`: \
        `.ai/runtime/rw-auto.lock`: no room left";
    assert_eq!(crate::flat(&ended.stderr), expected);
}

#[test]
fn ctrl_c_releases_the_lock() {
    let mut machine = workspace();
    let ended =
        machine.run(|io| auto(io, run_args(&[])), &mut |_: &mut Machine, _: &ProcessSpec| {
            Ok(ProcessEnd { status: ProcessStatus::Interrupted, ..exited(0, "NEXT_COMMAND=done") })
        });
    assert_eq!(ended.stdout, format!("{LOOP_CYCLE}NEXT_COMMAND=rw-auto\n"));
    assert_eq!(code(&ended), 130);
    assert!(!machine.path(LOCK_PATH).exists());
}

#[test]
fn without_an_agent_nothing_is_started() {
    let mut machine = workspace();
    let args = AutoArgs::default();
    let ended = machine.run(|io| auto(io, args), &mut nobody);
    assert_eq!(ended.stdout, "RW_ENV_UNSUPPORTED\nNEXT_COMMAND=rw-auto\n");
    assert_eq!(code(&ended), 23);
    let expected =
        "note: no agent was found on PATH; give `--agent NAME` or `--agent-command LINE`\n";
    assert_eq!(ended.stderr, expected);
    for (bad, why) in [
        (
            "nobody",
            format!(
                "found agent `nobody`, expected one of {}",
                onloop_core::agent::AGENTS.join(", ")
            ),
        ),
        ("you", "agent `you` cannot be started as `rw-planner` or `rw-loop`".to_owned()),
    ] {
        let run = AutoRunArgs { agent: Some(bad.to_owned()), ..AutoRunArgs::default() };
        let ended = machine.run(|io| auto(io, AutoArgs { verb: None, run }), &mut nobody);
        assert_eq!((ended.exit, ended.stdout.as_str()), (Exit::Usage, ""), "{bad}");
        assert_eq!(crate::flat(&ended.stderr), format!("error: {why}"));
    }
    assert!(!machine.path(LOCK_PATH).exists());
}

#[test]
fn a_child_gets_its_prompt_and_leaves_its_traces() {
    let mut machine = workspace();
    machine.put(".ai/PROGRESS.md", "## Task Status\n");
    let ended = machine.run(
        |io| auto(io, run_args(&["--hitl", "add", "export"])),
        &mut |machine: &mut Machine, spec: &ProcessSpec| {
            let prompt =
                String::from_utf8(spec.stdin.clone().expect("a prompt").into()).expect("UTF-8");
            assert!(prompt.ends_with("The argument:\n\n    add export\n"));
            assert_eq!(variable(spec, "ONLOOP_AUTO_TARGET"), "rw-planner");
            assert_eq!(variable(spec, "ONLOOP_AUTO_CYCLE"), "1");
            let run = variable(spec, "ONLOOP_AUTO_RUN");
            let folder = format!(".ai/runtime/logs/{run}");
            assert_eq!(spec.stream_to, Some(format!("{folder}/01-rw-planner.log")));
            let copy = machine.text(&format!("{folder}/01-rw-planner.prompt.md"));
            assert_eq!(copy.as_ref(), Some(&prompt));
            Ok(exited(3, "NEXT_COMMAND=done\n"))
        },
    );
    assert_eq!(code(&ended), 20, "an agent that fails has not answered");
    let said = crate::flat(&ended.stderr);
    assert!(said.contains("exit code 3; its output is in `.ai/runtime/logs/"), "{said}");
}

#[test]
fn a_second_run_does_not_touch_one_that_waits_for_its_child() {
    let mut machine = workspace();
    let first = begin(&mut machine);
    let before = (machine.text(LOCK_PATH), machine.text(STATE_PATH));
    for args in [verb(AutoVerb::Begin(BeginArgs::default())), run_args(&[])] {
        let second = machine.run(|io| auto(io, args), &mut nobody);
        assert_eq!(code(&second), 12);
        assert!(second.stdout.starts_with("AUTO_LOCK_HELD\nNEXT_COMMAND=rw-auto\n"));
        assert_eq!((machine.text(LOCK_PATH), machine.text(STATE_PATH)), before);
    }
    // Nor does one that finds the workspace unusable.
    machine.denied.insert(".ai/PROGRESS.md".to_owned());
    assert_eq!(code(&begin(&mut machine)), 22);
    assert_eq!((machine.text(LOCK_PATH), machine.text(STATE_PATH)), before);
    machine.denied.clear();

    let path = result_file(&first);
    machine.put(&path, "NEXT_COMMAND=done\n");
    let ended = resume(&mut machine, Some(&path));
    assert_eq!(
        ended.stdout,
        "NEXT_COMMAND=done\n{\"stop\":{\"exit\":0,\"next_command\":\"done\"}}\n"
    );
}

#[test]
fn an_answer_counts_for_its_own_cycle_only_and_once() {
    let mut machine = workspace();
    let first = result_file(&begin(&mut machine));
    machine.put(&first, "NEXT_COMMAND=rw-loop\n");
    let second = resume(&mut machine, Some(&first));
    assert!(second.stdout.starts_with("AUTO_CYCLE=2\n"));
    let state = machine.text(STATE_PATH);
    for path in [first.as_str(), ".ai/runtime/logs/rw-other/02-rw-loop.result.md", "missing.md"] {
        let again = resume(&mut machine, Some(path));
        assert_eq!((again.exit, again.stdout.as_str()), (Exit::Usage, ""), "{path}");
        assert_eq!(machine.text(STATE_PATH), state, "{path}");
    }
    // Any other file will do, as long as somebody has put the answer into it.
    machine.put("answer.txt", "NEXT_COMMAND=done\n");
    assert_eq!(code(&resume(&mut machine, Some("answer.txt"))), 0);
}

#[test]
fn resuming_without_an_answer_renews_the_lock_and_names_the_child_again() {
    let mut machine = workspace();
    let begun = begin(&mut machine);
    let stamped = machine.text(LOCK_PATH);
    advance(&mut machine, 3600);
    let reminded = resume(&mut machine, None);
    assert_eq!(reminded.stdout.lines().last(), begun.stdout.lines().last());
    assert_eq!(reminded.exit, Exit::Done);
    assert_ne!(machine.text(LOCK_PATH), stamped);
    assert_eq!(code(&begin(&mut machine)), 12, "the lock is fresh again");
}

#[test]
fn a_run_that_was_taken_over_ends_with_its_childs_answer() {
    let mut machine = workspace();
    let first = result_file(&begin(&mut machine));
    advance(&mut machine, 600);
    let second = result_file(&begin(&mut machine));
    machine.put(&first, "NEXT_COMMAND=rw-loop\n");
    let refused = resume(&mut machine, Some(&first));
    assert_eq!((refused.exit, refused.stdout.as_str()), (Exit::Usage, ""));
    machine.put(&second, "NEXT_COMMAND=done\n");
    assert_eq!(code(&resume(&mut machine, Some(&second))), 0);
}

#[test]
fn a_stored_run_that_is_damaged_is_refused_by_name() {
    let mut machine = workspace();
    begin(&mut machine);
    let whole = machine.text(STATE_PATH).expect("a state");
    let changed = |from: &str, to: &str| {
        assert!(whole.contains(from), "{whole}");
        whole.replace(from, to)
    };
    // What is wrong with the form is found at the end of the document.
    let form = |state: String, what: &str| {
        let column = state.trim_end().len();
        (state, format!("it is not a stored run: {what} at line 1 column {column}"))
    };
    for (state, why) in [
        form("{\"v\":1".to_owned(), "EOF while parsing an object"),
        form("{\"v\":1}".to_owned(), "missing field `summary_left`"),
        form("{}".to_owned(), "missing field `v`"),
        ("{\"v\":2}".to_owned(), "found version 2, expected 1".to_owned()),
        (
            "\u{0}\u{1}".to_owned(),
            "it is not a stored run: expected value at line 1 column 1".to_owned(),
        ),
        form(String::new(), "EOF while parsing a value"),
        form(changed("\"previous\":null,", ""), "missing field `previous`"),
        form(changed("\"is_recovery\":false,", ""), "missing field `is_recovery`"),
        (changed("\"cycle\":1", "\"cycle\":9"), "found cycle 9, expected 1 to 8".to_owned()),
        form(
            changed("rw-loop", "rw-review"),
            "unknown variant `rw-review`, expected `rw-planner` or `rw-loop`",
        ),
        form(
            changed("\"profile\":\"v1\"", "\"profile\":\"v9\""),
            "unknown variant `v9`, expected one of `v1`, `v2`, `v3`, `route`",
        ),
    ] {
        machine.put(STATE_PATH, &state);
        let ended = resume(&mut machine, None);
        assert_eq!((ended.exit, ended.stdout.as_str()), (Exit::Refused, ""), "{state:?}");
        assert_eq!(crate::flat(&ended.stderr), format!("error: `{STATE_PATH}`: {why}"));
    }
}

#[test]
fn options_mend_what_the_original_does_not() {
    let stuck = |rules: RuleArgs| {
        let mut machine = workspace();
        let mut dispatches = 0;
        let mut args = run_args(&[]);
        args.run.rules = rules;
        let ended = machine.run(|io| auto(io, args), &mut |_: &mut Machine, _: &ProcessSpec| {
            dispatches += 1;
            Ok(exited(0, "RW_ENV_UNSUPPORTED\nNEXT_COMMAND=rw-loop\n"))
        });
        assert!(ended.stderr.contains("cycle 2 repeated the one before it"), "{}", ended.stderr);
        (code(&ended), dispatches)
    };
    assert_eq!(stuck(RuleArgs::default()), (13, 8));
    assert_eq!(stuck(RuleArgs { stop_on_stall: true, ..RuleArgs::default() }), (20, 2));

    let asked = |summary_once: bool| {
        let mut machine = workspace();
        let mut args = run_args(&["add", "export", "--max-cycles=3"]);
        args.run.rules =
            RuleArgs { profile: Some("v3".to_owned()), summary_once, ..RuleArgs::default() };
        let mut seen = Vec::new();
        machine.run(|io| auto(io, args), &mut |machine: &mut Machine, spec: &ProcessSpec| {
            machine.put(".ai/runtime/rw-active-plan-id.txt", "p\n");
            for name in ["plan-summary.yaml", "task-graph.yaml", "research_findings_a.yaml"] {
                machine.put(&format!(".ai/plans/p/{name}"), "x: 1\n");
            }
            seen.push(variable(spec, "ONLOOP_AUTO_TARGET").to_owned());
            Ok(exited(0, "NEXT_COMMAND=rw-loop\n"))
        });
        seen.join(" ")
    };
    assert_eq!(asked(false), "rw-planner rw-planner rw-planner");
    assert_eq!(asked(true), "rw-planner rw-loop rw-loop");
}

#[test]
fn a_workspace_is_laid_out_once() {
    let mut machine = Machine::new(NOW);
    machine.put(".gitignore", "target\n");
    let init = |dry_run| verb(AutoVerb::Init(AutoInitArgs { dry_run }));
    let dry = machine.run(move |io| auto(io, init(true)), &mut nobody);
    assert!(dry.stdout.starts_with("missing .ai/CONTEXT.md\n"), "{}", dry.stdout);
    assert!(machine.touched.is_empty());

    let first = machine.run(move |io| auto(io, init(false)), &mut nobody);
    assert_eq!(
        first.stdout,
        "created .ai/CONTEXT.md\ncreated .ai/PROGRESS.md\n\
         created .ai/features/FEATURE-TEMPLATE.md\ncreated .ai/tasks/TASK-TEMPLATE.md\n\
         changed .gitignore\n"
    );
    assert_eq!(machine.text(".gitignore").as_deref(), Some("target\n.ai/runtime/\n"));
    machine.put(".ai/CONTEXT.md", "# Ours\n");
    let before = machine.files();
    let second = machine.run(move |io| auto(io, init(false)), &mut nobody);
    assert!(second.stdout.lines().all(|line| line.starts_with("kept ")), "{}", second.stdout);
    assert_eq!(machine.files(), before);

    let ended = machine.run(|io| auto(io, run_args(&[])), &mut nobody);
    assert_eq!(code(&ended), 14, "a new workspace has nothing to do");
    let args = verb(AutoVerb::Route(RouteArgs::default()));
    let routed = machine.run(|io| auto(io, args), &mut nobody);
    let said = "AUTO_ROUTE_UNDECIDED\nAUTO_ROUTE_TARGET=rw-planner\nNEXT_COMMAND=rw-planner\n";
    assert!(routed.stdout.ends_with(said), "as a run says it: {}", routed.stdout);
    assert_eq!(code(&routed), 14);
    assert!(!machine.path(LOCK_PATH).exists());
}

#[test]
fn a_run_that_is_killed_anywhere_is_followed_by_one_that_works() {
    let mut steps = 0;
    loop {
        let mut machine = workspace();
        let mut victim = machine.begin(|io| auto(io, run_args(&[])));
        for _ in 0..steps {
            machine.step(&mut victim, &mut says("done"));
        }
        let is_over = victim.ended.is_some();
        machine.kill(victim);
        let at_once = machine.run(|io| auto(io, run_args(&[])), &mut says("done"));
        match code(&at_once) {
            0 => {}
            12 => {
                advance(&mut machine, 600);
                let later = machine.run(|io| auto(io, run_args(&[])), &mut says("done"));
                assert_eq!(code(&later), 0, "killed after {steps} requests: {}", later.stdout);
            }
            other => panic!("killed after {steps} requests: {other}"),
        }
        assert!(!machine.path(LOCK_PATH).exists(), "killed after {steps} requests");
        if is_over {
            assert!(steps > 10, "{steps} requests");
            return;
        }
        steps += 1;
    }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(cases(50, 1000)) })]

    /// Two runs that start at once, interleaved request by request in any order: one works,
    /// the other one says that the lock is held, and no child runs beside another.
    #[test]
    fn of_two_runs_started_at_once_exactly_one_works(
        schedule in prop::collection::vec(any::<bool>(), 80),
        lock in prop::sample::select(vec!["", "stale", "garbage"]),
    ) {
        let mut machine = workspace();
        match lock {
            "stale" => machine.put(LOCK_PATH, "2026-02-20T00:00:00Z\n"),
            "garbage" => {
                machine.put(LOCK_PATH, "???");
                let file = std::fs::File::options().write(true).open(machine.path(LOCK_PATH)).unwrap();
                file.set_modified(std::time::UNIX_EPOCH).unwrap();
            }
            _ => {}
        }
        let mut runs = [
            machine.begin(|io| auto(io, run_args(&[]))),
            machine.begin(|io| auto(io, run_args(&[]))),
        ];
        let mut children = 0;
        let mut player = |_: &mut Machine, _: &ProcessSpec| {
            children += 1;
            Ok(exited(0, "NEXT_COMMAND=done\n"))
        };
        let mut first_to_end = None;
        for turn in schedule.into_iter().chain(std::iter::repeat_n([false, true], 200).flatten()) {
            let running: &mut Running = &mut runs[usize::from(turn)];
            if running.ended.is_none() {
                machine.step(running, &mut player);
                if running.ended.is_some() && first_to_end.is_none() {
                    first_to_end = Some(running.stdout.clone());
                }
            }
        }
        let held = runs.iter().filter(|run| run.stdout.starts_with("AUTO_LOCK_HELD\n")).count();
        let done = runs.iter().filter(|run| run.stdout.ends_with("NEXT_COMMAND=done\n")).count();
        prop_assert!(runs.iter().all(|run| run.ended.is_some()));
        // One after the other is fine, too: the second may start when the first has ended.
        let one_after_the_other =
            first_to_end.is_some_and(|stdout| stdout.ends_with("NEXT_COMMAND=done\n")) && done == 2;
        prop_assert!((held, done) == (1, 1) || one_after_the_other, "{held} held, {done} done");
        prop_assert_eq!(children, done);
        prop_assert!(!machine.path(LOCK_PATH).exists());
        prop_assert!(!machine.locks.contains_key(GUARD));
    }
}
