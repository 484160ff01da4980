//! The clones of a worker: one that only fetches for each repository, and one for each run, which
//! borrows the objects of the first.

use std::path::{Path, PathBuf};

use onloop_core::documents::ledger::sha256;

use crate::engine::Submission;
use crate::git::{GitError, git};

/// The remote that a clone came from.
pub const REMOTE: &str = "origin";
/// The file beside a clone with the number of the last lease whose work the clone contains.
const LAST_LEASE: &str = "lease";
/// Most characters of a repository's name in a folder name.
const NAME_CHARS: usize = 60;

/// Why a clone cannot be made.
#[derive(Debug, thiserror::Error)]
pub enum CloneError {
    /// Git failed.
    #[error(transparent)]
    Git(#[from] GitError),
    /// The file system failed.
    #[error("`{path}`: {error}")]
    Folder {
        /// The folder.
        path: String,
        /// The error of the file system.
        error: std::io::Error,
    },
    /// The text is not an address that git accepts.
    #[error("`{0}` is not the address of a repository")]
    Address(String),
}

/// Returns the clone in which the holder of the lease `epoch` works on a run.
///
/// An existing clone is used only if this worker also had the lease before and the run has a journal.
/// Otherwise another worker may have continued the run, so the clone is made again at the run's base
/// commit. Call [settled] once the clone contains the work of the run, because an incomplete clone
/// cannot be recognized.
///
/// [settled]: settled
///
/// # Errors
///
/// Git or the file system fails. The next call makes the clone again.
pub fn of_run(
    repos: &Path,
    run: &Submission,
    epoch: u64,
    is_begun: bool,
) -> Result<PathBuf, CloneError> {
    let name = name_of(&run.repository);
    let place = repos.join("runs").join(&run.run_id);
    let folder = place.join(&name);
    let last = last_lease(&place.join(LAST_LEASE))?;
    let is_ours = is_begun && last.is_some_and(|last| last.checked_add(1) == Some(epoch));
    if !is_ours {
        remove(&place)?;
        make(&place)?;
    }
    if !is_begun {
        settled(repos, &run.run_id, epoch)?;
    }
    if folder.join(".git").is_dir() {
        return Ok(folder);
    }
    let shared = shared(repos, &run.repository)?;
    let base = base(&shared, run)?;
    let parent = folder.parent().unwrap_or(repos);
    make(parent)?;
    let half = parent.join(format!(".{name}.part"));
    remove(&half)?;
    let (from, to) = (text(&shared), text(&half));
    git(parent, &["clone", "--quiet", "--shared", "--no-checkout", "--", &from, &to])?;
    git(&half, &["remote", "set-url", REMOTE, &run.repository])?;
    let branch = match &run.branch {
        Some(branch) => branch.clone(),
        None => default_branch(&shared)?,
    };
    git(&half, &["checkout", "--quiet", "-B", &branch, &base, "--"])?;
    std::fs::rename(&half, &folder).map_err(|error| of_folder(&folder, error))?;
    Ok(folder)
}

/// Records that the clone of a run contains its work, as of the lease `epoch`.
///
/// # Errors
///
/// When it cannot be written.
pub fn settled(repos: &Path, run_id: &str, epoch: u64) -> Result<(), CloneError> {
    let last = repos.join("runs").join(run_id).join(LAST_LEASE);
    std::fs::write(&last, epoch.to_string()).map_err(|error| of_folder(&last, error))
}

/// Returns the address of the remote of the checkout at `root`, in a form that other machines can use.
///
/// # Errors
///
/// Git knows no such remote, or its relative path does not exist.
pub fn address(root: &Path) -> Result<String, CloneError> {
    let url = git(root, &["remote", "get-url", REMOTE])?;
    // A relative path starts at the checkout.
    if !(url.starts_with("./") || url.starts_with("../")) {
        return Ok(url);
    }
    let folder = root.join(&url);
    folder.canonicalize().map(|folder| text(&folder)).map_err(|error| of_folder(&folder, error))
}

/// Returns the checkout around `folder` if its remote is `repository`.
pub fn checkout_of(folder: &Path, repository: &str) -> Option<PathBuf> {
    // A folder outside of git is common here, so it is not an error.
    let root = PathBuf::from(git(folder, &["rev-parse", "--show-toplevel"]).ok()?);
    address(&root).is_ok_and(|address| address == repository).then_some(root)
}

/// Removes the clone of a finished run. It is renamed first, so that readers never find a part of it.
///
/// # Errors
///
/// The folder cannot be renamed or removed.
pub fn forget(repos: &Path, run_id: &str) -> Result<(), CloneError> {
    let runs = repos.join("runs");
    let (clone, gone) = (runs.join(run_id), runs.join(format!(".{run_id}.gone")));
    remove(&gone)?;
    match std::fs::rename(&clone, &gone) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => Err(of_folder(&clone, error)),
        _ => remove(&gone),
    }
}

/// Reads the number of the last lease whose work is in the clone; `None`: no lease is recorded.
fn last_lease(path: &Path) -> Result<Option<u64>, CloneError> {
    match std::fs::read_to_string(path) {
        // A number that a crash has truncated records no lease.
        Ok(text) => Ok(text.parse().ok()),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(of_folder(path, error)),
    }
}

