//! What is said to the editor, in the form of the protocol.

use serde_json::{Value, json};

use super::open::{EditorAbilities, Open};
use onloop_syntax::diagnostic::{Diagnostic, Edit, Severity, Span};
use onloop_workflow::language::{
    self, Document, DocumentPosition, Encoding, Fold, FoldKind, Proposal, ProposalKind, Symbol,
    SymbolKind, TokenKind,
};

/// What every finding links to.
const FINDINGS: &str =
    concat!(env!("CARGO_PKG_REPOSITORY"), "/blob/main/docs/workflow-format.md#findings");

pub(super) const FIX_ALL: &str = "source.fixAll.onloop";
pub(super) const QUICK_FIX: &str = "quickfix";
pub(super) const REWRITE: &str = "refactor.rewrite";

/// The answer to `initialize`.
pub(super) fn initialized(client: EditorAbilities) -> Value {
    let encoding = match client.encoding {
        Encoding::Utf8 => "utf-8",
        Encoding::Utf16 => "utf-16",
        Encoding::Utf32 => "utf-32",
    };
    let actions = match client.has_literal_actions {
        true => json!({ "codeActionKinds": [QUICK_FIX, REWRITE, FIX_ALL] }),
        // Without them every action would have to be a command that we carry out.
        false => json!(false),
    };
    json!({
        "capabilities": {
            "positionEncoding": encoding,
            "textDocumentSync": { "openClose": true, "change": 2 },
            "hoverProvider": true,
            "completionProvider": { "triggerCharacters": [" ", ":", "-", "_"] },
            "definitionProvider": true,
            "referencesProvider": true,
            "documentSymbolProvider": { "label": "onloop" },
            "codeActionProvider": actions,
            "documentLinkProvider": {},
            "documentFormattingProvider": true,
            "documentRangeFormattingProvider": true,
            "renameProvider": { "prepareProvider": true },
            "foldingRangeProvider": true,
            "semanticTokensProvider": {
                "legend": { "tokenTypes": TokenKind::WORDS, "tokenModifiers": [] },
                "full": true,
                "range": true,
            },
            "workspace": {
                "workspaceFolders": { "supported": true, "changeNotifications": true },
            },
        },
        "serverInfo": { "name": "onloop", "version": env!("CARGO_PKG_VERSION") },
    })
}

/// Turns places of a document into those of the protocol.
#[derive(Clone, Copy)]
pub(super) struct Ranges<'d> {
    pub document: &'d Document,
    pub encoding: Encoding,
}

impl Ranges<'_> {
    fn at(self, offset: usize) -> DocumentPosition {
        self.document.position(offset, self.encoding)
    }

    fn position(self, offset: usize) -> Value {
        let DocumentPosition { line, character } = self.at(offset);
        json!({ "line": line, "character": character })
    }

    pub(super) fn range(self, span: Span) -> Value {
        json!({ "start": self.position(span.start), "end": self.position(span.end) })
    }

    pub(super) fn edits(self, edits: &[Edit]) -> Value {
        let edit = |edit: &Edit| json!({ "range": self.range(edit.span), "newText": edit.text });
        edits.iter().map(edit).collect()
    }
}

/// What is wrong with a document, as the editor shows it.
pub(super) fn diagnostics(uri: &str, open: &mut Open, client: EditorAbilities) -> Vec<Value> {
    if open.reading().is_none() {
        return Vec::new();
    }
    let document = open.document.clone();
    let places = Ranges { document: &document, encoding: client.encoding };
    let Some(reading) = open.reading() else { return Vec::new() };
    let shown = |finding: &Diagnostic| {
        let mut shown = diagnostic(places, finding);
        if client.has_related {
            let related = language::related(reading, finding);
            let related = related.into_iter().map(|(span, message)| {
                let location = json!({ "uri": uri, "range": places.range(span) });
                json!({ "location": location, "message": message })
            });
            shown["relatedInformation"] = related.collect();
        }
        shown
    };
    reading.parsed.diagnostics.iter().map(shown).collect()
}

