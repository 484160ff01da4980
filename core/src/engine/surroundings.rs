//! What a call is judged against besides rules: where the project is, which branch is out.

use crate::effect::Io;
use crate::engine::checkout::Checkout;
use crate::permission::Call;
use crate::permission::paths::Places;

/// A folder that cannot be: nothing is below it.
const NO_PROJECT: &str = "/dev/null/no project";

/// Says that the agent works in `cwd` on the project whose top folder is `project`.
pub(crate) fn place(places: &mut Places, project: &str, cwd: &str) {
    let root = Places::new(project).root;
    let is_project = is_project(&root, places.user_home.as_deref());
    places.root = if is_project { root } else { NO_PROJECT.to_owned() };
    places.cwd = Places::new(cwd).cwd;
}

/// The branch that is checked out, for a call to which it matters: one that may push.
pub(crate) async fn branch(io: &Io, call: &Call, checkout: Option<&Checkout>) -> Option<String> {
    let checkout = checkout?;
    let may_push = call.input["command"].to_string().contains("push");
    if may_push { checkout.branch(io).await } else { None }
}

/// The root of the file system and the folders around a home are nobody's project: there,
/// "inside the project" would be everything.
fn is_project(root: &str, home: Option<&str>) -> bool {
    let around_home = |home: &str| {
        let home = home.trim_end_matches('/');
        home == root || home.strip_prefix(root).is_some_and(|rest| rest.starts_with('/'))
    };
    root != "/" && !home.is_some_and(around_home)
}

#[cfg(test)]
mod tests {
    use super::is_project;

    #[test]
    fn a_home_is_no_project() {
        for root in ["/", "/home", "/home/me"] {
            assert!(!is_project(root, Some("/home/me/")), "{root}");
        }
        for root in ["/home/me/project", "/home/m", "/srv/repo"] {
            assert!(is_project(root, Some("/home/me")), "{root}");
        }
        assert!(is_project("/home/me", None) && !is_project("/", None));
    }
}
