//! Relative links between Markdown files: the file exists, and so does the heading.
//!
//! Links to other places are not followed; the build needs no network for its documents.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use pulldown_cmark::{Event, Options, Parser, Tag, TagEnd};

use crate::sources::SourceFile;

const LEFT_OUT: [&str; 2] = ["tests/", "docs/examples/"];

/// What one document offers and what it points at.
#[derive(Debug, Default)]
struct Document {
    anchors: BTreeSet<String>,
    links: Vec<Link>,
}

#[derive(Debug)]
struct Link {
    line: usize,
    target: String,
}

/// Every link that leads nowhere. Test data and examples are not documentation and are left
/// out: one example has broken links on purpose.
pub(crate) fn check(files: &[SourceFile], root: &Path) -> Vec<String> {
    let documents: BTreeMap<&str, Document> = files
        .iter()
        .filter(|file| !LEFT_OUT.iter().any(|folder| file.path.starts_with(folder)))
        .map(|file| (file.path.as_str(), read(&file.text)))
        .collect();
    let mut faults = Vec::new();
    for (path, document) in &documents {
        for link in &document.links {
            if let Err(why) = follow(path, &link.target, &documents, root) {
                faults.push(format!("{path}:{}: `{}` {why}", link.line, link.target));
            }
        }
    }
    faults
}

fn read(text: &str) -> Document {
    let mut document = Document::default();
    let mut heading: Option<String> = None;
    let mut lines = LineCounter::new(text);
    for (event, range) in Parser::new_ext(text, Options::ENABLE_TABLES).into_offset_iter() {
        match event {
            Event::Start(Tag::Heading { .. }) => heading = Some(String::new()),
            Event::End(TagEnd::Heading(_)) => {
                let title = heading.take().unwrap_or_default();
                let anchor = unused_anchor(anchor(&title), &document.anchors);
                document.anchors.insert(anchor);
            }
            Event::Text(text) | Event::Code(text) => {
                if let Some(title) = &mut heading {
                    title.push_str(&text);
                }
            }
            Event::Start(Tag::Link { dest_url, .. } | Tag::Image { dest_url, .. })
                if is_relative(&dest_url) =>
            {
                let line = lines.line_at(range.start);
                document.links.push(Link { line, target: dest_url.into_string() });
            }
            _ => {}
        }
    }
    document
}

pub(crate) fn is_relative(target: &str) -> bool {
    let scheme = target.split(['/', '#', '?']).next().unwrap_or_default();
    !scheme.contains(':') && !target.starts_with("//")
}

fn follow(
    from: &str,
    target: &str,
    documents: &BTreeMap<&str, Document>,
    root: &Path,
) -> Result<(), String> {
    let (path, anchor) = target.split_once('#').unwrap_or((target, ""));
    let path = if path.is_empty() { from.to_owned() } else { resolve(from, path)? };
    match documents.get(path.as_str()) {
        Some(document) if anchor.is_empty() || document.anchors.contains(anchor) => Ok(()),
        Some(_) => Err(format!("names no heading of {path}")),
        None if root.join(&path).exists() => Ok(()),
        None => Err("leads to nothing".to_owned()),
    }
}

/// The path that `target`, written in the file `from`, means, below the root.
pub(crate) fn resolve(from: &str, target: &str) -> Result<String, String> {
    let target = target.replace("%20", " ");
    let mut parts: Vec<&str> = from.split('/').collect();
    parts.pop();
    if target.starts_with('/') {
        return Err("is absolute; links must work in every clone".to_owned());
    }
    for part in target.split('/') {
        match part {
            "" | "." => {}
            ".." => {
                parts.pop().ok_or("leaves the repository")?;
            }
            name => parts.push(name),
        }
    }
    Ok(parts.join("/"))
}

/// The anchor that code hosts give a heading.
fn anchor(title: &str) -> String {
    title
        .to_lowercase()
        .chars()
        .filter(|c| c.is_alphanumeric() || matches!(c, ' ' | '-' | '_'))
        .map(|c| if c == ' ' { '-' } else { c })
        .collect()
}

fn unused_anchor(anchor: String, used: &BTreeSet<String>) -> String {
    let numbered = (1..).map(|number| format!("{anchor}-{number}"));
    std::iter::once(anchor.clone())
        .chain(numbered)
        .find(|candidate| !used.contains(candidate))
        .expect("numbers do not run out")
}

/// Turns ascending offsets into line numbers in one pass.
struct LineCounter<'a> {
    text: &'a str,
    offset: usize,
    line: usize,
}

impl<'a> LineCounter<'a> {
    fn new(text: &'a str) -> Self {
        LineCounter { text, offset: 0, line: 1 }
    }

    fn line_at(&mut self, offset: usize) -> usize {
        if let Some(passed) = self.text.get(self.offset..offset) {
            self.line += passed.matches('\n').count();
            self.offset = offset;
        }
        self.line
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sources::workspace_root;

    /// Checks `text` as if it were `docs/page.md`, beside `docs/other.md`.
    fn faults(text: &str) -> Vec<String> {
        let file =
            |path: &str, text: &str| SourceFile { path: path.to_owned(), text: text.to_owned() };
        let other = "# Other `page`: really?\n## Twice\n## Twice\n";
        check(&[file("docs/other.md", other), file("docs/page.md", text)], workspace_root())
    }

    #[test]
    fn links_that_lead_somewhere_pass() {
        for link in [
            "[a](../Cargo.toml)",
            "[a](../core/src)",
            "[a](../core/src/lib.rs#L3)",
            "[a](other.md) [b](other.md#twice-1) [c](./other.md#other-page-really)",
            "# Here\n[a](#here)",
            "[far](https://example.org/nothing) [mail](mailto:a@example.org) <x:y>",
            "`[code](nothing.md)`",
            "```\n[fenced](nothing.md)\n```",
            "[a][r]\n\n[r]: ../Cargo.toml",
        ] {
            assert_eq!(faults(link), [""; 0], "{link}");
        }
    }

    #[test]
    fn links_that_lead_nowhere_are_named_with_their_line() {
        let table = [
            ("\n\n[a](nothing.md)", "docs/page.md:3: `nothing.md` leads to nothing"),
            ("![a](nothing.png)", "docs/page.md:1: `nothing.png` leads to nothing"),
            ("[a][r]\n\n[r]: gone.md", "docs/page.md:1: `gone.md` leads to nothing"),
            ("[a](#nowhere)", "docs/page.md:1: `#nowhere` names no heading of docs/page.md"),
            ("[a](../../x)", "docs/page.md:1: `../../x` leaves the repository"),
            ("[a](/etc)", "docs/page.md:1: `/etc` is absolute; links must work in every clone"),
        ];
        for (text, fault) in table {
            assert_eq!(faults(text), [fault], "{text}");
        }
    }

    #[test]
    fn anchors_follow_the_headings() {
        let document = read("# Other `page`: really?\n## Twice\n## Twice\n### Größe_1 – x\n");
        let anchors: Vec<&str> = document.anchors.iter().map(String::as_str).collect();
        assert_eq!(anchors, ["größe_1--x", "other-page-really", "twice", "twice-1"]);
    }

    #[test]
    fn test_data_is_not_documentation() {
        let file = SourceFile { path: "tests/corpus/a.md".to_owned(), text: "[a](b)".to_owned() };
        assert_eq!(check(&[file], workspace_root()), [""; 0]);
    }
}
