//! The page of `onloop web`: what it shows, who may decide on it, and that nobody else changes anything.

mod browser;
mod large;
mod sockets;

use std::cell::RefCell;
use std::rc::Rc;

use onloop_core::effect::{CallAnswer, Exit, Say};
use onloop_tests::parallel::{ParallelLife, ParallelPlan};
use onloop_tests::{Ended, SimHost, SimProcess};

use crate::run::workflow;
use browser::{Browser, Step, facts_of, header};
use serde_json::json;

const FILE: &str = "/demo/hotl-workflow-w.md";
const RUN: &[&str] = &["onloop", "run", FILE, "--mode", "none", "--agent-command", "the-agent"];
const STEPS: &str = "\
- [ ] **Step 1: Build <script>alert(1)</script>**
action: build <img src=x onerror=alert(1)> it
loop: false
verify: check-built
gate: human

- [ ] **Step 2: Ship**
action: ship it
loop: false
verify: check-built
";

/// A machine with a run that waits at the gate of its first step, and the id of the run.
fn waiting(risk: &str) -> (SimHost, String) {
    let mut machine = SimHost::new();
    let front = format!("risk_level: {risk}\n");
    machine.disk.put(FILE, workflow(&front, STEPS));
    for line in ["the-agent", "check-built"] {
        machine
            .on(line, move |_, _| SimProcess::exit(0, "did <b>\u{1b}]0;it\u{7}</b> all\u{202e}\n"));
    }
    assert_eq!(machine.run(RUN), Ended::Exit(Exit::Paused), "{}", machine.notes());
    let id = only_id(&machine);
    (machine, id)
}

/// The id of the only run.
fn only_id(machine: &SimHost) -> String {
    let files = machine.disk.files("/state/runs");
    let id = files[0].rsplit("runs/").next().and_then(|rest| rest.split('/').next());
    id.expect("there is a run").to_owned()
}

/// What a browser gets that takes these steps; the first signs it in.
fn browse(machine: &mut SimHost, steps: Vec<Step>) -> Vec<CallAnswer> {
    let browser = Rc::new(RefCell::new(Browser::default()));
    let mut steps = steps.into_iter();
    let by = browser.clone();
    let mut said_before = machine.said.len();
    machine.on_calls(move |said, answers| {
        let mut browser = by.borrow_mut();
        for say in &said[said_before..] {
            if let Say::Result(link) = say {
                browser.hear(link);
            }
        }
        said_before = said.len();
        if let Some((_, answer)) = answers.last() {
            browser.see(answer);
        }
        steps.next().map(|step| step(&mut browser))
    });
    let before = machine.server.answers.len();
    assert_eq!(
        machine.run(&["onloop", "web"]),
        Ended::Exit(Exit::Interrupted),
        "{}",
        machine.notes()
    );
    machine.server.answers[before..].iter().map(|(_, answer)| answer.clone()).collect()
}

fn step(step: impl FnOnce(&mut Browser) -> onloop_core::effect::WebCall + 'static) -> Step {
    Box::new(step)
}

fn sign_in() -> Vec<Step> {
    vec![step(|browser| browser.enter()), step(|browser| browser.submit("/in", &[]))]
}

fn body(answer: &CallAnswer) -> String {
    String::from_utf8(answer.body.to_vec()).expect("pages are UTF-8")
}

/// What a decision needs: the page of the run, and then the form.
fn decide(id: &str, fields: &'static [(&'static str, &'static str)]) -> Vec<Step> {
    let page = format!("/data/run/{id}");
    let action = format!("/run/{id}");
    vec![
        step(move |browser| browser.get(&page)),
        step(move |browser| browser.submit(&action, fields)),
    ]
}

/// Everything that open answers got.
fn pushed(machine: &SimHost) -> String {
    machine.server.pushed.iter().map(|(_, words)| words.as_str()).collect()
}

fn ledger(machine: &SimHost, id: &str) -> String {
    let bytes = machine.disk.get(&format!("/state/runs/{id}/ledger.jsonl")).expect("it is there");
    String::from_utf8_lossy(bytes).into_owned()
}

