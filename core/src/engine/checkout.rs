//! Facts about a checkout from a few small files, without git: hooks run before every tool call,
//! and starting git would take longer than everything else.

use crate::effect::{FileKind, Io, OptionalExt};
use crate::engine::git_index;
use crate::limits;

/// A checkout of a git repository.
#[derive(Clone, Debug)]
pub(crate) struct Checkout {
    /// Its top folder.
    pub(crate) root: String,
    /// Its own folder of git.
    pub(crate) git_folder: String,
}

/// The checkout around `folder`.
pub(crate) async fn find(io: &Io, folder: &str) -> Option<Checkout> {
    let mut folder = folder.trim_end_matches('/');
    loop {
        let git = format!("{folder}/.git");
        match io.stat(&git).await.map(|stat| stat.kind) {
            Ok(FileKind::Folder) => {
                return Some(Checkout { root: folder.to_owned(), git_folder: git });
            }
            // A linked worktree, or a submodule.
            Ok(FileKind::File) => {
                let text = read_text(io, &git).await?;
                let target = text.strip_prefix("gitdir:")?.trim();
                let git_folder = below(folder, target);
                return Some(Checkout { root: folder.to_owned(), git_folder });
            }
            Ok(FileKind::Link | FileKind::Other) | Err(_) => {}
        }
        folder = &folder[..folder.rfind('/')?];
    }
}

impl Checkout {
    /// The branch that is checked out; `None` if there is none, or it cannot be read.
    pub(crate) async fn branch(&self, io: &Io) -> Option<String> {
        let head = read_text(io, &format!("{}/HEAD", self.git_folder)).await?;
        head.trim().strip_prefix("ref: refs/heads/").map(str::to_owned)
    }

    /// Whether git tracks a file, by its path below the top folder. Where that cannot be found
    /// out, it does.
    pub(crate) async fn tracks(&self, io: &Io, path: &str) -> bool {
        let index = format!("{}/index", self.git_folder);
        match io.read_tail(&index, limits::GIT_INDEX_BYTES).await.optional() {
            Ok(Some((bytes, _))) => git_index::is_tracked(&bytes, path).unwrap_or(true),
            // Nothing was ever added.
            Ok(None) => false,
            Err(_) => true,
        }
    }

    /// `owner/name` of every remote on GitHub, in lower case. `None` if the configuration of the
    /// repository cannot be read.
    pub(crate) async fn github_names(&self, io: &Io) -> Option<Vec<String>> {
        let common = match read_text(io, &format!("{}/commondir", self.git_folder)).await {
            Some(path) => below(&self.git_folder, path.trim()),
            None => self.git_folder.clone(),
        };
        let config = read_text(io, &format!("{common}/config")).await?;
        Some(github_names(&config))
    }
}

pub(crate) fn below(folder: &str, path: &str) -> String {
    if path.starts_with('/') { path.to_owned() } else { format!("{folder}/{path}") }
}

pub(crate) async fn read_text(io: &Io, path: &str) -> Option<String> {
    let (bytes, _) = io.read(path, limits::GIT_FILE_BYTES).await.ok()?;
    String::from_utf8(bytes).ok()
}

fn github_names(config: &str) -> Vec<String> {
    let url = |line: &str| {
        let (key, value) = line.trim().split_once('=')?;
        (key.trim().eq_ignore_ascii_case("url")).then(|| value.trim().to_lowercase())
    };
    config.lines().filter_map(url).filter_map(|url| github_name(&url)).collect()
}

/// `owner/name` in the address of a repository on GitHub.
fn github_name(url: &str) -> Option<String> {
    let (_, path) = url.split_once("github.com")?;
    let path = path.strip_prefix([':', '/'])?.trim_start_matches('/');
    // `ssh://git@github.com:22/owner/name`.
    let path = path.strip_prefix("22/").or_else(|| path.strip_prefix("443/")).unwrap_or(path);
    let mut parts = path.trim_end_matches('/').split('/');
    let (owner, name) = (parts.next()?, parts.next()?);
    let name = name.strip_suffix(".git").unwrap_or(name);
    let fits = !owner.is_empty() && !name.is_empty() && parts.next().is_none();
    fits.then(|| format!("{owner}/{name}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn remotes_on_github_are_recognised_however_they_are_written() {
        let config = "[remote \"origin\"]\n\turl = git@github.com:Me/Repo.git\n\
            [remote \"up\"]\n\tURL=https://github.com/you/repo/\n\
            [remote \"x\"]\n\turl = ssh://git@github.com:22/a/b\n\
            [remote \"y\"]\n\turl = https://example.org/github.com\n\
            [remote \"z\"]\n\turl = https://github.com/only-owner\n\
            [core]\n\tbare = false\n";
        assert_eq!(github_names(config), ["me/repo", "you/repo", "a/b"]);
    }
}
