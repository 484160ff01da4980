//! Agents that act on steps, and the command lines that start them.

use super::client::Client;
use onloop_effect::Command;
use onloop_effect::Shell;

/// What works on a step.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Agent {
    /// Runs the step's own fenced script.
    Script,
    /// Shows the action to the person at the terminal and waits.
    You,
    /// A known coding agent, and the model that it is to use.
    Preset(&'static Preset, Option<String>),
    /// Any agent that speaks the Agent Client Protocol.
    Acp(AcpAgent),
    /// A line for `sh -c`.
    CommandLine(String),
}

/// An agent that is named by its command: `acp:COMMAND`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AcpAgent {
    /// As it is named on the command line.
    pub word: String,
    /// The line for `sh -c` that starts it.
    pub line: String,
    /// The model that it is to use.
    pub model: Option<String>,
}

/// How a known agent is started without a person at its side.
#[derive(Debug, PartialEq, Eq)]
pub struct Preset {
    /// Name on the command line of onloop.
    pub name: &'static str,
    /// The program that is looked for on `PATH`.
    pub program: &'static str,
    /// Its arguments where it gets one prompt and answers in text, as for a review.
    pub arguments: &'static [&'static str],
    /// Whether the prompt is also the last argument. It always comes on standard input.
    pub prompt_is_argument: bool,
    /// Its arguments where it speaks the Agent Client Protocol; empty: it does not.
    pub acp: &'static [&'static str],
    /// What installs it, as the end of "install it with".
    pub install: &'static str,
    /// What makes it usable, as a clause.
    pub log_in: &'static str,
}

/// The known agents, in the order in which they are looked for.
///
/// The lines grant what a step needs, editing files in the working folder, and leave every
/// other permission to the agent's own configuration. Turns of a run are started with other ones,
/// see [`Client::launch`](super::Client::launch).
pub const PRESETS: &[Preset] = &[
    Preset {
        name: "claude",
        program: "claude",
        arguments: &["-p", "--permission-mode", "acceptEdits"],
        prompt_is_argument: false,
        acp: &[],
        install: "`npm install -g @anthropic-ai/claude-code`",
        log_in: "log in with `claude /login`, or set ANTHROPIC_API_KEY",
    },
    Preset {
        name: "codex",
        program: "codex",
        arguments: &["exec", "--sandbox", "workspace-write", "-"],
        prompt_is_argument: false,
        acp: &[],
        install: "`npm install -g @openai/codex`",
        log_in: "log in with `codex login`, or set its provider's key",
    },
    Preset {
        name: "opencode",
        program: "opencode",
        arguments: &["run"],
        prompt_is_argument: true,
        acp: &["acp"],
        install: "`npm install -g opencode-ai`",
        log_in: "log in with `opencode auth login`, or set its provider's key",
    },
    Preset {
        name: "cursor",
        program: "cursor-agent",
        arguments: &["-p", "--output-format", "text"],
        prompt_is_argument: true,
        acp: &["acp"],
        install: "its own installer",
        log_in: "log in with `cursor-agent login`, or set CURSOR_API_KEY",
    },
    Preset {
        name: "gemini",
        program: "gemini",
        arguments: &["--approval-mode", "auto_edit", "-p"],
        prompt_is_argument: true,
        acp: &["--acp"],
        install: "`npm install -g @google/gemini-cli`",
        log_in: "log in with it once, or set GEMINI_API_KEY",
    },
    Preset {
        name: "copilot",
        program: "copilot",
        arguments: &["--allow-tool", "write", "--allow-tool", "shell", "-p"],
        prompt_is_argument: true,
        acp: &["--acp", "--stdio"],
        install: "`npm install -g @github/copilot`",
        log_in: "log in with it once, or set GITHUB_TOKEN",
    },
    Preset {
        name: "cline",
        program: "cline",
        arguments: &["-y"],
        prompt_is_argument: true,
        acp: &["--acp"],
        install: "`npm install -g cline`",
        log_in: "log in with `cline auth`",
    },
    Preset {
        name: "goose",
        program: "goose",
        arguments: &["run", "--no-session", "-i", "-"],
        prompt_is_argument: false,
        acp: &["acp"],
        install: "its own installer",
        log_in: "choose its provider with `goose configure`",
    },
    Preset {
        name: "qwen",
        program: "qwen",
        arguments: &["--approval-mode", "auto-edit", "-p"],
        prompt_is_argument: true,
        acp: &["--acp"],
        install: "`npm install -g @qwen-code/qwen-code`",
        log_in: "log in with it once, or set its provider's key",
    },
];

