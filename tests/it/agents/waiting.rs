//! A night without anybody: providers that do not serve are waited for, whatever happens
//! meanwhile, and an agent of which nothing comes any more is ended.

use std::cell::RefCell;
use std::rc::Rc;

use onloop_core::documents::ledger;
use onloop_core::effect::{Command, Exit, HttpAnswer, ProcessSpec, Request, Terminal};
use onloop_core::limits;
use onloop_core::run::{Run, RunStatus, TurnEnding, WaitReason};
use onloop_core::time::Timestamp;
use onloop_tests::{Ended, Kill, Moment, SimHost, SimProcess};
use serde_json::json;

use crate::rounds::sampled;

const FILE: &str = "---\nintent: Make it\nsuccess_criteria: it is there\nrisk_level: low\n\
                    auto_approve: true\n---\n\n- [ ] **Step 1: Make it**\naction: make it\nloop: \
                    until it is there\nmax_iterations: 3\nverify: check-it\n";
const RUN: &[&str] = &["onloop", "run", "--mode", "none", "--agent", "claude"];
const HOUR_MS: u64 = 60 * 60 * 1000;

fn lines(documents: &[serde_json::Value]) -> String {
    documents.iter().map(|document| format!("{document}\n")).collect()
}

fn begins() -> serde_json::Value {
    json!({ "type": "system", "subtype": "init", "session_id": "s-1", "model": "m" })
}

fn says(text: &str) -> serde_json::Value {
    let content = [json!({ "type": "text", "text": text })];
    json!({ "type": "assistant", "message": { "id": text, "content": content } })
}

fn works() -> SimProcess {
    let end = json!({ "type": "result", "terminal_reason": "completed", "is_error": false });
    SimProcess::exit(0, &lines(&[begins(), says("done"), end]))
}

/// What Claude Code says whose subscription is used up, after it has said `before`.
fn limited(until: Option<Timestamp>, before: &[serde_json::Value]) -> SimProcess {
    let resets_at = until.map(|at| at.as_millis() / 1000);
    let info = json!({ "status": "rejected", "resetsAt": resets_at, "rateLimitType": "five_hour" });
    let event = json!({ "type": "rate_limit_event", "rate_limit_info": info });
    let end = json!({
        "type": "result", "subtype": "success", "is_error": true, "terminal_reason": "api_error",
        "api_error": "usage_limit_reached", "api_error_status": 429, "result": "used up",
    });
    let said = [&[begins()], before, &[event, end]].concat();
    SimProcess::exit(1, &lines(&said))
}

fn overloaded() -> SimProcess {
    let end = json!({
        "type": "result", "is_error": true, "terminal_reason": "api_error",
        "api_error_status": 529, "result": "Overloaded",
    });
    SimProcess::exit(1, &lines(&[begins(), end]))
}

/// What was started: the words of the command line, and what it was told.
type Started = Rc<RefCell<Vec<(String, String)>>>;

fn what_is_started(spec: &ProcessSpec) -> (String, String) {
    let Command::Argv(words) = &spec.command else { panic!("a shell is in between") };
    let stdin = spec.stdin.as_ref().map_or_else(Vec::new, |bytes| bytes.to_vec());
    (words.join(" "), String::from_utf8(stdin).expect("prompts are text"))
}

/// A machine on which the turns of `claude` come one after the other, the last again and again.
fn machine(mut turns: Vec<SimProcess>) -> (SimHost, Started) {
    let mut host = SimHost::new();
    host.disk.put("hotl-workflow-it.md", FILE);
    host.on("check-it", |_, _| SimProcess::exit(0, ""));
    host.env.insert("PATH".to_owned(), "/bin".to_owned());
    host.disk.put_executable("/bin/claude", "");
    host.on("claude --version", |_, _| SimProcess::exit(0, "3.0.0\n"));
    let all = Started::default();
    let log = Rc::clone(&all);
    host.on("claude -p", move |_, spec| {
        log.borrow_mut().push(what_is_started(spec));
        match turns.len() {
            1 => turns[0].clone(),
            _ => turns.remove(0),
        }
    });
    (host, all)
}

