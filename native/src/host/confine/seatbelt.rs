//! The sandbox of macOS: a profile for `sandbox-exec`.
//!
//! The profile is compared with what is written down in `golden`; it was not run on macOS.

#[cfg(target_os = "macos")]
use std::process::Command as OsCommand;

#[cfg(target_os = "macos")]
use onloop_core::effect::{Confinement, Failure, Mechanism, ProcessStatus};
use onloop_core::effect::{Network, Reach};

use super::places::Places;
#[cfg(target_os = "macos")]
use super::{impossible, kept::Kept};

/// What every profile begins with.
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

/// The rules, of which the last that fits decides.
fn profile(places: &Places, network: Network) -> String {
    let mut lines = Vec::new();
    for place in &places.there {
        // A program that resolves a path asks for each folder on the way.
        if matches!(place.reach, Reach::Write | Reach::Read) {
            for folder in places.hidden_above(&place.path) {
                let path = quoted(&folder.display().to_string());
                lines.push(format!("(allow file-read-metadata (literal {path}))"));
            }
        }
        let path = quoted(&place.path.display().to_string());
        let kind = if place.is_folder { "subpath" } else { "literal" };
        match place.reach {
            Reach::Write => {
                lines.push(format!("(allow file-read* file-write* ({kind} {path}))"));
                lines
                    .push(format!("(allow network-outbound (remote unix-socket ({kind} {path})))"));
            }
            Reach::Read | Reach::Others => {
                lines.push(format!("(allow file-read* ({kind} {path}))"));
                lines.push(format!("(deny file-write* ({kind} {path}))"));
            }
            Reach::Scratch if places.is_inner_scratch(place) => {
                lines.push(format!("(allow file-read* file-write* ({kind} {path}))"));
            }
            Reach::Scratch | Reach::Hidden => {
                lines.push(format!("(deny file-read* file-write* ({kind} {path}))"));
            }
        }
    }
    for unheld in &places.unheld {
        let path = quoted(&unheld.display().to_string());
        lines.push(format!("(deny file-write* (subpath {path}))"));
    }
    if network != Network::All {
        lines.push("(deny network*)".to_owned());
    }
    format!("{BEGINNING}{}\n", lines.join("\n"))
}

/// Text in the notation of the profile.
fn quoted(text: &str) -> String {
    format!("\"{}\"", text.replace('\\', "\\\\").replace('"', "\\\""))
}

/// A program that was started confined.
#[cfg(target_os = "macos")]
pub(in crate::host) struct Confined {
    kept: Kept,
}

/// Has `sandbox-exec` run `command`.
#[cfg(target_os = "macos")]
pub(in crate::host) fn confine(
    command: OsCommand,
    confinement: &Confinement,
) -> Result<(OsCommand, Confined), Failure> {
    if confinement.only.is_some_and(|only| only != Mechanism::Seatbelt) {
        return Err(impossible("this is macOS, which has another mechanism"));
    }
    if confinement.network == Network::Loopback {
        return Err(impossible("macOS has no loopback of its own for a program"));
    }
    let places = Places::of(confinement);
    let mut wrapped = OsCommand::new("/usr/bin/sandbox-exec");
    wrapped.arg("-p").arg(profile(&places, confinement.network));
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
    Ok((wrapped, Confined { kept: Kept::all(&places)? }))
}

#[cfg(target_os = "macos")]
impl Confined {
    /// There are none: `sandbox-exec` does it all.
    pub(in crate::host) fn take_restrictions(&mut self) -> Option<super::Restrictions> {
        None
    }

    /// Puts right what could not be held.
    pub(in crate::host) fn finish(
        self,
        _status: ProcessStatus,
    ) -> Result<(Mechanism, Vec<String>), Failure> {
        Ok((Mechanism::Seatbelt, self.kept.put_right()?))
    }
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use super::super::places::Place;
    use super::*;

    fn places() -> Places {
        let place = |path: &str, reach, is_folder| Place { path: path.into(), reach, is_folder };
        Places {
            there: vec![
                place("/Users/u/.ssh", Reach::Hidden, true),
                place("/Users/u/.npmrc", Reach::Hidden, false),
                place("/Users/u/a \"b\\", Reach::Write, true),
                place("/Users/u/a \"b\\/.git/config", Reach::Read, false),
                place("/Users/v", Reach::Hidden, true),
                place("/Users/v/c/d", Reach::Read, true),
            ],
            unheld: vec![PathBuf::from("/Users/u/w/.git/commondir")],
            ..Places::default()
        }
    }

    #[test]
    fn the_profile_is_as_written_down() {
        for (network, golden) in [
            (Network::All, include_str!("golden/all.sb")),
            (Network::None, include_str!("golden/none.sb")),
        ] {
            let profile = profile(&places(), network);
            if std::env::var_os("ONLOOP_BLESS").is_some() {
                let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/src/host/confine/golden");
                std::fs::write(format!("{folder}/{}.sb", network.as_str()), &profile).unwrap();
            }
            assert_eq!(profile, golden, "{}", network.as_str());
        }
    }
}
