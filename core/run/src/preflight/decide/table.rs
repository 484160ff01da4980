//! The table of decisions: what the documentation shows and what the program does, from the
//! same rows.

use super::*;
use crate::preflight::PreflightFlags;
use onloop_effect::GitSurvey;
use onloop_workflow::Plan;

const ROOT: &str = "/home/repo";
const LINKED: &str = "/home/linked";
const WORKTREE: &str = "/home/.hotl-worktrees/repo/hotl-x";
const HEAD: &str = "1111111111111111111111111111111111111111";
const OTHER: &str = "2222222222222222222222222222222222222222";

/// What is found, what is wanted, what is decided; `; ` between the parts. The workflow is
/// `hotl-workflow-x.md` in the checkout, so that the derived branch is `hotl/x`.
const ROWS: &[(&str, &str, &str)] = &[
    // Without git.
    ("not a repository", "nothing pinned", "none: work here, labelled `hotl/x`"),
    ("not a repository; workflow in a repository", "nothing pinned", "stop: workflow-outside"),
    ("not a repository; workflow in a repository", "`--mode none`", "none: work here"),
    ("not a repository", "`branch: feat/y`", "none: work here, labelled `feat/y`"),
    ("not a repository", "`--mode worktree`", "stop: no-checkout"),
    ("not a repository", "`--branch feat/y`", "stop: no-checkout"),
    ("in a bare repository", "nothing pinned", "stop: no-checkout"),
    ("in a bare repository", "`--mode none`", "none: work here"),
    ("no commit yet", "nothing pinned", "none: work here"),
    ("no commit yet", "`--mode branch`", "stop: no-checkout"),
    ("no commit yet", "`worktree: host`", "none: work here"),
    ("on `main`; `src/lib.rs` uncommitted", "`--mode none`", "none: work here"),
    // What stops everything else.
    ("on `main`; workflow outside", "nothing pinned", "stop: workflow-outside"),
    ("on `main`", "`--branch -x`", "stop: invalid-branch"),
    ("on `main`; `src/lib.rs` uncommitted", "nothing pinned", "ask (dirty): `--stash`, stop, stop"),
    (
        "on `main`; `src/lib.rs` uncommitted",
        "`--stash`",
        "worktree: stash `src/lib.rs`, create worktree on new `hotl/x`, copy the workflow",
    ),
    (
        "on `main`; `src/lib.rs` uncommitted",
        "`dirty_worktree: allow`",
        "worktree: create worktree on new `hotl/x`, copy the workflow; \
         1 uncommitted file left out of the worktree, which starts from the commit",
    ),
    (
        "on `feature/z`; `src/lib.rs` uncommitted",
        "`worktree: host`; `dirty_worktree: allow`",
        "host: work here, on `feature/z`",
    ),
    (
        "on `main`; only our files uncommitted",
        "nothing pinned",
        "worktree: create worktree on new `hotl/x`, copy the workflow",
    ),
    (
        "linked, on `feature/z`; `src/lib.rs` uncommitted",
        "nothing pinned",
        "ask (dirty): `--stash`, stop, stop",
    ),
    ("on `main`; branch `hotl` exists", "nothing pinned", "stop: branch-blocked"),
    ("on `main`; branch `hotl` exists", "`worktree: false`", "stop: branch-blocked"),
    // Nothing pinned.
    ("on `main`", "nothing pinned", "worktree: create worktree on new `hotl/x`, copy the workflow"),
    (
        "on `master`",
        "nothing pinned",
        "worktree: create worktree on new `hotl/x`, copy the workflow",
    ),
    (
        "detached HEAD",
        "nothing pinned",
        "worktree: create worktree on new `hotl/x`, copy the workflow",
    ),
    (
        "on `feature/z`",
        "nothing pinned",
        "ask (feature-branch): `--mode worktree`, `--mode branch --branch feature/z`, \
         `--branch NAME`, stop",
    ),
    (
        "on `feature/z`",
        "nothing pinned; no terminal",
        "worktree: create worktree on new `hotl/x`, copy the workflow; `feature/z` stays as it is \
         (`--mode branch --branch feature/z` works on it)",
    ),
    (
        "on `hotl/x`",
        "nothing pinned",
        "ask (feature-branch): `--mode worktree`, `--mode branch --branch hotl/x`, \
         `--branch NAME`, stop",
    ),
    ("linked, on `feature/z`", "nothing pinned", "host: work here, on `feature/z`"),
    ("linked, on `main`", "nothing pinned", "stop: protected-branch"),
    (
        "linked, detached HEAD",
        "nothing pinned",
        "worktree: create worktree on new `hotl/x`, copy the workflow",
    ),
    // Host mode.
    ("on `feature/z`", "`worktree: host`", "host: work here, on `feature/z`"),
    ("on `feature/z`", "`--mode host`; `worktree: true`", "host: work here, on `feature/z`"),
    ("on `feature/z`", "`worktree: host`; `branch: feature/z`", "host: work here, on `feature/z`"),
    ("on `feature/z`", "`worktree: host`; `branch: feat/y`", "stop: host-branch-differs"),
    (
        "on `feature/z`",
        "`worktree: host`; `branch: feat/y`; `--branch feature/z`",
        "host: work here, on `feature/z`",
    ),
    ("on `main`", "`worktree: host`", "stop: protected-branch"),
    ("on `master`", "`worktree: host`", "stop: protected-branch"),
    ("on `main`", "`worktree: host`; `branch: main`", "stop: protected-branch"),
    ("detached HEAD", "`worktree: host`", "stop: host-detached"),
    // A worktree of its own.
    (
        "on `feature/z`",
        "`worktree: true`",
        "worktree: create worktree on new `hotl/x`, copy the workflow",
    ),
    (
        "linked, on `feature/z`",
        "`worktree: true`",
        "worktree: create worktree on new `hotl/x`, copy the workflow",
    ),
    (
        "on `feature/z`",
        "`--mode worktree`; `worktree: false`",
        "worktree: create worktree on new `hotl/x`, copy the workflow",
    ),
    (
        "on `feature/z`",
        "`branch: feat/y`",
        "worktree: create worktree on new `feat/y`, copy the workflow",
    ),
    (
        "linked, on `feature/z`",
        "`branch: feat/y`",
        "worktree: create worktree on new `feat/y`, copy the workflow",
    ),
    (
        "on `main`",
        "`branch: feat/y`; `--branch hotl/x`",
        "worktree: create worktree on new `hotl/x`, copy the workflow",
    ),
    ("on `feature/z`", "`branch: feature/z`", "stop: already-here"),
    ("on `hotl/x`", "`worktree: true`", "stop: already-here"),
    ("on `feature/z`", "`branch: main`", "stop: protected-branch"),
    (
        "on `main`; `hotl/x` checked out at `/other`",
        "nothing pinned",
        "stop: checked-out-elsewhere",
    ),
    (
        "on `main`; `hotl/x` checked out at `/other`",
        "`--on-existing recreate`",
        "stop: checked-out-elsewhere",
    ),
    (
        "on `main`; `hotl/x` exists at HEAD",
        "nothing pinned",
        "ask (branch-exists): `--on-existing reuse`, `--on-existing recreate`, stop",
    ),
    (
        "on `main`; `hotl/x` exists at another commit",
        "nothing pinned",
        "ask (branch-exists): `--on-existing recreate`, stop",
    ),
    ("on `main`; `hotl/x` exists at HEAD", "`--on-existing stop`", "stop: branch-exists"),
    (
        "on `main`; `hotl/x` exists at another commit",
        "`--on-existing reuse`",
        "worktree: create worktree on `hotl/x`, copy the workflow",
    ),
    (
        "on `main`; `hotl/x` exists at another commit",
        "`--on-existing recreate`",
        "worktree: delete `hotl/x`, create worktree on new `hotl/x`, copy the workflow",
    ),
    (
        "on `main`; worktree of `hotl/x` in its place",
        "nothing pinned",
        "ask (worktree-exists): `--on-existing reuse`, `--on-existing recreate`, stop",
    ),
    (
        "on `main`; worktree of `hotl/x` in its place",
        "`--on-existing stop`",
        "stop: worktree-exists",
    ),
    (
        "on `main`; worktree of `hotl/x` in its place",
        "`--on-existing reuse`",
        "worktree: copy the workflow",
    ),
    (
        "on `main`; worktree of `hotl/x` in its place",
        "`--on-existing recreate`",
        "worktree: rescue run records, remove worktree, delete `hotl/x`, \
         create worktree on new `hotl/x`, copy the workflow",
    ),
    (
        "on `main`; worktree of `hotl/x` in its place, with changes",
        "`--on-existing recreate`",
        "stop: worktree-dirty",
    ),
    ("on `main`; worktree of `hotl-x` in its place", "nothing pinned", "stop: folder-taken"),
    (
        "on `main`; worktree of `hotl-x` in its place",
        "`--on-existing recreate`",
        "stop: folder-taken",
    ),
    ("on `main`; detached worktree in its place", "nothing pinned", "stop: folder-taken"),
    ("on `main`; something else in its place", "`--on-existing recreate`", "stop: folder-taken"),
    // A branch in the current checkout.
    ("on `main`", "`worktree: false`", "branch: create and switch to `hotl/x`"),
    ("on `feature/z`", "`--mode branch`", "branch: create and switch to `hotl/x`"),
    ("detached HEAD", "`worktree: false`", "branch: create and switch to `hotl/x`"),
    ("linked, on `feature/z`", "`worktree: false`", "branch: create and switch to `hotl/x`"),
    ("on `hotl/x`", "`worktree: false`", "branch: work here, on `hotl/x`"),
    (
        "on `feature/z`",
        "`worktree: false`; `branch: feature/z`",
        "branch: work here, on `feature/z`",
    ),
    ("on `main`", "`worktree: false`; `branch: main`", "stop: protected-branch"),
    (
        "on `main`; `hotl/x` exists at HEAD",
        "`worktree: false`",
        "ask (branch-exists): `--on-existing reuse`, `--on-existing recreate`, stop",
    ),
    (
        "on `main`; `hotl/x` exists at another commit",
        "`worktree: false`",
        "ask (branch-exists): `--on-existing recreate`, stop",
    ),
    (
        "on `main`; `hotl/x` exists at another commit",
        "`worktree: false`; `--on-existing stop`",
        "stop: branch-exists",
    ),
    (
        "on `main`; `hotl/x` exists at another commit",
        "`worktree: false`; `--on-existing reuse`",
        "branch: switch to `hotl/x`, copy the workflow",
    ),
    (
        "on `main`; `hotl/x` exists at another commit",
        "`worktree: false`; `--on-existing recreate`",
        "branch: delete `hotl/x`, create and switch to `hotl/x`",
    ),
    (
        "on `main`; `hotl/x` checked out at `/other`",
        "`worktree: false`; `--on-existing reuse`",
        "stop: checked-out-elsewhere",
    ),
    (
        "on `main`; `src/lib.rs` uncommitted",
        "`worktree: false`; `--stash`",
        "branch: stash `src/lib.rs`, create and switch to `hotl/x`",
    ),
];

