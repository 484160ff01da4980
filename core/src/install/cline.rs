//! Cline: a program for each event, named after it.

use serde_json::json;

use super::server_file::{Form, plain_entry};
use super::{OwnFile, Piece, Scope, ServerFile, Setting};
use crate::hooks::Host;

/// Events at which there is something to say or to learn. A task that ends cannot be sent on.
const EVENTS: [&str; 3] = ["PreToolUse", "PostToolUse", "UserPromptSubmit"];
/// The first words of our files.
const SIGN: &str = "# Installed by onloop; `onloop uninstall cline` removes it.";

pub(super) fn pieces(setting: &Setting) -> Vec<Piece> {
    let line = setting.hook_line(Host::Cline, None);
    let piece = |event: &&str| {
        Piece::Own(OwnFile {
            path: setting.path(&format!("Hooks/{event}"), &format!(".clinerules/hooks/{event}")),
            content: format!("#!/bin/sh\n{SIGN}\nexec {line}\n"),
            executable: true,
            sign: SIGN.to_owned(),
            owns_folder: false,
        })
    };
    let mut pieces: Vec<Piece> = EVENTS.iter().map(piece).collect();
    // A project has no servers of its own.
    if setting.scope == Scope::User {
        let mut entry = plain_entry(&setting.server_words());
        // Cline waits for a minute unless told otherwise, and an hour is the most it takes.
        entry["timeout"] = json!(3600);
        pieces.push(Piece::Server(ServerFile {
            path: format!("{}/.cline/data/settings/cline_mcp_settings.json", setting.home),
            form: Form::Json { servers: "mcpServers", entry },
        }));
    }
    pieces
}
