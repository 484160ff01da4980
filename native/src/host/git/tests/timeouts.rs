//! Git that hangs: it is ended by its limit or by a person, and nothing is left of it.

use std::io::{Read, Write};
use std::net::TcpListener;
use std::os::unix::fs::PermissionsExt;
use std::thread;
use std::time::{Duration, Instant};

use super::*;
use crate::host::process_table::{self, Presence};
use crate::host::{Interrupts, RunningGroup};

/// What ends git.
#[derive(Clone, Copy, Debug, PartialEq)]
enum End {
    Limit,
    Interrupt,
}

impl Place {
    /// A script that hangs once `armed` is there, with its process id in `hung`, and otherwise does
    /// nothing to what comes in. It does not end when it is asked to.
    fn hanging(&self, name: &str) -> String {
        let (armed, hung) = (self.text("armed"), self.text("hung"));
        let script = format!(
            "#!/bin/sh\nif [ -e '{armed}' ]; then\n  trap '' TERM\n  echo $$ >'{hung}'\n  \
             while :; do sleep 1000; done\nfi\nexec cat\n"
        );
        self.write(name, &script);
        fs::set_permissions(self.path(name), fs::Permissions::from_mode(0o755)).unwrap();
        self.text(name)
    }

    fn hung(&self) -> Option<u32> {
        fs::read_to_string(self.path("hung")).ok()?.trim().parse().ok()
    }

    /// Waits until something hangs. A request that ended before it came so far would never hang.
    fn wait_for_hung(&self) -> u32 {
        let until = Instant::now() + Duration::from_secs(120);
        loop {
            if let Some(hung) = self.hung() {
                return hung;
            }
            assert!(Instant::now() < until, "nothing hangs in {}", self.text("repo"));
            thread::yield_now();
        }
    }

    /// Everything that a request may change.
    fn state(&self) -> String {
        let mut state = self.git("repo", &["for-each-ref"]);
        state += &self.git("repo", &["status", "--porcelain", "--branch", "--ignored"]);
        state += &self.git("repo", &["worktree", "list"]);
        state += &self.git("repo", &["stash", "list"]);
        let mut folders = vec![self.path("repo")];
        let mut files = Vec::new();
        while let Some(folder) = folders.pop() {
            for entry in fs::read_dir(folder).unwrap() {
                let path = entry.unwrap().path();
                if path.extension().is_some_and(|end| end == "lock") {
                    files.push(path.display().to_string());
                }
                match path.is_dir() {
                    true => folders.push(path),
                    false if path.components().any(|part| part.as_os_str() == ".git") => {}
                    false => {
                        let text = fs::read_to_string(&path).unwrap();
                        files.push(format!("{}: {text}", path.display()));
                    }
                }
            }
        }
        files.sort();
        state + &files.join("\n")
    }

    /// Performs a request in which git hangs, ends it, and looks that nothing is left.
    fn end(&self, end: End, request: &GitRequest) -> Failure {
        self.write("armed", "");
        let failure = match end {
            End::Interrupt => {
                let interrupts = Interrupts::new().unwrap();
                let mut git = OsGit::new().among(&interrupts, &RunningGroup::default());
                thread::scope(|scope| {
                    scope.spawn(|| {
                        self.wait_for_hung();
                        interrupts.raise();
                    });
                    git.perform(request).unwrap_err()
                })
            }
            // Where the machine is busy, git may not have come that far.
            End::Limit => (0..8)
                .map(|tries| OsGit::new().at_most_ms(500 << tries).perform(request).unwrap_err())
                .find(|_| self.hung().is_some())
                .unwrap(),
        };
        let (pid, until) = (self.hung().unwrap(), Instant::now() + Duration::from_secs(60));
        while process_table::look_up(pid) != Presence::Gone {
            assert!(Instant::now() < until, "process {pid} still runs after {request:?}");
            thread::yield_now();
        }
        fs::remove_file(self.path("armed")).unwrap();
        fs::remove_file(self.path("hung")).unwrap();
        let kind = if end == End::Limit { FailureKind::Other } else { FailureKind::Interrupted };
        assert_eq!(failure.kind, kind, "{failure}");
        let said = if end == End::Limit { " was ended after " } else { " was interrupted" };
        assert!(failure.message.contains(said), "{failure}");
        failure
    }

    /// A repository with a branch `x` that changes, makes and removes files, the last of them through
    /// a filter that hangs.
    fn with_hanging_filter(init: &[&str]) -> Place {
        let place = Place::with_commit(init);
        let filter = format!("'{}'", place.hanging("slow.sh"));
        place.git("repo", &["config", "filter.slow.smudge", &filter]);
        place.git("repo", &["config", "filter.slow.clean", "cat"]);
        place.write("repo/gone/deep.txt", "old\n");
        place.write("repo/place", "a file\n");
        place.write("repo/.gitignore", "*.log\n");
        place.commit("repo", "kept.txt", "as it is\n");
        place.git("repo", &["switch", "--quiet", "--create", "x"]);
        place.git("repo", &["rm", "--quiet", "-r", "gone", "place"]);
        place.write("repo/file.txt", "two\n");
        place.write("repo/new/deep/er.txt", "new\n");
        place.write("repo/place/below.txt", "a folder\n");
        place.write("repo/.gitattributes", "*.dat filter=slow\n");
        place.commit("repo", "z.dat", "content\n");
        place.git("repo", &["switch", "--quiet", "main"]);
        place.write("repo/kept.txt", "mine\n");
        place.write("repo/untracked.txt", "mine\n");
        place.write("repo/mine.log", "mine\n");
        place.identify();
        place
    }
}

