//! `onloop finish`: keep, merge, publish or discard the work of a run that has ended.
//!
//! What is about to be done is durable before it is done, and what came of it before it is
//! said. After a crash in between, the same command looks first at how far things had come.

mod acts;
mod body;
mod context;
mod inside;
mod plan;
mod pull_request;
mod removal;
mod verified;

use context::FinishContext;
use onloop_documents as documents;
use onloop_effect::{Exit, Io};
use onloop_engine::error::{CommandError, ErrorKind, unusable_record};
use onloop_engine::lookup::select::{Fitting, RunName, demand_whole, open, select};
use onloop_engine::run::advice::{discard_command, first_command};
use onloop_engine::run::driver_lock::drive_alone;
use onloop_engine::run::options::DriveArgs;
use onloop_engine::state::store::{StateHome, Store, prepare_folder};
use onloop_run::{Disposition, Event, FinishAct, FinishIntent, FinishOutcome, Run, RunStatus};
use onloop_syntax::limits;
use onloop_syntax::text;
use onloop_workflow::CommitWhen;
use plan::Wish;
pub(crate) use removal::remove_merged;

/// Arguments of `onloop finish`.
#[derive(Clone, Debug, clap::Args)]
pub struct FinishArgs {
    /// The run
    #[command(flatten)]
    pub run: RunName,
    /// What to do with the work
    #[arg(value_enum, value_name = "merge|pr|keep|discard")]
    pub disposition: DispositionWord,
    /// Branch to merge into [default: where the run started, or main]
    #[arg(long, value_name = "B")]
    pub target_branch: Option<String>,
    /// Remote to publish to
    #[arg(long, value_name = "R", default_value = "origin")]
    pub remote: String,
    /// Open a pull request after publishing
    #[arg(long, conflicts_with = "pr_url")]
    pub create_pr: bool,
    /// Record the address of a pull request that is open already
    #[arg(long, value_name = "U")]
    pub pr_url: Option<String>,
    /// Wait until the checks of the pull request have passed (with pr)
    #[arg(long)]
    pub watch: bool,
    /// How often the agent may repair what fails there [default: 0]
    #[arg(long, value_name = "N", requires = "watch",
            value_parser = clap::value_parser!(u32).range(0..=20))]
    pub repair: Option<u32>,
    /// What there is to say about it
    #[arg(long, value_name = "T")]
    pub notes: Option<String>,
    /// `--confirm discard` is needed to discard
    #[arg(long, value_name = "WORD")]
    pub confirm: Option<String>,
    /// How verified work is committed [default: as the file says]
    #[arg(long, value_enum, value_name = "HOW")]
    pub commit: Option<CommitWord>,
    /// Message of that commit [default: from intent and steps]
    #[arg(long, value_name = "TEXT")]
    pub message: Option<String>,
    /// Replace an outcome that is recorded already
    #[arg(long)]
    pub force: bool,
    /// Print the summary of the run as JSON, instead of a line
    #[arg(long)]
    pub json: bool,
}

impl FinishArgs {
    /// The arguments for run `id`, with defaults for everything else.
    pub fn new(id: &str, disposition: DispositionWord) -> FinishArgs {
        FinishArgs {
            run: Some(id.to_owned()).into(),
            disposition,
            target_branch: None,
            remote: "origin".to_owned(),
            create_pr: false,
            pr_url: None,
            watch: false,
            repair: None,
            notes: None,
            confirm: None,
            commit: None,
            message: None,
            force: false,
            json: false,
        }
    }
}

/// What becomes of the work, as it is written on the command line.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum DispositionWord {
    /// Leave branch and worktree as they are
    #[value(alias = "kept")]
    Keep,
    /// Merge the branch, then remove it and its worktree
    #[value(alias = "merged")]
    Merge,
    /// Push the branch and open a pull request
    Pr,
    /// Push the branch
    #[value(alias = "published")]
    Publish,
    /// Remove branch and worktree
    #[value(alias = "discarded")]
    Discard,
}

/// How uncommitted work is committed, as it is written on the command line.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum CommitWord {
    /// One commit of what was verified and is not committed yet
    End,
    /// One commit for each verified step
    Step,
    /// None; what is not committed is refused
    Never,
}

