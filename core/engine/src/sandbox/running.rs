//! Confined commands that still run. What one leaves in a checkout is put back when it ends; until
//! then git would use it, where it runs unconfined, and so would onloop itself.

use crate::git::checkout::{self, Checkout};
use crate::sandbox::leftovers;
use onloop_documents::ledger::sha256;
use onloop_effect::{Confinement, Durability, Expect, Failure, Io, is_within};
use onloop_syntax::limits;

/// Records that this program confines a command in `checkout`, until its folder for temporary files
/// is [released](leftovers::release). `common` is the folder of git that its worktrees share. What others
/// that still run may have made counts as missing for `confinement`.
///
/// # Errors
///
/// When it cannot be read which others run.
pub(super) async fn begin(
    io: &Io,
    temporary: &str,
    checkout: &Checkout,
    common: &str,
    confinement: &mut Confinement,
) -> Result<(), Failure> {
    leftovers::sweep(io).await;
    let mut writes = Vec::new();
    for folder in [&checkout.root, &checkout.git_folder, common] {
        writes.push(real(io, folder).await);
    }
    let mut others = Vec::new();
    for claim in leftovers::claims(io).await? {
        let is_beside = claim.writes.iter().any(|path| touches(path, &writes));
        if is_beside && claim.is_held(io).await {
            others.push(claim);
        }
    }
    // It decides about other commands, and is put back only afterwards where it is not there.
    let mut kept = Vec::new();
    for path in &confinement.may_read {
        if io.stat(path).await.is_err() {
            continue;
        }
        let file = real_file(io, path).await;
        if !writes.iter().any(|folder| is_within(&file, folder)) {
            continue;
        }
        match others.iter().all(|other| other.kept.contains(&file)) {
            true => kept.push(file),
            false => confinement.absent.push(path.clone()),
        }
    }
    leftovers::claim(io, temporary, &writes, &kept).await;
    if let Some(announced) = announcement(io, &real(io, &checkout.root).await) {
        let _ = io.remove(&announced).await;
    }
    Ok(())
}

/// Whether one of these folders and files contains another one.
fn touches(path: &str, ours: &[String]) -> bool {
    ours.iter().any(|ours| is_within(ours, path) || is_within(path, ours))
}

/// Whether a confined command that still runs may have made the file at `path`, one of those that it must
/// not change.
pub(crate) async fn may_have_made(io: &Io, path: &str) -> bool {
    let path = real_file(io, path).await;
    let Ok(claims) = leftovers::claims(io).await else { return true };
    for claim in claims {
        let writes = claim.writes.iter().any(|folder| is_within(&path, folder));
        if writes && !claim.kept.contains(&path) && claim.is_held(io).await {
            return true;
        }
    }
    false
}

/// The file of a repository that names further folders of objects.
pub(super) fn alternates_of(common: &str) -> String {
    format!("{common}/objects/info/alternates")
}

/// Says that a client is about to start a confined command around `folder`, before that one can say it
/// itself.
pub async fn announce(io: &Io, folder: &str) {
    let Some(checkout) = checkout::own(io, folder).await else { return };
    let root = real(io, &checkout.root).await;
    let Some(announced) = announcement(io, &root) else { return };
    // Without a record a command that git is started beside at once finds what the other leaves.
    let _ = io.write_private(&announced, Vec::new(), Expect::Any, Durability::Relaxed).await;
}

/// Whether one runs that may write in the checkout around `folder` or in its repository. What cannot be
/// read counts as one.
pub(crate) async fn is_any(io: &Io, folder: &str) -> bool {
    let Some(checkout) = checkout::own(io, folder).await else { return false };
    let root = real(io, &checkout.root).await;
    if let Some(announced) = announcement(io, &root)
        && let Ok(stat) = io.stat(&announced).await
        && io.now().millis_since(stat.modified) < limits::CONFINED_START_MS
    {
        return true;
    }
    let ours = [root, real(io, &checkout.git_folder).await];
    let Ok(claims) = leftovers::claims(io).await else { return true };
    for claim in claims {
        if claim.writes.iter().any(|path| touches(path, &ours)) && claim.is_held(io).await {
            return true;
        }
    }
    false
}

async fn real(io: &Io, path: &str) -> String {
    io.canonical(path).await.unwrap_or_else(|_| path.to_owned())
}

/// A file in the folder that it is really in.
async fn real_file(io: &Io, path: &str) -> String {
    let (folder, name) = path.rsplit_once('/').unwrap_or_default();
    format!("{}/{name}", real(io, folder).await)
}

/// The record of [`announce`].
fn announcement(io: &Io, root: &str) -> Option<String> {
    let name = sha256(root.as_bytes());
    Some(format!("{}/starts-{}", leftovers::records_folder(io)?, &name[..32]))
}
