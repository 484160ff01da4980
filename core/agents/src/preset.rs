//! Agents that act on steps, and the command lines that start them.

use onloop_effect::Command;
use onloop_effect::Shell;

/// Who acts on a step.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Agent {
    /// Runs the step's own fenced script.
    Script,
    /// Shows the action to the person at the terminal and waits.
    You,
    /// A known coding agent.
    Preset(&'static Preset),
    /// A line for `sh -c`.
    CommandLine(String),
}

/// How a known agent is started without a person at its side.
#[derive(Debug, PartialEq, Eq)]
pub struct Preset {
    /// Name on the command line of onloop.
    pub name: &'static str,
    /// The program that is looked for on `PATH`.
    pub program: &'static str,
    /// Its arguments.
    pub arguments: &'static [&'static str],
    /// Whether the prompt is also the last argument. It always comes on standard input.
    pub prompt_is_argument: bool,
}

/// The known agents, in the order in which they are looked for.
///
/// The lines grant what a step needs, editing files in the working folder, and leave every
/// other permission to the agent's own configuration. Turns of clients whose streams are
/// understood are started with other ones, see [`Client::launch`](super::Client::launch).
pub const PRESETS: &[Preset] = &[
    Preset {
        name: "claude",
        program: "claude",
        arguments: &["-p", "--permission-mode", "acceptEdits"],
        prompt_is_argument: false,
    },
    Preset {
        name: "codex",
        program: "codex",
        arguments: &["exec", "--sandbox", "workspace-write", "-"],
        prompt_is_argument: false,
    },
    Preset { name: "opencode", program: "opencode", arguments: &["run"], prompt_is_argument: true },
    Preset {
        name: "cursor",
        program: "cursor-agent",
        arguments: &["-p", "--output-format", "text"],
        prompt_is_argument: true,
    },
    Preset {
        name: "gemini",
        program: "gemini",
        arguments: &["--approval-mode", "auto_edit", "-p"],
        prompt_is_argument: true,
    },
    Preset {
        name: "copilot",
        program: "copilot",
        arguments: &["--allow-tool", "write", "--allow-tool", "shell", "-p"],
        prompt_is_argument: true,
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

impl Agent {
    /// The agent called `name`; `None`: there is no such agent.
    pub fn named(name: &str) -> Option<Agent> {
        match name {
            "script" => Some(Agent::Script),
            "you" => Some(Agent::You),
            name => PRESETS.iter().find(|preset| preset.name == name).map(Agent::Preset),
        }
    }

    /// Name for people.
    pub fn name(&self) -> &str {
        match self {
            Agent::Script => "script",
            Agent::You => "you",
            Agent::Preset(preset) => preset.name,
            Agent::CommandLine(line) => line,
        }
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
            assert_eq!(Agent::named(preset.name), Some(Agent::Preset(preset)));
        }
        assert_eq!(Agent::named("script"), Some(Agent::Script));
        assert_eq!(Agent::named("nobody"), None);
        assert!(AGENTS.iter().all(|name| Agent::named(name).is_some()));
        assert_eq!(AGENTS.last(), Some(&"you"));
        assert_eq!(UNATTENDED.last(), Some(&"script"));
        assert!(READERS.iter().copied().eq(PRESETS.iter().map(|preset| preset.name)));
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
