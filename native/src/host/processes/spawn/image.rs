//! The arguments of `exec`, prepared before the child starts.

use std::collections::BTreeMap;
use std::ffi::{CString, OsStr, OsString};
use std::io;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::process::Command as OsCommand;
use std::ptr;

use libc::c_char;

/// Search path without `PATH`, as in the C library.
const USUAL_PATH: &str = "/bin:/usr/bin";

/// A program with its arguments, its environment and its folder.
pub(super) struct Image {
    /// Candidate paths in the order of the search.
    candidates: Vec<CString>,
    arguments: List,
    environment: List,
    folder: Option<CString>,
}

/// Strings, and the null-terminated list of their addresses.
struct List {
    addresses: Vec<*const c_char>,
    /// The strings behind the addresses.
    _strings: Vec<CString>,
}

impl Image {
    /// Prepares `command`, with our environment unless it is to be `empty`.
    ///
    /// # Errors
    ///
    /// `InvalidInput`: there is a NUL somewhere.
    pub(super) fn of(command: &OsCommand, empty: bool) -> io::Result<Image> {
        let mut environment: BTreeMap<OsString, OsString> = match empty {
            true => BTreeMap::new(),
            false => std::env::vars_os().collect(),
        };
        for (name, value) in command.get_envs() {
            match value {
                Some(value) => environment.insert(name.to_owned(), value.to_owned()),
                None => environment.remove(name),
            };
        }
        let path = environment.get(OsStr::new("PATH"));
        let program = command.get_program();
        let candidates =
            candidates(program, path.map_or(OsStr::new(USUAL_PATH), OsString::as_os_str));
        let words = std::iter::once(program).chain(command.get_args());
        let variables = environment.iter().map(|(name, value)| {
            let mut variable = name.clone();
            variable.push("=");
            variable.push(value);
            variable
        });
        Ok(Image {
            candidates: candidates.into_iter().map(terminated).collect::<io::Result<_>>()?,
            arguments: List::of(words.map(OsStr::to_owned))?,
            environment: List::of(variables)?,
            folder: command
                .get_current_dir()
                .map(|folder| terminated(folder.as_os_str().to_owned()))
                .transpose()?,
        })
    }

    /// Enters the folder. Allocates nothing.
    pub(super) fn enter_folder(&self) -> io::Result<()> {
        match &self.folder {
            Some(folder) => Ok(rustix::process::chdir(folder.as_c_str())?),
            None => Ok(()),
        }
    }

    /// Calls `exec`; returns its error. Allocates nothing.
    #[expect(unsafe_code, reason = "only the caller knows whether it may become another program")]
    pub(super) fn execute(&self) -> io::Error {
        let (arguments, environment) = (&self.arguments.addresses, &self.environment.addresses);
        let mut denied = None;
        for candidate in &self.candidates {
            // SAFETY: all of it ends as the call demands and lives until it returns.
            unsafe {
                libc::execve(candidate.as_ptr(), arguments.as_ptr(), environment.as_ptr());
            }
            let error = io::Error::last_os_error();
            match error.raw_os_error() {
                // Another folder may contain it.
                Some(libc::EACCES) => denied = Some(error),
                Some(
                    libc::ENOENT | libc::ENOTDIR | libc::ESTALE | libc::ENODEV | libc::ETIMEDOUT,
                ) => {}
                _ => return error,
            }
        }
        denied.unwrap_or_else(|| io::Error::from_raw_os_error(libc::ENOENT))
    }
}

impl List {
    fn of(strings: impl Iterator<Item = OsString>) -> io::Result<List> {
        let strings = strings.map(terminated).collect::<io::Result<Vec<CString>>>()?;
        let addresses = strings.iter().map(|string| string.as_ptr()).chain([ptr::null()]).collect();
        Ok(List { addresses, _strings: strings })
    }
}

/// Returns candidate paths of `program`: a name with a slash is one path, relative to its current
/// folder; an empty part of `PATH` means that folder.
fn candidates(program: &OsStr, path: &OsStr) -> Vec<OsString> {
    if program.as_bytes().contains(&b'/') {
        return vec![program.to_owned()];
    }
    let folders = path.as_bytes().split(|byte| *byte == b':');
    folders
        .map(|folder| {
            let mut place = folder.to_vec();
            if !place.is_empty() && place.last() != Some(&b'/') {
                place.push(b'/');
            }
            place.extend(program.as_bytes());
            OsString::from_vec(place)
        })
        .collect()
}

fn terminated(text: OsString) -> io::Result<CString> {
    CString::new(text.into_vec()).map_err(|_| io::ErrorKind::InvalidInput.into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn programs_are_looked_for_where_a_shell_does() {
        let places = |program: &str, path: &str| -> Vec<String> {
            let places = candidates(OsStr::new(program), OsStr::new(path));
            places.into_iter().map(|place| place.into_string().unwrap()).collect()
        };
        assert_eq!(places("make", "/usr/bin:/bin/"), ["/usr/bin/make", "/bin/make"]);
        assert_eq!(places("make", ":tools:"), ["make", "tools/make", "make"]);
        assert_eq!(places("./make", "/usr/bin"), ["./make"]);
        assert_eq!(places("/opt/make", ""), ["/opt/make"]);
    }
}
