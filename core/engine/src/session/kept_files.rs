//! Uncommitted files that onloop keeps before a call of a session may lose them, as commits below
//! `refs/onloop/sessions/<id>/` that no branch contains.

use std::collections::{BTreeMap, BTreeSet};

use onloop_documents::kept_files::{KeptFiles, KeptPath, NAME};
use onloop_effect::{
    Failure, FailureKind, FileKind, GitRequest, Io, KeptFile, NamedCheckpoint, OptionalExt,
    is_within,
};
use onloop_permission::Losses;
use onloop_permission::paths::pattern_matches_any;
use onloop_sessions::handsoff::SessionId;
use onloop_syntax::time::Timestamp;
use onloop_syntax::{limits, text};
use sha2::{Digest, Sha256};

use crate::git::hardened::{self, STATUS};
use crate::git::{ignored, inner_repositories};

/// The folder below `refs/onloop/` with one folder for each session.
pub const SESSIONS: &str = "sessions";
/// Bytes of a call that a listing shows.
const ABOUT_BYTES: usize = 300;
/// Digits of a digest in a name.
const DIGEST_DIGITS: usize = 12;

/// What to keep before a call.
#[derive(Clone, Copy)]
pub struct Keeping<'k> {
    /// The top folder of the checkout.
    pub root: &'k str,
    /// The session that makes the call.
    pub session: &'k SessionId,
    /// What the call loses as far as its words name it.
    pub losses: &'k Losses,
    /// Whether the call may also change files that it does not name. Of these, onloop keeps as many as
    /// fit.
    pub everything: bool,
    /// What the call runs.
    pub about: &'k str,
    /// Whether a path names a secret, which must not come into git's objects.
    pub is_secret: &'k dyn Fn(&str) -> bool,
}

/// What was kept before one call.
#[derive(Clone, Debug)]
pub struct Kept {
    /// Its number in the session, from 1.
    pub number: usize,
    /// When.
    pub at: Timestamp,
    /// Its commit.
    pub commit: String,
    /// The call and the files.
    pub document: KeptFiles,
}

/// A file that is to be kept.
struct Loss {
    /// Relative to the top folder.
    path: String,
    /// Whether the call must not run without it being kept.
    is_certain: bool,
}

/// Keeps what the call may lose and git does not have. Returns the number of the kept state; `None`
/// without anything to keep. The same content as before gets no second commit.
///
/// # Errors
///
/// Why something that the call certainly loses cannot be kept: its kind, a secret, or a bound.
pub async fn keep(io: &Io, keeping: Keeping<'_>) -> Result<Option<usize>, String> {
    let Keeping { root, losses, everything, .. } = keeping;
    let lost = match lost(io, root, losses, everything).await {
        // There are too many files to look at. Of those that the call does not name as many are kept as fit.
        Err(Failure { kind: FailureKind::Unknown | FailureKind::TooLarge, .. }) if everything => {
            lost(io, root, losses, false).await
        }
        lost => lost,
    };
    let lost = lost.map_err(|failure| text::one_line(&failure.message))?;
    let (document, files) = read(io, &keeping, lost).await?;
    if document.files.is_empty() {
        return Ok(None);
    }
    store(io, &keeping, &document, files)
        .await
        .map(Some)
        .map_err(|failure| text::one_line(&failure.message))
}

