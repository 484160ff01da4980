//! The events, skills and commands that onloop offers to every client.

use onloop_permission::offered;

/// A moment of a session that we want to hear of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Moment {
    /// A person sends a prompt.
    Prompt,
    /// Before a tool is used: the only moment at which something can be prevented.
    ToolCall,
    /// The host is about to ask a person.
    PermissionRequest,
    /// A tool was used.
    ToolDone,
    /// The agent wants to stop.
    Stop,
    /// The agent has stopped while its background tasks run.
    Background,
    /// The conversation was compacted.
    Compacted,
    /// The model's service has refused the agent.
    StopFailure,
}

impl Moment {
    /// Whether a hook that fails must stop what is under way. For the other moments that
    /// would do harm: an agent that cannot stop, a person who cannot write.
    pub fn must_not_fail_open(self) -> bool {
        match self {
            Moment::ToolCall | Moment::PermissionRequest => true,
            Moment::Prompt
            | Moment::ToolDone
            | Moment::Stop
            | Moment::Background
            | Moment::Compacted
            | Moment::StopFailure => false,
        }
    }
}

/// Instructions that an agent reads when it needs them.
#[derive(Debug, PartialEq, Eq)]
pub struct Skill {
    /// Its name, and that of its folder.
    pub name: &'static str,
    /// When an agent reads it.
    pub description: &'static str,
    /// The text, as Markdown.
    pub instructions: &'static str,
}

/// Every skill.
pub const SKILLS: [Skill; 5] = [
    Skill {
        name: offered::LOOP_SKILL,
        description: "Drives a workflow file (hotl-workflow-*.md, docs/plans/*-workflow.md) step by step with the onloop program. Use when a person wants to run or execute a workflow, or names such a file.",
        instructions: include_str!("offer/skills/loop.md"),
    },
    Skill {
        name: offered::RESUME_SKILL,
        description: "Continues a paused, blocked or interrupted onloop run. Use when a run is unfinished, a gate was answered, or a person asks to continue a run.",
        instructions: include_str!("offer/skills/resume.md"),
    },
    Skill {
        name: offered::WRITE_PLAN_SKILL,
        description: "Writes a workflow file that onloop can run, with a verify for every step. Use to plan work before an agent does it unattended.",
        instructions: include_str!("offer/skills/write-plan.md"),
    },
    Skill {
        name: offered::VERIFY_SKILL,
        description: "Verifies work before it is called finished. Use before claiming that something works, is fixed or is done, and before committing.",
        instructions: include_str!("offer/skills/verify.md"),
    },
    Skill {
        name: offered::REVIEW_SKILL,
        description: "Reviews a finished change against the request. Use before the work of a run is merged or published, or when a review step asks for it.",
        instructions: include_str!("offer/skills/review.md"),
    },
];

/// The last line of installed skills and commands, by which `onloop uninstall` recognizes them.
pub(super) const SIGN: &str = "<!-- Installed by onloop; `onloop uninstall` removes it. -->";

impl Skill {
    /// `SKILL.md`.
    pub fn file(&self) -> String {
        let description = quoted(self.description);
        format!(
            "---\nname: {}\ndescription: {description}\n---\n\n{}\n{SIGN}\n",
            self.name, self.instructions
        )
    }
}

/// A command that a person types.
#[derive(Debug, PartialEq, Eq)]
pub struct SlashCommand {
    /// The word after `/hotl:`.
    pub name: &'static str,
    /// Its effect.
    pub description: &'static str,
    /// The arguments that it accepts.
    pub argument_hint: &'static str,
    /// The instructions for the agent.
    pub instructions: &'static str,
}

/// Every command.
pub const COMMANDS: [SlashCommand; 5] = [
    SlashCommand {
        name: offered::LOOP,
        description: "Run a workflow file step by step",
        argument_hint: "[workflow file]",
        instructions: include_str!("offer/commands/loop.md"),
    },
    SlashCommand {
        name: offered::RESUME,
        description: "Continue an unfinished run",
        argument_hint: "[run id or workflow file]",
        instructions: include_str!("offer/commands/resume.md"),
    },
    SlashCommand {
        name: offered::WRITE_PLAN,
        description: "Write a workflow file for a piece of work",
        argument_hint: "<what to build>",
        instructions: include_str!("offer/commands/write-plan.md"),
    },
    SlashCommand {
        name: offered::EXECUTE_PLAN,
        description: "Work through a plan; turn it into a workflow first if needed",
        argument_hint: "[plan or workflow file]",
        instructions: include_str!("offer/commands/execute-plan.md"),
    },
    SlashCommand {
        name: offered::STATUS,
        description: "Show unfinished runs and what they wait for",
        argument_hint: "[run id]",
        instructions: include_str!("offer/commands/status.md"),
    },
];

impl SlashCommand {
    /// The file of Claude Code, which makes `/hotl:NAME` of it in the folder `hotl`.
    pub fn file(&self) -> String {
        self.with_head("", self.instructions.to_owned())
    }

    /// The file for clients without command folders, which call it `/hotl-NAME`.
    pub fn flat_file(&self) -> String {
        self.with_head("", self.flat())
    }

    /// The prompt file of VS Code, which asks for the arguments.
    pub fn prompt_file(&self) -> String {
        let hint = self.argument_hint.trim_matches(['[', ']', '<', '>']);
        let ask = format!("${{input:arguments:{hint}}}");
        self.with_head("agent: agent\n", self.flat().replace("$ARGUMENTS", &ask))
    }

    fn flat(&self) -> String {
        self.instructions.replace("/hotl:", "/hotl-")
    }

    fn with_head(&self, further: &str, instructions: String) -> String {
        format!(
            "---\ndescription: {}\nargument-hint: {}\n{further}---\n\n{instructions}\n{SIGN}\n",
            quoted(self.description),
            quoted(self.argument_hint),
        )
    }
}

/// `text` as a string of YAML.
pub(super) fn quoted(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}
