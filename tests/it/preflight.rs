//! Preflight from the question to the worktree, on real repositories.

mod machine;
mod properties;

use machine::{Machine, plan, plan_with};
use onloop_core::effect::Exit;
use onloop_core::preflight::{IsolationMode, OnExisting, PreflightFlags};

fn flags() -> PreflightFlags {
    PreflightFlags::default()
}

#[test]
fn a_worktree_is_made_beside_the_repository_with_the_workflow_in_it() {
    let machine = Machine::with_repository();
    machine.write("repo/docs/plans/my x-workflow.md", "not committed\n");
    let outcome = machine.run_file("docs/plans/my x-workflow.md", &plan(), &flags());
    let prepared = outcome.prepared();
    let root = machine.text(".hotl-worktrees/repo/hotl-x");
    assert_eq!(prepared.mode, IsolationMode::Worktree);
    assert_eq!(prepared.branch.as_deref(), Some("hotl/x"));
    assert_eq!(prepared.repo_root, Some(machine.text("repo")));
    assert_eq!(prepared.execution_root, root);
    assert_eq!(prepared.worktree_path.as_deref(), Some(&*root));
    assert_eq!(prepared.workflow_path, format!("{root}/docs/plans/my x-workflow.md"));
    assert_eq!(prepared.source_workflow_path, machine.text("repo/docs/plans/my x-workflow.md"));
    assert_eq!(prepared.source_branch.as_deref(), Some("main"));
    assert_eq!(
        prepared.source_head.as_deref(),
        Some(&*machine.git("repo", &["rev-parse", "HEAD"]))
    );
    assert_eq!(machine.read_absolute(&prepared.workflow_path), "not committed\n");
    assert_eq!(machine.git("repo", &["branch", "--show-current"]), "main");
    assert_eq!(machine.git("repo", &["status", "--porcelain"]).lines().count(), 1);
}

#[test]
fn the_workflow_is_found_from_a_folder_below() {
    let machine = Machine::with_repository();
    machine.write("repo/deep/er/keep.txt", "");
    machine.git("repo", &["add", "--all"]);
    machine.git("repo", &["commit", "--quiet", "--message", "deep"]);
    let outcome =
        machine.at("repo/deep/er").run_file("../../hotl-workflow-x.md", &plan(), &flags());
    let root = machine.text(".hotl-worktrees/repo/hotl-x");
    assert_eq!(outcome.prepared().workflow_path, format!("{root}/hotl-workflow-x.md"));
}

#[test]
fn without_git_or_with_mode_none_the_work_stays_here() {
    let machine = Machine::new();
    machine.write("plain/hotl-workflow-x.md", "");
    let outcome = machine.at("plain").run(&plan(), &flags());
    let prepared = outcome.prepared();
    assert_eq!(prepared.mode, IsolationMode::None);
    assert_eq!(prepared.repo_root, None);
    assert_eq!(prepared.execution_root, machine.text("plain"));
    assert_eq!(prepared.branch.as_deref(), Some("hotl/x"));
    assert!(crate::flat(&outcome.notes).contains("no git repository"), "{}", outcome.notes);

    let machine = Machine::with_repository();
    machine.write("repo/src.rs", "uncommitted");
    let none = PreflightFlags { mode: Some(IsolationMode::None), ..flags() };
    let outcome = machine.run(&plan(), &none);
    assert_eq!(outcome.prepared().branch, None);
    assert_eq!(outcome.prepared().execution_root, machine.text("repo"));
    // Only which repository it is: its files have checkpoints.
    assert_eq!(outcome.git_requests, 1);
}

#[test]
fn before_the_first_commit_the_work_stays_in_the_repository() {
    let machine = Machine::new();
    machine.init("repo");
    machine.write("repo/hotl-workflow-x.md", "");
    let outcome = machine.run(&plan(), &flags());
    let prepared = outcome.prepared();
    assert_eq!((prepared.mode, prepared.source_head.as_deref()), (IsolationMode::None, None));
    assert_eq!(prepared.source_branch.as_deref(), Some("main"));
    assert_eq!(prepared.execution_root, machine.text("repo"));
}

