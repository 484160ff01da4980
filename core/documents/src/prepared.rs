//! The JSON document of `onloop prepare`, with the nine keys that `hotl` tools read.

use serde::Serialize;

use onloop_run::preflight::Prepared;

#[derive(Serialize)]
struct Document<'a> {
    branch: Option<&'a str>,
    executor_mode: &'a str,
    repo_root: &'a str,
    execution_root: &'a str,
    workflow_path: &'a str,
    source_workflow_path: &'a str,
    source_branch: Option<&'a str>,
    source_head: Option<&'a str>,
    worktree_path: Option<&'a str>,
}

/// `prepared` as one line of JSON without a line break; every key is there, and what is absent
/// is `null`. `executor_mode` is the caller's own word (`loop` unless it says otherwise).
pub fn render(prepared: &Prepared, executor_mode: &str) -> String {
    let document = Document {
        branch: prepared.branch.as_deref(),
        executor_mode,
        // Outside a repository both roots are the folder that the work happens in.
        repo_root: prepared.repo_root.as_deref().unwrap_or(&prepared.execution_root),
        execution_root: &prepared.execution_root,
        workflow_path: &prepared.workflow_path,
        source_workflow_path: &prepared.source_workflow_path,
        source_branch: prepared.source_branch.as_deref(),
        source_head: prepared.source_head.as_deref(),
        worktree_path: prepared.worktree_path.as_deref(),
    };
    serde_json::to_string(&document).expect("strings are always JSON")
}

#[cfg(test)]
mod tests {
    use super::*;
    use onloop_run::preflight::IsolationMode;

    #[test]
    fn all_nine_keys_are_always_there() {
        let prepared = Prepared {
            mode: IsolationMode::None,
            branch: Some("hotl/x".to_owned()),
            repo_root: None,
            execution_root: "/p".to_owned(),
            workflow_path: "/p/hotl-workflow-x.md".to_owned(),
            source_workflow_path: "/p/hotl-workflow-x.md".to_owned(),
            source_branch: None,
            source_head: None,
            worktree_path: None,
        };
        assert_eq!(
            render(&prepared, "loop"),
            concat!(
                r#"{"branch":"hotl/x","executor_mode":"loop","repo_root":"/p","#,
                r#""execution_root":"/p","workflow_path":"/p/hotl-workflow-x.md","#,
                r#""source_workflow_path":"/p/hotl-workflow-x.md","source_branch":null,"#,
                r#""source_head":null,"worktree_path":null}"#
            )
        );
    }
}
