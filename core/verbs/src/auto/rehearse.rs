//! `onloop auto rehearse`: whole runs over made-up workspaces. The program that `onloop auto`
//! runs is driven by a host in memory, so that nothing real is touched.

use super::args::{AutoRunArgs, RehearseArgs, RuleArgs};
use super::run::run_with;
use onloop_auto::documents::{Rehearsal, RehearsalError, Scenario, to_line};
use onloop_auto::{LOCK_PATH, Profile, UnknownName, named};
use onloop_effect::{Exit, Io, Reply, Start, Turn};
use onloop_engine::error::{CommandError, ErrorKind, verb_program};
use onloop_syntax::limits;
use onloop_syntax::text;
use onloop_syntax::time::Timestamp;

mod stage;

use stage::Stage;

/// Plays every scenario of a file and prints what the run would have said.
pub async fn rehearse(io: Io, args: RehearseArgs) -> Result<Exit, CommandError> {
    if args.file != "-" {
        let read = io.read(&args.file, limits::SCENARIO_FILE_BYTES).await;
        let (bytes, _) = read.map_err(|failure| {
            let error = CommandError::from(failure).of_kind(ErrorKind::Usage);
            error.context(format!("cannot read `{}`", text::one_line(&args.file)))
        })?;
        answer_lines(&io, &bytes).await;
        return Ok(Exit::Done);
    }
    loop {
        let chunk = io.read_input(limits::SCENARIO_LINE_BYTES).await;
        let chunk =
            chunk.map_err(|f| CommandError::from(f).context("cannot read standard input"))?;
        if chunk.is_empty() {
            return Ok(Exit::Done);
        }
        answer_lines(&io, &chunk).await;
    }
}

async fn answer_lines(io: &Io, bytes: &[u8]) {
    for line in bytes.split(|&byte| byte == b'\n') {
        if !line.trim_ascii().is_empty() {
            io.result(answer(line)).await;
        }
    }
}

/// The answer to one line; to a line that is not a scenario, what is wrong with it.
fn answer(line: &[u8]) -> String {
    let (id, error) = match serde_json::from_slice::<Scenario>(line) {
        Ok(mut scenario) => {
            let id = scenario.id.take();
            match play(scenario) {
                Ok(stage) => {
                    let lock_present = stage.tree.contains_key(LOCK_PATH);
                    let lines = stage.output.lines().map(str::to_owned).collect();
                    let dispatches = stage.dispatches;
                    return to_line(&Rehearsal { id, lines, dispatches, lock_present });
                }
                Err(error) => (id, error.to_string()),
            }
        }
        Err(error) => {
            let id = serde_json::from_slice::<serde_json::Value>(line)
                .map_or(serde_json::Value::Null, |mut value| value["id"].take());
            (id, text::one_line(&error.to_string()))
        }
    };
    to_line(&RehearsalError { id, error })
}

/// Why a scenario cannot be played.
#[derive(Debug, thiserror::Error)]
enum InvalidScenario {
    #[error(transparent)]
    Profile(UnknownName),
    #[error("found `{0}` as `now`, expected an RFC 3339 time")]
    Now(String),
}

/// The stage as the run of a scenario leaves it.
fn play(scenario: Scenario) -> Result<Stage, InvalidScenario> {
    let profile: Profile = named("profile", &scenario.profile).map_err(InvalidScenario::Profile)?;
    let Some(now) = Timestamp::parse(&scenario.now) else {
        return Err(InvalidScenario::Now(scenario.now));
    };
    let args = AutoRunArgs {
        argument: scenario.argument.clone().into_iter().collect(),
        agent_command: scenario.env.run_subagent.then(|| stage::CHILD.to_owned()),
        rules: RuleArgs {
            profile: Some(profile.as_str().to_owned()),
            health_command: Some(stage::HEALTH_CHECK.to_owned()),
            health_repair_command: Some(stage::HEALTH_REPAIR.to_owned()),
            ..RuleArgs::default()
        },
        ..AutoRunArgs::default()
    };
    let start = Start { now, ..Start::example(["onloop", "auto"]) };
    let mut program = verb_program(start, |io| run_with(io, args, None));
    let mut stage = Stage::new(now, scenario);
    let mut reply = None;
    while let Turn::Request(request) = program.resume(reply) {
        let outcome = stage.perform(request);
        reply = Some(Reply { at: stage.now, outcome });
    }
    Ok(stage)
}
