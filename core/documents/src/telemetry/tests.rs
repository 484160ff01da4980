use super::*;
use crate::ledger::{self, Origin};
use onloop_run::{Beginning, Event, ForkBeginning, Place, Run};
use onloop_syntax::time::Timestamp;
use serde_json::json;
use std::collections::BTreeMap;

const FILE: &str = "---\nintent: Try\nsuccess_criteria: It works\nrisk_level: low\n\
    worktree: true\nmax_parallel: 2\n---\n\n- [ ] **Step 1: Go**\naction: secret plan\nloop: until it works\nmax_iterations: 3\n\
    verify: make test\ngate: human\n\n\
    - [ ] **Step 2: Tell**\naction: tell\nloop: until it works\nmax_iterations: 3\n\
    verify: make tell\n\n\
    - [ ] **Step 3: End**\naction: end\nloop: false\nverify:\n  - type: human-review\n    prompt: p\n";

/// A ledger that grows.
pub(crate) struct Book {
    pub(crate) run: Run,
    head: ledger::Head,
    bytes: Vec<u8>,
}

impl Book {
    fn begin() -> Book {
        let parsed = onloop_workflow::parse("hotl-workflow-try.md", FILE.as_bytes());
        let plan = parsed.plan.unwrap_or_else(|| panic!("{:?}", parsed.diagnostics));
        let place = Place {
            slug: "try".to_owned(),
            worktree_path: Some("/w".to_owned()),
            ..Place::default()
        };
        let run = Run::begin(
            &plan,
            Beginning {
                id: "try-20260320T212315Z".to_owned(),
                place,
                at: at(0),
                reverify: true,
                ..Beginning::default()
            },
        );
        Book::of(run)
    }

    fn of(run: Run) -> Book {
        let (bytes, head) = ledger::begin(at(0), &run, &Origin::Begun, None);
        Book { run, head, bytes }
    }

    /// Whether the run takes the event.
    fn take(&mut self, ms: i64, event: &Event) -> bool {
        if self.run.apply(at(ms), event).is_err() {
            return false;
        }
        self.head = ledger::append(&mut self.bytes, &self.head, at(ms), event, None);
        true
    }

    pub(crate) fn add(&mut self, ms: i64, event: Value) {
        let event: Event = serde_json::from_value(event).expect("an event");
        assert!(self.take(ms, &event), "{event:?}");
    }
}

fn at(ms: i64) -> Timestamp {
    Timestamp::from_millis(1_800_000_000_000 + ms)
}

fn started(worker: &str, step: u32) -> Value {
    json!({ "event": "work_started", "worker": worker, "step": step, "pid": 7, "started": "1",
        "boot": "b", "host": "h" })
}

fn ended(ending: &str, tokens: u64, session: &str) -> Value {
    json!({ "event": "agent_ended", "step": 1, "attempt": 1, "agent": "claude", "session": session,
        "client_version": "2.1.0", "model": "m",
        "tokens": { "input": tokens, "cached_input": 2, "output": 3 },
        "session_tokens": null, "cost_usd_micros": 500_000, "denied": 1, "ending": ending,
        "idle": false })
}

fn verified(step: u32, verdict: &str, duration_ms: u64) -> Value {
    json!({ "event": "step_verified", "step": step, "results": [{ "check": 0, "verdict": verdict,
        "reason": "secret reason", "stdout": "secret words", "stderr": "", "exit_code": 1,
        "duration_ms": duration_ms }] })
}

/// A run that waits at the gate of step 1 after a failed attempt and a turn that was refused.
fn waiting() -> Book {
    let mut book = Book::begin();
    book.add(1_000, json!({ "event": "step_started", "step": 1 }));
    book.add(2_000, started("agent", 1));
    book.add(62_000, ended("completed", 100, "c1"));
    book.add(62_100, json!({ "event": "step_acted", "step": 1 }));
    book.add(62_200, started("check", 1));
    book.add(64_000, verified(1, "failed", 1_500));
    book.add(65_000, json!({ "event": "step_started", "step": 1 }));
    book.add(66_000, started("agent", 1));
    book.add(67_000, ended("limited", 5, "c1"));
    book.add(
        67_000,
        json!({ "event": "agent_waits", "step": 1, "attempt": 2, "agent": "claude",
            "why": "limited", "since": at(67_000).to_rfc3339_millis(),
            "until": at(70_000).to_rfc3339_millis(), "tries": 1 }),
    );
    book.add(70_000, started("agent", 1));
    book.add(75_000, ended("completed", 100, "c2"));
    book.add(75_000, json!({ "event": "step_acted", "step": 1 }));
    book.add(76_000, started("check", 1));
    book.add(78_000, verified(1, "passed", 2_000));
    book
}

