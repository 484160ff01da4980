//! Read-only paths in writable folders that the kernel cannot protect: compared afterwards and
//! repaired.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, Permissions};
use std::io;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};

use onloop_core::effect::{Failure, FailureKind};
use onloop_core::permission::paths::{configures_agents, pattern_matches_any};

use super::impossible;
use super::paths::ConfinedPaths;
use crate::host::failure;
use crate::host::files::remove_tree;

/// Most bytes and files of a snapshot; a repository's hooks are far smaller.
const LIMIT_BYTES: usize = 16 << 20;
const LIMIT_FILES: usize = 4_000;

/// The content of paths before the program started.
#[derive(Debug, Default)]
pub(super) struct Snapshot {
    before: Vec<(PathBuf, Content)>,
    /// Files and folders of git, and those that decide about agents, which a mount protects until a program outside puts
    /// another one in their place.
    mounted: Vec<(PathBuf, u64, Content)>,
    /// Writable folders above them that were missing or no links. A link in place of one would lead to what
    /// the program, or another one later, writes elsewhere.
    plain: BTreeSet<PathBuf>,
    /// Patterns for names in folders, and the files that had such names.
    names: BTreeMap<PathBuf, (Vec<String>, BTreeSet<PathBuf>)>,
    /// Writable paths inside the compared ones.
    free: Vec<PathBuf>,
    /// Folders below which no new link is allowed, and the links that were there.
    without_links: Vec<PathBuf>,
    links: BTreeMap<PathBuf, PathBuf>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Content {
    Nothing,
    File {
        bytes: Vec<u8>,
        mode: u32,
    },
    Link(PathBuf),
    Folder {
        entries: BTreeMap<PathBuf, Content>,
        mode: u32,
    },
    /// A pipe or a socket, which has no content.
    Other,
}

#[derive(Default)]
struct Budget {
    bytes: usize,
    files: usize,
}

impl Snapshot {
    /// Paths that no mechanism protects: missing paths and links.
    pub(super) fn unprotected(paths: &ConfinedPaths) -> Result<Snapshot, Failure> {
        let mut snapshot = Snapshot::of(paths, paths.unprotected.iter())?;
        let written: Vec<&Path> = paths.written().collect();
        let decides = |path: &Path| {
            let inside = written.iter().filter_map(|folder| path.strip_prefix(folder).ok());
            let mut inside = inside.filter_map(Path::to_str);
            path.parent().is_some_and(is_git) || inside.any(configures_agents)
        };
        let mounted = paths.read_only().filter(|rule| decides(&rule.path));
        for path in mounted.map(|rule| &rule.path) {
            let Ok(metadata) = path.symlink_metadata() else { continue };
            if let Ok(content) = content(path, &[], &mut Budget::default()) {
                snapshot.mounted.push((path.clone(), metadata.ino(), content));
            }
        }
        Ok(snapshot)
    }

    /// Those, and every read-only path.
    pub(super) fn all(paths: &ConfinedPaths) -> Result<Snapshot, Failure> {
        let read_only = paths.read_only().map(|rule| &rule.path);
        Snapshot::of(paths, paths.unprotected.iter().chain(read_only))
    }

    fn of<'p>(
        rules: &ConfinedPaths,
        paths: impl Iterator<Item = &'p PathBuf>,
    ) -> Result<Snapshot, Failure> {
        let free: Vec<PathBuf> = rules.written().map(Path::to_owned).collect();
        let mut budget = Budget::default();
        let (mut before, mut plain) = (Vec::new(), BTreeSet::new());
        let mut keep_plain = |folder: &Path| {
            for folder in folder.ancestors() {
                if plain.contains(folder) || !free.iter().any(|root| folder.starts_with(root)) {
                    break;
                }
                if !folder.is_symlink() {
                    plain.insert(folder.to_owned());
                }
            }
        };
        let names = rules.without_new.iter().map(|(folder, patterns)| {
            keep_plain(folder);
            (folder.clone(), (patterns.clone(), named_like(folder, patterns)))
        });
        let names = names.collect();
        for path in paths {
            path.parent().into_iter().for_each(&mut keep_plain);
            let content = match rules.absent.contains(path) {
                true => Content::Nothing,
                false => content(path, &free, &mut budget)
                    .map_err(|error| impossible(format_args!("`{}`: {error}", path.display())))?,
            };
            before.push((path.clone(), content));
        }
        let without_links = rules.without_links.clone();
        let links = links_in(&without_links);
        Ok(Snapshot { before, mounted: Vec::new(), plain, names, free, without_links, links })
    }

