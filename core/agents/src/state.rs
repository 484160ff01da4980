//! What is going on in a turn: the fold over its events.

mod transcript;

use std::collections::{BTreeMap, BTreeSet};

use super::client::Client;
use super::error::{AgentError, AgentErrorKind};
use super::event::{AgentCall, AgentEvent, CallEnd, TurnEnd, UsageLimit};
use super::lines::{StreamLine, StreamLines};
use super::used::UsedTokens;
use onloop_syntax::money::Money;
use onloop_syntax::time::Timestamp;
use onloop_syntax::tokens::Tokens;
use onloop_syntax::{limits, text};

/// A request to the model that failed and is made again.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Retry {
    /// Why it failed.
    pub error: AgentError,
    /// Time until it is made again, where the client says it.
    pub wait_ms: Option<u64>,
    /// How many requests have failed in a row, from 1.
    pub times: u32,
}

/// A call of a tool, with when it was read that it began and ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SeenCall {
    /// The tool's name, as the client has it.
    pub tool: String,
    /// When it began.
    pub begun: Timestamp,
    /// When and how it ended; `None`: it has not.
    pub ended: Option<(Timestamp, CallEnd)>,
}

/// The state of one turn, folded from the events of its stream so far.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AgentState {
    client: Client,
    lines: StreamLines,
    /// The client's output outside its stream.
    beside: StreamLines,
    session: Option<String>,
    model: Option<String>,
    version: Option<String>,
    /// Calls that have begun and not ended.
    open: BTreeMap<String, AgentCall>,
    /// The order in which they began, as far as they are open.
    order: Vec<String>,
    /// Calls that have ended; a line that comes again does not begin or end them again.
    ended: BTreeSet<String>,
    /// Calls that have begun, as often as they were not known.
    begun: u64,
    /// The first calls, at most [`limits::TURN_CALLS`], and how many more there were.
    seen: Vec<SeenCall>,
    seen_beyond: u64,
    /// The places in `seen` of open calls.
    seen_at: BTreeMap<String, usize>,
    /// The time of what is read now.
    now: Timestamp,
    denied: BTreeSet<String>,
    /// Denied calls that are not in `denied` any more.
    denied_beyond: u64,
    used: UsedTokens,
    /// Used in this conversation before the turn began.
    before: Tokens,
    limit: Option<UsageLimit>,
    last_error: Option<AgentError>,
    /// The request that failed last, where nothing has come since.
    retrying: Option<Retry>,
    /// Errors about a conversation that is too long.
    too_long: u32,
    /// Events that carry something.
    signs: u64,
    end: Option<TurnEnd>,
    said: String,
    answer: String,
    part: String,
}

impl AgentState {
    /// A turn of which nothing is known yet, in a conversation in which `before` was used.
    pub fn new(client: Client, before: Tokens) -> AgentState {
        AgentState {
            client,
            lines: StreamLines::default(),
            beside: StreamLines::default(),
            session: None,
            model: None,
            version: None,
            open: BTreeMap::new(),
            order: Vec::new(),
            ended: BTreeSet::new(),
            begun: 0,
            seen: Vec::new(),
            seen_beyond: 0,
            seen_at: BTreeMap::new(),
            now: Timestamp::EPOCH,
            denied: BTreeSet::new(),
            denied_beyond: 0,
            used: UsedTokens::default(),
            before,
            limit: None,
            last_error: None,
            retrying: None,
            too_long: 0,
            signs: 0,
            end: None,
            said: String::new(),
            answer: String::new(),
            part: String::new(),
        }
    }

    /// Sets the time of what is taken from now on.
    pub fn set_time(&mut self, now: Timestamp) {
        self.now = now;
    }

    /// Takes what the client wrote; returns what that adds to the transcript.
    pub fn push(&mut self, bytes: &[u8]) -> String {
        let lines = self.lines.push(bytes);
        self.take(&lines)
    }

    /// Takes what the client wrote to its second source; returns what that adds to the transcript.
    pub fn push_beside(&mut self, bytes: &[u8]) -> String {
        let mut said = String::new();
        for line in self.beside.push(bytes) {
            for event in self.client.read_beside(&line) {
                self.apply(&event, &mut said);
            }
        }
        said
    }

    /// Nothing more comes; returns the end of the transcript.
    pub fn finish(&mut self) -> String {
        let rest: Vec<StreamLine> = self.lines.finish().into_iter().collect();
        let mut said = self.take(&rest);
        self.flush_part(&mut said);
        said
    }

    fn take(&mut self, lines: &[StreamLine]) -> String {
        let mut said = String::new();
        for line in lines {
            for event in self.client.read(line) {
                self.apply(&event, &mut said);
            }
        }
        said
    }

