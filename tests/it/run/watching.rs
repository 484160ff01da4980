//! `onloop watch` at a pseudo-terminal.

use std::io::Write;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};
use rustix::termios::{LocalModes, tcgetattr};

use super::terminal::{GATED, Session};
use super::{begin, output_of, project, run, standing, wait_until};
use crate::workspace::Workspace;

/// Onto the other screen and back.
const ENTERED: &str = "\u{1b}[?1049h";
const LEFT: &str = "\u{1b}[?1049l";

/// A run that waits at its gate.
fn gated(frontmatter: &str) -> Workspace {
    let project = project(frontmatter, GATED);
    run(&project, &[]).expect_exit(3);
    project
}

fn press(session: &mut Session, keys: &str) {
    session.keyboard.write_all(keys.as_bytes()).unwrap();
}

/// Whether the terminal takes lines and shows what is typed, as before.
fn is_restored(session: &Session) -> bool {
    let modes = tcgetattr(&session.keyboard).unwrap().local_modes;
    modes.contains(LocalModes::ICANON | LocalModes::ECHO)
}

#[track_caller]
fn ends_restored(session: Session, code: i32) -> String {
    let (seen, exit) = session.end();
    assert_eq!(exit, Some(code), "{seen:?}");
    assert!(seen.contains(LEFT) && seen.contains("\u{1b}[?25h"), "{seen:?}");
    seen
}

