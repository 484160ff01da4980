//! Where calls may work: in the folders of the client, or else in that of the server.

use onloop_effect::{FileKind, Io, is_within};
use onloop_syntax::syntax::file_uri::path_of;
use onloop_syntax::text::{ellipsis, one_line};

pub(super) struct Folders {
    /// The server's own, with links resolved.
    own: String,
    /// The client's, with links resolved; only those that are there.
    roots: Vec<String>,
    /// Addresses of the client's that lead nowhere.
    lost: Vec<String>,
}

/// Why a call has no folder to work in.
#[derive(Debug, thiserror::Error)]
pub(super) enum FolderError {
    /// The client has named folders, and none of them is on this machine.
    #[error("none of the client's folders is on this machine: found {}", short(&.0.join(", ")))]
    NotHere(Vec<String>),
    /// What was asked for is not a folder.
    #[error("`directory` is `{}`, which is not a folder", short(.0))]
    NotAFolder(String),
    /// What was asked for is not inside of one of the folders that are allowed.
    #[error(
        "`directory` is `{}`, expected a folder inside `{}`",
        short(.directory),
        one_line(&.allowed.join("`, `"))
    )]
    Outside { directory: String, allowed: Vec<String> },
}

fn short(text: &str) -> String {
    ellipsis(&one_line(text), 400)
}

impl Folders {
    pub(super) async fn of(io: &Io) -> Folders {
        let cwd = io.start().cwd.clone();
        let own = io.canonical(&cwd).await.unwrap_or(cwd);
        Folders { own, roots: Vec::new(), lost: Vec::new() }
    }

    /// Takes the addresses that the client names, as far as they lead to folders here.
    pub(super) async fn set_roots(&mut self, io: &Io, uris: &[String]) {
        self.roots.clear();
        self.lost.clear();
        for uri in uris {
            let folder = match path_of(uri) {
                Some(path) => canonical_folder(io, &path).await,
                None => None,
            };
            match folder {
                Some(folder) => self.roots.push(folder),
                None => self.lost.push(uri.clone()),
            }
        }
    }

    /// The folder for a call that asks for `directory`.
    pub(super) async fn find(
        &self,
        io: &Io,
        directory: Option<&str>,
    ) -> Result<String, FolderError> {
        if self.roots.is_empty() && !self.lost.is_empty() {
            return Err(FolderError::NotHere(self.lost.clone()));
        }
        let usual = match self.roots.first() {
            Some(first) if !self.roots.iter().any(|root| is_inside(&self.own, root)) => first,
            Some(_) | None => &self.own,
        };
        let Some(directory) = directory else { return Ok(usual.clone()) };
        let wanted = onloop_effect::rooted::absolute(usual, directory);
        let Some(folder) = canonical_folder(io, &wanted).await else {
            return Err(FolderError::NotAFolder(directory.to_owned()));
        };
        let allowed =
            if self.roots.is_empty() { std::slice::from_ref(&self.own) } else { &self.roots };
        if allowed.iter().any(|root| is_inside(&folder, root)) {
            return Ok(folder);
        }
        Err(FolderError::Outside { directory: directory.to_owned(), allowed: allowed.to_vec() })
    }
}

/// A folder with its links resolved; nothing where there is none.
async fn canonical_folder(io: &Io, path: &str) -> Option<String> {
    let path = io.canonical(path).await.ok()?;
    let stat = io.stat(&path).await.ok()?;
    (stat.kind == FileKind::Folder).then_some(path)
}

fn is_inside(path: &str, root: &str) -> bool {
    is_within(path, root.trim_end_matches('/'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn inside_is_below_and_not_beside() {
        let table = [
            ("/srv/repo", "/srv/repo", true),
            ("/srv/repo/a", "/srv/repo", true),
            ("/srv/repository", "/srv/repo", false),
            ("/srv", "/srv/repo", false),
            ("/srv", "/", true),
        ];
        for (path, root, expected) in table {
            assert_eq!(is_inside(path, root), expected, "{path} in {root}");
        }
    }
}
