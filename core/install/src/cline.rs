//! Cline: a program for each event, named after it, and a file of rules with what others have as
//! skills.

use serde_json::json;

use super::offer::{self, SKILLS};
use super::server_file::{ServerForm, plain_entry};
use super::{HostFile, InstallScope, OwnFile, ServerFile, Setting};
use onloop_sessions::hooks::Host;

/// Events at which there is something to say or to learn. A task that ends cannot be continued.
const EVENTS: [&str; 3] = ["PreToolUse", "PostToolUse", "UserPromptSubmit"];
/// How our files begin.
const SIGN: &str = "# Installed by onloop; `onloop uninstall cline` removes it.";

pub(super) fn host_files(setting: &Setting) -> Vec<HostFile> {
    let line = setting.hook_line(Host::Cline, None);
    let host_file = |event: &&str| {
        let path = setting.path(&format!("Hooks/{event}"), &format!(".clinerules/hooks/{event}"));
        let text = OwnFile::text(path, format!("#!/bin/sh\n{SIGN}\nexec {line}\n"), SIGN);
        HostFile::Own(OwnFile { executable: true, ..text })
    };
    let mut files: Vec<HostFile> = EVENTS.iter().map(host_file).collect();
    // A project has no servers of its own.
    if setting.scope == InstallScope::User {
        let mut entry = plain_entry(&setting.server_words());
        // Cline waits for a minute by default, and for at most an hour.
        entry["timeout"] = json!(3600);
        files.push(HostFile::Server(ServerFile {
            path: format!("{}/.cline/data/settings/cline_mcp_settings.json", setting.home),
            form: ServerForm::Json { servers: "mcpServers", entry },
        }));
    }
    let rules = setting.path("Rules/onloop.md", ".clinerules/onloop.md");
    files.push(HostFile::Own(OwnFile::text(rules, self::rules(), offer::SIGN)));
    files
}

/// Every skill, each below the moment at which it is for. Cline reads all of it with every task.
fn rules() -> String {
    let section = |skill: &offer::Skill| {
        format!("# {}\n\n{}\n\n{}\n", skill.name, skill.description, deeper(skill.instructions))
    };
    let sections: Vec<String> = SKILLS.iter().map(section).collect();
    format!("{}\n{}\n", sections.join("\n"), offer::SIGN)
}

/// Markdown with its headings one level down.
fn deeper(markdown: &str) -> String {
    let line =
        |line: &str| if line.starts_with('#') { format!("#{line}") } else { line.to_owned() };
    markdown.trim_end().lines().map(line).collect::<Vec<_>>().join("\n")
}
