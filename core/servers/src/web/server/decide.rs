//! What a person decides, by means of the programs of the command line.

use super::*;
use crate::web::captured::{Said, captured};
use onloop_engine::error::ErrorKind;
use onloop_run::DecisionChannel;
use onloop_verbs::gate::decide_as_displayed;
use onloop_verbs::{ApproveArgs, DisplayedDecision, DisplayedRun, approve};

impl Server {
    /// The decision at a gate or a review.
    pub(super) async fn decide(
        &mut self,
        session: SignedIn,
        id: &str,
        form: &Fields,
    ) -> CallAnswer {
        match self.decided(id, form).await {
            Ok(()) => elsewhere(&format!("{}/run/{id}", self.guard.root())),
            Err(error) => {
                self.is_interrupted |= error.kind() == ErrorKind::Interrupted;
                self.show_run(session, id, None, Some(&error.render()), 409).await
            }
        }
    }

    async fn decided(&self, id: &str, form: &Fields) -> Result<(), CommandError> {
        let decision = match form.get("decision") {
            "approved" => DisplayedDecision::Approve { typed: form.get("name").to_owned() },
            "rejected" => DisplayedDecision::Reject,
            "redo" => DisplayedDecision::Redo { reason: form.get("reason").to_owned() },
            _ => return Err(CommandError::usage("the form has no decision; nothing is decided")),
        };
        let step = form.get("step").parse();
        let step =
            step.map_err(|_| CommandError::usage("the form names no step; nothing is decided"))?;
        let (id, record) = (id.to_owned(), form.get("seen").to_owned());
        let decide = async move |io: Io| {
            let seen = DisplayedRun { run_id: &id, step, record: &record };
            decide_as_displayed(&io, seen, &decision, DecisionChannel::Web).await?;
            Ok(Exit::Done)
        };
        captured(&self.io, decide).await?;
        Ok(())
    }

    /// The answer to a call of a tool that waits.
    pub(super) async fn answer_waiting(&mut self, call: &str, form: &Fields) -> CallAnswer {
        let root = format!("{}/", self.guard.root());
        let deny = match form.get("answer") {
            "allow" => false,
            "deny" => true,
            _ => return refused(TurnedAway::Malformed),
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
        let (status, title, said) = match outcome {
            Ok(Said { exit: Exit::Done, said }) => (200, "Answered", said),
            Ok(Said { exit, said }) => {
                self.is_interrupted |= exit == Exit::Interrupted;
                (409, "Nothing was answered", said)
            }
            Err(error) => {
                self.is_interrupted |= error.kind() == ErrorKind::Interrupted;
                (409, "Nothing was answered", error.render())
            }
        };
        let said = self.io.redacted(said.trim());
        let sentences: Vec<&str> = said.lines().collect();
        answer(status, Content::Page, &page::outcome_page(title, &sentences, &root))
    }
}
