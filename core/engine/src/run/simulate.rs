//! `onloop run --simulate`: simulates the whole run. Files and git are read; nothing is started or
//! changed, and no question is asked.

mod screen;

use crate::error::CommandError;
use crate::lookup::agent::on_path;
use crate::preflight::{Foreseen, refused};
use crate::run::begin::beginning;
use crate::run::options::Timeouts;
use crate::run::setup::included;
use crate::run::turn::first_turn;
use crate::state::config;
use crate::state::store::{Paths, StateHome};
use crate::terminal::ask::is_attended;
use onloop_agents::{Agent, Reviewer};
use onloop_documents::simulation::{SimulatedAgent, Simulation, simulation_document};
use onloop_effect::{Command, Exit, Io};
use onloop_install::Waits;
use onloop_run::preflight::{IsolationMode, PlacementRefusal, Prepared};
use onloop_run::{Beginning, PageChecks, Run, at_most, simulated_events, unique_id};
use onloop_sessions::handsoff::config::ConfineWhen;
use onloop_syntax::text;
use onloop_workflow::Plan;

/// The run that is asked about.
pub(crate) struct SimulationRequest<'a> {
    /// What the workflow file says.
    pub(crate) plan: &'a Plan,
    /// The file, as it was named.
    pub(crate) file: &'a str,
    /// The agents: the first, and those that take over when its provider is unavailable. Never
    /// empty.
    pub(crate) agents: &'a [Agent],
    /// Who would review.
    pub(crate) reviewer: Option<&'a Reviewer>,
    /// Time limits.
    pub(crate) timeouts: &'a Timeouts,
    /// Whether it would be confined.
    pub(crate) confine: ConfineWhen,
    /// An unfinished run of the same file, which is offered first.
    pub(crate) unfinished: Option<String>,
    /// Why no agent can act.
    pub(crate) without_agent: Option<CommandError>,
}

/// Stands for a prompt in a command line.
const PROMPT: &str = "<the prompt>";

/// Shows the run on standard output, and returns what its beginning would end with.
///
/// # Errors
///
/// Something cannot be looked at.
pub(crate) async fn simulate(
    io: &Io,
    wanted: &SimulationRequest<'_>,
    foreseen: Foreseen,
    as_json: bool,
    adapt: impl Fn(Beginning) -> Beginning,
) -> Result<Exit, CommandError> {
    let (blocked_by, exit) = blocked_by(io, wanted, &foreseen);
    let is_placed = matches!(foreseen, Foreseen::Prepared { .. });
    let (prepared, mut changes, notes) = match foreseen {
        Foreseen::Prepared { prepared, changes, notes } => (prepared, changes, notes),
        Foreseen::Asked(_) | Foreseen::Refused(_) => (nowhere(io), Vec::new(), Vec::new()),
    };
    let home = StateHome::of(io)?;
    changes.extend(notes);
    let id = unique_id(&wanted.plan.slug, io.now(), |_| false);
    let mut run = Run::begin(wanted.plan, adapt(beginning(io, &prepared, wanted.plan, id.clone())));
    if !is_placed {
        run.found_at("");
    }
    let paths = Paths::new(&home, &prepared.execution_root, &id);
    let mut agents = Vec::new();
    for agent in wanted.agents {
        agents.push(simulated_agent(io, agent, &paths, &run).await);
    }
    let agent = agents.remove(0);
    let is_fresh = prepared.worktree_path.is_some();
    let copied = match prepared.repo_root.as_ref().filter(|_| is_fresh) {
        Some(root) => included(io, root).await.map(|included| included.files),
        None => Ok(Vec::new()),
    };
    let copied = copied
        .map_err(|failure| CommandError::from(failure).context("the setup cannot be read"))?;
    let pages = match io.env("ONLOOP_BROWSER_CHECKER") {
        Some(_) => PageChecks::Command,
        None => PageChecks::Person,
    };
    let simulation = Simulation {
        workflow: wanted.file.to_owned(),
        blocked_by,
        confine: wanted.confine,
        changes,
        reviewer: wanted.reviewer.map(|reviewer| reviewer.command(PROMPT)),
        copied,
        sets_up: is_fresh,
        events: simulated_events(&run, pages, agent.command.is_some()),
        at_most: at_most(&run, wanted.timeouts.agent_ms, wanted.timeouts.verify_ms),
        agent,
        successors: agents,
        run,
    };
    let shown = match as_json {
        true => format!("{:#}\n", simulation_document(&simulation)),
        false => screen::render(&simulation),
    };
    io.result(shown).await;
    Ok(exit)
}

/// What keeps the run from beginning, and the exit code that it would have.
fn blocked_by(
    io: &Io,
    wanted: &SimulationRequest<'_>,
    foreseen: &Foreseen,
) -> (Option<String>, Exit) {
    let stops = if is_attended(io) { Exit::Done } else { Exit::Paused };
    if let Some(id) = &wanted.unfinished {
        let why = format!(
            "run {id} of this workflow is unfinished: `onloop resume {id}` continues it, \
             `--fresh` begins this one"
        );
        return (Some(why), stops);
    }
    if let Some(error) = &wanted.without_agent {
        return (Some(error.render().trim_end().to_owned()), error.kind().exit());
    }
    match foreseen {
        Foreseen::Prepared { .. } => (None, Exit::Done),
        Foreseen::Asked(question) => {
            let exit = if is_attended(io) { Exit::Done } else { Exit::Refused };
            (Some(text_of(io, &question.clone().into_refusal())), exit)
        }
        Foreseen::Refused(refusal) => (Some(text_of(io, refusal)), Exit::Refused),
    }
}

fn text_of(io: &Io, refusal: &PlacementRefusal) -> String {
    refused(io, refusal).render().trim_end().to_owned()
}

/// The place of a run whose isolation is not decided yet.
fn nowhere(io: &Io) -> Prepared {
    Prepared {
        mode: IsolationMode::None,
        branch: None,
        repo_root: None,
        execution_root: io.start().cwd.clone(),
        workflow_path: String::new(),
        source_workflow_path: String::new(),
        source_branch: None,
        source_head: None,
        worktree_path: None,
    }
}

async fn simulated_agent(io: &Io, agent: &Agent, paths: &Paths, run: &Run) -> SimulatedAgent {
    let turn = agent.turn_client();
    let command = match (agent, &turn) {
        (Agent::CommandLine(line), _) => Some(onloop_agents::command_line(line)),
        (_, None) => None,
        (_, Some(turn)) => {
            let config = config::load(io, &io.start().cwd).await.config;
            let mut program = io.start().program.clone();
            if program.is_empty() {
                program.push("onloop".to_owned());
            }
            let first = run.steps.first().and_then(|record| record.step.model.as_deref());
            let hook = (program, Waits::of(&config).call_s);
            Some(first_turn(turn, agent.model().or(first), paths, hook, run))
        }
    };
    let is_found = match agent.program() {
        Some(program) => Some(on_path(io, program).await),
        None => None,
    };
    SimulatedAgent { name: agent.name().to_owned(), command, is_found }
}

/// A command as a line of shell.
fn line(command: &Command) -> String {
    match command {
        Command::Argv(words) => {
            let words: Vec<String> = words.iter().map(|word| text::shell_word(word)).collect();
            words.join(" ")
        }
        Command::Shell { line, .. } => line.clone(),
    }
}
