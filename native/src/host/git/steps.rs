//! Small things about files that a task asks for.

use std::fs::{self, File, Metadata};
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};
use std::thread;
use std::time::Duration;

use onloop_core::effect::{Failure, FailureKind};
use onloop_core::git::{Found, FoundKind, Step, StepReply};
use onloop_core::text::{name_bytes, name_text};

use crate::host::{failure, files, paths};

/// Performs a step that runs no command.
pub(super) fn perform(step: Step) -> Result<StepReply, Failure> {
    let failed = |act: &str, path: &str, error: &io::Error| failure::of_path(error, act, path);
    let done = match step {
        Step::Run { .. } => {
            return Err(Failure::new(FailureKind::Unsupported, "it is not a step about files"));
        }
        Step::Look { paths, follow, open } => {
            let found = paths.iter().map(|path| look(&path_of(path), follow, open)).collect();
            return Ok(StepReply::Found { found });
        }
        Step::Read { path, first_bytes, untrusted } => {
            let bytes = read(&path, first_bytes, untrusted)?.into();
            return Ok(StepReply::Content { bytes });
        }
        Step::Canonical { path } => {
            let found = fs::canonicalize(path_of(&path));
            let found = found.map_err(|error| failed("resolve", &path, &error))?;
            return Ok(StepReply::Path { path: Some(text_of(paths::usual(found))) });
        }
        Step::FindLink { paths } => return Ok(StepReply::Path { path: find_link(&paths)? }),
        Step::GitWorksIn { folder } => {
            return Ok(StepReply::Works { works: git_works_in(&path_of(&folder)) });
        }
        Step::Write { path, bytes } => {
            fs::write(path_of(&path), &*bytes).map_err(|error| failed("write", &path, &error))
        }
        Step::Replace { path, lock, bytes } => {
            let (path, at) = (path_of(&path), path_of(&lock));
            replace(&path, &at, &bytes).map_err(|error| {
                if error.kind() != io::ErrorKind::AlreadyExists {
                    let _ = fs::remove_file(&at);
                }
                failed("write", &lock, &error)
            })
        }
        Step::Copy { from, to } => {
            copy(&path_of(&from), &path_of(&to)).map_err(|error| failed("copy", &from, &error))
        }
        Step::Rename { from, to } => fs::rename(path_of(&from), path_of(&to))
            .map_err(|error| failed("rename", &from, &error)),
        Step::RemoveFile { path } => {
            fs::remove_file(path_of(&path)).map_err(|error| failed("remove", &path, &error))
        }
        Step::RemoveFolder { path } => {
            fs::remove_dir(path_of(&path)).map_err(|error| failed("remove", &path, &error))
        }
        Step::RemoveTree { path } => match files::remove_tree(&path_of(&path)) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
            removed => removed.map_err(|error| failed("remove", &path, &error)),
        },
        Step::MakeFolder { path } => {
            fs::create_dir(path_of(&path)).map_err(|error| failed("create", &path, &error))
        }
        Step::MakePrivate { path } => make_private(&path_of(&path))
            .map_err(|error| failed("change the permissions of", &path, &error)),
        Step::Pause { duration_ms } => {
            thread::sleep(Duration::from_millis(duration_ms));
            Ok(())
        }
    };
    done.map(|()| StepReply::Done)
}

fn look(path: &Path, follow: bool, open: bool) -> Option<Found> {
    let found = if follow { path.metadata() } else { path.symlink_metadata() }.ok()?;
    let kind = match found.file_type() {
        kind if kind.is_file() => FoundKind::File,
        kind if kind.is_dir() => FoundKind::Folder,
        kind if kind.is_symlink() => FoundKind::Link,
        _ => FoundKind::Other,
    };
    let opens = open && kind == FoundKind::File && File::open(path).is_ok();
    Some(Found { kind, size_bytes: found.len(), device: device(&found), opens })
}

