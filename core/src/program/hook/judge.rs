//! May this tool call run? Rules decide first; what they leave open goes on to whoever can
//! be asked.

use super::{Scene, links, log};
use crate::handsoff::State;
use crate::hooks::Answer;
use crate::permission::paths::Places;
use crate::permission::{Call, Context, Decision, Ruling, Session, decide};

/// Before a tool is used.
pub(super) async fn tool_call(scene: &Scene, call: &Call) -> Answer {
    let ruling = by_rules(scene, call).await;
    log::decision(scene, call, &ruling).await;
    Answer::Decided(ruling.decision, why(&ruling))
}

/// The host is about to ask a person.
pub(super) async fn permission_request(scene: &Scene, call: &Call) -> Answer {
    let ruling = by_rules(scene, call).await;
    log::decision(scene, call, &ruling).await;
    Answer::Decided(ruling.decision, why(&ruling))
}

fn why(ruling: &Ruling) -> String {
    format!("onloop ({}): {}", ruling.rule, ruling.reason)
}

/// What the rules say, in the circumstances of this session.
async fn by_rules(scene: &Scene, call: &Call) -> Ruling {
    let mut context = context(scene).await;
    if mentions_push(call)
        && let Some(checkout) = &scene.checkout
    {
        context.git_branch = checkout.branch(&scene.io).await;
    }
    let ruling = decide(call, &context);
    // Links can only take a permission away, so only an allowed call is looked at again.
    if ruling.decision == Decision::Allow && links::resolve(scene, call, &mut context.places).await
    {
        return decide(call, &context);
    }
    ruling
}

/// The branch matters where something may be pushed, and nowhere else.
fn mentions_push(call: &Call) -> bool {
    call.input["command"].as_str().is_some_and(|line| line.contains("push"))
}

async fn context(scene: &Scene) -> Context {
    let mut context = scene.loaded.context();
    let home = context.places.user_home.clone();
    let places = Places::new(&scene.project);
    context.places.root =
        if is_project(&places.root, home.as_deref()) { places.root } else { NO_PROJECT.to_owned() };
    context.places.cwd = Places::new(&scene.cwd).cwd;
    let Some(id) = &scene.session else { return context };
    let sessions = scene.sessions(id).await;
    if !context.places.state_homes.iter().any(|home| home == sessions.home()) {
        context.places.state_homes.push(sessions.home().to_owned());
    }
    // A session that cannot be read has no rights of a workflow.
    match sessions.load(id).await {
        Ok(Some(session)) if matches!(session.state, State::Open(_)) => {
            let workflow = session.workflow;
            context.with_session(Some(Session { id: id.to_string(), workflow }))
        }
        Ok(_) | Err(_) => context,
    }
}

/// A folder that cannot be: nothing is below it.
const NO_PROJECT: &str = "/dev/null/no project";

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
