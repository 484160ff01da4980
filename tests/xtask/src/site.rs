//! A searchable site, which mdBook makes from the documents of the repository.
//!
//! Pages are the documents in `docs`, in the order and in the parts of `docs/README.md`. Links to other
//! files of the repository lead to where it is published.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;

use pulldown_cmark::{Event, Options, Parser, Tag, TagEnd};

use crate::command::{run, target_folder};
use crate::links::{is_relative, resolve};
use crate::prebuilt;
use crate::sources::{SourceFile, Sources, workspace_root};
use crate::stage::Stop;
use crate::tally::Tally;

const PUBLISHED: &str = "https://github.com/onloop/onloop";
const FOLDER: &str = "docs/";
/// Workflows that are executed, not pages.
const LEFT_OUT: &str = "docs/examples/";
const IMAGES: &str = "docs/images";
const START: &str = "docs/README.md";
/// The release that is installed where there is none; `mdbook.txt` beside the manifest has its digests.
const MDBOOK: &str = "0.5.4";
/// The part for looking things up, whose pages may be longer.
const REFERENCE: &str = "Reference";
/// Words that a person reads in one go.
const MAX_WORDS: usize = 1_200;
const BOOK: &str = r#"[book]
title = "onloop"
language = "en"

[output.html]
git-repository-url = "https://github.com/onloop/onloop"
no-section-label = true

[output.html.fold]
enable = true
"#;

/// Writes the pages below the target folder, and lets mdBook make a site of them.
pub(crate) fn build() -> Result<Tally, Stop> {
    let root = workspace_root();
    let site = target_folder().join("site");
    let pages = pages(&Sources::of_workspace().read("md")?, root)
        .map_err(|faults| format!("documents that make no site\n  {}", faults.join("\n  ")))?;
    if site.exists() {
        std::fs::remove_dir_all(&site).map_err(|error| failed(&site, &error))?;
    }
    write(&site.join("book.toml"), BOOK.as_bytes())?;
    for (path, text) in &pages {
        write(&site.join("src").join(path), text.as_bytes())?;
    }
    let images = root.join(IMAGES);
    for entry in std::fs::read_dir(&images).map_err(|error| failed(&images, &error))?.flatten() {
        let bytes = std::fs::read(entry.path()).map_err(|error| failed(&images, &error))?;
        write(&site.join("src/images").join(entry.file_name()), &bytes)?;
    }
    println!("{} pages are in {}", pages.len() - 1, site.join("src").display());
    let mut mdbook = Command::new(prebuilt::program("mdbook", MDBOOK)?);
    mdbook.arg("build").arg(&site);
    run(mdbook)?;
    is_searchable(&site.join("book"))?;
    println!("the site is in {}", site.join("book").display());
    Ok(Tally::default())
}

fn is_searchable(book: &Path) -> Result<(), Stop> {
    let entries = std::fs::read_dir(book).map_err(|error| failed(book, &error))?;
    let has_index = entries
        .flatten()
        .any(|entry| entry.file_name().to_string_lossy().starts_with("searchindex"));
    if has_index { Ok(()) } else { Err("the site has no index to search".to_owned().into()) }
}

fn write(path: &Path, bytes: &[u8]) -> Result<(), Stop> {
    let folder = path.parent().expect("it is in the folder of the site");
    std::fs::create_dir_all(folder)
        .and_then(|()| std::fs::write(path, bytes))
        .map_err(|error| failed(path, &error))
}

fn failed(path: &Path, error: &std::io::Error) -> Stop {
    format!("{}: {error}", path.display()).into()
}

/// The pages of the site, `SUMMARY.md` among them, by their paths below `docs`; or what is wrong.
fn pages(files: &[SourceFile], root: &Path) -> Result<BTreeMap<PathBuf, String>, Vec<String>> {
    let documents: BTreeMap<&str, &str> = files
        .iter()
        .filter(|file| file.path.starts_with(FOLDER) && !file.path.starts_with(LEFT_OUT))
        .map(|file| (file.path.as_str(), file.text.as_str()))
        .collect();
    let mut faults = Vec::new();
    let order = order(&documents);
    for path in documents.keys().filter(|path| !order.iter().any(|page| page.path == **path)) {
        faults.push(format!("{path} is named neither in {START} nor by a page that is"));
    }
    let mut pages = BTreeMap::new();
    let mut summary = String::from("# Summary\n\n");
    let mut part = String::new();
    for page in order {
        let text = documents[page.path.as_str()];
        let place = page.path.strip_prefix(FOLDER).expect("it is a document");
        let place = if page.path == START { "index.md" } else { place };
        let title = title(text).unwrap_or_else(|| place.to_owned());
        if page.part != part {
            write!(summary, "\n# {}\n\n", page.part).expect("a string takes it");
            part.clone_from(&page.part);
        }
        let item = if part.is_empty() { "" } else { "- " };
        let indent = "  ".repeat(page.depth);
        writeln!(summary, "{indent}{item}[{title}]({place})").expect("a string takes it");
        faults.extend(length_fault(&page, text));
        match relinked(&page.path, text, &documents, root) {
            Ok(text) => drop(pages.insert(PathBuf::from(place), text)),
            Err(fault) => faults.push(fault),
        }
    }
    pages.insert(PathBuf::from("SUMMARY.md"), summary);
    if faults.is_empty() { Ok(pages) } else { Err(faults) }
}