    /// Restores changed paths and returns them. An error does not stop the rest.
    ///
    /// # Errors
    ///
    /// The first path that could not be restored.
    pub(super) fn repair(&self) -> Result<Vec<String>, Failure> {
        let (mut changed, mut failed) = (Vec::new(), None);
        let closed = self.open();
        // Links first: restored content must not be written through one.
        let now = links_in(&self.without_links);
        let made = self.plain.iter().filter(|folder| folder.is_symlink());
        let paths: BTreeSet<&PathBuf> = now.keys().chain(self.links.keys()).chain(made).collect();
        for link in paths {
            let before = self.links.get(link);
            if now.get(link) == before && !self.plain.contains(link) {
                continue;
            }
            let shown = link.display().to_string();
            let undone = remove(link).and_then(|()| match before {
                Some(target) => std::os::unix::fs::symlink(target, link),
                None => Ok(()),
            });
            match undone {
                Ok(()) => changed.push(shown),
                Err(error) => {
                    failed.get_or_insert(failure::of_path(&error, "put back the links at", &shown));
                }
            }
        }
        // Another program may have removed it.
        let is_another = |path: &Path, inode: u64| {
            path.symlink_metadata().is_ok_and(|metadata| metadata.ino() != inode)
        };
        let replaced = self.mounted.iter().filter(|(path, inode, _)| is_another(path, *inode));
        let replaced = replaced.map(|(path, _, before)| (path, before));
        let compared = self.before.iter().map(|(path, before)| (path, before));
        for (path, before) in compared.chain(replaced) {
            // Content over the limit counts as changed.
            let now = content(path, &self.free, &mut Budget::default());
            let now = now.unwrap_or(Content::Other);
            if now == *before {
                continue;
            }
            let shown = path.display().to_string();
            let undone = remove_links_above(path, before).and_then(|()| {
                restore(path, before, &self.free).map_err(|error| {
                    let what = "put back what a confined program has changed at";
                    failure::of_path(&error, what, &shown)
                })
            });
            match undone {
                // Nothing is kept of what the program has only removed.
                Ok(()) if now == Content::Nothing => changed.push(shown),
                Ok(()) => changed.push(with_kept(path, shown)),
                Err(failure) => {
                    failed.get_or_insert(failure);
                }
            }
        }
        for (folder, (patterns, before)) in &self.names {
            for path in named_like(folder, patterns).difference(before) {
                let shown = path.display().to_string();
                match clear(path) {
                    Ok(()) => changed.push(with_kept(path, shown)),
                    Err(error) => {
                        failed.get_or_insert(failure::of_path(&error, "remove", &shown));
                    }
                }
            }
        }
        for (folder, mode) in closed.into_iter().rev().filter(|(folder, _)| is_real_folder(folder))
        {
            let _ = fs::set_permissions(folder, Permissions::from_mode(mode));
        }
        failed.map_or(Ok(changed), Err)
    }

    /// Opens the folders that the program has closed, so that they can be repaired. Returns their modes.
    fn open(&self) -> Vec<(PathBuf, u32)> {
        let opened = self.plain.iter().filter_map(|folder| Some((folder.clone(), open(folder)?)));
        opened.collect()
    }
}

/// Gives its owner all rights to a folder that lacks one. Returns the mode that it had.
fn open(folder: &Path) -> Option<u32> {
    let metadata = folder.symlink_metadata().ok()?;
    let mode = metadata.permissions().mode();
    let is_closed = metadata.is_dir() && mode & 0o700 != 0o700;
    let is_opened =
        is_closed && fs::set_permissions(folder, Permissions::from_mode(mode | 0o700)).is_ok();
    is_opened.then_some(mode)
}

