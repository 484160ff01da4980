//! One policy for every path: redirections, file tools and the arguments of programs.
//!
//! Paths are compared as text, after `.` and `..` are taken out, and without regard to case,
//! because the file systems of two of three platforms ignore it. What symbolic links point
//! to is a fact that the host adds; see [`Places::links`].

mod below;
mod braces;
mod found;
mod git_folder;
mod links;
mod patterns;
mod places;
mod secret;
mod temporary;
mod words;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex};

pub use below::below;
pub(super) use below::{goes_up, tidy};
pub(super) use words::{mentions_secret, parts, paths_in};

use below::{begins_with, below_any_case, below_pattern, goes_up_from_link, has_entry, normal};
use found::{asks, containable, denies, odd, secret_finding};
use links::worse;
use places::{AUTOMATION, CONTROL, MADE_BY_TOOLS, PACKAGES, TEMPORARY};
pub(super) use places::{REBUILT, is_built};
pub use places::{is_output, is_remade_by_tools};

use super::expand::{Arg, HOLE, Shape};
use super::verdict::{Decision, Finding, PathRule};

/// How a path is used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Access {
    /// Names, sizes or counts are seen, not content.
    List,
    /// Content is seen.
    Read,
    /// Content or existence changes.
    Write,
    /// Code or configuration in it is executed.
    Run,
}

/// Whether writing to temporary folders asks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum TemporaryPolicy {
    /// It asks, because other programs of the machine use these folders.
    #[default]
    Ask,
    /// It is allowed, as in the repository.
    Allow,
}

/// The folders that a judgement about a path depends on.
#[derive(Clone, Debug, Default)]
pub struct Places {
    /// Absolute folder that relative paths start from.
    pub cwd: String,
    /// Absolute root of the repository; `None` outside a project, where no file is the
    /// project's own.
    pub root: Option<String>,
    /// The user's home folder, when it is known; `~` otherwise.
    pub user_home: Option<String>,
    /// Folders below which `.tmp/hooked-sessions` holds session state.
    pub state_homes: Vec<String>,
    /// Where onloop keeps its ledgers, when it is known.
    pub ledger_home: Option<String>,
    /// The session whose own state file may be completed.
    pub session: Option<String>,
    /// Whether writing to temporary folders asks.
    pub temporary: TemporaryPolicy,
    /// The folder for temporary files that belongs to the run alone, when there is one; it goes when
    /// the run ends.
    pub own_temporary: Option<String>,
    /// Absolute paths of files that the call may throw away and that git has exactly as they are. A path
    /// that ends in a slash is a folder of which git ignores everything that it does not have so; `**`
    /// in it stands for folders.
    pub unchanged: BTreeSet<String>,
    /// The same for what the host keeps before the call runs in a sandbox.
    pub kept: BTreeSet<String>,
    /// Whether the host asks git what it ignores. Otherwise the name of a folder that builds make anew
    /// is enough to delete it.
    pub asks_git: bool,
    /// Files that the call would stage without naming them, and whose names say that they are secrets.
    pub would_stage: BTreeSet<String>,
    /// Absolute folders below the root in which git uses the repository of the root.
    pub plain_folders: BTreeSet<String>,
    /// Absolute files and folders of the checkout that git runs as hooks.
    pub git_hooks: BTreeSet<String>,
    /// Whether an agent may have made the repository at the root: git runs what its settings name.
    pub is_nested: bool,
    /// A repository inside the root that git enters by itself, and whose settings may run programs.
    pub untrusted_repository: Option<String>,
    /// Whether a confined command still runs in the repository: git would use what it leaves until then.
    pub has_confined_command: bool,
    /// Folders of `PATH` in which commands of agents may write.
    pub program_folders: Vec<String>,
    /// Folders of files that the client itself names and keeps in the home folder: plans, memory, results
    /// of tools. `*` stands for one name.
    pub client_files: Vec<String>,
    /// The symbolic links among the paths that the call names.
    pub links: BTreeMap<String, Link>,
    /// Whether the call names more paths than the host follows links for.
    pub has_unfollowed: bool,
    /// Where a judgement notes the paths that it classifies.
    pub(super) classified: Option<Arc<Mutex<BTreeSet<String>>>>,
}

