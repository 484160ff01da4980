//! Types what the fleet's pages tell their readers to type, and compares the outputs with those of the pages.
//! A real server, a bare repository and two workers in separate homes serve all pages, in order.
//! Needs the server's program and `onloop`; a stage of its own runs this.
//!
//! A fence ```` ```sh run ```` is executed in a shell; `exit=3` expects that exit code, `until` repeats it until
//! it says what the document says, `on=tower` is typed on the second machine. What ```` ```sh start ```` starts
//! runs until the end. A fence ```` ```text output ```` that follows is everything that was said, and
//! ```` ```text file=NAME ```` is written to that file first. With `ONLOOP_WRITE_DOCUMENTS=1` the outputs in the
//! document are replaced instead.
#![cfg(unix)]

#[path = "../../../tests/it/fences.rs"]
mod fences;
#[path = "document/machines.rs"]
mod machines;
#[path = "document/words.rs"]
mod words;

use std::path::{Path, PathBuf};
use std::process::Command;

use fences::{Fence, fences};
use machines::Machines;

/// How the test uses a fence.
enum Role {
    /// It is written to a file.
    File(String),
    /// It is executed on a machine, once or until its output is as expected, with this exit code.
    Run { on: &'static str, until: bool, exit: i32 },
    /// It is started on a machine.
    Start { on: &'static str },
    /// It is the output of the fence before it.
    Output,
    /// It is not used.
    Shown,
}

fn role(fence: &Fence) -> Role {
    let words: Vec<&str> = fence.words.iter().skip(1).map(String::as_str).collect();
    let (mut on, mut until, mut exit) = (machines::DESK, false, 0);
    for word in words.iter().skip(1) {
        match word.split_once('=') {
            Some(("on", "tower")) => on = machines::TOWER,
            Some(("exit", code)) => exit = code.parse().expect("an exit code"),
            None if *word == "until" => until = true,
            _ => panic!("a fence must not say `{word}`: {fence:?}"),
        }
    }
    match words.first() {
        None => Role::Shown,
        Some(&"run") => Role::Run { on, until, exit },
        Some(&"start") => Role::Start { on },
        Some(&"output") => Role::Output,
        Some(word) => match word.strip_prefix("file=") {
            Some(name) => Role::File(name.to_owned()),
            None => panic!("a fence must not say `{word}`: {fence:?}"),
        },
    }
}

fn document(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs").join(name)
}

/// Executes the document; returns it with the outputs of its commands.
fn execute(machines: &mut Machines, document: &str) -> String {
    let fences = fences(document);
    let mut lines: Vec<String> = document.lines().map(|line| format!("{line}\n")).collect();
    let mut said = None;
    for (at, fence) in fences.iter().enumerate() {
        let expected = fences.get(at + 1).filter(|next| matches!(role(next), Role::Output));
        let expected = expected.map(|next| next.text.trim_matches('\n'));
        match role(fence) {
            Role::Shown => {}
            Role::File(name) => machines.write(&name, &fence.text),
            Role::Start { on } => said = Some(machines.start(on, &fence.text, expected)),
            Role::Run { on, until: false, exit } => {
                let (code, text) = machines.run(on, &fence.text);
                assert_eq!(code, Some(exit), "of\n{}\n{text}\n{}", fence.text, machines.logs());
                said = Some(text);
            }
            Role::Run { on, until: true, exit } => {
                let expected =
                    expected.expect("what is repeated is repeated until something is said");
                let (code, text) = machines.run_until(on, &fence.text, expected);
                assert_eq!(code, Some(exit), "of\n{}\n{text}\n{}", fence.text, machines.logs());
                said = Some(text);
            }
            Role::Output => {
                let said: String = said.take().expect("commands stand before their output");
                lines[fence.lines.clone()].fill(String::new());
                // The insertion before the closing fence also fills an empty fence.
                lines[fence.lines.end].insert_str(0, &format!("{}\n", said.trim_matches('\n')));
                if !is_written() && said.trim_matches('\n') != fence.text.trim_matches('\n') {
                    panic!(
                        "line {}: the document says\n{}\nand the programs say\n{said}\n\n{}",
                        fence.lines.start + 1,
                        fence.text,
                        machines.logs()
                    );
                }
            }
        }
    }
    lines.concat()
}

/// Whether the outputs in the document are replaced.
fn is_written() -> bool {
    std::env::var_os("ONLOOP_WRITE_DOCUMENTS").is_some()
}

#[test]
fn the_pages_say_what_happens() {
    let mut machines = Machines::new();
    for name in ["fleet.md", "fleet-machines.md", "fleet-reference.md"] {
        let path = document(name);
        let written = std::fs::read_to_string(&path).expect("the document");
        let real = execute(&mut machines, &written);
        if is_written() {
            std::fs::write(&path, real).expect("written");
        } else {
            assert_eq!(real, written);
        }
    }
}

/// Units of systemd and images start the program with options that it has.
#[test]
fn what_services_start_is_understood() {
    let text = std::fs::read_to_string(document("fleet-operations.md")).expect("the document");
    let mut lines: Vec<Vec<String>> = Vec::new();
    for line in text.lines() {
        if let Some(line) = line.strip_prefix("ExecStart=") {
            lines.push(line.split(' ').map(str::to_owned).collect());
        } else if let Some(line) = line.strip_prefix("CMD ") {
            lines.push(serde_json::from_str(line).expect("a list of words"));
        }
    }
    assert_eq!(lines.len(), 3, "{lines:?}");
    for words in lines {
        assert!(words[0].ends_with("onloop-fleet"), "{words:?}");
        let help = |words: &[String]| {
            let mut program = Command::new(env!("CARGO_BIN_EXE_onloop-fleet"));
            program.args(words).arg("--help").output().expect("it starts").status.success()
        };
        assert!(help(&words[1..]), "{words:?}");
        // An unknown option is an error even beside `--help`.
        let wrong = [&words[1..], &["--nothing".to_owned()]].concat();
        assert!(!help(&wrong), "{wrong:?}");
    }
}
