//! Two machines on one: separate homes, and stand-ins for the programs that connect them.

use std::cell::RefCell;
use std::fs;
use std::io::Read;
use std::net::TcpListener;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use onloop_fleet::engine::restate::find;
use rustix::process::{Pid, Signal, kill_process};

use super::words::Words;

/// The machine with the server.
pub(super) const DESK: &str = "desk";
pub(super) const TOWER: &str = "tower";
/// Longer than everything that is waited for, on a busy machine.
const LONG: Duration = Duration::from_secs(120);
/// How long an unknown output is waited for.
const SETTLED: Duration = Duration::from_secs(15);

/// Readers start a fleet with a fixed port and their machine's name. Here the port may be taken, and
/// both machines have one name.
const SHELL: &str = r#"
exec 2>&1
onloop() {
  case "$1 $2" in
    "fleet up") shift 2; $EXEC "$BIN/onloop" fleet up --listen "127.0.0.1:$PORT" --name desk "$@" ;;
    "fleet worker") shift 2; $EXEC "$BIN/onloop" fleet worker --name tower "$@" ;;
    *) command onloop "$@" ;;
  esac
}
trap 'pwd > "$WHERE"' EXIT
"#;
/// Installs the engine of this machine.
const NPM: &str = r#"#!/bin/sh
[ "$1 $2 $3 $4 $6" = "install --silent --ignore-scripts --prefix @restatedev/restate-server" ] || exit 1
mkdir -p "$5/node_modules/.bin" && ln -s "$ENGINE" "$5/node_modules/.bin/restate-server"
"#;
/// Copies a file from the first machine.
const SCP: &str = r#"#!/bin/sh
[ "$1" = -q ] || exit 1
cp "$DESK_HOME/${2#desk:}" "$3"
"#;
/// The port is already reachable.
const SSH: &str = r#"#!/bin/sh
[ "$*" = "-f -N -L $PORT:127.0.0.1:$PORT desk" ]
"#;

pub(super) struct Machines {
    folder: tempfile::TempDir,
    port: String,
    engine: PathBuf,
    words: RefCell<Words>,
    started: Vec<Child>,
}

impl Machines {
    pub(super) fn new() -> Machines {
        let folder = tempfile::tempdir().expect("a folder");
        let engine = find(None, folder.path()).unwrap_or_else(|missing| panic!("{missing}"));
        let listener = TcpListener::bind(("127.0.0.1", 0)).expect("a port");
        let port = listener.local_addr().expect("an address").port().to_string();
        let machines =
            Machines { folder, port, engine, words: RefCell::default(), started: Vec::new() };
        machines.furnish();
        machines
    }

    fn furnish(&self) {
        for folder in [DESK, TOWER, "git", "bin"] {
            fs::create_dir_all(self.path(folder)).expect("a folder");
        }
        for home in [DESK, TOWER] {
            let identity =
                "[user]\nname = You\nemail = you@example.org\n[init]\ndefaultBranch = main\n";
            fs::write(self.path(home).join(".gitconfig"), identity).expect("a file");
        }
        for (name, text) in [("npm", NPM), ("scp", SCP), ("ssh", SSH)] {
            let path = self.path("bin").join(name);
            fs::write(&path, text).expect("a program");
            fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).expect("a program");
        }
        let fleet = Path::new(env!("CARGO_BIN_EXE_onloop-fleet"));
        let onloop = fleet.with_file_name("onloop");
        assert!(onloop.is_file(), "`onloop` is missing; make it: cargo build -p onloop");
        symlink(onloop, self.path("bin/onloop")).expect("a link");
        let at = |name: &str| self.path(name).to_string_lossy().into_owned();
        let host = rustix::system::uname();
        let host = host.nodename().to_string_lossy();
        let places = [
            (at("git"), "/srv/git"),
            (at(DESK), "/home/you"),
            (at(TOWER), "/home/you"),
            (format!("127.0.0.1:{}", self.port), "127.0.0.1:9400"),
            (format!("Worker tower on {host}:"), "Worker tower on tower:"),
            (format!("desk on {host}:"), "desk:"),
            (format!("tower on {host}:"), "tower:"),
            (format!("you@{host}"), "you@desk"),
        ];
        let places = places.into_iter().map(|(here, there)| (here, there.to_owned()));
        self.words.borrow_mut().places = places.collect();
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// Returns the file with the current folder of a machine's shell.
    fn place(&self, on: &str) -> PathBuf {
        self.path(&format!("{on}.where"))
    }

