//! Feature files: `.ai/features/<name>.md`.

use super::lines;
use onloop_syntax::time::Timestamp;

/// The status that asks for a plan.
pub const READY_FOR_PLAN: &str = "READY_FOR_PLAN";

/// Whether a file name in the features folder names a feature. The folder's own readme and
/// the template do not, in any case of letters.
pub fn is_feature_name(name: &str) -> bool {
    let Some(stem) = name.strip_suffix(".md") else {
        return false;
    };
    !stem.is_empty()
        && !stem.eq_ignore_ascii_case("README")
        && !stem.eq_ignore_ascii_case("FEATURE-TEMPLATE")
}

/// The status that a feature file declares: the first declaration outside fenced blocks and
/// comments. A declaration is `Status: WORD` at the start of a line (as a bullet, or with the
/// label in bold or code), `status:` in the front matter, or a `## Status` section that
/// begins with the word. The word consists of `A`–`Z` and `_`; anything else declares
/// nothing, and prose that mentions a status declares nothing either.
pub fn status(text: &str) -> Option<String> {
    let mut front_matter = FrontMatter::NotYet;
    let mut in_section = false;
    for line in lines::visible(text) {
        let line = line.as_ref();
        front_matter = front_matter.after(line);
        if front_matter == FrontMatter::Inside {
            if let Some(word) = yaml_status(line) {
                return Some(word.to_owned());
            }
            continue;
        }
        if let Some((level, title)) = lines::heading(line) {
            in_section = level == 2 && title.eq_ignore_ascii_case("Status");
            continue;
        }
        if let Some(word) = labelled_status(line) {
            return Some(word.to_owned());
        }
        if in_section && !line.trim().is_empty() {
            if let Some(word) = status_word(without_bullet(line.trim())) {
                return Some(word.to_owned());
            }
            in_section = false;
        }
    }
    None
}

/// Whether a feature file asks for a plan.
pub fn is_ready(text: &str) -> bool {
    status(text).as_deref() == Some(READY_FOR_PLAN)
}

/// The newest of several features, given as name and last change. Equal and unknown times
/// are decided by the greater name.
pub fn latest<'a>(
    features: impl IntoIterator<Item = (&'a str, Option<Timestamp>)>,
) -> Option<&'a str> {
    features.into_iter().max_by_key(|&(name, modified)| (modified, name)).map(|(name, _)| name)
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum FrontMatter {
    NotYet,
    Inside,
    Over,
}

impl FrontMatter {
    fn after(self, line: &str) -> FrontMatter {
        match self {
            FrontMatter::NotYet if line.trim().is_empty() => FrontMatter::NotYet,
            FrontMatter::NotYet if line.trim_end() == "---" => FrontMatter::Inside,
            FrontMatter::NotYet => FrontMatter::Over,
            FrontMatter::Inside if matches!(line.trim_end(), "---" | "...") => FrontMatter::Over,
            FrontMatter::Inside => FrontMatter::Inside,
            FrontMatter::Over => FrontMatter::Over,
        }
    }
}

fn yaml_status(line: &str) -> Option<&str> {
    let (key, value) = line.split_once(':')?;
    if !key.eq_ignore_ascii_case("status") {
        return None;
    }
    let value = value.trim();
    let quoted = |mark| value.strip_prefix(mark)?.strip_suffix(mark);
    status_word(quoted('"').or_else(|| quoted('\'')).unwrap_or(value))
}

fn labelled_status(line: &str) -> Option<&str> {
    const MARKS: [&str; 5] = ["**", "__", "*", "_", "`"];
    let line = without_bullet(line);
    if let Some(value) = line.strip_prefix("Status:") {
        return status_word(value);
    }
    MARKS.iter().find_map(|mark| {
        let rest = line.strip_prefix(mark)?.strip_prefix("Status")?;
        let colon_outside = || rest.strip_prefix(mark)?.strip_prefix(':');
        let colon_inside = || rest.strip_prefix(':')?.strip_prefix(mark);
        status_word(colon_outside().or_else(colon_inside)?)
    })
}

