//! The record of a run: what happened, what may happen, and what happens next.
//!
//! A [`Run`] is a [`Record`] that can only be read. [`Run::begin`] makes one from a plan,
//! [`Run::restore`] takes one back from where it was stored, [`Run::apply`] is the only way to
//! change it, and [`Run::next`] alone decides what should happen now. Reports and summaries are
//! renderings of it.
#![forbid(unsafe_code)]

mod attention;
mod begin;
mod budget;
mod checked;
mod checkpoint;
mod decision;
mod event;
mod evidence;
mod facts;
mod finish;
mod fork;
mod gate;
mod kept;
mod last_failure;
mod next;
mod now;
mod place;
mod prompt;
mod protect;
mod pull_request;
mod record;
mod repeated;
mod report;
mod review;
mod sandboxes;
pub mod simulated;
mod stale;
mod summary;
mod test_runners;
#[cfg(test)]
mod tests;
mod tests_passed;
mod tool_call;
mod transition;
mod verdict;
mod wait;
mod warning;

pub use attention::{Attention, AttentionTracker, NoticeKind};
pub use begin::{Beginning, RestoreError, is_run_id, unique_id};
pub use budget::{Exceeded, exceeded};
pub use checked::checked_lines;
pub use checkpoint::{Checkpoint, CheckpointKind, CheckpointMoment};
pub use event::*;
pub use facts::checks;
pub use facts::{ChangedWork, CheckFact, Facts, Unapproved};
pub use finish::*;
pub use fork::*;
pub use gate::{AutomaticReason, GateRule, HumanReason, approval_line, gate_rule, rejected_at};
pub use next::{Blocker, Next, Question};
pub use now::StatusSummary;
pub use prompt::{continue_prompt, retry_prompt, step_prompt};
pub use protect::{ProtectedAs, Protection, may_change};
pub use pull_request::*;
pub use record::*;
pub use report::{describe_check, render_report};
pub use review::{parse_verdict, review_due_at_gate, review_prompt, review_range};
pub use sandboxes::{SandboxStatus, WorkerSandbox, sandbox_line};
pub use simulated::{
    AtMost, PageChecks, SimulatedEvent, after_steps, at_most, parallel_groups, simulated_events,
};
pub use stale::Stale;
pub use summary::{Platform, render_summary, step_line, step_list, symbol_and_word, usage_line};
pub use test_runners::{RunnerReport, runner_report};
pub use tests_passed::tests_passed;
pub use tool_call::*;
pub use transition::{FinishRefusal, Missing, Refusal};
pub use verdict::Verdict;
pub use wait::{Refused, TurnEnding, Wait, WaitReason};
pub use warning::*;

pub mod preflight;
