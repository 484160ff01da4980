//! What the command line says to `onloop auto`.

use super::child::{ChildCommand, Listen};
use super::workspace::HealthCommands;
use onloop_agents::{self as agent, Agent};
use onloop_auto::record::{OnStall, Options, SummaryUse};
use onloop_auto::{Profile, UnknownName, named};
use onloop_engine::error::CommandError;
use onloop_engine::lookup::agent::names;
use onloop_syntax::limits;
use onloop_syntax::text;
use onloop_workflow::duration;

/// Arguments of `onloop auto`.
#[derive(Clone, Debug, Default, clap::Args)]
#[command(args_conflicts_with_subcommands = true)]
pub struct AutoArgs {
    /// One of the verbs below; without one the whole loop runs here
    #[command(subcommand)]
    pub verb: Option<AutoVerb>,
    /// The run
    #[command(flatten)]
    pub run: AutoRunArgs,
}

/// Verbs below `onloop auto`.
#[derive(Clone, Debug, clap::Subcommand)]
pub enum AutoVerb {
    /// Go up to the first child agent and say which one to start
    Begin(BeginArgs),
    /// Take a child's answer, and go up to the next child agent or the end
    Resume(AutoResumeArgs),
    /// Say where a run would go, and start nothing
    Route(RouteArgs),
    /// Lay out `.ai/`: context, task table, templates, ignore line
    Init(AutoInitArgs),
    /// Play made-up runs, one JSON object a line
    Rehearse(RehearseArgs),
}

/// Arguments of a whole run.
#[derive(Clone, Debug, Default, clap::Args)]
pub struct AutoRunArgs {
    /// What to build, in words; the flags below may be among them
    #[arg(value_name = "ARGUMENT")]
    pub argument: Vec<String>,
    /// Pass `--auto` on to the loop: ask people as little as possible
    #[arg(long)]
    pub auto: bool,
    /// Pass `--no-hitl` on to the loop: ask no person
    #[arg(long)]
    pub no_hitl: bool,
    /// Pass `--hitl` on to the loop: ask people
    #[arg(long)]
    pub hitl: bool,
    /// Most cycles, 1 to 20 [default: 8]
    #[arg(long, value_name = "N", allow_hyphen_values = true)]
    pub max_cycles: Option<String>,
    /// Agent that plays planner and loop.
    #[arg(
            long,
            value_name = "NAME",
            conflicts_with = "agent_command",
            value_parser = names::AgentNames(agent::READERS),
            hide_possible_values = true,
            help = text::wrapped(&format!("Agent for both: {}", agent::READERS.join(", ")), names::HELP_COLUMNS, 0)
        )]
    pub agent: Option<String>,
    /// A line for `sh -c` that plays planner and loop
    #[arg(long, value_name = "LINE")]
    pub agent_command: Option<String>,
    /// Longest time one child may take, such as `90m` [default: 2h]
    #[arg(long, value_name = "DURATION")]
    pub agent_timeout: Option<String>,
    /// Whose rules apply, and where to depart from them
    #[command(flatten)]
    pub rules: RuleArgs,
}

/// Whose rules apply, and where to depart from them.
#[derive(Clone, Debug, Default, clap::Args)]
pub struct RuleArgs {
    /// Whose rules apply: v1 (the original), v2, v3, route [default: v1]
    #[arg(long, value_name = "PROFILE")]
    pub profile: Option<String>,
    /// Stop when a cycle repeats the one before it
    #[arg(long)]
    pub stop_on_stall: bool,
    /// Let the summary count only until the planner has been given it
    #[arg(long)]
    pub summary_once: bool,
    /// `sh -c` line that checks the workspace first (profiles v3, route)
    #[arg(long, value_name = "LINE")]
    pub health_command: Option<String>,
    /// A line for `sh -c` that repairs what the check found and checks again
    #[arg(long, value_name = "LINE", requires = "health_command")]
    pub health_repair_command: Option<String>,
}

