//! Several programs at once on one simulated machine, a request at a time.

use std::collections::BTreeMap;
use std::mem::{swap, take};

use onloop_core::effect::{Program, Reply, Request, Turn};
use onloop_core::time::Timestamp;

use super::processes::LeftRunning;
use super::{Ended, Holder, SimHost};

/// One of several programs.
struct Running {
    program: Program,
    pid: u32,
    /// Whether another program launched it; then its output goes to its log.
    is_launched: bool,
    reply: Option<Reply>,
    request: Option<Request>,
    ended: Option<Ended>,
    /// What belongs to this program of the machine, while another program runs.
    own: Own,
}

/// What a machine keeps for the program that runs.
#[derive(Default)]
struct Own {
    left: Option<LeftRunning>,
    watched: BTreeMap<String, Option<String>>,
    interrupted: bool,
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
        let ended = self.run_all(&lines, |_| usize::from(!first_goes_on()));
        [ended[0], ended[1]]
    }

    /// Runs command lines and every driver that they launch to their ends. `choose` gets the number of
    /// programs and chooses one before each request. Returns how each ended, in the order of their
    /// starts.
    pub fn run_with_drivers(
        &mut self,
        lines: &[&[&str]],
        choose: impl FnMut(usize) -> usize,
    ) -> Vec<Ended> {
        self.drivers = Some(Vec::new());
        let ended = self.run_all(lines, choose);
        self.drivers = None;
        ended
    }

    fn run_all(&mut self, lines: &[&[&str]], mut choose: impl FnMut(usize) -> usize) -> Vec<Ended> {
        let mut all: Vec<Running> = Vec::new();
        for argv in lines {
            all.push(self.begin_program(argv));
        }
        while all.iter().any(|one| one.ended.is_none()) {
            let wanted = choose(all.len());
            let index = self.whose_turn(&mut all, wanted);
            let Some(request) = all[index].request.take() else { continue };
            match self.turn_of(&mut all, index, request) {
                Ok(reply) => all[index].reply = Some(reply),
                Err(Ended::PowerCut) => {
                    for one in &mut all {
                        one.ended.get_or_insert(Ended::PowerCut);
                        one.own = Own::default();
                    }
                    self.drivers.iter_mut().for_each(Vec::clear);
                }
                Err(ended) => all[index].ended = Some(ended),
            }
            for argv in self.drivers.as_mut().map(take).unwrap_or_default() {
                let argv: Vec<&str> = argv.iter().map(String::as_str).collect();
                all.push(Running { is_launched: true, ..self.begin_program(&argv) });
            }
        }
        self.suspended.clear();
        self.signals.clear();
        self.interrupted = false;
        all.into_iter().map(|one| one.ended.expect("the loop waits for all")).collect()
    }

    /// A program that has made no request yet. While programs run together, the machine's own number is
    /// the next free one.
    fn begin_program(&mut self, argv: &[&str]) -> Running {
        let program = onloop_core::cli::program(self.start(argv));
        self.pid += 1;
        Running {
            program,
            pid: self.pid - 1,
            is_launched: false,
            reply: None,
            request: None,
            ended: None,
            own: Own::default(),
        }
    }

    /// One request of program `index`; no other one runs meanwhile.
    fn turn_of(
        &mut self,
        all: &mut [Running],
        index: usize,
        request: Request,
    ) -> Result<Reply, Ended> {
        let others = all.iter().enumerate().filter(|(at, one)| *at != index && one.ended.is_none());
        self.suspended = others.map(|(_, one)| one.pid).collect();
        let one = &mut all[index];
        let next_pid = std::mem::replace(&mut self.pid, one.pid);
        self.exchange(&mut one.own);
        if let Some(at) = self.signals.iter().position(|pid| *pid == one.pid) {
            self.signals.remove(at);
            self.interrupted = true;
        }
        let said = self.said.len();
        let ended = self.turn(request);
        if one.is_launched {
            self.said_by_drivers.extend(self.said.split_off(said));
        }
        self.exchange(&mut one.own);
        self.pid = next_pid;
        ended
    }

    fn exchange(&mut self, own: &mut Own) {
        swap(&mut self.left, &mut own.left);
        swap(&mut self.watched, &mut own.watched);
        swap(&mut self.interrupted, &mut own.interrupted);
    }

    /// Lets all programs say what they want; `wanted` unless that one is over or waits.
    fn whose_turn(&mut self, all: &mut [Running], wanted: usize) -> usize {
        for one in all.iter_mut() {
            if one.ended.is_some() || one.request.is_some() {
                continue;
            }
            match one.program.resume(one.reply.take()) {
                Turn::Request(request) => one.request = Some(request),
                Turn::Exit(exit) => {
                    one.ended = Some(Ended::Exit(exit));
                    let pid = std::mem::replace(&mut self.pid, one.pid);
                    self.release_own_locks();
                    self.pid = pid;
                }
            }
        }
        let mut from_wanted = (0..all.len()).map(|more| (wanted + more) % all.len());
        let can = from_wanted.clone().find(|at| {
            let request = all[*at].request.as_ref();
            request.is_some_and(|request| !self.waits(request, *at, all))
        });
        // Programs that wait for each other all wait in vain.
        can.or_else(|| from_wanted.find(|at| all[*at].request.is_some())).unwrap_or(wanted)
    }

    /// Whether another program has the lock that program `index` asks for.
    fn waits(&self, request: &Request, index: usize, all: &[Running]) -> bool {
        match request {
            Request::Lock { path, wait_ms, .. } if *wait_ms > 0 => {
                let holder = self.locks.get(&self.disk.absolute(path));
                let is_holder = |(at, one): (usize, &Running)| {
                    at != index && one.ended.is_none() && holder == Some(&Holder::Pid(one.pid))
                };
                all.iter().enumerate().any(is_holder)
            }
            _ => false,
        }
    }
}