/// The files in a folder whose names fit one of the patterns.
fn named_like(folder: &Path, patterns: &[String]) -> BTreeSet<PathBuf> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let is_like = |entry: &fs::DirEntry| {
        let name = entry.file_name().to_string_lossy().to_lowercase();
        patterns.iter().any(|pattern| pattern_matches_any(pattern, &name))
    };
    entries.filter(is_like).map(|entry| entry.path()).collect()
}

/// Returns every link below these folders, with its target. Loose objects are left out, because git
/// does not write to an existing one.
fn links_in(folders: &[PathBuf]) -> BTreeMap<PathBuf, PathBuf> {
    let (mut found, mut ahead) = (BTreeMap::new(), folders.to_vec());
    // Of git: its folder, or that of its objects.
    let objects: Vec<PathBuf> = folders.iter().map(|git| git.join("objects")).collect();
    let is_loose = |folder: &Path| {
        let above = folder.parent();
        let is_git = |objects: &PathBuf| Some(objects.as_path()) == above;
        folder.file_name().is_some_and(|name| name.len() == 2)
            && (objects.iter().any(is_git)
                || folders.iter().any(|git| git.ends_with("objects") && is_git(git)))
    };
    while let Some(folder) = ahead.pop() {
        // A link in place of the folder itself.
        if let Ok(target) = fs::read_link(&folder) {
            found.insert(folder, target);
            continue;
        }
        // Git itself needs all rights to its folders.
        open(&folder);
        let entries = match is_loose(&folder) {
            true => None,
            false => fs::read_dir(&folder).ok(),
        };
        for entry in entries.into_iter().flatten().flatten() {
            match entry.file_type() {
                Ok(kind) if kind.is_dir() => ahead.push(entry.path()),
                Ok(kind) if kind.is_symlink() => {
                    let path = entry.path();
                    found.extend(fs::read_link(&path).ok().map(|target| (path.clone(), target)));
                }
                Ok(_) | Err(_) => {}
            }
        }
    }
    found
}

/// Removes a link that the program has placed above `path`, so that nothing is written through it.
fn remove_links_above(path: &Path, before: &Content) -> Result<(), Failure> {
    let mut folders: Vec<&Path> = path.ancestors().skip(1).collect();
    folders.reverse();
    let Some(link) = folders.into_iter().find(|folder| folder.is_symlink()) else { return Ok(()) };
    let shown = link.display().to_string();
    fs::remove_file(link)
        .map_err(|error| failure::of_path(&error, "put back the links at", &shown))?;
    if *before == Content::Nothing {
        return Ok(());
    }
    let message = format!(
        "a confined program has replaced `{shown}` by a link, which is removed; what was there before \
         cannot be put back, so look at it before git or an agent is used there"
    );
    Err(Failure::new(FailureKind::Conflict, message))
}

fn content(path: &Path, free: &[PathBuf], budget: &mut Budget) -> io::Result<Content> {
    let metadata = match fs::symlink_metadata(path) {
        Ok(metadata) => metadata,
        Err(error) if is_nothing(&error) => return Ok(Content::Nothing),
        Err(error) => return Err(error),
    };
    budget.files += 1;
    let mode = metadata.permissions().mode();
    if metadata.is_symlink() {
        return fs::read_link(path).map(Content::Link);
    }
    if metadata.is_dir() {
        let mut entries = BTreeMap::new();
        for entry in fs::read_dir(path)? {
            let path = entry?.path();
            if !free.contains(&path) {
                let content = content(&path, free, budget)?;
                entries.insert(path, content);
            }
        }
        return Ok(Content::Folder { entries, mode });
    }
    if !metadata.is_file() {
        return Ok(Content::Other);
    }
    budget.bytes =
        budget.bytes.saturating_add(usize::try_from(metadata.len()).unwrap_or(usize::MAX));
    if budget.bytes > LIMIT_BYTES || budget.files > LIMIT_FILES {
        return Err(io::Error::other("too much to be compared afterwards; it takes `bwrap`"));
    }
    Ok(Content::File { bytes: fs::read(path)?, mode })
}

