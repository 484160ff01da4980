//! The paths of a confinement as they are on this machine.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use onloop_core::effect::{Confinement, Reach};

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
}

impl Places {
    /// Looks at the disk. Links are followed: what they lead to is what counts. A link in a folder
    /// that may be written may be the work of an earlier program, and leads nowhere outside of it.
    pub(super) fn of(confinement: &Confinement) -> Places {
        let mut real = Confinement::default();
        let mut unheld = Vec::new();
        let mut written: Vec<(PathBuf, PathBuf)> = Vec::new();
        let mut folders = RealFolders::default();
        for (path, reach) in confinement.rules() {
            let path = Path::new(if path.is_empty() { "/" } else { path });
            // Most are not there, and one question is enough to know.
            let metadata = path.symlink_metadata();
            if reach == Reach::Read && metadata.as_ref().map_or(true, |found| found.is_symlink()) {
                unheld.extend(folders.name(path));
            }
            let there = match metadata {
                Ok(found) if found.is_symlink() => path.canonicalize().ok(),
                Ok(_) => folders.name(path),
                Err(_) => None,
            };
            let Some(there) = there else { continue };
            let around = written.iter().rfind(|(folder, _)| path.starts_with(folder));
            let leads_out = around.is_some_and(|(_, folder)| !there.starts_with(folder));
            if leads_out && reach != Reach::Hidden {
                continue;
            }
            let Some(text) = there.to_str() else { continue };
            let list = match reach {
                Reach::Write => &mut real.may_write,
                Reach::Read => &mut real.may_read,
                Reach::Hidden => &mut real.hidden,
            };
            list.push(text.to_owned());
            if reach == Reach::Write {
                written.push((path.to_owned(), there));
            }
        }
        let place = |(path, reach): (&str, Reach)| {
            let path = PathBuf::from(if path.is_empty() { "/" } else { path });
            let is_folder = path.is_dir();
            Place { path, reach, is_folder }
        };
        let there = real.rules().into_iter().map(place).collect();
        let mut places = Places { there, unheld: Vec::new() };
        unheld.retain(|path| places.around(path) == Reach::Write);
        places.unheld = unheld;
        places
    }

    /// What may be done with what comes to be at `path`, whatever is said of `path` itself.
    pub(super) fn around(&self, path: &Path) -> Reach {
        let above = |place: &&Place| path != place.path && path.starts_with(&place.path);
        self.there.iter().rfind(above).map_or(Reach::Read, |place| place.reach)
    }

    /// The places that may be read in a folder that may be written.
    pub(super) fn kept(&self) -> impl Iterator<Item = &Place> {
        self.there
            .iter()
            .filter(|place| place.reach == Reach::Read && self.around(&place.path) == Reach::Write)
    }

    /// Whether something below `path` is hidden.
    pub(super) fn hides_below(&self, path: &Path) -> bool {
        self.there.iter().any(|place| {
            place.reach == Reach::Hidden && place.path != path && place.path.starts_with(path)
        })
    }
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

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;

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
}
