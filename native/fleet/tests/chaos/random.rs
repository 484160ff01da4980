//! Repeatable random choices.

use std::time::Duration;

/// A small generator (splitmix64).
pub(crate) struct Random(u64);

impl Random {
    /// Returns the generator of `seed`.
    pub(crate) fn new(seed: u64) -> Random {
        Random(seed)
    }

    fn number(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// Returns a number below `bound`, which is not 0.
    pub(crate) fn below(&mut self, bound: u64) -> u64 {
        self.number() % bound
    }

    /// Returns one of the choices; `None`: there are none.
    pub(crate) fn pick<T: Copy>(&mut self, choices: &[T]) -> Option<T> {
        let bound = u64::try_from(choices.len()).ok().filter(|bound| *bound > 0)?;
        choices.get(usize::try_from(self.below(bound)).ok()?).copied()
    }

    /// Returns a time between these bounds, in milliseconds.
    pub(crate) fn time(&mut self, least_ms: u64, most_ms: u64) -> Duration {
        Duration::from_millis(least_ms + self.below(most_ms - least_ms))
    }
}
