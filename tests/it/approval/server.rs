//! Telegram's interface for bots, as far as we use it, on this machine: a queue of updates that
//! is read once, long polls, and everything that was asked.

use std::collections::VecDeque;
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Condvar, Mutex, MutexGuard};
use std::time::Duration;

use onloop_tests::loopback;
use serde_json::{Value, json};

/// The bot's token; the second half must not appear anywhere.
pub(crate) const TOKEN: &str = "123456:t0ps3cret-t0ken";
pub(crate) const SECRET: &str = "t0ps3cret";
pub(crate) const CHAT: i64 = 7;
pub(crate) const USER: i64 = 7;

/// What a person does when a question arrives.
pub(crate) type Reaction = Box<dyn FnMut(&Sent) -> Vec<Value> + Send>;

/// A question as it arrived in the chat.
#[derive(Clone, Debug)]
pub(crate) struct Sent {
    pub(crate) message_id: i64,
    pub(crate) text: String,
    /// What its buttons carry.
    pub(crate) buttons: Vec<String>,
}

impl Sent {
    /// Somebody presses the button for `word` in some chat.
    pub(crate) fn press(&self, word: &str, user: i64, chat: i64) -> Value {
        let data = self.buttons.iter().find(|data| data.starts_with(word));
        let data = data.cloned().unwrap_or_else(|| format!("{word}:none"));
        press(&data, self.message_id, user, chat)
    }

    /// Somebody writes, in reply to it.
    pub(crate) fn reply(&self, text: &str, user: i64) -> Value {
        json!({ "message": {
            "message_id": 9000, "text": text, "from": {"id": user}, "chat": {"id": CHAT},
            "reply_to_message": {"message_id": self.message_id, "chat": {"id": CHAT}},
        }})
    }
}

pub(crate) fn press(data: &str, message_id: i64, user: i64, chat: i64) -> Value {
    json!({ "callback_query": {
        "id": "press", "from": {"id": user}, "data": data,
        "message": {"message_id": message_id, "chat": {"id": chat}},
    }})
}

#[derive(Default)]
struct State {
    updates: VecDeque<Value>,
    last_update: i64,
    last_message: i64,
    asked: Vec<(String, Value)>,
    /// Answers to the next questions for updates, instead of updates.
    faults: VecDeque<(u16, String)>,
    /// The same, from the next question on.
    later_faults: Vec<(u16, String)>,
    polls: usize,
    overlapped: bool,
    reaction: Option<Reaction>,
}

/// The server; it lives until the process ends.
#[derive(Clone)]
pub(crate) struct BotApi {
    shared: Arc<(Mutex<State>, Condvar)>,
    pub(crate) base: String,
}

