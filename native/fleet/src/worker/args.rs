//! The command line of a worker.

use std::fs::File;
use std::path::{Path, PathBuf};

use clap::Args;

use super::active_runs::ActiveRuns;
use super::{Worker, run};
use crate::allow_list::is_entry;
use crate::cli::Refusal;
use crate::config::{self, FleetConfig};
use crate::hidden;

/// Arguments of `onloop fleet worker`.
#[derive(Clone, Debug, Args)]
pub struct WorkerArgs {
    /// Address of the server [default: the fleet of this machine]
    #[arg(long, value_name = "URL")]
    pub server: Option<String>,
    /// File with the fleet's key [default: the fleet of this machine]
    #[arg(long, value_name = "FILE")]
    pub key_file: Option<PathBuf>,
    /// File with the certificate of the server's authority
    #[arg(long, value_name = "FILE")]
    pub ca_file: Option<PathBuf>,
    /// Folder for clones; its file `repositories` lists addresses
    #[arg(long, value_name = "DIR")]
    pub repos: PathBuf,
    /// Repository to accept, with * for any rest; repeatable
    #[arg(long, value_name = "URL")]
    pub allow: Vec<String>,
    /// Name of the worker [default: the machine's name]
    #[arg(long, value_name = "NAME")]
    pub name: Option<String>,
    /// How many runs the worker drives at once
    #[arg(long, value_name = "N", default_value_t = 2, value_parser = clap::value_parser!(u32).range(1..=64))]
    pub slots: u32,
}

impl WorkerArgs {
    /// Returns the worker, and the lock that keeps other workers out of its folders.
    pub(super) fn worker(&self) -> Result<(Worker, File), Refusal> {
        let host = host();
        let name = self.name.clone().unwrap_or_else(|| host.clone());
        let is_plain = |c: char| c.is_ascii_alphanumeric() || "._-".contains(c);
        if name.is_empty()
            || name.len() > 80
            || name.starts_with('.')
            || !name.chars().all(is_plain)
        {
            return Err(Refusal::usage(format!(
                "--name is `{}`, expected letters, digits, `.`, `_` and `-`, 80 at most",
                onloop_core::text::one_line(&name)
            )));
        }
        let (key_file, ca_file) = (self.key_file.as_deref(), self.ca_file.as_deref());
        let config = FleetConfig::with(self.server.as_deref(), key_file, ca_file)
            .map_err(Refusal::refused)?;
        super::make_folder(&self.repos).map_err(Refusal::refused)?;
        let repos = self
            .repos
            .canonicalize()
            .map_err(|error| Refusal::refused(format!("`{}`: {error}", self.repos.display())))?;
        let repositories = self.repositories(&repos)?;
        let mut private = vec![config.key_file.clone()];
        private
            .extend(config::folder().ok().and_then(|folder| folder.parent().map(Path::to_owned)));
        let hidden = hidden::with(private.iter().map(PathBuf::as_path));
        if let Some(other) = hidden::in_the_way(&repos, &hidden) {
            return Err(Refusal::refused(format!(
                "agents cannot see the clones in `{}`, because `{}` is hidden from them\n  fix: choose another \
                 folder with --repos",
                repos.display(),
                other.display()
            )));
        }
        let alone = alone(&repos)?;
        let program = std::env::current_exe()
            .map_err(|error| Refusal::refused(format!("this program cannot be found: {error}")))?;
        let state_home = repos.join("state");
        super::make_folder(&state_home).map_err(Refusal::refused)?;
        let client = config.client();
        let onloop = beside(&program);
        let settings = run::DriverSettings {
            server: config.url,
            key_file: config.key_file,
            authority_file: config.authority.map(|authority| authority.file().to_owned()),
            state_home,
            hidden,
            repos,
            program,
            onloop: vec![onloop.to_string_lossy().into_owned()],
        };
        let slots = self.slots;
        let active = ActiveRuns::default();
        let worker = Worker { name, host, slots, repositories, client, settings, active };
        Ok((worker, alone))
    }

    /// Returns the repositories that the worker accepts.
    fn repositories(&self, repos: &Path) -> Result<Vec<String>, Refusal> {
        let mut allowed = self.allow.clone();
        let file = repos.join("repositories");
        match std::fs::read_to_string(&file) {
            Ok(text) => {
                let lines = text.lines().map(str::trim);
                let meant = lines.filter(|line| !line.is_empty() && !line.starts_with('#'));
                allowed.extend(meant.map(str::to_owned));
            }
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => {}
            Err(error) => return Err(Refusal::refused(format!("`{}`: {error}", file.display()))),
        }
        if allowed.is_empty() {
            return Err(Refusal::usage(format!(
                "the allow-list is empty, so this worker accepts no repository\n  fix: name repositories \
                 with --allow URL, or one a line in `{}`",
                file.display()
            )));
        }
        if let Some(wrong) = allowed.iter().find(|entry| !is_entry(entry)) {
            return Err(Refusal::usage(format!(
                "`{}` is not an entry of an allow-list; expected an absolute path, a URL or `host:path`, \
                 with at most one `*`, which ends it and does not stand in the host",
                onloop_core::text::one_line(wrong)
            )));
        }
        Ok(allowed)
    }
}

/// Returns the `onloop` program beside this one; if there is none, this program acts as `onloop`.
fn beside(program: &Path) -> PathBuf {
    let name = if cfg!(windows) { "onloop.exe" } else { "onloop" };
    let onloop = program.with_file_name(name);
    if onloop.is_file() { onloop } else { program.to_owned() }
}

/// Locks the folders: two workers would remove each other's clones.
fn alone(repos: &Path) -> Result<File, Refusal> {
    let path = repos.join("worker.lock");
    let lock = crate::private::lock(&path);
    let lock = lock.map_err(|error| Refusal::refused(format!("`{}`: {error}", path.display())))?;
    lock.ok_or_else(|| {
        let repos = repos.display();
        Refusal::refused(format!(
            "another worker uses `{repos}`\n  fix: choose another folder with --repos"
        ))
    })
}

/// Returns the name of this machine.
pub(crate) fn host() -> String {
    let uname = rustix::system::uname();
    let name = uname.nodename().to_string_lossy().into_owned();
    let plain = |c: char| if c.is_ascii_alphanumeric() || "._-".contains(c) { c } else { '-' };
    match name.chars().map(plain).collect::<String>() {
        name if name.is_empty() => "machine".to_owned(),
        name => name,
    }
}
