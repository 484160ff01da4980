//! Runs whose checks have to pass on a clean checkout.

use serde_json::Value;

use crate::workspace::Workspace;

/// A repository that ignores `deps`, with a run of one step.
fn repository(more: &str, check: &str, script: &str) -> Workspace {
    let workspace = Workspace::git();
    workspace.write(".gitignore", "/deps\n.agentize.local.yaml\n");
    workspace.write(
        "hotl-workflow-x.md",
        format!(
            "---\nintent: write\nsuccess_criteria: written\nrisk_level: low\n{more}---\n\n- [ ] \
             **Step 1: Write**\naction: write\nloop: false\nverify: {check}\n\n```sh\n{script}\n```\n"
        ),
    );
    workspace.commit("begin");
    workspace
}

/// What the run is verified on, as its receipt says.
fn verified_on(workspace: &Workspace) -> Value {
    let id = workspace.record()["run_id"].as_str().expect("a run id").to_owned();
    let printed = workspace.onloop(&["receipt", &id, "--json"]).expect_exit(0).stdout;
    let receipt: Value = serde_json::from_str(&printed).expect("a receipt");
    receipt["verified_on"].clone()
}

/// Neither a worktree nor a branch is left beside those of the run.
fn assert_removed(workspace: &Workspace) {
    let branches = workspace.git_says(&["branch", "--list", "onloop/*"]);
    assert_eq!(branches, "");
    let worktrees = workspace.git_says(&["worktree", "list", "--porcelain"]);
    assert!(!worktrees.contains("onloop-clean"), "{worktrees}");
}

const CHECK: &str = "test -f made.txt -a -f deps/tool";
const SCRIPT: &str = "mkdir -p deps; touch deps/tool made.txt";

#[test]
fn what_setup_makes_is_there_on_a_clean_checkout() {
    let more = "verify_clean: true\nsetup: [\"mkdir -p deps; touch deps/tool\"]\n";
    let workspace = repository(more, CHECK, SCRIPT);
    workspace.onloop(&["run", "--agent", "script"]).expect_exit(0);
    assert_eq!(verified_on(&workspace), "clean_checkout");
    let report = workspace.onloop(&["report"]).expect_exit(0).stdout;
    assert!(report.contains("were repeated on a clean checkout after the last step"), "{report}");
    assert_removed(&workspace);
}

#[test]
fn an_ignored_file_of_the_agent_does_not_make_a_check_pass() {
    for (frontmatter, configuration) in
        [("verify_clean: true\n", "{}"), ("", "run: {verify_clean: true}")]
    {
        let workspace = repository(frontmatter, CHECK, SCRIPT);
        workspace.write(".agentize.local.yaml", configuration);
        let said = workspace.onloop(&["run", "--agent", "script"]).expect_exit(1).stderr;
        let reason = "passed in the worktree, but not on a clean checkout: exit code 1";
        assert!(said.contains(reason), "{said}");
        assert_eq!(workspace.record()["status"], "blocked");
        assert_removed(&workspace);
    }
    let workspace = repository("", CHECK, SCRIPT);
    workspace.onloop(&["run", "--agent", "script"]).expect_exit(0);
    assert_eq!(verified_on(&workspace), "worktree");
}

#[test]
fn what_the_agent_may_have_written_is_not_copied_to_the_clean_checkout() {
    let script = format!("{SCRIPT}; echo deps > .worktreeinclude");
    let workspace = repository("verify_clean: true\n", CHECK, &script);
    let run = workspace.onloop(&["run", "--agent", "script", "--mode", "branch"]);
    let said = run.expect_exit(1).stderr;
    let reason = "passed in the worktree, but not on a clean checkout: exit code 1";
    assert!(said.contains(reason), "{said}");
    // What the person has in a checkout of theirs is copied.
    let workspace = repository("verify_clean: true\n", CHECK, "touch made.txt");
    workspace.write(".worktreeinclude", "deps\n");
    workspace.write("deps/tool", "");
    workspace.commit("include");
    workspace.onloop(&["run", "--agent", "script"]).expect_exit(0);
}

#[test]
fn a_setup_that_fails_there_blocks_the_run() {
    let more = "verify_clean: true\nsetup: [test ! -f made.txt]\n";
    let workspace = repository(more, "test -f made.txt", SCRIPT);
    let said = workspace.onloop(&["run", "--agent", "script"]).expect_exit(1).stderr;
    let reason =
        "not on a clean checkout: it could not be made: setup failed: `test ! -f made.txt`";
    assert!(crate::flat(&said).contains(reason), "{said}");
    assert_removed(&workspace);
}

/// The check kills onloop the first time that it runs on the clean checkout.
#[test]
#[ignore = "only with --all"]
fn what_a_killed_onloop_left_of_a_clean_checkout_is_removed() {
    let mark = crate::temporary::temporary_folder();
    let once = mark.path().join("once");
    let check = format!(
        "case $PWD in *onloop-clean*) mkdir {} 2>/dev/null && kill -9 $PPID && sleep 60;; esac; \
         test -f made.txt",
        once.display()
    );
    let workspace = repository("verify_clean: true\n", &check, SCRIPT);
    let run = workspace.onloop(&["run", "--agent", "script", "--confine", "off"]);
    assert_eq!(run.exit, None, "{}", run.stderr);
    assert!(workspace.git_says(&["worktree", "list"]).contains("onloop-clean"));
    workspace.onloop(&["resume", "--confine", "off"]).expect_exit(0);
    assert_eq!(verified_on(&workspace), "clean_checkout");
    assert_removed(&workspace);
}
