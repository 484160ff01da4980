//! A throw-away project in which the real program runs: a folder of its own, usually a git
//! repository, and an environment in which nothing of the person who runs the tests is left.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::thread;
use std::time::Duration;

use serde_json::Value;
use tempfile::TempDir;

use crate::temporary::temporary_folder;

/// Folder `project` in a temporary folder that also holds `home` and, beside the project,
/// the worktrees that runs make.
pub(crate) struct Workspace {
    folder: TempDir,
    env: Vec<(String, String)>,
}

/// The facts in a report for a browser.
pub(crate) fn report_facts(page: &str) -> Value {
    let (_, behind) = page.split_once("id=\"facts\">").expect("it has facts");
    let (facts, _) = behind.split_once("</script>").expect("they end");
    serde_json::from_str(facts).expect("they are JSON")
}

/// What came of running a program to its end.
#[derive(Debug)]
pub(crate) struct Run {
    /// Exit code; `None` when a signal ended it.
    pub(crate) exit: Option<i32>,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

impl Run {
    /// Panics with everything that was said unless the exit code is `code`.
    #[track_caller]
    pub(crate) fn expect_exit(self, code: i32) -> Run {
        assert_eq!(
            self.exit,
            Some(code),
            "unexpected exit code\n--- stdout\n{}\n--- stderr\n{}",
            self.stdout,
            self.stderr
        );
        self
    }
}

impl From<Output> for Run {
    fn from(output: Output) -> Run {
        let text = |bytes: Vec<u8>| String::from_utf8(bytes).expect("onloop writes UTF-8");
        Run { exit: output.status.code(), stdout: text(output.stdout), stderr: text(output.stderr) }
    }
}

impl Workspace {
    /// A project that git knows nothing of.
    pub(crate) fn plain() -> Workspace {
        let workspace = Workspace { folder: temporary_folder(), env: Vec::new() };
        for folder in ["home", "project", "bin"] {
            std::fs::create_dir(workspace.folder.path().join(folder)).unwrap();
        }
        #[cfg(unix)]
        std::os::unix::fs::symlink(program(), workspace.folder.path().join("bin/onloop")).unwrap();
        workspace
    }

    /// A project in a new git repository on branch `main`, without a commit.
    pub(crate) fn without_commit() -> Workspace {
        Workspace::initialised(&[])
    }

    /// The same, made with further options of `git init`.
    fn initialised(options: &[&str]) -> Workspace {
        let workspace = Workspace::plain();
        let args = [&["init", "--quiet", "--initial-branch=main"][..], options].concat();
        workspace.git_says(&args);
        workspace.identify();
        workspace
    }

    /// Says who commits: in the repository, not in the environment, because scripts of steps may
    /// commit as well.
    pub(crate) fn identify(&self) {
        self.git_says(&["config", "user.name", "Somebody"]);
        self.git_says(&["config", "user.email", "somebody@example.org"]);
    }

    /// A project in a new git repository on branch `main` with one commit of a `README.md`.
    pub(crate) fn git() -> Workspace {
        Workspace::git_with(&[])
    }

    /// The same, made with further options of `git init`.
    pub(crate) fn git_with(options: &[&str]) -> Workspace {
        let workspace = Workspace::initialised(options);
        workspace.write("README.md", "A project.\n");
        workspace.commit("Begin");
        workspace
    }

    /// A workspace whose programs also get this environment variable.
    pub(crate) fn with_env(mut self, name: &str, value: &str) -> Workspace {
        self.env.push((name.to_owned(), value.to_owned()));
        self
    }

    /// A path below the project; `.` is the project itself.
    pub(crate) fn path(&self, below: &str) -> PathBuf {
        // Resolved, because programs say resolved paths and `/tmp` may be a link.
        self.folder.path().canonicalize().unwrap().join("project").join(below)
    }

