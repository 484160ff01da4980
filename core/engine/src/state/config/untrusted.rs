//! Files of the configuration that are not the developer's: of what is in them only the rules that deny or
//! ask count.

use super::{LOCAL_FILE, Loaded, PROJECT_FILE, folder_of, homes, load, read_if_there, utf8};
use crate::git::{checkout, owners};
use crate::sandbox::running;
use onloop_effect::{Io, is_within};
use onloop_permission::rules::Source;
use onloop_syntax::text;

/// A file by the developer's name that somebody else made, or may have made.
pub(super) struct UntrustedFile {
    pub(super) path: String,
    pub(super) yaml: String,
    pub(super) by: UntrustedOrigin,
}

/// Whose a file is that is not the developer's.
pub(super) enum UntrustedOrigin {
    /// It came with a repository.
    Repository,
    /// It belongs to another user than the folder that is worked in.
    OtherUser,
    /// A confined command that still runs may have made it.
    ConfinedCommand,
    /// It is below the folder whose configuration decides, where an agent may have made it.
    BelowTop {
        /// That folder.
        top: String,
    },
}

/// Reads what is configured for `top`. What is configured below it, on the way to `folder`, can only
/// take permissions away: an agent may have changed to a folder in which it made a configuration.
pub async fn load_below(io: &Io, top: &str, folder: &str) -> Loaded {
    let mut loaded = load(io, top).await;
    let mut folder = folder.trim_end_matches('/');
    while folder != top && is_within(folder, top) {
        for name in [PROJECT_FILE, LOCAL_FILE] {
            let found = match read_if_there(io, format!("{folder}/{name}")).await {
                Ok(Some((path, bytes))) => utf8(&path, bytes).map(|yaml| Some((path, yaml))),
                Ok(None) => Ok(None),
                Err(failure) => Err(failure),
            };
            match found {
                Ok(Some((path, yaml))) => {
                    let by = UntrustedOrigin::BelowTop { top: top.to_owned() };
                    loaded.take_as_the_projects(&UntrustedFile { path, yaml, by });
                }
                Ok(None) => {}
                Err(failure) => loaded.fail(failure),
            }
        }
        folder = folder_of(folder);
    }
    loaded
}

impl Loaded {
    /// Takes what somebody else made under the name of the developer's file for what it is: it
    /// gives no more than the project's own file.
    pub(super) fn take_as_the_projects(
        &mut self,
        UntrustedFile { path, yaml, by }: &UntrustedFile,
    ) {
        let source = Source::Project { trusted: false };
        self.given.add_file(source, yaml);
        self.context.rules.add_file(source, yaml);
        self.context.places.temporary = self.context.rules.temporary();
        self.untrusted_file.get_or_insert_with(|| {
            let path = text::one_line(path);
            let (why, how) = match by {
                UntrustedOrigin::BelowTop { top } => (
                    "is not in the top folder of the checkout",
                    format!("move it to `{}`", text::one_line(top)),
                ),
                UntrustedOrigin::Repository => {
                    ("is tracked by git", format!("`git rm --cached {LOCAL_FILE}` makes it yours"))
                }
                UntrustedOrigin::ConfinedCommand => (
                    "may be of a confined command that still runs",
                    "it is removed when that one ends".to_owned(),
                ),
                UntrustedOrigin::OtherUser => (
                    "belongs to another user",
                    "a file of your own in the checkout or in your home is taken".to_owned(),
                ),
            };
            format!(
                "`{path}` {why}, so it is not taken for yours: of what is in it only the rules \
                 that deny or ask count; {how}"
            )
        });
    }
}

/// Who made a file by the developer's name, unless it is the person's own, as what is in a home
/// always is.
pub(super) async fn untrusted_origin(io: &Io, cwd: &str, path: &str) -> Option<UntrustedOrigin> {
    let folder = folder_of(path);
    if running::may_have_made(io, path).await {
        Some(UntrustedOrigin::ConfinedCommand)
    } else if homes(io).any(|home| home == folder) {
        None
    } else if is_tracked(io, folder).await {
        Some(UntrustedOrigin::Repository)
    } else {
        // What cannot be looked at gives nothing.
        let foreign = io.stat(path).await.map_or(true, |stat| stat.foreign);
        owners::is_of_others(io, foreign, cwd).await.then_some(UntrustedOrigin::OtherUser)
    }
}

/// Whether git tracks the developer's file in `folder`.
async fn is_tracked(io: &Io, folder: &str) -> bool {
    // Git knows it by where it really is.
    let Ok(folder) = io.canonical(folder).await else { return true };
    let Some(checkout) = checkout::find(io, &folder).await else { return false };
    let below = folder.strip_prefix(&checkout.root).unwrap_or_default().trim_start_matches('/');
    let path =
        if below.is_empty() { LOCAL_FILE.to_owned() } else { format!("{below}/{LOCAL_FILE}") };
    checkout.tracks(io, &path).await
}
