//! Workflow files to start from.

use onloop_syntax::text;

use super::parse;

/// The kind of work of a new workflow.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum TemplateKind {
    /// A feature: tests first, then the code, then all tests.
    #[default]
    Feature,
    /// A bug: reproduce it, then fix it.
    Bugfix,
    /// A refactoring, which keeps the behavior.
    Refactor,
    /// Work in parts: what they share, the parts at the same time, then everything together.
    Parallel,
}

/// The text of a new workflow file, which lints without a finding.
///
/// `test_command` runs the project's tests; the default is `make test`.
pub fn template(
    kind: TemplateKind,
    slug: &str,
    intent: Option<&str>,
    test_command: Option<&str>,
) -> String {
    let words = slug.replace('-', " ");
    let default_intent = match kind {
        TemplateKind::Feature => format!("Add {words}"),
        TemplateKind::Bugfix => format!("Fix {words}"),
        TemplateKind::Parallel => format!("Build {words} in parts"),
        TemplateKind::Refactor => format!("Refactor {words} without changing what it does"),
    };
    let intent = intent.map(text::one_line).filter(|intent| !intent.trim().is_empty());
    let intent = plain_or_quoted(intent.unwrap_or(default_intent).trim());
    let test = test_command.unwrap_or("make test");
    let (success, risk, steps) = match kind {
        TemplateKind::Feature => (
            "The new behavior is covered by tests, and the whole test suite passes",
            "low",
            feature_steps(test),
        ),
        TemplateKind::Bugfix => (
            "A test that failed because of the bug passes, and so does the whole test suite",
            "low",
            bugfix_steps(test),
        ),
        TemplateKind::Refactor => (
            "The test suite passes before and after, and no test was weakened",
            "medium",
            refactor_steps(test),
        ),
        TemplateKind::Parallel => (
            "Each part has tests of its own, and the whole test suite passes with all parts",
            "low",
            parallel_steps(test),
        ),
    };
    let parallel = match kind {
        TemplateKind::Parallel => "worktree: true\nmax_parallel: 2\n",
        TemplateKind::Feature | TemplateKind::Bugfix | TemplateKind::Refactor => "",
    };
    format!(
        "---\nintent: {intent}\nsuccess_criteria: {success}\nrisk_level: {risk}\n\
         auto_approve: false\n{parallel}---\n\n## Steps\n\n{steps}"
    )
}

/// `text` in a form that reads back as itself: quoted if it looks like YAML.
pub(crate) fn plain_or_quoted(text: &str) -> String {
    let file = format!(
        "---\nintent: {text}\nsuccess_criteria: x\nrisk_level: low\n---\n### 1. a\naction: b\nloop: false\n"
    );
    let read = parse("", file.as_bytes()).plan.map(|plan| plan.into_parts().intent);
    if read.as_deref() == Some(text) && !text.starts_with(['"', '\'']) {
        return text.to_owned();
    }
    quoted(text)
}

/// `text`, which is one line, as a quoted value of a field.
pub fn quoted(text: &str) -> String {
    format!("\"{}\"", text.replace('\\', "\\\\").replace('"', "\\\""))
}

fn feature_steps(test: &str) -> String {
    format!(
        "- [ ] **Step 1: Write tests for the new behavior**\n\
         action: Add tests that describe what the feature does, including its edge cases. They fail until step 2.\n\
         loop: false\n\
         verify:\n  type: shell\n  command: {test}\n  expect: fail\n\
         \n\
         - [ ] **Step 2: Build the feature**\n\
         action: Write the smallest change that makes the new tests pass. Do not change the tests.\n\
         loop: until all tests pass\n\
         max_iterations: 5\n\
         verify: {test}\n\
         \n\
         - [ ] **Step 3: Clean up and document**\n\
         action: Remove leftovers, follow the conventions of the code around it and describe the feature where users look for it.\n\
         loop: until all tests pass\n\
         max_iterations: 3\n\
         verify: {test}\n\
         \n\
         - [ ] **Step 4: Approve the result**\n\
         action: Summarize what was built, what was tested and what was left out.\n\
         loop: false\n\
         gate: human\n"
    )
}