    /// Returns the current folder of a machine.
    fn folder(&self, on: &str) -> PathBuf {
        match fs::read_to_string(self.place(on)) {
            Ok(place) => PathBuf::from(place.trim_end()),
            Err(_) => self.path(on),
        }
    }

    pub(super) fn write(&self, name: &str, text: &str) {
        fs::write(self.folder(DESK).join(name), self.placed(text)).expect("a file");
    }

    /// Replaces the paths of the document by those of the test.
    fn placed(&self, text: &str) -> String {
        let git = self.path("git");
        text.replace("/srv/git", &git.to_string_lossy()).replace("9400", &self.port)
    }

    fn shell(&self, on: &str, text: &str) -> Command {
        let text = self.words.borrow().typed(&self.placed(text));
        let mut shell = Command::new("bash");
        shell.arg("-c").arg(format!("{SHELL}\n{text}")).current_dir(self.folder(on)).env_clear();
        let bin = self.path("bin");
        // Programs that are installed on this machine are hidden.
        shell.env("PATH", format!("{}:/usr/bin:/bin", bin.display())).env("BIN", bin);
        shell.env("HOME", self.path(on)).env("USER", "you").env("GIT_CONFIG_NOSYSTEM", "1");
        shell.env("PORT", &self.port).env("ENGINE", &self.engine).env("WHERE", self.place(on));
        shell.env("DESK_HOME", self.path(DESK));
        shell.stdin(Stdio::null());
        shell
    }

    /// Runs a command; returns its exit code and its whole output.
    pub(super) fn run(&self, on: &str, text: &str) -> (Option<i32>, String) {
        let output = self.shell(on, text).output().expect("bash");
        let said = String::from_utf8_lossy(&output.stdout).into_owned();
        (output.status.code(), self.words.borrow_mut().said(&said))
    }

    /// Repeats a command until its output is as expected or the time is over.
    pub(super) fn run_until(&self, on: &str, text: &str, expected: &str) -> (Option<i32>, String) {
        let began = Instant::now();
        loop {
            let (exit, said) = self.run(on, text);
            if is_enough(&said, Some(expected), began) {
                return (exit, said);
            }
            std::thread::sleep(Duration::from_millis(100));
        }
    }

    /// Starts a command that keeps running; returns its output once it is as expected or the time is
    /// over.
    pub(super) fn start(&mut self, on: &str, text: &str, expected: Option<&str>) -> String {
        let log = self.path(&format!("started-{}.log", self.started.len()));
        let output = fs::File::create(&log).expect("a log");
        // A shell in between would not pass signals on.
        let child = self.shell(on, text).env("EXEC", "exec").stdout(output).spawn().expect("bash");
        self.started.push(child);
        let began = Instant::now();
        loop {
            let said = self.words.borrow_mut().said(&read(&log));
            if is_enough(&said, expected, began) {
                return said;
            }
            std::thread::sleep(Duration::from_millis(50));
        }
    }

    /// Returns the output of all started commands.
    pub(super) fn logs(&self) -> String {
        let home = self.path(DESK);
        let mut logs = vec![home.join(".local/state/onloop/fleet/data/worker.log")];
        for repos in [home.join(".local/share/onloop/fleet"), self.path(TOWER).join("fleet")] {
            let runs = fs::read_dir(repos.join("state/runs")).into_iter().flatten().flatten();
            logs.extend(runs.map(|run| run.path().join("driver.log")));
        }
        logs.extend((0..self.started.len()).map(|at| self.path(&format!("started-{at}.log"))));
        logs.iter().map(|log| format!("--- {}\n{}\n", log.display(), read(log))).collect()
    }
}

impl Drop for Machines {
    fn drop(&mut self) {
        // The last one ends first, because a worker returns its runs to the server.
        for child in self.started.iter_mut().rev() {
            let _ = kill_process(Pid::from_child(child), Signal::TERM);
            let began = Instant::now();
            while began.elapsed() < LONG && matches!(child.try_wait(), Ok(None)) {
                std::thread::sleep(Duration::from_millis(20));
            }
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}

/// Whether the output is as expected, or the time is over.
fn is_enough(said: &str, expected: Option<&str>, began: Instant) -> bool {
    match (super::is_written(), expected) {
        (true, _) => began.elapsed() > SETTLED,
        (false, None) => !said.is_empty(),
        (false, Some(expected)) => said.trim_matches('\n') == expected || began.elapsed() > LONG,
    }
}

fn read(log: &Path) -> String {
    let mut text = Vec::new();
    let _ = fs::File::open(log).and_then(|mut file| file.read_to_end(&mut text));
    String::from_utf8_lossy(&text).into_owned()
}