#[test]
fn a_gate_is_approved_by_keys() {
    let project = gated("");
    let mut session = Session::start(&project, &["watch"]);
    session.expect(ENTERED);
    session.expect("waits");
    assert!(!is_restored(&session));
    press(&mut session, "\r");
    session.expect("looks");
    press(&mut session, "a");
    session.expect("Approve");
    press(&mut session, "y");
    session.expect("approved");
    assert_eq!(project.record()["steps"][0]["gate_result"], "approved");
    press(&mut session, "q");
    ends_restored(session, 0);
    let id = project.kept_ids().remove(0);
    let ledger = std::fs::read_to_string(project.kept(&id, "ledger.jsonl")).unwrap();
    let decided = ledger.lines().rfind(|line| line.contains("gate_decided")).unwrap();
    assert!(decided.contains(r#""channel":"terminal""#), "{decided}");
}

#[test]
fn where_the_risk_is_high_the_name_is_typed_on_the_screen_as_well() {
    let project = gated("risk_level: high\n");
    let id = project.kept_ids().remove(0);
    let mut session = Session::start(&project, &["watch", &id]);
    session.expect("waits");
    press(&mut session, "a");
    session.expect("type");
    press(&mut session, "y\r");
    session.expect("nothing");
    assert!(project.record()["steps"][0]["gate_result"].is_null());
    press(&mut session, "a");
    session.expect("type");
    press(&mut session, "First\r");
    session.expect("approved");
    press(&mut session, "\u{3}");
    ends_restored(session, 0);
    assert_eq!(project.record()["steps"][0]["gate_result"], "approved");
}

#[test]
fn a_rejection_with_its_reason_is_recorded() {
    let project = gated("");
    let mut session = Session::start(&project, &["watch"]);
    session.expect("waits");
    press(&mut session, "\r");
    session.expect("looks");
    press(&mut session, "x");
    session.expect("otherwise");
    press(&mut session, "more \u{202e}light\r");
    session.expect("again");
    press(&mut session, "q");
    ends_restored(session, 0);
    let id = project.kept_ids().remove(0);
    let ledger = std::fs::read_to_string(project.kept(&id, "ledger.jsonl")).unwrap();
    let redone = ledger.lines().rfind(|line| line.contains("step_redone")).unwrap();
    assert!(redone.contains("\"reason\":\"more light\""), "{redone}");
}

#[test]
fn what_changes_elsewhere_is_shown_without_a_key() {
    let project = gated("");
    let mut session = Session::start(&project, &["watch"]);
    session.expect("waits");
    project.onloop(&["gate", "1", "rejected"]).expect_exit(0);
    let since = Instant::now();
    // The mark of a blocked run; the words may be cut.
    session.expect("✗");
    // Without any notice it is looked at every thirty seconds.
    assert!(since.elapsed() < Duration::from_secs(10), "{:?}", since.elapsed());
    press(&mut session, "q");
    ends_restored(session, 0);
    assert_eq!(standing(&project), "blocked: done, pending");
}

#[test]
fn who_drives_more_than_a_run_is_not_interrupted() {
    let project = gated("");
    let id = project.kept_ids().remove(0);
    let mut editor = std::process::Command::new("sleep").arg("600").spawn().unwrap();
    let (pid, host) = (editor.id(), rustix::system::uname());
    for (role, said) in [("embedded", "an editor or another program"), ("server", "an MCP server")]
    {
        // An unknown start proves nothing, so that the process counts as alive.
        let line = serde_json::json!({
            "pid": pid, "host": host.nodename().to_string_lossy(), "started": "", "role": role,
        });
        std::fs::write(project.kept(&id, "driver.lock"), format!("{line}\n")).unwrap();
        let mut session = Session::start(&project, &["watch", &id]);
        session.expect("drives");
        press(&mut session, "s");
        session.expect("Stop");
        press(&mut session, "y");
        session.expect(said);
        press(&mut session, "q");
        ends_restored(session, 0);
        assert_eq!(editor.try_wait().unwrap(), None, "{role}");
        let refused = project.onloop(&["resume", &id]).expect_exit(4);
        assert!(
            crate::flat(&refused.stderr).contains(said)
                && !crate::flat(&refused.stderr).contains("kill"),
            "{refused:?}"
        );
    }
    editor.kill().unwrap();
    editor.wait().unwrap();
}

#[test]
fn the_terminal_is_given_back_whatever_ends_it() {
    let project = gated("");
    for signal in [Signal::TERM, Signal::HUP, Signal::INT] {
        let mut session = Session::start(&project, &["watch"]);
        session.expect("waits");
        kill_process(Pid::from_child(&session.child), signal).unwrap();
        ends_restored(session, 130);
    }
}

#[test]
fn what_changed_is_shown_in_the_pager_and_the_screen_comes_back() {
    let project = gated("").with_env("PAGER", "cat");
    let mut session = Session::start(&project, &["watch"]);
    session.expect("waits");
    press(&mut session, "d");
    session.expect(LEFT);
    session.expect("looks fine");
    session.expect("Press a key to go back.");
    press(&mut session, " ");
    session.expect(ENTERED);
    session.expect("waits");
    press(&mut session, "q");
    ends_restored(session, 0);
}

#[test]
fn without_colour_nothing_is_coloured() {
    let project = gated("").with_env("NO_COLOR", "1");
    let mut session = Session::start(&project, &["watch"]);
    session.expect(ENTERED);
    session.expect("waits");
    press(&mut session, "q");
    let seen = ends_restored(session, 0);
    assert!(!seen.contains("\u{1b}[38;") && !seen.contains("\u{1b}[3"), "{seen:?}");
}

#[test]
fn a_run_is_resumed_and_goes_on_without_the_screen() {
    let project = gated("");
    project.onloop(&["gate", "1", "approved"]).expect_exit(0);
    let mut session = Session::start(&project, &["watch"]);
    session.expect("nobody works");
    press(&mut session, "r");
    session.expect("background");
    press(&mut session, "y");
    session.expect("completed");
    press(&mut session, "q");
    ends_restored(session, 0);
    assert_eq!(standing(&project), "completed: done, done");
}

#[test]
fn a_run_is_stopped_from_the_screen_and_can_be_resumed() {
    let project = project("", GATED);
    let agent = "echo > acts; sleep 600";
    let driver = begin(&project, &["run", "--mode", "none", "--agent-command", agent]);
    wait_until("the agent acts", || project.path("acts").exists());
    let mut session = Session::start(&project, &["watch"]);
    session.expect(ENTERED);
    press(&mut session, "s");
    session.expect("resumed");
    press(&mut session, "n");
    session.expect("Nothing");
    press(&mut session, "s");
    session.expect("resumed");
    press(&mut session, "y");
    output_of(driver).expect_exit(130);
    session.expect_all(&["saves", "interrupted"]);
    press(&mut session, "q");
    ends_restored(session, 0);
    assert_eq!(project.record()["status"], "paused");
}

#[cfg(target_os = "linux")]
#[test]
fn whoever_suspends_it_has_the_terminal_as_it_was() {
    let project = gated("");
    let mut session = Session::start(&project, &["watch"]);
    session.expect("waits");
    press(&mut session, "\u{1a}");
    session.expect(LEFT);
    let stat = format!("/proc/{}/stat", session.child.id());
    wait_until("it stops", || {
        std::fs::read_to_string(&stat).unwrap().rsplit_once(") ").unwrap().1.starts_with('T')
    });
    assert!(is_restored(&session));
    kill_process(Pid::from_child(&session.child), Signal::CONT).unwrap();
    session.expect(ENTERED);
    session.expect("waits");
    press(&mut session, "q");
    ends_restored(session, 0);
}

#[test]
fn where_nobody_sees_it_there_is_no_screen() {
    let project = gated("");
    let run = project.onloop(&["watch"]).expect_exit(2);
    let why = "`onloop watch` needs a terminal, and standard input or output is not one";
    let said = crate::flat(&run.stderr);
    assert!(said.starts_with(&format!("error: {why} fix: ")), "{said}");
    assert!(said.contains("onloop status ") && said.contains("onloop list --everywhere"), "{said}");
    assert!(run.stderr.lines().all(|line| line.chars().count() <= 80), "{}", run.stderr);
    let mut session = Session::sized(&project, &["watch"], 80, "dumb");
    session.expect("this terminal cannot draw (TERM is not set, or `dumb`)");
    let (seen, exit) = session.end();
    assert_eq!(exit, Some(4));
    assert!(!seen.contains('\u{1b}'), "{seen:?}");
    let mut session = Session::start(&project, &["watch", "no-such-20260320T094640Z"]);
    session.expect("no run `");
    assert_eq!(session.end().1, Some(2));
}

#[test]
fn an_agent_in_its_turn_decides_nothing_here_either() {
    let project = gated("").with_env("ONLOOP_STEP", "1");
    let mut session = Session::start(&project, &["watch"]);
    session.expect("waits");
    press(&mut session, "\r");
    session.expect("looks");
    press(&mut session, "a");
    session.expect("Approve");
    press(&mut session, "y");
    session.expect("person");
    press(&mut session, "q");
    ends_restored(session, 0);
    assert!(project.record()["steps"][0]["gate_result"].is_null());
}
