//! Files that a workflow names.

use super::Reading;
use crate::{FileClass, Section, classify};
use onloop_syntax::diagnostic::Span;

/// A file that is named.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileLink {
    /// Its name.
    pub span: Span,
    /// Its path, relative to the root of the checkout and below it, with `/` between its parts.
    pub path: String,
}

/// Most links of one file.
const LINKS: usize = 1000;

/// The files of `artifact` checks, and workflow files that are named anywhere, in the order of the
/// file. Whether they are there is not known.
pub fn links(reading: Reading<'_>) -> Vec<FileLink> {
    let mut found: Vec<FileLink> = Vec::new();
    let paths = reading.fields().iter().filter(|field| field.is(Section::Check, "path"));
    for place in paths {
        let text = reading.slice(place.value);
        let bare = text.trim_matches(['"', '\'']);
        let quotes = (text.len() - bare.len()) / 2;
        let span = Span::new(place.value.start + quotes, place.value.start + quotes + bare.len());
        found.extend(below(bare).map(|path| FileLink { span, path }));
    }
    found.extend(workflow_files(reading));
    found.sort_by_key(|link| link.span);
    found.dedup_by_key(|link| link.span.start);
    found.truncate(LINKS);
    found
}

fn workflow_files(reading: Reading<'_>) -> Vec<FileLink> {
    let text = reading.text;
    let is_name = |c: char| c.is_alphanumeric() || matches!(c, '-' | '_' | '.' | '/');
    let ends = memchr::memmem::find_iter(text.as_bytes(), b".md").map(|at| at + ".md".len());
    let named = ends.filter_map(|end| {
        let goes_on =
            text[end..].starts_with(|c: char| c.is_alphanumeric() || matches!(c, '-' | '_'));
        // A name of more bytes is none.
        let from = text[..end].char_indices().rev().take(255);
        let start = from.take_while(|(_, c)| is_name(*c)).map(|(at, _)| at).last()?;
        let name = &text[start..end];
        let is_workflow = classify(name, b"") == FileClass::Workflow;
        let path = below(name).filter(|_| is_workflow && !goes_on)?;
        Some(FileLink { span: Span::new(start, end), path })
    });
    named.take(LINKS).collect()
}

/// A path below the root, without `.`; `None`: it leads elsewhere.
fn below(path: &str) -> Option<String> {
    let has_drive = path.as_bytes().get(1) == Some(&b':');
    if path.starts_with(['/', '~', '\\']) || has_drive || path.contains(['\n', '*']) {
        return None;
    }
    let parts: Vec<&str> = path.split('/').filter(|part| !matches!(*part, "" | ".")).collect();
    let leads_out = parts.contains(&"..");
    (!parts.is_empty() && !leads_out).then(|| parts.join("/"))
}
