//! Checkpoints as records and events store them.

use super::document::{DocumentError, document};
use onloop_effect::{LeftOut, LeftOutReason};
use onloop_run::{Checkpoint, CheckpointKind, CheckpointMoment};
use onloop_syntax::text::UnknownWord;

document! {
    sparse;
    /// The work at one moment.
    pub(super) struct CheckpointDocument {
        kind: String,
        step: Option<u32>,
        attempt: Option<u32>,
        commit: String,
        tree: String,
        programs: String,
        complete: bool,
        left_out: Option<Vec<LeftOutDocument>>,
        left_out_count: Option<u64>,
    }
}

document! {
    /// A file that a checkpoint does not have.
    pub(super) struct LeftOutDocument {
        path: String,
        why: String,
    }
}

/// Every reason, with its word.
const REASONS: [(LeftOutReason, &str); 3] = [
    (LeftOutReason::TooLarge, "too_large"),
    (LeftOutReason::Unreadable, "unreadable"),
    (LeftOutReason::NoCommit, "no_commit"),
];

pub(super) fn checkpoint_document(checkpoint: &Checkpoint) -> CheckpointDocument {
    let (kind, step, attempt) = moment_parts(checkpoint.moment);
    let complete = checkpoint.is_complete();
    CheckpointDocument {
        kind: kind.to_owned(),
        step,
        attempt,
        commit: checkpoint.commit.clone(),
        tree: checkpoint.tree.clone(),
        programs: checkpoint.programs.clone(),
        complete,
        left_out: (!complete).then(|| checkpoint.left_out.iter().map(left_out_document).collect()),
        left_out_count: (!complete).then_some(checkpoint.left_out_count),
        ..CheckpointDocument::default()
    }
}

fn left_out_document(left: &LeftOut) -> LeftOutDocument {
    let word = REASONS.iter().find(|(reason, _)| *reason == left.why).map_or("", |(_, word)| word);
    let (path, why) = (left.path.clone(), word.to_owned());
    LeftOutDocument { path, why, ..LeftOutDocument::default() }
}

pub(super) fn read_checkpoint(document: CheckpointDocument) -> Result<Checkpoint, DocumentError> {
    let left_out = document.left_out.unwrap_or_default();
    let left_out: Vec<LeftOut> =
        left_out.into_iter().map(read_left_out).collect::<Result<_, _>>()?;
    let left_out_count = document.left_out_count.unwrap_or(left_out.len() as u64);
    if document.complete != (left_out_count == 0) {
        let what = format!("is {}, and {left_out_count} files are left out", document.complete);
        return Err(DocumentError::member("complete", what));
    }
    Ok(Checkpoint {
        moment: read_moment(&document.kind, document.step, document.attempt)?,
        commit: document.commit,
        tree: document.tree,
        programs: document.programs,
        left_out,
        left_out_count,
    })
}

fn read_left_out(document: LeftOutDocument) -> Result<LeftOut, DocumentError> {
    let LeftOutDocument { path, why, .. } = document;
    match REASONS.iter().find(|(_, word)| *word == why) {
        Some((why, _)) => Ok(LeftOut { path, why: *why }),
        None => {
            let expected = REASONS.iter().map(|(_, word)| *word).collect();
            Err(DocumentError::member("left_out.why", UnknownWord::new(&why, expected)))
        }
    }
}

/// The parts under which a moment is stored: `kind`, `step`, `attempt`.
pub(super) fn moment_parts(moment: CheckpointMoment) -> (&'static str, Option<u32>, Option<u32>) {
    let (step, attempt) = match moment {
        CheckpointMoment::Begun => (None, None),
        CheckpointMoment::Started { step, attempt }
        | CheckpointMoment::Acted { step, attempt }
        | CheckpointMoment::Verified { step, attempt } => (Some(step), Some(attempt)),
        CheckpointMoment::Undone { number } => (None, Some(number)),
    };
    (moment.kind().as_str(), step, attempt)
}

pub(super) fn read_moment(
    kind: &str,
    step: Option<u32>,
    attempt: Option<u32>,
) -> Result<CheckpointMoment, DocumentError> {
    let kind: CheckpointKind =
        kind.parse().map_err(|error: UnknownWord| DocumentError::member("kind", error))?;
    let needed = |value: Option<u32>, name: &str| {
        value.ok_or_else(|| DocumentError::member(name, "is missing"))
    };
    let of_step = || Ok::<_, DocumentError>((needed(step, "step")?, needed(attempt, "attempt")?));
    Ok(match kind {
        CheckpointKind::Begun => CheckpointMoment::Begun,
        CheckpointKind::Started => {
            let (step, attempt) = of_step()?;
            CheckpointMoment::Started { step, attempt }
        }
        CheckpointKind::Acted => {
            let (step, attempt) = of_step()?;
            CheckpointMoment::Acted { step, attempt }
        }
        CheckpointKind::Verified => {
            let (step, attempt) = of_step()?;
            CheckpointMoment::Verified { step, attempt }
        }
        CheckpointKind::Undone => CheckpointMoment::Undone { number: needed(attempt, "attempt")? },
    })
}
