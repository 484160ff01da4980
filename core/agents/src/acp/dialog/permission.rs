//! What an agent asks: permissions are judged, and the rest is not offered.

use serde_json::{Value, json};

use super::super::message::{answer, refusal};
use super::{
    AcpAction, AcpDialog, AcpVerdict, CALL_ID_BYTES, PermissionRequest, Phase, StreamEvent,
};
use crate::event::CallEnd;
use onloop_syntax::{limits, text};

/// A request for a permission that is not answered yet.
#[derive(Clone, Debug)]
pub(super) struct OpenRequest {
    id: Value,
    /// The call that it is about.
    call: String,
    allow: Option<String>,
    reject: Option<String>,
}

impl AcpDialog {
    pub(super) fn requested(&mut self, id: Value, method: &str, params: &Value) {
        self.requests += 1;
        if self.requests > limits::AGENT_REQUESTS {
            return self.fail("the agent asked onloop too often".to_owned(), None);
        }
        if method != "session/request_permission" {
            let line = refusal(&id, &text::ellipsis(&text::one_line(method), 100));
            self.actions.push(AcpAction::Send(line));
            return;
        }
        let is_open = |asked: &OpenRequest| asked.id == id;
        if self.asked.values().any(is_open) {
            return self.fault(&format!("a second request with the id {id}"));
        }
        let call = params["toolCall"]["toolCallId"].as_str().unwrap_or_default();
        let call = text::prefix(call, CALL_ID_BYTES).to_owned();
        let option = |kind: &str| {
            let options = params["options"].as_array().into_iter().flatten();
            let mut fitting = options.filter(|option| option["kind"] == kind);
            fitting.find_map(|option| option["optionId"].as_str()).map(str::to_owned)
        };
        let (allow, reject) = (option("allow_once"), option("reject_once"));
        let open = OpenRequest { id, call, allow, reject };
        let denied = |reason: &str| AcpVerdict { is_allowed: false, reason: reason.to_owned() };
        if self.phase != Phase::Prompt || params["sessionId"] != json!(self.session) {
            return self.answer_permission(open, &denied("no turn of this session is under way"));
        }
        if self.asked.len() >= limits::ACP_OPEN_REQUESTS {
            return self.answer_permission(open, &denied("too many requests are open"));
        }
        let mut described = self.calls.get(&open.call).cloned().unwrap_or_default();
        described.update(&params["toolCall"]);
        self.call_begun(&open.call, described.clone());
        match described.judged() {
            Ok(parts) => {
                let key = self.requests as u64;
                self.asked.insert(key, open);
                self.actions.push(AcpAction::Judge(PermissionRequest { key, parts }));
            }
            Err(why) => self.answer_permission(open, &denied(&why)),
        }
    }

    /// Answers with an option that holds once. Where there is none, the call is cancelled.
    pub(super) fn answer_permission(&mut self, open: OpenRequest, verdict: &AcpVerdict) {
        let option = if verdict.is_allowed { open.allow } else { open.reject };
        let is_allowed = verdict.is_allowed && option.is_some();
        let outcome = match option {
            Some(option) => json!({ "outcome": "selected", "optionId": option }),
            None => json!({ "outcome": "cancelled" }),
        };
        self.actions.push(AcpAction::Send(answer(&open.id, &json!({ "outcome": outcome }))));
        if is_allowed {
            return;
        }
        let reason = match verdict.is_allowed {
            true => "the agent offers no permission for this call alone",
            false => verdict.reason.as_str(),
        };
        let output = reason.to_owned();
        self.tell(&StreamEvent::Ended { id: open.call, end: CallEnd::Denied, output });
    }
}
