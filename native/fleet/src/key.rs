//! The key of a fleet: the bearer token of every request. A caller with the key may call every
//! operation.

use std::path::{Path, PathBuf};

use onloop_core::text;
use subtle::ConstantTimeEq;

/// Bytes of a key.
const KEY_BYTES: usize = 32;

/// A fleet's key: 64 hexadecimal digits. It is never printed.
#[derive(Clone)]
pub struct Key(String);

impl std::fmt::Debug for Key {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Key")
    }
}

/// Why the key cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum KeyError {
    /// The file cannot be read or written.
    #[error("the fleet's key {}: {error}", path.display())]
    File {
        /// The file.
        path: PathBuf,
        /// Why.
        error: std::io::Error,
    },
    /// The file contains something other than a key.
    #[error(
        "{} is not a fleet's key: expected 64 hexadecimal digits; copy `fleet.key` of the server's \
         data folder there", path.display()
    )]
    Form {
        /// The file.
        path: PathBuf,
    },
}

impl Key {
    /// Makes a key.
    pub fn new() -> Key {
        Key(text::hex(&crate::private::random::<KEY_BYTES>()))
    }

    /// Reads a key.
    ///
    /// # Errors
    ///
    /// Why it cannot be used.
    pub fn read(path: &Path) -> Result<Key, KeyError> {
        let text = std::fs::read_to_string(path)
            .map_err(|error| KeyError::File { path: path.to_owned(), error })?;
        let key = text.trim();
        let is_key = key.len() == 2 * KEY_BYTES && key.bytes().all(|byte| byte.is_ascii_hexdigit());
        if !is_key {
            return Err(KeyError::Form { path: path.to_owned() });
        }
        Ok(Key(key.to_owned()))
    }

    /// Reads the key in `path`, or creates it.
    ///
    /// # Errors
    ///
    /// Why it cannot be used.
    pub fn read_or_make(path: &Path) -> Result<Key, KeyError> {
        match Key::read(path) {
            Err(KeyError::File { error, .. }) if error.kind() == std::io::ErrorKind::NotFound => {
                let key = Key::new();
                key.write(path)?;
                Ok(key)
            }
            read => read,
        }
    }

    /// Writes the key, readable by its owner alone.
    ///
    /// # Errors
    ///
    /// [`KeyError::File`].
    pub fn write(&self, path: &Path) -> Result<(), KeyError> {
        crate::private::write(path, format!("{}\n", self.0).as_bytes())
            .map_err(|error| KeyError::File { path: path.to_owned(), error })
    }

    /// Returns the text that authorizes a request.
    pub(crate) fn text(&self) -> &str {
        &self.0
    }

    /// Whether a caller has this key. The comparison takes the same time for every text of the same
    /// length.
    pub(crate) fn is(&self, text: &str) -> bool {
        self.0.as_bytes().ct_eq(text.as_bytes()).into()
    }
}

impl Default for Key {
    fn default() -> Key {
        Key::new()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_whole_key_is_the_key() {
        let key = Key::new();
        assert!(key.is(key.text()));
        for other in ["", &key.text()[1..], &format!("{}0", key.text()), Key::new().text()] {
            assert!(!key.is(other), "{other}");
        }
    }

    #[test]
    fn a_key_is_made_once() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("fleet.key");
        let missing = Key::read(&path).unwrap_err();
        assert!(matches!(missing, KeyError::File { .. }), "{missing}");
        let made = Key::read_or_make(&path).expect("a key");
        assert_eq!(Key::read_or_make(&path).expect("a key").0, made.0);
        for content in ["", "00", "not hexadecimal", &"0".repeat(63), &"0".repeat(66)] {
            std::fs::write(&path, content).expect("written");
            let error = Key::read_or_make(&path).unwrap_err();
            assert!(matches!(error, KeyError::Form { .. }), "{content}: {error}");
        }
    }
}
