//! Finds the git folders around a folder before a program is confined to it.

use crate::git::checkout::{self, Checkout};
use crate::sandbox::running;
use onloop_agents::confine::{GitPlace, is_environment_file};
use onloop_effect::{Confinement, Failure, FailureKind, FileKind, Io, is_within};
use onloop_syntax::limits::{CHECKOUTS_LOOKED_AT, SUBMODULES_LOOKED_AT};
use std::collections::BTreeSet;

/// What in a folder of git says what `--continue`, a commit or a merge then applies, to which files, and
/// where remotes are.
const RESUMED: [&str; 8] = [
    "rebase-apply",
    "rebase-merge",
    "sequencer",
    "MERGE_AUTOSTASH",
    "MERGE_RR",
    "rr-cache",
    "remotes",
    "branches",
];

/// Copies of what objects say, which git reads in their place.
const OF_OBJECTS: [&str; 4] =
    ["info/commit-graph", "info/commit-graphs", "pack/multi-pack-index", "pack/multi-pack-index.d"];

/// Keeps in the folders of git of a checkout and of its repository what git would use after the command,
/// unconfined, and does not write with every command.
pub(super) fn keep(common: &str, own: &str, confinement: &mut Confinement) {
    let below = |folder: &str, names: &[&str]| -> Vec<String> {
        names.iter().map(|name| format!("{folder}/{name}")).collect()
    };
    confinement.may_read.extend(below(&format!("{common}/objects"), &OF_OBJECTS));
    for folder in BTreeSet::from([common, own]) {
        confinement.may_read.extend(below(folder, &RESUMED));
        // What was removed from the checkout may hold secrets of a person.
        confinement.hidden.push(format!("{folder}/onloop-removed"));
    }
}

/// The checkout's own `.git` counts only if the repository says the same: otherwise an agent that
/// writes the checkout would decide what is writable.
pub(super) async fn git_place(io: &Io, checkout: &Checkout) -> GitPlace {
    let own = format!("{}/.git", checkout.root);
    if checkout.git_folder == own {
        let worktrees = below(io, &format!("{own}/worktrees")).await;
        let modules = modules(io, format!("{own}/modules")).await;
        return GitPlace::Main { git: own, worktrees, modules };
    }
    match linked(io, checkout).await {
        Some(linked) => linked,
        None => GitPlace::Unknown { git: of_submodule(io, checkout).await },
    }
}

/// The git folder of a submodule, which is visible. The folder itself shows that it is one.
async fn of_submodule(io: &Io, checkout: &Checkout) -> Option<String> {
    let git = io.canonical(&checkout.git_folder).await.ok()?;
    let is_module = git.contains("/.git/modules/") && !is_within(&git, &checkout.root);
    let has_head = is_module && io.stat(&format!("{git}/HEAD")).await.is_ok();
    has_head.then_some(git)
}

/// Folders of objects that the repository borrows from others. A confined program cannot name
/// further ones: the file that names them is protected, and does not count while one may have made it.
pub(super) async fn borrowed_objects(io: &Io, place: &GitPlace) -> Vec<String> {
    let common = match place {
        GitPlace::Main { git, .. } => git,
        GitPlace::Linked { common, .. } => common,
        GitPlace::Unknown { .. } => return Vec::new(),
    };
    let file = running::alternates_of(common);
    if io.stat(&file).await.is_err() || running::may_have_made(io, &file).await {
        return Vec::new();
    }
    let listed = checkout::read_text(io, &file).await.unwrap_or_default();
    let mut folders = Vec::new();
    for line in listed.lines().filter(|line| line.starts_with('/')) {
        let real = io.canonical(line).await;
        folders.extend(real.ok().filter(|folder| folder.ends_with("/objects")));
    }
    folders
}

async fn linked(io: &Io, checkout: &Checkout) -> Option<GitPlace> {
    let git = io.canonical(&checkout.git_folder).await.ok()?;
    let (worktrees, _) = git.rsplit_once('/')?;
    let common = worktrees.strip_suffix("/worktrees")?.to_owned();
    let named = io.canonical(&checkout.common_folder(io).await).await.ok()?;
    let back = checkout::read_text(io, &format!("{git}/gitdir")).await?;
    let back = io.canonical(&checkout::below(&git, checkout::one_path(&back))).await.ok()?;
    let agrees = named == common
        && back == format!("{}/.git", checkout.root)
        && !is_within(&git, &checkout.root);
    agrees.then_some(GitPlace::Linked { git, common })
}

/// The folders in a folder.
async fn below(io: &Io, folder: &str) -> Vec<String> {
    let mut folders = Vec::new();
    for name in io.list(folder).await.unwrap_or_default() {
        let path = format!("{folder}/{name}");
        if io.stat(&path).await.is_ok_and(|stat| stat.kind == FileKind::Folder) {
            folders.push(path);
        }
    }
    folders
}

/// The folders of git of submodules, whose names may have `/` in them.
async fn modules(io: &Io, folder: String) -> Vec<String> {
    let (mut found, mut folders, mut looked_at) = (Vec::new(), vec![folder], 0);
    while let Some(folder) = folders.pop().filter(|_| looked_at < SUBMODULES_LOOKED_AT) {
        looked_at += 1;
        for path in below(io, &folder).await {
            if io.stat(&format!("{path}/HEAD")).await.is_ok() {
                folders.push(format!("{path}/modules"));
                found.push(path);
            } else {
                folders.push(path);
            }
        }
    }
    found
}

/// Those of the repository's other worktrees, and of the checkouts beside its main one.
///
/// # Errors
///
/// When git does not answer.
pub(super) async fn environment_files(
    io: &Io,
    folder: &str,
    git: Option<&GitPlace>,
) -> Result<Vec<String>, Failure> {
    let main = match git {
        Some(GitPlace::Linked { common, .. }) => common.strip_suffix("/.git").map(str::to_owned),
        Some(GitPlace::Main { .. } | GitPlace::Unknown { .. }) | None => Some(folder.to_owned()),
    };
    let around = main.as_deref().and_then(|main| main.rsplit_once('/')).map(|(above, _)| above);
    let worktrees = match io.git_worktrees(folder).await {
        // The machine has no git, or there is no repository.
        Err(failure) if failure.kind == FailureKind::Unsupported || git.is_none() => Vec::new(),
        worktrees => worktrees?,
    };
    let mut checkouts: Vec<String> = worktrees.into_iter().map(|worktree| worktree.path).collect();
    checkouts.extend(main.clone());
    if let Some(around) = around.filter(|around| !around.is_empty()) {
        checkouts.extend(below(io, around).await);
    }
    checkouts.sort();
    checkouts.dedup();
    checkouts.retain(|checkout| !is_within(checkout, folder));
    checkouts.truncate(CHECKOUTS_LOOKED_AT);
    let mut files = Vec::new();
    for checkout in checkouts {
        let names = io.list(&checkout).await.unwrap_or_default();
        let names = names.into_iter().filter(|name| is_environment_file(name));
        files.extend(names.map(|name| format!("{checkout}/{name}")));
    }
    Ok(files)
}
