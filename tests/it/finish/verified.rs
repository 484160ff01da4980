//! What is merged or published is what was verified, and nothing else.

use std::fs;

use super::Finished;
use crate::rounds::sampled;
use crate::workspace::Workspace;

/// As a run that commits nothing.
fn uncommitted(mode: &str) -> Finished {
    let commits = "git add work.txt\ngit commit --quiet -m work\n";
    Finished::of(mode, &super::WORKFLOW.replace(commits, ""), 0)
}

/// The files of a branch.
fn files(run: &Finished, branch: &str) -> String {
    run.workspace.git_says(&["ls-tree", "-r", "--name-only", branch])
}

#[test]
fn work_that_is_not_committed_is_committed_by_the_user_and_merged() {
    for mode in sampled(2, ["worktree", "branch"]) {
        let run = uncommitted(mode);
        let ledger = run.workspace.kept(&run.id, "ledger.jsonl");
        let lines = fs::read_to_string(ledger).unwrap();
        assert_eq!(run.done(&["merge"])["disposition"], "merged", "{mode}");
        assert_eq!(run.workspace.read("work.txt"), "done\n", "{mode}");
        let said = run.workspace.git_says(&["log", "-1", "--format=%an%n%B", "main^2"]);
        let digest =
            onloop_core::documents::ledger::sha256(lines.lines().last().unwrap().as_bytes());
        let author = run.workspace.git_says(&["log", "-1", "--format=%an", "main~1"]);
        assert_eq!(
            said,
            format!(
                "{author}\nwrite a file\n\n- Step 1: Write\n\nOnloop-Run: {}\nOnloop-Ledger: \
                 {digest}\n",
                run.id
            )
            .trim_end(),
            "{mode}"
        );
        let status = run.workspace.git_says(&["status", "--porcelain"]);
        assert_eq!(status, "?? hotl-workflow-x.md", "{mode}");
    }
}

#[test]
fn what_is_published_is_there() {
    let run = uncommitted("worktree");
    let remote = run.workspace.path("../remote.git");
    let remote = remote.to_str().unwrap();
    run.workspace.git_says(&["init", "--quiet", "--bare", remote]);
    run.workspace.git_says(&["remote", "add", "origin", remote]);
    let said = run.refused(&["publish", "--commit", "never"]);
    assert!(crate::flat(&said).contains("is not committed (--commit never) work.txt"), "{said}");
    run.done(&["publish", "--message", "Write the file\n\nBecause."]);
    let git = |args: &[&str]| run.workspace.git_says(&[&["--git-dir", remote][..], args].concat());
    assert!(git(&["ls-tree", "--name-only", "hotl/x"]).lines().any(|name| name == "work.txt"));
    let message = git(&["log", "-1", "--format=%B", "hotl/x"]);
    assert!(message.starts_with("Write the file\n\nBecause.\n\nOnloop-Run: "), "{message}");
    // The checkout agrees with its branch.
    let worktree = run.workspace.worktree("hotl/x");
    let status = ["-C", worktree.to_str().unwrap(), "status", "--porcelain"];
    assert_eq!(run.workspace.git_says(&status), "?? hotl-workflow-x.md");
}

#[test]
fn work_elsewhere_than_on_the_branch_is_not_passed_over() {
    let cases = [
        (&["switch", "--quiet", "--create", "other"][..], "branch other"),
        (&["switch", "--quiet", "--detach"], "commit "),
    ];
    for (words, found) in sampled(2, cases) {
        let run = uncommitted("worktree");
        let root = run.workspace.worktree("hotl/x").canonicalize().unwrap();
        let root = root.to_str().unwrap();
        let git = |args: &[&str]| run.workspace.git_says(&[&["-C", root][..], args].concat());
        git(words);
        git(&["add", "work.txt"]);
        git(&["commit", "--quiet", "--message", "elsewhere"]);
        for verb in ["merge", "publish"] {
            let said = run.refused(&[verb]);
            let head = format!("error: HEAD in `{root}` is at {found}");
            assert!(crate::flat(&said).starts_with(head.trim_end()), "{said}");
            assert!(said.contains(&format!("  git -C {root} switch -C hotl/x\n")), "{said}");
        }
        git(&["switch", "--quiet", "-C", "hotl/x"]);
        run.done(&["merge"]);
        assert_eq!(run.workspace.read("work.txt"), "done\n");
    }
}

