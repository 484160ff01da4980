//! What is wrong with a repository is named: what was found, where, and what to do.

mod hanging;
mod remote;

use super::Finished;
use crate::rounds::sampled;
use crate::workspace::Workspace;

/// Like the workflow of the other tests, but nothing is committed.
const OPEN: &str = "---
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
```
";

/// A completed run whose work is not committed.
pub(super) fn open() -> Finished {
    Finished::of("worktree", OPEN, 0)
}

const STALE: &str = "is there: another git is running, or a killed one left it; when no git \
                     runs in this repository, remove that file";

fn text(workspace: &Workspace, below: &str) -> String {
    workspace.path(below).to_str().expect("a name in UTF-8").to_owned()
}

/// What a run says that starts in `workspace` and does not get far.
fn refused_start(workspace: &Workspace, more: &[&str]) -> String {
    let args = [&["run", "hotl-workflow-x.md", "--agent", "script"][..], more].concat();
    let run = workspace.onloop(&args).expect_exit(4);
    assert_eq!(run.stdout, "");
    run.stderr
}

#[test]
fn a_lock_stops_a_finish_with_its_name_and_nothing_is_said_to_be_done() {
    let merge: &[&str] = &["merge"];
    let discard: &[&str] = &["discard", "--confirm", "discard"];
    let cases = [
        (discard, ".git/refs/heads/hotl/x.lock", false),
        (discard, ".git/packed-refs.lock", false),
        (merge, ".git/refs/heads/hotl/x.lock", false),
        (merge, ".git/worktrees/hotl-x/index.lock", false),
        (merge, ".git/refs/heads/main.lock", true),
        (merge, ".git/HEAD.lock", true),
        (merge, ".git/index.lock", true),
    ];
    for (words, lock, waits) in sampled(4, cases) {
        let run = open();
        let workspace = &run.workspace;
        workspace.git_says(&["pack-refs", "--all"]);
        workspace.write(lock, "");
        let path = text(workspace, lock);
        let said = run.refused(words);
        let on = match words == discard {
            true => format!(
                " fix: when that is fixed, continue where it stopped: onloop finish {} {}",
                run.id,
                words.join(" ")
            ),
            false if waits => {
                " fix: wait until that git has ended, then run the same command again; \
                               it continues"
                    .to_owned()
            }
            false => String::new(),
        };
        let expected = format!("error: `{path}` {STALE}{on}");
        assert_eq!(crate::flat(&said), expected, "{words:?} {lock}");
        assert_eq!(run.branches(), "hotl/x\nmain", "{words:?} {lock}");
        if waits {
            assert!(!workspace.record()["finish_intent"].is_null(), "{lock}: it will be continued");
        }
        assert_eq!(workspace.git_says(&["rev-list", "--count", "main"]), "1", "{lock}");
        let status = workspace.git_says(&["status", "--porcelain"]);
        assert_eq!(status, "?? hotl-workflow-x.md", "{words:?} {lock}: nothing half done");
        std::fs::remove_file(&path).unwrap();
        run.done(words);
        assert_eq!(run.branches(), "main", "{words:?} {lock}");
    }
}

#[test]
fn a_lock_stops_a_start_with_its_name() {
    let made = "could not create the worktree";
    for (mode, lock) in [
        ("worktree", ".git/refs/heads/hotl/x.lock"),
        ("branch", ".git/refs/heads/hotl/x.lock"),
        ("branch", ".git/HEAD.lock"),
    ] {
        let workspace = Workspace::git();
        workspace.write("hotl-workflow-x.md", OPEN);
        workspace.write(lock, "");
        let tree = text(&workspace, "../.hotl-worktrees/project/hotl-x").replace("project/../", "");
        let what = match mode {
            "worktree" => format!("{made} `{tree}` on branch `hotl/x`"),
            _ => "could not switch to branch `hotl/x`".to_owned(),
        };
        let said = refused_start(&workspace, &["--mode", mode]);
        let lock = text(&workspace, lock);
        assert_eq!(crate::flat(&said), format!("error: {what} cause: `{lock}` {STALE}"));
        assert_eq!(workspace.git_says(&["branch", "--show-current"]), "main");
    }
}

#[test]
fn a_lock_keeps_a_checkpoint_from_being_taken_and_an_undo_from_beginning() {
    let workspace = Workspace::git();
    workspace.write("hotl-workflow-x.md", OPEN);
    let id = workspace.onloop(&["init", "hotl-workflow-x.md"]).expect_exit(0).stdout;
    let id = id.trim();
    workspace.onloop(&["step", "1", "start"]).expect_exit(0);
    workspace.write("work.txt", "done\n");
    let lock = format!(".git/refs/onloop/{id}/1-1.lock");
    workspace.write(&lock, "");
    let said = workspace.onloop(&["step", "1", "verify"]).expect_exit(0).stderr;
    let path = text(&workspace, &lock);
    let warning = format!("warning: checkpoint 1-1 was not taken: `{path}` {STALE}");
    let both = format!("{warning} {warning}");
    assert_eq!(crate::flat(&said), both, "of the turn, and of the step");
    let lock = format!(".git/refs/onloop/{id}/undo-1.lock");
    workspace.write(&lock, "");
    let said = workspace.onloop(&["undo", id, "0"]).expect_exit(4).stderr;
    let what = "error: nothing was undone, since the present files could not be kept";
    let lock = text(&workspace, &lock);
    assert_eq!(crate::flat(&said), format!("{what} cause: `{lock}` {STALE}"));
    assert_eq!(workspace.read("work.txt"), "done\n");
}

#[test]
fn undo_after_a_merge_leaves_the_checkout_of_the_person_alone() {
    let run = open();
    let (workspace, id) = (&run.workspace, &run.id);
    assert_eq!(run.done(&["merge"])["disposition"], "merged");
    workspace.write("later.txt", "mine\n");
    let said = workspace.onloop(&["undo", id, "0"]).expect_exit(4).stderr;
    let what = "error: the work was merged, and its worktree is gone; only git can take it back";
    assert!(crate::flat(&said).starts_with(what), "{said}");
    assert_eq!(workspace.read("later.txt"), "mine\n");
    assert_eq!(workspace.read("work.txt"), "done\n");
}

#[test]
fn a_damaged_ledger_names_how_the_run_is_rebuilt() {
    let run = open();
    let ledger = run.workspace.kept(&run.id, "ledger.jsonl");
    let text = std::fs::read_to_string(&ledger).unwrap();
    std::fs::write(&ledger, text.replacen("\"seq\":3", "\"seq\":4", 1)).unwrap();
    let said = run.workspace.onloop(&["finish", &run.id, "merge"]).expect_exit(1).stderr;
    assert!(said.contains(&format!("onloop resume {} --rebuild ", run.id)), "{said}");
    // The copy in its worktree is not taken for a record of another machine.
    let said = run.workspace.onloop(&["finish", "merge"]).expect_exit(1).stderr;
    assert!(said.contains("--rebuild ") && !said.contains("adopt"), "{said}");
}

#[test]
#[ignore = "only with --all"]
fn a_commit_that_cannot_be_signed_says_how_to_do_without() {
    let run = open();
    for (key, value) in
        [("gpg.format", "ssh"), ("user.signingkey", "gone"), ("commit.gpgsign", "true")]
    {
        run.workspace.git_says(&["config", key, value]);
    }
    let said = run.refused(&["merge"]);
    assert!(crate::flat(&said).contains("cannot sign the commit"), "{said}");
    let command = said.lines().find_map(|line| line.strip_prefix("    git ")).expect("a command");
    run.workspace.shell(&format!("git {command}")).expect_exit(0);
    assert_eq!(run.done(&["merge"])["disposition"], "merged");
}

#[test]
#[ignore = "only with --all"]
fn whoever_git_does_not_know_is_told_so() {
    let run = open();
    let workspace = &run.workspace;
    workspace.git_says(&["config", "--remove-section", "user"]);
    workspace.git_says(&["config", "user.useConfigOnly", "true"]);
    let root = workspace.worktree("hotl/x").canonicalize().unwrap();
    let expected = format!(
        "error: git in `{}` does not know who commits fix: tell git: git config --global user.name \
         NAME; git config --global user.email ADDRESS",
        root.display()
    );
    assert_eq!(crate::flat(&run.refused(&["merge"])), expected);
    workspace.identify();
    assert_eq!(run.done(&["merge"])["disposition"], "merged");
}

#[test]
#[ignore = "only with --all"]
fn sha256_and_reftable_repositories_go_all_the_way() {
    for option in sampled(2, ["--object-format=sha256", "--ref-format=reftable"]) {
        let run = Finished::begun(Workspace::git_with(&[option]), "worktree", OPEN, 0);
        let (workspace, id) = (&run.workspace, &run.id);
        workspace.git_says(&["init", "--quiet", "--bare", option, "../remote.git"]);
        workspace.git_says(&["remote", "add", "origin", "../remote.git"]);
        let diff = workspace.onloop(&["diff", id, "1"]).expect_exit(0).stdout;
        assert!(diff.contains("+done\n"), "{option}: {diff}");
        let at = workspace.worktree("hotl/x").join("work.txt");
        workspace.onloop(&["undo", id, "0"]).expect_exit(0);
        assert!(!at.exists(), "{option}");
        workspace.onloop(&["undo", id, "1"]).expect_exit(0);
        assert!(at.exists(), "{option}");
        assert_eq!(run.done(&["publish"])["disposition"], "published", "{option}");
        let pushed = workspace.git_says(&["ls-remote", "origin", "refs/heads/hotl/x"]);
        let merged = workspace.git_says(&["rev-parse", "hotl/x"]);
        assert!(pushed.starts_with(&merged), "{option}: {pushed}");
        assert_eq!(run.done(&["merge", "--force"])["disposition"], "merged", "{option}");
        assert_eq!(workspace.git_says(&["rev-parse", "main^2"]), merged, "{option}");
        let words = ["receipt", id, "--format", "intoto", "--out", "../x.dsse"];
        workspace.onloop(&words).expect_exit(0);
        let said = workspace.onloop(&["receipt", "verify", "../x.dsse"]).expect_exit(0).stdout;
        assert!(said.contains(&format!("  commit   {merged}\n")), "{option}: {said}");
    }
}

#[test]
#[ignore = "only with --all"]
fn a_locked_reftable_is_named() {
    let workspace = Workspace::git_with(&["--ref-format=reftable"]);
    let run = Finished::begun(workspace, "worktree", OPEN, 0);
    run.workspace.write(".git/reftable/tables.list.lock", "");
    let said = run.refused(&["discard", "--confirm", "discard"]);
    let (root, id) = (text(&run.workspace, "").trim_end_matches('/').to_owned(), &run.id);
    assert_eq!(
        crate::flat(&said),
        format!(
            "error: `reftable/tables.list.lock` of the repository in `{root}` {STALE} fix: when that \
             is fixed, continue where it stopped: onloop finish {id} discard --confirm discard"
        )
    );
    assert_eq!(run.branches(), "hotl/x\nmain");
}

#[cfg(unix)]
#[test]
fn a_repository_that_git_does_not_trust_is_named() {
    let workspace = Workspace::git();
    workspace.write("hotl-workflow-x.md", OPEN);
    let root = workspace.path("").canonicalize().unwrap();
    let owner = std::os::unix::fs::MetadataExt::uid(&std::fs::metadata(&root).unwrap());
    if owner == 0 {
        for path in [root.join(".git"), root.clone()] {
            std::os::unix::fs::chown(path, Some(12_345), None).unwrap();
        }
    } else {
        // Only the superuser can give a folder away; the checkout can be where his folder is.
        workspace.git_says(&["config", "core.worktree", "/"]);
    }
    let root = root.display();
    assert_eq!(
        crate::flat(&refused_start(&workspace, &[])),
        format!(
            "error: cannot look at the repository cause: the repository around `{root}` belongs to \
             another user fix: if you trust it: git config --global --add safe.directory {root}"
        )
    );
}

#[test]
#[ignore = "only with --all"]
fn a_run_that_began_on_no_branch_is_merged_into_one_that_is_named() {
    let workspace = Workspace::git();
    workspace.git_says(&["switch", "--quiet", "--detach"]);
    workspace.write("loose.txt", "loose\n");
    workspace.commit("Loose");
    let head = workspace.git_says(&["rev-parse", "HEAD"]);
    let run = Finished::begun(workspace, "worktree", OPEN, 0);
    assert_eq!(
        crate::flat(&run.refused(&["merge"])),
        format!(
            "error: no target branch was found cause: the run began at commit {head}, on no branch \
             fix: name the branch that takes it in with --target-branch B"
        )
    );
    let finish = run.done(&["merge", "--target-branch", "main"]);
    assert_eq!(finish["target_branch"], "main");
    assert_eq!(run.workspace.git_says(&["show", "main:loose.txt"]), "loose");
    // Whoever was on no branch still is.
    assert_eq!(run.workspace.git_says(&["rev-parse", "HEAD"]), head);
    assert_eq!(run.workspace.git_says(&["branch", "--show-current"]), "");
}

#[test]
#[ignore = "only with --all"]
fn a_bare_clone_is_named_and_a_checkout_of_it_is_worked_in() {
    let outside = Workspace::git();
    outside.git_says(&["clone", "--quiet", "--bare", ".", "bare.git"]);
    outside.write("bare.git/hotl-workflow-x.md", OPEN);
    let args = ["run", "hotl-workflow-x.md", "--agent", "script", "--mode", "worktree"];
    let said = outside.onloop_at("bare.git", &args).expect_exit(4).stderr;
    assert_eq!(
        said,
        "error: this folder is in a bare repository, which has no checkout to work in\n  \
         fix: make a checkout, then run this there:\n    git worktree add PATH BRANCH\n  \
         fix: work where you are and leave git alone:\n    onloop run --mode none \
         hotl-workflow-x.md --agent script\n"
    );
    outside.shell("cd bare.git && git worktree add --quiet ../checkout main").expect_exit(0);
    for (key, value) in [("user.name", "Somebody"), ("user.email", "somebody@example.org")] {
        outside.git_says(&["-C", "bare.git", "config", key, value]);
    }
    outside.write("checkout/hotl-workflow-x.md", OPEN);
    outside.onloop_at("checkout", &args).expect_exit(0);
    let ids = outside.kept_ids();
    let [id] = ids.as_slice() else { panic!("one run: {ids:?}") };
    for verb in ["merge", "discard"] {
        let words = ["finish", id, verb, "--confirm", "discard"];
        let run = outside.onloop_at("checkout", &words).expect_exit(1);
        let why = format!(
            "error: the repository is bare: there is no checkout in which to {verb} and to keep \
             the record fix: use keep or publish"
        );
        assert!(crate::flat(&run.stderr).ends_with(&why), "{}", run.stderr);
    }
    let diff = outside.onloop_at("checkout", &["diff", id]).expect_exit(0).stdout;
    assert!(diff.contains("+done\n"), "{diff}");
    outside.onloop_at("checkout", &["undo", id, "0"]).expect_exit(0);
    outside.onloop_at("checkout", &["undo", id, "1"]).expect_exit(0);
    outside.onloop_at("checkout", &["finish", id, "publish"]).expect_exit(0);
    assert_eq!(
        outside.git_says(&["show", "hotl/x:work.txt"]),
        "done",
        "origin is where it is from"
    );
}

/// Leaves what a merge of the run has left that was killed in the middle.
fn kill_merge(run: &Finished) {
    let workspace = &run.workspace;
    // The intention stays, as after a kill.
    workspace.write(".git/index.lock", "");
    run.refused(&["merge"]);
    let tip = workspace.git_says(&["rev-parse", "hotl/x"]);
    workspace.write(".git/onloop-merge", format!("{tip}\nrefs/heads/main\n"));
    workspace.write("work.txt", "do");
}

#[test]
fn a_killed_merge_is_undone_whatever_is_asked_for_next() {
    let cases = [
        (&["discard", "--confirm", "discard"][..], "discarded"),
        (&["keep"], "kept"),
        (&["publish"], "published"),
        (&["merge"], "merged"),
    ];
    for (words, next) in sampled(3, cases) {
        let run = open();
        let workspace = &run.workspace;
        workspace.git_says(&["init", "--quiet", "--bare", "../remote.git"]);
        workspace.git_says(&["remote", "add", "origin", "../remote.git"]);
        kill_merge(&run);
        assert_eq!(run.done(words)["disposition"], next);
        for left in [".git/index.lock", ".git/onloop-merge"] {
            assert!(!workspace.path(left).exists(), "{words:?}: {left}");
        }
        let status = workspace.git_says(&["status", "--porcelain"]);
        assert_eq!(status, "?? hotl-workflow-x.md", "{words:?}");
        assert_eq!(workspace.path("work.txt").exists(), next == "merged", "{words:?}");
    }
}

#[test]
#[ignore = "only with --all"]
fn a_merge_that_git_ended_by_itself_is_recorded_and_cleaned_up() {
    let run = open();
    let workspace = &run.workspace;
    kill_merge(&run);
    for left in [".git/index.lock", "work.txt"] {
        std::fs::remove_file(workspace.path(left)).unwrap();
    }
    let tip = workspace.git_says(&["rev-parse", "hotl/x"]);
    workspace.git_says(&["merge", "--quiet", "--no-ff", "hotl/x"]);
    workspace.write(".git/MERGE_HEAD", format!("{tip}\n"));
    assert_eq!(run.done(&["merge"])["disposition"], "merged");
    assert!(!workspace.path(".git/MERGE_HEAD").exists());
    assert_eq!(run.branches(), "main");
}

#[test]
#[ignore = "only with --all"]
fn what_is_in_the_way_of_a_merge_is_named_with_a_command_that_works() {
    let run = open();
    let workspace = &run.workspace;
    workspace.write("my notes.txt", "precious\n");
    let said = run.refused(&["merge"]);
    let command = said.lines().find(|line| line.contains("git -C ")).expect("a command").trim();
    workspace.shell(command).expect_exit(0);
    run.done(&["merge"]);
    workspace.git_says(&["stash", "pop"]);
    assert_eq!(workspace.read("my notes.txt"), "precious\n");
}

#[test]
#[ignore = "only with --all"]
fn a_merge_in_progress_in_the_main_checkout_is_named() {
    let run = open();
    let workspace = &run.workspace;
    for (branch, words) in [("side", "side\n"), ("main", "main\n")] {
        workspace.git_says(&["checkout", "--quiet", "-B", branch]);
        workspace.git_says(&["reset", "--quiet", "--hard", "HEAD"]);
        workspace.write("both.txt", words);
        workspace.git_says(&["add", "both.txt"]);
        workspace.git_says(&["commit", "--quiet", "--message", branch]);
        workspace.git_says(&["branch", "--force", "kept", "HEAD"]);
        if branch == "side" {
            workspace.git_says(&["checkout", "--quiet", "--detach", "HEAD~1"]);
        }
    }
    workspace.shell("git merge --quiet side").expect_exit(1);
    let said = run.refused(&["merge"]);
    let flat = crate::flat(&said);
    let is_named = flat.contains("a `git merge` is in progress in `");
    assert!(is_named && !flat.contains("stash"), "{said}");
}