/// Where a symbolic link leads.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Link {
    /// To this path, which is relative to [`Places::cwd`] when it is not absolute.
    To(String),
    /// To nothing that exists; writing to it creates a file wherever it points.
    Dangling,
}

/// What is at a path, by its name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum PathClass {
    /// An ordinary file of the repository.
    Repository,
    /// Git's own folder: hooks and configuration in it are executed.
    Git,
    /// A hook of git among the files of the repository.
    GitHook,
    /// Decides what agents, hooks and this engine may do.
    Control,
    /// Executed by tools or servers without anybody starting it.
    Automation,
    /// State of sessions and runs.
    State,
    /// This session's own state file.
    OwnState,
    /// Keys, passwords, tokens.
    Secret,
    /// `/dev/null`, the standard streams, descriptors.
    Stream,
    /// A device that never ends to give bytes.
    Endless,
    /// Any other device, or a network pseudo-device.
    Device,
    /// A file that the client itself names.
    ClientFile,
    /// A symbolic link to nothing that exists.
    DanglingLink,
    /// A temporary folder.
    Temporary,
    /// What is in the run's own temporary folder.
    OwnTemporary,
    /// The user's home folder, outside the repository.
    Home,
    /// Packages and toolchains below the home folder.
    Packages,
    /// Everything else.
    Outside,
}

impl Places {
    /// Places for a call from `cwd`, the root of its repository, with nothing else known.
    pub fn new(cwd: &str) -> Places {
        let cwd = normal(cwd, "/");
        Places { root: Some(cwd.clone()), state_homes: vec![cwd.clone()], cwd, ..Places::default() }
    }

    /// What `~` stands for.
    pub fn home(&self) -> &str {
        self.user_home.as_deref().unwrap_or("~")
    }

    /// The absolute path that `path` names: `.` and `..` taken out, `~` kept where the home
    /// folder is not known.
    pub fn absolute(&self, path: &str) -> String {
        normal(path, &self.cwd)
    }

    /// Judges the removal of what `arg` names: of a link itself, where its folder is what its name says.
    pub(super) fn judge_removed(&self, arg: &Arg) -> Option<Finding> {
        let path = arg.text.as_str();
        let folder = path.rsplit_once('/').map_or(".", |(folder, _)| folder);
        let is_plain = arg.shape == Shape::Exact
            && !path.ends_with('/')
            && self.class(folder) == PathClass::Repository;
        if !is_plain || self.links.is_empty() {
            return self.judge(arg, Access::Write);
        }
        let mut places = self.clone();
        places.links.remove(&self.absolute(path));
        places.judge(arg, Access::Write)
    }

    /// What is at `path`, by its name and, for a link, by the name of its target.
    pub(super) fn class(&self, path: &str) -> PathClass {
        let class = self.class_of(&self.absolute(path));
        self.spellings(path).fold(class, |class, spelling| match self.links.get(&spelling) {
            None => class,
            Some(Link::To(target)) => worse(class, self.class_of(&normal(target, &self.cwd))),
            Some(Link::Dangling) => worse(class, PathClass::DanglingLink),
        })
    }

    fn class_of(&self, absolute: &str) -> PathClass {
        let lower = absolute.to_lowercase();
        if let Some(class) = device(&lower) {
            return class;
        }
        if let Some(class) = self.state(absolute, &lower) {
            return class;
        }
        if secret::is_secret(&lower) {
            return PathClass::Secret;
        }
        if has_entry(&lower, &[".git"]) {
            return PathClass::Git;
        }
        if self.client_files.iter().any(|folder| below_pattern(&lower, folder)) {
            return PathClass::ClientFile;
        }
        if self.git_hooks.iter().any(|hooks| below_any_case(&lower, hooks).is_some()) {
            return PathClass::GitHook;
        }
        let root = self.root.as_deref();
        if let Some(inside) = root.and_then(|root| below_any_case(&lower, root)) {
            let class = inside_repository(inside);
            if class != PathClass::Repository || self.is_below_root(absolute) {
                return class;
            }
        }
        if self.in_own_temporary(&lower).is_some() {
            return PathClass::OwnTemporary;
        }
        if TEMPORARY.iter().any(|folder| below(&lower, folder).is_some()) {
            return PathClass::Temporary;
        }
        match self.below_home(&lower) {
            Some(rest) if PACKAGES.iter().any(|p| below(rest, p).is_some()) => PathClass::Packages,
            Some(rest) => match inside_repository(rest) {
                PathClass::Control => PathClass::Control,
                _ => PathClass::Home,
            },
            None => PathClass::Outside,
        }
    }