/// Whether nothing is there, perhaps because a file replaced a folder.
fn is_nothing(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory)
}

fn restore(path: &Path, before: &Content, free: &[PathBuf]) -> io::Result<()> {
    if let (Content::Folder { entries, mode }, true) = (before, is_real_folder(path)) {
        fs::set_permissions(path, Permissions::from_mode(*mode | 0o700))?;
        for entry in fs::read_dir(path)? {
            let path = entry?.path();
            if !entries.contains_key(&path) && !free.contains(&path) {
                clear(&path)?;
            }
        }
        for (path, before) in entries {
            if content(path, free, &mut Budget::default()).ok().as_ref() != Some(before) {
                restore(path, before, free)?;
            }
        }
        return fs::set_permissions(path, Permissions::from_mode(*mode));
    }
    clear(path)?;
    match before {
        Content::Nothing | Content::Other => Ok(()),
        Content::Link(target) => {
            make_parent(path)?;
            std::os::unix::fs::symlink(target, path)
        }
        Content::File { bytes, mode } => {
            make_parent(path)?;
            fs::write(path, bytes)?;
            fs::set_permissions(path, Permissions::from_mode(*mode))
        }
        Content::Folder { .. } => {
            fs::create_dir_all(path)?;
            restore(path, before, free)
        }
    }
}

fn make_parent(path: &Path) -> io::Result<()> {
    path.parent().map_or(Ok(()), fs::create_dir_all)
}

fn is_real_folder(path: &Path) -> bool {
    fs::symlink_metadata(path).is_ok_and(|metadata| metadata.is_dir())
}

/// Where something is kept that is removed: it may be of another program that ran meanwhile, such as a rebase
/// that stopped, or of a person. Git looks for nothing there. `None`: there is no folder of git.
fn aside(path: &Path) -> Option<PathBuf> {
    let folder = path.parent()?;
    let git = match is_git(folder) {
        true => folder.to_owned(),
        false => {
            // The program may have made one, but not further up.
            let above: Vec<&Path> = folder.ancestors().collect();
            above.iter().rev().find_map(|above| folder_of_git(above.join(".git")))?
        }
    };
    Some(git.join("onloop-removed").join(path.file_name()?))
}

fn is_git(folder: &Path) -> bool {
    let has = |name| folder.join(name).symlink_metadata().is_ok();
    has("HEAD") && (has("objects") || has("commondir"))
}

/// The folder of git at `.git`, or that of a linked worktree, which says the same.
fn folder_of_git(path: PathBuf) -> Option<PathBuf> {
    if is_real_folder(&path) {
        return is_git(&path).then_some(path);
    }
    let text = fs::read_to_string(&path).ok()?;
    let folder = path.with_file_name(text.strip_prefix("gitdir: ")?.trim_end());
    let back = fs::read_to_string(folder.join("gitdir")).ok()?;
    (is_git(&folder) && Path::new(back.trim_end()) == path).then_some(folder)
}

/// What was put back, and where the other one is kept.
fn with_kept(path: &Path, shown: String) -> String {
    match aside(path).filter(|kept| kept.symlink_metadata().is_ok()) {
        Some(kept) => format!("{shown}`, which is now at `{}", kept.display()),
        None => shown,
    }
}

/// Removes a path, or moves it [`aside`].
fn clear(path: &Path) -> io::Result<()> {
    let Some(aside) = aside(path).filter(|_| path.symlink_metadata().is_ok()) else {
        return remove(path);
    };
    if let Some(folder) = aside.parent().filter(|folder| !is_real_folder(folder)) {
        remove(folder)?;
        fs::create_dir(folder)?;
    }
    remove(&aside)?;
    // It may be on another disk.
    fs::rename(path, &aside).or_else(|_| remove(path))
}

