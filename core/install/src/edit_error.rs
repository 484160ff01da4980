use super::SERVER;
use onloop_syntax::syntax::jsonc;

/// The reason why onloop leaves a client's file unchanged.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum EditError {
    /// It is not a document of its format.
    #[error("line {line}{}: {problem}", column_words(.column))]
    Syntax {
        /// Counted from 1.
        line: usize,
        /// In characters, counted from 1, where the reader knows it.
        column: Option<usize>,
        /// What was found there.
        problem: String,
    },
    /// Its root is an array or a scalar.
    #[error("it is not a JSON object")]
    NotAnObject,
    /// A member is not of the type that the host expects.
    #[error("its `{name}` should be {expected}")]
    WrongType {
        /// Its name, with dots where it is inside of others.
        name: String,
        /// The type, with its article.
        expected: &'static str,
    },
    /// It is not of the version of the format that we write.
    #[error("its `version` should be {expected}; found {}", .found.as_ref().map_or("none".to_owned(), |found| format!("`{found}`")))]
    WrongVersion {
        /// The only one that we write.
        expected: u64,
        /// The value of `version` as JSON.
        found: Option<String>,
    },
    /// Another server has the name of ours.
    #[error("another server is named `{SERVER}`; rename it first")]
    OtherServer,
    /// Servers are written in a form to which ours cannot be added.
    #[error(
        "its servers are written in a form that cannot be edited here; take `{SERVER}` out of it, \
         or write the others as `[mcp_servers.NAME]`"
    )]
    OtherForm,
    /// It is our plugin, and the line that names the hook is not in it.
    #[error("it does not name the hook")]
    NoHook,
    /// Where our own file would go there is one that we did not write.
    #[error("this file was not written by onloop; move it away first")]
    OtherFile,
}

impl From<jsonc::ParseError> for EditError {
    fn from(error: jsonc::ParseError) -> EditError {
        EditError::Syntax { line: error.line, column: None, problem: error.problem.to_string() }
    }
}

fn column_words(column: &Option<usize>) -> String {
    column.map_or_else(String::new, |column| format!(", column {column}"))
}
