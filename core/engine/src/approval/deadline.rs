//! How long a person is waited for, and what becomes of trouble on the way to the chat: it is endured
//! with growing pauses until the wait is over, unless it cannot get better.

use super::no_answer::NoAnswer;
use super::telegram::CallError;
use crate::state::audit_log;
use onloop_documents::audit_log::{AuditEntry, AuditEvent};
use onloop_effect::Io;
use onloop_sessions::handsoff::config::Telegram;
use onloop_syntax::limits;
use onloop_syntax::text;
use onloop_syntax::time::{Timestamp, backoff_ms};

/// When to give up. A clock that stands still must not make us wait for ever, so the time that
/// was waited and the number of reads count as well.
pub(super) struct Deadline {
    began: Timestamp,
    wait_ms: u64,
    counted_ms: u64,
    reads: u64,
    /// What has failed since the chat was last reached.
    outage: Option<Outage>,
    /// Whether the chat was reached at all.
    was_reached: bool,
    /// The session that asks.
    session: Option<String>,
}

struct Outage {
    failures: u32,
    why: String,
}

impl Deadline {
    pub(super) fn new(began: Timestamp, wait_ms: u64, session: Option<String>) -> Deadline {
        let (counted_ms, reads, outage, was_reached) = (0, 0, None, false);
        Deadline { began, wait_ms, counted_ms, reads, outage, was_reached, session }
    }

    pub(super) fn left_ms(&self, now: Timestamp) -> u64 {
        let passed_ms = now.millis_since(self.began);
        // Where time passes, it is the only measure: a busy chat answers early and often.
        let passed_ms = if passed_ms == 0 { self.counted_ms } else { passed_ms };
        let most_reads = 100 + self.wait_ms / 100;
        if self.reads > most_reads { 0 } else { self.wait_ms.saturating_sub(passed_ms) }
    }

    /// How long a call other than `getUpdates` may take.
    pub(super) fn call_ms(&self, now: Timestamp) -> u64 {
        let left_ms = self.left_ms(now).max(limits::APPROVAL_LAST_CALL_MS);
        limits::APPROVAL_HTTP_MS.min(left_ms)
    }

    pub(super) fn waited(&mut self, ms: u64) {
        self.counted_ms += ms;
    }

    /// Updates were read.
    pub(super) async fn read(&mut self, io: &Io, ms: u64) {
        self.reads += 1;
        self.waited(ms);
        self.reached(io).await;
    }

    /// Why there is no answer when the wait is over.
    pub(super) fn over(&self) -> NoAnswer {
        match &self.outage {
            None => NoAnswer::TimedOut,
            Some(outage) => NoAnswer::Unreached(outage.why.clone()),
        }
    }

    /// Makes a call of the chat, again and again until it succeeds. `attempt` is told how long it
    /// may take.
    ///
    /// # Errors
    ///
    /// When it cannot succeed, the person interrupts or the wait is over.
    pub(super) async fn persist<T>(
        &mut self,
        io: &Io,
        telegram: &Telegram,
        mut attempt: impl AsyncFnMut(u64) -> Result<T, CallError>,
    ) -> Result<T, NoAnswer> {
        loop {
            match attempt(self.call_ms(io.now())).await {
                Ok(done) => {
                    self.reached(io).await;
                    return Ok(done);
                }
                Err(error) => self.endure(io, telegram, error).await?,
            }
        }
    }

    /// Pauses after a call that failed.
    ///
    /// # Errors
    ///
    /// When the next call would fail as well, the person interrupts or the wait is over.
    pub(super) async fn endure(
        &mut self,
        io: &Io,
        telegram: &Telegram,
        error: CallError,
    ) -> Result<(), NoAnswer> {
        if error.is_final() {
            if !error.is_interrupt() {
                self.log(io, AuditEvent::Outage, &format!("the chat is given up: {error}")).await;
            }
            return Err(error.into());
        }
        let why = text::one_line(&error.to_string());
        let failures = self.outage.as_ref().map_or(0, |outage| outage.failures);
        if failures == 0 {
            self.log(io, AuditEvent::Outage, &format!("the chat is not reached: {why}")).await;
        }
        self.outage = Some(Outage { failures: failures.saturating_add(1), why });
        let left_ms = self.left_ms(io.now());
        if left_ms == 0 {
            return Err(self.over());
        }
        let pause_ms = match error {
            CallError::Refused { retry_after_ms: Some(ms), .. } => ms,
            CallError::Failed(_) | CallError::Refused { .. } | CallError::Garbled => {
                pause_ms(telegram.poll_interval_ms, failures)
            }
        };
        let pause_ms = pause_ms.min(left_ms);
        io.sleep(pause_ms).await?;
        self.waited(pause_ms);
        Ok(())
    }

    /// The chat was reached. The outage may be one that another process has noted.
    async fn reached(&mut self, io: &Io) {
        let was_reached = std::mem::replace(&mut self.was_reached, true);
        if self.outage.take().is_some() || !was_reached {
            note_restored(io, self.session.clone(), "the chat is ", "the chat is back").await;
        }
    }

    async fn log(&self, io: &Io, event: AuditEvent, words: &str) {
        let session = self.session.clone();
        audit_log::note(io, AuditEntry { session, ..AuditEntry::new(io.now(), event, words) })
            .await;
    }
}

/// Notes the end of an outage with the words `back`, if the audit log says last of `what` that it was
/// not reached.
pub(super) async fn note_restored(io: &Io, session: Option<String>, what: &str, back: &str) {
    let (entries, _) = audit_log::entries(io).await;
    let is_about = |entry: &&AuditEntry| {
        matches!(entry.event, AuditEvent::Outage | AuditEvent::Restored)
            && entry.text.contains(what)
    };
    let latest = entries.iter().rev().filter(is_about);
    let Some(first) = latest.take_while(|entry| entry.event == AuditEvent::Outage).last() else {
        return;
    };
    let lasted = text::span(io.now().millis_since(first.at));
    let entry = AuditEntry::new(io.now(), AuditEvent::Restored, &format!("{back} after {lasted}"));
    audit_log::note(io, AuditEntry { session, ..entry }).await;
}

/// The pause before the next call, after so many failures before this one.
fn pause_ms(poll_interval_ms: u64, failures: u32) -> u64 {
    let longest_ms = limits::APPROVAL_LONGEST_PAUSE_MS.max(poll_interval_ms);
    backoff_ms(poll_interval_ms, failures, longest_ms)
}

#[cfg(test)]
mod tests {
    use super::pause_ms;

    #[test]
    fn pauses_grow_up_to_a_minute() {
        let pauses = |poll_ms: u64| (0..7).map(|n| pause_ms(poll_ms, n) / 1000).collect::<Vec<_>>();
        assert_eq!(pauses(5_000), [5, 10, 20, 40, 60, 60, 60]);
        assert_eq!(pauses(1_000), [1, 2, 4, 8, 16, 32, 60]);
        // A longer interval of the configuration is kept.
        assert_eq!(pauses(300_000), [300; 7]);
        assert_eq!(pause_ms(5_000, u32::MAX), 60_000);
    }
}
