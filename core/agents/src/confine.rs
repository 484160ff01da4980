//! Which files and which network a command of a checkout may touch: decided here from what is known
//! of the machine, the same on every host. Enforcing it is the host's.

mod caches;
mod clients;
mod private;

use onloop_effect::{Confinement, Mechanism, Network, is_within};

pub use caches::{CacheRefused, Caches, ToolFolder, tool_folders};
pub use clients::{Used, client_needs, client_used};
pub use private::{VARIABLES, is_environment_file, private_paths};

/// Folders that everybody writes to, or that hold the sockets of services. Nothing in them is seen,
/// except what is needed.
const SHARED: [&str; 3] = ["/run", "/tmp", "/var/tmp"];

/// What of a repository must stay as it is, in its own folder of git.
const OF_REPOSITORY: [&str; 5] = ["config", "config.worktree", "hooks", "info", "commondir"];

/// What of a linked worktree must stay as it is, in its own folder of git.
const OF_WORKTREE: [&str; 3] = ["commondir", "gitdir", "config.worktree"];

/// What of a checkout decides what agents and their hosts may do, or is run by them: it must stay as it
/// is, or a confined command has the next one run without being confined.
const OF_AGENTS: [&str; 20] = [
    ".agentize.yaml",
    ".agentize.local.yaml",
    ".claude/settings.json",
    ".claude/settings.local.json",
    ".claude/hooks",
    ".clinerules/hooks",
    ".codex",
    ".cursor/cli.json",
    ".cursor/hooks",
    ".cursor/hooks.json",
    ".cursor/mcp.json",
    ".gemini/settings.json",
    ".github/hooks",
    ".mcp.json",
    ".opencode/opencode.json",
    ".opencode/plugin",
    ".opencode/plugins",
    ".vscode/mcp.json",
    "opencode.json",
    "opencode.jsonc",
];

/// What of a repository everybody who commits in one of its worktrees writes.
const TO_COMMIT: [&str; 3] = ["objects", "refs", "logs"];

/// Names more paths that nothing confined may read, absolute and with `:` between them.
pub const HIDDEN_VARIABLE: &str = "ONLOOP_CONFINE_HIDDEN";

/// What is known of the machine. Paths are absolute and without links.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Surroundings {
    /// The checkout, or the folder where there is none.
    pub folder: String,
    /// How git knows it.
    pub git: Option<GitPlace>,
    /// Home folders, that of the user first.
    pub homes: Vec<String>,
    /// Where onloop keeps its records.
    pub state_home: Option<String>,
    /// Further private paths that the caller names.
    pub private: Vec<String>,
    /// The folder for temporary files, which is there.
    pub temporary: String,
    /// Folders that programs are looked for in.
    pub programs: Vec<String>,
    /// Files in shared folders that programs cannot do without.
    pub needed: Vec<String>,
    /// Environment files of other checkouts.
    pub environment_files: Vec<String>,
    /// Build caches.
    pub caches: Vec<String>,
}

/// Where git keeps what it knows of a checkout.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum GitPlace {
    /// In the checkout.
    Main {
        /// Its `.git`.
        git: String,
        /// The folders of git of its linked worktrees.
        worktrees: Vec<String>,
        /// Those of its submodules.
        modules: Vec<String>,
    },
    /// Something that is not understood, in the checkout or named by it.
    Unknown,
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
}

impl Needs {
    /// Adds them to what every command may touch. What is hidden *in* a folder that is needed stays
    /// hidden, unless it is named, too.
    pub fn add_to(&self, confinement: &mut Confinement) {
        let named: Vec<&String> = self.may_write.iter().chain(&self.may_read).collect();
        confinement.hidden.retain(|path| !named.contains(&path));
        confinement.may_write.extend(self.may_write.iter().cloned());
        confinement.may_read.extend(self.may_read.iter().cloned());
    }
}

/// Why commands cannot be confined to a folder.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Unsuitable {
    /// It holds what is private.
    #[error("`{folder}` holds what nothing confined may read: `{private}`; use a folder below")]
    Holds {
        /// The folder.
        folder: String,
        /// What it holds.
        private: String,
    },
    /// It is private itself.
    #[error("`{folder}` lies in `{private}`, which nothing confined may read")]
    Lies {
        /// The folder.
        folder: String,
        /// What it lies in.
        private: String,
    },
}