/// Returns the shared clone of a repository, fetched from the remote.
fn shared(repos: &Path, repository: &str) -> Result<PathBuf, CloneError> {
    if repository.starts_with('-') || repository.contains(char::is_control) {
        return Err(CloneError::Address(onloop_core::text::one_line(repository)));
    }
    let digest = &sha256(repository.as_bytes())[..12];
    let cache = repos.join("shared");
    make(&cache)?;
    let folder = cache.join(format!("{}-{digest}.git", name_of(repository)));
    if folder.is_dir() {
        git(&folder, &["fetch", "--quiet", "--prune", REMOTE, "+refs/heads/*:refs/heads/*"])?;
        return Ok(folder);
    }
    let half = cache.join(format!(".{digest}.{}.part", std::process::id()));
    remove(&half)?;
    git(&cache, &["clone", "--quiet", "--bare", "--", repository, &text(&half)])?;
    match std::fs::rename(&half, &folder) {
        // Another run of the repository was faster.
        Err(_) if folder.is_dir() => remove(&half)?,
        renamed => renamed.map_err(|error| of_folder(&folder, error))?,
    }
    Ok(folder)
}

/// Returns the commit at which the run begins; the shared clone contains it.
fn base(shared: &Path, run: &Submission) -> Result<String, CloneError> {
    let Some(base) = &run.base else { return Ok(git(shared, &["rev-parse", "HEAD^{commit}"])?) };
    let wanted = format!("{base}^{{commit}}");
    let is_there =
        || git(shared, &["rev-parse", "--verify", "--quiet", "--end-of-options", &wanted]);
    if let Ok(commit) = is_there() {
        return Ok(commit);
    }
    let kept = format!("+refs/onloop/{0}/base:refs/onloop/{0}/base", run.run_id);
    git(shared, &["fetch", "--quiet", REMOTE, &kept])?;
    Ok(is_there()?)
}

/// Returns the branch that HEAD names in the shared clone.
fn default_branch(shared: &Path) -> Result<String, GitError> {
    let branch = git(shared, &["rev-parse", "--abbrev-ref", "HEAD"])?;
    // Git prints `HEAD` if the remote has a detached commit.
    Ok(if branch == "HEAD" { "main".to_owned() } else { branch })
}

/// Returns the last part of a repository's address as a folder name.
fn name_of(repository: &str) -> String {
    let trimmed = repository.trim_end_matches('/');
    let last = trimmed.rsplit(['/', ':']).next().unwrap_or_default();
    let last = last.strip_suffix(".git").unwrap_or(last);
    let plain = |c: char| if c.is_ascii_alphanumeric() || "._-".contains(c) { c } else { '-' };
    let name: String = last.chars().map(plain).take(NAME_CHARS).collect();
    match name.trim_start_matches(['.', '-']) {
        "" => "repository".to_owned(),
        name => name.to_owned(),
    }
}

fn make(folder: &Path) -> Result<(), CloneError> {
    std::fs::create_dir_all(folder).map_err(|error| of_folder(folder, error))
}

fn remove(folder: &Path) -> Result<(), CloneError> {
    match std::fs::remove_dir_all(folder) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => Err(of_folder(folder, error)),
        _ => Ok(()),
    }
}

fn of_folder(path: &Path, error: std::io::Error) -> CloneError {
    CloneError::Folder { path: text(path), error }
}

fn text(path: &Path) -> String {
    path.to_string_lossy().into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_clone_is_made_again_where_its_content_is_not_the_runs_work() {
        let folder = tempfile::tempdir().expect("a folder");
        let shop = folder.path().join("shop");
        make(&shop).expect("a folder");
        let git = |words: &[&str]| git(&shop, words).expect("git");
        git(&["init", "--quiet", "--initial-branch=main"]);
        let who = ["-c", "user.name=Ada", "-c", "user.email=ada@example.org"];
        git(&[&who[..], &["commit", "--quiet", "--allow-empty", "--message", "Begin"]].concat());
        let run = Submission::sample(&text(&shop));
        let repos = folder.path().join("repos");
        let clone = of_run(&repos, &run, 1, false).expect("a clone");
        std::fs::write(clone.join("half.txt"), "half a turn").expect("a file");
        assert_eq!(of_run(&repos, &run, 2, true).expect("the clone"), clone);
        assert!(clone.join("half.txt").exists(), "the run continues where it was");
        settled(&repos, "run", 2).expect("remembered");
        assert_eq!(of_run(&repos, &run, 4, true).expect("a clone"), clone);
        assert!(!clone.join("half.txt").exists(), "lease 3 was another one's");
        std::fs::write(clone.join("half.txt"), "half of the work").expect("a file");
        assert_eq!(of_run(&repos, &run, 5, true).expect("a clone"), clone);
        assert!(!clone.join("half.txt").exists(), "with lease 4 the work was never all there");
        settled(&repos, "run", 5).expect("remembered");
        std::fs::write(clone.join("half.txt"), "half a turn").expect("a file");
        assert_eq!(of_run(&repos, &run, 6, true).expect("a clone"), clone);
        assert!(clone.join("half.txt").exists(), "the run continues where it was");
        assert_eq!(of_run(&repos, &run, 7, false).expect("a clone"), clone);
        assert!(!clone.join("half.txt").exists(), "what was begun was never recorded");
        assert!(clone.join(".git").is_dir());
        // An earlier removal was interrupted.
        make(&repos.join("runs/.run.gone/shop")).expect("a folder");
        forget(&repos, "run").expect("removed");
        let left = std::fs::read_dir(repos.join("runs")).expect("a folder").count();
        assert_eq!(left, 0);
    }

    #[test]
    fn a_repository_is_called_by_the_last_part_of_its_address() {
        let table = [
            ("https://example.org/team/shop.git", "shop"),
            ("git@example.org:shop", "shop"),
            ("/srv/git/shop/", "shop"),
            ("https://example.org/..", "repository"),
            ("https://example.org/a b$(c)", "a-b--c-"),
        ];
        for (address, name) in table {
            assert_eq!(name_of(address), name, "{address}");
        }
    }
}
