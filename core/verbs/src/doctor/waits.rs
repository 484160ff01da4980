//! Whether hosts wait for our hooks as long as the configuration wants people to be waited for.

use super::Findings;
use onloop_install::{InstalledHook, Setting};
use onloop_sessions::hooks::Host;
use onloop_syntax::text::span;

/// Names each hook in `place` that is ended before it has what it needs.
pub(super) fn examine_waits(
    host: Host,
    setting: &Setting,
    (hooks, place): (&[InstalledHook], &str),
    findings: &mut Findings,
) {
    let (title, scope) = (host.title(), setting.scope.as_str());
    let mut named = Vec::new();
    for hook in hooks.iter().filter(|hook| decides(host, &hook.event)) {
        let (given_s, needed_s) = (hook.waits_s(host), setting.waits.of_event(&hook.event));
        if given_s >= needed_s || named.contains(&&hook.event) {
            continue;
        }
        named.push(&hook.event);
        let [given, needed] = [given_s, needed_s].map(|s| span(s * 1000));
        let event = &hook.event;
        let what = format!("{scope}: {title} waits {given} for `{event}`, and the configuration");
        match host {
            // Its hooks have no entry that could say more.
            Host::Cline => {
                findings.note(format!("{what} would need {needed}: an answer may be late"))
            }
            Host::Claude
            | Host::Codex
            | Host::Cursor
            | Host::VsCode
            | Host::OpenCode
            | Host::Copilot => {
                let fix = format!("onloop install {} --scope {scope}", host.as_str());
                findings.bad(format!("{what} needs {needed} (`{place}`)"), &fix);
            }
        }
    }
}

/// Whether somebody may have to be asked at an event.
fn decides(host: Host, event: &str) -> bool {
    onloop_install::canary::deciding_events(host).contains(&event)
        || ["PermissionRequest", "Stop", "stop", "agentStop"].contains(&event)
}