/// Names of agents, in the order in which they are looked for, then the two that are not clients.
const NAMES: [&str; PRESETS.len() + 2] = {
    let mut names = ["script"; PRESETS.len() + 2];
    let mut index = 0;
    while index < PRESETS.len() {
        names[index] = PRESETS[index].name;
        index += 1;
    }
    names[PRESETS.len() + 1] = "you";
    names
};

/// Every name that [`Agent::named`] knows.
pub const AGENTS: &[&str] = &NAMES;
/// Agents that need no terminal.
pub const UNATTENDED: &[&str] = NAMES.split_at(PRESETS.len() + 1).0;
/// Agents that read a prompt: the names of [`PRESETS`].
pub const READERS: &[&str] = NAMES.split_at(PRESETS.len()).0;

/// Longest prompt that is passed as an argument; systems refuse longer ones.
const ARGUMENT_BYTES: usize = 96 * 1024;

/// The client of an agent that takes the turns of a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TurnClient<'a> {
    /// The agent's name in the record.
    pub name: &'a str,
    /// How its stream is read.
    pub client: Client,
    /// The known agent that it is, where it is one.
    pub preset: Option<&'static Preset>,
    /// What starts it where it speaks the Agent Client Protocol.
    pub command: Vec<String>,
}

/// Programs through which a known agent speaks the Agent Client Protocol.
const ADAPTERS: [(&str, &str); 2] = [("claude-agent-acp", "claude"), ("codex-acp", "codex")];

impl TurnClient<'_> {
    /// The known agent in whose folders it keeps sessions and logins; `acp`: nobody knows.
    pub fn keeper(&self) -> &'static str {
        let is_part = |char: char| char.is_ascii_alphanumeric() || char == '-';
        let names = |program: &str| self.name.split(|c| !is_part(c)).any(|word| word == program);
        let adapted = || ADAPTERS.iter().find(|(program, _)| names(program));
        match self.preset {
            Some(preset) => preset.name,
            None => adapted().map_or("acp", |(_, agent)| agent),
        }
    }
}

/// The beginning of the name of an agent that is named by its command.
pub const ACP_PREFIX: &str = "acp:";

impl Agent {
    /// The agent called `name`: a name of [`AGENTS`], a name of [`PRESETS`] with `:` and a model, or
    /// `acp:` and a command. `None`: there is no such agent.
    ///
    /// A known agent stands for the command with which it speaks the protocol: `acp:opencode`.
    pub fn named(name: &str) -> Option<Agent> {
        let preset = |name: &str| PRESETS.iter().find(|preset| preset.name == name);
        if let Some(command) = name.strip_prefix(ACP_PREFIX) {
            let command = command.trim();
            let known = preset(command).filter(|preset| !preset.acp.is_empty());
            let line = match known {
                Some(known) => known.acp_words().join(" "),
                None => command.to_owned(),
            };
            let word = format!("{ACP_PREFIX}{command}");
            return (!line.is_empty()).then_some(Agent::Acp(AcpAgent { word, line, model: None }));
        }
        match (name, name.split_once(':')) {
            ("script", _) => Some(Agent::Script),
            ("you", _) => Some(Agent::You),
            (_, Some((name, model))) if !model.is_empty() => {
                Some(Agent::Preset(preset(name)?, Some(model.to_owned())))
            }
            (name, _) => Some(Agent::Preset(preset(name)?, None)),
        }
    }

    /// Name for people and for the record.
    pub fn name(&self) -> &str {
        match self {
            Agent::Script => "script",
            Agent::You => "you",
            Agent::Preset(preset, _) => preset.name,
            Agent::Acp(agent) => &agent.word,
            Agent::CommandLine(line) => line,
        }
    }

