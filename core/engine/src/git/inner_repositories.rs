//! Repositories inside a checkout that git enters by itself, because the index names them, and whether
//! their settings start programs.

use crate::git::checkout::{self, Checkout, below, read_text};
use crate::git::index;
use onloop_effect::Io;
use onloop_syntax::limits;

/// Settings that start nothing, in sections without and with a name of their own.
const HARMLESS: [(&str, &str); 12] = [
    (
        "core",
        " repositoryformatversion filemode bare logallrefupdates ignorecase precomposeunicode symlinks \
         worktree autocrlf eol safecrlf abbrev quotepath ",
    ),
    ("remote", " url pushurl fetch tagopt prune gh-resolved "),
    (
        "branch",
        " remote merge rebase description pushremote vscode-merge-base gh-merge-base \
         autosetupmerge autosetuprebase ",
    ),
    ("pull", " rebase ff twohead octopus "),
    ("fetch", " prune prunetags all parallel recursesubmodules "),
    ("push", " default autosetupremote followtags "),
    ("gc", " auto autodetach autopacklimit pruneexpire reflogexpire worktreepruneexpire "),
    ("color", " ui status diff branch interactive "),
    ("extensions", " objectformat "),
    ("submodule", " url active branch ignore "),
    ("user", " name email "),
    ("lfs", " repositoryformatversion access "),
];

/// The first repository that git enters from `checkout` and whose settings may start a program; the
/// checkout itself where its index cannot be read.
pub(crate) async fn untrusted(io: &Io, checkout: &Checkout) -> Option<String> {
    let mut looked_at = 0;
    let mut checkouts = vec![checkout.clone()];
    while let Some(checkout) = checkouts.pop() {
        let Some(paths) = links(io, &checkout).await else { return Some(checkout.root) };
        for path in paths {
            looked_at += 1;
            let root = format!("{}/{path}", checkout.root);
            match at(io, &root).await {
                Inner::Missing => {}
                Inner::Harmless(inner) if looked_at <= limits::SUBMODULES_LOOKED_AT => {
                    checkouts.push(inner);
                }
                Inner::Harmless(_) | Inner::Untrusted => return Some(root),
            }
        }
    }
    None
}

/// What is in a folder that may be a repository.
pub(crate) enum Inner {
    /// No repository.
    Missing,
    /// One that starts no program while git looks for changes in it.
    Harmless(Checkout),
    /// One that may.
    Untrusted,
}

/// What is at `root`.
pub(crate) async fn at(io: &Io, root: &str) -> Inner {
    if io.stat(&format!("{root}/.git")).await.is_err_and(|failure| failure.is_not_found()) {
        return Inner::Missing;
    }
    match checkout::find(io, root).await.filter(|inner| inner.root == root) {
        Some(inner) if is_harmless(io, &inner).await => Inner::Harmless(inner),
        Some(_) | None => Inner::Untrusted,
    }
}

/// The repository inside the checkout at `root` that has `folder`, or is it. Git knows nothing of its
/// files. Both are relative to `root`; `folder` ends in a slash.
pub(crate) async fn around(io: &Io, root: &str, folder: &str) -> Option<String> {
    for (end, _) in folder.match_indices('/') {
        let folder = &folder[..end];
        if io.stat(&format!("{root}/{folder}/.git")).await.is_ok() {
            return Some(folder.to_owned());
        }
    }
    None
}

/// The paths of repositories in the index of a checkout.
async fn links(io: &Io, checkout: &Checkout) -> Option<Vec<String>> {
    let path = format!("{}/index", checkout.git_folder);
    match io.read(&path, limits::GIT_INDEX_BYTES).await {
        Ok((bytes, _)) => {
            let settings = format!("{}/config", checkout.common_folder(io).await);
            let settings = read_text(io, &settings).await.unwrap_or_default().to_lowercase();
            index::links(&bytes, if settings.contains("sha256") { 32 } else { 20 })
        }
        Err(failure) => failure.is_not_found().then(Vec::new),
    }
}

