//! What an agent tells while it works.

use serde_json::{Value, json};

use super::super::call::{ToolCall, said};
use super::{AcpDialog, CALL_ID_BYTES, Phase, StreamEvent};
use crate::event::CallEnd;
use onloop_syntax::money::Money;
use onloop_syntax::{limits, text};

impl AcpDialog {
    pub(super) fn updated(&mut self, params: &Value) {
        let update = &params["update"];
        let kind = update["sessionUpdate"].as_str().unwrap_or_default();
        if self.session.is_none() || params["sessionId"] != json!(self.session) {
            // Agents may tell about a session before they have named it.
            if self.phase == Phase::Prompt {
                self.fault("an update of another session");
            }
            return;
        }
        if kind == "usage_update" {
            return self.cost(update);
        }
        // A conversation that is loaded is told again from its beginning.
        if self.phase != Phase::Prompt {
            return;
        }
        match kind {
            "agent_message_chunk" => self.spoke(update),
            "agent_thought_chunk" => self.tell(&StreamEvent::Working),
            "tool_call" | "tool_call_update" => self.called(update),
            "plan" => self.planned(update),
            // Commands, modes and the prompt itself say nothing about the turn.
            _ => {}
        }
    }

    fn spoke(&mut self, update: &Value) {
        let Some(said) = update["content"]["text"].as_str().filter(|said| !said.is_empty()) else {
            return;
        };
        let message = update["messageId"].as_str().map(|id| text::prefix(id, 200).to_owned());
        if self.message.is_some() && self.message != message {
            self.tell(&StreamEvent::Working);
        }
        self.message = message;
        let text = text::prefix(said, limits::AGENT_TEXT_BYTES).to_owned();
        self.tell(&StreamEvent::Said { text });
    }

    fn called(&mut self, update: &Value) {
        let Some(id) = update["toolCallId"].as_str() else {
            return self.fault("a call of a tool without an id");
        };
        let id = text::prefix(id, CALL_ID_BYTES).to_owned();
        let mut call = self.calls.get(&id).cloned().unwrap_or_default();
        call.update(update);
        let end = match update["status"].as_str() {
            Some("completed") => Some(CallEnd::Done),
            Some("failed") => Some(CallEnd::Failed),
            Some("in_progress") => {
                self.call_begun(&id, call);
                return;
            }
            _ if call.is_described() => {
                self.call_begun(&id, call);
                return;
            }
            _ => None,
        };
        let Some(end) = end else {
            if self.calls.len() < limits::AGENT_CALLS {
                self.calls.insert(id, call);
            }
            return self.tell(&StreamEvent::Working);
        };
        self.call_begun(&id, call);
        self.calls.remove(&id);
        let output = text::prefix(&said(update), limits::AGENT_TEXT_BYTES).to_owned();
        self.tell(&StreamEvent::Ended { id, end, output });
    }

    /// Keeps what is known of a call, and tells of it once.
    pub(super) fn call_begun(&mut self, id: &str, mut call: ToolCall) {
        if !std::mem::replace(&mut call.is_told, true) {
            let (tool, about) = (call.tool(), call.about());
            self.tell(&StreamEvent::Call { id: id.to_owned(), tool, about });
        }
        if self.calls.contains_key(id) || self.calls.len() < limits::AGENT_CALLS {
            self.calls.insert(id.to_owned(), call);
        }
    }

    fn planned(&mut self, update: &Value) {
        let entries: Vec<&Value> = update["entries"].as_array().into_iter().flatten().collect();
        let has = |status: &str| entries.iter().filter(|entry| entry["status"] == status).count();
        let now = entries.iter().find(|entry| entry["status"] == "in_progress");
        let now = now.and_then(|entry| entry["content"].as_str());
        let now =
            now.map_or_else(String::new, |now| format!(", now: {}", text::ellipsis(now, 200)));
        let (done, all) = (has("completed"), entries.len());
        self.tell(&StreamEvent::Working);
        self.tell(&StreamEvent::Note { text: format!("plan: {done} of {all} done{now}") });
    }

    /// The cost of a conversation counts from its beginning.
    fn cost(&mut self, update: &Value) {
        let cost = &update["cost"];
        let amount = cost["amount"].as_f64().filter(|_| cost["currency"] == "USD");
        let Some(total) = amount.and_then(Money::from_usd) else { return };
        if self.phase != Phase::Prompt {
            self.cost_before = Some(total);
        } else if let Some(before) = self.cost_before {
            self.tell(&StreamEvent::Cost { usd: total.saturating_sub(before).usd() });
        }
    }
}
