//! How long hosts wait for our hooks, as their entries say.

use super::{EditError, HookCall, InstalledHook, Waits, canary};
use onloop_sessions::handsoff::config::{Config, LONGEST_ANSWER_MS, Provider, Supervisor};
use onloop_sessions::hooks::Host;

/// The events at which a host asks whether its agent may stop.
const STOPS: [&str; 3] = ["Stop", "stop", "agentStop"];

impl Waits {
    /// Long enough for everything that can be configured: for an entry that nobody writes anew when
    /// the configuration changes.
    pub fn longest() -> Waits {
        let provider = Provider::Claude;
        let waits = Waits::of(&Config {
            auto_permission: true,
            supervisor: Supervisor { provider, ..Supervisor::default() },
            ..Config::default()
        });
        Waits { call_s: waits.call_s.saturating_add(LONGEST_ANSWER_MS / 1000), ..waits }
    }

    /// Long enough for both.
    pub fn and(self, other: Waits) -> Waits {
        Waits {
            call_s: self.call_s.max(other.call_s),
            stop_s: self.stop_s.max(other.stop_s),
            short_s: self.short_s.max(other.short_s),
        }
    }

    /// What an entry needs for an event.
    pub fn of_event(self, event: &str) -> u64 {
        match STOPS.contains(&event) {
            true => self.stop_s,
            false => self.call_s,
        }
    }

    /// What the hooks of ours in a file say, never longer than [`Waits::longest`]; `None`: none of them
    /// says it.
    ///
    /// # Errors
    ///
    /// When the file is not a document of its format.
    pub fn installed(host: Host, path: &str, text: &str) -> Result<Option<Waits>, EditError> {
        let hooks = canary::hooks_in(host, path, text)?;
        let longest = Waits::longest();
        let of = |events: &dyn Fn(&str) -> bool| {
            let meant = hooks.iter().filter(|hook| events(&hook.event));
            meant.filter_map(|hook| hook.call.told_s()).min()
        };
        let deciding = canary::deciding_events(host);
        let call_s = of(&|event| deciding.contains(&event)).map(|s| s.min(longest.call_s));
        let stop_s = of(&|event| STOPS.contains(&event)).map(|s| s.min(longest.stop_s));
        Ok((call_s.is_some() || stop_s.is_some()).then(|| Waits {
            call_s: call_s.unwrap_or(0),
            stop_s: stop_s.unwrap_or(0),
            short_s: 0,
        }))
    }
}

impl HookCall {
    /// How long the host waits, as the entry tells our hook, in seconds.
    fn told_s(&self) -> Option<u64> {
        let words: Vec<&str> = match self {
            HookCall::Words(words) => words.iter().map(String::as_str).collect(),
            HookCall::Line(line) => line.split_whitespace().collect(),
        };
        let at = words.iter().position(|word| *word == "--timeout")?;
        words.get(at + 1)?.trim_matches(['"', '\'']).parse().ok()
    }
}

impl InstalledHook {
    /// For how long our hook has the host's ear: what the entry tells the host and what it tells us, and
    /// what holds where it tells nothing.
    pub fn waits_s(&self, host: Host) -> u64 {
        let usual_s = host.default_timeout_ms() / 1000;
        let told_s = self.call.told_s().unwrap_or(usual_s);
        // Where the call lies in a program of ours, that is what waits.
        let host_s = match host {
            Host::OpenCode => told_s,
            Host::Claude
            | Host::Codex
            | Host::Cursor
            | Host::VsCode
            | Host::Cline
            | Host::Copilot => self.limit_s.unwrap_or(usual_s),
        };
        told_s.min(host_s)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_nobody_writes_anew_is_long_enough_for_everything() {
        let longest = Waits::longest();
        assert_eq!(longest.call_s, 7260);
        assert!(longest.stop_s > 300);
        let table = [
            ("onloop hook claude --timeout 90", Some(90)),
            ("cmd /c \"C:\\a b\\onloop.exe\" hook codex --timeout 90", Some(90)),
            ("onloop hook claude --timeout x", None),
            ("onloop hook claude --timeout", None),
            ("onloop hook claude", None),
        ];
        for (line, expected) in table {
            assert_eq!(HookCall::Line(line.to_owned()).told_s(), expected, "{line}");
        }
    }

    #[test]
    fn an_entry_that_was_changed_by_hand_gives_what_both_say() {
        let hook = |told: &str, limit_s| InstalledHook {
            event: "PreToolUse".to_owned(),
            call: HookCall::Line(format!("onloop hook claude{told}")),
            limit_s,
        };
        for (hook, expected) in [
            (hook(" --timeout 3660", Some(3660)), 3660),
            (hook(" --timeout 3660", Some(60)), 60),
            (hook(" --timeout 60", Some(3660)), 60),
            (hook("", None), 600),
            (hook(" --timeout 3660", None), 600),
        ] {
            assert_eq!(hook.waits_s(Host::Claude), expected, "{hook:?}");
        }
    }

    #[test]
    fn what_is_installed_is_found_again() {
        let text = r#"{"hooks": {"PreToolUse": [{"hooks": [{"command": "/x/onloop",
            "args": ["hook", "claude", "--timeout", "3658"]}]}],
            "Stop": [{"hooks": [{"command": "/x/onloop", "args": ["hook", "claude", "--timeout",
            "99999999"]}]}]}}"#;
        let found = Waits::installed(Host::Claude, "/p", text).unwrap().unwrap();
        assert_eq!((found.call_s, found.stop_s), (3658, Waits::longest().stop_s));
        assert_eq!(Waits::installed(Host::Claude, "/p", "{}"), Ok(None));
    }
}
