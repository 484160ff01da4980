//! The report as a page, whole.

use super::*;
use crate::attestation::Decided;
use onloop_run::{
    Beginning, CheckResult, CheckVerdict, Event, GateDecision, Measured, Mode, Place, Run,
};
use onloop_syntax::time::Timestamp;
use onloop_workflow as workflow;

const FILE: &str = "---\nintent: Say <hello>\nsuccess_criteria: it **says** so\nrisk_level: low\n---\n\
    ### 1. Write it\naction: Write `hello` & more\nloop: until it does\nmax_iterations: 2\n\
    verify: grep -q hello out.txt\ngate: human\n\
    ### 2. Describe it\naction: go\nloop: false\nverify: \"true\"\n";

/// Of a workflow file, begun at a fixed time.
fn begun(file: &str) -> Run {
    let plan = workflow::parse("hotl-workflow-a.md", file.as_bytes()).plan.expect("it is a plan");
    let place = Place {
        workflow_path: "/w/hotl-workflow-a.md".to_owned(),
        branch: Some("hotl/a".to_owned()),
        execution_root: "/w".to_owned(),
        ..Place::default()
    };
    let beginning =
        Beginning { id: "a-20261123T090000Z".to_owned(), place, at: at(0), ..Beginning::default() };
    Run::begin(&plan, beginning)
}

fn at(seconds: i64) -> Timestamp {
    Timestamp::from_millis(1_795_424_400_000 + seconds * 1000)
}

fn checked(step: u32, verdict: CheckVerdict) -> Event {
    let result = CheckResult {
        check: 0,
        verdict,
        stdout: String::new(),
        stderr: String::new(),
        measured: Some(Measured { exit_code: Some(0), duration_ms: 1200 }),
        at: None,
        warnings: Vec::new(),
        inputs: None,
    };
    Event::StepVerified { step, results: vec![result] }
}

#[test]
fn a_report_has_what_happened_and_who_decided() {
    let mut run = begun(FILE);
    let failed = CheckVerdict::Failed { reason: "exit code 1".to_owned() };
    for (seconds, event) in [
        (10, Event::StepStarted { step: 1 }),
        (70, Event::StepActed { step: 1 }),
        (80, checked(1, failed)),
        (80, Event::StepStarted { step: 1 }),
        (200, Event::StepActed { step: 1 }),
        (210, checked(1, CheckVerdict::Passed)),
        (400, Event::GateDecided { step: 1, decision: GateDecision::Approved, mode: Mode::Human }),
        (410, Event::StepStarted { step: 2 }),
    ] {
        run.apply(at(seconds), &event).expect("it is possible");
    }
    let decided = Decided {
        step: 1,
        decision: GateDecision::Approved,
        mode: Mode::Human,
        by: Some((Some("ann".to_owned()), "terminal".to_owned())),
        at: at(400).to_rfc3339(),
    };
    let evidence = ReportEvidence {
        patches: vec![StepPatch {
            step: 1,
            stat: " out.txt | 1 +\n 1 file changed, 1 insertion(+)\n".to_owned(),
            patch: Some("diff --git a/out.txt b/out.txt\n@@ -0,0 +1 @@\n+hello <b>\n".to_owned()),
        }],
        decisions: vec![decided],
        ledger: "ab".repeat(32),
        commit: Some("cd".repeat(20)),
    };
    // The styles are what they are.
    let page = report_page(&run, &evidence).replace(include_str!("style.css"), "");
    crate::page::tests::matches_golden(
        "page/report_page.html",
        include_str!("report_page.html"),
        &page,
    );
}

