//! What becomes of the work of a task that is done: asked at a terminal, else printed as commands.

use crate::finish::{DispositionWord, FinishArgs, finish};
use onloop_effect::{Exit, Io};
use onloop_engine::error::CommandError;
use onloop_engine::lookup::select::{Fitting, open};
use onloop_engine::run::gate::{Change, Form};
use onloop_engine::state::store::Store;
use onloop_engine::terminal::ask::{is_attended, show};
use onloop_syntax::limits;

/// Shows what changed, then asks, or prints the commands for each choice.
///
/// # Errors
///
/// The choice cannot be carried out.
pub(super) async fn choose(io: &Io, id: &str) -> Result<Exit, CommandError> {
    let store = open(io, Some(id), Fitting::Latest).await?;
    tell_changes(io, &store).await;
    if store.run().place.worktree_path.is_none() {
        return Ok(Exit::Done);
    }
    if !is_attended(io) {
        tell_commands(io, id).await;
        return Ok(Exit::Done);
    }
    let question = "[d]iff [m]erge [p]ull request [k]eep [x] discard, Enter keeps: ";
    for _ in 0..limits::ANSWERS_PER_QUESTION {
        match io.ask(question).await.as_deref().map(str::trim) {
            Ok("d" | "diff") => {
                show(io, &store, None).await;
                continue;
            }
            Ok("m" | "merge") => return end(io, id, DispositionWord::Merge, None).await,
            Ok("p" | "pr") => return end(io, id, DispositionWord::Pr, None).await,
            Ok("x" | "discard") => {
                let typed = io.ask("Type `discard` to remove the work: ").await;
                let word = typed.ok().map(|typed| typed.trim().to_owned());
                if word.as_deref() == Some("discard") {
                    return end(io, id, DispositionWord::Discard, word).await;
                }
                io.note("Nothing was removed.").await;
            }
            Ok("" | "k" | "keep") => break,
            Ok(_) => io.note("Please answer d, m, p, k or x.").await,
            Err(failure) if failure.is_interrupted() => return Err(CommandError::interrupted()),
            Err(_) => break,
        }
    }
    tell_commands(io, id).await;
    Ok(Exit::Done)
}

async fn tell_changes(io: &Io, store: &Store) {
    let run = store.run();
    let Some(ends) = run.checkpoints_around(None) else { return };
    let Ok(Some(change)) = Change::between(io, run, ends).await else { return };
    if let Ok(stat) = change.show(io, Form::Stat).await {
        io.note(format!("\nChanged:\n{}", stat.trim_end())).await;
    }
}

async fn tell_commands(io: &Io, id: &str) {
    io.note(format!(
        "\nNext:\n  onloop diff {id}\n  onloop finish {id} merge\n  onloop finish {id} pr\n  \
         onloop finish {id} discard --confirm discard"
    ))
    .await;
}

async fn end(
    io: &Io,
    id: &str,
    disposition: DispositionWord,
    confirm: Option<String>,
) -> Result<Exit, CommandError> {
    let args = FinishArgs { confirm, ..FinishArgs::new(id, disposition) };
    finish(io, &args).await
}
