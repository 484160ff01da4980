//! Checkpoints of whole runs in real repositories, and of random trees.

mod changed;
mod clean;
mod property;

use std::fs;

use serde_json::Value;

use crate::workspace::Workspace;

/// Two steps; the first one needs two attempts.
const WORKFLOW: &str = "---
intent: write files
success_criteria: the files are there
risk_level: low
---

- [ ] **Step 1: Count**
action: count to two
loop: until it is two
max_iterations: 3
verify: test \"$(cat n)\" = 2

```sh
n=$(cat n 2>/dev/null || echo 0)
echo $((n + 1)) > n
```

- [ ] **Step 2: Write**
action: write another file
loop: false
verify: test -f more.txt

```sh
echo more > more.txt
rm a.txt
```
";

/// A completed run in the worktree of `hotl/x`.
fn completed() -> (Workspace, String) {
    let workspace = Workspace::git();
    workspace.write("a.txt", "a\n");
    workspace.write("hotl-workflow-x.md", WORKFLOW);
    workspace.commit("begin");
    workspace.onloop(&["run", "--agent", "script"]).expect_exit(0);
    let id = workspace.record()["run_id"].as_str().expect("a run id").to_owned();
    (workspace, id)
}

fn names(workspace: &Workspace, id: &str) -> Vec<String> {
    let refs = workspace.git_says(&["for-each-ref", "--format=%(refname)", "refs/onloop/"]);
    let prefix = format!("refs/onloop/{id}/");
    refs.lines().map(|name| name.strip_prefix(&prefix).expect("of this run").to_owned()).collect()
}

#[test]
fn each_turn_and_each_verified_step_is_kept_and_can_be_shown() {
    let (workspace, id) = completed();
    assert_eq!(names(&workspace, &id), ["0", "1-1", "1-2", "2-1"]);
    let record = workspace.record();
    let kinds: Vec<&str> = record["checkpoints"]
        .as_array()
        .expect("a list")
        .iter()
        .map(|checkpoint| checkpoint["kind"].as_str().expect("a word"))
        .collect();
    assert_eq!(kinds, ["begun", "acted", "verified", "verified"]);
    let last = &record["checkpoints"][3];
    let refname = format!("refs/onloop/{id}/2-1");
    assert_eq!(workspace.git_says(&["rev-parse", &refname]), last["commit"].as_str().unwrap());
    // The branch of the run has none of it.
    assert_eq!(workspace.git_says(&["rev-list", "--count", "main..hotl/x"]), "0");
    let stat = workspace.onloop(&["diff", &id, "--stat"]).expect_exit(0).stdout;
    let files: Vec<&str> = stat.lines().filter_map(|line| line.split('|').next()).collect();
    let files: Vec<&str> = files.iter().map(|file| file.trim()).collect();
    let summary = "4 files changed, 4 insertions(+), 3 deletions(-)";
    assert_eq!(files, ["a.txt", "hotl-workflow-x.md", "more.txt", "n", summary]);
    let patch = workspace.onloop(&["diff", &id, "1-2"]).expect_exit(0).stdout;
    assert!(patch.contains("-1\n+2\n") && !patch.contains("more.txt"), "{patch}");
    let said = workspace.onloop(&["diff", &id, "7"]).expect_exit(2).stderr;
    assert_eq!(
        said,
        format!("error: run `{id}` has no checkpoint `7`\n  fix: name one of 0, 1-1, 1-2, 2-1\n")
    );
    // Somebody has removed the work.
    let commit = last["commit"].as_str().unwrap();
    let (folder, file) = commit.split_at(2);
    fs::remove_file(workspace.path(".git/objects").join(folder).join(file)).unwrap();
    let said = workspace.onloop(&["diff", &id]).expect_exit(4).stderr;
    let at = workspace.worktree("hotl/x").canonicalize().unwrap();
    assert_eq!(
        crate::flat(&said),
        format!(
            "error: commit {commit} is not in the repository around `{}` cause: it was removed, or has \
             not come yet from the machine that runs it fix: where another machine works on the run, \
             try again in a moment",
            at.display()
        )
    );
}

