//! The facts that the page asks for, and when to look again.

use std::collections::BTreeMap;

use serde::Serialize;
use serde_json::{Map, Value, json};

use super::*;
use crate::web::route::Facts;
use onloop_documents::board::{Board, Day, RunView, Sum};
use onloop_documents::ledger::sha256;
use onloop_engine::board::common;
use onloop_engine::run::continuation::what_takes_further;
use onloop_engine::state::store::{Paths, StateHome};
use onloop_run::Run;
use onloop_syntax::money::Money;

impl Server {
    pub(super) async fn show(&mut self, session: SignedIn, facts: &Facts) -> CallAnswer {
        let found = match facts {
            Facts::Board => Some(self.board(session).await),
            Facts::Run { id } => self.run(session, id).await,
            Facts::Part { id, part } => {
                self.watcher.run(&self.io, id).await;
                Box::pin(self.watcher.part(&self.io, id, part, usize::MAX)).await
            }
        };
        let Some(found) = found else { return self.nothing_there() };
        let mut answer = data(200, found);
        let body = String::from_utf8_lossy(&answer.body).into_owned();
        answer.body = self.io.redacted(&body).into_bytes().into();
        answer
    }

    /// Everything on this machine.
    async fn board(&mut self, session: SignedIn) -> Value {
        let board = self.watcher.look(&self.io).await;
        let spent = self.watcher.spent();
        let seen = digest_of_board(&board);
        let tokens = board.calls.iter().map(|call| {
            let path = format!("/call/{}", call.id);
            (call.id.clone(), Value::from(self.guard.form_token(session, &path)))
        });
        let tokens: Map<String, Value> = tokens.collect();
        let mut found = common(&self.io);
        found.extend(self.own(session, seen));
        found.extend([
            ("board".to_owned(), json!(board)),
            ("days".to_owned(), spent.days.iter().map(|(name, day)| of_day(name, day)).collect()),
            ("agents".to_owned(), spent.agents.iter().map(|(name, sum)| cost(name, sum)).collect()),
            ("tokens".to_owned(), tokens.into()),
        ]);
        found.into()
    }

    /// One run. What its steps have come to in detail, and their logs, are asked for by themselves.
    async fn run(&mut self, session: SignedIn, id: &str) -> Option<Value> {
        let view = self.watcher.run(&self.io, id).await?;
        let own = self.own(session, digest_of_run(&view));
        let advice = match self.watcher.record(id) {
            Some(run) => self.advice(&view, run).await,
            None => None,
        };
        let mut found = self.watcher.overview(&self.io, view).await;
        found.extend(own);
        found.extend([
            ("advice".to_owned(), json!(advice)),
            ("token".to_owned(), self.guard.form_token(session, &format!("/run/{id}")).into()),
        ]);
        Some(found.into())
    }

    /// What every page needs that follows this server.
    fn own(&self, session: SignedIn, seen: String) -> [(String, Value); 2] {
        [
            ("seen".to_owned(), seen.into()),
            ("out".to_owned(), self.guard.form_token(session, "/out").into()),
        ]
    }

    /// The commands that continue a run without a driver.
    async fn advice(&self, view: &RunView, run: &Run) -> Option<String> {
        let has_buttons = view.choice.as_ref().is_some_and(|choice| choice.is_gate);
        if run.is_over() || has_buttons || view.card.driver.is_some() {
            return None;
        }
        let home = StateHome::of(&self.io).ok()?;
        let paths = Paths::new(&home, &run.place.execution_root, &run.id);
        Some(what_takes_further(&self.io, &paths, run).await)
    }

