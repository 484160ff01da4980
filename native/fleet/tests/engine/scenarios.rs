//! Tests of every storage, by the contract in `engine.rs`. Each test has its own runs, repositories and
//! agents, so that all of them can use one engine.

use std::collections::BTreeMap;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use onloop_core::run::{Event, Wait, WaitReason};
use onloop_core::time::Timestamp;
use onloop_fleet::engine::{
    Append, Assignment, Claim, EngineError, Head, Heartbeat, Lease, LeaseStatus, LogTail, Offer,
    QueueState, ReadJournal, ReadLog, ReadOverview, Settings, Submission,
};

use crate::samples::{
    Service, append, chained, lines, offer, reading, release, submission, taking,
};

/// How long a lease holds.
const LEASE: Duration = Duration::from_millis(900);
/// Longer than everything that is waited for.
const LONG: Duration = Duration::from_secs(20);
const NOW: Duration = Duration::ZERO;

/// Returns the settings of the engine.
pub(crate) fn settings() -> Settings {
    let limits = BTreeMap::from([("bounded".to_owned(), 1)]);
    Settings { lease: LEASE, limits, archive: None }
}

/// Runs all tests.
pub(crate) async fn all(engine: &impl Service) {
    submissions(engine).await;
    order_of_runs(engine).await;
    waiting_for_a_run(engine).await;
    journals(engine).await;
    long_journals(engine).await;
    repetitions(engine).await;
    fences(engine).await;
    leases_that_end(engine).await;
    recalls(engine).await;
    decisions(engine).await;
    decisions_before_a_rest(engine).await;
    bounds(engine).await;
    agents_that_are_not_served(engine).await;
    what_is_tried_again(engine).await;
    ends(engine).await;
    logs(engine).await;
    refusals(engine).await;
}

async fn submissions(engine: &impl Service) {
    let run = submission("submitted", "claude");
    engine.call(&run).await.expect("a new run");
    engine.call(&run).await.expect("the same again");
    let other = Submission { text: "another".to_owned(), ..run.clone() };
    let exists = EngineError::Exists { run_id: run.run_id.clone() };
    assert_eq!(engine.call(&other).await, Err(exists));
    let overview = engine.call(&ReadOverview {}).await.expect("an overview");
    let view = overview.runs.iter().find(|view| view.run_id == run.run_id).expect("the run");
    assert_eq!((&view.state, &view.holder, &view.head), (&QueueState::Ready, &None, &None));
    let assignment = take(engine, "submitted").await;
    assert_eq!((assignment.submission, assignment.head), (run, None));
}

async fn order_of_runs(engine: &impl Service) {
    for name in ["order-b", "order-a", "order-c"] {
        engine.call(&submission(name, "claude")).await.expect("a new run");
        // Runs are ordered by their time of arrival in milliseconds.
        until_next_millisecond().await;
    }
    let first =
        engine.call(&taking(&offer("worker-order", &["git@example.com:order-*"]), NOW)).await;
    assert_eq!(first.expect("taken").expect("a run").lease.run_id, "order-b");
    assert_eq!(take(engine, "order-c").await.lease.run_id, "order-c");
    let nothing =
        engine.call(&taking(&offer("worker-order", &["git@example.com:order"]), NOW)).await;
    assert_eq!(nothing, Ok(None), "what does not end with `*` is meant as a whole");
    assert_eq!(take(engine, "order-*").await.lease.run_id, "order-a");
    let overview = engine.call(&ReadOverview {}).await.expect("an overview");
    let ids = overview.runs.iter().map(|view| view.run_id.as_str());
    let ids: Vec<&str> = ids.filter(|id| id.starts_with("order-")).collect();
    assert_eq!(ids, ["order-c", "order-a", "order-b"], "the newest first");
    let worker = overview.workers.iter().find(|view| view.offer.worker == "worker-order");
    let offer = &worker.expect("it was heard").offer;
    assert_eq!(offer.busy, 2, "what it was given since it said how busy it was counts");
}

async fn waiting_for_a_run(engine: &impl Service) {
    let begun = Instant::now();
    let wait = Duration::from_millis(50);
    let offer = offer("worker-waits", &["git@example.com:awaited"]);
    assert_eq!(engine.call(&taking(&offer, wait)).await, Ok(None));
    assert!(begun.elapsed() >= wait);
    let run = submission("awaited", "claude");
    let waits = taking(&offer, LONG);
    let (taken, submitted) = tokio::join!(engine.call(&waits), engine.call(&run));
    assert_eq!((taken.expect("taken").expect("a run").lease.epoch, submitted), (1, Ok(())));
    assert!(begun.elapsed() < LONG);
}

