//! Recognizes workflow files, by name first and then by content.

use super::field::is_field;
use super::line::Cursor;
use super::markdown::{self, HeaderForm};
use super::name::base_name;
use super::value;

/// The kind of a document.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FileClass {
    /// A workflow.
    Workflow,
    /// A design or plan document. `managed`: its frontmatter has a mark of a managed design
    /// (`design_type`, `hotl_managed`).
    Design {
        /// Whether it carries the mark.
        managed: bool,
    },
    /// Anything else.
    Other,
}

/// Classifies a file that is to be linted. A file whose content is plainly a workflow is one under
/// any name, so that a wrong name never hides its findings.
pub fn classify(path: &str, bytes: &[u8]) -> FileClass {
    let base = base_name(path);
    let folder = &path[..path.len() - base.len()];
    let in_folder = |name: &str| {
        let folder = folder.trim_end_matches(['/', '\\']);
        folder == name || folder.ends_with(&format!("/{name}")) || folder == name.replace('/', "\\")
    };
    if base.starts_with("hotl-workflow") && base.ends_with(".md") {
        return FileClass::Workflow;
    }
    if base.ends_with("-workflow.md") && !in_folder("docs/designs") {
        return FileClass::Workflow;
    }
    let text = String::from_utf8_lossy(bytes);
    if is_plainly_a_workflow(&text) {
        return FileClass::Workflow;
    }
    let is_design = base.ends_with("-design.md")
        || base.ends_with("-plan.md")
        || (in_folder("docs/designs") && base.ends_with(".md"));
    match is_design {
        true => FileClass::Design { managed: is_managed_design(&text) },
        false => FileClass::Other,
    }
}

/// Whether a step has a field of the format. Plans of other tools have the same headers, but no
/// `action:` or `loop:` below them.
fn is_plainly_a_workflow(text: &str) -> bool {
    let mut cursor = Cursor::new(text, 0);
    let mut in_step = false;
    while let Some(line) = cursor.peek() {
        cursor.advance();
        match markdown::header(line).map(|header| header.form) {
            Some(HeaderForm::Checkbox | HeaderForm::Legacy | HeaderForm::Misspelt) => {
                in_step = true
            }
            Some(HeaderForm::Doubtful) | None => {}
        }
        let key = value::key(line.trimmed()).map(|(key, _)| key);
        if in_step && key.is_some_and(is_field) {
            return true;
        }
    }
    false
}

fn is_managed_design(text: &str) -> bool {
    const TYPES: [&str; 6] =
        ["feature", "phase", "initiative", "architecture", "contract", "reference"];
    let mut lines = text.trim_start_matches('\u{feff}').lines();
    if lines.next().map(str::trim_end) != Some("---") {
        return false;
    }
    lines.take_while(|line| line.trim_end() != "---").any(|line| {
        let Some((key, length)) = value::key(line) else {
            return false;
        };
        let word = value::unquoted(value::without_comment(line[length..].trim()));
        match key {
            "design_type" => TYPES.contains(&word),
            "hotl_managed" => word == "true",
            _ => false,
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_and_contents() {
        const STEP: &str = "- [ ] **Step 1: a**\naction: b\nloop: false\n";
        const OTHER_PLAN: &str = "- [ ] **Step 1: Write the test**\n\nRun: `npm test`\n";
        const MARKED: &str = "---\ndesign_type: \"feature\"\n---\n# Design\n";
        let design = |managed| FileClass::Design { managed };
        let table = [
            ("hotl-workflow-x.md", "", FileClass::Workflow),
            ("docs/hotl-workflow-x.md", "", FileClass::Workflow),
            ("hotl-workflow-floor-plan.md", "", FileClass::Workflow),
            ("docs/plans/2026-01-01-x-workflow.md", "", FileClass::Workflow),
            ("2026-01-01-x-workflow.md", "", FileClass::Workflow),
            ("notes.md", STEP, FileClass::Workflow),
            ("docs/plans/2026-01-01-x-plan.md", STEP, FileClass::Workflow),
            ("docs/plans/2026-01-01-x-plan.md", OTHER_PLAN, design(false)),
            ("docs/designs/x.md", MARKED, design(true)),
            ("docs/designs/x-workflow.md", "", design(false)),
            ("a/docs/designs/x.md", "# x\n", design(false)),
            ("x-design.md", "---\nhotl_managed: true\n---\n", design(true)),
            ("README.md", "# Readme\n", FileClass::Other),
            ("README.md", OTHER_PLAN, FileClass::Other),
        ];
        for (path, text, expected) in table {
            assert_eq!(classify(path, text.as_bytes()), expected, "{path} {text:?}");
        }
    }
}
