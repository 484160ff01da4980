//! The log of a child process, in a file of bounded size.

use std::fs::File;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use tokio::io::{AsyncRead, AsyncReadExt};
use tokio::sync::Notify;

/// Most bytes of a log file. The file before it is kept beside it.
const LOG_BYTES: u64 = 4 * 1024 * 1024;

/// A log that several streams are copied to.
#[derive(Clone)]
pub(crate) struct Log {
    file: Arc<Mutex<LogFile>>,
    /// Notified after each part that is written.
    written: Arc<Notify>,
}

struct LogFile {
    path: PathBuf,
    file: File,
    bytes: u64,
}

impl Log {
    /// Begins a log; the previous one is kept beside it.
    pub(crate) fn open(path: &Path, written: Arc<Notify>) -> io::Result<Log> {
        crate::private::create_folder(path.parent().unwrap_or(Path::new(".")))?;
        let file = LogFile { path: path.to_owned(), file: rotate(path)?, bytes: 0 };
        Ok(Log { file: Arc::new(Mutex::new(file)), written })
    }

    /// Copies `stream` to the log until it ends.
    pub(crate) fn copy(&self, stream: Option<impl AsyncRead + Send + Unpin + 'static>) {
        let Some(mut stream) = stream else { return };
        let log = self.clone();
        tokio::spawn(async move {
            let mut buffer = vec![0; 16 * 1024];
            while let Ok(read) = stream.read(&mut buffer).await {
                if read == 0 {
                    break;
                }
                log.write(&buffer[..read]);
                log.written.notify_one();
            }
        });
    }

    /// Writes bytes; a log that cannot be written does not stop the process.
    fn write(&self, bytes: &[u8]) {
        let mut log = self.file.lock().unwrap_or_else(PoisonError::into_inner);
        if log.bytes > LOG_BYTES
            && let Ok(file) = rotate(&log.path)
        {
            log.file = file;
            log.bytes = 0;
        }
        let _ = log.file.write_all(bytes);
        log.bytes += bytes.len() as u64;
    }
}

/// Creates an empty file at `path` and renames the one that was there.
fn rotate(path: &Path) -> io::Result<File> {
    if path.exists() {
        std::fs::rename(path, path.with_extension("1.log"))?;
    }
    crate::private::write(path, b"")?;
    File::options().append(true).open(path)
}
