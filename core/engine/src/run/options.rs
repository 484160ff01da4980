//! The options of driving a run: those of the command line, and their meaning.

use crate::error::CommandError;
use crate::lookup::agent::AgentArgs;
use crate::run::checks::CheckOptions;
use crate::sandbox::choice::{Sandbox, SandboxRequest};
use crate::state::store::Paths;
use clap::{Args, FromArgMatches};
use onloop_agents::Agent;
use onloop_effect::{Durability, Expect, Io};
use onloop_permission::OnAsk;
use onloop_run::{Platform, Run};
use onloop_sessions::handsoff::config::ConfineWhen;
use onloop_syntax::limits;
use onloop_syntax::text;
use onloop_workflow as workflow;

/// The arguments of a verb that drives a run.
#[derive(Clone, Debug, Default, clap::Args)]
pub struct DriveArgs {
    /// Who acts
    #[command(flatten)]
    pub agent: AgentArgs,
    /// Longest time for one attempt, such as 90s, 20m, 1h30m [default: 2h]
    #[arg(long, value_name = "TIME")]
    pub agent_timeout: Option<String>,
    /// Longest silence of an agent while no tool of its works [default: 10m]
    #[arg(long, value_name = "TIME")]
    pub stall_timeout: Option<String>,
    /// Longest wait for a limit on usage or an overload to end [default: 6h]
    #[arg(long, value_name = "TIME")]
    pub max_wait: Option<String>,
    /// Confine agents and checks: auto, on or off [default: auto]
    #[arg(long, value_name = "WHEN")]
    pub confine: Option<ConfineWhen>,
    /// A call that neither a rule nor a person decides
    #[arg(long, value_enum, value_name = "WHAT")]
    pub on_ask: Option<OnAskChoice>,
    /// Begin every attempt in a new conversation with the agent
    #[arg(long)]
    pub fresh_session: bool,
    /// Longest time for one verification command [default: 10m]
    #[arg(long, value_name = "TIME")]
    pub verify_timeout: Option<String>,
    /// Form of the final summary
    #[arg(long, value_enum, value_name = "PLATFORM")]
    pub platform: Option<Platform>,
    /// Print all steps at each transition, and what the agent says and does
    #[arg(long)]
    pub verbose: bool,
    /// Print the final summary as JSON
    #[arg(long)]
    pub json: bool,
}

/// How the host begins what stands for a secret.
const REDACTED: &str = "[redacted ";

/// What becomes of a call that neither a rule nor a person decides.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum OnAskChoice {
    /// Run it confined, else as deny [default where confined]
    Contained,
    /// Refuse it and tell the agent why [default elsewhere]
    Deny,
    /// Refuse it, and wait for a person after the turn
    Pause,
}

impl OnAskChoice {
    /// The word on the command line.
    fn as_str(self) -> &'static str {
        match self {
            OnAskChoice::Contained => "contained",
            OnAskChoice::Deny => "deny",
            OnAskChoice::Pause => "pause",
        }
    }

    fn meaning(self) -> OnAsk {
        match self {
            OnAskChoice::Contained => OnAsk::Contained,
            OnAskChoice::Deny => OnAsk::Deny,
            OnAskChoice::Pause => OnAsk::Pause,
        }
    }
}

impl DriveArgs {
    /// The options that drive another run the same way, each after a space, as words of a
    /// shell line. How results are shown is not part of it.
    pub(crate) fn options(&self) -> String {
        let options = [
            ("--agent", &self.agent.agent),
            ("--agent-command", &self.agent.agent_command),
            ("--agent-timeout", &self.agent_timeout),
            ("--stall-timeout", &self.stall_timeout),
            ("--max-wait", &self.max_wait),
            ("--verify-timeout", &self.verify_timeout),
        ];
        let given = options.iter().filter_map(|(name, value)| Some((name, value.as_deref()?)));
        let mut line: String =
            given.map(|(name, value)| format!(" {name} {}", text::shell_word(value))).collect();
        if let Some(choice) = self.on_ask {
            line += &format!(" --on-ask {}", choice.as_str());
        }
        if let Some(when) = self.confine {
            line += &format!(" --confine {}", when.as_str());
        }
        if self.fresh_session {
            line += " --fresh-session";
        }
        line
    }

