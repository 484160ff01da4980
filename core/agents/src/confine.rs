//! Which files and which network a command of a checkout may touch: decided here from what is known
//! of the machine, the same on every host. Enforcing it is the host's.

mod caches;
mod clients;
mod gitconfig;
mod hint;
mod home;
mod network;
mod private;
mod refused;

use onloop_effect::{Confinement, Mechanism, Network, NetworkName, PrivateGit, is_within};

pub use caches::{CacheRefused, Caches, ToolFolder, tool_folders};
pub use clients::ClientPlace;
pub use gitconfig::without_credentials;
pub use hint::hidden_paths;
pub use network::{
    agent_network, expanded, line_network, provider_names, proxy_variables, registry_names,
};
pub use private::{VARIABLES, is_environment_file, private_paths};
pub use refused::refused_line;

/// Folders that everybody writes to, or that hold the sockets of services. Nothing in them is seen,
/// except what is needed.
const SHARED: [&str; 3] = ["/run", "/tmp", "/var/tmp"];

/// What of a repository must stay as it is, in its own folder of git.
const OF_REPOSITORY: [&str; 7] = [
    "config",
    "config.worktree",
    "hooks",
    "info",
    "commondir",
    "objects/info/alternates",
    "refs/replace",
];

/// What of a linked worktree must stay as it is, in its own folder of git.
const OF_WORKTREE: [&str; 3] = ["commondir", "gitdir", "config.worktree"];

/// What of a checkout decides what agents and their hosts may do, or is run by them: it must stay as it
/// is, or a confined command has the next one run without being confined.
pub const OF_AGENTS: [&str; 37] = [
    ".agentize.yaml",
    ".agentize.local.yaml",
    ".claude/settings.json",
    ".claude/settings.local.json",
    ".claude/hooks",
    ".cline",
    ".clinerules/hooks",
    ".codex",
    ".cursor/cli.json",
    ".cursor/hooks",
    ".cursor/hooks.json",
    ".cursor/mcp.json",
    ".envrc",
    ".gemini/.env",
    ".gemini/commands",
    ".gemini/extensions",
    ".gemini/settings.json",
    ".github/copilot",
    ".github/hooks",
    ".kilocode",
    ".mcp.json",
    ".opencode/agent",
    ".opencode/agents",
    ".opencode/command",
    ".opencode/commands",
    ".opencode/config.json",
    ".opencode/opencode.json",
    ".opencode/opencode.jsonc",
    ".opencode/plugin",
    ".opencode/plugins",
    ".opencode/tool",
    ".opencode/tools",
    ".qwen/settings.json",
    ".roo/mcp.json",
    ".vscode/mcp.json",
    "opencode.json",
    "opencode.jsonc",
];

/// What of a repository everybody who commits in one of its worktrees writes.
const TO_COMMIT: [&str; 3] = ["objects", "refs", "logs"];

/// Names more paths that the sandbox hides, absolute and with `:` between them.
pub const HIDDEN_VARIABLE: &str = "ONLOOP_CONFINE_HIDDEN";

/// What is known of the machine. Paths are absolute and without links.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SandboxContext {
    /// The checkout, or the folder where there is none.
    pub folder: String,
    /// The folder whose configuration decides, where that is another one.
    pub settings: Option<String>,
    /// How git knows it.
    pub git: Option<GitPlace>,
    /// Which folder of git commands see.
    pub git_folder: GitFolder,
    /// Home folders, that of the user first.
    pub homes: Vec<String>,
    /// Where onloop keeps its records.
    pub state_home: Option<String>,
    /// Further private paths: those that the caller names, and private ones in visible folders.
    pub private: Vec<String>,
    /// The folder for temporary files, which is there.
    pub temporary: String,
    /// The one around it with those of other programs.
    pub other_temporary: Option<String>,
    /// Folders that programs are looked for in, and what links in them lead to.
    pub programs: Vec<String>,
    /// What of the homes is seen.
    pub visible: Vec<String>,
    /// Files in shared folders that programs cannot do without.
    pub needed: Vec<String>,
    /// Environment files of other checkouts.
    pub environment_files: Vec<String>,
    /// Build caches.
    pub caches: Vec<String>,
}

/// Which folder of git commands see.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum GitFolder {
    /// That of the repository.
    #[default]
    Shared,
    /// One of their own at this path, which stays.
    Kept(String),
    /// One of their own that ends with the process.
    Temporary,
}

