//! The simulated host is unkind in the ways that programs are tested against.

use onloop_core::effect::Shell;
use onloop_core::effect::{
    Durability, Exit, Expect, FailureKind, Io, ProcessGroup, ProcessSpec, ProcessStatus, Program,
};
use onloop_tests::{Disk, Ended, Kill, Moment, PowerLoss, SimHost, SimProcess};

fn run<F: Future<Output = Exit> + 'static>(
    host: &mut SimHost,
    body: impl FnOnce(Io) -> F,
) -> Ended {
    let program = Program::new(host.start(&["probe"]), body);
    host.run_program(program)
}

fn line(line: &str, timeout_ms: Option<u64>) -> ProcessSpec {
    ProcessSpec { timeout_ms, ..ProcessSpec::shell(Shell::Sh, line) }.capture_bytes(100)
}

/// Writes two generations of a durable record, and a relaxed rendering of each.
async fn two_generations(io: Io) -> Exit {
    for generation in ["one", "two"] {
        let bytes = generation.as_bytes().to_vec();
        io.write("record", bytes.clone(), Expect::Any, Durability::Durable).await.unwrap();
        io.write("report", bytes, Expect::Any, Durability::Relaxed).await.unwrap();
    }
    Exit::Done
}

#[test]
fn a_power_cut_keeps_what_was_durable_and_may_lose_the_rest() {
    let table = [
        (0, Moment::Before, [None, None]),
        (0, Moment::After, [Some("one"), None]),
        (1, Moment::After, [Some("one"), None]),
        (2, Moment::Before, [Some("one"), None]),
        (2, Moment::After, [Some("two"), None]),
        (3, Moment::After, [Some("two"), None]),
    ];
    for (at_request, moment, expected) in table {
        let mut host = SimHost::new();
        host.lose_power(PowerLoss { at_request, moment, lose_relaxed: true });
        assert_eq!(run(&mut host, two_generations), Ended::PowerCut);
        let text =
            |disk: &Disk, path| disk.get(path).map(|b| String::from_utf8_lossy(b).into_owned());
        let found = [text(&host.disk, "record"), text(&host.disk, "report")];
        assert_eq!(found, expected.map(|e| e.map(str::to_owned)), "{at_request} {moment:?}");
        assert_eq!(run(&mut host, two_generations), Ended::Exit(Exit::Done));
        assert_eq!(host.disk.text("report"), "two");
    }
}

#[test]
fn a_power_cut_can_tear_an_append() {
    let mut host = SimHost::new();
    host.lose_power(PowerLoss { at_request: 1, moment: Moment::Within, lose_relaxed: false });
    let ended = run(&mut host, async |io| {
        io.append("log", b"first\n".to_vec(), 0, Durability::Durable).await.unwrap();
        io.append("log", b"second\n".to_vec(), 6, Durability::Durable).await.unwrap();
        Exit::Done
    });
    assert_eq!(ended, Ended::PowerCut);
    assert_eq!(host.disk.text("log"), "first\nsec");
}

#[test]
fn a_relaxed_append_is_lost_unless_a_durable_one_follows() {
    for (durable_after, expected) in [(false, "first\n"), (true, "first\nsecond\nthird\n")] {
        let mut host = SimHost::new();
        host.lose_power(PowerLoss { at_request: 3, moment: Moment::Before, lose_relaxed: true });
        let ended = run(&mut host, async move |io| {
            io.append("log", b"first\n".to_vec(), 0, Durability::Durable).await.unwrap();
            io.append("log", b"second\n".to_vec(), 6, Durability::Relaxed).await.unwrap();
            if durable_after {
                io.append("log", b"third\n".to_vec(), 13, Durability::Durable).await.unwrap();
            } else {
                io.stat("log").await.unwrap();
            }
            io.sleep(1).await.unwrap();
            Exit::Done
        });
        assert_eq!(ended, Ended::PowerCut);
        assert_eq!(host.disk.text("log"), expected);
    }
}

#[test]
fn the_lock_of_a_dead_program_is_taken_over_and_that_of_a_living_one_waited_for() {
    let mut host = SimHost::new();
    host.lose_power(PowerLoss { at_request: 1, moment: Moment::Before, lose_relaxed: false });
    let ended = run(&mut host, async |io| {
        io.lock("a.lock", 0).await.unwrap();
        io.sleep(1).await.unwrap();
        Exit::Done
    });
    assert_eq!(ended, Ended::PowerCut);
    assert!(host.disk.get("a.lock").is_some());
    host.hold_lock("b.lock", 500);
    let ended = run(&mut host, async |io| {
        io.lock("a.lock", 0).await.unwrap();
        assert_eq!(io.lock("b.lock", 100).await.unwrap_err().kind, FailureKind::Busy);
        let before = io.now();
        io.lock("b.lock", 1000).await.unwrap();
        assert!(io.now().millis_since(before) < 500);
        Exit::Done
    });
    assert_eq!(ended, Ended::Exit(Exit::Done));
    assert_eq!(host.disk.files("."), Vec::<String>::new(), "the end releases every lock");
}

