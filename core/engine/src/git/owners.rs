//! Whose a file is, compared with whose work is done.

use onloop_effect::Io;

/// Whether what is `foreign` is of others than `folder`, in which somebody works. Who works in a folder
/// of another user, as a container may in a checkout that it mounts, takes what is there for what it
/// is.
pub(crate) async fn is_of_others(io: &Io, foreign: bool, folder: &str) -> bool {
    foreign && !io.stat(folder).await.is_ok_and(|stat| stat.foreign)
}
