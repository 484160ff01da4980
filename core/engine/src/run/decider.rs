//! Who decides, and through which channel.

use std::collections::BTreeSet;

use crate::error::CommandError;
use crate::state::store::{Paths, StateHome};
use onloop_effect::{Io, LockHolder, ProcessIdentity, Start};
use onloop_run::{Decider, DecisionChannel, Event, GateDecision, Run};
use onloop_syntax::text;
use onloop_workflow::Risk;

/// The user of this process, through `channel`.
pub fn decider(io: &Io, channel: DecisionChannel) -> Decider {
    let user = ["USER", "LOGNAME", "USERNAME"].into_iter().find_map(|name| io.env(name));
    Decider { user: user.map(text::one_line), channel }
}

/// The channel of a decision: `Editor` if an editor runs this program and says so, else `own`.
pub fn channel_of(io: &Io, own: DecisionChannel) -> DecisionChannel {
    let says = io.env("ONLOOP_CHANNEL").and_then(|channel| channel.parse().ok());
    says.filter(|channel| *channel == DecisionChannel::Editor).unwrap_or(own)
}

/// Who has decided what about a run, and through which channel, as the beginning of a sentence.
pub(crate) fn decided_by(by: &Decider, event: &Event) -> String {
    let channel = match by.channel {
        DecisionChannel::Terminal => "in another terminal",
        DecisionChannel::Command => "with a command",
        DecisionChannel::Mcp => "through an MCP client",
        DecisionChannel::Telegram => "in Telegram",
        DecisionChannel::Web => "on the web page",
        DecisionChannel::Editor => "in an editor",
    };
    let decision = match event {
        Event::GateDecided { step, decision: GateDecision::Approved, .. } => {
            format!("approved step {step}")
        }
        Event::GateDecided { step, decision: GateDecision::Rejected, .. } => {
            format!("rejected step {step}")
        }
        Event::StepRedone { step, .. } => format!("requested changes to step {step}"),
        Event::StepReopened { step, .. } => format!("had step {step} tried again"),
        Event::VerdictAccepted => "accepted the review".to_owned(),
        Event::BudgetsChanged(_) => "changed the limits of the run".to_owned(),
        Event::RunAbandoned { .. } => "abandoned the run".to_owned(),
        _ => "decided about the run".to_owned(),
    };
    let user = by.user.as_deref().map(text::one_line);
    format!("{} {decision} {channel}", user.as_deref().unwrap_or("A person"))
}

/// What has to be typed to approve a step, as it is shown; `None`: nothing, since the risk is not high.
pub(crate) fn name_to_type(io: &Io, run: &Run, step: u32) -> Option<String> {
    let record = run.step(step).filter(|_| run.settings.risk == Risk::High)?;
    Some(io.redacted(&text::one_line(&record.step.name)))
}

/// Whether `typed` is what has to be typed to approve this step: a word that is typed without looking
/// approves nothing where the risk is high.
pub fn names_step(io: &Io, run: &Run, step: u32, typed: &str) -> bool {
    let name = name_to_type(io, run, step);
    name.is_none_or(|name| io.redacted(&text::one_line(typed)).trim() == name.trim())
}

/// What an agent that works for us has in its environment, and what it then works on.
const AGENT_VARIABLES: [(&str, &str); 2] =
    [("ONLOOP_STEP", "the agent of step"), ("ONLOOP_AUTO_RUN", "an agent of the rw-auto run")];

/// Refuses what only a person may decide where an agent is at work: in its turn of a run or of
/// rw-auto, and in what it starts. An agent can take our variables out of the environment; the
/// process that drives its run stays above it.
///
/// # Errors
///
/// An agent is at work.
pub async fn demand_person(io: &Io, what: &str) -> Result<(), CommandError> {
    for (name, who) in AGENT_VARIABLES {
        if let Some(value) = io.env(name) {
            let value = text::one_line(value);
            let why = format!("this was started by {who} {value} ({name} is set)");
            return Err(for_a_person(what, &why));
        }
    }
    // Where the system does not tell who is above us, the environment has to do.
    let above = io.ancestors().await.unwrap_or_default();
    let mut homes = BTreeSet::new();
    homes.extend(StateHome::of(io).ok().filter(|_| !above.is_empty()));
    // What drives us may keep its runs elsewhere: its variables are not handed on to agents.
    for process in &above {
        homes.extend(home_of(io, process.pid).await);
    }
    for home in homes {
        if let Some((pid, id)) = driver_among(io, &home, &above).await {
            let why = format!("this was started below process {pid}, which drives run {id}");
            return Err(for_a_person(what, &why));
        }
    }
    Ok(())
}

/// Most bytes of the variables of one process that are read.
const VARIABLES_BYTES: u64 = 4 * 1024 * 1024;

/// The state home of a process above us, from the variables that it was started with; `None` where
/// the system does not show them.
async fn home_of(io: &Io, pid: u32) -> Option<StateHome> {
    let (bytes, _) = io.read(&format!("/proc/{pid}/environ"), VARIABLES_BYTES).await.ok()?;
    let text = String::from_utf8_lossy(&bytes);
    let variables = text.split('\0').filter_map(|variable| variable.split_once('='));
    let env = variables.map(|(name, value)| (name.to_owned(), value.to_owned())).collect();
    // A relative one begins where that process was, and that is not known.
    StateHome::of_start(&Start { env, cwd: "/".to_owned(), ..io.start().clone() })
}

/// The first of these processes that drives a run of `home`, by its number, and the run.
async fn driver_among(
    io: &Io,
    home: &StateHome,
    processes: &[ProcessIdentity],
) -> Option<(u32, String)> {
    for id in io.list(&home.runs()).await.unwrap_or_default() {
        let driver = Paths::new(home, "", &id).driver_lock();
        if let Ok(Some(LockHolder { process, live: true, role: _ })) = io.holder(&driver).await
            && processes.contains(&process)
        {
            return Some((process.pid, id));
        }
    }
    None
}

fn for_a_person(what: &str, why: &str) -> CommandError {
    CommandError::refused(format!("{what} is for a person to decide"))
        .because(why)
        .fix("leave it to the person who runs onloop")
}