fn found(words: &str) -> (RepositoryFacts, String) {
    let mut workflow = format!("{ROOT}/hotl-workflow-x.md");
    let mut repository = Repository {
        root: ROOT.to_owned(),
        main_root: ROOT.to_owned(),
        linked: false,
        branch: None,
        head: Some(HEAD.to_owned()),
        dirty: Vec::new(),
        target_commit: None,
        target_checked_out_at: None,
        target_blocked_by: None,
    };
    let mut place = TargetFolder::Free;
    let worktree_of = |branch: &str, dirty: &[&str]| TargetFolder::Worktree {
        branch: Some(branch.to_owned()),
        dirty: dirty.iter().map(|&path| path.to_owned()).collect(),
    };
    if words == "not a repository; workflow in a repository" {
        let elsewhere = Some("/elsewhere".to_owned());
        return (
            RepositoryFacts { elsewhere, ..RepositoryFacts::default() },
            "/elsewhere/x-workflow.md".to_owned(),
        );
    }
    for word in words.split("; ") {
        let word = match word.strip_prefix("linked, ") {
            None => word,
            Some(rest) => {
                repository.linked = true;
                LINKED.clone_into(&mut repository.root);
                workflow = format!("{LINKED}/hotl-workflow-x.md");
                rest
            }
        };
        match word {
            "not a repository" => return (RepositoryFacts::default(), workflow),
            "in a bare repository" => {
                return (RepositoryFacts { bare: true, ..RepositoryFacts::default() }, workflow);
            }
            "no commit yet" => {
                repository.branch = Some("main".to_owned());
                repository.head = None;
            }
            "detached HEAD" => repository.branch = None,
            "workflow outside" => "/home/hotl-workflow-x.md".clone_into(&mut workflow),
            "`src/lib.rs` uncommitted" => {
                repository.dirty = vec!["hotl-workflow-x.md".to_owned(), "src/lib.rs".to_owned()];
            }
            "only our files uncommitted" => {
                repository.dirty = vec![
                    ".hotl/state/x.json".to_owned(),
                    "docs/plans/a plan-design.md".to_owned(),
                    "hotl-workflow-x.md".to_owned(),
                ];
            }
            "branch `hotl` exists" => repository.target_blocked_by = Some("hotl".to_owned()),
            "`hotl/x` exists at HEAD" => repository.target_commit = Some(HEAD.to_owned()),
            "`hotl/x` exists at another commit" => {
                repository.target_commit = Some(OTHER.to_owned());
            }
            "`hotl/x` checked out at `/other`" => {
                repository.target_commit = Some(HEAD.to_owned());
                repository.target_checked_out_at = Some("/other".to_owned());
            }
            "worktree of `hotl/x` in its place" => {
                repository.target_commit = Some(HEAD.to_owned());
                repository.target_checked_out_at = Some(WORKTREE.to_owned());
                place = worktree_of("hotl/x", &["hotl-workflow-x.md", ".hotl/state/x.json"]);
            }
            "worktree of `hotl/x` in its place, with changes" => {
                repository.target_commit = Some(HEAD.to_owned());
                repository.target_checked_out_at = Some(WORKTREE.to_owned());
                place = worktree_of("hotl/x", &["src/lib.rs"]);
            }
            "worktree of `hotl-x` in its place" => place = worktree_of("hotl-x", &[]),
            "detached worktree in its place" => {
                place = TargetFolder::Worktree { branch: None, dirty: Vec::new() };
            }
            "something else in its place" => place = TargetFolder::Occupied,
            on => {
                let branch = on.strip_prefix("on `").and_then(|rest| rest.strip_suffix('`'));
                let branch = branch.unwrap_or_else(|| panic!("no such fact: {on}"));
                repository.branch = Some(branch.to_owned());
                if branch == "hotl/x" {
                    repository.target_commit = Some(HEAD.to_owned());
                    repository.target_checked_out_at = Some(repository.root.clone());
                }
            }
        }
    }
    let survey = GitSurvey { repository: Some(repository) };
    (RepositoryFacts { survey, place, ..RepositoryFacts::default() }, workflow)
}