    /// The model that was named with the agent.
    pub fn model(&self) -> Option<&str> {
        match self {
            Agent::Preset(_, model) => model.as_deref(),
            Agent::Acp(agent) => agent.model.as_deref(),
            Agent::Script | Agent::You | Agent::CommandLine(_) => None,
        }
    }

    /// The agent with a model, unless it was named with one; `None`: it takes no model.
    pub fn with_model(&self, model: &str) -> Option<Agent> {
        match self {
            Agent::Preset(preset, None) => Some(Agent::Preset(preset, Some(model.to_owned()))),
            Agent::Acp(agent) if agent.model.is_none() => {
                Some(Agent::Acp(AcpAgent { model: Some(model.to_owned()), ..agent.clone() }))
            }
            Agent::Preset(..) | Agent::Acp(_) => Some(self.clone()),
            Agent::Script | Agent::You | Agent::CommandLine(_) => None,
        }
    }

    /// The program that has to be on `PATH`; `None`: there is none, or its command does not say it.
    pub fn program(&self) -> Option<&str> {
        match self {
            Agent::Preset(preset, _) => Some(preset.program),
            Agent::Acp(agent) => agent.program(),
            Agent::Script | Agent::You | Agent::CommandLine(_) => None,
        }
    }

    /// The client that takes the turns of a run; `None`: the agent has none.
    pub fn turn_client(&self) -> Option<TurnClient<'_>> {
        let (preset, words) = match self {
            Agent::Preset(preset, _) => (Some(*preset), preset.acp_words()),
            Agent::Acp(agent) => (agent.preset(), vec!["sh", "-c", agent.line.as_str()]),
            Agent::Script | Agent::You | Agent::CommandLine(_) => return None,
        };
        let client = match self {
            Agent::Preset(preset, _) => preset.stream(),
            _ => Client::Acp,
        };
        let command = words.into_iter().map(str::to_owned).collect();
        Some(TurnClient { name: self.name(), client, preset, command })
    }

    /// Whether its turns use the Agent Client Protocol, which is why they are confined.
    pub fn speaks_acp(&self) -> bool {
        self.turn_client().is_some_and(|turn| turn.client == Client::Acp)
    }
}

impl AcpAgent {
    /// The program of the line, where its first word is a plain name.
    fn program(&self) -> Option<&str> {
        let word = self.line.split_whitespace().next()?;
        let is_plain = |c: char| c.is_ascii_alphanumeric() || "._-".contains(c);
        word.chars().all(is_plain).then_some(word)
    }

    /// The known agent that the line starts.
    pub fn preset(&self) -> Option<&'static Preset> {
        let word = self.line.split_whitespace().next()?;
        let program = word.rsplit('/').next()?;
        PRESETS.iter().find(|preset| preset.program == program)
    }
}

impl Preset {
    /// The command with which the agent speaks the Agent Client Protocol.
    pub fn acp_words(&self) -> Vec<&'static str> {
        [self.program].into_iter().chain(self.acp.iter().copied()).collect()
    }
}

impl Preset {
    /// The command that starts the agent with `prompt`.
    pub fn command(&self, prompt: &str) -> Command {
        let mut argv: Vec<String> = vec![self.program.to_owned()];
        argv.extend(self.arguments.iter().map(|&argument| argument.to_owned()));
        if self.prompt_is_argument {
            argv.push(argument(prompt));
        }
        Command::Argv(argv)
    }
}

/// Who reviews the work of a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Reviewer {
    /// A known coding agent.
    Agent(&'static Preset),
    /// A line for `sh -c`.
    CommandLine(String),
}

impl Reviewer {
    /// The reviewer that a record names with [`Reviewer::as_str`].
    pub fn recorded(text: &str) -> Reviewer {
        match PRESETS.iter().find(|preset| preset.name == text) {
            Some(preset) => Reviewer::Agent(preset),
            None => Reviewer::CommandLine(text.to_owned()),
        }
    }

    /// The name, or the line.
    pub fn as_str(&self) -> &str {
        match self {
            Reviewer::Agent(preset) => preset.name,
            Reviewer::CommandLine(line) => line,
        }
    }

    /// The command that starts the reviewer with `prompt`.
    pub fn command(&self, prompt: &str) -> Command {
        match self {
            Reviewer::Agent(preset) => preset.command(prompt),
            Reviewer::CommandLine(line) => command_line(line),
        }
    }
}

