//! `onloop finish` with real repositories, and with the power going at every request.

mod crash;
#[cfg(unix)]
mod receipt;
#[cfg(unix)]
mod trouble;
#[cfg(unix)]
mod verified;
mod watched;

use serde_json::Value;

#[cfg(unix)]
pub(crate) use self::receipt::statement_of;
use crate::workspace::{Run, Workspace};

/// A completed run whose only step commits `work.txt` on its own branch.
struct Finished {
    workspace: Workspace,
    id: String,
}

const WORKFLOW: &str = "---
intent: write a file
success_criteria: the file is there
risk_level: low
---

- [ ] **Step 1: Write**
action: write the file
loop: false
verify: test -f work.txt

```sh
echo done > work.txt
git add work.txt
git commit --quiet -m work
```
";

impl Finished {
    fn new(mode: &str) -> Finished {
        Finished::of(mode, WORKFLOW, 0)
    }

    fn of(mode: &str, workflow: &str, exit: i32) -> Finished {
        Finished::begun(Workspace::git(), mode, workflow, exit)
    }

    /// In a repository that is there already.
    fn begun(workspace: Workspace, mode: &str, workflow: &str, exit: i32) -> Finished {
        workspace.write("hotl-workflow-x.md", workflow);
        let args = ["run", "hotl-workflow-x.md", "--agent", "script", "--mode", mode];
        workspace.onloop(&args).expect_exit(exit);
        let id = workspace.record()["run_id"].as_str().expect("a run id").to_owned();
        Finished { workspace, id }
    }

    fn finish(&self, words: &[&str]) -> Run {
        self.workspace.onloop(&[&["finish", &self.id][..], words].concat())
    }

    /// Finishes and returns the `finish` object of the summary that is printed.
    #[track_caller]
    fn done(&self, words: &[&str]) -> Value {
        let run = self.finish(&[words, &["--json"]].concat()).expect_exit(0);
        let summary: Value = serde_json::from_str(&run.stdout).expect("the summary is JSON");
        summary["finish"].clone()
    }

    #[track_caller]
    fn refused(&self, words: &[&str]) -> String {
        let run = self.finish(words).expect_exit(1);
        assert_eq!(run.stdout, "", "a refusal prints no summary");
        run.stderr
    }

    fn branches(&self) -> String {
        self.workspace.git_says(&["branch", "--format=%(refname:short)"])
    }
}

#[test]
fn keeping_records_and_touches_nothing() {
    let run = Finished::new("worktree");
    let finish = run.done(&["keep", "--notes", "by hand\nlater"]);
    assert_eq!(finish["disposition"], "kept");
    assert_eq!(finish["notes"], "by hand later");
    assert_eq!(
        (&finish["branch_action"], &finish["worktree_action"]),
        (&"kept".into(), &"kept".into())
    );
    assert_eq!(run.branches(), "hotl/x\nmain");
    assert!(run.workspace.worktree("hotl/x").join("work.txt").exists());
    let line = run.finish(&["keep"]).expect_exit(0).stdout;
    assert_eq!(line, format!("Kept hotl/x, run {}\n", run.id));
    assert_eq!(run.done(&["merge"])["disposition"], "merged");
    let said = run.refused(&["keep"]);
    assert!(
        said.starts_with("error: the outcome `merged` is already recorded\n  fix: add `--force`"),
        "{said}"
    );
}

