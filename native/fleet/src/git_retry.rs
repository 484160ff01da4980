//! Git that retries a remote without an answer, and records a transient failure, after which the fleet
//! retries the run.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use onloop::host::Git;
use onloop_core::effect::{Failure, FailureKind, GitRequest, Outcome};

use crate::backoff::{Backoff, retry};

/// Longest time to retry a remote: a person may be waiting for the run.
const RETRY_TIMEOUT: Duration = Duration::from_secs(20);
/// Pauses between two attempts.
const RETRY: Backoff = Backoff::new(Duration::from_millis(100), Duration::from_secs(4));

/// The transient failure that stopped a run.
#[derive(Clone, Debug, Default)]
pub(crate) struct TransientFailure(Arc<Mutex<Option<String>>>);

impl TransientFailure {
    /// Records the failure.
    pub(crate) fn record(&self, what: &str) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = Some(what.to_owned());
    }

    /// Returns the failure.
    pub(crate) fn get(&self) -> Option<String> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

/// Git that retries remotes.
pub(crate) struct RetryingGit {
    inner: Box<dyn Git>,
    transient: TransientFailure,
    timeout: Duration,
}

impl RetryingGit {
    pub(crate) fn new(inner: Box<dyn Git>, transient: TransientFailure) -> RetryingGit {
        RetryingGit { inner, transient, timeout: RETRY_TIMEOUT }
    }
}

impl Git for RetryingGit {
    fn git(&mut self, request: &GitRequest) -> Result<Outcome, Failure> {
        let is_away = |failure: &Failure| failure.kind == FailureKind::Closed;
        let outcome = retry(self.timeout, RETRY, is_away, || self.inner.git(request));
        // Another person may fix a remote that is full or has moved, or change its rules. A command that was
        // killed is like a crash, after which a run continues.
        let is_transient = |failure: &Failure| {
            is_away(failure) || failure.is_unknown() || (is_remote(request) && is_refusal(failure))
        };
        if let Err(failure) = &outcome
            && is_transient(failure)
        {
            self.transient.record(&failure.message);
        }
        outcome
    }
}

fn is_remote(request: &GitRequest) -> bool {
    matches!(request, GitRequest::PushRefs { .. } | GitRequest::FetchRefs { .. })
}

fn is_refusal(failure: &Failure) -> bool {
    use FailureKind::{Denied, Full, Other};
    matches!(failure.kind, Denied | Full | Other)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Fails with these kinds, one for each call, and then succeeds.
    struct Away(Vec<FailureKind>);

    impl Git for Away {
        fn git(&mut self, _: &GitRequest) -> Result<Outcome, Failure> {
            match self.0.pop() {
                Some(kind) => Err(Failure::new(kind, "no")),
                None => Ok(Outcome::Done),
            }
        }
    }

    fn asked(failures: &[FailureKind], timeout: Duration) -> (Result<Outcome, FailureKind>, bool) {
        let transient = TransientFailure::default();
        let inner = Box::new(Away(failures.to_vec()));
        let mut git = RetryingGit { inner, transient: transient.clone(), timeout };
        let request = GitRequest::FetchRefs {
            cwd: "/shop".to_owned(),
            remote: "origin".to_owned(),
            prefix: "run".to_owned(),
        };
        (git.git(&request).map_err(|failure| failure.kind), transient.get().is_some())
    }

    #[test]
    fn a_remote_that_is_back_soon_was_never_away() {
        let long = Duration::from_secs(60);
        assert_eq!(asked(&[FailureKind::Closed], long), (Ok(Outcome::Done), false));
        let closed = Err(FailureKind::Closed);
        assert_eq!(asked(&[FailureKind::Closed], Duration::ZERO), (closed, true));
        // A conflict is an answer, so it is not retried.
        let conflict = Err(FailureKind::Conflict);
        assert_eq!(asked(&[FailureKind::Conflict], long), (conflict, false));
        let denied = Err(FailureKind::Denied);
        assert_eq!(asked(&[FailureKind::Denied], long), (denied, true));
    }

    #[test]
    fn a_killed_command_is_transient_and_a_refusal_of_this_machine_is_not() {
        for (kind, expected) in [(FailureKind::Unknown, true), (FailureKind::Denied, false)] {
            let transient = TransientFailure::default();
            let inner = Box::new(Away(vec![kind]));
            let mut git = RetryingGit::new(inner, transient.clone());
            let outcome = git.git(&GitRequest::Head { cwd: "/shop".to_owned() });
            assert_eq!(outcome.map_err(|failure| failure.kind), Err(kind));
            assert_eq!(transient.get().is_some(), expected, "{kind:?}");
        }
    }
}
