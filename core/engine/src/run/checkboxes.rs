//! The checkboxes of the workflow file: a mirror of the record for people, ticked by us.
//!
//! One byte is changed at a time. What goes wrong here is said and does not stop the run:
//! the record is the truth.

use std::collections::{BTreeMap, BTreeSet};

use onloop_effect::{Failure, Io};
use onloop_run::{Event, Run, StepStatus};
use onloop_syntax::limits;
use onloop_workflow as workflow;

/// Checkboxes of one workflow file, and the steps whose box may be out of date.
#[derive(Debug, Default)]
pub(crate) struct Boxes {
    known: Option<BTreeMap<u32, Mark>>,
    touched: BTreeSet<u32>,
    warned: bool,
}

/// What came of making every box agree with the record.
#[derive(Debug, Default)]
pub struct RepairedBoxes {
    /// A line for each box that was changed.
    pub(crate) changed: Vec<String>,
    /// The first time that a box cannot be changed, why.
    pub warning: Option<String>,
}

/// One checkbox, with enough of its line to recognise it.
#[derive(Debug)]
struct Mark {
    start: usize,
    line: Vec<u8>,
}

/// Bytes of a step's line that are compared before its box is changed.
const COMPARED_BYTES: usize = 64;

/// Where the mark is in `- [ ] **Step …`.
const MARK_AT: usize = 3;

impl Boxes {
    /// Remembers which steps an event may have settled or unsettled.
    pub(crate) fn touch(&mut self, event: &Event) {
        match event {
            Event::StepVerified { step, .. }
            | Event::GateDecided { step, .. }
            | Event::StepRedone { step, .. }
            | Event::FindingsReturned { step }
            | Event::PullRequestReturned { step, .. }
            | Event::StepReopened { step, .. }
            | Event::StepBlocked { step, .. } => {
                self.touched.insert(*step);
            }
            Event::ChecksRepeated { failures, .. } => {
                self.touched.extend(failures.iter().map(|(step, _)| *step));
            }
            Event::StepStarted { .. }
            | Event::WorkStarted(_)
            | Event::WorktreeSetUp(_)
            | Event::AgentEnded(_)
            | Event::AgentWaits(_)
            | Event::StepActed { .. }
            | Event::StepForked { .. }
            | Event::ForkMerged(_)
            | Event::ForkDropped { .. }
            | Event::BaselineTaken { .. }
            | Event::ActionFailed { .. }
            | Event::ReviewFinished { .. }
            | Event::VerdictAccepted
            | Event::RunPaused { .. }
            | Event::RunResumed
            | Event::TakenOver { .. }
            | Event::RecordRebuilt { .. }
            | Event::UsageReported(_)
            | Event::BudgetsChanged(_)
            | Event::RunFinalized
            | Event::RunAbandoned { .. }
            | Event::CopyChanged { .. }
            | Event::CheckpointTaken(_)
            | Event::CheckpointMissed { .. }
            | Event::WorkRestored { .. }
            | Event::FinishIntended { .. }
            | Event::FinishRecorded { .. }
            | Event::FinishAbandoned { .. }
            | Event::PullRequestFollowed { .. }
            | Event::PullRequestSeen { .. }
            | Event::PullRequestLeft { .. } => {}
            // Another file, other lines.
            Event::PlanAdopted(_) | Event::RunMoved { .. } => self.known = None,
        }
    }

    /// Makes the boxes of touched steps agree with the record; returns a warning the first
    /// time that this is not possible.
    pub(crate) async fn mirror_touched(&mut self, io: &Io, run: &Run) -> Option<String> {
        for step in std::mem::take(&mut self.touched) {
            if run.fork_of.is_some() {
                // The run that it belongs to ticks them.
                continue;
            }
            if let Err(why) = self.mirror(io, run, step).await
                && let Some(warning) = self.first_warning(&why)
            {
                return Some(warning);
            }
        }
        None
    }

    fn first_warning(&mut self, why: &Failure) -> Option<String> {
        let is_first = !std::mem::replace(&mut self.warned, true);
        is_first.then(|| format!("warning: the workflow's checkboxes are not kept: {why}"))
    }

    /// Makes every box agree with the record. A file that is not there has none.
    pub(crate) async fn mirror_all(&mut self, io: &Io, run: &Run) -> RepairedBoxes {
        let mut repaired = RepairedBoxes::default();
        if run.fork_of.is_some() || self.read(io, run).await.is_err() {
            return repaired;
        }
        for record in &run.steps {
            let step = record.step.number;
            match self.mirror(io, run, step).await {
                Ok(false) => {}
                Ok(true) => {
                    let done = record.status == StepStatus::Done;
                    let verb = if done { "marked done" } else { "unmarked" };
                    let step = format!("Step {step} {verb} from the record");
                    repaired.changed.push(format!("Repaired checkbox drift: {step}"));
                }
                Err(why) => {
                    let warning = self.first_warning(&why);
                    repaired.warning = repaired.warning.or(warning);
                }
            }
        }
        repaired
    }

    /// Whether the box had to be changed.
    async fn mirror(&mut self, io: &Io, run: &Run, step: u32) -> Result<bool, Failure> {
        if self.known.is_none() {
            self.read(io, run).await?;
        }
        match self.patch(io, run, step).await {
            Err(failure) if failure.is_conflict() => {}
            result => return result,
        }
        // Somebody edited the file: look again, once.
        self.read(io, run).await?;
        self.patch(io, run, step).await
    }

    async fn read(&mut self, io: &Io, run: &Run) -> Result<(), Failure> {
        let path = &run.place.workflow_path;
        let (bytes, _) = io.read(path, limits::WORKFLOW_BYTES as u64).await?;
        let found = workflow::parse(path, &bytes).checkboxes;
        let known = found.into_iter().filter_map(|found| {
            let start = found.offset.checked_sub(MARK_AT)?;
            let rest = bytes.get(start..)?;
            let end = rest.iter().position(|byte| *byte == b'\n').unwrap_or(rest.len());
            let line = rest[..end.min(COMPARED_BYTES)].to_vec();
            Some((found.step, Mark { start, line }))
        });
        self.known = Some(known.collect());
        Ok(())
    }

    async fn patch(&mut self, io: &Io, run: &Run, step: u32) -> Result<bool, Failure> {
        let done = run.step(step).is_some_and(|record| record.status == StepStatus::Done);
        // Legacy headings have no box.
        let known = self.known.as_mut().and_then(|known| known.get_mut(&step));
        let Some(known) = known else { return Ok(false) };
        let ticked = known.line.get(MARK_AT).is_some_and(|mark| *mark != b' ');
        if ticked == done {
            return Ok(false);
        }
        // The text around the mark is compared too: a file that was edited must not get
        // a tick in the wrong place.
        let mut line = known.line.clone();
        line[MARK_AT] = if done { b'x' } else { b' ' };
        let path = &run.place.workflow_path;
        io.patch(path, known.start as u64, &known.line, &line).await?;
        known.line = line;
        Ok(true)
    }
}
