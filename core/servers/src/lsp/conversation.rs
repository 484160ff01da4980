//! One conversation with an editor.

use std::collections::VecDeque;

use serde_json::{Map, Value, json};

use super::open::{EditorAbilities, Open, ServerState, invalid, no_uri, not_open};
use super::{answer, ask};
use onloop_effect::Exit;
use onloop_syntax::limits;
use onloop_syntax::syntax::file_uri;
use onloop_syntax::syntax::json_rpc::{self, Id, Incoming, RpcError};
use onloop_workflow::language::Encoding;

/// What is to be done about a message.
#[derive(Clone, Debug, PartialEq)]
pub enum Handled {
    /// To be sent to the editor.
    Send(Value),
    /// The conversation is over.
    Exit(Exit),
}

/// How far the conversation has come.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Phase {
    /// Nothing was agreed on.
    #[default]
    New,
    /// Everything can be asked.
    Running,
    /// Nothing can be asked any more.
    ShutDown,
}

/// A message that waits for its turn.
#[derive(Debug)]
struct Waiting {
    message: Result<Incoming, (Option<Id>, RpcError)>,
    is_cancelled: bool,
}

/// One conversation with an editor. Messages are taken in with [`Conversation::receive`] and answered
/// one after the other with [`Conversation::handle_next`], so that a request that is taken back while it
/// waits costs nothing. What is wrong with documents is said by [`Conversation::settle`], when
/// nothing waits: an editor that writes faster than we read gets findings of its last text only.
#[derive(Debug, Default)]
pub struct Conversation {
    phase: Phase,
    waiting: VecDeque<Waiting>,
    state: ServerState,
}

impl Conversation {
    /// Takes in a message.
    pub fn receive(&mut self, message: &[u8]) {
        let message = json_rpc::read(message);
        if let Ok(Incoming::Notification { method, params }) = &message
            && method == "$/cancelRequest"
        {
            self.cancel(params);
            return;
        }
        self.waiting.push_back(Waiting { message, is_cancelled: false });
    }

    /// Takes in that a message was not read, and why.
    pub fn receive_refused(&mut self, why: &str) {
        let message = Err((None, RpcError::new(RpcError::INVALID_REQUEST, why)));
        self.waiting.push_back(Waiting { message, is_cancelled: false });
    }

    fn cancel(&mut self, params: &Map<String, Value>) {
        let id = params.get("id").and_then(Id::read);
        let is_it = |waiting: &&mut Waiting| match &waiting.message {
            Ok(Incoming::Request { id: other, .. }) => Some(other) == id.as_ref(),
            Ok(Incoming::Notification { .. } | Incoming::Response { .. }) | Err(_) => false,
        };
        if let Some(waiting) = self.waiting.iter_mut().find(is_it) {
            waiting.is_cancelled = true;
        }
    }

    /// Whether a message waits for its turn.
    pub fn has_waiting(&self) -> bool {
        !self.waiting.is_empty()
    }

    /// Handles the message that has waited longest; `None`: none waits, or nothing is to be done.
    pub fn handle_next(&mut self) -> Option<Handled> {
        let Waiting { message, is_cancelled } = self.waiting.pop_front()?;
        let (id, outcome) = match message {
            Ok(Incoming::Request { id, .. }) if is_cancelled => {
                let why = "the request was taken back";
                (Some(id), Err(RpcError::new(RpcError::CANCELLED, why)))
            }
            Ok(Incoming::Request { id, method, params }) => {
                let outcome = self.request(&method, &params);
                (Some(id), outcome)
            }
            Ok(Incoming::Notification { method, params }) => {
                return self.notified(&method, &params);
            }
            // We ask for nothing.
            Ok(Incoming::Response { .. }) => return None,
            Err((id, error)) => (id, Err(error)),
        };
        Some(Handled::Send(json_rpc::answer(id.as_ref(), &outcome)))
    }

