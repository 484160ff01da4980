//! What a call is judged against besides rules: the project's root and the current branch.

use crate::git::checkout::Checkout;
use onloop_effect::Io;
use onloop_effect::is_within;
use onloop_permission::Call;
use onloop_permission::paths::Places;

/// Sets the folder that the agent works in and the project's root, `None` where `project` cannot
/// be one.
pub fn place(places: &mut Places, project: &str, cwd: &str) {
    let root = Places::new(project).cwd;
    places.asks_git = true;
    places.root = is_project(&root, places.user_home.as_deref()).then_some(root);
    places.cwd = Places::new(cwd).cwd;
}

/// The branch that is checked out, for a call to which it matters: one of a shell, which may push.
pub async fn branch(io: &Io, call: &Call, checkout: Option<&Checkout>) -> Option<String> {
    let checkout = checkout?;
    let is_line = ["command", "cmd"].iter().any(|key| !call.input[*key].is_null());
    if is_line { checkout.branch(io).await } else { None }
}

/// The root of the file system and the folders around a home are not a project: there,
/// "inside the project" would be everything.
pub(super) fn is_project(root: &str, home: Option<&str>) -> bool {
    let around_home = |home: &str| is_within(home.trim_end_matches('/'), root);
    root != "/" && !home.is_some_and(around_home)
}

#[cfg(test)]
mod tests {
    use super::is_project;

    #[test]
    fn a_home_is_not_a_project() {
        for root in ["/", "/home", "/home/me"] {
            assert!(!is_project(root, Some("/home/me/")), "{root}");
        }
        for root in ["/home/me/project", "/home/m", "/srv/repo"] {
            assert!(is_project(root, Some("/home/me")), "{root}");
        }
        assert!(is_project("/home/me", None) && !is_project("/", None));
    }
}
