//! A chat of Telegram's and the person in it, on a simulated machine: what is sent, what is answered
//! when, and everything that goes wrong on the way.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::rc::Rc;

use onloop_core::effect::{Failure, FailureKind, HttpAnswer, HttpSpec};
use onloop_core::time::Timestamp;
use serde_json::{Value, json};

use crate::{Disk, SimHost};

/// Who may answer, and in which chat.
pub const PERSON: i64 = 7;

/// How the chat is at the moment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ChatMood {
    /// It works.
    Well,
    /// It is not reached.
    Down,
    /// It does what it is asked, and its answers are lost.
    Deaf,
    /// It refuses everything with this status.
    Refuses(u16),
}

/// A question as it stands in the chat.
#[derive(Clone, Debug)]
pub struct ChatMessage {
    /// Telegram's number of it.
    pub id: i64,
    /// When it arrived.
    pub at: Timestamp,
    /// What it says, as it was edited last.
    pub text: String,
    /// What its buttons carry; empty when they are gone.
    pub buttons: Vec<String>,
    /// What its buttons carried at first.
    pub nonce: String,
}

type Mood = Box<dyn FnMut(Timestamp, &str) -> ChatMood>;
type Person = Box<dyn FnMut(&ChatMessage) -> Vec<(u64, &'static str)>>;

/// The chat.
pub struct SimChat {
    /// Every question so far.
    pub messages: Vec<ChatMessage>,
    /// What somebody who pressed a button was shown.
    pub shown: Vec<String>,
    mood: Mood,
    person: Person,
    /// What happens when, and has not been fetched.
    planned: BTreeMap<i64, Vec<Value>>,
    updates: Vec<(i64, Value)>,
    next_update: i64,
    next_message: i64,
}

impl SimChat {
    /// Puts a chat on a machine. `mood` tells how it is at a moment for a method; `person` what the
    /// person does when a question arrives: after so many milliseconds they press a button.
    pub fn on(
        host: &mut SimHost,
        mood: impl FnMut(Timestamp, &str) -> ChatMood + 'static,
        person: impl FnMut(&ChatMessage) -> Vec<(u64, &'static str)> + 'static,
    ) -> Rc<RefCell<SimChat>> {
        let chat = Rc::new(RefCell::new(SimChat {
            messages: Vec::new(),
            shown: Vec::new(),
            mood: Box::new(mood),
            person: Box::new(person),
            planned: BTreeMap::new(),
            updates: Vec::new(),
            next_update: 5000,
            next_message: 100,
        }));
        let served = Rc::clone(&chat);
        host.on_http(move |disk, spec| served.borrow_mut().serve(disk, spec));
        chat
    }

    fn serve(&mut self, disk: &mut Disk, spec: &HttpSpec) -> Result<HttpAnswer, Failure> {
        let payload: Value =
            serde_json::from_slice(spec.body.as_deref().unwrap_or_default()).unwrap_or_default();
        let method = spec.url.rsplit('/').next().unwrap_or_default().to_owned();
        let gone = || Err(Failure::new(FailureKind::Closed, "no answer from the chat"));
        let mood = (self.mood)(disk.now, &method);
        match mood {
            ChatMood::Down => return gone(),
            ChatMood::Refuses(status) => {
                return Ok(HttpAnswer { status, body: b"{\"ok\":false}".to_vec().into() });
            }
            ChatMood::Well | ChatMood::Deaf => {}
        }
        // What is only lost on its way back was not confirmed by whoever asks again.
        let result = self.result(disk, &method, &payload);
        if mood == ChatMood::Deaf {
            return gone();
        }
        let body = json!({ "ok": true, "result": result }).to_string().into_bytes();
        Ok(HttpAnswer { status: 200, body: body.into() })
    }

    fn result(&mut self, disk: &mut Disk, method: &str, payload: &Value) -> Value {
        match method {
            "sendMessage" => self.sent(disk.now, payload),
            "getUpdates" => self.fetched(disk, payload),
            "editMessageText" => {
                let id = payload["message_id"].as_i64();
                if let Some(message) = self.messages.iter_mut().find(|m| Some(m.id) == id) {
                    payload["text"].as_str().unwrap_or_default().clone_into(&mut message.text);
                    message.buttons.clear();
                }
                json!(true)
            }
            "answerCallbackQuery" => {
                self.shown.extend(payload["text"].as_str().map(str::to_owned));
                json!(true)
            }
            _ => json!(true),
        }
    }

    fn sent(&mut self, at: Timestamp, payload: &Value) -> Value {
        let id = self.next_message;
        self.next_message += 1;
        let rows = payload["reply_markup"]["inline_keyboard"][0].as_array();
        let data = |button: &Value| button["callback_data"].as_str().map(str::to_owned);
        let buttons: Vec<String> = rows.into_iter().flatten().filter_map(data).collect();
        if let Some((_, nonce)) = buttons.first().and_then(|data| data.split_once(':')) {
            let text = payload["text"].as_str().unwrap_or_default().to_owned();
            let nonce = nonce.to_owned();
            let message = ChatMessage { id, at, text, buttons, nonce };
            for (after_ms, word) in (self.person)(&message) {
                self.press(&message, word, at.as_millis().saturating_add_unsigned(after_ms));
            }
            self.messages.push(message);
        }
        json!({ "message_id": id, "from": { "username": "GateBot" } })
    }

    /// The person will press the button for `word`.
    pub fn press(&mut self, message: &ChatMessage, word: &str, at_ms: i64) {
        let press = json!({
            "id": format!("cb{}", message.id),
            "from": { "id": PERSON, "first_name": "Ann", "last_name": "Lee" },
            "data": format!("{word}:{}", message.nonce),
            "message": { "message_id": message.id, "chat": { "id": PERSON } },
        });
        self.planned.entry(at_ms).or_default().push(press);
    }

    /// What is new; where nothing is, after the time that the caller is willing to wait.
    fn fetched(&mut self, disk: &mut Disk, payload: &Value) -> Value {
        let now_ms = disk.now.as_millis();
        self.happen(now_ms);
        let offset = payload["offset"].as_i64().unwrap_or(0);
        if offset < 0 {
            let last = self.updates.last().map(|(_, update)| update.clone());
            return json!(last.into_iter().collect::<Vec<_>>());
        }
        self.updates.retain(|(id, _)| *id >= offset);
        let wait_ms = payload["timeout"].as_i64().unwrap_or(0) * 1000;
        if self.updates.is_empty() {
            let until_ms = now_ms + wait_ms;
            let next_ms = self.planned.keys().next().copied().unwrap_or(i64::MAX);
            let then_ms = until_ms.min(next_ms.max(now_ms));
            disk.now = Timestamp::from_millis(then_ms);
            self.happen(then_ms);
        }
        json!(self.updates.iter().map(|(_, update)| update).collect::<Vec<_>>())
    }

    fn happen(&mut self, now_ms: i64) {
        let later = self.planned.split_off(&(now_ms + 1));
        for press in std::mem::replace(&mut self.planned, later).into_values().flatten() {
            let id = self.next_update;
            self.next_update += 1;
            self.updates.push((id, json!({ "update_id": id, "callback_query": press })));
        }
    }
}