fn run_of(host: &SimHost) -> Run {
    let files = host.disk.files("/state/runs");
    let path = files.iter().find(|path| path.ends_with("/ledger.jsonl")).expect("a run began");
    ledger::read(host.disk.get(path).expect("it was listed"), None).expect("it is sound").run
}

fn in_hours(host: &SimHost, hours: i64) -> Timestamp {
    Timestamp::from_millis(host.now().as_millis() + hours * HOUR_MS as i64)
}

/// Milliseconds that were slept.
fn slept(host: &SimHost) -> Vec<u64> {
    let sleeps = host.requests.iter().filter_map(|request| match request {
        Request::Sleep { duration_ms } => Some(*duration_ms),
        _ => None,
    });
    sleeps.collect()
}

#[test]
fn a_limit_is_no_attempt_and_is_waited_for_in_the_same_conversation() {
    let until = in_hours(&SimHost::new(), 2);
    let (mut host, started) = machine(vec![limited(Some(until), &[says("half")]), works()]);
    let began = host.now();
    assert_eq!(host.run(RUN), Ended::Exit(Exit::Done), "{}", host.notes());
    assert!(host.now() > until && host.now().millis_since(began) < 3 * HOUR_MS);
    let run = run_of(&host);
    assert_eq!((run.status, run.steps[0].attempts), (RunStatus::Completed, 1));
    assert_eq!((run.usage.agents, run.waits.as_slice()), (1, &[][..]));
    let endings: Vec<_> = run.turns.iter().map(|turn| turn.ending.unwrap()).collect();
    assert_eq!(endings, [TurnEnding::Refused(WaitReason::Limited), TurnEnding::Completed]);
    let started = started.borrow();
    assert!(started[1].0.ends_with(" --resume s-1"), "{}", started[1].0);
    assert!(started[1].1.contains("can continue now"), "{}", started[1].1);
    let notes = host.notes();
    let expected = format!(
        "    claude: its limit on usage is reached\n    waits until {} (2 h 0 min ",
        Timestamp::from_millis(until.as_millis() + 5000).to_rfc3339()
    );
    assert!(notes.contains(&expected), "{notes}");
    let report = host.disk.text(&format!(".hotl/reports/{}.md", run.id));
    assert!(report.contains("⏸ Step 1: claude until "), "{report}");
}

#[test]
fn killed_at_any_moment_of_the_wait_it_goes_on_waiting_as_long() {
    let until = in_hours(&SimHost::new(), 1);
    let turns = || vec![limited(Some(until), &[says("half")]), works()];
    let (mut whole, _) = machine(turns());
    assert_eq!(whole.run(RUN), Ended::Exit(Exit::Done));
    let is_sleep = |request: &Request| matches!(request, Request::Sleep { .. });
    let first = whole.requests.iter().position(is_sleep).unwrap();
    let last = whole.requests.iter().rposition(is_sleep).unwrap();
    assert!(last - first > 100, "{first} {last}");
    for at_request in (first..=last + 1).step_by(17).chain(last - 1..=last + 1) {
        for moment in [Moment::Before, Moment::After] {
            let (mut host, started) = machine(turns());
            host.kill(Kill { at_request, moment, leaves_processes: false });
            assert_eq!(host.run(RUN), Ended::Killed);
            let resumed = host.run(&["onloop", "resume", "--agent", "claude"]);
            assert_eq!(resumed, Ended::Exit(Exit::Done), "{at_request}: {}", host.notes());
            let run = run_of(&host);
            assert_eq!(run.steps[0].attempts, 1, "{at_request}");
            assert!(host.now() > until, "{at_request}");
            assert!(host.now().millis_since(until) < HOUR_MS / 20, "{at_request}");
            assert_eq!(started.borrow().len(), 2, "{at_request}");
            assert!(started.borrow()[1].0.ends_with(" --resume s-1"));
        }
    }
}