#[test]
fn a_change_after_the_last_check_is_verified_or_refused() {
    let run = Finished::new("worktree");
    let root = run.workspace.worktree("hotl/x");
    fs::write(root.join("late.txt"), "late\n").unwrap();
    let committed = ["-C", root.to_str().unwrap(), "commit", "--quiet", "--message", "late"];
    run.workspace.git_says(&["-C", root.to_str().unwrap(), "add", "late.txt"]);
    run.workspace.git_says(&committed);
    let said = run.refused(&["publish"]);
    let said = crate::flat(&said);
    assert!(said.contains("not as they were verified (checkpoint 1-1) late.txt "), "{said}");
    run.workspace.onloop(&["finalize", "--run-id", &run.id]).expect_exit(0);
    run.done(&["merge"]);
    assert!(files(&run, "main").contains("late.txt"));
    let run = Finished::new("worktree");
    fs::remove_file(run.workspace.worktree("hotl/x").join("work.txt")).unwrap();
    let said = run.workspace.onloop(&["finalize", "--run-id", &run.id]).expect_exit(1).stderr;
    assert!(crate::flat(&said).contains("not every check still passes"), "{said}");
    assert_eq!(run.workspace.record()["status"], "blocked");
    assert!(crate::flat(&run.refused(&["merge"])).contains("expected a completed run"));
}

#[test]
fn programs_that_came_with_the_run_are_not_run() {
    let run = uncommitted("worktree");
    let trap = format!("touch {}", run.workspace.path("sprung").display());
    for key in ["merge.trap.driver", "gpg.program"] {
        run.workspace.git_says(&["config", key, &trap]);
    }
    let said = crate::flat(&run.refused(&["merge"]));
    assert!(
        said.contains("(`gpg.program` in `") && said.contains("`merge.trap.driver` in `"),
        "{said}"
    );
    assert!(!run.workspace.path("sprung").exists());
    let (_, commands) = said.split_once("--global` instead: ").expect("commands");
    let commands = commands.split(" fix: ").next().unwrap();
    run.workspace.shell(commands).expect_exit(0);
    run.done(&["merge"]);
}

#[test]
fn one_commit_a_step_where_the_file_or_a_flag_asks_for_it() {
    let second = "\n- [ ] **Step 2: More**\naction: write more\nloop: false\nverify: test -f \
                  more.txt\n\n```sh\necho more > more.txt\n```\n";
    let two =
        super::WORKFLOW.replace("git add work.txt\ngit commit --quiet -m work\n", "") + second;
    let asked = two.replacen("risk_level: low\n", "risk_level: low\ncommit: step\n", 1);
    assert_ne!(asked, two);
    for (file, flags) in sampled(2, [(&asked, &[][..]), (&two, &["--commit", "step"])]) {
        let run = Finished::of("worktree", file, 0);
        run.done(&[&["merge"][..], flags].concat());
        let log = run.workspace.git_says(&["log", "--reverse", "--format=%s", "main^..main^2"]);
        assert_eq!(log, "Step 1: Write\nStep 2: More");
        let names = run.workspace.git_says(&["show", "--format=", "--name-only", "main^2~1"]);
        assert_eq!(names, "work.txt");
        let body = run.workspace.git_says(&["log", "-1", "--format=%b", "main^2"]);
        assert!(body.starts_with("write a file\n\nOnloop-Run: "), "{body}");
    }
    let run = Finished::of("worktree", &asked, 0);
    let said = run.refused(&["merge", "--commit", "never"]);
    assert!(crate::flat(&said).contains("is not committed (--commit never) more.txt"), "{said}");
}

#[test]
fn a_hook_that_came_with_the_run_is_not_run_by_a_push() {
    for planted in sampled(2, [".git/hooks/pre-push", "../elsewhere/pre-push"]) {
        let run = uncommitted("worktree");
        let workspace = &run.workspace;
        workspace.git_says(&["init", "--quiet", "--bare", "../remote.git"]);
        workspace.git_says(&["remote", "add", "origin", "../remote.git"]);
        workspace.write(planted, "#!/bin/sh\ntouch sprung\n");
        workspace.shell(&format!("chmod +x {planted}")).expect_exit(0);
        if planted.starts_with("..") {
            let folder = workspace.path("../elsewhere");
            workspace.git_says(&["config", "core.hooksPath", folder.to_str().unwrap()]);
        }
        let root = workspace.path("").canonicalize().unwrap();
        let id = &run.id;
        assert_eq!(
            crate::flat(&run.refused(&["publish"])),
            format!(
                "error: `hotl/x` was not published cause: the hook `pre-push` was changed since the \
                 run began, and a push would run it fix: look at the hook, then push yourself: git \
                 -C {} push origin hotl/x fix: and record that: onloop finish {id} publish --remote \
                 origin",
                root.display()
            )
        );
        let sprung = || workspace.path("sprung").exists();
        assert!(!sprung(), "{planted}");
        // A person may look at it and let it run.
        workspace.git_says(&["-C", root.to_str().unwrap(), "push", "--quiet", "origin", "hotl/x"]);
        assert!(sprung(), "{planted}: the trap works");
        assert_eq!(run.done(&["publish"])["disposition"], "published", "{planted}");
    }
}

