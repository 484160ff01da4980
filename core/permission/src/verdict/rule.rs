//! The rules that can decide, under the names that documents and messages give them.

use std::fmt;

use super::Decision;
use onloop_syntax::text::words;

/// What decided about a part of a call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Rule {
    /// Nothing speaks against the call: `built-in`.
    BuiltIn,
    /// The table's entry for a program or sub-command: `program:git push`.
    Program(String),
    /// A word that an allow rule has to name, such as an option that chooses what code runs:
    /// `option:cargo test --config`.
    Option(String),
    /// A variable whose name says that it holds a secret: `variable:secret`.
    SecretVariable,
    /// What would be asked about, and stays inside the sandbox that it runs in:
    /// `contained:program:make`.
    Contained(Box<Rule>),
    /// A program without an entry: `program:unknown`.
    UnknownProgram,
    /// A program file, whose content is not judged: `program:file`.
    ProgramFile,
    /// A command that takes a decision of a person: `person:onloop gate`.
    Person(String),
    /// A push that overwrites history of the remote: `git:force-push`.
    ForcePush,
    /// A push that deletes a branch of the remote: `git:delete`.
    DeleteBranch,
    /// A path: `path:secret`.
    Path(PathRule),
    /// Commands that are nested too deeply: `shell:depth`.
    ShellDepth,
    /// A line with too many commands: `shell:size`.
    ShellSize,
    /// A line that cannot be parsed: `shell:unreadable`.
    UnreadableShell,
    /// Code that may run and is not visible in the line: `shell:hidden`.
    HiddenCode,
    /// A program whose name is not known before the line runs: `shell:unknown-program`.
    ComputedProgram,
    /// Characters that do not show: `text:hidden`.
    HiddenText,
    /// A variable that chooses what runs: `environment`.
    Environment,
    /// A tool of the host, or how it is called: `tool:NotebookEdit`.
    Tool(String),
    /// A tool without a rule: `tool:unknown`.
    UnknownTool,
    /// An input that is not what the tool takes: `tool:malformed`.
    MalformedInput,
    /// An address: `web`.
    Web,
    /// A rule of the user: `rules:local:deny[0]`.
    Configured {
        /// The file it is in.
        source: Source,
        /// The list it is in, which is also what it decides.
        list: Decision,
        /// Its position in the list, from 0.
        index: usize,
    },
    /// A rule of the client's own configuration: `client:deny`.
    Client(Decision),
    /// A configuration file that cannot be used: `rules:fault`.
    ConfigurationFault,
    /// The answer of a person or a model that was asked: `approval`.
    Approval,
    /// The line verifies the step of the run that the agent works in: `verification`.
    Verification,
    /// The workflow file of the run allows the line: `workflow`.
    Workflow,
}

words! {
    /// What speaks against using a path.
    pub enum PathRule {
        /// It is not known before the line runs.
        Unknown = "unknown",
        /// It is a pattern that may match too much.
        Pattern = "pattern",
        /// It is empty.
        Empty = "empty",
        /// It is spelled in an unusual way.
        Odd = "odd",
        /// Its name says that it is a secret.
        Secret = "secret",
        /// It belongs to git.
        Git = "git",
        /// It configures agents, hooks or this engine.
        Control = "control",
        /// It is executed without anybody starting it.
        Automation = "automation",
        /// It is the state of a session or a run.
        State = "state",
        /// It is a device.
        Device = "device",
        /// It is in a temporary folder.
        Temporary = "temporary",
        /// It is in a home folder.
        Home = "home",
        /// It is outside the repository.
        Outside = "outside",
    }
}

/// The configuration file that a rule is in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Source {
    /// `.agentize.yaml`, which everybody who can commit can change.
    Project {
        /// Whether the developer trusts its present content, so that its allow rules count.
        trusted: bool,
    },
    /// `.agentize.local.yaml`, the developer's own.
    Local,
}

impl Source {
    /// The word in the names of rules.
    pub fn as_str(self) -> &'static str {
        match self {
            Source::Project { .. } => "project",
            Source::Local => "local",
        }
    }
}

