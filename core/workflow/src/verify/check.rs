//! Converts the fields of a check object into the check.

use onloop_syntax::diagnostic::{Edit, Span};
use onloop_syntax::text;

use super::super::finding;
use super::super::value::{self, Value};
use super::super::{Assertion, Check, Expectation, ShellCheck};
use super::super::{command, duration, suggest};
use super::{ASSERT_KINDS, CheckReader, Draft, TYPES};

impl<'c> CheckReader<'_, 'c> {
    pub(super) fn finish(&mut self, draft: &Draft<'c>) -> Option<Check> {
        let Some(kind) = draft.get("type").filter(|field| !field.value.is_empty()) else {
            self.missing_type(draft);
            return None;
        };
        let written = value::unquoted(value::without_comment(kind.value.trimmed()));
        match written {
            "shell" => self.shell(draft),
            "browser" => self.browser(draft),
            "human-review" => self.human_review(draft),
            "artifact" => self.artifact(draft),
            _ => {
                let nearest = suggest::nearest(written, &TYPES);
                let (span, step) = (kind.value.span, self.step);
                self.findings.push(finding::check::unknown_type(span, step, written, nearest));
                None
            }
        }
    }

    fn missing_type(&mut self, draft: &Draft<'c>) {
        let Some(first) = draft.fields.first() else {
            return;
        };
        let tells = [
            ("command", "shell"),
            ("url", "browser"),
            ("prompt", "human-review"),
            ("path", "artifact"),
        ];
        let guess = tells.iter().find(|(field, _)| draft.get(field).is_some());
        let guess = guess.filter(|_| draft.get("type").is_none()).map(|(_, kind)| {
            let text = format!("type: {kind}\n{}", " ".repeat(draft.indent));
            (*kind, Edit::insert(draft.start, text))
        });
        let span = first.name_span;
        self.findings.push(finding::check::missing_type(span, self.step, guess));
    }

    /// Reports fields that a check of this type does not have.
    fn only(&mut self, draft: &Draft<'c>, kind: &str, allowed: &[&str]) {
        for field in &draft.fields {
            if field.name != "type" && !allowed.contains(&field.name) {
                let found = finding::check::foreign_field(field.name_span, field.name, kind);
                self.findings.push(found);
            }
        }
    }

    /// The text of a field that the type requires.
    fn required(&mut self, draft: &Draft<'c>, kind: &str, name: &str) -> Option<String> {
        let value = draft
            .value(name)
            .filter(|value| name != "command" || !command::does_nothing(&value.plain()));
        if value.is_none() {
            let parent = draft.get("assert").filter(|_| name == "kind");
            let anchor = draft.get(name).or(parent).or_else(|| draft.get("type"));
            let span = anchor.map_or(Span::at(draft.start), |field| field.name_span);
            self.findings.push(finding::check::missing_field(span, self.step, kind, name));
        }
        value.map(|value| value.plain().into_owned())
    }

    fn shell(&mut self, draft: &Draft<'c>) -> Option<Check> {
        self.only(
            draft,
            "shell",
            &[
                "command",
                "expect",
                "timeout",
                "cwd",
                "env",
                "shell",
                "platform",
                "network",
                "allow_no_tests",
            ],
        );
        let command = self.required(draft, "shell", "command")?;
        let mut check = ShellCheck { env: draft.env.clone(), ..self.defaults.check(command) };
        let word = |name: &str| draft.value(name).map(|value| (plain_word(value), value.span));
        if let Some((text, span)) = word("expect") {
            match text {
                "pass" => check.expect = Expectation::Pass,
                "fail" => check.expect = Expectation::Fail,
                _ => self.invalid(span, "expect", text, "`pass` or `fail`"),
            }
        }
        if let Some((text, span)) = word("timeout") {
            check.timeout_ms = duration::parse_ms(text);
            if check.timeout_ms.is_none() {
                self.invalid_timeout(span, text);
            }
        }
        if let Some((text, span)) = word("shell") {
            match text.parse() {
                Ok(shell) => check.shell = shell,
                Err(_) => {
                    self.invalid(span, "shell", text, "`bash`, `sh`, `pwsh` or `cmd`");
                }
            }
        }
        if let Some((text, span)) = word("platform") {
            match text.parse() {
                Ok(platform) => check.platform = Some(platform),
                Err(_) => self.invalid(span, "platform", text, "`linux`, `macos` or `windows`"),
            }
        }
        if let Some(value) = draft.value("network") {
            match value::network(value) {
                Ok(network) => check.network = Some(network),
                Err(invalid) => {
                    let (span, text) = (value.span, value.trimmed());
                    self.findings.push(finding::check::invalid_network(span, text, &invalid));
                }
            }
        }
        if let Some((text, span)) = word("allow_no_tests") {
            match text {
                "true" => check.allow_no_tests = true,
                "false" => {}
                _ => self.invalid(span, "allow_no_tests", text, "`true` or `false`"),
            }
        }
        if let Some((text, span)) = word("cwd") {
            check.cwd = self.path_below("cwd", text, span);
        }
        if let Some(value) = draft.value("command") {
            command::look_at(&check, value, "command", self.findings);
        }
        Some(Check::Shell(check))
    }

    fn invalid(&mut self, span: Span, field: &str, found: &str, expected: &str) {
        self.findings.push(finding::check::invalid_value(span, field, found, expected));
    }

    fn invalid_timeout(&mut self, span: Span, text: &str) {
        let in_seconds = duration::parse_ms(&format!("{text}s")).is_some();
        if in_seconds && text.bytes().all(|byte| byte.is_ascii_digit()) {
            self.findings.push(finding::check::timeout_without_unit(span, text));
        } else {
            self.invalid(span, "timeout", text, "a duration up to a week, such as `90s` or `5m`");
        }
    }

    fn browser(&mut self, draft: &Draft<'c>) -> Option<Check> {
        self.only(draft, "browser", &["url", "check"]);
        let (url, check) =
            (self.required(draft, "browser", "url"), self.required(draft, "browser", "check"));
        let url = text::one_line(&url?);
        if !url.contains("://")
            && let Some(value) = draft.value("url")
        {
            self.findings.push(finding::check::url_without_scheme(value.span, &url));
        }
        Some(Check::Browser { url, check: text::printable(&check?) })
    }

    fn human_review(&mut self, draft: &Draft<'c>) -> Option<Check> {
        self.only(draft, "human-review", &["prompt", "check"]);
        if draft.value("prompt").is_none()
            && let Some(check) = draft.get("check").filter(|field| !field.value.is_empty())
        {
            self.findings.push(finding::check::review_check_alias(check.name_span));
            return Some(Check::HumanReview { prompt: text::printable(&check.value.plain()) });
        }
        let prompt = self.required(draft, "human-review", "prompt")?;
        Some(Check::HumanReview { prompt: text::printable(&prompt) })
    }

    fn artifact(&mut self, draft: &Draft<'c>) -> Option<Check> {
        self.only(draft, "artifact", &["path", "assert", "kind", "value"]);
        let path = self.required(draft, "artifact", "path");
        let kind = self.required(draft, "artifact", "kind");
        let path_span = draft.value("path").map_or(Span::at(draft.start), |value| value.span);
        let path = self.path_below("path", &path?, path_span)?;
        let assertion = self.assertion(draft, &kind?)?;
        Some(Check::Artifact { path, assertion })
    }

    fn assertion(&mut self, draft: &Draft<'c>, kind: &str) -> Option<Assertion> {
        let kind_span = draft.value("kind").map_or(Span::at(draft.start), |value| value.span);
        let value = draft.value("value");
        let expected = value.map(|value| value.plain().into_owned());
        let expected = expected.filter(|text| !text.is_empty());
        match (value::unquoted(value::without_comment(kind)), expected) {
            ("exists", _) => {
                if let Some(value) = value {
                    self.findings.push(finding::check::unused_assert_value(value.span));
                }
                Some(Assertion::Exists)
            }
            (kind @ ("contains" | "matches-glob"), None) => {
                self.findings.push(finding::check::missing_assert_value(kind_span, kind));
                None
            }
            ("contains", Some(text)) => Some(Assertion::Contains(text)),
            ("matches-glob", Some(glob)) => {
                if !glob.contains('/') {
                    return Some(Assertion::MatchesGlob(glob));
                }
                let span = value.map_or(kind_span, |value| value.span);
                self.findings.push(finding::check::glob_with_folder(span, &glob));
                None
            }
            (unknown, _) => {
                let nearest = suggest::nearest(unknown, &ASSERT_KINDS);
                self.findings.push(finding::check::unknown_kind(kind_span, unknown, nearest));
                None
            }
        }
    }

    /// `path`, if it stays below the folder in which the run works.
    fn path_below(&mut self, field: &str, path: &str, span: Span) -> Option<String> {
        if text::printable(path) != path {
            self.findings.push(finding::step::hidden_character(span, field));
            return None;
        }
        if is_below(path) {
            return Some(path.to_owned());
        }
        self.findings.push(finding::check::path_outside(span, field, path));
        None
    }
}

