//! The spans of a run: run, step, attempt, then turns of agents, checks, gates and reviews.

mod attempt;
mod decision;

use std::collections::BTreeMap;

use serde::Deserialize;

pub(super) use attempt::{operation, turn_error};

use super::TurnPlace;
use super::otlp::{Attributes, Span};
use crate::ledger::{LedgerError, chain, sha256, walk};
use onloop_run::{Acting, Event, Run, RunStatus, StepStatus, TurnRecord, Worker};
use onloop_syntax::text;
use onloop_syntax::time::Timestamp;

/// Largest text of an attribute with content, in bytes.
const CONTENT_BYTES: usize = 8 * 1024;

/// The spans of a run and of its forks, and what metrics count.
#[derive(Debug, Default)]
pub(super) struct Trace {
    /// 32 hexadecimal characters.
    pub id: String,
    /// The first one is the run.
    pub spans: Vec<Span>,
    /// The turns of agents, each with how long it took in milliseconds.
    pub turns: Vec<(TurnRecord, u64)>,
    /// How many attempts had each outcome.
    pub attempts: BTreeMap<&'static str, u64>,
    /// How many checks had each verdict.
    pub checks: BTreeMap<&'static str, u64>,
    with_content: bool,
    /// The spans of steps, by their number.
    steps: BTreeMap<u32, usize>,
}

/// The span of the whole run.
const RUN: usize = 0;

/// What is under way while a ledger is read.
struct Reading<'t> {
    trace: &'t mut Trace,
    /// Digest of the first line, from which ids are made.
    seed: String,
    /// The span that stands for the whole ledger: the run, or the step that a fork works on.
    root: usize,
    /// Number and time of the present line; times never go backwards.
    seq: u64,
    at: Timestamp,
    /// Attempts that have not ended, by step.
    open: BTreeMap<u32, usize>,
    /// When the agent of a step was started.
    agents: BTreeMap<u32, Timestamp>,
    /// When checks were started whose results are not known yet.
    checks: Vec<Timestamp>,
    review: Option<Timestamp>,
    set_up: Option<Timestamp>,
    /// When the work of a step was ready for a decision.
    ready: BTreeMap<u32, Timestamp>,
    was_finished: bool,
}

#[derive(Deserialize)]
struct Line {
    at: String,
}

impl Trace {
    /// The trace of the run that `ledger` leads to.
    pub(super) fn begin(
        ledger: &[u8],
        run: &Run,
        with_content: bool,
    ) -> Result<Trace, LedgerError> {
        let (seed, at) = first_line(ledger)?;
        let mut trace = Trace { id: trace_id(&seed), with_content, ..Trace::default() };
        trace.spans.push(Span {
            id: span_id(&seed, "run", 0),
            parent: None,
            name: format!("run {}", text::one_line(&run.place.slug)),
            is_client: false,
            start: at,
            end: at,
            attributes: run_attributes(run),
            error: match run.status {
                RunStatus::Blocked => Some("blocked"),
                RunStatus::Abandoned => Some("abandoned"),
                RunStatus::Running
                | RunStatus::Paused
                | RunStatus::ReadyToFinish
                | RunStatus::Completed => None,
            },
            events: Vec::new(),
        });
        trace.read(ledger, RUN)?;
        for record in &run.steps {
            let Some(&index) = trace.steps.get(&record.step.number) else { continue };
            let span = &mut trace.spans[index];
            span.attributes.text("onloop.step.status", record.status.as_str());
            span.error = match record.status {
                StepStatus::Failed { .. } => Some("failed"),
                StepStatus::Blocked(_) => Some("blocked"),
                StepStatus::Pending | StepStatus::InProgress(_) | StepStatus::Done => None,
            };
        }
        Ok(trace)
    }

    /// Adds what a fork did to the step of the run that it belongs to; one whose step the run has not
    /// forked is left out.
    pub(super) fn add_fork(&mut self, ledger: &[u8]) -> Result<(), LedgerError> {
        let run = walk(ledger, u64::MAX, None, |_, _| {})?.run;
        match self.steps.get(&run.first_step()) {
            Some(&step) if run.fork_of.is_some() => self.read(ledger, step),
            Some(_) | None => Ok(()),
        }
    }

