//! Which agent acts: what was asked for, else what the workflow and the machine offer.

use crate::error::CommandError;
use crate::terminal::ask::is_attended;
use onloop_agents::{self as agent, ACP_PREFIX, Agent, PRESETS, Preset, Reviewer};
use onloop_effect::{FileKind, Io};
use onloop_syntax::text;
use onloop_workflow::suggest::nearest;
use onloop_workflow::{Step, is_model};

/// Arguments that name an agent.
#[derive(Clone, Debug, Default, clap::Args)]
pub struct AgentArgs {
    /// Name of the agent, or several with commas between: the first that is available.
    #[arg(
            long,
            value_name = "NAME[,NAME]",
            conflicts_with = "agent_command",
            value_parser = names::AgentNames(agent::AGENTS),
            hide_possible_values = true,
            help = names::SUMMARY,
            long_help = names::long_help()
        )]
    pub agent: Option<String>,
    /// Command line of an agent, for `sh -c`; it reads the prompt on stdin
    #[arg(long, value_name = "LINE")]
    pub agent_command: Option<String>,
    /// Model of the agents that are named without one
    #[arg(long, value_name = "NAME")]
    pub model: Option<String>,
}

impl AgentArgs {
    /// Whether an agent is named.
    pub fn is_named(&self) -> bool {
        self.agent.is_some() || self.agent_command.is_some()
    }
}

/// The agents for a run whose remaining steps are `steps`; a later one takes over where an earlier
/// one is rate-limited. Never empty.
///
/// # Errors
///
/// None is named that exists, or none is found.
pub async fn choose_agents(
    io: &Io,
    args: &AgentArgs,
    steps: Option<&[Step]>,
) -> Result<Vec<Agent>, CommandError> {
    let agents = match &args.agent_command {
        Some(line) if line.trim().is_empty() => {
            return Err(CommandError::usage("--agent-command is empty, and would do nothing")
                .fix("give it the line that starts the agent"));
        }
        Some(line) => vec![Agent::CommandLine(line.clone())],
        None => match args.agent.as_deref().or_else(|| io.env("ONLOOP_AGENT")) {
            None => vec![find_agent(io, steps).await?],
            Some(names) => listed(io, names).await?,
        },
    };
    with_models(agents, args.model.as_deref(), steps.unwrap_or_default())
}

/// The agents of a list with commas.
async fn listed(io: &Io, names: &str) -> Result<Vec<Agent>, CommandError> {
    let mut agents: Vec<Agent> = Vec::new();
    for name in names.split(',') {
        let agent = named(io, name.trim())?;
        if !agents.contains(&agent) {
            agents.push(agent);
        }
    }
    match agents.len() {
        1 => Ok(agents),
        _ => present(io, agents).await,
    }
}

/// The agents with the model of the command line. A model of the command line or of a step that an
/// agent cannot take is refused.
fn with_models(
    agents: Vec<Agent>,
    model: Option<&str>,
    steps: &[Step],
) -> Result<Vec<Agent>, CommandError> {
    if let Some(model) = model.filter(|model| !is_model(model)) {
        let model = text::one_line(model);
        return Err(CommandError::usage(format!(
            "--model is `{model}`, expected the name of a model"
        )));
    }
    let refused = |agent: &Agent, who: String| {
        let agent = text::ellipsis(&text::one_line(agent.name()), 80);
        let error = CommandError::usage(format!("{who}, and the agent `{agent}` takes no model"));
        error.fix("name another agent with --agent, or leave the model out")
    };
    let take = |agent: Agent| match model {
        Some(model) => {
            agent.with_model(model).ok_or_else(|| refused(&agent, format!("--model is `{model}`")))
        }
        None => match steps.iter().find_map(|step| Some((step.number, step.model.as_ref()?))) {
            Some((step, model)) if agent.turn_client().is_none() => {
                Err(refused(&agent, format!("step {step} has the model `{model}`")))
            }
            Some(_) | None => Ok(agent),
        },
    };
    agents.into_iter().map(take).collect()
}

