//! Text of others in a document of GitHub Actions: neither YAML nor the expressions in it may take
//! it for something else.

use onloop_syntax::text;

/// What an expression begins with, wherever it stands.
const EXPRESSION: &str = "${{";

/// A scalar that shows `foreign` to people; what would be an expression is spelled so that it is none.
pub(super) fn shown(foreign: &str) -> String {
    let shown = text::ellipsis(&text::one_line(foreign), 100).replace(EXPRESSION, "$ {{");
    format!("'{}'", shown.replace('\'', "''"))
}

/// A word of a shell line that means exactly `word`, and has no expression in it.
pub(super) fn word(word: &str) -> String {
    let quoted = text::shell_word(word);
    // Inside quotes, which end and begin again between the two signs.
    quoted.replace(EXPRESSION, "$''{{")
}

/// A comment, on one line.
pub(super) fn comment(foreign: &str) -> String {
    text::one_line(foreign).replace(EXPRESSION, "$ {{")
}

/// `script`, a line a line, this far from the margin.
pub(super) fn block(script: &str, indent: usize) -> String {
    let margin = " ".repeat(indent);
    let lines = script.lines().map(|line| match line {
        "" => "\n".to_owned(),
        line => format!("{margin}{line}\n"),
    });
    lines.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_text_of_others_is_an_expression_or_ends_its_scalar() {
        for (foreign, expected) in [
            ("Say it's done", "'Say it''s done'"),
            ("${{ secrets.KEY }}", "'$ {{ secrets.KEY }}'"),
            ("a: b # c", "'a: b # c'"),
            ("x\n  run: rm -rf /", "'x   run: rm -rf /'"),
            ("", "''"),
        ] {
            assert_eq!(shown(foreign), expected, "{foreign:?}");
        }
        for (foreign, expected) in [
            ("plain.md", "plain.md"),
            ("a b.md", "'a b.md'"),
            ("${{ github.token }}", "'$''{{ github.token }}'"),
            ("it's ${{x}}", "'it'\\''s $''{{x}}'"),
        ] {
            assert_eq!(word(foreign), expected, "{foreign:?}");
        }
        assert_eq!(comment("a\n${{ b }}"), "a $ {{ b }}");
        assert_eq!(block("a\n\nb\n", 2), "  a\n\n  b\n");
    }
}