fn without_bullet(line: &str) -> &str {
    let bare = ["- ", "* ", "+ "].iter().find_map(|bullet| line.strip_prefix(bullet));
    bare.map_or(line, str::trim_start)
}

fn status_word(value: &str) -> Option<&str> {
    let word = lines::undecorated(value);
    let fits = |b: u8| b.is_ascii_uppercase() || b == b'_';
    (!word.is_empty() && word.bytes().all(fits)).then_some(word)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_declaration_decides() {
        for (text, expected) in [
            ("# F\n\nStatus: READY_FOR_PLAN\n", Some("READY_FOR_PLAN")),
            ("Status: READY_FOR_PLAN   \r\nStatus: PLANNED\r\n", Some("READY_FOR_PLAN")),
            ("Status:READY_FOR_PLAN", Some("READY_FOR_PLAN")),
            ("- Status: PLANNED", Some("PLANNED")),
            ("**Status:** DRAFT", Some("DRAFT")),
            ("- **Status**: DRAFT", Some("DRAFT")),
            ("- `Status`: `DRAFT`", Some("DRAFT")),
            ("---\ntitle: x\nstatus: \"READY_FOR_PLAN\"\n---\n# F\n", Some("READY_FOR_PLAN")),
            ("---\ntitle: x\n---\nStatus: PLANNED\n", Some("PLANNED")),
            ("# F\n## Status\n\n- READY_FOR_PLAN\n", Some("READY_FOR_PLAN")),
            ("## Status\nREADY_FOR_PLAN\n", Some("READY_FOR_PLAN")),
            ("## Status\nnot yet\nREADY_FOR_PLAN\n", None),
            ("## Status\n## Next\nREADY_FOR_PLAN\n", None),
            ("## Status\n- READY_FOR_PLAN | PLANNED\n\nStatus: DRAFT\n", Some("DRAFT")),
            ("Status: READY_FOR_PLAN | PLANNED\n", None),
            ("Status: READY_FOR_PLANNING\n", Some("READY_FOR_PLANNING")),
            ("Status: ready_for_plan\n", None),
            ("Status: READY_FOR_PLAN once reviewed\n", None),
            ("- set `Status: READY_FOR_PLAN` when it is\n", None),
            ("- `Status: READY_FOR_PLAN`\n", None),
            ("  Status: READY_FOR_PLAN\n", None),
            ("> Status: READY_FOR_PLAN\n", None),
            ("```\nStatus: READY_FOR_PLAN\n```\n", None),
            ("<!-- Status: READY_FOR_PLAN -->\n", None),
            ("Planning Status: READY_FOR_PLAN\n", None),
            ("", None),
        ] {
            assert_eq!(status(text).as_deref(), expected, "{text:?}");
        }
    }

    #[test]
    fn readmes_templates_and_other_files_are_no_features() {
        for (name, expected) in [
            ("FEATURE-01-export.md", true),
            ("20260207-1906-stats.md", true),
            ("README.md", false),
            ("readme.md", false),
            ("Feature-Template.md", false),
            ("FEATURE-01.txt", false),
            ("FEATURE-01.MD", false),
            (".md", false),
        ] {
            assert_eq!(is_feature_name(name), expected, "{name}");
        }
    }

    #[test]
    fn the_newest_feature_wins_then_the_greater_name() {
        let at = |millis| Some(Timestamp::from_millis(millis));
        assert_eq!(latest([]), None);
        assert_eq!(latest([("a.md", None), ("c.md", None), ("b.md", None)]), Some("c.md"));
        assert_eq!(latest([("a.md", at(2)), ("b.md", at(1)), ("c.md", None)]), Some("a.md"));
        assert_eq!(latest([("a.md", at(1)), ("b.md", at(1))]), Some("b.md"));
    }
}
