//! Programs that tests need. As root on Debian and its relatives they are installed.

use std::path::PathBuf;
use std::process::Command;
use std::time::Instant;

use crate::command::lock_installations;
use crate::stage::Stop;

/// Programs that the tests need on Linux, with the packages that contain them.
const NEEDED: [(&str, &str); 4] =
    [("bwrap", "bubblewrap"), ("strace", "strace"), ("nvim", "neovim"), ("python3", "python3")];

/// Makes sure that the programs that tests need are on `PATH`.
pub(crate) fn demand_programs() -> Result<(), Stop> {
    if !cfg!(target_os = "linux") {
        return Ok(());
    }
    for (program, package) in NEEDED {
        if on_path(&[program]).is_none() {
            install(package, &[program])
                .map_err(|why| Stop::from(format!("`{program}` is not on PATH: {why}")))?;
        }
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
