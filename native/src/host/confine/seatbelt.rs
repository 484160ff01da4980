//! The sandbox of macOS: a profile for `sandbox-exec`.
//!
//! The profile is compared with what is written down in `golden`; it was not run on macOS.

#[cfg(target_os = "macos")]
use std::process::Command as OsCommand;

#[cfg(target_os = "macos")]
use onloop_core::effect::{Confinement, Failure, Mechanism, ProcessStatus};
use onloop_core::effect::{Network, Reach};

use super::paths::ConfinedPaths;
#[cfg(target_os = "macos")]
use super::{Finished, impossible, no_private_git, read_only::Snapshot};

/// Start of every profile.
const BEGINNING: &str = r#"(version 1)
(allow default)
(deny file-write*)
(allow file-write* (literal "/dev/null") (literal "/dev/tty") (regex #"^/dev/ttys[0-9]+$"))
(deny signal (target others))
(deny process-info* (target others))
(deny appleevent-send)
(deny system-privilege)
(deny mach-lookup (global-name "com.apple.SecurityServer"))
(deny mach-lookup (global-name "com.apple.securityd"))
(deny mach-lookup (global-name "com.apple.pasteboard.1"))
(deny mach-lookup (global-name "com.apple.coreservices.appleevents"))
(deny mach-lookup (global-name "com.apple.coreservices.launchservicesd"))
(deny mach-lookup (global-name "com.apple.ssh-agent"))
(deny network-outbound (remote unix-socket))
"#;

/// The rules; the last match decides.
fn profile(paths: &ConfinedPaths, network: &Network) -> String {
    let mut lines = Vec::new();
    for rule in &paths.there {
        // A program that resolves a path asks for each folder on the route.
        if matches!(rule.reach, Reach::Write | Reach::Read) {
            for folder in paths.hidden_above(&rule.path) {
                let path = quoted(&folder.display().to_string());
                lines.push(format!("(allow file-read-metadata (literal {path}))"));
            }
        }
        let path = quoted(&rule.path.display().to_string());
        let kind = if rule.is_folder { "subpath" } else { "literal" };
        match rule.reach {
            Reach::Write => {
                lines.push(format!("(allow file-read* file-write* ({kind} {path}))"));
                lines
                    .push(format!("(allow network-outbound (remote unix-socket ({kind} {path})))"));
            }
            Reach::Read | Reach::Others => {
                lines.push(format!("(allow file-read* ({kind} {path}))"));
                lines.push(format!("(deny file-write* ({kind} {path}))"));
            }
            Reach::Scratch if paths.is_inner_scratch(rule) => {
                lines.push(format!("(allow file-read* file-write* ({kind} {path}))"));
            }
            Reach::Scratch | Reach::Hidden => {
                lines.push(format!("(deny file-read* file-write* ({kind} {path}))"));
            }
        }
    }
    for unprotected in &paths.unprotected {
        let path = quoted(&unprotected.display().to_string());
        lines.push(format!("(deny file-write* (subpath {path}))"));
    }
    if *network != Network::All {
        lines.push("(deny network*)".to_owned());
    }
    format!("{BEGINNING}{}\n", lines.join("\n"))
}

/// Quotes text for the profile.
fn quoted(text: &str) -> String {
    format!("\"{}\"", text.replace('\\', "\\\\").replace('"', "\\\""))
}

/// A confined program.
#[cfg(target_os = "macos")]
pub(in crate::host) struct Confined {
    snapshot: Snapshot,
}

/// Runs `command` in `sandbox-exec`.
#[cfg(target_os = "macos")]
pub(in crate::host) fn confine(
    command: OsCommand,
    confinement: &Confinement,
    _records: &[std::os::fd::RawFd],
) -> Result<(OsCommand, Confined), Failure> {
    if confinement.only.is_some_and(|only| only != Mechanism::Seatbelt) {
        return Err(impossible("this is macOS, which has another mechanism"));
    }
    if confinement.git.is_some() {
        return Err(no_private_git());
    }
    if confinement.network.is_list() {
        return Err(impossible("a list of names in `network` takes Linux and `bwrap`"));
    }
    if confinement.network == Network::Loopback {
        return Err(impossible("macOS has no loopback of its own for a program"));
    }
    let paths = ConfinedPaths::of(confinement);
    let mut wrapped = OsCommand::new("/usr/bin/sandbox-exec");
    wrapped.arg("-p").arg(profile(&paths, &confinement.network));
    wrapped.arg(command.get_program()).args(command.get_args());
    for (name, value) in command.get_envs() {
        match value {
            Some(value) => wrapped.env(name, value),
            None => wrapped.env_remove(name),
        };
    }
    if let Some(folder) = command.get_current_dir() {
        wrapped.current_dir(folder);
    }
    Ok((wrapped, Confined { snapshot: Snapshot::all(&paths)? }))
}

#[cfg(target_os = "macos")]
impl Confined {
    /// Returns `None`, because `sandbox-exec` applies the profile.
    pub(in crate::host) fn take_restrictions(&mut self) -> Option<super::Restrictions> {
        None
    }

    /// Repairs unprotected paths.
    pub(in crate::host) fn finish(self, _status: ProcessStatus) -> Result<Finished, Failure> {
        let (mechanism, repaired) = (Mechanism::Seatbelt, self.snapshot.repair()?);
        Ok(Finished { mechanism, repaired, refused: Vec::new() })
    }
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use super::super::paths::ConfinedPath;
    use super::*;

    fn paths() -> ConfinedPaths {
        let rule =
            |path: &str, reach, is_folder| ConfinedPath { path: path.into(), reach, is_folder };
        ConfinedPaths {
            there: vec![
                rule("/Users/u/.ssh", Reach::Hidden, true),
                rule("/Users/u/.npmrc", Reach::Hidden, false),
                rule("/Users/u/a \"b\\", Reach::Write, true),
                rule("/Users/u/a \"b\\/.git/config", Reach::Read, false),
                rule("/Users/v", Reach::Hidden, true),
                rule("/Users/v/c/d", Reach::Read, true),
            ],
            unprotected: vec![PathBuf::from("/Users/u/w/.git/commondir")],
            ..ConfinedPaths::default()
        }
    }

    #[test]
    fn the_profile_is_as_written_down() {
        for (network, golden) in [
            (Network::All, include_str!("golden/all.sb")),
            (Network::None, include_str!("golden/none.sb")),
        ] {
            let profile = profile(&paths(), &network);
            if std::env::var_os("ONLOOP_BLESS").is_some() {
                let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/src/host/confine/golden");
                std::fs::write(format!("{folder}/{}.sb", network), &profile).unwrap();
            }
            assert_eq!(profile, golden, "{}", network);
        }
    }
}
