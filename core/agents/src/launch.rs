//! The command lines with which a run starts the turns of clients whose streams it understands.
//!
//! Each carries our hook for this one turn, so that every call is judged whether or not our hooks
//! are installed, and takes the form in which as little as possible happens when the hook does not
//! answer. The prompt comes on standard input.

use serde_json::{Value, json};

use super::client::Client;
use super::preset::Preset;
use onloop_effect::Command;
use onloop_syntax::money::Money;

/// What a turn is started with.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TurnSettings {
    /// Our hook in the client's own form: the value of Claude Code's `--settings`, of Codex' `-c`,
    /// or the path of opencode's plugin.
    pub guard: String,
    /// The model; `None`: the client's own.
    pub model: Option<String>,
    /// How an agent is started that speaks the Agent Client Protocol; empty for other clients.
    pub acp: AcpLaunch,
    /// The conversation to continue; `None` starts a new one.
    pub session: Option<String>,
    /// What the turn may cost, for clients that keep to a bound themselves.
    pub max_cost: Option<Money>,
    /// Whether it works in a repository.
    pub is_repository: bool,
    /// Whether the client can set up a sandbox of its own where it works: inside of ours perhaps not.
    pub has_own_sandbox: bool,
    /// The content of `OPENCODE_CONFIG_CONTENT` that the user has set.
    pub opencode_config: Option<String>,
}

/// How an agent is started that speaks the Agent Client Protocol.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct AcpLaunch {
    /// The words that start onloop as its partner, with our hook for the turn.
    pub partner: Vec<String>,
    /// The command of the agent.
    pub command: Vec<String>,
}

/// How a turn is started.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TurnLaunch {
    /// The client and its arguments.
    pub command: Command,
    /// Variables for it.
    pub env: Vec<(&'static str, String)>,
}

impl Preset {
    /// The client whose stream a turn is read from.
    pub fn stream(&self) -> Client {
        match self.name.parse() {
            Ok(client @ (Client::Claude | Client::Codex | Client::Opencode)) => client,
            Ok(Client::Acp) | Err(_) => Client::Acp,
        }
    }
}

impl Client {
    /// How a turn is started.
    pub fn launch(self, settings: &TurnSettings) -> TurnLaunch {
        let (words, env) = match self {
            Client::Claude => (claude(settings), Vec::new()),
            Client::Codex => (codex(settings), Vec::new()),
            Client::Opencode => {
                (opencode(settings), vec![("OPENCODE_CONFIG_CONTENT", opencode_config(settings))])
            }
            Client::Acp => (acp(settings), Vec::new()),
        };
        TurnLaunch { command: Command::Argv(words), env }
    }
}

impl Preset {
    /// The client as the preset starts it, but for its speaking in events, which it does for
    /// whoever listens to it outside a run; `None` for clients of which only the stream is known. The
    /// prompt comes on standard input.
    pub fn listened(&self) -> Option<(Client, Command)> {
        let client = self.stream();
        let speaks: &[&str] = match client {
            Client::Claude => {
                &["--output-format", "stream-json", "--verbose", "--include-partial-messages"]
            }
            Client::Codex => &["--json"],
            Client::Opencode => &["--format", "json"],
            Client::Acp => return None,
        };
        let (first, rest) = self.arguments.split_first()?;
        let words = [&[self.program, *first], speaks, rest].concat();
        Some((client, Command::Argv(owned(&words))))
    }
}

fn owned(words: &[&str]) -> Vec<String> {
    words.iter().map(|&word| word.to_owned()).collect()
}

/// `dontAsk` refuses what our hook does not allow, also when it is not there. The settings of user
/// and project could allow more and are left out, as are servers that the repository names: they
/// would be started unasked.
fn claude(settings: &TurnSettings) -> Vec<String> {
    let mut words = owned(&["claude", "-p", "--output-format", "stream-json", "--verbose"]);
    words.extend(owned(&["--include-partial-messages", "--permission-mode", "dontAsk"]));
    words.extend(owned(&["--strict-mcp-config", "--setting-sources", ""]));
    words.extend(["--settings".to_owned(), settings.guard.clone()]);
    if let Some(cost) = settings.max_cost {
        words.extend(["--max-budget-usd".to_owned(), cost.usd().to_string()]);
    }
    if let Some(model) = &settings.model {
        words.extend(["--model".to_owned(), model.clone()]);
    }
    if let Some(session) = &settings.session {
        words.extend(["--resume".to_owned(), session.clone()]);
    }
    words
}

/// Codex runs what no hook denies; its sandbox is the floor. Hooks have to be trusted by a person,
/// which the person who starts a run does for this one.
fn codex(settings: &TurnSettings) -> Vec<String> {
    let mut words = owned(&["codex", "exec", "--json", "--disable", "plugins"]);
    words.extend(owned(&["--disable", "unbounded_connection_retries", "--enable", "hooks"]));
    words.extend(owned(&["--dangerously-bypass-hook-trust", "-c"]));
    words.push(settings.guard.clone());
    // Without one, ours is around it.
    let own = if settings.has_own_sandbox { "workspace-write" } else { "danger-full-access" };
    words.extend(owned(&["--sandbox", own]));
    if !settings.is_repository {
        words.push("--skip-git-repo-check".to_owned());
    }
    if let Some(model) = &settings.model {
        words.extend(["--model".to_owned(), model.clone()]);
    }
    if let Some(session) = &settings.session {
        words.extend(["resume".to_owned(), session.clone()]);
    }
    words.push("-".to_owned());
    words
}

fn opencode(settings: &TurnSettings) -> Vec<String> {
    let mut words = owned(&["opencode", "run", "--format", "json"]);
    words.extend(of_session(settings));
    words
}