/// What a command in `scene` may touch.
///
/// # Errors
///
/// [`Unsuitable`] for a folder that is private, or that holds what is.
pub fn decide(
    scene: &Surroundings,
    network: Network,
    only: Option<Mechanism>,
) -> Result<Confinement, Unsuitable> {
    let mut confinement = Confinement { network, only, ..Confinement::default() };
    let mut private = private_paths(&scene.homes, scene.state_home.as_deref());
    private.extend(scene.private.iter().cloned());
    demand_suitable(scene, &private)?;
    confinement.hidden = SHARED.map(str::to_owned).to_vec();
    confinement.hidden.extend(private);
    let elsewhere = scene.environment_files.iter().filter(|path| !is_within(path, &scene.folder));
    confinement.hidden.extend(elsewhere.cloned());
    confinement.may_write.push(scene.folder.clone());
    confinement.may_write.push(scene.temporary.clone());
    let is_private = |path: &str| {
        let hidden = &confinement.hidden;
        hidden.iter().any(|hidden| is_within(hidden, path) || is_within(path, hidden))
    };
    let caches = scene.caches.iter().filter(|cache| is_in_shared(cache) || !is_private(cache));
    confinement.may_write.extend(caches.cloned());
    confinement.may_read.extend(below(&scene.folder, &OF_AGENTS));
    repository(scene.git.as_ref(), &scene.folder, &mut confinement);
    let seen = scene.homes.iter().take(1).chain(&scene.programs).chain(&scene.needed);
    confinement.may_read.extend(seen.filter(|path| is_in_shared(path)).cloned());
    Ok(confinement)
}

fn demand_suitable(scene: &Surroundings, private: &[String]) -> Result<(), Unsuitable> {
    let folder = scene.folder.as_str();
    // Worktrees that have no place beside their checkout are in the state home.
    let worktrees = scene.state_home.as_ref().map(|home| format!("{home}/worktrees"));
    let folder_text = || folder.to_owned();
    let shared = SHARED.iter().map(|shared| (*shared).to_owned());
    for private in private.iter().cloned().chain(shared) {
        let is_shared = SHARED.contains(&private.as_str());
        if is_within(&private, folder.trim_end_matches('/')) {
            return Err(Unsuitable::Holds { folder: folder_text(), private });
        }
        let is_worktree = worktrees.as_ref().is_some_and(|worktrees| is_within(folder, worktrees));
        if !is_shared && !is_worktree && is_within(folder, &private) {
            return Err(Unsuitable::Lies { folder: folder_text(), private });
        }
    }
    Ok(())
}

fn is_in_shared(path: &str) -> bool {
    SHARED.iter().any(|shared| path != *shared && is_within(path, shared))
}

fn below(folder: &str, names: &[&str]) -> Vec<String> {
    names.iter().map(|name| format!("{folder}/{name}")).collect()
}