/// Arguments of `onloop auto begin`.
#[derive(Clone, Debug, Default, clap::Args)]
pub struct BeginArgs {
    /// What to build, with flags in between, all in one word
    #[arg(value_name = "ARGUMENT", default_value = "", allow_hyphen_values = true)]
    pub argument: String,
    /// This host cannot start child agents
    #[arg(long)]
    pub no_subagents: bool,
    /// Whose rules apply, and where to depart from them
    #[command(flatten)]
    pub rules: RuleArgs,
}

/// Arguments of `onloop auto resume`.
#[derive(Clone, Debug, Default, clap::Args)]
pub struct AutoResumeArgs {
    /// The child's answer; without it the child is named again
    #[arg(value_name = "RESULT_FILE", conflicts_with = "failed")]
    pub result_file: Option<String>,
    /// The child gave no answer: threw, timeout, cancelled or unavailable
    #[arg(long, value_name = "HOW")]
    pub failed: Option<String>,
}

/// Arguments of `onloop auto route`.
#[derive(Clone, Debug, Default, clap::Args)]
pub struct RouteArgs {
    /// What to build, with flags in between
    #[arg(value_name = "ARGUMENT", allow_hyphen_values = true)]
    pub argument: Vec<String>,
    /// By whose rules: v1, v2, v3, route [default: v1, as a run]
    #[arg(long, value_name = "PROFILE")]
    pub profile: Option<String>,
}

/// Arguments of `onloop auto init`.
#[derive(Clone, Debug, Default, clap::Args)]
pub struct AutoInitArgs {
    /// Say what would be written, and write nothing
    #[arg(long)]
    pub dry_run: bool,
}

/// Arguments of `onloop auto rehearse`.
#[derive(Clone, Debug, clap::Args)]
pub struct RehearseArgs {
    /// Scenarios, one JSON object a line; `-` reads standard input
    #[arg(value_name = "FILE", default_value = "-")]
    pub file: String,
}

/// The command line of `onloop auto` with everything but our own options moved behind
/// `--`, in its order: what to build may contain words that look like options, and the flags
/// for the loop belong to it. Other command lines come back as they are.
pub fn with_argument_last(argv: &[String]) -> Vec<String> {
    use clap::{Args, Subcommand};
    let [program, verb, words @ ..] = argv else { return argv.to_vec() };
    let is_verb = |word: &String| AutoVerb::has_subcommand(word);
    if verb != "auto" || words.first().is_some_and(is_verb) {
        return argv.to_vec();
    }
    let command = AutoRunArgs::augment_args(clap::Command::new("auto"));
    let part_of_argument = ["auto", "no-hitl", "hitl", "max-cycles"];
    let option = |name: &str| {
        let named = |arg: &&clap::Arg| arg.get_long() == Some(name);
        command.get_arguments().find(named).filter(|_| !part_of_argument.contains(&name))
    };
    let mut ours = vec![program.clone(), verb.clone()];
    let mut argument = Vec::new();
    // Whether nothing but flags was seen.
    let mut is_led = true;
    let mut words = words.iter();
    while let Some(word) = words.next() {
        if word == "--" {
            argument.extend(words.by_ref().cloned());
            break;
        }
        if matches!(word.as_str(), "-h" | "--help" | "-V" | "--version" | "--no-input") {
            ours.push(word.clone());
            continue;
        }
        let (name, value) = match word.split_once('=') {
            Some((name, value)) => (name, Some(value)),
            None => (word.as_str(), None),
        };
        match name.strip_prefix("--").and_then(option) {
            // Options before a verb are the verb's, and flags for the loop are its argument's.
            None if is_led && is_verb(word) => {
                let options = ours.split_off(2);
                ours.push(word.clone());
                return [ours, options, argument, words.cloned().collect()].concat();
            }
            None => {
                is_led &= word.starts_with('-');
                argument.push(word.clone());
                if name == "--max-cycles" && value.is_none() {
                    argument.extend(words.next().cloned());
                }
            }
            Some(known) => {
                ours.push(word.clone());
                if value.is_none() && known.get_action().takes_values() {
                    ours.extend(words.next().cloned());
                }
            }
        }
    }
    ours.push("--".to_owned());
    ours.append(&mut argument);
    ours
}