    /// These options, and those that the run of `paths` was last driven with where one is left out.
    ///
    /// # Errors
    ///
    /// The command of the agent held a secret, which onloop does not store.
    pub(crate) async fn or_remembered(
        &self,
        io: &Io,
        paths: &Paths,
    ) -> Result<DriveArgs, CommandError> {
        let Ok((bytes, _)) = io.read(&paths.options(), limits::OPTIONS_BYTES).await else {
            return Ok(self.clone());
        };
        let line = String::from_utf8_lossy(&bytes);
        let Some(before) = DriveArgs::read(&line) else { return Ok(self.clone()) };
        let is_named = self.agent.agent.is_some() || self.agent.agent_command.is_some();
        let agent = if is_named { self.agent.clone() } else { before.agent };
        if !is_named && agent.agent_command.as_ref().is_some_and(|line| line.contains(REDACTED)) {
            return Err(CommandError::usage("the command of the agent held a secret")
                .because("onloop does not store secrets")
                .fix("name the agent again with --agent or --agent-command"));
        }
        let or = |own: &Option<String>, before| own.clone().or(before);
        Ok(DriveArgs {
            agent,
            agent_timeout: or(&self.agent_timeout, before.agent_timeout),
            stall_timeout: or(&self.stall_timeout, before.stall_timeout),
            max_wait: or(&self.max_wait, before.max_wait),
            verify_timeout: or(&self.verify_timeout, before.verify_timeout),
            confine: self.confine.or(before.confine),
            on_ask: self.on_ask.or(before.on_ask),
            fresh_session: self.fresh_session || before.fresh_session,
            ..self.clone()
        })
    }

    /// The options in a line that [`DriveArgs::options`] made; `None`: a later onloop wrote it.
    fn read(line: &str) -> Option<DriveArgs> {
        let command = clap::Command::new("options").no_binary_name(true);
        let matches =
            DriveArgs::augment_args(command).try_get_matches_from(text::shell_words(line));
        DriveArgs::from_arg_matches(&matches.ok()?).ok()
    }

    /// The time limits.
    pub(crate) fn timeouts(&self) -> Result<Timeouts, CommandError> {
        let read = |flag: &str, value: &Option<String>, usual_ms: u64| {
            let Some(value) = value else { return Ok(usual_ms) };
            workflow::duration::parse_ms(value).ok_or_else(|| {
                let value = text::one_line(value);
                CommandError::usage(format!(
                    "{flag} is `{value}`, expected a time such as 90s, 20m or 1h30m"
                ))
            })
        };
        Ok(Timeouts {
            agent_ms: read("--agent-timeout", &self.agent_timeout, limits::AGENT_TIMEOUT_MS)?,
            stall_ms: read("--stall-timeout", &self.stall_timeout, limits::STALL_TIMEOUT_MS)?,
            max_wait_ms: read("--max-wait", &self.max_wait, limits::MAX_WAIT_MS)?,
            verify_ms: read("--verify-timeout", &self.verify_timeout, limits::VERIFY_TIMEOUT_MS)?,
        })
    }

    /// The sandbox of what works for a run in `folder`, whose file says `confine: on` or
    /// not.
    ///
    /// # Errors
    ///
    /// As [`Sandbox::decide`].
    pub(crate) async fn sandbox(
        &self,
        io: &Io,
        folder: &str,
        file: bool,
    ) -> Result<Sandbox, CommandError> {
        Sandbox::decide(io, folder, SandboxRequest { flag: self.confine, file }).await
    }