    /// The worktree that a run on `branch` gets: beside the project.
    pub(crate) fn worktree(&self, branch: &str) -> PathBuf {
        self.path("../.hotl-worktrees/project").join(branch.replace('/', "-"))
    }

    /// Writes a file of the project, and the folders it lies in.
    pub(crate) fn write(&self, below: &str, content: impl AsRef<[u8]>) {
        let path = self.path(below);
        std::fs::create_dir_all(path.parent().expect("a file lies in a folder")).unwrap();
        std::fs::write(path, content).unwrap();
    }

    /// The content of a file of the project.
    #[track_caller]
    pub(crate) fn read(&self, below: &str) -> String {
        read(&self.path(below))
    }

    /// A file that onloop keeps for the run `id` in the state home.
    pub(crate) fn kept(&self, id: &str, file: &str) -> PathBuf {
        self.folder
            .path()
            .canonicalize()
            .unwrap()
            .join("home/.state/onloop/runs")
            .join(id)
            .join(file)
    }

    /// Ids of the runs that the state home knows, sorted.
    pub(crate) fn kept_ids(&self) -> Vec<String> {
        let Ok(entries) = std::fs::read_dir(self.kept("", "")) else { return Vec::new() };
        let mut ids: Vec<String> = entries
            .map(|entry| entry.unwrap().path())
            .filter(|path| path.join("ledger.jsonl").exists())
            .map(|path| path.file_name().unwrap().to_str().unwrap().to_owned())
            .collect();
        ids.sort_unstable();
        ids
    }

    /// Copies a folder with everything in it into the project.
    pub(crate) fn copy_from(&self, source: &Path) {
        copy_folder(source, &self.path("."));
    }

    /// Commits everything that is in the project.
    pub(crate) fn commit(&self, message: &str) {
        self.git_says(&["add", "--all"]);
        self.git_says(&["commit", "--quiet", "--message", message]);
    }

    /// What git says in the project, without the last line break. Failing is a panic.
    #[track_caller]
    pub(crate) fn git_says(&self, arguments: &[&str]) -> String {
        let run = self.run_at(".", "git", arguments).expect_exit(0);
        run.stdout.trim_end().to_owned()
    }

    /// `onloop` in the project, with no terminal and nothing to read.
    pub(crate) fn onloop(&self, arguments: &[&str]) -> Run {
        self.onloop_at(".", arguments)
    }

    /// `onloop` in a folder below the project.
    pub(crate) fn onloop_at(&self, below: &str, arguments: &[&str]) -> Run {
        self.run_at(below, program(), arguments)
    }

    /// A shell line in the project; the `onloop` on its PATH is the one under test.
    pub(crate) fn shell(&self, line: &str) -> Run {
        self.run_at(".", "sh", &["-c", line])
    }

    /// A command that is not started yet, for tests that interrupt it or write to it.
    pub(crate) fn command_at(&self, below: &str, program: impl AsRef<OsStr>) -> Command {
        let folder = self.folder.path();
        let mut command = Command::new(program);
        command
            .current_dir(self.path(below))
            .env_clear()
            .env("PATH", path_with(&folder.join("bin")))
            .env("HOME", folder.join("home"))
            .env("XDG_CONFIG_HOME", folder.join("home/.config"))
            .env("XDG_STATE_HOME", folder.join("home/.state"))
            .env("GIT_CONFIG_NOSYSTEM", "1")
            .env("GIT_CONFIG_GLOBAL", folder.join("home/.gitconfig"))
            .env("LC_ALL", "C.UTF-8")
            // Tests of confinement say so.
            .env("ONLOOP_CONFINE", "off")
            // Tests of drivers in the background say so.
            .env("ONLOOP_CONTINUE", "never")
            .envs(self.env.iter().map(|(name, value)| (name, value)))
            .stdin(Stdio::null());
        command
    }