impl From<CommitWord> for CommitWhen {
    fn from(word: CommitWord) -> CommitWhen {
        match word {
            CommitWord::End => CommitWhen::End,
            CommitWord::Step => CommitWhen::Step,
            CommitWord::Never => CommitWhen::Never,
        }
    }
}

/// `onloop finish`: does what is asked and prints the summary.
///
/// # Errors
///
/// No outcome was recorded.
pub(crate) async fn finish(io: &Io, args: &FinishArgs) -> Result<Exit, CommandError> {
    if args.watch {
        return watch(io, args).await;
    }
    let Finished { store, commit } = carried_out(io, args).await?;
    if args.json {
        io.result(format!("{:#}\n", documents::summary::summary(store.run()))).await;
    } else {
        io.result(outcome_line(store.run(), commit.as_deref()) + "\n").await;
    }
    Ok(Exit::Done)
}

/// As [`finish`], and returns what became of the work in one line.
///
/// # Errors
///
/// As [`finish`].
pub(crate) async fn carry_out(io: &Io, args: &FinishArgs) -> Result<String, CommandError> {
    let Finished { store, commit } = carried_out(io, args).await?;
    Ok(outcome_line(store.run(), commit.as_deref()))
}

async fn carried_out(io: &Io, args: &FinishArgs) -> Result<Finished, CommandError> {
    let wish = Wish::read(args).map_err(CommandError::step_by_step)?;
    let selected = select(io, args.run.as_deref(), Fitting::OnlyFor(wish.disposition)).await;
    let id = selected.map(|selected| selected.id).map_err(|error| match error.kind() {
        ErrorKind::Usage => error,
        _ => error.step_by_step(),
    })?;
    alone(io, &id, &wish).await.map_err(|error| match error.kind() {
        ErrorKind::Interrupted => {
            error.fix("run the same command again; it continues where it stopped")
        }
        _ => error.step_by_step(),
    })
}

/// Publishes the work with a pull request, unless that was done, and follows it.
async fn watch(io: &Io, args: &FinishArgs) -> Result<Exit, CommandError> {
    if args.disposition != DispositionWord::Pr {
        return Err(CommandError::usage("--watch is for `onloop finish RUN pr`"));
    }
    let fitting = Fitting::OnlyFor(Disposition::Published);
    let store = open(io, args.run.as_deref(), fitting).await?;
    let id = store.run().id.clone();
    let outcome = store.run().finish.as_ref().map(|finish| &finish.outcome);
    let has_one = outcome.is_some_and(|outcome| outcome.pr_url.is_some());
    drop(store);
    if !has_one {
        let args = FinishArgs { run: Some(id.clone()).into(), ..args.clone() };
        let line = carry_out(io, &args).await?;
        io.note(line).await;
    }
    crate::pull_request::begin(io, &id, args.repair.unwrap_or_default()).await?;
    let exit = Box::pin(crate::pull_request::conclude(io, &id, &DriveArgs::default())).await?;
    if args.json {
        let store = Store::open(io, &id).await?;
        io.result(format!("{:#}\n", documents::summary::summary(store.run()))).await;
    }
    Ok(exit)
}

/// Removes branch and worktree of the run `id`, and says nothing.
///
/// # Errors
///
/// As [`finish`].
pub(crate) async fn discard(io: &Io, id: &str) -> Result<(), CommandError> {
    let confirm = Some("discard".to_owned());
    let args = FinishArgs { confirm, ..FinishArgs::new(id, DispositionWord::Discard) };
    alone(io, id, &Wish::read(&args)?).await.map(|_| ())
}

/// A run whose outcome is recorded.
struct Finished {
    store: Store,
    /// The commit that its branch was at.
    commit: Option<String>,
}

