//! A home with secrets, a repository with a linked worktree, and its neighbours. Not below the
//! system's folder for temporary files, all of which is hidden.

use std::collections::BTreeMap;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use tempfile::TempDir;

use crate::workspace::{Run, ordinary_folder, program};

/// Content of everything that must not be read.
pub(super) const SECRET: &str = "hidden-7f3a";

/// Files that hold it, below the folder of the place.
const SECRETS: &[&str] = &[
    "home/.ssh/id_ed25519",
    "home/.gnupg/private",
    "home/.aws/credentials",
    "home/.config/gh/hosts.yml",
    "home/.config/gcloud/token",
    "home/.netrc",
    "home/.git-credentials",
    "home/.npmrc",
    "home/.cargo/credentials.toml",
    "home/.docker/config.json",
    "home/.kube/config",
    "home/.claude/.credentials.json",
    "home/.bash_history",
    "home/.agentize.local.yaml",
    "home/.gradle/gradle.properties",
    "state/runs/a/ledger.jsonl",
    "repo/.env",
    "repo/.env.local",
    "other/.env",
    "other/.envrc",
];

/// Folders that are there, those of tools that have been used among them.
const FOLDERS: &[&str] = &[
    "home/.cargo/bin",
    "home/.cargo/git",
    "home/.cargo/registry",
    "home/.gradle/caches",
    "home/.gradle/daemon",
    "home/.gradle/native",
    "home/.gradle/notifications",
    "home/.gradle/workers",
    "repo",
    "outside",
    "other/.git",
];

pub(super) struct Place {
    folder: TempDir,
}

impl Place {
    pub(super) fn new() -> Place {
        let folder = ordinary_folder();
        let place = Place { folder };
        for folder in FOLDERS {
            std::fs::create_dir_all(place.path(folder)).unwrap();
        }
        place.write("outside/file", "as it was\n");
        place.write("home/.bashrc", "as it was\n");
        place.write("home/.gitconfig", "[user]\n\tname = Somebody\n\temail = s@example.org\n");
        place.git("repo", &["init", "--quiet", "--initial-branch=main"]);
        place.write("repo/a.txt", "a\n");
        place.git("repo", &["add", "a.txt"]);
        place.git("repo", &["commit", "--quiet", "-m", "Begin"]);
        place.git("repo", &["worktree", "add", "--quiet", "../wt", "-b", "work"]);
        place.git("repo", &["worktree", "add", "--quiet", "../wt2", "-b", "elsewhere"]);
        for secret in SECRETS {
            place.write(secret, &format!("{SECRET}\n"));
        }
        std::fs::set_permissions(place.path("state"), PermissionsExt::from_mode(0o700)).unwrap();
        place
    }

    pub(super) fn path(&self, below: &str) -> PathBuf {
        self.folder.path().canonicalize().unwrap().join(below)
    }

