//! Links that a repository has where our files belong: what is read or written through one lies
//! outside of the checkout.
//!
//! A link to another place in the checkout is fine, and so are those in a person's own home, which
//! no repository brings along.

use crate::checkout;
use onloop_effect::{FileKind, Io};
use onloop_syntax::text;

/// A link in a checkout that leads out of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PlantedLink {
    link: String,
    /// `None`: nowhere.
    target: Option<String>,
}

impl std::fmt::Display for PlantedLink {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let link = text::one_line(&self.link);
        match &self.target {
            Some(target) => {
                let target = text::one_line(target);
                write!(f, "`{link}` is a link that leads out of the checkout, to `{target}`")?;
            }
            None => write!(f, "`{link}` is a link that leads nowhere")?,
        }
        f.write_str("; onloop neither reads nor writes through it: remove it")
    }
}

/// The checkout around the current folder, or that folder itself.
pub async fn checkout_root(io: &Io) -> String {
    let cwd = io.start().cwd.trim_end_matches('/').to_owned();
    checkout::find(io, &cwd).await.map_or(cwd, |checkout| checkout.root)
}

/// Refuses `path`, which is below `root`, where a link on the way to it leads out of `root`.
pub async fn refuse(io: &Io, root: &str, path: &str) -> Result<(), PlantedLink> {
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
            // What is below it is not there either, or whoever opens it hears why it cannot be.
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
) -> Result<(), PlantedLink> {
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

async fn refuse_link(io: &Io, root: &str, link: &str) -> Result<(), PlantedLink> {
    let target = io.canonical(link).await.ok();
    let root = io.canonical(root).await.unwrap_or_else(|_| root.to_owned());
    let is_inside = target.as_ref().is_some_and(|target| {
        target.strip_prefix(&root).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
    });
    if is_inside { Ok(()) } else { Err(PlantedLink { link: link.to_owned(), target }) }
}
