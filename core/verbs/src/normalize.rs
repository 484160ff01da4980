//! `onloop normalize`: a workflow as a document for other programs.

use onloop_documents::normalized;
use onloop_effect::{Exit, Io};
use onloop_engine::error::{CommandError, ErrorKind};
use onloop_engine::lookup::workflow::find_workflow;
use onloop_engine::run::begin::invalid_workflow;
use onloop_syntax::limits;
use onloop_syntax::text::one_line;
use onloop_workflow as workflow;

/// Which workflow to normalize.
#[derive(Clone, Debug, Default, clap::Args)]
pub struct NormalizeArgs {
    /// Workflow file [default: the only one in docs/plans, else here].
    #[arg(value_name = "FILE")]
    pub file: Option<String>,
    /// Print JSON. The only form there is; older callers pass it.
    #[arg(long)]
    pub json: bool,
}

/// Prints the workflow as `hotl.workflow/v1`.
///
/// # Errors
///
/// The file has errors, or cannot be read.
pub(crate) async fn normalize(io: &Io, args: &NormalizeArgs) -> Result<Exit, CommandError> {
    let path = find_workflow(io, args.file.as_deref()).await?;
    let (source, _) = io.read(&path, limits::WORKFLOW_BYTES as u64).await.map_err(|failure| {
        let error = CommandError::from(failure).of_kind(ErrorKind::Usage);
        error.context(format!("cannot read `{}`", one_line(&path)))
    })?;
    let parsed = workflow::parse(&path, &source);
    let Some(plan) = parsed.plan else {
        return Err(invalid_workflow(io, &path, &source, &parsed.diagnostics));
    };
    io.result(format!("{:#}\n", normalized::normalize(&path, &plan))).await;
    Ok(Exit::Done)
}

#[cfg(test)]
mod tests {
    use super::*;
    use onloop_engine::error::exit_of;
    use onloop_testing::MemoryHost;

    #[test]
    fn a_workflow_becomes_a_document_and_a_broken_one_does_not() {
        const GOOD: &str = "---\nintent: a\nsuccess_criteria: b\nrisk_level: low\n---\n\
            ### 1. One\naction: do\nloop: false\n";
        let mut host = MemoryHost::with_files([("hotl-workflow-a.md", GOOD)]);
        let run = |host: &mut MemoryHost| {
            host.run(async |io| exit_of(&io, normalize(&io, &NormalizeArgs::default()).await).await)
        };
        assert_eq!(run(&mut host), Exit::Done);
        let document: serde_json::Value = serde_json::from_str(&host.stdout).unwrap();
        assert_eq!(document["workflow"]["steps"][0]["name"], "One");

        let mut host = MemoryHost::with_files([("hotl-workflow-a.md", "---\n---\n")]);
        assert_eq!(run(&mut host), Exit::Usage);
        assert_eq!(host.stdout, "");
        assert!(host.stderr.contains("missing-key"), "{}", host.stderr);
    }
}
