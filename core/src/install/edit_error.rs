use std::fmt;

use super::SERVER;
use crate::syntax::jsonc;

/// Why a file of a host cannot be changed without touching what is not ours.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum EditError {
    /// It is not a document of its format.
    Syntax {
        /// Counted from 1.
        line: usize,
        /// In characters, counted from 1, where the reader knows it.
        column: Option<usize>,
        /// What was found there.
        problem: String,
    },
    /// Its root is an array or a scalar.
    NotAnObject,
    /// A member is not of the type that the host expects.
    WrongType {
        /// Its name, with dots where it is inside of others.
        name: String,
        /// The type, with its article.
        expected: &'static str,
    },
    /// It is not of the version of the format that we write.
    WrongVersion {
        /// The only one that we write.
        expected: u64,
        /// The value of `version` as JSON.
        found: Option<String>,
    },
    /// Another server has the name of ours.
    ForeignServer,
    /// Servers are written in a form to which ours cannot be added.
    OtherForm,
    /// It is our plugin, and the line that names the hook is not in it.
    NoHook,
    /// Where our own file would go there is one that we did not write.
    ForeignFile,
}

impl From<jsonc::ParseError> for EditError {
    fn from(error: jsonc::ParseError) -> EditError {
        EditError::Syntax { line: error.line, column: None, problem: error.problem.to_string() }
    }
}

impl fmt::Display for EditError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            EditError::Syntax { line, column: None, problem } => {
                write!(f, "line {line}: {problem}")
            }
            EditError::Syntax { line, column: Some(column), problem } => {
                write!(f, "line {line}, column {column}: {problem}")
            }
            EditError::NotAnObject => f.write_str("it is not a JSON object"),
            EditError::WrongType { name, expected } => {
                write!(f, "its `{name}` should be {expected}")
            }
            EditError::WrongVersion { expected, found } => {
                let found = found.as_ref().map_or("none".to_owned(), |found| format!("`{found}`"));
                write!(f, "its `version` should be {expected}; found {found}")
            }
            EditError::ForeignServer => {
                write!(f, "another server is named `{SERVER}`; rename it first")
            }
            EditError::OtherForm => {
                write!(
                    f,
                    "its servers are written in a form that cannot be edited here; take \
                           `{SERVER}` out of it, or write the others as `[mcp_servers.NAME]`"
                )
            }
            EditError::NoHook => f.write_str("it does not name the hook"),
            EditError::ForeignFile => {
                f.write_str("this file was not written by onloop; move it away first")
            }
        }
    }
}
