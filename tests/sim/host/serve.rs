//! Browsers that call a program.

use onloop_core::effect::{CallAnswer, Failure, FailureKind, Outcome, Say, ServeRequest, WebCall};

use super::SimHost;

/// How often in a row nobody may call before the person ends the server.
const IDLE_WAITS_MAX: u32 = 100;

/// What browsers do: given what was said and every answer so far, the next call; `None`: nobody calls any
/// more.
pub(super) type Browsers = Box<dyn FnMut(&[Say], &[(u64, CallAnswer)]) -> Option<WebCall>>;

/// A server and what it has said.
#[derive(Default)]
pub struct SimServer {
    browsers: Option<Browsers>,
    is_listening: bool,
    last: u64,
    /// How often nobody has called in a row.
    idle: u32,
    waiting: Vec<u64>,
    /// Every answer, in order, with the number of its call.
    pub answers: Vec<(u64, CallAnswer)>,
    /// What was added to open answers.
    pub pushed: Vec<(u64, String)>,
}

impl SimServer {
    /// The program has ended, and its connections with it.
    pub(super) fn end(&mut self) {
        self.is_listening = false;
        self.idle = 0;
        self.waiting.clear();
    }
}

impl SimHost {
    /// Has browsers call the program.
    pub fn on_calls(
        &mut self,
        browsers: impl FnMut(&[Say], &[(u64, CallAnswer)]) -> Option<WebCall> + 'static,
    ) {
        self.server.browsers = Some(Box::new(browsers));
    }

    pub(super) fn serve(&mut self, request: ServeRequest) -> Result<Outcome, Failure> {
        let not_found = |why: &str| Failure::new(FailureKind::NotFound, why);
        match request {
            ServeRequest::Listen { port } => {
                if std::mem::replace(&mut self.server.is_listening, true) {
                    return Err(Failure::new(
                        FailureKind::Exists,
                        "this program is a server already",
                    ));
                }
                let port = if port == 0 { 40_000 } else { port };
                Ok(Outcome::Listening { port, secret: vec![7; 32].into() })
            }
            ServeRequest::Next { wait_ms, .. } => {
                self.take_interrupt()?;
                if !self.server.is_listening {
                    return Err(not_found("this program is not listening yet"));
                }
                let (said, answers) = (&self.said, &self.server.answers);
                let browsers = self.server.browsers.as_mut();
                let called = browsers.and_then(|browsers| browsers(said, answers));
                let Some(mut call) = called else {
                    self.server.idle += 1;
                    let Some(wait_ms) = wait_ms.filter(|_| self.server.idle < IDLE_WAITS_MAX)
                    else {
                        // No more calls come, so the person ends the server.
                        return Err(Failure::new(FailureKind::Interrupted, "interrupted"));
                    };
                    self.now = self.after(wait_ms);
                    return Ok(Outcome::NoCall);
                };
                self.server.idle = 0;
                self.server.last += 1;
                call.call = self.server.last;
                self.server.waiting.push(call.call);
                Ok(Outcome::Call(call))
            }
            ServeRequest::Answer { call, answer } => {
                let at = self.server.waiting.iter().position(|waiting| *waiting == call);
                let at = at.ok_or_else(|| not_found("no such call waits for an answer"))?;
                self.server.waiting.remove(at);
                self.server.answers.push((call, answer));
                Ok(Outcome::Done)
            }
            ServeRequest::Push { call, bytes } => {
                let is_it = |(of, answer): &(u64, CallAnswer)| *of == call && answer.open;
                if !self.server.answers.iter().any(is_it) {
                    return Err(Failure::new(FailureKind::Closed, "nobody reads this call"));
                }
                let words = String::from_utf8_lossy(&bytes).into_owned();
                self.server.pushed.push((call, words));
                Ok(Outcome::Done)
            }
        }
    }
}
