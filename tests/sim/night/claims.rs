//! What must hold in every night.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use super::agent::Doing;
use super::{Night, number_in};
use crate::{Moment, PowerLoss};

impl Night {
    /// Whether an agent was told of its own goal, and of nobody else's.
    pub(super) fn is_about(&self, at: usize, prompt: &str) -> Result<(), String> {
        let own = self.agents[at].id;
        if !prompt.contains(&format!("onloop session done {own}\n")) {
            return Err(format!("{own} is told of something else: {prompt}"));
        }
        let others = self.agents.iter().filter(|agent| agent.id != own);
        match others.into_iter().find(|other| prompt.contains(other.id)) {
            Some(other) => Err(format!("{own} is told of {}: {prompt}", other.id)),
            None => Ok(()),
        }
    }

    /// Whether a decision is what the person said first, about one of the messages of the call.
    pub(super) fn is_what_was_said(
        &self,
        call: u32,
        decision: &str,
        by_hand: bool,
    ) -> Result<(), String> {
        let now_ms = self.passed_ms();
        let chat = self.chat.borrow();
        let presses = self.presses.borrow();
        let about = chat.messages.iter().filter(|m| number_in(&m.text) == Some(call));
        let mut first = about.filter_map(|message| {
            let of_question = presses.get(&message.nonce)?;
            of_question.iter().find(|(at_ms, _)| *at_ms <= now_ms).map(|(_, word)| *word)
        });
        if first.any(|word| word == decision) || (by_hand && decision == "deny") {
            return Ok(());
        }
        Err(format!("call {call} was decided as {decision}, which nobody said"))
    }

    /// After everything that happens.
    pub(super) fn look(&mut self) -> Result<(), String> {
        let chat = self.chat.borrow();
        self.trace.questions = u32::try_from(chat.messages.len()).unwrap_or(u32::MAX);
        // A question whose buttons are there is open: nobody asks the same beside it.
        let mut open: BTreeMap<u32, &str> = BTreeMap::new();
        for message in chat.messages.iter().filter(|message| !message.buttons.is_empty()) {
            let Some(call) = number_in(&message.text) else { continue };
            let other = open.insert(call, &message.nonce);
            if other.is_some_and(|other| other != message.nonce)
                && !self.cut.contains(&call)
                && !self.could_not_close(call)
            {
                return Err(format!("call {call} is asked twice"));
            }
        }
        Ok(())
    }

    /// Whether the chat may have been out of reach when a question was over.
    fn could_not_close(&self, call: u32) -> bool {
        let chat = self.chat.borrow();
        let mut about = chat.messages.iter().filter(|m| number_in(&m.text) == Some(call));
        let first = about.next().map(|message| message.at.millis_since(self.began));
        let now_ms = self.passed_ms();
        first.is_some_and(|from| (from..now_ms).step_by(1000).any(|ms| self.is_chat_lost(ms)))
    }

    /// In the morning each session is done, or waits and says for what.
    pub(super) fn morning(&mut self) -> Result<(), String> {
        let (at_request, moment) = (usize::MAX, Moment::Before);
        self.host.lose_power(PowerLoss { at_request, moment, lose_relaxed: false });
        self.host.stand_in("/b");
        let (list, _) = self.onloop(&["onloop", "session", "list", "--everywhere", "--json"]);
        let list: Value = serde_json::from_str(&list).map_err(|error| error.to_string())?;
        let sessions = list["sessions"].as_array().cloned().unwrap_or_default();
        for agent in &self.agents {
            let of_agent = sessions.iter().find(|session| session["id"] == agent.id);
            let Some(session) = of_agent else {
                return Err(format!("{} is not found", agent.id));
            };
            let (standing, now) = (&session["activity"], session["now"].as_str().unwrap_or(""));
            let fits = match agent.doing {
                Doing::Done => standing == "ended" && now.starts_with("done"),
                Doing::Works => standing != "ended" || now.starts_with("done"),
                Doing::Deferred(_) => standing == "waits" && now.contains("waits for an answer"),
                // The client is not there to say that it works.
                Doing::Rests => {
                    ["waits", "limited", "quiet"].iter().any(|word| standing == word)
                        && !now.is_empty()
                }
                Doing::Gone(_) | Doing::AsksAtTerminal(_) => {
                    standing != "unreadable" && (standing == "working" || !now.is_empty())
                }
            };
            if !fits {
                return Err(format!("{} {:?} is {standing}: {now}", agent.id, agent.doing));
            }
            match agent.doing {
                Doing::Done => self.trace.done += 1,
                Doing::Works => {}
                _ => self.trace.waiting += 1,
            }
        }
        self.nothing_is_lost()
    }

    /// What the person has said in the chat about a call that waits decides it when its session goes on, and
    /// nobody is asked again.
    fn nothing_is_lost(&mut self) -> Result<(), String> {
        // The chat works in the morning.
        let quiet_ms = super::NIGHT_MS + 60 * super::MINUTE_MS;
        let ahead_ms = quiet_ms.saturating_sub(self.passed_ms());
        self.host.jump_clock(ahead_ms.cast_signed());
        for at in 0..self.agents.len() {
            let Doing::Deferred(call) = self.agents[at].doing else { continue };
            let (open, said) = self.open_about(call);
            let asked = self.questions_about(call);
            self.ask(at, call)?;
            let decided = self.agents[at].doing == Doing::Works;
            if said && !decided {
                return Err(format!("what was said about call {call} is lost"));
            }
            if open && self.questions_about(call) > asked && !self.cut.contains(&call) {
                return Err(format!("call {call} is asked again in the morning"));
            }
        }
        Ok(())
    }

    /// How many questions about a call there were. A message that the chat did not confirm is sent again, and
    /// is the same question.
    fn questions_about(&self, call: u32) -> usize {
        let chat = self.chat.borrow();
        let about = chat.messages.iter().filter(|m| number_in(&m.text) == Some(call));
        about.map(|message| &message.nonce).collect::<BTreeSet<_>>().len()
    }

    /// Whether a question about a call is open, and whether the person has answered it. The last one counts:
    /// a power cut can make an earlier one forgotten, which stays in the chat.
    fn open_about(&self, call: u32) -> (bool, bool) {
        let (chat, presses) = (self.chat.borrow(), self.presses.borrow());
        let mut about = chat.messages.iter().filter(|m| number_in(&m.text) == Some(call));
        let Some(open) = about.rfind(|message| !message.buttons.is_empty()) else {
            return (false, false);
        };
        let said = presses.get(&open.nonce).and_then(|presses| presses.first());
        (true, said.is_some_and(|(at_ms, _)| *at_ms <= self.passed_ms()))
    }
}
