//! Between events and their documents.

use std::str::FromStr;

use super::EventDocument;
use crate::checkpoint::{checkpoint_document, moment_parts, read_checkpoint, read_moment};
use crate::document::{DocumentError, Generation, Lacks};
use crate::finish::{act_document, outcome_document, read_act, read_outcome};
use crate::result::{check_warnings_document, read_check_warnings, read_result, result_document};
use crate::run::{
    ActingDocument, LimitsDocument, acting_document, acting_of, limits_document, read_limits,
    read_plan_step, step_document,
};
use crate::turn::{read_turn, read_wait, turn_document, wait_document};
use onloop_run::{Adoption, Amount, Event, SetUp, StepRecord, Usage, Worker, Written};
use onloop_syntax::money::Money;
use onloop_syntax::text::UnknownWord;
use onloop_workflow::{Budgets, CommitWhen};

pub(super) fn to_document(event: &Event) -> EventDocument {
    match event.clone() {
        Event::StepStarted { step } => EventDocument::StepStarted { step },
        Event::WorkStarted(acting) => {
            let document = acting_document(&acting);
            match acting.worker {
                Worker::Agent => EventDocument::AgentStarted(document),
                Worker::Check => EventDocument::CheckStarted(document),
                Worker::Review => EventDocument::ReviewStarted(document),
                Worker::SetUp => EventDocument::SetupStarted(document),
            }
        }
        Event::WorktreeSetUp(SetUp { copied, commands }) => {
            EventDocument::WorktreeSetUp { copied, commands }
        }
        Event::AgentEnded(turn) => EventDocument::AgentEnded(turn_document(&turn)),
        Event::AgentWaits(wait) => EventDocument::AgentWaits(wait_document(&wait)),
        Event::StepActed { step } => EventDocument::StepActed { step },
        Event::ActionFailed { step, reason, output } => {
            EventDocument::ActionFailed { step, reason, output }
        }
        Event::StepVerified { step, results } => EventDocument::StepVerified {
            step,
            results: results.iter().map(result_document).collect(),
        },
        Event::StepBlocked { step, reason } => EventDocument::StepBlocked { step, reason },
        Event::GateDecided { step, decision, mode } => EventDocument::GateDecided {
            step,
            decision: decision.as_str().to_owned(),
            mode: mode.as_str().to_owned(),
        },
        Event::StepRedone { step, reason } => EventDocument::StepRedone { step, reason },
        Event::StepReopened { step, reason } => EventDocument::StepReopened { step, reason },
        Event::ReviewFinished { step, verdict, findings, base } => EventDocument::ReviewFinished {
            step,
            verdict: verdict.as_str().to_owned(),
            findings,
            base,
        },
        Event::VerdictAccepted => EventDocument::VerdictAccepted {},
        Event::ChecksRepeated { repeated, failures, warnings } => EventDocument::ChecksRepeated {
            repeated,
            failures: failures.iter().map(|(step, r)| (*step, result_document(r))).collect(),
            warnings: warnings.iter().map(check_warnings_document).collect(),
        },
        Event::RunPaused { reason } => EventDocument::RunPaused { reason },
        Event::RunResumed => EventDocument::RunResumed {},
        Event::TakenOver { reason } => EventDocument::TakenOver { reason },
        Event::PlanAdopted(adoption) => EventDocument::PlanAdopted {
            intent: adoption.intent,
            success_criteria: adoption.success_criteria,
            risk_level: adoption.risk.as_str().to_owned(),
            auto_approve: adoption.written.auto_approve,
            limits: limits_document(&adoption.written.budgets),
            allow: adoption.allow,
            protect: adoption.protect,
            commit: (adoption.commit != CommitWhen::End)
                .then(|| adoption.commit.as_str().to_owned()),
            setup: adoption.setup,
            confine: adoption.confine.then(|| "on".to_owned()),
            plan_digest: adoption.digest,
            steps: adoption
                .steps
                .into_iter()
                .map(|step| step_document(&StepRecord::pending(step)))
                .collect(),
        },
        Event::RecordRebuilt { ticked } => EventDocument::RecordRebuilt { ticked },
        Event::BudgetsChanged(budgets) => {
            EventDocument::BudgetsChanged { limits: limits_document(&budgets) }
        }
        Event::UsageReported(usage) => EventDocument::UsageReported {
            agents: usage.agents,
            cost_usd_micros: usage.cost.known().map(Money::micros),
            tokens: usage.tokens.known(),
        },
        Event::RunFinalized => EventDocument::RunFinalized {},
        Event::RunAbandoned { reason } => EventDocument::RunAbandoned { reason },
        Event::RunMoved { execution_root, checkout, started_in, lost_checkpoints } => {
            EventDocument::RunMoved { execution_root, checkout, started_in, lost_checkpoints }
        }
        Event::CopyChanged { path, what } => EventDocument::CopyChanged { path, what },
        Event::CheckpointTaken(checkpoint) => {
            EventDocument::CheckpointTaken(checkpoint_document(&checkpoint))
        }
        Event::CheckpointMissed { moment, reason } => {
            let (kind, step, attempt) = moment_parts(moment);
            EventDocument::CheckpointMissed { kind: kind.to_owned(), step, attempt, reason }
        }
        Event::WorkRestored { to } => EventDocument::WorkRestored { to },
        Event::FinishIntended { act, notes, replace } => {
            let intent = act_document(&act, None, notes.as_deref());
            EventDocument::FinishIntended { intent, replace }
        }
        Event::FinishRecorded { outcome, replace } => {
            EventDocument::FinishRecorded { finish: outcome_document(&outcome), replace }
        }
        Event::FinishAbandoned { reason } => EventDocument::FinishAbandoned { reason },
    }
}

