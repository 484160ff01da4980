//! Requests that came already: each is taken once.

use std::collections::{HashSet, VecDeque};

use super::{Stamp, WINDOW_MS};

/// Most requests that are remembered: what comes in ten minutes.
const REMEMBERED: usize = 500_000;

/// Which requests came already.
#[derive(Debug, Default)]
pub struct Nonces {
    seen: HashSet<String>,
    /// In the order in which they are forgotten, with the moment.
    order: VecDeque<(u64, String)>,
}

/// Why a request is not taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NoncesError {
    /// It was made too long ago, or will be made.
    Clock,
    /// It came before.
    Replay,
    /// There are too many to remember more.
    Full,
}

impl Nonces {
    /// Takes a request once, if it was made about now.
    ///
    /// # Errors
    ///
    /// Why it is not taken.
    pub fn take(&mut self, stamp: &Stamp, now_ms: u64) -> Result<(), NoncesError> {
        if stamp.at_ms.abs_diff(now_ms) > WINDOW_MS {
            return Err(NoncesError::Clock);
        }
        while let Some((_, nonce)) = self.order.pop_front_if(|(until, _)| *until < now_ms) {
            self.seen.remove(&nonce);
        }
        if self.seen.contains(&stamp.nonce) {
            return Err(NoncesError::Replay);
        }
        if self.seen.len() >= REMEMBERED {
            return Err(NoncesError::Full);
        }
        self.seen.insert(stamp.nonce.clone());
        // Made as late as it may be, it could come again for as long.
        self.order.push_back((now_ms + 2 * WINDOW_MS, stamp.nonce.clone()));
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_request_is_taken_once_and_about_when_it_was_made() {
        let mut nonces = Nonces::default();
        let stamp = |at_ms, nonce: &str| Stamp { at_ms, nonce: nonce.to_owned() };
        let now = 10 * WINDOW_MS;
        assert_eq!(nonces.take(&stamp(now, "a"), now), Ok(()));
        assert_eq!(nonces.take(&stamp(now, "a"), now), Err(NoncesError::Replay));
        assert_eq!(nonces.take(&stamp(now + 1, "a"), now + 1), Err(NoncesError::Replay));
        for at in [now - WINDOW_MS, now + WINDOW_MS] {
            assert_eq!(nonces.take(&stamp(at, &at.to_string()), now), Ok(()));
        }
        for at in [now - WINDOW_MS - 1, now + WINDOW_MS + 1] {
            assert_eq!(nonces.take(&stamp(at, "b"), now), Err(NoncesError::Clock));
        }
        // The one from the future is remembered for as long as its time is taken to be about now.
        let late = stamp(now + WINDOW_MS, &(now + WINDOW_MS).to_string());
        assert_eq!(nonces.take(&late, now + 2 * WINDOW_MS), Err(NoncesError::Replay));
        assert_eq!(nonces.take(&late, now + 2 * WINDOW_MS + 1), Err(NoncesError::Clock));
        assert_eq!(nonces.take(&stamp(now + 4 * WINDOW_MS, "c"), now + 4 * WINDOW_MS), Ok(()));
        assert_eq!(nonces.seen.len(), 1, "what is too old to be taken is forgotten");
    }
}