#[test]
fn merging_takes_the_work_in_and_removes_what_was_made_for_the_run() {
    let run = Finished::new("worktree");
    let worktree = run.workspace.worktree("hotl/x");
    let finish = run.done(&["merge"]);
    assert_eq!(finish["disposition"], "merged");
    assert_eq!(finish["target_branch"], "main");
    assert_eq!(finish["branch_action"], "deleted");
    assert_eq!(finish["worktree_action"], "removed");
    let home = run.workspace.path(".hotl").to_str().unwrap().to_owned();
    assert_eq!(finish["artifacts_preserved_at"], home.as_str());
    assert_eq!(run.workspace.read("work.txt"), "done\n");
    assert_eq!(run.workspace.git_says(&["rev-list", "--merges", "--count", "main"]), "1");
    assert_eq!(run.branches(), "main");
    assert!(!worktree.exists());
    let record = run.workspace.record();
    assert_eq!(record["finish"]["disposition"], "merged");
    assert_eq!(record["finish_intent"], Value::Null);
    assert_eq!(record["report_path"], format!(".hotl/reports/{}.md", run.id));
    let report = run.workspace.read(&format!(".hotl/reports/{}.md", run.id));
    assert!(report.contains("## Finish Outcome\n\n**Disposition:** merged"), "{report}");
    assert_eq!(run.workspace.git_says(&["status", "--porcelain"]), "?? hotl-workflow-x.md");
}

#[test]
fn a_run_in_the_same_checkout_ends_on_the_branch_it_came_from() {
    let run = Finished::new("branch");
    assert_eq!(run.workspace.git_says(&["branch", "--show-current"]), "hotl/x");
    let finish = run.done(&["merge"]);
    assert_eq!(
        (&finish["branch_action"], &finish["worktree_action"]),
        (&"deleted".into(), &Value::Null)
    );
    assert_eq!(run.workspace.git_says(&["branch", "--show-current"]), "main");
    let run = Finished::new("branch");
    assert_eq!(run.done(&["discard", "--confirm", "discard"])["branch_action"], "deleted");
    assert_eq!(run.workspace.git_says(&["branch", "--show-current"]), "main");
    assert!(!run.workspace.path("work.txt").exists());
}

#[test]
fn a_target_that_has_gone_on_is_not_merged_unverified() {
    let run = Finished::new("worktree");
    run.workspace.write("work.txt", "mine\n");
    run.workspace.git_says(&["add", "work.txt"]);
    run.workspace.git_says(&["commit", "--quiet", "--message", "mine"]);
    let branches = ["for-each-ref", "refs/heads"];
    let before = run.workspace.git_says(&branches);
    let said = run.refused(&["merge"]);
    let root = run.workspace.worktree("hotl/x").canonicalize().unwrap();
    let (root, id) = (root.to_str().unwrap(), &run.id);
    assert_eq!(
        crate::flat(&said),
        format!(
            "error: `main` has commits that `hotl/x` does not have; both were never verified \
             work.txt fix: take them in: git -C {root} merge main fix: verify again, then finish: \
             onloop finalize --run-id {id}"
        )
    );
    assert_eq!(run.workspace.git_says(&branches), before);
    assert_eq!(run.workspace.git_says(&["status", "--porcelain"]), "?? hotl-workflow-x.md");
    let record = run.workspace.record();
    assert_eq!((&record["finish"], &record["finish_intent"]), (&Value::Null, &Value::Null));
    run.workspace.git_says(&["reset", "--quiet", "--hard", "HEAD~1"]);
    assert_eq!(run.done(&["merge"])["disposition"], "merged");
}

#[test]
fn undo_of_a_completed_run_names_what_verifies_it_again() {
    let run = Finished::new("worktree");
    let id = &run.id;
    let said = run.workspace.onloop(&["undo", id, "0"]).expect_exit(0).stderr;
    assert!(said.contains(&format!("  onloop finalize --run-id {id}\n")), "{said}");
    assert!(said.contains(&format!("    onloop undo {id} undo-1\n")), "{said}");
    // Its check needs the work that was undone.
    let said = run.workspace.onloop(&["finalize", "--run-id", id]).expect_exit(1).stderr;
    assert!(said.contains("not every check still passes"), "{said}");
    assert_eq!(run.workspace.record()["status"], "blocked");
}

