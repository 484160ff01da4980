//! What every host promises, as data: requests and the replies they must get. The same lines
//! are meant for hosts in other languages.
//!
//! A step either sets something up that no request can (`setup`) or performs a request
//! (`do`) and says what the reply `is`: the sort of outcome, or the kind of failure in snake
//! case. Further fields compare parts of the outcome; `save` names a version and `version`
//! and `expect` refer to it. `sim` tells a simulated host what the program would do. A case with
//! `git` needs real repositories; in it `setup` runs git. A simulated host has none, and says so as a
//! real one does where there is none. A case with `streams` needs a process with these standard
//! streams.

mod git;

use std::collections::BTreeMap;

use onloop::host::Host;
use onloop_core::effect::Shell;
use onloop_core::effect::{
    Command, Durability, Expect, Failure, FailureKind, HttpAnswer, HttpMethod, HttpSpec, InputUnit,
    LaunchSpec, Outcome, ProcessEnd, ProcessIdentity, ProcessSpec, ProcessStatus, Request, Say,
    Version,
};
use serde_json::Value;

use crate::loopback::{Asked, LoopbackServer, answer};
use crate::{SimHost, SimProcess};

/// A host under test, with what no request can do.
pub trait Bench {
    /// The host.
    fn host(&mut self) -> &mut dyn Host;
    /// Makes a symbolic link.
    fn link(&mut self, path: &str, target: &str);
    /// Makes something that is neither file, folder nor link.
    fn device(&mut self, path: &str);
    /// Makes a file that may be run.
    fn executable(&mut self, path: &str, text: &str);
    /// Starts a server on this machine that does what the step says; returns its origin.
    fn serve(&mut self, behaviour: &Value) -> String {
        LoopbackServer::start(behaviour)
    }
    /// The folder that relative paths are seen from, where there are real repositories.
    fn real_folder(&self) -> Option<std::path::PathBuf> {
        None
    }
    /// What the next program does, where programs are not real.
    fn script(&mut self, _behaviour: &Value) {}
    /// Connects the standard streams; `false`: this process has others.
    fn connect(&mut self, _streams: &Value) -> bool {
        false
    }
}

impl Bench for SimHost {
    fn host(&mut self) -> &mut dyn Host {
        self
    }

    fn link(&mut self, path: &str, target: &str) {
        self.disk.put_link(path, target);
    }

    fn device(&mut self, path: &str) {
        self.disk.put_device(path);
    }

    fn executable(&mut self, path: &str, text: &str) {
        self.disk.put_executable(path, text);
    }

    fn connect(&mut self, streams: &Value) -> bool {
        self.input = text(streams, "stdin").into_bytes();
        self.results_fail = match streams["stdout"].as_str() {
            Some("full") => Some(FailureKind::Full),
            Some("gone") => Some(FailureKind::Closed),
            Some(other) => panic!("unknown stream `{other}`"),
            None => None,
        };
        true
    }

    fn serve(&mut self, behaviour: &Value) -> String {
        let behaviour = behaviour.clone();
        self.on_http(move |_, spec| {
            if !spec.url.starts_with("http://simulated/") {
                return Err(Failure::new(FailureKind::Closed, "nobody listens there"));
            }
            let path = spec.url.trim_start_matches("http://simulated");
            let headers = spec.headers.iter().map(|(name, value)| format!("{name}: {value}"));
            let asked = Asked {
                line: format!("{} {path}", spec.method.as_str()),
                headers: headers.collect(),
                body: String::from_utf8_lossy(spec.body.as_deref().unwrap_or_default()).into(),
            };
            if behaviour.get("raw").is_some() {
                let kind = serde_json::from_value(behaviour["sim"].clone());
                return Err(Failure::new(kind.expect("a kind of failure"), "no answer in HTTP"));
            }
            match answer(&behaviour, &asked) {
                Some((status, body)) => Ok(HttpAnswer { status, body: body.into_bytes().into() }),
                None => Err(Failure::new(FailureKind::Closed, "no answer")),
            }
        });
        "http://simulated".to_owned()
    }

    fn script(&mut self, behaviour: &Value) {
        let number = |name: &str, default: i64| behaviour[name].as_i64().unwrap_or(default);
        let code = |name: &str| i32::try_from(number(name, 0)).expect("a small number");
        let status = match behaviour.get("signal") {
            Some(_) => ProcessStatus::Signalled(code("signal")),
            None => ProcessStatus::Exited(code("exit")),
        };
        let process = SimProcess {
            status,
            stdout: text(behaviour, "stdout").into_bytes(),
            stderr: text(behaviour, "stderr").into_bytes(),
            duration_ms: number("ms", 1).unsigned_abs(),
        };
        let files: Vec<(String, String)> =
            serde_json::from_value(behaviour["files"].clone()).unwrap_or_default();
        self.on("", move |disk, _| {
            files.iter().for_each(|(path, text)| disk.put(path, text));
            process.clone()
        });
    }
}