    /// Opens a stream that tells a page that shows `seen` when to look again. An answer: there is no room,
    /// and the page looks by itself.
    pub(super) async fn listen(
        &mut self,
        call: u64,
        session: SignedIn,
        id: Option<String>,
        seen: String,
    ) -> Option<CallAnswer> {
        if self.streams.len() >= limits::WEB_STREAMS {
            self.forget_readers_that_left().await;
        }
        if self.streams.len() >= limits::WEB_STREAMS {
            // In place of another page this one would have to end that, which would come again at once.
            return Some(answer(204, Content::Page, ""));
        }
        let opening = answer(200, Content::Events, "retry: 2000\n\n");
        if self.io.answer_call(call, opening).await.is_ok() {
            // What has changed since the page was made is told with the next look.
            self.is_stale = true;
            self.streams.push(Stream { call, session, id, seen, heard: self.io.now() });
        }
        None
    }

    /// Makes room: only who is told something turns out to have left.
    async fn forget_readers_that_left(&mut self) {
        self.end_streams_of_strangers().await;
        for mut stream in std::mem::take(&mut self.streams) {
            if self.io.push(stream.call, STILL_HERE).await.is_ok() {
                stream.heard = self.io.now();
                self.streams.push(stream);
            }
        }
    }

    /// Looks whether something has changed, and tells the pages that show it.
    pub(super) async fn tell(&mut self) {
        (self.looked, self.is_stale) = (self.io.now(), false);
        self.end_streams_of_strangers().await;
        if self.streams.iter().all(|stream| stream.id.is_some()) {
            // A look at one run does not say where others would show that they have changed.
            self.watcher.look(&self.io).await;
        }
        let mut found: BTreeMap<Option<String>, String> = BTreeMap::new();
        for mut stream in std::mem::take(&mut self.streams) {
            if !found.contains_key(&stream.id) {
                let seen = self.fingerprint(stream.id.as_deref()).await;
                found.insert(stream.id.clone(), seen);
            }
            let seen = found[&stream.id].clone();
            let now = self.io.now();
            let words = if seen != stream.seen {
                "event: changed\ndata:\n\n"
            } else if now.millis_since(stream.heard) >= limits::WEB_STILL_MS {
                STILL_HERE
            } else {
                self.streams.push(stream);
                continue;
            };
            if self.io.push(stream.call, words).await.is_ok() {
                (stream.seen, stream.heard) = (seen, now);
                self.streams.push(stream);
            }
        }
    }

    /// Ends the streams of browsers that are not signed in any more.
    pub(super) async fn end_streams_of_strangers(&mut self) {
        let now = self.io.now();
        let is_known = |stream: &Stream| self.guard.is_signed_in(now, stream.session);
        let (kept, ended): (Vec<_>, Vec<_>) =
            std::mem::take(&mut self.streams).into_iter().partition(is_known);
        self.streams = kept;
        for stream in ended {
            // Who has gone needs no end.
            let _ = self.io.push(stream.call, "").await;
        }
    }

    /// Digest of what a page shows now.
    async fn fingerprint(&mut self, id: Option<&str>) -> String {
        match id {
            None => digest_of_board(&self.watcher.look(&self.io).await),
            Some(id) => match self.watcher.run(&self.io, id).await {
                Some(view) => digest_of_run(&view),
                None => String::new(),
            },
        }
    }
}

/// What a stream says so that both ends know of each other.
const STILL_HERE: &str = ": still here\n\n";

/// Digest of what the page of everything shows, without the time.
fn digest_of_board(board: &Board) -> String {
    digest(&Board { at: Timestamp::EPOCH, ..board.clone() })
}

/// Digest of what the page of a run shows.
fn digest_of_run(view: &RunView) -> String {
    digest(view)
}

fn digest(shown: &impl Serialize) -> String {
    sha256(serde_json::to_string(shown).unwrap_or_default().as_bytes())
}

fn cost(name: &str, sum: &Sum) -> Value {
    json!({
        "name": name,
        "turns": sum.turns,
        "unknown": sum.unknown,
        "tokens": sum.tokens,
        "cost_usd": sum.known().map(Money::usd),
    })
}

fn of_day(name: &str, day: &Day) -> Value {
    let mut found = cost(name, &day.cost);
    found["runs"] = day.runs.into();
    found
}