fn plain_word<'v>(value: &'v Value<'_>) -> &'v str {
    value::unquoted(value::without_comment(value.trimmed()))
}

/// Whether `path` is relative and never leads above its start.
fn is_below(path: &str) -> bool {
    let drive = path.as_bytes().get(1) == Some(&b':')
        && path.as_bytes().first().is_some_and(u8::is_ascii_alphabetic);
    if path.is_empty() || drive || path.starts_with(['/', '\\', '~']) {
        return false;
    }
    let mut depth = 0_usize;
    for part in path.split(['/', '\\']) {
        match part {
            "" | "." => {}
            ".." => match depth.checked_sub(1) {
                Some(above) => depth = above,
                None => return false,
            },
            _ => depth += 1,
        }
    }
    true
}

#[cfg(test)]
mod tests {
    use super::is_below;

    #[test]
    fn paths_stay_below_their_root() {
        for path in ["a", "a/b", ".hidden/x", "a/../b", "./a", ".", "a b/日本", "..a"] {
            assert!(is_below(path), "{path}");
        }
        for path in
            ["", "/a", "..", "../a", "a/../../b", "~/x", "C:\\x", "\\\\h\\s", "a\\..\\..\\b"]
        {
            assert!(!is_below(path), "{path}");
        }
    }
}
