//! The private git folder of a confined program: made from the repository, and shown in its place.

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};

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

/// Files of a repository that all its worktrees share.
const SHARED: [&str; 6] = [
    "HEAD",
    "config.worktree",
    "info/attributes",
    "info/exclude",
    "info/sparse-checkout",
    "shallow",
];

/// Files of one worktree.
const OF_WORKTREE: [&str; 6] =
    ["HEAD", "commondir", "config.worktree", "gitdir", "index", "info/sparse-checkout"];

/// Makes the folder if it is missing, and its mount points anew if they are not plain folders.
pub(super) fn prepare(git: &PrivateGit) -> Result<(), Failure> {
    let failed = |error: io::Error| {
        impossible(format_args!("the private git folder: {}", failure::reason(&error)))
    };
    let folder = Path::new(&git.folder);
    if !folder.is_dir() {
        make(git)?;
    }
    let own = Path::new(&git.own);
    if git.own != git.common && has_submodules(own) {
        demand_folders(own, Path::new("modules")).map_err(failed)?;
    }
    for Shown { at, .. } in shown(git) {
        let below = at.strip_prefix(&git.common).unwrap_or(&at);
        demand_folders(folder, below).map_err(failed)?;
    }
    Ok(())
}

/// A folder of the repository that the program sees in its private folder.
pub(super) struct Shown {
    pub(super) real: PathBuf,
    /// Its path inside.
    pub(super) at: PathBuf,
    pub(super) is_writable: bool,
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

/// Makes the folder, complete or not at all.
fn make(git: &PrivateGit) -> Result<(), Failure> {
    let common = Path::new(&git.common);
    let references = OsGit::new().reference_lines(common)?;
    let folder = Path::new(&git.folder);
    let unfinished = folder.with_extension("new");
    let made = (|| {
        if unfinished.symlink_metadata().is_ok() {
            remove_tree(&unfinished)?;
        }
        for name in ["objects/info", "objects/pack", "refs/heads", "refs/tags", "info"] {
            fs::create_dir_all(unfinished.join(name))?;
        }
        let alternate = common.join(BASE).join("objects");
        let alternate = [alternate.as_os_str().as_encoded_bytes(), b"\n"].concat();
        fs::write(unfinished.join("objects/info/alternates"), alternate)?;
        fs::write(unfinished.join("packed-refs"), &references)?;
        fs::write(unfinished.join("config"), configuration(&common.join("config"))?)?;
        copy(common, &unfinished, &SHARED)?;
        let own = Path::new(&git.own);
        let beside = unfinished.join(own.strip_prefix(common).unwrap_or(Path::new("")));
        fs::create_dir_all(beside.join("info"))?;
        copy(own, &beside, &OF_WORKTREE)?;
        for entry in fs::read_dir(own)? {
            let name = entry?.file_name();
            // A split index has most of its entries there.
            if let Some(name) = name.to_str().filter(|name| name.starts_with("sharedindex.")) {
                copy(own, &beside, &[name])?;
            }
        }
        make_private(&unfinished)?;
        fs::rename(&unfinished, folder)
    })();
    made.map_err(|error: io::Error| {
        impossible(format_args!("the private git folder: {}", failure::reason(&error)))
    })
}

/// Copies plain files that are there, with their modification times: git trusts entries of files that
/// are older than the index.
fn copy(from: &Path, to: &Path, names: &[&str]) -> io::Result<()> {
    for name in names {
        let source = from.join(name);
        let Ok(found) = source.symlink_metadata() else { continue };
        if found.is_file() {
            fs::copy(&source, to.join(name))?;
            let copied = File::options().write(true).open(to.join(name))?;
            copied.set_modified(found.modified()?)?;
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

fn make_private(folder: &Path) -> io::Result<()> {
    use std::os::unix::fs::PermissionsExt;
    fs::set_permissions(folder, fs::Permissions::from_mode(0o700))
}
