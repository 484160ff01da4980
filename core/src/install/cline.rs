//! Cline: a program for each event, named after it.

use super::{OwnFile, Piece, Setting};
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
    EVENTS.iter().map(piece).collect()
}
