//! What there is to see, and when to look again.

use std::collections::BTreeMap;

use super::*;
use crate::documents::board::RunView;
use crate::documents::ledger::sha256;
use crate::engine::advice::go_on;
use crate::engine::conduct_args::remembered_options;
use crate::engine::facts::{Change, Form as DiffForm, patch};
use crate::engine::store::{Paths, StateHome};
use crate::page::web::{RunPage, Shown, board_page, diff_page, run_page};
use crate::run::Run;

impl Server {
    pub(super) async fn show(&mut self, session: SignedIn, place: &Sight) -> CallAnswer {
        match place {
            Sight::Board => {
                let board = self.lookout.look(&self.io).await;
                let token = |path: &str| self.guard.form_token(session, path);
                self.page(
                    200,
                    &board_page(&self.frame(session), &board, &self.lookout.spent(), &token),
                )
            }
            Sight::Run { id, from } => self.show_run(session, id, *from, None, 200).await,
            Sight::Diff { id, step } => {
                let Some(view) = self.lookout.run(&self.io, id).await else {
                    return self.nothing_there();
                };
                let change = match (self.lookout.record(id), step) {
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
        let Some(view) = self.lookout.run(&self.io, id).await else { return self.nothing_there() };
        let record = self.lookout.record(id);
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
            said,
        };
        self.page(status, &run_page(&self.frame(session), &page))
    }

    /// What `status` says that takes the run further, where nobody drives it and the page has no button
    /// for it.
    async fn go_on(&self, view: &RunView, run: &Run) -> Option<String> {
        let has_buttons = view.choice.as_ref().is_some_and(|choice| choice.is_gate);
        if run.is_over() || has_buttons || view.card.driver.is_some() {
            return None;
        }
        let home = StateHome::of(&self.io).ok()?;
        let paths = Paths::new(&home, &run.place.execution_root, &run.id);
        Some(go_on(run, &remembered_options(&self.io, &paths).await))
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

    /// Opens a stream that tells when to look again.
    pub(super) async fn listen(&mut self, call: u64, session: SignedIn, id: Option<String>) {
        if self.streams.len() >= limits::WEB_STREAMS {
            // The page that has listened longest looks by itself from now on.
            let oldest = self.streams.remove(0);
            self.end_streams(vec![oldest]).await;
        }
        // Where to listen is known when everything was looked at; what then changes is told.
        self.is_stale = true;
        let seen = self.fingerprint(id.as_deref()).await;
        let opening = answer(200, Content::Events, "retry: 2000\n\n");
        if self.io.answer_call(call, opening).await.is_ok() {
            self.streams.push(Stream { call, session, id, seen, heard: self.io.now() });
        }
    }

    /// Looks whether something has changed, and tells the pages that show it.
    pub(super) async fn tell(&mut self) {
        (self.looked, self.is_stale) = (self.io.now(), false);
        if self.streams.iter().all(|stream| stream.id.is_some()) {
            // A look at one run does not say where others would show that they have changed.
            self.lookout.look(&self.io).await;
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
                ": still here\n\n"
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

    /// Ends streams; who has gone needs no end.
    pub(super) async fn end_streams(&self, streams: Vec<Stream>) {
        for stream in streams {
            let _ = self.io.push(stream.call, "").await;
        }
    }

    /// Digest of what a page shows, without the time.
    async fn fingerprint(&mut self, id: Option<&str>) -> String {
        let shown = match id {
            Some(id) => {
                serde_json::to_string::<Option<RunView>>(&self.lookout.run(&self.io, id).await)
            }
            None => {
                let mut board = self.lookout.look(&self.io).await;
                board.at = Timestamp::EPOCH;
                serde_json::to_string(&board)
            }
        };
        sha256(shown.unwrap_or_default().as_bytes())
    }
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
