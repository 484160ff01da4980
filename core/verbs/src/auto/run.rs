//! `onloop auto` and `onloop auto route`: a run from its beginning to its end.

use super::args::{AutoRunArgs, RouteArgs, RuleArgs};
use super::child::{ChildCommand, LISTEN, Listen};
use super::drive::{AutoHalt, advance, take};
use super::noted::{self, NotedRun};
use super::workspace::{HealthCommands, Speech, Workspace, stamping};
use onloop_agents::Agent;
use onloop_auto::Profile;
use onloop_auto::child::ChildOutcome;
use onloop_auto::record::{Assignment, Auto, AutoEvent, Dispatch, Options};
use onloop_effect::{Exit, Io, Start};
use onloop_engine::error::CommandError;
use onloop_engine::lookup::agent::{first_on_path, on_path};

/// Runs planner and loop in turns until the run ends.
pub async fn run(io: Io, args: AutoRunArgs) -> Result<Exit, CommandError> {
    run_with(io, args, Some(LISTEN)).await
}

/// The same, with children read as `listen` says.
pub(super) async fn run_with(
    io: Io,
    args: AutoRunArgs,
    listen: Option<Listen>,
) -> Result<Exit, CommandError> {
    let profile = args.rules.profile()?;
    let child = args.child_command(io.env("ONLOOP_AGENT"), listen)?;
    let child = match profile {
        // It starts no child.
        Profile::Route => child,
        Profile::V1 | Profile::V2 | Profile::V3 => present(&io, &args, child, listen).await,
    };
    let assignment = Assignment {
        run: run_id(io.start()),
        argument: args.argument_text(),
        profile,
        options: args.rules.options(),
        can_dispatch: child.is_some(),
    };
    let workspace = Workspace::new(&io, args.rules.health(), Speech::Immediate);
    // Also where the lock lets no run begin: the work of a run that was killed has no record.
    let has_leftovers = match noted::end_killed(&io).await {
        Ok(()) => false,
        Err(error) => {
            error.report(&io).await;
            true
        }
    };
    Ok(to_the_end(&io, workspace, assignment, Cast { child, has_leftovers }).await)
}

/// The agent, if it is there; where none was asked for, the first one on this machine, as for a run.
/// What is missing is said before anything is begun.
async fn present(
    io: &Io,
    args: &AutoRunArgs,
    child: Option<ChildCommand>,
    listen: Option<Listen>,
) -> Option<ChildCommand> {
    match child {
        Some(ChildCommand { agent: Agent::Preset(preset, _), .. })
            if !on_path(io, preset.program).await =>
        {
            let name = preset.program;
            CommandError::usage(format!("the agent `{name}` is not on PATH"))
                .fix("install it, or name another one with --agent")
                .report(io)
                .await;
            None
        }
        Some(child) => Some(child),
        None => {
            let found = first_on_path(io).await;
            match found {
                Some(preset) => {
                    let name = preset.program;
                    io.note(format!("note: using `{name}` for rw-planner and rw-loop")).await;
                }
                None => {
                    io.note(
                        "note: no agent was found on PATH; give `--agent NAME` or \
                         `--agent-command LINE`",
                    )
                    .await;
                }
            }
            found.and_then(|preset| args.child_of(Agent::Preset(preset, None), listen).ok())
        }
    }
}

/// One routing pass; starts nothing.
pub async fn route(io: Io, args: RouteArgs) -> Result<Exit, CommandError> {
    let rules = RuleArgs { profile: args.profile, ..RuleArgs::default() };
    let assignment = Assignment {
        run: run_id(io.start()),
        argument: args.argument.join(" "),
        profile: Profile::Route,
        options: Options { routes_by: Some(rules.profile()?), ..rules.options() },
        can_dispatch: false,
    };
    let workspace = Workspace::new(&io, HealthCommands::default(), Speech::Immediate);
    let none = Cast { child: None, has_leftovers: false };
    Ok(to_the_end(&io, workspace, assignment, none).await)
}

async fn to_the_end(io: &Io, mut workspace: Workspace, assignment: Assignment, cast: Cast) -> Exit {
    let run = assignment.run.clone();
    let during_child = stamping(io, &run);
    let mut auto = Auto::begin(assignment);
    loop {
        let (waiting, dispatch) = match advance(&mut workspace, auto).await {
            AutoHalt::Child(waiting, dispatch) => (waiting, dispatch),
            AutoHalt::Over(ending) => {
                noted::forget(io, &run).await;
                return ending.exit();
            }
        };
        let outcome = cast.play(&during_child, &run, &dispatch).await;
        let event = AutoEvent::ChildFinished { cycle: dispatch.cycle, outcome };
        auto = take(&mut workspace, &waiting, event).await;
    }
}

/// Who the children are.
struct Cast {
    child: Option<ChildCommand>,
    /// Something of a run that was killed still runs: a child would work beside it.
    has_leftovers: bool,
}

impl Cast {
    async fn play(&self, io: &Io, run: &str, dispatch: &Dispatch) -> ChildOutcome {
        if self.has_leftovers {
            return ChildOutcome::Unavailable;
        }
        let noted = match NotedRun::begin(io, run, dispatch).await {
            Ok(noted) => noted,
            Err(failure) => return ChildOutcome::Failed(failure.message),
        };
        match &self.child {
            Some(child) => child.run(io, dispatch, &noted).await,
            None => {
                let target = dispatch.target.as_str();
                CommandError::usage(format!("there is no agent for `{target}`"))
                    .fix("name one with `--agent NAME` or `--agent-command LINE`")
                    .report(io)
                    .await;
                ChildOutcome::Unavailable
            }
        }
    }
}

/// A name that no other run has: time, process, randomness.
pub(super) fn run_id(start: &Start) -> String {
    let random = onloop_syntax::text::hex(&start.random[..4]);
    format!("rw-{}-{}-{random}", start.now.to_run_id_stamp(), start.process.pid)
}
