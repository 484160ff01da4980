//! Putting a run that came from elsewhere to work here: its ledger, a checkout on its branch, and
//! in it the files of its last checkpoint.

use crate::error::CommandError;
use crate::git::remote_refs::{BRANCH, Remote, RemoteLedger};
use crate::run::decider::decider;
use crate::state::store::{Paths, StateHome, Store};
use onloop_documents::ledger::{checkpoint_at, restored_to};
use onloop_effect::{BranchName, Failure, FailureKind, GitRequest, Io, Repository};
use onloop_run::preflight::worktree_path;
use onloop_run::{Checkpoint, DecisionChannel, Run, RunStatus};
use onloop_syntax::limits;
use onloop_syntax::text;

/// A run that is to arrive.
pub struct Arrival<'a> {
    /// Its id.
    pub id: &'a str,
    /// What the remote has of it.
    pub there: &'a Remote,
    /// Its ledger there.
    pub ledger: &'a RemoteLedger,
    /// The repository here.
    pub repository: &'a Repository,
}

/// What a checkpoint is called that says what was in a checkout when a run came to it.
const ARRIVED: &str = "arrived";

/// Makes the checkout, takes the ledger over and records that the run is here. What fails before that is
/// recorded is done again by the next call.
///
/// # Errors
///
/// The run cannot be put to work here.
pub async fn arrive(io: &Io, arrival: &Arrival<'_>) -> Result<Store, CommandError> {
    let run = &arrival.ledger.ledger.run;
    let home = StateHome::of(io).map_err(unfetched(run))?;
    let paths = Paths::new(&home, "", arrival.id);
    // Its driver here would continue with an older record.
    let driver = paths.driver_lock();
    io.lock(&driver, 0).await.map_err(unfetched(run))?;
    let arrived = arrive_alone(io, arrival, &paths).await;
    let _ = io.unlock(&driver).await;
    arrived
}

async fn arrive_alone(
    io: &Io,
    arrival: &Arrival<'_>,
    paths: &Paths,
) -> Result<Store, CommandError> {
    let run = &arrival.ledger.ledger.run;
    let main = &arrival.repository.main_root;
    // Otherwise nothing is left to do in a checkout.
    let has_work = run.finish.is_none() && run.status != RunStatus::Abandoned;
    let (mut root, mut lost) = (main.clone(), Vec::new());
    if has_work {
        root = check_out(io, arrival, run).await.map_err(unfetched(run))?;
        lost = left_behind(io, arrival, run, &root).await;
        let last = last_work(arrival, run, &lost);
        restore(io, run, last, &root, paths.index()).await.map_err(unfetched(run))?;
    }
    // Last: a run that is known here has its files.
    let store = Store::receive(io, arrival.id, &arrival.ledger.bytes).await?;
    match store.arrive(&root, main, lost, decider(io, DecisionChannel::Command)).await {
        Ok(mut store) => {
            // The boxes came as they were when the files were kept.
            if let Some(warning) = store.repair_boxes().await.warning {
                io.note(warning).await;
            }
            Ok(store)
        }
        Err(error) => Err(error.into()),
    }
}

/// The checkout in which the run works here, on its branch as the remote has it.
async fn check_out(io: &Io, arrival: &Arrival<'_>, run: &Run) -> Result<String, Failure> {
    let refused = |message: String| Failure::new(FailureKind::Conflict, message);
    let branch = run.place.branch.as_deref().unwrap_or_default();
    let branch: BranchName = branch.parse().map_err(|reason| {
        let branch = text::one_line(branch);
        Failure::new(
            FailureKind::Invalid,
            format!("its record names the branch `{branch}`, which {reason}"),
        )
    })?;
    let Some(tip) = arrival.there.commit(BRANCH) else {
        return Err(refused(format!(
            "the remote has no `refs/onloop/{}/{BRANCH}`, from which its branch could be made",
            arrival.id
        )));
    };
    let main = arrival.repository.main_root.clone();
    let survey = io.git_survey(&main, branch.as_str()).await?;
    let (commit, place) = survey
        .repository
        .map(|found| (found.target_commit, found.target_checked_out_at))
        .unwrap_or_default();
    if let Some(commit) = commit.as_ref().filter(|commit| *commit != tip) {
        return Err(refused(format!(
            "branch `{branch}` is at {commit} here and at {tip} there; when nothing on it is \
             needed, give it another name: git branch -m {branch} NEW_NAME"
        )));
    }
    if let Some(place) = place {
        return io.canonical(&place).await;
    }
    let path = worktree_path(arrival.repository, &branch);
    let create_at = commit.is_none().then(|| tip.to_owned());
    let branch = branch.to_string();
    let request = GitRequest::CreateWorktree { cwd: main, path: path.clone(), branch, create_at };
    io.git(request).await?;
    io.canonical(&path).await
}