impl BotApi {
    pub(crate) fn start() -> BotApi {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
        let base = format!("http://{}", listener.local_addr().expect("it is bound"));
        let api = BotApi { shared: Arc::default(), base };
        let server = api.clone();
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let server = server.clone();
                std::thread::spawn(move || server.serve(&stream));
            }
        });
        api
    }

    /// What the person does with every question.
    pub(crate) fn react(&self, reaction: impl FnMut(&Sent) -> Vec<Value> + Send + 'static) {
        self.state().reaction = Some(Box::new(reaction));
    }

    /// Something happens in a chat.
    pub(crate) fn happen(&self, update: Value) {
        enqueue(&mut self.state(), update);
        self.shared.1.notify_all();
    }

    /// The next questions for updates are answered like this.
    pub(crate) fn fail(&self, faults: &[(u16, &str)]) {
        let faults = faults.iter().map(|(status, body)| (*status, (*body).to_owned()));
        self.state().faults.extend(faults);
    }

    /// The same, but only after the next question has arrived.
    pub(crate) fn fail_after_question(&self, faults: &[(u16, &str)]) {
        let faults = faults.iter().map(|(status, body)| (*status, (*body).to_owned()));
        self.state().later_faults.extend(faults);
    }

    /// Every call so far: method and payload.
    pub(crate) fn asked(&self) -> Vec<(String, Value)> {
        self.state().asked.clone()
    }

    /// Payloads of one method.
    pub(crate) fn payloads(&self, method: &str) -> Vec<Value> {
        let asked = self.asked().into_iter();
        asked.filter(|(name, _)| name == method).map(|(_, payload)| payload).collect()
    }

    /// How many processes read updates right now.
    pub(crate) fn readers(&self) -> usize {
        self.state().polls
    }

    /// Whether two ever did at once.
    pub(crate) fn was_fought_over(&self) -> bool {
        self.state().overlapped
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.shared.0.lock().expect("no test panics while it holds the state")
    }

    fn serve(&self, stream: &TcpStream) {
        let Some(asked) = loopback::read(stream) else { return };
        let prefix = format!("POST /bot{TOKEN}/");
        let Some(method) = asked.line.strip_prefix(&prefix) else {
            return loopback::write(stream, 404, r#"{"ok":false,"error_code":404}"#);
        };
        let payload: Value = serde_json::from_str(&asked.body).unwrap_or_default();
        self.state().asked.push((method.to_owned(), payload.clone()));
        let (status, body) = match method {
            "getUpdates" => self.updates(&payload, stream),
            "sendMessage" => (200, self.send(&payload)),
            _ => (200, json!({"ok": true, "result": true}).to_string()),
        };
        loopback::write(stream, status, &body);
    }

    fn updates(&self, payload: &Value, stream: &TcpStream) -> (u16, String) {
        let mut state = self.state();
        if let Some(fault) = state.faults.pop_front() {
            return fault;
        }
        let offset = payload["offset"].as_i64().unwrap_or(0);
        if offset < 0 {
            let keep = usize::try_from(-offset).expect("a small number");
            while state.updates.len() > keep {
                state.updates.pop_front();
            }
        } else {
            state.updates.retain(|update| update["update_id"].as_i64() >= Some(offset));
        }
        state.overlapped |= state.polls > 0;
        state.polls += 1;
        let wait = Duration::from_secs(payload["timeout"].as_u64().unwrap_or(0));
        // A reader that was killed does not read any more.
        stream.set_nonblocking(true).expect("a socket");
        let began = std::time::Instant::now();
        while state.updates.is_empty() && began.elapsed() < wait {
            let pause = Duration::from_millis(20);
            state = self.shared.1.wait_timeout(state, pause).expect("nobody panicked").0;
            if stream.peek(&mut [0]).is_ok_and(|read| read == 0) {
                break;
            }
        }
        stream.set_nonblocking(false).expect("a socket");
        state.polls -= 1;
        let result: Vec<Value> = state.updates.iter().cloned().collect();
        (200, json!({"ok": true, "result": result}).to_string())
    }

    fn send(&self, payload: &Value) -> String {
        let mut state = self.state();
        state.last_message += 1;
        let message_id = 100 + state.last_message;
        let buttons = payload["reply_markup"]["inline_keyboard"][0].as_array();
        if let Some(buttons) = buttons {
            let data = buttons.iter().filter_map(|button| button["callback_data"].as_str());
            let sent = Sent {
                message_id,
                text: payload["text"].as_str().unwrap_or_default().to_owned(),
                buttons: data.map(str::to_owned).collect(),
            };
            let faults = std::mem::take(&mut state.later_faults);
            state.faults.extend(faults);
            if let Some(mut reaction) = state.reaction.take() {
                for update in reaction(&sent) {
                    enqueue(&mut state, update);
                }
                state.reaction = Some(reaction);
                self.shared.1.notify_all();
            }
        }
        let from = json!({"id": 1, "is_bot": true, "username": "GateBot"});
        let result = json!({"message_id": message_id, "chat": payload["chat_id"], "from": from});
        json!({"ok": true, "result": result}).to_string()
    }
}

fn enqueue(state: &mut State, mut update: Value) {
    state.last_update += 1;
    update["update_id"] = json!(5000 + state.last_update);
    state.updates.push_back(update);
}
