//! The wait of rw-auto for a provider that does not serve a child. It is told on standard error: on
//! standard output stand tokens and nothing else.

use crate::auto::workspace::stamp;
use onloop_effect::{Failure, Io};
use onloop_syntax::limits;
use onloop_syntax::text;
use onloop_syntax::time::Timestamp;

/// The refusals of one child, one after the other.
#[derive(Debug, Default)]
pub(super) struct ProviderWait {
    since: Option<Timestamp>,
}

impl ProviderWait {
    /// Until when a child that was refused at `now` waits: until its provider serves again, else as
    /// long again as it has waited by now. `None`: longer than the longest wait.
    fn until(&mut self, now: Timestamp, lifted: Option<Timestamp>) -> Option<Timestamp> {
        let since = *self.since.get_or_insert(now);
        let waited_ms = now.millis_since(since);
        let pause_ms =
            waited_ms.clamp(limits::PROVIDER_PAUSE_MS, limits::PROVIDER_LONGEST_PAUSE_MS);
        let (from, ms) = match lifted.filter(|lifted| *lifted > now) {
            Some(lifted) => (lifted, limits::PROVIDER_RESET_MARGIN_MS),
            None => (now, pause_ms),
        };
        let until = from.later(ms);
        (until.millis_since(since) <= limits::MAX_WAIT_MS).then_some(until)
    }

    /// Waits until the provider is worth trying again, and keeps the lock of `run` fresh. Returns
    /// whether it is worth it.
    pub(super) async fn pass(
        &mut self,
        io: &Io,
        run: &str,
        why: &str,
        lifted: Option<Timestamp>,
    ) -> Result<bool, Failure> {
        let Some(until) = self.until(io.now(), lifted) else { return Ok(false) };
        let why = text::ellipsis(&text::one_line(why), 160);
        io.note(format!("note: waits for the provider until {}: {why}", until.to_rfc3339())).await;
        loop {
            let left_ms = until.millis_since(io.now());
            if left_ms == 0 {
                return Ok(true);
            }
            io.sleep(left_ms.min(limits::AUTO_STAMP_EVERY_MS)).await?;
            stamp(io, run).await;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(seconds: i64) -> Timestamp {
        Timestamp::from_millis(seconds * 1000)
    }

    #[test]
    fn pauses_grow_and_end() {
        let mut wait = ProviderWait::default();
        assert_eq!(wait.until(at(0), None), Some(at(15)));
        assert_eq!(wait.until(at(15), None), Some(at(30)));
        assert_eq!(wait.until(at(60), None), Some(at(120)));
        assert_eq!(wait.until(at(60), Some(at(3600))), Some(at(3605)));
        assert_eq!(wait.until(at(60), Some(at(7 * 3600))), None);
        assert_eq!(wait.until(at(6 * 3600), None), None);
    }
}
