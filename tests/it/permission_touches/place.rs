//! A checkout with secrets in it and around it, in which lines run that may do anything: nothing else
//! of the machine can be changed by them, and nothing is reached.

use std::collections::{BTreeMap, BTreeSet};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use onloop_core::permission::Decision;
use tempfile::TempDir;

use super::trace;
use crate::workspace::{ordinary_folder, program};

/// The value of a variable whose name says that it is secret.
pub(super) const SECRET_VARIABLE: &str = "variable-5d1e";

/// What must not be read, below the place. Each contains a mark of its own.
const SECRETS: &[&str] = &[
    "repo/.env",
    "repo/.env.local",
    "repo/config/credentials.json",
    "repo/config/server.pem",
    "home/.ssh/id_rsa",
    "home/.netrc",
    "home/.config/gh/hosts.yml",
    "home/notes.txt",
    "outside/.env",
];

/// What else is there.
const FILES: &[(&str, &str)] = &[
    ("repo/a.txt", "alpha\nbeta\ngamma\n"),
    ("repo/b.json", "{\"a\": 1, \"b\": [1, 2], \"path\": \"/home\"}\n"),
    ("repo/src/main.rs", "fn main() { lib(); } // alpha\n"),
    ("repo/src/lib.rs", "pub fn lib() {} // beta\n"),
    ("repo/config/settings.json", "{\"alpha\": true}\n"),
    ("repo/list.txt", ".env\n../home/.ssh/id_rsa\na.txt\n"),
    ("repo/prog.awk", "{ print > \"../outside/awk\" }\n"),
    ("repo/prog.sed", "1e evil\n"),
    ("repo/prog.jq", "env\n"),
    ("repo/env.jq", "def show: env;\n"),
    ("repo/.gitignore", ".env*\nconfig/credentials.json\nconfig/server.pem\nbuild/\n"),
    ("repo/build/out.txt", "built\n"),
    ("repo/.claude/settings.json", "{}\n"),
    ("repo/.github/workflows/ci.yml", "on: push\n"),
    ("repo/Makefile", "all:\n\techo made\n"),
    ("outside/file.txt", "delta\n"),
    ("home/.gitconfig", "[user]\n\tname = Somebody\n\temail = s@example.org\n"),
];

/// What is in a file that git has otherwise.
const WORK: &str = "pub fn lib() {} // changed\n";

/// Programs that show that they ran by having run.
const PROGRAM: &str = "#!/bin/sh\necho ran\n";

pub(super) struct Place {
    folder: TempDir,
    before: BTreeMap<String, Seen>,
}

/// What a path was: kind, mode, content.
type Seen = (u32, Vec<u8>);

/// What a line has done.
#[derive(Debug)]
pub(super) struct Ran {
    pub(super) exit: Option<i32>,
    /// Both streams.
    pub(super) output: String,
    pub(super) programs: Vec<String>,
    /// Files that were read and folders that were listed, below the place.
    pub(super) read: BTreeSet<String>,
    pub(super) folders: BTreeSet<String>,
    pub(super) refused: Vec<String>,
    pub(super) connected: Vec<String>,
    /// Paths below the place that came, went or are others, temporary files apart.
    pub(super) changed: Vec<String>,
    /// Whether what was not committed is nowhere in the checkout any more.
    pub(super) has_lost_work: bool,
}

impl Place {
    pub(super) fn new() -> Place {
        // What lies in the system's folder for temporary files may be read by everybody.
        let folder = ordinary_folder();
        let mut place = Place { folder, before: BTreeMap::new() };
        place.fill();
        place
    }

    pub(super) fn path(&self, below: &str) -> PathBuf {
        self.folder.path().canonicalize().unwrap().join(below)
    }

    pub(super) fn text(&self, below: &str) -> String {
        self.path(below).to_str().unwrap().to_owned()
    }

    /// Every secret with the mark in it.
    pub(super) fn secrets(&self) -> impl Iterator<Item = (String, String)> {
        SECRETS.iter().enumerate().map(|(number, path)| ((*path).to_owned(), mark(number)))
    }