const ENDS: [End; 2] = [End::Limit, End::Interrupt];

#[test]
fn a_switch_that_is_cut_leaves_the_checkout_as_it_was() {
    for (kind, init) in KINDS {
        let place = Place::with_hanging_filter(init);
        let before = place.state();
        for end in ENDS {
            let (cwd, branch) = (place.text("repo"), "x".to_owned());
            let failure = place.end(end, &GitRequest::Switch { cwd, branch, create: false });
            assert_eq!(place.state(), before, "{kind}, {end:?}: {failure}");
        }
        place.switch("x", false).unwrap();
        assert_eq!(place.read("repo/z.dat"), "content\n", "{kind}");
        assert_eq!(place.read("repo/kept.txt"), "mine\n", "{kind}");
    }
}

#[test]
fn a_merge_that_is_cut_leaves_everything_as_it_was() {
    for (kind, init) in KINDS {
        let place = Place::with_hanging_filter(init);
        let commit = place.git("repo", &["rev-parse", "x"]);
        place.git("repo", &["branch", "third"]);
        for on in ["main", "third"] {
            place.git("repo", &["switch", "--quiet", on]);
            let before = place.state();
            for end in ENDS {
                let (branch, into) = ("x".to_owned(), "main".to_owned());
                let (cwd, commit) = (place.text("repo"), commit.clone());
                let failure = place.end(end, &GitRequest::Merge { cwd, branch, commit, into });
                assert_eq!(place.state(), before, "{kind}, {on}, {end:?}: {failure}");
            }
        }
    }
}

#[test]
fn who_cannot_be_taken_back_after_a_merge_hears_where_the_checkout_is() {
    let place = Place::with_hanging_filter(&[]);
    place.git("repo", &["checkout", "--quiet", "kept.txt"]);
    place.git("repo", &["switch", "--quiet", "--create", "work"]);
    place.commit("repo", "work.txt", "work\n");
    place.git("repo", &["switch", "--quiet", "x"]);
    place.git("repo", &["switch", "--quiet", "--create", "third"]);
    let commit = place.git("repo", &["rev-parse", "work"]);
    let (branch, into) = ("work".to_owned(), "main".to_owned());
    let cwd = place.text("repo");
    let failure = place.end(End::Limit, &GitRequest::Merge { cwd, branch, commit, into });
    let repo = place.text("repo");
    let begins = format!("`work` is in `main` now, and `{repo}` stays on `main`: `git switch ");
    assert!(failure.message.starts_with(&begins), "{failure}");
    assert_eq!(place.git("repo", &["branch", "--show-current"]), "main");
    assert_eq!(place.git("repo", &["status", "--porcelain"]), "");
    assert_eq!(place.read("repo/work.txt"), "work\n");
}

#[test]
#[ignore = "only with --all"]
fn a_worktree_whose_checkout_is_cut_leaves_nothing_behind() {
    for (kind, init) in KINDS {
        let place = Place::with_hanging_filter(init);
        let commit = place.git("repo", &["rev-parse", "x"]);
        let before = place.state();
        for end in ENDS {
            for create_at in [None, Some(commit.clone())] {
                let branch = if create_at.is_some() { "hotl/y" } else { "x" }.to_owned();
                let (cwd, path) = (place.text("repo"), place.text(".hotl-worktrees/repo/x"));
                let request = GitRequest::CreateWorktree { cwd, path, branch, create_at };
                let failure = place.end(end, &request);
                assert_eq!(place.state(), before, "{kind}, {end:?}: {failure}");
                assert!(!place.path(".hotl-worktrees").exists(), "{kind}, {end:?}");
            }
        }
    }
}

#[test]
fn a_question_ends_whatever_hangs_and_says_what_it_is() {
    for (kind, init) in KINDS {
        let place = Place::with_commit(init);
        let filter = place.hanging("slow.sh");
        place.git("repo", &["config", "filter.slow.clean", &filter]);
        place.write("repo/.gitattributes", "*.dat filter=slow\n");
        place.commit("repo", "z.dat", "content\n");
        place.write("repo/z.dat", "changed\n");
        for end in ENDS {
            let (cwd, branch) = (place.text("repo"), "x".to_owned());
            let failure = place.end(end, &GitRequest::Survey { cwd, branch });
            if cfg!(target_os = "linux") {
                let waits = format!(": it was waiting for `/bin/sh {filter}`");
                assert!(failure.message.ends_with(&waits), "{kind}: {failure}");
            }
        }
    }
}

