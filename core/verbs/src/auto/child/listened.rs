//! A child whose client speaks in events: its log reads like a transcript, what it used is said, and
//! its answer is what its model said, never what a tool printed.

use super::broken_off;
use crate::auto::noted::NotedRun;
use onloop_agents::{AgentError, AgentErrorKind, AgentState, Client, TurnOutcome, UsageLimit};
use onloop_auto::child::ChildOutcome;
use onloop_effect::{Failure, Io, ProcessSpec};
use onloop_engine::run::agent_stream::{self, Listener, noted};
use onloop_engine::state::config;
use onloop_syntax::time::Timestamp;
use onloop_syntax::tokens::Tokens;
use onloop_syntax::{limits, text};

/// What came of following a child.
pub(in crate::auto) enum ChildEnd {
    /// It is finished.
    Over(ChildOutcome),
    /// The provider of its agent did not serve it; `until` where it says until when.
    Refused {
        /// What it said.
        why: String,
        /// When it serves again.
        until: Option<Timestamp>,
    },
}

/// Follows a child to its end.
///
/// # Errors
///
/// When it cannot be started or followed.
pub(super) async fn follow(
    io: &Io,
    client: Client,
    spec: ProcessSpec,
    log_path: &str,
    noted_run: &NotedRun,
) -> Result<ChildEnd, Failure> {
    let prices = config::load(io, &io.start().cwd).await.config.prices;
    let label = spec.label.clone().unwrap_or_default();
    let spec = spec.capture_bytes(limits::AGENT_LINE_BYTES);
    let state = AgentState::new(client, Tokens::default());
    let mut listener = Listener::new(io, state, log_path.to_owned(), false).await;
    let on_lines = async |bytes: &[u8]| {
        let said = listener.push(bytes);
        listener.write(said).await;
        listener.activity(agent_stream::cost(&listener.state, prices.as_ref()))
    };
    let end = noted_run.follow_child(io, spec, on_lines).await?;
    let mut said = listener.finish(Some(&end)) + &noted(&end.stderr.text());
    let used = listener.used(agent_stream::cost(&listener.state, prices.as_ref()));
    if !used.is_empty() {
        let used = used.join(", ");
        said += &format!("— {used}\n");
        io.note(format!("{label}: {used}")).await;
    }
    listener.write(said).await;
    let broken_off = || broken_off(end.status, log_path);
    let failed = |why: &str| {
        let why = text::ellipsis(&text::one_line(&io.redacted(why)), 300);
        let why = format!("{why}; its transcript is in `{log_path}`");
        ChildEnd::Over(ChildOutcome::Failed(why))
    };
    Ok(match listener.state.outcome(end.status) {
        TurnOutcome::Completed => {
            ChildEnd::Over(ChildOutcome::Answered(listener.state.answered().to_owned()))
        }
        TurnOutcome::Limited(limit) => {
            ChildEnd::Refused { why: limited(&limit), until: limit.resets_at }
        }
        TurnOutcome::Failed(AgentError {
            kind: AgentErrorKind::Limit | AgentErrorKind::Overloaded | AgentErrorKind::Network,
            message,
        }) => ChildEnd::Refused { why: io.redacted(&message), until: None },
        TurnOutcome::Failed(error) => failed(&format!("the child failed: {}", error.message)),
        TurnOutcome::NoFinalEvent => broken_off().map_or_else(
            || failed("the child ended without saying how its turn ended"),
            ChildEnd::Over,
        ),
    })
}

fn limited(limit: &UsageLimit) -> String {
    let until = limit.resets_at.map(Timestamp::to_rfc3339);
    let until = until.map_or_else(String::new, |at| format!(" until {at}"));
    format!("its limit on usage is reached{until}")
}
