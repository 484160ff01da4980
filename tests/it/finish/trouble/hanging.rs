//! Git that hangs while a run is finished.

use std::process::Stdio;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process, test_kill_process};

use super::OPEN;
use super::remote::{add_remote, hook, published};
use crate::finish::Finished;
use crate::workspace::{Workspace, program};

/// Waits until a file has a process id in it.
fn pid_in(path: &std::path::Path) -> Pid {
    let until = Instant::now() + Duration::from_secs(120);
    loop {
        let pid = std::fs::read_to_string(path).ok().and_then(|text| text.trim().parse().ok());
        if let Some(pid) = pid.and_then(Pid::from_raw) {
            return pid;
        }
        assert!(Instant::now() < until, "no process wrote {}", path.display());
        std::thread::yield_now();
    }
}

/// Names of all locks below a folder.
fn locks(workspace: &Workspace) -> String {
    workspace.shell("find . ../home -name '*.lock'").stdout
}

/// A hook that hangs until a file says otherwise; it has to stay the one that was there at first.
const HANGS: &str = "[ -e ../calm ] && exit; echo $$ >../hung; while :; do sleep 1000; done";

#[test]
fn a_hook_that_hangs_ends_with_a_signal_and_leaves_nothing() {
    let workspace = Workspace::git();
    add_remote(&workspace);
    hook(&workspace, ".git/hooks/pre-push", HANGS);
    let run = Finished::begun(workspace, "worktree", OPEN, 0);
    for signal in [Signal::TERM, Signal::INT] {
        let mut command = run.workspace.command_at(".", program());
        command.args(["finish", &run.id, "publish"]).stdout(Stdio::piped()).stderr(Stdio::piped());
        let child = command.spawn().unwrap();
        let hung = pid_in(&run.workspace.path("../hung"));
        kill_process(Pid::from_child(&child), signal).unwrap();
        let output = child.wait_with_output().unwrap();
        assert_eq!(output.status.code(), Some(130));
        let until = Instant::now() + Duration::from_secs(60);
        while test_kill_process(hung).is_ok() {
            assert!(Instant::now() < until, "process {hung:?} still runs");
            std::thread::yield_now();
        }
        std::fs::remove_file(run.workspace.path("../hung")).unwrap();
        let said = crate::flat(&String::from_utf8(output.stderr).unwrap());
        let begins = "error: `git push --porcelain --set-upstream -- origin \
                      refs/heads/hotl/x:refs/heads/hotl/x` in `";
        let ends = " fix: run the same command again; it continues where it stopped";
        assert!(said.starts_with(begins) && said.ends_with(ends), "{said}");
        if cfg!(target_os = "linux") {
            let (_, waits) = said.split_once("was interrupted: it was waiting for `").unwrap();
            assert!(waits.contains("hooks/pre-push origin "), "{said}");
        }
        assert_eq!(locks(&run.workspace), "");
        assert!(!published(&run));
    }
    std::fs::write(run.workspace.path("../calm"), "").unwrap();
    assert_eq!(run.done(&["publish"])["disposition"], "published");
}
