//! The verbs of `onloop auto`.

mod args;
mod child;
mod drive;
mod init;
pub(crate) mod noted;
mod rehearse;
mod run;
mod stepwise;
mod workspace;

pub use args::with_argument_last;
pub use args::{
    AutoArgs, AutoInitArgs, AutoResumeArgs, AutoRunArgs, AutoVerb, BeginArgs, RehearseArgs,
    RouteArgs, RuleArgs,
};
pub use init::init;
pub use rehearse::rehearse;
pub use run::{route, run};
pub use stepwise::{begin, resume};

use onloop_auto::{RUNTIME_FOLDER, WORKSPACE_FOLDER};
use onloop_effect::{Exit, Io};
use onloop_engine::error::CommandError;
use onloop_engine::git::checkout;
use onloop_engine::git::untrusted_links::{self, UntrustedLink};
use onloop_syntax::text;

/// Runs the verb that the command line names.
///
/// # Errors
///
/// The run did not begin; what ends a run that began is an exit code of its own.
pub async fn auto(io: Io, args: AutoArgs) -> Result<Exit, CommandError> {
    // A rehearsal is a simulation.
    let is_rehearsal = matches!(args.verb, Some(AutoVerb::Rehearse(_)));
    // `init` lays a workspace out where it is called.
    let io = match args.verb {
        Some(AutoVerb::Init(_) | AutoVerb::Rehearse(_)) => io,
        None | Some(AutoVerb::Begin(_) | AutoVerb::Resume(_) | AutoVerb::Route(_)) => {
            at_root(io).await
        }
    };
    if !is_rehearsal {
        refuse_untrusted_links(&io).await?;
    }
    match args.verb {
        None => run(io, args.run).await,
        Some(AutoVerb::Begin(args)) => begin(io, args).await,
        Some(AutoVerb::Resume(args)) => resume(io, args).await,
        Some(AutoVerb::Route(args)) => route(io, args).await,
        Some(AutoVerb::Init(args)) => init(io, args).await,
        Some(AutoVerb::Rehearse(args)) => rehearse(io, args).await,
    }
}

/// The program in the folder whose workspace this is: the nearest one with a `.ai`, here or above, not
/// above the checkout.
async fn at_root(io: Io) -> Io {
    let cwd = io.start().cwd.trim_end_matches('/').to_owned();
    let Some(checkout) = checkout::own(&io, &cwd).await else { return io };
    let mut folder = cwd.as_str();
    while io.stat(&format!("{folder}/{WORKSPACE_FOLDER}")).await.is_err() {
        match folder.rsplit_once('/') {
            Some((above, _)) if folder != checkout.root => folder = above,
            Some(_) | None => return io,
        }
    }
    if folder == cwd {
        return io;
    }
    io.note(format!("note: works in `{}`, where `{WORKSPACE_FOLDER}` is", text::one_line(folder)))
        .await;
    io.in_folder(folder)
}

/// Refuses a workspace with a link out of the checkout in it. What children say is kept in a folder
/// of its own, which may be large and is only ever added to under new names.
async fn refuse_untrusted_links(io: &Io) -> Result<(), UntrustedLink> {
    let cwd = io.start().cwd.trim_end_matches('/');
    let root = untrusted_links::checkout_root(io).await;
    let logs = format!("{cwd}/{RUNTIME_FOLDER}/logs");
    untrusted_links::refuse(io, &root, &logs).await?;
    untrusted_links::refuse_below(io, &root, &format!("{cwd}/{WORKSPACE_FOLDER}"), &logs).await?;
    untrusted_links::refuse(io, &root, &format!("{cwd}/.gitignore")).await
}