    /// What the editor is to be told of documents that have changed, once for each.
    pub fn settle(&mut self) -> Vec<Value> {
        let client = self.state.client;
        let mut messages = Vec::new();
        for (uri, open) in &mut self.state.documents {
            if !std::mem::take(&mut open.is_new) {
                continue;
            }
            let diagnostics = answer::diagnostics(uri, open, client);
            let shows = !diagnostics.is_empty();
            // Documents that are no workflows are never spoken of.
            if shows || open.has_shown || open.findings().is_some() {
                messages.push(published(uri, Some(open.version), diagnostics));
            }
            open.has_shown = shows;
        }
        messages
    }

    fn request(&mut self, method: &str, params: &Map<String, Value>) -> Result<Value, RpcError> {
        match (self.phase, method) {
            (Phase::New, "initialize") => Ok(self.initialize(params)),
            (Phase::New, _) => {
                let why = "`initialize` comes first";
                Err(RpcError::new(RpcError::NOT_INITIALIZED, why))
            }
            (Phase::Running, "initialize") => {
                Err(json_rpc::invalid("`initialize` was answered before"))
            }
            (Phase::Running, "shutdown") => {
                self.phase = Phase::ShutDown;
                Ok(Value::Null)
            }
            (Phase::Running, _) => ask::request(&mut self.state, method, params),
            (Phase::ShutDown, _) => {
                Err(json_rpc::invalid("after `shutdown` only `exit` is expected"))
            }
        }
    }

    fn initialize(&mut self, params: &Map<String, Value>) -> Value {
        self.phase = Phase::Running;
        let capabilities = params.get("capabilities").unwrap_or(&Value::Null);
        let has = |path: &str| capabilities.pointer(path) == Some(&Value::Bool(true));
        let text = "/textDocument";
        self.state.client = EditorAbilities {
            encoding: encoding(capabilities),
            has_document_changes: has("/workspace/workspaceEdit/documentChanges"),
            has_snippets: has(&format!("{text}/completion/completionItem/snippetSupport")),
            has_symbol_trees: has(&format!(
                "{text}/documentSymbol/hierarchicalDocumentSymbolSupport"
            )),
            has_related: has(&format!("{text}/publishDiagnostics/relatedInformation")),
            has_literal_actions: capabilities
                .pointer(&format!("{text}/codeAction/codeActionLiteralSupport"))
                .is_some_and(Value::is_object),
        };
        let named = params.get("workspaceFolders").and_then(Value::as_array);
        let root = params.get("rootUri").filter(|_| named.is_none_or(Vec::is_empty));
        let uris = named.into_iter().flatten().filter_map(|folder| folder.get("uri")).chain(root);
        self.add_folders(uris);
        answer::initialized(self.state.client)
    }