#[test]
fn what_waits_is_first_and_a_gate_has_the_facts_of_the_terminal() {
    let (mut machine, id) = waiting("medium");
    let page = format!("/data/run/{id}");
    let mut steps = sign_in();
    let whole = page.clone();
    let shell = page.replace("/data", "");
    steps.push(step(|browser| browser.get("/data")));
    steps.push(step(move |browser| browser.get(&whole)));
    steps.push(step(move |browser| browser.get(&format!("{page}/log?attempt=1-1"))));
    steps.push(step(move |browser| browser.get(&shell)));
    let answers = browse(&mut machine, steps);
    let statuses: Vec<u16> = answers.iter().map(|answer| answer.status).collect();
    assert_eq!(statuses, [200, 303, 200, 200, 200, 200]);
    let board = facts_of(&body(&answers[2]));
    let card = &board["board"]["runs"][0];
    assert_eq!((&card["state"], &card["repository"]), (&json!("waits"), &json!("demo")), "{board}");
    assert_eq!(board["states"]["waits"]["words"], "Waiting for you");
    let run = &facts_of(&body(&answers[3]))["run"];
    assert_eq!(run["actions"], json!(["approve", "redo", "reject"]));
    assert_eq!(run["choice"]["question"], "the gate of step 1 waits for you");
    assert_eq!(run["steps"][0]["name"], "Build <script>alert(1)</script>");
    assert_eq!(run["facts"]["action"], "build <img src=x onerror=alert(1)> it");
    assert_eq!(run["facts"]["checks"][0]["result"], "passed");
    let spans = &facts_of(&body(&answers[3]))["spans"];
    let kinds = [&spans[0]["kind"], &spans[1]["kind"], &spans[1]["to"]];
    assert_eq!(kinds, [&json!("acted"), &json!("waits"), &json!(null)], "{spans}");
    assert_eq!(facts_of(&body(&answers[4])), json!([{ "text": "did <b></b> all" }]));
    // Facts are no page: a browser shows nothing of them as HTML.
    for answer in &answers[2..5] {
        assert_eq!(header(answer, "content-type"), Some("application/json"));
        let facts = body(answer);
        assert!(!facts.contains('\u{202e}') && !facts.contains("\\u001b"), "{facts}");
    }
    let shell = body(&answers[5]);
    assert!(shell.contains("<div id=\"app\"") && !shell.contains("alert"), "{shell}");
    assert!(shell.contains("<noscript>") && shell.contains("onloop approve"), "{shell}");
    for answer in &answers {
        let policy = header(answer, "content-security-policy").expect("it has a policy");
        assert!(
            policy.starts_with("default-src 'none'; script-src 'self'; style-src 'self';")
                && policy.ends_with("require-trusted-types-for 'script'; trusted-types 'none'"),
            "{policy}"
        );
        assert_eq!(header(answer, "cache-control"), Some("no-store"));
        assert_eq!(header(answer, "x-content-type-options"), Some("nosniff"));
    }
}

