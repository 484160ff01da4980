//! Submodules of worktrees. Git leaves them empty in a new worktree, and keeps what is committed in
//! them there in the worktree's own git folder, which goes with the worktree.

use crate::git::checkout::{self, below};
use crate::git::hardened::{says, says_with_index};
use onloop_effect::{Failure, FailureKind, FileKind, Io};
use onloop_syntax::limits;

/// A submodule of a checkout.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Submodule {
    name: String,
    /// Relative to the checkout.
    path: String,
}

/// A submodule that stays empty.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EmptySubmodule {
    /// Relative to the worktree.
    pub path: String,
    /// Why, as a clause.
    pub why: String,
}

/// Fills the submodules of the new worktree at `path` from those of the main checkout, without the
/// network. Returns those that stay empty.
///
/// # Errors
///
/// `Interrupted` only: a worktree with empty submodules can be used.
pub async fn fill(io: &Io, path: &str) -> Result<Vec<EmptySubmodule>, Failure> {
    let Some(checkout) = checkout::find(io, path).await else { return Ok(Vec::new()) };
    let common = checkout.common_folder(io).await;
    let mut empty = Vec::new();
    let mut folders = vec![(path.to_owned(), String::new(), common)];
    let mut looked_at = 0;
    while let Some((folder, prefix, git)) = folders.pop() {
        for Submodule { name, path } in unless_interrupted(listed(io, &folder).await)? {
            looked_at += 1;
            let source = format!("{git}/modules/{name}");
            let shown = format!("{prefix}{path}");
            let filled = match looked_at <= limits::SUBMODULES_LOOKED_AT {
                true => fill_one(io, &folder, (&name, &path), &source).await,
                false => Err(Failure::new(FailureKind::TooLarge, "there are too many submodules")),
            };
            match filled {
                Ok(()) => folders.push((format!("{folder}/{path}"), format!("{shown}/"), source)),
                Err(failure) if failure.is_interrupted() => return Err(failure),
                Err(failure) => empty.push(EmptySubmodule { path: shown, why: failure.message }),
            }
        }
    }
    Ok(empty)
}

/// Those of `paths` that are submodules of the checkout at `root`.
///
/// # Errors
///
/// `Interrupted` only.
pub(crate) async fn among(io: &Io, root: &str, paths: &[String]) -> Result<Vec<String>, Failure> {
    let listed = unless_interrupted(listed(io, root).await)?;
    let found = listed.into_iter().map(|submodule| submodule.path);
    Ok(found.filter(|path| paths.contains(path)).collect())
}

/// Nothing where git cannot say; an interruption stays one.
fn unless_interrupted<T: Default>(answer: Result<T, Failure>) -> Result<T, Failure> {
    match answer {
        Err(failure) if !failure.is_interrupted() => Ok(T::default()),
        answer => answer,
    }
}

/// The submodules of a checkout: what `.gitmodules` names and the index has as one.
async fn listed(io: &Io, folder: &str) -> Result<Vec<Submodule>, Failure> {
    let file = format!("{folder}/.gitmodules");
    if io.stat(&file).await.is_err() {
        return Ok(Vec::new());
    }
    let words = ["config", "-z", "--file", ".gitmodules", "--list"];
    let settings = says(io, folder, &words, None, limits::GIT_QUESTION_TIMEOUT_MS).await?;
    let named = named(&String::from_utf8_lossy(&settings));
    if named.is_empty() {
        return Ok(named);
    }
    let paths = named.iter().map(|submodule| submodule.path.as_str());
    let words = ["--literal-pathspecs", "ls-files", "-z", "--stage", "--"];
    let words: Vec<&str> = words.into_iter().chain(paths).collect();
    let tracked = says(io, folder, &words, None, limits::GIT_QUESTION_TIMEOUT_MS).await?;
    let tracked = String::from_utf8_lossy(&tracked);
    let links: Vec<&str> = tracked
        .split('\0')
        .filter(|line| line.starts_with("160000 "))
        .filter_map(|line| Some(line.split_once('\t')?.1))
        .collect();
    Ok(named.into_iter().filter(|found| links.contains(&found.path.as_str())).collect())
}

