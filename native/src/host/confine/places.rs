//! The paths of a confinement as they are on this machine.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::Metadata;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use onloop_core::effect::{Confinement, Reach};
use rustix::fs::Access;
use rustix::process::geteuid;

/// A path that is there, without links in it, and what may be done with it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Place {
    pub(super) path: PathBuf,
    pub(super) reach: Reach,
    pub(super) is_folder: bool,
}

/// All paths of a confinement, those above others first.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Places {
    pub(super) there: Vec<Place>,
    /// What has to stay as it is in a folder that may be written, and cannot be held by its path:
    /// it is not there, or it is a link.
    pub(super) unheld: Vec<PathBuf>,
    /// Links to places, in folders that look empty: what is there, and what it says.
    pub(super) links: BTreeMap<PathBuf, PathBuf>,
    /// Folders below which no link may come to be.
    pub(super) without_links: Vec<PathBuf>,
}

impl Places {
    /// Looks at the disk. Links are followed: what they lead to is what counts. A link in a folder
    /// that may be written may be the work of an earlier program, and leads nowhere outside of it.
    pub(super) fn of(confinement: &Confinement) -> Places {
        let mut real = Confinement::default();
        let mut unheld = Vec::new();
        let mut written: Vec<(PathBuf, PathBuf)> = Vec::new();
        let mut emptied: Vec<(PathBuf, PathBuf)> = Vec::new();
        let mut links = BTreeMap::new();
        let mut folders = RealFolders::default();
        let rules = confinement.rules();
        let listed = Listed::of(rules.iter().map(|(path, _)| Path::new(*path)));
        for (path, reach) in rules {
            let path = Path::new(if path.is_empty() { "/" } else { path });
            // Most are not there.
            let metadata = match listed.lacks(path) {
                true => Err(std::io::ErrorKind::NotFound.into()),
                false => path.symlink_metadata(),
            };
            let around = written.iter().rfind(|(folder, _)| path.starts_with(folder));
            if let (Reach::Read, Some((folder, real_folder))) = (reach, around) {
                let rest = path.strip_prefix(folder).unwrap_or(path);
                let way = Way::of(real_folder, rest);
                if way.end.symlink_metadata().is_err() {
                    unheld.push(way.end);
                }
                // The links come last: what is put back below them is removed by their paths.
                unheld.extend(way.links);
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
                let way = Way::of(real_folder, path.strip_prefix(folder).unwrap_or(path));
                let said = |link: PathBuf| Some((link.clone(), link.read_link().ok()?));
                links.extend(way.links.into_iter().filter_map(said));
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
        let place = |(path, reach): (&str, Reach)| {
            let path = PathBuf::from(if path.is_empty() { "/" } else { path });
            let is_folder = path.is_dir();
            Place { path, reach, is_folder }
        };
        let there = real.mounts().into_iter().map(place).collect();
        let places = Places { there, ..Places::default() };
        unheld.retain(|path| matches!(places.around(path), Reach::Write | Reach::Others));
        links.retain(|path, _| matches!(places.around(path), Reach::Hidden | Reach::Scratch));
        let without_links = confinement.without_links.iter().map(PathBuf::from).collect();
        Places { unheld, links, without_links, ..places }
    }

    /// What may be done with what comes to be at `path`, whatever is said of `path` itself.
    pub(super) fn around(&self, path: &Path) -> Reach {
        let above = |place: &&Place| path != place.path && path.starts_with(&place.path);
        self.there.iter().rfind(above).map_or(Reach::Read, |place| place.reach)
    }

    /// The places that may be read in a folder that may be written, and scratch folders in another
    /// one: a mechanism without mounts lets them be written.
    pub(super) fn kept(&self) -> impl Iterator<Item = &Place> {
        self.there.iter().filter(|place| match place.reach {
            Reach::Read => {
                matches!(self.around(&place.path), Reach::Write | Reach::Others)
            }
            Reach::Scratch => self.is_inner_scratch(place),
            Reach::Write | Reach::Others | Reach::Hidden => false,
        })
    }

    /// Whether a scratch folder lies in another one.
    pub(super) fn is_inner_scratch(&self, place: &Place) -> bool {
        place.reach == Reach::Scratch && self.around(&place.path) == Reach::Scratch
    }

    /// The folders above `path` that are hidden, those above others first.
    #[cfg(any(target_os = "macos", test))]
    pub(super) fn hidden_above<'p>(&self, path: &'p Path) -> Vec<&'p Path> {
        let is_hidden = |folder: &&Path| {
            let at = self.there.iter().rfind(|place| folder.starts_with(&place.path));
            at.is_some_and(|place| matches!(place.reach, Reach::Hidden | Reach::Scratch))
        };
        let mut above: Vec<&Path> = path.ancestors().skip(1).take_while(is_hidden).collect();
        above.reverse();
        above
    }