/// The files that exist, may be lost, and are not in git as they are; those that are certainly lost
/// first.
async fn lost(
    io: &Io,
    root: &str,
    losses: &Losses,
    everything: bool,
) -> Result<Vec<Loss>, Failure> {
    let mut removed = BTreeSet::new();
    for path in &losses.removed {
        removed.extend(inside(io, root, path).await);
    }
    for folder in removed.iter().filter(|path| path.ends_with('/')) {
        if let Some(inner) = inner_repositories::around(io, root, folder).await {
            return Err(Failure::new(FailureKind::Denied, own_repository(&inner)));
        }
    }
    let mut named: BTreeSet<String> = removed.clone();
    let mut overwritten = BTreeSet::new();
    for path in &losses.overwritten {
        let Some(path) = inside(io, root, path).await else { continue };
        // A path through something that is not a folder does not exist either.
        if let Ok(found) = io.stat(&format!("{root}/{path}")).await {
            named.insert(path.clone());
            overwritten.insert((path, found.kind == FileKind::Link));
        }
    }
    let whole = everything || losses.edits;
    if named.is_empty() && !whole {
        return Ok(Vec::new());
    }
    let specs: Vec<String> = named.iter().filter_map(|path| pathspec(path)).collect();
    let changed = changed(io, root, if whole { &[] } else { &specs }).await?;
    let unseen = unseen(io, root, &named, &specs, &changed).await?;
    let is_certain = |path: &str, is_tracked: bool| {
        let is_in = |removed: &String| is_below(path, removed);
        // What git ignores can be made again. What is behind a link is lost, whatever git says of the link.
        let is_overwritten = |(name, is_link): &(String, bool)| {
            name == path && (*is_link || changed.contains_key(path))
        };
        removed.iter().any(is_in)
            || overwritten.iter().any(is_overwritten)
            || (losses.edits && is_tracked)
    };
    let links = overwritten.iter().filter(|(_, is_link)| *is_link);
    let mut found: BTreeMap<String, bool> = links.map(|(path, _)| (path.clone(), true)).collect();
    found.extend(changed.clone());
    found.extend(unseen);
    if whole {
        found.extend(marked(io, root).await?);
    }
    let mut lost: Vec<Loss> = found
        .into_iter()
        .map(|(path, is_tracked)| Loss { is_certain: is_certain(&path, is_tracked), path })
        .collect();
    lost.sort_by_key(|loss| !loss.is_certain);
    Ok(lost)
}

/// `path` relative to `root`, through no link to another folder of the checkout: git follows none. The
/// last name, or a pattern, stays as it is.
async fn inside(io: &Io, root: &str, path: &str) -> Option<String> {
    let path = path.strip_prefix(root)?.strip_prefix('/')?;
    let last = || path.trim_end_matches('/').rfind('/').map_or(0, |at| at + 1);
    let (folder, name) = path.split_at(path.find("**/").unwrap_or_else(last));
    let real_root = io.canonical(root).await.ok()?;
    let real = io.canonical(&format!("{root}/{folder}")).await.unwrap_or_default();
    match real.strip_prefix(&real_root).and_then(|real| real.strip_prefix('/')) {
        Some(real) => Some(format!("{real}/{name}")),
        None => Some(path.to_owned()),
    }
}

fn own_repository(path: &str) -> String {
    format!("`{}` is a repository of its own", text::one_line(path))
}

/// Those of these files that exist and are not in git as they are, relative to `root`.
///
/// # Errors
///
/// When git does not answer.
pub async fn uncommitted(
    io: &Io,
    root: &str,
    paths: impl Iterator<Item = &str>,
) -> Result<BTreeSet<String>, Failure> {
    let overwritten = paths.map(|path| format!("{root}/{path}")).collect();
    let losses = Losses { overwritten, ..Losses::default() };
    Ok(lost(io, root, &losses, false).await?.into_iter().map(|loss| loss.path).collect())
}

/// Whether `path` is what `removed` names: a file, or everything in a folder, where `**` stands for
/// folders, and a pattern for names of files may follow.
fn is_below(path: &str, removed: &str) -> bool {
    let Some((before, after)) = removed.split_once("**/") else {
        return is_within(path, removed.trim_end_matches('/'));
    };
    let Some(rest) = path.strip_prefix(before) else { return false };
    match after.strip_suffix('/') {
        Some(name) => format!("/{rest}").contains(&format!("/{name}/")),
        None => pattern_matches_any(after, rest.rsplit('/').next().unwrap_or(rest)),
    }
}

