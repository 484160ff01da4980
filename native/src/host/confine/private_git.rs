//! The private git folder of a confined program: made from the repository, and shown in its place.

use std::fs::{self, File};
use std::io;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use onloop_core::confine::without_credentials;
use onloop_core::effect::{Failure, PrivateGit};

use super::impossible;
use crate::host::failure;
use crate::host::files::remove_tree;
use crate::host::git::OsGit;

/// Where the program sees the objects of the repository, in its git folder.
const BASE: &str = "base";

/// What it borrows from there. Git LFS looks beside the objects that git borrows.
const BORROWED: [&str; 2] = ["objects", "lfs"];

/// Folders of a repository that the program reads and cannot change.
const READ_ONLY: [&str; 2] = ["hooks", "modules"];

/// Folders that git needs, without content.
const EMPTY: [&str; 3] = ["objects/pack", "refs/heads", "refs/tags"];

/// Files of a repository that all its worktrees share.
const SHARED: [&str; 6] = [
    "HEAD",
    "config.worktree",
    "info/attributes",
    "info/exclude",
    "info/sparse-checkout",
    "shallow",
];

/// What `HEAD` says in a repository that keeps its refs in a table.
const ELSEWHERE: &[u8] = b"ref: refs/heads/.invalid";

/// Files of one worktree.
const OF_WORKTREE: [&str; 6] =
    ["HEAD", "commondir", "config.worktree", "gitdir", "index", "info/sparse-checkout"];

/// A file of the private folder.
pub(super) struct GitFile {
    /// Its path below the folder.
    pub(super) path: PathBuf,
    pub(super) bytes: Vec<u8>,
    /// Git trusts entries of files that are older than the index.
    modified: Option<SystemTime>,
}

/// What a private folder begins with.
pub(super) struct Contents {
    pub(super) folders: Vec<PathBuf>,
    pub(super) files: Vec<GitFile>,
}

/// A folder of the repository that the program sees in its private folder.
pub(super) struct Shown {
    pub(super) real: PathBuf,
    /// Its path inside.
    pub(super) at: PathBuf,
    pub(super) is_writable: bool,
}

/// Prepares the folder on disk: makes it if it is missing, and its mount points anew if they are not
/// plain folders. Returns what a folder in memory begins with.
pub(super) fn prepare(git: &PrivateGit) -> Result<Option<Contents>, Failure> {
    let failed = |error: io::Error| {
        impossible(format_args!("the private git folder: {}", failure::reason(&error)))
    };
    let own = Path::new(&git.own);
    if git.own != git.common && has_submodules(own) {
        demand_folders(own, Path::new("modules")).map_err(failed)?;
    }
    let Some(folder) = git.folder.as_deref().map(Path::new) else {
        return contents(git).map(Some);
    };
    if !folder.is_dir() {
        let contents = contents(git)?;
        make(folder, &contents).map_err(failed)?;
    }
    for Shown { at, .. } in shown(git) {
        let below = at.strip_prefix(&git.common).unwrap_or(&at);
        demand_folders(folder, below).map_err(failed)?;
    }
    Ok(None)
}

/// Returns the folders of the repository that the program sees.
///
/// A linked worktree has its submodules for itself. They give the program nothing that it could not do
/// with a repository in its checkout.
pub(super) fn shown(git: &PrivateGit) -> Vec<Shown> {
    let (common, own) = (Path::new(&git.common), Path::new(&git.own));
    let base = common.join(BASE);
    let read = |real: PathBuf, at: PathBuf| Shown { real, at, is_writable: false };
    let mut shown: Vec<Shown> =
        BORROWED.map(|name| read(common.join(name), base.join(name))).into();
    shown.extend(READ_ONLY.map(|name| read(common.join(name), common.join(name))));
    if own != common {
        let modules = own.join("modules");
        shown.push(Shown { real: modules.clone(), at: modules, is_writable: true });
    }
    shown.retain(|shown| shown.real.is_dir());
    shown
}

/// Whether the linked worktree of this git folder names submodules. Git removes no worktree with a
/// folder for their repositories without `--force`.
fn has_submodules(own: &Path) -> bool {
    let link = fs::read_to_string(own.join("gitdir")).unwrap_or_default();
    Path::new(link.trim_end()).with_file_name(".gitmodules").is_file()
}

