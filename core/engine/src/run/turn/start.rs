//! Clients that cannot start: what is wrong, and what fixes it. A turn in which nothing was done for
//! such a reason does not count as an attempt.

use super::{ActionOutcome, version};
use crate::lookup::agent::on_path;
use crate::run::context::RunContext;
use onloop_agents::{AgentErrorKind, Client, Preset};
use onloop_run::{StepRecord, TurnRecord};
use onloop_syntax::text;

/// The client that a turn started.
pub(super) struct Starter<'a> {
    pub(super) preset: &'a Preset,
    pub(super) client: Client,
    /// What it said about its version.
    pub(super) version: Option<&'a str>,
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
    let Starter { preset, client, version } = *who;
    let is_this =
        |turn: &TurnRecord| (turn.step, turn.attempt) == (record.step.number, record.attempts);
    let was_started = run.turns.last().is_some_and(is_this);
    if !was_started && !on_path(io, preset.program).await {
        let (program, install) = (preset.program, install(client));
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
            let words = text::ellipsis(reason, 200);
            format!(
                "`{}` is not logged in, or its key is refused ({words}); {}",
                preset.program,
                log_in(client)
            )
        }
        Some(Obstacle::TooOld(words)) => {
            let version = version.map_or_else(String::new, |version| format!(" {version}"));
            format!(
                "`{}`{version} is too old for what a run needs ({words}); update it with {}",
                preset.program,
                install(client)
            )
        }
        Some(Obstacle::Untrusted) => format!(
            "`{0}` does not trust this folder; start `{0}` here once and say that you do",
            preset.program
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
pub(super) fn too_old(preset: &Preset, client: Client, version: Option<&str>) -> Option<String> {
    let version = version?;
    let oldest = version::too_old(client, version)?;
    Some(format!(
        "`{}` {version} is too old for what a run needs ({oldest} or newer); update it with {}",
        preset.program,
        install(client)
    ))
}

fn install(client: Client) -> &'static str {
    match client {
        Client::Claude => "`npm install -g @anthropic-ai/claude-code`",
        Client::Codex => "`npm install -g @openai/codex`",
        Client::Opencode => "`npm install -g opencode-ai`",
        Client::Gemini => "`npm install -g @google/gemini-cli`",
        Client::Copilot => "`npm install -g @github/copilot`",
        Client::Cursor => "its own installer",
    }
}

fn log_in(client: Client) -> &'static str {
    match client {
        Client::Claude => "log in with `claude /login`, or set ANTHROPIC_API_KEY",
        Client::Codex => "log in with `codex login`, or set its provider's key",
        Client::Opencode => "log in with `opencode auth login`, or set its provider's key",
        Client::Cursor | Client::Gemini | Client::Copilot => "log in with it once",
    }
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
            ("agent failed: exit code 1", "", None),
            ("agent failed: context window exceeded", "", None),
        ];
        for (reason, output, expected) in table {
            assert_eq!(obstacle(reason, output), expected, "{reason} {output}");
        }
    }
}