#[test]
#[ignore = "only with --all"]
fn linked_worktrees_inside_the_checkout_are_in_nobodys_way() {
    let workspace = Workspace::git();
    workspace.git_says(&["worktree", "add", "--quiet", ".claude/worktrees/f", "-b", "f"]);
    let run = Finished::begun(workspace, "worktree", OPEN, 0);
    assert_eq!(run.done(&["merge"])["disposition"], "merged");
    assert!(run.workspace.path(".claude/worktrees/f/.git").exists());
}

#[test]
#[ignore = "only with --all"]
fn a_changed_workflow_is_in_the_way_where_the_branch_changes_it_too() {
    let workspace = Workspace::git();
    let with_commit =
        OPEN.replace("echo done", "git add --all\ngit commit --quiet -m all\necho done");
    workspace.write("hotl-workflow-x.md", &with_commit);
    workspace.commit("workflow");
    let edited = with_commit.replace("write a file", "write one file");
    let run = Finished::begun(workspace, "worktree", &edited, 0);
    let said = run.refused(&["merge"]);
    assert!(crate::flat(&said).contains("block this hotl-workflow-x.md"), "{said}");
    let command = said.lines().find(|line| line.contains("git -C ")).expect("a command").trim();
    run.workspace.shell(command).expect_exit(0);
    assert_eq!(run.done(&["merge"])["disposition"], "merged");
}

