//! `onloop acp-client`: starts an agent inside the sandbox of a turn and talks to it by the Agent Client
//! Protocol.
//!
//! The prompt comes on standard input, and the stream about the turn goes to standard output, as with
//! every other client. [`AcpDialog`] decides; this is the loop around it, with the pipes and the clock.

use std::io::{Read, Write};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, Sender, SyncSender};
use std::thread;
use std::time::{Duration, Instant};

use onloop_core::agent::{
    ACP_VERB, AcpAction, AcpDialog, AcpSettings, AcpVerdict, JudgedTool, PermissionRequest,
};
use onloop_core::effect::Exit;
use onloop_core::limits;
use serde_json::{Value, json};

/// Bytes that are read from the agent at once.
const CHUNK_BYTES: usize = 64 * 1024;
/// Parts of the agent's output that wait; then the agent waits.
const PARTS: usize = 16;
/// Interval at which the end of the agent is looked for.
const LOOK_EVERY: Duration = Duration::from_millis(20);

/// What the loop waits for.
enum Heard {
    Output(Vec<u8>),
    Closed,
    Verdict(u64, AcpVerdict),
}

/// The options of the verb.
struct Options {
    timeout: String,
    policy: String,
    model: Option<String>,
    session: Option<String>,
    command: Vec<String>,
}

/// Talks to the agent if the command line says so; `None`: it says something else.
pub(crate) fn delegate() -> Option<Exit> {
    let argv = crate::hook::argv();
    if argv.get(1).is_none_or(|verb| verb != ACP_VERB) {
        return None;
    }
    let Some(options) = Options::read(&argv[2..]) else {
        crate::complain(&format!("a run calls `{ACP_VERB}`, with options of its own"));
        return Some(Exit::Usage);
    };
    Some(match talk(&options) {
        Ok(true) => Exit::Done,
        Ok(false) => Exit::Failed,
        Err(error) => {
            crate::complain(&format!("the agent cannot be started: {error}"));
            Exit::Failed
        }
    })
}

impl Options {
    fn read(words: &[String]) -> Option<Options> {
        let end = words.iter().position(|word| word == "--")?;
        let option = |name: &str| {
            words[..end].windows(2).find(|pair| pair[0] == name).map(|pair| pair[1].clone())
        };
        let command = words[end + 1..].to_vec();
        (!command.is_empty()).then_some(())?;
        Some(Options {
            timeout: option("--timeout")?,
            policy: option("--policy")?,
            model: option("--model"),
            session: option("--session"),
            command,
        })
    }
}

/// Whether the agent says that the turn ended as it should.
fn talk(options: &Options) -> std::io::Result<bool> {
    let mut prompt = String::new();
    std::io::stdin().read_to_string(&mut prompt)?;
    let cwd = std::env::current_dir()?.to_string_lossy().into_owned();
    let (model, session) = (options.model.clone(), options.session.clone());
    let settings = AcpSettings { cwd, prompt, session, model };
    let (dialog, first) = AcpDialog::begin(settings, env!("CARGO_PKG_VERSION"));
    let mut child = Command::new(&options.command[0])
        .args(&options.command[1..])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()?;
    let (heard, hears) = mpsc::sync_channel(PARTS);
    let (lines, sent) = mpsc::channel();
    let input = child.stdin.take().expect("it is piped");
    let output = child.stdout.take().expect("it is piped");
    thread::spawn(move || write(input, &sent));
    let reader = heard.clone();
    thread::spawn(move || read(output, &reader));
    let mut turn = Turn { options, dialog, heard, lines: Some(lines), ended: None };
    turn.perform(first)?;
    turn.follow(&hears, &mut child)?;
    // An agent whose input ends stores its conversation and ends.
    turn.lines = None;
    if ended_within(&mut child, Duration::from_millis(limits::KILL_GRACE_MS)).is_none() {
        child.kill()?;
        child.wait()?;
    }
    Ok(turn.ended == Some(true))
}

/// Writes lines to the agent until there are no more. Its input is closed then.
fn write(mut input: ChildStdin, sent: &Receiver<String>) {
    for line in sent {
        // An agent that does not read has ended, which its output tells.
        if writeln!(input, "{line}").and_then(|()| input.flush()).is_err() {
            return;
        }
    }
}

fn read(mut output: ChildStdout, heard: &SyncSender<Heard>) {
    let mut chunk = vec![0; CHUNK_BYTES];
    loop {
        let part = match output.read(&mut chunk) {
            Ok(0) | Err(_) => Heard::Closed,
            Ok(length) => Heard::Output(chunk[..length].to_vec()),
        };
        let is_last = matches!(part, Heard::Closed);
        if heard.send(part).is_err() || is_last {
            return;
        }
    }
}

