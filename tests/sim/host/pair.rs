//! Two programs at once on one simulated machine, a request at a time.

use onloop_core::effect::{Program, Reply, Request, Turn};
use onloop_core::time::Timestamp;

use super::{Ended, Holder, SimHost};

/// One of two programs.
struct Half {
    program: Program,
    pid: u32,
    reply: Option<Reply>,
    request: Option<Request>,
    ended: Option<Ended>,
}

impl SimHost {
    /// The clock is set forward or, below 0, back.
    pub fn jump_clock(&mut self, by_ms: i64) {
        self.now = Timestamp::from_millis(self.now.as_millis().saturating_add(by_ms));
        self.disk.now = self.now;
    }

    /// Runs two command lines to their ends; `first_goes_on` decides before each request whose
    /// turn it is. A program that waits for a lock of the other lets the other one go on.
    pub fn run_two(
        &mut self,
        lines: [&[&str]; 2],
        mut first_goes_on: impl FnMut() -> bool,
    ) -> [Ended; 2] {
        let mut halves = lines.map(|argv| {
            let program = onloop_core::cli::program(self.start(argv));
            let pid = self.pid;
            self.pid += 1;
            Half { program, pid, reply: None, request: None, ended: None }
        });
        let next_pid = self.pid;
        while halves.iter().any(|half| half.ended.is_none()) {
            let wanted = usize::from(!first_goes_on());
            let index = self.whose_turn(&mut halves, wanted);
            let other = &halves[1 - index];
            self.suspended = other.ended.is_none().then_some(other.pid);
            self.pid = halves[index].pid;
            let half = &mut halves[index];
            let Some(request) = half.request.take() else { continue };
            match self.turn(request) {
                Ok(reply) => half.reply = Some(reply),
                Err(Ended::PowerCut) => {
                    for half in &mut halves {
                        half.ended.get_or_insert(Ended::PowerCut);
                    }
                }
                Err(ended) => half.ended = Some(ended),
            }
        }
        self.suspended = None;
        self.interrupted = false;
        self.pid = next_pid;
        halves.map(|half| half.ended.expect("the loop waits for both"))
    }

    /// Lets both programs say what they want; `wanted` unless that one is over or waits.
    fn whose_turn(&mut self, halves: &mut [Half; 2], wanted: usize) -> usize {
        for half in halves.iter_mut() {
            if half.ended.is_some() || half.request.is_some() {
                continue;
            }
            match half.program.resume(half.reply.take()) {
                Turn::Request(request) => half.request = Some(request),
                Turn::Exit(exit) => {
                    half.ended = Some(Ended::Exit(exit));
                    self.pid = half.pid;
                    self.release_own_locks();
                }
            }
        }
        let [can, other_can] = [wanted, 1 - wanted].map(|index| {
            let (half, other) = (&halves[index], &halves[1 - index]);
            half.request.as_ref().is_some_and(|request| !self.waits(request, other))
        });
        // Two that wait for each other both wait in vain.
        if can || (!other_can && halves[wanted].request.is_some()) { wanted } else { 1 - wanted }
    }

    fn waits(&self, request: &Request, other: &Half) -> bool {
        match request {
            Request::Lock { path, wait_ms, .. } if *wait_ms > 0 && other.ended.is_none() => {
                self.locks.get(&self.disk.absolute(path)) == Some(&Holder::Pid(other.pid))
            }
            _ => false,
        }
    }
}