#[test]
fn a_wait_that_is_too_long_pauses_the_run_and_says_what_to_do() {
    let until = in_hours(&SimHost::new(), 7);
    let (mut host, _) = machine(vec![limited(Some(until), &[]), works()]);
    assert_eq!(host.run(RUN), Ended::Exit(Exit::Paused));
    assert_eq!(slept(&host), Vec::<u64>::new());
    let run = run_of(&host);
    let at = Timestamp::from_millis(until.as_millis() + 5000).to_rfc3339();
    let expected = format!(
        "\nPaused: claude: its limit on usage is reached until {at}; that is longer than \
         --max-wait, 6 h ({id})\nContinue when the limit ends, with another agent (--agent \
         NAME), or wait\nlonger (--max-wait TIME):\n  onloop resume {id}\n",
        id = run.id
    );
    let notes = crate::flat(&host.notes());
    assert!(notes.contains(&crate::flat(&expected)), "{}", host.notes());
    assert_eq!(run.status, RunStatus::Paused);
    // Nothing has changed when somebody tries again at once, and a longer wait is waited.
    let resume = ["onloop", "resume", "--agent", "claude"];
    assert_eq!(host.run(&resume), Ended::Exit(Exit::Paused));
    let longer = [&resume[..], &["--max-wait", "8h"]].concat();
    assert_eq!(host.run(&longer), Ended::Exit(Exit::Done), "{}", host.notes());
    assert!(host.now() > until);
    assert_eq!(run_of(&host).steps[0].attempts, 1);
}

#[test]
fn a_budget_that_is_passed_within_a_turn_pauses_the_run_and_names_what_raises_it() {
    let over = json!({
        "type": "result", "subtype": "error_max_budget_usd", "is_error": true,
        "terminal_reason": "budget_exhausted", "total_cost_usd": 2.4,
        "model_usage_since_last_result": { "m": { "inputTokens": 10, "outputTokens": 5, "costUSD": 2.4 } },
    });
    let over = SimProcess::exit(1, &lines(&[begins(), says("half"), over]));
    let (mut host, started) = machine(vec![over, works()]);
    let once = FILE.replace("until it is there\nmax_iterations: 3", "false");
    host.disk.put("hotl-workflow-it.md", once.replace("risk_level", "max_cost_usd: 2\nrisk_level"));
    assert_eq!(host.run(RUN), Ended::Exit(Exit::Paused), "{}", host.notes());
    let run = run_of(&host);
    let reached = "Budget reached: max_cost_usd is 2.00 (used: 2.40)";
    let raise = format!(
        "{reached}\nRaise it and continue, for example:\n  onloop resume {id} --raise max_cost_usd=unlimited\n",
        id = run.id
    );
    let notes = crate::flat(&host.notes());
    assert!(notes.contains(&format!("Waiting for you: {reached} ({})", run.id)), "{notes}");
    assert!(notes.contains(&crate::flat(&raise)), "{}", host.notes());
    assert_eq!(run.turns[0].ending, Some(TurnEnding::OverBudget));
    let resume = ["onloop", "resume", "--agent", "claude"];
    assert_eq!(host.run(&resume), Ended::Exit(Exit::Paused));
    assert_eq!(started.borrow().len(), 1);
    let raised = [&resume[..], &["--raise", "max_cost_usd=5"]].concat();
    assert_eq!(host.run(&raised), Ended::Exit(Exit::Done), "{}", host.notes());
    assert_eq!(run_of(&host).steps[0].attempts, 1);
    assert!(started.borrow()[1].0.ends_with(" --resume s-1"));
    host.on("date +%z", |_, _| SimProcess::exit(0, "+0200\n"));
    let cost = ["onloop", "cost", "--by", "model"];
    assert_eq!(host.run(&cost), Ended::Exit(Exit::Done), "{}", host.notes());
    let table = "model       cost  turns  tokens\nm      $2.40 + ?      2      15\ntotal  $2.40 + ?      2      15\n";
    let said = format!("{:?}", host.said);
    assert!(said.contains(&format!("{table:?}").trim_matches('"').to_owned()), "{said}");
}

