//! What is open in the editor.

use std::collections::BTreeMap;

use serde_json::{Map, Value};

use onloop_syntax::diagnostic::Diagnostic;
use onloop_syntax::limits;
use onloop_syntax::syntax::file_uri;
use onloop_syntax::syntax::json_rpc::RpcError;
use onloop_workflow::language::{Document, DocumentPosition, Encoding, Reading};
use onloop_workflow::{self as workflow, FileClass, Parsed, classify};

/// What the editor can take.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct EditorAbilities {
    pub encoding: Encoding,
    /// Changes of a workspace name the version of each document.
    pub has_document_changes: bool,
    pub has_snippets: bool,
    pub has_symbol_trees: bool,
    pub has_related: bool,
    pub has_literal_actions: bool,
}

/// What is known of the editor and of what it has open.
#[derive(Debug, Default)]
pub(super) struct ServerState {
    pub client: EditorAbilities,
    /// Where the editor works: absolute paths.
    pub folders: Vec<String>,
    /// By address.
    pub documents: BTreeMap<String, Open>,
}

/// A document as the editor has it.
#[derive(Debug)]
pub(super) struct Open {
    /// Its path, where its address has one; else the address.
    pub path: String,
    /// The number that the editor gives to this text.
    pub version: i64,
    pub document: Document,
    /// Whether the editor has not been told about this text.
    pub is_new: bool,
    /// Whether the editor shows findings of it.
    pub has_shown: bool,
    /// What was read from this text, once somebody wanted to know; `None` of it: it is no workflow.
    reading: Option<Option<Parsed>>,
}

impl Open {
    pub(super) fn new(uri: &str, version: i64, text: String) -> Open {
        let path = file_uri::path_of(uri).unwrap_or_else(|| uri.to_owned());
        let document = Document::new(text);
        Open { path, version, document, is_new: true, has_shown: false, reading: None }
    }

    /// The workflow that the document is; `None`: it is none.
    pub(super) fn reading(&mut self) -> Option<Reading<'_>> {
        let text = self.document.text();
        let read =
            || is_workflow(&self.path, text).then(|| workflow::parse(&self.path, text.as_bytes()));
        let parsed = self.reading.get_or_insert_with(read);
        parsed.as_ref().map(|parsed| Reading::new(text, parsed))
    }

    /// What is wrong with it; `None`: it is no workflow.
    pub(super) fn findings(&mut self) -> Option<&[Diagnostic]> {
        self.reading().map(|reading| reading.parsed.diagnostics.as_slice())
    }

    /// Takes the changes of one notification, one after the other.
    ///
    /// # Errors
    ///
    /// The text is what it was when the changes cannot be read.
    pub(super) fn change(
        &mut self,
        version: i64,
        changes: &[Value],
        encoding: Encoding,
    ) -> Result<(), RpcError> {
        let mut document = self.document.clone();
        for change in changes {
            let text = text_of(change)?;
            match change.get("range") {
                Some(Value::Object(range)) => {
                    let start = document.offset(position_in(range, "start")?, encoding);
                    let end = document.offset(position_in(range, "end")?, encoding);
                    document
                        .change(onloop_syntax::diagnostic::Span::new(start, end.max(start)), text);
                }
                Some(_) => return Err(invalid("`range` must be an object")),
                None => document = Document::new(text.to_owned()),
            }
            if document.text().len() > limits::LSP_DOCUMENT_BYTES {
                let limit = limits::LSP_DOCUMENT_BYTES;
                return Err(invalid(&format!("a document has at most {limit} bytes")));
            }
        }
        *self = Open {
            version,
            document,
            is_new: true,
            reading: None,
            path: std::mem::take(&mut self.path),
            ..*self
        };
        Ok(())
    }
}

fn text_of(change: &Value) -> Result<&str, RpcError> {
    change.get("text").and_then(Value::as_str).ok_or_else(|| invalid("a change needs a `text`"))
}

/// Whether a document is treated as a workflow: by its name, by its folder, or because it begins
/// with frontmatter and is plainly one. A document about workflows is none.
fn is_workflow(path: &str, text: &str) -> bool {
    let class = |text: &str| classify(path, text.as_bytes()) == FileClass::Workflow;
    let folder = path.rsplit_once('/').map_or("", |(folder, _)| folder);
    let begins = || text.trim_start_matches('\u{feff}').starts_with("---");
    let in_folder = folder == ".ai/workflows" || folder.ends_with("/.ai/workflows");
    class("") || (in_folder && path.ends_with(".md")) || (begins() && class(text))
}

/// A position in one of the members of a range.
pub(super) fn position_in(
    members: &Map<String, Value>,
    name: &str,
) -> Result<DocumentPosition, RpcError> {
    let position = members.get(name);
    let number = |part: &str| {
        let number = position.and_then(|position| position.get(part)).and_then(Value::as_u64);
        number.and_then(|number| usize::try_from(number).ok())
    };
    match (number("line"), number("character")) {
        (Some(line), Some(character)) => Ok(DocumentPosition { line, character }),
        (_, _) => Err(invalid(&format!("`{name}` must have a `line` and a `character`"))),
    }
}

pub(super) fn invalid(message: &str) -> RpcError {
    RpcError::new(RpcError::INVALID_PARAMS, message)
}

pub(super) fn no_uri() -> RpcError {
    invalid("`textDocument` needs a `uri`")
}

pub(super) fn not_open() -> RpcError {
    invalid("the document is not open")
}