    /// Whether something below `path` cannot be seen.
    pub(super) fn hides_below(&self, path: &Path) -> bool {
        self.there.iter().any(|place| {
            matches!(place.reach, Reach::Hidden | Reach::Scratch)
                && place.path != path
                && place.path.starts_with(path)
        })
    }
}

/// How a path leads through a folder that may be written.
#[derive(Default)]
struct Way {
    /// The links that it goes through. The program could replace each of them.
    links: Vec<PathBuf>,
    /// Where it ends, whether something is there or not.
    end: PathBuf,
}

impl Way {
    /// Most links on one way, as in the kernel.
    const LONGEST: usize = 40;

    fn of(folder: &Path, rest: &Path) -> Way {
        let mut way = Way { links: Vec::new(), end: folder.to_owned() };
        let parts = |path: &Path| -> Vec<PathBuf> {
            path.components().rev().map(|part| PathBuf::from(part.as_os_str())).collect()
        };
        let mut ahead = parts(rest);
        while let Some(part) = ahead.pop() {
            if part == Path::new("..") {
                way.end.pop();
                continue;
            }
            if part == Path::new(".") {
                continue;
            }
            let next = way.end.join(&part);
            match std::fs::read_link(&next) {
                Ok(target) if way.links.len() < Way::LONGEST => {
                    way.links.push(next);
                    ahead.extend(parts(&target));
                }
                Ok(_) | Err(_) => way.end = next,
            }
        }
        way
    }
}

/// Whether its modes keep us out of a path, and somebody else decides about them: then there is
/// nothing to hide. No program is started with more rights than ours.
pub(super) fn is_closed(path: &Path, found: &Metadata) -> bool {
    let may = |access: Access| rustix::fs::access(path, access).is_ok();
    found.uid() != geteuid().as_raw()
        && ![Access::READ_OK, Access::WRITE_OK, Access::EXEC_OK].into_iter().any(may)
}

/// Folders without links in their paths. Many paths lie in few folders, and each part of a path is a
/// question to the system.
#[derive(Default)]
struct RealFolders(BTreeMap<PathBuf, Option<PathBuf>>);

impl RealFolders {
    /// The path with everything above its last part resolved that is there.
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

/// What is in the folders of which much is asked. To look into one takes fewer calls of the system
/// than to ask for each of fifty names.
struct Listed(BTreeMap<PathBuf, BTreeSet<String>>);

impl Listed {
    /// Names that are asked of one folder from which on it is listed.
    const WORTHWHILE: usize = 8;
    /// Most entries of a folder that is listed.
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

    /// Whether `path` is surely not there. On some disks a name is found by capital letters, too.
    fn lacks(&self, path: &Path) -> bool {
        let names = path.parent().and_then(|folder| self.0.get(folder));
        let name = path.file_name().and_then(|name| name.to_str()).filter(|name| name.is_ascii());
        let (Some(names), Some(name)) = (names, name) else { return false };
        !names.contains(&name.to_ascii_lowercase())
    }
}

/// All names in a folder, without capital letters; none where it is not there. `None`: it cannot be
/// said.
fn names_in(folder: &Path) -> Option<BTreeSet<String>> {
    let entries = match std::fs::read_dir(folder) {
        Ok(entries) => entries,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Some(BTreeSet::new()),
        Err(_) => return None,
    };
    let mut names = BTreeSet::new();
    for entry in entries {
        // A name that is not text is not one that is asked for.
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
    fn a_link_that_an_earlier_program_left_leads_nowhere() {
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
        let places = Places::of(&confinement);
        let there: Vec<_> = places.there.iter().map(|place| (&place.path, place.reach)).collect();
        assert_eq!(
            there,
            [
                (&top.join("cache"), Reach::Write),
                (&top.join("elsewhere"), Reach::Write),
                (&top.join("private"), Reach::Hidden),
            ]
        );
        assert_eq!(places.unheld, [top.join("cache/absent"), top.join("cache/bin")]);
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
        let places = Places::of(&confinement);
        let expected = [(".config", "dotfiles/config"), ("bin", "/usr/bin")];
        let expected = expected.map(|(at, to)| (top.join("home").join(at), PathBuf::from(to)));
        assert_eq!(places.links, BTreeMap::from(expected));
        let seen = places.there.last().map(|place| place.path.clone());
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
        let unheld = ["w/nowhere/a", "w/dangling", "w/real/set", "w/first", "w/second"];
        assert_eq!(Places::of(&confinement).unheld, unheld.map(|path| top.join(path)));
        std::fs::write(top.join("w/real/set"), "").unwrap();
        let places = Places::of(&confinement);
        assert_eq!(places.unheld, [0, 1, 3, 4].map(|at| top.join(unheld[at])));
        assert!(places.there.iter().any(|place| place.path == top.join("w/real/set")));
    }
}
