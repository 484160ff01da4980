//! The npm package in a page and its worker: bundled with what the registry has, opened in Chromium.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Instant;

use crate::npm;
use crate::stage::Stop;
use crate::tally::Tally;

/// Names the browser, instead of those that are looked for.
pub(crate) const VARIABLE: &str = "ONLOOP_TEST_BROWSER";
/// The first of these on `PATH` is taken.
const NAMES: [&str; 4] = ["chromium", "chromium-browser", "google-chrome", "google-chrome-stable"];
const DEBIAN_PACKAGE: &str = "chromium";

/// Opens the package in a browser, which is installed where there is none.
pub(crate) fn test() -> Result<Tally, Stop> {
    npm::test_in_browser(&program()?)
}

/// A browser: the one that is named, else one that is there, else one that is installed.
pub(crate) fn program() -> Result<PathBuf, Stop> {
    match std::env::var_os(VARIABLE).filter(|named| !named.is_empty()) {
        Some(named) => Ok(PathBuf::from(named)),
        None => on_path(&NAMES).map_or_else(install, Ok),
    }
}

fn on_path(names: &[&str]) -> Option<PathBuf> {
    let path = std::env::var_os("PATH")?;
    find(names, &std::env::split_paths(&path).collect::<Vec<_>>())
}

/// The first of `names` that is a file in one of `folders`.
fn find(names: &[&str], folders: &[PathBuf]) -> Option<PathBuf> {
    let in_folders = |name: &&str| {
        folders.iter().map(|folder| folder.join(name)).find(|path: &PathBuf| path.is_file())
    };
    names.iter().find_map(in_folders)
}

/// With Debian's own tool, where we may. A stage that says nothing tests nothing, so anything else
/// is a failure that says what to do.
fn install() -> Result<PathBuf, Stop> {
    let refuse = |why: &str| {
        Stop::from(format!(
            "no browser: {why}\nnone of {} is on PATH; on Debian and its relatives: \
             sudo apt-get install {DEBIAN_PACKAGE}; elsewhere set {VARIABLE} to a Chromium",
            NAMES.join(", ")
        ))
    };
    let Some(apt) = on_path(&["apt-get"]) else {
        return Err(refuse("there is no apt-get to install one with"));
    };
    let Some(may) = permission() else {
        return Err(refuse("installing one needs root, or sudo without a password"));
    };
    let started = Instant::now();
    // A fresh system has no lists of packages.
    for words in [&["update", "-qq"][..], &["install", "-qq", "-y", "--no-install-recommends"][..]]
    {
        let mut command = may.command(&apt);
        command.args(words).env("DEBIAN_FRONTEND", "noninteractive");
        if words[0] == "install" {
            command.arg(DEBIAN_PACKAGE);
        }
        println!("$ apt-get {}", words.join(" "));
        let status = command.status().map_err(|error| refuse(&error.to_string()))?;
        if !status.success() {
            return Err(refuse(&format!("apt-get {} failed", words[0])));
        }
    }
    println!("installed a browser in {} s", started.elapsed().as_secs());
    on_path(&NAMES).ok_or_else(|| refuse("the package that was installed brought none"))
}

/// By which way we may install something.
enum May {
    Ourselves,
    Sudo,
}

impl May {
    fn command(&self, program: &Path) -> Command {
        match self {
            May::Ourselves => Command::new(program),
            May::Sudo => {
                let mut command = Command::new("sudo");
                // Never asks: nobody may be there.
                command.arg("-n").arg(program);
                command
            }
        }
    }
}

fn permission() -> Option<May> {
    let id = Command::new("id").arg("-u").output().ok()?;
    if id.stdout.trim_ascii() == b"0" {
        return Some(May::Ourselves);
    }
    let sudo = Command::new("sudo").args(["-n", "true"]).output().ok()?;
    sudo.status.success().then_some(May::Sudo)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_name_goes_before_the_first_folder() {
        let top = std::env::temp_dir().join(format!("onloop-browser-{}", std::process::id()));
        let folders = ["a", "b"].map(|name| top.join(name));
        for folder in &folders {
            std::fs::create_dir_all(folder).unwrap();
        }
        std::fs::write(folders[0].join("second"), "").unwrap();
        std::fs::write(folders[1].join("first"), "").unwrap();
        std::fs::create_dir(folders[0].join("first")).unwrap();
        assert_eq!(find(&["first", "second"], &folders), Some(folders[1].join("first")));
        assert_eq!(find(&["second"], &folders), Some(folders[0].join("second")));
        assert_eq!(find(&["third"], &folders), None);
        std::fs::remove_dir_all(&top).unwrap();
    }
}
