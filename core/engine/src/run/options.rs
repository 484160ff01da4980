//! The options of driving a run: those of the command line, and their meaning.

use crate::error::CommandError;
use crate::lookup::agent::AgentArgs;
use crate::run::checks::CheckOptions;
use crate::sandbox::choice::{Sandbox, SandboxRequest};
use crate::state::store::Paths;
use clap::Parser;
use onloop_agents::Agent;
use onloop_effect::{Durability, Expect, Io, has_redaction, secret_names};
use onloop_permission::OnAsk;
use onloop_run::{Platform, Run};
use onloop_sessions::handsoff::config::ConfineWhen;
use onloop_syntax::limits;
use onloop_syntax::text::{self, words};
use onloop_workflow as workflow;
use serde_json::{Value, json};

/// The arguments of a verb that drives a run.
#[derive(Clone, Debug, Default, clap::Args)]
#[command(next_help_heading = "Agents, limits and output")]
pub struct DriveArgs {
    /// The agent
    #[command(flatten)]
    pub agent: AgentArgs,
    /// Longest time for one attempt, such as 90s, 20m, 1h30m [default: 2h]
    #[arg(long, value_name = "TIME")]
    pub agent_timeout: Option<String>,
    /// Longest silence of an agent while it runs no tool [default: 10m]
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
    /// Say nothing about a run that completed: it is a part of what another verb does
    #[arg(skip)]
    pub is_part: bool,
}

words! {
    /// What becomes of a call that neither a rule nor a person decides.
    #[derive(clap::ValueEnum)]
    pub enum OnAskChoice {
        /// Run it confined, else as deny [default where confined]
        Contained = "contained",
        /// Refuse it and tell the agent why [default elsewhere]
        Deny = "deny",
        /// Refuse it, and wait for a person after the turn
        Pause = "pause",
    }
}

impl OnAskChoice {
    fn meaning(self) -> OnAsk {
        match self {
            OnAskChoice::Contained => OnAsk::Contained,
            OnAskChoice::Deny => OnAsk::Deny,
            OnAskChoice::Pause => OnAsk::Pause,
        }
    }
}

impl DriveArgs {
    /// The options that drive another run the same way, as words of a command line. How results
    /// are shown is not part of it.
    pub(crate) fn words(&self) -> Vec<String> {
        let options = [
            ("--agent", &self.agent.agent),
            ("--agent-command", &self.agent.agent_command),
            ("--model", &self.agent.model),
            ("--agent-timeout", &self.agent_timeout),
            ("--stall-timeout", &self.stall_timeout),
            ("--max-wait", &self.max_wait),
            ("--verify-timeout", &self.verify_timeout),
        ];
        let mut words: Vec<String> = Vec::new();
        let mut add = |name: &str, value: &str| words.extend([name.to_owned(), value.to_owned()]);
        for (name, value) in options {
            if let Some(value) = value {
                add(name, value);
            }
        }
        if let Some(choice) = self.on_ask {
            add("--on-ask", choice.as_str());
        }
        if let Some(when) = self.confine {
            add("--confine", when.as_str());
        }
        if self.fresh_session {
            words.push("--fresh-session".to_owned());
        }
        words
    }

    /// [`DriveArgs::words`] in a shell line, each after a space.
    pub(crate) fn line(&self) -> String {
        self.words().iter().map(|word| format!(" {}", text::shell_word(word))).collect()
    }

    /// These options, which name the agents that were chosen without a name.
    pub(crate) fn naming(self, agents: &[Agent]) -> DriveArgs {
        if self.agent.is_named() {
            return self;
        }
        let names: Vec<&str> = agents.iter().map(Agent::name).collect();
        let agent = AgentArgs { agent: Some(names.join(",")), ..self.agent };
        DriveArgs { agent, ..self }
    }

