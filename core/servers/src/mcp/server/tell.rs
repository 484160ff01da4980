//! What clients are told while calls go on.

use super::Server;
use super::told::Sign;
use crate::mcp::LogLevel;
use onloop_syntax::limits;
use onloop_syntax::text;

impl Server {
    /// Tells how far a call has come, and the runs that it has begun.
    pub(super) async fn tell_progress(&mut self, at: usize) {
        let is_first = self.jobs[at].run_id.is_none();
        let Some(progress) = self.jobs[at].take_progress() else { return };
        let now = self.io.now();
        if self.jobs[at].is_at_work()
            && let Some(sign) = self.jobs[at].told.progress(&progress, now)
        {
            self.send_sign(&sign).await;
        }
        if is_first {
            self.answer_begun(at).await;
        }
        if is_first && self.jobs[at].begins_run() {
            for message in self.connection.list_changed() {
                self.send(&message).await;
            }
        }
    }

    /// Tells whoever waits for a call that has said nothing for a while that it goes on.
    pub(super) async fn give_signs(&mut self) {
        let now = self.io.now();
        for at in 0..self.jobs.len() {
            if !self.jobs[at].is_at_work() {
                continue;
            }
            if let Some(sign) = self.jobs[at].told.sign(now) {
                self.send_sign(&sign).await;
            }
        }
    }

    async fn send_sign(&mut self, sign: &Sign) {
        let Sign { token, done, total, words } = sign;
        let message = self.connection.progress(token, *done, *total, words);
        self.send(&message).await;
    }

    /// Sends a note of a program as a log message, where its client wants such.
    pub(super) async fn log(&mut self, at: usize, note: &str) {
        let job = &self.jobs[at];
        let level = LogLevel::of_note(note);
        if job.id.is_none() || !job.terms.log.is_some_and(|wanted| wanted.includes(level)) {
            return;
        }
        let words = text::printable(note);
        let words = words.trim();
        if !words.is_empty() {
            let message = self.connection.log(level, &text::ellipsis(words, limits::MCP_LOG_CHARS));
            self.send(&message).await;
        }
    }
}
