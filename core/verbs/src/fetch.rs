//! `onloop fetch`: a run comes from a remote repository, its record and its work together.

use onloop_effect::{Exit, Failure, Io, Repository};
use onloop_engine::advice::go_on;
use onloop_engine::arrive::{Arrival, arrive};
use onloop_engine::consent::{ConsentQuestion, consent, would_run};
use onloop_engine::decide::demand_person;
use onloop_engine::exit::refused_by;
use onloop_engine::store::{Known, Paths, Store};
use onloop_engine::travel::{LEDGER_FILE, Remote, RemoteLedger, demand_home};
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
pub async fn fetch(io: &Io, args: &FetchArgs) -> Exit {
    match bring(io, args).await {
        Ok(()) => Exit::Done,
        Err(exit) => exit,
    }
}

async fn bring(io: &Io, args: &FetchArgs) -> Result<(), Exit> {
    demand_person(io, "fetching a run").await?;
    let id = &args.run_id;
    let word = text::one_line(id);
    if !is_run_id(id) {
        io.note(format!(
            "error: `{word}` is not the id of a run: expected letters, digits, `.`, `_` and `-`"
        ))
        .await;
        return Err(Exit::Usage);
    }
    let repository = here(io).await?;
    let root = repository.main_root.clone();
    or_refuse(io, id, demand_home(io, &root).await).await?;
    let there = or_refuse(io, id, Remote::ask(io, &root, &args.remote, id).await).await?;
    let remote = text::one_line(&args.remote);
    let Some(ledger) = &there.ledger else {
        if args.if_any {
            io.note(format!("{remote} has no run {id}.")).await;
            return Ok(());
        }
        io.note(format!(
            "error: {remote} has no run {id}; what it has: git ls-remote {remote} \
             'refs/onloop/*/ledger'"
        ))
        .await;
        return Err(Exit::Usage);
    };
    let known = match Store::known(io, id, &ledger.bytes).await {
        Ok(known) => known,
        Err(error) => return Err(refused_by(io, &error).await),
    };
    if is_here(io, args, &known, ledger).await? {
        return Ok(());
    }
    io.result(description(&remote, ledger)).await;
    let question = ConsentQuestion {
        words: "Fetch it, so that onloop may run this here?",
        done: "fetched",
        command: format!("onloop fetch {id} --remote {} --yes", text::shell_word(&remote)),
    };
    consent(io, args.yes, &question).await?;
    let arrival = Arrival { id, there: &there, ledger, repository: &repository };
    let store = arrive(io, &arrival).await?;
    let run = store.run();
    io.note(format!("Run {id} is here now. It works in {}.", run.place.execution_root)).await;
    if !run.is_over() {
        io.note(go_on(run, "")).await;
    }
    Ok(())
}

/// The repository around the current folder.
async fn here(io: &Io) -> Result<Repository, Exit> {
    let cwd = io.start().cwd.clone();
    match io.git_survey(&cwd, "").await {
        Ok(survey) => match survey.repository {
            Some(repository) => Ok(repository),
            None => {
                let cwd = text::one_line(&cwd);
                io.note(format!(
                    "error: `{cwd}` is in no checkout of a git repository; call it in a clone of the \
                     one that the run works on"
                ))
                .await;
                Err(Exit::Refused)
            }
        },
        Err(failure) => {
            io.note(format!("error: {}", text::printable(&failure.message).trim_end())).await;
            Err((&failure).into())
        }
    }
}

/// Whether all that the remote has is here and works here already.
async fn is_here(
    io: &Io,
    args: &FetchArgs,
    known: &Known,
    theirs: &RemoteLedger,
) -> Result<bool, Exit> {
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
            io.note(format!(
                "error: nothing was fetched: run {id} went on here and elsewhere: from line {line} of \
                 the ledger on, what {remote} has ({}) and what is here differ. One of both has to \
                 be given up, and nothing decides that by itself; see what the other one did:\n  git \
                 show {}:{LEDGER_FILE}",
                theirs.commit, theirs.commit
            ))
            .await;
            Err(Exit::Refused)
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
        text::one_line(&run.terms.intent),
        theirs.commit,
        would_run(run),
    )
}

async fn or_refuse<T>(io: &Io, id: &str, result: Result<T, Failure>) -> Result<T, Exit> {
    match result {
        Ok(value) => Ok(value),
        Err(failure) => {
            let message = text::printable(&failure.message);
            io.note(format!("error: run {id} was not fetched: {}", message.trim_end())).await;
            Err((&failure).into())
        }
    }
}