fn wanted(words: &str, workflow: String) -> Result<PlacementWish, PlacementRefusal> {
    let mut plan = Plan::example("x", Vec::new());
    let mut flags = PreflightFlags::default();
    let mut attended = true;
    for word in words.split("; ") {
        match word.trim_matches('`') {
            "nothing pinned" => {}
            "no terminal" => attended = false,
            "worktree: true" => {
                plan = plan.with(|parts| parts.isolation = Some(Isolation::Worktree))
            }
            "worktree: false" => {
                plan = plan.with(|parts| parts.isolation = Some(Isolation::Branch))
            }
            "worktree: host" => plan = plan.with(|parts| parts.isolation = Some(Isolation::Host)),
            "dirty_worktree: allow" => plan = plan.with(|parts| parts.dirty_allowed = true),
            "--mode worktree" => flags.mode = Some(IsolationMode::Worktree),
            "--mode branch" => flags.mode = Some(IsolationMode::Branch),
            "--mode host" => flags.mode = Some(IsolationMode::Host),
            "--mode none" => flags.mode = Some(IsolationMode::None),
            "--stash" => flags.stash = true,
            "--on-existing stop" => flags.on_existing = Some(OnExisting::Stop),
            "--on-existing reuse" => flags.on_existing = Some(OnExisting::Reuse),
            "--on-existing recreate" => flags.on_existing = Some(OnExisting::Recreate),
            pin => match (pin.strip_prefix("branch: "), pin.strip_prefix("--branch ")) {
                (Some(branch), _) => plan = plan.with(|parts| parts.branch = branch.parse().ok()),
                (_, Some(branch)) => flags.branch = Some(branch.to_owned()),
                (None, None) => panic!("no such wish: {pin}"),
            },
        }
    }
    let mut wish = PlacementWish::new(&plan, &flags, workflow)?;
    wish.attended = attended;
    Ok(wish)
}