/// Whether git starts no program of the repository's while it looks for changes in it or fetches.
async fn is_harmless(io: &Io, checkout: &Checkout) -> bool {
    let common = checkout.common_folder(io).await;
    let hooks = match io.list(&format!("{common}/hooks")).await {
        Err(failure) if !failure.is_not_found() => return false,
        hooks => hooks.unwrap_or_default(),
    };
    for folder in [&common, &checkout.git_folder] {
        if io.stat(&format!("{folder}/config.worktree")).await.is_ok() {
            return false;
        }
    }
    let Some(settings) = read_text(io, &format!("{common}/config")).await else { return false };
    let root = io.canonical(&checkout.root).await.ok();
    for folder in worktrees(&settings) {
        // Git looks for the files, and for repositories among them, in another folder.
        if io.canonical(&below(&checkout.git_folder, folder)).await.ok() != root {
            return false;
        }
    }
    root.is_some() && hooks.iter().all(|name| name.ends_with(".sample")) && start_nothing(&settings)
}

/// The values of `core.worktree` in settings that start nothing.
fn worktrees(settings: &str) -> impl Iterator<Item = &str> {
    let settings = settings.lines().filter_map(|line| line.split_once('='));
    let is_meant = |key: &str| key.trim().eq_ignore_ascii_case("worktree");
    settings.filter(move |(key, _)| is_meant(key)).map(|(_, value)| value.trim_matches(BLANKS))
}

/// What git strips from a line of settings.
const BLANKS: [char; 3] = [' ', '\t', '\r'];

/// Whether every setting is known to start nothing. Lines that git may read in another way count as
/// unknown.
fn start_nothing(settings: &str) -> bool {
    let mut known = "";
    settings.lines().map(|line| line.trim_matches(BLANKS)).all(|line| {
        if line.is_empty() || line.starts_with(['#', ';']) {
            return true;
        }
        if let Some(header) = line.strip_prefix('[') {
            let Some(header) = header.strip_suffix(']') else { return false };
            let section = header.split(' ').next().unwrap_or_default().to_ascii_lowercase();
            let found = HARMLESS.iter().find(|(name, _)| *name == section);
            known = found.map_or("", |(_, known)| *known);
            return !header.contains(']') && found.is_some();
        }
        let (key, value) = line.split_once('=').unwrap_or((line, ""));
        let key = key.trim_matches(BLANKS).to_ascii_lowercase();
        // Such a path may be another one than its text.
        let is_odd =
            key == "worktree" && (value.is_empty() || value.contains(['"', '\\', '#', ';', '\t']));
        !line.ends_with('\\') && !is_odd && known.contains(&format!(" {key} "))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn settings_start_nothing_if_each_of_them_is_known() {
        let plain = "[core]\n\trepositoryformatversion = 0\n\tfilemode = true\n\
            \tworktree = ../../../lib\n[remote \"origin\"]\n\turl = https://h/a\n\
            \tfetch = +refs/heads/*:refs/remotes/origin/*\n# note\n[branch \"main\"]\n\
            \tremote = origin\n\tmerge = refs/heads/main\n";
        assert!(start_nothing(plain) && start_nothing(""));
        for more in [
            "[core]\n\tfsmonitor = ./x\n",
            "[core]\n\tFSMonitor\n",
            "[core] fsmonitor = ./x\n",
            "[core]\n\thooksPath = x\n",
            "[core]\n\tbare = false\\\nfsmonitor = x\n",
            "[core]\n\tsshCommand = x\n",
            "[filter \"x\"]\n\tclean = x\n",
            "[include]\n\tpath = x\n",
            "[includeIf \"gitdir:/\"]\n\tpath = x\n",
            "[diff \"x\"]\n\ttextconv = x\n",
            "[remote \"origin\"]\n\tuploadpack = x\n",
            "[submodule \"x\"]\n\tupdate = !x\n",
            "[branch \"a] \"]\n\tremote = x\n",
            "fsmonitor = x\n",
            "[core]\n\tworktree = \"../x\"\n",
            "[core]\n\tworktree = ../x;y\n",
            "[core]\n\tworktree\n",
        ] {
            assert!(!start_nothing(&format!("{plain}{more}")), "{more}");
        }
    }
}
