//! Secrets that a call would stage without naming them.

use super::folders;
use crate::git::hardened::{self, STATUS};
use crate::git::inner_repositories::{self, Inner};
use onloop_effect::{Failure, FailureKind, Io};
use onloop_permission::{Call, Context, Staging, Taken, names_secret, stagings};

/// Adds to `context` the secrets that git would take with `call`. Whether there are any.
///
/// # Errors
///
/// When git does not say what it would take, or is not asked: in a repository that an agent may have
/// made, it would run what the settings name.
pub(super) async fn learn(io: &Io, call: &Call, context: &mut Context) -> Result<bool, Failure> {
    for staging in stagings(call, context) {
        // Outside a project the folder of the call is all that is known; names count there, too.
        let root = context.places.root.clone().unwrap_or_else(|| staging.folder.clone());
        let is_known = folders::is_plain(io, &root, &staging.folder).await;
        if context.places.is_nested || !is_known {
            let why = format!("`{}` may be a repository of its own", staging.folder);
            return Err(Failure::new(FailureKind::Denied, why));
        }
        let absolute = |path: &str| format!("{}/{path}", root.trim_end_matches('/'));
        let taken = taken(io, &staging).await?;
        // A folder, also in place of a file: git would name the repository in it, and enter it from then on.
        let folders =
            taken.iter().filter(|(is_new_kind, path)| *is_new_kind || path.ends_with('/'));
        for path in folders.map(|(_, path)| path.trim_end_matches('/')) {
            if let Inner::Untrusted = inner_repositories::at(io, &absolute(path)).await {
                let why = format!("`{path}` is a repository whose settings may run programs");
                return Err(Failure::new(FailureKind::Denied, why));
            }
        }
        let is_secret = |path: &String| names_secret(&absolute(path), context);
        let paths = taken.into_iter().map(|(_, path)| path);
        let secrets: Vec<String> = paths.filter(is_secret).collect();
        context.places.would_stage.extend(secrets);
    }
    Ok(!context.places.would_stage.is_empty())
}

/// What git would take, from the top folder of the repository, and whether it was of another kind before.
async fn taken(io: &Io, staging: &Staging) -> Result<Vec<(bool, String)>, Failure> {
    let untracked = match staging.takes {
        Taken::Staged | Taken::Tracked => "--untracked-files=no",
        Taken::Untracked | Taken::Ignored => "--untracked-files=all",
    };
    let mut words = [&STATUS[..], &[untracked]].concat();
    // The other mode names a folder that is ignored, and not what is in it.
    words.extend((staging.takes == Taken::Ignored).then_some("--ignored=traditional"));
    words.push("--");
    words.extend(staging.pathspecs.iter().map(String::as_str));
    let said = hardened::text(io, &staging.folder, &words).await?;
    // Two letters and a space stand before each name: what the index has, and what the folder has. What
    // is gone is no secret any more.
    let is_taken = |line: &&str| match staging.takes {
        Taken::Staged => !line.starts_with([' ', 'D']),
        Taken::Tracked | Taken::Untracked | Taken::Ignored => {
            !line.starts_with(" D") && !line.starts_with("D ")
        }
    };
    let lines = said.split('\0').filter(|line| is_taken(line) && line.len() > 3);
    let name = |line: &str| Some((line.as_bytes()[1] == b'T', line.get(3..)?.to_owned()));
    Ok(lines.filter_map(name).collect())
}
