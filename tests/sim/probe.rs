//! A program around the native host whose verbs are single requests, for tests that need
//! real processes: they are interrupted, killed, and outlived by their children.

use std::process::ExitCode;

use onloop::host::{Host, Interrupts, OsHost};
use onloop_core::effect::{
    Durability, Exit, Expect, Failure, FailureKind, Io, ProcessGroup, ProcessSpec, Program, Shell,
    Start,
};
use onloop_tests::conformance::{Bench, cases, replay};
use serde_json::Value;

fn main() -> ExitCode {
    let words: Vec<String> = std::env::args().collect();
    if let [_, verb, name] = words.as_slice()
        && verb == "vector"
    {
        return vector(name);
    }
    onloop::main_with(|start| Program::new(start, probe))
}

/// The native host with the standard streams of this process.
struct Connected(OsHost);

impl Bench for Connected {
    fn host(&mut self) -> &mut dyn Host {
        &mut self.0
    }

    fn link(&mut self, path: &str, _target: &str) {
        panic!("a case with streams has no link, such as `{path}`");
    }

    fn device(&mut self, path: &str) {
        panic!("a case with streams has no device, such as `{path}`");
    }

    fn executable(&mut self, path: &str, _text: &str) {
        panic!("a case with streams has no program, such as `{path}`");
    }

    fn connect(&mut self, _streams: &Value) -> bool {
        true
    }
}

/// Replays the case of that name; what is wrong is said on standard error.
fn vector(name: &str) -> ExitCode {
    let cwd = std::env::current_dir().expect("a folder to work in");
    let cwd = cwd.to_str().expect("a folder with a name in UTF-8").to_owned();
    let start = Start { cwd, ..Start::example(["onloop"]) };
    let interrupts = Interrupts::new().expect("a pipe");
    let mut host = Connected(OsHost::new(&start, &interrupts));
    let case = cases().into_iter().find(|case| case["case"] == name).expect("a case of that name");
    let wrong = replay(&case, &mut host);
    wrong.iter().for_each(|line| eprintln!("{line}"));
    if wrong.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

async fn probe(io: Io) -> Exit {
    let words: Vec<String> = io.start().argv.iter().skip(1).cloned().collect();
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    match words[..] {
        ["run", timeout_ms, line] => run(&io, timeout_ms.parse().ok(), line).await,
        ["watch", label, line] => {
            let spec = ProcessSpec { label: Some(label.to_owned()), ..spec(line) };
            follow(&io, spec).await
        }
        ["interactive", line] => {
            follow(&io, ProcessSpec { interactive: true, wake_after_ms: None, ..spec(line) }).await
        }
        ["announce", line] => announce(&io, line).await,
        ["ask", question] => {
            let answer = io.ask(question).await;
            io.note(format!("\u{1b}[1manswer\u{1b}[0m {answer:?}")).await;
            Exit::Done
        }
        // What is typed while the line runs is typed ahead of the question.
        ["ask-after", line, question] => {
            let _ = io.process(spec(line)).await;
            let answer = io.ask(question).await;
            io.note(format!("answer {answer:?}")).await;
            Exit::Done
        }
        ["hold", lock] => hold(&io, lock).await,
        ["count", lock, counter, rounds] => {
            count(&io, lock, counter, rounds.parse().unwrap_or(0)).await
        }
        ["sleep", duration_ms] => match io.sleep(duration_ms.parse().unwrap_or(0)).await {
            Ok(()) => Exit::Done,
            Err(failure) => save_after(&io, failure.kind).await,
        },
        // The second is what a hook looks like to the process around it.
        ["panic"] | ["hook", _] => panic!("asked to"),
        _ => Exit::Usage,
    }
}

fn spec(line: &str) -> ProcessSpec {
    ProcessSpec { timeout_ms: None, ..ProcessSpec::shell(Shell::Sh, line) }
}

/// Runs a shell line while it holds a lock.
async fn run(io: &Io, timeout_ms: Option<u64>, line: &str) -> Exit {
    if io.lock("probe.lock", 0).await.is_err() {
        return Exit::Refused;
    }
    io.result("started\n").await;
    follow(io, ProcessSpec { timeout_ms, ..spec(line) }).await
}

/// Says which process group runs, and waits for it.
async fn announce(io: &Io, line: &str) -> Exit {
    let say = async |ProcessGroup { pid, started, boot }| {
        io.result(format!("{pid} {started} {boot}\n")).await;
        Ok::<(), Failure>(())
    };
    match io.process_announced(spec(line), say).await {
        Ok(_) => Exit::Done,
        Err(_) => Exit::Refused,
    }
}

/// Runs a program, says how it ended, and shows that one interrupt is one interrupt.
async fn follow(io: &Io, spec: ProcessSpec) -> Exit {
    match io.process(spec).await {
        Ok(end) => {
            let slept = io.sleep(1).await;
            io.result(format!("{:?} {} then {slept:?}\n", end.status, end.stdout.text())).await;
            Exit::Done
        }
        Err(failure) => {
            io.result(format!("{failure:?}\n")).await;
            Exit::Refused
        }
    }
}

/// Takes a lock and waits to be killed.
async fn hold(io: &Io, lock: &str) -> Exit {
    if io.lock(lock, 0).await.is_err() {
        return Exit::Refused;
    }
    io.result("held\n").await;
    let _ = io.sleep(60_000).await;
    Exit::Interrupted
}

/// Adds one to a number in a file, again and again, each time under the lock. A second
/// holder would show as a lost addition or as an own mark that disappeared.
async fn count(io: &Io, lock: &str, counter: &str, rounds: u32) -> Exit {
    for _ in 0..rounds {
        if let Err(failure) = io.lock(lock, 60_000).await {
            io.result(format!("{failure}\n")).await;
            return Exit::Refused;
        }
        let mark = format!("{counter}.inside");
        let entered = io.write(&mark, Vec::new(), Expect::Absent, Durability::Relaxed).await;
        let value = match io.read(counter, 100).await {
            Ok((bytes, _)) => String::from_utf8_lossy(&bytes).parse::<u32>().unwrap_or(0),
            Err(_) => 0,
        };
        let bytes = (value + 1).to_string().into_bytes();
        let written = io.write(counter, bytes, Expect::Any, Durability::Relaxed).await;
        let left = io.remove(&mark).await;
        if entered.is_err() || written.is_err() || left.is_err() || io.unlock(lock).await.is_err() {
            return Exit::Failed;
        }
    }
    Exit::Done
}

/// After an interrupt a program can still store what it has.
async fn save_after(io: &Io, kind: FailureKind) -> Exit {
    let saved = io.write("saved", b"yes".to_vec(), Expect::Absent, Durability::Durable).await;
    match (kind, saved) {
        (FailureKind::Interrupted, Ok(_)) => Exit::Interrupted,
        _ => Exit::Failed,
    }
}
