//! The paths of a confinement, resolved on this machine.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::Metadata;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use onloop_core::effect::{Confinement, Reach};
use rustix::fs::Access;
use rustix::process::geteuid;

/// An existing path without links, and its access.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct ConfinedPath {
    pub(super) path: PathBuf,
    pub(super) reach: Reach,
    pub(super) is_folder: bool,
}

/// All paths of a confinement, parents first.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct ConfinedPaths {
    pub(super) there: Vec<ConfinedPath>,
    /// Read-only paths in writable folders that a path rule cannot protect: missing paths and
    /// links.
    pub(super) unprotected: Vec<PathBuf>,
    /// Those of `unprotected` that count as missing.
    pub(super) absent: BTreeSet<PathBuf>,
    /// Links to visible paths, in folders that look empty: their paths and targets.
    pub(super) links: BTreeMap<PathBuf, PathBuf>,
    /// Folders below which no new link is allowed.
    pub(super) without_links: Vec<PathBuf>,
    /// Patterns for names in these folders that no file may have which was not there.
    pub(super) without_new: BTreeMap<PathBuf, Vec<String>>,
}

impl ConfinedPaths {
    /// Resolves the paths. The target of a link counts. A link in a writable folder may be
    /// untrusted, so it grants nothing outside of that folder.
    pub(super) fn of(confinement: &Confinement) -> ConfinedPaths {
        let mut real = Confinement::default();
        let mut unprotected = Vec::new();
        let mut absent = BTreeSet::new();
        let mut written: Vec<(PathBuf, PathBuf)> = Vec::new();
        let mut emptied: Vec<(PathBuf, PathBuf)> = Vec::new();
        let mut links = BTreeMap::new();
        let mut folders = RealFolders::default();
        let rules = confinement.rules();
        let listed = Listed::of(rules.iter().map(|(path, _)| Path::new(*path)));
        for (path, reach) in rules {
            let path = Path::new(if path.is_empty() { "/" } else { path });
            let is_absent = reach == Reach::Read
                && confinement.absent.iter().any(|absent| Path::new(absent) == path);
            // Most paths are missing.
            let metadata = match is_absent || listed.lacks(path) {
                true => Err(std::io::ErrorKind::NotFound.into()),
                false => path.symlink_metadata(),
            };
            let around = written.iter().rfind(|(folder, _)| path.starts_with(folder));
            if let (Reach::Read, Some((folder, real_folder))) = (reach, around) {
                let rest = path.strip_prefix(folder).unwrap_or(path);
                let route = Route::of(real_folder, rest);
                if is_absent {
                    unprotected.push(path.to_owned());
                    absent.insert(path.to_owned());
                } else if route.end.symlink_metadata().is_err() {
                    unprotected.push(route.end);
                }
                // The links come last: what is restored below them is removed by their paths.
                unprotected.extend(route.links);
            }
            let there = match metadata {
                Ok(found) if found.is_symlink() => path.canonicalize().ok(),
                Ok(found) if reach == Reach::Hidden && is_closed(path, &found) => None,
                Ok(_) => folders.name(path),
                Err(_) => None,
            };
            let Some(there) = there else { continue };
            let leads_out = around.is_some_and(|(_, folder)| !there.starts_with(folder));
            if leads_out && reach != Reach::Hidden {
                continue;
            }
            let hides = matches!(reach, Reach::Hidden | Reach::Scratch);
            let empty = emptied.iter().rfind(|(folder, _)| path.starts_with(folder));
            if let (false, Some((folder, real_folder))) = (hides, empty) {
                let route = Route::of(real_folder, path.strip_prefix(folder).unwrap_or(path));
                let said = |link: PathBuf| Some((link.clone(), link.read_link().ok()?));
                links.extend(route.links.into_iter().filter_map(said));
            }
            let Some(text) = there.to_str() else { continue };
            let list = match reach {
                Reach::Write => &mut real.may_write,
                Reach::Read => &mut real.may_read,
                Reach::Others => &mut real.others_write,
                Reach::Scratch => &mut real.scratch,
                Reach::Hidden => &mut real.hidden,
            };
            list.push(text.to_owned());
            match reach {
                Reach::Write => written.push((path.to_owned(), there)),
                Reach::Hidden | Reach::Scratch => emptied.push((path.to_owned(), there)),
                Reach::Read | Reach::Others => {}
            }
        }
        let rule = |(path, reach): (&str, Reach)| {
            let path = PathBuf::from(if path.is_empty() { "/" } else { path });
            let is_folder = path.is_dir();
            ConfinedPath { path, reach, is_folder }
        };
        let there = real.mounts().into_iter().map(rule).collect();
        let paths = ConfinedPaths { there, ..ConfinedPaths::default() };
        unprotected.retain(|path| matches!(paths.around(path), Reach::Write | Reach::Others));
        links.retain(|path, _| matches!(paths.around(path), Reach::Hidden | Reach::Scratch));
        let without_links = confinement.without_links.iter().map(PathBuf::from).collect();
        let mut without_new: BTreeMap<PathBuf, Vec<String>> = BTreeMap::new();
        for (folder, pattern) in confinement.without_new.iter().filter_map(|p| p.rsplit_once('/')) {
            without_new.entry(PathBuf::from(folder)).or_default().push(pattern.to_owned());
        }
        ConfinedPaths { unprotected, absent, links, without_links, without_new, ..paths }
    }

