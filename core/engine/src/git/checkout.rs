//! Facts about a checkout from a few small files, without git: hooks run before every tool call,
//! and starting git would take longer than everything else.

use crate::git::ancestors::Ancestors;
use crate::git::index;
use crate::git::owners;
use onloop_effect::{Failure, FailureKind, FileKind, Io, OptionalExt, Stat};
use onloop_syntax::limits;

/// A checkout of a git repository.
#[derive(Clone, Debug)]
pub struct Checkout {
    /// Its top folder.
    pub root: String,
    /// Its own folder of git.
    pub(crate) git_folder: String,
    /// Whether `.git` belongs to another user.
    foreign: bool,
}

/// The checkout around `folder` that work there may be taken for: not one of others, which git would
/// refuse to work in, and which anybody who may write above can lay around it.
pub async fn own(io: &Io, folder: &str) -> Option<Checkout> {
    let found = find(io, folder).await?;
    (!owners::is_of_others(io, found.foreign, folder).await).then_some(found)
}

/// The checkout around `folder`.
pub async fn find(io: &Io, folder: &str) -> Option<Checkout> {
    for folder in Ancestors::from(io, folder) {
        let git = format!("{folder}/.git");
        if let Ok(Stat { kind, foreign, .. }) = io.stat(&git).await {
            let git_folder = match kind {
                FileKind::Folder => Some(git),
                // A linked worktree, or a submodule.
                FileKind::File => {
                    let text = read_text(io, &git).await?;
                    Some(below(folder, one_path(text.strip_prefix("gitdir: ")?)))
                }
                FileKind::Link | FileKind::Other => None,
            };
            if let Some(git_folder) = git_folder {
                return Some(Checkout { root: folder.to_owned(), git_folder, foreign });
            }
        }
        if is_ceiling(io, folder) {
            return None;
        }
    }
    None
}

/// Whether git looks for repositories up to `folder` and no further.
fn is_ceiling(io: &Io, folder: &str) -> bool {
    let list = io.env("GIT_CEILING_DIRECTORIES").unwrap_or_default();
    let above = folder.rsplit_once('/').map_or("", |(above, _)| above);
    list.split(':').any(|ceiling| !ceiling.is_empty() && ceiling.trim_end_matches('/') == above)
}

/// Takes linked worktrees of the checkout `root` out of its uncommitted paths: nothing is done with
/// them.
pub async fn without_worktrees(
    io: &Io,
    root: &str,
    paths: &mut Vec<String>,
) -> Result<(), Failure> {
    if paths.iter().any(|path| path.ends_with('/')) {
        let known = io.git_worktrees(root).await?;
        paths.retain(|path| {
            let path = format!("{root}/{}", path.trim_end_matches('/'));
            !known.iter().any(|worktree| worktree.path == path)
        });
    }
    Ok(())
}

/// Something that git has begun in a checkout and not ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Operation {
    /// The command of git that did.
    pub command: &'static str,
    /// What stands for it in the git folder.
    file: &'static str,
}

/// A rebase may stop at a cherry-pick, so it comes first.
const OPERATIONS: [Operation; 6] = [
    Operation { command: "am", file: "rebase-apply/applying" },
    Operation { command: "rebase", file: "rebase-apply" },
    Operation { command: "rebase", file: "rebase-merge" },
    Operation { command: "merge", file: "MERGE_HEAD" },
    Operation { command: "cherry-pick", file: "CHERRY_PICK_HEAD" },
    Operation { command: "revert", file: "REVERT_HEAD" },
];

impl Checkout {
    /// Refuses a checkout whose folder git does not take for a repository: it then looks for one in the
    /// folders around, or takes the files of the checkout for a bare one.
    ///
    /// # Errors
    ///
    /// `Invalid`.
    pub(crate) async fn demand_repository(&self, io: &Io) -> Result<(), Failure> {
        let head = format!("{}/HEAD", self.git_folder);
        let is_file = io.stat(&head).await.is_ok_and(|stat| stat.kind == FileKind::File);
        let text = read_text(io, &head).await.filter(|_| is_file).unwrap_or_default();
        let named = text.strip_prefix("ref:").map(str::trim_ascii_start);
        let is_id = text.len() >= 40 && text.bytes().take(40).all(|byte| byte.is_ascii_hexdigit());
        let mut is_whole = is_id || named.is_some_and(|name| name.starts_with("refs/"));
        let common = self.common_folder(io).await;
        for folder in ["objects", "refs"] {
            // A folder that may not be entered counts as missing.
            is_whole &= io.stat(&format!("{common}/{folder}/.")).await.is_ok();
        }
        let git = &self.git_folder;
        let message = || format!("git does not take `{git}` for a repository: it is damaged");
        is_whole.then_some(()).ok_or_else(|| Failure::new(FailureKind::Invalid, message()))
    }