/// What git calls the files that a removed path stands for; `None` if that is not certain.
fn pathspec(path: &str) -> Option<String> {
    let Some((folder, after)) = path.split_once("**/") else {
        return Some(format!(":(top,literal){}", path.trim_end_matches('/')));
    };
    let is_pattern = |text: &str| text.contains(['*', '?']);
    let is_odd = |text: &str| text.contains(['[', '\\']);
    match after.strip_suffix('/') {
        _ if is_odd(path) || is_pattern(folder) => None,
        Some(name) if is_pattern(name) => None,
        Some(name) => Some(format!(":(top,glob){folder}**/{name}/**")),
        None => Some(format!(":(top,glob){path}")),
    }
}

/// Files that git sees as changed, staged or new, and whether it tracks them.
async fn changed(io: &Io, root: &str, specs: &[String]) -> Result<BTreeMap<String, bool>, Failure> {
    let specs = specs.iter().map(String::as_str);
    let words = STATUS.into_iter().chain(["--untracked-files=all", "--"]).chain(specs);
    let words: Vec<&str> = words.collect();
    let said = hardened::text(io, root, &words).await?;
    let entry = |line: &str| {
        let (letters, path) = line.split_at_checked(3)?;
        // The second letter is about the file itself.
        let is_gone = letters.as_bytes()[1] == b'D';
        (!is_gone && !path.is_empty()).then(|| (path.to_owned(), letters != "?? "))
    };
    Ok(said.split('\0').filter_map(entry).collect())
}

/// Files that git was told to look away from.
async fn marked(io: &Io, root: &str) -> Result<BTreeMap<String, bool>, Failure> {
    let words = ["ls-files", "-z", "-v"];
    let said = hardened::text(io, root, &words).await?;
    let entries = said.split('\0').filter_map(|line| line.split_once(' '));
    let marked = entries.filter(|(mark, _)| *mark != "H");
    Ok(marked.map(|(_, path)| (path.to_owned(), true)).collect())
}

/// Named files that git ignores or was told to look away from, repositories inside, and whether it tracks
/// them.
async fn unseen(
    io: &Io,
    root: &str,
    named: &BTreeSet<String>,
    specs: &[String],
    changed: &BTreeMap<String, bool>,
) -> Result<BTreeMap<String, bool>, Failure> {
    let mut unseen = BTreeMap::new();
    if specs.is_empty() {
        return Ok(unseen);
    }
    let specs = specs.iter().map(String::as_str);
    let words = ["ls-files", "-z", "-v", "--stage", "--"].into_iter().chain(specs);
    let words: Vec<&str> = words.collect();
    let said = hardened::text(io, root, &words).await?;
    let mut plain = BTreeSet::new();
    for (facts, path) in said.split('\0').filter_map(|line| line.split_once('\t')) {
        match facts.starts_with("H ") && !facts.starts_with("H 160000 ") {
            true => drop(plain.insert(path)),
            false => drop(unseen.insert(path.to_owned(), true)),
        }
    }
    let mut add = async |flags: &[&str], specs: Vec<String>| {
        if specs.is_empty() {
            return Ok(());
        }
        let specs: Vec<&str> = specs.iter().map(String::as_str).collect();
        let words = [&["ls-files", "-z", "--others"], flags, &["--"], &specs].concat();
        let said = hardened::text(io, root, &words).await?;
        let files = said.split('\0').filter(|path| !path.is_empty());
        unseen.extend(files.map(|path| (path.to_owned(), false)));
        Ok::<_, Failure>(())
    };
    // Of a folder, what git ignores by committed rules and builds make can be made again; files that a pattern names count,
    // ignored or not.
    let (folders, others): (Vec<_>, Vec<_>) = named.iter().partition(|path| path.ends_with('/'));
    let folders: Vec<String> = folders.into_iter().filter_map(|path| pathspec(path)).collect();
    let doubtful = ignored::perhaps_for_good(io, root, &folders).await?;
    add(&[], doubtful.iter().filter_map(|path| pathspec(path)).collect()).await?;
    let patterns = others.iter().filter(|path| path.contains("**/"));
    let patterns = patterns.filter_map(|path| pathspec(path)).collect();
    add(&["--ignored", "--exclude-standard"], patterns).await?;
    let is_new = |path: &&String| !changed.contains_key(*path) && !plain.contains(path.as_str());
    for path in others.into_iter().filter(is_new) {
        let found = io.stat(&format!("{root}/{path}")).await;
        if found.is_ok_and(|found| found.kind != FileKind::Folder) {
            unseen.entry(path.clone()).or_insert(false);
        }
    }
    Ok(unseen)
}

