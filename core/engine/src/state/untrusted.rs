//! Records that no ledger here stands behind: a clone, a copied folder, an older onloop, another
//! program. They are shown, and nothing of theirs is run before a person adopted them.

use crate::error::CommandError;
use crate::state::store::{Paths, StoreError, refuse_state_links};
use onloop_documents as documents;
use onloop_documents::run::ReadError;
use onloop_effect::{Failure, FailureKind, Io, OptionalExt};
use onloop_run::Run;
use onloop_syntax::limits;
use onloop_syntax::text;

/// A untrusted record that was read.
#[derive(Debug)]
pub struct UntrustedRecord {
    /// What it says.
    pub run: Run,
    /// The file.
    pub path: String,
}

/// Reads the record of run `id` that lies in the folder `root`.
///
/// # Errors
///
/// [`StoreError::Missing`], [`StoreError::Unreadable`] when it is damaged, and
/// [`FailureKind::Unsupported`] when a newer onloop wrote it.
pub async fn read_untrusted(io: &Io, root: &str, id: &str) -> Result<UntrustedRecord, StoreError> {
    refuse_state_links(io, root).await?;
    let path = Paths::copy_of(root, id);
    let found = io.read(&path, limits::RECORD_BYTES).await.optional()?;
    let (bytes, _) = found.ok_or(StoreError::Missing)?;
    let mut run = documents::run::read(&bytes).map_err(|error| match error {
        ReadError::Damaged(_) => StoreError::Unreadable(format!("{path}: {error}")),
        ReadError::Newer(_) => {
            let message = format!("{path}: {error}");
            StoreError::Failed(Failure::new(FailureKind::Unsupported, message))
        }
    })?;
    if run.id != id {
        let why = format!("{path} is the record of run `{}`", run.id);
        return Err(StoreError::Unreadable(why));
    }
    // Relative paths and moved checkouts: a untrusted record would work where it lies.
    run.found_at(root.trim_end_matches('/'));
    Ok(UntrustedRecord { run, path })
}

/// Why nothing of run `id` is run before a person has adopted it.
pub fn untrusted_run(id: &str, path: &str) -> CommandError {
    CommandError::refused(format!("run `{id}` is untrusted: this machine has no ledger of it"))
        .listing([text::one_line(path)])
        .because("it came with a clone or a copied folder, or another program wrote it")
        .fix_by("see what it would run, and take it over", format!("onloop adopt {id}"))
}
