//! Tests of the archive, for every storage.

use std::collections::BTreeSet;
use std::path::Path;
use std::time::{Duration, Instant};

use onloop_core::run::Event;
use onloop_core::time::Timestamp;
use onloop_fleet::engine::{
    Archive, Claim, EngineError, Head, Lines, QueueState, ReadJournal, ReadOverview, Settings,
    Submission,
};

use crate::samples::{
    Service, append, chained, chained_at, lines, offer, reading, release, submission, taking,
};

/// Longer than everything that is waited for.
const LONG: Duration = Duration::from_secs(30);
const NOW: Duration = Duration::ZERO;

/// Returns the settings of an engine that archives runs soon.
pub(crate) fn settings(folder: &Path) -> Settings {
    let archive = Archive { folder: folder.to_owned(), after: Duration::from_millis(50) };
    Settings { archive: Some(archive), ..Settings::default() }
}

pub(crate) async fn all(engine: &impl Service, folder: &Path) {
    what_stays(engine, folder).await;
    what_can_be_asked(engine).await;
    what_comes_back(engine, folder).await;
    what_is_gone(engine, folder).await;
    files_that_are_damaged(engine, folder).await;
}

async fn what_stays(engine: &impl Service, folder: &Path) {
    let waits = QueueState::NeedsPerson { reason: "step 1: a person".to_owned() };
    run(engine, "waits", &[3], waits).await;
    let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).expect("a time");
    let soon = i64::try_from(now.as_millis()).expect("a time") + 3_600_000;
    let event = Event::RunPaused { reason: "a line".to_owned(), interrupted: false };
    let recent = chained_at(None, 2, &event, Timestamp::from_millis(soon)).1;
    end(engine, "recent", &[recent], over()).await;
    run(engine, "over", &[1, 2], over()).await;
    run(engine, "home", &[2], QueueState::Local { host: "laptop".to_owned() }).await;
    run(engine, "unbegun", &[], over()).await;
    // These lines exceed what an engine stores in one value.
    run(engine, "long", &[1, 80, 40, 1], over()).await;
    until_listed(engine, &["waits", "recent"]).await;
    assert_eq!(files(folder), ["home", "long", "over", "unbegun"]);
    let file = std::fs::read_to_string(folder.join("over.jsonl")).expect("a file");
    let (first, rest) = file.split_once('\n').expect("a first line");
    let first: serde_json::Value = serde_json::from_str(first).expect("JSON");
    assert_eq!(first["schema"], "onloop.fleet_archive/v1");
    assert_eq!(first["submission"]["text"], "the workflow");
    assert_eq!(rest, lines(None, 3).1);
}

async fn what_can_be_asked(engine: &impl Service) {
    for (id, count) in [("over", 3), ("long", 122), ("home", 2), ("unbegun", 0)] {
        let (head, all) = lines(None, count);
        for after in 0..=count {
            let Lines { lines, view } =
                engine.call(&reading(id, after as u64, NOW)).await.expect("lines");
            assert_eq!(lines, all.split_inclusive('\n').skip(after).collect::<String>(), "{id}");
            assert_eq!(view.head, (count > 0).then(|| head.clone()), "{id}");
            assert_eq!((view.run_id.as_str(), view.holder), (id, None));
        }
    }
    let begun = Instant::now();
    let wait = Duration::from_millis(100);
    let more = engine.call(&reading("over", 3, wait)).await.expect("an answer");
    assert_eq!((more.lines.as_str(), &more.view.state), ("", &over()));
    assert!(begun.elapsed() >= wait, "whoever waits for lines does not ask again at once");

    engine.call(&submission("over", "claude")).await.expect("the same again");
    let other = Submission { text: "another".to_owned(), ..submission("over", "claude") };
    let exists = EngineError::Exists { run_id: "over".to_owned() };
    assert_eq!(engine.call(&other).await, Err(exists));
    engine.call(&release("over", 1, QueueState::Ready)).await.expect("its lease ended long ago");
    until_listed(engine, &["waits", "recent"]).await;
}

async fn what_comes_back(engine: &impl Service, folder: &Path) {
    // Lines that the journal has already, and one of a person.
    let (second, _) = lines(None, 81);
    let (third, more) = lines(Some(&second), 40);
    let again = append("long", Some(1), Some(&second), &more);
    assert_eq!(engine.call(&again).await, Ok(third));
    let (last, all) = lines(None, 122);
    let (head, added) = lines(Some(&last), 1);
    assert_eq!(engine.call(&append("long", None, Some(&last), &added)).await, Ok(head.clone()));
    let read = engine.call(&ReadJournal::now("long")).await.expect("lines");
    assert_eq!((read.lines, read.view.head), (format!("{all}{added}"), Some(head)));
    until_listed(engine, &["waits", "recent"]).await;
    let file = std::fs::read_to_string(folder.join("long.jsonl")).expect("a file");
    assert!(file.ends_with(&added), "the file is written again");

    // A person's command that claims the run.
    let lease = claim(engine, "over").await.expect("a lease");
    assert_eq!(lease.epoch, 2);
    until_listed(engine, &["over", "waits", "recent"]).await;
    let (last, _) = lines(None, 3);
    let (head, added) = lines(Some(&last), 1);
    let append = append("over", Some(lease.epoch), Some(&last), &added);
    assert_eq!(engine.call(&append).await, Ok(head));
    let home = QueueState::Local { host: "laptop".to_owned() };
    engine.call(&release("over", lease.epoch, home.clone())).await.expect("released");
    until_listed(engine, &["waits", "recent"]).await;
    let read = engine.call(&reading("over", 3, NOW)).await.expect("lines");
    assert_eq!((read.lines, read.view.state), (added, home));
}