/// The submodules in the settings of a `.gitmodules`, as `git config -z --list` prints them. A name that
/// leads out of its folder, or that an option of git cannot hold, is left out.
fn named(settings: &str) -> Vec<Submodule> {
    let leads_out = |text: &str| {
        text.is_empty() || text.starts_with('/') || text.split('/').any(|part| part == "..")
    };
    let is_plain =
        |name: &str| !leads_out(name) && !name.contains(|sign: char| sign == '=' || sign < ' ');
    settings
        .split('\0')
        .filter_map(|setting| {
            let (key, path) = setting.split_once('\n')?;
            let name = key.strip_prefix("submodule.")?.strip_suffix(".path")?;
            let found = Submodule { name: name.to_owned(), path: path.to_owned() };
            (is_plain(name) && !leads_out(path)).then_some(found)
        })
        .collect()
}

/// Fills one submodule of the checkout at `folder` from the git folder `source`.
async fn fill_one(
    io: &Io,
    folder: &str,
    (name, path): (&str, &str),
    source: &str,
) -> Result<(), Failure> {
    if io.stat(&format!("{source}/HEAD")).await.is_err() {
        let why = "it is not initialized in the main checkout either";
        return Err(Failure::new(FailureKind::NotFound, why));
    }
    // A path would have git link the objects, and an agent could change those of the main checkout.
    let slash = if source.starts_with('/') { "" } else { "/" };
    let url = format!("submodule.{name}.url=file://{slash}{}", source.replace('%', "%25"));
    let words = [
        "-c",
        "protocol.file.allow=always",
        "-c",
        &url,
        "submodule",
        "--quiet",
        "update",
        "--init",
        "--checkout",
        "--force",
        "--",
        path,
    ];
    says(io, folder, &words, None, limits::GIT_ACT_TIMEOUT_MS).await?;
    let config = format!("{source}/config");
    let words = ["config", "--file", &config, "--get", "remote.origin.url"];
    let origin = says(io, folder, &words, None, limits::GIT_QUESTION_TIMEOUT_MS).await;
    let origin = unless_interrupted(origin)?;
    let origin = String::from_utf8_lossy(&origin);
    let words = ["config", "remote.origin.url", origin.trim_end()];
    let target = format!("{folder}/{path}");
    says(io, &target, &words, None, limits::GIT_QUESTION_TIMEOUT_MS).await.map(drop)
}

/// Work that is only in a repository inside a worktree and goes with it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum WorkInside {
    /// A repository that is no submodule of the main checkout has all of it.
    Repository {
        /// Its folder, relative to the worktree.
        path: String,
    },
    /// A submodule is at a commit that the main checkout does not have.
    Commit {
        /// The submodule, relative to the worktree.
        path: String,
        /// The commit.
        commit: String,
    },
    /// A submodule has files that are not committed in it.
    Files {
        /// The submodule, relative to the worktree.
        path: String,
    },
}

/// Finds work that `commit` hands on as the name of a commit, while only the worktree at `path` has it.
/// `since` is the commit that the work began at; `index` is a file for an index, which is removed.
///
/// # Errors
///
/// Git cannot say.
pub async fn only_inside(
    io: &Io,
    path: &str,
    (since, commit): (Option<&str>, &str),
    index: &str,
) -> Result<Vec<WorkInside>, Failure> {
    let Some(checkout) = checkout::find(io, path).await else { return Ok(Vec::new()) };
    let common = checkout.common_folder(io).await;
    let mut links = new_links(io, &common, since, commit).await?;
    let mut found = Vec::new();
    let mut folders = vec![(path.to_owned(), String::new(), common.clone(), commit.to_owned())];
    while let Some((folder, prefix, git, tree)) = folders.pop() {
        links.extend(listed(io, &folder).await?.into_iter().map(|submodule| submodule.path));
        links.sort();
        links.dedup();
        for link in std::mem::take(&mut links) {
            let (inside, shown) = (format!("{folder}/{link}"), format!("{prefix}{link}"));
            let Some(module) = own_module(io, &inside, &common).await else { continue };
            let Some(module) = module.filter(|_| found.len() < limits::SUBMODULES_LOOKED_AT) else {
                found.push(WorkInside::Repository { path: shown });
                continue;
            };
            let Some(tip) = commit_at(io, &git, &tree, &link).await? else { continue };
            if commit_at(io, &module, &tip, "").await?.is_none() {
                found.push(WorkInside::Commit { path: shown, commit: tip });
            } else if is_dirty(io, (&module, &inside), &tip, index).await? {
                found.push(WorkInside::Files { path: shown });
            } else {
                folders.push((inside, format!("{shown}/"), module, tip));
            }
        }
    }
    Ok(found)
}