fn spans(telemetry: &Telemetry) -> Vec<Value> {
    let found = &telemetry.traces["resourceSpans"][0]["scopeSpans"][0]["spans"];
    found.as_array().expect("a list").clone()
}

fn attribute<'v>(of: &'v Value, key: &str) -> Option<&'v Value> {
    let attributes = of["attributes"].as_array().expect("a list");
    let found = attributes.iter().find(|attribute| attribute["key"] == key)?;
    found["value"].as_object()?.values().next()
}

/// Milliseconds after the run began.
fn ms(nanos: &Value) -> i128 {
    let nanos: i128 = nanos.as_str().expect("a string").parse().expect("a number");
    nanos / 1_000_000 - 1_800_000_000_000
}

/// `parent > name start..end error`, one line for each span.
fn outline(telemetry: &Telemetry) -> String {
    let spans = spans(telemetry);
    let name = |id: &Value| {
        let parent = spans.iter().find(|span| span["spanId"] == *id);
        parent.map_or("-", |span| span["name"].as_str().expect("a name"))
    };
    let line = |span: &Value| {
        let (start, end) = (ms(&span["startTimeUnixNano"]), ms(&span["endTimeUnixNano"]));
        let error = attribute(span, "error.type").and_then(Value::as_str).unwrap_or("-");
        let has_error_status = span["status"]["code"] == 2;
        assert_eq!(error != "-", has_error_status, "{span}");
        let name_of = span["name"].as_str().expect("a name");
        format!("{} > {name_of} {start}..{end} {error}\n", name(&span["parentSpanId"]))
    };
    spans.iter().map(line).collect()
}

fn rendered(book: &Book, with_content: bool) -> Telemetry {
    render(&book.bytes, &[], with_content).expect("a sound ledger")
}

#[test]
fn the_spans_of_a_run_have_their_parents_and_times() {
    let mut book = waiting();
    let expected = "\
         - > run try 0..78000 -\n\
         run try > step 1 1000..78000 -\n\
         step 1 > attempt 1000..64000 check_failed\n\
         attempt > invoke_agent claude 2000..62000 -\n\
         attempt > check 62200..63700 check_failed\n\
         step 1 > attempt 65000..78000 -\n\
         attempt > invoke_agent claude 66000..67000 limited\n\
         attempt > invoke_agent claude 70000..75000 -\n\
         attempt > check 76000..78000 -\n";
    let before = rendered(&book, false);
    assert_eq!(outline(&before), expected);
    book.add(
        90_000,
        json!({ "event": "gate_decided", "step": 1, "decision": "approved", "mode": "human" }),
    );
    book.add(91_000, json!({ "event": "step_started", "step": 2 }));
    book.add(92_000, started("agent", 2));
    book.add(93_000, json!({ "event": "run_paused", "reason": "interrupted" }));
    let after = rendered(&book, false);
    let added: Vec<String> = outline(&after).lines().skip(9).map(str::to_owned).collect();
    assert_eq!(
        added,
        [
            "step 1 > gate 78000..90000 -",
            "run try > step 2 91000..93000 -",
            "step 2 > attempt 91000..93000 -"
        ]
    );
    // The same spans are sent again with the same ids.
    for (earlier, later) in spans(&before).iter().zip(spans(&after)) {
        assert_eq!(
            (&earlier["traceId"], &earlier["spanId"]),
            (&later["traceId"], &later["spanId"])
        );
    }
    let torn = &book.bytes[..book.bytes.len() - 2];
    let torn = render(torn, &[], false).expect("a last line that was torn is left out");
    assert!(outline(&torn).starts_with("- > run try 0..92000 "), "{}", outline(&torn));
}