    /// The top folders of the main and the linked worktrees of the repository, as its files say.
    pub(crate) async fn worktrees(&self, io: &Io) -> Vec<String> {
        let own = format!("{}/.git", self.root);
        let common = match self.git_folder == own {
            true => own,
            false => {
                let common = self.common_folder(io).await;
                io.canonical_once(&common).await.unwrap_or(common)
            }
        };
        let linked = format!("{common}/worktrees");
        let mut found: Vec<String> =
            common.strip_suffix("/.git").map(str::to_owned).into_iter().collect();
        for name in io.list(&linked).await.unwrap_or_default() {
            let file = format!("{linked}/{name}/gitdir");
            let said = read_text(io, &file).await.unwrap_or_default();
            found.extend(one_path(&said).strip_suffix("/.git").map(str::to_owned));
        }
        found
    }

    /// What git has begun here and not ended.
    pub async fn operation(&self, io: &Io) -> Option<Operation> {
        for operation in OPERATIONS {
            if io.stat(&format!("{}/{}", self.git_folder, operation.file)).await.is_ok() {
                return Some(operation);
            }
        }
        None
    }

    /// The branch that is checked out; `None` if there is none, or it cannot be read.
    pub async fn branch(&self, io: &Io) -> Option<String> {
        let head = read_text(io, &format!("{}/HEAD", self.git_folder)).await?;
        let name = head.trim().strip_prefix("ref: refs/heads/");
        // A repository that keeps its refs in a table says that here.
        name.filter(|name| *name != ".invalid").map(str::to_owned)
    }

    /// Whether git tracks a file, by its path below the top folder. Where that cannot be found
    /// out, it does.
    pub async fn tracks(&self, io: &Io, path: &str) -> bool {
        let index = format!("{}/index", self.git_folder);
        match io.read_tail(&index, limits::GIT_INDEX_BYTES).await.optional() {
            Ok(Some((bytes, _))) => index::is_tracked(&bytes, path).unwrap_or(true),
            // Nothing was ever added.
            Ok(None) => false,
            Err(_) => true,
        }
    }

    /// Where the repository is in a browser, by the remote that pull requests are made for.
    pub(crate) async fn web_address(&self, io: &Io) -> Option<WebAddress> {
        web_address(&self.configuration(io).await?)
    }

    /// The host of `remote`, else of the first remote that pull requests are made for, in lower case.
    pub async fn host(&self, io: &Io, remote: Option<&str>) -> Option<String> {
        host(&self.configuration(io).await?, remote)
    }

    /// `owner/name` of every remote on GitHub, in lower case. `None` if the configuration of the
    /// repository cannot be read.
    pub async fn github_names(&self, io: &Io) -> Option<Vec<String>> {
        Some(github_names(&self.configuration(io).await?))
    }

    /// The addresses of its remotes; none if the configuration of the repository cannot be read.
    pub(crate) async fn remotes(&self, io: &Io) -> Vec<String> {
        addresses(&self.configuration(io).await.unwrap_or_default())
    }

    /// The folder of git that all its worktrees share.
    pub async fn common_folder(&self, io: &Io) -> String {
        let named = format!("{}/commondir", self.git_folder);
        match io.read(&named, limits::GIT_FILE_BYTES).await.map(|(path, _)| String::from_utf8(path))
        {
            Ok(Ok(path)) => below(&self.git_folder, one_path(&path)),
            Err(failure) if failure.is_not_found() => self.git_folder.clone(),
            // It leads to a folder that is not known. Nothing is below the file itself.
            Ok(Err(_)) | Err(_) => named,
        }
    }

