//! `onloop push`: a run goes to a remote repository, its record and its work together.

use onloop_effect::{Exit, Failure, GitRequest, Io, KeptFile, NamedCheckpoint, RefUpdate};
use onloop_engine::error::CommandError;
use onloop_engine::git::remote_refs::{
    BRANCH, LEDGER, LEDGER_FILE, Remote, RemoteLedger, forked, own_ledger,
};
use onloop_engine::lookup::select::{Fitting, RunName, open};
use onloop_engine::run::checkpoint;
use onloop_engine::run::decider::demand_person;
use onloop_engine::run::driver_lock::while_driving;
use onloop_engine::state::store::{Known, Store, compare};
use onloop_run::Run;
use onloop_syntax::limits;
use onloop_syntax::text;

/// Arguments of `onloop push`.
#[derive(Clone, Debug, clap::Args)]
pub struct PushArgs {
    /// The run
    #[command(flatten)]
    pub run: RunName,
    /// The remote repository
    #[arg(long, value_name = "REMOTE", default_value = "origin")]
    pub remote: String,
}

/// `onloop push`.
pub(crate) async fn push(io: &Io, args: &PushArgs) -> Result<Exit, CommandError> {
    demand_person(io, "pushing a run").await?;
    let mut store = open(io, args.run.as_deref(), Fitting::Latest).await?;
    // Its driver would continue a record that exists elsewhere, too.
    while_driving(io, &mut store, async |store| send(io, store, &args.remote).await).await?;
    Ok(Exit::Done)
}

async fn send(io: &Io, store: &Store, remote: &str) -> Result<(), CommandError> {
    let run = store.run();
    let id = &run.id;
    let cwd = folder(io, run).await?;
    let there = Remote::ask(io, &cwd, remote, id).await.map_err(unpushed(id))?;
    let ours = own_ledger(io, store).await?;
    let is_known = may_follow(id, remote, &ours, there.ledger.as_ref())?;
    demand_known_hook(io, store, remote).await?;
    let here = io.git_checkpoints(&cwd).await.map_err(unpushed(id))?;
    let mut updates = checkpoints(run, &there, &here);
    updates.extend(branch(io, run, &cwd, &there).await.map_err(unpushed(id))?);
    if !is_known {
        let before = there.ledger.as_ref().map(|ledger| ledger.commit.clone());
        let kept = keep_ledger(io, id, &cwd, ours, before.clone()).await;
        let commit = kept.map_err(unpushed(id))?;
        let name = format!("{id}/{LEDGER}");
        updates.push(RefUpdate { name, expected: before, commit });
    }
    let count = updates.len() as u64;
    // The ledger goes last: what it speaks of is there then.
    let mut batches: Vec<Vec<RefUpdate>> = Vec::new();
    while updates.len() > limits::PUSHED_NAMES {
        batches.push(updates.drain(..limits::PUSHED_NAMES).collect());
    }
    batches.extend((!updates.is_empty()).then_some(updates));
    for updates in batches {
        let (cwd, remote) = (cwd.clone(), remote.to_owned());
        let pushed = io.git(GitRequest::PushRefs { cwd, remote, updates }).await;
        pushed.map_err(unpushed(id))?;
    }
    let remote = text::one_line(remote);
    io.note(match count {
        0 => format!("Run {id} is at {remote} already, as it is here."),
        count => {
            let names = text::counted(count, "name");
            format!(
                "Pushed run {id} to {remote} ({names} below refs/onloop/{id}/). Elsewhere it goes \
                 on with:\n  onloop fetch {id}{}",
                on(&remote)
            )
        }
    })
    .await;
    Ok(())
}

/// The option that names a remote that is not the usual one.
fn on(remote: &str) -> String {
    match remote {
        "origin" => String::new(),
        remote => format!(" --remote {}", text::shell_word(remote)),
    }
}

/// A folder in the repository of the run.
async fn folder(io: &Io, run: &Run) -> Result<String, CommandError> {
    let place = &run.place;
    let (id, root) = (&run.id, place.execution_root.clone());
    let Some(repository) = place.repo_root.clone().filter(|_| place.branch.is_some()) else {
        let what = format!("run `{id}` does not work on a branch of a git repository");
        return Err(CommandError::refused(what).because("only its record could be copied"));
    };
    // An address of a remote may be relative to the checkout in which it was configured.
    Ok(if io.stat(&repository).await.is_ok() { repository } else { root })
}