async fn journals(engine: &impl Service) {
    let Lease { epoch, .. } = begin(engine, "journal").await;
    let (first, one) = lines(None, 1);
    let (last, more) = lines(Some(&first), 3);
    let add = |after: Option<&Head>, lines: &str| append("journal", Some(epoch), after, lines);
    assert_eq!(engine.call(&add(None, &one)).await, Ok(first.clone()));
    let next = add(Some(&first), &more);
    let behind = reading("journal", 1, LONG);
    let (read, added) = tokio::join!(engine.call(&behind), engine.call(&next));
    assert_eq!(added, Ok(last.clone()));
    let read = read.expect("lines");
    assert_eq!((read.lines.as_str(), read.view.head), (more.as_str(), Some(last.clone())));
    let all = engine.call(&ReadJournal::now("journal")).await.expect("lines");
    assert_eq!(all.lines, format!("{one}{more}"));
    let nothing = engine.call(&reading("journal", last.seq, Duration::from_millis(20))).await;
    assert_eq!(nothing.expect("an answer").lines, "");
    engine.call(&release("journal", epoch, waits())).await.expect("released");
    let assignment = claim(engine, "journal", "somebody", false).await.expect("a lease");
    assert_eq!(assignment.epoch, epoch + 1);
}

/// The lines exceed what an engine stores in one value.
async fn long_journals(engine: &impl Service) {
    let Lease { epoch, .. } = begin(engine, "long").await;
    let mut head: Option<Head> = None;
    let mut parts = Vec::new();
    for count in (1..=12).chain([80, 1, 1, 1]) {
        let (next, lines) = lines(head.as_ref(), count);
        let added = append("long", Some(epoch), head.as_ref(), &lines);
        assert_eq!(engine.call(&added).await, Ok(next.clone()), "{count} lines");
        parts.push((added, next.clone()));
        head = Some(next);
    }
    let all: String = parts.iter().map(|(added, _)| added.lines.as_str()).collect();
    assert!(all.len() > 32 * 1024, "{} bytes", all.len());
    for after in [0, 1, 50, 77, 78, 157, 158, 159, 161, 162] {
        let read = engine.call(&reading("long", after, NOW)).await.expect("lines");
        let behind: String =
            all.split_inclusive('\n').skip(usize::try_from(after).expect("few")).collect();
        assert_eq!(read.lines, behind, "behind line {after}");
    }
    for (added, head) in &parts {
        assert_eq!(engine.call(added).await, Ok(head.clone()), "again");
    }
    let (added, _) = &parts[2];
    let other = Append { lines: other_lines(added.after.as_ref(), 1).1, ..added.clone() };
    let conflict = EngineError::Conflict { run_id: "long".to_owned(), head };
    assert_eq!(engine.call(&other).await, Err(conflict));
    engine.call(&release("long", epoch, QueueState::Ready)).await.expect("released");
    let again = take(engine, "long").await;
    assert_eq!(again.submission, submission("long", "claude"));
}

async fn repetitions(engine: &impl Service) {
    let Lease { epoch, .. } = begin(engine, "repeated").await;
    let (second, two) = lines(None, 2);
    let (third, one) = lines(Some(&second), 1);
    let add = |after: Option<&Head>, lines: &str| append("repeated", Some(epoch), after, lines);
    for _ in 0..2 {
        assert_eq!(engine.call(&add(None, &two)).await, Ok(second.clone()));
    }
    for _ in 0..2 {
        assert_eq!(engine.call(&add(Some(&second), &one)).await, Ok(third.clone()));
    }
    // The first two again together with the third: none is new.
    assert_eq!(engine.call(&add(None, &two)).await, Ok(second.clone()));
    assert_eq!(engine.call(&add(None, &format!("{two}{one}"))).await, Ok(third.clone()));
    // All of them and one new line.
    let (fourth, next) = lines(Some(&third), 1);
    assert_eq!(engine.call(&add(None, &format!("{two}{one}{next}"))).await, Ok(fourth.clone()));
    let all = engine.call(&ReadJournal::now("repeated")).await.expect("lines");
    assert_eq!(all.lines, format!("{two}{one}{next}"));
    // The journal has another line after the second one.
    let (_, other) = other_lines(Some(&second), 1);
    let conflict = EngineError::Conflict { run_id: "repeated".to_owned(), head: Some(fourth) };
    assert_eq!(engine.call(&add(Some(&second), &other)).await, Err(conflict.clone()));
    let (_, other) = other_lines(None, 1);
    assert_eq!(engine.call(&add(None, &other)).await, Err(conflict.clone()));
    let ahead = Head { seq: 9, sha256: "9".repeat(64) };
    let (_, other) = lines(Some(&ahead), 1);
    assert_eq!(engine.call(&add(Some(&ahead), &other)).await, Err(conflict));
    // Repeated lines count, although the lease has ended.
    engine.call(&release("repeated", epoch, waits())).await.expect("released");
    engine.call(&release("repeated", epoch, QueueState::Ready)).await.expect("ended before");
    assert_eq!(engine.call(&add(Some(&second), &one)).await, Ok(third));
    assert_eq!(view(engine, "repeated").await.state, waits());
}