    /// Whether git reads no other settings here than in `other`: this is a linked worktree of it.
    pub(crate) async fn has_settings_of(&self, io: &Io, other: &Checkout) -> bool {
        let own = io.canonical(&self.common_folder(io).await).await;
        let others = io.canonical(&other.common_folder(io).await).await;
        let has_more = io.stat(&format!("{}/config.worktree", self.git_folder)).await.is_ok();
        !has_more && own.is_ok_and(|own| others.is_ok_and(|others| own == others))
    }

    async fn configuration(&self, io: &Io) -> Option<String> {
        read_text(io, &format!("{}/config", self.common_folder(io).await)).await
    }
}

/// Where a repository is in a browser.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct WebAddress {
    base: String,
    is_gitlab: bool,
}

impl WebAddress {
    /// The repository's own page.
    pub(crate) fn home(&self) -> &str {
        &self.base
    }

    /// The page of an issue.
    pub(crate) fn issue(&self, number: u64) -> String {
        let between = if self.is_gitlab { "/-" } else { "" };
        format!("{}{between}/issues/{number}", self.base)
    }

    /// The page of a pull request.
    pub(crate) fn pull_request(&self, number: u64) -> String {
        let below = if self.is_gitlab { "-/merge_requests" } else { "pull" };
        format!("{}/{below}/{number}", self.base)
    }
}

/// Remotes that pull requests are made for, in the order in which `gh` looks for them.
const REMOTES: [&str; 3] = ["upstream", "github", "origin"];

fn host(config: &str, wanted: Option<&str>) -> Option<String> {
    let found = remotes(config, |url| host_and_path(url).map(|(host, _)| host));
    let rank = |name: &str| match Some(name) == wanted {
        true => 0,
        false => REMOTES.iter().position(|known| *known == name).unwrap_or(REMOTES.len()) + 1,
    };
    found.into_iter().min_by_key(|(name, _)| rank(name)).map(|(_, host)| host)
}

fn web_address(config: &str) -> Option<WebAddress> {
    let found = remotes(config, address_of);
    let rank = |name: &str| REMOTES.iter().position(|known| *known == name);
    let (_, address) =
        found.into_iter().min_by_key(|(name, _)| rank(name).unwrap_or(REMOTES.len()))?;
    Some(address)
}

/// What `read` finds in the address of each remote.
fn remotes<T>(config: &str, read: impl Fn(&str) -> Option<T>) -> Vec<(String, T)> {
    let mut found = Vec::new();
    let mut remote: Option<String> = None;
    for line in config.lines().map(str::trim) {
        if line.starts_with('[') {
            let name = line.strip_prefix("[remote \"").and_then(|rest| rest.strip_suffix("\"]"));
            remote = name.map(str::to_owned);
            continue;
        }
        let Some(name) = &remote else { continue };
        let url = line.split_once('=').filter(|(key, _)| key.trim().eq_ignore_ascii_case("url"));
        if let Some(address) = url.and_then(|(_, url)| read(url.trim())) {
            found.push((name.clone(), address));
        }
    }
    found
}

/// The host, in lower case, and the rest of an address of a repository.
fn host_and_path(url: &str) -> Option<(String, &str)> {
    let (host, path) = match url.split_once("://") {
        Some(("https" | "http" | "ssh" | "git", rest)) => rest.split_once('/')?,
        Some(_) => return None,
        None => url.split_once(':')?,
    };
    let host = host.rsplit('@').next()?;
    Some((host.split(':').next()?.to_ascii_lowercase(), path))
}

/// Where the repository of a remote's address is in a browser, where its kind of server is known.
/// What may be a secret in the address, the user and the password, is not in it.
fn address_of(url: &str) -> Option<WebAddress> {
    let (host, path) = host_and_path(url)?;
    let path = path.trim_matches('/');
    let path = path.strip_suffix(".git").unwrap_or(path);
    let plain = |text: &str, more: &[u8]| {
        !text.is_empty()
            && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || more.contains(&byte))
    };
    let is_gitlab = host.contains("gitlab");
    let is_known = is_gitlab || host.contains("github");
    let fits = plain(&host, b"-.") && plain(path, b"-_./") && path.contains('/') && is_known;
    let host = if host == "ssh.github.com" { "github.com".to_owned() } else { host };
    fits.then(|| WebAddress { base: format!("https://{host}/{path}"), is_gitlab })
}

pub(crate) fn below(folder: &str, path: &str) -> String {
    if path.starts_with('/') { path.to_owned() } else { format!("{folder}/{path}") }
}

