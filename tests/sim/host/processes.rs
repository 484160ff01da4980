//! Scripted programs that run, are left running, and outlive who started them.

use std::mem::take;

use onloop_core::effect::{
    Durability, Failure, FailureKind, LaunchSpec, Outcome, ProcessEnd, ProcessGroup,
    ProcessIdentity, ProcessSpec, ProcessStatus, Redaction,
};
use onloop_core::limits;
use onloop_core::time::Timestamp;

use super::SimHost;
use crate::process;

/// Numbers of groups begin far from those of programs.
const FIRST_GROUP: u32 = 50_000;

/// A process that was left running.
pub(super) struct LeftRunning {
    /// How it will end when nobody interrupts.
    end: ProcessEnd,
    ends_at: Timestamp,
    group: ProcessGroup,
    /// What its caller wants to hear of while it runs, and has not.
    lines: Vec<u8>,
}

impl SimHost {
    /// Process groups whose program was killed without them, and that nobody has ended.
    pub fn survivors(&self) -> &[ProcessGroup] {
        &self.survivors
    }

    /// Its program is killed; what it left running goes with it, or on without it.
    pub(super) fn leave_processes(&mut self, survive: bool) {
        let left = self.left.take().filter(|_| survive);
        self.survivors.extend(left.map(|left| left.group));
    }

    /// A machine that starts anew runs nothing.
    pub(super) fn restart(&mut self) {
        self.survivors.clear();
        self.boots += 1;
    }

    pub(super) fn end_group(
        &mut self,
        group: &ProcessGroup,
        host: &str,
    ) -> Result<Outcome, Failure> {
        if host != self.start(&[]).process.host {
            return Err(Failure::new(FailureKind::Unsupported, "that is another machine"));
        }
        let before = self.survivors.len();
        self.survivors.retain(|survivor| survivor != group);
        let survivors = u32::try_from(before - self.survivors.len()).expect("few processes");
        Ok(Outcome::Ended { survivors })
    }

    pub(super) fn process(
        &mut self,
        number: usize,
        spec: &ProcessSpec,
    ) -> Result<Outcome, Failure> {
        if self.left.is_some() {
            let message = "another program was left running";
            return Err(Failure::new(FailureKind::Busy, message));
        }
        let interrupted_now = self.interrupt_at == Some(number);
        if !interrupted_now {
            self.take_interrupt()?;
        }
        if let Some(path) = &spec.stream_to {
            let so_far = self.disk.get(path).map_or(0, <[u8]>::len) as u64;
            self.disk.append(path, &[], so_far, Durability::Durable, spec.private)?;
        }
        let process = self.scripts.run(&mut self.disk, spec)?;
        if let Some(path) = &spec.stream_to {
            let so_far = self.disk.get(path).map_or(0, <[u8]>::len) as u64;
            let redaction = Redaction::new(&self.env);
            let all = [redaction.bytes(&process.stdout), redaction.bytes(&process.stderr)].concat();
            let all = bounded(all);
            // A log that cannot be written does not change how its program ends.
            let _ = self.disk.append(path, &all, so_far, Durability::Durable, spec.private);
        }
        let lines = if spec.wake_on_lines { process.stdout.clone() } else { Vec::new() };
        let end = process::end(process, spec, interrupted_now);
        self.interrupted = false;
        let ends_at = self.after(end.duration_ms);
        let group = ProcessGroup {
            pid: FIRST_GROUP + u32::try_from(number).unwrap_or(0),
            started: self.now.as_millis().to_string(),
            boot: format!("boot {}", self.boots),
        };
        let process = LeftRunning { end, ends_at, group, lines };
        if spec.announce {
            let group = process.group.clone();
            self.left = Some(process);
            return Ok(Outcome::Started { group });
        }
        Ok(self.follow(process, spec.wake_after_ms, spec.wake_on_input))
    }

