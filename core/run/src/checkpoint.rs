//! Checkpoints: the work of a run at certain moments, kept as commits that no branch shows.

use onloop_effect::{KeptWork, LeftOut};
use onloop_syntax::form::is_default;
use onloop_syntax::limits;
use onloop_syntax::text;
use onloop_syntax::text::words;
use serde::{Deserialize, Serialize};

/// A moment at which the work is kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum CheckpointMoment {
    /// Before the first step.
    Begun,
    /// Before the agent of an attempt was started, where files are protected from it.
    Started {
        /// Number of the step, from 1.
        step: u32,
        /// Which of its attempts, from 1.
        attempt: u32,
    },
    /// When the agent of an attempt had ended, before anything was checked.
    Acted {
        /// Number of the step, from 1.
        step: u32,
        /// Which of its attempts, from 1.
        attempt: u32,
    },
    /// When the checks of an attempt had passed.
    Verified {
        /// Number of the step, from 1.
        step: u32,
        /// Which of its attempts, from 1.
        attempt: u32,
    },
    /// Before a person went back to an earlier checkpoint.
    Undone {
        /// Number of returns to a checkpoint by then, from 1.
        #[serde(rename = "attempt")]
        number: u32,
    },
}

words! {
    /// The word for a moment in documents.
    pub enum CheckpointKind {
        /// [`CheckpointMoment::Begun`].
        Begun = "begun",
        /// [`CheckpointMoment::Started`].
        Started = "started",
        /// [`CheckpointMoment::Acted`].
        Acted = "acted",
        /// [`CheckpointMoment::Verified`].
        Verified = "verified",
        /// [`CheckpointMoment::Undone`].
        Undone = "undone",
    }
}

impl CheckpointMoment {
    /// What the checkpoint is called on the command line, and in git behind the run's id.
    pub fn name(self) -> String {
        match self {
            CheckpointMoment::Begun => "0".to_owned(),
            CheckpointMoment::Started { step, attempt } => format!("{step}-{attempt}-start"),
            CheckpointMoment::Acted { step, attempt }
            | CheckpointMoment::Verified { step, attempt } => format!("{step}-{attempt}"),
            CheckpointMoment::Undone { number } => format!("undo-{number}"),
        }
    }

    /// Its word.
    pub fn kind(self) -> CheckpointKind {
        match self {
            CheckpointMoment::Begun => CheckpointKind::Begun,
            CheckpointMoment::Started { .. } => CheckpointKind::Started,
            CheckpointMoment::Acted { .. } => CheckpointKind::Acted,
            CheckpointMoment::Verified { .. } => CheckpointKind::Verified,
            CheckpointMoment::Undone { .. } => CheckpointKind::Undone,
        }
    }

    /// The step whose work it ends with.
    pub fn step(self) -> Option<u32> {
        match self {
            CheckpointMoment::Acted { step, .. } | CheckpointMoment::Verified { step, .. } => {
                Some(step)
            }
            CheckpointMoment::Begun
            | CheckpointMoment::Started { .. }
            | CheckpointMoment::Undone { .. } => None,
        }
    }
}

/// The work of a run at one moment.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Checkpoint {
    /// When.
    #[serde(flatten)]
    pub moment: CheckpointMoment,
    /// The commit that holds it, hexadecimal.
    pub commit: String,
    /// The tree of that commit, hexadecimal: the same files have the same one.
    pub tree: String,
    /// Digest of the programs that the configuration of the repository named, as in
    /// [`KeptWork::programs`](onloop_effect::KeptWork::programs).
    pub programs: String,
    /// Whether it has every file that it should have.
    pub complete: bool,
    /// Files that it should have and does not, at most
    /// [`onloop_syntax::limits::CHECKPOINT_FILES_NAMED`]; paths on one line.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub left_out: Vec<LeftOut>,
    /// How many files it should have and does not.
    #[serde(default, skip_serializing_if = "is_default")]
    pub left_out_count: u64,
}

impl Checkpoint {
    /// What the host kept at `moment`.
    pub fn of(moment: CheckpointMoment, kept: KeptWork) -> Checkpoint {
        let KeptWork { commit, tree, programs, mut left_out } = kept;
        let left_out_count = left_out.len() as u64;
        left_out.truncate(limits::CHECKPOINT_FILES_NAMED);
        let named = |LeftOut { path, why }| LeftOut { path: text::one_line(&path), why };
        let left_out = left_out.into_iter().map(named).collect();
        let complete = left_out_count == 0;
        Checkpoint { moment, commit, tree, programs, complete, left_out, left_out_count }
    }
}
