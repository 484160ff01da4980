//! What the grammar says about a command line that it refuses, in the form of our messages.

/// Columns of what is shown: every terminal has them.
const COLUMNS: usize = 80;

/// `text`, as clap has rendered it: names in backticks, hints as `fix:`, no line that is wider than
/// a terminal, and `example` in place of the reference to `--help`.
pub(super) fn in_our_words(text: &str, example: Option<String>) -> String {
    let end = text.rfind("\nFor more information").filter(|_| example.is_some());
    let text = &text[..end.unwrap_or(text.len())];
    let text = text.replace("invalid digit found in string", "expected a whole number");
    let mut out = String::new();
    let is_help = !text.starts_with("error:");
    for line in text.lines() {
        if line.starts_with("Usage:") {
            if line.chars().count() <= COLUMNS {
                out += &format!("{line}\n");
            }
            continue;
        }
        let line = line.replacen("  tip: ", "  fix: ", 1);
        // A value with an apostrophe of its own stays as it is, and so do commands in help texts.
        match line.matches('\'').count() % 2 {
            0 if !is_help => out += &line.replace('\'', "`"),
            _ => out += &line,
        }
        out.push('\n');
    }
    let out = out.trim_end_matches('\n').to_owned() + "\n";
    out + &example.unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_the_grammar_says_has_our_form() {
        let text = "error: unexpected argument '--tempalte' found\n\n  tip: a similar argument \
                    exists: '--template'\n\nUsage: onloop new --template <TEMPLATE> <SLUG>\n\n\
                    For more information, try '--help'.\n";
        assert_eq!(
            in_our_words(text, Some("\nMore: onloop help new\n".to_owned())),
            "error: unexpected argument `--tempalte` found\n\n  fix: a similar argument exists: \
             `--template`\n\nUsage: onloop new --template <TEMPLATE> <SLUG>\n\nMore: onloop help new\n"
        );
        let wide = format!("error: invalid value 'it's' for '-n'\n\nUsage: {}\n", "x".repeat(80));
        assert_eq!(in_our_words(&wide, None), "error: invalid value 'it's' for '-n'\n");
        let help = "Judge calls.\n\nExamples:\n  onloop permit explain 'git push'\n";
        assert_eq!(in_our_words(help, None), help);
    }
}
