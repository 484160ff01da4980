//! Whole processes: Ctrl-C, a second Ctrl-C, orphans, bugs.

use std::io::{BufRead, BufReader, Read};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};

use super::wait_for;
#[cfg(target_os = "linux")]
use super::{World, assert_dies};
use crate::temporary::temporary_folder;

pub(super) fn probe(folder: &std::path::Path, words: &[&str]) -> Child {
    Command::new(env!("CARGO_BIN_EXE_host-probe"))
        .args(words)
        .current_dir(folder)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap()
}

/// Everything a probe says until it ends, and its exit code.
fn end(mut child: Child) -> (String, String, Option<i32>) {
    let (mut out, mut err) = (String::new(), String::new());
    child.stdout.take().unwrap().read_to_string(&mut out).unwrap();
    child.stderr.take().unwrap().read_to_string(&mut err).unwrap();
    (out, err, child.wait().unwrap().code())
}

fn signal(child: &Child, signal: Signal) {
    kill_process(Pid::from_child(child), signal).unwrap();
}

#[test]
#[cfg(target_os = "linux")]
fn a_killed_driver_takes_its_program_along_and_the_rest_of_the_group_can_be_found() {
    use onloop::host::Host;
    use onloop_core::effect::{Outcome, ProcessGroup, Request};

    let folder = temporary_folder();
    // One child stays in the group, one leaves it, and one leaves without its environment.
    let line = "export ONLOOP_WORK=this-one; sleep 1000 & echo $! > child; setsid sh -c 'echo $$ > \
                moved; exec sleep 1000' & env -u ONLOOP_WORK setsid sh -c 'echo $$ > unmarked; exec \
                sleep 1000' & exec sleep 1000";
    let mut driver = probe(folder.path(), &["announce", line]);
    let said = first_line(&mut driver);
    let [pid, started, boot] = said.split_ascii_whitespace().collect::<Vec<_>>()[..] else {
        panic!("no group was announced: {said}");
    };
    for name in ["child", "moved", "unmarked"] {
        wait_for(&folder.path().join(name));
    }
    driver.kill().unwrap();
    driver.wait().unwrap();
    assert_dies(pid);
    let pid_in = |name: &str| std::fs::read_to_string(folder.path().join(name)).unwrap();
    let (started, boot) = (started.to_owned(), boot.to_owned());
    let group = ProcessGroup { pid: pid.parse().unwrap(), started, boot };
    let host = rustix::system::uname().nodename().to_str().unwrap().to_owned();
    let end = |mark: Option<&str>| {
        let mark = mark.map(str::to_owned);
        let request = Request::EndGroup { group: group.clone(), host: host.clone(), mark };
        World::new().host.perform(request).outcome
    };
    assert_eq!(end(None), Ok(Outcome::Ended { survivors: 1 }));
    assert_dies(pid_in("child").trim());
    assert_eq!(end(Some("ONLOOP_WORK=this")), Ok(Outcome::Ended { survivors: 0 }));
    assert_eq!(end(Some("ONLOOP_WORK=this-one")), Ok(Outcome::Ended { survivors: 1 }));
    assert_dies(pid_in("moved").trim());
    assert_eq!(end(Some("ONLOOP_WORK=this-one")), Ok(Outcome::Ended { survivors: 0 }));
    // What nobody can know of is left; see docs/residual-risk.md.
    let unmarked = Pid::from_raw(pid_in("unmarked").trim().parse().unwrap()).unwrap();
    kill_process(unmarked, Signal::KILL).unwrap();
}

#[test]
fn ctrl_c_ends_the_running_command_and_is_then_forgotten() {
    for sent in [Signal::INT, Signal::TERM, Signal::HUP] {
        let folder = temporary_folder();
        let child = probe(folder.path(), &["run", "-", "echo said; echo x > up; sleep 1000"]);
        wait_for(&folder.path().join("up"));
        signal(&child, sent);
        let (out, err, code) = end(child);
        assert_eq!(out, "started\nInterrupted said\n then Ok(())\n", "{err}");
        assert_eq!(code, Some(0));
    }
}

#[test]
fn after_ctrl_c_a_program_can_still_save() {
    let folder = temporary_folder();
    let child = probe(folder.path(), &["sleep", "60000"]);
    // The handler is installed before the program begins to wait; an earlier signal would
    // end the process by itself, which is not what is tested here.
    wait_until_waiting(&child);
    signal(&child, Signal::INT);
    let (_, err, code) = end(child);
    assert_eq!(code, Some(130), "{err}");
    assert_eq!(std::fs::read(folder.path().join("saved")).unwrap(), b"yes");
}

