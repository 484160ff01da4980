//! What is different in a checkout from what an index says.

use std::collections::BTreeSet;

use onloop_core::effect::Failure;

use super::Answer;
use super::command::lines_until_nul;

/// The folder in which copies of records lie; it is the run's and not its work.
const OURS: &[u8] = b".hotl";

/// Files of a checkout that an index does not have as they are.
#[derive(Debug, Default)]
pub(super) struct Changes {
    /// Files, links and repositories to take in; relative to the top folder. Some may turn out to be
    /// as the index has them.
    pub(super) present: BTreeSet<Vec<u8>>,
    pub(super) gone: BTreeSet<Vec<u8>>,
}

impl Changes {
    /// From what git says of tracked files.
    pub(super) fn tracked(answer: Answer) -> Result<Changes, Failure> {
        let tracked = answer.success()?;
        let mut changes = Changes::default();
        let mut fields = lines_until_nul(&tracked);
        while let (Some(letter), Some(path)) = (fields.next(), fields.next()) {
            match letter {
                b"D" => changes.gone.insert(path.to_vec()),
                _ => changes.present.insert(path.to_vec()),
            };
        }
        Ok(changes)
    }

    /// Adds what git says of files that it does not track.
    pub(super) fn add_untracked(&mut self, answer: Answer) -> Result<(), Failure> {
        let others = answer.success()?;
        // A repository inside the checkout ends with a slash.
        let others = lines_until_nul(&others).map(|path| path.strip_suffix(b"/").unwrap_or(path));
        self.present.extend(others.map(<[u8]>::to_vec));
        Ok(())
    }

    /// Without what is not the run's work.
    pub(super) fn of_the_run(mut self) -> Changes {
        self.present.retain(|path| !is_ours(path));
        self.gone.retain(|path| !is_ours(path));
        self
    }
}

fn is_ours(path: &[u8]) -> bool {
    path.strip_prefix(OURS).is_some_and(|rest| rest.is_empty() || rest[0] == b'/')
}