fn contents(git: &PrivateGit) -> Result<Contents, Failure> {
    let (common, own) = (Path::new(&git.common), Path::new(&git.own));
    let references = OsGit::new().reference_lines(common)?;
    let read = || -> io::Result<Vec<GitFile>> {
        let mut alternate = common.join(BASE).join("objects").into_os_string().into_encoded_bytes();
        alternate.push(b'\n');
        let made =
            |path: &str, bytes: Vec<u8>| GitFile { path: path.into(), bytes, modified: None };
        let mut files = vec![
            made("objects/info/alternates", alternate),
            made("packed-refs", references),
            made("config", configuration(&common.join("config"))?.into_bytes()),
        ];
        take(common, Path::new(""), &SHARED, &mut files)?;
        let beside = own.strip_prefix(common).unwrap_or(Path::new(""));
        if own != common {
            take(own, beside, &OF_WORKTREE, &mut files)?;
        } else {
            take(own, beside, &["index"], &mut files)?;
        }
        for entry in fs::read_dir(own)? {
            let name = entry?.file_name();
            // A split index has most of its entries there.
            if let Some(name) = name.to_str().filter(|name| name.starts_with("sharedindex.")) {
                take(own, beside, &[name], &mut files)?;
            }
        }
        Ok(files)
    };
    let mut files = read().map_err(|error| {
        impossible(format_args!("the git folder `{}`: {}", git.common, failure::reason(&error)))
    })?;
    // Where refs are in a table, the file says nothing.
    for head in files.iter_mut().filter(|file| file.bytes.starts_with(ELSEWHERE)) {
        let folder = common.join(head.path.parent().unwrap_or(Path::new("")));
        head.bytes = OsGit::new().head_line(&folder)?;
    }
    Ok(Contents { folders: EMPTY.map(PathBuf::from).into(), files })
}

/// Reads those of the files that are there and no links.
fn take(from: &Path, below: &Path, names: &[&str], files: &mut Vec<GitFile>) -> io::Result<()> {
    for name in names {
        let source = from.join(name);
        let Ok(found) = source.symlink_metadata() else { continue };
        if found.is_file() {
            let (path, modified) = (below.join(name), Some(found.modified()?));
            files.push(GitFile { path, bytes: fs::read(source)?, modified });
        }
    }
    Ok(())
}

/// Returns the configuration of the repository without credentials, for references in files.
fn configuration(path: &Path) -> io::Result<String> {
    let text = fs::read(path)?;
    let mut text = without_credentials(&String::from_utf8_lossy(&text));
    if text.to_ascii_lowercase().contains("refstorage") {
        text += "\n[extensions]\n\trefStorage = files\n";
    }
    // The monitor outside knows nothing of this folder.
    text += "\n[core]\n\tfsmonitor = false\n";
    Ok(text)
}

/// Makes the folder, complete or not at all.
fn make(folder: &Path, contents: &Contents) -> io::Result<()> {
    let unfinished = folder.with_extension("new");
    if unfinished.symlink_metadata().is_ok() {
        remove_tree(&unfinished)?;
    }
    for below in &contents.folders {
        fs::create_dir_all(unfinished.join(below))?;
    }
    for GitFile { path, bytes, modified } in &contents.files {
        let path = unfinished.join(path);
        path.parent().map_or(Ok(()), fs::create_dir_all)?;
        fs::write(&path, bytes)?;
        if let Some(modified) = modified {
            File::options().write(true).open(&path)?.set_modified(*modified)?;
        }
    }
    fs::set_permissions(&unfinished, fs::Permissions::from_mode(0o700))?;
    fs::rename(&unfinished, folder)
}

/// Makes each part of `below` a plain folder. The program may have put a link there, through which a
/// mount point would be made elsewhere.
fn demand_folders(folder: &Path, below: &Path) -> io::Result<()> {
    let mut there = folder.to_owned();
    for part in below.components() {
        there.push(part);
        match there.symlink_metadata() {
            Ok(found) if found.is_dir() => continue,
            Ok(_) => fs::remove_file(&there)?,
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            Err(error) => return Err(error),
        }
        fs::create_dir(&there)?;
    }
    Ok(())
}
