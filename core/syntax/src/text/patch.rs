//! A patch as git writes it, line by line.

/// The kind of a line of a patch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PatchLine {
    /// Names the file and its change: the header.
    Head,
    /// Names the position in the file.
    Place,
    /// An added line.
    Added,
    /// A removed line.
    Removed,
    /// An unchanged line.
    Same,
}

/// Each line of `patch` without its line break, and its kind.
pub fn patch_lines(patch: &str) -> impl Iterator<Item = (PatchLine, &str)> {
    let mut in_hunk = false;
    patch.lines().map(move |line| {
        in_hunk = line.starts_with("@@") || (in_hunk && !line.starts_with("diff --git "));
        let kind = match line.as_bytes().first() {
            _ if !in_hunk => PatchLine::Head,
            Some(b'@') => PatchLine::Place,
            Some(b'+') => PatchLine::Added,
            Some(b'-') => PatchLine::Removed,
            Some(_) | None => PatchLine::Same,
        };
        (kind, line)
    })
}

/// `patch` for a terminal, colored. Characters that steer a terminal or hide are spelled out.
pub fn colored_patch(patch: &str) -> String {
    let mut out = String::with_capacity(patch.len() * 5 / 4);
    for (kind, line) in patch_lines(patch) {
        let line = super::visible(line, &['\t']);
        let style = match kind {
            PatchLine::Head => "1",
            PatchLine::Place => "36",
            PatchLine::Added => "32",
            PatchLine::Removed => "31",
            PatchLine::Same => {
                out += &line;
                out.push('\n');
                continue;
            }
        };
        out += &format!("\u{1b}[{style}m{line}\u{1b}[0m\n");
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn colored_lines_contain_no_control_characters() {
        let patch = "diff --git a/x b/x\n--- a/x\n@@ -1,2 +1,2 @@\n-b\u{1b}[2J\n+--- y\n z\n";
        assert_eq!(
            colored_patch(patch),
            "\u{1b}[1mdiff --git a/x b/x\u{1b}[0m\n\u{1b}[1m--- a/x\u{1b}[0m\n\
             \u{1b}[36m@@ -1,2 +1,2 @@\u{1b}[0m\n\u{1b}[31m-b\\u{1b}[2J\u{1b}[0m\n\u{1b}[32m+--- y\u{1b}[0m\n z\n"
        );
    }
}