#[test]
fn a_workflow_outside_the_repository_is_refused() {
    let machine = Machine::with_repository();
    machine.write("hotl-workflow-x.md", "");
    let outcome = machine.run_file("../hotl-workflow-x.md", &plan(), &flags());
    assert_eq!(outcome.exit(), Exit::Refused);
    let said = crate::flat(&outcome.notes);
    assert_eq!(
        said,
        format!(
            "error: the workflow `{}` is outside the repository `{}` fix: run this inside the \
             workflow's own repository: cd FOLDER fix: work where you are and leave git alone: --mode \
             none",
            machine.text("hotl-workflow-x.md"),
            machine.text("repo"),
        )
    );
    // Through a symbolic link it is outside as well.
    std::os::unix::fs::symlink(
        machine.path("hotl-workflow-x.md"),
        machine.path("repo/docs-workflow.md"),
    )
    .unwrap();
    assert_eq!(machine.run_file("docs-workflow.md", &plan(), &flags()).exit(), Exit::Refused);
}

#[test]
fn a_workflow_in_a_repository_is_not_executed_outside_of_it() {
    let machine = Machine::with_repository();
    let outcome = machine.at(".").run_file("repo/hotl-workflow-x.md", &plan(), &flags());
    assert_eq!(outcome.exit(), Exit::Refused);
    assert!(outcome.notes.contains(&format!("cd {}", machine.text("repo"))), "{}", outcome.notes);
}

#[test]
fn dirty_files_are_named_with_every_way_out() {
    let machine = Machine::with_repository();
    machine.write("repo/say \"你好\".txt", "");
    let outcome = machine.run(&plan(), &flags());
    assert_eq!(outcome.exit(), Exit::Refused);
    assert_eq!(
        outcome.notes,
        "error: 1 file is not committed, and the work must not be mixed with it:\n\
         \x20        say \"你好\".txt\n\
         \x20 fix: stash them; `git stash pop` restores them:\n\
         \x20   --stash\n\
         \x20 fix: stash them yourself, then run this again:\n\
         \x20   git stash push --include-untracked\n\
         \x20 fix: commit them yourself, then run this again:\n\
         \x20   git add --all && git commit\n"
    );
    assert_eq!(machine.git("repo", &["worktree", "list"]).lines().count(), 1);
}

#[test]
fn a_merge_in_progress_is_no_matter_of_a_stash() {
    let machine = Machine::with_repository();
    for branch in ["side", "main"] {
        machine.git("repo", &["checkout", "--quiet", "-B", branch]);
        machine.write("repo/both.txt", branch);
        machine.git("repo", &["add", "both.txt"]);
        machine.git("repo", &["commit", "--quiet", "--message", branch]);
        if branch == "side" {
            machine.git("repo", &["checkout", "--quiet", "--detach", "HEAD~1"]);
        }
    }
    machine.git("repo", &["-c", "alias.attempt=!git merge side || true", "attempt"]);
    let stash = PreflightFlags { stash: true, ..flags() };
    for flags in [flags(), stash] {
        let outcome = machine.run(&plan(), &flags);
        assert_eq!(outcome.exit(), Exit::Refused);
        assert!(outcome.notes.contains("a `git merge` is in progress"), "{}", outcome.notes);
        assert!(!outcome.notes.contains("stash"), "{}", outcome.notes);
    }
}

#[test]
fn stashed_files_come_back_as_the_message_says() {
    let machine = Machine::with_repository();
    machine.write("repo/new.txt", "precious\n");
    let outcome = machine.run(&plan(), &PreflightFlags { stash: true, ..flags() });
    outcome.prepared();
    assert!(outcome.notes.contains("`git stash pop`"), "{}", outcome.notes);
    assert!(!machine.path("repo/new.txt").exists());
    machine.git("repo", &["stash", "pop", "--quiet"]);
    assert_eq!(machine.read("repo/new.txt"), "precious\n");
}

#[test]
fn questions_are_put_to_a_person_one_after_the_other() {
    let machine = Machine::with_repository();
    machine.git("repo", &["switch", "--quiet", "--create", "feature/z"]);
    machine.git("repo", &["branch", "hotl/x"]);
    machine.write("repo/new.txt", "");
    let outcome = machine.answering(&["1", "1", "1"]).run(&plan(), &flags());
    assert_eq!(outcome.prepared().branch.as_deref(), Some("hotl/x"));
    let asked: Vec<&str> = outcome.questions.iter().map(|q| q.lines().next().unwrap()).collect();
    assert_eq!(
        asked,
        [
            "1 file is not committed, and the work must not be mixed with it:",
            "`feature/z` is checked out, and the workflow sets neither `branch:` nor",
            "branch `hotl/x` already exists, at the same commit as this checkout",
        ]
    );
    assert_eq!(
        outcome.questions[1],
        "`feature/z` is checked out, and the workflow sets neither `branch:` nor\n\
         \x20 `worktree:`\n\
         \x20 1  work in a worktree of its own, on `hotl/x` (recommended)  (--mode worktree)\n\
         \x20 2  work on `feature/z`, here  (--mode branch --branch feature/z)\n\
         \x20 3  work in a worktree of its own, on a branch you name  (--branch NAME)\n\
         \x20 4  stop here; nothing is changed\n\
         Choice [4]: "
    );
}

