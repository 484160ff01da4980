//! Closed sets of words.

use std::fmt;

use super::ellipsis;

/// A word that is not one of those that are known in its place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnknownWord {
    /// What was found, cut where it is long.
    pub found: String,
    /// The words that are known.
    pub expected: Vec<&'static str>,
}

impl UnknownWord {
    /// `found` is not one of `expected`.
    pub fn new(found: &str, expected: Vec<&'static str>) -> UnknownWord {
        UnknownWord { found: ellipsis(found, 80), expected }
    }
}

/// A clause whose subject is the place of the word: `is "maybe", expected …`.
impl fmt::Display for UnknownWord {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "is {:?}, expected ", self.found)?;
        let last = self.expected.len().saturating_sub(1);
        for (index, word) in self.expected.iter().enumerate() {
            let before = match index {
                0 => "",
                index if index == last => " or ",
                _ => ", ",
            };
            write!(f, "{before}`{word}`")?;
        }
        Ok(())
    }
}
