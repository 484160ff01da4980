//! Confinement: the files and the network that a program may use. Core decides it, the host's
//! kernel enforces it.

use serde::{Deserialize, Serialize};

use super::network::Network;
use onloop_syntax::text::words;

/// The files and the network that a program, and everything that it starts, may use.
///
/// By default every file is readable and none is writable. The longest listed path at or above a
/// file decides about it. If two lists have the same path, the later of `may_write`, `may_read`,
/// `others_write`, `scratch`, `hidden` decides. Paths are absolute, with `/` between their parts; a
/// missing path is valid.
///
/// In every case the program gets no descriptors except its three streams. It reaches no process,
/// no shared memory and no local socket of the machine, gains no privileges, and cannot type into
/// its terminal.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Confinement {
    /// Writable paths: files, and folders with everything in them.
    pub may_write: Vec<String>,
    /// Read-only paths inside a writable or hidden folder. The program cannot create a missing one.
    pub may_read: Vec<String>,
    /// Those of `may_read` that count as missing, whatever is there: another confined program may have
    /// made it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub absent: Vec<String>,
    /// As `may_read`, but other programs change it meanwhile: a mechanism that cannot protect it does
    /// not restore it either.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub others_write: Vec<String>,
    /// Folders that look empty except for listed paths in them. What the program writes there is
    /// lost when it ends.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub scratch: Vec<String>,
    /// Paths that are neither readable nor writable.
    pub hidden: Vec<String>,
    /// Folders below which no new link is allowed, because programs outside write to their files by
    /// name. A new link is removed when the program ends.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub without_links: Vec<String>,
    /// Patterns for names in a folder, in lower case, of files that the program does not make there. What
    /// it makes is removed when the program ends.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub without_new: Vec<String>,
    /// Git folders whose configuration, and that of their submodules, is shown without credentials.
    /// Only bubblewrap shows a file in the place of another.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub without_credentials: Vec<String>,
    /// A git folder of the program's own in the place of the repository's. Needs bubblewrap.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub git: Option<PrivateGit>,
    /// The network.
    pub network: Network,
    /// The only permitted mechanism; `None`: the strongest available one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub only: Option<Mechanism>,
}

/// A git folder that a confined program has for itself. The program sees it at the path of the
/// repository's own git folder and may write everything in it. The repository's objects and hooks are
/// read-only. Submodules are shared: those of a linked worktree writable, others read-only.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PrivateGit {
    /// The private git folder; `None`: one in memory that is lost when the program ends. If it is
    /// missing, the host makes it from the repository: its configuration without credentials, its
    /// branches, tags and remote branches, HEAD and index.
    pub folder: Option<String>,
    /// The git folder of the repository, which all its worktrees share.
    pub common: String,
    /// The git folder of the checkout: `common`, or `worktrees/<name>` below it.
    pub own: String,
}

/// The mechanism that enforces a confinement.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Mechanism {
    /// Namespaces of Linux, set up by the program `bwrap`.
    Bubblewrap,
    /// Landlock and a filter of system calls of Linux.
    Landlock,
    /// The sandbox of macOS.
    Seatbelt,
}

words! {
    impl pub Mechanism { Bubblewrap = "bubblewrap", Landlock = "landlock", Seatbelt = "seatbelt", }
}

/// The access to a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reach {
    /// Read and write.
    Write,
    /// Read only.
    Read,
    /// Read only; other programs may write it.
    Others,
    /// Read and write; the content is lost when the program ends.
    Scratch,
    /// None.
    Hidden,
}

impl Confinement {
    /// Every listed path once, parents before their children.
    pub fn rules(&self) -> Vec<(&str, Reach)> {
        let lists = [
            (&self.may_write, Reach::Write),
            (&self.may_read, Reach::Read),
            (&self.others_write, Reach::Others),
            (&self.scratch, Reach::Scratch),
            (&self.hidden, Reach::Hidden),
        ];
        let mut rules: Vec<(&str, Reach)> = Vec::new();
        for (paths, reach) in lists {
            rules.extend(paths.iter().map(|path| (path.trim_end_matches('/'), reach)));
        }
        // The sort is stable: for equal paths the last list stays last.
        rules.sort_by_cached_key(|(path, _)| in_order(path));
        let mut once: Vec<(&str, Reach)> = Vec::new();
        for rule in rules {
            match once.last_mut() {
                Some(last) if last.0 == rule.0 => *last = rule,
                Some(_) | None => once.push(rule),
            }
        }
        once
    }

