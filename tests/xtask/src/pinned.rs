//! What a stage installs from the registry: pinned, once, below the target folder.

use std::path::Path;
use std::process::Command;

use crate::command::run;
use crate::stage::Stop;

/// What says what is wanted; the last one how npm is to behave.
const NAMED_BY: [&str; 3] = ["package.json", "package-lock.json", ".npmrc"];
/// Written when everything is there.
const COMPLETE: &str = "complete";

/// What `folder` names, in `place`; `what` says what that is. What cannot be installed is a failure: a
/// stage that says nothing tests nothing.
pub(crate) fn install(folder: &Path, place: &Path, what: &str) -> Result<(), Stop> {
    if is_installed(folder, place) {
        return Ok(());
    }
    println!("{what}: not in {} yet, or other ones; installing", place.display());
    let failed = |error: std::io::Error| Stop::from(format!("{}: {error}", place.display()));
    if place.exists() {
        std::fs::remove_dir_all(place).map_err(failed)?;
    }
    std::fs::create_dir_all(place).map_err(failed)?;
    for name in NAMED_BY {
        std::fs::copy(folder.join(name), place.join(name)).map_err(failed)?;
    }
    let mut npm = Command::new("npm");
    // Not `npm ci`: it wants a lock file that names what only other platforms need.
    let options = ["install", "--no-save", "--ignore-scripts", "--no-audit", "--no-fund"];
    npm.args(options).current_dir(place);
    run(npm).map_err(|stop| format!("{what} could not be installed\n{}", stop.why))?;
    // npm writes its own opinion into the lock file; what was asked for is what counts.
    for name in NAMED_BY {
        std::fs::copy(folder.join(name), place.join(name)).map_err(failed)?;
    }
    std::fs::write(place.join(COMPLETE), "").map_err(failed)
}

/// Whether an installation ran to its end, of the very versions that are wanted now.
fn is_installed(folder: &Path, place: &Path) -> bool {
    let is_same = |name: &&str| {
        let wanted = std::fs::read(folder.join(name));
        wanted
            .is_ok_and(|wanted| std::fs::read(place.join(name)).is_ok_and(|found| found == wanted))
    };
    place.join(COMPLETE).exists() && NAMED_BY.iter().all(is_same)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_is_installed_again_when_others_are_wanted_and_after_a_broken_installation() {
        let place = std::env::temp_dir().join(format!("onloop-pinned-{}", std::process::id()));
        let (folder, installed) = (place.join("wanted"), place.join("installed"));
        for folder in [&folder, &installed] {
            std::fs::create_dir_all(folder).unwrap();
            for name in NAMED_BY {
                std::fs::write(folder.join(name), name).unwrap();
            }
        }
        assert!(!is_installed(&folder, &installed), "it never ran to its end");
        std::fs::write(installed.join(COMPLETE), "").unwrap();
        assert!(is_installed(&folder, &installed));
        std::fs::write(folder.join("package-lock.json"), "another version").unwrap();
        assert!(!is_installed(&folder, &installed));
        std::fs::remove_dir_all(place).unwrap();
    }
}
