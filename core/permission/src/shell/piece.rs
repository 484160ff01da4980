//! Words as far as their text tells them.

/// A word as far as the text tells it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Word {
    /// Nothing in it is expanded: these are the bytes the program gets.
    Literal(String),
    /// Text and expansions in order.
    Pieces(Vec<Piece>),
}

/// A part of a word.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Piece {
    /// Text, its quotes removed.
    Text(String),
    /// An unquoted `*`, `?`, `[` or `]`.
    Wildcard(char),
    /// `~` or `~name` at the start of a word.
    Tilde(String),
    /// `$name` or `${name}`.
    Variable {
        /// Its name.
        name: String,
        /// Inside double quotes: it stays one word.
        quoted: bool,
    },
    /// A substitution, or an expansion that is not modelled.
    Unknown {
        /// The variable whose value it is made from: `${name%.c}`.
        name: Option<String>,
        /// Inside double quotes: it stays one word.
        quoted: bool,
    },
    /// An unquoted `{`.
    BraceOpen,
    /// An unquoted `,` in a word that has a brace.
    BraceComma,
    /// An unquoted `}`.
    BraceClose,
}

impl Default for Word {
    fn default() -> Self {
        Word::Literal(String::new())
    }
}

impl Word {
    /// The text, when nothing in the word is expanded.
    pub fn as_literal(&self) -> Option<&str> {
        match self {
            Word::Literal(text) => Some(text),
            Word::Pieces(_) => None,
        }
    }

    /// The names of the variables in it.
    pub(crate) fn variables(&self) -> impl Iterator<Item = &str> {
        let pieces = match self {
            Word::Literal(_) => &[][..],
            Word::Pieces(pieces) => pieces,
        };
        pieces.iter().filter_map(Piece::variable)
    }
}

impl Piece {
    /// The variable in it.
    pub(super) fn variable(&self) -> Option<&str> {
        match self {
            Piece::Variable { name, .. } => Some(name),
            Piece::Unknown { name, .. } => name.as_deref(),
            Piece::Text(_)
            | Piece::Wildcard(_)
            | Piece::Tilde(_)
            | Piece::BraceOpen
            | Piece::BraceComma
            | Piece::BraceClose => None,
        }
    }
}