#[test]
#[ignore = "only with --all"]
fn remotes_hooks_and_helpers_that_hang_are_ended() {
    let place = Place::with_commit(&[]);
    place.git(".", &["init", "--quiet", "--bare", "remote.git"]);
    let script = place.hanging("slow.sh");
    let hook = place.path("repo/.git/hooks/pre-push");
    fs::copy(place.path("slow.sh"), &hook).unwrap();
    let port = forbidding_server();
    place.git("repo", &["config", "protocol.ext.allow", "always"]);
    place.git("repo", &["config", "credential.helper", &script]);
    for (name, address) in [
        ("hook", place.text("remote.git")),
        ("silent", format!("ext::{script} %S")),
        ("helper", format!("http://127.0.0.1:{port}/x.git")),
    ] {
        place.git("repo", &["remote", "add", name, &address]);
    }
    let before = place.state();
    for end in ENDS {
        let push = |remote: &str| GitRequest::Push {
            cwd: place.text("repo"),
            remote: remote.to_owned(),
            branch: "main".to_owned(),
        };
        let ask = |remote: &str| GitRequest::RemoteBranch {
            cwd: place.text("repo"),
            remote: remote.to_owned(),
            branch: "main".to_owned(),
        };
        for request in [push("hook"), ask("silent"), push("silent"), ask("helper"), push("helper")]
        {
            let failure = place.end(end, &request);
            assert_eq!(place.state(), before, "{end:?}: {failure}");
        }
    }
}

/// A server that wants a name and a password; returns its port.
fn forbidding_server() -> u16 {
    let server = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = server.local_addr().unwrap().port();
    thread::spawn(move || {
        for connection in server.incoming() {
            let Ok(mut connection) = connection else { return };
            let _ = connection.read(&mut [0; 4096]);
            let answer = "HTTP/1.1 401 Unauthorized\r\nWWW-Authenticate: Basic realm=\"x\"\r\n\
                          Content-Length: 0\r\nConnection: close\r\n\r\n";
            let _ = connection.write_all(answer.as_bytes());
        }
    });
    port
}

#[test]
fn an_interrupt_ends_all_that_works_on_a_request_and_nothing_after_it() {
    let place = Place::with_commit(&[]);
    let interrupts = Interrupts::new().unwrap();
    let mut git = OsGit::new().among(&interrupts, &RunningGroup::default());
    interrupts.raise();
    let (cwd, branch) = (place.text("repo"), "x".to_owned());
    let switch = GitRequest::Switch { cwd, branch, create: true };
    let failure = git.perform(&switch).unwrap_err();
    assert_eq!(failure.kind, FailureKind::Interrupted, "{failure}");
    assert_eq!(git.perform(&switch), Ok(Outcome::Done));
}

/// A switch that hangs in a filter, until `end` has ended it; how it ended.
fn ended(place: &Place, running: &RunningGroup, end: impl FnOnce(u32) + Send) -> Failure {
    place.write("armed", "");
    let mut git = OsGit::new().among(&Interrupts::new().unwrap(), running);
    thread::scope(|scope| {
        scope.spawn(|| end(place.wait_for_hung()));
        let (cwd, branch) = (place.text("repo"), "x".to_owned());
        git.perform(&GitRequest::Switch { cwd, branch, create: false }).unwrap_err()
    })
}

#[test]
#[cfg(target_os = "linux")]
fn git_that_somebody_else_ends_leaves_the_checkout_as_it_was() {
    use rustix::process::{Pid, Signal, getsid, kill_process};
    let place = Place::with_hanging_filter(&[]);
    let before = place.state();
    let failure = ended(&place, &RunningGroup::default(), |hung| {
        let leader = getsid(Pid::from_raw(hung.cast_signed())).unwrap();
        kill_process(leader, Signal::TERM).unwrap();
    });
    assert!(failure.message.ends_with("` was ended by a signal"), "{failure}");
    assert_eq!(failure.kind, FailureKind::Unknown);
    assert_eq!(place.state(), before);
}

#[test]
fn who_has_no_time_ends_git_without_leaving_its_locks() {
    let place = Place::with_hanging_filter(&[]);
    let lock = place.path("repo/.git/index.lock");
    let running = RunningGroup::default();
    place.write("armed", "");
    let (group, cwd, branch) = (running.clone(), place.text("repo"), "x".to_owned());
    // Nobody is told of an end after that, so that this thread waits for good.
    thread::spawn(move || {
        let mut git = OsGit::new().among(&Interrupts::new().unwrap(), &group);
        let _ = git.perform(&GitRequest::Switch { cwd, branch, create: false });
    });
    place.wait_for_hung();
    let was_locked = lock.exists();
    running.end_for_good();
    let is_locked = lock.exists();
    assert!(was_locked && !is_locked, "{was_locked}, {is_locked}");
}
