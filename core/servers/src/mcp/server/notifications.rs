//! Notifications while calls run.

use super::Server;
use super::progress::ProgressUpdate;
use crate::mcp::LogLevel;
use onloop_syntax::limits;
use onloop_syntax::text;

impl Server {
    /// Sends how far a call has come, and the runs that it has begun.
    pub(super) async fn send_progress(&mut self, at: usize) {
        let is_first = self.jobs[at].run_id.is_none();
        let Some(progress) = self.jobs[at].take_progress() else { return };
        let now = self.io.now();
        if self.jobs[at].is_running()
            && let Some(update) = self.jobs[at].reporter.progress(&progress, now)
        {
            self.send_update(&update).await;
        }
        if is_first {
            self.answer_started(at).await;
        }
        if is_first && self.jobs[at].begins_run() {
            for message in self.connection.list_changed() {
                self.send(&message).await;
            }
        }
    }

    /// Sends a heartbeat for each call that was silent for a while.
    pub(super) async fn send_heartbeats(&mut self) {
        let now = self.io.now();
        for at in 0..self.jobs.len() {
            if !self.jobs[at].is_running() {
                continue;
            }
            if let Some(update) = self.jobs[at].reporter.heartbeat(now) {
                self.send_update(&update).await;
            }
        }
    }

    async fn send_update(&mut self, update: &ProgressUpdate) {
        let ProgressUpdate { token, done, total, words } = update;
        let message = self.connection.progress(token, *done, *total, words);
        self.send(&message).await;
    }

    /// Sends a note of a program as a log message, where its client wants such.
    pub(super) async fn log(&mut self, at: usize, note: &str) {
        let job = &self.jobs[at];
        let level = LogLevel::of_note(note);
        if job.id.is_none() || !job.client.log.is_some_and(|wanted| wanted.includes(level)) {
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