/// Why a page is too long to read: outside of the reference always, there if its sections have no table
/// of contents.
fn length_fault(page: &Page, text: &str) -> Option<String> {
    let is_word = |word: &&str| word.contains(char::is_alphanumeric);
    let words = text.split_whitespace().filter(is_word).count();
    let lists_sections = text.contains("](#") || !text.contains("\n## ");
    let has_contents = page.part == REFERENCE && lists_sections;
    if words <= MAX_WORDS || has_contents {
        return None;
    }
    let path = &page.path;
    Some(match page.part == REFERENCE {
        true => format!("{path} has {words} words and no table of contents"),
        false => format!("{path} has {words} words; a page has at most {MAX_WORDS}"),
    })
}

/// A document of the site.
#[derive(Debug)]
struct Page {
    path: String,
    /// The heading of the start below which it is named; empty for the start itself.
    part: String,
    depth: usize,
}

/// Every document that the start names, then those in the folder of such a page, one level below
/// it: clients below `hosts.md`, decisions below `decisions/index.md`.
fn order(documents: &BTreeMap<&str, &str>) -> Vec<Page> {
    let mut order = vec![Page { path: START.to_owned(), part: String::new(), depth: 0 }];
    let mut seen = BTreeSet::from([START.to_owned()]);
    let named = documents.get(START).map(|text| parts(text)).unwrap_or_default();
    for (part, path) in named {
        let is_top = matches!(path.matches('/').count(), 1) || path.ends_with("/index.md");
        if !is_top || !documents.contains_key(path.as_str()) || !seen.insert(path.clone()) {
            continue;
        }
        let folder =
            path.trim_end_matches("index.md").trim_end_matches(".md").trim_end_matches('/');
        let folder = format!("{folder}/");
        order.push(Page { path, part: part.clone(), depth: 0 });
        for below in documents.keys().filter(|below| below.starts_with(&folder)) {
            if seen.insert((*below).to_owned()) {
                order.push(Page { path: (*below).to_owned(), part: part.clone(), depth: 1 });
            }
        }
    }
    order
}

/// The files that lists of the start link to, in order, each with the heading above it. Links in
/// paragraphs place no page.
fn parts(text: &str) -> Vec<(String, String)> {
    let (mut part, mut heading, mut is_item) = (String::new(), false, false);
    let mut found = Vec::new();
    for event in Parser::new(text) {
        match event {
            Event::Start(Tag::Heading { .. }) => {
                heading = true;
                part.clear();
            }
            Event::End(TagEnd::Heading(_)) => heading = false,
            Event::Text(words) if heading => part.push_str(&words),
            Event::Start(Tag::Item) => is_item = true,
            Event::End(TagEnd::Item) => is_item = false,
            Event::Start(Tag::Link { dest_url, .. }) if is_item && is_relative(&dest_url) => {
                found.extend(resolve(START, &dest_url).ok().map(|path| (part.clone(), path)));
            }
            _ => {}
        }
    }
    found
}

/// The text of the first heading.
fn title(text: &str) -> Option<String> {
    let mut title: Option<String> = None;
    for event in Parser::new(text) {
        match (event, &mut title) {
            (Event::Start(Tag::Heading { .. }), None) => title = Some(String::new()),
            (Event::End(TagEnd::Heading(_)), Some(_)) => return title,
            (Event::Text(part) | Event::Code(part), Some(title)) => title.push_str(&part),
            _ => {}
        }
    }
    None
}

