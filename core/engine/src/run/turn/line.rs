//! The line with which a turn is started, as far as it is known before the turn.

use crate::state::store::Paths;
use onloop_agents::{Client, TurnSettings};
use onloop_effect::Command;
use onloop_install::TurnHook;
use onloop_syntax::money::Money;

/// Our hook in the client's own form, see [`TurnSettings::guard`]. The plugin has to be written to
/// `plugin` for clients that take one.
pub(super) fn guard(client: Client, hook: &TurnHook, plugin: &str) -> String {
    match client {
        Client::Claude => hook.claude_settings(),
        Client::Codex => hook.codex_hooks(),
        Client::Opencode => plugin.to_owned(),
        Client::Cursor | Client::Gemini | Client::Copilot => String::new(),
    }
}

/// The command of the first turn at a step, without what the user's environment adds; `None` for
/// clients of which only the stream is known.
pub(crate) fn first_turn(
    client: Client,
    paths: &Paths,
    (program, wait_s): (Vec<String>, u64),
    max_cost: Option<Money>,
    is_repository: bool,
) -> Option<Command> {
    let attempt = "1-1";
    let hook = TurnHook { program, policy: paths.policy(attempt), wait_s };
    let settings = TurnSettings {
        guard: guard(client, &hook, &paths.plugin(attempt)),
        session: None,
        max_cost,
        is_repository,
        has_own_sandbox: true,
        opencode_config: None,
    };
    client.launch(&settings).map(|launch| launch.command)
}