    /// Takes one event, and adds what it means to a transcript.
    pub fn apply(&mut self, event: &AgentEvent, transcript: &mut String) {
        if let AgentEvent::SaidPart(part) = event {
            self.part.push_str(part);
            self.signs = self.signs.saturating_add(1);
            if self.part.len() > limits::AGENT_TEXT_BYTES {
                self.flush_part(transcript);
            }
            return;
        }
        self.flush_part(transcript);
        let is_new = self.fold(event);
        if is_new && event.is_sign() {
            self.signs = self.signs.saturating_add(1);
        }
        if is_new {
            transcript.push_str(&transcript::line(event, self));
        }
        if let AgentEvent::CallEnded { id, .. } = event {
            self.open.remove(id);
            self.order.retain(|open| open != id);
        }
    }

    fn flush_part(&mut self, transcript: &mut String) {
        let part = std::mem::take(&mut self.part);
        if !part.trim().is_empty() {
            let event = AgentEvent::Said(part);
            self.fold(&event);
            transcript.push_str(&transcript::line(&event, self));
        }
    }

    /// Whether the event says something that was not known.
    fn fold(&mut self, event: &AgentEvent) -> bool {
        match event {
            AgentEvent::SessionBegun { session, model, version } => {
                let is_new = self.session.as_ref() != Some(session);
                self.session = Some(session.clone());
                self.model = model.clone().or(self.model.take());
                self.version = version.clone().or(self.version.take());
                return is_new;
            }
            AgentEvent::ModelNamed(model) => {
                self.model = Some(model.clone());
                return false;
            }
            AgentEvent::Said(text) | AgentEvent::SaidPart(text) => {
                self.goes_on();
                self.said = text.clone();
                self.answer(text);
            }
            AgentEvent::SaidAside(text) => {
                self.goes_on();
                self.said = text.clone();
            }
            AgentEvent::CallBegun(call) => {
                self.goes_on();
                return self.begin(call);
            }
            AgentEvent::CallEnded { id, end, .. } => {
                self.goes_on();
                return self.end_call(id, *end);
            }
            AgentEvent::Used(report) => {
                self.used.add(report);
                return false;
            }
            AgentEvent::Cost(cost) => {
                self.used.cost_of_turn(*cost);
                return false;
            }
            AgentEvent::Limited(limit) => {
                let is_new = self.limit.as_ref() != Some(limit);
                self.limit = Some(limit.clone());
                return is_new;
            }
            AgentEvent::Retrying { error, wait_ms } => {
                let times = self.retrying.as_ref().map_or(0, |retry| retry.times).saturating_add(1);
                self.retrying = Some(Retry { error: error.clone(), wait_ms: *wait_ms, times });
            }
            AgentEvent::Working => self.retrying = None,
            AgentEvent::Erred(error) => {
                self.too_long += u32::from(error.kind == AgentErrorKind::TooLong);
                let is_new = self.last_error.as_ref() != Some(error);
                self.last_error = Some(error.clone());
                return is_new;
            }
            AgentEvent::Ended(end) => {
                self.retrying = None;
                self.end = Some(end.clone());
                if *end == TurnEnd::Completed {
                    self.last_error = None;
                }
            }
            AgentEvent::Noted(_) => {}
        }
        true
    }

    fn answer(&mut self, text: &str) {
        self.answer.push_str(text);
        self.answer.push('\n');
        if self.answer.len() > 2 * limits::AGENT_ANSWER_BYTES {
            let kept = text::suffix(&self.answer, limits::AGENT_ANSWER_BYTES);
            // What is left of a line that was cut is no line.
            let kept = kept.split_once('\n').map_or("", |(_, whole)| whole);
            self.answer = kept.to_owned();
        }
    }

    /// The client works, so whatever had gone wrong is over.
    fn goes_on(&mut self) {
        self.retrying = None;
        self.last_error = None;
    }

    fn begin(&mut self, call: &AgentCall) -> bool {
        let is_known = self.open.contains_key(&call.id) || self.ended.contains(&call.id);
        if is_known || self.open.len() >= limits::AGENT_CALLS {
            return false;
        }
        if self.client.judges(&call.tool) {
            self.begun = self.begun.saturating_add(1);
        }
        if self.seen.len() < limits::TURN_CALLS {
            self.seen_at.insert(call.id.clone(), self.seen.len());
            let tool = text::prefix(&call.tool, limits::TOOL_NAME_BYTES).to_owned();
            self.seen.push(SeenCall { tool, begun: self.now, ended: None });
        } else {
            self.seen_beyond = self.seen_beyond.saturating_add(1);
        }
        self.open.insert(call.id.clone(), call.clone());
        self.order.push(call.id.clone());
        true
    }

    fn end_call(&mut self, id: &str, end: CallEnd) -> bool {
        if end == CallEnd::Denied && !self.denied.contains(id) {
            if self.denied.len() < limits::AGENT_REQUESTS {
                self.denied.insert(id.to_owned());
            } else {
                self.denied_beyond = self.denied_beyond.saturating_add(1);
            }
        }
        if self.ended.contains(id) {
            return false;
        }
        if self.ended.len() < limits::AGENT_REQUESTS {
            self.ended.insert(id.to_owned());
        }
        if let Some(at) = self.seen_at.remove(id) {
            self.seen[at].ended = Some((self.now, end));
        }
        true
    }