#[test]
fn uncommitted_work_is_never_lost() {
    let run = Finished::new("worktree");
    let precious = run.workspace.worktree("hotl/x").join("precious.txt");
    std::fs::write(&precious, "x").unwrap();
    let said = run.refused(&["merge"]);
    let root = run.workspace.worktree("hotl/x").canonicalize().unwrap();
    let id = &run.id;
    assert_eq!(
        crate::flat(&said),
        format!(
            "error: files in `{}` are not as they were verified (checkpoint 1-1) precious.txt fix: \
             verify again, then finish: onloop finalize --run-id {id} fix: or take them back: \
             onloop undo {id} 1-1",
            root.to_str().unwrap()
        )
    );
    assert!(precious.exists());
    std::fs::remove_file(&precious).unwrap();
    run.workspace.write("README.md", "changed\n");
    let said = run.refused(&["merge"]);
    assert!(
        crate::flat(&said).contains("uncommitted files")
            && crate::flat(&said).contains("README.md"),
        "{said}"
    );
}

#[test]
fn discarding_needs_to_be_confirmed_and_keeps_the_record() {
    let run = Finished::new("worktree");
    for words in [&["discard"][..], &["discard", "--confirm", "yes"]] {
        let said = run.refused(words);
        assert_eq!(
            said,
            "error: discarding the work is destructive\n  fix: run this again with --confirm discard\n"
        );
    }
    let finish = run.done(&["discard", "--confirm", "discard"]);
    assert_eq!(finish["disposition"], "discarded");
    assert_eq!(run.branches(), "main");
    assert!(!run.workspace.worktree("hotl/x").exists());
    assert_eq!(run.workspace.record()["finish"]["disposition"], "discarded");
    let said = run.refused(&["keep", "--force"]);
    assert!(
        crate::flat(&said).contains("the work was discarded, and nothing of it is left"),
        "{said}"
    );
}

#[test]
fn a_blocked_run_can_be_kept_or_discarded_and_nothing_else() {
    let broken = WORKFLOW.replace("test -f work.txt", "test -f other.txt");
    let run = Finished::of("worktree", &broken, 1);
    let said = run.refused(&["merge"]);
    let refused =
        "error: the work cannot be merged while the run is `blocked`, expected a completed run";
    let said = crate::flat(&said);
    assert!(said.starts_with(refused) && said.contains("fix: continue run `x-"), "{said}");
    assert_eq!(run.done(&["keep"])["disposition"], "kept");
    run.done(&["discard", "--confirm", "discard", "--force"]);
    assert_eq!(run.workspace.record()["status"], "blocked");
    let status = run.workspace.onloop(&["status"]).expect_exit(0);
    assert!(status.stderr.contains("No unfinished runs"), "{}", status.stderr);
}

#[test]
fn publishing_pushes_and_a_failed_pull_request_can_be_made_up_for() {
    let run = Finished::new("worktree");
    let said = run.refused(&["publish"]);
    assert!(crate::flat(&said).contains("there is no remote `origin` in "), "{said}");
    run.workspace.git_says(&["init", "--quiet", "--bare", "../remote.git"]);
    run.workspace.git_says(&["remote", "add", "origin", "../remote.git"]);
    let gh = run.workspace.path("../bin/gh");
    let script = |body: &str| {
        std::fs::write(&gh, format!("#!/bin/sh\necho \"$@\" >> ../gh.log\n{body}\n")).unwrap();
        run.workspace.shell("chmod +x ../bin/gh").expect_exit(0);
    };
    script("echo 'no login' >&2; exit 4");
    let said = run.refused(&["publish", "--create-pr"]);
    assert!(said.contains("no pull request was opened\n  cause: no login\n"), "{said}");
    let pushed = run.workspace.git_says(&["ls-remote", "origin", "refs/heads/hotl/x"]);
    assert!(pushed.starts_with(&run.workspace.git_says(&["rev-parse", "hotl/x"])), "{pushed}");
    assert!(run.refused(&["keep"]).contains("--create-pr"), "the way on is named");
    script(
        "cat > ../body.md; case $2 in create) echo Creating; echo https://example.org/pull/1;; esac",
    );
    let finish = run.done(&["publish", "--create-pr"]);
    assert_eq!(finish["pr_url"], "https://example.org/pull/1");
    let status = run.workspace.onloop(&["status", &run.id]).expect_exit(0).stdout;
    assert!(status.contains("Pull request: https://example.org/pull/1\n"), "{status}");
    let list = run.workspace.onloop(&["list"]).expect_exit(0).stdout;
    assert!(list.contains("    https://example.org/pull/1\n"), "{list}");
    assert_eq!((&finish["remote"], &finish["branch_action"]), (&"origin".into(), &"pushed".into()));
    let log = run.workspace.read("../gh.log");
    let asked = "pr create --base main --head hotl/x --title write a file --body-file -";
    assert_eq!(log.lines().next(), Some(asked), "{log}");
    let body = run.workspace.read("../body.md");
    let (id, head) = (
        &run.id,
        "write a file\n\nDone when: the file is there\n\n## What changed\n\n```text\n work.txt | 1 +\n",
    );
    assert!(body.starts_with(head), "{body}");
    let step = "## What was done\n\n- **Step 1: Write** (1 attempt)\n  - ✓ passed in ";
    assert!(body.contains(step), "{body}");
    assert!(
        body.contains(": `command test -f work.txt`\n\n## Who approved\n\nNo person"),
        "{body}"
    );
    assert!(body.contains(&format!("onloop receipt {id} --format intoto")), "{body}");
    assert!(run.workspace.worktree("hotl/x").exists());
}