    fn add_folders<'v>(&mut self, uris: impl Iterator<Item = &'v Value>) {
        let paths = uris.filter_map(|uri| file_uri::path_of(uri.as_str()?));
        self.state.folders.extend(paths.map(|path| path.trim_end_matches('/').to_owned()));
        self.state.folders.truncate(limits::LSP_FOLDERS);
    }

    fn notified(&mut self, method: &str, params: &Map<String, Value>) -> Option<Handled> {
        match (self.phase, method) {
            (Phase::ShutDown, "exit") => return Some(Handled::Exit(Exit::Done)),
            (Phase::New | Phase::Running, "exit") => return Some(Handled::Exit(Exit::Failed)),
            (Phase::New | Phase::ShutDown, _) => return None,
            (Phase::Running, _) => {}
        }
        let outcome = match method {
            "textDocument/didOpen" => self.opened(params),
            "textDocument/didChange" => self.changed(params),
            "textDocument/didClose" => return self.closed(params),
            "workspace/didChangeWorkspaceFolders" => self.folders_changed(params),
            // What others may say to servers, we need not know.
            _ => Ok(()),
        };
        let error = outcome.err()?;
        // A notification has no answer; the editor's log is where its author looks.
        let message = format!("`{method}` is ignored: {}", error.message);
        let params = json!({ "type": 1, "message": message });
        Some(Handled::Send(json_rpc::notification("window/logMessage", params)))
    }

    fn opened(&mut self, params: &Map<String, Value>) -> Result<(), RpcError> {
        let item = params.get("textDocument").unwrap_or(&Value::Null);
        let uri = item.get("uri").and_then(Value::as_str).ok_or_else(no_uri)?;
        let text = item.get("text").and_then(Value::as_str);
        let text = text.ok_or_else(|| invalid("`textDocument` needs a `text`"))?;
        if text.len() > limits::LSP_DOCUMENT_BYTES {
            let limit = limits::LSP_DOCUMENT_BYTES;
            return Err(invalid(&format!("a document has at most {limit} bytes")));
        }
        let is_known = self.state.documents.contains_key(uri);
        if !is_known && self.state.documents.len() >= limits::LSP_DOCUMENTS {
            let limit = limits::LSP_DOCUMENTS;
            return Err(invalid(&format!("{limit} documents are open already")));
        }
        let version = item.get("version").and_then(Value::as_i64).unwrap_or(0);
        self.state.documents.insert(uri.to_owned(), Open::new(uri, version, text.to_owned()));
        Ok(())
    }

    fn changed(&mut self, params: &Map<String, Value>) -> Result<(), RpcError> {
        let item = params.get("textDocument").unwrap_or(&Value::Null);
        let uri = item.get("uri").and_then(Value::as_str).ok_or_else(no_uri)?;
        let encoding = self.state.client.encoding;
        let open = self.state.documents.get_mut(uri).ok_or_else(not_open)?;
        let changes = params.get("contentChanges").and_then(Value::as_array);
        let changes = changes.ok_or_else(|| invalid("`contentChanges` must be a list"))?;
        let version = item.get("version").and_then(Value::as_i64).unwrap_or(open.version + 1);
        open.change(version, changes, encoding)
    }

    /// What was found in a document that is closed is shown no longer.
    fn closed(&mut self, params: &Map<String, Value>) -> Option<Handled> {
        let uri = params.get("textDocument")?.get("uri")?.as_str()?;
        let open = self.state.documents.remove(uri)?;
        open.has_shown.then(|| Handled::Send(published(uri, None, Vec::new())))
    }

    fn folders_changed(&mut self, params: &Map<String, Value>) -> Result<(), RpcError> {
        let event = params.get("event").ok_or_else(|| invalid("`event` is missing"))?;
        let list = |name: &str| {
            let folders = event.get(name).and_then(Value::as_array).into_iter().flatten();
            folders.filter_map(|folder| folder.get("uri")).collect::<Vec<_>>()
        };
        for uri in list("removed") {
            let path = uri.as_str().and_then(file_uri::path_of);
            let path = path.as_deref().map(|path| path.trim_end_matches('/'));
            self.state.folders.retain(|folder| Some(folder.as_str()) != path);
        }
        self.add_folders(list("added").into_iter());
        Ok(())
    }
}

fn published(uri: &str, version: Option<i64>, diagnostics: Vec<Value>) -> Value {
    let mut params = json!({ "uri": uri, "diagnostics": diagnostics });
    if let Some(version) = version {
        params["version"] = json!(version);
    }
    json_rpc::notification("textDocument/publishDiagnostics", params)
}

/// Bytes where the editor takes them, since that is what we count; else UTF-16, which all take.
fn encoding(capabilities: &Value) -> Encoding {
    let offered = capabilities.pointer("/general/positionEncodings").and_then(Value::as_array);
    let offered = offered.into_iter().flatten().filter_map(Value::as_str);
    let offered: Vec<&str> = offered.collect();
    if offered.contains(&"utf-8") { Encoding::Utf8 } else { Encoding::Utf16 }
}
