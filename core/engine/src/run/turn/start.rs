//! Clients that cannot start: what is wrong, and what fixes it. A turn in which nothing was done for
//! such a reason does not count as an attempt.

use super::{ActionOutcome, version};
use crate::lookup::agent::on_path;
use crate::run::context::RunContext;
use onloop_agents::{ACP_VERB, Agent, AgentErrorKind, TurnClient};
use onloop_run::{StepRecord, TurnRecord};
use onloop_syntax::text;

/// The client that a turn started.
pub(super) struct Starter<'a> {
    pub(super) agent: &'a Agent,
    pub(super) turn: &'a TurnClient<'a>,
    /// What it said about its version.
    pub(super) version: Option<&'a str>,
}

impl Starter<'_> {
    /// Its program, else its name.
    fn program(&self) -> &str {
        self.agent.program().unwrap_or(self.turn.name)
    }

    fn install(&self) -> &'static str {
        self.turn.preset.map_or("the instructions of its maker", |preset| preset.install)
    }

    fn log_in(&self) -> &'static str {
        self.turn.preset.map_or("log in with it once", |preset| preset.log_in)
    }
}

/// What keeps a client from starting.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Obstacle {
    /// It is not logged in, or its key is refused.
    NotLoggedIn,
    /// It does not know an option that a turn needs: its words.
    TooOld(String),
    /// It does not trust the folder.
    Untrusted,
    /// It does not offer the model.
    NoModel,
    /// This onloop cannot talk to it.
    NotNative,
}

/// `outcome`, or why the client could not start.
pub(super) async fn explained(
    cx: &RunContext<'_>,
    who: &Starter<'_>,
    record: &StepRecord,
    outcome: ActionOutcome,
) -> ActionOutcome {
    let ActionOutcome::Failed { reason, output } = &outcome else { return outcome };
    let (io, run) = (cx.io, cx.run());
    let program = who.program();
    let is_this =
        |turn: &TurnRecord| (turn.step, turn.attempt) == (record.step.number, record.attempts);
    let was_started = run.turns.last().is_some_and(is_this);
    let needed = who.agent.program();
    let is_missing = match needed.filter(|_| !was_started) {
        Some(needed) => !on_path(io, needed).await,
        None => false,
    };
    if is_missing {
        let install = who.install();
        return ActionOutcome::NotStarted(format!(
            "`{program}` is not on PATH; install it with {install}"
        ));
    }
    let has_used = |turn: &TurnRecord| turn.tokens.is_some_and(|tokens| tokens.total() > 0);
    if run.turns.last().is_some_and(has_used) {
        return outcome;
    }
    let why = match obstacle(reason, output) {
        None => return outcome,
        Some(Obstacle::NotLoggedIn) => {
            let (words, log_in) = (text::ellipsis(reason, 200), who.log_in());
            format!("`{program}` is not logged in, or its key is refused ({words}); {log_in}")
        }
        Some(Obstacle::TooOld(words)) => {
            let version = who.version.map_or_else(String::new, |version| format!(" {version}"));
            let install = who.install();
            format!(
                "`{program}`{version} is too old for what a run needs ({words}); update it with \
                 {install}"
            )
        }
        Some(Obstacle::Untrusted) => format!(
            "`{program}` does not trust this folder; start `{program}` here once and say that you do"
        ),
        Some(Obstacle::NoModel) => format!("`{program}`: {}", text::ellipsis(reason, 400)),
        Some(Obstacle::NotNative) => format!(
            "this onloop runs in Node, and only the native program talks to `{program}`; install it \
             with `cargo install --locked --path native` in a checkout of onloop"
        ),
    };
    ActionOutcome::NotStarted(io.redacted(&why))
}

/// What the end of a turn in which nothing was done says. Clients have no codes for these.
fn obstacle(reason: &str, output: &str) -> Option<Obstacle> {
    const UNKNOWN: [&str; 5] = [
        "unknown option",
        "unexpected argument",
        "Unknown argument",
        "Unknown feature flag",
        "Allowed choices are",
    ];
    let lines = || std::iter::once(reason).chain(output.lines());
    if reason.contains("the agent offers no model `") {
        return Some(Obstacle::NoModel);
    }
    if lines().any(|line| line.contains(&format!("unrecognized subcommand '{ACP_VERB}'"))) {
        return Some(Obstacle::NotNative);
    }
    if let Some(line) = lines().find(|line| UNKNOWN.iter().any(|sign| line.contains(sign))) {
        let line = line.trim_start_matches("# ").trim_start_matches("error: ");
        return Some(Obstacle::TooOld(text::ellipsis(&text::one_line(line), 200)));
    }
    if lines().any(|line| line.contains("Not inside a trusted directory")) {
        return Some(Obstacle::Untrusted);
    }
    let is_auth = AgentErrorKind::of_message(reason) == Some(AgentErrorKind::Auth);
    is_auth.then_some(Obstacle::NotLoggedIn)
}

/// Why a client of this version cannot do what a run needs.
pub(super) fn too_old(who: &Starter<'_>) -> Option<String> {
    let version = who.version?;
    let oldest = version::too_old(who.turn.client, version)?;
    let (program, install) = (who.program(), who.install());
    Some(format!(
        "`{program}` {version} is too old for what a run needs ({oldest} or newer); update it with \
         {install}"
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_keeps_a_client_from_starting_is_told_from_what_went_wrong() {
        let table = [
            ("agent failed: Not logged in · Please run /login", "", Some(Obstacle::NotLoggedIn)),
            ("agent failed: unexpected status 401 Unauthorized", "", Some(Obstacle::NotLoggedIn)),
            (
                "agent failed: exit code 1",
                "# error: unknown option '--setting-sources'\n",
                Some(Obstacle::TooOld("unknown option '--setting-sources'".to_owned())),
            ),
            (
                "agent failed: exit code 1",
                "# Not inside a trusted directory and --skip-git-repo-check was not specified.\n",
                Some(Obstacle::Untrusted),
            ),
            (
                "agent failed: the agent offers no model `x`; it offers a",
                "",
                Some(Obstacle::NoModel),
            ),
            (
                "agent failed: exit code 2",
                "# error: unrecognized subcommand 'acp-client'\n",
                Some(Obstacle::NotNative),
            ),
            ("agent failed: exit code 1", "", None),
            ("agent failed: context window exceeded", "", None),
        ];
        for (reason, output, expected) in table {
            assert_eq!(obstacle(reason, output), expected, "{reason} {output}");
        }
    }
}
