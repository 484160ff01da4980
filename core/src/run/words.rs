//! Enums that are words in records, reports and on the command line.

use std::fmt;

use crate::text;

/// A word that is none of those that are known at its place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnknownWord {
    /// What was found, cut where it is long.
    pub found: String,
    /// The words that are known.
    pub expected: Vec<&'static str>,
}

impl UnknownWord {
    /// `found` is none of `expected`.
    pub fn new(found: &str, expected: Vec<&'static str>) -> UnknownWord {
        UnknownWord { found: text::ellipsis(found, 80), expected }
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

/// Gives an enum without data its words: `ALL`, `as_str` and `FromStr`.
macro_rules! words {
    ($name:ident { $($variant:ident => $word:literal,)* }) => {
        impl $name {
            /// Every value, in the order of its declaration.
            pub const ALL: &[$name] = &[$($name::$variant),*];

            /// The word in records and reports.
            pub const fn as_str(self) -> &'static str {
                match self {
                    $($name::$variant => $word,)*
                }
            }
        }

        impl std::str::FromStr for $name {
            type Err = crate::run::UnknownWord;

            fn from_str(word: &str) -> Result<$name, crate::run::UnknownWord> {
                match word {
                    $($word => Ok($name::$variant),)*
                    _ => Err(crate::run::UnknownWord::new(word, vec![$($word),*])),
                }
            }
        }
    };
}

pub(super) use words;
