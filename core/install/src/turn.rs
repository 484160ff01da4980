//! Our hook for one turn of a client, which a run hands to the client on its command line:
//! nothing is installed.

use serde_json::{Value, json};

use super::offer::Moment;
use super::{claude, opencode};
use onloop_sessions::hooks::Host;
use onloop_syntax::text;

/// How a client calls our hook in one turn.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TurnHook {
    /// The command line that starts onloop, in words; never empty.
    pub program: Vec<String>,
    /// File with what the run says about calls; the option `--policy` of the hook.
    pub policy: String,
    /// How long the hook may take.
    pub wait_s: u64,
}

impl TurnHook {
    fn words(&self, host: Host) -> Vec<String> {
        let (wait_s, policy) = (self.wait_s.to_string(), self.policy.clone());
        let rest = ["hook", host.as_str(), "--timeout", &wait_s, "--policy", &policy];
        self.program.iter().cloned().chain(rest.map(str::to_owned)).collect()
    }

    /// Settings for Claude Code's `--settings`. A user or a project may have switched hooks off;
    /// here they are on.
    pub fn claude_settings(&self) -> String {
        let entry = claude::entry(self.words(Host::Claude), Moment::ToolCall, self.wait_s);
        json!({ "disableAllHooks": false, "hooks": { "PreToolUse": [entry] } }).to_string()
    }

    /// A value of Codex' configuration, for its option `-c`.
    pub fn codex_hooks(&self) -> String {
        let words = self.words(Host::Codex);
        let line: Vec<String> = words.iter().map(|word| text::shell_word(word)).collect();
        // A string of JSON is one of TOML.
        let line = Value::from(line.join(" "));
        format!(
            "hooks.PreToolUse=[{{matcher=\"*\",hooks=[{{type=\"command\",command={line},\
             timeout={}}}]}}]",
            self.wait_s
        )
    }

    /// A plugin for opencode, which also tells more in the stream of the turn.
    pub fn opencode_plugin(&self) -> String {
        opencode::turn_plugin(&self.words(Host::OpenCode), self.wait_s)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_client_is_given_the_hook_in_its_own_form() {
        let hook = TurnHook {
            program: vec!["/opt/on loop/onloop".to_owned()],
            policy: "/s/1-1.policy.json".to_owned(),
            wait_s: 60,
        };
        assert_eq!(
            hook.claude_settings(),
            r#"{"disableAllHooks":false,"hooks":{"PreToolUse":[{"hooks":[{"type":"command","command":"/opt/on loop/onloop","args":["hook","claude","--timeout","60","--policy","/s/1-1.policy.json"],"onFailure":"block","timeout":60}]}]}}"#
        );
        assert_eq!(
            hook.codex_hooks(),
            r#"hooks.PreToolUse=[{matcher="*",hooks=[{type="command",command="'/opt/on loop/onloop' hook codex --timeout 60 --policy /s/1-1.policy.json",timeout=60}]}]"#
        );
        let plugin = hook.opencode_plugin();
        let words = opencode::words_of(&plugin).unwrap();
        assert_eq!(words, hook.words(Host::OpenCode));
        assert!(plugin.contains("const PATIENCE_MS = 60000;"), "{plugin}");
    }
}