/// Returns the text; links to files outside of the site point to the published repository.
fn relinked(
    from: &str,
    text: &str,
    documents: &BTreeMap<&str, &str>,
    root: &Path,
) -> Result<String, String> {
    let mut changes = Vec::new();
    for (event, range) in Parser::new_ext(text, Options::ENABLE_TABLES).into_offset_iter() {
        let Event::Start(Tag::Link { dest_url, .. }) = event else { continue };
        let (path, anchor) = dest_url.split_once('#').unwrap_or((&dest_url, ""));
        if !is_relative(&dest_url) || path.is_empty() {
            continue;
        }
        let path = resolve(from, path)?;
        if documents.contains_key(path.as_str()) {
            continue;
        }
        let kind = if root.join(&path).is_dir() { "tree" } else { "blob" };
        let mark = if anchor.is_empty() { "" } else { "#" };
        let to = format!("{PUBLISHED}/{kind}/main/{path}{mark}{anchor}");
        let at = text[range.clone()]
            .rfind(&*dest_url)
            .ok_or_else(|| format!("{from}: `{dest_url}` is not written where it is used"))?;
        changes.push((range.start + at..range.start + at + dest_url.len(), to));
    }
    let mut result = text.to_owned();
    for (range, to) in changes.into_iter().rev() {
        result.replace_range(range, &to);
    }
    Ok(result)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn made(files: &[(&str, &str)]) -> Result<Vec<(String, String)>, Vec<String>> {
        let file = |(path, text): &(&str, &str)| SourceFile {
            path: (*path).to_owned(),
            text: (*text).to_owned(),
        };
        let files: Vec<SourceFile> = files.iter().map(file).collect();
        let pages = pages(&files, workspace_root())?;
        Ok(pages.into_iter().map(|(path, text)| (path.display().to_string(), text)).collect())
    }

    #[test]
    fn pages_follow_the_index_and_other_links_lead_to_the_repository() {
        let made = made(&[
            ("README.md", "# Not a page"),
            ("docs/examples/a.md", "# Not a page"),
            (
                "docs/README.md",
                "# Start\nSee [d](d/index.md).\n## Guides\n- [b](b.md)\n- [a](a.md) (made)\n\
                 ## Internals\n- [d](d/index.md)\n- [e](examples/)",
            ),
            ("docs/a.md", "# The `a`\n[up](../Cargo.toml#L3) [b](b.md) [far](https://example.org)"),
            ("docs/b.md", "# B\n[core](../core/src)"),
            ("docs/b/one.md", "# One"),
            ("docs/d/index.md", "# D"),
            ("docs/d/1.md", "# First"),
        ])
        .expect("nothing is wrong");
        let text = |name: &str| &made.iter().find(|(path, _)| path == name).expect("it is there").1;
        assert_eq!(
            text("SUMMARY.md"),
            "# Summary\n\n[Start](index.md)\n\n# Guides\n\n- [B](b.md)\n  - [One](b/one.md)\n\
             - [The a](a.md)\n\n# Internals\n\n- [D](d/index.md)\n  - [First](d/1.md)\n"
        );
        assert_eq!(
            text("a.md"),
            "# The `a`\n[up](https://github.com/onloop/onloop/blob/main/Cargo.toml#L3) [b](b.md) \
             [far](https://example.org)"
        );
        assert_eq!(
            text("b.md"),
            "# B\n[core](https://github.com/onloop/onloop/tree/main/core/src)"
        );
        assert_eq!(made.len(), 7);
    }

    #[test]
    fn a_long_page_is_a_fault_outside_of_the_reference() {
        let long = "word ".repeat(MAX_WORDS);
        let listed = format!("# A\n[b](#b)\n{long}");
        let index =
            "# S\n## Guides\n- [a](a.md)\n## Reference\n- [b](b.md)\n- [c](c.md)\n- [d](d.md)";
        let faults = made(&[
            ("docs/README.md", index),
            ("docs/a.md", &listed),
            ("docs/b.md", &listed),
            ("docs/c.md", &format!("# C\n## D\n{long}")),
            ("docs/d.md", &format!("# D\n{long}")),
        ]);
        assert_eq!(
            faults.unwrap_err(),
            [
                "docs/a.md has 1202 words; a page has at most 1200",
                "docs/c.md has 1202 words and no table of contents"
            ]
        );
    }

    #[test]
    fn an_unlinked_document_is_a_fault() {
        let faults =
            made(&[("docs/README.md", "# Start"), ("docs/lost.md", "# Lost")]).unwrap_err();
        assert_eq!(
            faults,
            ["docs/lost.md is named neither in docs/README.md nor by a page that is"]
        );
    }
}
