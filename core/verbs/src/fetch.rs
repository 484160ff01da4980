//! `onloop fetch`: a run comes from a remote repository, its record and its work together.

use onloop_effect::{Exit, Io, Repository};
use onloop_engine::approval::consent::{ConsentQuestion, consent, would_run};
use onloop_engine::error::CommandError;
use onloop_engine::git::import::{Arrival, arrive};
use onloop_engine::git::remote_refs::{Remote, RemoteLedger, demand_home, forked};
use onloop_engine::run::advice::next_commands;
use onloop_engine::run::decider::demand_person;
use onloop_engine::state::store::{Known, Paths, Store};
use onloop_run::is_run_id;
use onloop_syntax::text;

/// Arguments of `onloop fetch`.
#[derive(Clone, Debug, clap::Args)]
pub struct FetchArgs {
    /// Run id
    pub run_id: String,
    /// The remote repository
    #[arg(long, value_name = "REMOTE", default_value = "origin")]
    pub remote: String,
    /// Take it over without being asked
    #[arg(long)]
    pub yes: bool,
    /// Succeed where the remote has no such run
    #[arg(long)]
    pub if_any: bool,
}

/// `onloop fetch`.
pub(crate) async fn fetch(io: &Io, args: &FetchArgs) -> Result<Exit, CommandError> {
    demand_person(io, "fetching a run").await?;
    let id = &args.run_id;
    let word = text::one_line(id);
    if !is_run_id(id) {
        return Err(CommandError::usage(format!(
            "`{word}` is not the id of a run: expected letters, digits, `.`, `_` and `-`"
        )));
    }
    let repository = here(io).await?;
    let root = repository.main_root.clone();
    let unfetched =
        |failure| CommandError::from(failure).context(format!("run `{id}` was not fetched"));
    demand_home(io, &root).await.map_err(unfetched)?;
    let there = Remote::ask(io, &root, &args.remote, id).await.map_err(unfetched)?;
    let remote = text::one_line(&args.remote);
    let Some(ledger) = &there.ledger else {
        if args.if_any {
            io.note(format!("{remote} has no run {id}.")).await;
            return Ok(Exit::Done);
        }
        return Err(CommandError::usage(format!("`{remote}` has no run `{id}`")).fix_by(
            "list what it has",
            format!("git ls-remote {} 'refs/onloop/*/ledger'", text::shell_word(&remote)),
        ));
    };
    let known = Store::known(io, id, &ledger.bytes).await?;
    if is_here(io, args, &known, ledger).await? {
        return Ok(Exit::Done);
    }
    io.result(description(&remote, ledger)).await;
    let question = ConsentQuestion {
        words: "Fetch it, so that onloop may run this here?",
        done: "fetched",
        command: format!("onloop fetch {id} --remote {} --yes", text::shell_word(&remote)),
    };
    consent(io, args.yes, &question).await?;
    let arrival = Arrival { id, there: &there, ledger, repository: &repository };
    let store = Box::pin(arrive(io, &arrival)).await?;
    let run = store.run();
    io.note(format!("Run {id} is here now. It works in {}.", run.place.execution_root)).await;
    if !run.is_over() {
        io.note(next_commands(run)).await;
    }
    Ok(Exit::Done)
}

/// The repository around the current folder.
async fn here(io: &Io) -> Result<Repository, CommandError> {
    let cwd = io.start().cwd.clone();
    io.git_survey(&cwd, "").await?.repository.ok_or_else(|| {
        let cwd = text::one_line(&cwd);
        CommandError::refused(format!("`{cwd}` is not in a checkout of a git repository"))
            .fix("run this in a clone of the repository that the run works on")
    })
}

/// Whether all that the remote has is here and works here already.
async fn is_here(
    io: &Io,
    args: &FetchArgs,
    known: &Known,
    theirs: &RemoteLedger,
) -> Result<bool, CommandError> {
    let (id, remote) = (&args.run_id, text::one_line(&args.remote));
    match known {
        Known::Nothing | Known::Beginning => Ok(false),
        // It may never have begun to work here.
        Known::Same => {
            let copy = Paths::copy_of(&theirs.ledger.run.place.execution_root, id);
            let works = io.stat(&copy).await.is_ok();
            if works {
                io.note(format!("Run {id} is here already, as {remote} has it.")).await;
            }
            Ok(works)
        }
        Known::More => {
            io.note(format!(
                "Run {id} is here already, with more than {remote} has of it; what is new goes \
                 there with:\n  onloop push {id} --remote {}",
                text::shell_word(&remote)
            ))
            .await;
            Ok(true)
        }
        Known::Other { line } => {
            Err(forked(id, &remote, *line, &theirs.commit).context("nothing was fetched"))
        }
    }
}

/// What the record says and would run, for a person.
fn description(remote: &str, theirs: &RemoteLedger) -> String {
    let run = &theirs.ledger.run;
    format!(
        "Run {}: {}, step {}/{}\n  Intent: {}\n  From {remote}, where whoever can push to the \
         repository can write it ({})\n{}",
        run.id,
        run.status.as_str(),
        run.current_step(),
        run.steps.len(),
        text::one_line(&run.settings.intent),
        theirs.commit,
        would_run(run),
    )
}