/// How the agent ended, if it does within `longest`.
fn ended_within(child: &mut Child, longest: Duration) -> Option<String> {
    let until = Instant::now() + longest;
    loop {
        match child.try_wait() {
            Ok(Some(status)) => return Some(format!("the agent ended ({status})")),
            Err(error) => return Some(format!("the end of the agent is unknown ({error})")),
            Ok(None) if Instant::now() >= until => return None,
            Ok(None) => thread::sleep(LOOK_EVERY),
        }
    }
}

/// A turn that is under way.
struct Turn<'o> {
    options: &'o Options,
    dialog: AcpDialog,
    heard: SyncSender<Heard>,
    /// Lines for the agent; `None`: its input is closed.
    lines: Option<Sender<String>>,
    /// Whether it ended well.
    ended: Option<bool>,
}

impl Turn<'_> {
    fn follow(&mut self, hears: &Receiver<Heard>, child: &mut Child) -> std::io::Result<()> {
        let (mut waits_for, mut since) = (self.dialog.waits_for(), Instant::now());
        while self.ended.is_none() {
            if waits_for != self.dialog.waits_for() {
                (waits_for, since) = (self.dialog.waits_for(), Instant::now());
            }
            let longest = self.dialog.wait_ms().map(Duration::from_millis);
            let next = match longest {
                Some(longest) => hears.recv_timeout(longest.saturating_sub(since.elapsed())),
                None => hears.recv().map_err(|_| RecvTimeoutError::Disconnected),
            };
            let is_late = longest.is_some_and(|longest| since.elapsed() >= longest);
            let actions = match next {
                _ if is_late => self.dialog.late(),
                Ok(Heard::Output(bytes)) => self.dialog.push(&bytes),
                Ok(Heard::Verdict(key, verdict)) => self.dialog.judged(key, &verdict),
                Ok(Heard::Closed) | Err(RecvTimeoutError::Disconnected) => {
                    let how = ended_within(child, Duration::from_millis(limits::KILL_GRACE_MS));
                    self.dialog.closed(&how.unwrap_or("the agent closed its output".to_owned()))
                }
                Err(RecvTimeoutError::Timeout) => Vec::new(),
            };
            self.perform(actions)?;
        }
        Ok(())
    }

    fn perform(&mut self, actions: Vec<AcpAction>) -> std::io::Result<()> {
        for action in actions {
            match action {
                AcpAction::Send(line) => {
                    // Where the writer has ended, the agent has, too.
                    let _ = self.lines.as_ref().map(|lines| lines.send(line));
                }
                AcpAction::Tell(line) => {
                    let mut stdout = std::io::stdout().lock();
                    writeln!(stdout, "{line}").and_then(|()| stdout.flush())?;
                }
                AcpAction::Judge(PermissionRequest { key, parts }) => self.judge(key, parts),
                AcpAction::End { is_well } => self.ended = Some(is_well),
            }
        }
        Ok(())
    }

    /// Has the parts of a call judged by our hook, beside the conversation.
    fn judge(&self, key: u64, parts: Vec<JudgedTool>) {
        let heard = self.heard.clone();
        let (timeout, policy) = (self.options.timeout.clone(), self.options.policy.clone());
        thread::spawn(move || {
            let nothing = "there is nothing to judge".to_owned();
            let mut verdict = AcpVerdict { is_allowed: false, reason: nothing };
            for part in &parts {
                verdict = judged(part, &timeout, &policy).unwrap_or_else(|error| AcpVerdict {
                    is_allowed: false,
                    reason: format!("the hook did not judge the call: {error}"),
                });
                if !verdict.is_allowed {
                    break;
                }
            }
            // The turn may be over.
            let _ = heard.send(Heard::Verdict(key, verdict));
        });
    }
}

/// The verdict of our hook. It is called in the form of Cursor, whose own settings it does not read.
fn judged(part: &JudgedTool, timeout: &str, policy: &str) -> std::io::Result<AcpVerdict> {
    let mut hook = Command::new(std::env::current_exe()?)
        .args(["hook", "cursor", "--timeout", timeout, "--policy", policy])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()?;
    let call = json!({
        "hook_event_name": "preToolUse", "tool_name": part.tool, "tool_input": part.input,
    });
    let mut input = hook.stdin.take().expect("it is piped");
    input.write_all(call.to_string().as_bytes())?;
    drop(input);
    let answer: Value = serde_json::from_slice(&hook.wait_with_output()?.stdout)?;
    let reason = answer["agent_message"].as_str().unwrap_or("the hook gave no reason");
    Ok(AcpVerdict { is_allowed: answer["permission"] == "allow", reason: reason.to_owned() })
}