fn decided(decision: &PlacementDecision) -> String {
    match decision {
        PlacementDecision::Refuse(refusal) => format!("stop: {}", refusal.code.as_str()),
        PlacementDecision::Ask(question) => {
            let choices = question.choices.iter().map(|choice| match choice.answer {
                crate::preflight::PlacementAnswer::Stop => "stop".to_owned(),
                _ => format!("`{}`", choice.remedy.line),
            });
            let choices: Vec<String> = choices.collect();
            format!("ask ({}): {}", question.code.as_str(), choices.join(", "))
        }
        PlacementDecision::Proceed(placement) => {
            let mut acts: Vec<String> = placement.acts.iter().map(described).collect();
            if acts.is_empty() {
                acts.push(match (placement.mode, &placement.branch) {
                    (IsolationMode::None, Some(branch)) => {
                        format!("work here, labelled `{branch}`")
                    }
                    (_, Some(branch)) => format!("work here, on `{branch}`"),
                    (_, None) => "work here".to_owned(),
                });
            }
            let notes = match placement.mode {
                IsolationMode::None => String::new(),
                _ => placement.notes.iter().map(|note| format!("; {note}")).collect(),
            };
            format!("{}: {}{notes}", placement.mode.as_str(), acts.join(", "))
        }
    }
}

