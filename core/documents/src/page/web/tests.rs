//! The pages whole, and what hostile text becomes in them.

use super::*;
use crate::board::{
    self, Board, CallCard, Driving, LoggedLine, RunView, SessionCard, SessionStatus, Spent, Sum,
};
use onloop_run::{Beginning, ChangedWork, CheckResult, CheckVerdict, Event, Measured, Place, Run};
use onloop_syntax::money::Money;
use onloop_workflow as workflow;

const FILE: &str = "---\nintent: Say <hello>\nsuccess_criteria: it says so\nrisk_level: high\n---\n\
    ### 1. Write <it>\naction: Write `hello` & more\nloop: false\nverify: grep -q hello out.txt\ngate: human\n\
    ### 2. Describe it\naction: go\nloop: false\nverify: \"true\"\n";

fn at(seconds: i64) -> Timestamp {
    Timestamp::from_millis(1_795_424_400_000 + seconds * 1000)
}

fn frame() -> Frame {
    Frame { root: "/place".to_owned(), out: "olw_out".to_owned(), now: at(4000) }
}

/// A run that waits at its first gate.
fn waiting() -> Run {
    let plan = workflow::parse("hotl-workflow-a.md", FILE.as_bytes()).plan.expect("it is a plan");
    let place = Place {
        workflow_path: "/w/hotl-workflow-a.md".to_owned(),
        branch: Some("hotl/a".to_owned()),
        execution_root: "/w".to_owned(),
        ..Place::default()
    };
    let id = "a-20261123T090000Z".to_owned();
    let (auto_approve, reverify, review_agent, issue) = (false, false, None, None);
    let (issue_text, pr_repairs) = (String::new(), None);
    let mut run = Run::begin(
        &plan,
        Beginning {
            id,
            place,
            at: at(0),
            auto_approve,
            reverify,
            review_agent,
            issue,
            issue_text,
            pr_repairs,
        },
    );
    let result = CheckResult {
        check: 0,
        verdict: CheckVerdict::Passed,
        stdout: String::new(),
        stderr: String::new(),
        measured: Some(Measured { exit_code: Some(0), duration_ms: 1200 }),
        at: None,
        warnings: Vec::new(),
        inputs: None,
    };
    for (seconds, event) in [
        (10, Event::StepStarted { step: 1 }),
        (70, Event::StepActed { step: 1 }),
        (80, Event::StepVerified { step: 1, results: vec![result] }),
    ] {
        run.apply(at(seconds), &event).expect("it is possible");
    }
    run
}

fn view(run: &Run) -> RunView {
    let lines = " out.txt | 1 +\n 1 file changed, 1 insertion(+)\n".to_owned();
    let facts = run
        .facts(1, ChangedWork::Stat { since: None, lines }, run.last_update)
        .expect("the step is there");
    RunView {
        card: board::card(run, Driving::Nobody),
        steps: board::steps(run),
        choice: board::choice(run),
        facts: Some(board::facts(&facts)),
        log: vec!["did <b>it</b>".to_owned()],
        events: Vec::new(),
        commands: vec!["onloop gate 1 approved".to_owned()],
        workflow: run.place.workflow_path.clone(),
        report: "/w/.hotl/reports/a.md".to_owned(),
        seen: "5ee4".to_owned(),
    }
}

#[test]
fn the_page_of_a_run_at_its_gate() {
    let run = waiting();
    let view = view(&run);
    let change = Shown {
        patch: "diff --git a/out.txt b/out.txt\n@@ -0,0 +1 @@\n+hello <b>\n".to_owned(),
        ..Shown::default()
    };
    let page = RunPage {
        view: &view,
        run: Some(&run),
        change: &change,
        from: None,
        form: "olw_gate",
        go_on: None,
        seen: "f1f0",
        said: None,
    };
    // The style is what it is.
    let page = run_page(&frame(), &page).replace(&style(), "");
    crate::page::tests::matches_golden(
        "page/web/run.golden.html",
        include_str!("run.golden.html"),
        &page,
    );
}

#[test]
fn the_page_of_everything() {
    let line = |text: &str| LoggedLine { at: at(390), text: text.to_owned() };
    let session = SessionCard {
        id: "s1".to_owned(),
        folder: "/w".to_owned(),
        status: "paused".to_owned(),
        standing: SessionStatus::Waits,
        now: "no <progress>".to_owned(),
        workflow: "ultra-<planner>".to_owned(),
        goal: "a <plan>".to_owned(),
        host: Some("Claude Code".to_owned()),
        run_id: None,
        issue: Some(42),
        issue_url: None,
        pull_request: Some(7),
        pull_request_url: Some("https://github.com/o/r/pull/7".to_owned()),
        continued: 2,
        reason: Some("no <progress>".to_owned()),
        calls: 1,
        last: Some(line("continued 2/10")),
        decisions: vec![line("allowed by person Ann: Bash `<ls>`")],
        used: Some("$0.42".to_owned()),
        resume: Some("claude -r s1".to_owned()),
        changed_at: Some(at(400)),
    };
    let call = CallCard {
        id: "1f2e3d4c".to_owned(),
        session: "s1".to_owned(),
        folder: "/w".to_owned(),
        tool: "Bash".to_owned(),
        target: "rm -rf <build>".to_owned(),
        complete: true,
        reason: "no rule decides".to_owned(),
        since: at(3990),
    };
    let board = Board {
        schema: board::SCHEMA,
        at: at(4000),
        runs: vec![board::card(&waiting(), Driving::Nobody)],
        left_out: 1,
        sessions: vec![session],
        calls: vec![call],
    };
    let known = Sum {
        turns: 3,
        unknown: 1,
        cost: Money::from_usd(0.42).unwrap(),
        tokens: 18_000,
        ..Sum::default()
    };
    let unknown = Sum { turns: 2, unknown: 2, ..Sum::default() };
    let spent = Spent {
        days: vec![("2026-11-23".to_owned(), known)],
        agents: vec![("<you>".to_owned(), unknown)],
    };
    let page = board_page(&frame(), &board, &spent, "f1f0", &|path| format!("olw_{path}"));
    let page = page.replace(&style(), "");
    crate::page::tests::matches_golden(
        "page/web/board.golden.html",
        include_str!("board.golden.html"),
        &page,
    );
}