#[test]
fn a_turn_says_what_the_conventions_name() {
    let telemetry = rendered(&waiting(), false);
    let spans = spans(&telemetry);
    let turn = &spans[3];
    assert_eq!(turn["kind"], 3);
    assert_eq!(turn["startTimeUnixNano"], "1800000002000000000");
    for (key, value) in [
        ("gen_ai.operation.name", json!("invoke_agent")),
        ("gen_ai.provider.name", json!("anthropic")),
        ("gen_ai.agent.name", json!("claude")),
        ("gen_ai.agent.version", json!("2.1.0")),
        ("gen_ai.request.model", json!("m")),
        ("gen_ai.conversation.id", json!("c1")),
        ("gen_ai.usage.input_tokens", json!("100")),
        ("gen_ai.usage.cache_read.input_tokens", json!("2")),
        ("gen_ai.usage.output_tokens", json!("3")),
        ("onloop.cost_usd", json!(0.5)),
        ("onloop.turn.denied_calls", json!("1")),
    ] {
        assert_eq!(attribute(turn, key), Some(&value), "{key}");
    }
    assert_eq!(spans[5]["events"][0]["name"], "onloop.provider_wait");
    assert!(!spans[0].as_object().expect("an object").contains_key("parentSpanId"));
    let resource = &telemetry.traces["resourceSpans"][0]["resource"];
    assert_eq!(attribute(resource, "service.instance.id"), Some(&json!("try-20260320T212315Z")));
    assert_eq!(resource, &telemetry.metrics["resourceMetrics"][0]["resource"]);
}

#[test]
fn calls_of_tools_are_within_their_turn() {
    let mut book = Book::begin();
    book.add(1_000, json!({ "event": "step_started", "step": 1 }));
    book.add(2_000, started("agent", 1));
    let mut turn = ended("completed", 100, "c1");
    let call = |tool: &str, ms: i64, took_ms: u64, ending: &str| {
        let at = at(ms).to_rfc3339_millis();
        json!({ "tool": tool, "at": at, "took_ms": took_ms, "ending": ending })
    };
    // A clock may have jumped.
    turn["calls"] = json!([
        call("Bash", 3_000, 4_500, "done"),
        call("Edit", 8_000, 10, "denied"),
        call("Read", 1_000, 99_000, "failed"),
        call("Grep", 70_000, 5, "open"),
    ]);
    turn["more_calls"] = 2.into();
    book.add(62_000, turn);
    let telemetry = rendered(&book, false);
    let expected = "\
        attempt > invoke_agent claude 2000..62000 -\n\
        invoke_agent claude > execute_tool Bash 3000..7500 -\n\
        invoke_agent claude > execute_tool Edit 8000..8010 denied\n\
        invoke_agent claude > execute_tool Read 2000..62000 failed\n\
        invoke_agent claude > execute_tool Grep 62000..62000 -\n";
    assert!(outline(&telemetry).ends_with(expected), "{}", outline(&telemetry));
    let spans = spans(&telemetry);
    assert_eq!(attribute(&spans[3], "onloop.turn.calls"), Some(&json!("6")));
    assert_eq!(attribute(&spans[4], "gen_ai.operation.name"), Some(&json!("execute_tool")));
    assert_eq!(attribute(&spans[4], "gen_ai.tool.name"), Some(&json!("Bash")));
    let ids: std::collections::BTreeSet<String> =
        spans.iter().map(|span| span["spanId"].to_string()).collect();
    assert_eq!(ids.len(), spans.len());
    assert!(book.run.turns[0].calls.is_empty(), "only the ledger has them");
}

/// A run and the fork in which its step has started.
pub(crate) fn forked() -> (Book, Book) {
    let mut book = Book::begin();
    book.add(1_000, json!({ "event": "step_forked", "step": 1, "run": "try.1", "base": "c" }));
    let mut fork = Book::of(book.run.fork(ForkBeginning {
        id: "try.1".to_owned(),
        step: 1,
        place: Place::default(),
        base: "c".to_owned(),
        at: at(1_000),
    }));
    fork.add(2_000, json!({ "event": "step_started", "step": 1 }));
    (book, fork)
}

