//! A fleet for tests: a server with runs in memory, workers in processes, a bare repository and the
//! checkout of a person.

use std::fs;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};

use onloop_core::documents::ledger;
use onloop_core::run::Run;
use onloop_fleet::client::Client;
use onloop_fleet::engine::{Archive, Engine, Memory, ReadJournal, RunView, Settings};
use onloop_fleet::key::Key;
use onloop_fleet::server::Server;
use rustix::process::{Pid, Signal};

/// Longer than everything that is waited for, on a busy machine.
pub(crate) const LONG: Duration = Duration::from_secs(90);

pub(crate) struct Fleet {
    folder: tempfile::TempDir,
    runtime: Option<tokio::runtime::Runtime>,
    url: String,
    key: Key,
    workers: Vec<Child>,
}

impl Fleet {
    /// Creates a server whose leases last for `lease`, and a repository with one commit.
    pub(crate) fn new(lease: Duration) -> Fleet {
        Fleet::keeping(lease, None)
    }

    /// Does the same with an archive in the folder `archive` for runs that are older than `kept`.
    pub(crate) fn keeping(lease: Duration, kept: Option<Duration>) -> Fleet {
        let folder = tempfile::tempdir().expect("a folder");
        let archive = kept.map(|after| Archive { folder: folder.path().join("archive"), after });
        let runtime = tokio::runtime::Runtime::new().expect("a runtime");
        let key = Key::new();
        let address: SocketAddr = "127.0.0.1:0".parse().expect("an address");
        let server = runtime.block_on(async {
            let settings = Settings { lease, archive, ..Settings::default() };
            let keeper = Engine::start(Memory::new(), settings).await.expect("an engine");
            Server::listen(address, keeper, key.clone()).await.expect("a server")
        });
        let url = format!("http://{}", server.address().expect("an address"));
        let (end, ended) = tokio::sync::watch::channel(false);
        // The sender lives until the runtime ends.
        std::mem::forget(end);
        runtime.spawn(server.serve(ended));
        let fleet = Fleet { folder, runtime: Some(runtime), url, key, workers: Vec::new() };
        fleet.key.write(&fleet.path("fleet.key")).expect("a key");
        fleet.make_repository();
        fleet
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    pub(crate) fn client(&self) -> Client {
        Client::new(&self.url, self.key.clone(), None)
    }

    fn make_repository(&self) {
        fs::create_dir_all(self.path("home")).expect("a folder");
        fs::create_dir_all(self.path("shop")).expect("a folder");
        let git = |words: &[&str]| self.git("shop", words);
        self.git("", &["init", "--quiet", "--bare", "--initial-branch=main", "shop.git"]);
        git(&["init", "--quiet", "--initial-branch=main"]);
        fs::write(self.path("shop/README"), "a shop\n").expect("a file");
        git(&["add", "README"]);
        git(&["commit", "--quiet", "-m", "Begin"]);
        let remote = self.path("shop.git");
        git(&["remote", "add", "origin", &remote.to_string_lossy()]);
        git(&["push", "--quiet", "--set-upstream", "origin", "main"]);
    }

    pub(crate) fn git(&self, folder: &str, words: &[&str]) -> String {
        let output = self
            .environment(Command::new("git"))
            .args(words)
            .current_dir(self.path(folder))
            .output();
        let output = output.expect("git");
        assert!(
            output.status.success(),
            "git {words:?}: {}",
            String::from_utf8_lossy(&output.stderr)
        );
        String::from_utf8_lossy(&output.stdout).trim_end().to_owned()
    }

    fn environment(&self, mut command: Command) -> Command {
        command.env_clear();
        for name in ["PATH", "TMPDIR", "LLVM_PROFILE_FILE"] {
            command.envs(std::env::var_os(name).map(|value| (name, value)));
        }
        command
            .env("HOME", self.path("home"))
            .env("USER", "ada")
            .env("GIT_CONFIG_NOSYSTEM", "1")
            .envs([("GIT_AUTHOR_NAME", "Ada"), ("GIT_AUTHOR_EMAIL", "ada@example.org")])
            .envs([("GIT_COMMITTER_NAME", "Ada"), ("GIT_COMMITTER_EMAIL", "ada@example.org")])
            .env("ONLOOP_FLEET_SERVER", &self.url)
            .env("ONLOOP_FLEET_KEY_FILE", self.path("fleet.key"))
            .env("ONLOOP_STATE_HOME", self.path("state"))
            .env("ONLOOP_CONTINUE", "never")
            .stdin(Stdio::null());
        command
    }

    /// Starts a worker; returns its index.
    pub(crate) fn start_worker(&mut self, name: &str) -> usize {
        self.start_worker_with(name, &std::env::var("PATH").unwrap_or_default())
    }

    /// Does the same with other programs on PATH.
    pub(crate) fn start_worker_with(&mut self, name: &str, programs: &str) -> usize {
        let log = fs::File::create(self.path(&format!("{name}.log"))).expect("a log");
        let mut command = self.environment(Command::new(env!("CARGO_BIN_EXE_onloop-fleet")));
        command.env("PATH", programs);
        command.args(["worker", "--name", name, "--slots", "4", "--allow", "*", "--repos"]);
        command.arg(self.path(name)).stdout(Stdio::null()).stderr(log);
        self.workers.push(command.spawn().expect("a worker"));
        self.workers.len() - 1
    }

    /// Sends a signal to the process of a worker alone.
    pub(crate) fn signal(&self, at: usize, signal: Signal) {
        rustix::process::kill_process(Pid::from_child(&self.workers[at]), signal)
            .expect("a worker");
    }

    /// Waits until a worker has ended.
    pub(crate) fn ended(&mut self, at: usize) -> std::process::ExitStatus {
        self.workers[at].wait().expect("a child")
    }

    /// Returns the run of the journal.
    pub(crate) fn run(&self, id: &str) -> Run {
        let lines = self.client().call(&ReadJournal::now(id)).expect("lines").lines;
        ledger::read(lines.as_bytes(), None).expect("a sound ledger").run
    }

    /// Runs a person's command in the checkout.
    pub(crate) fn onloop(&self, words: &[&str]) -> Output {
        self.onloop_as("state", "shop", words)
    }

    /// Runs a person's command in a folder, on a machine with another state home.
    pub(crate) fn onloop_as(&self, state: &str, folder: &str, words: &[&str]) -> Output {
        self.command(state, folder, words).output().expect("onloop")
    }

    /// Runs an agent's command during its turn.
    pub(crate) fn onloop_in_turn(&self, words: &[&str]) -> Output {
        self.command("state", "shop", words).env("ONLOOP_STEP", "1").output().expect("onloop")
    }

    pub(crate) fn command(&self, state: &str, folder: &str, words: &[&str]) -> Command {
        let mut command = self.environment(Command::new(env!("CARGO_BIN_EXE_onloop-fleet")));
        command.env("ONLOOP_STATE_HOME", self.path(state));
        command.args(words).current_dir(self.path(folder));
        command
    }

    /// Submits a workflow; returns its run.
    pub(crate) fn submit(&self, steps: &str, agent: &str) -> String {
        self.submit_with(steps, agent, &[])
    }

    /// Does the same with more options.
    pub(crate) fn submit_with(&self, steps: &str, agent: &str, more: &[&str]) -> String {
        self.write_workflow(steps);
        let words = ["run", "hotl-workflow-sell.md", "--on", "fleet", "--agent-command", agent];
        let output = self.onloop(&[&words, more].concat());
        assert!(output.status.success(), "{}", self.all(&output));
        String::from_utf8_lossy(&output.stdout).trim().to_owned()
    }

    pub(crate) fn folder(&self) -> String {
        self.folder.path().to_string_lossy().into_owned()
    }

    pub(crate) fn write_workflow(&self, steps: &str) {
        let text = format!(
            "---\nintent: Sell\nsuccess_criteria: sold\nrisk_level: low\n---\n\n## Steps\n\n{steps}"
        );
        fs::write(self.path("shop/hotl-workflow-sell.md"), text).expect("a workflow");
    }

    /// Waits until the run is as `wanted`.
    pub(crate) fn wait(&self, run: &str, wanted: impl Fn(&RunView) -> bool) -> RunView {
        let began = Instant::now();
        loop {
            let lines = self.client().call(&ReadJournal::now(run)).expect("the run");
            if wanted(&lines.view) {
                return lines.view;
            }
            assert!(began.elapsed() < LONG, "{:?}\n{}\n{}", lines.view, lines.lines, self.logs());
            std::thread::sleep(Duration::from_millis(30));
        }
    }

    /// Returns all logs.
    pub(crate) fn logs(&self) -> String {
        let mut text = String::new();
        let mut read = |path: &Path| {
            let content = fs::read_to_string(path).unwrap_or_default();
            text += &format!("--- {}\n{content}\n", path.display());
        };
        for entry in fs::read_dir(self.folder.path()).expect("a folder").flatten() {
            if entry.path().extension().is_some_and(|ending| ending == "log") {
                read(&entry.path());
            }
            let runs = entry.path().join("state/runs");
            for run in fs::read_dir(runs).into_iter().flatten().flatten() {
                read(&run.path().join("driver.1.log"));
                read(&run.path().join("driver.log"));
            }
        }
        text
    }

    pub(crate) fn all(&self, output: &Output) -> String {
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        format!(
            "{}\n{}{}\n{}",
            output.status,
            text(&output.stdout),
            text(&output.stderr),
            self.logs()
        )
    }
}

impl Drop for Fleet {
    fn drop(&mut self) {
        for worker in &mut self.workers {
            let _ = worker.kill();
            let _ = worker.wait();
        }
        if let Some(runtime) = self.runtime.take() {
            runtime.shutdown_background();
        }
    }
}
