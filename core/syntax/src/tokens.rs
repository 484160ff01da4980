//! Numbers of tokens, as every client can be made to count them.

use serde::{Deserialize, Serialize};

/// Numbers of tokens.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Tokens {
    /// Read by the model, cached ones included.
    pub input: u64,
    /// Those of them that came from a cache.
    pub cached_input: u64,
    /// Written by the model, thinking included.
    pub output: u64,
}

impl Tokens {
    /// Everything that was read and written.
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

    /// Both.
    pub fn plus(self, other: Tokens) -> Tokens {
        self.each(other, u64::saturating_add)
    }

    /// What is in `self` and not in `earlier`.
    pub fn since(self, earlier: Tokens) -> Tokens {
        self.each(earlier, u64::saturating_sub)
    }

    /// The larger number of each.
    pub fn max(self, other: Tokens) -> Tokens {
        self.each(other, u64::max)
    }
}
