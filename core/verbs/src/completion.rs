//! What becomes of the work of a run that this process completed: asked at a terminal, else printed as
//! commands.

use crate::finish::{DispositionWord, FinishArgs, finish};
use crate::pull_request::conclude;
use onloop_effect::{Exit, Io};
use onloop_engine::error::CommandError;
use onloop_engine::lookup::select::{Fitting, open};
use onloop_engine::run::change::change_by;
use onloop_engine::run::decider::decider;
use onloop_engine::run::driver_lock::while_driving;
use onloop_engine::run::ending::RunEnd;
use onloop_engine::run::gate::{Change, Form};
use onloop_engine::run::options::DriveArgs;
use onloop_engine::run::resume::{ResumeArgs, resume_run};
use onloop_engine::state::store::Store;
use onloop_engine::terminal::ask::{is_attended, show};
use onloop_run::{Decider, DecisionChannel, Event, Run};
use onloop_syntax::limits;
use onloop_syntax::text;

/// What a person wants.
enum Choice {
    /// An outcome of the work, with the word that confirms it.
    Finish(DispositionWord, Option<String>),
    /// Another attempt at the last step, for this reason.
    Changes(String),
    /// Nothing now.
    Later,
}

/// Shows what a completed run changed, then asks, or prints the commands for each choice. Requested
/// changes run with the options `drive`, and then the question comes again.
///
/// # Errors
///
/// The choice cannot be carried out.
pub(crate) async fn complete(
    io: &Io,
    end: RunEnd,
    drive: &DriveArgs,
) -> Result<Exit, CommandError> {
    let (Exit::Done, Some(id)) = (end.exit, end.id) else { return Ok(end.exit) };
    if end.pull_request_is_due {
        return Box::pin(conclude(io, &id, drive)).await;
    }
    if drive.json {
        return Ok(Exit::Done);
    }
    loop {
        let Ok(store) = open(io, Some(&id), Fitting::Latest).await else { return Ok(Exit::Done) };
        let run = store.run();
        if !run.may_be_handed_on() || !run.owns_branch() || run.fork_of.is_some() {
            return Ok(Exit::Done);
        }
        tell_changes(io, store.run()).await;
        if let Some(issue) = &store.run().settings.options.issue {
            io.note(format!("A pull request closes {}.", text::one_line(issue))).await;
        }
        let choice = match is_attended(io) {
            true => ask(io, &store).await?,
            false => Choice::Later,
        };
        match choice {
            Choice::Finish(disposition, confirm) => {
                let args = FinishArgs { confirm, ..FinishArgs::new(&id, disposition) };
                return Box::pin(finish(io, &args)).await;
            }
            Choice::Changes(reason) => {
                let by = decider(io, DecisionChannel::Terminal);
                redo(io, store, &reason, Some(by)).await?;
                let (run, drive) = (Some(id.clone()).into(), drive.clone());
                let args = ResumeArgs { run, drive, ..ResumeArgs::default() };
                let again = resume_run(io, &args).await?;
                if again.exit != Exit::Done {
                    return Ok(again.exit);
                }
            }
            Choice::Later => {
                tell_commands(io, store.run()).await;
                return Ok(Exit::Done);
            }
        }
    }
}

async fn ask(io: &Io, store: &Store) -> Result<Choice, CommandError> {
    let question =
        "[d]iff [m]erge [p]ull request [r]equest changes [k]eep [x] discard, Enter keeps: ";
    for _ in 0..limits::ANSWERS_PER_QUESTION {
        let Some(answer) = answer(io, question).await? else { break };
        match answer.as_str() {
            "d" | "diff" => show(io, store, None).await,
            "m" | "merge" => return Ok(Choice::Finish(DispositionWord::Merge, None)),
            "p" | "pr" => return Ok(Choice::Finish(DispositionWord::Pr, None)),
            "r" | "request changes" => match answer_to(io, "What should change? ").await? {
                Some(reason) => return Ok(Choice::Changes(reason)),
                None => io.note("Nothing was requested.").await,
            },
            "x" | "discard" => {
                let word = answer_to(io, "Type `discard` to remove the work: ").await?;
                if word.as_deref() == Some("discard") {
                    return Ok(Choice::Finish(DispositionWord::Discard, word));
                }
                io.note("Nothing was removed.").await;
            }
            "" | "k" | "keep" => return Ok(Choice::Finish(DispositionWord::Keep, None)),
            _ => io.note("Please answer d, m, p, r, k or x.").await,
        }
    }
    Ok(Choice::Later)
}

/// What the person typed; `None`: there is no answer.
///
/// # Errors
///
/// The person pressed Ctrl-C.
pub(crate) async fn answer(io: &Io, question: &str) -> Result<Option<String>, CommandError> {
    match io.ask(question).await {
        Ok(typed) => Ok(Some(typed.trim().to_owned())),
        Err(failure) if failure.is_interrupted() => Err(CommandError::interrupted()),
        Err(_) => Ok(None),
    }
}

/// As [`answer`]; an empty line is no answer.
pub(crate) async fn answer_to(io: &Io, question: &str) -> Result<Option<String>, CommandError> {
    Ok(answer(io, question).await?.filter(|typed| !typed.is_empty()))
}

/// Records that the last step of a completed run has to be done again, for a reason that `by` gave.
pub(crate) async fn redo(
    io: &Io,
    mut store: Store,
    reason: &str,
    by: Option<Decider>,
) -> Result<(), CommandError> {
    while_driving(io, &mut store, async |store| {
        let step = store.run().last_step();
        let reason = io.redacted(&text::one_line(reason));
        change_by(io, store, Event::StepRedone { step, reason }, by).await
    })
    .await
}

async fn tell_changes(io: &Io, run: &Run) {
    let Some(ends) = run.checkpoints_around(None) else { return };
    let Ok(Some(change)) = Change::between(io, run, ends).await else { return };
    if let Ok(stat) = change.show(io, Form::Stat).await {
        io.note(format!("\nChanged:\n{}", stat.trim_end())).await;
    }
}

async fn tell_commands(io: &Io, run: &Run) {
    let id = &run.id;
    io.note(format!(
        "\nNext:\n  onloop diff {id}\n  onloop finish {id} merge\n  onloop finish {id} pr\n  \
         onloop finish {id} discard --confirm discard\n\
         Request changes:\n  onloop reject {id} --redo --reason TEXT"
    ))
    .await;
}