#[test]
fn on_a_feature_branch_every_choice_does_what_it_says() {
    for (answers, expected) in [
        (&["1"][..], Some((IsolationMode::Worktree, "hotl/x"))),
        (&["2"], Some((IsolationMode::Branch, "feature/z"))),
        (&["3", "my/own"], Some((IsolationMode::Worktree, "my/own"))),
        (&["3", "-x", " my/own "], Some((IsolationMode::Worktree, "my/own"))),
        (&["nonsense", "0", "2"], Some((IsolationMode::Branch, "feature/z"))),
        (&["4"], None),
        (&[""], None),
        (&["nonsense", "0", "99999999999999999999"], None),
        (&["3", "-x", "-y", "-z"], None),
        (&[], None),
    ] {
        let machine = Machine::with_repository();
        machine.git("repo", &["switch", "--quiet", "--create", "feature/z"]);
        let outcome = machine.answering(answers).run(&plan(), &flags());
        match expected {
            Some((mode, branch)) => {
                assert_eq!(outcome.prepared().mode, mode, "{answers:?}");
                assert_eq!(outcome.prepared().branch.as_deref(), Some(branch), "{answers:?}");
            }
            None => {
                assert_eq!(outcome.exit(), Exit::Refused, "{answers:?}");
                assert_eq!(machine.branches(), "feature/z\nmain", "{answers:?}");
            }
        }
    }
    let machine = Machine::with_repository();
    machine.git("repo", &["switch", "--quiet", "--create", "feature/z"]);
    let outcome = machine.run(&plan(), &flags());
    assert_eq!(outcome.prepared().branch.as_deref(), Some("hotl/x"), "without a terminal");
    assert!(outcome.notes.contains("`--mode branch --branch feature/z`"), "{}", outcome.notes);
}

#[test]
fn a_linked_worktree_made_by_a_host_tool_is_used_as_it_is() {
    let machine = Machine::with_repository();
    machine.git("repo", &["worktree", "add", "--quiet", "-b", "feature/z", "../task 1"]);
    let outcome = machine.at("task 1").run(&plan(), &flags());
    let prepared = outcome.prepared();
    assert_eq!(
        (prepared.mode, prepared.branch.as_deref()),
        (IsolationMode::Host, Some("feature/z"))
    );
    assert_eq!(prepared.execution_root, machine.text("task 1"));
    assert_eq!(prepared.worktree_path, None);
}

#[test]
fn a_worktree_asked_for_in_a_linked_one_is_beside_the_main_checkout() {
    let machine = Machine::with_repository();
    machine.git("repo", &["worktree", "add", "--quiet", "-b", "feature/z", "../task 1"]);
    let worktree = PreflightFlags { mode: Some(IsolationMode::Worktree), ..flags() };
    let outcome = machine.at("task 1").run(&plan(), &worktree);
    assert_eq!(outcome.prepared().execution_root, machine.text(".hotl-worktrees/repo/hotl-x"));
    assert_eq!(outcome.prepared().source_branch.as_deref(), Some("feature/z"));
}

#[test]
fn a_submodule_gets_a_worktree_of_its_own_outside_the_repository_around_it() {
    let machine = Machine::with_repository();
    machine.init("super");
    machine.git(
        "super",
        &["-c", "protocol.file.allow=always", "submodule", "--quiet", "add", "../repo", "sub"],
    );
    machine.git("super", &["commit", "--quiet", "--message", "add it"]);
    let session = machine.at("super/sub").with_state_home(machine.text("state"));
    let root = session.run(&plan(), &flags()).prepared().execution_root.clone();
    assert!(root.starts_with(&machine.text("state/worktrees/sub-")), "{root}");
    assert_eq!(machine.git(&root, &["status", "--porcelain"]), "");
    assert_eq!(machine.git("super", &["status", "--porcelain"]), "");
}

