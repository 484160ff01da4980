//! Paths as text, with `/` between their parts.

pub(crate) use onloop_effect::rooted::absolute as join;
use onloop_syntax::text::{name_bytes, name_text};

/// The path of a file that git names below a folder.
pub(crate) fn below(root: &str, path: &[u8]) -> String {
    format!("{}/{}", root.trim_end_matches('/'), name_text(path))
}

/// Whether the path begins at the top, or on a drive of Windows.
pub(crate) fn is_absolute(path: &str) -> bool {
    !path.is_empty() && join("", path) == path
}

/// The folder around a path; `None`: it is the top.
pub(crate) fn parent(path: &str) -> Option<&str> {
    let at = path.trim_end_matches('/').rfind('/')?;
    Some(if at == 0 { "/" } else { &path[..at] })
}

/// The last part of a path; `None`: it is the top.
pub(crate) fn file_name(path: &str) -> Option<&str> {
    path.trim_end_matches('/').rsplit('/').next().filter(|name| !name.is_empty())
}

/// A path and every folder around it, nearest first.
pub(crate) fn ancestors(path: &str) -> impl Iterator<Item = &str> {
    std::iter::successors(Some(path), |path| parent(path))
}

/// Whether the path is all UTF-8, so that every program can name it.
pub(crate) fn is_utf8(path: &str) -> bool {
    name_bytes(path) == path.as_bytes()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_has_a_name_and_folders() {
        let found: Vec<&str> = ancestors("/a/b/c").collect();
        assert_eq!(found, ["/a/b/c", "/a/b", "/a", "/"]);
        assert_eq!(ancestors("C:/a").collect::<Vec<_>>(), ["C:/a", "C:"]);
        assert_eq!((file_name("/a/b.c"), file_name("/")), (Some("b.c"), None));
        assert_eq!(below("/r", b"a/\xff"), join("/r/a", &name_text(b"\xff")));
        assert_eq!(below("/r", b"c:x"), "/r/c:x", "a drive is at the beginning only");
        assert!(is_absolute("/a") && !is_absolute("a") && !is_absolute(""));
        assert!(is_utf8("/r/\u{e4}") && !is_utf8(&below("/r", b"\xff")));
    }
}
