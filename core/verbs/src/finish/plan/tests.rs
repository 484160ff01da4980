//! From what is asked and where the work is to what will be done, as a table.

use super::*;
use crate::finish::context::Worktree;
use onloop_run::Beginning;
use onloop_workflow::Plan;

fn run() -> Run {
    let plan = Plan::example("x", Vec::new());
    let beginning = Beginning { id: "x-1".to_owned(), ..Beginning::default() };
    Run::begin(&plan, beginning)
}

/// A run in its own worktree, with everything in order.
fn context() -> FinishContext {
    let main = MainCheckout {
        root: "/r".to_owned(),
        branch: Some("main".to_owned()),
        dirty: Vec::new(),
        operation: None,
    };
    let (dirty, others) = (Vec::new(), Vec::new());
    FinishContext {
        branch: "hotl/x".to_owned(),
        commit: Some("c1".to_owned()),
        main: Some(main),
        home: "/r".to_owned(),
        worktree: Some(Worktree { path: "/w".to_owned(), dirty, others }),
        owns_branch: true,
        checked_out_at: Some("/w".to_owned()),
        began_detached: None,
        lost_main: None,
    }
}

fn target(name: &str) -> TargetBranch {
    TargetBranch {
        name: name.to_owned(),
        exists: true,
        commit: Some("a".to_owned()),
        checked_out_at: Some("/r".to_owned()),
    }
}

fn args(disposition: DispositionWord) -> FinishArgs {
    FinishArgs { confirm: Some("discard".to_owned()), ..FinishArgs::new("x-1", disposition) }
}

fn decide(word: DispositionWord, context: &FinishContext, target: Option<&TargetBranch>) -> String {
    let wish = Wish::read(&args(word)).expect("a possible wish");
    match plan(&run(), context, &wish, target) {
        Ok(act) => act.command("x-1"),
        Err(why) => why.render().split_whitespace().collect::<Vec<_>>().join(" "),
    }
}

fn files(name: &str) -> Vec<String> {
    vec![name.to_owned()]
}

#[test]
fn every_scene_has_its_answer() {
    use DispositionWord::{Discard, Merge, Publish};
    let main = target("main");
    type Change = fn(&mut FinishContext);
    let table: [(DispositionWord, &str, Change, &str); 17] = [
        (Merge, "in order", |_| {}, "onloop finish x-1 merge --target-branch main"),
        (
            Merge,
            "no branch",
            |s| s.commit = None,
            "error: execution branch `hotl/x` does not exist",
        ),
        (Merge, "bare", |s| s.main = None, "error: the repository is bare"),
        (
            Merge,
            "dirty main checkout",
            |s| s.main.as_mut().unwrap().dirty = files("a.rs"),
            "error: uncommitted files in `/r` block this a.rs",
        ),
        (
            Merge,
            "dirty worktree",
            |s| s.worktree.as_mut().unwrap().dirty = files("b.rs"),
            "onloop finish x-1 merge --target-branch main",
        ),
        (
            Merge,
            "a repository in the worktree",
            |s| s.worktree.as_mut().unwrap().dirty = files("nested/"),
            "error: repositories inside the worktree `/w` would be lost nested/ fix: move them away",
        ),
        (
            Merge,
            "dirty shared checkout",
            |s| {
                s.worktree = None;
                let main = s.main.as_mut().unwrap();
                (main.branch, main.dirty) = (Some("hotl/x".to_owned()), files("a.rs"));
            },
            "onloop finish x-1 merge --target-branch main",
        ),
        (
            Merge,
            "another run there",
            |s| s.worktree.as_mut().unwrap().others = files("y-1"),
            "error: other runs that have not ended work in `/w` y-1",
        ),
        (
            Merge,
            "no worktree",
            |s| s.worktree = None,
            "onloop finish x-1 merge --target-branch main",
        ),
        (Publish, "in order", |_| {}, "onloop finish x-1 publish --remote origin"),
        (
            Publish,
            "dirty everywhere",
            |s| {
                s.main.as_mut().unwrap().dirty = files("a.rs");
                s.worktree.as_mut().unwrap().dirty = files("b.rs");
            },
            "onloop finish x-1 publish --remote origin",
        ),
        (Publish, "bare", |s| s.main = None, "onloop finish x-1 publish --remote origin"),
        (
            Discard,
            "dirty worktree",
            |s| s.worktree.as_mut().unwrap().dirty = files("b.rs"),
            "onloop finish x-1 discard --confirm discard",
        ),
        (
            Discard,
            "dirty shared checkout",
            |s| {
                s.worktree = None;
                let main = s.main.as_mut().unwrap();
                (main.branch, main.dirty) = (Some("hotl/x".to_owned()), files("a.rs"));
            },
            "error: uncommitted files in `/r` block this a.rs",
        ),
        (
            Discard,
            "somebody else's branch",
            |s| s.owns_branch = false,
            "error: branch `hotl/x` was not made for this run; nothing was discarded",
        ),
        (
            Discard,
            "its branch is checked out elsewhere, too",
            |s| s.checked_out_at = Some("/a b".to_owned()),
            "error: branch `hotl/x` is checked out at `/a b` fix: free it: git -C '/a b' switch --detach",
        ),
        (
            Discard,
            "another run there",
            |s| s.worktree.as_mut().unwrap().others = files("y-1"),
            "error: other runs that have not ended work in `/w` y-1",
        ),
    ];
    for (word, what, change, expected) in table {
        let mut context = context();
        change(&mut context);
        let found = decide(word, &context, Some(&main));
        assert!(found.starts_with(expected), "{word:?}, {what}: {found}");
    }
}