#[test]
fn an_approval_is_in_the_ledger_with_its_channel() {
    for (says, channel) in [(None, "web"), (Some("editor"), "editor"), (Some("terminal"), "web")] {
        let (mut machine, id) = waiting("medium");
        machine.env.extend(says.map(|says| ("ONLOOP_CHANNEL".to_owned(), says.to_owned())));
        let mut steps = sign_in();
        steps.extend(decide(&id, &[("action", "approve")]));
        let answers = browse(&mut machine, steps);
        assert_eq!(answers[3].status, 200, "{}", body(&answers[3]));
        let ledger = ledger(&machine, &id);
        assert!(ledger.contains(&format!(r#""channel":"{channel}""#)), "{ledger}");
        assert!(!ledger.contains("olw_"), "{ledger}");
    }
}

#[test]
fn an_approval_starts_a_driver_where_none_lives() {
    let (mut machine, id) = waiting("medium");
    machine.env.insert("ONLOOP_CONTINUE".to_owned(), "auto".to_owned());
    machine.on("/opt/onloop resume", |_, _| SimProcess::exit(0, "Resumed\n"));
    let mut steps = sign_in();
    steps.extend(decide(&id, &[("action", "approve")]));
    let answers = browse(&mut machine, steps);
    assert_eq!(answers[3].status, 200, "{}", body(&answers[3]));
    let [driver] = machine.launched.as_slice() else { panic!("{:?}", machine.launched) };
    assert_eq!(driver.argv, ["/opt/onloop", "resume", &id, "--background"]);
    let log = format!("/state/runs/{id}/driver.log");
    assert_eq!(driver.log.as_deref(), Some(log.as_str()));
    assert_eq!(machine.disk.text(&log), "Resumed\n");
}

#[test]
fn a_rejection_with_a_reason_is_the_next_attempts_prompt() {
    let (mut machine, id) = waiting("medium");
    let mut steps = sign_in();
    steps.extend(decide(&id, &[("action", "redo"), ("reason", "")]));
    steps.extend(decide(&id, &[("action", "redo"), ("reason", "use a token bucket")]));
    let answers = browse(&mut machine, steps);
    assert_eq!(answers[3].status, 409);
    assert!(crate::flat(&body(&answers[3])).contains("say what is to be done otherwise"));
    assert_eq!(answers[5].status, 200, "{}", body(&answers[5]));
    let ledger = ledger(&machine, &id);
    assert!(
        ledger.contains("use a token bucket") && ledger.contains(r#""channel":"web""#),
        "{ledger}"
    );
}

#[test]
fn a_rejection_without_a_reason_ends_the_run() {
    let (mut machine, id) = waiting("low");
    let mut steps = sign_in();
    steps.extend(decide(&id, &[("action", "reject")]));
    browse(&mut machine, steps);
    let ledger = ledger(&machine, &id);
    let last = ledger.lines().last().unwrap();
    assert!(last.contains("run_abandoned") && last.contains("\"web\""), "{last}");
}

#[test]
fn high_risk_wants_the_name_of_the_step() {
    let (mut machine, id) = waiting("high");
    let before = ledger(&machine, &id);
    let mut steps = sign_in();
    steps.extend(decide(&id, &[("action", "approve")]));
    steps.extend(decide(&id, &[("action", "approve"), ("name", "yes")]));
    let answers = browse(&mut machine, steps);
    for at in [3, 5] {
        assert_eq!(answers[at].status, 409);
        assert!(body(&answers[at]).contains("that is not the name of step 1; nothing is approved"));
    }
    assert_eq!(ledger(&machine, &id), before);
    let mut steps = sign_in();
    let name = "Build <script>alert(1)</script>";
    steps
        .extend(decide(&id, &[("action", "approve"), ("name", "Build <script>alert(1)</script>")]));
    let answers = browse(&mut machine, steps);
    assert_eq!(answers[3].status, 200, "{name}: {}", body(&answers[3]));
    assert_ne!(ledger(&machine, &id), before);
}

#[test]
fn a_decision_is_about_what_was_seen() {
    let (mut machine, id) = waiting("medium");
    let action = format!("/run/{id}");
    let again = action.clone();
    let mut steps = sign_in();
    let page = format!("/data/run/{id}");
    steps.push(step(move |browser| browser.get(&page)));
    steps.push(step(move |browser| browser.keep_page_and_submit(&action, &[("action", "reject")])));
    steps.push(step(move |browser| browser.submit_kept(&again, &[("action", "approve")])));
    let answers = browse(&mut machine, steps);
    assert_eq!(answers[3].status, 200);
    assert_eq!(answers[4].status, 409);
    assert!(body(&answers[4]).contains("the run has changed since; look at it again."));
    assert!(!ledger(&machine, &id).contains(r#""decision":"approved""#));
}

#[test]
fn what_is_not_the_persons_changes_nothing() {
    let (mut machine, id) = waiting("medium");
    let before = ledger(&machine, &id);
    let page = format!("/data/run/{id}");
    let action = format!("/run/{id}");
    let with = move |change: fn(&mut onloop_core::effect::WebCall)| {
        let action = action.clone();
        step(move |browser: &mut Browser| {
            let mut call = browser.submit_kept(&action, &[("action", "approve")]);
            change(&mut call);
            call
        })
    };
    let mut steps = sign_in();
    steps.push(step(move |browser| browser.get_and_keep(&page)));
    steps.push(with(|call| call.headers.retain(|(name, _)| name != "cookie")));
    steps.push(with(|call| browser::set(call, "origin", "http://evil.example")));
    steps.push(with(|call| call.headers.retain(|(name, _)| name != "origin")));
    steps.push(with(|call| browser::set(call, "host", "evil.example:40000")));
    steps.push(with(|call| browser::set(call, "sec-fetch-site", "cross-site")));
    steps.push(with(|call| call.method = "GET".to_owned()));
    steps.push(with(|call| call.body = b"action=approve&step=1".to_vec().into()));
    steps.push(with(|call| call.target = call.target.replacen('/', "/x", 1)));
    steps.push(step(|browser| browser.submit_kept("/out", &[])));
    steps.push(with(|_| {}));
    let answers = browse(&mut machine, steps);
    let statuses: Vec<u16> = answers[3..].iter().map(|answer| answer.status).collect();
    // Read instead of sent, the address shows the page of the run.
    assert_eq!(statuses, [401, 403, 403, 403, 403, 200, 403, 401, 200, 401]);
    assert_eq!(ledger(&machine, &id), before);
}

#[test]
fn a_link_is_used_up_and_whoever_has_none_gets_one_in_the_terminal() {
    let (mut machine, _) = waiting("medium");
    let mut steps = sign_in();
    // The same key once more.
    steps.push(step(|browser| browser.submit_first_key()));
    steps.push(step(|browser| browser.get_unknown("/")));
    steps.push(step(|browser| browser.get_unknown("/")));
    steps.extend(sign_in());
    let answers = browse(&mut machine, steps);
    let statuses: Vec<u16> = answers.iter().map(|answer| answer.status).collect();
    assert_eq!(statuses, [200, 303, 401, 401, 401, 200, 303]);
    let links =
        machine.said.iter().filter(|say| matches!(say, Say::Result(text) if text.contains("/in/")));
    assert_eq!(links.count(), 2, "one at the beginning, and one when somebody came without");
}

#[test]
fn a_page_hears_that_it_has_changed() {
    let (mut machine, id) = waiting("medium");
    let page = format!("/data/run/{id}");
    let mut steps = sign_in();
    steps.push(step(move |browser| browser.get(&page)));
    steps.push(step(|browser| browser.listen()));
    steps.extend((0..40).map(|_| step(|browser| browser.get("/data"))));
    let answers = browse(&mut machine, steps);
    assert!(answers[3].open);
    assert!(!pushed(&machine).contains("changed"), "nothing has: {}", pushed(&machine));
    let page = format!("/data/run/{id}");
    let mut steps = sign_in();
    steps.push(step(move |browser| browser.get(&page)));
    steps.push(step(|browser| browser.listen()));
    steps.extend(decide(&id, &[("action", "approve")]));
    steps.extend((0..40).map(|_| step(|browser| browser.get("/data"))));
    let answers = browse(&mut machine, steps);
    assert_eq!(header(&answers[3], "content-type"), Some("text/event-stream"));
    assert!(pushed(&machine).contains("event: changed\ndata:\n\n"), "{}", pushed(&machine));
}

#[test]
fn what_changes_before_a_page_listens_is_told() {
    let (mut machine, id) = waiting("medium");
    let mut steps = sign_in();
    let page = format!("/data/run/{id}");
    let action = format!("/run/{id}");
    steps.push(step(move |browser| browser.get(&page)));
    steps
        .push(step(move |browser| browser.keep_page_and_submit(&action, &[("action", "approve")])));
    steps.push(step(|browser| browser.listen_as_kept()));
    steps.extend((0..40).map(|_| step(|browser| browser.get("/data"))));
    browse(&mut machine, steps);
    assert_eq!(pushed(&machine).matches("event: changed").count(), 1, "{}", pushed(&machine));
}

#[test]
fn one_page_too_many_is_told_to_look_by_itself_and_nobody_is_ended() {
    let (mut machine, _) = waiting("medium");
    let mut steps = sign_in();
    steps.push(step(|browser| browser.get("/data")));
    steps.push(step(|browser| browser.keep_page_and_listen()));
    steps.extend((0..16).map(|_| step(|browser| browser.listen_as_kept())));
    let answers = browse(&mut machine, steps);
    let streams: Vec<(u16, bool)> = answers[3..].iter().map(|a| (a.status, a.open)).collect();
    assert_eq!(streams[..16], [(200, true); 16]);
    assert_eq!(streams[16], (204, false));
    assert!(machine.server.pushed.iter().all(|(_, words)| !words.is_empty()), "none was ended");
}

#[test]
fn a_browser_that_is_signed_out_by_others_hears_nothing_more() {
    let (mut machine, _) = waiting("medium");
    let mut steps = sign_in();
    steps.push(step(|browser| browser.get("/data")));
    steps.push(step(|browser| browser.listen()));
    for _ in 0..16 {
        steps.push(step(|browser| browser.get_unknown("/")));
        steps.extend(sign_in());
    }
    steps.extend((0..40).map(|_| step(|browser| browser.get("/data"))));
    let answers = browse(&mut machine, steps);
    assert!(answers[3].open && answers.last().is_some_and(|answer| answer.status == 200));
    let (_, last) = machine.server.pushed.last().expect("it was told something");
    assert_eq!(last, "", "its stream has ended");
}

#[test]
fn a_blocked_step_is_tried_again_with_a_note_as_it_was_seen() {
    let mut machine = SimHost::new();
    machine.disk.put(FILE, workflow("", STEPS));
    machine.on("the-agent", |_, _| SimProcess::exit(0, "did it\n"));
    machine.on("check-built", |_, _| SimProcess::exit(1, "expected 429\n"));
    assert_eq!(machine.run(RUN), Ended::Exit(Exit::Failed), "{}", machine.notes());
    machine.env.insert("ONLOOP_CONTINUE".to_owned(), "auto".to_owned());
    machine.on("/opt/onloop resume", |_, _| SimProcess::exit(0, "Resumed\n"));
    let id = only_id(&machine);
    let (facts, attempts) = (format!("/data/run/{id}"), format!("/data/run/{id}/attempts?step=1"));
    let action = format!("/run/{id}");
    let mut steps = sign_in();
    steps.push(step(move |browser| browser.get(&attempts)));
    steps.push(step(move |browser| browser.get_and_keep(&facts)));
    let fields = &[("action", "retry"), ("step", "1"), ("reason", "count per user")];
    for _ in 0..2 {
        let action = action.clone();
        steps.push(step(move |browser| browser.submit_kept(&action, fields)));
    }
    let answers = browse(&mut machine, steps);
    let check = &facts_of(&body(&answers[2]))[0]["checks"][0];
    assert_eq!((&check["result"], &check["output"]), (&json!("failed"), &json!("expected 429")));
    assert_eq!(facts_of(&body(&answers[3]))["run"]["actions"], json!(["retry", "resume"]));
    assert_eq!(answers[4].status, 200, "{}", body(&answers[4]));
    assert!(ledger(&machine, &id).contains("count per user"), "{}", ledger(&machine, &id));
    assert_eq!(machine.launched.len(), 1, "{:?}", machine.launched);
    assert_eq!(answers[5].status, 409);
    assert!(body(&answers[5]).contains("the run has changed since"), "{}", body(&answers[5]));
}

#[test]
fn an_agent_does_not_serve_the_page() {
    let mut machine = SimHost::new();
    machine.env.insert("ONLOOP_STEP".to_owned(), "1".to_owned());
    assert_eq!(machine.run(&["onloop", "web"]), Ended::Exit(Exit::Refused));
    assert!(
        crate::flat(&machine.notes()).contains("is for a person to decide"),
        "{}",
        machine.notes()
    );
}

#[test]
fn the_turn_that_resolves_a_conflict_stands_behind_that_of_its_step() {
    let mut life = ParallelLife::new(ParallelPlan::diamond(2, 2, true), 7);
    life.calm();
    life.drive().unwrap_or_else(|why| panic!("{why}"));
    let run = life.run().expect("it has begun");
    let record = run
        .steps
        .iter()
        .find(|record| record.fork.as_ref().is_some_and(|fork| !fork.conflicts.is_empty()));
    let number = record.expect("two steps conflict").step.number;
    let path = format!("/data/run/{}/log?attempt={number}-1", run.id);
    let steps = sign_in().into_iter().chain([step(move |browser| browser.get(&path))]);
    let answers = browse(&mut life.host, steps.collect());
    let lines: Vec<serde_json::Value> = serde_json::from_str(&body(&answers[2])).expect("facts");
    let said: Vec<&str> = lines.iter().filter_map(|line| line["text"].as_str()).collect();
    assert_eq!(
        said,
        ["acted", "", "--- Another turn: the conflicts of the merge ---", "", "acted"]
    );
}

#[test]
fn a_step_that_is_not_merged_has_its_attempts_and_its_time() {
    let mut plan = ParallelPlan::diamond(2, 2, false);
    plan.all[1].gate = true;
    let mut life = ParallelLife::new(plan, 7);
    life.calm();
    assert_eq!(life.drive(), Ok(Ended::Exit(Exit::Paused)), "{}", life.said());
    let run = life.run().expect("it has begun");
    assert_eq!(run.steps[2].attempts, 0, "the run learns of it with the merge");
    let path = format!("/data/run/{}", run.id);
    let steps = sign_in().into_iter().chain([step(move |browser| browser.get(&path))]);
    let answers = browse(&mut life.host, steps.collect());
    let facts: serde_json::Value = serde_json::from_str(&body(&answers[2])).expect("facts");
    assert_eq!(facts["run"]["steps"][2]["attempts"], 1);
    let spans = facts["spans"].as_array().expect("a list");
    let of_step = spans.iter().find(|span| span["step"] == 3).expect("it is on the timeline");
    assert!(of_step["kind"] == "acted" && of_step["to"].is_string(), "{of_step}");
}