    /// The files of a folder that are no secrets.
    pub(super) fn plain_files_in(&self, folder: &str) -> Vec<String> {
        let inside = |path: &&str| path.rsplit_once('/').is_some_and(|(above, _)| above == folder);
        FILES.iter().map(|(path, _)| *path).filter(inside).map(str::to_owned).collect()
    }

    /// Takes the secrets out of the checkout.
    pub(super) fn remove_secrets(&mut self) {
        for path in SECRETS.iter().filter(|path| path.starts_with("repo/")) {
            let _ = std::fs::remove_file(self.path(path));
        }
    }

    /// Makes everything anew.
    pub(super) fn fill(&mut self) {
        for name in ["repo", "home", "outside", "bin", "tmp", "remote.git"] {
            let _ = std::fs::remove_dir_all(self.path(name));
        }
        let write = |path: &str, content: &str| {
            let path = self.path(path);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, content).unwrap();
        };
        FILES.iter().for_each(|(path, content)| write(path, content));
        std::fs::create_dir(self.path("tmp")).unwrap();
        for (name, content) in
            [("bin/evil", PROGRAM), ("repo/evil.sh", PROGRAM), ("bin/gh", include_str!("gh.bash"))]
        {
            write(name, content);
            let mode = std::fs::Permissions::from_mode(0o755);
            std::fs::set_permissions(self.path(name), mode).unwrap();
        }
        let who = ["-c", "user.name=Somebody", "-c", "user.email=s@example.org"];
        self.git(&["init", "--quiet", "--initial-branch=main"]);
        self.git(&["add", "--all"]);
        self.git(&[&who[..], &["commit", "--quiet", "-m", "Begin"]].concat());
        write("repo/a.txt", "alpha\nbeta\ngamma\ndelta\n");
        self.git(&[&who[..], &["commit", "--quiet", "-a", "-m", "Go on"]].concat());
        let link = |from, to| std::os::unix::fs::symlink(to, self.path(from)).unwrap();
        self.git(&["checkout", "--quiet", "-b", "links"]);
        link("repo/link", "../home/notes.txt");
        link("repo/folder", "../home");
        self.git(&["add", "link", "folder"]);
        self.git(&[&who[..], &["commit", "--quiet", "-m", "Link"]].concat());
        self.git(&["checkout", "--quiet", "-b", "topic", "main"]);
        self.git(&["clone", "--quiet", "--bare", ".", "../remote.git"]);
        self.git(&["remote", "add", "origin", "../remote.git"]);
        write("repo/src/lib.rs", WORK);
        // Only now, so that none of them is in the history.
        for (number, path) in SECRETS.iter().enumerate() {
            write(path, &format!("{}\n", mark(number)));
        }
        self.before = self.seen();
    }

    fn git(&self, words: &[&str]) {
        let mut command = Command::new("git");
        command.args(words).current_dir(self.path("repo")).env("HOME", self.path("home"));
        let output = command.env("GIT_CONFIG_NOSYSTEM", "1").output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    }

    /// What the program decides about a line in the checkout.
    pub(super) fn explained(&self, line: &str) -> Decision {
        let mut command = Command::new(program());
        command.args(["permit", "explain", line]).current_dir(self.path("repo"));
        command.env_clear().env("HOME", self.path("home"));
        command.env("PATH", std::env::var("PATH").unwrap_or_default());
        let output = command.output().unwrap();
        let said = String::from_utf8_lossy(&output.stdout);
        let (word, _) = said.split_once(':').unwrap_or_else(|| panic!("{line}: {output:?}"));
        word.parse().unwrap_or_else(|_| panic!("{line}: {said}"))
    }

    /// Runs a line in the checkout, where it can change the place and nothing else.
    pub(super) fn run(&self, line: &str) -> Ran {
        let trace = tempfile::NamedTempFile::new_in(self.path("tmp")).unwrap();
        let top = self.text("");
        let top = top.trim_end_matches('/');
        // With the sandbox everything in it is gone, also what left the group of the inner `timeout`.
        let mut command = Command::new("timeout");
        command.args([
            "--signal=KILL",
            "120",
            "bwrap",
            "--ro-bind",
            "/",
            "/",
            "--dev",
            "/dev",
            "--proc",
            "/proc",
            "--tmpfs",
            "/tmp",
        ]);
        command.args(["--bind", top, top, "--unshare-net", "--unshare-pid", "--unshare-ipc"]);
        command.args(["--die-with-parent", "--new-session", "--chdir"]).arg(self.path("repo"));
        command.args(["--", "strace", "-f", "-qq", "-y", "-s", "4096", "-e", CALLS, "-o"]);
        command.arg(trace.path()).args(["timeout", "10", "bash", "--norc", "-c", line]);
        command.env_clear().env("HOME", self.path("home")).env("TMPDIR", self.path("tmp"));
        let path = std::env::var("PATH").unwrap_or_default();
        command.env("PATH", format!("{}:{path}", self.text("bin")));
        command.env("SERVICE_TOKEN", SECRET_VARIABLE).env("LC_ALL", "C").stdin(Stdio::null());
        command.env("GIT_CONFIG_NOSYSTEM", "1");
        let output = command.output().unwrap();
        let written = std::fs::read(trace.path()).unwrap();
        let trace::Trace { programs, read, folders, refused, connected } =
            trace::read(&String::from_utf8_lossy(&written));
        drop(trace);
        // What runs the line.
        let programs = programs.into_iter().skip(2).collect();
        let said = [output.stdout, output.stderr].concat();
        let below = |paths: BTreeSet<String>| -> BTreeSet<String> {
            let inside =
                |path: &String| path.strip_prefix(top)?.strip_prefix('/').map(str::to_owned);
            paths.iter().filter_map(inside).collect()
        };
        let after = self.seen();
        Ran {
            exit: output.status.code(),
            output: String::from_utf8_lossy(&said).into_owned(),
            programs,
            read: below(read),
            folders: below(folders),
            refused,
            connected,
            changed: self.changed(&after),
            has_lost_work: !after.values().any(|(_, content)| content == WORK.as_bytes()),
        }
    }

    fn changed(&self, after: &BTreeMap<String, Seen>) -> Vec<String> {
        let all: BTreeSet<&String> = self.before.keys().chain(after.keys()).collect();
        all.into_iter().filter(|path| self.before.get(*path) != after.get(*path)).cloned().collect()
    }

    fn seen(&self) -> BTreeMap<String, Seen> {
        let mut seen = BTreeMap::new();
        let top = self.path("");
        collect(&top, &top, &mut seen);
        seen.retain(|path, _| !path.starts_with("tmp/"));
        seen
    }
}