/// The cases, each a JSON object.
///
/// # Panics
///
/// When the vectors are damaged.
pub fn cases() -> Vec<Value> {
    let lines = include_str!("../vectors/host.jsonl").lines();
    lines.map(|line| serde_json::from_str(line).expect("a case is a JSON object")).collect()
}

/// Replays a case on a fresh host and says everything that was wrong.
pub fn replay(case: &Value, bench: &mut dyn Bench) -> Vec<String> {
    let mut versions = BTreeMap::new();
    let mut wrong = Vec::new();
    let mut server = String::new();
    let folder = bench.real_folder();
    if case["git"] == true && folder.is_none() {
        return wrong;
    }
    if case.get("streams").is_some_and(|streams| !bench.connect(streams)) {
        return wrong;
    }
    let root = folder.as_deref().and_then(|folder| folder.to_str()).unwrap_or_default();
    for step in array(&case["steps"]) {
        match step["setup"].as_str() {
            Some("link") => bench.link(&text(step, "path"), &text(step, "target")),
            Some("device") => bench.device(&text(step, "path")),
            Some("executable") => bench.executable(&text(step, "path"), &text(step, "text")),
            Some("serve") => server = bench.serve(step),
            Some("git") => git::set_up(root.as_ref(), &strings(&step["words"])),
            Some(other) => panic!("unknown setup `{other}`"),
            None => {
                if let Some(behaviour) = step.get("sim") {
                    bench.script(behaviour);
                }
                let reply = bench.host().perform(match git::request(step, root) {
                    Some(request) => Request::Git(request),
                    None => request(step, &versions, &server),
                });
                if let Err(difference) = compare(step, reply.outcome, &mut versions, root) {
                    wrong.push(format!("{}: {difference}\n  in {step}", case["case"]));
                }
            }
        }
    }
    wrong
}

type Versions = BTreeMap<String, Version>;

fn request(step: &Value, versions: &Versions, server: &str) -> Request {
    let path = || text(step, "path");
    let bytes = |name: &str| text(step, name).into_bytes();
    let number = |name: &str| step[name].as_u64().unwrap_or(0);
    let is = |name: &str| step[name].as_bool().unwrap_or(false);
    match step["do"].as_str().expect("a step does something") {
        "read" => Request::Read { path: path(), limit_bytes: number("limit") },
        "read_tail" => Request::ReadTail { path: path(), limit_bytes: number("limit") },
        "write" => Request::Write {
            path: path(),
            bytes: bytes("text").into(),
            expect: match step["expect"].as_str() {
                None => Expect::Any,
                Some("absent") => Expect::Absent,
                Some(saved) => Expect::Version(versions[saved].clone()),
            },
            durability: if is("durable") { Durability::Durable } else { Durability::Relaxed },
            private: is("private"),
        },
        "append" => Request::Append {
            path: path(),
            bytes: bytes("text").into(),
            expect_len_bytes: number("len"),
            durability: match step["durable"].as_bool() {
                Some(false) => Durability::Relaxed,
                Some(true) | None => Durability::Durable,
            },
            private: is("private"),
        },
        "patch" => Request::Patch {
            path: path(),
            offset_bytes: number("at"),
            old: bytes("old").into(),
            new: bytes("new").into(),
        },
        "remove" => Request::Remove { path: path() },
        "list" => Request::List { path: path() },
        "stat" => Request::Stat { path: path() },
        "canonical" => Request::Canonical { path: path() },
        "lock" => {
            let (wait_ms, private) = (number("wait_ms"), is("private"));
            Request::Lock { path: path(), wait_ms, private, role: None, run: None }
        }
        "holder" => Request::Holder { path: path() },
        "unlock" => Request::Unlock { path: path() },
        "sh" => process(step, Command::Shell { shell: Shell::Sh, line: text(step, "line") }),
        "argv" => process(step, Command::Argv(strings(&step["words"]))),
        "launch" => Request::Launch(LaunchSpec {
            argv: strings(&step["words"]),
            cwd: step["cwd"].as_str().unwrap_or(".").to_owned(),
            env_remove: strings(&step["env_remove"]),
            log: step["log"].as_str().map(str::to_owned),
            wait_ms: number("wait_ms"),
        }),
        "wait" => Request::Wait {
            wake_after_ms: step["wake_after_ms"].as_u64(),
            wake_on_input: false,
            activity: None,
        },
        "end" => Request::End,
        "http" => http(step, server),
        "input" => Request::ReadInput {
            limit_bytes: number("limit"),
            wait_ms: step["wait_ms"].as_u64(),
            unit: match step["unit"].as_str() {
                Some("bytes") => InputUnit::Bytes,
                _ => InputUnit::Lines,
            },
        },
        "say" => Request::Say(match step["to"].as_str() {
            Some("result") => Say::Result(text(step, "text")),
            _ => Say::Note(text(step, "text")),
        }),
        "ask" => Request::Ask {
            question: text(step, "question"),
            choices: Vec::new(),
            unless_changed: None,
        },
        "interrupt" => Request::Interrupt {
            process: ProcessIdentity {
                pid: u32::try_from(number("pid")).expect("small"),
                host: step["host"].as_str().unwrap_or("another machine").to_owned(),
                started: String::new(),
            },
            now: is("now"),
        },
        "changes" => Request::Changes {
            folders: strings(&step["folders"]),
            wait_ms: number("wait_ms"),
            working: Vec::new(),
        },
        "sleep" => Request::Sleep { duration_ms: number("ms") },
        other => panic!("unknown request `{other}`"),
    }
}