#[test]
fn the_page_of_everything_is_small_whatever_there_is() {
    let long = "\"<&>'".repeat(2000);
    let line = LoggedLine { at: at(390), text: long.clone() };
    let session = SessionCard {
        id: "s1".to_owned(),
        folder: "/w".to_owned(),
        status: "open".to_owned(),
        standing: SessionStatus::Working,
        now: long.clone(),
        workflow: long.clone(),
        goal: String::new(),
        host: None,
        run_id: None,
        issue: None,
        issue_url: None,
        pull_request: None,
        pull_request_url: None,
        continued: 0,
        reason: None,
        calls: 0,
        last: Some(line.clone()),
        decisions: vec![line.clone(); 20],
        used: None,
        resume: None,
        changed_at: None,
    };
    let call = CallCard {
        id: "1f2e3d4c".to_owned(),
        session: "s1".to_owned(),
        folder: "/w".to_owned(),
        tool: "Bash".to_owned(),
        target: "echo <b>".repeat(100),
        complete: true,
        reason: "no rule decides".to_owned(),
        since: at(3990),
    };
    let mut run = board::card(&waiting(), Driving::Nobody);
    run.intent = long;
    run.last = Some(line);
    let (runs, sessions) = (vec![run; 500], vec![session; 100]);
    let (schema, at) = (board::SCHEMA, at(4000));
    let full = Board { schema, at, runs, left_out: 0, sessions, calls: vec![call; 200] };
    let page = board_page(&frame(), &full, &Spent::default(), "f1f0", &|path| path.to_owned());
    let loaded = page.len() + SCRIPT.len() + ICON.len();
    assert!(loaded < 145_000, "{loaded}");
    assert!(page.contains("<h1>700 things wait for you</h1>"), "all of them are counted");
    let shown = |mark: &str| page.matches(mark).count();
    let calls = shown("<section class=\"card waits\"");
    let runs = shown("<li class=\"card waits\"><h2>");
    assert!(calls > 20 && runs > 20, "{calls} calls, {runs} runs");
    for left in [format!("{} more calls wait:", 200 - calls), format!("{} more: ", 500 - runs)] {
        assert!(page.contains(&left), "{left}");
    }
}

#[test]
fn a_change_and_a_log_are_as_long_as_their_html() {
    let run = waiting();
    let mut view = view(&run);
    view.log = (0..200).map(|number| format!("{number} {}", "'\"".repeat(400))).collect();
    let change = Shown { patch: "+\n".repeat(30_000), ..Shown::default() };
    let page = RunPage {
        view: &view,
        run: Some(&run),
        change: &change,
        from: Some(1),
        form: "olw_gate",
        go_on: None,
        seen: "f1f0",
        said: None,
    };
    let page = run_page(&frame(), &page);
    assert!(page.len() + SCRIPT.len() + ICON.len() < 145_000, "{}", page.len());
    assert!(page.contains("This is only the beginning."));
    assert!(page.contains("\">199 &#39;") && !page.contains("\n100 &#39;"), "the end of the log");
    assert!(page.contains("?from=1\" data-events="), "it is kept as it was opened");
}

#[test]
fn how_long_ago_is_said_in_words_that_the_script_renews() {
    let table = [
        (0, "just now"),
        (59, "just now"),
        (60, "1 min ago"),
        (3_599, "59 min ago"),
        (3_600, "1 h ago"),
        (172_799, "47 h ago"),
        (172_800, "2 days ago"),
    ];
    for (seconds, expected) in table {
        let frame = Frame { now: at(seconds), ..frame() };
        assert!(frame.ago(at(0)).ends_with(&format!(">{expected}</time>")), "{seconds}");
    }
    assert!(SCRIPT.contains("/^just now$| ago$/"));
}

#[test]
fn the_script_asks_nobody_else_and_writes_no_html() {
    for word in [
        "innerHTML",
        "outerHTML",
        "insertAdjacent",
        "document.write",
        "eval",
        "http:",
        "https:",
        "//cdn",
    ] {
        assert!(!SCRIPT.contains(word), "{word}");
    }
    for word in ["http:", "https:", "@import", "url("] {
        assert!(!style().contains(word), "{word}");
    }
}
