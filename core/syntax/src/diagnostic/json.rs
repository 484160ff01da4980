//! Findings for programs: onloop's own JSON, and SARIF 2.1.0.

use serde_json::{Value, json};

use super::{Diagnostic, Fix, LineIndex, Severity};

/// Findings of one file.
#[derive(Clone, Copy, Debug)]
pub struct FileFindings<'f> {
    /// Path as the user wrote it.
    pub path: &'f str,
    /// Content of the file.
    pub source: &'f [u8],
    /// Its findings, in the order of the file.
    pub diagnostics: &'f [Diagnostic],
}

/// `onloop.lint/v1`: every finding with byte offsets, lines and columns from 1 (in Unicode
/// scalar values), and its fix.
pub fn render(files: &[FileFindings<'_>]) -> Value {
    let count = |kind: Severity| {
        let of_kind = |d: &&Diagnostic| d.severity == kind;
        files.iter().flat_map(|file| file.diagnostics).filter(of_kind).count()
    };
    json!({
        "schema": "onloop.lint/v1",
        "errors": count(Severity::Error),
        "warnings": count(Severity::Warning),
        "files": files.iter().map(file_document).collect::<Vec<_>>(),
    })
}

fn file_document(file: &FileFindings<'_>) -> Value {
    let index = LineIndex::new(file.source);
    let document = |diagnostic: &Diagnostic| {
        let (start, end) =
            (index.position(diagnostic.span.start), index.position(diagnostic.span.end));
        json!({
            "code": diagnostic.code,
            "severity": diagnostic.severity.as_str(),
            "message": diagnostic.message,
            "help": diagnostic.help,
            "start": diagnostic.span.start,
            "end": diagnostic.span.end,
            "line": start.line,
            "column": start.column,
            "end_line": end.line,
            "end_column": end.column,
            "fix": diagnostic.fix.as_ref().map(fix_document),
        })
    };
    json!({
        "path": file.path,
        "diagnostics": file.diagnostics.iter().map(document).collect::<Vec<_>>(),
    })
}

fn fix_document(fix: &Fix) -> Value {
    let edits = fix
        .edits
        .iter()
        .map(|edit| json!({ "start": edit.span.start, "end": edit.span.end, "text": edit.text }));
    json!({ "title": fix.title, "edits": edits.collect::<Vec<_>>() })
}

/// SARIF 2.1.0, as code scanning services read it. `rules` are `(code, summary)` pairs; a code
/// without a pair describes itself.
pub fn render_sarif(files: &[FileFindings<'_>], rules: &[(&str, &str)]) -> Value {
    let results = files.iter().flat_map(|file| {
        let index = LineIndex::new(file.source);
        let results = file.diagnostics.iter().map(|d| sarif_result(file, &index, d, rules));
        results.collect::<Vec<_>>()
    });
    let rule = |(code, summary): &(&str, &str)| json!({ "id": code, "shortDescription": { "text": summary } });
    json!({
        "$schema": "https://json.schemastore.org/sarif-2.1.0.json",
        "version": "2.1.0",
        "runs": [{
            "tool": { "driver": {
                "name": "onloop",
                "semanticVersion": env!("CARGO_PKG_VERSION"),
                "informationUri": env!("CARGO_PKG_REPOSITORY"),
                "rules": rules.iter().map(rule).collect::<Vec<_>>(),
            } },
            "columnKind": "unicodeCodePoints",
            "results": results.collect::<Vec<_>>(),
        }],
    })
}

fn sarif_result(
    file: &FileFindings<'_>,
    index: &LineIndex<'_>,
    diagnostic: &Diagnostic,
    rules: &[(&str, &str)],
) -> Value {
    let (start, end) = (index.position(diagnostic.span.start), index.position(diagnostic.span.end));
    let text = match &diagnostic.help {
        Some(help) => format!("{}\nhelp: {help}", diagnostic.message),
        None => diagnostic.message.clone(),
    };
    let location = json!({ "uri": uri(file.path) });
    let mut result = json!({
        "ruleId": diagnostic.code,
        "level": diagnostic.severity.as_str(),
        "message": { "text": text },
        "locations": [{ "physicalLocation": {
            "artifactLocation": location,
            "region": {
                "startLine": start.line,
                "startColumn": start.column,
                "endLine": end.line,
                "endColumn": end.column,
            },
        } }],
    });
    if let Some(at) = rules.iter().position(|(code, _)| *code == diagnostic.code) {
        result["ruleIndex"] = json!(at);
    }
    if let Some(fix) = &diagnostic.fix {
        let replacements = fix.edits.iter().map(|edit| {
            let (start, end) = (index.position(edit.span.start), index.position(edit.span.end));
            json!({
                "deletedRegion": {
                    "startLine": start.line,
                    "startColumn": start.column,
                    "endLine": end.line,
                    "endColumn": end.column,
                },
                "insertedContent": { "text": edit.text },
            })
        });
        result["fixes"] = json!([{
            "description": { "text": fix.title },
            "artifactChanges": [{
                "artifactLocation": location,
                "replacements": replacements.collect::<Vec<_>>(),
            }],
        }]);
    }
    result
}

/// A relative reference or a `file:` URI, with everything outside plain ASCII encoded.
fn uri(path: &str) -> String {
    let mut uri = String::new();
    if path.starts_with('/') {
        uri.push_str("file://");
    }
    for byte in path.bytes() {
        match byte {
            b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' | b'-' | b'_' | b'.' | b'~' | b'/' => {
                uri.push(char::from(byte));
            }
            b'\\' => uri.push('/'),
            other => uri.push_str(&format!("%{other:02X}")),
        }
    }
    uri
}