/// `path` is below the server of the case; `url` is a whole address.
fn http(step: &Value, server: &str) -> Request {
    let url = match step["url"].as_str() {
        Some(url) => url.to_owned(),
        None => format!("{server}{}", text(step, "path")),
    };
    let headers = step["headers"].as_object().into_iter().flatten();
    let headers =
        headers.map(|(name, value)| (name.clone(), value.as_str().unwrap_or("").to_owned()));
    Request::Http(HttpSpec {
        method: if step["method"] == "post" { HttpMethod::Post } else { HttpMethod::Get },
        url,
        headers: headers.collect(),
        body: step["body"].as_str().map(Into::into),
        timeout_ms: step["timeout_ms"].as_u64().unwrap_or(20_000),
        limit_bytes: step["limit"].as_u64().unwrap_or(1000),
    })
}

fn process(step: &Value, command: Command) -> Request {
    let env = step["env"].as_object().into_iter().flatten();
    let env_set = env.map(|(name, value)| (name.clone(), value.as_str().unwrap_or("").to_owned()));
    let capture = step["capture"].as_u64().unwrap_or(1000);
    let spec = ProcessSpec {
        stdin: step["stdin"].as_str().map(Into::into),
        stream_to: step["stream_to"].as_str().map(str::to_owned),
        private: step["private"].as_bool().unwrap_or(false),
        wake_after_ms: step["wake_after_ms"].as_u64(),
        announce: step["announce"].as_bool().unwrap_or(false),
        wake_on_lines: step["lines"].as_bool().unwrap_or(false),
        ..ProcessSpec::new(command)
    };
    Request::Process(
        spec.in_folder(step["cwd"].as_str().unwrap_or("."))
            .with_env(env_set)
            .timeout_ms(step["timeout_ms"].as_u64().unwrap_or(20_000))
            .capture_bytes(usize::try_from(capture).expect("small")),
    )
}

fn compare(
    step: &Value,
    outcome: Result<Outcome, Failure>,
    versions: &mut Versions,
    root: &str,
) -> Result<(), String> {
    let (is, parts) = describe(&outcome, root);
    if step["is"] != *is {
        return Err(format!("it is `{is}`: {outcome:?}"));
    }
    if let Ok(Outcome::Written { version } | Outcome::File { version, .. }) = &outcome {
        if let Some(saved) = step["version"].as_str()
            && versions[saved] != *version
        {
            return Err(format!("the version is not `{saved}`: {outcome:?}"));
        }
        if let Some(name) = step["save"].as_str() {
            versions.insert(name.to_owned(), version.clone());
        }
    }
    let expected =
        |name: &str| step.get(name).filter(|_| step["do"] != "write" && step["do"] != "append");
    for (name, found) in parts {
        match expected(name) {
            Some(expected) if *expected != found => return Err(format!("`{name}` is {found}")),
            _ => {}
        }
    }
    match (&outcome, step["ends_with"].as_str()) {
        (Ok(Outcome::Path { path }), Some(end)) if !path.ends_with(end) => {
            Err(format!("it is {path}"))
        }
        _ => Ok(()),
    }
}