#[test]
fn an_existing_worktree_is_continued_or_made_anew_as_the_flag_says() {
    let machine = Machine::with_repository();
    let first = machine.run(&plan(), &flags());
    let root = first.prepared().execution_root.clone();
    machine.write(".hotl-worktrees/repo/hotl-x/.hotl/state/old.json", "{}");
    machine.write(".hotl-worktrees/repo/hotl-x/.hotl/logs/old/1-1.log", "said");

    let second = machine.run(&plan(), &flags());
    assert_eq!(second.exit(), Exit::Refused);
    assert!(crate::flat(&second.notes).contains("--on-existing reuse"), "{}", second.notes);

    machine.write("repo/hotl-workflow-x.md", "edited\n");
    let reuse = PreflightFlags { on_existing: Some(OnExisting::Reuse), ..flags() };
    assert_eq!(machine.run(&plan(), &reuse).prepared().execution_root, root);
    assert_eq!(machine.read(".hotl-worktrees/repo/hotl-x/hotl-workflow-x.md"), "edited\n");
    assert_eq!(machine.read(".hotl-worktrees/repo/hotl-x/.hotl/state/old.json"), "{}");

    machine.commit(".hotl-worktrees/repo/hotl-x", "work.txt", "done\n");
    let lost = machine.git("repo", &["rev-parse", "hotl/x"]);
    let recreate = PreflightFlags { on_existing: Some(OnExisting::Recreate), ..flags() };
    let outcome = machine.run(&plan(), &recreate);
    assert_eq!(outcome.prepared().execution_root, root);
    assert!(!machine.path(".hotl-worktrees/repo/hotl-x/work.txt").exists());
    assert!(
        crate::flat(&outcome.notes).contains(&format!("git branch hotl/x {lost}")),
        "{}",
        outcome.notes
    );
    assert_eq!(machine.read("repo/.hotl/state/old.json"), "{}");
    assert_eq!(machine.read("repo/.hotl/logs/old/1-1.log"), "said");
}

#[test]
fn worktrees_may_be_kept_elsewhere_behind_a_link() {
    let machine = Machine::with_repository();
    std::fs::create_dir(machine.path("big disk")).unwrap();
    std::os::unix::fs::symlink("big disk", machine.path(".hotl-worktrees")).unwrap();
    let root = machine.text("big disk/repo/hotl-x");
    assert_eq!(machine.run(&plan(), &flags()).prepared().execution_root, root);
    let reuse = machine.run(&plan(), &existing(OnExisting::Reuse));
    assert_eq!(reuse.prepared().execution_root, root);
    let recreate = machine.run(&plan(), &existing(OnExisting::Recreate));
    assert_eq!(recreate.prepared().execution_root, root);
}

#[test]
fn branches_whose_folders_coincide_are_told_apart() {
    let machine = Machine::with_repository();
    let branch = |name: &str| PreflightFlags { branch: Some(name.to_owned()), ..flags() };
    machine.run(&plan(), &branch("a/b")).prepared();
    let outcome = machine.run(&plan(), &branch("a-b"));
    assert_eq!(outcome.exit(), Exit::Refused);
    assert!(
        crate::flat(&outcome.notes).contains("taken by the worktree of branch `a/b`"),
        "{}",
        outcome.notes
    );
}

#[test]
fn a_branch_in_place_takes_the_workflow_along() {
    let machine = Machine::with_repository();
    machine.git("repo", &["branch", "hotl/x"]);
    machine.git("repo", &["rm", "--quiet", "--cached", "hotl-workflow-x.md"]);
    machine.git("repo", &["commit", "--quiet", "--message", "main does not have it"]);
    std::fs::remove_file(machine.path("repo/hotl-workflow-x.md")).unwrap();
    machine.commit("repo", "hotl-workflow-x.md", "newer\n");
    let reuse = PreflightFlags {
        mode: Some(IsolationMode::Branch),
        on_existing: Some(OnExisting::Reuse),
        ..flags()
    };
    let outcome = machine.run(&plan(), &reuse);
    assert_eq!(outcome.prepared().execution_root, machine.text("repo"));
    assert_eq!(machine.git("repo", &["branch", "--show-current"]), "hotl/x");
    assert_eq!(machine.read("repo/hotl-workflow-x.md"), "newer\n");
}