fn bugfix_steps(test: &str) -> String {
    format!(
        "- [ ] **Step 1: Reproduce the bug with a test**\n\
         action: Add the smallest test that fails because of the bug, and say in a comment what it shows.\n\
         loop: false\n\
         verify:\n  type: shell\n  command: {test}\n  expect: fail\n\
         \n\
         - [ ] **Step 2: Fix the cause**\n\
         action: Find out why it happens and fix the cause, not the symptom. Do not change the test of step 1.\n\
         loop: until all tests pass\n\
         max_iterations: 5\n\
         verify: {test}\n\
         \n\
         - [ ] **Step 3: Approve the fix**\n\
         action: Explain the cause, the fix, and where else the same mistake could be.\n\
         loop: false\n\
         gate: human\n"
    )
}

fn refactor_steps(test: &str) -> String {
    format!(
        "- [ ] **Step 1: Pin down today's behavior**\n\
         action: Make sure that tests cover what is about to move, and add those that are missing.\n\
         loop: until all tests pass\n\
         max_iterations: 3\n\
         verify: {test}\n\
         \n\
         - [ ] **Step 2: Change the structure in small steps**\n\
         action: Restructure without changing behavior. Do not change what the tests expect.\n\
         loop: until all tests pass\n\
         max_iterations: 5\n\
         verify: {test}\n\
         \n\
         - [ ] **Step 3: Approve the new structure**\n\
         action: Show what moved where, and why it is easier to read now.\n\
         loop: false\n\
         verify:\n  type: human-review\n  prompt: Check that behavior is unchanged and the diff is only structure\n\
         gate: human\n"
    )
}

fn parallel_steps(test: &str) -> String {
    format!(
        "- [ ] **Step 1: Write what the parts share**\n\
         action: Write the types and interfaces that steps 2 and 3 both use, so that neither has to change them.\n\
         loop: until all tests pass\n\
         max_iterations: 3\n\
         verify: {test}\n\
         \n\
         - [ ] **Step 2: Build the first part**\n\
         action: Build the first part with tests of its own. Change only its files.\n\
         loop: until all tests pass\n\
         max_iterations: 5\n\
         verify: {test}\n\
         depends_on: [1]\n\
         \n\
         - [ ] **Step 3: Build the second part**\n\
         action: Build the second part with tests of its own. Change only its files.\n\
         loop: until all tests pass\n\
         max_iterations: 5\n\
         verify: {test}\n\
         depends_on: [1]\n\
         \n\
         - [ ] **Step 4: Check the parts together**\n\
         action: Add a test that uses both parts together, and fix what does not fit.\n\
         loop: until all tests pass\n\
         max_iterations: 3\n\
         verify: {test}\n\
         gate: human\n\
         depends_on: [2, 3]\n"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    const KINDS: [TemplateKind; 4] = [
        TemplateKind::Feature,
        TemplateKind::Bugfix,
        TemplateKind::Refactor,
        TemplateKind::Parallel,
    ];

    #[test]
    fn every_template_lints_without_a_finding() {
        for kind in KINDS {
            for test in [None, Some("cargo test"), Some("python -m pytest")] {
                let text = template(kind, "rate-limits", None, test);
                let parsed = parse("hotl-workflow-rate-limits.md", text.as_bytes());
                assert_eq!(parsed.diagnostics, [], "{text}");
                assert!(parsed.plan.is_some());
            }
        }
    }

    #[test]
    fn an_intent_reads_back_as_it_was_given() {
        for intent in [
            "Add X: do Y",
            "\"quoted\"",
            "'a' and 'b'",
            "| pipes",
            "> folds",
            "[brackets]",
            "# hash",
            "a # b",
            "back\\slash",
            "日本語",
            "- dash",
            "---",
            "\"half",
            "[half",
            "|",
        ] {
            let text = template(TemplateKind::Feature, "x", Some(intent), None);
            let plan = parse("", text.as_bytes()).plan.unwrap_or_else(|| panic!("{text}"));
            assert_eq!(plan.intent, intent);
        }
        let text = template(TemplateKind::Feature, "x", Some("two\nlines\u{1b}[31m"), None);
        assert_eq!(parse("", text.as_bytes()).plan.unwrap().intent, "two lines");
    }
}
