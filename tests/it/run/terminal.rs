//! A person at a terminal, played through a pseudo-terminal.

use std::fs::File;
use std::io::{Read, Write};
use std::os::unix::process::CommandExt;
use std::process::{Child, Stdio};

use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use rustix::termios::{Winsize, tcsetwinsize};

use unicode_width::UnicodeWidthStr;

use super::{FILE, project, standing};
use crate::workspace::{Watchdog, Workspace, program};

/// `onloop` at a terminal of its own.
pub(crate) struct Session {
    pub(super) keyboard: File,
    pub(super) child: Child,
    seen: String,
    /// A question that never comes ends with the program.
    _watchdog: Watchdog,
}

impl Session {
    pub(crate) fn start(project: &Workspace, arguments: &[&str]) -> Session {
        Session::sized(project, arguments, 100, "xterm-256color")
    }

    pub(super) fn sized(
        project: &Workspace,
        arguments: &[&str],
        columns: u16,
        term: &str,
    ) -> Session {
        let keyboard = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).unwrap();
        grantpt(&keyboard).unwrap();
        unlockpt(&keyboard).unwrap();
        let size = Winsize { ws_row: 24, ws_col: columns, ws_xpixel: 0, ws_ypixel: 0 };
        tcsetwinsize(&keyboard, size).unwrap();
        let name = ptsname(&keyboard, Vec::new()).unwrap().into_string().unwrap();
        let screen = || Stdio::from(File::options().read(true).write(true).open(&name).unwrap());
        let mut command = project.command_at(".", program());
        command.args(arguments).env("TERM", term);
        command.stdin(screen()).stdout(screen()).stderr(screen());
        // As a shell starts it: what it does to its group concerns nobody else.
        command.process_group(0);
        let child = command.spawn().unwrap();
        let _watchdog = Watchdog::over(child.id());
        Session { keyboard: File::from(keyboard), child, seen: String::new(), _watchdog }
    }

    /// Reads until `text` is on the screen, and forgets everything up to its end.
    #[track_caller]
    pub(crate) fn expect(&mut self, text: &str) {
        self.expect_all(&[text]);
    }

    /// Reads until all of `texts` have come, in whichever order: one picture may have several.
    pub(super) fn expect_all(&mut self, texts: &[&str]) {
        let mut chunk = [0; 4096];
        loop {
            let ends = texts.iter().map(|text| self.seen.find(text).map(|at| at + text.len()));
            if let Some(ends) = ends.collect::<Option<Vec<_>>>() {
                self.seen.drain(..ends.into_iter().max().unwrap_or(0));
                return;
            }
            let len = self.keyboard.read(&mut chunk).unwrap_or(0);
            assert!(len > 0, "{texts:?} never came: {:?}", self.seen);
            self.seen.push_str(&String::from_utf8_lossy(&chunk[..len]));
        }
    }

    pub(crate) fn answer(&mut self, question: &str, keys: &str) {
        self.expect(question);
        self.keyboard.write_all(format!("{keys}\n").as_bytes()).unwrap();
    }

    /// What was seen since, and the exit code.
    pub(crate) fn end(mut self) -> (String, Option<i32>) {
        let mut chunk = [0; 4096];
        // The end of a pseudo-terminal is an error on Linux.
        while let Ok(len @ 1..) = self.keyboard.read(&mut chunk) {
            self.seen.push_str(&String::from_utf8_lossy(&chunk[..len]));
        }
        (self.seen, self.child.wait().unwrap().code())
    }
}

pub(super) const GATED: &str = "- [ ] **Step 1: First**\naction: go\nloop: false\nverify: echo looks fine\ngate: human\n\
                     ```sh\ntrue\n```\n\n\
                     - [ ] **Step 2: Last**\naction: go\nloop: false\nverify: true\n```sh\ntrue\n```\n";

const GATE: &str = "Gate reached at Step 1. Continue? (yes/no/show-details) ";

/// The question after a no.
const OTHERWISE: &str = "To end the run, type `end`: ";

/// The end of the question about the work of a completed run.
const ENDING: &str = "[r]equest changes [k]eep [x] discard, Enter keeps: ";

const RUN: &[&str] = &["run", "--mode", "none"];

/// An agent that works on one long call for a while.
fn busy() -> Workspace {
    let call = r#"{"type":"assistant","message":{"id":"m","model":"m","content":[{"type":"tool_use","id":"t","name":"Bash","input":{"command":"cargo test 日本語のとても長い 🚀🚀 --workspace --all-features"}}],"usage":{"input_tokens":18000,"output_tokens":20}}}"#;
    let end = r#"{"type":"result","subtype":"success","is_error":false,"terminal_reason":"completed","result":"x","session_id":"s","num_turns":2}"#;
    super::starting::with_claude(&format!(
        "cat > /dev/null\necho '{call}'\nsleep 1.5\ntouch done\necho '{end}'\n"
    ))
}