    /// Returns the access to `path` that the rules of its parents give.
    pub(super) fn around(&self, path: &Path) -> Reach {
        let above = |rule: &&ConfinedPath| path != rule.path && path.starts_with(&rule.path);
        self.there.iter().rfind(above).map_or(Reach::Read, |rule| rule.reach)
    }

    /// The paths that are writable.
    pub(super) fn written(&self) -> impl Iterator<Item = &Path> {
        let written = self.there.iter().filter(|rule| rule.reach == Reach::Write);
        written.map(|rule| rule.path.as_path())
    }

    /// Returns the read-only paths in writable folders, and scratch folders in other scratch folders:
    /// a mechanism without mounts makes them writable.
    pub(super) fn read_only(&self) -> impl Iterator<Item = &ConfinedPath> {
        self.there.iter().filter(|rule| match rule.reach {
            Reach::Read => matches!(self.around(&rule.path), Reach::Write | Reach::Others),
            Reach::Scratch => self.is_inner_scratch(rule),
            Reach::Write | Reach::Others | Reach::Hidden => false,
        })
    }

    /// Whether a scratch folder lies in another one.
    pub(super) fn is_inner_scratch(&self, rule: &ConfinedPath) -> bool {
        rule.reach == Reach::Scratch && self.around(&rule.path) == Reach::Scratch
    }

    /// The folders above `path` that are hidden, those above others first.
    #[cfg(any(target_os = "macos", test))]
    pub(super) fn hidden_above<'p>(&self, path: &'p Path) -> Vec<&'p Path> {
        let is_hidden = |folder: &&Path| {
            let at = self.there.iter().rfind(|rule| folder.starts_with(&rule.path));
            at.is_some_and(|rule| matches!(rule.reach, Reach::Hidden | Reach::Scratch))
        };
        let mut above: Vec<&Path> = path.ancestors().skip(1).take_while(is_hidden).collect();
        above.reverse();
        above
    }

    /// Whether something below `path` cannot be seen.
    pub(super) fn hides_below(&self, path: &Path) -> bool {
        self.there.iter().any(|rule| {
            matches!(rule.reach, Reach::Hidden | Reach::Scratch)
                && rule.path != path
                && rule.path.starts_with(path)
        })
    }
}

/// The way of a path through a writable folder.
#[derive(Default)]
struct Route {
    /// The links on the route. The program could replace each of them.
    links: Vec<PathBuf>,
    /// The resolved path, which may be missing.
    end: PathBuf,
}

impl Route {
    /// Most links on one way, as in the kernel.
    const LONGEST: usize = 40;

    fn of(folder: &Path, rest: &Path) -> Route {
        let mut route = Route { links: Vec::new(), end: folder.to_owned() };
        let parts = |path: &Path| -> Vec<PathBuf> {
            path.components().rev().map(|part| PathBuf::from(part.as_os_str())).collect()
        };
        let mut ahead = parts(rest);
        while let Some(part) = ahead.pop() {
            if part == Path::new("..") {
                route.end.pop();
                continue;
            }
            if part == Path::new(".") {
                continue;
            }
            let next = route.end.join(&part);
            match std::fs::read_link(&next) {
                Ok(target) if route.links.len() < Route::LONGEST => {
                    route.links.push(next);
                    ahead.extend(parts(&target));
                }
                Ok(_) | Err(_) => route.end = next,
            }
        }
        route
    }
}

