//! Closed sets of words.

use std::str::FromStr;

use serde::de::Error;
use serde::{Deserialize, Deserializer};

use super::ellipsis;

/// Declares an enum without data whose values are written as words: `ALL`, `WORDS`, `as_str`,
/// `FromStr` and the forms of serde come from the one list. With `impl`, for an enum that derives
/// the forms of serde itself, where a generator reads it.
#[macro_export]
#[doc(hidden)]
macro_rules! words {
    ($(#[$meta:meta])* $vis:vis enum $name:ident {
        $($(#[$about:meta])* $variant:ident = $word:literal,)*
    }) => {
        $(#[$meta])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        $vis enum $name {
            $($(#[$about])* $variant,)*
        }

        $crate::text::words! { impl $vis $name { $($variant = $word,)* } }

        impl $crate::text::serde::Serialize for $name {
            fn serialize<S: $crate::text::serde::Serializer>(
                &self,
                to: S,
            ) -> Result<S::Ok, S::Error> {
                to.serialize_str(self.as_str())
            }
        }

        impl<'de> $crate::text::serde::Deserialize<'de> for $name {
            fn deserialize<D: $crate::text::serde::Deserializer<'de>>(
                from: D,
            ) -> Result<$name, D::Error> {
                $crate::text::read_word(from, $name::WORDS)
            }
        }
    };
    (impl $vis:vis $name:ident { $($variant:ident = $word:literal,)* }) => {
        #[allow(dead_code, reason = "some sets are only written, and some are never listed")]
        impl $name {
            /// Every value, in the order of its declaration.
            $vis const ALL: [$name; $name::WORDS.len()] = [$($name::$variant),*];

            /// The words of all values, in the same order.
            $vis const WORDS: &[&str] = &[$($word),*];

            /// The word in files and documents, in messages and on the command line.
            $vis const fn as_str(self) -> &'static str {
                match self {
                    $($name::$variant => $word,)*
                }
            }
        }

        impl std::str::FromStr for $name {
            type Err = $crate::text::UnknownWord;

            fn from_str(word: &str) -> Result<$name, $crate::text::UnknownWord> {
                match word {
                    $($word => Ok($name::$variant),)*
                    _ => Err($crate::text::UnknownWord::new(word, $name::WORDS.to_vec())),
                }
            }
        }
    };
}

pub use words;

/// Reads one of the words `known`.
#[doc(hidden)]
pub fn read_word<'de, T: FromStr, D: Deserializer<'de>>(
    from: D,
    known: &'static [&'static str],
) -> Result<T, D::Error> {
    let word = String::deserialize(from)?;
    word.parse().map_err(|_| D::Error::unknown_variant(&ellipsis(&word, 80), known))
}

/// A word that its place does not know. The message is a clause whose subject is that place: `is
/// "maybe", expected …`.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("is {found:?}, expected {}", alternatives(.expected))]
pub struct UnknownWord {
    /// What was found, cut where it is long.
    pub found: String,
    /// The words that the place knows.
    pub expected: Vec<&'static str>,
}

impl UnknownWord {
    /// `found` is not one of `expected`.
    pub fn new(found: &str, expected: Vec<&'static str>) -> UnknownWord {
        UnknownWord { found: ellipsis(found, 80), expected }
    }
}

/// Words as alternatives: "`a`, `b` or `c`".
pub fn alternatives(words: &[&str]) -> String {
    match words {
        [] => String::new(),
        [only] => format!("`{only}`"),
        [others @ .., last] => format!("`{}` or `{last}`", others.join("`, `")),
    }
}
