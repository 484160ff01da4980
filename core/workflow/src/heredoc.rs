//! Heredocs in shell commands: their delimiters, and whether they end.

/// A heredoc that a line of shell opens.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Heredoc {
    /// The line that ends it.
    pub delimiter: String,
    /// `<<-`: tabs before the delimiter are ignored.
    pub tabs_ignored: bool,
}

impl Heredoc {
    fn is_ended_by(&self, line: &str) -> bool {
        let line = if self.tabs_ignored { line.trim_start_matches('\t') } else { line };
        line == self.delimiter
    }
}

/// The heredocs that one line opens, in order. Quotes, comments, here-strings and arithmetic shifts
/// are not mistaken for heredocs.
pub(super) fn opened_by(line: &str) -> Vec<Heredoc> {
    let mut opened = Vec::new();
    if !line.contains("<<") {
        return opened;
    }
    let bytes = line.as_bytes();
    let (mut at, mut arithmetic) = (0, 0_usize);
    while at < bytes.len() {
        match bytes[at] {
            b'\\' => at += 2,
            b'\'' => at = after_quote(bytes, at, b'\''),
            b'"' => at = after_quote(bytes, at, b'"'),
            b'#' if at == 0 || matches!(bytes[at - 1], b' ' | b'\t' | b';') => break,
            b'(' if bytes[at..].starts_with(b"((") => {
                arithmetic += 1;
                at += 2;
            }
            b')' if bytes[at..].starts_with(b"))") => {
                arithmetic = arithmetic.saturating_sub(1);
                at += 2;
            }
            b'<' if bytes[at..].starts_with(b"<<<") => at += 3,
            b'<' if bytes[at..].starts_with(b"<<") && arithmetic == 0 => {
                let (heredoc, next) = read_delimiter(line, at + 2);
                opened.extend(heredoc);
                at = next;
            }
            _ => at += 1,
        }
    }
    opened
}

/// Offset after the quotation that begins at `at`; an unclosed one ends with the line.
fn after_quote(bytes: &[u8], at: usize, quote: u8) -> usize {
    let mut end = at + 1;
    while end < bytes.len() && bytes[end] != quote {
        end += if quote == b'"' && bytes[end] == b'\\' { 2 } else { 1 };
    }
    end + 1
}

fn read_delimiter(line: &str, from: usize) -> (Option<Heredoc>, usize) {
    let rest = &line[from..];
    let tabs_ignored = rest.starts_with('-');
    let rest = rest.strip_prefix('-').unwrap_or(rest).trim_start();
    let start = line.len() - rest.len();
    let mut delimiter = String::new();
    let mut quote = None;
    let mut end = rest.len();
    let mut escaped = false;
    for (at, c) in rest.char_indices() {
        match (quote, c) {
            (None, '\\') if !escaped => {
                escaped = true;
                continue;
            }
            (None, '\'' | '"') if !escaped => quote = Some(c),
            (Some(open), c) if c == open => quote = None,
            (None, ' ' | '\t' | ';' | '|' | '&' | '<' | '>' | '(' | ')' | '`') if !escaped => {
                end = at;
                break;
            }
            (None | Some(_), c) => delimiter.push(c),
        }
        escaped = false;
    }
    let heredoc = (!delimiter.is_empty()).then_some(Heredoc { delimiter, tabs_ignored });
    (heredoc, start + end)
}

/// The delimiter of the first heredoc in `command` without an end.
pub(super) fn unterminated(command: &str) -> Option<String> {
    if !command.contains("<<") {
        return None;
    }
    let mut lines = command.split('\n');
    while let Some(line) = lines.next() {
        for heredoc in opened_by(line) {
            if !lines.by_ref().any(|line| heredoc.is_ended_by(line)) {
                return Some(heredoc.delimiter);
            }
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn openers_and_what_only_looks_like_one() {
        let table: &[(&str, &[&str])] = &[
            ("cat <<EOF", &["EOF"]),
            ("cat <<'EOF' > x", &["EOF"]),
            ("cat <<-\"E F\"", &["E F"]),
            ("cat <<\\EOF|sh", &["EOF"]),
            ("cat <<A <<B", &["A", "B"]),
            ("cat <<< text", &[]),
            ("echo $((1 << 2))", &[]),
            ("echo '<<EOF'", &[]),
            ("echo \"a <<EOF\"", &[]),
            ("true # <<EOF", &[]),
            ("a <<", &[]),
            ("grep \\<<x", &[]),
        ];
        for (line, expected) in table {
            let found: Vec<_> = opened_by(line).into_iter().map(|h| h.delimiter).collect();
            assert_eq!(found, *expected, "{line}");
        }
    }

    #[test]
    fn a_heredoc_ends_only_at_its_delimiter() {
        assert_eq!(unterminated("cat <<EOF\nx\nEOF"), None);
        assert_eq!(unterminated("cat <<EOF\nx\n EOF"), Some("EOF".to_owned()));
        assert_eq!(unterminated("cat <<-EOF\nx\n\tEOF\necho"), None);
        assert_eq!(unterminated("cat <<A <<B\nA\nB"), None);
        assert_eq!(unterminated("cat <<A <<B\nB\nA"), Some("B".to_owned()));
    }
}
