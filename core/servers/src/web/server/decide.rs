//! What a person decides, by means of the programs of the command line.

use super::*;
use crate::web::captured::captured;
use onloop_run::Door;
use onloop_verbs::gate::decide_as_seen;
use onloop_verbs::{ApproveArgs, SeenDecision, SeenRun, approve};

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
            Err(why) => self.show_run(session, id, None, Some(&why), 409).await,
        }
    }

    async fn decided(&mut self, id: &str, form: &Fields) -> Result<(), String> {
        let decision = match form.get("decision") {
            "approved" => SeenDecision::Approve { typed: form.get("name").to_owned() },
            "rejected" => SeenDecision::Reject,
            "redo" => SeenDecision::Redo { reason: form.get("reason").to_owned() },
            _ => return Err("The form has no decision; nothing is decided.".to_owned()),
        };
        let step = form
            .get("step")
            .parse()
            .map_err(|_| "The form names no step; nothing is decided.".to_owned())?;
        let (id, record) = (id.to_owned(), form.get("seen").to_owned());
        let decide = |io: Io| async move {
            let seen = SeenRun { run_id: &id, step, record: &record };
            decide_as_seen(&io, seen, &decision, Door::Web).await
        };
        match captured(&self.io, decide).await {
            (Exit::Done, _) => Ok(()),
            (exit, said) => {
                self.is_interrupted |= exit == Exit::Interrupted;
                Err(said)
            }
        }
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
        let board = self.lookout.look(&self.io).await;
        let waiting = board.calls.iter().find(|waiting| waiting.id == call);
        let args = ApproveArgs { id: Some(call.to_owned()), deny, ..ApproveArgs::default() };
        let outcome = match waiting {
            None => (Exit::Usage, "This call does not wait any more.".to_owned()),
            Some(waiting) if !deny && !waiting.complete => {
                let why = "There is more of this call than the page shows. In a terminal:";
                (Exit::Usage, format!("{why} onloop approve {}", waiting.id))
            }
            Some(_) => captured(&self.io, |io| async move { approve(&io, &args).await }).await,
        };
        let (status, title) = match outcome.0 {
            Exit::Done => (200, "Answered"),
            Exit::Interrupted => {
                self.is_interrupted = true;
                (409, "Nothing was answered")
            }
            _ => (409, "Nothing was answered"),
        };
        let said = self.io.redacted(outcome.1.trim());
        let sentences: Vec<&str> = said.lines().collect();
        answer(status, Content::Page, &page::outcome_page(title, &sentences, &root))
    }
}
