//! Descendants that outlived their program.
//!
//! On Linux a process can ask to become the parent of its orphaned descendants, wherever they
//! moved. Then "all our children" is everything that a program left behind.

use std::time::{Duration, Instant};

use onloop_core::limits::KILL_GRACE_MS;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::{Pid, Signal, WaitOptions, kill_process, waitpid};

use super::notice::EndNotice;
use super::{Orphans, group};

const GRACE: Duration = Duration::from_millis(KILL_GRACE_MS);

/// What of `wanted` the system can do.
pub(super) fn prepare(wanted: Orphans) -> Orphans {
    match wanted {
        Orphans::Leave => Orphans::Leave,
        Orphans::End if adopt() => Orphans::End,
        Orphans::End => Orphans::Leave,
    }
}

/// Adopting is of no use on a kernel that does not list children: what cannot be found cannot
/// be ended.
#[cfg(target_os = "linux")]
fn adopt() -> bool {
    std::fs::exists("/proc/thread-self/children").unwrap_or(false)
        && rustix::process::set_child_subreaper(Some(rustix::process::getpid())).is_ok()
}

#[cfg(not(target_os = "linux"))]
fn adopt() -> bool {
    false
}

/// What is started next is not adopted when it loses its parent; until [`prepare`].
pub(super) fn leave_the_next() {
    #[cfg(target_os = "linux")]
    let _ = rustix::process::set_child_subreaper(None);
}

/// Ends everything that `leader`, which has ended and was not waited for, left behind: asks
/// first, kills after the grace, gives up after another (a process stuck in the kernel cannot
/// be killed by anybody).
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
        // Ending one process can orphan the next, so each look may find new ones.
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

/// Waits for orphans that have already ended, so that a long run does not fill the process
/// table with them.
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

/// Our children other than `leader`, ended ones included. Children belong to the thread that
/// started or adopted them, so every thread is asked.
fn children_except(leader: Pid) -> Vec<Pid> {
    let mut children = Vec::new();
    let Ok(threads) = std::fs::read_dir("/proc/self/task") else {
        return children;
    };
    for thread in threads.flatten() {
        let list = std::fs::read_to_string(thread.path().join("children")).unwrap_or_default();
        let pids = list.split_ascii_whitespace().filter_map(|pid| pid.parse().ok());
        children.extend(pids.filter_map(Pid::from_raw).filter(|&pid| pid != leader));
    }
    children
}