/// Whether another user owns the path and its mode gives us no access: then there is nothing to
/// hide.
pub(super) fn is_closed(path: &Path, found: &Metadata) -> bool {
    let may = |access: Access| rustix::fs::access(path, access).is_ok();
    found.uid() != geteuid().as_raw()
        && ![Access::READ_OK, Access::WRITE_OK, Access::EXEC_OK].into_iter().any(may)
}

/// Cache of resolved folders: many paths share few folders, and each part of a path is a system
/// call.
#[derive(Default)]
struct RealFolders(BTreeMap<PathBuf, Option<PathBuf>>);

impl RealFolders {
    /// Resolves everything above the last part that exists.
    fn name(&mut self, path: &Path) -> Option<PathBuf> {
        let Some(name) = path.file_name() else { return path.canonicalize().ok() };
        Some(self.folder(path.parent()?)?.join(name))
    }

    fn folder(&mut self, folder: &Path) -> Option<PathBuf> {
        if let Some(known) = self.0.get(folder) {
            return known.clone();
        }
        let found = folder.canonicalize().ok().or_else(|| self.name(folder));
        self.0.insert(folder.to_owned(), found.clone());
        found
    }
}

/// Listings of folders with many wanted names, which is cheaper than fifty lookups.
struct Listed(BTreeMap<PathBuf, BTreeSet<String>>);

impl Listed {
    /// Least wanted names for a listing.
    const WORTHWHILE: usize = 8;
    /// Most entries of a listed folder.
    const LONGEST: usize = 500;

    fn of<'p>(paths: impl Iterator<Item = &'p Path>) -> Listed {
        let mut asked: BTreeMap<&Path, usize> = BTreeMap::new();
        for folder in paths.filter_map(Path::parent) {
            *asked.entry(folder).or_default() += 1;
        }
        asked.retain(|_, names| *names >= Listed::WORTHWHILE);
        let names = |folder: &Path| Some((folder.to_owned(), names_in(folder)?));
        Listed(asked.into_keys().filter_map(names).collect())
    }

    /// Whether `path` is certainly missing. Some disks ignore case.
    fn lacks(&self, path: &Path) -> bool {
        let names = path.parent().and_then(|folder| self.0.get(folder));
        let name = path.file_name().and_then(|name| name.to_str()).filter(|name| name.is_ascii());
        let (Some(names), Some(name)) = (names, name) else { return false };
        !names.contains(&name.to_ascii_lowercase())
    }
}

/// Returns all names in a folder in lower case; none if it is missing. `None`: unknown.
fn names_in(folder: &Path) -> Option<BTreeSet<String>> {
    let entries = match std::fs::read_dir(folder) {
        Ok(entries) => entries,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Some(BTreeSet::new()),
        Err(_) => return None,
    };
    let mut names = BTreeSet::new();
    for entry in entries {
        // No rule has a name that is not UTF-8.
        names.insert(entry.ok()?.file_name().to_string_lossy().to_ascii_lowercase());
        if names.len() > Listed::LONGEST {
            return None;
        }
    }
    Some(names)
}

#[cfg(test)]
mod tests {
    use std::fs::Permissions;
    use std::os::unix::fs::{PermissionsExt, symlink};

    use super::*;

    #[test]
    fn what_others_keep_from_us_is_closed_and_what_is_ours_is_not() {
        let closed = |path: &Path| is_closed(path, &path.symlink_metadata().unwrap());
        let ours = tempfile::NamedTempFile::new().unwrap();
        ours.as_file().set_permissions(Permissions::from_mode(0o000)).unwrap();
        // Its owner could open it by another mode.
        assert!(!closed(ours.path()));
        assert!(!closed(Path::new("/etc/passwd")));
        if cfg!(target_os = "linux") {
            // Of root, with mode 0500.
            assert_eq!(closed(Path::new("/proc/1/fd")), !geteuid().is_root());
        }
    }

    #[test]
    fn a_folder_is_listed_where_much_is_asked_of_it_and_lacks_only_what_is_not_there() {
        let folder = tempfile::tempdir().unwrap();
        for name in ["a", "Token"] {
            std::fs::write(folder.path().join(name), "").unwrap();
        }
        let asked: Vec<PathBuf> = ["a", "b", "c", "d", "e", "f", "g", "token"]
            .map(|name| folder.path().join(name))
            .into();
        let lacking = |asked: &[PathBuf]| {
            let listed = Listed::of(asked.iter().map(PathBuf::as_path));
            asked.iter().filter(|path| listed.lacks(path)).count()
        };
        assert_eq!(lacking(&asked), 6);
        assert_eq!(lacking(&asked[1..]), 0, "too few to list");
        let elsewhere: Vec<PathBuf> =
            asked.iter().map(|path| path.join("absent/x")).take(8).collect();
        assert_eq!(lacking(&elsewhere), 0, "each in a folder of its own");
        let missing: Vec<PathBuf> =
            (0..8).map(|name| folder.path().join(format!("absent/{name}"))).collect();
        assert_eq!(lacking(&missing), 8);
        for name in 0..=Listed::LONGEST {
            std::fs::write(folder.path().join(format!("more{name}")), "").unwrap();
        }
        assert_eq!(lacking(&asked), 0, "too long");
    }

