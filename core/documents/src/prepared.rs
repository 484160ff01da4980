//! The JSON document of `onloop prepare`, with the nine keys that `hotl` tools read.

use serde_json::json;

use onloop_run::preflight::Prepared;

/// `prepared` as one line of JSON without a line break; every key is there, and what is absent
/// is `null`. `executor_mode` is the caller's own word (`loop` unless it says otherwise).
pub fn render(prepared: &Prepared, executor_mode: &str) -> String {
    let document = json!({
        "branch": prepared.branch,
        "executor_mode": executor_mode,
        // Outside a repository both roots are the folder that the work happens in.
        "repo_root": prepared.repo_root.as_ref().unwrap_or(&prepared.execution_root),
        "execution_root": prepared.execution_root,
        "workflow_path": prepared.workflow_path,
        "source_workflow_path": prepared.source_workflow_path,
        "source_branch": prepared.source_branch,
        "source_head": prepared.source_head,
        "worktree_path": prepared.worktree_path,
    });
    document.to_string()
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
