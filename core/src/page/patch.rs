//! A patch as coloured lines.

use super::html::escaped;

/// `patch`, as git writes it, as HTML for a `pre` element.
pub(super) fn coloured(patch: &str) -> String {
    let mut out = String::with_capacity(patch.len() * 5 / 4);
    let mut in_hunk = false;
    for line in patch.lines() {
        in_hunk = line.starts_with("@@") || (in_hunk && !line.starts_with("diff --git "));
        let class = match line.as_bytes().first() {
            Some(b'@') if in_hunk => Some("at"),
            Some(b'+') if in_hunk => Some("add"),
            Some(b'-') if in_hunk => Some("del"),
            _ if !in_hunk => Some("of"),
            _ => None,
        };
        let line = escaped(line);
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
