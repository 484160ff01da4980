//! `onloop normalize`: a workflow as a document for other programs.

use onloop_documents::normalized;
use onloop_effect::{Exit, Io};
use onloop_engine::find_workflow::find_workflow;
use onloop_syntax::diagnostic::{self, Severity};
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

/// Prints the workflow as `hotl.workflow/v1`. A file with errors: [`Exit::Usage`].
pub async fn normalize(io: &Io, args: &NormalizeArgs) -> Exit {
    let path = match find_workflow(io, args.file.as_deref()).await {
        Ok(path) => path,
        Err(exit) => return exit,
    };
    let source = match io.read(&path, limits::WORKFLOW_BYTES as u64).await {
        Ok((source, _)) => source,
        Err(failure) => {
            io.note(format!("error: cannot read `{}`: {failure}", one_line(&path))).await;
            return Exit::Usage;
        }
    };
    let parsed = workflow::parse(&path, &source);
    let Some(plan) = parsed.plan else {
        let errors: Vec<_> = parsed
            .diagnostics
            .into_iter()
            .filter(|found| found.severity == Severity::Error)
            .collect();
        let columns = usize::from(io.start().terminal.columns);
        io.note(diagnostic::human::render(&path, &source, &errors, true, columns)).await;
        return Exit::Usage;
    };
    io.result(format!("{:#}\n", normalized::normalize(&path, &plan))).await;
    Exit::Done
}

#[cfg(test)]
mod tests {
    use super::*;
    use onloop_testing::MemoryHost;

    #[test]
    fn a_workflow_becomes_a_document_and_a_broken_one_does_not() {
        const GOOD: &str = "---\nintent: a\nsuccess_criteria: b\nrisk_level: low\n---\n\
            ### 1. One\naction: do\nloop: false\n";
        let mut host = MemoryHost::with_files([("hotl-workflow-a.md", GOOD)]);
        let run = |host: &mut MemoryHost| {
            host.run(async |io| normalize(&io, &NormalizeArgs::default()).await)
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