#[test]
fn a_second_ctrl_c_ends_everything_at_once_and_leaves_no_lock() {
    let line = "trap '' TERM; echo $$ > up; while :; do sleep 1; done";
    let folder = temporary_folder();
    let child = probe(folder.path(), &["run", "-", line]);
    wait_for(&folder.path().join("up"));
    assert!(folder.path().join("probe.lock").exists());
    let start = Instant::now();
    signal(&child, Signal::INT);
    // Signals of one kind that arrive together are one signal, so the second is another kind.
    signal(&child, Signal::TERM);
    let (out, err, code) = end(child);
    assert_eq!((out.as_str(), code), ("started\n", Some(130)), "{err}");
    assert!(start.elapsed() < Duration::from_millis(1500), "{:?}", start.elapsed());
    let pid = std::fs::read_to_string(folder.path().join("up")).unwrap();
    super::assert_dies(pid.trim());
}

#[test]
#[cfg(target_os = "linux")]
fn a_daemon_in_another_session_ends_with_its_command() {
    for line in [
        "setsid sh -c 'echo $$ > up; exec sleep 1000' & while ! test -s up; do :; done; echo ok",
        "setsid sh -c 'echo $$ > up; exec sleep 1000 >/dev/null 2>&1 </dev/null' >/dev/null 2>&1 & \
         while ! test -s up; do :; done; echo ok",
        "setsid sh -c 'trap \"\" TERM; echo $$ > up; while :; do sleep 1; done' & \
         while ! test -s up; do :; done; echo ok",
    ] {
        let folder = temporary_folder();
        let start = Instant::now();
        let (out, err, code) = end(probe(folder.path(), &["run", "-", line]));
        assert_eq!(
            (out.as_str(), code),
            ("started\nExited(0) ok\n then Ok(())\n", Some(0)),
            "{err}"
        );
        assert!(start.elapsed() < Duration::from_secs(60));
        let pid = std::fs::read_to_string(folder.path().join("up")).unwrap();
        assert!(!std::path::Path::new(&format!("/proc/{}", pid.trim())).exists(), "{line}");
    }
}

#[test]
fn ignored_signals_stay_ignored() {
    let folder = temporary_folder();
    let mut child = Command::new("sh")
        .args(["-c", "trap '' HUP; exec \"$0\" sleep 60000", env!("CARGO_BIN_EXE_host-probe")])
        .current_dir(folder.path())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    wait_until_waiting(&child);
    signal(&child, Signal::HUP);
    signal(&child, Signal::INT);
    assert_eq!(child.wait().unwrap().code(), Some(130));
    // One signal counted: two within a second would have skipped saving.
    assert!(folder.path().join("saved").exists());
}

#[test]
fn a_bug_says_how_to_report_it() {
    let folder = temporary_folder();
    let (out, err, code) = end(probe(folder.path(), &["panic"]));
    assert_eq!(code, Some(70));
    assert_eq!(out, "");
    assert!(err.contains("asked to") && err.contains("/issues"), "{err}");
}

#[test]
fn a_reader_that_goes_away_is_no_error_and_a_full_disk_is() {
    let folder = temporary_folder();
    let probe = env!("CARGO_BIN_EXE_host-probe");
    let run = |line: &str| {
        let mut shell = Command::new("bash");
        shell.args(["-c", line, probe]).current_dir(folder.path()).output().unwrap()
    };
    let gone = run("set -o pipefail; \"$0\" run - true | true; echo ${PIPESTATUS[0]}");
    assert_eq!(gone.stdout, b"0\n");
    assert_eq!(String::from_utf8_lossy(&gone.stderr), "");
    if cfg!(target_os = "linux") {
        let full = run("\"$0\" run - true > /dev/full; echo $?");
        assert_eq!(full.stdout, b"4\n");
        assert!(String::from_utf8_lossy(&full.stderr).contains("no space is left"));
    }
}

/// Until the main thread of a probe blocks in `poll`: its signal thread is there by then.
fn wait_until_waiting(child: &Child) {
    let start = Instant::now();
    loop {
        let base = format!("/proc/{}", child.id());
        let asleep = std::fs::read_to_string(format!("{base}/wchan"))
            .is_ok_and(|channel| channel.contains("poll"));
        if asleep {
            return;
        }
        assert!(start.elapsed() < Duration::from_secs(60), "the probe never came to wait");
        std::thread::yield_now();
    }
}

/// The first line a probe says.
pub(super) fn first_line(child: &mut Child) -> String {
    let mut line = String::new();
    BufReader::new(child.stdout.as_mut().unwrap()).read_line(&mut line).unwrap();
    line
}
