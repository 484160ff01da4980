//! Branch names that git accepts and that are safe on its command line.

use std::fmt;
use std::str::FromStr;

use onloop_syntax::limits;
use onloop_syntax::text;

/// The name of a local branch, without `refs/heads/`.
///
/// Names come from untrusted files, so this type applies the rules of `git check-ref-format
/// --branch`. A valid name is not an option, a revision expression or another kind of reference.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct BranchName(String);

/// Why a text is not a valid branch name.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{reason}")]
pub struct InvalidBranchName {
    /// The problem, in words that follow "it".
    pub reason: String,
}

impl BranchName {
    /// The branch of a workflow that names none: `hotl/<slug>`. Characters that git refuses become
    /// `-`, so that every file name gives a branch.
    pub fn for_slug(slug: &str) -> BranchName {
        let mut tail = String::new();
        for c in slug.chars() {
            let c = if is_forbidden(c) || c == '/' { '-' } else { c };
            let doubled = (c == '.' && tail.ends_with('.')) || (c == '{' && tail.ends_with('@'));
            tail.push(if doubled { '-' } else { c });
        }
        let tail = tail.trim_matches(['-', '.']);
        let tail = text::prefix(tail, limits::BRANCH_NAME_BYTES - "hotl/".len());
        let tail = tail.trim_end_matches(['-', '.']);
        let tail = if tail.is_empty() { "workflow" } else { tail };
        let tail =
            tail.strip_suffix(".lock").map_or(tail.to_owned(), |stem| format!("{stem}-lock"));
        BranchName(format!("hotl/{tail}"))
    }

    /// The name with `-number` behind it, within the bound of names.
    #[must_use]
    pub fn numbered(&self, number: u64) -> BranchName {
        let end = format!("-{number}");
        let start = text::prefix(&self.0, limits::BRANCH_NAME_BYTES - end.len());
        BranchName(format!("{}{end}", start.trim_end_matches(['-', '.', '/'])))
    }

    /// The name.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The names that are whole leading parts of this one: `a` and `a/b` for `a/b/c`. Git cannot have a
    /// branch with one of them beside this one.
    pub fn leading_parts(&self) -> impl Iterator<Item = &str> {
        self.0.match_indices('/').map(|(end, _)| &self.0[..end])
    }

    /// Whether the branch must not be worked on unattended.
    pub fn is_protected(&self) -> bool {
        matches!(self.as_str(), "main" | "master")
    }

    /// The folder name of a worktree on this branch. Several branches can have the same folder name
    /// (`a/b` and `a-b`), so callers check the folder first.
    pub fn folder(&self) -> String {
        let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | '-');
        self.0.chars().map(|c| if plain(c) { c } else { '-' }).collect()
    }
}

impl fmt::Display for BranchName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl FromStr for BranchName {
    type Err = InvalidBranchName;

    /// `name`, if git accepts it and a terminal shows it unchanged.
    fn from_str(name: &str) -> Result<BranchName, InvalidBranchName> {
        match objection(name) {
            None => Ok(BranchName(name.to_owned())),
            Some(reason) => Err(InvalidBranchName { reason }),
        }
    }
}

fn is_forbidden(c: char) -> bool {
    c.is_control()
        || matches!(c, ' ' | '~' | '^' | ':' | '?' | '*' | '[' | '\\')
        || text::printable(c.encode_utf8(&mut [0; 4])).is_empty()
}

