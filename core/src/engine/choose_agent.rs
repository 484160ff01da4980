//! Which agent acts: what was asked for, else what the workflow and the machine offer.

use crate::agent::{Agent, PRESETS};
use crate::effect::{Exit, FileKind, Io};
use crate::text;
use crate::workflow::Step;

/// Arguments that name an agent.
#[derive(Clone, Debug, Default)]
#[cfg_attr(feature = "cli", derive(clap::Args))]
pub struct AgentArgs {
    /// Agent that acts; `script` runs the step's own fenced block
    ///
    /// One of claude, codex, opencode, cursor, gemini, copilot, script, you.
    ///
    /// Left out: ONLOOP_AGENT, else `script` if every step has a script, else
    /// the first of them that is on PATH, else `you`.
    #[cfg_attr(
        feature = "cli",
        arg(long, value_name = "NAME", conflicts_with = "agent_command", verbatim_doc_comment)
    )]
    pub agent: Option<String>,
    /// Command that acts, for `sh -c`; reads the prompt on stdin
    #[cfg_attr(feature = "cli", arg(long, value_name = "LINE"))]
    pub agent_command: Option<String>,
}

/// The agent for a run whose remaining steps are `steps`.
pub(crate) async fn choose_agent(
    io: &Io,
    args: &AgentArgs,
    steps: Option<&[Step]>,
) -> Result<Agent, Exit> {
    if let Some(line) = &args.agent_command {
        return Ok(Agent::CommandLine(line.clone()));
    }
    let agent = match args.agent.as_deref().or_else(|| io.env("ONLOOP_AGENT")) {
        Some(name) => match Agent::named(name) {
            Some(agent) => agent,
            None => {
                let name = text::one_line(name);
                io.note(format!(
                    "error: there is no agent `{name}`; expected one of {}, or --agent-command",
                    Agent::names()
                ))
                .await;
                return Err(Exit::Usage);
            }
        },
        None => return find_agent(io, steps.unwrap_or_default()).await,
    };
    let terminal = io.start().terminal;
    if agent == Agent::You && !(terminal.stdin && terminal.stderr) {
        io.note("error: the agent `you` needs a terminal; name another one with --agent").await;
        return Err(Exit::Usage);
    }
    Ok(agent)
}

async fn find_agent(io: &Io, steps: &[Step]) -> Result<Agent, Exit> {
    if !steps.is_empty() && steps.iter().all(|step| step.script.is_some()) {
        return Ok(Agent::Script);
    }
    for preset in PRESETS {
        if on_path(io, preset.program).await {
            return Ok(Agent::Preset(preset));
        }
    }
    let terminal = io.start().terminal;
    if terminal.stdin && terminal.stderr {
        return Ok(Agent::You);
    }
    io.note(format!(
        "error: no agent was found on PATH and nobody is at the terminal\n  Name one with --agent \
         ({}) or --agent-command LINE,\n  or give every step a fenced `sh` block for the agent \
         `script`.",
        Agent::names()
    ))
    .await;
    Err(Exit::Usage)
}

async fn on_path(io: &Io, program: &str) -> bool {
    for folder in io.env("PATH").unwrap_or_default().split(':') {
        if !folder.starts_with('/') {
            continue;
        }
        // A link is followed by asking about what it leads to.
        let path = format!("{folder}/{program}");
        if let Ok(stat) = io.stat(&path).await {
            let runs = match stat.kind {
                FileKind::File => stat.executable,
                FileKind::Link => io.canonical(&path).await.is_ok(),
                FileKind::Folder | FileKind::Other => false,
            };
            if runs {
                return true;
            }
        }
    }
    false
}
