//! What is said about paths.

use super::Access;
use crate::verdict::{Finding, PathRule, Rule};

/// A question about a path.
pub(super) fn asks(rule: PathRule, reason: impl Into<String>) -> Option<Finding> {
    Some(Finding::ask(Rule::Path(rule), reason))
}

/// [`asks`] about what a sandbox holds.
pub(super) fn containable(rule: PathRule, reason: impl Into<String>) -> Option<Finding> {
    Some(Finding::containable(Rule::Path(rule), reason))
}

/// A refusal.
pub(super) fn denies(rule: PathRule, reason: impl Into<String>) -> Option<Finding> {
    Some(Finding::deny(Rule::Path(rule), reason))
}

/// The refusal of what is secret by its name.
pub(super) fn secret_finding(path: &str, access: Access) -> Option<Finding> {
    let what = match access {
        Access::List | Access::Read | Access::Run => "is read",
        Access::Write => "is written",
    };
    denies(PathRule::Secret, format!("`{path}` {what}, and its name says that it is a secret"))
}

/// A question about braces in a pattern.
pub(super) fn too_many(pattern: &str) -> Option<Finding> {
    containable(PathRule::Pattern, format!("`{pattern}` stands for too many names"))
}

/// Asks about spellings that no ordinary path has.
pub(super) fn odd(path: &str, access: Access) -> Option<Finding> {
    let name = path.trim_end_matches('/').rsplit('/').next().unwrap_or_default();
    if path.is_empty() {
        return asks(PathRule::Empty, "it names an empty path");
    }
    let windows = path.contains('\\') || path.as_bytes().get(1) == Some(&b':');
    let short =
        path.bytes().zip(path.bytes().skip(1)).any(|(a, b)| a == b'~' && b.is_ascii_digit());
    if windows || short || path.chars().any(char::is_control) {
        return asks(PathRule::Odd, "it names a path in an unusual spelling");
    }
    // awk takes it for a connection.
    if ["/inet/", "/inet4/", "/inet6/"].iter().any(|begin| path.starts_with(begin)) {
        return asks(PathRule::Odd, "it names a connection");
    }
    // A file whose name is an option becomes one when a pattern matches it.
    if access == Access::Write && name.starts_with('-') && name.len() > 1 {
        return asks(PathRule::Odd, "it names a file that looks like an option");
    }
    None
}
