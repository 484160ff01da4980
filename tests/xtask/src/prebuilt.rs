//! Programs that PyPI has compiled, by version and digest: cargo needs minutes to build them.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::command::{lock_installations, run, target_folder};
use crate::sources;
use crate::stage::Stop;
use crate::tally::Tally;

/// The program on `PATH`, else the one that an earlier call installed, else a new one.
/// `NAME.txt` beside the manifest has the digests; cargo builds the crate of that name where PyPI has none.
pub(crate) fn program(name: &str, version: &str) -> Result<PathBuf, Stop> {
    let folder = target_folder().join(format!("{name}-{version}"));
    let installed = folder.join("bin").join(format!("{name}{}", std::env::consts::EXE_SUFFIX));
    let _others_wait = lock_installations()?;
    for program in [PathBuf::from(name), installed.clone()] {
        if answers(&program) {
            return Ok(program);
        }
    }
    println!("{name} is not there yet; installing {version}");
    if from_python(name, &folder).is_err() {
        let mut cargo = Command::new("cargo");
        cargo.args(["install", "--locked", "--quiet", name, "--version", version]);
        cargo.arg("--root").arg(&folder);
        run(cargo)?;
    }
    match answers(&installed) {
        true => Ok(installed),
        false => Err(format!("{} was installed and does not run", installed.display()).into()),
    }
}

fn from_python(name: &str, folder: &Path) -> Result<Tally, Stop> {
    let mut pip = Command::new("python3");
    pip.args(["-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--no-deps"])
        .args(["--only-binary", ":all:", "--require-hashes", "--target"])
        .arg(folder)
        .args(["--requirement", &format!("tests/xtask/{name}.txt")])
        .current_dir(sources::workspace_root());
    run(pip)
}

fn answers(program: &Path) -> bool {
    let mut command = Command::new(program);
    command.arg("--version").stdout(Stdio::null()).stderr(Stdio::null());
    command.status().is_ok_and(|status| status.success())
}