#[test]
fn undoing_leads_to_a_step_and_back_and_is_for_persons() {
    let (workspace, id) = completed();
    let at = workspace.worktree("hotl/x");
    let head = workspace.git_says(&["rev-parse", "hotl/x"]);
    fs::write(at.join("by hand.txt"), "mine\n").unwrap();
    let workspace = workspace.with_env("ONLOOP_STEP", "1");
    let said = workspace.onloop(&["undo", &id, "1"]).expect_exit(4).stderr;
    assert!(said.starts_with("error: undoing work is for a person to decide"), "{said}");
    let workspace = workspace.with_env("ONLOOP_STEP", "");
    let undo = |to: &str| workspace.onloop(&["undo", &id, to]);
    undo("1").expect_exit(0);
    let there = |name: &str| at.join(name).exists();
    assert_eq!(fs::read_to_string(at.join("n")).unwrap(), "2\n");
    assert!(there("a.txt") && !there("more.txt") && !there("by hand.txt"));
    undo("0").expect_exit(0);
    assert!(there("a.txt") && !there("n"));
    let said = undo("undo-1").expect_exit(0).stderr;
    let back = format!("    onloop undo {id} undo-3\n");
    let again = format!("  onloop finalize --run-id {id}\n");
    assert!(said.contains(&back) && said.ends_with(&again), "{said}");
    assert!(!there("a.txt") && there("more.txt") && there("by hand.txt"));
    assert_eq!(workspace.git_says(&["rev-parse", "hotl/x"]), head);
    let events = workspace.record()["events"].as_array().cloned().expect("events");
    let texts: Vec<&str> = events.iter().filter_map(|event| event["text"].as_str()).collect();
    assert!(texts.contains(&"Files are those of checkpoint 1-2 again"), "{texts:?}");
    // What no checkpoint has is not lost either.
    undo("0").expect_exit(0);
    fs::write(at.join(".gitignore"), "n\n").unwrap();
    fs::write(at.join("n"), "ignored\n").unwrap();
    let said = undo("1").expect_exit(4).stderr;
    assert!(crate::flat(&said).contains("nothing was changed; no checkpoint has `n`"), "{said}");
    assert_eq!(fs::read_to_string(at.join("n")).unwrap(), "ignored\n");
}

#[test]
fn a_checkpoint_that_cannot_be_taken_stops_nothing() {
    let workspace = Workspace::git();
    let workflow = WORKFLOW.replace("echo more >", "git config filter.x.clean false\necho more >");
    workspace.write("hotl-workflow-x.md", workflow.replace("rm a.txt\n", ""));
    let said = workspace.onloop(&["run", "--agent", "script"]).expect_exit(0).stderr;
    let warning = "warning: checkpoint 2-1 was not taken: the configuration of the repository";
    assert!(crate::flat(&said).contains(warning), "{said}");
    let record = workspace.record();
    let missed = |event: &&Value| event["event"] == "checkpoint_missed";
    assert!(record["events"].as_array().expect("events").iter().any(|e| missed(&e)));
    assert_eq!(record["status"], "completed");
}

#[test]
#[ignore = "only with --all"]
fn a_large_file_is_named_and_a_run_outside_git_has_no_checkpoints() {
    let workspace = Workspace::git();
    let script = "truncate -s 60M large.bin\necho more >";
    let workflow = WORKFLOW.replace("echo more >", script).replace("rm a.txt\n", "");
    workspace.write("hotl-workflow-x.md", &workflow);
    let said = workspace.onloop(&["run", "--agent", "script"]).expect_exit(0).stderr;
    let warning = "warning: checkpoint 2-1 is not complete; left out:\n  large.bin (larger than 50 \
                   MiB; ignore it, or use Git LFS)\n";
    assert_eq!(said.matches(warning).count(), 1, "{said}");
    let last = workspace.record()["checkpoints"].as_array().and_then(|all| all.last().cloned());
    let last = last.expect("a checkpoint");
    assert_eq!((&last["complete"], &last["left_out_count"]), (&false.into(), &1.into()));
    let plain = Workspace::plain();
    plain.write("hotl-workflow-x.md", WORKFLOW.replace("rm a.txt\n", ""));
    let said = plain.onloop(&["run", "--agent", "script"]).expect_exit(0).stderr;
    assert!(!said.contains("checkpoint"), "{said}");
    let id = plain.record()["run_id"].as_str().expect("a run id").to_owned();
    for verb in [&["diff", &id][..], &["undo", &id, "0"]] {
        let said = plain.onloop(verb).expect_exit(4).stderr;
        let why = "it works outside a git repository, or began before its first checkpoint";
        let expected = format!("error: run `{id}` has no checkpoints cause: {why}");
        assert_eq!(crate::flat(&said), expected);
    }
}

