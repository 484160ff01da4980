//! What a reviewer says.

use onloop_syntax::text::words;

words! {
    /// What a reviewer says.
    pub enum Verdict {
        /// Nothing blocks the run.
        Ready = "READY",
        /// The run may continue; the findings are worth reading.
        ReadyWithWarnings = "READY WITH WARNINGS",
        /// The run may not continue.
        Block = "NOT READY",
        /// The answer has no verdict; it counts as [`Verdict::Block`].
        Missing = "NO VERDICT",
    }
}

impl Verdict {
    /// Whether the run may continue.
    pub fn passes(self) -> bool {
        match self {
            Verdict::Ready | Verdict::ReadyWithWarnings => true,
            Verdict::Block | Verdict::Missing => false,
        }
    }
}
