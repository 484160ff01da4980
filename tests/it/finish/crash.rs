//! The power goes at every request of `onloop finish`: nothing is lost, nothing is done
//! twice, and the same command brings it to an end.

use std::cell::RefCell;
use std::rc::Rc;

use onloop_core::documents;
use onloop_core::documents::ledger::{self, Origin};
use onloop_core::effect::{Exit, Failure, FailureKind, GitRequest, KeptWork, Outcome};
use onloop_core::effect::{GitSurvey, Repository, WorktreeEntry};
use onloop_core::run::{
    Beginning, CheckResult, CheckVerdict, Checkpoint, CheckpointMoment, Disposition, Event, Place,
    Run, RunStatus,
};
use onloop_core::time::Timestamp;
use onloop_core::workflow;
use onloop_tests::{Disk, Ended, Moment, PowerLoss, SimHost};

use crate::rounds::sampled;

pub(super) const ID: &str = "x-20260320T094640Z";
const BRANCH: &str = "hotl/x";
const MAIN: &str = "/demo";
const WORKTREE: &str = "/.hotl-worktrees/demo/hotl-x";

/// What a repository has to know here.
#[derive(Debug)]
pub(super) struct Repo {
    branch: Option<String>,
    worktree: bool,
    commits: u32,
    merges: u32,
    pushes: u32,
    pushed: bool,
    /// The merge fails while this holds.
    conflict: bool,
}

pub(super) fn commit(digit: char) -> String {
    std::iter::repeat_n(digit, 40).collect()
}

/// The work of the run, before and after its branch has it.
fn kept() -> KeptWork {
    let (tree, programs) = (commit('d'), "programs".to_owned());
    KeptWork { commit: commit('c'), tree, programs, left_out: Vec::new() }
}

impl Repo {
    fn new() -> Repo {
        Repo {
            // Its work is not committed yet.
            branch: Some(commit('e')),
            worktree: true,
            commits: 0,
            merges: 0,
            pushes: 0,
            pushed: false,
            conflict: false,
        }
    }

    fn answer(&mut self, disk: &mut Disk, request: &GitRequest) -> Result<Outcome, Failure> {
        let missing = |what: &str| Err(Failure::new(FailureKind::NotFound, what.to_owned()));
        match request {
            GitRequest::Survey { cwd, branch } => Ok(Outcome::Survey(self.survey(cwd, branch))),
            GitRequest::Worktrees { .. } => Ok(Outcome::Worktrees { worktrees: self.worktrees() }),
            GitRequest::Head { .. } => Ok(Outcome::Commit { commit: Some(commit('a')) }),
            GitRequest::MergeBase { commit: asked, .. } => {
                let contains = self.merges > 0 && *asked == commit('b');
                Ok(Outcome::Commit {
                    commit: Some(if contains { asked.clone() } else { commit('a') }),
                })
            }
            GitRequest::RemoteBranch { .. } => {
                Ok(Outcome::Commit { commit: self.pushed.then(|| commit('b')) })
            }
            GitRequest::Merge { .. } if self.conflict => {
                Err(Failure::new(FailureKind::Conflict, "`a.txt`"))
            }
            GitRequest::Merge { branch, commit: asked, into, .. } => {
                let expected = (BRANCH, commit('b'), "main");
                assert_eq!((branch.as_str(), asked.clone(), into.as_str()), expected);
                assert_eq!(self.branch, Some(commit('b')), "the work is on the branch");
                self.merges += 1;
                Ok(Outcome::Done)
            }
            GitRequest::RecoverMerge { .. } => Ok(Outcome::Done),
            GitRequest::Push { .. } => {
                assert_eq!(self.branch, Some(commit('b')), "the work is on the branch");
                self.pushes += 1;
                self.pushed = true;
                Ok(Outcome::Done)
            }
            GitRequest::RemoveWorktree { path, .. } if self.worktree => {
                assert_eq!(path, WORKTREE);
                self.worktree = false;
                disk.remove(WORKTREE)?;
                Ok(Outcome::Done)
            }
            GitRequest::RemoveWorktree { .. } => missing("no such worktree"),
            GitRequest::DeleteBranch { branch, .. } => {
                assert!(!self.worktree, "git does not delete a branch that is checked out");
                assert_eq!(branch, BRANCH);
                self.branch.take().map_or_else(|| missing("no such branch"), |_| Ok(Outcome::Done))
            }
            GitRequest::CommitKept { branch, head, kept: from, .. } => {
                assert_eq!((branch.as_str(), from), (BRANCH, &kept().commit));
                assert_eq!(Some(head), self.branch.as_ref());
                self.commits += 1;
                self.branch = Some(commit('b'));
                Ok(Outcome::Commit { commit: self.branch.clone() })
            }
            GitRequest::ChangedPaths { from, .. } => {
                let work = (*from == commit('e')).then(|| "work.txt".to_owned());
                Ok(Outcome::Names { names: work.into_iter().collect() })
            }
            GitRequest::Checkpoint { .. } => Ok(Outcome::Checkpoint(kept())),
            GitRequest::Restore { .. }
            | GitRequest::Diff { .. }
            | GitRequest::Checkpoints { .. }
            | GitRequest::ForgetCheckpoint { .. }
            | GitRequest::ImportPack { .. }
            | GitRequest::Note { .. }
            | GitRequest::KeepFiles { .. }
            | GitRequest::ReadKept { .. }
            | GitRequest::PushRefs { .. }
            | GitRequest::FetchRefs { .. }
            | GitRequest::CreateWorktree { .. }
            | GitRequest::Switch { .. }
            | GitRequest::Stash { .. } => panic!("finish does not ask for {request:?}"),
        }
    }