    pub(super) fn write(&self, below: &str, content: &str) {
        let path = self.path(below);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, content).unwrap();
    }

    pub(super) fn read(&self, below: &str) -> String {
        let bytes = std::fs::read(self.path(below)).unwrap_or_default();
        String::from_utf8_lossy(&bytes).into_owned()
    }

    /// A folder with every program of `PATH` but one.
    pub(super) fn path_without(&self, hidden: &str) -> PathBuf {
        let programs = self.path("programs");
        std::fs::create_dir_all(&programs).unwrap();
        let path = std::env::var_os("PATH").unwrap_or_default();
        for entry in
            std::env::split_paths(&path).filter_map(|folder| folder.read_dir().ok()).flatten()
        {
            let Ok(entry) = entry else { continue };
            if entry.file_name() != hidden {
                // The first of a name counts.
                let _ = std::os::unix::fs::symlink(entry.path(), programs.join(entry.file_name()));
            }
        }
        programs
    }

    /// What is in all ledgers of runs that began here.
    pub(super) fn ledgers(&self) -> String {
        let runs = std::fs::read_dir(self.path("state/runs")).unwrap().flatten();
        let ledgers = runs.map(|run| run.path().join("ledger.jsonl"));
        ledgers.filter_map(|ledger| std::fs::read_to_string(ledger).ok()).collect()
    }

    /// A program in this place, with its home and nothing of the person's.
    pub(super) fn command(&self, program: &str, folder: &str) -> Command {
        let mut command = Command::new(program);
        command.current_dir(self.path(folder)).env_clear().stdin(Stdio::null());
        let path = std::env::var_os("PATH").unwrap_or_default();
        command.env("PATH", path).env("HOME", self.path("home"));
        command.env("ONLOOP_STATE_HOME", self.path("state")).env("LC_ALL", "C");
        command.env("GIT_CONFIG_NOSYSTEM", "1");
        // Where they are is not in that home.
        for tool in ["CARGO_HOME", "RUSTUP_HOME"] {
            if let Some(value) = std::env::var_os(tool) {
                command.env(tool, value);
            }
        }
        command
    }

    pub(super) fn git(&self, folder: &str, words: &[&str]) {
        let output = self.command("git", folder).args(words).output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    }

    pub(super) fn onloop(&self, folder: &str, words: &[&str]) -> Run {
        self.command(program(), folder).args(words).output().unwrap().into()
    }

    /// `onloop confine` in the linked worktree.
    pub(super) fn confine(&self, options: &[&str], line: &str) -> Run {
        self.confine_in("wt", options, line)
    }

    pub(super) fn confine_in(&self, folder: &str, options: &[&str], line: &str) -> Run {
        self.onloop(folder, &[&["confine"], options, &["--", "bash", "-c", line]].concat())
    }

    /// What is not as it was before, with what it is now.
    pub(super) fn changes_since(&self, before: &BTreeMap<String, String>) -> Vec<String> {
        let after = self.outside();
        let paths: std::collections::BTreeSet<_> = before.keys().chain(after.keys()).collect();
        let changed = paths.into_iter().filter(|path| before.get(*path) != after.get(*path));
        changed.map(|path| format!("{path}: {:?}", after.get(path))).collect()
    }

    /// Every file with its content and mode, but what may be written.
    pub(super) fn outside(&self) -> BTreeMap<String, String> {
        let mut found = BTreeMap::new();
        let top = self.path("");
        collect(&top, &top, &mut found);
        found.retain(|path, _| !may_be_written(path));
        found
    }
}

fn may_be_written(path: &str) -> bool {
    let of_worktree = "repo/.git/worktrees/wt/";
    let is_kept = ["commondir", "gitdir", "config.worktree"]
        .iter()
        .any(|name| path.strip_prefix(of_worktree) == Some(*name));
    let folders = ["repo/.git/objects", "repo/.git/refs", "repo/.git/logs", "home/.cargo/registry"];
    // The records of a run that was started here are its own.
    let is_of_run = match path.strip_prefix("state/runs/") {
        Some(run) => run.starts_with("try-"),
        None => path.starts_with("state/"),
    };
    is_of_run
        || path.starts_with("programs")
        || (path.starts_with("wt/") && path != "wt/.git")
        || (path.starts_with(of_worktree) && !is_kept)
        || folders.iter().any(|folder| path.starts_with(folder))
            && !path.starts_with("repo/.git/refs/replace")
}

fn collect(top: &Path, folder: &Path, found: &mut BTreeMap<String, String>) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let metadata = path.symlink_metadata().unwrap();
        let name = path.strip_prefix(top).unwrap().display().to_string();
        let mode = metadata.permissions().mode();
        let content = if metadata.is_dir() {
            collect(top, &path, found);
            "folder".to_owned()
        } else if metadata.is_symlink() {
            format!("link to {}", std::fs::read_link(&path).unwrap().display())
        } else if metadata.is_file() {
            String::from_utf8_lossy(&std::fs::read(&path).unwrap()).into_owned()
        } else {
            "neither".to_owned()
        };
        found.insert(name, format!("{mode:o} {content}"));
    }
}