/// Another run of the machine spends while this one works.
#[test]
fn a_turn_that_passes_the_budget_of_the_day_pauses_the_run() {
    let spends = json!({
        "type": "result", "subtype": "success", "is_error": false, "total_cost_usd": 1.5,
        "model_usage_since_last_result": { "m": { "inputTokens": 10, "outputTokens": 5, "costUSD": 1.5 } },
    });
    let over = SimProcess::exit(1, &lines(&[begins(), says("half"), spends]));
    let (mut host, started) = machine(vec![over, works()]);
    host.disk.put(".agentize.local.yaml", "budget: { day_usd: 1 }\n");
    host.on("date +%z", |_, _| SimProcess::exit(0, "+0200\n"));
    assert_eq!(host.run(RUN), Ended::Exit(Exit::Paused), "{}", host.notes());
    let why = "`budget.day_usd: 1` of your configuration is used up; raise it there";
    assert!(crate::flat(&host.notes()).contains(why), "{}", host.notes());
    let run = run_of(&host);
    assert_eq!((run.turns[0].ending, run.steps[0].attempts), (Some(TurnEnding::OverBudget), 1));
    host.disk.put(".agentize.local.yaml", "budget: { day_usd: 10 }\n");
    let resume = ["onloop", "resume", "--agent", "claude"];
    assert_eq!(host.run(&resume), Ended::Exit(Exit::Done), "{}", host.notes());
    assert_eq!((started.borrow().len(), run_of(&host).steps[0].attempts), (2, 1));
}

#[test]
fn without_a_known_time_the_pauses_grow_until_it_is_enough() {
    let (mut host, _) = machine(vec![overloaded()]);
    assert_eq!(host.run(RUN), Ended::Exit(Exit::Paused));
    let run = run_of(&host);
    assert_eq!((run.steps[0].attempts, run.waits.len()), (1, 1));
    assert_eq!(run.waits[0].why, WaitReason::Overloaded);
    let tries = run.turns.len();
    assert!((20..40).contains(&tries), "{tries}");
    let waited: u64 = slept(&host).iter().sum();
    assert!((5 * HOUR_MS..=limits::MAX_WAIT_MS).contains(&waited), "{waited}");
    assert_eq!(run.usage.tokens.known(), Some(0), "nothing was served");
    // An overload that passes is forgotten.
    let (mut host, started) = machine(vec![overloaded(), overloaded(), overloaded(), works()]);
    assert_eq!(host.run(RUN), Ended::Exit(Exit::Done));
    assert_eq!(started.borrow().len(), 4);
    let waited: u64 = slept(&host).iter().sum();
    assert!((104_000..=105_000).contains(&waited), "{waited}");
    assert!(started.borrow().iter().all(|(line, _)| !line.contains("--resume")));
    assert_eq!(run_of(&host).waits, []);
}

