//! The spans of what follows a verified attempt: gates, reviews and repeated checks.

use super::{Reading, content};
use onloop_run::{GateDecision, Mode, Run, Verdict};

impl Reading<'_> {
    pub(super) fn gate(&mut self, step: u32, decision: GateDecision, mode: Mode, run: &Run) {
        let parent = self.step(step, run);
        let start = self.ready.get(&step).copied().unwrap_or(self.at);
        let span = self.add(("gate", self.seq), parent, start);
        span.attributes.text("onloop.gate.decision", decision.as_str());
        span.attributes.text("onloop.gate.mode", mode.as_str());
    }

    pub(super) fn review(
        &mut self,
        step: Option<u32>,
        verdict: Verdict,
        findings: &str,
        run: &Run,
    ) {
        let parent = step.map_or(self.root, |step| self.step(step, run));
        let start = self.review.take().unwrap_or(self.at);
        let with_content = self.trace.with_content;
        let span = self.add(("review", self.seq), parent, start);
        span.attributes.text("onloop.review.verdict", verdict.as_str());
        if with_content {
            span.attributes.text("onloop.review.findings", content(findings));
        }
        // A person decides after the reviewer.
        if let Some(step) = step {
            self.ready.insert(step, self.at);
        }
    }

    pub(super) fn repeat_checks(&mut self, repeated: u32, failed: usize, clean: bool) {
        let checks = std::mem::take(&mut self.checks);
        let start = checks.first().copied().unwrap_or(self.at);
        let span = self.add(("repeated checks", self.seq), self.root, start);
        span.attributes.int("onloop.checks.repeated", repeated);
        span.attributes.int("onloop.checks.failed", failed as u64);
        span.attributes.flag("onloop.checks.clean_checkout", clean);
        span.error = (failed > 0).then_some("check_failed");
    }
}
