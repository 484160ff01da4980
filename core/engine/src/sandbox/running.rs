//! Confined commands that still run. What one leaves in a checkout is put back when it ends; until
//! then git would use it, where it runs unconfined, and so would onloop itself.

use super::confinement::make_folder;
use crate::git::checkout;
use crate::sandbox::leftovers;
use crate::session::files::Sessions;
use onloop_documents::ledger::sha256;
use onloop_effect::{Confinement, Durability, Expect, Failure, Io, is_within};
use onloop_permission::paths::Places;
use onloop_syntax::limits;

/// Records that this program confines a command that may write `places`, until its folder for temporary
/// files is [released](leftovers::release). What others that still run may have made counts as missing for
/// `confinement`.
///
/// # Errors
///
/// When it cannot be read which others run, or nothing can be recorded.
pub(super) async fn begin(
    io: &Io,
    temporary: &str,
    places: &[String],
    confinement: &mut Confinement,
) -> Result<(), Failure> {
    leftovers::sweep(io).await;
    let mut writes = Vec::new();
    for folder in places {
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
        let file = real_file(io, path).await;
        if !writes.iter().any(|folder| is_within(&file, folder)) {
            continue;
        }
        let was_there = others.iter().all(|other| other.has_kept(&file));
        match as_it_is(io, &file).await {
            Some(now) if others.iter().all(|other| other.kept.contains(&now)) => kept.push(now),
            // A person may have changed it, or one of the others behind a person.
            Some(_) if was_there => kept.push(format!("{CHANGED} {file}")),
            None if others.is_empty() => {}
            // Another one may make it before the host looks.
            Some(_) | None => confinement.absent.push(path.clone()),
        }
    }
    leftovers::claim(io, temporary, &writes, &kept).await?;
    if let Some(announced) = announcement(io, &writes[0]) {
        let _ = io.remove(&announced).await;
    }
    Ok(())
}

/// Stands for the content of a file that may not be as it was before.
const CHANGED: &str = "changed";

/// What identifies a file or folder as it is; `None` where there is none. A confined command can write a
/// file that another program has replaced meanwhile, whatever its name was before.
async fn as_it_is(io: &Io, path: &str) -> Option<String> {
    io.stat(path).await.ok()?;
    let content = io.read(path, limits::PROJECT_FILE_BYTES).await;
    let content = content.map(|(bytes, _)| sha256(&bytes)).unwrap_or_default();
    Some(format!("{content} {path}"))
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
        if writes && claim.is_held(io).await {
            let now = as_it_is(io, &path).await;
            if now.is_none_or(|now| !claim.kept.contains(&now)) {
                return true;
            }
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
///
/// # Errors
///
/// Those of the state home: the command could not be recorded either.
pub async fn announce(io: &Io, folder: &str) -> Result<(), Failure> {
    let places = places(io, folder).await;
    if let Some(sessions) = sessions_in(io, &places[0], &places[0]).await {
        make_folder(io, &sessions.folder()).await;
        sessions.ignore_ourselves().await;
    }
    let Some(announced) = announcement(io, &places[0]) else { return Ok(()) };
    io.write_private(&announced, Vec::new(), Expect::Any, Durability::Relaxed).await.map(drop)
}

/// The sessions of hooks in `home`, where they are kept below `top`.
pub(super) async fn sessions_in(io: &Io, home: &str, top: &str) -> Option<Sessions> {
    let home = Places::new(home).absolute(io.start().agentize_home().as_deref().unwrap_or("."));
    let sessions = Sessions::kept(io, &real(io, &home).await);
    is_within(&sessions.folder(), top).then_some(sessions)
}

/// Whether one runs that may write in the checkout around `folder` or in its repository. What cannot be
/// read counts as one.
pub(crate) async fn is_any(io: &Io, folder: &str) -> bool {
    let ours = places(io, folder).await;
    if let Some(announced) = announcement(io, &ours[0])
        && let Ok(stat) = io.stat(&announced).await
        && io.now().millis_since(stat.modified) < limits::CONFINED_START_MS
    {
        return true;
    }
    let Ok(claims) = leftovers::claims(io).await else { return true };
    for claim in claims {
        if claim.writes.iter().any(|path| touches(path, &ours)) && claim.is_held(io).await {
            return true;
        }
    }
    false
}

/// The checkout around `folder` and its folder of git, or `folder` itself.
async fn places(io: &Io, folder: &str) -> Vec<String> {
    match checkout::own(io, folder).await {
        Some(checkout) => {
            let root = real(io, &checkout.root).await;
            let git = match checkout.git_folder == format!("{}/.git", checkout.root) {
                true => format!("{root}/.git"),
                false => real(io, &checkout.git_folder).await,
            };
            vec![root, git]
        }
        None => vec![real(io, folder).await],
    }
}

async fn real(io: &Io, path: &str) -> String {
    io.canonical_once(path).await.unwrap_or_else(|_| path.to_owned())
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
