//! Finds and ends the rest of a process group whose driver was killed.
//!
//! A group keeps its id as long as it has a member, even without its leader. A member that started
//! no earlier than the leader belongs to the group. A leader with another start time has reused the
//! id.
//!
//! Tools of agents lead sessions of their own, outside the group. They inherit the mark in the
//! environment of the leader, which no outside process can add. A process with the mark that
//! started no earlier than the leader belongs to the group. A process that replaced its environment
//! is not found.

use std::collections::BTreeSet;
use std::os::fd::OwnedFd;
use std::time::{Duration, Instant};

use onloop_core::effect::{Failure, FailureKind, ProcessGroup};
use onloop_core::limits::KILL_GRACE_MS;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use rustix::process::{
    Pid, PidfdFlags, Signal, getpgrp, kill_process, pidfd_open, pidfd_send_signal,
};

use crate::host::process_table::{self, Entry};

const GRACE: Duration = Duration::from_millis(KILL_GRACE_MS);
/// How often the group is searched: ending one member can start another.
const LOOK_EVERY: Duration = Duration::from_millis(50);

/// Sends SIGTERM to the rest of a group, then SIGKILL after the grace. Returns how many processes
/// there were.
///
/// # Errors
///
/// `Unsupported` for another machine, and without start times; `Invalid` for all processes, the
/// first process and our own group; `Denied` if a process survives.
pub(super) fn end(group: &ProcessGroup, host: &str, mark: Option<&str>) -> Result<u32, Failure> {
    if host != process_table::host_name() {
        let message = format!("process group {} is on `{host}`, not on this machine", group.pid);
        return Err(Failure::new(FailureKind::Unsupported, message));
    }
    let ours = getpgrp().as_raw_nonzero().get().unsigned_abs();
    if group.pid <= 1 || i32::try_from(group.pid).is_err() || group.pid == ours {
        let message = format!("process group {} is never ended from here", group.pid);
        return Err(Failure::new(FailureKind::Invalid, message));
    }
    let Ok(leader_started) = group.started.parse::<u64>() else {
        let message = format!(
            "the start time of process group {} is unknown, so it was not ended",
            group.pid
        );
        return Err(Failure::new(FailureKind::Unsupported, message));
    };
    if !group.boot.is_empty() && group.boot != process_table::boot() {
        return Ok(0);
    }
    let begun = Instant::now();
    let mut asked = BTreeSet::new();
    loop {
        let members = members(group.pid, leader_started, mark);
        if members.is_empty() {
            return Ok(u32::try_from(asked.len()).unwrap_or(u32::MAX));
        }
        let killing = begun.elapsed() >= GRACE;
        for member in &members {
            if killing {
                member.signal(Signal::KILL);
            }
            if asked.insert(member.pid) {
                member.signal(Signal::TERM);
                member.signal(Signal::CONT);
            }
        }
        if begun.elapsed() >= 2 * GRACE {
            let pids = members.iter().map(|member| member.pid.to_string()).collect::<Vec<_>>();
            let message = format!(
                "process group {} cannot be ended; these are left: {}",
                group.pid,
                pids.join(", ")
            );
            return Err(Failure::new(FailureKind::Denied, message));
        }
        wait_for_one(&members);
    }
}

/// Does the same for the group of an ended child that was not waited for.
pub(super) fn end_left_of(leader: Pid) {
    let pid = leader.as_raw_nonzero().get().unsigned_abs();
    let group =
        ProcessGroup { pid, started: process_table::started(pid), boot: process_table::boot() };
    // A process that is left now cannot be ended.
    let _ = end(&group, &process_table::host_name(), None);
}

/// A member of the group; the handle prevents reuse of its id.
struct Member {
    pid: u32,
    /// `None` on kernels and in sandboxes without pidfds.
    fd: Option<OwnedFd>,
}

impl Member {
    fn signal(&self, signal: Signal) {
        // An ended process needs no signal; a process of another user is detected at the end.
        let _ = match (&self.fd, Pid::from_raw(self.pid.cast_signed())) {
            (Some(fd), _) => pidfd_send_signal(fd, signal),
            (None, Some(pid)) => kill_process(pid, signal),
            (None, None) => Ok(()),
        };
    }
}

fn members(group: u32, leader_started: u64, mark: Option<&str>) -> Vec<Member> {
    let started = |entry: &Entry| entry.started.parse::<u64>().unwrap_or(0);
    let leader = process_table::entry(group);
    let is_taken = leader.as_ref().is_some_and(|leader| started(leader) != leader_started);
    let own: Vec<u32> =
        process_table::ancestors().unwrap_or_default().iter().map(|p| p.pid).collect();
    let is_own = |pid: u32| pid == std::process::id() || own.contains(&pid);
    let is_member = |pid: u32, entry: &Entry| {
        if entry.zombie || started(entry) < leader_started || is_own(pid) {
            return false;
        }
        // An interactive program leads no group of its own; it is ended alone.
        let belongs = !is_taken && (pid == group || entry.group == group);
        belongs || mark.is_some_and(|mark| has_mark(pid, mark))
    };
    let found = process_table::all().into_iter().filter(|(pid, entry)| is_member(*pid, entry));
    found.filter_map(|(pid, entry)| hold(pid, &entry)).collect()
}

