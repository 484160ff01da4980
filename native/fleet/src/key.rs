//! The key of a fleet. Whoever has it may do everything that the fleet's server does; it never travels.
//! Each request and each answer carries a code that only somebody with the key can make, so both sides
//! know that they speak to the other, and that nothing was changed on the way.

mod nonces;

use std::path::{Path, PathBuf};

use hmac::{Hmac, KeyInit, Mac};
use onloop_core::text;
use sha2::{Digest, Sha256};

pub use nonces::{Nonces, NoncesError};

/// How far the clocks of two machines may be apart, in milliseconds.
pub const WINDOW_MS: u64 = 5 * 60 * 1000;
/// Bytes of a key.
const KEY_BYTES: usize = 32;
/// Characters of a number that is used once, hexadecimal.
const NONCE_CHARS: usize = 32;

/// A fleet's key. Nothing prints it.
#[derive(Clone)]
pub struct Key([u8; KEY_BYTES]);

impl std::fmt::Debug for Key {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Key")
    }
}

/// Why there is no key.
#[derive(Debug, thiserror::Error)]
pub enum KeyError {
    /// Its file cannot be read or written.
    #[error("the fleet's key {}: {error}", path.display())]
    File {
        /// The file.
        path: PathBuf,
        /// Why.
        error: std::io::Error,
    },
    /// Its file has something else in it.
    #[error(
        "{} is not a fleet's key: expected 64 hexadecimal digits; copy `fleet.key` of the server's \
         data folder there", path.display()
    )]
    Form {
        /// The file.
        path: PathBuf,
    },
}

/// What a request says of itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stamp {
    /// When it was made, in milliseconds since 1970.
    pub at_ms: u64,
    /// Used once.
    pub nonce: String,
}

impl Stamp {
    /// A stamp that nobody has used.
    pub fn new(at_ms: u64) -> Stamp {
        Stamp { at_ms, nonce: text::hex(&crate::private::random::<{ NONCE_CHARS / 2 }>()) }
    }

    /// Whether it has the form of one.
    pub fn is_sound(&self) -> bool {
        self.nonce.len() == NONCE_CHARS && self.nonce.bytes().all(|byte| byte.is_ascii_hexdigit())
    }
}

impl Key {
    /// A key that nobody has.
    pub fn new() -> Key {
        Key(crate::private::random())
    }

    /// Reads a key.
    ///
    /// # Errors
    ///
    /// Why there is none.
    pub fn read(path: &Path) -> Result<Key, KeyError> {
        let hex = std::fs::read_to_string(path)
            .map_err(|error| KeyError::File { path: path.to_owned(), error })?;
        let key = from_hex(hex.trim()).and_then(|bytes| bytes.try_into().ok());
        key.map(Key).ok_or_else(|| KeyError::Form { path: path.to_owned() })
    }

    /// Reads the key in `path`, made if there is none.
    ///
    /// # Errors
    ///
    /// Why there is none.
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

    /// Writes the key for its owner alone.
    ///
    /// # Errors
    ///
    /// [`KeyError::File`].
    pub fn write(&self, path: &Path) -> Result<(), KeyError> {
        crate::private::write(path, format!("{}\n", text::hex(&self.0)).as_bytes())
            .map_err(|error| KeyError::File { path: path.to_owned(), error })
    }

    /// The code of a request.
    pub fn of_request(&self, stamp: &Stamp, method: &str, path: &str, body: &[u8]) -> String {
        text::hex(&self.request(stamp, method, path, body).finalize().into_bytes())
    }

    /// Whether that is the code of a request.
    pub fn is_of_request(
        &self,
        code: &str,
        stamp: &Stamp,
        method: &str,
        path: &str,
        body: &[u8],
    ) -> bool {
        is_code(self.request(stamp, method, path, body), code)
    }

    /// The code of the answer to the request with this stamp.
    pub fn of_answer(&self, nonce: &str, status: u16, body: &[u8]) -> String {
        text::hex(&self.answer(nonce, status, body).finalize().into_bytes())
    }

    /// Whether that is the code of an answer.
    pub fn is_of_answer(&self, code: &str, nonce: &str, status: u16, body: &[u8]) -> bool {
        is_code(self.answer(nonce, status, body), code)
    }

    fn request(&self, stamp: &Stamp, method: &str, path: &str, body: &[u8]) -> Hmac<Sha256> {
        let at = stamp.at_ms.to_string();
        self.over(&["onloop fleet request 1", method, path, &at, &stamp.nonce], body)
    }

