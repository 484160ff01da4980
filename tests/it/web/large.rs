//! Many runs, and a run of many steps: a page stays small.

use std::fmt::Write;

use super::*;
use crate::workspace::report_facts;

/// Most bytes that the answer to one page may have, without the script.
const PAGE_BYTES: usize = 120 * 1024;

/// A machine on which a run of 500 steps has come to its gate at step 120.
fn long_run() -> (SimHost, String) {
    let mut steps = String::new();
    for number in 1..=500 {
        let gate = if number == 120 { "gate: human\n" } else { "" };
        write!(
            steps,
            "- [ ] **Step {number}: Change the part with the number {number} of the machine**\n\
             action: change it\nloop: false\nverify: check-built\n{gate}\n"
        )
        .expect("it fits into memory");
    }
    let mut machine = SimHost::new();
    machine.disk.put(FILE, workflow("", &steps));
    for line in ["the-agent", "check-built"] {
        machine.on(line, |_, _| SimProcess::exit(0, &"a line of output <b>\n".repeat(2000)));
    }
    assert_eq!(machine.run(RUN), Ended::Exit(Exit::Paused), "{}", machine.notes());
    let id = only_id(&machine);
    (machine, id)
}

#[test]
#[ignore = "only with --all"]
fn the_facts_and_the_report_of_a_run_of_500_steps_stay_small() {
    let (mut machine, id) = long_run();
    machine.run(&["onloop", "report", &id, "--html", "--out", "/demo/report.html"]);
    let page = machine.disk.text("/demo/report.html");
    assert!(page.len() < 2_500_000, "{} bytes", page.len());
    let facts = report_facts(page);
    for what in ["log?attempt=1-1", "attempts?step=1"] {
        let place = &facts["places"][&format!("/data/run/{id}/{what}")];
        let text = facts["values"][place.as_u64().expect("a number") as usize].to_string();
        assert!(text.contains("--- Only the end; "), "{text}");
    }
    let here = format!("/data/run/{id}");
    let mut steps = sign_in();
    steps.push(step(move |browser| browser.get(&here)));
    let answers = browse(&mut machine, steps);
    let here = body(&answers[2]);
    assert!(here.len() < PAGE_BYTES, "{}", here.len());
    let run = &facts_of(&here)["run"];
    assert_eq!((&run["card"]["done"], &run["card"]["steps"]), (&json!(119), &json!(500)));
    assert_eq!(run["steps"].as_array().map(Vec::len), Some(500));
}

#[test]
#[ignore = "only with --all"]
fn fifty_runs_are_a_small_page() {
    let mut machine = SimHost::new();
    for line in ["the-agent", "check-built"] {
        machine.on(line, |_, _| SimProcess::exit(0, "done\n"));
    }
    for number in 0..50 {
        let file = format!("/demo/hotl-workflow-w{number}.md");
        machine.disk.put(&file, workflow("", STEPS));
        let run = ["onloop", "run", &file, "--mode", "none", "--agent-command", "the-agent"];
        assert_eq!(machine.run(&run), Ended::Exit(Exit::Paused), "{}", machine.notes());
    }
    let mut steps = sign_in();
    steps.push(step(|browser| browser.get("/data")));
    let board = body(&browse(&mut machine, steps)[2]);
    let runs = &facts_of(&board)["board"]["runs"];
    assert_eq!(runs.as_array().map(Vec::len), Some(50));
    assert!(board.len() < PAGE_BYTES, "{}", board.len());
}
