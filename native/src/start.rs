//! Gathers the start of a program from the process.

use std::cell::LazyCell;
use std::collections::BTreeMap;
use std::hash::{BuildHasher, RandomState};
use std::io::IsTerminal;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use onloop_core::effect::{Exit, Start, Terminal};
use onloop_core::text;
use onloop_core::time::Timestamp;

use crate::host;

/// Freezes the clock when set.
const NOW: &str = "ONLOOP_NOW";
/// Width of a terminal that does not report one.
const COLUMNS: u16 = 80;

/// Why a program cannot start.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum StartError {
    /// An argument is not UTF-8.
    Argument(String),
    /// The current folder is gone, or its name is not UTF-8.
    Folder(String),
    /// `ONLOOP_NOW` is not a time.
    Now(String),
}

impl StartError {
    /// How the process ends.
    pub(crate) fn exit(&self) -> Exit {
        match self {
            StartError::Argument(_) | StartError::Now(_) => Exit::Usage,
            StartError::Folder(_) => Exit::Refused,
        }
    }
}

impl std::fmt::Display for StartError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            StartError::Argument(argument) => {
                write!(f, "the argument `{}` is not UTF-8", text::one_line(argument))
            }
            StartError::Folder(reason) => {
                write!(f, "cannot work in the current folder: {}", text::one_line(reason))
            }
            StartError::Now(value) => write!(
                f,
                "`{NOW}` is `{}`; expected RFC 3339 (`2026-03-20T21:23:15Z`) or milliseconds \
                 since 1970",
                text::one_line(value)
            ),
        }
    }
}

/// Returns the start, and the time of a frozen clock.
pub(crate) fn gather() -> Result<(Start, Option<Timestamp>), StartError> {
    let argv = std::env::args_os()
        .map(|argument| argument.into_string())
        .collect::<Result<Vec<_>, _>>()
        .map_err(|argument| StartError::Argument(argument.to_string_lossy().into_owned()))?;
    let env = environment();
    let frozen = frozen_clock(&env)?;
    let cwd = std::env::current_dir().map_err(|error| StartError::Folder(error.to_string()))?;
    let cwd = cwd
        .into_os_string()
        .into_string()
        .map_err(|cwd| StartError::Folder(format!("`{}` is not UTF-8", cwd.to_string_lossy())))?;
    let now = frozen.unwrap_or_else(|| host::timestamp(SystemTime::now()));
    let program = program(argv.first().map_or("", String::as_str), &env, Path::new(&cwd));
    let start = Start {
        argv,
        program: program.into_iter().collect(),
        env,
        cwd,
        now,
        terminal: terminal(),
        process: host::identity(),
        system: std::env::consts::OS.parse().ok(),
        role: None,
        quick_ms: 0,
        random: random(),
    };
    Ok((start, frozen))
}

/// Returns only the state home.
pub(crate) fn state_home() -> Option<String> {
    let cwd = std::env::current_dir().ok()?.into_os_string().into_string().ok()?;
    onloop_core::effect::state_home(&environment(), &cwd)
}

/// Returns the path by which this program was called, if it leads here. A package manager keeps
/// that path across updates, while the file behind it changes.
fn program(name: &str, env: &BTreeMap<String, String>, cwd: &Path) -> Option<String> {
    let itself = std::env::current_exe().ok()?;
    let same = LazyCell::new(|| itself.canonicalize().ok());
    let candidates: Vec<PathBuf> = match name.contains(std::path::MAIN_SEPARATOR) {
        true => vec![cwd.join(name)],
        false => {
            let path = env.get("PATH").map_or("", String::as_str);
            let folders = std::env::split_paths(path).filter(|folder| folder.is_absolute());
            folders.map(|folder| folder.join(name)).collect()
        }
    };
    let leads_here =
        |path: &PathBuf| *path == itself || (same.is_some() && path.canonicalize().ok() == *same);
    let called = candidates.into_iter().find(leads_here).unwrap_or_else(|| itself.clone());
    // Without `.`: `cwd/./onloop` is `cwd/onloop`.
    let plain: PathBuf = called.components().collect();
    plain.into_os_string().into_string().ok()
}

fn environment() -> BTreeMap<String, String> {
    std::env::vars_os()
        .filter_map(|(name, value)| Some((name.into_string().ok()?, value.into_string().ok()?)))
        .collect()
}

fn frozen_clock(env: &BTreeMap<String, String>) -> Result<Option<Timestamp>, StartError> {
    match env.get(NOW).filter(|value| !value.is_empty()) {
        None => Ok(None),
        Some(value) => match Timestamp::parse(value) {
            Some(at) => Ok(Some(at)),
            None => Err(StartError::Now(value.clone())),
        },
    }
}

fn terminal() -> Terminal {
    Terminal {
        stdin: std::io::stdin().is_terminal(),
        stdout: std::io::stdout().is_terminal(),
        stderr: std::io::stderr().is_terminal(),
        columns: columns(),
    }
}

#[cfg(unix)]
pub(crate) fn columns() -> u16 {
    use rustix::termios::tcgetwinsize;
    let size = tcgetwinsize(std::io::stderr()).or_else(|_| tcgetwinsize(std::io::stdout()));
    size.map(|size| size.ws_col).ok().filter(|&columns| columns > 0).unwrap_or(COLUMNS)
}

#[cfg(not(unix))]
pub(crate) fn columns() -> u16 {
    COLUMNS
}

/// The standard library keys its hash maps with 128 bits from the operating system; a keyed
/// hash of two different inputs is as unpredictable as its key.
fn random() -> [u8; 16] {
    let key = RandomState::new();
    let halves = [key.hash_one(0_u8), key.hash_one(1_u8)];
    let mut bytes = [0; 16];
    bytes[..8].copy_from_slice(&halves[0].to_le_bytes());
    bytes[8..].copy_from_slice(&halves[1].to_le_bytes());
    bytes
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_clock_is_frozen_by_a_time_and_refuses_anything_else() {
        let env = |value: &str| BTreeMap::from([(NOW.to_owned(), value.to_owned())]);
        let at = Timestamp::parse("2026-03-20T21:23:15Z");
        assert_eq!(frozen_clock(&env("2026-03-20T21:23:15Z")), Ok(at));
        assert_eq!(frozen_clock(&env("1774041795000")), Ok(at));
        assert_eq!(frozen_clock(&env("")), Ok(None));
        let error = frozen_clock(&env("tomorrow")).unwrap_err();
        assert_eq!(error.exit(), Exit::Usage);
        assert!(error.to_string().starts_with("`ONLOOP_NOW` is `tomorrow`; expected"));
    }

    #[test]
    fn two_starts_never_share_their_randomness() {
        assert_ne!(random(), random());
    }
}
