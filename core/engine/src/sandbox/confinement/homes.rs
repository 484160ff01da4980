//! What of the homes of a machine a confined program sees and writes.

use super::{ConfineError, real_path};
use crate::sandbox::programs::OpenFolders;
use onloop_agents::confine::{Caches, ToolFolder, tool_folders, without_credentials};
use onloop_effect::{Io, is_within};
use onloop_sessions::handsoff::config::Config;
use onloop_syntax::limits::{GIT_CONFIG_BYTES, HOMES_LOOKED_AT, PROGRAMS_LOOKED_AT};
use std::collections::BTreeSet;

/// Folders of a home of which no program needs all.
const BROAD: [&str; 6] =
    [".cache", ".config", ".local", ".local/lib", ".local/share", ".local/state"];

/// Most programs of a folder outside of homes that may lead to one.
const LINKED_OUTSIDE: usize = 128;

/// What is seen and written of the homes.
pub(super) struct HomeView {
    /// The homes, that of the user first. All else in them is hidden.
    pub(super) homes: Vec<String>,
    /// The folders of tools in the user's own.
    pub(super) tools: Vec<ToolFolder>,
    /// Caches that the configuration names.
    pub(super) declared_caches: Vec<String>,
    /// What is seen.
    pub(super) visible: Vec<String>,
    /// What stays hidden in what is seen.
    pub(super) hidden: Vec<String>,
    /// Where programs are looked for, and what links there lead to.
    pub(super) programs: Vec<String>,
    /// The user's configuration of git without its credentials, if there are any.
    pub(super) gitconfig: Option<String>,
}

impl HomeView {
    /// Looks at the homes, for a program that may write `checkout`.
    ///
    /// # Errors
    ///
    /// `config` names a path that cannot be allowed.
    pub(super) async fn of(
        io: &Io,
        config: &Config,
        checkout: &str,
    ) -> Result<HomeView, ConfineError> {
        let homes = homes(io).await;
        let home = homes.first().map(String::as_str);
        let allowed = |key, paths: &[String]| {
            let read = Caches::read(paths, home);
            read.map_err(|refused| ConfineError::Path { key, refused })
        };
        let path = io.env("PATH").unwrap_or_default();
        let programs = path.split(':').filter(|path| path.starts_with('/'));
        let programs = programs.map(|path| path.trim_end_matches('/').to_owned());
        let mut programs: Vec<String> = programs.chain(own_program(io)).collect();
        let tools = tool_folders(home, |name| io.env(name));
        let mut visible: Vec<String> = tools.iter().flat_map(ToolFolder::visible).collect();
        // Toolchains whose programs are used, wherever they lie.
        for other in homes.iter().skip(1) {
            if programs.iter().any(|program| is_within(program, other)) {
                let others = tool_folders(Some(other), |_| None);
                visible.extend(others.iter().flat_map(ToolFolder::visible));
            }
        }
        for path in tools.iter().flat_map(ToolFolder::configurations) {
            if let Some((text, clean)) = configuration(io, &path).await
                && clean != text
            {
                visible.retain(|other| *other != path);
            }
        }
        let read = allowed("run.confine_read", &config.confine_read)?;
        let gitconfig = git_configuration(io, home, &mut visible).await;
        visible.extend_from_slice(read.paths());
        programs.extend(environments(io, &programs, &homes).await);
        let open = OpenFolders::around(io, &[checkout]).await;
        let mut linking = BTreeSet::new();
        for folder in &programs {
            // A confined program makes links where it writes.
            if !open.has(io, folder).await {
                linking.insert(folder);
            }
        }
        let led_to = led_to(io, &linking, &visible, &homes).await;
        programs.extend(led_to);
        let declared = allowed("run.confine_caches", &config.confine_caches)?;
        let declared_caches = declared.paths().to_vec();
        let mut hidden = Vec::new();
        for path in tools.iter().flat_map(ToolFolder::hidden) {
            match path.split_once("/*/") {
                Some((folder, rest)) => {
                    let names = io.list(folder).await.unwrap_or_default();
                    hidden.extend(names.iter().map(|name| format!("{folder}/{name}/{rest}")));
                }
                None => hidden.push(path),
            }
        }
        Ok(HomeView { homes, tools, declared_caches, visible, hidden, programs, gitconfig })
    }
}