#[test]
fn a_host_that_made_the_branch_keeps_it() {
    let workspace = Workspace::git();
    workspace.git_says(&["switch", "--quiet", "--create", "feature"]);
    workspace.write("hotl-workflow-x.md", WORKFLOW);
    workspace
        .onloop(&["run", "hotl-workflow-x.md", "--agent", "script", "--mode", "host"])
        .expect_exit(0);
    let id = workspace.record()["run_id"].as_str().unwrap().to_owned();
    let run = Finished { workspace, id };
    let said = run.refused(&["discard", "--confirm", "discard"]);
    assert!(crate::flat(&said).contains("branch `feature` was not made for this run"), "{said}");
    let finish = run.done(&["merge"]);
    assert_eq!(
        (&finish["target_branch"], &finish["branch_action"]),
        (&"main".into(), &"kept".into())
    );
    assert_eq!(run.branches(), "feature\nmain");
}

#[test]
fn what_cannot_be_meant_is_refused() {
    let run = Finished::new("worktree");
    for (words, reason) in [
        (&["merge", "--target-branch", "hotl/x"][..], "target branch must differ"),
        (&["merge", "--target-branch", "nowhere"], "target branch `nowhere` does not exist"),
        (&["merge", "--target-branch=--x"], "--target-branch: `--x` is not a name"),
        (&["publish", "--remote=-x"], "--remote: `-x`"),
        (&["publish", "--pr-url", "javascript:x"], "--pr-url must be an http or https address"),
    ] {
        let run = run.finish(words);
        assert_ne!(run.exit, Some(0), "{words:?}");
        assert!(crate::flat(&run.stderr).contains(reason), "{words:?}: {}", run.stderr);
    }
    let said = run.workspace.onloop(&["finish", "nobody-x", "keep"]).expect_exit(2).stderr;
    assert_eq!(
        crate::flat(&said),
        "error: no run `nobody-x` was found fix: list the runs of every folder: onloop list \
         --everywhere"
    );
    assert!(run.workspace.worktree("hotl/x").exists());
}

#[test]
fn another_run_in_the_same_worktree_is_not_pulled_from_under_its_feet() {
    let run = Finished::new("worktree");
    let worktree = run.workspace.worktree("hotl/x");
    let other = WORKFLOW.replace("intent: write a file", "intent: other");
    std::fs::write(worktree.join("hotl-workflow-y.md"), other).unwrap();
    let begun = run
        .workspace
        .onloop_at(worktree.to_str().unwrap(), &["init", "hotl-workflow-y.md"])
        .expect_exit(0);
    let said = run.refused(&["discard", "--confirm", "discard"]);
    assert!(said.contains(begun.stdout.trim()), "{said}");
    assert!(worktree.exists());
}