/// Why a command line cannot be followed.
#[derive(Debug, thiserror::Error)]
pub(super) enum InvalidArgs {
    #[error(transparent)]
    Profile(UnknownName),
    #[error("found `{0}` as `--agent-timeout`, expected a duration such as `90m`")]
    AgentTimeout(String),
    #[error("found agent `{}`, expected one of {}", .0, agent::AGENTS.join(", "))]
    UnknownAgent(String),
    /// It is known, but has no command line that takes a prompt.
    #[error("agent `{0}` cannot be started as `rw-planner` or `rw-loop`")]
    NotAChild(String),
}

impl AutoRunArgs {
    /// The argument as one text: the flags, then the words.
    pub fn argument_text(&self) -> String {
        let flags = [(self.auto, "--auto"), (self.no_hitl, "--no-hitl"), (self.hitl, "--hitl")];
        let mut words: Vec<String> = flags
            .into_iter()
            .filter(|(is_set, _)| *is_set)
            .map(|(_, flag)| flag.to_owned())
            .collect();
        words.extend(self.max_cycles.as_ref().map(|number| format!("--max-cycles={number}")));
        words.extend(self.argument.iter().cloned());
        words.join(" ")
    }

    /// How children are started; `None` where no agent is named.
    pub(super) fn child_command(
        &self,
        from_env: Option<&str>,
        listen: Option<Listen>,
    ) -> Result<Option<ChildCommand>, InvalidArgs> {
        let agent = match (&self.agent_command, self.agent.as_deref().or(from_env)) {
            (Some(line), _) => Agent::CommandLine(line.clone()),
            (None, None) => {
                // A wrong time is reported even where no agent is named.
                self.child_of(Agent::You, None)?;
                return Ok(None);
            }
            (None, Some(name)) => match Agent::named(name) {
                Some(agent @ (Agent::Preset(_, None) | Agent::CommandLine(_))) => agent,
                Some(Agent::Preset(..) | Agent::Acp(_) | Agent::Script | Agent::You) => {
                    return Err(InvalidArgs::NotAChild(name.to_owned()));
                }
                None => return Err(InvalidArgs::UnknownAgent(name.to_owned())),
            },
        };
        self.child_of(agent, listen).map(Some)
    }

    /// How children are started that `agent` plays.
    pub(super) fn child_of(
        &self,
        agent: Agent,
        listen: Option<Listen>,
    ) -> Result<ChildCommand, InvalidArgs> {
        let timeout_ms = match &self.agent_timeout {
            None => limits::AGENT_TIMEOUT_MS,
            Some(text) => {
                duration::parse_ms(text).ok_or_else(|| InvalidArgs::AgentTimeout(text.clone()))?
            }
        };
        Ok(ChildCommand { agent, timeout_ms, listen })
    }
}

impl From<InvalidArgs> for CommandError {
    fn from(invalid: InvalidArgs) -> CommandError {
        CommandError::usage(text::one_line(&invalid.to_string()))
    }
}

impl RuleArgs {
    pub(super) fn profile(&self) -> Result<Profile, InvalidArgs> {
        match &self.profile {
            None => Ok(Profile::default()),
            Some(name) => named("profile", name).map_err(InvalidArgs::Profile),
        }
    }

    pub(super) fn options(&self) -> Options {
        Options {
            stall: if self.stop_on_stall { OnStall::Stop } else { OnStall::Continue },
            summary: if self.summary_once { SummaryUse::Once } else { SummaryUse::EveryCycle },
            routes_by: None,
        }
    }

    pub(super) fn health(&self) -> HealthCommands {
        HealthCommands {
            check: self.health_command.clone(),
            repair: self.health_repair_command.clone(),
        }
    }
}