/// The content of the files, within the bounds.
async fn read(
    io: &Io,
    keeping: &Keeping<'_>,
    lost: Vec<Loss>,
) -> Result<(KeptFiles, Vec<Vec<u8>>), String> {
    let about = text::ellipsis(&io.redacted(&text::one_line(keeping.about)), ABOUT_BYTES);
    let (mut document, mut contents) = (KeptFiles { about, files: Vec::new() }, Vec::new());
    let mut left_bytes = limits::KEPT_BYTES;
    for Loss { path, is_certain } in lost {
        let is_full = document.files.len() >= limits::KEPT_FILES;
        let read = match is_full {
            true => Err(format!("it would keep more than {} files", limits::KEPT_FILES)),
            false => content(io, keeping, &path, left_bytes).await,
        };
        match read {
            Ok(Some((bytes, executable))) => {
                left_bytes -= bytes.len() as u64;
                document.files.push(KeptPath { path, executable });
                contents.push(bytes);
            }
            Ok(None) => {}
            Err(why) if is_certain => return Err(why),
            Err(_) => {}
        }
    }
    Ok((document, contents))
}

/// The content of a file, and whether it can be executed; `None` if it has gone.
async fn content(
    io: &Io,
    keeping: &Keeping<'_>,
    path: &str,
    left_bytes: u64,
) -> Result<Option<(Vec<u8>, bool)>, String> {
    let full = format!("{}/{path}", keeping.root);
    let shown = text::one_line(path);
    let failed = |failure: Failure| format!("`{shown}` cannot be read: {}", failure.message);
    if (keeping.is_secret)(&full) {
        return Err(format!("`{shown}` has the name of a secret"));
    }
    let Some(found) = io.stat(&full).await.optional().map_err(failed)? else {
        // A name that is not UTF-8 is shown with this character.
        return match path.contains('\u{fffd}') {
            true => Err(format!("the name of `{shown}` is not UTF-8")),
            false => Ok(None),
        };
    };
    match found.kind {
        FileKind::File => {}
        FileKind::Folder if io.list(&full).await.is_ok_and(|names| names.is_empty()) => {
            return Ok(None);
        }
        FileKind::Folder => return Err(own_repository(path)),
        FileKind::Link | FileKind::Other => return Err(format!("`{shown}` is not a regular file")),
    }
    match io.read(&full, left_bytes).await {
        Ok((bytes, _)) => Ok(Some((bytes, found.executable))),
        Err(failure) if failure.kind == FailureKind::TooLarge => {
            let bound = limits::KEPT_BYTES / (1024 * 1024);
            Err(format!("it would keep more than {bound} MiB, with `{shown}`"))
        }
        Err(failure) => Err(failed(failure)),
    }
}

async fn store(
    io: &Io,
    keeping: &Keeping<'_>,
    document: &KeptFiles,
    contents: Vec<Vec<u8>>,
) -> Result<usize, Failure> {
    let digest = digest(document, &contents);
    let there = names(io, keeping.root, keeping.session).await?;
    if there.last().is_some_and(|last| last.name.ends_with(&digest)) {
        return Ok(there.len());
    }
    let file = |name: String, bytes: Vec<u8>| KeptFile { name, bytes: bytes.into() };
    let contents = contents.into_iter().enumerate();
    let mut files: Vec<KeptFile> =
        contents.map(|(at, bytes)| file(KeptFiles::content_name(at), bytes)).collect();
    files.push(file(NAME.to_owned(), document.write()));
    let session = keeping.session;
    io.git_keep_files(GitRequest::KeepFiles {
        cwd: keeping.root.to_owned(),
        files,
        name: Some(format!("{SESSIONS}/{session}/{:06}-{digest}", there.len() + 1)),
        parent: None,
        message: format!("Files of session {session} before a call\n"),
        at: io.now(),
    })
    .await?;
    Ok(there.len() + 1)
}