    #[test]
    fn a_link_of_an_earlier_program_grants_nothing() {
        let folder = tempfile::tempdir().unwrap();
        let top = folder.path().canonicalize().unwrap();
        for name in ["cache", "private/keys", "elsewhere"] {
            std::fs::create_dir_all(top.join(name)).unwrap();
        }
        symlink(top.join("elsewhere"), top.join("cache/mod")).unwrap();
        symlink(top.join("private/keys"), top.join("cache/bin")).unwrap();
        symlink(top.join("elsewhere"), top.join("mine")).unwrap();
        let name = |name: &str| top.join(name).to_str().unwrap().to_owned();
        let confinement = Confinement {
            may_write: vec![name("cache"), name("cache/mod"), name("mine"), name("nowhere")],
            may_read: vec![name("cache/bin"), name("cache/absent")],
            hidden: vec![name("private")],
            ..Confinement::default()
        };
        let paths = ConfinedPaths::of(&confinement);
        let there: Vec<_> = paths.there.iter().map(|rule| (&rule.path, rule.reach)).collect();
        assert_eq!(
            there,
            [
                (&top.join("cache"), Reach::Write),
                (&top.join("elsewhere"), Reach::Write),
                (&top.join("private"), Reach::Hidden),
            ]
        );
        assert_eq!(paths.unprotected, [top.join("cache/absent"), top.join("cache/bin")]);
    }

    #[test]
    fn links_to_what_is_seen_are_made_in_a_folder_that_looks_empty() {
        let folder = tempfile::tempdir().unwrap();
        let top = folder.path().canonicalize().unwrap();
        std::fs::create_dir_all(top.join("home/dotfiles/config")).unwrap();
        std::fs::write(top.join("home/dotfiles/config/git"), "").unwrap();
        symlink("dotfiles/config", top.join("home/.config")).unwrap();
        symlink("/usr/bin", top.join("home/bin")).unwrap();
        let name = |name: &str| top.join(name).to_str().unwrap().to_owned();
        let confinement = Confinement {
            may_read: vec![name("home/.config/git"), name("home/bin")],
            hidden: vec![name("home")],
            ..Confinement::default()
        };
        let paths = ConfinedPaths::of(&confinement);
        let expected = [(".config", "dotfiles/config"), ("bin", "/usr/bin")];
        let expected = expected.map(|(at, to)| (top.join("home").join(at), PathBuf::from(to)));
        assert_eq!(paths.links, BTreeMap::from(expected));
        let seen = paths.there.last().map(|rule| rule.path.clone());
        assert_eq!(seen, Some(top.join("home/dotfiles/config/git")));
    }

    #[test]
    fn a_protected_path_behind_links_is_kept_with_them() {
        let folder = tempfile::tempdir().unwrap();
        let top = folder.path().canonicalize().unwrap();
        std::fs::create_dir_all(top.join("w/real")).unwrap();
        symlink("real", top.join("w/second")).unwrap();
        symlink("./second", top.join("w/first")).unwrap();
        symlink(top.join("w/nowhere"), top.join("w/dangling")).unwrap();
        let name = |name: &str| top.join(name).to_str().unwrap().to_owned();
        let confinement = Confinement {
            may_write: vec![name("w")],
            may_read: vec![name("w/dangling/a"), name("w/first/set")],
            ..Confinement::default()
        };
        let unprotected = ["w/nowhere/a", "w/dangling", "w/real/set", "w/first", "w/second"];
        assert_eq!(
            ConfinedPaths::of(&confinement).unprotected,
            unprotected.map(|path| top.join(path))
        );
        std::fs::write(top.join("w/real/set"), "").unwrap();
        let paths = ConfinedPaths::of(&confinement);
        assert_eq!(paths.unprotected, [0, 1, 3, 4].map(|at| top.join(unprotected[at])));
        assert!(paths.there.iter().any(|rule| rule.path == top.join("w/real/set")));
    }
}
