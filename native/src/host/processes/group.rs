//! Signals to process groups. A group is signalled only while its leader is our child and not
//! waited for, because then its id cannot be reused.

use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::{Pid, Signal, kill_process_group};

use super::notice::EndNotice;
use super::running::Group;

/// Longest time for programs to remove their locks in a hurry.
const LOCKS_GRACE: Duration = Duration::from_millis(500);

/// Sends SIGTERM to every member, and SIGCONT to wake stopped ones.
pub(super) fn ask_to_end(group: Pid) {
    signal(group, Signal::TERM);
    signal(group, Signal::CONT);
}

/// Sends SIGKILL to every member.
pub(super) fn kill_now(group: Pid) {
    signal(group, Signal::KILL);
}

/// Ends what is left in the group of an ended leader: SIGTERM first, SIGKILL after the grace. Only
/// Linux lists the members of a group, so other systems do not wait.
pub(super) fn end_left(group: Pid) {
    #[cfg(target_os = "linux")]
    super::survivors::end_left_of(group);
    kill_now(group);
}

/// Ends all groups as quickly as possible without leaving locks.
pub(super) fn end_at_once(groups: &[Group]) {
    let pid = |group: &Group| Pid::from_raw(group.leader);
    let (asked, killed): (Vec<_>, Vec<_>) = groups.iter().partition(|group| group.has_locks);
    killed.into_iter().filter_map(pid).for_each(kill_now);
    let asked: Vec<Pid> = asked.into_iter().filter_map(pid).collect();
    asked.iter().copied().for_each(ask_to_end);
    let end = Instant::now() + LOCKS_GRACE;
    for leader in &asked {
        let left = end.saturating_duration_since(Instant::now());
        if let (Ok(notice), Ok(left)) = (EndNotice::of(*leader), Timespec::try_from(left)) {
            let _ = poll(&mut [PollFd::new(&notice, PollFlags::IN)], Some(&left));
        }
    }
    asked.into_iter().for_each(kill_now);
}

/// An empty group needs no signal, and another user's process cannot get one: neither is an error.
fn signal(group: Pid, signal: Signal) {
    let _ = kill_process_group(group, signal);
}
