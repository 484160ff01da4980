//! Reads a shell line and lists every simple command in it, wherever it hides.
//!
//! This is not a syntax tree: a decision is the worst over all commands, so commands are
//! collected flat, each with the [`Scope`] it stands in. The reader never guesses in favour
//! of the line: what it does not know makes the rest of the line [`unparsed`](ParsedShell::unparsed)
//! or is one of its [`concerns`](ParsedShell::concerns): read, but something runs that cannot be seen.
//!
//! It takes one pass over the text, recursion is bounded by [`limits::SHELL_DEPTH`], and
//! text that has to be looked at twice (backquotes, arithmetic) is paid from a budget.

mod expansion;
mod grammar;
mod piece;
mod reader;
mod redirection;
mod word;

pub use piece::{Piece, Word};

use onloop_syntax::limits;
use std::borrow::Cow;

/// Everything found in one piece of shell text.
#[derive(Clone, Debug, Default)]
pub struct ParsedShell {
    /// Simple commands in the order of the text; those in substitutions come before the
    /// command whose word they are part of.
    pub commands: Vec<Simple>,
    /// Where commands stand; the first is the top level.
    pub scopes: Vec<Scope>,
    /// Constructs that were read but whose effect is not visible in `commands`.
    pub concerns: Vec<&'static str>,
    /// Why reading stopped before the end.
    pub unparsed: Option<&'static str>,
    /// The functions that it defines.
    pub functions: Vec<Function>,
    /// Variables that an expansion such as `${name:=value}` or a redirection such as `{name}<file` writes.
    pub volatile: Vec<String>,
    /// Bodies of here-documents; see [`RedirectionKind::Document`].
    pub documents: Vec<Word>,
    /// Something in it is read otherwise by shells that follow POSIX and no more, such as dash.
    pub only_bash: bool,
    /// A part of it runs in the background.
    pub has_background: bool,
    /// It has loops, `case`, `[[`, `((`, functions or coprocesses.
    pub has_compound: bool,
    lists: usize,
    work_bytes: usize,
}

impl ParsedShell {
    /// A scope and those around it, from the inside out.
    pub(crate) fn scopes_around(&self, scope: usize) -> impl Iterator<Item = usize> {
        std::iter::successors(Some(scope), |at| self.scopes[*at].parent)
    }
}

/// A command with its words, as far as the text tells them.
#[derive(Clone, Debug, Default)]
pub struct Simple {
    /// `NAME=value` in front of the command, or standing alone.
    pub assignments: Vec<ShellAssignment>,
    /// Program and arguments; empty when only assignments or redirections are there.
    pub words: Vec<Word>,
    /// Redirections in the order of the text.
    pub redirections: Vec<Redirection>,
    /// Assignments and words as they are written, with their quotes.
    pub source: Vec<String>,
    /// Index into [`ParsedShell::scopes`].
    pub scope: usize,
    /// Certainly executed, in the shell itself, so that its assignments hold afterwards.
    pub certain: bool,
    /// The list of commands joined by `&&` and `||` that it belongs to, counted from 1.
    pub list: usize,
    /// Executed only if everything before it in its list succeeded.
    pub after_success: bool,
    /// Not part of a pipeline, and not negated: what follows `&&` runs only if it succeeded.
    pub alone: bool,
}

/// `NAME=value`.
#[derive(Clone, Debug)]
pub struct ShellAssignment {
    /// The variable, without any subscript.
    pub name: String,
    /// How it is written.
    pub form: AssignmentForm,
    /// The value; for an array, its elements with blanks between them.
    pub value: Word,
}

/// How an assignment is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AssignmentForm {
    /// `NAME=value`.
    Plain,
    /// `NAME+=value`.
    Append,
    /// `NAME[i]=value` or `NAME=(…)`.
    Array,
}

/// A change to the files a command reads and writes.
#[derive(Clone, Debug)]
pub struct Redirection {
    /// What kind.
    pub kind: RedirectionKind,
    /// The file or descriptor; the text of a here-string.
    pub target: Word,
    /// Whether it changes the standard input.
    pub is_input: bool,
}

/// Kinds of redirection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RedirectionKind {
    /// `<`.
    Read,
    /// `>`, `>>`, `>|`, `&>`, `&>>`.
    Write,
    /// `<>`.
    ReadWrite,
    /// `<&` and `>&`: a descriptor, or for `>&` a file.
    Duplicate,
    /// `<<<`: text given in place.
    Text,
    /// `<<` and `<<-`: the text at this index of [`ParsedShell::documents`].
    Document(usize),
}

/// Where a command stands.
#[derive(Clone, Debug)]
pub struct Scope {
    /// The scope around it.
    pub parent: Option<usize>,
    /// What it is.
    pub kind: ScopeKind,
}

/// What a scope is.
#[derive(Clone, Debug)]
pub enum ScopeKind {
    /// The line itself.
    Top,
    /// A branch or a group: may never run.
    Branch,
    /// A `while` loop or one that counts: may run never or often.
    Loop,
    /// A substitution or subshell: its assignments are lost.
    Subshell,
    /// The body of `for variable in values`.
    For {
        /// The loop's variable.
        variable: String,
        /// What it takes in turn; `None` for the positional parameters.
        values: Option<Vec<Word>>,
    },
    /// The body of a function: runs later, with other variables.
    Function,
}

/// A function that the line defines.
#[derive(Clone, Debug)]
pub struct Function {
    /// Its name.
    pub name: String,
    /// The scope of its body.
    pub scope: usize,
}

/// Reads `text` as a shell script.
pub fn read(text: &str) -> ParsedShell {
    let mut text = Cow::Borrowed(text);
    let mut work_bytes = 0;
    loop {
        let mut script = ParsedShell { work_bytes, ..ParsedShell::default() };
        script.scopes.push(Scope { parent: None, kind: ScopeKind::Top });
        if text.len() > limits::SHELL_BYTES || work_bytes > limits::SHELL_REREAD_BYTES {
            script.unparsed = Some("the command is too long to be read");
            return script;
        }
        let (script, joint) = reader::ShellReader::new(&text, script, 0).read_all();
        let Some(joint) = joint else { return script };
        // A line that is continued within a word, or between two operators: `$\` and `(` on the next.
        work_bytes += text.len();
        text.to_mut().drain(joint..joint + 2);
    }
}

#[cfg(test)]
mod tests;
