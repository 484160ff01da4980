//! What a person decides, by means of the programs of the command line.

use super::*;
use crate::web::captured::{Said, captured};
use onloop_engine::error::ErrorKind;
use onloop_engine::lookup::select::{Fitting, RunName, open};
use onloop_engine::run::background::{continue_run, resume_in_background};
use onloop_engine::run::decider::channel_of;
use onloop_run::DecisionChannel;
use onloop_verbs::gate::decide_as_displayed;
use onloop_verbs::{
    ApproveArgs, DisplayedDecision, DisplayedRun, DispositionWord, FinishArgs, StepAction,
    StepArgs, UndoArgs, approve, finish, interrupt, step, undo,
};
use serde_json::json;

/// An action on a run, as the page sends it.
enum RunAction {
    /// The decision at a gate or a review.
    Decide(DisplayedDecision),
    /// Try a blocked step again, with a note for its agent.
    Retry { note: String },
    /// Continue in the background.
    Resume,
    /// Interrupt its driver.
    Stop,
    /// Bring back the files of a checkpoint.
    Undo { to: String },
    /// What becomes of the work.
    Finish(DispositionWord),
}

impl RunAction {
    /// Reads a form. `None`: it names no action.
    fn read(form: &Fields) -> Option<RunAction> {
        let field = |name: &str| form.get(name).to_owned();
        Some(match form.get("action") {
            "approve" => RunAction::Decide(DisplayedDecision::Approve { typed: field("name") }),
            "reject" => RunAction::Decide(DisplayedDecision::Reject),
            "redo" => RunAction::Decide(DisplayedDecision::Redo { reason: field("reason") }),
            "retry" => RunAction::Retry { note: field("reason") },
            "resume" => RunAction::Resume,
            "stop" => RunAction::Stop,
            "undo" => RunAction::Undo { to: field("to") },
            "merge" => RunAction::Finish(DispositionWord::Merge),
            "pr" => RunAction::Finish(DispositionWord::Pr),
            "discard" => RunAction::Finish(DispositionWord::Discard),
            _ => return None,
        })
    }
}

impl Server {
    /// Does what a form asks for with a run, and answers what was said.
    pub(super) async fn act_on_run(&mut self, id: &str, form: &Fields) -> CallAnswer {
        let Some(action) = RunAction::read(form) else { return refused(Rejected::Malformed) };
        let step = form.get("step").parse().unwrap_or_default();
        let (id, seen) = (id.to_owned(), form.get("seen").to_owned());
        // A decision compares the record itself, and a run that is to be stopped changes all the time.
        if !matches!(action, RunAction::Decide(_) | RunAction::Stop) {
            let view = self.watcher.run(&self.io, &id).await;
            if view.is_none_or(|view| view.seen != seen) {
                let what = "the run has changed since; look at it again";
                return self.outcome(Err(CommandError::failed(what)));
            }
        }
        let outcome = captured(&self.io, async move |io: Io| {
            Box::pin(perform(&io, action, DisplayedRun { run_id: &id, step, record: &seen })).await
        });
        let outcome = outcome.await;
        self.outcome(outcome)
    }

    /// The answer to a call of a tool that waits.
    pub(super) async fn answer_waiting(&mut self, call: &str, form: &Fields) -> CallAnswer {
        let deny = match form.get("answer") {
            "allow" => false,
            "deny" => true,
            _ => return refused(Rejected::Malformed),
        };
        // The beginning of an id is enough at a terminal; here it is the whole.
        let board = self.watcher.look(&self.io).await;
        let waiting = board.calls.iter().find(|waiting| waiting.id == call);
        let args = ApproveArgs { id: Some(call.to_owned()), deny, ..ApproveArgs::default() };
        let outcome = match waiting {
            None => Err(CommandError::usage("this call does not wait any more")),
            Some(waiting) if !deny && !waiting.complete => {
                let what = "there is more of this call than the page shows";
                let command = format!("onloop approve {}", waiting.id);
                Err(CommandError::usage(what).fix_by("answer it in a terminal", command))
            }
            Some(_) => captured(&self.io, |io| async move { approve(&io, &args).await }).await,
        };
        self.outcome(outcome)
    }

    /// What a program said, as the page shows it; with 409 nothing was done.
    fn outcome(&mut self, outcome: Result<Said, CommandError>) -> CallAnswer {
        let (status, said) = match outcome {
            Ok(Said { exit: Exit::Done, said }) => (200, said),
            Ok(Said { exit, said }) => {
                self.is_interrupted |= exit == Exit::Interrupted;
                (409, said)
            }
            Err(error) => {
                self.is_interrupted |= error.kind() == ErrorKind::Interrupted;
                (409, error.render())
            }
        };
        data(status, json!({ "said": self.io.redacted(said.trim()) }))
    }
}

/// Does `action` with the run that a person has looked at.
async fn perform(io: &Io, action: RunAction, seen: DisplayedRun<'_>) -> Result<Exit, CommandError> {
    let run = || RunName::from(Some(seen.run_id.to_owned()));
    match action {
        RunAction::Decide(decision) => {
            let channel = channel_of(io, DecisionChannel::Web);
            decide_as_displayed(io, seen, &decision, channel).await?;
            Ok(Exit::Done)
        }
        RunAction::Retry { note } => {
            let (action, reason) = (StepAction::Reopen, Some(note));
            step(io, &StepArgs { step: seen.step, action, run: run(), reason, json: false })
                .await?;
            let store = open(io, Some(seen.run_id), Fitting::OnlyUnfinished).await?;
            continue_run(io, &store, false).await;
            Ok(Exit::Done)
        }
        RunAction::Resume => {
            let store = open(io, Some(seen.run_id), Fitting::OnlyUnfinished).await?;
            resume_in_background(io, &store).await?;
            Ok(Exit::Done)
        }
        RunAction::Stop => {
            let store = open(io, Some(seen.run_id), Fitting::OnlyUnfinished).await?;
            interrupt(io, &store, false).await?;
            io.note("The run is asked to stop.").await;
            Ok(Exit::Done)
        }
        RunAction::Undo { to } => undo(io, &UndoArgs { run: run(), step: to }).await,
        RunAction::Finish(word) => {
            let confirm = (word == DispositionWord::Discard).then(|| "discard".to_owned());
            finish(io, &FinishArgs { confirm, ..FinishArgs::new(seen.run_id, word) }).await
        }
    }
}
