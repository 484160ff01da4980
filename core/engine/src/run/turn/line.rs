//! The line with which a turn is started, as far as it is known before the turn.

use crate::state::store::Paths;
use onloop_agents::{ACP_VERB, AcpLaunch, Client, TurnClient, TurnSettings};
use onloop_effect::Command;
use onloop_install::TurnHook;
use onloop_run::Run;

/// Our hook in the client's own form, see [`TurnSettings::guard`]. The plugin has to be written to
/// `plugin` for clients that take one.
pub(super) fn guard(client: Client, hook: &TurnHook, plugin: &str) -> String {
    match client {
        Client::Claude => hook.claude_settings(),
        Client::Codex => hook.codex_hooks(),
        Client::Opencode => plugin.to_owned(),
        // Its partner calls the hook.
        Client::Acp => String::new(),
    }
}

/// How an agent is started that speaks the Agent Client Protocol.
pub(super) fn acp_launch(turn: &TurnClient<'_>, hook: &TurnHook) -> AcpLaunch {
    if turn.client != Client::Acp {
        return AcpLaunch::default();
    }
    let wait_s = hook.wait_s.to_string();
    let words = [ACP_VERB, "--timeout", &wait_s, "--policy", &hook.policy].map(str::to_owned);
    let partner = hook.program.iter().cloned().chain(words).collect();
    AcpLaunch { partner, command: turn.command.clone() }
}

/// The command of the first turn at a step, without what the user's environment adds.
pub(crate) fn first_turn(
    turn: &TurnClient<'_>,
    model: Option<&str>,
    paths: &Paths,
    (program, wait_s): (Vec<String>, u64),
    run: &Run,
) -> Command {
    let attempt = "1-1";
    let hook = TurnHook { program, policy: paths.policy(attempt), wait_s };
    let settings = TurnSettings {
        guard: guard(turn.client, &hook, &paths.plugin(attempt)),
        model: model.map(str::to_owned),
        acp: acp_launch(turn, &hook),
        session: None,
        max_cost: run.settings.budgets.cost,
        is_repository: run.place.repo_root.is_some(),
        has_own_sandbox: true,
        opencode_config: None,
    };
    turn.client.launch(&settings).command
}