/// The user's configuration of git: where it has credentials, its files are taken from `visible` and
/// the rest of what they say is returned.
async fn git_configuration(
    io: &Io,
    home: Option<&str>,
    visible: &mut Vec<String>,
) -> Option<String> {
    if let Some(file) = io.env("GIT_CONFIG_GLOBAL") {
        visible.extend(Some(file.to_owned()).filter(|file| file.starts_with('/')));
        return None;
    }
    let home = home?;
    let above = match io.env("XDG_CONFIG_HOME").filter(|path| path.starts_with('/')) {
        Some(path) => path.trim_end_matches('/').to_owned(),
        None => format!("{home}/.config"),
    };
    let files = [format!("{above}/git/config"), format!("{home}/.gitconfig")];
    let (mut all, mut has_credentials) = (String::new(), false);
    for file in &files {
        let Some((text, clean)) = configuration(io, file).await else { continue };
        has_credentials |= clean != text;
        all += &clean;
        all.push('\n');
    }
    if !has_credentials {
        return None;
    }
    visible.retain(|path| !files.contains(path));
    Some(all)
}

/// The text of a configuration, and what of it is no credentials; `None`: there is no such file.
pub(super) async fn configuration(io: &Io, file: &str) -> Option<(String, String)> {
    let (bytes, _) = io.read(file, GIT_CONFIG_BYTES).await.ok()?;
    let text = String::from_utf8_lossy(&bytes).into_owned();
    let clean = without_credentials(&text);
    Some((text, clean))
}

/// The virtual environments of Python that folders of programs belong to: the programs there need the
/// packages beside them.
async fn environments(io: &Io, programs: &[String], homes: &[String]) -> Vec<String> {
    let mut found = Vec::new();
    for environment in programs.iter().filter_map(|folder| folder.strip_suffix("/bin")) {
        let has_home = homes.iter().any(|home| is_within(home, environment));
        if !has_home && io.stat(&format!("{environment}/pyvenv.cfg")).await.is_ok() {
            found.push(environment.to_owned());
        }
    }
    found
}

/// What links in the folders of programs lead to, where it would be hidden: a tool's own folder, or
/// the program alone.
async fn led_to(
    io: &Io,
    programs: &BTreeSet<&String>,
    visible: &[String],
    homes: &[String],
) -> Vec<String> {
    let is_in_home = |path: &str| homes.iter().any(|home| path != home && is_within(path, home));
    let mut seen: Vec<String> = visible.to_vec();
    seen.extend(programs.iter().filter(|path| is_in_home(path)).map(|path| (*path).clone()));
    let (mut found, mut looked_at) = (Vec::new(), 0);
    for folder in programs {
        let names = io.list(folder).await.unwrap_or_default();
        // Those of the system have thousands, and lead to no home.
        if !is_in_home(folder) && names.len() > LINKED_OUTSIDE {
            continue;
        }
        for name in names {
            looked_at += 1;
            if looked_at > PROGRAMS_LOOKED_AT {
                return found;
            }
            let Ok(target) = io.canonical(&format!("{folder}/{name}")).await else { continue };
            if is_in_home(&target) && !seen.iter().any(|above| is_within(&target, above)) {
                let shown = package_of(&target, homes).unwrap_or(target);
                seen.push(shown.clone());
                found.push(shown);
            }
        }
    }
    found
}

/// The folder of a tool of which `program` is part; `None`: only the program is known to be part.
fn package_of(program: &str, homes: &[String]) -> Option<String> {
    let (folder, _) = program.rsplit_once('/')?;
    let package = folder.strip_suffix("/bin").unwrap_or(folder);
    let home = homes.iter().find(|home| is_within(package, home))?;
    let below = package.strip_prefix(home.as_str())?.trim_start_matches('/');
    let is_own = !below.is_empty() && !BROAD.contains(&below);
    is_own.then(|| package.to_owned())
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

#[cfg(test)]
mod tests {
    use super::package_of;

    #[test]
    fn a_program_brings_its_package_and_no_whole_home() {
        let homes = ["/home/u".to_owned()];
        for (program, package) in [
            ("/home/u/tools/x/bin/x", Some("/home/u/tools/x")),
            ("/home/u/.local/share/x/1.2", Some("/home/u/.local/share/x")),
            ("/home/u/bin/x", None),
            ("/home/u/x", None),
            ("/home/u/.local/bin/x", None),
            ("/srv/x/bin/x", None),
        ] {
            assert_eq!(package_of(program, &homes).as_deref(), package, "{program}");
        }
    }
}