    /// The options with which this process drives `run`.
    pub(crate) fn applied(
        &self,
        io: &Io,
        run: &Run,
        agents: Vec<Agent>,
        timeouts: Timeouts,
        sandbox: Sandbox,
    ) -> RunOptions {
        let usual = match sandbox {
            Sandbox::By { .. } => OnAsk::Contained,
            Sandbox::Off { .. } => OnAsk::Deny,
        };
        RunOptions {
            agents,
            max_wait_ms: timeouts.max_wait_ms,
            turns: TurnOptions {
                timeout_ms: timeouts.agent_ms,
                stall_ms: timeouts.stall_ms,
                on_ask: self.on_ask.map_or(usual, OnAskChoice::meaning),
                fresh_session: self.fresh_session,
                verbose: self.verbose,
            },
            checks: CheckOptions::of(io, run, timeouts.verify_ms, sandbox),
            verbose: self.verbose,
            platform: self.platform.unwrap_or(Platform::Codex),
            json: self.json,
            again: self.options(),
        }
    }
}

/// Stores the options that a run is driven with, for `onloop resume` and for the hints of other
/// processes. Clients that were found rather than named are among them, so that they stay.
pub(crate) async fn remember_options(io: &Io, paths: &Paths, options: &RunOptions) {
    let mut line = options.again.clone();
    let clients = options.agents.iter().map(|agent| match agent {
        Agent::Preset(preset) => Some(preset.name),
        Agent::CommandLine(_) | Agent::Script | Agent::You => None,
    });
    let is_named = line.contains(" --agent ") || line.contains(" --agent-command ");
    if let (false, Some(names)) = (is_named, clients.collect::<Option<Vec<_>>>()) {
        line += &format!(" --agent {}", names.join(","));
    }
    if !line.is_empty() {
        let bytes = io.redacted(&line).into_bytes();
        // Without them a hint is shorter, and `onloop resume` chooses an agent again.
        let _ = io.write(&paths.options(), bytes, Expect::Any, Durability::Relaxed).await;
    }
}

/// The options that a run was last driven with, each after a space, as words of a shell line.
pub async fn remembered_options(io: &Io, paths: &Paths) -> String {
    match io.read(&paths.options(), limits::OPTIONS_BYTES).await {
        Ok((bytes, _)) => format!(" {}", text::one_line(&String::from_utf8_lossy(&bytes)).trim()),
        Err(_) => String::new(),
    }
}

/// Time limits of a run that this process drives.
pub(crate) struct Timeouts {
    /// For one attempt of the agent.
    pub(crate) agent_ms: u64,
    /// For silence of an agent.
    stall_ms: u64,
    /// For a provider that refuses requests.
    max_wait_ms: u64,
    /// For a verification command that has no limit of its own.
    pub(crate) verify_ms: u64,
}

/// The options of the turns of an agent.
#[derive(Clone, Copy, Debug)]
pub(crate) struct TurnOptions {
    /// Time for one attempt.
    pub(crate) timeout_ms: u64,
    /// Longest silence while no tool works.
    pub(crate) stall_ms: u64,
    /// What becomes of calls without a decision.
    pub(crate) on_ask: OnAsk,
    /// Whether a retry begins a new conversation.
    pub(crate) fresh_session: bool,
    /// Whether people see what the agent says and does as it comes.
    pub(crate) verbose: bool,
}

/// The options with which this process drives a run.
#[derive(Debug)]
pub(crate) struct RunOptions {
    /// The agents: the first whose provider accepts requests runs. Never empty.
    pub(crate) agents: Vec<Agent>,
    /// The longest wait for a provider.
    pub(crate) max_wait_ms: u64,
    /// The options of the agent's turns.
    pub(crate) turns: TurnOptions,
    /// How checks are evaluated.
    pub(crate) checks: CheckOptions,
    /// Print the whole list at each transition.
    pub(crate) verbose: bool,
    /// Form of the final summary.
    pub(crate) platform: Platform,
    /// The final summary is JSON.
    pub(crate) json: bool,
    /// Options that drive the run like this again, each after a space.
    pub(crate) again: String,
}
