//! What holds of every decision, whatever a repository and a file say.

use std::process::Command;

use onloop_core::effect::{BranchName, GitSurvey, Repository};
use onloop_core::engine::error::CommandError;
use onloop_core::preflight::{
    ExecutionRoot, IsolationMode, OnExisting, PlacementDecision, PlacementWish, PreflightFlags,
    Remedy, RepositoryChange, RepositoryFacts, TargetFolder, decide, worktree_path,
};
use onloop_core::workflow::Plan;
use proptest::option::of;
use proptest::prelude::*;

use super::machine::plan_with;

fn branch() -> impl Strategy<Value = String> {
    prop_oneof![
        Just("main".to_owned()),
        Just("master".to_owned()),
        Just("hotl/x".to_owned()),
        Just("feature/z".to_owned()),
        any::<String>(),
        "[-./@{a-z~^:]{0,12}",
    ]
}

fn path() -> impl Strategy<Value = String> {
    prop_oneof![
        Just("/".to_owned()),
        Just("/home/repo".to_owned()),
        Just("/home/.hotl-worktrees/repo/hotl-x".to_owned()),
        any::<String>(),
    ]
}

prop_compose! {
    fn repository()(
        root in path(),
        main_root in path(),
        linked in any::<bool>(),
        branch in of(branch()),
        head in of(Just("1".repeat(40))),
        dirty in prop::collection::vec(path(), 0..3),
        target_commit in of(any::<String>()),
        target_checked_out_at in of(path()),
        target_blocked_by in of(branch()),
    ) -> Repository {
        Repository {
            root, main_root, linked, branch, head, dirty, target_commit, target_checked_out_at,
            target_blocked_by,
        }
    }
}

fn place() -> impl Strategy<Value = TargetFolder> {
    prop_oneof![
        Just(TargetFolder::Free),
        Just(TargetFolder::Occupied),
        (of(branch()), prop::collection::vec(path(), 0..2))
            .prop_map(|(branch, dirty)| TargetFolder::Worktree { branch, dirty }),
    ]
}

fn file() -> impl Strategy<Value = Plan> {
    let isolation =
        prop::sample::select(vec!["", "worktree: true\n", "worktree: false\n", "worktree: host\n"]);
    let dirty = prop::sample::select(vec!["", "dirty_worktree: allow\n"]);
    (any::<String>(), of(branch()), isolation, dirty).prop_map(
        |(slug, branch, isolation, dirty)| {
            let pin = branch.map(|branch| format!("branch: {branch}\n")).unwrap_or_default();
            let rest = format!("{isolation}{dirty}");
            // A file that names a branch which git does not accept has no plan.
            plan_with(&slug, &format!("{pin}{rest}"))
                .or_else(|| plan_with(&slug, &rest))
                .expect("a valid file")
        },
    )
}

prop_compose! {
    fn flags()(
        mode in of(prop::sample::select(vec![
            IsolationMode::Worktree, IsolationMode::Branch, IsolationMode::Host, IsolationMode::None,
        ])),
        branch in of(branch()),
        stash in any::<bool>(),
        on_existing in of(prop::sample::select(vec![
            OnExisting::Stop, OnExisting::Reuse, OnExisting::Recreate,
        ])),
    ) -> PreflightFlags {
        PreflightFlags { mode, branch, stash, on_existing, ..PreflightFlags::default() }
    }
}

/// Whether a text cannot steer a terminal.
fn is_plain(text: &str) -> bool {
    text.chars().all(|c| matches!(c, '\n' | '\t') || !c.is_control())
}

proptest! {
    #[test]
    fn no_decision_panics_or_works_where_it_must_not(
        repository in of(repository()),
        place in place(),
        elsewhere in of(path()),
        file in file(),
        flags in flags(),
        workflow in path(),
    ) {
        let Ok(wish) = PlacementWish::new(&file, &flags, workflow) else { return Ok(()) };
        let facts = RepositoryFacts { survey: GitSurvey { repository: repository.clone() }, place, elsewhere, ..RepositoryFacts::default() };
        let placement = match decide(&facts, &wish) {
            PlacementDecision::Proceed(placement) => placement,
            PlacementDecision::Ask(question) => {
                prop_assert!(!question.choices.is_empty());
                prop_assert!(is_plain(&question.to_string()));
                return Ok(());
            }
            PlacementDecision::Refuse(refusal) => {
                let error = CommandError::refused(&refusal.what);
                let add = |error: CommandError, remedy: &Remedy| error.fix_by(&remedy.effect, &remedy.line);
                prop_assert!(is_plain(&refusal.how.iter().fold(error, add).render()));
                return Ok(());
            }
        };
        if placement.mode == IsolationMode::None {
            prop_assert!(placement.acts.is_empty());
            return Ok(());
        }
        let branch = placement.branch.expect("git modes have a branch");
        prop_assert_eq!(branch.as_str().parse(), Ok(branch.clone()));
        prop_assert!(!["main", "master"].contains(&branch.as_str()));
        let repository = repository.expect("git modes have a repository");
        match placement.root {
            ExecutionRoot::Cwd => prop_assert!(false, "{:?} works in a checkout", placement.mode),
            ExecutionRoot::Checkout(root) => prop_assert_eq!(root, repository.root),
            ExecutionRoot::Worktree(path) => {
                prop_assert_eq!(path, worktree_path(&repository, wish.target()));
            }
        }
        for act in placement.acts {
            let allowed = match act {
                RepositoryChange::Stash(_) => flags.stash,
                RepositoryChange::RescueRecords { .. } | RepositoryChange::RemoveWorktree(_) | RepositoryChange::DeleteBranch { .. } => {
                    flags.on_existing == Some(OnExisting::Recreate)
                }
                RepositoryChange::CreateWorktree { .. } | RepositoryChange::Switch { .. } | RepositoryChange::CopyWorkflow { .. } => true,
            };
            prop_assert!(allowed);
        }
    }

    #[test]
    fn whatever_is_a_branch_name_to_us_is_one_to_git(name in "\\PC{0,20}|[-./@{a-z~^:*\\[?\\\\ ]{0,12}") {
        if name.parse::<BranchName>().is_ok() {
            let asked = Command::new("git")
                .args(["check-ref-format", &format!("refs/heads/{name}")])
                .status()
                .unwrap();
            prop_assert!(asked.success(), "{:?}", name);
        }
    }

    #[test]
    fn every_slug_gives_a_branch_and_a_plain_folder(slug in any::<String>()) {
        let branch = BranchName::for_slug(&slug);
        prop_assert_eq!(branch.as_str().parse(), Ok(branch.clone()));
        prop_assert!(branch.folder().starts_with("hotl-"));
        prop_assert!(!branch.folder().contains('/'));
    }
}
