//! Files and functions stay short enough to be read in one sitting.

use proc_macro2::{Delimiter, TokenStream, TokenTree};

use crate::sources::SourceFile;

/// A file of more lines is remarked upon.
const REMARK_FILE_LINES: usize = 600;
/// A file of more lines is refused.
const REFUSE_FILE_LINES: usize = 900;
/// A function of more lines is remarked upon, from its name to its closing brace.
const REMARK_FUNCTION_LINES: usize = 70;

/// What was found.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Found {
    /// Worth a second look.
    pub(crate) remarks: Vec<String>,
    /// Must change.
    pub(crate) faults: Vec<String>,
}

/// Measures every file.
pub(crate) fn check(files: &[SourceFile]) -> Found {
    let mut found = Found::default();
    for file in files {
        let lines = file.text.lines().count();
        if lines > REFUSE_FILE_LINES {
            found.faults.push(format!("{}: {lines} lines; split it", file.path));
        } else if lines > REMARK_FILE_LINES {
            found.remarks.push(format!("{}: {lines} lines", file.path));
        }
        // What does not parse is the compiler's to report.
        let tokens = file.text.parse::<TokenStream>().unwrap_or_default();
        remark_on_functions(&file.path, tokens, &mut found.remarks);
    }
    found
}

fn remark_on_functions(path: &str, tokens: TokenStream, remarks: &mut Vec<String>) {
    let mut open: Option<(String, usize)> = None;
    let mut after_fn = false;
    for token in tokens {
        match token {
            TokenTree::Ident(ident) => {
                if after_fn {
                    open = Some((ident.to_string(), ident.span().start().line));
                }
                after_fn = ident == "fn";
            }
            TokenTree::Group(group) => {
                if group.delimiter() == Delimiter::Brace
                    && let Some((name, first)) = open.take()
                {
                    let last = group.span_close().end().line;
                    let lines = last - first + 1;
                    if lines > REMARK_FUNCTION_LINES {
                        remarks.push(format!("{path}:{first}: `{name}` has {lines} lines"));
                    }
                }
                remark_on_functions(path, group.stream(), remarks);
            }
            TokenTree::Punct(punct) => {
                after_fn = false;
                if punct.as_char() == ';' {
                    open = None;
                }
            }
            TokenTree::Literal(_) => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(text: String) -> Found {
        check(&[SourceFile { path: "a.rs".to_owned(), text }])
    }

    #[test]
    fn long_files_are_remarked_upon_and_longer_ones_refused() {
        assert_eq!(found("\n".repeat(600)), Found::default());
        assert_eq!(found("\n".repeat(601)).remarks, ["a.rs: 601 lines"]);
        assert_eq!(found("\n".repeat(900)).faults, [""; 0]);
        assert_eq!(found("\n".repeat(901)).faults, ["a.rs: 901 lines; split it"]);
    }

    #[test]
    fn functions_are_measured_wherever_they_are() {
        let body = |lines: usize| format!("fn long() {{{}}}", "\n".repeat(lines - 1));
        assert_eq!(found(body(70)), Found::default());
        assert_eq!(found(body(71)).remarks, ["a.rs:1: `long` has 71 lines"]);
        let method = format!("impl A {{\ntrait B {{ fn no_body(); }}\n{}\n}}", body(80));
        assert_eq!(found(method).remarks, ["a.rs:3: `long` has 80 lines"]);
        let pointer = format!("static F: fn(u8) = g;\nmod m {{{}}}", "\n".repeat(100));
        assert_eq!(found(pointer), Found::default());
    }
}