#[test]
fn a_symbolic_link_in_a_commit_does_not_lead_the_workflow_out_of_the_worktree() {
    let machine = Machine::with_repository();
    std::fs::create_dir(machine.path("outside")).unwrap();
    machine.git("repo", &["switch", "--quiet", "--create", "hotl/x"]);
    std::os::unix::fs::symlink(machine.path("outside"), machine.path("repo/docs")).unwrap();
    machine.git("repo", &["add", "--all"]);
    machine.git("repo", &["commit", "--quiet", "--message", "a trap"]);
    machine.git("repo", &["switch", "--quiet", "main"]);
    machine.write("repo/docs/x-workflow.md", "");
    let reuse = PreflightFlags { on_existing: Some(OnExisting::Reuse), stash: false, ..flags() };
    let outcome = machine.run_file("docs/x-workflow.md", &plan(), &reuse);
    assert_eq!(outcome.exit(), Exit::Refused);
    assert!(crate::flat(&outcome.notes).contains("not a folder"), "{}", outcome.notes);
    assert_eq!(std::fs::read_dir(machine.path("outside")).unwrap().count(), 0);
    assert!(!machine.path(".hotl-worktrees").exists());
}

fn with_branch() -> Machine {
    let machine = Machine::with_repository();
    machine.git("repo", &["branch", "hotl/x"]);
    machine.commit("repo", "hotl-workflow-x.md", "a newer plan\n");
    machine
}

fn with_worktree() -> Machine {
    let machine = Machine::with_repository();
    machine.run(&plan(), &flags()).prepared();
    machine.write(".hotl-worktrees/repo/hotl-x/.hotl/state/old.json", "{}");
    machine.write("repo/hotl-workflow-x.md", "a newer plan\n");
    machine
}

fn with_changes() -> Machine {
    let machine = Machine::with_repository();
    machine.write("repo/new.txt", "");
    machine
}

fn existing(on_existing: OnExisting) -> PreflightFlags {
    PreflightFlags { on_existing: Some(on_existing), ..flags() }
}

fn here(flags: PreflightFlags) -> PreflightFlags {
    PreflightFlags { mode: Some(IsolationMode::Branch), ..flags }
}

/// Fails the effects of a placement one after the other and looks at what is left.
#[track_caller]
fn nothing_new_is_left_behind(machine: fn() -> Machine, flags: &PreflightFlags) {
    for failing in 1.. {
        let machine = machine();
        let list = ["worktree", "list", "--porcelain"];
        let (branches, worktrees) = (machine.branches(), machine.git("repo", &list));
        let outcome = machine.failing_at(failing).run(&plan(), flags);
        if outcome.result.is_ok() {
            assert!(failing > 1, "there should be effects");
            return;
        }
        let row = format!("failing at {failing}: {}", outcome.notes);
        assert_eq!(outcome.exit(), Exit::Refused, "{row}");
        assert!(crate::flat(&outcome.notes).contains("no luck"), "{row}");
        assert_eq!(machine.git("repo", &["branch", "--show-current"]), "main", "{row}");
        let added = |before: &str, after: &str| {
            after.lines().any(|line| !before.lines().any(|old| old == line))
        };
        assert!(!added(&branches, &machine.branches()), "{row}");
        assert!(!added(&worktrees, &machine.git("repo", &list)), "{row}");
        if !worktrees.contains(".hotl-worktrees") {
            assert!(!machine.path(".hotl-worktrees").exists(), "{row}");
        }
        for branch in branches.lines().filter(|old| !machine.branches().contains(old)) {
            assert!(
                crate::flat(&outcome.notes).contains(&format!("git branch {branch} ")),
                "{row}"
            );
        }
        if flags.stash && !machine.path("repo/new.txt").exists() {
            assert!(outcome.notes.matches("git stash pop").count() >= 2, "{row}");
        }
    }
}

#[test]
fn a_new_worktree_that_fails_leaves_nothing() {
    nothing_new_is_left_behind(Machine::with_repository, &flags());
    nothing_new_is_left_behind(with_changes, &PreflightFlags { stash: true, ..flags() });
}

#[test]
#[ignore = "only with --all"]
fn an_existing_branch_that_fails_to_be_taken_leaves_nothing() {
    nothing_new_is_left_behind(with_branch, &existing(OnExisting::Reuse));
    nothing_new_is_left_behind(with_branch, &existing(OnExisting::Recreate));
}

#[test]
#[ignore = "only with --all"]
fn an_existing_worktree_that_fails_to_be_taken_leaves_nothing() {
    nothing_new_is_left_behind(with_worktree, &existing(OnExisting::Reuse));
    nothing_new_is_left_behind(with_worktree, &existing(OnExisting::Recreate));
}

#[test]
#[ignore = "only with --all"]
fn a_branch_in_place_that_fails_leaves_nothing() {
    nothing_new_is_left_behind(Machine::with_repository, &here(flags()));
    nothing_new_is_left_behind(with_branch, &here(existing(OnExisting::Reuse)));
    nothing_new_is_left_behind(with_branch, &here(existing(OnExisting::Recreate)));
}

