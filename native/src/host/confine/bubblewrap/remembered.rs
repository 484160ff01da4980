//! That `bwrap` works, remembered from one process to the next with everything that it depends on.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::io::Write as _;
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use onloop_core::effect::state_home;
use rustix::process::geteuid;

/// The file in the state home, where no confined program can write it.
const FILE: &str = "bubblewrap-works";

/// Where the kernel says what it is, and whether it lets `bwrap` work.
const KERNEL: [&str; 6] = [
    "/proc/sys/kernel/osrelease",
    "/proc/sys/kernel/version",
    "/proc/sys/kernel/random/boot_id",
    "/proc/sys/kernel/unprivileged_userns_clone",
    "/proc/sys/kernel/apparmor_restrict_unprivileged_userns",
    "/proc/sys/user/max_user_namespaces",
];

/// What one program was found to do on this kernel, by this user.
pub(super) struct Remembered {
    file: PathBuf,
    identity: String,
}

impl Remembered {
    /// `None`: there is no state home yet, or the program is not known.
    pub(super) fn of(program: &Path) -> Option<Remembered> {
        let names = ["ONLOOP_STATE_HOME", "XDG_STATE_HOME", "HOME"];
        let set = |name: &str| Some((name.to_owned(), std::env::var(name).ok()?));
        let variables: BTreeMap<String, String> = names.into_iter().filter_map(set).collect();
        let home = PathBuf::from(state_home(&variables, std::env::current_dir().ok()?.to_str()?)?);
        if !home.is_dir() {
            return None;
        }
        Some(Remembered { file: home.join(FILE), identity: identity(program)? })
    }

    /// What was found, if nothing has changed since.
    pub(super) fn recall(&self) -> Option<bool> {
        let said = std::fs::read_to_string(&self.file).ok()?;
        said.strip_prefix(&self.identity)?.parse().ok()
    }

    /// Remembers what was found. If that fails, the next process tries again.
    pub(super) fn keep(&self, makes_modes: bool) {
        let mut options = std::fs::OpenOptions::new();
        options.write(true).create(true).truncate(true).mode(0o600);
        if let Ok(mut file) = options.open(&self.file) {
            let _ = file.write_all(format!("{}{makes_modes}", self.identity).as_bytes());
        }
    }
}

fn identity(program: &Path) -> Option<String> {
    let found = program.metadata().ok()?;
    let mut identity = format!(
        "{} {} {} {} {} {} {}\n",
        program.display(),
        found.dev(),
        found.ino(),
        found.size(),
        found.mtime(),
        found.mtime_nsec(),
        geteuid().as_raw()
    );
    for path in KERNEL {
        let said = std::fs::read_to_string(path).unwrap_or_default();
        let _ = writeln!(identity, "{}", said.trim());
    }
    let namespace = std::fs::read_link("/proc/self/ns/user").ok()?;
    let _ = writeln!(identity, "{}", namespace.display());
    Some(identity)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_found_is_recalled_until_the_program_changes() {
        let folder = tempfile::tempdir().unwrap();
        let program = folder.path().join("bwrap");
        std::fs::write(&program, "one").unwrap();
        let remembered = |program: &Path| Remembered {
            file: folder.path().join(FILE),
            identity: identity(program).unwrap(),
        };
        assert_eq!(remembered(&program).recall(), None);
        remembered(&program).keep(true);
        assert_eq!(remembered(&program).recall(), Some(true));
        std::fs::write(&program, "another").unwrap();
        assert_eq!(remembered(&program).recall(), None);
    }
}
