//! Exponential backoff: how long the fleet waits between two tries.

use std::time::{Duration, Instant};

/// Growing pauses: each is twice as long as the one before, up to a bound.
#[derive(Clone, Copy, Debug)]
pub struct Backoff {
    first: Duration,
    longest: Duration,
    next: Duration,
}

impl Backoff {
    /// Pauses from `first` to `longest`.
    pub const fn new(first: Duration, longest: Duration) -> Backoff {
        Backoff { first, longest, next: first }
    }

    /// Returns the next pause.
    pub fn pause(&mut self) -> Duration {
        let pause = self.next;
        self.next = pause.saturating_mul(2).min(self.longest);
        pause
    }

    /// Starts again with the first pause.
    pub fn reset(&mut self) {
        self.next = self.first;
    }
}

/// Calls `attempt` until it returns a value or a permanent error, or until `limit` has passed.
///
/// # Errors
///
/// The error of the last attempt.
pub fn retry<T, E>(
    limit: Duration,
    mut backoff: Backoff,
    is_transient: impl Fn(&E) -> bool,
    mut attempt: impl FnMut() -> Result<T, E>,
) -> Result<T, E> {
    let began = Instant::now();
    loop {
        match attempt() {
            Err(error) if is_transient(&error) => {
                let pause = backoff.pause();
                if began.elapsed() + pause > limit {
                    return Err(error);
                }
                std::thread::sleep(pause);
            }
            outcome => return outcome,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pauses_double_up_to_the_longest() {
        let mut backoff = Backoff::new(Duration::from_secs(1), Duration::from_secs(300));
        let pauses: Vec<u64> = (0..40).map(|_| backoff.pause().as_secs()).collect();
        assert_eq!(pauses[..4], [1, 2, 4, 8]);
        assert_eq!(pauses[39], 300);
        backoff.reset();
        assert_eq!(backoff.pause().as_secs(), 1);
    }

    #[test]
    fn only_transient_errors_are_retried_and_only_within_the_limit() {
        let short = Backoff::new(Duration::from_millis(1), Duration::from_millis(4));
        let attempts = |limit: Duration, errors: &[&'static str]| {
            let (mut errors, mut count) = (errors.iter(), 0);
            let outcome = retry(
                limit,
                short,
                |error| *error == "transient",
                || {
                    count += 1;
                    errors.next().map_or(Ok(()), |error| Err(*error))
                },
            );
            (outcome, count)
        };
        let long = Duration::from_secs(60);
        assert_eq!(attempts(long, &["transient", "transient"]), (Ok(()), 3));
        assert_eq!(attempts(long, &["transient", "permanent"]), (Err("permanent"), 2));
        assert_eq!(attempts(Duration::ZERO, &["transient"]), (Err("transient"), 1));
    }
}
