//! The verbs of `onloop auto`.

mod args;
mod child;
mod drive;
mod init;
mod native_loop;
mod rehearse;
mod run;
mod stepwise;
mod workspace;

#[cfg(feature = "cli")]
pub use args::with_argument_last;
pub use args::{
    AutoArgs, AutoInitArgs, AutoResumeArgs, AutoRunArgs, AutoVerb, BeginArgs, LoopRunner,
    RehearseArgs, RouteArgs, RuleArgs,
};
pub use init::init;
pub use rehearse::rehearse;
pub use run::{route, run};
pub use stepwise::{begin, resume};

use crate::effect::{Exit, Io};

/// Runs the verb that the command line names.
pub async fn auto(io: Io, args: AutoArgs) -> Exit {
    match args.verb {
        None => run(io, args.run).await,
        Some(AutoVerb::Begin(args)) => begin(io, args).await,
        Some(AutoVerb::Resume(args)) => resume(io, args).await,
        Some(AutoVerb::Route(args)) => route(io, args).await,
        Some(AutoVerb::Init(args)) => init(io, args).await,
        Some(AutoVerb::Rehearse(args)) => rehearse(io, args).await,
    }
}
