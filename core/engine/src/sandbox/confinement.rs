//! What is known of the machine before something is confined, and what it is confined to then.

mod git;
mod homes;
mod tools;

use crate::error::CommandError;
use crate::git::checkout;
use crate::git::known_to_git::hooks;
use crate::sandbox::network::{NAMES_NEED, NamesRefused, NetworkRequest};
use crate::sandbox::{automation, leftovers, running};
use crate::state::config;
use git::{environment_files, git_place};
use homes::HomeView;
use onloop_agents::confine::{
    self, CacheRefused, GitFolder, HIDDEN_VARIABLE, Needs, SandboxContext, Unsuitable, expanded,
    hidden_paths, provider_names, proxy_variables, registry_names,
};
use onloop_documents::ledger::sha256;
use onloop_effect::{
    Confinement, Durability, Expect, Failure, Io, Mechanism, Network, NetworkName, ProcessSpec,
};
use std::collections::BTreeSet;
use tools::FoundCaches;

/// A confinement and the folder for temporary files that belongs to it.
#[derive(Clone, Debug)]
pub struct Confined {
    /// What may be touched.
    pub(crate) confinement: Confinement,
    /// The network as it was asked for, with the names of groups.
    pub(crate) network: Network,
    /// Caches that it shares with others.
    pub(crate) caches: Vec<String>,
    registries: Vec<NetworkName>,
    temporary: String,
    homes: Vec<String>,
    /// Variables that lead tools to folders that one process has for itself, or that all share.
    moved: Vec<(&'static str, String)>,
}

/// The folders for temporary files of several confined processes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Temporary<'t> {
    /// The one of this process, which it alone sees.
    pub(crate) own: &'t str,
    /// The one around those of all of them, for caches.
    pub(crate) shared: &'t str,
    /// Which caches it finds.
    pub(crate) caches: CacheUse,
}

/// Which caches a confined process finds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CacheUse {
    /// Those of the user and of earlier processes.
    Shared,
    /// New ones, which it shares with other processes of this kind. Those that no variable moves are
    /// shared with everybody.
    Fresh,
}

/// Why nothing can be confined.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ConfineError {
    /// Not in this folder.
    #[error("{0}")]
    Unsuitable(#[from] Unsuitable),
    /// Not with this configuration.
    #[error("`{key}`: {refused}")]
    Path {
        /// The key with the path.
        key: &'static str,
        /// What is wrong with it.
        refused: CacheRefused,
    },
    /// Not with this network.
    #[error("{NAMES_NEED}")]
    Names,
    /// The host could not do something.
    #[error("{}", .0.message)]
    Failed(Failure),
}

impl From<ConfineError> for CommandError {
    fn from(error: ConfineError) -> CommandError {
        match error {
            ConfineError::Failed(failure) => failure.into(),
            error @ (ConfineError::Unsuitable(_)
            | ConfineError::Path { .. }
            | ConfineError::Names) => {
                CommandError::refused("the command cannot be confined").because(error.to_string())
            }
        }
    }
}

impl Confined {
    /// What commands in the checkout around `folder` may touch, and a new folder for their temporary
    /// files, which [`Confined::remove`] removes. What is configured for `settings` counts, or else for
    /// the checkout.
    pub async fn prepare(
        io: &Io,
        folder: &str,
        settings: Option<&str>,
        network: Network,
        only: Option<Mechanism>,
    ) -> Result<Confined, ConfineError> {
        let own = temporary_name(io);
        let temporary = Temporary { own: &own, shared: &own, caches: CacheUse::Shared };
        let network = NetworkRequest::exactly(network);
        let shared = GitFolder::Shared;
        let mut confined =
            Confined::prepare_in(io, (folder, settings), temporary, (network, only), shared)
                .await?;
        // Git would run them after the command, unconfined. A run may change them: its work is
        // checked before it counts.
        let folder = io.canonical(folder).await.map_err(ConfineError::Failed)?;
        let checkout = checkout::own(io, &folder).await;
        let top = checkout.as_ref().map_or(&folder, |checkout| &checkout.root);
        automation::keep(io, top, &mut confined.confinement).await;
        let linked = automation::linked(io, top).await;
        confined.confinement.may_read.extend(linked.into_iter().map(|(target, _)| target));
        let mut places = vec![top.clone()];
        // What is written there about a session gives rights.
        for home in BTreeSet::from([top, &folder]) {
            let sessions = running::sessions_in(io, home, top).await;
            confined.confinement.others_write.extend(sessions.map(|sessions| sessions.folder()));
        }
        if let Some(checkout) = &checkout {
            let hooks = hooks::files(io, &checkout.root).await.map_err(ConfineError::Failed)?;
            confined.confinement.may_read.extend(hooks);
            let common = checkout.common_folder(io).await;
            git::keep(&common, &checkout.git_folder, &mut confined.confinement);
            places.extend([checkout.git_folder.clone(), common]);
        }
        let begun = running::begin(io, &own, &places, &mut confined.confinement).await;
        begun.map_err(ConfineError::Failed)?;
        Ok(confined)
    }

