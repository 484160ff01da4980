//! What a reviewer says.

use onloop_syntax::text::words;

/// What a reviewer says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// Nothing blocks the run.
    Ready,
    /// Going on is fine; the findings are worth reading.
    ReadyWithWarnings,
    /// Do not continue.
    Block,
    /// The answer has no verdict; it counts as [`Verdict::Block`].
    Missing,
}

words! {
    impl pub Verdict {
        Ready = "READY",
        ReadyWithWarnings = "READY WITH WARNINGS",
        Block = "NOT READY",
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
