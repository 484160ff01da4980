//! The hook of one turn: what it is told, and the form in which its client gets it.

use super::super::line::{acp_launch, guard as form_of};
use super::turn_name;
use crate::lookup::agent::on_path;
use crate::run::context::RunContext;
use crate::run::processes::own_needs;
use crate::state::config;
use onloop_agents::confine::Needs;
use onloop_agents::{AcpLaunch, Client, TurnClient};
use onloop_documents::turn_policy;
use onloop_documents::turn_policy::TurnGuard;
use onloop_effect::{Durability, Expect, Failure, FailureKind};
use onloop_install::{TurnHook, Waits};
use onloop_permission::TurnPolicy;
use onloop_run::StepRecord;
use onloop_sessions::handsoff::config::Prices;
use onloop_workflow::Check;

/// The files that one turn needs, written.
pub(super) struct GuardFiles {
    /// Our hook in the client's own form, see [`TurnSettings::guard`](onloop_agents::TurnSettings).
    pub(super) form: String,
    /// How an agent is started that speaks the Agent Client Protocol.
    pub(super) acp: AcpLaunch,
    /// Where the hook logs.
    pub(super) calls: String,
    /// What models cost, says the user.
    pub(super) prices: Option<Prices>,
    /// What the turn needs of the machine besides where it is.
    pub(super) needs: Needs,
}

/// Writes what the hook is told, before anybody can call it.
pub(super) async fn prepare(
    cx: &RunContext<'_>,
    client: &TurnClient<'_>,
    record: &StepRecord,
) -> Result<GuardFiles, Failure> {
    let (io, store, sandbox) = (cx.io, &*cx.store, cx.sandbox());
    let mut program = io.start().program.clone();
    if program.is_empty() {
        if !on_path(io, "onloop").await {
            let why = "onloop runs inside another program here, and `onloop`, which would judge \
                       the agent's calls, is not on PATH";
            return Err(Failure::new(FailureKind::Unsupported, why));
        }
        program.push("onloop".to_owned());
    }
    let root = &store.run().place.execution_root;
    let loaded = config::load(io, root).await;
    let is_confined = sandbox.mechanism().is_some();
    let (paths, name) = (store.paths(), turn_name(store.run(), record));
    let guard = TurnGuard {
        policy: TurnPolicy {
            verification: verification(record),
            allowed: store.run().settings.allow.clone(),
            on_ask: cx.options.turns.on_ask,
            confined: is_confined,
        },
        state_home: store.home().folder().to_owned(),
        calls: paths.calls(&name),
        rules: is_confined.then(|| loaded.given.clone()),
        temporary: sandbox.temporary().map(str::to_owned),
    };
    let put = async |path: &str, bytes: Vec<u8>| {
        io.write(path, bytes, Expect::Any, Durability::Relaxed).await.map(|_| ())
    };
    let policy = paths.policy(&name);
    put(&policy, turn_policy::write(&guard)).await?;
    put(&guard.calls, Vec::new()).await?;
    let config = loaded.config;
    let mut needs = own_needs(io, sandbox, client.keeper(), root).await;
    needs.may_read.push(policy.clone());
    needs.may_write.push(guard.calls.clone());
    let hook = TurnHook { program, policy, wait_s: Waits::of(&config).call_s };
    let plugin = paths.plugin(&name);
    if client.client == Client::Opencode {
        put(&plugin, hook.opencode_plugin().into_bytes()).await?;
        needs.may_read.push(plugin.clone());
    }
    let form = form_of(client.client, &hook, &plugin);
    let acp = acp_launch(client, &hook);
    Ok(GuardFiles { form, acp, calls: guard.calls, prices: config.prices, needs })
}

/// The lines of shell that verify a step.
fn verification(record: &StepRecord) -> Vec<String> {
    let lines = record.step.checks.iter().filter_map(|check| match check {
        Check::Shell(shell) => Some(shell.command.clone()),
        Check::Browser { .. } | Check::HumanReview { .. } | Check::Artifact { .. } => None,
    });
    lines.collect()
}