    /// The part of a path below any user's home folder.
    fn below_home<'p>(&self, lower: &'p str) -> Option<&'p str> {
        if let Some(home) = &self.user_home
            && let Some(rest) = below_any_case(lower, home)
        {
            return Some(rest);
        }
        if let Some(rest) = lower.strip_prefix('~') {
            return Some(rest.split_once('/').map_or("", |(_, rest)| rest));
        }
        if let Some(rest) = below(lower, "/root") {
            return Some(rest);
        }
        // `/mnt/c/Users` is where Linux on Windows has them.
        let drive = below(lower, "/mnt").and_then(|rest| Some(rest.split_once('/')?.1));
        let windows = drive.or_else(|| below(lower, "/c")).and_then(|rest| below(rest, "users"));
        let rest = below(lower, "/home").or_else(|| below(lower, "/users")).or(windows)?;
        Some(rest.split_once('/').map_or("", |(_, rest)| rest))
    }

    fn state(&self, absolute: &str, lower: &str) -> Option<PathClass> {
        if !lower.contains("/.tmp/hooked-sessions") {
            let in_ledgers = self
                .ledger_home
                .as_deref()
                .is_some_and(|home| below_any_case(lower, home).is_some())
                || format!("{lower}/").contains("/.local/state/onloop/");
            return (in_ledgers || has_entry(lower, &[".hotl"])).then_some(PathClass::State);
        }
        if let Some(session) = &self.session {
            for home in &self.state_homes {
                let home = home.trim_end_matches('/');
                let file = format!("{home}/.tmp/hooked-sessions/{session}.json");
                if absolute.strip_prefix(&file).is_some_and(|rest| matches!(rest, "" | ".tmp")) {
                    return Some(PathClass::OwnState);
                }
            }
        }
        Some(PathClass::State)
    }

    /// Whether the client itself names the file at `path`.
    pub(super) fn is_client_file(&self, path: &str) -> bool {
        self.class(path) == PathClass::ClientFile
    }

    /// Whether a path is below the root of the repository.
    pub(super) fn is_inside(&self, path: &str) -> bool {
        self.is_below_root(&self.absolute(path))
    }

    /// Whether an absolute path is below the checkout in the letters of its own: where names in other
    /// letters are others, they may be beside it. Clients write the letter of a drive in either case.
    fn is_below_root(&self, absolute: &str) -> bool {
        let root = self.root.as_deref().and_then(|root| root.get(1..));
        absolute.get(1..).zip(root).is_some_and(|(path, root)| below(path, root).is_some())
    }

    /// Whether a folder at `path` may hold files that configure agents or run by themselves.
    pub(super) fn is_above_automation(&self, path: &str) -> bool {
        self.is_above_guarded(path) || self.is_above(path, MADE_BY_TOOLS)
    }

    /// The same without those that tools make in their own work.
    pub(super) fn is_above_guarded(&self, path: &str) -> bool {
        self.is_above(path, CONTROL) || self.is_above(path, AUTOMATION)
    }

    fn is_above(&self, path: &str, entries: &[&str]) -> bool {
        let lower = self.absolute(path).to_lowercase();
        let is_folder =
            |folder: &str| lower.strip_suffix(folder).is_some_and(|above| above.ends_with('/'));
        if self
            .git_hooks
            .iter()
            .any(|hooks| below_any_case(&hooks.to_lowercase(), &lower).is_some())
        {
            return true;
        }
        entries.iter().any(|entry| entry.match_indices('/').any(|(at, _)| is_folder(&entry[..at])))
    }

    /// Whether the repository lies in the folder at `path`.
    pub(super) fn is_around(&self, path: &str) -> bool {
        let folder = self.absolute(path);
        self.root.as_deref().is_some_and(|root| below(root, &folder).is_some())
    }

    /// Judges `access` to the path in `arg`; `None` when it is allowed.
    pub(super) fn judge(&self, arg: &Arg, access: Access) -> Option<Finding> {
        let path = arg.text.as_str();
        match arg.shape {
            Shape::Exact => self.judge_text(path, access),
            Shape::Pattern => self.judge_pattern(path, access),
            Shape::Holes | Shape::Splits => {
                let path = arg.guessed().replace(HOLE, "");
                match self.judge_text(&path, access) {
                    Some(finding) if finding.decision == Decision::Deny => Some(finding),
                    _ if access == Access::Read && git_folder::reaches_settings(&path) => {
                        asks(PathRule::Git, format!("`{path}` may hold credentials"))
                    }
                    _ if access == Access::List => None,
                    _ => containable(PathRule::Unknown, "it names a path that is not known"),
                }
            }
        }
    }

    /// [`Places::judge`] for a path that is certain.
    pub(super) fn judge_text(&self, path: &str, access: Access) -> Option<Finding> {
        self.judge_as_written(path, access).or_else(|| {
            let what = "goes up from what may be a link, so that it may be elsewhere";
            let reason = goes_up_from_link(path, &self.cwd).then(|| format!("`{path}` {what}"))?;
            asks(PathRule::Odd, reason)
        })
    }

    fn judge_as_written(&self, path: &str, access: Access) -> Option<Finding> {
        if let Some(finding) = odd(path, access) {
            return Some(finding);
        }
        let class = self.class(path);
        use Access::{List, Read, Run, Write};
        use PathClass::{
            Automation, ClientFile, Control, DanglingLink, Device, Endless, Git, GitHook, Home,
            Outside, OwnState, OwnTemporary, Packages, Repository, Secret, State, Stream,
            Temporary,
        };
        let asks = |rule, what: &str| asks(rule, format!("`{path}` {what}"));
        let denies = |rule, what: &str| denies(rule, format!("`{path}` {what}"));
        match (class, access) {
            (Endless, Read) => {
                containable(PathRule::Device, format!("`{path}` gives bytes without end"))
            }
            (Stream | Endless | Repository, _)
            | (OwnTemporary | ClientFile, List | Read | Write) => None,
            (Temporary | OwnTemporary, Run) => containable(
                PathRule::Outside,
                format!("`{path}` is in a temporary folder, and code is taken from it"),
            ),
            (ClientFile | Home | Outside, Run) => {
                asks(PathRule::Outside, "is outside the repository, and code is taken from it")
            }
            (Packages | Control | Automation | GitHook, Run) => None,
            (Outside, List | Read) if self.is_around(path) => containable(
                PathRule::Outside,
                format!("`{path}` holds the checkout and what is beside it"),
            ),
            (Packages | Outside | Temporary, List | Read) => None,
            (Secret, List) => asks(PathRule::Secret, "is where secrets are kept"),
            (Secret, _) => secret_finding(path, access),
            (Git, List) => None,
            (Git, Read) if self.holds_no_settings(path) => None,
            (Git, Read) => asks(PathRule::Git, "may hold credentials"),
            (Git, Write | Run) => {
                denies(PathRule::Git, "belongs to git, which runs hooks and configuration")
            }
            // Those in home folders hold what agents sign in with.
            (Control, Read) if !self.is_inside(path) => {
                asks(PathRule::Home, "configures an agent, outside the repository")
            }
            (Control | Automation | GitHook | State | OwnState, List | Read) => None,
            (GitHook, Write) => denies(PathRule::Git, "is run by git as a hook"),
            (Control, Write) => denies(PathRule::Control, "decides what agents and hooks may do"),
            (Automation, Write) => {
                asks(PathRule::Automation, "is run by tools or servers on its own")
            }
            (State | OwnState, Write | Run) => {
                denies(PathRule::State, "is state that an agent must not write")
            }
            (Device, _) => denies(PathRule::Device, "is a device"),
            (DanglingLink, _) => denies(PathRule::Device, "is a link that leads nowhere"),
            (Temporary, Write) => match self.temporary {
                TemporaryPolicy::Allow => None,
                TemporaryPolicy::Ask => containable(
                    PathRule::Temporary,
                    format!("`{path}` is in a temporary folder, outside the repository"),
                ),
            },
            (Home, List | Read) => {
                asks(PathRule::Home, "is in a home folder, outside the repository")
            }
            (Home | Packages | Outside, Write) => {
                denies(PathRule::Outside, "is outside the repository")
            }
        }
    }
}

