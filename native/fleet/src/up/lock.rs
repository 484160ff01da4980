//! One server for a data folder.

use std::fs::File;
use std::io::{Read, Seek, Write};
use std::path::Path;
use std::time::{Duration, Instant};

use rustix::fs::{FlockOperation, flock};

/// How long a lock is waited for whose holder may just have ended.
const PATIENCE: Duration = Duration::from_millis(500);

/// Held for as long as the server runs; the system lets go of it when the process ends.
pub(crate) struct DataLock {
    _file: File,
}

impl DataLock {
    /// Takes a data folder, which is made where there is none.
    ///
    /// # Errors
    ///
    /// Who has it, or why it cannot be taken; a message.
    pub(crate) fn take(data: &Path) -> Result<DataLock, String> {
        let path = data.join("server.lock");
        let cannot = |error: std::io::Error| format!("cannot use {}: {error}", data.display());
        crate::private::create_folder(data).map_err(cannot)?;
        let mut options = File::options();
        options.read(true).write(true).create(true).truncate(false);
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
        let mut file = options.open(&path).map_err(cannot)?;
        if !is_taken(&file) {
            let mut holder = String::new();
            let _ = file.read_to_string(&mut holder);
            let holder = match onloop_core::text::one_line(&holder) {
                none if none.is_empty() => "another process".to_owned(),
                holder => holder,
            };
            return Err(format!(
                "{holder} runs the fleet of {} already\n  fix: stop it first, or choose another folder with `--data`",
                data.display()
            ));
        }
        let holder = format!("process {}", std::process::id());
        let written = file.set_len(0).and_then(|()| file.rewind());
        written.and_then(|()| file.write_all(holder.as_bytes())).map_err(cannot)?;
        Ok(DataLock { _file: file })
    }
}

/// Takes the kernel's lock. What a process that has ended was just starting holds a copy of its files until
/// it becomes another program, which is worth a moment.
fn is_taken(file: &File) -> bool {
    let began = Instant::now();
    loop {
        if flock(file, FlockOperation::NonBlockingLockExclusive).is_ok() {
            return true;
        }
        if began.elapsed() > PATIENCE {
            return false;
        }
        std::thread::sleep(PATIENCE / 20);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_data_folder_has_one_server() {
        let folder = tempfile::tempdir().expect("a folder");
        let data = folder.path().join("data");
        let held = DataLock::take(&data).expect("it is free");
        let why = DataLock::take(&data).err().expect("it is not free");
        assert!(why.starts_with(&format!("process {} runs", std::process::id())), "{why}");
        drop(held);
        DataLock::take(&data).expect("it is free again");
    }
}
