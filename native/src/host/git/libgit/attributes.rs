//! Settings under which libgit2 reads or writes files differently from git.

use std::path::{Path, PathBuf};
use std::{env, fs};

use git2::{ObjectType, Repository, TreeWalkMode, TreeWalkResult};
use onloop_core::effect::Failure;

use super::super::NewWorktree;
use super::failure;

const ATTRIBUTES: &str = ".gitattributes";

/// Returns why only the git program can read the state of this checkout.
pub(crate) fn needs_program(repository: &Repository) -> Option<String> {
    let everywhere = sparse(repository).or_else(environment);
    everywhere.or_else(|| shared_attributes(repository)).or_else(|| {
        let workdir = repository.workdir()?;
        if file_converts(&workdir.join(ATTRIBUTES)) {
            return Some(because(ATTRIBUTES));
        }
        // The next reader of a damaged index reports it.
        let index = repository.index().ok()?;
        let path = index.iter().map(|entry| entry.path).find(|path| {
            is_attributes(path) && file_converts(&workdir.join(&*String::from_utf8_lossy(path)))
        })?;
        Some(because(&String::from_utf8_lossy(&path)))
    })
}

/// Returns why only the git program can check out `new`.
pub(crate) fn checkout_needs_program(
    repository: &Repository,
    new: &NewWorktree<'_>,
) -> Result<Option<String>, Failure> {
    let everywhere = sparse(repository).or_else(environment);
    if let Some(reason) = everywhere.or_else(|| shared_attributes(repository)) {
        return Ok(Some(reason));
    }
    let revision = match new.create_at {
        Some(commit) => commit.to_owned(),
        None => format!("refs/heads/{}", new.branch),
    };
    let tree = repository
        .revparse_single(&revision)
        .and_then(|object| object.peel_to_tree())
        .map_err(|error| failure(repository, &error))?;
    let mut found = None;
    let walked = tree.walk(TreeWalkMode::PreOrder, |folder, entry| {
        if entry.kind() != Some(ObjectType::Blob) || entry.name_bytes() != ATTRIBUTES.as_bytes() {
            return TreeWalkResult::Ok;
        }
        let blob = repository.find_blob(entry.id());
        if blob.is_ok_and(|blob| converts(blob.content())) {
            found = Some(because(&format!("{folder}{ATTRIBUTES}")));
            return TreeWalkResult::Abort;
        }
        TreeWalkResult::Ok
    });
    match (found, walked) {
        // libgit2 reports the early end of the walk as an error.
        (Some(reason), _) => Ok(Some(reason)),
        (None, Ok(())) => Ok(None),
        (None, Err(error)) => Err(failure(repository, &error)),
    }
}

/// libgit2 takes files outside of a sparse checkout for deleted. It does not copy a worktree's own
/// configuration to a new worktree.
fn sparse(repository: &Repository) -> Option<String> {
    let config = repository.config().ok()?;
    ["core.sparseCheckout", "extensions.worktreeConfig"]
        .iter()
        .find(|name| config.get_bool(name).unwrap_or(false))
        .map(|name| format!("`{name}` is set"))
}

/// Attribute files for all files: of the repository, the user and the system.
fn shared_attributes(repository: &Repository) -> Option<String> {
    let own = repository.commondir().join("info/attributes");
    let named = repository.config().ok()?.get_path("core.attributesFile").ok();
    let users = named.or_else(|| users_folder().map(|folder| folder.join("attributes")));
    let systems = SYSTEMS_FOLDERS.iter().map(|folder| Path::new(folder).join("gitattributes"));
    [Some(own), users]
        .into_iter()
        .flatten()
        .chain(systems.filter(|_| env::var_os("GIT_ATTR_NOSYSTEM").is_none()))
        .find(|path| file_converts(path))
        .map(|path| because(&path.display().to_string()))
}

/// Possible folders of git's system configuration.
const SYSTEMS_FOLDERS: [&str; 3] = ["/etc", "/usr/local/etc", "/opt/homebrew/etc"];

/// Default folders of the user's git configuration.
fn users_folder() -> Option<PathBuf> {
    let set = |name: &str| env::var_os(name).filter(|path| !path.is_empty()).map(PathBuf::from);
    set("XDG_CONFIG_HOME").or_else(|| Some(set("HOME")?.join(".config"))).map(|to| to.join("git"))
}

/// Returns the configuration that the environment selects and libgit2 does not read.
fn environment() -> Option<String> {
    let home = env::var_os("HOME").map(|home| PathBuf::from(home).join(".gitconfig"));
    let users = [home, users_folder().map(|folder| folder.join("config"))];
    let systems = SYSTEMS_FOLDERS.map(|folder| Some(Path::new(folder).join("gitconfig")));
    let replaces = |name: &str, replaced: &[Option<PathBuf>]| {
        let named = PathBuf::from(env::var_os(name)?);
        let mut both = replaced.iter().flatten().chain(std::iter::once(&named));
        both.any(|path| configures_files(path)).then(|| name.to_owned())
    };
    let set = env::var_os("GIT_CONFIG_COUNT").map(|_| "GIT_CONFIG_COUNT".to_owned());
    set.or_else(|| replaces("GIT_CONFIG_GLOBAL", &users))
        .or_else(|| replaces("GIT_CONFIG_SYSTEM", &systems))
        .or_else(|| replaces("GIT_CONFIG_NOSYSTEM", &systems))
        .map(|name| format!("`{name}` is set"))
}

/// Whether a configuration file can change how git writes files.
fn configures_files(path: &Path) -> bool {
    let is_file = fs::metadata(path).is_ok_and(|found| found.is_file());
    let content = fs::read(path).ok().filter(|_| is_file).unwrap_or_default();
    let content = String::from_utf8_lossy(&content).to_lowercase();
    ["[core", "[include", "[filter"].iter().any(|section| content.contains(section))
}

fn because(path: &str) -> String {
    format!("`{path}` names a filter or an encoding")
}

fn is_attributes(path: &[u8]) -> bool {
    path.strip_suffix(ATTRIBUTES.as_bytes())
        .is_some_and(|folder| folder.is_empty() || folder.ends_with(b"/"))
}

fn file_converts(path: &Path) -> bool {
    // Opening a pipe could block for ever.
    fs::metadata(path).is_ok_and(|found| found.is_file())
        && fs::read(path).is_ok_and(|content| converts(&content))
}

/// Whether attributes ask for a conversion that libgit2 does not do.
fn converts(attributes: &[u8]) -> bool {
    ["filter=", "working-tree-encoding="]
        .iter()
        .any(|word| attributes.windows(word.len()).any(|part| part == word.as_bytes()))
}