/// The sort of an outcome and its parts, by the names that steps use; paths of repositories are
/// relative to `root`.
fn describe(
    outcome: &Result<Outcome, Failure>,
    root: &str,
) -> (String, Vec<(&'static str, Value)>) {
    let plain = |name: &str| (name.to_owned(), Vec::new());
    match outcome {
        Err(failure) => plain(&snake_case(&format!("{:?}", failure.kind))),
        Ok(Outcome::Done) => plain("done"),
        Ok(Outcome::File { bytes, .. }) => ("file".to_owned(), vec![("text", lossy(bytes))]),
        Ok(Outcome::Tail { bytes, size_bytes }) => {
            ("tail".to_owned(), vec![("text", lossy(bytes)), ("size", Value::from(*size_bytes))])
        }
        Ok(Outcome::Written { .. }) => plain("written"),
        Ok(Outcome::Names { names }) => {
            ("names".to_owned(), vec![("names", Value::from(names.clone()))])
        }
        Ok(Outcome::Stat(stat)) => {
            let kind = snake_case(&format!("{:?}", stat.kind));
            let parts = vec![
                ("kind", Value::from(kind)),
                ("size", Value::from(stat.size_bytes)),
                ("executable", Value::from(stat.executable)),
            ];
            ("stat".to_owned(), parts)
        }
        Ok(Outcome::Path { .. }) => plain("path"),
        Ok(Outcome::Process(end)) => ("process".to_owned(), process_parts(end)),
        Ok(Outcome::Running) => plain("running"),
        Ok(Outcome::Lines { bytes }) => ("lines".to_owned(), vec![("text", lossy(bytes))]),
        Ok(Outcome::Started { .. }) => plain("started"),
        Ok(Outcome::Holder { holder }) => {
            let live = holder.as_ref().map(|holder| holder.live);
            ("holder".to_owned(), vec![("live", Value::from(live))])
        }
        Ok(Outcome::Processes { .. }) => plain("processes"),
        Ok(Outcome::Ended { survivors }) => {
            ("ended".to_owned(), vec![("survivors", Value::from(*survivors))])
        }
        Ok(Outcome::Survey(survey)) => ("survey".to_owned(), git::surveyed(survey, root)),
        Ok(Outcome::Worktrees { worktrees }) => {
            ("worktrees".to_owned(), git::worktrees(worktrees, root))
        }
        Ok(Outcome::Commit { commit }) => {
            ("commit".to_owned(), vec![("commit", Value::from(commit.clone()))])
        }
        Ok(Outcome::Checkpoint(kept)) => ("checkpoint".to_owned(), git::kept(kept)),
        Ok(Outcome::Checkpoints { checkpoints }) => {
            ("checkpoints".to_owned(), git::named(checkpoints))
        }
        Ok(Outcome::Diff { bytes }) => ("diff".to_owned(), vec![("text", lossy(bytes))]),
        Ok(Outcome::KeptFile { bytes }) => ("kept_file".to_owned(), vec![("text", lossy(bytes))]),
        Ok(Outcome::Answer { .. }) => plain("answer"),
        Ok(Outcome::Input { bytes }) => ("input".to_owned(), vec![("text", lossy(bytes))]),
        Ok(Outcome::NoInput) => plain("no_input"),
        Ok(Outcome::Changed { changed }) => {
            ("changed".to_owned(), vec![("changed", Value::from(*changed))])
        }
        Ok(Outcome::NoCall) => plain("no_call"),
        Ok(Outcome::Listening { .. }) => plain("listening"),
        Ok(Outcome::Call(_)) => plain("call"),
        Ok(Outcome::Http(answer)) => {
            let parts = vec![("status", Value::from(answer.status)), ("text", lossy(&answer.body))];
            ("http".to_owned(), parts)
        }
    }
}

fn process_parts(end: &ProcessEnd) -> Vec<(&'static str, Value)> {
    let status = match end.status {
        ProcessStatus::Exited(code) => format!("exited {code}"),
        ProcessStatus::Signalled(signal) => format!("signalled {signal}"),
        ProcessStatus::TimedOut => "timed_out".to_owned(),
        ProcessStatus::Interrupted => "interrupted".to_owned(),
    };
    vec![
        ("status", Value::from(status)),
        ("head", lossy(&end.stdout.head)),
        ("tail", lossy(&end.stdout.tail)),
        ("total", Value::from(end.stdout.total_bytes)),
        ("stderr_head", lossy(&end.stderr.head)),
        ("stderr_tail", lossy(&end.stderr.tail)),
    ]
}

fn lossy(bytes: &[u8]) -> Value {
    Value::from(String::from_utf8_lossy(bytes).into_owned())
}

/// `NotFound` as `not_found`.
fn snake_case(name: &str) -> String {
    let mut snake = String::new();
    for c in name.chars() {
        if c.is_uppercase() && !snake.is_empty() {
            snake.push('_');
        }
        snake.extend(c.to_lowercase());
    }
    snake
}

fn text(value: &Value, name: &str) -> String {
    value[name].as_str().unwrap_or_default().to_owned()
}

fn strings(value: &Value) -> Vec<String> {
    array(value).iter().filter_map(|word| word.as_str().map(str::to_owned)).collect()
}

fn array(value: &Value) -> &[Value] {
    value.as_array().map_or(&[], Vec::as_slice)
}