/// What a terminal shows of a text: without what steers it.
fn shown(seen: &str) -> String {
    anstream::adapter::strip_str(seen).to_string()
}

#[test]
fn the_status_line_says_what_the_agent_does_and_never_wraps() {
    for columns in [80, 40] {
        let project = busy();
        let run = ["run", "--mode", "none", "--agent", "claude"];
        let session = Session::sized(&project, &run, columns, "xterm-256color");
        let (seen, exit) = session.end();
        assert_eq!(exit, Some(0), "{seen}");
        let is_frame = |part: &&str| part.contains(|c| ('\u{2800}'..='\u{28ff}').contains(&c));
        let frames: Vec<&str> = seen.split(['\r', '\n']).filter(is_frame).collect();
        assert!(frames.len() > 5, "{seen:?}");
        assert!(
            frames.iter().all(|frame| shown(frame).trim_end().width() < columns.into()),
            "{frames:?}"
        );
        let says = |words: &str| frames.iter().any(|frame| shown(frame).contains(words));
        assert!(says("Bash: ca") && says("· 18k tokens"), "{columns}: {frames:?}");
        // It is gone before anything else is said.
        let (before, _) = seen.split_once("✓ Step 1").unwrap();
        assert!(before.contains("\u{1b}[2K"), "{before:?}");
        let last = before.rsplit('\r').next().unwrap();
        assert!(!is_frame(&last), "{last:?}");
    }
}

#[test]
fn a_terminal_that_can_do_little_gets_lines_only() {
    let project = busy();
    let run = ["run", "--mode", "none", "--agent", "claude"];
    let (seen, exit) = Session::sized(&project, &run, 80, "dumb").end();
    assert_eq!(exit, Some(0), "{seen}");
    assert!(!seen.contains('\u{1b}') && seen.contains("✓ Step 1"), "{seen:?}");
}

#[test]
fn a_gate_is_answered_in_place() {
    let project = project("", GATED);
    let mut session = Session::start(&project, RUN);
    session.answer(GATE, "yes");
    let (seen, exit) = session.end();
    assert_eq!(exit, Some(0), "{seen}");
    assert_eq!(standing(&project), "completed: done, done");
    assert_eq!(project.record()["steps"][0]["gate_mode"], "human");
}

#[test]
fn a_question_closes_when_the_decision_comes_through_another_channel() {
    let project = project("", GATED).with_env("USER", "anna");
    let mut session = Session::start(&project, RUN);
    session.expect(GATE);
    session.keyboard.write_all(b"ye").unwrap();
    let approved = project.onloop(&["gate", "1", "approved"]).expect_exit(0);
    assert!(approved.stderr.contains(" continues the run.\n"), "{}", approved.stderr);
    session.expect("anna approved step 1 with a command; it continues as it is now.");
    let (seen, exit) = session.end();
    assert_eq!(exit, Some(0), "{seen}");
    assert_eq!(standing(&project), "completed: done, done");
}

#[test]
fn a_gate_is_explained_before_it_is_answered() {
    let project = project("", GATED);
    let mut session = Session::start(&project, RUN);
    session.answer(GATE, "show-details");
    session.expect("looks fine");
    session.expect("Report: ");
    session.answer(GATE, "what?");
    session.expect("Please answer yes, no or show-details.");
    session.answer(GATE, "no");
    session.answer(OTHERWISE, "");
    session.expect("Nothing is decided.");
    session.answer(GATE, "no");
    session.answer(OTHERWISE, "end");
    let (seen, exit) = session.end();
    assert_eq!(exit, Some(1), "{seen}");
    assert!(!seen.contains("onloop approve") && !seen.contains("onloop resume"), "{seen}");
    assert_eq!(standing(&project), "abandoned: done, pending");
}

