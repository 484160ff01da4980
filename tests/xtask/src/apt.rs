//! Programs that tests need and that Debian's own tool installs where it may.

use std::path::PathBuf;
use std::process::Command;
use std::time::Instant;

use crate::command::lock_installations;
use crate::stage::Stop;

/// A program that tests need on Linux, its package, and the variable that says that this machine
/// cannot have it, so that those tests are left out.
struct Demanded {
    program: &'static str,
    package: &'static str,
    excuse: &'static str,
}

const DEMANDED: [Demanded; 3] = [
    Demanded { program: "bwrap", package: "bubblewrap", excuse: "ONLOOP_TEST_WITHOUT_BUBBLEWRAP" },
    Demanded { program: "strace", package: "strace", excuse: "ONLOOP_TEST_WITHOUT_STRACE" },
    Demanded { program: "nvim", package: "neovim", excuse: "ONLOOP_TEST_WITHOUT_NEOVIM" },
];

/// Makes sure that what tests need is there on Linux, unless somebody says that it cannot be.
pub(crate) fn demand_programs() -> Result<(), Stop> {
    let is_excused = |excuse| std::env::var_os(excuse).is_some_and(|set| !set.is_empty());
    for Demanded { program, package, excuse } in DEMANDED {
        if !cfg!(target_os = "linux") || is_excused(excuse) || on_path(&[program]).is_some() {
            continue;
        }
        install(package, &[program]).map_err(|why| {
            Stop::from(format!(
                "no {package}: {why}\n`{program}` is not on PATH; install it, or set {excuse} \
                 where this machine cannot have it"
            ))
        })?;
    }
    Ok(())
}

/// The first of these programs that is on `PATH`.
pub(crate) fn on_path(names: &[&str]) -> Option<PathBuf> {
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

/// Installs the package of a program that is not on `PATH`; returns why that cannot be done.
pub(crate) fn install(package: &str, programs: &[&str]) -> Result<(), String> {
    let _others_wait = lock_installations()?;
    if on_path(programs).is_some() {
        return Ok(());
    }
    let apt = on_path(&["apt-get"]).ok_or("there is no apt-get to install it with")?;
    if !is_root() {
        return Err("installing it needs root".to_owned());
    }
    let started = Instant::now();
    // A fresh system has no lists of packages.
    for words in [&["update", "-qq"][..], &["install", "-qq", "-y", "--no-install-recommends"][..]]
    {
        let mut command = Command::new(&apt);
        command.args(words).env("DEBIAN_FRONTEND", "noninteractive");
        if words[0] == "install" {
            command.arg(package);
        }
        println!("$ apt-get {}", words.join(" "));
        let status = command.status().map_err(|error| error.to_string())?;
        if !status.success() {
            return Err(format!("apt-get {} failed", words[0]));
        }
    }
    println!("installed {package} in {} s", started.elapsed().as_secs());
    Ok(())
}

/// Nobody is asked for a password, and nothing becomes root by itself: a container or a fresh
/// machine, where the build is root anyway, gets what it lacks.
fn is_root() -> bool {
    let id = Command::new("id").arg("-u").output();
    id.is_ok_and(|id| id.stdout.trim_ascii() == b"0")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_name_goes_before_the_first_folder() {
        let top = std::env::temp_dir().join(format!("onloop-apt-{}", std::process::id()));
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