fn described(act: &RepositoryChange) -> String {
    match act {
        RepositoryChange::Stash(paths) => format!("stash `{}`", paths.join("`, `")),
        RepositoryChange::RescueRecords { .. } => "rescue run records".to_owned(),
        RepositoryChange::RemoveWorktree(_) => "remove worktree".to_owned(),
        RepositoryChange::DeleteBranch { branch, .. } => format!("delete `{branch}`"),
        RepositoryChange::CreateWorktree { branch, create_at: Some(_), .. } => {
            format!("create worktree on new `{branch}`")
        }
        RepositoryChange::CreateWorktree { branch, create_at: None, .. } => {
            format!("create worktree on `{branch}`")
        }
        RepositoryChange::Switch { branch, create: true } => {
            format!("create and switch to `{branch}`")
        }
        RepositoryChange::Switch { branch, create: false } => format!("switch to `{branch}`"),
        RepositoryChange::CopyWorkflow { .. } => "copy the workflow".to_owned(),
    }
}

#[test]
fn every_row_of_the_table_holds() {
    for (facts, wishes, expected) in ROWS {
        let (facts_found, workflow) = found(facts);
        let decision = match wanted(wishes, workflow) {
            Ok(wish) => decide(&facts_found, &wish),
            Err(refusal) => PlacementDecision::Refuse(refusal),
        };
        assert_eq!(decided(&decision), *expected, "{facts} | {wishes}");
    }
}

#[test]
fn the_documentation_shows_the_table() {
    const BEGIN: &str = "<!-- begin: table of decisions -->\n";
    const END: &str = "<!-- end: table of decisions -->";
    let documentation = include_str!("../../../../../docs/preflight.md");
    let mut table = String::from("| found | wanted | decision |\n| --- | --- | --- |\n");
    for (found, wanted, decision) in ROWS {
        table.push_str(&format!("| {found} | {wanted} | {decision} |\n"));
    }
    let shown = documentation.split_once(BEGIN).and_then(|(_, rest)| rest.split_once(END));
    let shown = shown.map_or("", |(shown, _)| shown);
    assert!(shown == table, "docs/preflight.md should show:\n{BEGIN}{table}{END}");
}

