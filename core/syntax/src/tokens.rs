//! Numbers of tokens that agents read and write.

use serde::{Deserialize, Serialize};

/// Numbers of tokens.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Tokens {
    /// Tokens that the model read, cached ones included.
    pub input: u64,
    /// The cached part of them.
    pub cached_input: u64,
    /// Tokens that the model wrote, thinking included.
    pub output: u64,
}

impl Tokens {
    /// The sum of read and written tokens.
    pub fn total(self) -> u64 {
        self.input.saturating_add(self.output)
    }

    fn each(self, other: Tokens, f: fn(u64, u64) -> u64) -> Tokens {
        Tokens {
            input: f(self.input, other.input),
            cached_input: f(self.cached_input, other.cached_input),
            output: f(self.output, other.output),
        }
    }

    /// The sum.
    pub fn plus(self, other: Tokens) -> Tokens {
        self.each(other, u64::saturating_add)
    }

    /// The increase from `earlier` to `self`.
    pub fn since(self, earlier: Tokens) -> Tokens {
        self.each(earlier, u64::saturating_sub)
    }

    /// The larger number of each.
    pub fn max(self, other: Tokens) -> Tokens {
        self.each(other, u64::max)
    }
}