#[test]
fn a_report_draws_the_graph_of_its_steps() {
    let file = "---\nintent: a\nsuccess_criteria: b\nrisk_level: low\nworktree: true\n\
                max_parallel: 2\n---\n### 1. <b>A\naction: go\nloop: false\n\
                ### 2. B\naction: go\nloop: false\ndepends_on: []\n\
                ### 3. C\naction: go\nloop: false\ndepends_on: [1, 2]\n";
    let page = report_page(&begun(file), &ReportEvidence::default());
    let label = "aria-label=\"Steps: step 1 needs no step; step 2 needs no step; \
                 step 3 needs steps 1 and 2\">";
    assert!(page.contains(label), "{page}");
    // From the second row of the first column to the first row of the second one.
    assert!(page.contains("<path d=\"M25 42H25C36 42 36 14 47 14\"/>"), "{page}");
    assert!(page.contains("<title>1. &lt;b&gt;A: Pending, needs no step</title>"), "{page}");
    let sequence = file.replace("depends_on: []\n", "");
    let page = report_page(&begun(&sequence), &ReportEvidence::default());
    assert!(!page.contains("class=\"graph\""), "{page}");
}

#[test]
fn a_report_of_five_hundred_steps_stays_small() {
    let mut file = String::from("---\nintent: a\nsuccess_criteria: b\nrisk_level: low\n---\n");
    for number in 1..=500 {
        file += &format!(
            "### {number}. Step with a name of usual length\naction: {}\nloop: false\n\
             verify: \"true\"\n",
            "what is to be done, in a sentence or two ".repeat(5)
        );
    }
    let mut run = begun(&file);
    let mut evidence = ReportEvidence::default();
    for step in 1..=500 {
        let seconds = i64::from(step) * 60;
        for (later, event) in [
            (0, Event::StepStarted { step }),
            (30, Event::StepActed { step }),
            (40, checked(step, CheckVerdict::Passed)),
        ] {
            run.apply(at(seconds + later), &event).expect("it is possible");
        }
        let stat = " a | 1 +\n 1 file changed, 1 insertion(+)\n".to_owned();
        let patch = format!("diff --git a/a b/a\n@@ -1 +1 @@\n+{}\n", "<".repeat(50_000));
        evidence.patches.push(StepPatch { step, stat, patch: Some(patch) });
    }
    let page = report_page(&run, &evidence);
    assert!(page.len() < 2_000_000, "{} bytes", page.len());
    let hint = "Too long to show here: <code>onloop diff a-20261123T090000Z 500</code>";
    assert!(page.contains(hint));
}

/// Compares a page with its golden file below `src`.
pub(super) fn matches_golden(path: &str, golden: &str, page: &str) {
    assert!(page == golden, "core/documents/src/{path} should be:\n{page}");
}

#[test]
fn attempts_and_waits_are_spans_of_which_the_last_is_open() {
    use crate::spans::{SpanKind, spans};
    let mut run = begun(FILE);
    let failed = CheckVerdict::Failed { reason: "exit code 1".to_owned() };
    let told = |run: &Run| -> Vec<(SpanKind, i64, Option<i64>)> {
        let seconds = |moment: Timestamp| (moment.as_millis() - at(0).as_millis()) / 1000;
        let of = |span: crate::spans::Span| (span.kind, seconds(span.from), span.to.map(seconds));
        spans(run, &[]).into_iter().map(of).collect()
    };
    assert_eq!(told(&run), []);
    let mut apply = |second: i64, event: Event| {
        run.apply(at(second), &event).unwrap();
        told(&run)
    };
    let acting = apply(10, Event::StepStarted { step: 1 });
    assert_eq!(acting, [(SpanKind::Acted, 10, None)]);
    apply(20, Event::StepActed { step: 1 });
    apply(21, checked(1, failed));
    apply(30, Event::StepStarted { step: 1 });
    apply(40, Event::StepActed { step: 1 });
    let waiting = apply(41, checked(1, CheckVerdict::Passed));
    let attempts = [(SpanKind::Failed, 10, Some(21)), (SpanKind::Acted, 30, Some(41))];
    assert_eq!(waiting[..2], attempts);
    assert_eq!(waiting[2..], [(SpanKind::Waits, 41, None)]);
    let (decision, mode) = (GateDecision::Approved, Mode::Human);
    let decided = apply(100, Event::GateDecided { step: 1, decision, mode });
    assert_eq!(decided[2..], [(SpanKind::Waits, 41, Some(100))]);
}