async fn fences(engine: &impl Service) {
    let old = begin(engine, "fenced").await;
    let (first, one) = lines(None, 1);
    let add = |epoch, lines: &str, after| append("fenced", Some(epoch), after, lines);
    engine.call(&add(old.epoch, &one, None)).await.expect("added");
    engine.call(&release("fenced", old.epoch, QueueState::Ready)).await.expect("released");
    let (_, next) = lines(Some(&first), 1);
    let fenced = |holder: &str| {
        let (run_id, holder) = ("fenced".to_owned(), holder.to_owned());
        Err(EngineError::Fenced { run_id, epoch: old.epoch, holder })
    };
    let late = add(old.epoch, &next, Some(&first));
    assert_eq!(engine.call(&late).await, fenced("no worker"));
    let new = take(engine, "fenced").await;
    assert_eq!((new.lease.epoch, new.head), (old.epoch + 1, Some(first.clone())));
    assert_eq!(engine.call(&late).await, fenced("worker-fenced"));
    // The end of a lease that has ended changes nothing.
    let over = QueueState::Finished { status: "completed".to_owned() };
    engine.call(&release("fenced", old.epoch, over)).await.expect("nothing happens");
    assert_eq!(view(engine, "fenced").await.holder.as_deref(), Some("worker-fenced"));
    engine.call(&add(new.lease.epoch, &next, Some(&first))).await.expect("added");
}

async fn leases_that_end(engine: &impl Service) {
    let old = begin(engine, "expires").await;
    assert!(old.lasts_ms < LEASE.as_millis() as u64, "the holder gives up first");
    let offer = offer("worker-expires", &["git@example.com:expires"]);
    let beat = |epoch| Heartbeat {
        offer: offer.clone(),
        leases: vec![("expires".to_owned(), epoch)],
        logs: Vec::new(),
    };
    let status = async |beat: Heartbeat| engine.call(&beat).await.expect("heard")[0].status;
    let begun = Instant::now();
    while begun.elapsed() < LEASE * 2 {
        assert_eq!(status(beat(old.epoch)).await, LeaseStatus::Held);
        tokio::time::sleep(LEASE / 4).await;
    }
    assert_eq!(status(beat(old.epoch + 1)).await, LeaseStatus::Lost);
    let renewed = Instant::now();
    assert_eq!(status(beat(old.epoch)).await, LeaseStatus::Held);
    let next = engine.call(&taking(&offer, LONG)).await.expect("taken").expect("a run");
    assert_eq!(next.lease.epoch, old.epoch + 1);
    assert!(renewed.elapsed() >= LEASE, "not before it has ended");
    assert_eq!(status(beat(old.epoch)).await, LeaseStatus::Lost);
    let overview = engine.call(&ReadOverview {}).await.expect("an overview");
    let shown = Offer { busy: 1, ..offer };
    assert!(overview.workers.iter().any(|worker| worker.offer == shown));
}