#[test]
fn the_next_agent_takes_over_and_the_first_comes_back() {
    let until = in_hours(&SimHost::new(), 1);
    let (mut host, started) = machine(vec![limited(Some(until), &[says("half")]), works()]);
    host.disk.put_executable("/bin/codex", "");
    host.on("codex --version", |_, _| SimProcess::exit(0, "3.0.0\n"));
    let codex = Started::default();
    let log = Rc::clone(&codex);
    host.on("codex exec", move |_, spec| {
        log.borrow_mut().push(what_is_started(spec));
        let begins = json!({ "type": "thread.started", "thread_id": "t-1" });
        let message = json!({ "id": "1", "type": "agent_message", "text": "done" });
        let said = json!({ "type": "item.completed", "item": message });
        let end = json!({ "type": "turn.completed", "usage": {} });
        SimProcess::exit(0, &lines(&[begins, said, end]))
    });
    let line = ["onloop", "run", "--mode", "none", "--agent", "claude,opencode,codex"];
    assert_eq!(host.run(&line), Ended::Exit(Exit::Done), "{}", host.notes());
    assert!(host.notes().contains("warning: `opencode` is not on PATH and left out\n"));
    assert_eq!((started.borrow().len(), codex.borrow().len()), (1, 1));
    assert!(codex.borrow()[0].1.contains("make it"), "it is told everything");
    assert_eq!(slept(&host), Vec::<u64>::new());
    let run = run_of(&host);
    assert_eq!((run.steps[0].attempts, run.turns[1].agent.as_str()), (1, "codex"));
}

#[test]
fn none_of_several_agents_changes_nothing() {
    let (mut host, _) = machine(vec![works()]);
    host.env.insert("PATH".to_owned(), "/usr/bin".to_owned());
    let before = host.disk.files("/");
    let line = ["onloop", "run", "--mode", "none", "--agent", "claude,codex"];
    assert_eq!(host.run(&line), Ended::Exit(Exit::Usage));
    assert_eq!(
        host.notes(),
        "error: none of the agents is on PATH: `claude`, `codex`\n  fix: install one of them, or \
         name another one with --agent\n"
    );
    assert_eq!(host.disk.files("/"), before);
}

#[test]
fn silence_ends_a_turn_and_counts_as_a_failed_attempt() {
    let silent =
        SimProcess { stdout: lines(&[begins(), says("hm")]).into(), ..SimProcess::forever("") };
    let (mut host, started) = machine(vec![silent.clone(), silent.clone(), silent, works()]);
    let began = host.now();
    assert_eq!(host.run(RUN), Ended::Exit(Exit::Failed), "{}", host.notes());
    let minutes = host.now().millis_since(began) / 60_000;
    assert!((30..33).contains(&minutes), "{minutes}");
    let run = run_of(&host);
    assert_eq!(run.steps[0].attempts, 3);
    assert!(run.turns.iter().all(|turn| turn.ending == Some(TurnEnding::Stalled)));
    let notes = host.notes();
    assert!(notes.contains("agent ended: no sign of life for 10 min\n"), "{notes}");
    let resumed: Vec<bool> =
        started.borrow().iter().map(|(line, _)| line.contains("--resume")).collect();
    assert_eq!(resumed, [false, true, false], "a conversation that stalled twice is left");
    assert!(notes.contains("a new conversation about step 1 begins: the one before stalled twice"));
}

#[test]
fn a_tool_may_be_silent_for_longer() {
    let call =
        json!({ "type": "tool_use", "id": "c", "name": "Bash", "input": { "command": "cargo t" } });
    let calls = json!({ "type": "assistant", "message": { "id": "m", "content": [call] } });
    let silent = SimProcess { stdout: lines(&[begins(), calls]).into(), ..SimProcess::forever("") };
    let (mut host, _) = machine(vec![silent]);
    host.disk.put("hotl-workflow-it.md", FILE.replace("max_iterations: 3", "max_iterations: 1"));
    let began = host.now();
    assert_eq!(host.run(RUN), Ended::Exit(Exit::Failed));
    let minutes = host.now().millis_since(began) / 60_000;
    assert!((45..47).contains(&minutes), "{minutes}");
    let expected = "agent ended: no sign of life for 45 min while `Bash` ran";
    assert!(host.notes().contains(expected), "{}", host.notes());
}

