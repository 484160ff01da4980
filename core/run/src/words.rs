//! Enums that are words in records, reports and on the command line.

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
            type Err = onloop_syntax::text::UnknownWord;

            fn from_str(word: &str) -> Result<$name, onloop_syntax::text::UnknownWord> {
                match word {
                    $($word => Ok($name::$variant),)*
                    _ => Err(onloop_syntax::text::UnknownWord::new(word, vec![$($word),*])),
                }
            }
        }
    };
}

pub(super) use words;