    /// As [`Confined::prepare`], with these folders for temporary files. Git finds
    /// `git_folder` in the place of the repository's, where the repository allows it.
    pub(crate) async fn prepare_in(
        io: &Io,
        folders: (&str, Option<&str>),
        temporary: Temporary<'_>,
        (network, only): (NetworkRequest, Option<Mechanism>),
        git_folder: GitFolder,
    ) -> Result<Confined, ConfineError> {
        let found = confine_inputs(io, folders, temporary).await?;
        let ConfineInputs { mut context, moved, shared: mut caches, gitconfig, .. } = found;
        context.git_folder = git_folder;
        let network = network.decide(found.network.as_ref(), only);
        let network = network.map_err(|NamesRefused| ConfineError::Names)?;
        let mut confinement = confine::decide(&context, network.clone(), only)?;
        if only != Some(Mechanism::Bubblewrap) {
            // Only bubblewrap hides what is in a folder that can be read.
            caches.extend_from_slice(&found.emptied);
        }
        confinement.scratch.extend(found.emptied);
        let write = async |name: &str, bytes: Vec<u8>| {
            let path = format!("{}/{name}", temporary.own);
            let written = io.write_private(&path, bytes, Expect::Absent, Durability::Relaxed);
            written.await.map(|_| path).map_err(ConfineError::Failed)
        };
        write(".keep", Vec::new()).await?;
        let variables = io.env_all().iter().map(|(name, value)| (name.as_str(), value.as_str()));
        let registries = registry_names(variables, &found.remotes);
        let (temporary, homes) = (context.temporary.clone(), context.homes);
        let caches = caches.iter().map(|path| below_home(&homes, path)).collect();
        let mut confined =
            Confined { confinement, network, caches, registries, temporary, homes, moved };
        confined.add(io, &Needs::default());
        if let Some(text) = gitconfig {
            let path = write(".gitconfig", text.into_bytes()).await?;
            confined.moved.push(("GIT_CONFIG_GLOBAL", path));
        }
        Ok(confined)
    }

    /// Adds what one program needs.
    pub(crate) fn add(&mut self, io: &Io, needs: &Needs) {
        needs.add_to(&mut self.confinement);
        if self.network.is_list() {
            let provider = match needs.provider.is_empty() {
                true => provider_names(None, |name| io.env(name)),
                false => needs.provider.clone(),
            };
            self.confinement.network = expanded(&self.network, &provider, &self.registries);
        }
    }

    /// `spec`, confined.
    pub fn apply(&self, io: &Io, mut spec: ProcessSpec) -> ProcessSpec {
        spec.env_remove.extend(confine::VARIABLES.iter().map(|name| (*name).to_owned()));
        let temporary = ["TMPDIR", "TMP", "TEMP"].map(|name| (name, self.temporary.as_str()));
        spec = spec.with_env(temporary);
        let moved = self.moved.iter().filter(|(name, _)| !spec.env_set.contains_key(*name));
        let moved: Vec<_> = moved.map(|(name, path)| (*name, path.as_str())).collect();
        spec = spec.with_env(moved);
        if self.network.is_list() {
            spec = spec.with_env(proxy_variables());
        }
        // No agent that could sign is within reach, and what git resolved before is read-only.
        if io.env("GIT_CONFIG_COUNT").is_none() && !spec.env_set.contains_key("GIT_CONFIG_COUNT") {
            spec = spec.with_env([
                ("GIT_CONFIG_COUNT", "3"),
                ("GIT_CONFIG_KEY_0", "commit.gpgsign"),
                ("GIT_CONFIG_VALUE_0", "false"),
                ("GIT_CONFIG_KEY_1", "tag.gpgsign"),
                ("GIT_CONFIG_VALUE_1", "false"),
                ("GIT_CONFIG_KEY_2", "rerere.enabled"),
                ("GIT_CONFIG_VALUE_2", "false"),
            ]);
        }
        ProcessSpec { confine: Some(Box::new(self.confinement.clone())), ..spec }
    }

    /// The folder for temporary files.
    pub(crate) fn temporary(&self) -> &str {
        &self.temporary
    }

    /// A path outside that everybody may write who is not confined.
    pub fn beside(&self) -> String {
        format!("{}-outside", self.temporary)
    }

    /// What a program that failed did not find, though it is there outside; `None`: nothing of what
    /// it `said`.
    pub async fn hint(&self, io: &Io, said: &str) -> Option<String> {
        let mut missed = Vec::new();
        for path in hidden_paths(said, &self.homes, &self.confinement) {
            if io.stat(&path).await.is_ok() {
                missed.push(below_home(&self.homes, &path));
            }
        }
        if missed.is_empty() {
            return None;
        }
        let (named, paths) = (missed.join("`, `"), missed.join(", "));
        Some(format!(
            "note: not found inside the sandbox: `{named}`; allow it with \
             `run: {{confine_read: [{paths}]}}` in `.agentize.local.yaml`"
        ))
    }