/// Whether the environment of the process contained this at its start, as far as it is readable.
fn has_mark(pid: u32, mark: &str) -> bool {
    let environment = std::fs::read(format!("/proc/{pid}/environ")).unwrap_or_default();
    environment.split(|byte| *byte == 0).any(|variable| variable == mark.as_bytes())
}

/// `None`: it has ended meanwhile.
fn hold(pid: u32, seen: &Entry) -> Option<Member> {
    let fd = match pidfd_open(Pid::from_raw(pid.cast_signed())?, PidfdFlags::empty()) {
        Ok(fd) => Some(fd),
        Err(Errno::SRCH) => return None,
        Err(_) => None,
    };
    let now = process_table::entry(pid)?;
    (now.started == seen.started && !now.zombie).then_some(Member { pid, fd })
}

/// Waits until a member ends or the next search is due.
fn wait_for_one(members: &[Member]) {
    let mut fds: Vec<PollFd<'_>> = members
        .iter()
        .filter_map(|member| member.fd.as_ref())
        .map(|fd| PollFd::new(fd, PollFlags::IN))
        .collect();
    let timeout = Timespec::try_from(LOOK_EVERY).ok();
    let _ = poll(&mut fds, timeout.as_ref());
}

#[cfg(test)]
mod tests {
    use std::os::unix::process::CommandExt;
    use std::process::{Child, Command};

    use super::*;

    fn group_of(pid: u32) -> ProcessGroup {
        let started = process_table::started(pid);
        ProcessGroup { pid, started, boot: process_table::boot() }
    }

    /// A shell that leads a group of its own, with a child in it.
    fn group() -> (Child, ProcessGroup) {
        let line = "sleep 1000 & exec sleep 1000";
        let leader = Command::new("sh").args(["-c", line]).process_group(0).spawn().unwrap();
        let group = group_of(leader.id());
        while members(group.pid, group.started.parse().unwrap(), None).len() < 2 {
            std::thread::yield_now();
        }
        (leader, group)
    }

    #[test]
    fn a_group_is_ended_whole_with_its_leader_and_without() {
        let here = process_table::host_name();
        for leader_is_killed_first in [false, true] {
            let (mut leader, group) = group();
            if leader_is_killed_first {
                leader.kill().unwrap();
                leader.wait().unwrap();
            }
            let expected = if leader_is_killed_first { 1 } else { 2 };
            assert_eq!(end(&group, &here, None), Ok(expected));
            assert_eq!(end(&group, &here, None), Ok(0), "nothing is left");
            leader.wait().unwrap();
        }
    }

    #[test]
    fn other_processes_are_not_ended() {
        let here = process_table::host_name();
        let (mut leader, group) = group();
        let earlier = (group.started.parse::<u64>().unwrap() - 1).to_string();
        let others = [
            (ProcessGroup { started: earlier, ..group.clone() }, here.as_str(), Ok(0)),
            (ProcessGroup { boot: "another".to_owned(), ..group.clone() }, &here, Ok(0)),
            (group.clone(), "elsewhere", Err(FailureKind::Unsupported)),
            (ProcessGroup { started: String::new(), ..group.clone() }, &here, {
                Err(FailureKind::Unsupported)
            }),
            (ProcessGroup { pid: 0, ..group.clone() }, &here, Err(FailureKind::Invalid)),
            (group_of(1), &here, Err(FailureKind::Invalid)),
            (
                group_of(getpgrp().as_raw_nonzero().get().unsigned_abs()),
                &here,
                Err(FailureKind::Invalid),
            ),
        ];
        for (other, host, expected) in others {
            let found = end(&other, host, None).map_err(|failure| failure.kind);
            assert_eq!(found, expected, "{other:?} on {host}");
        }
        assert_eq!(leader.try_wait().unwrap(), None);
        assert_eq!(end(&group, &here, None), Ok(2));
        leader.wait().unwrap();
    }

    #[test]
    fn who_does_not_listen_is_killed() {
        let line = "trap '' TERM; echo; exec 1>&-; while :; do sleep 1; done";
        let mut leader = Command::new("sh")
            .args(["-c", line])
            .process_group(0)
            .stdout(std::process::Stdio::piped())
            .spawn()
            .unwrap();
        let mut out = leader.stdout.take().unwrap();
        std::io::Read::read_to_end(&mut out, &mut Vec::new()).unwrap();
        let ended = end(&group_of(leader.id()), &process_table::host_name(), None).unwrap();
        assert!(ended >= 1, "{ended}");
        leader.wait().unwrap();
    }
}