/// Refuses agents of which none is on this machine, before anything is made for them.
///
/// # Errors
///
/// The program of no agent is on `PATH`.
pub async fn demand_present(io: &Io, agents: &[Agent]) -> Result<(), CommandError> {
    let mut missing = Vec::new();
    for agent in agents {
        match agent.program() {
            Some(program) if !on_path(io, program).await => missing.push(program),
            Some(_) | None => return Ok(()),
        }
    }
    Err(CommandError::usage(format!("`{}` is not on PATH", missing.join("`, `")))
        .fix("install it, or name another agent with --agent"))
}

fn named(io: &Io, name: &str) -> Result<Agent, CommandError> {
    let agent = Agent::named(name).filter(|agent| agent.model().is_none_or(is_model));
    let Some(agent) = agent else {
        let name = text::one_line(name);
        let suggestion = did_you_mean(&name, agent::AGENTS);
        let known = agent::AGENTS.join(", ");
        return Err(CommandError::usage(format!("there is no agent `{name}`{suggestion}")).fix(
            format!("name one of {known}, {ACP_PREFIX}COMMAND, or give --agent-command LINE"),
        ));
    };
    if agent == Agent::You && !is_attended(io) {
        return Err(CommandError::usage("the agent `you` needs a terminal")
            .fix("name another one with --agent"));
    }
    Ok(agent)
}

/// Those of several agents whose programs are there; says which are left out.
async fn present(io: &Io, agents: Vec<Agent>) -> Result<Vec<Agent>, CommandError> {
    let (mut there, mut missing) = (Vec::new(), Vec::new());
    for agent in agents {
        match agent.program() {
            Some(program) if !on_path(io, program).await => missing.push(format!("`{program}`")),
            Some(_) | None => there.push(agent),
        }
    }
    let names = missing.join(", ");
    if there.is_empty() {
        return Err(CommandError::usage(format!("none of the agents is on PATH: {names}"))
            .fix("install one of them, or name another one with --agent"));
    }
    if !missing.is_empty() {
        let verb = if missing.len() == 1 { "is" } else { "are" };
        io.note(format!("warning: {names} {verb} not on PATH and left out")).await;
    }
    Ok(there)
}

async fn find_agent(io: &Io, steps: Option<&[Step]>) -> Result<Agent, CommandError> {
    let scripted = |steps: &[Step]| steps.iter().all(|step| step.script.is_some());
    if steps.is_some_and(|steps| !steps.is_empty() && scripted(steps)) {
        return Ok(Agent::Script);
    }
    if let Some(preset) = first_on_path(io).await {
        return Ok(Agent::Preset(preset, None));
    }
    if is_attended(io) {
        return Ok(Agent::You);
    }
    let presets = PRESETS.iter().map(|preset| preset.name).collect::<Vec<_>>().join(", ");
    let error = CommandError::usage("no agent was found on PATH and nobody is at the terminal")
        .fix(format!("install one of {presets}, or give --agent-command LINE"));
    Err(match steps {
        None => error,
        Some(_) => error.fix("or give every step a fenced `sh` block for the agent `script`"),
    })
}

/// The first agent that is on this machine, in the order of the table.
pub async fn first_on_path(io: &Io) -> Option<&'static Preset> {
    for preset in PRESETS {
        if on_path(io, preset.program).await {
            return Some(preset);
        }
    }
    None
}

/// Who reviews, where the command line names somebody: an agent, or a command with a blank, a
/// slash or its program on `PATH`.
///
/// # Errors
///
/// A single word is neither, or the agent is not on `PATH`.
pub(crate) async fn choose_reviewer(
    io: &Io,
    wanted: Option<&str>,
) -> Result<Option<Reviewer>, CommandError> {
    let Some(wanted) = wanted else { return Ok(None) };
    let Some(why) = reviewer_problem(io, wanted).await else {
        return Ok(Some(Reviewer::recorded(wanted)));
    };
    let error = CommandError::usage(format!("--review: {why}"));
    Err(match Reviewer::recorded(wanted) {
        Reviewer::Agent(_) => error.fix("install it, or name another reviewer with --review"),
        Reviewer::CommandLine(_) => error.fix(format!(
            "name one of {}, or give a command line: a path such as ./review.sh, or words with a \
             space",
            agent::READERS.join(", ")
        )),
    })
}