    /// These options, and those of `earlier` that are not among them.
    pub(crate) fn or(self, earlier: DriveArgs) -> DriveArgs {
        DriveArgs {
            agent: match self.agent.is_named() {
                true => self.agent,
                false => {
                    AgentArgs { model: self.agent.model.or(earlier.agent.model), ..earlier.agent }
                }
            },
            agent_timeout: self.agent_timeout.or(earlier.agent_timeout),
            stall_timeout: self.stall_timeout.or(earlier.stall_timeout),
            max_wait: self.max_wait.or(earlier.max_wait),
            confine: self.confine.or(earlier.confine),
            on_ask: self.on_ask.or(earlier.on_ask),
            fresh_session: self.fresh_session || earlier.fresh_session,
            verify_timeout: self.verify_timeout.or(earlier.verify_timeout),
            platform: self.platform,
            verbose: self.verbose,
            json: self.json,
            is_part: self.is_part,
        }
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

    /// The sandbox of what works for a run in `folder`: whether its file says `confine: on`, and
    /// whether it has names in `network`.
    ///
    /// # Errors
    ///
    /// As [`Sandbox::decide`].
    pub(crate) async fn sandbox(
        &self,
        io: &Io,
        folder: &str,
        (file, names): (bool, bool),
    ) -> Result<Sandbox, CommandError> {
        Sandbox::decide(io, folder, SandboxRequest { flag: self.confine, file, names }).await
    }

    /// Refuses to start an agent without a sandbox whose requests for permissions are all that holds
    /// it, unless `--confine off` says so.
    ///
    /// # Errors
    ///
    /// An agent speaks the Agent Client Protocol, and nothing confines it.
    pub(crate) fn demand_confined(
        &self,
        agents: &[Agent],
        sandbox: &Sandbox,
    ) -> Result<(), CommandError> {
        let Sandbox::Off { why, .. } = sandbox else { return Ok(()) };
        let Some(agent) = agents.iter().find(|agent| agent.speaks_acp()) else { return Ok(()) };
        if self.confine == Some(ConfineWhen::Off) {
            return Ok(());
        }
        let agent = text::ellipsis(&text::one_line(agent.name()), 80);
        Err(CommandError::refused(format!("the agent `{agent}` runs only in a sandbox"))
            .because(why.clone())
            .fix_by("see what this machine can do", "onloop doctor confine")
            .fix("or run it without one: add --confine off"))
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
            is_part: self.is_part,
            words: self.words(),
        }
    }
}

/// Stores the options that a run is driven with, so that another process drives it the same way.
pub(crate) async fn remember_options(io: &Io, paths: &Paths, words: &[String]) {
    let words: Vec<String> = words.iter().map(|word| io.redacted(word)).collect();
    // Names without their values: a process without them may not be able to do the same.
    let variables: Vec<&String> = secret_names(io.env_all()).collect();
    let json = json!({ "words": words, "variables": variables }).to_string();
    // Without them a person names the options again.
    let _ = io.write(&paths.options(), json.into_bytes(), Expect::Any, Durability::Relaxed).await;
}

/// The options that a run was last driven with. `None`: onloop has not driven it here.
pub async fn remembered_options(io: &Io, paths: &Paths) -> Option<DriveArgs> {
    let words = remembered(io, paths, "words").await?;
    let line = std::iter::once("onloop".to_owned()).chain(words);
    Some(RememberedOptions::try_parse_from(line).ok()?.drive)
}

/// The names of the secret variables that the process which drove the run last had, and this one has not.
pub(crate) async fn missing_variables(io: &Io, paths: &Paths) -> Vec<String> {
    let known = remembered(io, paths, "variables").await.unwrap_or_default();
    known.into_iter().filter(|name| io.env(name).is_none()).collect()
}

/// A list of words in what was stored of the last driver.
async fn remembered(io: &Io, paths: &Paths, member: &str) -> Option<Vec<String>> {
    let (bytes, _) = io.read(&paths.options(), limits::OPTIONS_BYTES).await.ok()?;
    let document: Value = serde_json::from_slice(&bytes).ok()?;
    serde_json::from_value(document[member].clone()).ok()
}

/// The command line of stored options.
#[derive(clap::Parser)]
struct RememberedOptions {
    #[command(flatten)]
    drive: DriveArgs,
}

/// Options of which a part was not stored because it is secret cannot drive a run.
///
/// # Errors
///
/// A secret value is missing.
pub(crate) fn demand_complete(drive: &DriveArgs, id: &str) -> Result<(), CommandError> {
    match drive.words().iter().any(|word| has_redaction(word)) {
        false => Ok(()),
        true => Err(CommandError::usage(format!(
            "the options of run `{id}` contain a secret value, which onloop does not store"
        ))
        .fix_by("name the agent again", format!("onloop resume {id} --agent-command LINE"))),
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
    /// Nothing is said about a run that completed.
    pub(crate) is_part: bool,
    /// Options that drive the run like this again, as words of a command line.
    pub(crate) words: Vec<String>,
}
