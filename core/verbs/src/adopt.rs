//! `onloop adopt`: a person takes a untrusted record over, after seeing what it would run.

use onloop_documents::ledger::{self, Origin};
use onloop_effect::{Exit, Io, OptionalExt};
use onloop_engine::approval::consent::{ConsentQuestion, consent, would_run};
use onloop_engine::error::{CommandError, ErrorKind, unusable_record};
use onloop_engine::git::checkout;
use onloop_engine::git::hardened::says;
use onloop_engine::lookup::runs::{is_own, untrusted_copy};
use onloop_engine::run::advice::next_commands;
use onloop_engine::run::decider::{decider, demand_person};
use onloop_engine::state::rebuild::set_aside;
use onloop_engine::state::store::{Paths, Store, StoreError};
use onloop_engine::state::untrusted::read_untrusted;
use onloop_run::{DecisionChannel, Run, is_run_id};
use onloop_syntax::limits;
use onloop_syntax::text;

/// Arguments of `onloop adopt`.
#[derive(Clone, Debug, Default, clap::Args)]
pub struct AdoptArgs {
    /// Id of a untrusted run, or a saved ledger
    #[arg(value_name = "RUN_ID|FILE")]
    pub run: String,
    /// Adopt it without being asked
    #[arg(long)]
    pub yes: bool,
}

/// What is to be adopted.
struct Candidate {
    run: Run,
    /// The file that it was read from.
    from: String,
    /// The copy of a untrusted record that our own replaces, where its name changes.
    replaced: Option<String>,
    /// There is a damaged ledger of this run, which is put aside first.
    has_ledger: bool,
    /// It came with the repository.
    is_tracked: bool,
}

/// `onloop adopt`.
pub(crate) async fn adopt(io: &Io, args: &AdoptArgs) -> Result<Exit, CommandError> {
    demand_person(io, "adopting a run").await?;
    let candidate = match args.run.ends_with(".jsonl") {
        true => saved(io, &args.run).await?,
        false => untrusted(io, &args.run).await?,
    };
    io.result(description(&candidate, io)).await;
    let question = ConsentQuestion {
        words: "Adopt it, so that onloop may run this?",
        done: "adopted",
        command: format!("onloop adopt {} --yes", text::shell_word(&args.run)),
    };
    consent(io, args.yes, &question).await?;
    let Candidate { run, from, replaced, has_ledger, is_tracked: _ } = candidate;
    if has_ledger {
        set_aside(io, &run.id).await?;
    }
    let by = decider(io, DecisionChannel::Command);
    let origin = Origin::Adopted { from };
    let store = Store::create(io, run, &origin, Some(&by)).await?;
    if let Some(path) = replaced {
        // All that it said is in the ledger now, under another name.
        if let Err(failure) = io.remove(&path).await {
            io.note(format!("warning: {failure}")).await;
        }
    }
    let run = store.run();
    io.note(format!("Adopted run {}.", run.id)).await;
    if !run.is_over() {
        io.note(next_commands(run)).await;
    }
    Ok(Exit::Done)
}

/// A record that lies in a folder that can be found from here.
async fn untrusted(io: &Io, id: &str) -> Result<Candidate, CommandError> {
    let found = if is_run_id(id) { untrusted_copy(io, id).await } else { None };
    let word = text::one_line(id);
    let Some((root, path)) = found else {
        let what = format!("no record of a run `{word}` can be found from here");
        return Err(CommandError::usage(what)
            .fix_by("list the runs here, with the untrusted ones", "onloop list"));
    };
    let root = io.canonical(&root).await.unwrap_or(root);
    let mut taken = is_own(io, id).await?;
    if taken {
        match Store::open(io, id).await {
            Ok(store) if store.run().place.execution_root == root => {
                let what = format!("this machine has the ledger of run `{word}` already");
                return Err(CommandError::usage(what).because("there is nothing to adopt"));
            }
            Ok(store) => {
                let there = store.run().place.execution_root.clone();
                if io.stat(&there).await.is_err() {
                    let to = text::shell_word(&root);
                    let what = format!("run `{word}` worked in `{there}`, which is gone");
                    return Err(CommandError::refused(what).fix_by(
                        "if the checkout was moved here, say so",
                        format!("onloop relocate {word} --to {to}"),
                    ));
                }
            }
            Err(_) => {}
        }
    }
    let record = read_untrusted(io, &root, id).await?;
    let mut run = record.run;
    let mut replaced = None;
    if taken {
        replaced = Some(path);
    }
    let mut number = 2u32;
    while taken {
        run.adopted_as(&format!("{id}-{number}"));
        number += 1;
        taken = is_own(io, &run.id).await?;
    }
    let is_tracked = is_tracked(io, &root, &record.path).await;
    Ok(Candidate { run, from: record.path, replaced, has_ledger: false, is_tracked })
}