/// What became of the work, in one line for people. A deleted branch comes back at `commit`.
fn outcome_line(run: &Run, commit: Option<&str>) -> String {
    let id = &run.id;
    let branch = run.place.branch.as_deref().unwrap_or("no branch");
    let Some(finish) = &run.finish else { return format!("{id} has no outcome yet") };
    let outcome = &finish.outcome;
    let target = outcome.target_branch.as_deref().unwrap_or("another branch");
    let remote = outcome.remote.as_deref().unwrap_or("a remote");
    let is_deleted = outcome.branch_action.as_deref() == Some("deleted");
    let line = match (outcome.disposition, &outcome.pr_url) {
        (Disposition::Kept, _) => format!("Kept {branch}, run {id}"),
        (Disposition::Merged, _) => format!("Merged {branch} into {target}, run {id}"),
        (Disposition::Published, Some(url)) => format!("Pushed {branch} to {remote}: {url}"),
        (Disposition::Published, None) => format!("Pushed {branch} to {remote}, run {id}"),
        (Disposition::Discarded, _) => format!("Discarded {branch}, run {id}"),
    };
    // What was never committed is in the last checkpoint alone.
    let last = run.checkpoints.last().map(|checkpoint| checkpoint.commit.as_str());
    let commit = match outcome.disposition {
        Disposition::Discarded => last.or(commit),
        Disposition::Kept | Disposition::Merged | Disposition::Published => commit,
    };
    match commit.filter(|_| is_deleted) {
        Some(commit) => {
            format!("{line} (`git branch {} {commit}` brings it back)", text::shell_word(branch))
        }
        None => line,
    }
}

/// One finish at a time in a repository.
async fn alone(io: &Io, id: &str, wish: &Wish) -> Result<Finished, CommandError> {
    let store = named(io, id).await?;
    demand_whole(store.run())?;
    let home = context::home(io, store.run()).await?;
    prepare_folder(io, &home).await?;
    let lock = StateHome::of(io)?.finish_lock(&home);
    io.lock(&lock, limits::LOCK_WAIT_MS).await?;
    let finished = Box::pin(settle(io, id, wish)).await;
    // A lock that cannot be released ends with this process.
    let _ = io.unlock(&lock).await;
    finished
}

/// The record of the run.
async fn named(io: &Io, id: &str) -> Result<Store, CommandError> {
    match Store::open(io, id).await {
        Ok(store) => Ok(store),
        Err(error) => Err(unusable_record(io, id, error).await),
    }
}

async fn settle(io: &Io, id: &str, wish: &Wish) -> Result<Finished, CommandError> {
    let mut store = named(io, id).await?;
    if wish.is_done(store.run()) {
        io.note("already merged, nothing to do").await;
        return Ok(Finished { store, commit: None });
    }
    let mut context = FinishContext::survey(io, store.run()).await?;
    let driver = store.paths().driver_lock();
    let driven = drive_alone(io, &mut store).await;
    driven.map_err(|error| error.context("the work is in use; nothing was done with it"))?;
    let intended = intend(io, &mut store, wish, &mut context).await;
    // From here on the intention keeps everybody else away from the run.
    let _ = io.unlock(&driver).await;
    let Some(intended) = intended? else { return Ok(Finished { store, commit: None }) };
    let context = context.expect("nothing is intended without a context");
    let store = Box::pin(acts::perform(io, store, &context, &intended)).await?;
    Ok(Finished { store, commit: intended.intent.act.commit().map(str::to_owned) })
}

/// Makes durable what is about to be done; `None`: there is nothing to do but record that
/// the work is kept, and that has happened.
async fn intend(
    io: &Io,
    store: &mut Store,
    wish: &Wish,
    context: &mut Option<FinishContext>,
) -> Result<Option<Intended>, CommandError> {
    if let Some(intent) = store.run().finish_intent.clone() {
        let found = context.as_ref().ok_or_else(|| plan::no_branch(store.run()))?;
        acts::recover(io, found, &intent.act).await?;
        *context = FinishContext::survey(io, store.run()).await?;
        let context = context.as_ref().ok_or_else(|| plan::no_branch(store.run()))?;
        match acts::look(io, store.run(), context, &intent, wish).await? {
            acts::HowFar::Continue => {
                plan::worktree_objection(context, wish.disposition).map_or(Ok(()), Err)?;
                if wish.disposition == Disposition::Merged {
                    verified::demand_untouched(io, store, context).await?;
                }
                let notes = wish.notes.clone().or(intent.notes.clone());
                let intent = FinishIntent { notes, ..intent };
                return Ok(Some(Intended { intent, earlier: true }));
            }
            acts::HowFar::NotBegun(reason) => store.apply(Event::FinishAbandoned { reason })?,
            // The record says why and how to end it.
            acts::HowFar::Elsewhere => {}
        }
    }
    let replace = wish.force;
    if wish.disposition == Disposition::Kept {
        let outcome = kept(store, context.as_ref(), wish);
        store.apply(Event::FinishRecorded { outcome, replace })?;
        store.commit().await?;
        return Ok(None);
    }
    let act = choose(io, store, wish, context).await?;
    store.apply(Event::FinishIntended { act, notes: wish.notes.clone(), replace })?;
    store.commit().await?;
    let intent = store.run().finish_intent.clone();
    Ok(intent.map(|intent| Intended { intent, earlier: false }))
}

