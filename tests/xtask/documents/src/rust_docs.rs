//! Documentation comments as data: what stands above a declaration.

/// A declaration and the text of its documentation comment, on one line.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Documented<'a> {
    /// The declaration's line, trimmed.
    pub(crate) declaration: &'a str,
    /// Its comment; empty where there is none.
    pub(crate) text: String,
}

/// Every line that is code, with the comment directly above it. Attributes in between are
/// part of neither.
pub(crate) fn read(source: &str) -> Vec<Documented<'_>> {
    let mut found = Vec::new();
    let mut comment: Vec<&str> = Vec::new();
    for line in source.lines().map(str::trim) {
        if let Some(text) = line.strip_prefix("///") {
            comment.push(text.trim());
        } else if line.is_empty() {
            comment.clear();
        } else if !line.starts_with("//") && !line.starts_with("#[") {
            found.push(Documented { declaration: line, text: comment.join(" ") });
            comment.clear();
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_comment_belongs_to_the_declaration_below_it() {
        let source = "//! Module.\n/// One\n/// two.\n#[derive(Debug)]\npub enum A {\n    /// Three.\n    \
                      B,\n    C,\n}\n/// Lost.\n\nfn d() {}\n";
        let found: Vec<(&str, String)> =
            read(source).into_iter().map(|item| (item.declaration, item.text)).collect();
        let expected = [
            ("pub enum A {", "One two."),
            ("B,", "Three."),
            ("C,", ""),
            ("}", ""),
            ("fn d() {}", ""),
        ];
        assert_eq!(found, expected.map(|(line, text)| (line, text.to_owned())));
    }
}