#[test]
fn what_only_a_repository_inside_has_is_not_lost() {
    let inside = |script: &str| {
        let workspace = Workspace::git();
        let source = workspace.path("../source");
        let source = source.to_str().unwrap();
        let git = |words: &[&str]| workspace.git_says(words);
        git(&["init", "--quiet", source]);
        let author = ["-c", "user.name=A", "-c", "user.email=a@example.org"];
        let commit = ["-C", source, "commit", "--quiet", "--allow-empty", "-m", "Begin"];
        git(&[&author[..], &commit].concat());
        let allow = ["-c", "protocol.file.allow=always"];
        git(&[&allow[..], &["submodule", "--quiet", "add", source, "sub"]].concat());
        git(&["commit", "--quiet", "--message", "add it"]);
        let commits = "git add work.txt\ngit commit --quiet -m work\n";
        Finished::begun(workspace, "worktree", &super::WORKFLOW.replace(commits, script), 0)
    };
    let begin = "git -c user.name=a -c user.email=a@b";
    let cases = [
        (
            format!("{begin} init -q own; {begin} -C own commit -q --allow-empty -m x\n"),
            "fix: move them away",
        ),
        ("echo x > sub/new.txt\n".to_owned(), "sub: uncommitted files"),
        (
            format!("{begin} -C sub commit -q --allow-empty -m x\n"),
            ", which only this worktree has",
        ),
    ];
    for (script, expected) in sampled(3, cases) {
        let run = inside(&script);
        for words in [&["merge"][..], &["publish"]] {
            let said = crate::flat(&run.refused(words));
            assert!(said.contains(expected), "{said}");
        }
        assert!(run.workspace.worktree("hotl/x").join("work.txt").exists());
    }
    let run = inside(&format!("{begin} -C sub commit -q --allow-empty -m x\n"));
    run.refused(&["merge"]);
    let sub = run.workspace.worktree("hotl/x").join("sub");
    let fetch = ["-C", "sub", "fetch", "--quiet", sub.to_str().unwrap(), "HEAD:hotl/x"];
    run.workspace.git_says(&fetch);
    assert_eq!(run.done(&["merge"])["disposition"], "merged");
}

#[test]
#[ignore = "only with --all"]
fn a_target_that_moved_in_the_same_file_is_taken_in_by_the_printed_commands() {
    let lines: String = (1..=30).map(|number| format!("{number}\n")).collect();
    let script = "sed -i 1s/.*/FIRST/ lines.txt\necho done > work.txt\n";
    let commits = "echo done > work.txt\ngit add work.txt\ngit commit --quiet -m work\n";
    let workspace = Workspace::git();
    workspace.write("lines.txt", &lines);
    workspace.commit("lines");
    let file = super::WORKFLOW.replace(commits, script);
    let run = Finished::begun(workspace, "worktree", &file, 0);
    let workspace = &run.workspace;
    workspace.write("lines.txt", &(lines + "31\n"));
    workspace.git_says(&["commit", "--quiet", "--all", "--message", "moved"]);
    let said = run.refused(&["merge"]);
    assert!(said.contains("`main` has commits that `hotl/x` does not have"), "{said}");
    for words in ["git -C ", "onloop finalize "] {
        let command = said.lines().find(|line| line.contains(words)).expect("a command").trim();
        match command.strip_prefix("onloop ") {
            Some(rest) => {
                workspace.onloop(&rest.split(' ').collect::<Vec<_>>()).expect_exit(0);
            }
            None => drop(workspace.shell(command).expect_exit(0)),
        }
    }
    run.done(&["merge"]);
    let merged = workspace.read("lines.txt");
    assert!(merged.starts_with("FIRST\n2\n") && merged.ends_with("30\n31\n"), "{merged}");
}

#[test]
#[ignore = "only with --all"]
fn conflicts_of_a_merge_that_is_in_progress_are_not_handed_on() {
    let run = uncommitted("worktree");
    let workspace = &run.workspace;
    workspace.write("work.txt", "other\n");
    workspace.git_says(&["add", "work.txt"]);
    workspace.git_says(&["commit", "--quiet", "--message", "other"]);
    let worktree = workspace.worktree("hotl/x");
    let worktree = worktree.to_str().unwrap();
    run.refused(&["merge"]);
    workspace.shell(&format!("git -C {worktree} merge --quiet main")).expect_exit(1);
    workspace.onloop(&["finalize", "--run-id", &run.id]).expect_exit(0);
    let said = run.refused(&["merge"]);
    assert!(crate::flat(&said).contains("a `git merge` is in progress in `"), "{said}");
    let unmerged = workspace.git_says(&["-C", worktree, "ls-files", "--unmerged"]);
    assert_eq!(unmerged.lines().count(), 2, "git still knows of the conflict");
    let abort =
        said.lines().find(|line| line.ends_with("merge --abort")).expect("a command").trim();
    workspace.shell(abort).expect_exit(0);
    workspace.onloop(&["finalize", "--run-id", &run.id]).expect_exit(0);
    assert!(crate::flat(&run.refused(&["merge"])).contains("`main` has commits"));
    assert_eq!(workspace.read("work.txt"), "other\n");
}
