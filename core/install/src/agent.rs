//! Agents that clients with agent files of their own get: what they are, and the files they become.

use super::offer::quoted;

/// An agent with instructions, which a client starts by name.
#[derive(Debug, PartialEq, Eq)]
pub struct AgentDefinition {
    /// Its name, as users and other agents call it.
    pub name: &'static str,
    /// When to use it, in one sentence.
    pub description: &'static str,
    /// What may follow its name.
    pub argument_hint: &'static str,
    /// Its instructions, in Markdown.
    pub instructions: &'static str,
    /// The tools that VS Code grants, in groups.
    pub vscode_tools: &'static [&'static [&'static str]],
    /// The tools that Claude Code grants; empty: all tools of the session.
    pub claude_tools: &'static [&'static str],
    /// Agents that it may start. People start only agents that start others.
    pub starts: &'static [&'static str],
}

impl AgentDefinition {
    /// A text that its files contain in every version, and no other file does.
    pub fn sign(&self) -> String {
        format!("You are `{}`.", self.name)
    }

    /// The file for Claude Code: `agents/<name>.md` of a plugin.
    pub fn claude_file(&self) -> String {
        let mut head = format!("name: {}\ndescription: {}\n", self.name, quoted(self.description));
        if !self.claude_tools.is_empty() {
            head.push_str(&format!("tools: {}\n", self.claude_tools.join(", ")));
        }
        format!("---\n{head}---\n\n{}", self.instructions)
    }

    /// The prompt file of VS Code that starts it, `.github/prompts/<name>.prompt.md`, which asks for its
    /// argument.
    pub(super) fn prompt_file(&self) -> String {
        let hint = self.argument_hint.replace(['[', ']'], "").replace('|', " or ");
        format!(
            "---\ndescription: {}\nargument-hint: {}\nagent: {}\n---\n\n${{input:argument:{hint}}}\n",
            quoted(self.description),
            quoted(self.argument_hint),
            self.name,
        )
    }

    /// The file for VS Code: `.github/agents/<name>.agent.md`.
    pub fn vscode_file(&self) -> String {
        let tools = list("tools", &self.vscode_tools.concat());
        let agents = list("agents", self.starts);
        format!(
            "---\nname: {}\ndescription: {}\nargument-hint: {}\n{tools}{agents}---\n\n{}",
            self.name,
            quoted(self.description),
            quoted(self.argument_hint),
            self.instructions,
        )
    }
}

/// A member of YAML with a list of plain words.
fn list(key: &str, items: &[&str]) -> String {
    if items.is_empty() {
        return format!("{key}: []\n");
    }
    let lines: String = items.iter().map(|item| format!("  - {item}\n")).collect();
    format!("{key}:\n{lines}")
}