    /// Returns the rules as a list of mounts. They are made in this order, each over everything below
    /// its path: parents before children, so that no mount covers a later rule.
    ///
    /// A rule that its parent rule implies is left out. The folders between a protected or hidden
    /// path and the writable folder around it are mounts of their own, because a mount cannot be
    /// moved together with its content.
    pub fn mounts(&self) -> Vec<(&str, Reach)> {
        let rules = self.rules();
        let mut mounts: Vec<(&str, Reach)> = Vec::new();
        // The rules above the current one, the nearest last.
        let mut above: Vec<(&str, Reach)> = Vec::new();
        for (path, reach) in rules {
            while above.last().is_some_and(|(folder, _)| !is_within(path, folder)) {
                above.pop();
            }
            let around = above.last().copied();
            let implied = around.map_or(Reach::Read, |(_, reach)| reach);
            if implied == reach && reach != Reach::Scratch {
                continue;
            }
            above.push((path, reach));
            if let Some((folder, Reach::Write)) = around {
                let slashes = path.match_indices('/').map(|(at, _)| &path[..at]);
                let between = slashes.filter(|above| above.len() > folder.len());
                mounts.extend(between.map(|above| (above, Reach::Write)));
            }
            mounts.push((path, reach));
        }
        mounts.sort_by_cached_key(|(path, _)| in_order(path));
        mounts.dedup();
        mounts
    }

    /// The access to the file at `path`, which is absolute and without `.` and `..`.
    pub fn access(&self, path: &str) -> Reach {
        let of_path = self.rules().into_iter().rfind(|(above, _)| is_within(path, above));
        of_path.map_or(Reach::Read, |(_, access)| access)
    }
}

/// Returns a sort key that compares part by part, with `/` as the lowest character, so that folders
/// come before their content.
fn in_order(path: &str) -> String {
    path.replace('/', "\0")
}

/// Whether `path` is `folder` or below it. Both are absolute and without a final `/`.
pub fn is_within(path: &str, folder: &str) -> bool {
    path.strip_prefix(folder).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}

/// Whether only administrators write in a folder of `PATH`.
pub fn is_of_system(folder: &str) -> bool {
    ["/usr/bin", "/bin", "/usr/sbin", "/sbin"].contains(&folder)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn confinement() -> Confinement {
        let paths = |list: &[&str]| list.iter().map(|path| (*path).to_owned()).collect();
        Confinement {
            may_write: paths(&["/w/", "/tmp/t", "/home/u/.ssh"]),
            may_read: paths(&["/w/.git/config", "/tmp/bin"]),
            hidden: paths(&["/tmp", "/home/u/.ssh", "/w-2"]),
            ..Confinement::default()
        }
    }

    #[test]
    fn the_longest_path_decides() {
        let confinement = confinement();
        for (path, access) in [
            ("/etc/passwd", Reach::Read),
            ("/w", Reach::Write),
            ("/w/a/b", Reach::Write),
            ("/w/.git/config", Reach::Read),
            ("/w/.git/config.lock", Reach::Write),
            ("/w-2/a", Reach::Hidden),
            ("/w-3", Reach::Read),
            ("/tmp", Reach::Hidden),
            ("/tmp/x", Reach::Hidden),
            ("/tmp/t/x", Reach::Write),
            ("/tmp/bin/x", Reach::Read),
            ("/home/u/.ssh/id", Reach::Hidden),
        ] {
            assert_eq!(confinement.access(path), access, "{path}");
        }
    }

    #[test]
    fn folders_come_before_what_is_in_them() {
        let named = confinement();
        let paths: Vec<&str> = named.rules().into_iter().map(|(path, _)| path).collect();
        assert_eq!(
            paths,
            ["/home/u/.ssh", "/tmp", "/tmp/bin", "/tmp/t", "/w", "/w/.git/config", "/w-2"]
        );
    }
    #[test]
    fn several_protected_paths_of_one_folder_keep_their_mounts() {
        let paths = |list: &[&str]| list.iter().map(|path| (*path).to_owned()).collect();
        let confinement = Confinement {
            may_write: paths(&["/w", "/w/a/b", "/w/cache"]),
            may_read: paths(&["/usr", "/w/a/hooks", "/w/a/b/set", "/w/a/b/x"]),
            hidden: paths(&["/h", "/h/secret", "/w/d/secret"]),
            ..Confinement::default()
        };
        assert_eq!(
            confinement.mounts(),
            [
                ("/h", Reach::Hidden),
                ("/w", Reach::Write),
                ("/w/a", Reach::Write),
                ("/w/a/b", Reach::Write),
                ("/w/a/b/set", Reach::Read),
                ("/w/a/b/x", Reach::Read),
                ("/w/a/hooks", Reach::Read),
                ("/w/d", Reach::Write),
                ("/w/d/secret", Reach::Hidden),
            ]
        );
    }
}
