//! What is known of the machine before something is confined, and what it is confined to then.

use crate::error::CommandError;
use crate::git::checkout::{self, Checkout};
use crate::state::config;
use onloop_agents::confine::{
    self, Caches, GitPlace, HIDDEN_VARIABLE, Surroundings, ToolFolder, Unsuitable,
    is_environment_file, tool_folders,
};
use onloop_documents::ledger::sha256;
use onloop_effect::{
    Confinement, Durability, Expect, Failure, FileKind, Io, Mechanism, Network, ProcessSpec,
    is_within,
};
use onloop_syntax::limits::{CHECKOUTS_LOOKED_AT, HOMES_LOOKED_AT, SUBMODULES_LOOKED_AT};

/// A confinement and the folder for temporary files that belongs to it.
#[derive(Clone, Debug)]
pub struct Confined {
    /// What may be touched.
    pub(crate) confinement: Confinement,
    temporary: String,
    /// Variables of tools whose caches are not there, and where they are instead.
    moved: Vec<(&'static str, String)>,
}

/// Why nothing can be confined.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ConfineError {
    /// Not in this folder.
    #[error("{0}")]
    Unsuitable(#[from] Unsuitable),
    /// Not with this configuration.
    #[error("`run.confine_caches`: {0}")]
    Cache(#[from] confine::CacheRefused),
    /// The host could not do something.
    #[error("{}", .0.message)]
    Failed(Failure),
}

impl From<ConfineError> for CommandError {
    fn from(error: ConfineError) -> CommandError {
        match error {
            ConfineError::Failed(failure) => failure.into(),
            error @ (ConfineError::Unsuitable(_) | ConfineError::Cache(_)) => {
                CommandError::refused("the command cannot be confined").because(error.to_string())
            }
        }
    }
}

impl Confined {
    /// What commands in the checkout around `folder` may touch, and a new folder for their temporary
    /// files, which [`Confined::remove`] removes.
    pub async fn prepare(
        io: &Io,
        folder: &str,
        network: Network,
        only: Option<Mechanism>,
    ) -> Result<Confined, ConfineError> {
        let confined = Confined::again(io, folder, network, only).await?;
        let mark = format!("{}/.keep", confined.temporary);
        io.write_private(&mark, Vec::new(), Expect::Absent, Durability::Relaxed)
            .await
            .map_err(ConfineError::Failed)?;
        Ok(confined)
    }

    /// As [`Confined::prepare`], with the folder for temporary files that this program has made
    /// before.
    pub(crate) async fn again(
        io: &Io,
        folder: &str,
        network: Network,
        only: Option<Mechanism>,
    ) -> Result<Confined, ConfineError> {
        let (scene, moved) = scene(io, folder).await?;
        let confinement = confine::decide(&scene, network, only)?;
        Ok(Confined { confinement, temporary: scene.temporary, moved })
    }

    /// `spec`, confined.
    pub fn apply(&self, io: &Io, mut spec: ProcessSpec) -> ProcessSpec {
        spec.env_remove.extend(confine::VARIABLES.iter().map(|name| (*name).to_owned()));
        let temporary = ["TMPDIR", "TMP", "TEMP"].map(|name| (name, self.temporary.as_str()));
        spec = spec.with_env(temporary);
        let moved = self.moved.iter().filter(|(name, _)| !spec.env_set.contains_key(*name));
        let moved: Vec<_> = moved.map(|(name, path)| (*name, path.as_str())).collect();
        spec = spec.with_env(moved);
        // No agent that could sign is within reach.
        if io.env("GIT_CONFIG_COUNT").is_none() && !spec.env_set.contains_key("GIT_CONFIG_COUNT") {
            spec = spec.with_env([
                ("GIT_CONFIG_COUNT", "2"),
                ("GIT_CONFIG_KEY_0", "commit.gpgsign"),
                ("GIT_CONFIG_VALUE_0", "false"),
                ("GIT_CONFIG_KEY_1", "tag.gpgsign"),
                ("GIT_CONFIG_VALUE_1", "false"),
            ]);
        }
        ProcessSpec { confine: Some(self.confinement.clone()), ..spec }
    }

    /// A path outside that everybody may write who is not confined.
    pub fn beside(&self) -> String {
        format!("{}-outside", self.temporary)
    }

    /// The folder for temporary files, for another use.
    pub(crate) fn into_temporary(self) -> String {
        self.temporary
    }

    /// Removes the temporary files.
    pub async fn remove(self, io: &Io) {
        // They are in a folder that systems clear out.
        let _ = io.remove(&self.temporary).await;
    }
}

fn temporary_name(io: &Io) -> String {
    let folder = io.env("TMPDIR").filter(|path| path.starts_with('/')).unwrap_or("/tmp");
    let folder = folder.trim_end_matches('/');
    // Everybody sees the name, and keys are made of the same randomness.
    let name = sha256(&[b"onloop temporary folder\0".as_slice(), &io.start().random].concat());
    format!("{folder}/onloop-{}", &name[..32])
}

/// What is known of the machine, and variables that move caches into the folder for temporary files.
async fn scene(
    io: &Io,
    folder: &str,
) -> Result<(Surroundings, Vec<(&'static str, String)>), ConfineError> {
    let folder = io.canonical(folder).await.map_err(ConfineError::Failed)?;
    let checkout = checkout::own(io, &folder).await;
    let folder = checkout.as_ref().map_or(folder, |checkout| checkout.root.clone());
    let git = match &checkout {
        None => None,
        Some(checkout) => Some(git_place(io, checkout).await),
    };
    let homes = homes(io).await;
    let home = homes.first().map(String::as_str);
    let loaded = config::load(io, &folder).await;
    let temporary = temporary_name(io);
    let tools = tool_folders(home, |name| io.env(name));
    let moved = tools_ready(io, &tools, &temporary).await;
    let mut caches: Vec<String> = tools.iter().flat_map(ToolFolder::caches).collect();
    caches.extend_from_slice(Caches::read(&loaded.config.confine_caches, home)?.paths());
    let path = io.env("PATH").unwrap_or_default();
    let programs = path.split(':').filter(|path| path.starts_with('/'));
    let programs = programs.map(|path| path.trim_end_matches('/').to_owned());
    let programs = programs.chain(own_program(io)).collect();
    let mut state_home = io.start().state_home();
    if let Some(real) = &state_home {
        state_home = Some(real_path(io, real).await);
    }
    let mut private = Vec::new();
    let listed = io.env(HIDDEN_VARIABLE).unwrap_or_default();
    for path in listed.split(':').filter(|path| path.starts_with('/')) {
        private.push(real_path(io, path.trim_end_matches('/')).await);
    }
    let environment_files = environment_files(io, &folder, git.as_ref()).await;
    let needed: Vec<String> = io.canonical("/etc/resolv.conf").await.into_iter().collect();
    let scene = Surroundings {
        git,
        homes,
        state_home,
        private,
        programs,
        needed,
        environment_files,
        caches,
        folder,
        temporary,
    };
    Ok((scene, moved))
}

/// Makes what is missing in the folders of tools that are there, since nothing that is not there can
/// be written; for the others, the variables that move them below `temporary`.
async fn tools_ready(
    io: &Io,
    tools: &[ToolFolder],
    temporary: &str,
) -> Vec<(&'static str, String)> {
    let (mut moved, mut usable) = (Vec::new(), Vec::<String>::new());
    for tool in tools {
        let is_in_other = usable.iter().any(|cache| is_within(&tool.folder, cache));
        let is_there = is_in_other || io.stat(&tool.folder).await.is_ok();
        usable.extend(tool.caches().filter(|_| is_there));
        for folder in tool.to_make(is_there) {
            make_folder(io, &folder).await;
        }
        moved.extend(tool.elsewhere(temporary).filter(|_| !is_there));
    }
    moved
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

/// What has to be there so that a hook can start this program again: a program, or an interpreter and
/// the package that a script is in.
fn own_program(io: &Io) -> Vec<String> {
    let words = io.start().program.iter().filter(|word| word.starts_with('/'));
    let package = |word: &String| match word.rsplit_once("/bin/") {
        Some((package, name)) if name.ends_with("js") => package.to_owned(),
        Some(_) | None => word.clone(),
    };
    words.map(package).collect()
}

/// The path without links where it is there; a state home may come to be later.
async fn real_path(io: &Io, path: &str) -> String {
    io.canonical(path).await.unwrap_or_else(|_| path.to_owned())
}

/// That of the person first, then everybody's who may have one here.
async fn homes(io: &Io) -> Vec<String> {
    let mut homes = Vec::new();
    if let Some(own) = io.env("HOME").filter(|home| home.starts_with('/')) {
        homes.push(real_path(io, own).await);
    }
    homes.push("/root".to_owned());
    for around in ["/home", "/Users"] {
        let names = io.list(around).await.unwrap_or_default().into_iter().take(HOMES_LOOKED_AT);
        homes.extend(names.map(|name| format!("{around}/{name}")));
    }
    let mut seen = std::collections::BTreeSet::new();
    homes.retain(|home| home.len() > 1 && seen.insert(home.clone()));
    homes
}

/// What the checkout's own `.git` says is not believed unless the repository says the same:
/// otherwise an agent that writes the checkout would decide what may be written.
async fn git_place(io: &Io, checkout: &Checkout) -> GitPlace {
    let own = format!("{}/.git", checkout.root);
    if checkout.git_folder == own {
        let worktrees = below(io, &format!("{own}/worktrees")).await;
        let modules = modules(io, format!("{own}/modules")).await;
        return GitPlace::Main { git: own, worktrees, modules };
    }
    linked(io, checkout).await.unwrap_or(GitPlace::Unknown)
}

async fn linked(io: &Io, checkout: &Checkout) -> Option<GitPlace> {
    let git = io.canonical(&checkout.git_folder).await.ok()?;
    let (worktrees, _) = git.rsplit_once('/')?;
    let common = worktrees.strip_suffix("/worktrees")?.to_owned();
    let named = checkout::read_text(io, &format!("{git}/commondir")).await?;
    let named = io.canonical(&checkout::below(&git, named.trim())).await.ok()?;
    let back = checkout::read_text(io, &format!("{git}/gitdir")).await?;
    let back = io.canonical(&checkout::below(&git, back.trim())).await.ok()?;
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
async fn environment_files(io: &Io, folder: &str, git: Option<&GitPlace>) -> Vec<String> {
    let main = match git {
        Some(GitPlace::Linked { common, .. }) => common.strip_suffix("/.git").map(str::to_owned),
        Some(GitPlace::Main { .. } | GitPlace::Unknown) | None => Some(folder.to_owned()),
    };
    let around = main.as_deref().and_then(|main| main.rsplit_once('/')).map(|(above, _)| above);
    let mut checkouts: Vec<String> = io
        .git_worktrees(folder)
        .await
        .map(|all| all.into_iter().map(|worktree| worktree.path).collect())
        .unwrap_or_default();
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
    files
}
