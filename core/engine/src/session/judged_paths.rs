//! Paths that an agent names in calls of our own tools: they are judged as its other calls are.

use crate::error::CommandError;
use crate::git::{checkout, links};
use crate::session::workspace;
use crate::state::config;
use onloop_effect::Io;
use onloop_permission::{Call, Decision, decide};
use onloop_syntax::text::one_line;
use serde_json::json;

/// Reads none of `paths` unless the agent may read each of them itself.
///
/// # Errors
///
/// The first path that it may not read, and why.
pub async fn refuse_unreadable(io: &Io, paths: &[&str]) -> Result<(), CommandError> {
    if paths.is_empty() {
        return Ok(());
    }
    let cwd = &io.start().cwd;
    let mut context = config::load(io, cwd).await.context();
    let checkout = checkout::own(io, cwd).await;
    let project = checkout.as_ref().map_or(cwd, |checkout| &checkout.root);
    workspace::place(&mut context.places, project, cwd);
    for path in paths {
        let call = Call { tool: "Read".to_owned(), input: json!({ "file_path": path }) };
        links::resolve(io, &call, &mut context).await;
        let ruling = decide(&call, &context);
        if ruling.decision != Decision::Allow {
            let path = one_line(path);
            return Err(CommandError::refused(format!("`{path}` is not read"))
                .because(format!("{} ({})", ruling.reason, ruling.rule)));
        }
    }
    Ok(())
}
