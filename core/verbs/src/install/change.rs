//! Changing the files of a host on disk: all of them, or none.

use std::collections::BTreeSet;

use super::{BACKUP, folders};
use onloop_effect::{
    Command, Durability, Expect, Failure, FailureKind, Io, OptionalExt, ProcessStatus, Version,
};
use onloop_engine::client_files::quiet;
use onloop_engine::error::CommandError;
use onloop_install::HostFile;
use onloop_syntax::limits;
use onloop_syntax::text::one_line;

/// What is to become of one file.
pub(super) struct Change {
    pub(super) host_file: HostFile,
    /// The file behind a symbolic link, or the path itself.
    pub(super) path: String,
    /// What is there, and its version.
    pub(super) found: Option<(String, Version)>,
    /// What should be there.
    pub(super) wanted: Option<String>,
}

impl Change {
    pub(super) fn is_one(&self) -> bool {
        self.found.as_ref().map(|(text, _)| text) != self.wanted.as_ref()
    }
}

/// Makes every change, or none: after a failure, the files that were changed get their content back.
pub(super) async fn perform_all(io: &Io, changes: &[Change]) -> Result<(), CommandError> {
    let mut made = Made { folders: missing_folders(io, changes).await, ..Made::default() };
    for change in changes.iter().filter(|change| change.is_one()) {
        if let Err(failure) = perform(io, change, &mut made).await {
            let path = one_line(change.host_file.path());
            let left = made.undo(io).await;
            let error = CommandError::from(failure);
            return Err(match left.is_empty() {
                true => error.context(format!("cannot change `{path}`; nothing was changed")),
                false => error
                    .context(format!("cannot change `{path}`, and these files stay changed"))
                    .listing(left),
            });
        }
    }
    folders::remember(io, &made.folders).await;
    let paths: Vec<&str> = changes.iter().map(|change| change.path.as_str()).collect();
    folders::remove_emptied(io, &paths).await;
    for note in made.notes {
        io.note(note).await;
    }
    Ok(())
}

/// The folders that writing these files will make, outermost first.
async fn missing_folders(io: &Io, changes: &[Change]) -> Vec<String> {
    let mut missing = BTreeSet::new();
    let is_new = |change: &&Change| change.found.is_none() && change.wanted.is_some();
    for change in changes.iter().filter(is_new) {
        let ends = change.path.match_indices('/').skip(1).map(|(at, _)| &change.path[..at]);
        for folder in ends.collect::<Vec<_>>().into_iter().rev() {
            let is_missing = io.stat(folder).await.is_err_and(|failure| failure.is_not_found());
            if !is_missing || !missing.insert(folder.to_owned()) {
                break;
            }
        }
    }
    missing.into_iter().collect()
}

/// What has been done so far.
#[derive(Default)]
struct Made {
    /// Folders that the files are in and that were not there.
    folders: Vec<String>,
    /// Changed files, with what was in them; `None`: they were not there.
    files: Vec<FileBefore>,
    /// What people are told when everything is done.
    notes: Vec<String>,
}

struct FileBefore {
    path: String,
    bytes: Option<Vec<u8>>,
    executable: bool,
}

impl Made {
    /// Notes what is at a path before it is changed.
    async fn before(&mut self, io: &Io, path: &str) -> Result<(), Failure> {
        let found = io.read(path, limits::HOST_FILE_BYTES).await.optional()?;
        let executable = io.stat(path).await.is_ok_and(|stat| stat.executable);
        let bytes = found.map(|(bytes, _)| bytes);
        self.files.push(FileBefore { path: path.to_owned(), bytes, executable });
        Ok(())
    }

    /// Puts everything back, the last change first. Returns the paths where that failed.
    async fn undo(&self, io: &Io) -> Vec<String> {
        let mut left = Vec::new();
        for file in self.files.iter().rev() {
            if file.put_back(io).await.is_err() {
                left.push(file.path.clone());
            }
        }
        for folder in self.folders.iter().rev() {
            folders::remove_if_empty(io, folder).await;
        }
        left
    }
}

