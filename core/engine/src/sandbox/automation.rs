//! Files at the top of a checkout that run by themselves. Where a command runs in the checkout of a person,
//! they stay as they are.

use std::collections::BTreeSet;

use onloop_effect::Io;
use onloop_permission::paths::{automation, configures_agents, may_hold_guarded, runs_by_itself};

/// Folders in which agents find what they obey. Clients make the folder around them meanwhile.
const OF_CLIENTS: [&str; 3] = [".claude/agents", ".claude/commands", ".claude/skills"];

/// What runs by itself, or configures agents, in a checkout.
#[derive(Clone, Debug)]
pub(super) struct Automation {
    root: String,
    there: BTreeSet<String>,
}

impl Automation {
    /// What is there now.
    pub(super) async fn find(io: &Io, root: &str) -> Automation {
        Automation { root: root.to_owned(), there: found(io, root).await }
    }

    /// The paths that stay as they are, also those that are missing.
    pub(super) fn paths(&self) -> impl Iterator<Item = String> {
        let usual = automation().chain(OF_CLIENTS).map(|entry| match entry.strip_suffix(".y*") {
            Some(begin) => format!("{begin}.yml"),
            None => entry.trim_end_matches(['*', '.']).to_owned(),
        });
        self.there.iter().cloned().chain(usual).map(|inside| format!("{}/{inside}", self.root))
    }

    /// Removes what was missing before and has a name that only a pattern tells. Returns its paths.
    pub(super) async fn remove_new(&self, io: &Io) -> Vec<String> {
        let mut removed = Vec::new();
        let now = found(io, &self.root).await;
        for inside in now.difference(&self.there).filter(|inside| runs_by_itself(inside)) {
            let path = format!("{}/{inside}", self.root);
            if io.remove(&path).await.is_ok() {
                removed.push(path);
            }
        }
        removed
    }
}

async fn found(io: &Io, root: &str) -> BTreeSet<String> {
    let (mut found, mut ahead) = (BTreeSet::new(), vec![String::new()]);
    while let Some(folder) = ahead.pop() {
        for name in io.list(&format!("{root}/{folder}")).await.unwrap_or_default() {
            let inside = format!("{folder}{name}");
            if runs_by_itself(&inside) || configures_agents(&inside) {
                found.insert(inside);
            } else if may_hold_guarded(&inside) {
                ahead.push(inside + "/");
            }
        }
    }
    found
}
