//! What there is to see, and when to look again.

use std::collections::BTreeMap;

use serde::Serialize;

use super::*;
use onloop_documents::board::{Board, RunView};
use onloop_documents::ledger::sha256;
use onloop_documents::page::web::{RunPage, Shown, board_page, diff_page, run_page};
use onloop_engine::run::continuation::what_takes_further;
use onloop_engine::run::gate::{Change, Form as DiffForm, patch};
use onloop_engine::state::store::{Paths, StateHome};
use onloop_run::Run;

impl Server {
    pub(super) async fn show(&mut self, session: SignedIn, place: &Sight) -> CallAnswer {
        match place {
            Sight::Board => {
                let board = self.watcher.look(&self.io).await;
                let (spent, seen) = (self.watcher.spent(), digest_of_board(&board));
                let token = |path: &str| self.guard.form_token(session, path);
                self.page(200, &board_page(&self.frame(session), &board, &spent, &seen, &token))
            }
            Sight::Run { id, from } => self.show_run(session, id, *from, None, 200).await,
            Sight::Diff { id, step } => {
                let Some(view) = self.watcher.run(&self.io, id).await else {
                    return self.nothing_there();
                };
                let change = match (self.watcher.record(id), step) {
                    (None, _) => Shown::default(),
                    (Some(run), None) => shown(patch(&self.io, run).await),
                    (Some(run), Some(step)) => shown(self.changed_by(run, *step).await),
                };
                self.page(200, &diff_page(&self.frame(session), &view, *step, &change))
            }
            // Answered where it is asked for.
            Sight::Events { .. } => self.nothing_there(),
        }
    }

    /// The page of a run; `said` is what a decision that was just made said.
    pub(super) async fn show_run(
        &mut self,
        session: SignedIn,
        id: &str,
        from: Option<u32>,
        said: Option<&str>,
        status: u16,
    ) -> CallAnswer {
        let Some(view) = self.watcher.run(&self.io, id).await else { return self.nothing_there() };
        let record = self.watcher.record(id);
        let change = match record.filter(|_| view.facts.is_some()) {
            Some(run) => shown(patch(&self.io, run).await),
            None => Shown::default(),
        };
        let go_on = match record {
            Some(run) => self.go_on(&view, run).await,
            None => None,
        };
        let page = RunPage {
            view: &view,
            run: record,
            change: &change,
            from,
            form: &self.guard.form_token(session, &format!("/run/{id}/gate")),
            go_on: go_on.as_deref(),
            seen: &digest_of_run(&view),
            said,
        };
        self.page(status, &run_page(&self.frame(session), &page))
    }

    /// The commands that continue a run without a driver, where the page has no button
    /// for it.
    async fn go_on(&self, view: &RunView, run: &Run) -> Option<String> {
        let has_buttons = view.choice.as_ref().is_some_and(|choice| choice.is_gate);
        if run.is_over() || has_buttons || view.card.driver.is_some() {
            return None;
        }
        let home = StateHome::of(&self.io).ok()?;
        let paths = Paths::new(&home, &run.place.execution_root, &run.id);
        Some(what_takes_further(&self.io, &paths, run).await)
    }

    fn page(&self, status: u16, page: &str) -> CallAnswer {
        answer(status, Content::Page, &self.io.redacted(page))
    }

    async fn changed_by(&self, run: &Run, step: u32) -> Result<String, Failure> {
        let Some(ends) = run.checkpoints_around(Some(&step.to_string())) else {
            return Err(Failure::new(FailureKind::NotFound, "nothing was kept of this step"));
        };
        match Change::between(&self.io, run, ends).await? {
            Some(change) => change.show(&self.io, DiffForm::Patch).await,
            None => Ok(String::new()),
        }
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

/// A change as far as a page shows it.
fn shown(patch: Result<String, Failure>) -> Shown {
    match patch {
        Ok(patch) => {
            let kept = text::prefix(&patch, limits::WEB_PATCH_BYTES);
            let is_cut = kept.len() < patch.len();
            // A line that was cut in the middle would say something else.
            let end = if is_cut { kept.rfind('\n').map_or(0, |end| end + 1) } else { kept.len() };
            Shown { patch: kept[..end].to_owned(), is_cut, trouble: None }
        }
        Err(failure) => {
            Shown { trouble: Some(text::one_line(&failure.message)), ..Shown::default() }
        }
    }
}