fn read(path: &str, first_bytes: Option<u64>, untrusted: bool) -> Result<Vec<u8>, Failure> {
    let failed = |error: io::Error| failure::of_path(&error, "read", path);
    let open = if untrusted { files::open_untrusted } else { files::open_to_read };
    let file = open(&path_of(path)).map_err(failed)?;
    if !file.metadata().map_err(failed)?.is_file() {
        let message = format!("cannot read `{path}`: it is not a plain file");
        return Err(Failure::new(FailureKind::Invalid, message));
    }
    let mut bytes = Vec::new();
    file.take(first_bytes.unwrap_or(u64::MAX)).read_to_end(&mut bytes).map_err(failed)?;
    Ok(bytes)
}

fn replace(path: &Path, lock: &Path, bytes: &[u8]) -> io::Result<()> {
    let mut file = File::create_new(lock)?;
    file.write_all(bytes)?;
    if let Ok(found) = fs::metadata(path) {
        file.set_permissions(found.permissions())?;
    }
    file.sync_all()?;
    fs::rename(lock, path)
}

fn copy(from: &Path, to: &Path) -> io::Result<()> {
    if let Some(folder) = to.parent() {
        fs::create_dir_all(folder)?;
    }
    let bytes = fs::read(from)?;
    let modified = fs::metadata(from)?.modified()?;
    fs::write(to, bytes)?;
    File::options().write(true).open(to)?.set_modified(modified)
}

fn find_link(paths: &[String]) -> Result<Option<String>, Failure> {
    let mut ahead: Vec<PathBuf> = paths.iter().map(|path| path_of(path)).collect();
    while let Some(path) = ahead.pop() {
        let Ok(found) = path.symlink_metadata() else { continue };
        if found.is_symlink() {
            return Ok(Some(text_of(path)));
        }
        if found.is_dir() {
            let entries = fs::read_dir(&path);
            let entries = entries.map_err(|error| {
                failure::of_path(&error, "look into", &path.display().to_string())
            })?;
            ahead.extend(entries.flatten().map(|entry| entry.path()));
        }
    }
    Ok(None)
}

/// Whether a git works in a folder; `None`: the system does not tell.
fn git_works_in(folder: &Path) -> Option<bool> {
    let processes = fs::read_dir("/proc").ok()?;
    fs::metadata("/proc/self/comm").ok()?;
    Some(processes.flatten().any(|process| {
        let process = process.path();
        let is_git = fs::read(process.join("comm")).is_ok_and(|name| name.starts_with(b"git"));
        is_git && fs::read_link(process.join("cwd")).is_ok_and(|cwd| cwd.starts_with(folder))
    }))
}

#[cfg(unix)]
fn make_private(file: &Path) -> io::Result<()> {
    use std::os::unix::fs::PermissionsExt;
    match fs::set_permissions(file, fs::Permissions::from_mode(0o600)) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        made => made,
    }
}

#[cfg(not(unix))]
fn make_private(_file: &Path) -> io::Result<()> {
    Ok(())
}

#[cfg(unix)]
fn device(found: &Metadata) -> u64 {
    use std::os::unix::fs::MetadataExt;
    found.dev()
}

#[cfg(not(unix))]
fn device(_found: &Metadata) -> u64 {
    0
}

/// The path that a task names.
#[cfg(unix)]
pub(super) fn path_of(path: &str) -> PathBuf {
    use std::os::unix::ffi::OsStringExt;
    std::ffi::OsString::from_vec(name_bytes(path).into_owned()).into()
}

#[cfg(not(unix))]
pub(super) fn path_of(path: &str) -> PathBuf {
    String::from_utf8_lossy(&name_bytes(path)).into_owned().into()
}

/// A path as tasks write it.
#[cfg(unix)]
pub(super) fn text_of(path: PathBuf) -> String {
    use std::os::unix::ffi::OsStrExt;
    name_text(path.as_os_str().as_bytes())
}

#[cfg(not(unix))]
pub(super) fn text_of(path: PathBuf) -> String {
    name_text(path.to_string_lossy().replace('\\', "/").as_bytes())
}
