//! What an editor is told about a workflow file, by the functions that the language server uses, too.
//!
//! Only in the module with programs: the other one is for who counts its bytes. Every call reads the
//! whole text, which takes less time than keeping what was read in step with an editor. Offsets count
//! UTF-16 units.

use onloop_core::diagnostic::{Diagnostic, Edit, Fix, Span};
use onloop_core::language::{self, Document, Encoding, Reading, Symbol, TokenKind};
use onloop_core::workflow::{self, Parsed};
use onloop_wasm::pure::finding;
use onloop_wasm::utf16::{Placed, Utf16};
use serde::Serialize;
use serde_json::{Value, json};
use wasm_bindgen::prelude::*;

/// A text that was read.
struct Read {
    text: String,
    parsed: Parsed,
}

impl Read {
    fn new(path: &str, text: &[u8]) -> Read {
        let parsed = workflow::parse(path, text);
        Read { text: String::from_utf8_lossy(text).into_owned(), parsed }
    }

    fn reading(&self) -> Reading<'_> {
        Reading::new(&self.text, &self.parsed)
    }

    fn utf16(&self) -> Utf16<'_> {
        Utf16::new(&self.text)
    }
}

/// The diagnostics with what else is known of them: `[{…, "unnecessary", "related"}]`.
#[wasm_bindgen]
pub fn language_findings(path: &str, text: &[u8]) -> String {
    let read = Read::new(path, text);
    if read.parsed.diagnostics.is_empty() {
        return "[]".to_owned();
    }
    let utf16 = read.utf16();
    let shown = |found: &Diagnostic| {
        let related = language::related(read.reading(), found).into_iter();
        let related = related.map(|(span, message)| {
            let mut related = utf16.placed(span);
            related["message"] = json!(message);
            related
        });
        let mut shown = finding(&utf16, found);
        shown["unnecessary"] = json!(language::is_unnecessary(found));
        shown["related"] = related.collect();
        shown
    };
    read.parsed.diagnostics.iter().map(shown).collect::<Value>().to_string()
}

/// Changes that resolve the findings that touch a range: `[{"finding", "is_safe", "title", "edits"}]`,
/// where `finding` is an index into the diagnostics.
#[wasm_bindgen]
pub fn language_fixes(path: &str, text: &[u8], start: u32, end: u32) -> String {
    let read = Read::new(path, text);
    let utf16 = read.utf16();
    let (start, end) = (utf16.byte(start as usize), utf16.byte(end as usize));
    let findings = read.parsed.diagnostics.iter().enumerate();
    let touched = findings.filter(|(_, found)| found.span.start <= end && start <= found.span.end);
    let fixes = touched.flat_map(|(index, found)| {
        let fixes = language::quick_fixes(read.reading(), found).into_iter().enumerate();
        let has_fix = found.fix.is_some();
        fixes.map(move |(at, fix)| (index, at == 0 && has_fix, fix))
    });
    let fixes = fixes.map(|(index, is_safe, fix)| {
        let mut shown = change(&utf16, &fix);
        shown["finding"] = json!(index);
        shown["is_safe"] = json!(is_safe);
        shown
    });
    fixes.collect::<Value>().to_string()
}

/// Changes of the order of steps, offered at a header: `[{"title", "edits"}]`.
#[wasm_bindgen]
pub fn language_rewrites(path: &str, text: &[u8], offset: u32) -> String {
    let read = Read::new(path, text);
    let utf16 = read.utf16();
    let rewrites = language::rewrites(read.reading(), utf16.byte(offset as usize));
    rewrites.iter().map(|rewrite| change(&utf16, rewrite)).collect::<Value>().to_string()
}

/// The parts of a file as a tree.
#[wasm_bindgen]
pub fn language_symbols(path: &str, text: &[u8]) -> String {
    let read = Read::new(path, text);
    let utf16 = read.utf16();
    let symbols = language::symbols(read.reading());
    let parts: Vec<_> = symbols.iter().map(|found| Part::new(&utf16, found)).collect();
    // A large file has thousands of them: as values they take three times as long.
    serde_json::to_string(&parts).expect("strings and numbers are JSON")
}

/// What can be folded: `[{"kind", "span"}]`.
#[wasm_bindgen]
pub fn language_folds(path: &str, text: &[u8]) -> String {
    let read = Read::new(path, text);
    let utf16 = read.utf16();
    let folds = language::folds(read.reading()).into_iter();
    let folds =
        folds.map(|fold| json!({ "kind": fold.kind.as_str(), "span": utf16.placed(fold.span) }));
    folds.collect::<Value>().to_string()
}

