//! A person who is not watching is told: once for each piece of news, also over crashes, whatever
//! receives it, and nothing waits for a receiver that is down.

#[cfg(c_library_inside)]
mod names;
mod receivers;
mod sessions;

use std::net::TcpListener;
use std::sync::{Arc, Mutex, MutexGuard};

use onloop_tests::loopback::{self, Asked};
use serde_json::Value;

use crate::run::{begin, output_of, project, run, standing, wait_until};
use crate::workspace::Workspace;

/// A server on this machine that takes notices.
#[derive(Clone)]
pub(crate) struct Board {
    shared: Arc<Mutex<State>>,
    /// Its address, with a part that must not be said.
    pub(crate) url: String,
}

#[derive(Default)]
struct State {
    asked: Vec<Asked>,
    /// What it answers; 0: nothing.
    status: u16,
}

/// The part of the address that is a secret.
const SECRET: &str = "T0/s3cretWebhook";

impl Board {
    pub(crate) fn start() -> Board {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
        let url = format!("http://{}/{SECRET}", listener.local_addr().expect("it is bound"));
        let shared = Arc::new(Mutex::new(State { status: 200, ..State::default() }));
        let board = Board { shared, url };
        let server = board.clone();
        std::thread::spawn(move || {
            let mut silent = Vec::new();
            for stream in listener.incoming().flatten() {
                let Some(asked) = loopback::read(&stream) else { continue };
                let mut state = server.state();
                state.asked.push(asked);
                match state.status {
                    // Closing it would be an answer.
                    0 => silent.push(stream),
                    status => loopback::write(&stream, status, "ok"),
                }
            }
        });
        board
    }

    /// From now on it answers with this status; 0: not at all.
    pub(crate) fn answer(&self, status: u16) {
        self.state().status = status;
    }

    /// Everything that it was sent.
    pub(crate) fn asked(&self) -> Vec<Asked> {
        self.state().asked.clone()
    }

    /// The notices that it was sent, taken for JSON.
    pub(crate) fn notices(&self) -> Vec<Value> {
        let parse = |asked: Asked| serde_json::from_str(&asked.body).expect("JSON");
        self.asked().into_iter().map(parse).collect()
    }

    /// `waits 1: …#7`: kind, step and id of each notice, without what differs from run to run.
    pub(crate) fn told(&self) -> Vec<String> {
        let brief = |notice: &Value| {
            let word = |name: &str| notice[name].as_str().unwrap_or("-").to_owned();
            format!("{} {}", word("event"), notice["step"])
        };
        self.notices().iter().map(brief).collect()
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.shared.lock().expect("no test panics while it holds the state")
    }
}

/// Two steps, the first of which waits for a person.
pub(crate) fn gated(yaml: &str) -> Workspace {
    let project = project(
        "",
        "- [ ] **Step 1: Say <!channel> hello**\naction: greet\nloop: false\nverify: test -e first\n\
         gate: human\n```sh\necho x > first\n```\n\n\
         - [ ] **Step 2: Second**\naction: go\nloop: false\nverify: test -e second\n\
         ```sh\ntest -e broken || echo x > second\n```\n",
    );
    project.write(".agentize.local.yaml", yaml);
    project
}

pub(crate) fn webhook(board: &Board) -> String {
    format!("notify:\n  webhook:\n    url: {}\n", board.url)
}

/// Approves the gate and continues.
fn approve(project: &Workspace) -> crate::workspace::Run {
    project.onloop(&["gate", "1", "approved"]).expect_exit(0);
    project.onloop(&["resume"])
}

#[test]
fn each_piece_of_news_is_told_once_with_what_a_person_needs() {
    let board = Board::start();
    let project = gated(&webhook(&board));
    run(&project, &[]).expect_exit(3);
    assert_eq!(board.told(), ["waits 1"]);
    let record = project.record();
    let (id, notice) = (record["run_id"].as_str().unwrap(), &board.notices()[0]);
    assert_eq!(notice["run_id"], id);
    assert_eq!(notice["title"], "w waits for you");
    assert_eq!(notice["step_name"], "Say <!channel> hello");
    assert_eq!(notice["folder"], project.path("").to_str().unwrap().trim_end_matches('/'));
    let text = notice["text"].as_str().unwrap();
    for line in [
        "The gate of step 1 needs a human decision\n".to_owned(),
        format!("Run: {id}\n"),
        "Step 1 of 2: Say <!channel> hello (risk: low)\n".to_owned(),
        "  ✓ command test -e first".to_owned(),
        "  So far: 1 attempt\n".to_owned(),
    ] {
        assert!(text.contains(&line), "{line} in {text}");
    }
    let advice = notice["advice"].as_str().unwrap();
    assert!(advice.contains(&format!("onloop approve {id}")), "{advice}");
    // It is the same gate still.
    project.onloop(&["resume"]).expect_exit(3);
    project.onloop(&["resume"]).expect_exit(3);
    assert_eq!(board.told(), ["waits 1"]);
    approve(&project).expect_exit(0);
    assert_eq!(board.told(), ["waits 1", "completed null"]);
    project.onloop(&["resume", id]).expect_exit(0);
    assert_eq!(board.told().len(), 2);
}