fn work_started(worker: Worker, document: ActingDocument) -> Result<Event, DocumentError> {
    demand("acting", document.lacks)?;
    Ok(Event::WorkStarted(acting_of(worker, document)?))
}

pub(super) fn from_document(document: EventDocument) -> Result<Event, DocumentError> {
    Ok(match document {
        EventDocument::StepStarted { step } => Event::StepStarted { step },
        EventDocument::AgentStarted(acting) => work_started(Worker::Agent, acting)?,
        EventDocument::CheckStarted(acting) => work_started(Worker::Check, acting)?,
        EventDocument::ReviewStarted(acting) => work_started(Worker::Review, acting)?,
        EventDocument::SetupStarted(acting) => work_started(Worker::SetUp, acting)?,
        EventDocument::WorktreeSetUp { copied, commands } => {
            Event::WorktreeSetUp(SetUp { copied, commands })
        }
        EventDocument::AgentEnded(turn) => {
            demand("turn", turn.lacks)?;
            Event::AgentEnded(read_turn(turn))
        }
        EventDocument::AgentWaits(wait) => {
            demand("wait", wait.lacks)?;
            Event::AgentWaits(read_wait(wait)?)
        }
        EventDocument::StepActed { step } => Event::StepActed { step },
        EventDocument::ActionFailed { step, reason, output } => {
            Event::ActionFailed { step, reason, output }
        }
        EventDocument::StepVerified { step, results } => Event::StepVerified {
            step,
            results: results.into_iter().map(read_result).collect::<Result<_, _>>()?,
        },
        EventDocument::StepBlocked { step, reason } => Event::StepBlocked { step, reason },
        EventDocument::GateDecided { step, decision, mode } => Event::GateDecided {
            step,
            decision: word("decision", &decision)?,
            mode: word("mode", &mode)?,
        },
        EventDocument::StepRedone { step, reason } => Event::StepRedone { step, reason },
        EventDocument::StepReopened { step, reason } => Event::StepReopened { step, reason },
        EventDocument::ReviewFinished { step, verdict, findings, base } => {
            Event::ReviewFinished { step, verdict: word("verdict", &verdict)?, findings, base }
        }
        EventDocument::VerdictAccepted {} => Event::VerdictAccepted,
        EventDocument::ChecksRepeated { repeated, failures, warnings } => Event::ChecksRepeated {
            warnings: warnings.into_iter().map(read_check_warnings).collect::<Result<_, _>>()?,
            repeated,
            failures: failures
                .into_iter()
                .map(|(step, result)| read_result(result).map(|result| (step, result)))
                .collect::<Result<_, _>>()?,
        },
        EventDocument::RunPaused { reason } => Event::RunPaused { reason },
        EventDocument::RunResumed {} => Event::RunResumed,
        EventDocument::TakenOver { reason } => Event::TakenOver { reason },
        EventDocument::UsageReported { agents, cost_usd_micros, tokens } => {
            let cost = cost_usd_micros.map(Money::from_micros);
            Event::UsageReported(Usage {
                agents,
                cost: cost.map_or(Amount::Unknown, Amount::Known),
                tokens: tokens.map_or(Amount::Unknown, Amount::Known),
            })
        }
        EventDocument::RunFinalized {} => Event::RunFinalized,
        EventDocument::RunAbandoned { reason } => Event::RunAbandoned { reason },
        EventDocument::RunMoved { execution_root, checkout, started_in, lost_checkpoints } => {
            Event::RunMoved { execution_root, checkout, started_in, lost_checkpoints }
        }
        EventDocument::CopyChanged { path, what } => Event::CopyChanged { path, what },
        EventDocument::CheckpointTaken(document) => {
            demand("checkpoint", document.lacks)?;
            Event::CheckpointTaken(read_checkpoint(document)?)
        }
        EventDocument::CheckpointMissed { kind, step, attempt, reason } => {
            Event::CheckpointMissed { moment: read_moment(&kind, step, attempt)?, reason }
        }
        EventDocument::WorkRestored { to } => Event::WorkRestored { to },
        EventDocument::PlanAdopted {
            intent,
            success_criteria,
            risk_level,
            auto_approve,
            limits,
            allow,
            protect,
            commit,
            setup,
            confine,
            plan_digest,
            steps,
        } => Event::PlanAdopted(Box::new(Adoption {
            intent,
            success_criteria,
            risk: risk_level.parse().map_err(|_| {
                let what = format!("is {risk_level:?}, expected low, medium or high");
                DocumentError::member("risk_level", what)
            })?,
            written: Written { auto_approve, budgets: limits_of(&limits)? },
            allow,
            protect,
            commit: match commit {
                Some(when) => word("commit", &when)?,
                None => CommitWhen::default(),
            },
            setup,
            confine: match confine.as_deref() {
                None => false,
                Some("on") => true,
                Some(other) => {
                    let what = format!("is {other:?}, expected on");
                    return Err(DocumentError::member("confine", what));
                }
            },
            steps: steps
                .into_iter()
                .enumerate()
                .map(|step| {
                    read_plan_step(step).map_err(|error| DocumentError::member("steps", error))
                })
                .collect::<Result<_, _>>()?,
            digest: plan_digest,
        })),
        EventDocument::RecordRebuilt { ticked } => Event::RecordRebuilt { ticked },
        EventDocument::BudgetsChanged { limits } => Event::BudgetsChanged(limits_of(&limits)?),
        EventDocument::FinishIntended { intent, replace } => {
            demand("intent", intent.lacks)?;
            let notes = intent.notes.clone();
            Event::FinishIntended { act: read_act(intent)?, notes, replace }
        }
        EventDocument::FinishRecorded { finish, replace } => {
            demand("finish", finish.lacks)?;
            Event::FinishRecorded { outcome: read_outcome(finish)?, replace }
        }
        EventDocument::FinishAbandoned { reason } => Event::FinishAbandoned { reason },
    })
}

fn limits_of(limits: &LimitsDocument) -> Result<Budgets, DocumentError> {
    read_limits(limits).map_err(|error| DocumentError::member("limits", error))
}

fn word<T: FromStr<Err = UnknownWord>>(member: &str, word: &str) -> Result<T, DocumentError> {
    word.parse().map_err(|error| DocumentError::member(member, error))
}

fn demand(place: &str, lacks: Lacks) -> Result<(), DocumentError> {
    match lacks.of(Generation::Present) {
        Some(member) => Err(DocumentError::member(format!("{place}.{member}"), "is missing")),
        None => Ok(()),
    }
}