/// The kinds of tokens, in the order of their indices: a JSON list.
#[wasm_bindgen]
pub fn language_token_kinds() -> String {
    json!(TokenKind::WORDS).to_string()
}

/// The tokens that touch a range, five numbers each.
#[wasm_bindgen]
pub fn language_tokens(path: &str, text: &[u8], start: u32, end: u32) -> Vec<u32> {
    let read = Read::new(path, text);
    let utf16 = read.utf16();
    let (start, end) = (utf16.byte(start as usize), utf16.byte(end as usize));
    let tokens = language::tokens(read.reading(), Span { start, end });
    let document = Document::new(read.text.clone());
    language::token_data(&document, Encoding::Utf16, &tokens)
}

/// What something means, `{"markdown", "span"}`; nothing where there is nothing to say.
#[wasm_bindgen]
pub fn language_hover(path: &str, text: &[u8], offset: u32) -> Option<String> {
    let read = Read::new(path, text);
    let utf16 = read.utf16();
    let hover = language::hover(read.reading(), utf16.byte(offset as usize))?;
    let span = utf16.placed(hover.span);
    Some(json!({ "markdown": hover.markdown, "span": span }).to_string())
}

/// What can be written, the likeliest first.
#[wasm_bindgen]
pub fn language_proposals(path: &str, text: &[u8], offset: u32) -> String {
    let read = Read::new(path, text);
    let utf16 = read.utf16();
    let proposals = language::proposals(read.reading(), utf16.byte(offset as usize)).into_iter();
    let proposals = proposals.map(|proposal| {
        json!({
            "label": proposal.label,
            "kind": proposal.kind.as_str(),
            "snippet": proposal.snippet,
            "plain": language::plain(&proposal.snippet),
            "about": proposal.about,
            "goes_on": proposal.goes_on,
            "span": utf16.placed(proposal.span),
        })
    });
    proposals.collect::<Value>().to_string()
}

/// The edits that lay out the file.
#[wasm_bindgen]
pub fn language_layout(path: &str, text: &[u8]) -> String {
    let read = Read::new(path, text);
    edits(&read, &language::layout(read.reading()))
}

/// The step whose header or mention is at a place; nothing elsewhere.
#[wasm_bindgen]
pub fn language_step(path: &str, text: &[u8], offset: u32) -> Option<String> {
    let read = Read::new(path, text);
    let utf16 = read.utf16();
    let step = language::step_at(read.reading(), utf16.byte(offset as usize))?;
    let mentions = language::mentions_of(read.reading(), step.position).into_iter();
    let found = json!({
        "here": utf16.placed(step.here),
        "number": utf16.placed(step.number),
        "title": utf16.placed(step.title),
        "mentions": mentions.map(|span| utf16.placed(span)).collect::<Value>(),
    });
    Some(found.to_string())
}

/// The edits that rename the step at a place.
#[wasm_bindgen]
pub fn language_rename(
    path: &str,
    text: &[u8],
    offset: u32,
    name: &str,
) -> Result<String, JsError> {
    let read = Read::new(path, text);
    let offset = read.utf16().byte(offset as usize);
    let renamed = language::renamed(read.reading(), offset, name);
    Ok(edits(&read, &renamed.map_err(|why| JsError::new(&why.to_string()))?))
}

/// Files that a workflow names: `[{"path", "span"}]`.
#[wasm_bindgen]
pub fn language_links(path: &str, text: &[u8]) -> String {
    let read = Read::new(path, text);
    let utf16 = read.utf16();
    let links = language::links(read.reading()).into_iter();
    let links = links.map(|link| json!({ "path": link.path, "span": utf16.placed(link.span) }));
    links.collect::<Value>().to_string()
}

fn edits(read: &Read, edits: &[Edit]) -> String {
    read.utf16().edits(edits).to_string()
}

fn change(utf16: &Utf16<'_>, fix: &Fix) -> Value {
    json!({ "title": fix.title, "edits": utf16.edits(&fix.edits) })
}

/// A symbol as it crosses.
#[derive(Serialize)]
struct Part<'s> {
    name: &'s str,
    detail: &'s str,
    kind: &'static str,
    span: Placed,
    selection: Placed,
    children: Vec<Part<'s>>,
}

impl<'s> Part<'s> {
    fn new(utf16: &Utf16<'_>, found: &'s Symbol) -> Part<'s> {
        Part {
            name: &found.name,
            detail: &found.detail,
            kind: found.kind.as_str(),
            span: utf16.place(found.span),
            selection: utf16.place(found.selection),
            children: found.children.iter().map(|child| Part::new(utf16, child)).collect(),
        }
    }
}