/// The command for `--agent-command`.
pub fn command_line(line: &str) -> Command {
    Command::Shell { shell: Shell::Sh, line: line.to_owned() }
}

fn argument(prompt: &str) -> String {
    // A NUL ends an argument; printable text has none, but the caller may pass any.
    let prompt = prompt.replace('\0', "");
    if prompt.len() <= ARGUMENT_BYTES {
        return prompt;
    }
    let cut = onloop_syntax::text::prefix(&prompt, ARGUMENT_BYTES);
    format!("{cut}\n\n[cut here: the whole prompt is in the file named by ONLOOP_PROMPT_FILE]\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_preset_is_found_by_its_name() {
        for preset in PRESETS {
            assert_eq!(Agent::named(preset.name), Some(Agent::Preset(preset, None)));
            assert!(preset.stream() != Client::Acp || !preset.acp.is_empty(), "{}", preset.name);
        }
        assert_eq!(Agent::named("script"), Some(Agent::Script));
        assert_eq!(Agent::named("nobody"), None);
        assert!(AGENTS.iter().all(|name| Agent::named(name).is_some()));
        assert_eq!(AGENTS.last(), Some(&"you"));
        assert_eq!(UNATTENDED.last(), Some(&"script"));
        assert!(READERS.iter().copied().eq(PRESETS.iter().map(|preset| preset.name)));
    }

    #[test]
    fn an_adapter_works_in_the_folders_of_the_agent_that_it_drives() {
        for (word, expected) in [
            ("claude", "claude"),
            ("acp:gemini", "gemini"),
            ("acp:claude-agent-acp", "claude"),
            ("acp:A=1 node '/x/@agentclientprotocol/codex-acp/dist/index.js'", "codex"),
            ("acp:my-codex-acp", "acp"),
            ("acp:kiro-cli acp", "acp"),
        ] {
            let agent = Agent::named(word).unwrap();
            assert_eq!(agent.turn_client().unwrap().keeper(), expected, "{word}");
        }
    }

    #[test]
    fn an_agent_is_named_with_its_model_or_its_command() {
        let named = |word: &str| Agent::named(word).unwrap();
        let opus = named("claude:opus[1m]");
        assert_eq!((opus.name(), opus.model()), ("claude", Some("opus[1m]")));
        assert_eq!(named("opencode:a/b:free").model(), Some("a/b:free"));
        assert_eq!(opus.with_model("haiku"), Some(opus.clone()));
        assert_eq!(named("claude").with_model("opus[1m]"), Some(opus));
        let table = [
            ("acp:goose", "goose acp", Some("goose"), Some("goose")),
            ("acp:opencode", "opencode acp", Some("opencode"), Some("opencode")),
            ("acp: kiro-cli acp ", "kiro-cli acp", Some("kiro-cli"), None),
            ("acp:/opt/x/goose acp", "/opt/x/goose acp", None, Some("goose")),
            ("acp:A=1 agent", "A=1 agent", None, None),
        ];
        for (word, line, program, preset) in table {
            let agent = named(word);
            assert_eq!((agent.program(), agent.model()), (program, None), "{word}");
            let agent = agent.with_model("m").unwrap();
            assert_eq!(agent.model(), Some("m"));
            let Agent::Acp(agent) = agent else { panic!("{word}") };
            assert_eq!(agent.line, line, "{word}");
            assert_eq!(agent.preset().map(|preset| preset.name), preset, "{word}");
        }
        for nobody in ["acp:", "acp: ", "claude:", "script:x", "you:x", "nobody:x"] {
            assert_eq!(Agent::named(nobody), None, "{nobody}");
        }
        assert_eq!(Agent::Script.with_model("m"), None);
    }

    #[test]
    fn a_prompt_too_long_for_an_argument_names_the_file() {
        let Command::Argv(argv) = PRESETS[2].command(&"x".repeat(1_000_000)) else {
            panic!("presets are started without a shell");
        };
        let last = argv.last().unwrap();
        assert!(last.len() < 100_000 && last.contains("ONLOOP_PROMPT_FILE"));
    }
}
