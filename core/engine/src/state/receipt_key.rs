//! The key with which receipts are signed. It lies in the state home, for its owner alone, and
//! nothing prints it.

use crate::state::store::StateHome;
use onloop_documents::envelope::PrivateKey;
use onloop_effect::{Durability, Expect, Failure, FailureKind, Io, OptionalExt};

/// Largest key that is read.
const KEY_BYTES: u64 = 4096;

/// The key of this state home, if it has one.
///
/// # Errors
///
/// It is there and cannot be read.
pub async fn existing(io: &Io) -> Result<Option<PrivateKey>, Failure> {
    let path = StateHome::of(io)?.receipt_key();
    let Some((bytes, _)) = io.read(&path, KEY_BYTES).await.optional()? else { return Ok(None) };
    let key = String::from_utf8_lossy(&bytes);
    PrivateKey::from_pem(&key)
        .map(Some)
        .map_err(|error| Failure::new(FailureKind::Invalid, format!("`{path}`: {error}")))
}

/// The key of this state home, made now if it has none.
///
/// # Errors
///
/// It can neither be read nor written.
pub async fn key(io: &Io) -> Result<PrivateKey, Failure> {
    if let Some(key) = existing(io).await? {
        return Ok(key);
    }
    if io.env("ONLOOP_TRACE").is_some() {
        // What is unpredictable about it would be in the trace.
        let message = "no key is made while a trace is written; try again without ONLOOP_TRACE";
        return Err(Failure::new(FailureKind::Denied, message));
    }
    let made = PrivateKey::from_random(io.start().random);
    let path = StateHome::of(io)?.receipt_key();
    let pem = made.to_pem().into_bytes();
    match io.write_private(&path, pem, Expect::Absent, Durability::Durable).await {
        Ok(_) => Ok(made),
        // Another process was first.
        Err(failure) if failure.is_exists() => existing(io).await?.ok_or(failure),
        Err(failure) => Err(failure),
    }
}