    /// Whose turn it is.
    pub fn client(&self) -> Client {
        self.client
    }

    /// The conversation, with which it is resumed.
    pub fn session(&self) -> Option<&str> {
        self.session.as_deref()
    }

    /// The model, where the client said it.
    pub fn model(&self) -> Option<&str> {
        self.model.as_deref()
    }

    /// The client's version, where it said it.
    pub fn version(&self) -> Option<&str> {
        self.version.as_deref()
    }

    /// An open call.
    fn open_call(&self, id: &str) -> Option<&AgentCall> {
        self.open.get(id)
    }

    /// The call that began last of those that have not ended.
    pub fn current_call(&self) -> Option<&AgentCall> {
        self.open.get(self.order.last()?)
    }

    /// How many calls have begun of which a hook is asked before.
    pub fn judged_calls(&self) -> u64 {
        self.begun
    }

    /// The first calls of the turn, in the order in which they began, and how many more there were.
    pub fn seen_calls(&self) -> (&[SeenCall], u64) {
        (&self.seen, self.seen_beyond)
    }

    /// How many calls were refused.
    pub fn denied(&self) -> u64 {
        (self.denied.len() as u64).saturating_add(self.denied_beyond)
    }

    /// Tokens of this turn; `None` if unknown, or not known yet.
    pub fn tokens(&self) -> Option<Tokens> {
        self.used.tokens(self.before)
    }

    /// What this turn cost; `None` where the client does not say, or not yet.
    pub fn cost(&self) -> Option<Money> {
        self.used.cost()
    }

    /// Tokens of the whole conversation, where the client counts so.
    pub fn session_tokens(&self) -> Option<Tokens> {
        self.used.of_session()
    }

    /// The provider's limit, where the client spoke of one.
    pub fn limit(&self) -> Option<&UsageLimit> {
        self.limit.as_ref()
    }

    /// The request to the model that failed last, where nothing has come since.
    pub fn retrying(&self) -> Option<&Retry> {
        self.retrying.as_ref()
    }

    /// How often the client said that the conversation does not fit into its model.
    pub fn too_long(&self) -> u32 {
        self.too_long
    }

    /// How many events carried something so far: words, work, calls. A client that waits, or tries
    /// again, gives none.
    pub fn signs(&self) -> u64 {
        self.signs
    }

    /// Whether the model has neither said nor done anything.
    pub fn is_idle(&self) -> bool {
        self.ended.is_empty() && self.open.is_empty() && self.said.is_empty()
    }

    /// Everything that the model said to whoever gave it the turn, each text on lines of its own:
    /// nothing of tools and of sub-agents. Of very much the end, in whole lines.
    pub fn answered(&self) -> &str {
        &self.answer
    }

    /// What the model said last.
    pub fn said(&self) -> &str {
        &self.said
    }

    /// The last error that ended the client's work.
    pub fn last_error(&self) -> Option<&AgentError> {
        self.last_error.as_ref()
    }

    /// How the client says that its turn ended.
    pub fn turn_end(&self) -> Option<&TurnEnd> {
        self.end.as_ref()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn calls_have_the_times_at_which_they_were_read() {
        let at = |ms: i64| Timestamp::from_millis(ms);
        let mut state = AgentState::new(Client::Claude, Tokens::default());
        let mut tell = |ms: i64, event: AgentEvent| {
            state.set_time(at(ms));
            state.apply(&event, &mut String::new());
        };
        let call = |id: &str, tool: &str| {
            let (id, tool) = (id.to_owned(), tool.to_owned());
            AgentEvent::CallBegun(AgentCall { id, tool, about: "secret".to_owned() })
        };
        let end = |id: &str, end: CallEnd| AgentEvent::CallEnded {
            id: id.to_owned(),
            end,
            output: String::new(),
        };
        tell(1, call("a", "Bash"));
        tell(2, call("b", &"x".repeat(500)));
        // A line that comes again, and an end without a begin.
        tell(3, call("a", "Bash"));
        tell(4, end("c", CallEnd::Done));
        tell(5, end("b", CallEnd::Denied));
        tell(6, end("b", CallEnd::Done));
        for number in 0..limits::TURN_CALLS {
            tell(7, call(&format!("n{number}"), "Read"));
        }
        let (seen, beyond) = state.seen_calls();
        assert_eq!((seen.len(), beyond), (limits::TURN_CALLS, 2));
        let bash = SeenCall { tool: "Bash".to_owned(), begun: at(1), ended: None };
        assert_eq!(seen[0], bash);
        assert_eq!(seen[1].tool.len(), limits::TOOL_NAME_BYTES);
        assert_eq!(seen[1].ended, Some((at(5), CallEnd::Denied)));
    }
}
