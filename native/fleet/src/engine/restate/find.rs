//! Finds the program of the server.

use std::env;
use std::path::{Path, PathBuf};

/// The name of the program.
const PROGRAM: &str = "restate-server";
/// The environment variable that names its path.
const VARIABLE: &str = "ONLOOP_RESTATE_SERVER";

/// The program is not installed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "the fleet's engine is not installed\n  cause: `restate-server` is neither on PATH nor in \
     `node_modules/.bin` here or below {folder}\n  fix: npm install --prefix {folder} \
     @restatedev/restate-server"
)]
pub struct Missing {
    folder: String,
}

/// Returns `chosen`, else the program that the environment names, else the one on PATH, else the one
/// that npm has installed in the current folder, its ancestors or `folder`.
///
/// # Errors
///
/// [`Missing`] contains the command that installs it.
pub fn find(chosen: Option<&Path>, folder: &Path) -> Result<PathBuf, Missing> {
    let named = env::var_os(VARIABLE).filter(|named| !named.is_empty()).map(PathBuf::from);
    if let Some(program) = chosen.map(Path::to_owned).or(named) {
        return Ok(behind(&program));
    }
    let path = env::var_os("PATH").unwrap_or_default();
    let on_path = env::split_paths(&path).filter(|folder| folder.is_absolute());
    let here = env::current_dir().unwrap_or_default();
    let by_npm = here.ancestors().chain([folder]).map(|folder| folder.join("node_modules/.bin"));
    let found =
        on_path.chain(by_npm).map(|folder| folder.join(PROGRAM)).find(|path| path.is_file());
    match found {
        Some(program) => Ok(behind(&program)),
        None => Err(Missing { folder: folder.display().to_string() }),
    }
}

/// Returns the program behind npm's script, because the script does not end the program when it is
/// killed itself.
fn behind(program: &Path) -> PathBuf {
    let system = match env::consts::OS {
        "macos" => "darwin",
        other => other,
    };
    let machine = match env::consts::ARCH {
        "x86_64" => "x64",
        "aarch64" => "arm64",
        other => other,
    };
    let Ok(script) = program.canonicalize() else { return program.to_owned() };
    if script.extension().is_none_or(|extension| extension != "js") {
        return script;
    }
    let package = format!("@restatedev/restate-server-{system}-{machine}/bin/{PROGRAM}");
    let beside =
        |folder: &Path| [folder.join("node_modules").join(&package), folder.join(&package)];
    let found = script.ancestors().flat_map(beside).find(|path| path.is_file());
    found.unwrap_or_else(|| program.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_program_behind_the_script_of_npm_is_found() {
        let folder = tempfile::tempdir().expect("a folder");
        let folder = folder.path().canonicalize().expect("a folder");
        let write = |path: &str| {
            let path = folder.join(path);
            std::fs::create_dir_all(path.parent().expect("a folder")).expect("a folder");
            std::fs::write(&path, "").expect("a file");
            path
        };
        let machine = if env::consts::ARCH == "aarch64" { "arm64" } else { "x64" };
        let system = if env::consts::OS == "macos" { "darwin" } else { env::consts::OS };
        let script = write("node_modules/@restatedev/restate-server/lib/index.js");
        assert_eq!(behind(&script), script, "there is nothing else");
        let package = format!("node_modules/@restatedev/restate-server-{system}-{machine}");
        let program = write(&format!("{package}/bin/restate-server"));
        assert_eq!(behind(&script), program);
        assert_eq!(behind(&program), program);
        assert_eq!(find(Some(&script), &folder), Ok(program));
    }
}