/// onloop itself, which talks to the agent inside of the sandbox.
fn acp(settings: &TurnSettings) -> Vec<String> {
    let mut words = settings.acp.partner.clone();
    words.extend(of_session(settings));
    words.push("--".to_owned());
    words.extend(settings.acp.command.iter().cloned());
    words
}

/// The options about model and session that opencode and our partner share.
fn of_session(settings: &TurnSettings) -> Vec<String> {
    let given = [("--model", &settings.model), ("--session", &settings.session)];
    let given = given.into_iter().filter_map(|(option, value)| Some((option, value.as_ref()?)));
    given.flat_map(|(option, value)| [option.to_owned(), value.clone()]).collect()
}

/// The plugin is asked about every call. What would make opencode ask a person ends its run at
/// once, so nothing does: the plugin decides, and other folders are closed.
fn opencode_config(settings: &TurnSettings) -> String {
    let given = settings.opencode_config.as_deref().unwrap_or_default();
    let mut config = match serde_json::from_str(given) {
        Ok(Value::Object(config)) => config,
        Ok(_) | Err(_) => serde_json::Map::new(),
    };
    let mut plugins = match config.remove("plugin") {
        Some(Value::Array(plugins)) => plugins,
        Some(_) | None => Vec::new(),
    };
    plugins.push(Value::from(format!("file://{}", settings.guard)));
    config.insert("plugin".to_owned(), Value::Array(plugins));
    let permission = json!({
        "edit": "allow", "bash": "allow", "webfetch": "allow",
        "external_directory": "deny", "doom_loop": "deny", "question": "deny",
    });
    config.insert("permission".to_owned(), permission);
    Value::Object(config).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::PRESETS;

    fn settings() -> TurnSettings {
        TurnSettings {
            guard: "GUARD".to_owned(),
            model: None,
            acp: AcpLaunch::default(),
            session: None,
            max_cost: None,
            is_repository: true,
            has_own_sandbox: true,
            opencode_config: None,
        }
    }

    fn line(client: Client, settings: &TurnSettings) -> String {
        let launch = client.launch(settings);
        let Command::Argv(words) = launch.command else { panic!("a shell is in between") };
        let words: Vec<String> =
            words.iter().map(|word| onloop_syntax::text::shell_word(word)).collect();
        let env = launch.env.iter().map(|(name, value)| format!("{name}={value} "));
        format!("{}{}", env.collect::<String>(), words.join(" "))
    }

    #[test]
    fn turns_are_started_in_the_form_that_fails_closed() {
        assert_eq!(
            line(Client::Claude, &settings()),
            "claude -p --output-format stream-json --verbose --include-partial-messages \
             --permission-mode dontAsk --strict-mcp-config --setting-sources '' --settings GUARD"
        );
        assert_eq!(
            line(Client::Codex, &settings()),
            "codex exec --json --disable plugins --disable unbounded_connection_retries --enable \
             hooks --dangerously-bypass-hook-trust -c GUARD --sandbox workspace-write -"
        );
        assert_eq!(
            line(Client::Opencode, &settings()),
            "OPENCODE_CONFIG_CONTENT={\"plugin\":[\"file://GUARD\"],\"permission\":{\"edit\":\
             \"allow\",\"bash\":\"allow\",\"webfetch\":\"allow\",\"external_directory\":\"deny\",\
             \"doom_loop\":\"deny\",\"question\":\"deny\"}} opencode run --format json"
        );
    }

    #[test]
    fn a_client_that_is_listened_to_gets_what_its_preset_grants() {
        let table = [
            (
                "claude",
                "claude -p --output-format stream-json --verbose --include-partial-messages \
                 --permission-mode acceptEdits",
            ),
            ("codex", "codex exec --json --sandbox workspace-write -"),
            ("opencode", "opencode run --format json"),
            ("gemini", ""),
        ];
        for (name, expected) in table {
            let preset = PRESETS.iter().find(|preset| preset.name == name).unwrap();
            let found = preset.listened().map(|(_, command)| command);
            let words = match found {
                Some(Command::Argv(words)) => words.join(" "),
                Some(Command::Shell { .. }) => panic!("a shell is in between"),
                None => String::new(),
            };
            assert_eq!(words, expected);
        }
    }

    #[test]
    fn a_turn_goes_on_in_its_conversation_and_within_its_bounds() {
        let settings = TurnSettings {
            session: Some("S".to_owned()),
            model: Some("M".to_owned()),
            max_cost: Some(Money::from_micros(1_500_000)),
            is_repository: false,
            opencode_config: Some(r#"{"model":"m","plugin":["a"]}"#.to_owned()),
            ..settings()
        };
        let claude = line(Client::Claude, &settings);
        assert!(claude.ends_with(" --max-budget-usd 1.5 --model M --resume S"), "{claude}");
        let codex = line(Client::Codex, &settings);
        assert!(codex.ends_with(" --skip-git-repo-check --model M resume S -"), "{codex}");
        let held = TurnSettings { has_own_sandbox: false, ..settings.clone() };
        let codex = line(Client::Codex, &held);
        assert!(codex.contains(" --sandbox danger-full-access "), "{codex}");
        let opencode = line(Client::Opencode, &settings);
        assert!(opencode.ends_with(" --model M --session S"), "{opencode}");
        assert!(opencode.contains(r#""model":"m""#), "{opencode}");
        assert!(opencode.contains(r#""plugin":["a","file://GUARD"]"#), "{opencode}");
        let words = |words: &[&str]| owned(words);
        let acp = AcpLaunch { partner: words(&["onloop", "x"]), command: words(&["a", "--acp"]) };
        let acp = line(Client::Acp, &TurnSettings { acp, ..settings });
        assert_eq!(acp, "onloop x --model M --session S -- a --acp");
    }
}