    /// A program that outlives the one that starts it. Its output is in its log.
    pub(super) fn launch(&mut self, launch: &LaunchSpec) -> Result<(), Failure> {
        self.take_interrupt()?;
        let LaunchSpec { argv, cwd, env_remove, log, wait_ms } = launch;
        if let Some(drivers) = &mut self.drivers {
            self.launched.push(launch.clone());
            drivers.push(argv.clone());
            return Ok(());
        }
        let program = argv.first().cloned().unwrap_or_default();
        let spec = ProcessSpec::argv(argv).in_folder(cwd).without_env(env_remove.clone());
        let process = self.scripts.run(&mut self.disk, &spec)?;
        if let Some(log) = log {
            let so_far = self.disk.get(log).map_or(0, <[u8]>::len) as u64;
            let output = [process.stdout.as_slice(), &process.stderr].concat();
            self.disk.append(log, &output, so_far, Durability::Relaxed, true)?;
        }
        self.launched.push(launch.clone());
        let wait_ms = *wait_ms;
        self.now = self.after(process.duration_ms.min(wait_ms));
        match process.status {
            _ if process.duration_ms > wait_ms => Ok(()),
            ProcessStatus::Exited(0) => Ok(()),
            // What a shell says of a program that is not there.
            ProcessStatus::Exited(127) => {
                Err(Failure::new(FailureKind::NotFound, format!("`{program}` is not there")))
            }
            status => Err(Failure::new(FailureKind::Other, format!("`{program}`: {status:?}"))),
        }
    }

    /// Programs that run together notice it at their next request that waits. With other programs the
    /// test raises it.
    pub(super) fn interrupt(&mut self, process: &ProcessIdentity) -> Result<(), Failure> {
        let own = self.start(&[]).process;
        if process.host != own.host {
            return Err(Failure::new(FailureKind::Unsupported, "that is another machine"));
        }
        if process.pid != own.pid && !self.suspended.contains(&process.pid) {
            return Err(Failure::new(FailureKind::NotFound, "that process has ended"));
        }
        self.signals.push(process.pid);
        Ok(())
    }

    pub(super) fn wait(
        &mut self,
        wake_after_ms: Option<u64>,
        on_input: bool,
    ) -> Result<Outcome, Failure> {
        let Some(mut left) = self.left.take() else {
            let message = "no program was left running";
            return Err(Failure::new(FailureKind::NotFound, message));
        };
        if take(&mut self.interrupted) {
            left.end.status = ProcessStatus::Interrupted;
            left.end.duration_ms -= left.ends_at.millis_since(self.now);
            left.ends_at = self.now;
        }
        Ok(self.follow(left, wake_after_ms, on_input))
    }

    fn follow(
        &mut self,
        mut process: LeftRunning,
        wake_after_ms: Option<u64>,
        on_input: bool,
    ) -> Outcome {
        // What comes after the last line break is only in the capture.
        if let Some(end) = process.lines.iter().rposition(|&byte| byte == b'\n') {
            let bytes: Vec<u8> = process.lines.drain(..=end).collect();
            process.lines.clear();
            self.left = Some(process);
            return Outcome::Lines { bytes: bytes.into() };
        }
        // What there is to read is there from the beginning.
        if on_input && !self.input.is_empty() {
            self.left = Some(process);
            return Outcome::Running;
        }
        let wake_at = wake_after_ms.map(|ms| self.after(ms));
        if let Some(wake_at) = wake_at.filter(|&at| at < process.ends_at) {
            self.now = wake_at;
            self.left = Some(process);
            return Outcome::Running;
        }
        self.now = self.now.max(process.ends_at);
        Outcome::Process(process.end)
    }
}

/// What a log keeps of one program.
fn bounded(all: Vec<u8>) -> Vec<u8> {
    let (head, tail) = (limits::LOG_HEAD_BYTES, limits::LOG_TAIL_BYTES);
    if all.len() <= head + tail {
        return all;
    }
    let line = format!("\n[… {} bytes not kept …]\n", all.len() - head - tail);
    [&all[..head], line.as_bytes(), &all[all.len() - tail..]].concat()
}
