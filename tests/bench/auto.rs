//! What rw-auto costs beside its children: nothing that anybody would notice.

mod measured;

use std::time::Duration;

use divan::{Bencher, black_box};
use measured::{assert_near_goal, median, time};
use onloop_core::auto::child::ChildAnswer;
use onloop_core::auto::feature;
use onloop_core::auto::progress::TaskTable;
use onloop_core::effect::{Outcome, Reply, Request, Start, Turn};
use onloop_core::engine::error::verb_program;
use onloop_core::time::Timestamp;
use onloop_core::verb::auto::{RehearseArgs, rehearse};

/// A run of twenty cycles may take so long beyond its children, the disk included.
const GOAL: Duration = Duration::from_millis(60);

fn main() {
    divan::main();
    let scenario = twenty_cycles();
    let run = median((0..11).map(|_| time(|| perform(&scenario))).collect());
    println!("twenty cycles in memory: {run:?} (goal: at most {GOAL:?})");
    assert_near_goal("seconds of twenty cycles", run.as_secs_f64(), GOAL.as_secs_f64());
}

/// A scenario in which the loop is started in every one of twenty cycles.
fn twenty_cycles() -> String {
    let children = vec![r#"{"result":"NEXT_COMMAND=rw-loop\n","takes_s":60}"#; 20].join(",");
    let rows: String = (1..=100).map(|n| format!("| TASK-{n} | x | pending | - |\\n")).collect();
    format!(
        r###"{{"id":1,"now":"2026-02-24T01:00:00Z","argument":"--max-cycles=20","tree":{{".ai/CONTEXT.md":"c",".ai/PROGRESS.md":"## Task Status\n{rows}"}},"children":[{children}]}}"###
    )
}

/// The whole machine: twenty cycles over files in memory.
#[divan::bench]
fn run_of_twenty_cycles(bencher: Bencher<'_, '_>) {
    let scenario = twenty_cycles();
    bencher.bench(|| perform(&scenario));
}

fn perform(scenario: &str) {
    let start = Start::example(["onloop", "auto", "rehearse"]);
    let mut program = verb_program(start, |io| rehearse(io, RehearseArgs { file: "-".to_owned() }));
    let mut input = Some(scenario.as_bytes().to_vec());
    let mut reply = None;
    loop {
        let outcome = match program.resume(reply.take()) {
            Turn::Exit(exit) => {
                black_box(exit);
                return;
            }
            Turn::Request(Request::ReadInput { .. }) => {
                Outcome::Input { bytes: input.take().unwrap_or_default().into() }
            }
            Turn::Request(_) => Outcome::Done,
        };
        reply = Some(Reply { at: Timestamp::EPOCH, outcome: Ok(outcome) });
    }
}

/// Texts of a megabyte that are as unkind as we can make them.
const UNKIND: [(&str, &str); 6] = [
    ("rows", "| TASK-1 | x | pending | - |\n"),
    ("comments", "<!-- x --> ` "),
    ("unclosed", "`<!-- "),
    ("pipes", "|\\|"),
    ("fences", "```\n~~~\n"),
    ("tokens", "NEXT_COMMAND=done\nFEATURE_FILE=a\u{2028}b\nFEATURE_REVIEW_REQUIRED\n"),
];

#[divan::bench(args = UNKIND.map(|(name, _)| name))]
fn read_a_megabyte(bencher: Bencher<'_, '_>, name: &str) {
    let (_, piece) = UNKIND.into_iter().find(|(found, _)| *found == name).expect("a name");
    let text = piece.repeat(1024 * 1024 / piece.len());
    bencher.bench(|| {
        black_box(TaskTable::parse(&text).tasks());
        black_box(feature::status(&text));
        black_box(ChildAnswer::parse(&text).is_ok());
    });
}