    fn read(&mut self, ledger: &[u8], root: usize) -> Result<(), LedgerError> {
        let (seed, at) = first_line(ledger)?;
        let lines = chain(None, whole_lines(ledger))?;
        let mut reading = Reading {
            trace: self,
            seed,
            root,
            seq: 1,
            at,
            open: BTreeMap::new(),
            agents: BTreeMap::new(),
            checks: Vec::new(),
            review: None,
            set_up: None,
            ready: BTreeMap::new(),
            was_finished: false,
        };
        walk(ledger, u64::MAX, None, |seq, run| {
            let line = usize::try_from(seq - 1).ok().and_then(|index| lines.get(index));
            let Some((_, body)) = line else { return };
            if let Some(at) = time_of(body) {
                reading.at = reading.at.max(at);
            }
            reading.seq = seq;
            // The first line has the record and no event.
            if let Ok(event) = serde_json::from_str::<Event>(body) {
                reading.look(&event, run);
            }
            reading.look_at_run(run);
        })?;
        reading.end();
        Ok(())
    }
}

/// The lines that have a line break.
fn whole_lines(ledger: &[u8]) -> &[u8] {
    let end = memchr::memrchr(b'\n', ledger).map_or(0, |at| at + 1);
    &ledger[..end]
}

/// Digest and time of the first line.
fn first_line(ledger: &[u8]) -> Result<(String, Timestamp), LedgerError> {
    let first = memchr::memchr(b'\n', ledger).map_or(0, |at| at + 1);
    let lines = chain(None, &ledger[..first])?;
    let (head, body) = lines.first().ok_or(LedgerError::Empty)?;
    Ok((head.sha256.clone(), time_of(body).unwrap_or(Timestamp::EPOCH)))
}

/// The id of the trace of the run with this ledger.
pub(super) fn trace_of(ledger: &[u8]) -> Result<String, LedgerError> {
    Ok(trace_id(&first_line(ledger)?.0))
}

/// The id of the span of a turn in the run with this ledger, which it has before it ends.
pub(super) fn turn_of(ledger: &[u8], turn: TurnPlace) -> Result<String, LedgerError> {
    Ok(turn_id(&first_line(ledger)?.0, turn))
}

fn trace_id(seed: &str) -> String {
    sha256(format!("trace {seed}").as_bytes())[..32].to_owned()
}

fn turn_id(seed: &str, TurnPlace { step, attempt, earlier }: TurnPlace) -> String {
    span_id(seed, &format!("turn {step}-{attempt}"), earlier as u64)
}

fn time_of(line: &str) -> Option<Timestamp> {
    Timestamp::parse(&serde_json::from_str::<Line>(line).ok()?.at)
}

/// The id of the `n`th span of this kind, the number of a line in most cases.
fn span_id(seed: &str, kind: &str, n: u64) -> String {
    sha256(format!("{kind} {n} {seed}").as_bytes())[..16].to_owned()
}

fn run_attributes(run: &Run) -> Attributes {
    let mut attributes = Attributes::default();
    attributes.text("onloop.run.id", &run.id);
    attributes.text("onloop.workflow.name", &text::one_line(&run.place.slug));
    attributes.text("onloop.run.status", run.status.as_str());
    attributes.text("onloop.run.risk", run.settings.risk.as_str());
    attributes.int("onloop.run.steps", run.steps.len() as u64);
    attributes.texts("vcs.ref.head.name", run.place.branch.as_deref());
    attributes
}

