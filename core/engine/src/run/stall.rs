//! Noticing that an agent gets nowhere: the same failure and the same files, again and again.

use crate::state::store::Store;
use onloop_agents::Agent;
use onloop_effect::Io;

/// Identical attempts after which a run pauses instead of paying for another one.
const ATTEMPTS: u32 = 5;

/// Changed files whose size and time are looked at; more count by name only.
const FILES: usize = 200;

/// What the attempts so far came to.
#[derive(Debug, Default)]
pub(crate) struct Stall {
    last: Option<String>,
    repeated: u32,
}

impl Stall {
    /// Looks at the failed attempt of `step` before the next one starts; says why the run
    /// should wait for a person, if it should.
    ///
    /// Only agents cost something and can change their mind; a script that polls until a
    /// server answers is not stalled.
    pub(crate) async fn look(
        &mut self,
        io: &Io,
        store: &Store,
        agents: &[Agent],
        step: u32,
    ) -> Option<String> {
        let can_change = |agent: &Agent| matches!(agent, Agent::Preset(_) | Agent::CommandLine(_));
        if !agents.iter().any(can_change) {
            return None;
        }
        let failure = store.run().step(step)?.last_failure.as_ref()?;
        let tree = tree(io, &store.run().place.execution_root).await?;
        let now = format!("{step}\n{}\n{}\n{tree}", failure.reason, failure.output);
        if self.last.as_ref() == Some(&now) {
            self.repeated += 1;
        } else {
            self.repeated = 1;
            self.last = Some(now);
        }
        if self.repeated < ATTEMPTS {
            return None;
        }
        *self = Stall::default();
        Some(format!(
            "no progress: {ATTEMPTS} attempts at step {step} failed the same way and changed no file"
        ))
    }
}

/// What the files of the checkout look like; `None` where there is no repository to tell.
async fn tree(io: &Io, root: &str) -> Option<String> {
    let repository = io.git_survey(root, "HEAD").await.ok()?.repository?;
    let mut text = repository.head.unwrap_or_default();
    for path in repository.dirty.iter().take(FILES) {
        let stat = io.stat(&format!("{}/{path}", repository.root)).await.ok();
        let looks = stat.map(|stat| (stat.size_bytes, stat.modified.as_millis()));
        text += &format!("\n{path} {looks:?}");
    }
    for path in repository.dirty.iter().skip(FILES) {
        text += &format!("\n{path}");
    }
    Some(text)
}