/// What is about to be done.
struct Intended {
    intent: FinishIntent,
    /// Whether an earlier process recorded it, and may have done a part.
    earlier: bool,
}

/// Asks the record first: whether the run has ended matters before where its branch is.
async fn choose(
    io: &Io,
    store: &Store,
    wish: &Wish,
    context: &mut Option<FinishContext>,
) -> Result<FinishAct, CommandError> {
    let mut rehearsal = store.run().clone();
    let act = wish.rehearsed();
    let intended = Event::FinishIntended { act, notes: None, replace: wish.force };
    rehearsal.apply(io.now(), &intended).map_err(|refusal| {
        let run = store.run();
        let is_undelivered = run.status == RunStatus::Abandoned
            && !matches!(wish.disposition, Disposition::Kept | Disposition::Discarded)
            && run.accepts(Disposition::Discarded);
        let error = CommandError::from(refusal);
        if is_undelivered {
            return error.fix_by("discard the work", discard_command(run));
        }
        if run.is_over() {
            return error;
        }
        let (what, command) = first_command(run);
        error.fix_by(what, command)
    })?;
    if let Some(objection) = wish.objection() {
        return Err(objection);
    }
    let run = store.run();
    let Some(found) = context.as_ref() else { return Err(plan::no_branch(run)) };
    if wish.hands_on() && verified::put_back_worktree(io, store, found).await? {
        *context = FinishContext::survey(io, run).await?;
    }
    let Some(context) = context.as_ref() else { return Err(plan::no_branch(run)) };
    let target = context.target(io, run, wish.target.as_deref()).await?;
    let act = plan::plan(run, context, wish, target.as_ref())?;
    Ok(match act {
        FinishAct::Discard { .. } => act,
        FinishAct::Merge { target: name, .. } => {
            let target = target.as_ref().expect("a merge has a target");
            let commit = settle_work(io, store, context, wish).await?;
            // The work is committed by now, so that git can take the target in.
            if let Some(objection) =
                verified::moved_target(io, run, context, (target, &commit)).await?
            {
                return Err(objection);
            }
            FinishAct::Merge { commit, target: name, pull_request: None }
        }
        FinishAct::Publish { remote, pull_request, .. } => FinishAct::Publish {
            commit: settle_work(io, store, context, wish).await?,
            remote,
            pull_request,
        },
    })
}

/// The commit that has what was verified.
async fn settle_work(
    io: &Io,
    store: &Store,
    context: &FinishContext,
    wish: &Wish,
) -> Result<String, CommandError> {
    let how = wish.commit.unwrap_or(store.run().settings.commit);
    verified::settle(io, store, context, (how, wish.disposition), wish.message.as_deref()).await
}

fn kept(store: &Store, context: Option<&FinishContext>, wish: &Wish) -> FinishOutcome {
    FinishOutcome {
        target_branch: wish.target.clone(),
        pr_url: wish.pr_url.clone(),
        branch_action: store.run().place.branch.as_ref().map(|_| "kept".to_owned()),
        worktree_action: context.and_then(|s| s.worktree.as_ref()).map(|_| "kept".to_owned()),
        notes: wish.notes.clone(),
        ..FinishOutcome::new(Disposition::Kept)
    }
}