#[test]
fn every_refusal_and_every_question_says_how_to_go_on() {
    for (facts, wishes, _) in ROWS {
        let (facts_found, workflow) = found(facts);
        let decision = match wanted(wishes, workflow) {
            Ok(wish) => decide(&facts_found, &wish),
            Err(refusal) => PlacementDecision::Refuse(refusal),
        };
        let refusal = match decision {
            PlacementDecision::Proceed(_) => continue,
            PlacementDecision::Ask(question) => {
                let last = question.choices.last().map(|choice| &choice.answer);
                assert_eq!(
                    last,
                    Some(&crate::preflight::PlacementAnswer::Stop),
                    "{facts} | {wishes}"
                );
                question.into_refusal()
            }
            PlacementDecision::Refuse(refusal) => refusal,
        };
        assert!(!refusal.how.is_empty(), "{facts} | {wishes}");
        assert!(!refusal.what.is_empty(), "{facts} | {wishes}");
    }
}

/// Every combination of facts and wishes that can be made of small parts.
#[test]
fn no_combination_works_on_a_protected_branch_or_overwrites_what_nobody_offered() {
    let heads = ["on `main`", "on `master`", "on `feature/z`", "on `hotl/x`", "detached HEAD"];
    let states = [
        "",
        "; `src/lib.rs` uncommitted",
        "; `hotl/x` exists at HEAD",
        "; `hotl/x` exists at another commit",
        "; `hotl/x` checked out at `/other`",
        "; worktree of `hotl/x` in its place",
        "; worktree of `hotl/x` in its place, with changes",
        "; worktree of `hotl-x` in its place",
        "; something else in its place",
    ];
    let modes = ["nothing pinned", "`worktree: true`", "`worktree: false`", "`worktree: host`"];
    let pins = ["", "; `branch: main`", "; `branch: feature/z`", "; `--branch master`"];
    let flags = ["", "; `--on-existing reuse`", "; `--on-existing recreate`", "; `--stash`"];
    let mut seen = 0;
    for head in heads.iter().flat_map(|head| [(*head).to_owned(), format!("linked, {head}")]) {
        for (state, mode) in states.iter().flat_map(|s| modes.iter().map(move |m| (s, m))) {
            for (pin, flag) in pins.iter().flat_map(|p| flags.iter().map(move |f| (p, f))) {
                let (facts, workflow) = found(&format!("{head}{state}"));
                let wish = wanted(&format!("{mode}{pin}{flag}"), workflow).unwrap();
                seen += 1;
                let PlacementDecision::Proceed(placement) = decide(&facts, &wish) else { continue };
                let row = format!(
                    "{head}{state} | {mode}{pin}{flag}: {}",
                    decided(&PlacementDecision::Proceed(placement.clone()))
                );
                assert_eq!(
                    placement.branch.map(|branch| branch.is_protected()),
                    Some(false),
                    "{row}"
                );
                assert_ne!(placement.mode, IsolationMode::None, "{row}");
                let destroys = placement.acts.iter().any(|act| {
                    matches!(
                        act,
                        RepositoryChange::DeleteBranch { .. } | RepositoryChange::RemoveWorktree(_)
                    )
                });
                assert!(!destroys || wish.on_existing == Some(OnExisting::Recreate), "{row}");
                let stashes =
                    placement.acts.iter().any(|act| matches!(act, RepositoryChange::Stash(_)));
                assert!(!stashes || wish.stash, "{row}");
                let works_here = matches!(placement.root, ExecutionRoot::Checkout(_));
                assert!(works_here != (placement.mode == IsolationMode::Worktree), "{row}");
            }
        }
    }
    assert_eq!(seen, 10 * 9 * 4 * 4 * 4);
}
