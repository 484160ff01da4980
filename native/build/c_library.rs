//! Arguments with which the linker puts the C library into a program.
//!
//! A hook is one process for every tool call of an agent, and finding, mapping and binding
//! shared libraries is a third of what starting one costs. Why not by a compiler option, and
//! what it costs: `docs/decisions/0079-programs-at-fixed-addresses.md`.

use std::env;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Set to `dynamic` by whoever packages for a distribution that wants shared libraries, and to
/// `static` by whoever publishes a program that must run where there are none.
const WISH: &str = "ONLOOP_LINK";

/// The names by which the compiler asks for libraries, and the archives that hold the same.
const ARCHIVES: [(&str, &str); 4] = [
    ("libc.a", "libc.a"),
    ("libm.a", "libm.a"),
    ("libgcc_s.a", "libgcc_eh.a"),
    ("libgcc.a", "libgcc.a"),
];

/// What the standard library takes where it is there, which does not bring it out of an archive.
/// Without these, starting another program copies the whole process first.
const WANTED: [&str; 2] = ["gnu_get_libc_version", "posix_spawn_file_actions_addchdir_np"];

/// Nothing where the program is better linked as usual: on another system, for another
/// machine, and where the archives are not installed.
///
/// # Panics
///
/// Where `static` is asked for and cannot be had, or something is asked for that is neither.
pub(crate) fn arguments() -> Vec<String> {
    println!("cargo::rerun-if-env-changed={WISH}");
    let set = |name: &str| env::var(name).unwrap_or_default();
    let wish = set(WISH);
    assert!(
        ["", "dynamic", "static"].contains(&&*wish),
        "{WISH} is `{wish}`; expected `static` or `dynamic`"
    );
    let linked_in = if wish == "dynamic" { None } else { linked_in() };
    assert!(
        linked_in.is_some() || wish != "static" || set("CARGO_CFG_TARGET_OS") != "linux",
        "{WISH} is `static`, and the C library cannot be linked in: that needs glibc's archives \
         (Debian's libc6-dev has them) and a build for the machine that builds"
    );
    linked_in.unwrap_or_default()
}

/// The arguments that link the C library in, where that can be done.
fn linked_in() -> Option<Vec<String>> {
    let set = |name: &str| env::var(name).unwrap_or_default();
    let usual = set("CARGO_CFG_TARGET_OS") != "linux"
        || set("CARGO_CFG_TARGET_ENV") != "gnu"
        || set("CARGO_CFG_TARGET_FEATURE").contains("crt-static")
        || set("HOST") != set("TARGET");
    if usual {
        return None;
    }
    // The compiler asks for the libraries before these arguments, and once: archives that need
    // each other have to be asked again.
    let folder = folder_of_archives(Path::new(&set("OUT_DIR")))?;
    let mut arguments = vec![
        format!("-L{}", folder.display()),
        "-static".to_owned(),
        // Otherwise half a megabyte of addresses is written at each start.
        "-no-pie".to_owned(),
        "-Wl,--start-group,-lgcc_s,-lgcc,-lc,--end-group".to_owned(),
    ];
    arguments.extend(WANTED.iter().map(|name| format!("-Wl,--undefined={name}")));
    Some(arguments)
}

/// A folder in which only archives are found by the names that the compiler uses.
fn folder_of_archives(out: &Path) -> Option<PathBuf> {
    let folder = out.join("archives");
    // It may be there from an earlier build.
    let _ = fs::remove_dir_all(&folder);
    fs::create_dir_all(&folder).ok()?;
    for (name, archive) in ARCHIVES {
        fs::copy(installed(archive)?, folder.join(name)).ok()?;
    }
    Some(folder)
}

/// Where the C compiler has `archive`.
fn installed(archive: &str) -> Option<PathBuf> {
    let asked = Command::new(linker()).arg(format!("-print-file-name={archive}")).output().ok()?;
    let path = PathBuf::from(String::from_utf8(asked.stdout).ok()?.trim());
    // What it does not have it gives back as it was asked.
    path.is_absolute().then_some(path).filter(|path| path.is_file())
}

fn linker() -> String {
    env::var("RUSTC_LINKER").unwrap_or_else(|_| "cc".to_owned())
}
