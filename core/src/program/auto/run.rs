//! `onloop auto` and `onloop auto route`: a run from its beginning to its end.

use super::args::{RouteArgs, RuleArgs, RunArgs};
use super::child::ChildCommand;
use super::drive::{Halt, advance, take};
use super::workspace::{HealthCommands, Speech, Workspace};
use crate::auto::Profile;
use crate::auto::child::ChildOutcome;
use crate::auto::record::{Assignment, Auto, Event};
use crate::program::{Exit, Io, Start};
use crate::text;

/// Runs planner and loop in turns until the run ends.
pub async fn run(io: Io, args: RunArgs) -> Exit {
    let prepared = args
        .rules
        .profile()
        .and_then(|profile| Ok((profile, args.child_command(io.env("ONLOOP_AGENT"))?)));
    let (profile, child) = match prepared {
        Ok(prepared) => prepared,
        Err(message) => {
            io.note(format!("error: {}", text::one_line(&message))).await;
            return Exit::Usage;
        }
    };
    if child.is_none() && profile != Profile::Route {
        io.note("note: no agent is named; give `--agent NAME` or `--agent-command LINE`").await;
    }
    let assignment = Assignment {
        run: run_id(io.start()),
        argument: args.argument_text(),
        profile,
        options: args.rules.options(),
        can_dispatch: child.is_some(),
    };
    let world = Workspace::new(&io, args.rules.health(), Speech::Immediate);
    to_the_end(&io, world, assignment, child).await
}

/// One routing pass; starts nothing.
pub async fn route(io: Io, args: RouteArgs) -> Exit {
    let assignment = Assignment {
        run: run_id(io.start()),
        argument: args.argument.join(" "),
        profile: Profile::Route,
        options: RuleArgs::default().options(),
        can_dispatch: false,
    };
    let world = Workspace::new(&io, HealthCommands::default(), Speech::Immediate);
    to_the_end(&io, world, assignment, None).await
}

async fn to_the_end(
    io: &Io,
    mut world: Workspace,
    assignment: Assignment,
    child: Option<ChildCommand>,
) -> Exit {
    let mut auto = Auto::begin(assignment);
    loop {
        let (waiting, dispatch) = match advance(&mut world, auto).await {
            Halt::Child(waiting, dispatch) => (waiting, dispatch),
            Halt::Over(ending) => return Exit::Auto(ending),
        };
        let outcome = match &child {
            Some(child) => child.run(io, &waiting.assignment().run, &dispatch).await,
            None => ChildOutcome::Unavailable,
        };
        let event = Event::ChildFinished { cycle: dispatch.cycle, outcome };
        auto = take(&mut world, &waiting, event).await;
    }
}

/// A name that no other run has: time, process, randomness.
pub(super) fn run_id(start: &Start) -> String {
    let random: String = start.random[..4].iter().map(|byte| format!("{byte:02x}")).collect();
    format!("rw-{}-{}-{random}", start.now.to_run_id_stamp(), start.process.pid)
}