/// Names of the checkpoints that the record speaks of and the remote does not have: whoever took them was
/// gone before they were there.
async fn left_behind(io: &Io, arrival: &Arrival<'_>, run: &Run, root: &str) -> Vec<String> {
    let mut left = Vec::new();
    for checkpoint in &run.checkpoints {
        let name = checkpoint.moment.name();
        let is_there = match arrival.there.commit(&name) {
            None => false,
            Some(commit) if commit == checkpoint.commit => true,
            // A later one of the same attempt, which was never recorded, comes from it.
            Some(later) => io.git_changed_paths(root, &checkpoint.commit, later).await.is_ok(),
        };
        if !is_there {
            left.push(name);
        }
    }
    left
}

/// The checkpoint whose files the run works on, of those that are not `lost`. Of one that is, the remote can
/// have what the agent had left before it was found good.
fn last_work(arrival: &Arrival<'_>, run: &Run, lost: &[String]) -> Option<Checkpoint> {
    let ledger = &arrival.ledger.bytes;
    let is_here = |checkpoint: &Checkpoint| !lost.contains(&checkpoint.moment.name());
    let or_before = |checkpoint: &Checkpoint| {
        if is_here(checkpoint) {
            return Some(checkpoint.clone());
        }
        let name = checkpoint.moment.name();
        checkpoint_at(ledger, &name, arrival.there.commit(&name)?)
    };
    let restored = restored_to(ledger).and_then(|to| run.checkpoint_named(&to).cloned());
    let restored = restored.filter(is_here);
    restored.or_else(|| run.checkpoints.iter().rev().find_map(or_before))
}

/// Makes the files in `root` those of `last`, unless somebody has changed them since a checkpoint of the
/// run.
async fn restore(
    io: &Io,
    run: &Run,
    last: Option<Checkpoint>,
    root: &str,
    index: String,
) -> Result<(), Failure> {
    let Some(last) = last else { return Ok(()) };
    let name = format!("{}/{ARRIVED}", run.id);
    let programs = run.trusted_programs().map(str::to_owned);
    let request = GitRequest::Checkpoint {
        cwd: root.to_owned(),
        index: index.clone(),
        name: name.clone(),
        parent: None,
        message: format!("What was there when {} came\n", run.id),
        at: io.now(),
        limit_bytes: limits::CHECKPOINT_FILE_BYTES,
        programs: programs.clone(),
    };
    let seen = io.git_checkpoint(request).await?;
    let known = run.checkpoints.iter().any(|checkpoint| checkpoint.tree == seen.tree);
    let dirty = io.git_survey(root, "").await?.repository.is_some_and(|r| !r.dirty.is_empty());
    if dirty && !known && seen.tree != last.tree {
        return Err(Failure::new(
            FailureKind::Conflict,
            format!(
                "files in {root} are changed, and not as a checkpoint of the run has them; they are \
                 kept as refs/onloop/{name}. Commit or stash them, then fetch it again"
            ),
        ));
    }
    if seen.tree != last.tree {
        let (cwd, commit) = (root.to_owned(), last.commit);
        io.git(GitRequest::Restore { cwd, index, commit, paths: Vec::new(), programs }).await?;
    }
    // A name that cannot be removed does no harm.
    let cwd = root.to_owned();
    let _ = io.git(GitRequest::ForgetCheckpoint { cwd, name, commit: seen.commit }).await;
    Ok(())
}

fn unfetched(run: &Run) -> impl Fn(Failure) -> CommandError {
    let what = format!("run `{}` was not fetched", run.id);
    move |failure| CommandError::from(failure).context(&what)
}