/// Where git keeps what it knows of a checkout.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum GitPlace {
    /// In the checkout.
    Main {
        /// Its `.git`.
        git: String,
        /// The folders of git of its linked worktrees. Others work there meanwhile.
        worktrees: Vec<String>,
        /// Those of its submodules.
        modules: Vec<String>,
    },
    /// Something that is not understood, in the checkout or named by it.
    Unknown {
        /// A folder of git that may be seen.
        git: Option<String>,
    },
    /// The checkout is a linked worktree.
    Linked {
        /// Its own folder of git.
        git: String,
        /// That of the repository.
        common: String,
    },
}

/// What one program needs besides what every command of a checkout may touch. It is known to exist
/// for this program and lifts what hides it from others.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Needs {
    /// What it may change.
    pub may_write: Vec<String>,
    /// What it may read and not change.
    pub may_read: Vec<String>,
    /// Folders that it may write, and that are thrown away.
    pub scratch: Vec<String>,
    /// What is hidden in these.
    pub hidden: Vec<String>,
    /// The servers of its model; empty: those of every known client.
    pub provider: Vec<NetworkName>,
}

impl Needs {
    /// Adds them to what every command may touch. What is hidden *in* a folder that is needed stays
    /// hidden, unless it is named, too.
    pub fn add_to(&self, confinement: &mut Confinement) {
        let lists = [&self.may_write, &self.may_read, &self.scratch];
        confinement.hidden.retain(|path| !lists.iter().any(|list| list.contains(path)));
        confinement.scratch.extend(self.scratch.iter().cloned());
        confinement.hidden.extend(self.hidden.iter().cloned());
        confinement.may_write.extend(self.may_write.iter().cloned());
        confinement.may_read.extend(self.may_read.iter().cloned());
    }
}

/// Why commands cannot be confined to a folder.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Unsuitable {
    /// It holds what is private.
    #[error("`{folder}` contains `{private}`, which the sandbox hides; use a folder below")]
    Holds {
        /// The folder.
        folder: String,
        /// What it holds.
        private: String,
    },
    /// It is private itself.
    #[error("`{folder}` lies in `{private}`, which the sandbox hides")]
    Lies {
        /// The folder.
        folder: String,
        /// What it lies in.
        private: String,
    },
}

/// What a command in `context` may touch.
///
/// # Errors
///
/// [`Unsuitable`] for a folder that is private, or that holds what is.
pub fn decide(
    context: &SandboxContext,
    network: Network,
    only: Option<Mechanism>,
) -> Result<Confinement, Unsuitable> {
    let mut confinement = Confinement { network, only, ..Confinement::default() };
    let mut private = private_paths(&context.homes, context.state_home.as_deref());
    private.extend(context.private.iter().cloned());
    demand_suitable(context, &private)?;
    let is_private = |path: &str| {
        let mut private = private.iter();
        private.any(|private| is_within(private, path) || is_within(path, private))
    };
    let caches = context.caches.iter().filter(|cache| is_in_shared(cache) || !is_private(cache));
    confinement.may_write = vec![context.folder.clone(), context.temporary.clone()];
    confinement.may_write.extend(caches.filter(|path| !holds_home(context, path)).cloned());
    confinement.may_read.extend(below(&context.folder, &OF_AGENTS));
    let mut settings = context.settings.as_deref().unwrap_or(&context.folder);
    while settings != context.folder && is_within(settings, &context.folder) {
        confinement.may_read.extend(below(settings, &OF_AGENTS));
        settings = settings.rsplit_once('/').map_or("", |(above, _)| above);
    }
    match (&context.git, &context.git_folder) {
        (None, _) => {}
        (Some(git), GitFolder::Shared) => repository(git, &context.folder, &mut confinement),
        (Some(git), GitFolder::Kept(own)) => {
            private_repository(Some(own.clone()), git, &context.folder, &mut confinement);
        }
        (Some(git), GitFolder::Temporary) => {
            private_repository(None, git, &context.folder, &mut confinement);
        }
    }
    let seen = context.programs.iter().chain(&context.needed);
    let seen = seen.filter(|path| is_in_shared(path) || is_in_home(context, path));
    let visible: Vec<&String> =
        context.visible.iter().filter(|path| !holds_home(context, path)).collect();
    confinement.may_read.extend(visible.iter().copied().chain(seen).cloned());
    confinement.hidden = SHARED.map(str::to_owned).to_vec();
    confinement.hidden.extend(context.homes.iter().chain(&context.other_temporary).cloned());
    confinement.hidden.extend(private);
    confinement.hidden.retain(|path| !visible.contains(&path));
    let elsewhere =
        context.environment_files.iter().filter(|path| !is_within(path, &context.folder));
    confinement.hidden.extend(elsewhere.cloned());
    Ok(confinement)
}

