//! Descendants that outlived their program.
//!
//! On Linux a process can become the parent of its orphaned descendants. The kernel gives them to
//! its first thread. So leftovers of a program are children of that thread or of the one that
//! started it. Children of other threads, such as a parallel `git push`, belong to their callers.

use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use onloop_core::limits::KILL_GRACE_MS;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::{Pid, Signal, WaitOptions, getsid, kill_process, waitpid};

use super::notice::EndNotice;
use super::{Orphans, group};

const GRACE: Duration = Duration::from_millis(KILL_GRACE_MS);

/// Sessions of programs that outlive this process.
static LAUNCHED: Mutex<Vec<Pid>> = Mutex::new(Vec::new());

/// Leaves the processes of this session alone: a launched program keeps its descendants.
pub(super) fn leave_session(session: u32) {
    if let Some(session) = i32::try_from(session).ok().and_then(Pid::from_raw) {
        LAUNCHED.lock().unwrap_or_else(PoisonError::into_inner).push(session);
    }
}

fn is_launched(pid: Pid) -> bool {
    let launched = LAUNCHED.lock().unwrap_or_else(PoisonError::into_inner);
    !launched.is_empty() && getsid(Some(pid)).is_ok_and(|session| launched.contains(&session))
}

/// Returns the part of `wanted` that the system supports.
pub(super) fn prepare(wanted: Orphans) -> Orphans {
    match wanted {
        Orphans::Leave => Orphans::Leave,
        Orphans::End if adopt() => Orphans::End,
        Orphans::End => Orphans::Leave,
    }
}

/// Without a list of children, adopted orphans could not be found.
#[cfg(target_os = "linux")]
fn adopt() -> bool {
    std::fs::exists("/proc/thread-self/children").unwrap_or(false)
        && rustix::process::set_child_subreaper(Some(rustix::process::getpid())).is_ok()
}

#[cfg(not(target_os = "linux"))]
fn adopt() -> bool {
    false
}

/// Stops adopting orphans of the next start, until [`prepare`].
pub(super) fn leave_the_next() {
    #[cfg(target_os = "linux")]
    let _ = rustix::process::set_child_subreaper(None);
}

/// Ends the descendants of `leader`, which has ended and was not waited for: SIGTERM first, SIGKILL
/// after the grace. Gives up after another grace, because a process stuck in the kernel cannot be
/// killed.
pub(super) fn end(leader: Pid, of_group: Option<Pid>) {
    let mut left = children_except(leader);
    if left.is_empty() {
        return;
    }
    if let Some(group) = of_group {
        group::ask_to_end(group);
    }
    let start = Instant::now();
    let mut killing = false;
    let mut asked: Vec<Pid> = Vec::new();
    loop {
        // Ending one process can orphan the next, so each search may find new ones.
        for &pid in &left {
            if killing {
                let _ = kill_process(pid, Signal::KILL);
            } else if !asked.contains(&pid) {
                let _ = kill_process(pid, Signal::TERM);
                let _ = kill_process(pid, Signal::CONT);
                asked.push(pid);
            }
        }
        let deadline = if killing { GRACE * 2 } else { GRACE };
        wait_for_one(&left, deadline.saturating_sub(start.elapsed()));
        reap(&left);
        left = children_except(leader);
        if left.is_empty() || start.elapsed() >= GRACE * 2 {
            return;
        }
        if !killing && start.elapsed() >= GRACE {
            killing = true;
            if let Some(group) = of_group {
                group::kill_now(group);
            }
        }
    }
}

/// Reaps ended orphans, so that a long run does not fill the process table.
pub(super) fn reap_ended(leader: Pid) {
    reap(&children_except(leader));
}

fn reap(pids: &[Pid]) {
    for &pid in pids {
        let _ = waitpid(Some(pid), WaitOptions::NOHANG);
    }
}

fn wait_for_one(pids: &[Pid], longest: Duration) {
    let notices: Vec<EndNotice> = pids.iter().filter_map(|&pid| EndNotice::of(pid).ok()).collect();
    let mut fds: Vec<PollFd<'_>> =
        notices.iter().map(|notice| PollFd::new(notice, PollFlags::IN)).collect();
    let timeout = Timespec::try_from(longest).ok();
    let _ = poll(&mut fds, timeout.as_ref());
}

/// The children of this thread and of the first one other than `leader`, ended ones included.
fn children_except(leader: Pid) -> Vec<Pid> {
    let first = format!("/proc/self/task/{}/children", std::process::id());
    let mut children = Vec::new();
    for list in [first.as_str(), "/proc/thread-self/children"] {
        let list = std::fs::read_to_string(list).unwrap_or_default();
        let pids = list.split_ascii_whitespace().filter_map(|pid| pid.parse().ok());
        for pid in pids.filter_map(Pid::from_raw) {
            // Both lists are equal on the first thread.
            if pid != leader && !children.contains(&pid) && !is_launched(pid) {
                children.push(pid);
            }
        }
    }
    children
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use std::process::{Child, Command, Stdio};
    use std::sync::mpsc::channel;
    use std::thread;

    use super::*;

    /// Runs until its standard input is closed.
    fn start() -> Child {
        Command::new("cat").stdin(Stdio::piped()).spawn().expect("it starts")
    }

    #[test]
    fn what_another_thread_has_started_was_not_left_behind() {
        let (leader, left) = (start(), start());
        let (started, starts) = channel();
        let (done, is_done) = channel::<()>();
        let thread = thread::spawn(move || {
            started.send(start()).expect("somebody waits");
            // The children of a thread get another parent when it ends.
            let _ = is_done.recv();
        });
        let other = starts.recv().expect("it starts");
        let found = children_except(Pid::from_child(&leader));
        assert!(found.contains(&Pid::from_child(&left)), "{found:?}");
        for child in [&leader, &other] {
            assert!(!found.contains(&Pid::from_child(child)), "{found:?}");
        }
        drop(done);
        thread.join().expect("it has ended");
        for mut child in [leader, left, other] {
            drop(child.stdin.take());
            child.wait().expect("it ends");
        }
    }
}
