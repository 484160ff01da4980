//! Closed sets of words.

use super::ellipsis;

/// Declares an enum without data whose values are written as words. `ALL`, `WORDS`, `as_str` and
/// `FromStr` come from one list. With `impl`, the enum is declared outside of the macro, where a
/// generator reads it.
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