impl Reading<'_> {
    /// Adds a span that ends now; `kind` and `n` tell it from the others of this ledger.
    fn add(&mut self, (kind, n): (&str, u64), parent: usize, start: Timestamp) -> &mut Span {
        let spans = &mut self.trace.spans;
        spans.push(Span {
            id: span_id(&self.seed, kind, n),
            parent: Some(spans[parent].id.clone()),
            name: kind.to_owned(),
            is_client: false,
            start: start.min(self.at),
            end: self.at,
            attributes: Attributes::default(),
            error: None,
            events: Vec::new(),
        });
        spans.last_mut().expect("it was just added")
    }

    /// The span of a step, which lasts until now at least.
    fn step(&mut self, number: u32, run: &Run) -> usize {
        if self.root != RUN {
            return self.root;
        }
        if let Some(&index) = self.trace.steps.get(&number) {
            self.trace.spans[index].extend_to(self.at);
            return index;
        }
        let with_content = self.trace.with_content;
        let at = self.at;
        let span = self.add(("step", u64::from(number)), RUN, at);
        span.name = format!("step {number}");
        span.attributes.int("onloop.step.number", number);
        if let Some(record) = run.step(number) {
            span.attributes.text("onloop.step.name", &record.step.name);
            if with_content {
                span.attributes.text("onloop.step.action", content(&record.step.action));
            }
        }
        let index = self.trace.spans.len() - 1;
        self.trace.steps.insert(number, index);
        index
    }

    /// The span of the attempt under way at a step, else that of the step.
    fn work(&mut self, number: u32, run: &Run) -> usize {
        let step = self.step(number, run);
        let attempt = self.open.get(&number).copied();
        if let Some(attempt) = attempt {
            self.trace.spans[attempt].extend_to(self.at);
        }
        attempt.unwrap_or(step)
    }

    fn look(&mut self, event: &Event, run: &Run) {
        match event {
            Event::StepStarted { step } => self.begin_attempt(*step, run),
            Event::WorkStarted(acting) => self.start_work(acting, run),
            Event::WorktreeSetUp(_) => {
                let start = self.set_up.take().unwrap_or(self.at);
                self.add(("setup", self.seq), self.root, start);
            }
            Event::AgentEnded(turn) => self.end_turn(turn, run),
            Event::AgentWaits(wait) => self.wait(wait, run),
            Event::StepActed { step } => self.end_agent(*step, run),
            Event::ActionFailed { step, reason, output } => {
                self.end_agent(*step, run);
                self.fail_attempt(*step, reason, output);
            }
            Event::BaselineTaken { step, passed } => self.baseline(*step, passed.len(), run),
            Event::StepVerified { step, results } => self.verify(*step, results, run),
            Event::StepBlocked { step, .. } => {
                self.step(*step, run);
                self.end_attempt(*step, "blocked");
            }
            Event::StepForked { step, .. } => {
                self.step(*step, run);
            }
            Event::ForkMerged(merge) => {
                self.step(merge.step, run);
            }
            Event::GateDecided { step, decision, mode } => self.gate(*step, *decision, *mode, run),
            Event::ReviewFinished { step, verdict, findings, .. } => {
                self.review(*step, *verdict, findings, run);
            }
            Event::ChecksRepeated { repeated, failures, clean, .. } => {
                self.repeat_checks(*repeated, failures.len(), *clean);
            }
            Event::RunPaused { .. } => self.extend_open(),
            Event::StepRedone { .. }
            | Event::StepReopened { .. }
            | Event::ForkDropped { .. }
            | Event::FindingsReturned { .. }
            | Event::VerdictAccepted
            | Event::RunResumed
            | Event::TakenOver { .. }
            | Event::PlanAdopted(_)
            | Event::RecordRebuilt { .. }
            | Event::UsageReported(_)
            | Event::BudgetsChanged(_)
            | Event::RunFinalized
            | Event::RunAbandoned { .. }
            | Event::RunMoved { .. }
            | Event::CopyChanged { .. }
            | Event::CheckpointTaken(_)
            | Event::CheckpointMissed { .. }
            | Event::WorkRestored { .. }
            | Event::FinishIntended { .. }
            | Event::FinishRecorded { .. }
            | Event::FinishAbandoned { .. }
            | Event::PullRequestFollowed { .. }
            | Event::PullRequestSeen { .. }
            | Event::PullRequestReturned { .. }
            | Event::PullRequestLeft { .. } => {}
        }
    }

    fn start_work(&mut self, acting: &Acting, run: &Run) {
        match acting.worker {
            Worker::Agent => {
                self.work(acting.step, run);
                self.agents.insert(acting.step, self.at);
            }
            Worker::Check => self.checks.push(self.at),
            Worker::Review => self.review = Some(self.at),
            Worker::SetUp => {
                self.set_up.get_or_insert(self.at);
            }
        }
    }

    /// What becomes of finished work does not lengthen the run.
    fn look_at_run(&mut self, run: &Run) {
        let is_finished = run.status.is_finished();
        if !(self.was_finished && is_finished) {
            self.trace.spans[self.root].extend_to(self.at);
            self.trace.spans[RUN].extend_to(self.at);
        }
        self.was_finished = is_finished;
    }

    fn extend_open(&mut self) {
        for (number, &attempt) in &self.open {
            self.trace.spans[attempt].extend_to(self.at);
            if let Some(&step) = self.trace.steps.get(number) {
                self.trace.spans[step].extend_to(self.at);
            }
        }
    }

    fn end(mut self) {
        self.extend_open();
        for step in self.open.keys().copied().collect::<Vec<_>>() {
            self.end_attempt(step, "unfinished");
        }
    }
}

/// The end of a text, as much of it as an attribute may hold.
fn content(text: &str) -> &str {
    text::suffix(text, CONTENT_BYTES)
}
