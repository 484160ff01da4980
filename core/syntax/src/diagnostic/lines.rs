//! Findings as single lines: workflow commands of GitHub Actions, and the sentences of hotl-rt that
//! agents match on.

use super::{Diagnostic, LineIndex, Severity};
use crate::text;

/// One `::error …` or `::warning …` line for each finding.
pub fn render_github(path: &str, source: &[u8], diagnostics: &[Diagnostic]) -> String {
    let index = LineIndex::new(source);
    let mut out = String::new();
    for diagnostic in diagnostics {
        let kind = diagnostic.severity.as_str();
        let (start, end) =
            (index.position(diagnostic.span.start), index.position(diagnostic.span.end));
        let help = diagnostic.help.as_deref().map(|help| format!("\nhelp: {help}"));
        let message = format!("{}{}", diagnostic.message, help.unwrap_or_default());
        out.push_str(&format!(
            "::{kind} file={},line={},col={},endLine={},endColumn={},title={}::{}\n",
            escaped_property(path),
            start.line,
            start.column,
            end.line,
            end.column,
            diagnostic.code,
            escaped(&message),
        ));
    }
    out
}

fn escaped(text: &str) -> String {
    text::printable(text).replace('%', "%25").replace('\r', "%0D").replace('\n', "%0A")
}

fn escaped_property(text: &str) -> String {
    escaped(text).replace(':', "%3A").replace(',', "%2C")
}

/// The output of hotl-rt for a file: `(standard output, standard error)`. It does not include
/// warnings.
pub fn render_hotl(base_name: &str, diagnostics: &[Diagnostic]) -> (String, String) {
    let name = text::one_line(base_name);
    let is_error = |diagnostic: &&Diagnostic| diagnostic.severity == Severity::Error;
    let errors: Vec<_> = diagnostics.iter().filter(is_error).collect();
    if errors.is_empty() {
        return (format!("LINT PASSED: {name}\n"), String::new());
    }
    let mut err = String::new();
    for diagnostic in &errors {
        let sentence = diagnostic.hotl_text.as_deref().unwrap_or(&diagnostic.message);
        err.push_str(&format!("FAIL: {}\n", text::one_line(sentence)));
    }
    err.push_str(&format!("LINT FAILED: {} error(s) in {name}\n", errors.len()));
    (String::new(), err)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::diagnostic::Span;

    fn finding(severity: Severity, message: &str) -> Diagnostic {
        Diagnostic::new("some-code", severity, Span::new(2, 3), message.to_owned())
    }

    #[test]
    fn github_lines_cannot_be_broken_out_of() {
        let finding = finding(Severity::Error, "50%\n::set-output name=x::y").with_help("a\r\nb");
        assert_eq!(
            render_github("a,b:c.md", b"a\nbc\n", &[finding]),
            "::error file=a%2Cb%3Ac.md,line=2,col=1,endLine=2,endColumn=2,title=some-code::\
             50%25%0A::set-output name=x::y%0Ahelp: a%0Ab\n"
        );
    }

    #[test]
    fn older_sentences_leave_warnings_out() {
        let warning = finding(Severity::Warning, "w");
        let error = finding(Severity::Error, "e").with_hotl_text("Old sentence");
        let passed = (String::from("LINT PASSED: a.md\n"), String::new());
        assert_eq!(render_hotl("a.md", std::slice::from_ref(&warning)), passed);
        let (out, err) = render_hotl("a.md", &[warning, error, finding(Severity::Error, "new")]);
        assert_eq!(out, "");
        assert_eq!(err, "FAIL: Old sentence\nFAIL: new\nLINT FAILED: 2 error(s) in a.md\n");
    }
}