pub(super) fn diagnostic(places: Ranges<'_>, finding: &Diagnostic) -> Value {
    let severity = match finding.severity {
        Severity::Error => 1,
        Severity::Warning => 2,
    };
    let help = finding.help.as_ref().map(|help| format!("\n{help}"));
    let mut shown = json!({
        "range": places.range(finding.span),
        "severity": severity,
        "code": finding.code,
        "codeDescription": { "href": FINDINGS },
        "source": "onloop",
        "message": format!("{}{}", finding.message, help.unwrap_or_default()),
    });
    if language::is_unnecessary(finding) {
        shown["tags"] = json!([1]);
    }
    shown
}

/// A change of one document.
pub(super) fn workspace_edit(
    uri: &str,
    version: i64,
    places: Ranges<'_>,
    edits: &[Edit],
    client: EditorAbilities,
) -> Value {
    let edits = places.edits(edits);
    if client.has_document_changes {
        let document = json!({ "uri": uri, "version": version });
        return json!({ "documentChanges": [{ "textDocument": document, "edits": edits }] });
    }
    json!({ "changes": { uri: edits } })
}

/// A symbol with its parts.
pub(super) fn symbol(places: Ranges<'_>, symbol: &Symbol) -> Value {
    let children: Vec<Value> =
        symbol.children.iter().map(|child| self::symbol(places, child)).collect();
    let mut shown = json!({
        "name": symbol.name,
        "kind": symbol_kind(symbol.kind),
        "range": places.range(symbol.span),
        "selectionRange": places.range(symbol.selection),
        "children": children,
    });
    if !symbol.detail.is_empty() {
        shown["detail"] = json!(symbol.detail);
    }
    shown
}

/// Symbols one after the other, for editors that know no trees.
pub(super) fn flat_symbols(places: Ranges<'_>, uri: &str, symbols: &[Symbol]) -> Value {
    let flat = symbols.iter().map(|symbol| {
        let location = json!({ "uri": uri, "range": places.range(symbol.span) });
        json!({ "name": symbol.name, "kind": symbol_kind(symbol.kind), "location": location })
    });
    flat.collect()
}

fn symbol_kind(kind: SymbolKind) -> u8 {
    match kind {
        SymbolKind::Frontmatter => 3,
        SymbolKind::Step => 6,
        SymbolKind::Field => 7,
        SymbolKind::Check => 24,
    }
}

pub(super) fn fold(places: Ranges<'_>, fold: &Fold) -> Value {
    let (start, end) = (places.at(fold.span.start), places.at(fold.span.end));
    let mut shown = json!({ "startLine": start.line, "endLine": end.line });
    match fold.kind {
        FoldKind::Comment => shown["kind"] = json!("comment"),
        FoldKind::Frontmatter | FoldKind::Step => shown["kind"] = json!("region"),
        FoldKind::Lines => {}
    }
    shown
}

pub(super) fn proposal(
    places: Ranges<'_>,
    (at, proposal): (usize, &Proposal),
    client: EditorAbilities,
) -> Value {
    let kind = match proposal.kind {
        ProposalKind::Field => 10,
        ProposalKind::Value => 12,
        ProposalKind::Template => 15,
    };
    let text = match client.has_snippets {
        true => proposal.snippet.clone(),
        false => language::plain(&proposal.snippet),
    };
    // What has been typed of a step is `- [`, and nothing of its label.
    let first_line = language::plain(&proposal.snippet);
    let filter = match proposal.kind {
        ProposalKind::Field | ProposalKind::Value => proposal.label.as_str(),
        ProposalKind::Template => first_line.lines().next().unwrap_or_default(),
    };
    json!({
        "label": proposal.label,
        "kind": kind,
        "documentation": { "kind": "markdown", "value": proposal.about },
        "sortText": format!("{at:03}"),
        "filterText": filter,
        "insertTextFormat": if client.has_snippets { 2 } else { 1 },
        "textEdit": { "range": places.range(proposal.span), "newText": text },
    })
}