fn device(lower: &str) -> Option<PathClass> {
    let rest = lower.strip_prefix("/dev/")?;
    if rest.starts_with("shm/") {
        return None;
    }
    if matches!(rest, "zero" | "full" | "random" | "urandom") {
        return Some(PathClass::Endless);
    }
    let stream = matches!(rest, "null" | "stdin" | "stdout" | "stderr" | "tty");
    let descriptor =
        rest.strip_prefix("fd/").is_some_and(|n| n.bytes().all(|b| b.is_ascii_digit()));
    Some(if stream || descriptor { PathClass::Stream } else { PathClass::Device })
}

/// The class of a path relative to the root of a repository.
fn inside_repository(inside: &str) -> PathClass {
    // At the root or in any folder: monorepos and worktrees have several.
    if has_entry(inside, CONTROL) {
        return PathClass::Control;
    }
    let runs = has_entry(inside, AUTOMATION) || has_entry(inside, MADE_BY_TOOLS);
    if runs || places::runs_by_ending(inside) {
        return PathClass::Automation;
    }
    PathClass::Repository
}

/// Patterns of files that run by themselves in a checkout, and that no tool writes in its own work.
pub fn automation() -> impl Iterator<Item = &'static str> {
    AUTOMATION.iter().copied().chain(places::ENDINGS)
}

