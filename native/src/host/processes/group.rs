//! Signals to process groups. A group is only ever signalled while its leader is ours and not
//! yet waited for: until then the system cannot give its number to anybody else.

use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::{Pid, Signal, kill_process_group};

use super::notice::EndNotice;
use super::running::Group;

/// How long somebody who has no time waits for programs to take their locks away.
const LOCKS_GRACE: Duration = Duration::from_millis(500);

/// Asks every member to end, and wakes those that are stopped so that they can.
pub(super) fn ask_to_end(group: Pid) {
    signal(group, Signal::TERM);
    signal(group, Signal::CONT);
}

/// Ends every member.
pub(super) fn kill_now(group: Pid) {
    signal(group, Signal::KILL);
}

/// Ends what a leader that has ended has left in its group: asks first, kills after the grace. Elsewhere than
/// on Linux nobody tells who is in a group, so there is nothing to wait for.
pub(super) fn end_left(group: Pid) {
    #[cfg(target_os = "linux")]
    super::survivors::end_left_of(group);
    kill_now(group);
}

/// Ends every member of all groups, as quickly as leaves no locks behind.
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

/// A group without members left is what we want, and a member of another user cannot be
/// helped: neither is an error.
fn signal(group: Pid, signal: Signal) {
    let _ = kill_process_group(group, signal);
}