/// A digest of paths and contents, without the call.
fn digest(document: &KeptFiles, contents: &[Vec<u8>]) -> String {
    let mut hash = Sha256::new();
    for (KeptPath { path, executable }, bytes) in document.files.iter().zip(contents) {
        hash.update(format!("{path}\0{executable}\0{}\0", bytes.len()));
        hash.update(bytes);
    }
    let digits = hash.finalize().iter().map(|byte| format!("{byte:02x}")).collect::<String>();
    text::prefix(&digits, DIGEST_DIGITS).to_owned()
}

/// The kept states of a session, the oldest first.
async fn names(io: &Io, root: &str, session: &SessionId) -> Result<Vec<NamedCheckpoint>, Failure> {
    let folder = format!("{SESSIONS}/{session}/");
    let mut names = io.git_checkpoints(root).await?;
    names.retain(|checkpoint| checkpoint.name.starts_with(&folder));
    names.sort_by(|a, b| a.name.cmp(&b.name));
    Ok(names)
}

/// Every kept state of a session, the oldest first. One that cannot be read is left out.
///
/// # Errors
///
/// When git does not list them.
pub async fn list(io: &Io, root: &str, session: &SessionId) -> Result<Vec<Kept>, Failure> {
    let mut kept = Vec::new();
    for (at, NamedCheckpoint { commit, at: time, .. }) in
        names(io, root, session).await?.into_iter().enumerate()
    {
        let bytes = io.git_read_kept(root, &commit, NAME, limits::KEPT_BYTES).await;
        if let Some(document) = bytes.ok().and_then(|bytes| KeptFiles::read(&bytes)) {
            kept.push(Kept { number: at + 1, at: time, commit, document });
        }
    }
    Ok(kept)
}

/// The sessions of a repository for which something is kept.
///
/// # Errors
///
/// When git does not list them.
pub async fn sessions(io: &Io, root: &str) -> Result<BTreeSet<String>, Failure> {
    let names = io.git_checkpoints(root).await?;
    let id = |name: &str| {
        Some(name.strip_prefix(SESSIONS)?.strip_prefix('/')?.split_once('/')?.0.to_owned())
    };
    Ok(names.iter().filter_map(|checkpoint| id(&checkpoint.name)).collect())
}

/// The kept content of the file at `index`.
///
/// # Errors
///
/// Those of [`GitRequest::ReadKept`].
pub async fn kept_content(
    io: &Io,
    root: &str,
    kept: &Kept,
    index: usize,
) -> Result<Vec<u8>, Failure> {
    let name = KeptFiles::content_name(index);
    io.git_read_kept(root, &kept.commit, &name, limits::KEPT_BYTES).await
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_removed_path_stands_for_itself_and_what_is_in_it() {
        for (path, removed, is_in) in [
            ("a.txt", "a.txt", true),
            ("a.txt", "a.txt/", true),
            ("a.txt.old", "a.txt", false),
            ("src/a", "src/", true),
            ("src2/a", "src/", false),
            ("x/y/__pycache__/a", "**/__pycache__/", true),
            ("__pycache__/a", "**/__pycache__/", true),
            ("x/__pycache__2/a", "**/__pycache__/", false),
            ("y/__pycache__/a", "x/**/__pycache__/", false),
            ("a.pyc", "**/*.pyc", true),
            ("x/y/a.pyc", "x/**/*.pyc", true),
            ("y/a.pyc", "x/**/*.pyc", false),
            ("x/a.py", "x/**/*.pyc", false),
        ] {
            assert_eq!(is_below(path, removed), is_in, "{path} {removed}");
        }
    }
}