fn demand_suitable(context: &SandboxContext, private: &[String]) -> Result<(), Unsuitable> {
    let folder = context.folder.as_str();
    // Worktrees that have no place beside their checkout are in the state home.
    let worktrees = context.state_home.as_ref().map(|home| format!("{home}/worktrees"));
    let is_worktree = worktrees.is_some_and(|worktrees| is_within(folder, &worktrees));
    let lies = private.iter().find(|private| is_within(folder, private));
    if let Some(private) = lies.filter(|_| !is_worktree) {
        return Err(Unsuitable::Lies { folder: folder.to_owned(), private: private.clone() });
    }
    let shared = SHARED.iter().map(|shared| (*shared).to_owned());
    let mut around = private.iter().chain(&context.homes).cloned().chain(shared);
    match around.find(|private| is_within(private, folder.trim_end_matches('/'))) {
        Some(private) => Err(Unsuitable::Holds { folder: folder.to_owned(), private }),
        None => Ok(()),
    }
}

/// Whether a path lies in a home. A home itself does not.
fn is_in_home(context: &SandboxContext, path: &str) -> bool {
    context.homes.iter().any(|home| path != home && is_within(path, home))
}

/// Whether a path is a home, or around one.
fn holds_home(context: &SandboxContext, path: &str) -> bool {
    context.homes.iter().any(|home| is_within(home, path))
}

fn is_in_shared(path: &str) -> bool {
    SHARED.iter().any(|shared| path != *shared && is_within(path, shared))
}

fn below(folder: &str, names: &[&str]) -> Vec<String> {
    names.iter().map(|name| format!("{folder}/{name}")).collect()
}

/// Shows a folder of git that only these commands write in the place of the repository's.
fn private_repository(
    private: Option<String>,
    git: &GitPlace,
    folder: &str,
    confinement: &mut Confinement,
) {
    let (common, own) = match git {
        GitPlace::Unknown { .. } => return repository(git, folder, confinement),
        GitPlace::Main { git, .. } => (git, git),
        GitPlace::Linked { git, common } => {
            // It leads to the folder of git.
            confinement.may_read.push(format!("{folder}/.git"));
            (common, git)
        }
    };
    let (common, own) = (common.clone(), own.clone());
    confinement.git = Some(PrivateGit { folder: private, common, own });
}