    fn answer(&self, nonce: &str, status: u16, body: &[u8]) -> Hmac<Sha256> {
        self.over(&["onloop fleet answer 1", nonce, &status.to_string()], body)
    }

    /// No word has a line break, so no two lists of words are the same text.
    fn over(&self, words: &[&str], body: &[u8]) -> Hmac<Sha256> {
        let mut mac = Hmac::<Sha256>::new_from_slice(&self.0).expect("a key of any length is one");
        for word in words {
            mac.update(word.as_bytes());
            mac.update(b"\n");
        }
        mac.update(&Sha256::digest(body));
        mac
    }
}

impl Default for Key {
    fn default() -> Key {
        Key::new()
    }
}

/// In the same time, whatever the code is.
fn is_code(mac: Hmac<Sha256>, code: &str) -> bool {
    from_hex(code).is_some_and(|code| mac.verify_slice(&code).is_ok())
}

fn from_hex(hex: &str) -> Option<Vec<u8>> {
    let digits: Option<Vec<u8>> = hex
        .chars()
        .map(|digit| digit.to_digit(16).and_then(|digit| u8::try_from(digit).ok()))
        .collect();
    let digits = digits.filter(|digits| digits.len() % 2 == 0)?;
    Some(digits.chunks_exact(2).map(|pair| pair[0] << 4 | pair[1]).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_code_is_of_one_request_alone() {
        let key = Key([3; KEY_BYTES]);
        let stamp = Stamp { at_ms: 7, nonce: "00112233445566778899aabbccddeeff".to_owned() };
        let code = key.of_request(&stamp, "POST", "/v1/take", b"{}");
        let is = |key: &Key, stamp: &Stamp, method, path, body| {
            key.is_of_request(&code, stamp, method, path, body)
        };
        assert!(is(&key, &stamp, "POST", "/v1/take", b"{}"));
        assert!(!is(&Key([4; KEY_BYTES]), &stamp, "POST", "/v1/take", b"{}"));
        assert!(!is(&key, &Stamp { at_ms: 8, ..stamp.clone() }, "POST", "/v1/take", b"{}"));
        let other = Stamp { nonce: "00112233445566778899aabbccddeef0".to_owned(), ..stamp.clone() };
        assert!(!is(&key, &other, "POST", "/v1/take", b"{}"));
        assert!(!is(&key, &stamp, "PUT", "/v1/take", b"{}"));
        assert!(!is(&key, &stamp, "POST", "/v1/lines", b"{}"));
        assert!(!is(&key, &stamp, "POST", "/v1/take", b"{} "));
        for code in ["", "00", &code[2..], "zz", &format!("{code}00")] {
            assert!(!key.is_of_request(code, &stamp, "POST", "/v1/take", b"{}"), "{code}");
        }
    }

    #[test]
    fn a_code_is_of_one_answer_alone() {
        let key = Key([3; KEY_BYTES]);
        let code = key.of_answer("one", 200, b"{}");
        assert!(key.is_of_answer(&code, "one", 200, b"{}"));
        assert!(!key.is_of_answer(&code, "two", 200, b"{}"));
        assert!(!key.is_of_answer(&code, "one", 409, b"{}"));
        assert!(!key.is_of_answer(&code, "one", 200, b"[]"));
        assert!(!Key([4; KEY_BYTES]).is_of_answer(&code, "one", 200, b"{}"));
    }

    #[test]
    fn a_key_is_made_once() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("fleet.key");
        let missing = Key::read(&path).unwrap_err();
        assert!(matches!(missing, KeyError::File { .. }), "{missing}");
        let made = Key::read_or_make(&path).expect("a key");
        assert_eq!(Key::read_or_make(&path).expect("a key").0, made.0);
        assert_ne!(Key::new().0, made.0);
        for content in ["", "00", "not hexadecimal", &"0".repeat(63), &"0".repeat(66)] {
            std::fs::write(&path, content).expect("written");
            let error = Key::read_or_make(&path).unwrap_err();
            assert!(matches!(error, KeyError::Form { .. }), "{content}: {error}");
        }
    }

    #[test]
    fn stamps_have_a_form() {
        assert!(Stamp::new(0).is_sound());
        assert_ne!(Stamp::new(0), Stamp::new(0));
        for nonce in ["", "00", &"g".repeat(NONCE_CHARS), &"0".repeat(NONCE_CHARS + 1)] {
            assert!(!Stamp { at_ms: 0, nonce: nonce.to_owned() }.is_sound(), "{nonce}");
        }
    }
}
