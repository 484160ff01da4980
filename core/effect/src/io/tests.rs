use std::task::{Context, Waker};

use super::*;
use crate::{
    Capture, Exit, ProcessEnd, ProcessGroup, ProcessSpec, ProcessStatus, Program, Reply, Turn,
};

#[test]
fn an_outcome_of_another_kind_is_a_failure() {
    let mut program = Program::new(Start::example(["onloop"]), |io| async move {
        let failure = io.stat("a").await.unwrap_err();
        assert_eq!(failure, Failure::new(FailureKind::Other, "the host answered with Done"));
        Exit::Done
    });
    assert!(matches!(program.resume(None), Turn::Request(Request::Stat { .. })));
    let reply = Reply { at: Timestamp::EPOCH, outcome: Ok(Outcome::Done) };
    assert!(matches!(program.resume(Some(reply)), Turn::Exit(Exit::Done)));
}

/// Replies to a program with these outcomes and returns its requests.
fn conversation<B, F>(body: B, outcomes: Vec<Outcome>) -> Vec<Request>
where
    B: FnOnce(Io) -> F,
    F: Future<Output = Exit> + 'static,
{
    let mut program = Program::new(Start::example(["onloop"]), body);
    let (mut asked, mut reply) = (Vec::new(), None);
    for outcome in outcomes {
        match program.resume(reply.take()) {
            Turn::Request(request) => asked.push(request),
            Turn::Exit(exit) => panic!("it ended early, with {exit:?}"),
        }
        reply = Some(Reply { at: Timestamp::EPOCH, outcome: Ok(outcome) });
    }
    assert!(matches!(program.resume(reply), Turn::Exit(Exit::Done)));
    asked
}

fn agent() -> ProcessSpec {
    ProcessSpec::argv(["agent"])
}

fn group() -> ProcessGroup {
    ProcessGroup { pid: 7, started: "9".to_owned(), boot: String::new() }
}

fn end() -> ProcessEnd {
    let (stdout, stderr) = (Capture::default(), Capture::default());
    ProcessEnd {
        status: ProcessStatus::Exited(0),
        stdout,
        stderr,
        duration_ms: 1,
        confined: None,
        opened: None,
        refused: Vec::new(),
    }
}

#[test]
fn a_group_is_known_before_its_program_is_waited_for() {
    let asked = conversation(
        async |io| {
            let known = async |started| {
                assert_eq!(started, group());
                io.sleep(1).await
            };
            assert_eq!(io.process_announced(agent(), known).await, Ok(end()));
            Exit::Done
        },
        vec![
            Outcome::Started { group: group() },
            Outcome::Done,
            Outcome::Running,
            Outcome::Process(end()),
        ],
    );
    let wait = Request::Wait { wake_after_ms: None, wake_on_input: false, activity: None };
    let announced = Request::Process(ProcessSpec { announce: true, ..agent() });
    assert_eq!(asked, [announced, Request::Sleep { duration_ms: 1 }, wait.clone(), wait]);
}

#[test]
fn a_quick_program_is_told_of_when_it_is_over() {
    let wait =
        |wake_after_ms| Request::Wait { wake_after_ms, wake_on_input: false, activity: None };
    let announced = Request::Process(ProcessSpec { announce: true, ..agent() });
    let told = |outcomes: Vec<Outcome>, expected: bool| {
        let asked = conversation(
            async move |io| {
                let known = async |_, runs| {
                    assert_eq!(runs, expected);
                    io.sleep(1).await
                };
                assert_eq!(io.process_told(agent(), 15, known).await, Ok(end()));
                Exit::Done
            },
            [vec![Outcome::Started { group: group() }], outcomes].concat(),
        );
        assert_eq!(asked[..2], [announced.clone(), wait(Some(15))]);
        asked[2..].to_vec()
    };
    let quick = told(vec![Outcome::Process(end()), Outcome::Done], false);
    assert_eq!(quick, [Request::Sleep { duration_ms: 1 }]);
    let long = told(vec![Outcome::Running, Outcome::Done, Outcome::Process(end())], true);
    assert_eq!(long, [Request::Sleep { duration_ms: 1 }, wait(None)]);
}

#[test]
fn what_nobody_knows_of_does_not_act() {
    let asked = conversation(
        async |io| {
            let refused = Failure::new(FailureKind::Full, "no room to write it down");
            let unknown = async |_| Err(refused.clone());
            let end = io.process_announced(agent(), unknown).await;
            assert_eq!(end, Err(refused));
            Exit::Done
        },
        vec![Outcome::Started { group: group() }, Outcome::Done],
    );
    assert_eq!(asked[1..], [Request::End]);
}

#[test]
#[should_panic(expected = "before it had the reply to another one")]
fn two_requests_at_once_are_a_bug() {
    let mut program = Program::new(Start::example(["onloop"]), |io| async move {
        let mut first = Box::pin(io.sleep(1));
        let pending = first.as_mut().poll(&mut Context::from_waker(Waker::noop()));
        assert!(pending.is_pending());
        let _ = io.sleep(2).await;
        Exit::Done
    });
    program.resume(None);
}

#[test]
#[should_panic(expected = "although the program had asked for nothing")]
fn a_reply_to_no_request_is_a_bug() {
    let mut program = Program::new(Start::example(["onloop"]), |_| std::future::ready(Exit::Done));
    program.resume(Some(Reply { at: Timestamp::EPOCH, outcome: Ok(Outcome::Done) }));
}