/// Why `wanted` cannot review on this machine; `None`: nothing is known against it.
pub async fn reviewer_problem(io: &Io, wanted: &str) -> Option<String> {
    let word = text::one_line(wanted);
    if let Reviewer::Agent(preset) = Reviewer::recorded(wanted) {
        return match on_path(io, preset.program).await {
            true => None,
            false => Some(format!("`{}` is not on PATH", preset.program)),
        };
    }
    if matches!(Agent::named(wanted), Some(Agent::Script | Agent::You)) {
        return Some(format!("`{word}` cannot review"));
    }
    let is_word = !wanted.contains(|c: char| c.is_whitespace() || c == '/');
    let is_misspelt = is_word && nearest(wanted, agent::READERS).is_some();
    let is_command =
        !wanted.trim().is_empty() && (!is_word || (!is_misspelt && on_path(io, wanted).await));
    let suggestion = did_you_mean(wanted, agent::READERS);
    (!is_command).then(|| format!("`{word}` is neither an agent nor a program on PATH{suggestion}"))
}

fn did_you_mean(word: &str, known: &[&str]) -> String {
    nearest(word, known).map_or_else(String::new, |name| format!("; did you mean `{name}`?"))
}

/// Whether `program` is on `PATH`.
pub async fn on_path(io: &Io, program: &str) -> bool {
    find_on_path(io, program).await.is_some()
}

/// Where `program` is on `PATH`, whatever links lead there.
pub async fn find_on_path(io: &Io, program: &str) -> Option<String> {
    for folder in io.env("PATH").unwrap_or_default().split(':') {
        if !folder.starts_with('/') {
            continue;
        }
        let path = format!("{folder}/{program}");
        let Ok(stat) = io.stat(&path).await else { continue };
        match stat.kind {
            FileKind::File if stat.executable => return Some(path),
            // A link is followed by asking about what it leads to.
            FileKind::Link => {
                if let Ok(path) = io.canonical(&path).await {
                    return Some(path);
                }
            }
            FileKind::File | FileKind::Folder | FileKind::Other => {}
        }
    }
    None
}

/// What the command line knows of the names of agents.
pub mod names {
    use clap::builder::{PossibleValue, StringValueParser, TypedValueParser};

    use onloop_agents as agent;
    use onloop_syntax::text;

    /// Columns that the text of an option has on a terminal of 80.
    pub const HELP_COLUMNS: usize = 70;

    pub(super) const SUMMARY: &str = "Agent to run; `script` runs the step's own fenced block";

    pub(super) fn long_help() -> String {
        let names = format!("One of {}.", agent::AGENTS.join(", "));
        format!(
            "{SUMMARY}\n\n{}\n`acp:COMMAND` is any agent that speaks the Agent Client Protocol.\n\
             `claude:opus` names a model, too. With several, a later one takes over\nwhere an \
             earlier one is missing or rate-limited:\n`--agent claude,codex`.\n\nLeft out: \
             ONLOOP_AGENT, else `script` if every step has a script, else\nthe first of them that \
             is on PATH, else `you`.",
            text::wrapped(&names, HELP_COLUMNS, 0)
        )
    }

    /// Offers names to completion. Other words pass: the verb says what is wrong with them, in
    /// the same words as for the environment's.
    #[derive(Clone)]
    pub struct AgentNames(pub &'static [&'static str]);

    impl TypedValueParser for AgentNames {
        type Value = String;

        fn parse_ref(
            &self,
            command: &clap::Command,
            argument: Option<&clap::Arg>,
            value: &std::ffi::OsStr,
        ) -> Result<String, clap::Error> {
            StringValueParser::new().parse_ref(command, argument, value)
        }

        fn possible_values(&self) -> Option<Box<dyn Iterator<Item = PossibleValue> + '_>> {
            Some(Box::new(self.0.iter().copied().map(PossibleValue::new)))
        }
    }
}
