//! A searchable site, made by mdBook of the same files that are read in the repository.
//!
//! Pages are the documents in `docs`, in the order in which `docs/index.md` names them. What they link to
//! outside of that folder is linked to where the repository is published.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;

use pulldown_cmark::{Event, Options, Parser, Tag, TagEnd};

use crate::command::{run, target_folder};
use crate::links::{is_relative, resolve};
use crate::sources::{SourceFile, Sources, workspace_root};
use crate::stage::Stop;
use crate::tally::Tally;

const PUBLISHED: &str = "https://github.com/onloop/onloop";
const FOLDER: &str = "docs/";
/// Workflows that are executed, not pages.
const LEFT_OUT: &str = "docs/examples/";
const IMAGES: &str = "docs/images";
const START: &str = "docs/index.md";
const BOOK: &str = r#"[book]
title = "onloop"
language = "en"

[output.html]
git-repository-url = "https://github.com/onloop/onloop"
"#;

/// Writes the pages below the target folder and lets mdBook make a site of them, where it is
/// installed.
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
    let mut mdbook = Command::new("mdbook");
    if mdbook.arg("--version").output().is_err() {
        println!("note: mdbook is not on PATH, so no site is built; `cargo install mdbook`");
        return Ok(Tally::default());
    }
    let mut mdbook = Command::new("mdbook");
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
    for path in documents.keys().filter(|path| !order.iter().any(|(found, _)| found == *path)) {
        faults.push(format!("{path} is named neither in {START} nor by a page that is"));
    }
    let mut pages = BTreeMap::new();
    let mut summary = String::from("# Summary\n\n");
    for (path, depth) in order {
        let text = documents[path.as_str()];
        let place = path.strip_prefix(FOLDER).expect("it is a document");
        let title = title(text).unwrap_or_else(|| place.to_owned());
        let indent = "  ".repeat(depth);
        writeln!(summary, "{indent}- [{title}]({place})").expect("a string takes it");
        match relinked(&path, text, &documents, root) {
            Ok(text) => drop(pages.insert(PathBuf::from(place), text)),
            Err(fault) => faults.push(fault),
        }
    }
    pages.insert(PathBuf::from("SUMMARY.md"), summary);
    if faults.is_empty() { Ok(pages) } else { Err(faults) }
}

/// Every document that the start names, then those in the folder of such a page, one level below
/// it: hosts below `hosts.md`, decisions below `decisions/index.md`.
fn order(documents: &BTreeMap<&str, &str>) -> Vec<(String, usize)> {
    let mut order = vec![(START.to_owned(), 0)];
    let mut seen = BTreeSet::from([START.to_owned()]);
    let first = documents.get(START).map(|text| targets(START, text)).unwrap_or_default();
    for path in first {
        let is_top = matches!(path.matches('/').count(), 1) || path.ends_with("/index.md");
        if !is_top || !documents.contains_key(path.as_str()) || !seen.insert(path.clone()) {
            continue;
        }
        let folder =
            path.trim_end_matches("index.md").trim_end_matches(".md").trim_end_matches('/');
        let folder = format!("{folder}/");
        order.push((path, 0));
        for below in documents.keys().filter(|below| below.starts_with(&folder)) {
            if seen.insert((*below).to_owned()) {
                order.push(((*below).to_owned(), 1));
            }
        }
    }
    order
}

/// The files that a document links to, in order.
fn targets(from: &str, text: &str) -> Vec<String> {
    let links = Parser::new_ext(text, Options::ENABLE_TABLES).filter_map(|event| match event {
        Event::Start(Tag::Link { dest_url, .. }) if is_relative(&dest_url) => Some(dest_url),
        _ => None,
    });
    links
        .filter_map(|link| resolve(from, link.split('#').next().unwrap_or_default()).ok())
        .collect()
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
            ("docs/index.md", "# Start\n[b](b.md) [a](a.md#x) [d](d/index.md) [e](examples/)"),
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
            "# Summary\n\n- [Start](index.md)\n- [B](b.md)\n  - [One](b/one.md)\n- [The a](a.md)\n\
             - [D](d/index.md)\n  - [First](d/1.md)\n"
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
    fn an_unlinked_document_is_a_fault() {
        let faults = made(&[("docs/index.md", "# Start"), ("docs/lost.md", "# Lost")]).unwrap_err();
        assert_eq!(
            faults,
            ["docs/lost.md is named neither in docs/index.md nor by a page that is"]
        );
    }
}