    fn survey(&self, cwd: &str, branch: &str) -> GitSurvey {
        let linked = self.worktree && cwd.starts_with(WORKTREE);
        if !linked && !cwd.starts_with(MAIN) {
            return GitSurvey::default();
        }
        let (root, own) = if linked { (WORKTREE, BRANCH) } else { (MAIN, "main") };
        let at = [
            ("main", Some(commit('a')), Some(MAIN)),
            (BRANCH, self.branch.clone(), self.worktree.then_some(WORKTREE)),
        ];
        let target = at.into_iter().find(|(name, ..)| *name == branch);
        GitSurvey {
            repository: Some(Repository {
                root: root.to_owned(),
                main_root: MAIN.to_owned(),
                linked,
                branch: Some(own.to_owned()),
                head: Some(commit('a')),
                dirty: match linked && self.commits == 0 {
                    true => vec!["work.txt".to_owned()],
                    false => Vec::new(),
                },
                target_commit: target.as_ref().and_then(|(_, commit, _)| commit.clone()),
                target_checked_out_at: target.and_then(|(.., at)| at).map(str::to_owned),
                target_blocked_by: None,
            }),
        }
    }

    fn worktrees(&self) -> Vec<WorktreeEntry> {
        let entry = |path: &str, branch: &str| WorktreeEntry {
            path: path.to_owned(),
            branch: Some(branch.to_owned()),
        };
        let mut all = vec![entry(MAIN, "main")];
        all.extend(self.worktree.then(|| entry(WORKTREE, BRANCH)));
        all
    }
}

/// A completed run of one step, in its worktree, and its ledger.
fn completed() -> (Run, Vec<u8>) {
    let file = "---\nintent: do x\nsuccess_criteria: x is done\nrisk_level: low\n---\n\
        - [ ] **Step 1: Do**\naction: do\nloop: false\nverify: true\n";
    let plan = workflow::parse("hotl-workflow-x.md", file.as_bytes()).plan.expect("a valid file");
    let at = Timestamp::from_millis(1_774_000_000_000);
    let some = |text: &str| Some(text.to_owned());
    let place = Place {
        workflow_path: format!("{WORKTREE}/hotl-workflow-x.md"),
        source_workflow_path: some("/demo/hotl-workflow-x.md"),
        source_branch: some("main"),
        branch: some(BRANCH),
        repo_root: some(MAIN),
        execution_root: WORKTREE.to_owned(),
        worktree_path: some(WORKTREE),
        executor_mode: "worktree".to_owned(),
        slug: "x".to_owned(),
        report_path: format!("{WORKTREE}/.hotl/reports/{ID}.md"),
        ..Place::default()
    };
    let id = ID.to_owned();
    let beginning = Beginning { id, place, at, ..Beginning::default() };
    let mut run = Run::begin(&plan, beginning);
    let (mut ledger, mut head) = ledger::begin(at, &run, &Origin::Begun, None);
    let (stdout, stderr) = (String::new(), String::new());
    let passed = CheckResult {
        check: 0,
        verdict: CheckVerdict::Passed,
        stdout,
        stderr,
        measured: None,
        at: None,
        warnings: Vec::new(),
        inputs: None,
    };
    for event in [
        Event::StepStarted { step: 1 },
        Event::StepVerified { step: 1, results: vec![passed] },
        Event::CheckpointTaken(Checkpoint::of(
            CheckpointMoment::Verified { step: 1, attempt: 1 },
            kept(),
        )),
        Event::RunFinalized,
    ] {
        run.apply(at, &event).expect("a plain run");
        head = ledger::append(&mut ledger, &head, at, &event, None);
    }
    (run, ledger)
}