/// The path in a file of git that holds nothing else. Git strips no blanks.
pub(crate) fn one_path(text: &str) -> &str {
    text.trim_end_matches(['\r', '\n'])
}

pub(crate) async fn read_text(io: &Io, path: &str) -> Option<String> {
    let (bytes, _) = io.read(path, limits::GIT_FILE_BYTES).await.ok()?;
    String::from_utf8(bytes).ok()
}

/// The values of `url` and `pushurl`.
fn addresses(config: &str) -> Vec<String> {
    let url = |line: &str| {
        let (key, value) = line.trim().split_once('=')?;
        let key = key.trim().to_ascii_lowercase();
        matches!(key.as_str(), "url" | "pushurl").then(|| value.trim().trim_matches('"').to_owned())
    };
    config.lines().filter_map(url).collect()
}

fn github_names(config: &str) -> Vec<String> {
    let url = |line: &str| {
        let (key, value) = line.trim().split_once('=')?;
        (key.trim().eq_ignore_ascii_case("url")).then(|| value.trim().to_lowercase())
    };
    config.lines().filter_map(url).filter_map(|url| github_name(&url)).collect()
}

/// `owner/name` in the address of a repository on GitHub.
fn github_name(url: &str) -> Option<String> {
    let (_, path) = url.split_once("github.com")?;
    let path = path.strip_prefix([':', '/'])?.trim_start_matches('/');
    // `ssh://git@github.com:22/owner/name`.
    let path = path.strip_prefix("22/").or_else(|| path.strip_prefix("443/")).unwrap_or(path);
    let mut parts = path.trim_end_matches('/').split('/');
    let (owner, name) = (parts.next()?, parts.next()?);
    let name = name.strip_suffix(".git").unwrap_or(name);
    let fits = !owner.is_empty() && !name.is_empty() && parts.next().is_none();
    fits.then(|| format!("{owner}/{name}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_page_of_a_pull_request_is_that_of_the_remote_it_was_made_for() {
        let remote = |name: &str, url: &str| format!("[remote \"{name}\"]\n\turl = {url}\n");
        let table = [
            (remote("origin", "git@github.com:Me/Repo.git"), "https://github.com/Me/Repo/pull/7"),
            (
                remote("origin", "https://me:s3cret@github.com/me/repo/"),
                "https://github.com/me/repo/pull/7",
            ),
            (
                remote("origin", "ssh://git@ssh.github.com:443/me/repo.git"),
                "https://github.com/me/repo/pull/7",
            ),
            (
                remote("origin", "git@github.com:me/fork")
                    + &remote("upstream", "https://github.com/o/r"),
                "https://github.com/o/r/pull/7",
            ),
            (
                remote("origin", "https://gitlab.example.org/a/b/c.git"),
                "https://gitlab.example.org/a/b/c/-/merge_requests/7",
            ),
            (remote("x", "git@github.example.com:o/r"), "https://github.example.com/o/r/pull/7"),
        ];
        for (config, expected) in table {
            let address = web_address(&config).map(|address| address.pull_request(7));
            assert_eq!(address.as_deref(), Some(expected), "{config}");
        }
        for url in
            ["/srv/repo.git", "https://example.org/o/r", "git@github.com:only", "file:///x/github"]
        {
            assert_eq!(web_address(&remote("origin", url)), None, "{url}");
        }
        assert_eq!(web_address("[core]\n\turl = https://github.com/o/r\n"), None);
        let github = web_address(&remote("origin", "https://github.com/o/r")).unwrap();
        assert_eq!(github.issue(7), "https://github.com/o/r/issues/7");
    }

    #[test]
    fn remotes_on_github_are_recognised_however_they_are_written() {
        let config = "[remote \"origin\"]\n\turl = git@github.com:Me/Repo.git\n\
            [remote \"up\"]\n\tURL=https://github.com/you/repo/\n\
            [remote \"x\"]\n\turl = ssh://git@github.com:22/a/b\n\
            [remote \"y\"]\n\turl = https://example.org/github.com\n\
            [remote \"z\"]\n\turl = https://github.com/only-owner\n\
            [core]\n\tbare = false\n";
        assert_eq!(github_names(config), ["me/repo", "you/repo", "a/b"]);
    }
}
