//! The key with which the engine signs its calls of our handlers, so that no other program of this
//! machine can call them.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use ed25519_dalek::SigningKey;

/// The bytes before a private key, by RFC 8410.
const PRIVATE_PREFIX: [u8; 16] =
    *b"\x30\x2e\x02\x01\x00\x30\x05\x06\x03\x2b\x65\x70\x04\x22\x04\x20";
const BEGIN: &str = "-----BEGIN PRIVATE KEY-----\n";
const END: &str = "\n-----END PRIVATE KEY-----\n";

/// A private key. It is never printed.
pub(super) struct Identity(SigningKey);

impl Identity {
    pub(super) fn from_seed(seed: [u8; 32]) -> Identity {
        Identity(SigningKey::from_bytes(&seed))
    }

    /// Reads the text that [`Identity::to_pem`] returned.
    pub(super) fn from_pem(pem: &str) -> Option<Identity> {
        let der = STANDARD.decode(pem.strip_prefix(BEGIN)?.strip_suffix(END)?).ok()?;
        let seed = der.strip_prefix(&PRIVATE_PREFIX)?.try_into().ok()?;
        Some(Identity::from_seed(seed))
    }

    /// Returns the key as PEM.
    pub(super) fn to_pem(&self) -> String {
        let der = [PRIVATE_PREFIX.as_slice(), self.0.as_bytes()].concat();
        format!("{BEGIN}{}{END}", STANDARD.encode(der))
    }

    /// Returns the public key in Restate's form.
    pub(super) fn public(&self) -> String {
        format!("publickeyv1_{}", bs58::encode(self.0.verifying_key().as_bytes()).into_string())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_is_read_as_it_was_written() {
        let identity = Identity::from_seed([7; 32]);
        let read = Identity::from_pem(&identity.to_pem()).expect("what was written");
        assert_eq!(read.public(), identity.public());
        // Another implementation derived this key from the same seed.
        assert_eq!(identity.public(), "publickeyv1_GmaDrppBC7P5ARKV8g3djiwP89vz1jLK23V2GBjuAEGB");
        assert!(Identity::from_pem("").is_none());
        assert!(Identity::from_pem(&identity.to_pem().replace("MC4C", "MC4D")).is_none());
    }
}