pub(super) fn machine() -> (SimHost, Rc<RefCell<Repo>>) {
    let mut host = SimHost::new();
    host.disk.put("/demo/hotl-workflow-x.md", "plan");
    host.disk.put(&format!("{WORKTREE}/.git"), "gitdir: elsewhere");
    host.disk.put(&format!("{WORKTREE}/.hotl/.gitignore"), "*\n");
    host.disk.put(&format!("{WORKTREE}/.hotl/logs/{ID}/1-1.log"), "said");
    let (run, ledger) = completed();
    host.disk.put(&format!("{WORKTREE}/.hotl/state/{ID}.json"), documents::run::write(&run));
    host.disk.put(&format!("/state/runs/{ID}/ledger.jsonl"), ledger);
    let repo = Rc::new(RefCell::new(Repo::new()));
    let shared = repo.clone();
    host.on_git(move |disk, request| shared.borrow_mut().answer(disk, request));
    (host, repo)
}

/// The record, as its ledger makes it.
pub(super) fn records(host: &SimHost) -> Vec<Run> {
    let bytes = host.disk.get(&format!("/state/runs/{ID}/ledger.jsonl")).expect("it is never lost");
    vec![ledger::read(bytes, None).expect("whole lines are sound").run]
}

/// What must hold at every moment, for whoever comes next.
fn nothing_is_lost(host: &SimHost, repo: &Repo, what: &str) {
    let records = records(host);
    let newest = records.iter().max_by_key(|run| run.revision);
    let newest = newest.unwrap_or_else(|| panic!("{what}: the record is gone"));
    assert_eq!(newest.status, RunStatus::Completed, "{what}");
    assert!(repo.merges <= 1 && repo.pushes <= 1 && repo.commits <= 1, "{what}: {repo:?}");
    let thrown_away = newest.finish_intent.as_ref().map(|intent| intent.act.disposition())
        == Some(Disposition::Discarded)
        || newest.is_discarded();
    let held = repo.worktree || repo.merges == 1 || thrown_away;
    assert!(held, "{what}: nothing has the work any more: {repo:?}");
    let begun = repo.merges > 0 || repo.pushes > 0 || !repo.worktree || repo.branch.is_none();
    let known = newest.finish.is_some() || newest.finish_intent.is_some();
    assert!(known || !begun, "{what}: something was done that nobody meant to do: {repo:?}");
    if let Some(finish) = &newest.finish {
        let done = match finish.outcome.disposition {
            Disposition::Kept => true,
            Disposition::Merged => repo.merges == 1 && !repo.worktree && repo.branch.is_none(),
            Disposition::Published => repo.pushed,
            Disposition::Discarded => !repo.worktree && repo.branch.is_none(),
        };
        assert!(done, "{what}: recorded before it was done: {repo:?}");
    }
}

/// The exit code of the same command once more. A recorded merge has nothing left to do.
fn repeated(words: &[&str], settled: bool) -> Exit {
    if settled && words[0] != "merge" { Exit::Failed } else { Exit::Done }
}