/// What an allow rule of the user was matched against.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Subject {
    /// A command of a shell line: the rule says that the program may run.
    Command,
    /// A call of another tool: the rule names its target, such as a path.
    Tool,
}

impl Rule {
    /// Whether an allow rule of the user outweighs this one where it asks. Rules about what a
    /// program, a tool or an address is can be overridden; rules about what cannot be read or
    /// should stay secret cannot. [`Rule::Person`] can: the user who wrote the rule is a person.
    pub fn overridable(&self, by: Subject) -> bool {
        match self {
            Rule::Program(_) | Rule::UnknownProgram | Rule::ProgramFile | Rule::Person(_) => {
                by == Subject::Command
            }
            Rule::Tool(_) | Rule::UnknownTool | Rule::MalformedInput | Rule::Web => {
                by == Subject::Tool
            }
            Rule::Path(path) => match path {
                PathRule::Temporary => true,
                // A rule about a command does not say which files the program may use.
                PathRule::Home | PathRule::Automation => by == Subject::Tool,
                PathRule::Unknown
                | PathRule::Pattern
                | PathRule::Empty
                | PathRule::Odd
                | PathRule::Secret
                | PathRule::Git
                | PathRule::Control
                | PathRule::State
                | PathRule::Device
                | PathRule::Outside => false,
            },
            Rule::BuiltIn
            | Rule::Option(_)
            | Rule::SecretVariable
            | Rule::Contained(_)
            | Rule::ForcePush
            | Rule::DeleteBranch
            | Rule::ShellDepth
            | Rule::ShellSize
            | Rule::UnreadableShell
            | Rule::HiddenCode
            | Rule::ComputedProgram
            | Rule::HiddenText
            | Rule::Environment
            | Rule::Configured { .. }
            | Rule::Client(_)
            | Rule::ConfigurationFault
            | Rule::Approval
            | Rule::Verification
            | Rule::Workflow => false,
        }
    }

    /// Whether only a person may answer what this rule asks, and no model in a person's place.
    pub fn needs_person(&self) -> bool {
        matches!(self, Rule::Person(_) | Rule::Client(_))
    }
}

impl fmt::Display for Rule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Rule::BuiltIn => f.write_str("built-in"),
            Rule::Program(name) => write!(f, "program:{name}"),
            Rule::Option(name) => write!(f, "option:{name}"),
            Rule::SecretVariable => f.write_str("variable:secret"),
            Rule::Contained(rule) => write!(f, "contained:{rule}"),
            Rule::UnknownProgram => f.write_str("program:unknown"),
            Rule::ProgramFile => f.write_str("program:file"),
            Rule::Person(name) => write!(f, "person:{name}"),
            Rule::ForcePush => f.write_str("git:force-push"),
            Rule::DeleteBranch => f.write_str("git:delete"),
            Rule::Path(path) => write!(f, "path:{}", path.as_str()),
            Rule::ShellDepth => f.write_str("shell:depth"),
            Rule::ShellSize => f.write_str("shell:size"),
            Rule::UnreadableShell => f.write_str("shell:unreadable"),
            Rule::HiddenCode => f.write_str("shell:hidden"),
            Rule::ComputedProgram => f.write_str("shell:unknown-program"),
            Rule::HiddenText => f.write_str("text:hidden"),
            Rule::Environment => f.write_str("environment"),
            Rule::Tool(name) => write!(f, "tool:{name}"),
            Rule::UnknownTool => f.write_str("tool:unknown"),
            Rule::MalformedInput => f.write_str("tool:malformed"),
            Rule::Web => f.write_str("web"),
            Rule::Configured { source, list, index } => {
                write!(f, "rules:{}:{}[{index}]", source.as_str(), list.as_str())
            }
            Rule::Client(list) => write!(f, "client:{}", list.as_str()),
            Rule::ConfigurationFault => f.write_str("rules:fault"),
            Rule::Approval => f.write_str("approval"),
            Rule::Verification => f.write_str("verification"),
            Rule::Workflow => f.write_str("workflow"),
        }
    }
}
