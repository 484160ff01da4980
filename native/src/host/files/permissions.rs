//! Permissions of new files and folders.

use std::fs::{DirBuilder, File};
use std::io;
use std::path::Path;

/// Who may read a new file or folder.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::host) enum Readers {
    /// Everyone that the process's umask allows.
    Usual,
    /// Only the owner, whatever the umask. On systems without permission bits this equals `Usual`:
    /// the parent folder decides.
    Owner,
}

impl Readers {
    /// From the `private` of a request.
    pub(in crate::host) fn of(private: bool) -> Readers {
        if private { Readers::Owner } else { Readers::Usual }
    }
}

#[cfg(unix)]
pub(crate) use unix::tighten;

#[cfg(unix)]
mod unix {
    use std::fs::Permissions;
    use std::os::unix::fs::{DirBuilderExt, MetadataExt, PermissionsExt};

    use super::*;

    const PRIVATE_FILE: u32 = 0o600;
    const PRIVATE_FOLDER: u32 = 0o700;

    /// Closes a state home to everybody but its owner. Whether it was open: other users may have read
    /// what lies in it. A folder without runs is left alone, since a variable may name any folder.
    pub(crate) fn tighten(home: &Path) -> io::Result<bool> {
        let found = std::fs::metadata(home)?;
        let mode = found.permissions().mode();
        let is_ours = found.uid() == rustix::process::geteuid().as_raw();
        let is_open = mode & 0o077 != 0 && mode & 0o1000 == 0;
        if !is_ours || !is_open || !home.join("runs").is_dir() {
            return Ok(false);
        }
        std::fs::set_permissions(home, Permissions::from_mode(PRIVATE_FOLDER))?;
        Ok(true)
    }

    impl Readers {
        /// The permissions that a file is created with, before the process's mask.
        pub(in crate::host) fn file_bits(self) -> u32 {
            match self {
                Readers::Usual => 0o644,
                Readers::Owner => PRIVATE_FILE,
            }
        }

        /// Applies the permissions to an open file, which may have existed or have lost bits to the
        /// umask.
        pub(in crate::host) fn apply(self, file: &File) -> io::Result<()> {
            match self {
                Readers::Owner if file.metadata()?.permissions().mode() & 0o777 != PRIVATE_FILE => {
                    file.set_permissions(Permissions::from_mode(PRIVATE_FILE))
                }
                Readers::Owner | Readers::Usual => Ok(()),
            }
        }

        /// Creates one folder.
        pub(in crate::host) fn create_folder(self, folder: &Path) -> io::Result<()> {
            if self == Readers::Usual {
                return DirBuilder::new().create(folder);
            }
            DirBuilder::new().mode(PRIVATE_FOLDER).create(folder)?;
            if std::fs::symlink_metadata(folder)?.permissions().mode() & 0o777 == PRIVATE_FOLDER {
                return Ok(());
            }
            std::fs::set_permissions(folder, Permissions::from_mode(PRIVATE_FOLDER))
        }
    }
}

#[cfg(not(unix))]
impl Readers {
    pub(in crate::host) fn apply(self, _file: &File) -> io::Result<()> {
        Ok(())
    }

    pub(in crate::host) fn create_folder(self, folder: &Path) -> io::Result<()> {
        DirBuilder::new().create(folder)
    }
}