fn objection(name: &str) -> Option<String> {
    if name.is_empty() {
        return Some("is empty".to_owned());
    }
    if name.len() > limits::BRANCH_NAME_BYTES {
        let limit = limits::BRANCH_NAME_BYTES;
        return Some(format!("is {} bytes long, and the limit is {limit}", name.len()));
    }
    if let Some(c) = name.chars().find(|&c| is_forbidden(c)) {
        return Some(format!("contains `{}`", c.escape_default()));
    }
    for part in ["..", "@{", "//"] {
        if name.contains(part) {
            return Some(format!("contains `{part}`"));
        }
    }
    for start in ["-", "/", "refs/"] {
        if name.starts_with(start) {
            return Some(format!("starts with `{start}`"));
        }
    }
    for end in ["/", "."] {
        if name.ends_with(end) {
            return Some(format!("ends with `{end}`"));
        }
    }
    if matches!(name, "@" | "HEAD") {
        return Some("is git's own name for the current commit".to_owned());
    }
    name.split('/').find_map(|part| {
        if part.starts_with('.') {
            Some(format!("contains `{part}`, which starts with a dot"))
        } else if part.ends_with(".lock") {
            Some(format!("contains `{part}`, which ends with `.lock`"))
        } else {
            None
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_that_git_accepts_are_accepted() {
        for name in ["feat/add-auth", "x", "a.b", "登录/修复", "fix_1", "user@host", "a-", "x{y}"]
        {
            assert_eq!(name.parse::<BranchName>().unwrap().as_str(), name);
        }
    }

    #[test]
    fn hostile_names_are_refused_with_the_reason() {
        let long = "x".repeat(limits::BRANCH_NAME_BYTES + 1);
        for (name, reason) in [
            ("", "is empty"),
            ("-x", "starts with `-`"),
            ("--upload-pack=sh", "starts with `-`"),
            ("a..b", "contains `..`"),
            ("a@{1}", "contains `@{`"),
            ("@", "is git's own name for the current commit"),
            ("HEAD", "is git's own name for the current commit"),
            ("refs/heads/x", "starts with `refs/`"),
            ("a b", "contains ` `"),
            ("a\u{7}b", r"contains `\u{7}`"),
            ("a\nb", r"contains `\n`"),
            ("a\u{202e}b", r"contains `\u{202e}`"),
            ("a~1", "contains `~`"),
            ("a^", "contains `^`"),
            ("a:b", "contains `:`"),
            ("a*", "contains `*`"),
            ("a[b", "contains `[`"),
            (r"a\b", r"contains `\\`"),
            ("/a", "starts with `/`"),
            ("a/", "ends with `/`"),
            ("a//b", "contains `//`"),
            ("a.", "ends with `.`"),
            (".a", "contains `.a`, which starts with a dot"),
            ("a/.b", "contains `.b`, which starts with a dot"),
            ("a.lock/b", "contains `a.lock`, which ends with `.lock`"),
            (&long, "is 201 bytes long, and the limit is 200"),
        ] {
            assert_eq!(name.parse::<BranchName>().unwrap_err().reason, reason, "{name:?}");
        }
    }

    #[test]
    fn every_slug_has_a_branch() {
        let long = "長".repeat(500);
        for (slug, branch) in [
            ("add-auth", "hotl/add-auth"),
            ("my plan", "hotl/my-plan"),
            ("登录", "hotl/登录"),
            ("a..b@{c", "hotl/a.-b@-c"),
            ("--", "hotl/workflow"),
            (".x.", "hotl/x"),
            ("x.lock", "hotl/x-lock"),
            ("", "hotl/workflow"),
            ("a/b", "hotl/a-b"),
        ] {
            assert_eq!(BranchName::for_slug(slug).as_str(), branch, "{slug:?}");
        }
        for slug in [&long, "\u{0}\u{1b}[31m", "\\", "a.lock.lock", "...", "@"] {
            let branch = BranchName::for_slug(slug);
            assert_eq!(branch.as_str().parse(), Ok(branch.clone()), "{slug:?}");
        }
    }

    #[test]
    fn folders_are_plain_and_may_coincide() {
        let folder = |name: &str| name.parse::<BranchName>().unwrap().folder();
        assert_eq!(folder("hotl/add-auth"), "hotl-add-auth");
        assert_eq!(folder("a/b"), folder("a-b"));
        assert_eq!(folder("登录/v1.2_x"), "---v1.2_x");
    }
}