async fn recalls(engine: &impl Service) {
    let held = begin(engine, "recalled").await;
    let busy = Err(EngineError::Busy {
        run_id: "recalled".to_owned(),
        holder: "worker-recalled".to_owned(),
    });
    let beat = Heartbeat {
        offer: offer("worker-recalled", &["git@example.com:recalled"]),
        leases: vec![("recalled".to_owned(), held.epoch)],
        logs: Vec::new(),
    };
    let status = async || engine.call(&beat).await.expect("heard")[0].status;
    assert_eq!(claim(engine, "recalled", "laptop", false).await, busy);
    assert_eq!(status().await, LeaseStatus::Held);
    assert_eq!(claim(engine, "recalled", "laptop", true).await, busy);
    for _ in 0..2 {
        assert_eq!(status().await, LeaseStatus::Recalled);
    }
    engine.call(&release("recalled", held.epoch, QueueState::Ready)).await.expect("released");
    let lease = claim(engine, "recalled", "laptop", true).await.expect("a lease");
    assert_eq!((lease.epoch, lease.holder.as_str()), (held.epoch + 1, "laptop"));
    // A caller without an answer repeats its claim.
    assert_eq!(claim(engine, "recalled", "laptop", true).await, Ok(lease.clone()));
    let home = QueueState::Local { host: "laptop".to_owned() };
    engine.call(&release("recalled", lease.epoch, home.clone())).await.expect("released");
    assert_eq!(view(engine, "recalled").await.state, home);
    let nothing = engine.call(&taking(&beat.offer, NOW)).await;
    assert_eq!(nothing, Ok(None), "it is no matter of the fleet any more");
}

async fn decisions(engine: &impl Service) {
    let lease = begin(engine, "decided").await;
    let (first, one) = lines(None, 1);
    engine.call(&append("decided", Some(lease.epoch), None, &one)).await.expect("added");
    engine.call(&release("decided", lease.epoch, waits())).await.expect("released");
    let offer = offer("worker-decided", &["git@example.com:decided"]);
    assert_eq!(engine.call(&taking(&offer, NOW)).await, Ok(None), "it waits");
    let (_, stale) = other_lines(None, 1);
    let conflict = engine.call(&append("decided", None, None, &stale)).await;
    assert!(matches!(conflict, Err(EngineError::Conflict { .. })), "{conflict:?}");
    assert_eq!(engine.call(&taking(&offer, NOW)).await, Ok(None), "nothing was decided");
    let (second, decision) = lines(Some(&first), 1);
    let decided = append("decided", None, Some(&first), &decision);
    let take = taking(&offer, LONG);
    let (taken, appended) = tokio::join!(engine.call(&take), engine.call(&decided));
    assert_eq!(appended, Ok(second.clone()));
    let taken = taken.expect("taken").expect("a run");
    assert_eq!((taken.lease.epoch, taken.head), (lease.epoch + 1, Some(second.clone())));
    // The same decision again is a repetition.
    assert_eq!(engine.call(&decided).await, Ok(second));
    engine.call(&release("decided", taken.lease.epoch, waits())).await.expect("released");
    assert_eq!(view(engine, "decided").await.state, waits());
}

/// A person decides before the worker reports the state.
async fn decisions_before_a_rest(engine: &impl Service) {
    let lease = begin(engine, "hasty").await;
    let (first, one) = lines(None, 1);
    engine.call(&append("hasty", Some(lease.epoch), None, &one)).await.expect("added");
    let (second, decision) = lines(Some(&first), 1);
    engine.call(&append("hasty", None, Some(&first), &decision)).await.expect("decided");
    let (_, next) = other_lines(Some(&first), 1);
    let blind = engine.call(&append("hasty", Some(lease.epoch), Some(&first), &next)).await;
    let conflict = EngineError::Conflict { run_id: "hasty".to_owned(), head: Some(second) };
    assert_eq!(blind, Err(conflict));
    engine.call(&release("hasty", lease.epoch, waits())).await.expect("released");
    let again = take(engine, "hasty").await;
    assert_eq!(again.lease.epoch, lease.epoch + 1, "it goes on");
}

async fn bounds(engine: &impl Service) {
    for name in ["bound-a", "bound-b"] {
        engine.call(&submission(name, "bounded")).await.expect("a new run");
        until_next_millisecond().await;
    }
    let other = Submission { agents: vec!["free".to_owned()], ..submission("bound-c", "") };
    engine.call(&other).await.expect("a new run");
    let first = take(engine, "bound-*").await.lease;
    assert_eq!(first.run_id, "bound-a");
    assert_eq!(take(engine, "bound-*").await.lease.run_id, "bound-c", "the agent has no room");
    let overview = engine.call(&ReadOverview {}).await.expect("an overview");
    let account = overview.accounts.iter().find(|account| account.agent == "bounded");
    let account = account.expect("the agent");
    assert_eq!((account.parallel, account.busy, account.until_ms), (Some(1), 1, None));
    let offer = offer("worker-bound", &["git@example.com:bound-*"]);
    assert_eq!(engine.call(&taking(&offer, NOW)).await, Ok(None));
    let released = release("bound-a", first.epoch, waits());
    let take = taking(&offer, LONG);
    let (next, released) = tokio::join!(engine.call(&take), engine.call(&released));
    assert_eq!(
        (next.expect("taken").expect("a run").lease.run_id.as_str(), released),
        ("bound-b", Ok(()))
    );
}

