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
        /// The reviewer could not run; it counts as [`Verdict::Block`].
        Failed = "NOT REVIEWED",
    }
}

impl Verdict {
    /// What is wrong where it does not pass, as the end of a sentence.
    pub fn problem(self) -> &'static str {
        match self {
            Verdict::Ready | Verdict::ReadyWithWarnings | Verdict::Block => {
                "the review found problems"
            }
            Verdict::Missing => "the review came to no verdict",
            Verdict::Failed => "the reviewer could not run",
        }
    }

    /// Whether the run may continue.
    pub fn passes(self) -> bool {
        match self {
            Verdict::Ready | Verdict::ReadyWithWarnings => true,
            Verdict::Block | Verdict::Missing | Verdict::Failed => false,
        }
    }
}