/// Whether a path below the top of a checkout is in [`automation`].
pub fn runs_by_itself(inside: &str) -> bool {
    let inside = inside.to_lowercase();
    automation().any(|entry| begins_with(&inside, entry)) || places::runs_by_ending(&inside)
}

/// Whether a path below the top of a checkout configures agents, or steers a run.
pub fn configures_agents(inside: &str) -> bool {
    let inside = inside.to_lowercase();
    CONTROL.iter().any(|entry| begins_with(&inside, entry))
}

/// Whether paths of these two kinds may lie in a folder below the top of a checkout.
pub fn may_hold_guarded(folder: &str) -> bool {
    let folder = folder.to_lowercase();
    let is_in = |entry: &str| entry.strip_prefix(&folder).is_some_and(|rest| rest.starts_with('/'));
    automation().chain(CONTROL.iter().copied()).any(is_in)
}

/// The part behind the last slash.
pub(super) fn file_name(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or(path)
}

/// Whether `path` is directly in a folder whose programs are the ones that their names say.
pub(super) fn in_system_folder(path: &str) -> bool {
    const FOLDERS: [&str; 7] = [
        "/bin",
        "/usr/bin",
        "/usr/local/bin",
        "/sbin",
        "/usr/sbin",
        "/opt/homebrew/bin",
        "/run/current-system/sw/bin",
    ];
    path.rsplit_once('/').is_some_and(|(folder, _)| FOLDERS.contains(&folder.trim_end_matches('/')))
}

/// Whether the file name pattern `pattern` matches `name`.
pub fn pattern_matches(pattern: &str, name: &str) -> bool {
    secret::matches(pattern, name, secret::Dots::Written)
}

/// Whether the file name pattern `pattern` matches `name`, where a star matches a leading dot.
pub fn pattern_matches_any(pattern: &str, name: &str) -> bool {
    secret::matches(pattern, name, secret::Dots::Matched)
}

/// Whether a file name that `find` looks for can be a secret's.
pub fn sought_secret(name: &str) -> bool {
    secret::sought_name_hits_secret(&name.to_lowercase())
}

#[cfg(test)]
mod tests;