fn repository(git: Option<&GitPlace>, folder: &str, confinement: &mut Confinement) {
    match git {
        None => {}
        Some(GitPlace::Unknown) => confinement.may_read.push(format!("{folder}/.git")),
        Some(GitPlace::Main { git, worktrees, modules }) => {
            confinement.may_write.push(git.clone());
            confinement.may_read.extend(below(git, &OF_REPOSITORY));
            confinement.may_read.extend(worktrees.iter().flat_map(|own| below(own, &OF_WORKTREE)));
            confinement.may_read.extend(modules.iter().flat_map(|own| below(own, &OF_REPOSITORY)));
        }
        Some(GitPlace::Linked { git, common }) => {
            confinement.may_write.push(git.clone());
            confinement.may_write.extend(below(common, &TO_COMMIT));
            confinement.may_read.push(format!("{folder}/.git"));
            confinement.may_read.extend(below(git, &OF_WORKTREE));
            if is_in_shared(common) {
                confinement.may_read.push(common.clone());
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use onloop_effect::Reach;

    fn scene() -> Surroundings {
        let list = |paths: &[&str]| paths.iter().map(|path| (*path).to_owned()).collect();
        Surroundings {
            folder: "/home/u/w".to_owned(),
            git: Some(GitPlace::Linked {
                git: "/home/u/repo/.git/worktrees/w".to_owned(),
                common: "/home/u/repo/.git".to_owned(),
            }),
            homes: list(&["/home/u", "/home/admin"]),
            state_home: Some("/home/u/.local/state/onloop".to_owned()),
            private: list(&["/srv/fleet/fleet.key"]),
            temporary: "/tmp/onloop-1".to_owned(),
            programs: list(&["/usr/bin", "/tmp/bin", "/tmp"]),
            needed: list(&["/run/systemd/resolve/stub-resolv.conf"]),
            environment_files: list(&["/home/u/repo/.env", "/home/u/w/.env"]),
            caches: list(&["/home/u/.cargo/registry", "/home/u", "/home/u/.ssh"]),
        }
    }

    #[test]
    fn a_linked_worktree_may_be_committed_in_and_no_more() {
        let confinement = decide(&scene(), Network::All, None).unwrap();
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
            ("/home/u/repo/a.txt", Reach::Read),
            ("/home/u/w/.agentize.local.yaml", Reach::Read),
            ("/home/u/w/.claude/settings.json", Reach::Read),
            ("/home/u/w/.claude/skills/a.md", Reach::Write),
            ("/home/u/repo/.env", Reach::Hidden),
            ("/home/u/.cargo/registry/cache/x", Reach::Write),
            ("/home/u/.cargo/bin/cargo", Reach::Read),
            ("/home/u/.cargo/credentials.toml", Reach::Hidden),
            ("/home/u/.ssh/id_ed25519", Reach::Hidden),
            ("/home/admin/.ssh/id_ed25519", Reach::Hidden),
            ("/home/u/.bashrc", Reach::Read),
            ("/home/u/.local/state/onloop/runs/a", Reach::Hidden),
            ("/srv/fleet/fleet.key", Reach::Hidden),
            ("/srv/fleet/other", Reach::Read),
            ("/tmp/x", Reach::Hidden),
            ("/tmp/bin/tool", Reach::Read),
            ("/tmp/onloop-1/x", Reach::Write),
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
    fn what_runs_programs_in_a_main_checkout_stays_as_it_is() {
        let git = GitPlace::Main {
            git: "/home/u/w/.git".to_owned(),
            worktrees: vec!["/home/u/w/.git/worktrees/a".to_owned()],
            modules: vec!["/home/u/w/.git/modules/m".to_owned()],
        };
        let scene = Surroundings { git: Some(git), ..scene() };
        let confinement = decide(&scene, Network::All, None).unwrap();
        for (path, access) in [
            ("/home/u/w/.git/index.lock", Reach::Write),
            ("/home/u/w/.git/HEAD", Reach::Write),
            ("/home/u/w/.git/config", Reach::Read),
            ("/home/u/w/.git/hooks/post-commit", Reach::Read),
            ("/home/u/w/.git/commondir", Reach::Read),
            ("/home/u/w/.git/worktrees/a/commondir", Reach::Read),
            ("/home/u/w/.git/modules/m/config", Reach::Read),
            ("/home/u/w/.git/modules/m/HEAD", Reach::Write),
        ] {
            assert_eq!(confinement.access(path), access, "{path}");
        }
        let scene = Surroundings { git: Some(GitPlace::Unknown), ..scene };
        let unknown = decide(&scene, Network::All, None).unwrap();
        assert_eq!(unknown.access("/home/u/w/.git/config"), Reach::Read);
    }

    #[test]
    fn what_a_client_needs_is_no_longer_hidden_from_it() {
        let mut confinement = decide(&scene(), Network::All, None).unwrap();
        client_needs("codex", Some("/home/u"), |_| None).add_to(&mut confinement);
        for (path, access) in [
            ("/home/u/.codex/sessions/a", Reach::Write),
            ("/home/u/.codex/auth.json", Reach::Write),
            ("/home/u/.codex/config.toml", Reach::Read),
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
                "`/home/u` holds what nothing confined may read: `/home/u/.ssh`; use a folder below",
            ),
            ("/", "`/` holds what nothing confined may read: `/home/u/.ssh`; use a folder below"),
            ("/tmp", "`/tmp` holds what nothing confined may read: `/tmp`; use a folder below"),
            (
                "/home/u/.ssh/a",
                "`/home/u/.ssh/a` lies in `/home/u/.ssh`, which nothing confined may read",
            ),
        ] {
            let scene = Surroundings { folder: folder.to_owned(), ..scene() };
            let refused = decide(&scene, Network::All, None).unwrap_err();
            assert_eq!(refused.to_string(), message);
        }
        let scene = Surroundings { folder: "/tmp/w".to_owned(), ..scene() };
        assert!(decide(&scene, Network::All, None).is_ok());
    }
}
