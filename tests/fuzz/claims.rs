//! What holds for any bytes. Panics when it does not; shared by the fuzz targets and by the
//! tests that mutate saved files.

use onloop_core::run::{Platform, render_report, render_summary};
use onloop_core::wire;
use onloop_core::workflow;

/// A parser never fails, points into the file, and accepts exactly what has no error.
pub(crate) fn workflow(bytes: &[u8]) {
    let parsed = workflow::parse("hotl-workflow-w.md", bytes);
    let is_error = |found: &onloop_core::diagnostic::Diagnostic| {
        found.severity == onloop_core::diagnostic::Severity::Error
    };
    assert_eq!(parsed.plan.is_none(), parsed.diagnostics.iter().any(is_error));
    for found in &parsed.diagnostics {
        let span = found.span;
        assert!(span.start <= span.end && span.end <= bytes.len(), "{found:?}");
    }
    for found in &parsed.checkboxes {
        let mark = bytes.get(found.offset).expect("a box is in the file");
        assert!(b" xX".contains(mark), "{mark}");
        assert_eq!(found.ticked, *mark != b' ');
    }
    if let Some(plan) = parsed.plan {
        assert!(!plan.steps.is_empty());
        let again = workflow::parse("hotl-workflow-w.md", bytes);
        assert_eq!(again.plan.map(|plan| plan.digest), Some(plan.digest));
    }
}

/// What is read is written in a form that reads as the same, and everything made from it can
/// be made.
pub(crate) fn record(bytes: &[u8]) {
    let Ok(run) = wire::run::read(bytes) else { return };
    let _ = run.next();
    render_report(&run);
    for platform in [Platform::Codex, Platform::Claude, Platform::Cline] {
        render_summary(&run, platform);
    }
    let written = wire::run::write(&run);
    let again = wire::run::read(&written).expect("what was written can be read");
    let twice = wire::run::write(&again);
    assert!(written == twice, "a second rewrite differs");
}

/// The part that is understood is whole lines, and reads as the same without the rest.
pub(crate) fn journal(bytes: &[u8]) {
    let (events, understood) = wire::event::read_lines(bytes);
    let whole = bytes.get(..understood).expect("no more than there is");
    assert!(whole.is_empty() || whole.ends_with(b"\n"));
    assert_eq!(wire::event::read_lines(whole), (events.clone(), understood));
    let mut written = Vec::new();
    for (revision, at, event) in &events {
        assert!(wire::event::write_line(&mut written, *revision, *at, event));
    }
    assert_eq!(wire::event::read_lines(&written), (events, written.len()));
}
