//! What file names say.

/// The short name of a workflow: its file name without `.md`, then without `hotl-workflow-`,
/// or without date and `-workflow`, or without `-workflow`; the first that fits.
pub fn slug(path: &str) -> String {
    let base = base_name(path);
    let stem = base.strip_suffix(".md").unwrap_or(base);
    if let Some(slug) = stem.strip_prefix("hotl-workflow-").filter(|slug| !slug.is_empty()) {
        return slug.to_owned();
    }
    let Some(slug) = stem.strip_suffix("-workflow").filter(|slug| !slug.is_empty()) else {
        return stem.to_owned();
    };
    without_date(slug).unwrap_or(slug).to_owned()
}

/// The last part of a path.
pub(super) fn base_name(path: &str) -> &str {
    path.rsplit(['/', '\\']).next().unwrap_or(path)
}

/// `2026-03-20-add-auth` without its date.
fn without_date(slug: &str) -> Option<&str> {
    let bytes = slug.as_bytes();
    let shape = b"0000-00-00-";
    let is_date = bytes.len() > shape.len()
        && shape.iter().zip(bytes).all(|(shape, byte)| match shape {
            b'0' => byte.is_ascii_digit(),
            other => byte == other,
        });
    is_date.then(|| &slug[shape.len()..])
}

#[cfg(test)]
mod tests {
    use super::slug;

    #[test]
    fn slugs_of_every_kind_of_name() {
        let table = [
            ("hotl-workflow-add-auth.md", "add-auth"),
            ("docs/plans/2026-03-20-add-auth-workflow.md", "add-auth"),
            ("docs\\plans\\2026-03-20-add-auth-workflow.md", "add-auth"),
            ("add-auth-workflow.md", "add-auth"),
            ("9999-99-99-x-workflow.md", "x"),
            ("2026-03-20-workflow.md", "2026-03-20"),
            ("notes.md", "notes"),
            ("hotl-workflow-.md", "hotl-workflow-"),
            ("hotl-workflow-x-workflow.md", "x-workflow"),
            ("日本-workflow.md", "日本"),
            ("-workflow.md", "-workflow"),
            ("", ""),
        ];
        for (path, expected) in table {
            assert_eq!(slug(path), expected, "{path}");
        }
    }
}
