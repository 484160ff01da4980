//! The machine's side of an agent host: which one is meant, where its files are, what they hold.

use crate::error::CommandError;
use crate::git::untrusted_links::{self, UntrustedLink};
use crate::state::config;
use onloop_agents::Agent;
use onloop_effect::{Command, Failure, FileKind, Io, OptionalExt, ProcessSpec, Version};
use onloop_install::{EditError, InstallScope, Setting, Waits, host_files, user_folder};
use onloop_sessions::hooks::{Host, unknown_host};
use onloop_syntax::limits;

/// Why a file of an agent host cannot be read or changed.
#[derive(Debug, thiserror::Error)]
pub enum HostFileError {
    /// No command line starts this program again, so no hook could call it.
    #[error("onloop runs inside another program here, and hooks could not start it")]
    NoProgram,
    /// `HOME` is not set.
    #[error("`HOME` is not set, so it is not known where your settings are")]
    NoHome,
    /// The repository would lead us out of the checkout.
    #[error(transparent)]
    Untrusted(UntrustedLink),
    #[error("`{path}`: {failure}")]
    /// The host could not read or write it.
    Failed {
        /// Which file.
        path: String,
        /// What went wrong.
        failure: Failure,
    },
    #[error("`{path}` is not UTF-8")]
    /// It is not text.
    NotUtf8 {
        /// Which file.
        path: String,
    },
    #[error("`{path}`: {why}")]
    /// Its content cannot be changed without losing something.
    NotEditable {
        /// Which file.
        path: String,
        /// What is wrong with it.
        why: EditError,
    },
}

impl From<HostFileError> for CommandError {
    fn from(error: HostFileError) -> CommandError {
        CommandError::refused(error.to_string())
    }
}

/// The help of an argument that names a host.
pub fn host_help() -> String {
    format!("One of {}", Host::WORDS.join(", "))
}

/// The host of that name.
pub fn known(word: &str) -> Result<Host, CommandError> {
    word.parse().map_err(|_| {
        let error = CommandError::usage(unknown_host(word));
        match Agent::named(word) {
            Some(Agent::Preset(..)) => error
                .because("onloop has no hooks for it, and runs need none")
                .fix_by("use it in a run", format!("onloop run --agent {word}")),
            _ => error.fix(format!("name one of {}", Host::WORDS.join(", "))),
        }
    })
}

/// Where things are on this machine.
pub async fn setting(io: &Io, host: Host, scope: InstallScope) -> Result<Setting, HostFileError> {
    let program = io.start().program.clone();
    if program.is_empty() {
        return Err(HostFileError::NoProgram);
    }
    let home = io.env("HOME").or_else(|| io.env("USERPROFILE"));
    let Some(home) = home.map(|home| home.trim_end_matches('/').to_owned()) else {
        return Err(HostFileError::NoHome);
    };
    let project = untrusted_links::checkout_root(io).await;
    let configured = match scope {
        InstallScope::User => &home,
        InstallScope::Project => &project,
    };
    let continuations = config::load(io, configured).await.config.max_continuations;
    let waits = Waits::of(&config::own(io, &project).await);
    let user_folder = user_folder(host, &home, |name| io.env(name));
    let mut setting = Setting { program, scope, home, project, user_folder, waits, continuations };
    if scope == InstallScope::User {
        // These are the hooks of every project: what another one needs stays, and a limit that nobody
        // reaches costs nothing.
        let home = Waits::of(&config::own(io, &setting.home).await);
        let found = installed_waits(io, host, &setting).await;
        setting.waits = setting.waits.and(home).and(found.unwrap_or(home));
    }
    Ok(setting)
}

/// How long the host waits for the hooks of ours that it has.
async fn installed_waits(io: &Io, host: Host, setting: &Setting) -> Option<Waits> {
    let file = host_files(host, setting, &[]).into_iter().next()?;
    let (_, found) = look(io, setting, file.path()).await.ok()?;
    let (text, _) = found?;
    Waits::installed(host, file.path(), &text).ok().flatten()
}

/// What is at a path, and the path behind symbolic links. Those of a person in their home may lead
/// anywhere, those of a repository only to another place in it.
pub async fn look(
    io: &Io,
    setting: &Setting,
    path: &str,
) -> Result<(String, Option<(String, Version)>), HostFileError> {
    if setting.scope == InstallScope::Project && setting.project != setting.home {
        untrusted_links::refuse(io, &setting.project, path)
            .await
            .map_err(HostFileError::Untrusted)?;
    }
    let problem = |failure| HostFileError::Failed { path: path.to_owned(), failure };
    let is_link = io.stat(path).await.is_ok_and(|stat| stat.kind == FileKind::Link);
    // A link is how people keep their settings elsewhere; it stays one.
    let target = if is_link { io.canonical(path).await.map_err(problem)? } else { path.to_owned() };
    let found = io.read(&target, limits::HOST_FILE_BYTES).await.optional().map_err(problem)?;
    let Some((bytes, version)) = found else { return Ok((target, None)) };
    match String::from_utf8(bytes) {
        Ok(text) => Ok((target, Some((text, version)))),
        Err(_) => Err(HostFileError::NotUtf8 { path: path.to_owned() }),
    }
}

/// Set for hooks that `onloop doctor` tries: what they refuse happened in no session.
pub const CANARY_VARIABLE: &str = "ONLOOP_CANARY";

/// A short program without output for people.
pub fn quiet(command: Command, stdin: Option<Vec<u8>>) -> ProcessSpec {
    ProcessSpec { stdin: stdin.map(Into::into), ..ProcessSpec::new(command) }
        .timeout_ms(limits::CANARY_TIMEOUT_MS)
}