    /// The records of all runs of the project, finished ones too, in the order of their ids.
    pub(crate) fn records(&self) -> Vec<Value> {
        let list = self.onloop(&["list", "--json"]).expect_exit(0);
        let list: Vec<Value> = serde_json::from_str(&list.stdout).expect("a JSON list");
        let mut files: Vec<&str> =
            list.iter().map(|run| run["state_file"].as_str().expect("a path")).collect();
        files.sort_unstable();
        files
            .into_iter()
            .map(|file| {
                let path = self.path(".").join(file);
                serde_json::from_str(&read(&path)).expect("a record is JSON")
            })
            .collect()
    }

    /// The record of the only run of the project.
    #[track_caller]
    pub(crate) fn record(&self) -> Value {
        let mut records = self.records();
        assert_eq!(records.len(), 1, "one run was expected: {records:#?}");
        records.remove(0)
    }

    fn run_at(&self, below: &str, program: impl AsRef<OsStr>, arguments: &[&str]) -> Run {
        let mut command = self.command_at(below, program);
        let streams = command.args(arguments).stdin(Stdio::null()).stdout(Stdio::piped());
        let child = streams.stderr(Stdio::piped()).spawn().expect("the program is there");
        let watchdog = Watchdog::over(child.id());
        let output = child.wait_with_output();
        drop(watchdog);
        output.expect("its output can be read").into()
    }
}

/// Ends a program that hangs, so that its test fails with what it said.
pub(crate) struct Watchdog {
    /// Its end says that the program has ended.
    _ended: Sender<()>,
}

impl Watchdog {
    /// Longest time of a program, on a machine however busy.
    const LONGEST: Duration = Duration::from_secs(600);

    pub(crate) fn over(process: u32) -> Watchdog {
        let (ended, is_ended) = channel();
        thread::spawn(move || {
            if is_ended.recv_timeout(Self::LONGEST) == Err(RecvTimeoutError::Timeout) {
                eprintln!("process {process} is ended after {} s", Self::LONGEST.as_secs());
                let _ = Command::new("sh").args(["-c", &format!("kill -KILL {process}")]).status();
            }
        });
        Watchdog { _ended: ended }
    }
}

/// The program under test.
pub(crate) fn program() -> &'static str {
    env!("CARGO_BIN_EXE_onloop-under-test")
}

/// A folder that is not below one for temporary files, where other rules apply: beside the build, or in
/// the home of whoever has checked the project out below such a folder.
#[cfg(target_os = "linux")]
pub(crate) fn ordinary_folder() -> TempDir {
    let beside = Path::new(env!("CARGO_TARGET_TMPDIR"));
    let is_temporary = ["/tmp", "/var/tmp", "/dev/shm"].iter().any(|at| beside.starts_with(at));
    let place = match std::env::var_os("HOME").filter(|_| is_temporary) {
        Some(home) => Path::new(&home).join(".cache"),
        None => beside.to_owned(),
    };
    std::fs::create_dir_all(&place).expect("a folder can be made");
    tempfile::tempdir_in(place).expect("there is room for a folder")
}

/// The project's own root, where its documents and examples are.
pub(crate) fn source_root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("the tests are in a folder of their own")
}

#[track_caller]
fn read(path: &Path) -> String {
    std::fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

fn path_with(first: &Path) -> std::ffi::OsString {
    let inherited = std::env::var_os("PATH").unwrap_or_default();
    let folders = std::iter::once(first.to_owned()).chain(std::env::split_paths(&inherited));
    std::env::join_paths(folders).expect("a folder without `:` in its name")
}

fn copy_folder(source: &Path, target: &Path) {
    std::fs::create_dir_all(target).unwrap();
    let entries =
        std::fs::read_dir(source).unwrap_or_else(|error| panic!("{}: {error}", source.display()));
    for entry in entries {
        let entry = entry.unwrap();
        let to = target.join(entry.file_name());
        if entry.file_type().unwrap().is_dir() {
            copy_folder(&entry.path(), &to);
        } else {
            std::fs::copy(entry.path(), to).unwrap();
        }
    }
}