#[test]
fn changes_are_requested_at_the_gate() {
    let project = project("", GATED);
    let mut session = Session::start(&project, RUN);
    session.answer(GATE, "no");
    session.answer(OTHERWISE, "use fewer words");
    session.answer(GATE, "yes");
    assert_eq!(session.end().1, Some(0));
    assert_eq!(standing(&project), "completed: done, done");
    let id = project.kept_ids().remove(0);
    let ledger = std::fs::read_to_string(project.kept(&id, "ledger.jsonl")).unwrap();
    let redone = ledger.lines().find(|line| line.contains("step_redone")).unwrap();
    assert!(redone.contains("use fewer words") && redone.contains(r#""channel":"terminal""#));
}

#[test]
fn where_the_risk_is_high_the_name_of_the_step_is_typed() {
    let project = project("risk_level: high\n", GATED);
    let mut session = Session::start(&project, RUN);
    session.answer(GATE, "yes");
    session.expect("The risk is high. To approve step 1, type its name: First\r\n");
    session.answer("Name of the step: ", "yes");
    session.expect("That is not the name of step 1; nothing is approved.");
    session.answer(GATE, "yes");
    session.answer("Name of the step: ", "First");
    let (seen, exit) = session.end();
    assert_eq!(exit, Some(0), "{seen}");
    assert_eq!(standing(&project), "completed: done, done");
    // To say no takes no name.
    let project = super::project("risk_level: high\n", GATED);
    let mut session = Session::start(&project, RUN);
    session.answer(GATE, "no");
    session.answer(OTHERWISE, "end");
    assert_eq!(session.end().1, Some(1));
    assert_eq!(standing(&project), "abandoned: done, pending");
}

/// A repository in which a step changes a file and then waits.
fn changing() -> Workspace {
    let project = Workspace::git();
    let steps =
        GATED.replacen("```sh\ntrue\n```", "```sh\nprintf 'new \\033[2J\\n' > README.md\n```", 1);
    project.write(FILE, super::workflow("", &steps));
    project
}

#[test]
#[ignore = "only with --all"]
fn details_are_paged_with_colour_and_plain_where_nobody_turns_pages() {
    let removed = "\u{1b}[31m-A project.\u{1b}[0m\n\u{1b}[32m+new \\u{1b}[2J\u{1b}[0m\n";
    let paged = changing().with_env("PAGER", "echo paged; cat");
    let mut session = Session::start(&paged, &["run", "--mode", "branch"]);
    session.answer(GATE, "show-details");
    session.expect("paged\r\n");
    session.expect(&removed.replace('\n', "\r\n"));
    session.answer(GATE, "yes");
    session.answer(ENDING, "");
    assert_eq!(session.end().1, Some(0));
    // Nothing of it is left.
    let id = paged.kept_ids().remove(0);
    let left = std::fs::read_dir(paged.kept(&id, "evidence")).map_or(0, Iterator::count);
    assert_eq!(left, 0);
    // A terminal that can do little, and a pager that is not there.
    for (term, pager) in [("dumb", "touch ../paged"), ("xterm", "no-such-pager"), ("xterm", "")] {
        let project = changing().with_env("PAGER", pager);
        let run = ["run", "--mode", "branch"];
        let mut session = Session::sized(&project, &run, 80, term);
        session.answer(GATE, "show-details");
        let expected =
            if term == "dumb" { "-A project.\r\n+new \\u{1b}[2J\r\n" } else { "+new \\u{1b}[2J" };
        session.expect(expected);
        session.answer(GATE, "yes");
        session.answer(ENDING, "k");
        assert_eq!(session.end().1, Some(0), "{term} {pager}");
        assert!(!project.path("../paged").exists());
    }
}

#[test]
fn nobody_answering_pauses_the_run() {
    let project = project("", GATED);
    let mut session = Session::start(&project, RUN);
    session.expect(GATE);
    session.keyboard.write_all(b"\x04").unwrap();
    let (seen, exit) = session.end();
    assert_eq!(exit, Some(3), "{seen}");
    assert_eq!(standing(&project), "paused: done, pending");
    // Answers that mean nothing do not loop for ever.
    let mut session = Session::start(&project, &["resume"]);
    for _ in 0..5 {
        session.answer(GATE, "perhaps");
    }
    assert_eq!(session.end().1, Some(3));
}

#[test]
fn ctrl_c_at_a_gate_saves() {
    let project = project("", GATED);
    let mut session = Session::start(&project, RUN);
    session.expect(GATE);
    let pid = rustix::process::Pid::from_child(&session.child);
    rustix::process::kill_process(pid, rustix::process::Signal::INT).unwrap();
    assert_eq!(session.end().1, Some(130));
    assert_eq!(standing(&project), "paused: done, pending");
    let mut session = Session::start(&project, &["resume"]);
    session.answer(GATE, "y");
    assert_eq!(session.end().1, Some(0));
}

#[test]
fn the_person_is_the_agent() {
    let steps = "- [ ] **Step 1: Only**\naction: |\n  Write hello\n  into out.txt\nloop: until it is there\n\
                 max_iterations: 2\nverify: test -e out.txt\n";
    let project = project("", steps);
    let mut session = Session::start(&project, &[RUN, &["--agent", "you"]].concat());
    session.expect("into out.txt");
    session.answer("Press Enter when it is done", "");
    session.answer("Press Enter when it is done", "fail I cannot");
    let (seen, exit) = session.end();
    assert_eq!(exit, Some(1), "{seen}");
    let mut session = Session::start(&project, &["resume", "--agent", "you"]);
    session.answer("Press Enter when it is done", "");
    session.expect("Press Enter when it is done");
    project.write("out.txt", "hello");
    session.answer("", "");
    let (seen, exit) = session.end();
    assert_eq!(exit, Some(0), "{seen}");
}

#[test]
fn an_unfinished_run_is_resumed_or_left_as_it_is() {
    let project = project("", GATED);
    let question = "Resume from step 1, or start fresh? (resume/fresh) ";
    let mut session = Session::start(&project, RUN);
    session.expect(GATE);
    session.keyboard.write_all(b"\x04").unwrap();
    assert_eq!(session.end().1, Some(3));
    let mut session = Session::start(&project, RUN);
    session.expect("(resume/fresh) ");
    session.keyboard.write_all(b"resume\n").unwrap();
    session.answer(GATE, "yes");
    assert_eq!(session.end().1, Some(0));
    assert_eq!(project.records().len(), 1, "{question}");
}

#[test]
fn a_review_is_answered_in_place() {
    let steps = "- [ ] **Step 1: Only**\naction: go\nloop: false\nverify:\n  type: human-review\n  \
                 prompt: is it nice?\n```sh\ntrue\n```\n";
    for (answer, exit, expected) in [("yes", 0, "completed: done"), ("no", 1, "abandoned: blocked")]
    {
        let project = project("", steps);
        let mut session = Session::start(&project, RUN);
        session.expect("Step 1 needs a human review: is it nice?");
        session.answer("(yes/no/show-details) ", answer);
        if answer == "no" {
            session.answer(OTHERWISE, "end");
        }
        let (seen, code) = session.end();
        assert_eq!(code, Some(exit), "{seen}");
        assert_eq!(standing(&project), expected);
        assert!(project.read(FILE).contains(if exit == 0 { "- [x]" } else { "- [ ]" }));
    }
}

/// A repository with a step that counts how often it ran.
fn counting() -> Workspace {
    let project = Workspace::git();
    let steps = "- [ ] **Step 1: Count**\naction: count\nloop: false\nverify: test -s count\n";
    project.write(FILE, super::workflow("", steps));
    project
}

const COUNT: &[&str] =
    &["run", "--agent-command", "grep -o longer | head -n 1 >> count; echo x >> count"];

#[test]
#[ignore = "only with --all"]
fn the_work_of_a_completed_run_is_asked_about_and_changes_can_be_requested() {
    let project = counting();
    let mut session = Session::start(&project, COUNT);
    session.expect("Not committed yet: 1 file; `onloop finish ");
    session.answer(ENDING, "d");
    session.expect("+x");
    session.answer(ENDING, "r");
    session.answer("What should change? ", "make it longer");
    session.expect("↻ Step 1: Count");
    session.answer(ENDING, "x");
    session.answer("Type `discard` to remove the work: ", "no");
    session.answer(ENDING, "m");
    let (seen, exit) = session.end();
    assert_eq!(exit, Some(0), "{seen}");
    assert!(seen.contains("Merged hotl/w into main, run w-"), "{seen}");
    assert_eq!(project.read("count"), "x\nlonger\nx\n");
    let record = project.record().to_string();
    assert!(record.contains("to be done again: make it longer"), "{record}");
}

#[test]
fn without_input_nothing_is_asked_and_enter_keeps() {
    let project = counting();
    let words = [COUNT, &["--no-input"]].concat();
    let (seen, exit) = Session::start(&project, &words).end();
    assert_eq!(exit, Some(0), "{seen}");
    assert!(seen.contains("\r\nNext:\r\n  onloop diff w-") && !seen.contains(ENDING), "{seen}");
    assert!(project.record()["finish"].is_null());
    let mut session = Session::start(&project, COUNT);
    session.expect("note: an earlier run has `hotl/w`; this one works on `hotl/w-2`");
    session.answer(ENDING, "");
    let (seen, exit) = session.end();
    assert_eq!(exit, Some(0), "{seen}");
    assert!(seen.contains("Kept hotl/w-2, run w-"), "{seen}");
    assert!(project.worktree("hotl/w").exists() && project.worktree("hotl/w-2").exists());
}