#[test]
#[ignore = "only with --all"]
fn step_by_step_keeps_the_same_moments() {
    let workspace = Workspace::git();
    workspace.write("hotl-workflow-x.md", WORKFLOW);
    let id = workspace.onloop(&["init", "hotl-workflow-x.md"]).expect_exit(0).stdout;
    let id = id.trim();
    workspace.onloop(&["step", "1", "start"]).expect_exit(0);
    workspace.write("n", "1\n");
    workspace.onloop(&["step", "1", "verify"]).expect_exit(1);
    workspace.onloop(&["step", "1", "start"]).expect_exit(0);
    workspace.write("n", "2\n");
    workspace.onloop(&["step", "1", "verify"]).expect_exit(0);
    workspace.onloop(&["step", "2", "start"]).expect_exit(0);
    workspace.write("more.txt", "more\n");
    workspace.onloop(&["step", "2", "verify"]).expect_exit(0);
    workspace.onloop(&["finalize"]).expect_exit(0);
    assert_eq!(names(&workspace, id), ["0", "1-1", "1-2", "2-1"]);
    let tree = workspace.git_says(&["ls-tree", "--name-only", &format!("refs/onloop/{id}/2-1")]);
    assert!(tree.lines().any(|name| name == "more.txt"), "{tree}");
}

#[test]
fn pruning_takes_only_what_is_in_a_branch_or_old() {
    let (workspace, id) = completed();
    let prune = |now: &str| {
        let mut command = workspace.command_at("", crate::workspace::program());
        let output = command.args(["doctor", "--prune"]).env("ONLOOP_NOW", now).output().unwrap();
        assert!(output.status.success(), "{output:?}");
        String::from_utf8(output.stdout).unwrap()
    };
    assert_eq!(prune("2026-03-21T00:00:00Z"), "Removed 0 checkpoints, kept 4 checkpoints.\n");
    let logs = workspace.kept(&id, "logs");
    std::fs::create_dir_all(&logs).unwrap();
    std::fs::write(logs.join("1-1.log"), [b'x'; 2500]).unwrap();
    workspace.write(".agentize.local.yaml", "retention: {days: 36500}\n");
    assert_eq!(prune("2099-01-01T00:00:00Z"), "Removed 0 checkpoints, kept 4 checkpoints.\n");
    std::fs::remove_file(workspace.path(".agentize.local.yaml")).unwrap();
    let said = prune("2099-01-01T00:00:00Z");
    let (first, rest) = said.split_once('\n').unwrap();
    assert!(first.starts_with("Removed the logs of 1 finished run older than 90 days: "), "{said}");
    assert_eq!(rest, "Removed 0 checkpoints, kept 4 checkpoints.\n", "nothing else has the work");
    workspace.onloop(&["finish", &id, "keep"]).expect_exit(0);
    let rest = format!(
        "{id}: finished more than 90 days ago\nRemoved 4 checkpoints, kept 0 checkpoints.\n"
    );
    assert_eq!(prune("2099-01-01T00:00:00Z"), rest);
    assert_eq!(names(&workspace, &id), Vec::<String>::new());
    assert!(!logs.exists() && workspace.kept(&id, "ledger.jsonl").exists());
}