async fn what_is_gone(engine: &impl Service, folder: &Path) {
    for (id, file) in [("long", "long.jsonl"), ("home", "home.jsonl")] {
        std::fs::remove_file(folder.join(file)).expect("removed");
        let missing = EngineError::NotFound { run_id: id.to_owned() };
        assert_eq!(engine.call(&ReadJournal::now(id)).await.unwrap_err(), missing);
        assert_eq!(claim(engine, id).await.unwrap_err(), missing);
        let nothing = engine.call(&release(id, 1, QueueState::Ready)).await;
        assert_eq!(nothing, Err(missing.clone()));
        let (_, one) = lines(None, 1);
        assert_eq!(engine.call(&append(id, None, None, &one)).await, Err(missing));
    }
    // A new run with the same id contains nothing of the old one.
    let new = Submission { text: "another".to_owned(), ..submission("long", "claude") };
    engine.call(&new).await.expect("a new run");
    let given = engine.call(&taking(&offer("worker-new", &["git@example.com:long"]), LONG)).await;
    let given = given.expect("taken").expect("a run");
    assert_eq!((given.lease.epoch, given.head, given.submission), (1, None, new));
    let event = Event::RunPaused { reason: "x".repeat(20_000), interrupted: false };
    let (_, line) = chained(None, 1, &event);
    engine.call(&append("long", Some(1), None, &line)).await.expect("added");
    assert_eq!(engine.call(&ReadJournal::now("long")).await.expect("lines").lines, line);
    engine.call(&release("long", 1, over())).await.expect("released");
    until_listed(engine, &["waits", "recent"]).await;
}

async fn files_that_are_damaged(engine: &impl Service, folder: &Path) {
    let path = folder.join("long.jsonl");
    let sound = std::fs::read_to_string(&path).expect("a file");
    let other = std::fs::read_to_string(folder.join("over.jsonl")).expect("a file");
    let (first, _) = sound.split_once('\n').expect("a first line");
    let head = engine.call(&ReadJournal::now("long")).await.expect("lines").view.head;
    let digest = head.expect("a line").sha256;
    let (cut, changed) = (sound.trim_end().to_owned(), sound.replacen("xxx", "yyy", 1));
    let damaged: [(&str, &str); 6] = [
        ("", "EOF while parsing a value at line 1 column 0"),
        (first, &format!("its journal ends with no line, expected line 1 ({}…)", &digest[..8])),
        (&cut, "its journal is none: there is no whole line in it"),
        (&changed, "its journal is none: line 1: its checksum is not that of its content"),
        (&other, "its first line is not that of a finished run of this name"),
        (
            &sound.replacen("archive/v1", "archive/v2", 1),
            "it is a `onloop.fleet_archive/v2`, expected a `onloop.fleet_archive/v1`",
        ),
    ];
    for (text, why) in damaged {
        std::fs::write(&path, text).expect("written");
        let why = format!("{} on the server cannot be read: {why}", path.display());
        let refused = EngineError::Invalid { why };
        assert_eq!(engine.call(&ReadJournal::now("long")).await.unwrap_err(), refused);
        assert_eq!(claim(engine, "long").await.unwrap_err(), refused);
        assert_eq!(engine.call(&submission("long", "claude")).await, Err(refused));
    }
    std::fs::write(&path, sound).expect("written");
    claim(engine, "long").await.expect("a lease");
}

/// Submits and finishes a run whose lines are appended in parts.
pub(crate) async fn run(engine: &impl Service, id: &str, counts: &[usize], rest: QueueState) {
    let mut head: Option<Head> = None;
    let mut parts = Vec::new();
    for count in counts {
        let (next, part) = lines(head.as_ref(), *count);
        head = Some(next);
        parts.push(part);
    }
    end(engine, id, &parts, rest).await;
}

async fn end(engine: &impl Service, id: &str, parts: &[String], rest: QueueState) {
    engine.call(&submission(id, "claude")).await.expect("a new run");
    let offer = offer(&format!("worker-{id}"), &[&format!("git@example.com:{id}")]);
    let epoch =
        engine.call(&taking(&offer, LONG)).await.expect("taken").expect("a run").lease.epoch;
    let mut head: Option<Head> = None;
    for part in parts {
        let added = append(id, Some(epoch), head.as_ref(), part);
        head = Some(engine.call(&added).await.expect("added"));
    }
    engine.call(&release(id, epoch, rest)).await.expect("released");
}

/// Waits until exactly these runs are listed.
pub(crate) async fn until_listed(engine: &impl Service, expected: &[&str]) {
    let expected: BTreeSet<&str> = expected.iter().copied().collect();
    let begun = Instant::now();
    loop {
        let overview = engine.call(&ReadOverview {}).await.expect("an overview");
        let listed: BTreeSet<&str> = overview.runs.iter().map(|run| run.run_id.as_str()).collect();
        if listed == expected {
            return;
        }
        assert!(begun.elapsed() < LONG, "{listed:?}, expected {expected:?}");
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}

async fn claim(
    engine: &impl Service,
    id: &str,
) -> Result<onloop_fleet::engine::Lease, EngineError> {
    let (run_id, holder) = (id.to_owned(), "laptop".to_owned());
    engine.call(&Claim { run_id, holder, recall: false }).await
}

/// Returns the runs that have a file.
fn files(folder: &Path) -> Vec<String> {
    let names = std::fs::read_dir(folder).expect("a folder").map(|entry| {
        let name = entry.expect("an entry").file_name();
        name.to_str().expect("a name").trim_end_matches(".jsonl").to_owned()
    });
    let names: BTreeSet<String> = names.collect();
    names.into_iter().collect()
}

fn over() -> QueueState {
    QueueState::Finished { status: "completed".to_owned() }
}
