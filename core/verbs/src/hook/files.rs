//! Files that a continuation prompt repeats: the cached plan of an issue, and the user's own text.

use super::{HookContext, log};
use onloop_engine::session::files::Sessions;
use onloop_sessions::handsoff::Session;
use onloop_syntax::limits;
use onloop_syntax::text;

/// Path and text of the plan that an issue's session has cached, for the workflow that has one.
///
/// A repository may bring a link under that name, or one in the place of a folder above it. What it
/// leads to is not read: it would end up in a prompt.
pub(super) async fn cached_plan(
    context: &HookContext,
    session: &Session,
    sessions: &Sessions,
) -> Option<(String, String)> {
    let issue = session.issue_no.filter(|_| session.workflow == "issue-to-impl")?;
    let below = format!(".tmp/plan-of-issue-{issue}.md");
    // The agent may write in its project, and `AGENTIZE_HOME` is elsewhere.
    let mut folders = vec![context.project.as_str(), context.cwd.as_str(), sessions.home()];
    folders.dedup();
    for folder in folders {
        let path = format!("{folder}/{below}");
        let Ok(real) = context.io.canonical(&path).await else { continue };
        let Ok(home) = context.io.canonical(folder).await else { continue };
        if real != format!("{}/{below}", home.trim_end_matches('/')) {
            let why = format!("the plan `{path}` is not read: a link leads to it");
            log::debug(context, &why).await;
            continue;
        }
        let Ok((bytes, _)) = context.io.read(&real, limits::PLAN_BYTES).await else { continue };
        return Some((path, String::from_utf8_lossy(&bytes).into_owned()));
    }
    None
}

/// The user's own text for a workflow.
pub(super) async fn template(context: &HookContext, workflow: &str) -> Option<String> {
    let own = context.loaded.config.workflows.iter().find(|own| own.name == workflow)?;
    let real = context.io.canonical(&own.prompt_file).await.ok()?;
    let project = context.io.canonical(&context.project).await.ok()?;
    let inside = own.prompt_file.strip_prefix(&format!("{}/", context.project));
    // The agent may put a link in the place of a file of its project.
    if inside.is_some_and(|inside| real != format!("{project}/{inside}")) {
        let why = format!("the prompt of `{workflow}` is not read: a link leads to it");
        log::debug(context, &why).await;
        return None;
    }
    match context.io.read(&real, limits::SESSION_BYTES).await {
        Ok((bytes, _)) => Some(text::printable(&String::from_utf8_lossy(&bytes))),
        Err(failure) => {
            log::debug(context, &format!("the prompt of `{workflow}`: {failure}")).await;
            None
        }
    }
}