#[test]
fn what_cannot_be_taken_back_is_named() {
    let machine = Machine::with_repository();
    machine.write("repo/hotl-workflow-x.md", "a newer plan\n");
    let outcome = machine.failing_from(2).run(&plan(), &flags());
    assert_eq!(outcome.exit(), Exit::Refused);
    let root = machine.text(".hotl-worktrees/repo/hotl-x");
    assert_eq!(
        crate::flat(&outcome.notes),
        format!(
            "error: could not copy the workflow file `hotl-workflow-x.md` the worktree `{root}` is \
             left behind: no luck the branch `hotl/x` is left behind: no luck cause: no luck"
        )
    );
}

#[test]
fn the_authors_isolation_is_followed() {
    let machine = Machine::with_repository();
    let pinned = plan_with("x", "worktree: false\n").unwrap();
    let outcome = machine.run(&pinned, &flags());
    assert_eq!(outcome.prepared().mode, IsolationMode::Branch);
    assert_eq!(machine.git("repo", &["branch", "--show-current"]), "hotl/x");
}

#[test]
fn a_new_run_takes_the_next_name_where_an_earlier_one_has_it() {
    let machine = Machine::with_repository();
    machine.git("repo", &["branch", "hotl/x"]);
    let earlier = ["hotl/x".to_owned()].into();
    let again = PreflightFlags { earlier, ..flags() };
    let first = machine.run(&plan(), &again);
    assert_eq!(first.prepared().branch.as_deref(), Some("hotl/x-2"));
    assert_eq!(first.prepared().execution_root, machine.text(".hotl-worktrees/repo/hotl-x-2"));
    assert_eq!(first.notes, "note: an earlier run has `hotl/x`; this one works on `hotl/x-2`\n");
    // What is not committed in its worktree is not deleted, and the next name needs nothing of it.
    machine.write(".hotl-worktrees/repo/hotl-x-2/work", "");
    let earlier = ["hotl/x-2".to_owned()].into();
    let recreate = PreflightFlags { earlier, ..existing(OnExisting::Recreate) };
    let second = plan_with("x-2", "").unwrap();
    let refused = machine.run(&second, &recreate);
    assert_eq!(refused.exit(), Exit::Refused);
    let way = "the run takes the next free name: --fresh";
    assert!(crate::flat(&refused.notes).contains(way), "{}", refused.notes);
    // A branch that no earlier run has is the user's.
    assert_eq!(machine.run(&plan(), &flags()).exit(), Exit::Refused);
    let third = machine.run(&plan(), &again);
    assert_eq!(third.prepared().branch.as_deref(), Some("hotl/x-3"));
}

#[test]
fn a_run_in_place_in_a_repository_knows_it() {
    let machine = Machine::with_repository();
    let none = PreflightFlags { mode: Some(IsolationMode::None), ..flags() };
    let outcome = machine.run(&plan(), &none);
    let prepared = outcome.prepared();
    assert_eq!(prepared.repo_root, Some(machine.text("repo")));
    assert_eq!((&prepared.branch, prepared.mode), (&None, IsolationMode::None));
    assert_eq!(prepared.source_head, Some(machine.git("repo", &["rev-parse", "HEAD"])));
}

#[test]
#[ignore = "only with --all"]
fn a_branch_below_or_above_the_wanted_one_is_refused_before_the_run_and_when_simulated() {
    for other in ["hotl/x/sub", "hotl"] {
        let project = crate::workspace::Workspace::git();
        let file = "---\nintent: a\nsuccess_criteria: b\nrisk_level: low\n---\n\
                    ### 1. One\naction: go\nloop: false\nverify: true\n```sh\ntrue\n```\n";
        project.write("hotl-workflow-x.md", file);
        project.commit("Plan");
        project.git_says(&["branch", other]);
        let what = format!("git cannot create branch `hotl/x` beside branch `{other}`");
        let simulated = project.onloop(&["run", "--simulate"]).expect_exit(4);
        assert!(crate::flat(&simulated.stdout).contains(&what), "{}", simulated.stdout);
        let run = project.onloop(&["run"]).expect_exit(4);
        assert!(crate::flat(&run.stderr).contains(&what), "{}", run.stderr);
        assert!(project.kept_ids().is_empty());
        project.onloop(&["run", "--branch", "mine"]).expect_exit(0);
    }
}