/// Whether the remote has our ledger already; otherwise ours continues what it has.
fn may_follow(
    id: &str,
    remote: &str,
    ours: &[u8],
    theirs: Option<&RemoteLedger>,
) -> Result<bool, CommandError> {
    let Some(theirs) = theirs else { return Ok(false) };
    let (name, last) = (text::one_line(remote), theirs.last_line());
    let fetch = format!("onloop fetch {id}{}", on(&name));
    let error = match compare(ours, &theirs.bytes) {
        Known::Same => return Ok(true),
        Known::More => return Ok(false),
        Known::Nothing | Known::Beginning => CommandError::refused(format!(
            "`{name}` has more of run `{id}` than there is here, up to line {last} of its ledger"
        ))
        .fix_by("bring that here", fetch),
        Known::Other { line } => forked(id, &name, line, &theirs.commit),
    };
    Err(error.context("nothing was pushed"))
}

/// A push runs a hook of the repository, and a hook that came with the run is unreviewed.
async fn demand_known_hook(io: &Io, store: &Store, remote: &str) -> Result<(), CommandError> {
    let run = store.run();
    let tells = run.trusted_programs().is_some_and(|programs| programs.contains('+'));
    if !tells || io.stat(&run.place.execution_root).await.is_err() {
        return Ok(());
    }
    let id = &run.id;
    let seen = checkpoint::snapshot_work(io, store).await.map_err(unpushed(id))?;
    checkpoint::forget_snapshot(io, store, seen.commit).await;
    if !run.has_other_push_hook(&seen.programs) {
        return Ok(());
    }
    Err(CommandError::refused("nothing was pushed")
        .because("the hook `pre-push` was changed since the run began, and a push would run it")
        .fix_by(
            "look at the hook and remove it, then push again",
            format!("onloop push {id}{}", on(&text::one_line(remote))),
        ))
}

/// What the remote does not have of the run's checkpoints and git still has here.
fn checkpoints(run: &Run, there: &Remote, here: &[NamedCheckpoint]) -> Vec<RefUpdate> {
    let mut updates = Vec::new();
    for checkpoint in &run.checkpoints {
        let (name, commit) = (checkpoint.moment.name(), &checkpoint.commit);
        let expected = there.commit(&name).map(str::to_owned);
        if expected.as_ref() != Some(commit) && here.iter().any(|named| named.commit == *commit) {
            let name = format!("{}/{name}", run.id);
            updates.push(RefUpdate { name, expected, commit: Some(commit.clone()) });
        }
    }
    updates
}

/// The branch of the run, with what was committed to it.
async fn branch(
    io: &Io,
    run: &Run,
    cwd: &str,
    there: &Remote,
) -> Result<Option<RefUpdate>, Failure> {
    let name = run.place.branch.as_deref().unwrap_or_default();
    let survey = io.git_survey(cwd, name).await?;
    let commit = survey.repository.and_then(|repository| repository.target_commit);
    let expected = there.commit(BRANCH).map(str::to_owned);
    // A branch that was merged and deleted is where it was.
    let moved = commit.is_some() && commit != expected;
    let name = format!("{}/{BRANCH}", run.id);
    Ok(moved.then_some(RefUpdate { name, expected, commit }))
}

async fn keep_ledger(
    io: &Io,
    id: &str,
    cwd: &str,
    ledger: Vec<u8>,
    parent: Option<String>,
) -> Result<Option<String>, Failure> {
    let file = KeptFile { name: LEDGER_FILE.to_owned(), bytes: ledger.into() };
    let request = GitRequest::KeepFiles {
        cwd: cwd.to_owned(),
        files: vec![file],
        name: None,
        parent,
        message: format!("Ledger of {id}\n"),
        at: io.now(),
    };
    io.git_keep_files(request).await
}

fn unpushed(id: &str) -> impl Fn(Failure) -> CommandError {
    let what = format!("run `{id}` was not pushed");
    move |failure| CommandError::from(failure).context(&what)
}