    /// Removes the temporary files.
    pub async fn remove(self, io: &Io) {
        // They are in a folder that systems clear out.
        let _ = io.remove(&self.temporary).await;
        leftovers::release(io, &self.temporary).await;
    }
}

/// The folder for new caches, which no process with shared caches sees.
pub(crate) fn fresh_folder(shared: &str) -> String {
    format!("{shared}/fresh")
}

/// The path, with `~` for the user's home.
fn below_home(homes: &[String], path: &str) -> String {
    let below = homes.first().and_then(|home| path.strip_prefix(home.as_str()));
    match below.filter(|below| below.starts_with('/')) {
        Some(below) => format!("~{below}"),
        None => path.to_owned(),
    }
}

/// The folder for temporary files of this program.
pub(crate) fn temporary_name(io: &Io) -> String {
    let folder = io.env("TMPDIR").filter(|path| path.starts_with('/')).unwrap_or("/tmp");
    let folder = folder.trim_end_matches('/');
    // Everybody sees the name, and keys are made of the same randomness.
    let name = sha256(&[b"onloop temporary folder\0".as_slice(), &io.start().random].concat());
    format!("{folder}/onloop-{}", &name[..32])
}

/// What is known before something is confined.
struct ConfineInputs {
    context: SandboxContext,
    /// Variables that move the folders of tools.
    moved: Vec<(&'static str, String)>,
    /// Caches that are there and shared with others.
    shared: Vec<String>,
    /// Caches that look empty.
    emptied: Vec<String>,
    /// The configuration of git where the user's cannot be shown.
    gitconfig: Option<String>,
    /// `run.network`.
    network: Option<Network>,
    /// The addresses of the remotes of the checkout.
    remotes: Vec<String>,
}

async fn confine_inputs(
    io: &Io,
    (folder, settings): (&str, Option<&str>),
    temporary: Temporary<'_>,
) -> Result<ConfineInputs, ConfineError> {
    let folder = io.canonical(folder).await.map_err(ConfineError::Failed)?;
    let checkout = checkout::own(io, &folder).await;
    let folder = checkout.as_ref().map_or(folder, |checkout| checkout.root.clone());
    let (git, mut borrowed) = match &checkout {
        None => (None, Vec::new()),
        Some(checkout) => {
            checkout.demand_repository(io).await.map_err(ConfineError::Failed)?;
            let place = git_place(io, checkout).await;
            let borrowed = git::borrowed_objects(io, &place).await;
            (Some(place), borrowed)
        }
    };
    let loaded = config::load(io, settings.unwrap_or(&folder)).await;
    let view = HomeView::of(io, &loaded.config, &folder).await?;
    let caches = tools::caches(io, &view, temporary).await;
    let mut state_home = io.start().state_home();
    if let Some(real) = &state_home {
        state_home = Some(real_path(io, real).await);
    }
    let mut private = view.hidden;
    let listed = io.env(HIDDEN_VARIABLE).unwrap_or_default();
    for path in listed.split(':').filter(|path| path.starts_with('/')) {
        private.push(real_path(io, path.trim_end_matches('/')).await);
    }
    let environment_files = environment_files(io, &folder, git.as_ref()).await;
    let environment_files = environment_files.map_err(ConfineError::Failed)?;
    let needed: Vec<String> = io.canonical("/etc/resolv.conf").await.into_iter().collect();
    let mut visible = view.visible;
    visible.append(&mut borrowed);
    let remotes = match &checkout {
        Some(checkout) => checkout.remotes(io).await,
        None => Vec::new(),
    };
    let settings = match settings {
        Some(settings) => Some(real_path(io, settings).await),
        None => None,
    };
    let context = SandboxContext {
        settings,
        git,
        git_folder: GitFolder::Shared,
        homes: view.homes,
        state_home,
        private,
        programs: view.programs,
        visible,
        needed,
        environment_files,
        caches: caches.writable,
        folder,
        temporary: temporary.own.to_owned(),
        other_temporary: (temporary.own != temporary.shared).then(|| temporary.shared.to_owned()),
    };
    let network = loaded.config.network;
    let FoundCaches { moved, shared, emptied, .. } = caches;
    let gitconfig = view.gitconfig;
    Ok(ConfineInputs { context, moved, shared, emptied, gitconfig, network, remotes })
}

/// Makes a folder where there is none. Where that fails, the program that needs it reports that.
pub(crate) async fn make_folder(io: &Io, folder: &str) {
    if io.stat(folder).await.is_err_and(|failure| failure.is_not_found()) {
        // A folder is made for what is in it.
        let mark = format!("{folder}/.onloop");
        let _ = io.write_private(&mark, Vec::new(), Expect::Absent, Durability::Relaxed).await;
        let _ = io.remove(&mark).await;
    }
}

/// The path without links where it is there; a state home may come to be later.
async fn real_path(io: &Io, path: &str) -> String {
    io.canonical(path).await.unwrap_or_else(|_| path.to_owned())
}