#[test]
fn a_client_is_told_the_span_of_its_turn_before_it_begins() {
    let told = |run: &Book, own: &Book, earlier: usize| {
        let turn = TurnPlace { step: 1, attempt: 1, earlier };
        trace_parent(&run.bytes, &own.bytes, turn).expect("sound ledgers")
    };
    let parent = |span: &Value| {
        let id = |name: &str| span[name].as_str().expect("an id").to_owned();
        format!("00-{}-{}-01", id("traceId"), id("spanId"))
    };
    let mut book = Book::begin();
    book.add(1_000, json!({ "event": "step_started", "step": 1 }));
    let first = told(&book, &book, 0);
    book.add(2_000, ended("limited", 5, "c1"));
    let second = told(&book, &book, book.run.turns_of(1, 1));
    book.add(3_000, ended("completed", 5, "c1"));
    let spans_of = spans(&rendered(&book, false));
    assert_eq!([&spans_of[3], &spans_of[4]].map(parent), [first, second]);

    let (book, mut fork) = forked();
    let first = told(&book, &fork, 0);
    fork.add(9_000, ended("completed", 100, "c1"));
    let telemetry = render(&book.bytes, &[fork.bytes.clone()], false).expect("sound ledgers");
    assert_eq!(parent(&spans(&telemetry)[3]), first);
    let turn = TurnPlace { step: 1, attempt: 1, earlier: 0 };
    assert!(trace_parent(b"", &fork.bytes, turn).is_err());
}

#[test]
fn metrics_sum_up_the_whole_run() {
    let telemetry = rendered(&waiting(), false);
    let metrics = &telemetry.metrics["resourceMetrics"][0]["scopeMetrics"][0]["metrics"];
    let points = |name: &str| {
        let metric = metrics.as_array().expect("a list").iter().find(|m| m["name"] == name);
        let metric = metric.unwrap_or_else(|| panic!("{name}"));
        let data = metric.get("sum").or(metric.get("histogram")).expect("numbers");
        assert_eq!(data["aggregationTemporality"], 2);
        data["dataPoints"].as_array().expect("a list").clone()
    };
    let input = &points("gen_ai.client.token.usage")[0];
    assert_eq!(attribute(input, "gen_ai.token.type"), Some(&json!("input")));
    assert_eq!((&input["count"], &input["sum"]), (&json!("3"), &json!(205.0)));
    assert_eq!((&input["min"], &input["max"]), (&json!(5.0), &json!(100.0)));
    let counts: Vec<&str> = input["bucketCounts"]
        .as_array()
        .expect("a list")
        .iter()
        .filter_map(Value::as_str)
        .collect();
    assert_eq!(counts[..6], ["0", "0", "1", "0", "2", "0"]);
    assert_eq!(counts.len(), input["explicitBounds"].as_array().expect("a list").len() + 1);
    let durations = points("gen_ai.client.operation.duration");
    let brief = |point: &Value| (point["sum"].clone(), attribute(point, "error.type").cloned());
    assert_eq!(brief(&durations[0]), (json!(65.0), None));
    assert_eq!(brief(&durations[1]), (json!(1.0), Some(json!("limited"))));
    assert_eq!(points("onloop.cost")[0]["asDouble"], 1.5);
    let attempts: BTreeMap<String, String> = points("onloop.attempts")
        .iter()
        .map(|point| {
            let outcome = attribute(point, "onloop.attempt.outcome").expect("an outcome");
            (outcome.to_string(), point["asInt"].to_string())
        })
        .collect();
    let expected = [("\"check_failed\"", "\"1\""), ("\"passed\"", "\"1\"")];
    assert_eq!(attempts, expected.map(|(k, v)| (k.to_owned(), v.to_owned())).into());
    assert_eq!(points("onloop.run.active_time")[0]["asDouble"], 78.0);
}