/// Submodules and other repositories that `commit` has and `since` has not, or at another commit.
async fn new_links(
    io: &Io,
    git: &str,
    since: Option<&str>,
    commit: &str,
) -> Result<Vec<String>, Failure> {
    let Some(since) = since else { return Ok(Vec::new()) };
    let words = ["diff-tree", "-r", "-z", "--no-renames", since, commit];
    let changes = says(io, git, &words, None, limits::GIT_QUESTION_TIMEOUT_MS).await?;
    let changes = String::from_utf8_lossy(&changes);
    let mut parts = changes.split('\0');
    let mut links = Vec::new();
    while let (Some(facts), Some(path)) = (parts.next(), parts.next()) {
        if facts.split(' ').nth(1) == Some("160000") {
            links.push(path.to_owned());
        }
    }
    Ok(links)
}

/// The git folder in the main checkout, whose own one is `common`, of the repository at `inside`.
/// `Some(None)`: it has none. `None`: nothing is lost with the folder, because it is empty or its git
/// folder is elsewhere.
async fn own_module(io: &Io, inside: &str, common: &str) -> Option<Option<String>> {
    let file = format!("{inside}/.git");
    if io.stat(&file).await.ok()?.kind != FileKind::File {
        return Some(None);
    }
    let text = checkout::read_text(io, &file).await?;
    let own = below(inside, checkout::one_path(text.strip_prefix("gitdir: ")?));
    let own = io.canonical(&own).await.ok()?;
    let common = io.canonical(common).await.ok()?;
    // `worktrees/ID/modules/NAME`, and `/modules/NAME` for each submodule of a submodule.
    let below_worktrees = own.strip_prefix(&format!("{common}/worktrees/"))?;
    let (_, modules) = below_worktrees.split_once('/')?;
    let module = format!("{common}/{modules}");
    Some(io.stat(&format!("{module}/HEAD")).await.is_ok().then_some(module))
}

/// The commit that `tree` has at `path`, or `tree` itself for the empty path; `None`: the repository
/// does not have it.
async fn commit_at(io: &Io, git: &str, tree: &str, path: &str) -> Result<Option<String>, Failure> {
    let named = match path {
        "" => format!("{tree}^{{commit}}"),
        path => format!("{tree}:{path}"),
    };
    let words = ["rev-parse", "--verify", "--quiet", &named];
    let said = says(io, git, &words, None, limits::GIT_QUESTION_TIMEOUT_MS).await;
    let said = unless_interrupted(said)?;
    let id = String::from_utf8_lossy(&said).trim_end().to_owned();
    Ok((!id.is_empty()).then_some(id))
}

/// Whether the folder `inside` has other files than `commit`. Git reads the configuration of the main
/// checkout's `module`: the one inside may be an agent's.
async fn is_dirty(
    io: &Io,
    (module, inside): (&str, &str),
    commit: &str,
    index: &str,
) -> Result<bool, Failure> {
    let (git, files) = (format!("--git-dir={module}"), format!("--work-tree={inside}"));
    let ask = async |words: &[&str]| {
        let words: Vec<&str> =
            [&git, &files].into_iter().map(String::as_str).chain(words.iter().copied()).collect();
        says_with_index(io, inside, index, &words, limits::GIT_ACT_TIMEOUT_MS).await
    };
    let look = async || -> Result<bool, Failure> {
        ask(&["read-tree", commit]).await?;
        let changed = ask(&["diff", "--name-only", "-z", "--ignore-submodules=all"]).await?;
        let new = ask(&["ls-files", "--others", "--exclude-standard", "-z"]).await?;
        Ok(!changed.is_empty() || !new.is_empty())
    };
    let is_dirty = look().await;
    let _ = io.remove(index).await;
    is_dirty
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_that_lead_elsewhere_are_left_out() {
        let settings = "submodule.a/b.path\nlibs/a\0submodule.a/b.url\nhttps://h/a\0\
             submodule.../../x.path\nx\0submodule.y.path\n../y\0submodule.z=1.path\nz\0\
             submodule.with.dot.path\nlibs/dot\0core.bare\0";
        let found: Vec<(String, String)> =
            named(settings).into_iter().map(|found| (found.name, found.path)).collect();
        let expected = [("a/b", "libs/a"), ("with.dot", "libs/dot")];
        assert_eq!(found, expected.map(|(name, path)| (name.to_owned(), path.to_owned())));
    }
}
