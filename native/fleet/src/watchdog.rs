//! The watchdog of a driver: an agent works only while its worker has the lease.
//!
//! A worker that hangs or loses its connection cannot end its agents. So each driver has a watchdog
//! process above it. The worker tells the watchdog through a pipe how long the lease holds. When that
//! time is over, or the worker has ended, the watchdog ends the driver and its agent. The watchdog
//! leads its own process group, so that a signal to the worker's group does not stop it.

use std::io::{BufRead, BufReader, Read};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process};

/// How often the watchdog reads the clock: a timer stops while the machine sleeps.
const LOOK: Duration = Duration::from_millis(500);
/// Longest time between the request to end and the kill.
const GRACE_MS: u64 = 2000;
/// The part of a lease in which a driver may end. Its holder counts two thirds of the lease, so the
/// driver has ended before another worker gets the run.
const GRACE_PARTS: u64 = 4;

/// A message of the worker to a watchdog.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LeaseMessage {
    /// The lease holds for this long from now on, in milliseconds.
    Renewed(u64),
    /// Another machine wants the run: the driver stops as for Ctrl-C.
    Recalled,
    /// The lease is lost: the driver is to end at once.
    Lost,
}

impl LeaseMessage {
    /// Returns the line of the message.
    pub fn line(self) -> String {
        match self {
            LeaseMessage::Renewed(ms) => format!("renewed {ms}\n"),
            LeaseMessage::Recalled => "recalled\n".to_owned(),
            LeaseMessage::Lost => "lost\n".to_owned(),
        }
    }

    fn read(line: &str) -> Option<LeaseMessage> {
        match line.split_once(' ') {
            Some(("renewed", ms)) => ms.parse().ok().map(LeaseMessage::Renewed),
            None if line == "recalled" => Some(LeaseMessage::Recalled),
            None if line == "lost" => Some(LeaseMessage::Lost),
            Some(_) | None => None,
        }
    }
}

enum Happened {
    Told(LeaseMessage),
    WorkerGone,
    Ended(std::io::Result<ExitStatus>),
}

/// Returns the time between the request to end and the kill.
fn grace_ms(lease_ms: u64) -> u64 {
    GRACE_MS.min(lease_ms / GRACE_PARTS)
}

/// Runs `driver` as a child while the lease holds: `lease_ms` from now, and as long as standard input
/// says. Returns the driver's exit code, or 137 if it was killed.
///
/// # Errors
///
/// The driver cannot be started.
pub fn watch(mut driver: Command, lease_ms: u64) -> std::io::Result<u8> {
    let mut child = driver.stdin(Stdio::piped()).spawn()?;
    let pid = Pid::from_child(&child);
    // The driver ends itself when this pipe closes.
    let pipe = child.stdin.take();
    let (tell, happened) = channel();
    listen(tell.clone());
    wait(child, tell);
    let until_ms = now_ms().saturating_add(lease_ms);
    let exit = follow(pid, &happened, until_ms, grace_ms(lease_ms));
    drop(pipe);
    Ok(exit)
}

fn follow(pid: Pid, happened: &Receiver<Happened>, mut until_ms: u64, grace_ms: u64) -> u8 {
    let mut asked_at: Option<u64> = None;
    loop {
        let next_ms = asked_at.map_or(until_ms, |asked| asked.saturating_add(grace_ms));
        let left = Duration::from_millis(next_ms.saturating_sub(now_ms()).max(1));
        match happened.recv_timeout(left.min(LOOK)) {
            Ok(Happened::Ended(status)) => {
                let code = status.ok().and_then(|status| status.code());
                return code.and_then(|code| u8::try_from(code).ok()).unwrap_or(KILLED);
            }
            Ok(Happened::Told(LeaseMessage::Renewed(ms))) => until_ms = now_ms().saturating_add(ms),
            Ok(Happened::Told(LeaseMessage::Recalled)) => {
                let _ = kill_process(pid, Signal::INT);
            }
            Ok(Happened::Told(LeaseMessage::Lost) | Happened::WorkerGone) => until_ms = 0,
            Err(RecvTimeoutError::Timeout) => {}
            Err(RecvTimeoutError::Disconnected) => return KILLED,
        }
        let now = now_ms();
        if now < until_ms {
            continue;
        }
        match asked_at {
            None => {
                asked_at = Some(now);
                let _ = kill_process(pid, Signal::TERM);
            }
            Some(asked) if now.saturating_sub(asked) >= grace_ms => {
                let _ = kill_process(pid, Signal::KILL);
            }
            Some(_) => {}
        }
    }
}

/// The exit code of a process that a signal has ended.
pub(crate) const KILLED: u8 = 137;

fn listen(tell: Sender<Happened>) {
    std::thread::spawn(move || {
        for line in BufReader::new(std::io::stdin()).lines() {
            let Ok(line) = line else { break };
            if let Some(word) = LeaseMessage::read(&line)
                && tell.send(Happened::Told(word)).is_err()
            {
                return;
            }
        }
        let _ = tell.send(Happened::WorkerGone);
    });
}

fn wait(mut child: Child, tell: Sender<Happened>) {
    std::thread::spawn(move || {
        let ended = child.wait();
        let _ = tell.send(Happened::Ended(ended));
    });
}

/// Ends this process when its watchdog has ended; `lease_ms` is the duration of its lease.
pub fn end_with_guard(lease_ms: u64) {
    std::thread::spawn(move || {
        let mut byte = [0];
        // The watchdog never writes, so a read returns only at its end.
        while let Ok(1..) = std::io::stdin().read(&mut byte) {}
        let own = rustix::process::getpid();
        let _ = kill_process(own, Signal::TERM);
        std::thread::sleep(Duration::from_millis(grace_ms(lease_ms)));
        let _ = kill_process(own, Signal::KILL);
    });
}

/// Returns milliseconds of a clock that also counts while the machine sleeps, if the system has one.
fn now_ms() -> u64 {
    #[cfg(target_os = "linux")]
    let clock = rustix::time::ClockId::Boottime;
    #[cfg(not(target_os = "linux"))]
    let clock = rustix::time::ClockId::Monotonic;
    let now = rustix::time::clock_gettime(clock);
    let (seconds, nanos) = (u64::try_from(now.tv_sec), u64::try_from(now.tv_nsec));
    seconds.unwrap_or_default() * 1000 + nanos.unwrap_or_default() / 1_000_000
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_driver_is_gone_before_others_are_given_its_run() {
        for on_server_ms in [1000, 2000, 5000, 30_000, 600_000] {
            let told_ms = on_server_ms * 2 / 3;
            // The rest is a margin for a busy machine.
            let gone_ms = told_ms + grace_ms(told_ms);
            assert!(gone_ms <= on_server_ms * 5 / 6, "{gone_ms} of {on_server_ms}");
        }
        assert_eq!(grace_ms(20_000), GRACE_MS);
    }

    #[test]
    fn what_is_said_is_what_is_understood() {
        for word in [
            LeaseMessage::Renewed(0),
            LeaseMessage::Renewed(20_000),
            LeaseMessage::Recalled,
            LeaseMessage::Lost,
        ] {
            assert_eq!(LeaseMessage::read(word.line().trim_end()), Some(word));
        }
        for line in ["", "renewed", "renewed x", "renewed -1", "lost 1", "recalled 2"] {
            assert_eq!(LeaseMessage::read(line), None, "{line}");
        }
    }
}
