//! A hook answers even when everything else fails: an agent host that hears nothing runs the
//! tool.

use std::io::Write;

use onloop_core::program::{
    Failure, FailureKind, ProcessSpec, answer_of_a_broken_hook, called_as_hook,
};

use crate::host::{
    HeldLocks, Interrupts, LeftRunning, OsProcesses, ProcessTurn, Processes, Progress, Root, Wake,
};

/// The command line, with whatever is not UTF-8 in it replaced.
fn argv() -> Vec<String> {
    std::env::args_os().map(|word| word.to_string_lossy().into_owned()).collect()
}

/// Whether this process was called as a hook.
pub(crate) fn is_one() -> bool {
    called_as_hook(&argv()).is_some()
}

/// Says "no" in the form of the host that called. Whether there was one to say it to.
///
/// A hook's program speaks once, at its end, so nothing has been said when it breaks.
pub(crate) fn answer() -> bool {
    match answer_of_a_broken_hook(&argv()) {
        Some(answer) => {
            let mut stdout = std::io::stdout().lock();
            stdout.write_all(answer.as_bytes()).and_then(|()| stdout.flush()).is_ok()
        }
        None => false,
    }
}

/// Prepares for programs when the first one is started. Most hooks start none, and are over
/// before a thread for signals has begun: there the system's own way to end a process is right.
pub(crate) struct ProcessesOnDemand {
    root: Root,
    interrupts: Interrupts,
    held: HeldLocks,
    processes: Option<OsProcesses>,
}

impl ProcessesOnDemand {
    pub(crate) fn new(root: Root, interrupts: &Interrupts, held: HeldLocks) -> ProcessesOnDemand {
        ProcessesOnDemand { root, interrupts: interrupts.clone(), held, processes: None }
    }
}

impl Processes for ProcessesOnDemand {
    fn start(
        &mut self,
        spec: &ProcessSpec,
        progress: &mut dyn Progress,
    ) -> Result<ProcessTurn, Failure> {
        let processes = match &mut self.processes {
            Some(processes) => processes,
            None => {
                let (root, held) = (self.root.clone(), self.held.clone());
                let processes =
                    crate::listening(root, &self.interrupts, held).map_err(|error| {
                        let message = format!("cannot listen to signals: {error}");
                        Failure::new(FailureKind::Other, message)
                    })?;
                self.processes.insert(processes)
            }
        };
        processes.start(spec, progress)
    }

    fn wait(&mut self, wake: Wake, progress: &mut dyn Progress) -> Result<ProcessTurn, Failure> {
        match &mut self.processes {
            Some(processes) => processes.wait(wake, progress),
            None => Err(Failure::new(FailureKind::NotFound, "no program was left running")),
        }
    }

    fn end(&mut self) {
        if let Some(processes) = &mut self.processes {
            processes.end();
        }
    }

    fn left_running(&self) -> Option<LeftRunning> {
        self.processes.as_ref().and_then(Processes::left_running)
    }
}