impl FileBefore {
    async fn put_back(&self, io: &Io) -> Result<(), Failure> {
        let Some(bytes) = &self.bytes else {
            return io.remove(&self.path).await.optional().map(|_| ());
        };
        let found = io.read(&self.path, limits::HOST_FILE_BYTES).await.optional()?;
        if found.as_ref().is_some_and(|(found, _)| found == bytes) {
            return Ok(());
        }
        // A file that is there keeps its mode; only a copy that was kept is private.
        let (bytes, path) = (bytes.clone(), self.path.as_str());
        match path.ends_with(BACKUP) {
            true => io.write_private(path, bytes, Expect::Any, Durability::Durable).await?,
            false => io.write(path, bytes, Expect::Any, Durability::Durable).await?,
        };
        if self.executable { make_executable(io, path).await } else { Ok(()) }
    }
}

async fn perform(io: &Io, change: &Change, made: &mut Made) -> Result<(), Failure> {
    made.before(io, &change.path).await?;
    let is_shared = matches!(change.host_file, HostFile::Shared(_) | HostFile::Server(_));
    let backup = format!("{}{BACKUP}", change.path);
    let Some(wanted) = &change.wanted else {
        io.remove(&change.path).await?;
        made.notes.push(format!("removed  {}", one_line(&change.path)));
        return Ok(());
    };
    if is_shared {
        made.before(io, &backup).await?;
    }
    let (verb, expect) = match &change.found {
        None => ("wrote   ", Expect::Absent),
        Some((_, version)) => ("changed ", Expect::Version(version.clone())),
    };
    if let Some((text, _)) = change.found.as_ref().filter(|_| is_shared) {
        // Only what is there before us is worth keeping.
        if change.host_file.removed(text).is_ok_and(|remains| remains.text == *text) {
            keep(io, &backup, text, made).await?;
        }
    }
    io.write(&change.path, wanted.clone().into_bytes(), expect, Durability::Durable).await?;
    made.notes.push(format!("{verb} {}", one_line(&change.path)));
    match &change.host_file {
        HostFile::Own(file) if file.executable => make_executable(io, &change.path).await?,
        HostFile::Own(_) | HostFile::Shared(_) | HostFile::Server(_) => {}
    }
    // What was kept says nothing new once the file is as it was.
    let kept = io.read(&backup, limits::HOST_FILE_BYTES).await;
    if is_shared && kept.is_ok_and(|(bytes, _)| bytes == wanted.as_bytes()) {
        io.remove(&backup).await?;
    }
    Ok(())
}

/// Keeps what is there before its first change; a later one leaves that alone. Settings may hold
/// what only their owner may read, and a copy must not be readable by more people.
async fn keep(io: &Io, backup: &str, text: &str, made: &mut Made) -> Result<(), Failure> {
    let bytes = text.as_bytes().to_vec();
    match io.write_private(backup, bytes, Expect::Absent, Durability::Durable).await {
        Ok(_) => {
            made.notes.push(format!("kept     {}", one_line(backup)));
            Ok(())
        }
        Err(failure) if failure.is_exists() => Ok(()),
        Err(failure) => Err(failure),
    }
}

async fn make_executable(io: &Io, path: &str) -> Result<(), Failure> {
    let words = ["chmod", "755", path].map(str::to_owned).to_vec();
    let end = io.process(quiet(Command::Argv(words), None)).await?;
    match end.status {
        ProcessStatus::Exited(0) => Ok(()),
        ProcessStatus::Interrupted => Err(Failure::interrupted()),
        ProcessStatus::Exited(_) | ProcessStatus::Signalled(_) | ProcessStatus::TimedOut => {
            let why = one_line(&end.stderr.text());
            Err(Failure::new(FailureKind::Other, format!("cannot make it executable: {why}")))
        }
    }
}
