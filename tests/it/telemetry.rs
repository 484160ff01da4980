//! A run is exported where it stops, and no collector changes what becomes of it.

use serde_json::Value;

use crate::notify::{Board, gated};
use crate::run::run;
use crate::workspace::Workspace;

const ENDPOINT: &str = "OTEL_EXPORTER_OTLP_ENDPOINT";
const WARNING: &str = "warning: telemetry was not exported: ";

fn spans(body: &str) -> Vec<Value> {
    let document: Value = serde_json::from_str(body).expect("JSON");
    let spans = &document["resourceSpans"][0]["scopeSpans"][0]["spans"];
    spans.as_array().expect("spans").clone()
}

fn names(spans: &[Value]) -> Vec<&str> {
    spans.iter().map(|span| span["name"].as_str().expect("a name")).collect()
}

/// A run that waits at a gate although something is wrong with its collector; what it said.
fn warned(project: &Workspace) -> String {
    let run = run(project, &[]).expect_exit(3);
    assert_eq!(crate::flat(&run.stderr).matches(WARNING).count(), 1, "{}", run.stderr);
    run.stderr
}

#[test]
fn a_run_is_exported_each_time_it_stops() {
    let collector = Board::start();
    let project = gated("")
        .with_env(ENDPOINT, &format!("{}/", collector.url))
        .with_env("OTEL_EXPORTER_OTLP_HEADERS", "X-Tenant=a%20b")
        .with_env("ONLOOP_OTLP_FILE", "otlp.jsonl");
    let waiting = run(&project, &[]).expect_exit(3);
    assert!(!waiting.stderr.contains(WARNING), "{}", waiting.stderr);
    let asked = collector.asked();
    let lines: Vec<&str> = asked.iter().map(|asked| asked.line.as_str()).collect();
    let path = "POST /T0/s3cretWebhook/v1/";
    assert_eq!(lines, [format!("{path}traces"), format!("{path}metrics")]);
    for header in ["x-tenant: a b", "content-type: application/json"] {
        assert!(asked[0].headers.iter().any(|found| found == header), "{:?}", asked[0].headers);
    }
    let file = project.read("otlp.jsonl");
    assert_eq!(file, format!("{}\n{}\n", asked[0].body, asked[1].body));
    assert!(!file.contains("greet") && !file.contains("test -e"), "{file}");
    let before = spans(&asked[0].body);
    assert_eq!(names(&before), ["run w", "step 1", "attempt", "agent", "check"]);

    project.onloop(&["gate", "1", "approved"]).expect_exit(0);
    project.onloop(&["resume"]).expect_exit(0);
    let asked = collector.asked();
    assert_eq!(asked.len(), 4);
    let after = spans(&asked[2].body);
    assert_eq!(names(&after)[..5], names(&before));
    assert!(names(&after).contains(&"gate"), "{:?}", names(&after));
    for (earlier, later) in before.iter().zip(&after) {
        assert_eq!(
            (&earlier["spanId"], &earlier["traceId"]),
            (&later["spanId"], &later["traceId"])
        );
    }
    assert_eq!(project.read("otlp.jsonl").lines().count(), 4);
}

#[test]
fn content_is_exported_where_the_developer_asks_for_it() {
    let project = gated("telemetry: {content: true}\n").with_env("ONLOOP_OTLP_FILE", "otlp.jsonl");
    run(&project, &[]).expect_exit(3);
    let file = project.read("otlp.jsonl");
    assert!(file.contains("greet") && file.contains("test -e first"), "{file}");
}

#[test]
fn no_collector_changes_what_becomes_of_a_run() {
    let collector = Board::start();
    collector.answer(400);
    let project = gated("").with_env(ENDPOINT, &collector.url);
    let said = crate::flat(&warned(&project));
    assert!(said.contains(" answered with status 400") && !said.contains("s3cret"), "{said}");
    // A collector that says no to spans is not asked to take metrics.
    assert_eq!(collector.asked().len(), 1);

    let silent = Board::start();
    silent.answer(0);
    let project =
        gated("").with_env(ENDPOINT, &silent.url).with_env("OTEL_EXPORTER_OTLP_TIMEOUT", "200");
    warned(&project);
    assert_eq!(silent.asked().len(), 1);

    for nowhere in ["http://127.0.0.1:1", "collector"] {
        warned(&gated("").with_env(ENDPOINT, nowhere));
    }
    let project = gated("").with_env("ONLOOP_OTLP_FILE", "no/such\u{7}folder/..");
    warned(&project);
}

#[test]
fn nothing_is_exported_where_telemetry_is_disabled() {
    let collector = Board::start();
    let project =
        gated("").with_env(ENDPOINT, &collector.url).with_env("OTEL_SDK_DISABLED", "true");
    let run = run(&project, &[]).expect_exit(3);
    assert!(!run.stderr.contains("telemetry"), "{}", run.stderr);
    assert!(collector.asked().is_empty());
}