/// Calls that open, run or change something with a path, and those about addresses.
const CALLS: &str = "trace=open,openat,openat2,creat,execve,execveat,unlink,unlinkat,rename,renameat,\
                     renameat2,link,linkat,symlink,symlinkat,mkdir,mkdirat,rmdir,mknod,mknodat,\
                     truncate,chmod,fchmodat,chown,fchownat,lchown,utimensat,setxattr,connect,\
                     bind,sendto";

/// What of git's folder decides what git runs.
pub(super) fn tells_git_what_to_run(own: &str) -> bool {
    let first = own.split('/').next().unwrap_or(own);
    matches!(first, "config" | "config.worktree" | "hooks" | "info" | "commondir")
}

fn mark(number: usize) -> String {
    format!("marked-{number}-9b2f")
}

fn collect(top: &Path, folder: &Path, seen: &mut BTreeMap<String, Seen>) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let metadata = path.symlink_metadata().unwrap();
        let name = path.strip_prefix(top).unwrap().to_str().unwrap_or("no text").to_owned();
        let content = if metadata.is_dir() {
            collect(top, &path, seen);
            Vec::new()
        } else if metadata.is_file() {
            std::fs::read(&path).unwrap_or_default()
        } else {
            Vec::new()
        };
        seen.insert(name, (metadata.permissions().mode(), content));
    }
}
