//! A person at a terminal, played through a pseudo-terminal.

use std::fs::File;
use std::io::{Read, Write};
use std::process::{Child, Command, Stdio};

use rustix::process::{Pid, Signal, kill_process};
use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};

use crate::temporary::temporary_folder;
use crate::workspace::Watchdog;

/// A probe at a terminal of its own.
struct Session {
    keyboard: File,
    child: Child,
    seen: String,
    _watchdog: Watchdog,
}

impl Session {
    fn start(folder: &std::path::Path, words: &[&str], env: &[(&str, &str)]) -> Session {
        let keyboard = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).unwrap();
        grantpt(&keyboard).unwrap();
        unlockpt(&keyboard).unwrap();
        let name = ptsname(&keyboard, Vec::new()).unwrap().into_string().unwrap();
        let screen = || {
            let screen = File::options().read(true).write(true).open(&name).unwrap();
            Stdio::from(screen)
        };
        let child = Command::new(env!("CARGO_BIN_EXE_host-probe"))
            .args(words)
            .env_remove("CI")
            .env_remove("NO_COLOR")
            .env("TERM", "xterm-256color")
            .envs(env.iter().copied())
            .current_dir(folder)
            .stdin(screen())
            .stdout(screen())
            .stderr(screen())
            .spawn()
            .unwrap();
        let _watchdog = Watchdog::over(child.id());
        Session { keyboard: File::from(keyboard), child, seen: String::new(), _watchdog }
    }

    /// Reads until `text` is on the screen.
    fn wait_for(&mut self, text: &str) {
        let mut chunk = [0; 1024];
        while !self.seen.contains(text) {
            let len = self.keyboard.read(&mut chunk).unwrap_or(0);
            assert!(len > 0, "`{text}` never came: {:?}", self.seen);
            self.seen.push_str(&String::from_utf8_lossy(&chunk[..len]));
        }
    }

    fn type_in(&mut self, keys: &str) {
        self.keyboard.write_all(keys.as_bytes()).unwrap();
    }

    /// Everything seen, and the exit code.
    fn end(mut self) -> (String, Option<i32>) {
        let mut chunk = [0; 1024];
        // The end of a pseudo-terminal is an error on Linux.
        while let Ok(len @ 1..) = self.keyboard.read(&mut chunk) {
            self.seen.push_str(&String::from_utf8_lossy(&chunk[..len]));
        }
        (self.seen, self.child.wait().unwrap().code())
    }
}

#[test]
fn a_question_is_answered_with_a_line() {
    let folder = temporary_folder();
    let mut session = Session::start(folder.path(), &["ask", "go on? "], &[]);
    session.wait_for("go on? ");
    session.type_in("yes\n");
    let (seen, code) = session.end();
    assert!(seen.contains("\u{1b}[1manswer\u{1b}[0m Ok(\"yes\")"), "{seen:?}");
    assert_eq!(code, Some(0));
}

#[test]
fn what_was_typed_before_the_question_is_no_answer() {
    let folder = temporary_folder();
    let line = "while ! test -e stop; do sleep 0.05; done";
    let mut session = Session::start(folder.path(), &["ask-after", line, "go on? "], &[]);
    session.type_in("yes\nyes\nand ");
    // The terminal shows what it has taken.
    session.wait_for("and ");
    std::fs::write(folder.path().join("stop"), "").unwrap();
    session.wait_for("go on? ");
    session.type_in("no\n");
    let (seen, code) = session.end();
    assert!(seen.contains("answer Ok(\"no\")"), "{seen:?}");
    assert_eq!(code, Some(0));
}

#[test]
fn colour_goes_where_it_is_not_wanted() {
    let folder = temporary_folder();
    for env in [("NO_COLOR", "1"), ("CI", "true"), ("TERM", "dumb")] {
        let mut session = Session::start(folder.path(), &["ask", "go on? "], &[env]);
        session.wait_for("go on? ");
        session.type_in("no\n");
        let (seen, _) = session.end();
        assert!(seen.contains("answer Ok(\"no\")"), "{env:?}: {seen:?}");
        assert!(!seen.contains('\u{1b}'), "{env:?}: {seen:?}");
    }
}

#[test]
fn a_question_ends_with_the_input_or_an_interrupt() {
    let folder = temporary_folder();
    let mut session = Session::start(folder.path(), &["ask", "go on? "], &[]);
    session.wait_for("go on? ");
    session.type_in("\u{4}");
    assert!(session.end().0.contains("kind: Closed"));
    let mut session = Session::start(folder.path(), &["ask", "go on? "], &[]);
    session.wait_for("go on? ");
    kill_process(Pid::from_child(&session.child), Signal::INT).unwrap();
    assert!(session.end().0.contains("kind: Interrupted"));
}

#[test]
fn a_status_line_shows_the_last_words_and_leaves_no_trace() {
    let folder = temporary_folder();
    let line = "printf 'first\\n\\033[2Jsecond\\n'; while ! test -e stop; do sleep 0.05; done";
    let mut session = Session::start(folder.path(), &["watch", "the label", line], &[]);
    session.wait_for("the label");
    session.wait_for("second");
    assert!(!session.seen.contains("\u{1b}[2J"), "{:?}", session.seen);
    std::fs::write(folder.path().join("stop"), "").unwrap();
    let (seen, code) = session.end();
    // The last thing before the result erases the line.
    let before_result = seen.rsplit_once("Exited(0)").unwrap().0;
    assert!(before_result.ends_with("\r\u{1b}[2K"), "{seen:?}");
    assert_eq!(code, Some(0));
}

#[test]
fn without_a_watching_person_there_is_no_status_line() {
    let folder = temporary_folder();
    let session =
        Session::start(folder.path(), &["watch", "the label", "sleep 0.5"], &[("CI", "1")]);
    assert_eq!(session.end(), ("Exited(0)  then Ok(())\r\n".to_owned(), Some(0)));
}

#[test]
fn an_interactive_program_has_the_terminal_and_its_ctrl_c() {
    let folder = temporary_folder();
    let line = "test -t 0 && test -t 1 && test -t 2 && read -r word && echo \"got $word\"; exit 5";
    let mut session = Session::start(folder.path(), &["interactive", line], &[]);
    // Sent to us alone: at a real terminal the program would get it too.
    while std::fs::read_to_string(format!(
        "/proc/{pid}/task/{pid}/children",
        pid = session.child.id()
    ))
    .unwrap_or_default()
    .is_empty()
    {
        std::thread::yield_now();
    }
    kill_process(Pid::from_child(&session.child), Signal::INT).unwrap();
    session.type_in("a word\n");
    let (seen, code) = session.end();
    assert!(seen.contains("got a word\r\nExited(5)  then Ok(())"), "{seen:?}");
    assert_eq!(code, Some(0));
}
