//! Watches what clients subscribe to.

use std::collections::{BTreeMap, BTreeSet};

use super::Server;
use onloop_effect::Io;
use onloop_engine::state::store::{Paths, StateHome};
use onloop_syntax::limits;
use onloop_syntax::time::Timestamp;

/// What was there at the last look.
#[derive(Debug, Default)]
pub(super) struct RunWatcher {
    /// The size of the ledger of each watched run; `None`: there was none.
    runs: BTreeMap<String, Option<u64>>,
    /// The runs that there were.
    listed: Option<BTreeSet<String>>,
    due: Option<Timestamp>,
}

impl RunWatcher {
    /// When to look again.
    pub(super) fn due(&self) -> Option<Timestamp> {
        self.due
    }
}

/// What has changed since the last look.
#[derive(Debug, Default)]
struct Seen {
    changed: Vec<String>,
    list_changed: bool,
}

impl Server {
    /// Sends what has changed, if a look is due.
    pub(super) async fn report_changes(&mut self) {
        let runs = self.connection.watched_runs();
        let lists = self.connection.watches_list();
        if runs.is_empty() && !lists {
            self.watcher = RunWatcher::default();
            return;
        }
        let now = self.io.now();
        if self.watcher.due.is_some_and(|due| now < due)
            && runs.iter().all(|id| self.watcher.runs.contains_key(id))
            && lists == self.watcher.listed.is_some()
        {
            return;
        }
        let seen = self.watcher.look(&self.io, &runs, lists).await;
        self.watcher.due = Some(self.io.now().later(limits::MCP_LOOK_MS));
        for run_id in seen.changed {
            for message in self.connection.run_changed(&run_id) {
                self.send(&message).await;
            }
        }
        if seen.list_changed {
            for message in self.connection.list_changed() {
                self.send(&message).await;
            }
        }
    }
}

impl RunWatcher {
    async fn look(&mut self, io: &Io, runs: &BTreeSet<String>, lists: bool) -> Seen {
        let Ok(home) = StateHome::of(io) else { return Seen::default() };
        self.runs.retain(|id, _| runs.contains(id));
        let is_known =
            runs.iter().all(|id| self.runs.contains_key(id)) && lists == self.listed.is_some();
        let mut folders = vec![home.runs()];
        folders.extend(runs.iter().map(|id| format!("{}/{id}", home.runs())));
        // A host that cannot tell is asked for what is there each time.
        let may_differ = io.changes(folders, 0).await.unwrap_or(true);
        if is_known && !may_differ {
            return Seen::default();
        }
        let mut seen = Seen::default();
        for id in runs {
            // A ledger only grows, so its size says whether something was added.
            let stat = io.stat(&Paths::new(&home, "", id).ledger()).await;
            let size = stat.ok().map(|stat| stat.size_bytes);
            let before = self.runs.insert(id.clone(), size);
            if before.is_some_and(|before| before != size) {
                seen.changed.push(id.clone());
            }
        }
        if lists {
            let names = io.list(&home.runs()).await.unwrap_or_default();
            let names: BTreeSet<String> = names.into_iter().collect();
            let before = self.listed.replace(names);
            seen.list_changed = before.is_some_and(|before| Some(before) != self.listed);
        } else {
            self.listed = None;
        }
        seen
    }
}