#[test]
fn what_a_fork_did_belongs_to_its_step() {
    let (book, mut fork) = forked();
    fork.add(3_000, started("agent", 1));
    fork.add(9_000, ended("completed", 100, "c1"));
    let telemetry = render(&book.bytes, &[fork.bytes.clone()], false).expect("sound ledgers");
    let expected = "\
        - > run try 0..9000 -\n\
        run try > step 1 1000..9000 -\n\
        step 1 > attempt 2000..9000 -\n\
        attempt > invoke_agent claude 3000..9000 -\n";
    assert_eq!(outline(&telemetry), expected);
    assert_eq!(spans(&telemetry)[0]["traceId"], spans(&telemetry)[3]["traceId"]);
    // The ledger of another run is not taken for that of a fork.
    let other = render(&book.bytes, &[waiting().bytes], false).expect("sound ledgers");
    assert_eq!(spans(&other).len(), 2);
}

#[test]
fn content_is_sent_only_where_it_was_asked_for() {
    let book = waiting();
    let all = |telemetry: &Telemetry| format!("{} {}", telemetry.traces, telemetry.metrics);
    let without = all(&rendered(&book, false));
    assert!(!without.contains("secret"), "{without}");
    assert!(!without.contains("make test"), "{without}");
    let with = all(&rendered(&book, true));
    for content in ["secret plan", "secret reason", "secret words", "make test"] {
        assert!(with.contains(content), "{content}");
    }
}

/// Numbers that look random.
struct Numbers(u64);

impl Numbers {
    fn below(&mut self, limit: u64) -> u64 {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % limit
    }
}

/// A ledger of whatever a run takes, with a clock that jumps.
fn any_ledger(book: &mut Book, numbers: &mut Numbers) {
    let lines = include_str!("../../../../tests/fuzz/seeds/events/every-event.jsonl");
    let mut events: Vec<Value> =
        lines.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect();
    // A run that is given up, blocked or out of budget takes little else, nor does one with a fork.
    let ends = ["run_abandoned", "step_blocked", "budgets_changed", "plan_adopted", "step_forked"];
    events.retain(|event| !ends.contains(&event["event"].as_str().expect("a name")));
    events.extend([started("agent", 1), verified(1, "passed", 9), verified(1, "failed", 90)]);
    let mut ms = 0;
    for _ in 0..300 {
        let mut event = events[numbers.below(events.len() as u64) as usize].clone();
        if event.get("step").is_some_and(Value::is_number) {
            event["step"] = (1 + numbers.below(3)).into();
        }
        ms += numbers.below(3_000) as i64 - 500;
        let event = serde_json::from_value(event).expect("an event");
        book.take(ms, &event);
    }
}

#[test]
fn every_span_has_a_parent_an_id_of_its_own_and_an_end_after_its_start() {
    let mut names = std::collections::BTreeSet::new();
    for seed in 0..80 {
        let mut numbers = Numbers(seed);
        let mut book = Book::begin();
        any_ledger(&mut book, &mut numbers);
        let telemetry = rendered(&book, seed % 2 == 0);
        let spans = spans(&telemetry);
        let mut ids = std::collections::BTreeSet::new();
        for span in &spans {
            let id = span["spanId"].as_str().expect("an id");
            assert_eq!((id.len(), span["traceId"].as_str().expect("an id").len()), (16, 32));
            assert!(ids.insert(id.to_owned()), "{span}");
            let (start, end) = (ms(&span["startTimeUnixNano"]), ms(&span["endTimeUnixNano"]));
            assert!(start <= end, "{span}");
            names.insert(span["name"].as_str().expect("a name").to_owned());
        }
        let roots = spans.iter().filter(|span| span.get("parentSpanId").is_none()).count();
        assert_eq!(roots, 1);
        for parent in spans.iter().filter_map(|span| span.get("parentSpanId")) {
            assert!(ids.contains(parent.as_str().expect("an id")), "{parent}");
        }
    }
    for name in ["attempt", "check", "gate", "agent", "invoke_agent codex", "setup"] {
        assert!(names.contains(name), "{names:?}");
    }
}
