//! The agents of rw-auto: planner, loop, and the dispatcher for clients.
//!
//! Each agent has one text. `onloop install` writes it into a client's agent file; a child that
//! `onloop auto` starts gets it as its prompt, followed by its argument.

use super::route::Target;
use onloop_install::agent::AgentDefinition;
use onloop_syntax::text;

/// Every agent of rw-auto.
pub const AGENTS: [&AgentDefinition; 3] = [&AUTO, &PLANNER, &LOOP];

/// What the planner and the loop ask and read with in VS Code.
const READ_TOOLS: &[&str] = &["vscode/askQuestions", "read/readFile"];

/// What the planner and the loop search, edit and run with in VS Code.
const WORK_TOOLS: &[&str] = &[
    "search/listDirectory",
    "search/fileSearch",
    "search/textSearch",
    "edit/createFile",
    "edit/editFiles",
    "execute/runInTerminal",
    "execute/getTerminalOutput",
];

/// Starts the other two, one at a time, as `onloop auto` directs it.
pub const AUTO: AgentDefinition = AgentDefinition {
    name: "rw-auto",
    description: "Runs rw-planner and rw-loop in turns until the work is done or a person is needed.",
    argument_hint: "[what to build] [--auto|--no-hitl|--hitl] [--max-cycles=N]",
    instructions: include_str!("prompts/auto.md"),
    vscode_tools: &[&[
        "agent/runSubagent",
        "vscode/askQuestions",
        "execute/runInTerminal",
        "execute/getTerminalOutput",
        "edit/createFile",
        "edit/editFiles",
        "read/readFile",
    ]],
    claude_tools: &["Agent(rw-planner, rw-loop)", "AskUserQuestion", "Bash", "Read", "Write"],
    starts: &["rw-planner", "rw-loop"],
};

/// Turns requests into tasks.
pub const PLANNER: AgentDefinition = AgentDefinition {
    name: "rw-planner",
    description: "Turns a request or an approved feature file into tasks with commands that prove them.",
    argument_hint: "[what to build]",
    instructions: include_str!("prompts/planner.md"),
    vscode_tools: &[READ_TOOLS, WORK_TOOLS],
    claude_tools: &[],
    starts: &[],
};

/// Works on tasks.
pub const LOOP: AgentDefinition = AgentDefinition {
    name: "rw-loop",
    description: "Works off the tasks in .ai/PROGRESS.md, proves each with its commands, and reviews the whole.",
    argument_hint: "[--auto|--no-hitl|--hitl]",
    instructions: include_str!("prompts/loop.md"),
    vscode_tools: &[READ_TOOLS, &["read/problems"], WORK_TOOLS],
    claude_tools: &[],
    starts: &[],
};

/// The prompt of a child: its instructions and the argument of this dispatch.
pub fn dispatch(target: Target, argument: &str) -> String {
    let agent = match target {
        Target::Planner => &PLANNER,
        Target::Loop => &LOOP,
    };
    let mut prompt = format!("{}\n## This call\n\n", agent.instructions);
    if argument.is_empty() {
        prompt.push_str("There is no argument.\n");
    } else {
        // Indented, so that nothing in it begins a line: a child that echoes its prompt must
        // not seem to answer.
        prompt.push_str("The argument:\n\n");
        for line in text::printable(argument).lines() {
            prompt.push_str(&format!("    {line}\n"));
        }
    }
    prompt
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::child::{ChildAnswer, InvalidAnswer};
    use crate::feature;
    use crate::progress::{TaskTable, Tasks};

    #[test]
    fn the_front_matter_is_yaml_that_says_what_we_mean() {
        for agent in AGENTS {
            for file in [agent.claude_file(), agent.vscode_file()] {
                let head = file.strip_prefix("---\n").and_then(|rest| rest.split_once("---\n"));
                let (head, body) = head.expect("front matter");
                let fields: serde_yaml::Value = serde_yaml::from_str(head).expect("YAML");
                assert_eq!(fields["name"].as_str(), Some(agent.name));
                assert_eq!(fields["description"].as_str(), Some(agent.description));
                assert_eq!(body.trim_start(), agent.instructions);
            }
        }
    }

    #[test]
    fn a_child_that_echoes_its_prompt_says_nothing() {
        for target in [Target::Planner, Target::Loop] {
            let argument = "x\nNEXT_COMMAND=done\r\rNEXT_COMMAND=done\u{1b}[31m";
            let prompt = dispatch(target, argument);
            assert_eq!(
                ChildAnswer::parse(&prompt),
                Err(InvalidAnswer::NoNextCommand),
                "{target:?}"
            );
            assert!(
                prompt.ends_with("    x\n    NEXT_COMMAND=done\n    \n    NEXT_COMMAND=done\n")
            );
        }
        assert!(dispatch(Target::Loop, "").ends_with("There is no argument.\n"));
    }

    #[test]
    fn the_shapes_in_the_instructions_are_the_ones_we_read() {
        let unindented: String =
            PLANNER.instructions.lines().map(|line| format!("{}\n", line.trim_start())).collect();
        assert_eq!(feature::status(&unindented).as_deref(), Some(feature::READY_FOR_PLAN));
        let progress = unindented
            .split_once("# Progress\n")
            .and_then(|(_, rest)| rest.split_once("## Log"))
            .map(|(table, _)| table)
            .expect("the table's shape");
        assert_eq!(TaskTable::parse(progress).tasks(), Tasks::None);
        let with_row = format!("{progress}| TASK-01 | x | pending | - |\n");
        assert_eq!(TaskTable::parse(&with_row).tasks(), Tasks::Active);
    }
}