/// The power goes at every request; afterwards the same command is given again.
fn survives(words: &[&str]) {
    let argv = [&["onloop", "finish", ID][..], words].concat();
    let (mut host, _) = machine();
    assert_eq!(host.run(&argv), Ended::Exit(Exit::Done), "{}", host.notes());
    let undisturbed = records(&host).remove(0);
    let requests = host.requests.len();
    assert!(requests > 10, "only {requests} requests");
    let ways =
        [Moment::Before, Moment::After].map(|moment| [(moment, false), (moment, true)]).concat();
    let losses = (0..requests).flat_map(|at_request| {
        let at = move |&(moment, lose_relaxed)| PowerLoss { at_request, moment, lose_relaxed };
        ways.iter().map(at).collect::<Vec<_>>()
    });
    for loss in sampled(9, losses) {
        let what = format!("{words:?}, {loss:?}");
        let (mut host, repo) = machine();
        host.lose_power(loss);
        assert_eq!(host.run(&argv), Ended::PowerCut, "{what}");
        nothing_is_lost(&host, &repo.borrow(), &what);
        let settled = records(&host).iter().any(|run| run.finish.is_some());
        let expected = repeated(words, settled);
        let ended = host.run(&argv);
        assert_eq!(ended, Ended::Exit(expected), "{what}: {}", host.notes());
        nothing_is_lost(&host, &repo.borrow(), &what);
        let records = records(&host);
        let [run] = records.as_slice() else { panic!("{what}: {} copies", records.len()) };
        let outcome = |run: &Run| run.finish.as_ref().map(|finish| finish.outcome.clone());
        assert_eq!(outcome(run), outcome(&undisturbed), "{what}");
        let count = |name: &str| run.events.iter().filter(|e| e.event == name).count();
        assert_eq!(count("finish_recorded"), 1, "{what}");
        assert_eq!(count("finish_intended"), 1, "{what}: intended once is enough");
    }
}

#[test]
fn a_merge_survives_a_power_cut_at_every_request() {
    survives(&["merge", "--notes", "n"]);
}

#[test]
fn a_discard_survives_a_power_cut_at_every_request() {
    survives(&["discard", "--confirm", "discard"]);
}

#[test]
fn a_publication_survives_a_power_cut_at_every_request() {
    survives(&["publish"]);
}

#[test]
fn every_request_may_fail_and_the_same_command_goes_on() {
    for words in [&["merge"][..], &["discard", "--confirm", "discard"], &["publish"]] {
        let argv = [&["onloop", "finish", ID][..], words].concat();
        let (mut host, _) = machine();
        host.run(&argv);
        for number in sampled(4, 0..host.requests.len()) {
            let what = format!("{words:?}, request {number}");
            let (mut host, repo) = machine();
            host.refuse_nth(number, FailureKind::Other);
            let first = host.run(&argv);
            nothing_is_lost(&host, &repo.borrow(), &what);
            if first == Ended::Exit(Exit::Done) {
                continue;
            }
            assert_eq!(first, Ended::Exit(Exit::Failed), "{what}: {}", host.notes());
            let settled = records(&host).iter().any(|run| run.finish.is_some());
            let expected = repeated(words, settled);
            assert_eq!(host.run(&argv), Ended::Exit(expected), "{what}: {}", host.notes());
            nothing_is_lost(&host, &repo.borrow(), &what);
        }
    }
}

#[test]
fn after_a_crash_something_else_is_done_only_if_nothing_has_happened() {
    let merge = ["onloop", "finish", ID, "merge"];
    let keep = ["onloop", "finish", ID, "keep"];
    let (mut host, _) = machine();
    host.run(&merge);
    let merged_at = host
        .requests
        .iter()
        .position(|request| format!("{request:?}").starts_with("Git(Merge {"))
        .expect("a merge");
    for (moment, exit) in [(Moment::Before, Exit::Done), (Moment::After, Exit::Failed)] {
        let (mut host, repo) = machine();
        host.lose_power(PowerLoss { at_request: merged_at, moment, lose_relaxed: true });
        assert_eq!(host.run(&merge), Ended::PowerCut);
        assert_eq!(host.run(&keep), Ended::Exit(exit), "{}", host.notes());
        if exit == Exit::Failed {
            let way_on = format!("onloop finish {ID} merge --target-branch main");
            assert!(host.notes().contains(&way_on), "{}", host.notes());
            assert_eq!(host.run(&merge), Ended::Exit(Exit::Done));
        }
        nothing_is_lost(&host, &repo.borrow(), "in the end");
    }
}

#[test]
fn a_conflict_is_recorded_as_given_up() {
    let (mut host, repo) = machine();
    repo.borrow_mut().conflict = true;
    assert_eq!(host.run(&["onloop", "finish", ID, "merge"]), Ended::Exit(Exit::Failed));
    let run = records(&host).remove(0);
    assert_eq!((&run.finish, &run.finish_intent), (&None, &None));
    let last = run.events.last().expect("events");
    assert_eq!(
        (last.event.as_str(), last.text.as_str()),
        ("finish_abandoned", "Finish failed: `a.txt`")
    );
    assert!(repo.borrow().worktree);
}