#[test]
#[ignore = "only with --all"]
fn a_worktree_that_was_moved_by_hand_is_relocated_and_merged() {
    let run = open();
    let workspace = &run.workspace;
    std::fs::rename(workspace.worktree("hotl/x"), workspace.path("../moved")).unwrap();
    workspace.onloop(&["relocate", &run.id, "--to", "../moved"]).expect_exit(0);
    assert_eq!(run.done(&["merge"])["disposition"], "merged");
    assert_eq!(run.branches(), "main");
    assert!(!workspace.path("../moved").exists());
}

#[test]
#[ignore = "only with --all"]
fn discarded_work_comes_back_by_the_printed_command() {
    let run = open();
    let workspace = &run.workspace;
    let said = run.finish(&["discard", "--confirm", "discard"]).expect_exit(0).stdout;
    let command = said.split('`').nth(1).expect("a command");
    workspace.shell(command).expect_exit(0);
    assert_eq!(workspace.git_says(&["show", "hotl/x:work.txt"]), "done");
}

#[test]
#[ignore = "only with --all"]
fn a_deleted_branch_is_named_with_a_command_that_brings_the_work_back() {
    let run = open();
    let workspace = &run.workspace;
    let worktree = workspace.worktree("hotl/x");
    workspace.git_says(&["worktree", "remove", "--force", worktree.to_str().unwrap()]);
    workspace.git_says(&["branch", "-D", "hotl/x"]);
    let said = run.refused(&["merge"]);
    assert!(said.contains("execution branch `hotl/x` does not exist"), "{said}");
    let command = said.lines().find(|line| line.contains("git -C ")).expect("a command").trim();
    workspace.shell(command).expect_exit(0);
    // The place of the worktree is taken.
    std::fs::create_dir_all(&worktree).unwrap();
    std::fs::write(worktree.join("mine.txt"), "mine\n").unwrap();
    let said = run.refused(&["merge"]);
    let command = said.lines().find(|line| line.contains("mv ")).expect("a command").trim();
    workspace.shell(command).expect_exit(0);
    run.done(&["merge"]);
    assert_eq!(workspace.read("work.txt"), "done\n");
}

#[test]
#[ignore = "only with --all"]
fn a_repository_that_an_agent_made_bare_is_named_with_the_key() {
    for mode in sampled(2, ["worktree", "branch"]) {
        let run = Finished::of(mode, OPEN, 0);
        run.workspace.git_says(&["config", "core.bare", "true"]);
        let said = run.refused(&["merge"]);
        assert!(crate::flat(&said).contains("`core.bare` or `core.worktree` was set"), "{said}");
        let unset = "config --unset-all core.bare";
        let command = said.lines().find(|line| line.contains(unset)).expect("a command").trim();
        run.workspace.shell(command).expect_exit(0);
        run.done(&["merge"]);
    }
}
