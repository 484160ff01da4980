//! The examples of the documentation, executed.

use crate::workspace::Workspace;

#[test]
fn a_workspace_runs_the_real_program() {
    let workspace = Workspace::git();
    let run = workspace.onloop(&["--version"]).expect_exit(0);
    assert!(run.stdout.starts_with("onloop "), "{run:?}");
    assert_eq!(workspace.shell("onloop --version").expect_exit(0).stdout, run.stdout);
    assert_eq!(workspace.git_says(&["branch", "--show-current"]), "main");
    assert!(workspace.records().is_empty());
}
