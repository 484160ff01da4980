//! Links that a repository has where our files belong: what is read or written through one lies
//! outside of the checkout.
//!
//! A link to another place in the checkout is fine, and so are those in a person's own home, which
//! no repository brings along.

use crate::error::CommandError;
use crate::git::checkout;
use onloop_effect::is_within;
use onloop_effect::{FileKind, Io};
use onloop_syntax::text;

/// A link in a checkout that leads out of it.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{}` is a link that leads {}", text::one_line(.link), where_to(.target.as_deref()))]
pub struct UntrustedLink {
    link: String,
    /// `None`: nowhere.
    target: Option<String>,
}

impl From<UntrustedLink> for CommandError {
    fn from(link: UntrustedLink) -> CommandError {
        CommandError::refused(link.to_string())
    }
}

fn where_to(target: Option<&str>) -> String {
    let place = match target {
        Some(target) => format!("out of the checkout, to `{}`", text::one_line(target)),
        None => "nowhere".to_owned(),
    };
    format!("{place}; onloop neither reads nor writes through it: remove it")
}

/// The checkout around the current folder, or that folder itself.
pub async fn checkout_root(io: &Io) -> String {
    let cwd = io.start().cwd.trim_end_matches('/').to_owned();
    checkout::find(io, &cwd).await.map_or(cwd, |checkout| checkout.root)
}

/// Refuses `path`, which is below `root`, where a link on the way to it leads out of `root`.
pub async fn refuse(io: &Io, root: &str, path: &str) -> Result<(), UntrustedLink> {
    let root = root.trim_end_matches('/');
    let Some(below) = path.strip_prefix(root).and_then(|below| below.strip_prefix('/')) else {
        return Ok(());
    };
    let mut there = root.to_owned();
    for name in below.split('/').filter(|name| !name.is_empty()) {
        there = format!("{there}/{name}");
        match io.stat(&there).await.map(|stat| stat.kind) {
            Ok(FileKind::Link) => refuse_link(io, root, &there).await?,
            Ok(FileKind::Folder | FileKind::File | FileKind::Other) => {}
            // What is below it is not there either, or opening it fails with the reason.
            Err(_) => return Ok(()),
        }
    }
    Ok(())
}

/// Refuses a folder below `root` in which any link leads out of `root`, except in `spared`.
pub async fn refuse_below(
    io: &Io,
    root: &str,
    folder: &str,
    spared: &str,
) -> Result<(), UntrustedLink> {
    refuse(io, root, folder).await?;
    let mut folders = vec![folder.to_owned()];
    while let Some(folder) = folders.pop().filter(|folder| folder != spared) {
        for name in io.list(&folder).await.unwrap_or_default() {
            let path = format!("{folder}/{name}");
            match io.stat(&path).await.map(|stat| stat.kind) {
                Ok(FileKind::Link) => refuse_link(io, root, &path).await?,
                Ok(FileKind::Folder) => folders.push(path),
                Ok(FileKind::File | FileKind::Other) | Err(_) => {}
            }
        }
    }
    Ok(())
}

async fn refuse_link(io: &Io, root: &str, link: &str) -> Result<(), UntrustedLink> {
    let target = io.canonical(link).await.ok();
    let root = io.canonical(root).await.unwrap_or_else(|_| root.to_owned());
    let is_inside = target.as_ref().is_some_and(|target| is_within(target, &root));
    if is_inside { Ok(()) } else { Err(UntrustedLink { link: link.to_owned(), target }) }
}
