//! Signed documents: the Dead Simple Signing Envelope with one Ed25519 signature, and keys in the
//! form that other tools read.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use ed25519_dalek::{Signature, Signer, SigningKey, VerifyingKey};
use serde::{Deserialize, Serialize};

use super::document;
use super::ledger::sha256;

/// What is signed: a statement of in-toto.
pub const PAYLOAD_TYPE: &str = "application/vnd.in-toto+json";

/// What stands before a public key, by RFC 8410.
const PUBLIC_PREFIX: [u8; 12] = *b"\x30\x2a\x30\x05\x06\x03\x2b\x65\x70\x03\x21\x00";
/// What stands before a private key, by RFC 8410.
const PRIVATE_PREFIX: [u8; 16] =
    *b"\x30\x2e\x02\x01\x00\x30\x05\x06\x03\x2b\x65\x70\x04\x22\x04\x20";

/// Signs receipts, or the calls of a fleet's engine. Nothing prints it.
pub struct PrivateKey(SigningKey);

/// Tells whether a receipt was signed with the private key that belongs to it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PublicKey(VerifyingKey);

/// Why a signed document is not believed, or a key is none; a clause.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum EnvelopeError {
    /// It is not an envelope.
    #[error(
        "it is not a signed receipt: expected an envelope with one signature, as onloop writes it"
    )]
    Form,
    /// It is about something else.
    #[error("it is not a receipt: what is signed is not a statement of in-toto")]
    Type,
    /// Somebody else signed it.
    #[error("it was signed with another key")]
    OtherKey,
    /// It is not what was signed.
    #[error("the signature does not fit: it was changed after it was signed")]
    Signature,
    /// A key cannot be read.
    #[error("it is not an Ed25519 key in PEM")]
    Key,
}

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Envelope {
    payload_type: String,
    payload: String,
    signatures: Vec<SignatureDocument>,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct SignatureDocument {
    keyid: String,
    sig: String,
}

impl PrivateKey {
    /// A key of its own for every `random`, which nobody else may know.
    pub fn from_random(random: [u8; 16]) -> PrivateKey {
        use sha2::{Digest, Sha256};
        let seed = Sha256::digest([b"onloop receipt key\0".as_slice(), &random].concat());
        PrivateKey::from_seed(seed.into())
    }

    /// The key that `seed` stands for.
    pub fn from_seed(seed: [u8; 32]) -> PrivateKey {
        PrivateKey(SigningKey::from_bytes(&seed))
    }

    /// Reads what [`PrivateKey::to_pem`] wrote, or `openssl genpkey -algorithm ed25519`.
    ///
    /// # Errors
    ///
    /// [`EnvelopeError::Key`].
    pub fn from_pem(text: &str) -> Result<PrivateKey, EnvelopeError> {
        let seed = from_pem("PRIVATE KEY", &PRIVATE_PREFIX, text)?;
        Ok(PrivateKey::from_seed(seed))
    }

    /// The key as a file of its owner holds it.
    pub fn to_pem(&self) -> String {
        to_pem("PRIVATE KEY", &PRIVATE_PREFIX, self.0.as_bytes())
    }

    /// The key for whoever is to verify.
    pub fn public(&self) -> PublicKey {
        PublicKey(self.0.verifying_key())
    }

    /// The envelope around `payload`, on one line with its line break.
    pub fn sign(&self, payload: &[u8]) -> Vec<u8> {
        let signature = self.0.sign(&signed_bytes(payload));
        document::line(&Envelope {
            payload_type: PAYLOAD_TYPE.to_owned(),
            payload: STANDARD.encode(payload),
            signatures: vec![SignatureDocument {
                keyid: self.public().id(),
                sig: STANDARD.encode(signature.to_bytes()),
            }],
        })
    }
}

impl PublicKey {
    /// Reads a public key as `openssl pkey -pubout` and [`PublicKey::to_pem`] write it.
    ///
    /// # Errors
    ///
    /// [`EnvelopeError::Key`].
    pub fn from_pem(text: &str) -> Result<PublicKey, EnvelopeError> {
        let bytes = from_pem("PUBLIC KEY", &PUBLIC_PREFIX, text)?;
        VerifyingKey::from_bytes(&bytes).map(PublicKey).map_err(|_| EnvelopeError::Key)
    }

    /// The key as other tools read it.
    pub fn to_pem(&self) -> String {
        to_pem("PUBLIC KEY", &PUBLIC_PREFIX, self.0.as_bytes())
    }

    /// The key itself, without a form.
    pub fn as_bytes(&self) -> &[u8; 32] {
        self.0.as_bytes()
    }

    /// What names it: the SHA-256, hexadecimal, of its DER form.
    pub fn id(&self) -> String {
        sha256(&[PUBLIC_PREFIX.as_slice(), self.0.as_bytes()].concat())
    }

    /// What is signed in an envelope. Not one byte of it may be another than was written.
    ///
    /// # Errors
    ///
    /// Why it is not believed.
    pub fn verify(&self, bytes: &[u8]) -> Result<Vec<u8>, EnvelopeError> {
        let envelope: Envelope = serde_json::from_slice(bytes).map_err(|_| EnvelopeError::Form)?;
        let [signature] = envelope.signatures.as_slice() else { return Err(EnvelopeError::Form) };
        let decoded = |text: &str| STANDARD.decode(text).map_err(|_| EnvelopeError::Form);
        let (payload, sig) = (decoded(&envelope.payload)?, decoded(&signature.sig)?);
        if document::line(&envelope) != bytes {
            return Err(EnvelopeError::Form);
        }
        if envelope.payload_type != PAYLOAD_TYPE {
            return Err(EnvelopeError::Type);
        }
        if signature.keyid != self.id() {
            return Err(EnvelopeError::OtherKey);
        }
        let sig = Signature::from_slice(&sig).map_err(|_| EnvelopeError::Signature)?;
        let signed = signed_bytes(&payload);
        self.0.verify_strict(&signed, &sig).map_err(|_| EnvelopeError::Signature)?;
        Ok(payload)
    }
}

/// Type and payload, each behind its length: what the signature is about.
fn signed_bytes(payload: &[u8]) -> Vec<u8> {
    let kind = PAYLOAD_TYPE;
    let head = format!("DSSEv1 {} {kind} {} ", kind.len(), payload.len());
    [head.as_bytes(), payload].concat()
}

fn to_pem(label: &str, prefix: &[u8], key: &[u8; 32]) -> String {
    let body = STANDARD.encode([prefix, key].concat());
    format!("-----BEGIN {label}-----\n{body}\n-----END {label}-----\n")
}

fn from_pem(label: &str, prefix: &[u8], text: &str) -> Result<[u8; 32], EnvelopeError> {
    let body = text
        .trim()
        .strip_prefix(&format!("-----BEGIN {label}-----"))
        .and_then(|text| text.strip_suffix(&format!("-----END {label}-----")))
        .ok_or(EnvelopeError::Key)?;
    let der = STANDARD.decode(body.trim()).map_err(|_| EnvelopeError::Key)?;
    let key = der.strip_prefix(prefix).ok_or(EnvelopeError::Key)?;
    key.try_into().map_err(|_| EnvelopeError::Key)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_altered_byte_is_found() {
        let key = PrivateKey::from_random([7; 16]);
        let payload = br#"{"_type":"https://in-toto.io/Statement/v1","subject":[]}"#;
        let envelope = key.sign(payload);
        let public = key.public();
        assert_eq!(public.verify(&envelope).as_deref(), Ok(payload.as_slice()));
        for at in 0..envelope.len() {
            let mut altered = envelope.clone();
            altered[at] ^= 1 << (at % 8);
            assert!(public.verify(&altered).is_err(), "byte {at}");
            assert!(public.verify(&envelope[..at]).is_err(), "cut at {at}");
        }
        let longer = [&envelope[..], b" "].concat();
        assert_eq!(public.verify(&longer), Err(EnvelopeError::Form));
        let other = PrivateKey::from_random([8; 16]);
        assert_eq!(other.public().verify(&envelope), Err(EnvelopeError::OtherKey));
        let mut forged = other.sign(payload);
        let (ours, theirs) = (public.id(), other.public().id());
        let text = String::from_utf8(forged).unwrap().replace(&theirs, &ours);
        forged = text.into_bytes();
        assert_eq!(public.verify(&forged), Err(EnvelopeError::Signature));
    }

    #[test]
    fn keys_are_read_as_they_are_written() {
        let key = PrivateKey::from_random([1; 16]);
        let again = PrivateKey::from_pem(&key.to_pem()).expect("a key");
        assert_eq!(again.public(), key.public());
        assert_eq!(PublicKey::from_pem(&key.public().to_pem()), Ok(key.public()));
        let text = key.public().to_pem();
        assert_eq!(PublicKey::from_pem(&text.replace('\n', "\r\n")), Ok(key.public()));
        for bad in ["", "-----BEGIN PUBLIC KEY-----", &text[1..], &key.to_pem()] {
            assert_eq!(PublicKey::from_pem(bad), Err(EnvelopeError::Key), "{bad}");
        }
        assert!(PrivateKey::from_pem(&text).is_err());
    }

    /// From RFC 8032, 7.1, the first test, and RFC 8410, 10.1: keys of others are read.
    #[test]
    fn keys_and_signatures_are_those_of_the_standard() {
        let pem = "-----BEGIN PRIVATE KEY-----\n\
                   MC4CAQAwBQYDK2VwBCIEINTuctv5E1hK1bbY8fdp+K06/nwoy/HU++CXqI9EdVhC\n\
                   -----END PRIVATE KEY-----\n";
        let public = "-----BEGIN PUBLIC KEY-----\n\
                      MCowBQYDK2VwAyEAGb9ECWmEzf6FQbrBZ9w7lshQhqowtrbLDFw4rXAxZuE=\n\
                      -----END PUBLIC KEY-----\n";
        let key = PrivateKey::from_pem(pem).expect("a key");
        assert_eq!(key.public().to_pem(), public);
    }
}