#[test]
fn disks_fill_up_and_folders_refuse() {
    let mut host = SimHost::new();
    host.disk.put("ro/old", "x");
    host.disk.make_read_only("ro");
    host.disk.leave_room(4);
    let ended = run(&mut host, async |io| {
        let write = async |path: &str, text: &str| {
            let bytes = text.as_bytes().to_vec();
            io.write(path, bytes, Expect::Any, Durability::Durable).await.map_err(|f| f.kind)
        };
        assert_eq!(write("ro/old", "y").await, Err(FailureKind::Denied));
        assert_eq!(write("ro/new", "y").await, Err(FailureKind::Denied));
        assert_eq!(io.remove("ro").await.unwrap_err().kind, FailureKind::Denied);
        assert_eq!(io.lock("ro/lock", 0).await.unwrap_err().kind, FailureKind::Denied);
        write("a", "1234").await.unwrap();
        assert_eq!(write("b", "5").await, Err(FailureKind::Full));
        write("a", "12").await.unwrap();
        let full = io.append("a", b"345".to_vec(), 2, Durability::Durable).await.unwrap_err().kind;
        assert_eq!(full, FailureKind::Full);
        Exit::Done
    });
    assert_eq!(ended, Ended::Exit(Exit::Done));
    assert_eq!(host.disk.text("a"), "12");
}

#[test]
fn any_request_can_be_refused_without_effect() {
    for (number, expected) in [(0, None), (1, Some("one")), (2, Some("one")), (3, Some("two"))] {
        let mut host = SimHost::new();
        host.refuse_nth(number, FailureKind::Denied);
        run(&mut host, async |io| {
            for text in ["one", "two"] {
                let bytes = text.as_bytes().to_vec();
                if io.write("a", bytes, Expect::Any, Durability::Durable).await.is_err() {
                    return Exit::Refused;
                }
                if io.stat("a").await.is_err() {
                    return Exit::Refused;
                }
            }
            Exit::Done
        });
        let found = host.disk.get("a").map(|bytes| String::from_utf8_lossy(bytes).into_owned());
        assert_eq!(found.as_deref(), expected, "{number}");
    }
}

#[test]
fn scripted_programs_take_time_change_files_and_time_out() {
    let mut host = SimHost::new();
    let mut calls = 0;
    host.on("build", move |disk, _| {
        calls += 1;
        disk.put("out.txt", format!("{calls}"));
        SimProcess { duration_ms: 50, ..SimProcess::exit(i32::from(calls < 2), "built\n") }
    });
    host.on("hang", |_, _| SimProcess::forever("partial"));
    run(&mut host, async |io| {
        let start = io.now();
        let first = io.process(line("make build", None)).await.unwrap();
        let second = io.process(line("make build", None)).await.unwrap();
        assert_eq!(
            (first.status, second.status),
            (ProcessStatus::Exited(1), ProcessStatus::Exited(0))
        );
        assert!((100..110).contains(&io.now().millis_since(start)));
        let hung = io.process(line("hang", Some(7000))).await.unwrap();
        assert_eq!((hung.status, hung.duration_ms), (ProcessStatus::TimedOut, 7000));
        assert_eq!(hung.stdout.text(), "partial");
        Exit::Done
    });
    assert_eq!(host.disk.text("out.txt"), "2");
}

#[test]
fn an_interrupt_reaches_the_process_that_runs_or_the_next_that_waits() {
    let mut host = SimHost::new();
    host.on("hang", |_, _| SimProcess::forever(""));
    host.interrupt_at(1);
    run(&mut host, async |io| {
        io.stat(".").await.unwrap();
        let end = io.process(line("hang", None)).await.unwrap();
        assert_eq!(end.status, ProcessStatus::Interrupted);
        io.sleep(1).await.unwrap();
        Exit::Done
    });
    host.interrupt_at(4);
    run(&mut host, async |io| {
        io.stat(".").await.unwrap();
        io.stat(".").await.unwrap();
        io.write("saved", Vec::new(), Expect::Any, Durability::Durable).await.unwrap();
        let failure = io.process(line("hang", None)).await.unwrap_err();
        assert_eq!(failure.kind, FailureKind::Interrupted);
        Exit::Interrupted
    });
}

#[test]
fn a_person_answers_until_they_leave() {
    let mut host = SimHost::new();
    host.answer(["yes", "no"]);
    run(&mut host, async |io| {
        for expected in [Ok("yes"), Ok("no"), Err(FailureKind::Closed)] {
            let answer = io.ask("go on? ").await;
            assert_eq!(answer.as_deref().map_err(|failure| failure.kind), expected);
        }
        Exit::Done
    });
}

#[test]
fn a_killed_program_leaves_its_processes_or_takes_them_along() {
    for leaves_processes in [true, false] {
        let mut host = SimHost::new();
        host.on("agent", |_, _| SimProcess::exit(0, ""));
        let moment = Moment::Before;
        host.kill(Kill { at_request: 1, moment, leaves_processes });
        let ended = run(&mut host, async |io| {
            let record = async |_| io.sleep(1).await;
            io.process_announced(line("agent", None), record).await.unwrap();
            Exit::Done
        });
        assert_eq!(ended, Ended::Killed);
        let survivors = host.survivors().to_vec();
        assert_eq!(survivors.len(), usize::from(leaves_processes));
        for group in survivors {
            let other = ProcessGroup { pid: group.pid + 1, ..group.clone() };
            run(&mut host, async move |io| {
                let here = io.start().process.host.clone();
                assert_eq!(io.end_group(other, &here, None).await, Ok(0));
                let elsewhere = io.end_group(group.clone(), "elsewhere", None).await.unwrap_err();
                assert_eq!(elsewhere.kind, FailureKind::Unsupported);
                assert_eq!(io.end_group(group.clone(), &here, None).await, Ok(1));
                assert_eq!(io.end_group(group, &here, None).await, Ok(0));
                Exit::Done
            });
        }
        assert!(host.survivors().is_empty());
    }
}

#[test]
fn the_whole_command_line_runs_in_memory() {
    let mut host = SimHost::new();
    assert_eq!(host.run(&["onloop", "--version"]), Ended::Exit(Exit::Done));
    assert!(host.results().starts_with("onloop "));
}
