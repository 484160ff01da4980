//! The rules of workflow files: one stable code each.

use onloop_syntax::diagnostic::{Diagnostic, Severity, Span};

/// A rule that a workflow file can break.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LintRule {
    /// Stable name; never reused for another rule.
    pub code: &'static str,
    /// The severity of a violation.
    pub severity: Severity,
    /// The rule, in one line.
    pub summary: &'static str,
}

impl LintRule {
    /// The rule that `finding` is about; `None` for a finding of another linter.
    pub(super) fn of(finding: &Diagnostic) -> Option<LintRule> {
        RULES.iter().find(|rule| rule.code == finding.code).copied()
    }

    pub(super) fn at(self, span: Span, message: impl Into<String>) -> Diagnostic {
        Diagnostic::new(self.code, self.severity, span, message.into())
    }
}

macro_rules! rules {
    ($($name:ident $severity:ident $code:literal $summary:literal)*) => {
        $(pub(super) const $name: LintRule =
            LintRule { code: $code, severity: Severity::$severity, summary: $summary };)*

        /// Every rule, in the order of the documentation.
        pub const RULES: &[LintRule] = &[$($name),*];
    };
}

rules! {
    FILE_TOO_LARGE Error "file-too-large" "a workflow file has at most 4 MiB"
    NOT_UTF8 Error "not-utf8" "a workflow file is UTF-8 text"
    NOT_TEXT Error "not-text" "a workflow file contains no NUL bytes"
    LINE_TOO_LONG Error "line-too-long" "a line has at most 64 KiB"
    UNTERMINATED_FENCE Error "unterminated-fence" "a fenced block is closed"
    UNTERMINATED_COMMENT Error "unterminated-comment" "an HTML comment is closed"
    TOO_MANY_FINDINGS Error "too-many-findings" "further findings are only counted"

    MISSING_FRONTMATTER Error "missing-frontmatter" "the file begins with frontmatter"
    UNTERMINATED_FRONTMATTER Error "unterminated-frontmatter" "frontmatter ends with `---`"
    FRONTMATTER_TOO_LARGE Error "frontmatter-too-large" "frontmatter has at most 64 KiB"
    FRONTMATTER_TOO_NESTED Error "frontmatter-too-nested" "a frontmatter value has at most 64 opening brackets"
    FRONTMATTER_LINE Warning "frontmatter-line" "frontmatter consists of `key: value` lines"
    DUPLICATE_KEY Error "duplicate-key" "a frontmatter key occurs once"
    UNKNOWN_KEY Warning "unknown-key" "a frontmatter key is known"
    MISSING_KEY Error "missing-key" "`intent`, `success_criteria` and `risk_level` are required"
    EMPTY_KEY Error "empty-key" "a frontmatter key has a value"
    PARALLEL_WITHOUT_WORKTREE Error "parallel-without-worktree" "`max_parallel` above 1 needs `worktree: true`"
    UNUSED_MAX_PARALLEL Warning "unused-max-parallel" "with `max_parallel` above 1, two steps can run at the same time"
    INVALID_KEY_VALUE Error "invalid-key-value" "a frontmatter value is allowed by its key"
    IGNORED_TEXT Warning "ignored-text" "nothing follows a one-word value"
    UNREADABLE_QUOTES Warning "unreadable-quotes" "quoted and bracketed frontmatter values are YAML"

    NO_STEPS Error "no-steps" "a workflow has at least one step"
    TOO_MANY_STEPS Error "too-many-steps" "a workflow has at most 10,000 steps"
    STEP_HEADER Error "step-header" "a step begins with `- [ ] **Step N: Name**`"
    STEP_NUMBER Error "step-number" "steps are numbered 1, 2, 3, …"
    DUPLICATE_STEP_NUMBER Error "duplicate-step-number" "a step number occurs once"
    STEP_NAME_EMPTY Error "step-name-empty" "a step has a name"
    STEP_NAME_TOO_LONG Warning "step-name-too-long" "a step name has at most 1 KiB"
    TEXT_AFTER_STEP_NAME Warning "text-after-step-name" "nothing follows the name of a step"
    MISSING_ACTION Error "missing-action" "a step says what to do"
    MISSING_LOOP Error "missing-loop" "a step says whether it is repeated"
    INVALID_LOOP Error "invalid-loop" "`loop` is `false` or `until <condition>`"
    UNTIL_WITHOUT_VERIFY Error "until-without-verify" "a repeated step has checks that end it"
    INVALID_MAX_ITERATIONS Error "invalid-max-iterations" "`max_iterations` is from 1 to 1000"
    UNUSED_MAX_ITERATIONS Warning "unused-max-iterations" "`max_iterations` belongs to `loop: until`"
    INVALID_GATE Error "invalid-gate" "`gate` is `human` or `auto`"
    INVALID_DEPENDS_ON Error "invalid-depends-on" "`depends_on` lists numbers of earlier steps, each once"
    UNNEEDED_STEP Warning "unneeded-step" "a last step that needs others needs every step, directly or through others"
    SHARED_FILE Warning "shared-file" "steps that can run at the same time do not name the same file"
    INVALID_BASELINE Error "invalid-baseline" "`baseline` is `true` or `false`"
    INVALID_NETWORK Error "invalid-network" "`network` is `all`, `loopback`, `none` or a list of names"
    INVALID_MAY_CHANGE Error "invalid-may-change" "`may_change` lists names or patterns of files below the root"
    INVALID_MODEL Error "invalid-model" "`model` is one word that names a model"
    DUPLICATE_FIELD Error "duplicate-field" "a field occurs once"
    UNKNOWN_FIELD Warning "unknown-field" "a step's field is known"
    MISSPELT_FIELD Error "misspelt-field" "a field is spelled and placed as documented"
    INDENTED_FIELD Error "indented-field" "a field is indented like its siblings"
    INDENTED_KEY_IN_TEXT Warning "indented-key-in-text" "text does not look like a field"
    UNEXPECTED_LINES Error "unexpected-lines" "a one-word value is on one line"
    MIXED_INDENTATION Warning "mixed-indentation" "the fields of a step are indented alike"
    FIELD_OUTSIDE_STEP Warning "field-outside-step" "a field belongs to a step"
    PROSE_IN_STEP Warning "prose-in-step" "text in a step belongs to a field"
    SEVERAL_SCRIPTS Error "several-scripts" "a step has at most one script"
    QUOTED_VALUE Warning "quoted-value" "a command is not wrapped in quotes or backticks"
    HIDDEN_CHARACTER Error "hidden-character" "a command has no invisible characters"
    SECURITY_WITHOUT_GATE Error "security-without-gate"
        "at high risk, a step that touches security has `gate: human`"

    UNCHECKED_STEP Warning "unchecked-step" "a check or a person verifies each step"

    EMPTY_VERIFY Error "empty-verify" "`verify` says what to check"
    VERIFY_LAYOUT Error "verify-layout" "`verify` is a line, an indented object or a list"
    FLOW_VERIFY Error "flow-verify" "`verify` is not written in braces or brackets"
    TOO_MANY_CHECKS Error "too-many-checks" "a step has at most 200 checks"
    MISSING_CHECK_TYPE Error "missing-check-type" "a check that is an object has a `type`"
    UNKNOWN_CHECK_TYPE Error "unknown-check-type"
        "a check is of type shell, browser, human-review or artifact"
    MISSING_CHECK_FIELD Error "missing-check-field" "a check has the fields of its type"
    FOREIGN_CHECK_FIELD Error "foreign-check-field" "a check has no field of another type"
    UNKNOWN_CHECK_FIELD Error "unknown-check-field" "a check's field is known"
    INVALID_CHECK_VALUE Error "invalid-check-value" "a check's value is allowed by its field"
    UNKNOWN_ASSERT_KIND Error "unknown-assert-kind"
        "an assertion is exists, contains or matches-glob"
    MISSING_ASSERT_VALUE Error "missing-assert-value" "contains and matches-glob have a value"
    UNUSED_ASSERT_VALUE Warning "unused-assert-value" "exists has no value"
    FLATTENED_ASSERT Warning "flattened-assert" "`kind` and `value` are indented below `assert`"
    GLOB_WITH_FOLDER Error "glob-with-folder" "a glob names files of one folder"
    PATH_OUTSIDE Error "path-outside" "a path stays below the folder in which the run works"
    UNTERMINATED_HEREDOC Error "unterminated-heredoc" "a heredoc is terminated within its command"
    VACUOUS_VERIFY Warning "vacuous-verify" "a command can fail"
    PROSE_VERIFY Warning "prose-verify" "a command is not a sentence"
    MACHINE_PATH Warning "machine-path" "a command does not name folders of one machine"
    WINDOWS_COMMAND Warning "windows-command" "a command is written for the shell that runs it"
    LAST_LINE_DECIDES Warning "last-line-decides" "every line of a command can make it fail"
    REVIEW_BEFORE_CHECKS Warning "review-before-checks" "machines check before people do"
    REVIEW_CHECK_ALIAS Warning "review-check-alias" "a human review has a `prompt`"
    URL_WITHOUT_SCHEME Warning "url-without-scheme" "a URL begins with its scheme"
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::RULES;

    #[test]
    fn codes_are_unique_and_kebab_case() {
        let codes: BTreeSet<_> = RULES.iter().map(|rule| rule.code).collect();
        assert_eq!(codes.len(), RULES.len());
        let kebab = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
        assert!(codes.iter().all(|code| code.chars().all(kebab)));
    }
}
