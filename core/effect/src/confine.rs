//! What a program may touch: decided here, enforced by the host's kernel.

use serde::{Deserialize, Serialize};

use onloop_syntax::text::words;

/// What a program, and everything that it starts, may touch.
///
/// Everything can be read unless this says otherwise, and nothing can be changed. The longest path
/// at or above a file decides about it; the same path in two lists is what the later of `may_write`,
/// `may_read`, `others_write`, `scratch`, `hidden` says. Paths are absolute, with `/` between their
/// parts; a path that does not exist is not an error.
///
/// Whatever is listed: the program gets no descriptors but its three streams, reaches no process,
/// no shared memory and no socket of the machine that is not one of the network, gains no
/// privileges, and cannot type into its terminal.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Confinement {
    /// What may be changed: folders with everything in them, and files.
    pub may_write: Vec<String>,
    /// What may be read and not be changed, in a folder that may be written or is hidden. What is
    /// not there must not come to be there.
    pub may_read: Vec<String>,
    /// As `may_read`, but others change it meanwhile: a mechanism that cannot hold it does not put
    /// it back either.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub others_write: Vec<String>,
    /// Folders that look empty except for the paths named in them. What the program writes there is
    /// thrown away when it ends.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub scratch: Vec<String>,
    /// What can be neither read nor changed.
    pub hidden: Vec<String>,
    /// Folders below which no link may come to be: programs outside write to their files by name. A
    /// new link is removed when the program ends.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub without_links: Vec<String>,
    /// Which network it has.
    pub network: Network,
    /// The only mechanism that may be used; `None`: the strongest that there is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub only: Option<Mechanism>,
}

/// The network of a confined program.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Network {
    /// That of the machine.
    #[default]
    All,
    /// A loopback device that nobody else has.
    Loopback,
    /// None.
    None,
}

words! { impl pub Network { All = "all", Loopback = "loopback", None = "none", } }

/// What enforces a confinement.
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

/// What may be done with a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reach {
    /// It may be changed.
    Write,
    /// It may be read.
    Read,
    /// It may be read, and others may change it.
    Others,
    /// It may be changed, and is thrown away.
    Scratch,
    /// It may not even be read.
    Hidden,
}

impl Confinement {
    /// Every path that is named, once, those above others first.
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
        // Stable: of the same path, the last list stays last.
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

    /// The rules as a list of mounts that are made one after the other, each over everything below
    /// its path: parents before children, so that no mount covers a later rule.
    ///
    /// A rule that the one around it implies is left out. The folders between a protected or hidden
    /// path and the writable folder around it are mounts of their own: a mount cannot be moved away
    /// together with what lies in it.
    pub fn mounts(&self) -> Vec<(&str, Reach)> {
        let rules = self.rules();
        let mut mounts: Vec<(&str, Reach)> = Vec::new();
        // The rules above the one at hand, the nearest last.
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

    /// What may be done with the file at `path`, which is absolute and without `.` and `..`.
    pub fn access(&self, path: &str) -> Reach {
        let of_path = self.rules().into_iter().rfind(|(above, _)| is_within(path, above));
        of_path.map_or(Reach::Read, |(_, access)| access)
    }
}

/// Sorts folders before what is in them: part by part, as if nothing came before `/`.
fn in_order(path: &str) -> String {
    path.replace('/', "\0")
}

/// Whether `path` is `folder` or lies in it. Both are absolute and without `/` at their ends.
pub fn is_within(path: &str, folder: &str) -> bool {
    path.strip_prefix(folder).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
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
