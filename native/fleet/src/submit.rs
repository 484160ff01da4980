//! `onloop run FILE --on fleet`: checks the run, submits it to the fleet, and tracks it on this machine.

mod batch;

use std::cell::RefCell;
use std::path::Path;
use std::process::ExitCode;
use std::rc::Rc;
use std::time::Duration;

use onloop_core::documents::fleet_run::FleetRun;
use onloop_core::effect::{Exit, Io};
use onloop_core::engine::error::verb_program;
use onloop_core::text;
use onloop_core::verb::{RunArgs, Submitted, SubmittedCheckout, remember_submitted, submitted};
use onloop_core::{cli, run};

use crate::cli::Refusal;
use crate::client::Client;
use crate::clone::{self, REMOTE};
use crate::config::FleetConfig;
use crate::engine::{EngineError, Submission};
use crate::git::git;
use crate::{queue_state, run_options, worker};

/// Longest time that an unreachable server is retried.
const RETRY_TIMEOUT: Duration = Duration::from_secs(10);

/// Whether the command line submits a run.
pub fn is_meant(argv: &[String]) -> bool {
    let names_place = |word: &String| word == "--on" || word.starts_with("--on=");
    argv.get(1).is_some_and(|verb| verb == "run") && argv.iter().any(names_place)
}

/// Submits the run of a command line.
pub fn submit(argv: &[String]) -> ExitCode {
    // The ordinary program explains a command line that it cannot parse.
    let Some(args) = cli::run_args(argv).filter(|args| !args.simulate) else {
        return onloop::main();
    };
    ExitCode::from(submit_run(argv, &args).unwrap_or_else(Refusal::report).code())
}

fn submit_run(argv: &[String], args: &RunArgs) -> Result<Exit, Refusal> {
    let config = FleetConfig::find(None).map_err(Refusal::refused)?;
    let client = config.client();
    let found = look(args)?;
    let options = run_options::of_submission(argv);
    if let Some(list) = &args.repos {
        let fleet = FleetRun { server: config.url, root: None, remote: REMOTE.to_owned() };
        let batch = batch::Batch { client, fleet, found: &found, options: &options };
        return batch::submit(&batch, Path::new(list), args.parallel as usize);
    }
    let Some(checkout) = &found.checkout else {
        return Err(Refusal::refused(
            "a fleet works on a repository's remote, and the workflow is not in a checkout\n  fix: name \
             repositories with --repos FILE",
        ));
    };
    let repository = remote_of(checkout)?;
    say_uncommitted(checkout);
    let submission = submission(&found, &options, repository, Some(checkout));
    keep_base(checkout, &submission.run_id)?;
    give(&client, &submission)?;
    let run = FleetRun {
        server: config.url,
        root: Some(checkout.root.clone()),
        remote: REMOTE.to_owned(),
    };
    remember(&submission.run_id, run)?;
    println!("{}", submission.run_id);
    let id = &submission.run_id;
    eprintln!("Submitted. Next:\n  onloop status {id}\n  onloop watch {id}\n  onloop fleet status");
    Ok(Exit::Done)
}

/// Checks the workflow and the checkout on this machine.
fn look(args: &RunArgs) -> Result<Submitted, Refusal> {
    let found = Rc::new(RefCell::new(None));
    let (to, args) = (Rc::clone(&found), args.clone());
    let exit = onloop::main_on(
        |start| {
            verb_program(start, async move |io: Io| {
                *to.borrow_mut() = Some(submitted(&io, &args).await?);
                Ok(Exit::Done)
            })
        },
        |_, host| host,
    );
    let found = found.borrow_mut().take();
    found.ok_or_else(|| Refusal::ended(exit))
}

/// Records on this machine which fleet has the run.
pub(crate) fn remember(id: &str, run: FleetRun) -> Result<(), Refusal> {
    let id = id.to_owned();
    let exit = onloop::main_on(
        |start| {
            verb_program(start, async move |io: Io| {
                remember_submitted(&io, &id, &run).await?;
                Ok(Exit::Done)
            })
        },
        |_, host| host,
    );
    if exit == Exit::Done { Ok(()) } else { Err(Refusal::ended(exit)) }
}

fn remote_of(checkout: &SubmittedCheckout) -> Result<String, Refusal> {
    clone::address(Path::new(&checkout.root)).map_err(|error| {
        Refusal::refused(format!(
            "the fleet works on the remote `{REMOTE}`, whose address cannot be read\n  \
             cause: {error}\n  fix: git remote add {REMOTE} URL"
        ))
    })
}

/// Notes that uncommitted files are not part of the run.
fn say_uncommitted(checkout: &SubmittedCheckout) {
    if checkout.uncommitted.is_empty() {
        return;
    }
    let count = text::counted(checkout.uncommitted.len() as u64, "uncommitted file");
    eprintln!(
        "note: the run begins at commit {}; {count} stay on this machine",
        &checkout.head[..12.min(checkout.head.len())]
    );
}

/// Pushes the base commit of the run to the remote, under a ref of the run.
fn keep_base(checkout: &SubmittedCheckout, run_id: &str) -> Result<(), Refusal> {
    let name = format!("{}:refs/onloop/{run_id}/base", checkout.head);
    let pushed = git(Path::new(&checkout.root), &["push", "--quiet", REMOTE, &name]);
    pushed.map(drop).map_err(|error| {
        Refusal::refused(format!(
            "the commit at which the run begins cannot be pushed\n  cause: {error}"
        ))
    })
}

fn submission(
    found: &Submitted,
    options: &[String],
    repository: String,
    checkout: Option<&SubmittedCheckout>,
) -> Submission {
    Submission {
        run_id: found.run_id.clone(),
        repository,
        base: checkout.map(|checkout| checkout.head.clone()),
        branch: checkout.and_then(|checkout| checkout.branch.clone()),
        workflow: found.workflow.clone(),
        text: found.text.clone(),
        options: options.to_vec(),
        agents: found.agents.clone(),
        user: ["USER", "LOGNAME"].iter().find_map(|name| std::env::var(name).ok()),
        host: worker::host(),
        at_ms: queue_state::millis(queue_state::now()),
    }
}

fn give(client: &Client, submission: &Submission) -> Result<(), EngineError> {
    if !run::is_run_id(&submission.run_id) {
        let why = format!("`{}` is not a valid run id", text::one_line(&submission.run_id));
        return Err(EngineError::Invalid { why });
    }
    client.call_within(RETRY_TIMEOUT, submission)
}