#[test]
fn the_same_news_again_is_news_again() {
    let board = Board::start();
    let project = gated(&webhook(&board));
    project.write("broken", "");
    run(&project, &[]).expect_exit(3);
    approve(&project).expect_exit(1);
    project.onloop(&["resume"]).expect_exit(1);
    assert_eq!(board.told(), ["waits 1", "blocked 2", "blocked 2"]);
    let ids: Vec<Value> = board.notices().iter().map(|notice| notice["id"].clone()).collect();
    assert!(ids[1] != ids[2], "{ids:?}");
    let title = &board.notices()[1]["title"];
    assert_eq!(title, "w is blocked at step 2");
    std::fs::remove_file(project.path("broken")).unwrap();
    project.onloop(&["resume"]).expect_exit(0);
    assert_eq!(board.told().last().unwrap(), "completed null");
}

#[test]
fn verbs_that_an_agent_drives_tell_it_too() {
    let board = Board::start();
    let project = gated(&webhook(&board));
    let init = project.onloop(&["init", crate::run::FILE]).expect_exit(0);
    assert!(!init.stdout.is_empty());
    project.onloop(&["step", "1", "start"]).expect_exit(0);
    project.write("first", "x");
    assert_eq!(board.told(), [""; 0]);
    project.onloop(&["step", "1", "verify"]).expect_exit(0);
    assert_eq!(board.told(), ["waits 1"]);
    project.onloop(&["gate", "1", "approved"]).expect_exit(0);
    project.onloop(&["step", "2", "start"]).expect_exit(0);
    project.onloop(&["step", "2", "block", "--reason", "no database"]).expect_exit(0);
    assert_eq!(board.told(), ["waits 1", "blocked 2"]);
    assert!(board.notices()[1]["text"].as_str().unwrap().starts_with("No database\n"));
}

#[test]
fn a_receiver_that_is_down_is_tried_again_while_the_news_holds() {
    let board = Board::start();
    let project = gated(&webhook(&board));
    board.answer(503);
    let paused = run(&project, &[]).expect_exit(3);
    let warning = "warning: `notify.webhook` was not reached: http://127.0.0.1:";
    let said = crate::flat(&paused.stderr);
    assert!(said.contains(warning), "{said}");
    assert!(said.contains(" answered with status 503 "), "{said}");
    assert!(!paused.stderr.contains("s3cret"), "{}", paused.stderr);
    board.answer(204);
    project.onloop(&["resume"]).expect_exit(3);
    project.onloop(&["resume"]).expect_exit(3);
    assert_eq!(board.told(), ["waits 1", "waits 1"]);
    assert_eq!(board.notices()[0]["id"], board.notices()[1]["id"]);
    // What was decided meanwhile is no news any more.
    board.answer(503);
    approve(&project).expect_exit(0);
    board.answer(200);
    let id = project.record()["run_id"].as_str().unwrap().to_owned();
    project.onloop(&["resume", &id]).expect_exit(0);
    project.onloop(&["resume", &id]).expect_exit(0);
    assert_eq!(board.told()[2..], ["completed null", "completed null"]);
}

#[test]
fn a_process_that_is_killed_while_it_tells_tells_it_again_with_the_same_id() {
    let board = Board::start();
    let project = gated(&webhook(&board));
    board.answer(0);
    let mut child = begin(&project, &["run", "--mode", "none"]);
    wait_until("the notice is sent", || !board.asked().is_empty());
    child.kill().unwrap();
    child.wait().unwrap();
    board.answer(200);
    project.onloop(&["resume"]).expect_exit(3);
    project.onloop(&["resume"]).expect_exit(3);
    assert_eq!(board.told(), ["waits 1", "waits 1"]);
    assert_eq!(board.notices()[0]["id"], board.notices()[1]["id"]);
    assert_eq!(standing(&project), "paused: done, pending");
}

#[test]
#[ignore = "only with --all"]
fn a_silent_receiver_holds_nobody_up_for_long() {
    let board = Board::start();
    let project = gated(&webhook(&board));
    board.answer(0);
    let child = begin(&project, &["run", "--mode", "none"]);
    let run = output_of(child).expect_exit(3);
    assert!(run.stderr.contains("`notify.webhook` was not reached"), "{}", run.stderr);
    assert_eq!(board.asked().len(), 1);
}

#[test]
fn only_what_was_asked_for_is_told() {
    let board = Board::start();
    let project = gated(&format!("{}  events: [blocked, completed]\n", webhook(&board)));
    run(&project, &[]).expect_exit(3);
    approve(&project).expect_exit(0);
    assert_eq!(board.told(), ["completed null"]);
}

#[test]
fn a_file_that_came_with_the_repository_tells_nobody() {
    let board = Board::start();
    let project = Workspace::git();
    project.write(crate::run::FILE, gated("").read(crate::run::FILE));
    project
        .write(".agentize.local.yaml", format!("{}  command: touch ../pwned\n", webhook(&board)));
    project.git_says(&["add", "--force", "--all"]);
    project.commit("Plant it");
    project.onloop(&["run", "--mode", "worktree"]).expect_exit(3);
    assert!(board.asked().is_empty() && !project.path("../pwned").exists());
}