async fn agents_that_are_not_served(engine: &impl Service) {
    let lease = begin_with(engine, "limited-a", "limited").await;
    let (first, one) = lines(None, 1);
    engine.call(&append("limited-a", Some(lease.epoch), None, &one)).await.expect("added");
    engine.call(&submission("limited-b", "limited")).await.expect("a new run");
    let until_ms = now_ms() + 700;
    let (_, line) = agent_waits(&first, "limited", until_ms);
    let append = append("limited-a", Some(lease.epoch), Some(&first), &line);
    engine.call(&append).await.expect("added");
    let offer = offer("worker-limited", &["git@example.com:limited-*"]);
    assert_eq!(
        engine.call(&taking(&offer, NOW)).await,
        Ok(None),
        "the other run of that agent waits, too"
    );
    let overview = engine.call(&ReadOverview {}).await.expect("an overview");
    let account = overview.accounts.iter().find(|account| account.agent == "limited");
    assert_eq!(account.expect("the agent").until_ms, Some(until_ms));
    let rest = QueueState::RateLimited { at_ms: until_ms + 300, agent: "limited".to_owned() };
    engine.call(&release("limited-a", lease.epoch, rest)).await.expect("released");
    for _ in 0..2 {
        engine.call(&taking(&offer, LONG)).await.expect("taken").expect("a run");
        assert!(now_ms() >= until_ms + 300, "no run of it is begun before that moment");
    }
}

async fn what_is_tried_again(engine: &impl Service) {
    let lease = begin_with(engine, "again-a", "away").await;
    engine.call(&submission("again-b", "away")).await.expect("a new run");
    let at_ms = now_ms() + 700;
    let rest = QueueState::Retry { at_ms, reason: "the remote does not answer".to_owned() };
    engine.call(&release("again-a", lease.epoch, rest.clone())).await.expect("released");
    assert_eq!(view(engine, "again-a").await.state, rest);
    let offer = offer("worker-again", &["git@example.com:again-*"]);
    let other = engine.call(&taking(&offer, NOW)).await.expect("taken").expect("a run");
    assert_eq!(other.lease.run_id, "again-b", "it holds up nobody else");
    let again = engine.call(&taking(&offer, LONG)).await.expect("taken").expect("a run");
    assert_eq!(again.lease.run_id, "again-a");
    assert!(now_ms() >= at_ms, "it is not tried before that moment");
}

async fn ends(engine: &impl Service) {
    let lease = begin(engine, "over").await;
    let over = QueueState::Finished { status: "completed".to_owned() };
    for _ in 0..2 {
        engine.call(&release("over", lease.epoch, over.clone())).await.expect("released");
    }
    let view = view(engine, "over").await;
    assert_eq!((view.state, view.holder), (over.clone(), None));
    // A person can still claim the run; if the command dies, the run stays finished.
    claim(engine, "over", "laptop", false).await.expect("a lease");
    let begun = Instant::now();
    while let Err(error) = claim(engine, "over", "desktop", false).await {
        assert!(matches!(error, EngineError::Busy { .. }) && begun.elapsed() < LONG, "{error}");
        tokio::time::sleep(LEASE / 8).await;
    }
    let offer = offer("worker-over", &["git@example.com:over"]);
    assert_eq!(engine.call(&taking(&offer, LEASE * 2)).await, Ok(None));
    assert_eq!(self::view(engine, "over").await.state, over);
}

