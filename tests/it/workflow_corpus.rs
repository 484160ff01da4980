//! Files that people wrote, and look-alikes of them that are always here.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use onloop_core::diagnostic::{Severity, lines};
use onloop_core::workflow;

/// Findings that older linters had about bytes and layout that are accepted now.
const ACCEPTED_NOW: [(&str, &str); 2] = [
    ("\u{feff}", "Missing YAML frontmatter (file must start with ---)"),
    ("\n  action:", "missing '"),
];

/// Where files are that people wrote, which are not ours to publish: `ONLOOP_CORPUS`, else beside the
/// repository, where somebody has put them.
fn corpus() -> Option<PathBuf> {
    match std::env::var_os("ONLOOP_CORPUS") {
        Some(named) => Some(named.into()),
        None => Some(Path::new(env!("CARGO_MANIFEST_DIR")).join("../../shared/corpus"))
            .filter(|folder| folder.is_dir()),
    }
}

/// Sentences by file name; `[upstream misses] ` marks those that older linters should print.
fn expected(text: &str) -> BTreeMap<String, Vec<String>> {
    let mut by_file: BTreeMap<String, Vec<String>> = BTreeMap::new();
    let mut current = String::new();
    for line in text.lines() {
        match line.strip_prefix("    ") {
            Some(sentence) => {
                let sentence = sentence.trim_start_matches("[upstream misses] ");
                by_file.entry(current.clone()).or_default().push(sentence.to_owned());
            }
            None => {
                current = line.split(' ').next().unwrap_or_default().to_owned();
                by_file.entry(current.clone()).or_default();
            }
        }
    }
    by_file
}

fn errors(path: &str, bytes: &[u8]) -> Vec<String> {
    let parsed = workflow::parse(path, bytes);
    let (_, err) = lines::render_hotl(path, &parsed.diagnostics);
    err.lines().filter_map(|line| line.strip_prefix("FAIL: ")).map(str::to_owned).collect()
}

fn files_that_people_wrote_have_the_intended_findings(folder: &Path) {
    let expected = expected(&fs::read_to_string(folder.join("expected-lint.txt")).unwrap());
    assert!(!expected.is_empty());
    for (name, sentences) in &expected {
        let bytes = fs::read(folder.join(name)).unwrap();
        let text = String::from_utf8(bytes.clone()).unwrap();
        let is_accepted = |sentence: &str| {
            ACCEPTED_NOW.iter().any(|(has, older)| text.contains(has) && sentence.contains(older))
        };
        let mut intended: Vec<_> =
            sentences.iter().filter(|sentence| !is_accepted(sentence)).cloned().collect();
        let mut found = errors(name, &bytes);
        intended.sort();
        found.sort();
        assert_eq!(found, intended, "{name}");
    }
}

/// Each file in `tests/corpus/hotl` says in its name whether it has errors, and in a comment at its
/// end which findings it has: `<!-- findings: missing-loop vacuous-verify -->`. What those are like is
/// checked as well where it is.
#[test]
fn look_alikes_have_the_findings_they_name() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("corpus/hotl");
    let mut count = 0;
    for entry in fs::read_dir(&folder).unwrap() {
        let path = entry.unwrap().path();
        let bytes = fs::read(&path).unwrap();
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        let text = String::from_utf8(bytes.clone()).unwrap();
        let (_, codes) = text.rsplit_once("<!-- findings:").expect("a list of findings");
        let expected: Vec<_> = codes.split_whitespace().take_while(|word| *word != "-->").collect();
        let parsed = workflow::parse(&name, &bytes);
        let found: Vec<_> = parsed.diagnostics.iter().map(|found| found.code).collect();
        assert_eq!(found, expected, "{name}: {:#?}", parsed.diagnostics);
        let has_errors = parsed.diagnostics.iter().any(|d| d.severity == Severity::Error);
        assert_eq!(parsed.plan.is_some(), !has_errors, "{name}");
        count += 1;
    }
    assert!(count >= 6, "only {count} files in {}", folder.display());
    if let Some(folder) = corpus() {
        files_that_people_wrote_have_the_intended_findings(&folder.join("hotl"));
    }
}