fn remove(path: &Path) -> io::Result<()> {
    let removed = if is_real_folder(path) { remove_tree(path) } else { fs::remove_file(path) };
    match removed {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    }
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use onloop_core::effect::Reach;
    use rustix::thread::{CapabilitySet, CapabilitySets, set_capabilities};

    use super::super::paths::ConfinedPath;
    use super::*;

    #[test]
    fn what_is_planted_is_removed_from_closed_folders() {
        let top = tempfile::tempdir().unwrap();
        let git = top.path().join(".git");
        fs::create_dir(&git).unwrap();
        let root = ConfinedPath { path: top.path().into(), reach: Reach::Write, is_folder: true };
        let paths = ConfinedPaths {
            there: vec![root],
            unprotected: vec![git.join("commondir")],
            without_links: vec![git.clone()],
            without_new: BTreeMap::from([(top.path().into(), vec!["procfile*".to_owned()])]),
            ..ConfinedPaths::default()
        };
        let snapshot = Snapshot::unprotected(&paths).unwrap();
        let (link, new) = (git.join("logs/a"), top.path().join("Procfile.dev"));
        fs::create_dir(git.join("logs")).unwrap();
        std::os::unix::fs::symlink("/nowhere", &link).unwrap();
        let planted = [git.join("commondir"), new];
        planted.iter().for_each(|path| fs::write(path, "x").unwrap());
        let mode = |folder: &Path, mode| fs::set_permissions(folder, Permissions::from_mode(mode));
        for (folder, closed) in
            [(git.join("logs"), 0), (git.clone(), 0o555), (top.path().into(), 0o555)]
        {
            mode(&folder, closed).unwrap();
        }
        // Root may do everything, whatever modes say; a thread without its rights may not.
        let repaired = std::thread::spawn(move || {
            let none = CapabilitySet::empty();
            let sets = CapabilitySets { effective: none, permitted: none, inheritable: none };
            set_capabilities(None, sets).unwrap();
            snapshot.repair()
        });
        assert_eq!(repaired.join().unwrap().unwrap().len(), 3);
        assert!([&link].into_iter().chain(&planted).all(|path| path.symlink_metadata().is_err()));
        let left = fs::metadata(top.path()).unwrap().permissions().mode() & 0o777;
        assert_eq!(left, 0o555, "a folder keeps the mode that the program gave it");
        mode(top.path(), 0o755).unwrap();
        mode(&git, 0o755).unwrap();
    }

    #[test]
    fn another_file_in_place_of_a_mounted_one_goes_aside() {
        let top = tempfile::tempdir().unwrap();
        for name in ["HEAD", "commondir", "config"] {
            fs::write(top.path().join(name), "old").unwrap();
        }
        let rule = |path: PathBuf, reach, is_folder| ConfinedPath { path, reach, is_folder };
        let config = top.path().join("config");
        let planted = top.path().join("sequencer");
        fs::write(&planted, "of another command").unwrap();
        let paths = ConfinedPaths {
            there: vec![
                rule(top.path().into(), Reach::Write, true),
                rule(config.clone(), Reach::Read, false),
            ],
            unprotected: vec![planted.clone()],
            absent: BTreeSet::from([planted.clone()]),
            ..ConfinedPaths::default()
        };
        let snapshot = Snapshot::unprotected(&paths).unwrap();
        // What writes it in its place is no program in the sandbox.
        fs::write(&config, "changed").unwrap();
        assert_eq!(snapshot.repair().unwrap().len(), 1);
        assert_eq!(fs::read_to_string(&config).unwrap(), "changed");
        assert!(!planted.exists());
        fs::write(top.path().join("config.lock"), "replaced").unwrap();
        fs::rename(top.path().join("config.lock"), &config).unwrap();
        assert_eq!(snapshot.repair().unwrap().len(), 1);
        assert_eq!(fs::read_to_string(&config).unwrap(), "old");
        let kept = fs::read_to_string(top.path().join("onloop-removed/config"));
        assert_eq!(kept.unwrap(), "replaced");
    }

    #[test]
    fn what_a_person_makes_meanwhile_is_kept_in_the_folder_of_git() {
        let top = tempfile::tempdir().unwrap();
        let git = top.path().join(".git");
        for name in ["objects", "../.vscode"] {
            fs::create_dir_all(git.join(name)).unwrap();
        }
        fs::write(git.join("HEAD"), "").unwrap();
        let rule = |path: PathBuf, reach, is_folder| ConfinedPath { path, reach, is_folder };
        let (own, tasks) = (top.path().join(".mcp.json"), top.path().join(".vscode/tasks.json"));
        let (rules, hooks) = (top.path().join(".agentize.local.yaml"), top.path().join(".envrc"));
        let (agents, other) = (top.path().join(".claude"), top.path().join("other"));
        for folder in [&agents, &other] {
            fs::create_dir(folder).unwrap();
        }
        let settings = agents.join("settings.json");
        for path in [&rules, &hooks, &settings] {
            fs::write(path, "old").unwrap();
        }
        let paths = ConfinedPaths {
            there: vec![
                rule(top.path().into(), Reach::Write, true),
                rule(rules.clone(), Reach::Read, false),
                rule(hooks.clone(), Reach::Read, false),
                rule(agents.clone(), Reach::Read, true),
            ],
            unprotected: vec![own.clone(), tasks.clone()],
            without_new: BTreeMap::from([(top.path().into(), vec!["procfile*".to_owned()])]),
            ..ConfinedPaths::default()
        };
        let snapshot = Snapshot::unprotected(&paths).unwrap();
        // A repository that the program makes is no place for it.
        for name in ["objects", "HEAD"] {
            fs::create_dir_all(top.path().join(".vscode/.git").join(name)).unwrap();
        }
        let new = top.path().join("Procfile.dev");
        for path in [&own, &tasks, &new] {
            fs::write(path, "mine").unwrap();
        }
        // Other programs put another file in the place of these.
        for path in [&rules, &hooks] {
            fs::write(top.path().join("new"), "new").unwrap();
            fs::rename(top.path().join("new"), path).unwrap();
        }
        fs::remove_dir(&other).unwrap();
        fs::rename(&agents, &other).unwrap();
        fs::create_dir(&agents).unwrap();
        fs::write(&settings, "new").unwrap();
        fs::write(agents.join("more"), "new").unwrap();
        let said = snapshot.repair().unwrap();
        assert_eq!(said.iter().filter(|said| said.contains("/.git/onloop-removed/")).count(), 4);
        for (name, content) in
            [(".mcp.json", "mine"), ("tasks.json", "mine"), ("Procfile.dev", "mine")]
        {
            let kept = fs::read_to_string(git.join("onloop-removed").join(name));
            assert_eq!(kept.unwrap(), content, "{name}");
        }
        assert!([&own, &tasks, &new].iter().all(|path| !path.exists()));
        for path in [&rules, &settings] {
            assert_eq!(fs::read_to_string(path).unwrap(), "old", "it decides about agents");
        }
        assert!(!agents.join("more").exists() && git.join("onloop-removed/more").exists());
        assert_eq!(fs::read_to_string(&hooks).unwrap(), "new");
    }

    #[test]
    fn what_is_new_in_a_folder_of_git_is_kept_aside() {
        let top = tempfile::tempdir().unwrap();
        for name in ["HEAD", "commondir"] {
            fs::write(top.path().join(name), "").unwrap();
        }
        let root = ConfinedPath { path: top.path().into(), reach: Reach::Write, is_folder: true };
        let rebase = top.path().join("rebase-merge");
        let paths = ConfinedPaths {
            there: vec![root],
            unprotected: vec![rebase.clone()],
            ..ConfinedPaths::default()
        };
        for content in ["one", "two"] {
            let snapshot = Snapshot::unprotected(&paths).unwrap();
            fs::create_dir(&rebase).unwrap();
            fs::write(rebase.join("todo"), content).unwrap();
            let repaired = snapshot.repair().unwrap();
            assert!(repaired[0].ends_with("/onloop-removed/rebase-merge"), "{repaired:?}");
            assert!(!rebase.exists());
            let kept = fs::read_to_string(top.path().join("onloop-removed/rebase-merge/todo"));
            assert_eq!(kept.unwrap(), content);
        }
    }
}