async fn logs(engine: &impl Service) {
    let Lease { epoch, .. } = begin(engine, "watched").await;
    let heartbeat = async |logs: Vec<LogTail>| {
        let offer = offer("worker-watched", &["git@example.com:watched"]);
        let leases = vec![("watched".to_owned(), epoch)];
        engine.call(&Heartbeat { offer, leases, logs }).await.expect("heard")[0].is_watched
    };
    assert!(!heartbeat(Vec::new()).await);
    let tail = LogTail {
        run_id: "watched".to_owned(),
        attempt: "1-1".to_owned(),
        text: "I open the door".to_owned(),
    };
    let read = |seen, wait_ms| ReadLog { run_id: "watched".to_owned(), seen, wait_ms };
    let first = read(0, 20_000);
    let (latest, ()) = tokio::join!(engine.call(&first), async {
        while !heartbeat(Vec::new()).await {
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
        heartbeat(vec![tail.clone()]).await;
    });
    let latest = latest.expect("an answer").expect("a log");
    assert_eq!(latest.tail, tail);
    assert_eq!(engine.call(&read(latest.number, 0)).await, Ok(None), "there is nothing newer");
    engine.call(&release("watched", epoch, waits())).await.expect("released");
}

async fn refusals(engine: &impl Service) {
    let missing = |run_id: &str| EngineError::NotFound { run_id: run_id.to_owned() };
    let (_, one) = lines(None, 1);
    assert_eq!(claim(engine, "nowhere", "laptop", true).await, Err(missing("nowhere")));
    let append_to = |run_id| append(run_id, None, None, &one);
    assert_eq!(engine.call(&append_to("nowhere")).await, Err(missing("nowhere")));
    assert_eq!(engine.call(&append_to("../nowhere")).await, Err(missing("../nowhere")));
    assert_eq!(engine.call(&ReadJournal::now("nowhere")).await.unwrap_err(), missing("nowhere"));
    let released = engine.call(&release("nowhere", 1, QueueState::Ready)).await;
    assert_eq!(released, Err(missing("nowhere")));
    let beat = Heartbeat {
        offer: offer("worker", &[]),
        leases: vec![("nowhere".to_owned(), 1)],
        logs: Vec::new(),
    };
    assert_eq!(engine.call(&beat).await.expect("heard")[0].status, LeaseStatus::Lost);

    let lease = begin(engine, "refused").await;
    for (lines, why) in [
        ("", "there is no whole line in it"),
        ("{}\n", "line 1: its checksum is not that of its content"),
        (one.trim_end(), "there is no whole line in it"),
    ] {
        let refused = engine.call(&append("refused", Some(lease.epoch), None, lines)).await;
        let why = format!("the lines do not chain: {why}");
        assert_eq!(refused, Err(EngineError::Invalid { why }));
    }
    let strange = Submission { run_id: "../x".to_owned(), ..submission("x", "claude") };
    let refused = engine.call(&strange).await;
    assert!(matches!(refused, Err(EngineError::Invalid { .. })), "{refused:?}");
}

/// Submits a run and takes it.
async fn begin(engine: &impl Service, name: &str) -> Lease {
    begin_with(engine, name, "claude").await
}

async fn begin_with(engine: &impl Service, name: &str, agent: &str) -> Lease {
    engine.call(&submission(name, agent)).await.expect("a new run");
    take(engine, name).await.lease
}

async fn take(engine: &impl Service, repository: &str) -> Assignment {
    let worker = format!("worker-{}", repository.trim_end_matches("-*"));
    let offer = offer(&worker, &[&format!("git@example.com:{repository}")]);
    engine.call(&taking(&offer, LONG)).await.expect("taken").expect("a run")
}

async fn view(engine: &impl Service, run_id: &str) -> onloop_fleet::engine::RunView {
    engine.call(&reading(run_id, u64::MAX, NOW)).await.expect("the run").view
}

async fn claim(
    engine: &impl Service,
    run_id: &str,
    holder: &str,
    recall: bool,
) -> Result<Lease, EngineError> {
    let (run_id, holder) = (run_id.to_owned(), holder.to_owned());
    engine.call(&Claim { run_id, holder, recall }).await
}

fn waits() -> QueueState {
    QueueState::NeedsPerson { reason: "step 2: a person".to_owned() }
}

fn other_lines(before: Option<&Head>, count: usize) -> (Head, String) {
    chained(
        before,
        count,
        &Event::RunPaused { reason: "another line".to_owned(), interrupted: false },
    )
}

fn agent_waits(before: &Head, agent: &str, until_ms: u64) -> (Head, String) {
    let until = Timestamp::from_millis(i64::try_from(until_ms).expect("a time"));
    let wait = Wait {
        step: 1,
        attempt: 1,
        agent: agent.to_owned(),
        why: WaitReason::Limited,
        since: Timestamp::EPOCH,
        until,
        tries: 1,
    };
    chained(Some(before), 1, &Event::AgentWaits(wait))
}

fn now_ms() -> u64 {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).expect("after 1970");
    u64::try_from(now.as_millis()).expect("a time")
}

async fn until_next_millisecond() {
    tokio::time::sleep(Duration::from_millis(2)).await;
}