fn repository(git: &GitPlace, folder: &str, confinement: &mut Confinement) {
    match git {
        GitPlace::Unknown { git } => {
            confinement.may_read.push(format!("{folder}/.git"));
            confinement.may_read.extend(git.clone());
            confinement.without_credentials.extend(git.clone());
        }
        GitPlace::Main { git, worktrees, modules } => {
            confinement.may_write.push(git.clone());
            confinement.without_links.push(git.clone());
            confinement.without_credentials.push(git.clone());
            confinement.may_read.extend(below(git, &OF_REPOSITORY));
            confinement.others_write.extend(worktrees.iter().cloned());
            confinement.may_read.extend(worktrees.iter().flat_map(|own| below(own, &OF_WORKTREE)));
            confinement.may_read.extend(modules.iter().flat_map(|own| below(own, &OF_REPOSITORY)));
        }
        GitPlace::Linked { git, common } => {
            confinement.may_read.push(common.clone());
            confinement.without_credentials.push(common.clone());
            confinement.may_write.push(git.clone());
            confinement.may_write.extend(below(common, &TO_COMMIT));
            confinement.without_links.push(git.clone());
            confinement.without_links.extend(below(common, &TO_COMMIT));
            confinement
                .may_read
                .extend(below(common, &["objects/info/alternates", "refs/replace"]));
            confinement.may_read.push(format!("{folder}/.git"));
            confinement.may_read.extend(below(git, &OF_WORKTREE));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use onloop_effect::Reach;

    fn context() -> SandboxContext {
        let list = |paths: &[&str]| paths.iter().map(|path| (*path).to_owned()).collect();
        SandboxContext {
            folder: "/home/u/w".to_owned(),
            settings: Some("/home/u/w/sub".to_owned()),
            git: Some(GitPlace::Linked {
                git: "/home/u/repo/.git/worktrees/w".to_owned(),
                common: "/home/u/repo/.git".to_owned(),
            }),
            homes: list(&["/home/u", "/home/admin"]),
            state_home: Some("/home/u/.local/state/onloop".to_owned()),
            private: list(&["/srv/fleet/fleet.key"]),
            temporary: "/home/u/tmp/onloop/1".to_owned(),
            other_temporary: Some("/home/u/tmp/onloop".to_owned()),
            programs: list(&["/usr/bin", "/tmp/bin", "/tmp", "/home/u", "/home/u/bin"]),
            git_folder: GitFolder::Shared,
            visible: list(&["/home/u/.cargo/bin", "/home/u/.npmrc", "/home"]),
            needed: list(&["/run/systemd/resolve/stub-resolv.conf"]),
            environment_files: list(&["/home/u/repo/.env", "/home/u/w/.env"]),
            caches: list(&["/home/u/.cargo/registry", "/home/u", "/home/u/.ssh"]),
        }
    }

    #[test]
    fn a_linked_worktree_may_be_committed_in_and_no_more() {
        let confinement = decide(&context(), Network::All, None).unwrap();
        for (path, access) in [
            ("/home/u/w/src/a.rs", Reach::Write),
            ("/home/u/w/.git", Reach::Read),
            ("/home/u/w/.env", Reach::Write),
            ("/home/u/repo/.git/worktrees/w/index.lock", Reach::Write),
            ("/home/u/repo/.git/worktrees/w/commondir", Reach::Read),
            ("/home/u/repo/.git/worktrees/w/config.worktree", Reach::Read),
            ("/home/u/repo/.git/worktrees/v/index", Reach::Read),
            ("/home/u/repo/.git/objects/ab/cd", Reach::Write),
            ("/home/u/repo/.git/refs/heads/w.lock", Reach::Write),
            ("/home/u/repo/.git/config", Reach::Read),
            ("/home/u/repo/.git/hooks/pre-commit", Reach::Read),
            ("/home/u/repo/.git/HEAD", Reach::Read),
            ("/home/u/repo/.git/index", Reach::Read),
            ("/home/u/repo/a.txt", Reach::Hidden),
            ("/home/u/w/.agentize.local.yaml", Reach::Read),
            ("/home/u/w/sub/.agentize.local.yaml", Reach::Read),
            ("/home/u/w/sub/a.rs", Reach::Write),
            ("/home/u/w/.claude/settings.json", Reach::Read),
            ("/home/u/w/.claude/skills/a.md", Reach::Write),
            ("/home/u/repo/.env", Reach::Hidden),
            ("/home/u/.cargo/registry/cache/x", Reach::Write),
            ("/home/u/.cargo/bin/cargo", Reach::Read),
            ("/home/u/.cargo/credentials.toml", Reach::Hidden),
            ("/home/u/.ssh/id_ed25519", Reach::Hidden),
            ("/home/admin/.ssh/id_ed25519", Reach::Hidden),
            ("/home/u/.bashrc", Reach::Hidden),
            ("/home/u/.cargo/config.toml", Reach::Hidden),
            ("/home/u/.npmrc", Reach::Read),
            ("/home/u/bin/tool", Reach::Read),
            ("/home/admin/a.txt", Reach::Hidden),
            ("/home/u/repo/.git/objects/info/alternates", Reach::Read),
            ("/home/u/repo/.git/refs/replace/ab", Reach::Read),
            ("/home/u/.local/state/onloop/runs/a", Reach::Hidden),
            ("/srv/fleet/fleet.key", Reach::Hidden),
            ("/srv/fleet/other", Reach::Read),
            ("/tmp/x", Reach::Hidden),
            ("/tmp/bin/tool", Reach::Read),
            ("/home/u/tmp/onloop/1/x", Reach::Write),
            ("/home/u/tmp/onloop/2/x", Reach::Hidden),
            ("/run/docker.sock", Reach::Hidden),
            ("/run/systemd/resolve/stub-resolv.conf", Reach::Read),
            ("/etc/passwd", Reach::Read),
            ("/etc/shadow", Reach::Hidden),
            ("/usr/bin/env", Reach::Read),
        ] {
            assert_eq!(confinement.access(path), access, "{path}");
        }
    }

    #[test]
    fn a_private_folder_of_git_replaces_every_rule_for_the_real_one() {
        let private = "/home/u/.local/state/onloop/runs/a/git".to_owned();
        let common = "/home/u/repo/.git".to_owned();
        let context = SandboxContext { git_folder: GitFolder::Kept(private.clone()), ..context() };
        let confinement = decide(&context, Network::All, None).unwrap();
        let own = "/home/u/repo/.git/worktrees/w".to_owned();
        assert_eq!(confinement.git, Some(PrivateGit { folder: Some(private), common, own }));
        assert_eq!(confinement.access("/home/u/w/.git"), Reach::Read);
        for (path, _) in confinement.rules() {
            assert!(!is_within(path, "/home/u/repo/.git"), "{path}");
        }
        assert_eq!(confinement.without_credentials, [""; 0], "its configuration is clean");
        assert_eq!(confinement.without_links, Vec::<String>::new());
        let context = SandboxContext { git: Some(GitPlace::Unknown { git: None }), ..context };
        let confinement = decide(&context, Network::All, None).unwrap();
        assert_eq!(confinement.git, None, "what is not understood stays read-only");
        assert_eq!(confinement.access("/home/u/w/.git/HEAD"), Reach::Read);
    }

    #[test]
    fn what_runs_programs_in_a_main_checkout_stays_as_it_is() {
        let git = GitPlace::Main {
            git: "/home/u/w/.git".to_owned(),
            worktrees: vec!["/home/u/w/.git/worktrees/a".to_owned()],
            modules: vec!["/home/u/w/.git/modules/m".to_owned()],
        };
        let context = SandboxContext { git: Some(git), ..context() };
        let confinement = decide(&context, Network::All, None).unwrap();
        for (path, access) in [
            ("/home/u/w/.git/index.lock", Reach::Write),
            ("/home/u/w/.git/HEAD", Reach::Write),
            ("/home/u/w/.git/config", Reach::Read),
            ("/home/u/w/.git/hooks/post-commit", Reach::Read),
            ("/home/u/w/.git/commondir", Reach::Read),
            ("/home/u/w/.git/worktrees/a/commondir", Reach::Read),
            ("/home/u/w/.git/worktrees/a/HEAD", Reach::Others),
            ("/home/u/w/.git/worktrees/a/index", Reach::Others),
            ("/home/u/w/.git/modules/m/config", Reach::Read),
            ("/home/u/w/.git/modules/m/HEAD", Reach::Write),
        ] {
            assert_eq!(confinement.access(path), access, "{path}");
        }
        let context = SandboxContext { git: Some(GitPlace::Unknown { git: None }), ..context };
        let unknown = decide(&context, Network::All, None).unwrap();
        assert_eq!(unknown.access("/home/u/w/.git/config"), Reach::Read);
    }

    #[test]
    fn what_a_client_needs_is_no_longer_hidden_from_it() {
        let mut confinement = decide(&context(), Network::All, None).unwrap();
        let codex = ClientPlace::of("codex", Some("/home/u"), |_| None, "/home/u/w");
        codex.needs(&["/home/u/.codex/config.toml".to_owned()]).add_to(&mut confinement);
        for (path, access) in [
            ("/home/u/.codex/sessions/a", Reach::Write),
            ("/home/u/.codex/auth.json", Reach::Write),
            ("/home/u/.codex/config.toml", Reach::Read),
            ("/home/u/.codex/new", Reach::Scratch),
            ("/home/u/.claude/.credentials.json", Reach::Hidden),
            ("/home/u/.claude.json", Reach::Hidden),
        ] {
            assert_eq!(confinement.access(path), access, "{path}");
        }
    }

    #[test]
    fn a_folder_with_secrets_is_unsuitable() {
        for (folder, message) in [
            (
                "/home/u",
                "`/home/u` contains `/home/u/.ssh`, which the sandbox hides; use a folder below",
            ),
            ("/", "`/` contains `/home/u/.ssh`, which the sandbox hides; use a folder below"),
            ("/tmp", "`/tmp` contains `/tmp`, which the sandbox hides; use a folder below"),
            ("/home/u/.ssh/a", "`/home/u/.ssh/a` lies in `/home/u/.ssh`, which the sandbox hides"),
        ] {
            let context = SandboxContext { folder: folder.to_owned(), ..context() };
            let refused = decide(&context, Network::All, None).unwrap_err();
            assert_eq!(refused.to_string(), message);
        }
        let context = SandboxContext { folder: "/tmp/w".to_owned(), ..context() };
        assert!(decide(&context, Network::All, None).is_ok());
    }
}
