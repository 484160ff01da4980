//! The environment of the test: a server, workers, a repository and the checkout of people.

use std::fs::{self, File};
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};

use onloop_fleet::client::Client;
use onloop_fleet::engine::restate::find;
use onloop_fleet::key::Key;
use rustix::process::{Pid, Signal, kill_process};

use crate::processes::{self, Kind, MARK, Process};

/// Longer than everything that is waited for, on a busy machine.
pub(crate) const LONG: Duration = Duration::from_secs(90);
/// An older lock of git is stale, even if its push was frozen for the longest time.
const STALE: Duration = Duration::from_secs(15);
/// The workflow file.
pub(crate) const WORKFLOW: &str = "hotl-workflow-sell.md";
pub(crate) struct World {
    folder: tempfile::TempDir,
    server_program: PathBuf,
    port: u16,
    key: Key,
    up: Child,
    workers: Vec<(String, Child)>,
    lease: String,
    runs: u32,
}

impl World {
    /// Creates a fleet whose leases hold for `lease`, with a workflow and an agent.
    pub(crate) fn new(lease: &str, workflow: &str, agent: &str) -> World {
        let folder = tempfile::Builder::new().prefix("chaos").tempdir().expect("a folder");
        let server_program =
            find(None, folder.path()).unwrap_or_else(|missing| panic!("{missing}"));
        // The listener reserves its port until the server starts.
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let port = listener.local_addr().expect("a port").port();
        drop(listener);
        for name in ["home", "agents", "shop", "data"] {
            fs::create_dir_all(folder.path().join(name)).expect("a folder");
        }
        fs::write(folder.path().join("agent.sh"), agent).expect("an agent");
        let key = Key::new();
        key.write(&folder.path().join("data/fleet.key")).expect("a key");
        let mut command = Command::new("true");
        let mut world = World {
            up: command.spawn().expect("true"),
            folder,
            server_program,
            port,
            key,
            workers: Vec::new(),
            lease: lease.to_owned(),
            runs: 0,
        };
        world.make_repository(workflow);
        let _ = world.up.wait();
        world.up = world.start_up();
        for name in ["one", "two"] {
            let worker = world.start_worker(name);
            world.workers.push((name.to_owned(), worker));
        }
        world
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    pub(crate) fn client(&self) -> Client {
        Client::new(&format!("http://127.0.0.1:{}", self.port), self.key.clone(), None)
    }

    /// Calls the server until it answers.
    pub(crate) fn ask<T>(
        &self,
        mut ask: impl FnMut(&Client) -> Result<T, onloop_fleet::engine::EngineError>,
    ) -> T {
        let client = self.client();
        client.retry_within(LONG, || ask(&client)).unwrap_or_else(|error| {
            panic!("the server does not come back: {error}\n{}", self.logs(&[]))
        })
    }

    fn make_repository(&self, workflow: &str) {
        self.git("", &["init", "--quiet", "--bare", "--initial-branch=main", "shop.git"]);
        let git = |words: &[&str]| self.git("shop", words);
        git(&["init", "--quiet", "--initial-branch=main"]);
        fs::write(self.path("shop").join(WORKFLOW), workflow).expect("a workflow");
        git(&["add", "."]);
        git(&["commit", "--quiet", "-m", "Begin"]);
        git(&["remote", "add", "origin", &self.path("shop.git").to_string_lossy()]);
        git(&["push", "--quiet", "--set-upstream", "origin", "main"]);
    }

    pub(crate) fn git(&self, folder: &str, words: &[&str]) -> String {
        let mut command = self.environment(Command::new("git"), "one");
        let output = command.args(words).current_dir(self.path(folder)).output().expect("git");
        assert!(output.status.success(), "git {words:?}: {}", text(&output));
        String::from_utf8_lossy(&output.stdout).trim_end().to_owned()
    }

    /// Whether `there` is the commit or descends from it.
    pub(crate) fn is_in(&self, folder: &str, commit: &str, there: &str) -> bool {
        let mut command = self.environment(Command::new("git"), "one");
        command.args(["merge-base", "--is-ancestor", commit, there]);
        let status = command.current_dir(self.path(folder)).stderr(Stdio::null()).status();
        status.expect("git").success()
    }

    /// Sets the environment of a person; each has a state home.
    fn environment(&self, mut command: Command, person: &str) -> Command {
        command.env_clear();
        for name in ["PATH", "TMPDIR", "LLVM_PROFILE_FILE"] {
            command.envs(std::env::var_os(name).map(|value| (name, value)));
        }
        command
            .env("HOME", self.path("home"))
            .env("USER", person)
            .env("GIT_CONFIG_NOSYSTEM", "1")
            .envs([("GIT_AUTHOR_NAME", "Ada"), ("GIT_AUTHOR_EMAIL", "ada@example.org")])
            .envs([("GIT_COMMITTER_NAME", "Ada"), ("GIT_COMMITTER_EMAIL", "ada@example.org")])
            .env(MARK, self.folder.path())
            .env("ONLOOP_STATE_HOME", self.path(&format!("state-{person}")))
            .env("ONLOOP_CONTINUE", "never")
            .stdin(Stdio::null());
        command
    }

    fn fleet(&self, person: &str) -> Command {
        self.environment(Command::new(env!("CARGO_BIN_EXE_onloop-fleet")), person)
    }

    fn log(&self, name: &str) -> File {
        let path = self.path(&format!("{name}.log"));
        File::options().create(true).append(true).open(path).expect("a log")
    }

    fn start_up(&self) -> Child {
        let mut command = self.fleet("up");
        command.args(["up", "--no-worker", "--lease", &self.lease, "--listen"]);
        command.arg(format!("127.0.0.1:{}", self.port));
        command.arg("--data").arg(self.path("data"));
        command.arg("--server-program").arg(&self.server_program);
        command.stdout(Stdio::null()).stderr(self.log("up")).spawn().expect("it starts")
    }

    fn start_worker(&self, name: &str) -> Child {
        let mut command = self.fleet(name);
        command.env_remove("ONLOOP_STATE_HOME");
        self.know(&mut command);
        command.args(["worker", "--name", name, "--slots", "4", "--allow", "*", "--repos"]);
        command.arg(self.path(name)).stdout(Stdio::null()).stderr(self.log(name));
        command.spawn().expect("a worker")
    }

    fn know(&self, command: &mut Command) {
        command.env("ONLOOP_FLEET_SERVER", format!("http://127.0.0.1:{}", self.port));
        command.env("ONLOOP_FLEET_KEY_FILE", self.path("data/fleet.key"));
    }

    /// Starts a command that a person types in the checkout; its output goes to a file.
    pub(crate) fn types(&self, person: &str, words: &[&str]) -> Child {
        let mut command = self.fleet(person);
        self.know(&mut command);
        let log = self.log(person);
        let errors = log.try_clone().expect("a log");
        command.args(words).current_dir(self.path("shop")).stdout(log).stderr(errors);
        command.spawn().expect("onloop")
    }

    /// Returns the command that submits the next run, and its id.
    pub(crate) fn next_run(&mut self) -> (String, Vec<String>) {
        self.runs += 1;
        let id = format!("run-{}", self.runs);
        let mut words = self.words_of_run();
        words.extend(["--on", "fleet", "--run-id", &id].map(str::to_owned));
        (id, words)
    }

    fn words_of_run(&self) -> Vec<String> {
        let (script, agents) = (self.path("agent.sh"), self.path("agents"));
        let agent = format!("sh {} {}", script.display(), agents.display());
        let words = ["run", WORKFLOW, "--confine", "off", "--agent-command", &agent];
        words.map(str::to_owned).to_vec()
    }

    /// Runs the same workflow on this machine alone, without gates; returns its ledger.
    pub(crate) fn run_alone(&self, id: &str) -> Vec<u8> {
        let mut words = self.words_of_run();
        words.extend(["--on-existing", "recreate", "--run-id", id].map(str::to_owned));
        let output = self.fleet("alone").args(&words).current_dir(self.path("shop")).output();
        let output = output.expect("onloop");
        assert!(output.status.success(), "{words:?}: {}", text(&output));
        // The next run needs the branch and the folder.
        let listed = self.git("shop", &["worktree", "list", "--porcelain"]);
        for worktree in listed.lines().filter_map(|line| line.strip_prefix("worktree ")).skip(1) {
            self.git("shop", &["worktree", "remove", "--force", worktree]);
        }
        fs::read(self.path(&format!("state-alone/runs/{id}/ledger.jsonl"))).expect("a ledger")
    }

    /// Runs the same workflow on this machine alone, with all commands of a person; returns its ledger.
    pub(crate) fn alone(&self) -> Vec<u8> {
        let run = self.words_of_run();
        let agent = run[5].clone();
        let id = ["--run-id".to_owned(), "alone".to_owned()];
        let lines: [Vec<String>; 3] = [
            run.into_iter().chain(id).collect(),
            ["gate", "1", "approved", "--run-id", "alone"].map(str::to_owned).to_vec(),
            ["resume", "alone", "--confine", "off", "--agent-command", &agent]
                .map(str::to_owned)
                .to_vec(),
        ];
        for (line, code) in lines.into_iter().zip([3, 0, 0]) {
            let output = self.fleet("alone").args(&line).current_dir(self.path("shop")).output();
            let output = output.expect("onloop");
            assert_eq!(output.status.code(), Some(code), "{line:?}: {}", text(&output));
        }
        fs::read(self.path("state-alone/runs/alone/ledger.jsonl")).expect("a ledger")
    }

    pub(crate) fn processes(&self) -> Vec<Process> {
        processes::of_world(&self.folder.path().to_string_lossy())
    }

    /// Restarts the server and the workers that have ended, and removes stale locks of killed programs
    /// in the remote: there git belongs to another machine, which does not die with a worker.
    pub(crate) fn revive(&mut self) {
        remove_stale_locks(&self.path("shop.git"));
        if self.up.try_wait().expect("a child").is_some() {
            self.up = self.start_up();
        }
        for at in 0..self.workers.len() {
            if self.workers[at].1.try_wait().expect("a child").is_some() {
                self.workers[at].1 = self.start_worker(&self.workers[at].0.clone());
            }
        }
    }

    /// Ends all processes in order; returns when none is left.
    pub(crate) fn end(mut self) {
        let workers = self.workers.iter().map(|(_, worker)| Pid::from_child(worker));
        let up = Pid::from_child(&self.up);
        for pid in workers.chain([up]) {
            kill_process(pid, Signal::TERM).expect("it was there");
        }
        for (name, worker) in &mut self.workers {
            assert!(worker.wait().expect("it ends").success(), "worker {name} ends in order");
        }
        assert!(self.up.wait().expect("it ends").success(), "the server ends in order");
        self.wait_for_quiet(|_| false);
    }

    /// Waits until there is no process of a kind that is not `expected`.
    pub(crate) fn wait_for_quiet(&self, expected: impl Fn(Kind) -> bool) {
        let began = Instant::now();
        loop {
            let mut left = self.processes();
            left.retain(|process| !expected(process.kind));
            if left.is_empty() {
                return;
            }
            assert!(began.elapsed() < LONG / 3, "left behind: {left:#?}");
            std::thread::sleep(Duration::from_millis(50));
        }
    }

    /// Returns the parts of all logs that concern these runs.
    pub(crate) fn logs(&self, runs: &[String]) -> String {
        let mut text = String::new();
        let mut read = |path: &Path| {
            let content = fs::read(path).unwrap_or_default();
            let content = String::from_utf8_lossy(&content);
            let end = content.char_indices().rev().nth(6000).map_or(0, |(at, _)| at);
            text += &format!("--- {}\n{}\n", path.display(), &content[end..]);
        };
        for name in ["up", "one", "two", "ada", "ben"] {
            read(&self.path(&format!("{name}.log")));
        }
        for run in runs {
            read(&self.path(&format!("agents/{run}")));
            for worker in ["one", "two"] {
                for log in ["driver.1.log", "driver.log"] {
                    read(&self.path(&format!("{worker}/state/runs/{run}/{log}")));
                }
            }
        }
        text
    }
}

impl Drop for World {
    fn drop(&mut self) {
        for process in self.processes() {
            process.signal(Signal::CONT);
            process.signal(Signal::KILL);
        }
        for (_, worker) in &mut self.workers {
            let _ = worker.wait();
        }
        let _ = self.up.wait();
        if std::thread::panicking() && std::env::var_os("ONLOOP_CHAOS_KEEP").is_some() {
            self.folder.disable_cleanup(true);
            println!("kept: {}", self.folder.path().display());
        }
    }
}

fn text(output: &Output) -> String {
    let [said, errors] =
        [&output.stdout, &output.stderr].map(|bytes| String::from_utf8_lossy(bytes));
    format!("{}\n{said}{errors}", output.status)
}

/// Removes locks of git that are older than a push takes.
fn remove_stale_locks(folder: &Path) {
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let path = entry.path();
        let Ok(metadata) = entry.metadata() else { continue };
        if metadata.is_dir() {
            remove_stale_locks(&path);
        } else if path.extension().is_some_and(|ending| ending == "lock") {
            let age = metadata.modified().ok().and_then(|at| at.elapsed().ok());
            if age.is_some_and(|age| age > STALE) {
                let _ = fs::remove_file(&path);
            }
        }
    }
}
