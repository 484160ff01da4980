//! `onloop install`, `uninstall` and `doctor` with the real program, and what hosts then call.

mod doctor;
mod files;
mod golden;
mod links;
mod plugin;
mod properties;
mod round_trips;

use crate::workspace::{Run, Workspace};

/// `onloop` as people call it: by its name, found on PATH.
pub(crate) fn onloop(project: &Workspace, words: &str) -> Run {
    project.shell(&format!("onloop {words}"))
}

/// Every file of the user and of the project, with its content, sorted.
pub(crate) fn everything(project: &Workspace) -> Vec<(String, String)> {
    let mut files = Vec::new();
    let mut folders = vec![project.path("."), project.path("../home")];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(&folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else {
                let content = std::fs::read_to_string(&path).unwrap();
                files.push((path.to_string_lossy().into_owned(), content));
            }
        }
    }
    files.sort();
    files
}

/// Every host.
pub(crate) const HOSTS: [&str; 7] =
    ["claude", "codex", "cursor", "vscode", "opencode", "cline", "copilot"];