#[test]
fn a_wait_is_interrupted_like_anything_else() {
    let until = in_hours(&SimHost::new(), 1);
    let (mut host, _) = machine(vec![limited(Some(until), &[]), works()]);
    host.terminal = Terminal::default();
    let mut probe = machine(vec![limited(Some(until), &[]), works()]).0;
    assert_eq!(probe.run(RUN), Ended::Exit(Exit::Done));
    let sleep = |request: &Request| matches!(request, Request::Sleep { .. });
    host.interrupt_at(probe.requests.iter().position(sleep).unwrap() + 3);
    assert_eq!(host.run(RUN), Ended::Exit(Exit::Interrupted), "{}", host.notes());
    assert_eq!(run_of(&host).status, RunStatus::Paused);
    let resume = ["onloop", "resume", "--agent", "claude"];
    assert_eq!(host.run(&resume), Ended::Exit(Exit::Done), "{}", host.notes());
    assert!(host.now() > until);
    assert_eq!(run_of(&host).steps[0].attempts, 1);
}

/// `machine`, whose developer is told by a server; what that was told, as `event id`.
fn told(turns: Vec<SimProcess>) -> (SimHost, Rc<RefCell<Vec<String>>>) {
    let (mut host, _) = machine(turns);
    let yaml = "notify:\n  webhook: {url: https://hooks.example/T0}\n";
    host.disk.put(".agentize.local.yaml", yaml);
    let told = Rc::<RefCell<Vec<String>>>::default();
    let board = Rc::clone(&told);
    host.on_http(move |_, spec| {
        let body = spec.body.as_ref().expect("a notice").to_vec();
        let notice: serde_json::Value = serde_json::from_slice(&body).expect("JSON");
        let word = |name: &str| notice[name].as_str().unwrap_or("-").to_owned();
        board.borrow_mut().push(format!("{} {}", word("event"), word("id")));
        Ok(HttpAnswer { status: 204, body: Vec::new().into() })
    });
    (host, told)
}

/// The kinds of what was told, without repetitions of the same piece of news.
fn kinds(told: &[String]) -> Vec<&str> {
    let mut told: Vec<&str> = told.iter().map(String::as_str).collect();
    told.dedup();
    told.iter().map(|told| told.split(' ').next().unwrap()).collect()
}

#[test]
fn a_limit_is_told_once_however_long_it_is_waited_for_and_wherever_the_process_is_killed() {
    let until = in_hours(&SimHost::new(), 1);
    let turns = || vec![limited(None, &[]), limited(None, &[]), limited(Some(until), &[]), works()];
    let (mut whole, news) = told(turns());
    assert_eq!(whole.run(RUN), Ended::Exit(Exit::Done), "{}", whole.notes());
    assert_eq!(kinds(&news.borrow()), ["limit", "completed"]);
    assert_eq!(news.borrow().len(), 2);
    let is_http = |request: &Request| matches!(request, Request::Http(_));
    let ends = [whole.requests.iter().position(is_http), whole.requests.iter().rposition(is_http)];
    let kills = ends.into_iter().flat_map(|sent| {
        let sent = sent.expect("a notice was sent");
        let at = |at| [Moment::Before, Moment::After].map(|moment| (sent, at, moment));
        (sent - 12..=sent + 3).flat_map(at).collect::<Vec<_>>()
    });
    for (sent, at_request, moment) in sampled(5, kills) {
        let (mut host, news) = told(turns());
        host.kill(Kill { at_request, moment, leaves_processes: false });
        assert_eq!(host.run(RUN), Ended::Killed);
        let id = run_of(&host).id.clone();
        let resume = ["onloop", "resume", &id, "--agent", "claude"];
        assert_eq!(host.run(&resume), Ended::Exit(Exit::Done), "{}", host.notes());
        let news = news.borrow();
        let about = format!("{at_request} {moment:?}: {news:?}");
        assert_eq!(kinds(&news), ["limit", "completed"], "{about}");
        // It is told again only if it is unknown whether it has arrived.
        let unknown = at_request == sent || at_request == sent + 1;
        assert!(news.len() <= 2 + usize::from(unknown), "{about}");
    }
}
