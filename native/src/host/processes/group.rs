//! Signals to process groups. A group is only ever signalled while its leader is ours and not
//! yet waited for: until then the system cannot give its number to anybody else.

use rustix::process::{Pid, Signal, kill_process_group};

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

/// A group without members left is what we want, and a member of another user cannot be
/// helped: neither is an error.
fn signal(group: Pid, signal: Signal) {
    let _ = kill_process_group(group, signal);
}