/// Whether git tracks the record at `path` below `root`.
async fn is_tracked(io: &Io, root: &str, path: &str) -> bool {
    let Some(checkout) = checkout::find(io, root).await else { return false };
    match path.strip_prefix(&checkout.root) {
        Some(below) => checkout.tracks(io, below.trim_start_matches('/')).await,
        None => false,
    }
}

/// A ledger that was saved beside one that had been changed.
async fn saved(io: &Io, path: &str) -> Result<Candidate, CommandError> {
    let read = match io.read(path, limits::RECORD_BYTES).await {
        Ok((bytes, _)) => ledger::read(&bytes, None).map_err(|error| format!("{path}: {error}")),
        Err(failure) => Err(failure.message),
    };
    let run = match read {
        Ok(ledger) => ledger.run,
        Err(why) => return Err(CommandError::usage(text::one_line(&why))),
    };
    let has_ledger = is_own(io, &run.id).await?;
    if has_ledger && Store::open(io, &run.id).await.is_ok() {
        let id = &run.id;
        let what = format!("the ledger of run `{id}` is sound; there is nothing to adopt");
        return Err(CommandError::usage(what));
    }
    Ok(Candidate { run, from: path.to_owned(), replaced: None, has_ledger, is_tracked: false })
}

/// What the record says and would run, for a person.
fn description(candidate: &Candidate, io: &Io) -> String {
    let run = &candidate.run;
    let mut out = format!(
        "Run {}: {}, step {}/{}\n  Intent: {}\n  Read from {}\n",
        run.id,
        run.status.as_str(),
        run.current_step(),
        run.steps.len(),
        text::one_line(&run.settings.intent),
        text::one_line(&candidate.from),
    );
    if run.last_update > io.now() {
        out += &format!(
            "  Its last change lies in the future ({}): a clock was wrong, or it was made up.\n",
            run.last_update.to_rfc3339()
        );
    }
    if candidate.is_tracked {
        out += "  Git tracks this record: everyone who can push to the repository can write it.\n";
    }
    out + &would_run(run)
}

/// Arguments of `onloop relocate`.
#[derive(Clone, Debug, Default, clap::Args)]
pub struct RelocateArgs {
    /// Run id
    pub run_id: String,
    /// The folder that the checkout was moved to
    #[arg(long, value_name = "DIR")]
    pub to: String,
}

/// `onloop relocate`: the checkout of a run was moved.
pub(crate) async fn relocate(io: &Io, args: &RelocateArgs) -> Result<Exit, CommandError> {
    demand_person(io, "moving a run").await?;
    let found = io.canonical(&args.to).await;
    let root = found.map_err(|failure| CommandError::from(failure).of_kind(ErrorKind::Usage))?;
    let id = text::one_line(&args.run_id);
    let opened = match is_run_id(&args.run_id) {
        true => Store::open(io, &args.run_id).await,
        false => Err(StoreError::Missing),
    };
    let store = match opened {
        Ok(store) => store,
        Err(StoreError::Missing) => {
            return Err(CommandError::usage(format!("no run `{id}` was found"))
                .fix_by("list the runs of this machine", "onloop list --everywhere"));
        }
        Err(error) => return Err(unusable_record(io, &id, error).await),
    };
    let before = store.run().place.execution_root.clone();
    if before == root {
        io.note(format!("Run {id} works in {root} already.")).await;
        return Ok(Exit::Done);
    }
    let there = io.stat(&Paths::copy_of(&before, &store.run().id)).await.optional();
    if there.is_ok_and(|stat| stat.is_some()) {
        let what = format!("`{before}` still exists, with the copy of this run");
        return Err(CommandError::refused(what)
            .because("only a checkout that was moved is relocated")
            .fix(format!("move that folder to `{root}`, then repeat this command")));
    }
    let store = store.relocate(&root, decider(io, DecisionChannel::Command)).await?;
    io.note(format!("Run {} works in {root} now.", store.run().id)).await;
    let place = &store.run().place;
    // Git finds a worktree that was moved by hand after that.
    if let (Some(_), Some(repository)) = (&place.worktree_path, &place.repo_root) {
        let words = ["worktree", "repair", root.as_str()];
        says(io, repository, &words, None, limits::GIT_ACT_TIMEOUT_MS).await?;
    }
    Ok(Exit::Done)
}