#[test]
fn a_target_must_be_another_branch_that_is_free() {
    let elsewhere = TargetBranch { checked_out_at: Some("/other".to_owned()), ..target("main") };
    let missing = TargetBranch { exists: false, ..target("gone") };
    for (target, expected) in [
        (
            None,
            "error: no target branch was found fix: name the branch that takes it in with --target-branch B",
        ),
        (
            Some(target("hotl/x")),
            "error: target branch must differ from the execution branch: `hotl/x`",
        ),
        (Some(missing), "error: target branch `gone` does not exist"),
        (Some(elsewhere), "error: target branch `main` is checked out at `/other`"),
    ] {
        let found = decide(DispositionWord::Merge, &context(), target.as_ref());
        assert!(found.starts_with(expected), "{found}");
    }
}

#[test]
fn a_run_that_began_on_no_branch_asks_for_one() {
    let context = FinishContext { began_detached: Some("c0".to_owned()), ..context() };
    let expected = "error: no target branch was found cause: the run began at commit c0, on no branch \
                    fix: name the branch that takes it in with --target-branch B";
    assert_eq!(decide(DispositionWord::Merge, &context, None), expected);
}

#[test]
fn a_run_that_worked_on_the_branch_itself_has_nothing_to_merge() {
    let context = FinishContext { branch: "main".to_owned(), owns_branch: false, ..context() };
    let expected = "error: the work is on `main` already cause: the run worked on that branch \
                    itself, so there is nothing to merge fix: record that it stays there: onloop \
                    finish x-1 keep fix: or name another branch that takes it in with --target-branch B";
    for word in [DispositionWord::Merge, DispositionWord::Pr] {
        assert_eq!(decide(word, &context, None), expected);
    }
}

#[test]
fn addresses_are_for_browsers() {
    for (text, expected) in [
        ("https://example.org/pull/1", true),
        ("http://localhost:3000/x", true),
        ("https://", false),
        ("ftp://example.org", false),
        ("javascript:alert(1)", false),
        ("https://example.org/a b", false),
        ("https://example.org/\u{1b}[31m", false),
        ("", false),
    ] {
        assert_eq!(is_web_address(text), expected, "{text:?}");
    }
}
