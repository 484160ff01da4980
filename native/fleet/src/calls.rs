//! What programs of the fleet ask of its server, one call after the other.

use std::time::Duration;

use crate::backoff::{Backoff, retry};
use crate::client::Client;
use crate::engine::{
    Append, Assignment, Beat, Claim, EngineError, Head, Lease, Lines, Offer, Overview, Release,
    Renewal, Submission,
};
use crate::wire::{Heard, Words};

/// The operations of [`Engine`](crate::engine::Engine) and what agents say, as somebody calls them who waits for the answer.
/// Each may be repeated.
pub trait Calls: Send + Sync {
    /// [`Engine::submit`](crate::engine::Engine::submit).
    fn submit(&self, run: &Submission) -> Result<(), EngineError>;
    /// [`Engine::take`](crate::engine::Engine::take).
    fn take(&self, offer: &Offer, wait: Duration) -> Result<Option<Assignment>, EngineError>;
    /// [`Engine::renew`](crate::engine::Engine::renew).
    fn renew(&self, beat: &Beat) -> Result<Vec<Renewal>, EngineError>;
    /// [`Engine::claim`](crate::engine::Engine::claim).
    fn claim(&self, claim: &Claim) -> Result<Lease, EngineError>;
    /// [`Engine::release`](crate::engine::Engine::release).
    fn release(&self, release: &Release) -> Result<(), EngineError>;
    /// [`Engine::append`](crate::engine::Engine::append).
    fn append(&self, lines: &Append) -> Result<Head, EngineError>;
    /// [`Engine::lines`](crate::engine::Engine::lines).
    fn lines(&self, run: &str, after: u64, wait: Duration) -> Result<Lines, EngineError>;
    /// [`Engine::overview`](crate::engine::Engine::overview).
    fn overview(&self) -> Result<Overview, EngineError>;
    /// [`Client::say`].
    fn say(&self, words: &Words) -> Result<(), EngineError>;
    /// [`Client::hear`].
    fn hear(&self, run: &str, heard: u64, wait: Duration) -> Result<Option<Heard>, EngineError>;
    /// [`Client::wanted`].
    fn wanted(&self, runs: &[String], wait: Duration) -> Result<Vec<String>, EngineError>;
}

impl Calls for Client {
    fn submit(&self, run: &Submission) -> Result<(), EngineError> {
        Client::submit(self, run)
    }

    fn take(&self, offer: &Offer, wait: Duration) -> Result<Option<Assignment>, EngineError> {
        Client::take(self, offer, wait)
    }

    fn renew(&self, beat: &Beat) -> Result<Vec<Renewal>, EngineError> {
        Client::renew(self, beat)
    }

    fn claim(&self, claim: &Claim) -> Result<Lease, EngineError> {
        Client::claim(self, claim)
    }

    fn release(&self, release: &Release) -> Result<(), EngineError> {
        Client::release(self, release)
    }

    fn append(&self, lines: &Append) -> Result<Head, EngineError> {
        Client::append(self, lines)
    }

    fn lines(&self, run: &str, after: u64, wait: Duration) -> Result<Lines, EngineError> {
        Client::lines(self, run, after, wait)
    }

    fn overview(&self) -> Result<Overview, EngineError> {
        Client::overview(self)
    }

    fn say(&self, words: &Words) -> Result<(), EngineError> {
        Client::say(self, words)
    }

    fn hear(&self, run: &str, heard: u64, wait: Duration) -> Result<Option<Heard>, EngineError> {
        Client::hear(self, run, heard, wait)
    }

    fn wanted(&self, runs: &[String], wait: Duration) -> Result<Vec<String>, EngineError> {
        Client::wanted(self, runs, wait)
    }
}

/// Pauses between two tries to reach the server.
const RETRY: Backoff = Backoff::new(Duration::from_millis(50), Duration::from_secs(2));

/// Asks again while the server cannot be reached, for as long as `patience`.
///
/// # Errors
///
/// Those of `call`.
pub fn patiently<T>(
    patience: Duration,
    call: impl FnMut() -> Result<T, EngineError>,
) -> Result<T, EngineError> {
    retry(patience, RETRY, |error| matches!(error, EngineError::Unreachable { .. }), call)
}
