//! What a process of ours says, in a file that does not grow without end.

use std::fs::File;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use tokio::io::{AsyncRead, AsyncReadExt};
use tokio::sync::Notify;

/// Most bytes of a log; as many again lie beside it, which are older.
const LOG_BYTES: u64 = 4 * 1024 * 1024;

/// A log.
#[derive(Clone)]
pub(crate) struct Log {
    file: Arc<Mutex<Kept>>,
    /// Told after each part that is written.
    told: Arc<Notify>,
}

struct Kept {
    path: PathBuf,
    file: File,
    bytes: u64,
}

impl Log {
    /// Begins a log; what an earlier one said is kept beside it.
    pub(crate) fn open(path: &Path, told: Arc<Notify>) -> io::Result<Log> {
        crate::private::create_folder(path.parent().unwrap_or(Path::new(".")))?;
        let kept = Kept { path: path.to_owned(), file: begin(path)?, bytes: 0 };
        Ok(Log { file: Arc::new(Mutex::new(kept)), told })
    }

    /// Writes down what comes from `stream` until it ends.
    pub(crate) fn take(&self, stream: Option<impl AsyncRead + Send + Unpin + 'static>) {
        let Some(mut stream) = stream else { return };
        let log = self.clone();
        tokio::spawn(async move {
            let mut buffer = vec![0; 16 * 1024];
            while let Ok(read) = stream.read(&mut buffer).await {
                if read == 0 {
                    break;
                }
                log.write(&buffer[..read]);
                log.told.notify_one();
            }
        });
    }

    /// A log that cannot be written is no reason to stop.
    fn write(&self, bytes: &[u8]) {
        let mut kept = self.file.lock().unwrap_or_else(PoisonError::into_inner);
        if kept.bytes > LOG_BYTES
            && let Ok(file) = begin(&kept.path)
        {
            kept.file = file;
            kept.bytes = 0;
        }
        let _ = kept.file.write_all(bytes);
        kept.bytes += bytes.len() as u64;
    }
}

/// A new file, with the one that was there beside it.
fn begin(path: &Path) -> io::Result<File> {
    if path.exists() {
        std::fs::rename(path, path.with_extension("1.log"))?;
    }
    crate::private::write(path, b"")?;
    File::options().append(true).open(path)
}
