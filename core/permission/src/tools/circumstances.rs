//! Members of a shell call besides its line.

use serde_json::Value;

use super::ask;
use crate::judge::Judge;
use crate::paths::{file_name, in_system_folder};

/// Judges the members of a shell call other than its line: folder, environment, escalation.
pub(super) fn judge(tool: &str, input: &Value, judge: &mut Judge<'_>) {
    let Some(fields) = input.as_object() else {
        return;
    };
    for (key, value) in fields {
        let key = key.to_lowercase();
        let set = !matches!(value, Value::Null | Value::Bool(false));
        if set && key.contains("background") {
            judge.is_in_background();
        }
        let unsafe_key =
            ["escalat", "dangerous", "sandbox", "privileg", "as_user", "sudo", "elevat"]
                .iter()
                .any(|part| key.contains(part));
        if set
            && (unsafe_key || (key == "env" && value.as_object().is_none_or(|env| !env.is_empty())))
        {
            let key = onloop_syntax::text::one_line(&key);
            judge.add(ask(tool, format!("`{tool}` is asked to run with `{key}`")));
        }
        if FOLDER_KEYS.contains(&key.as_str())
            && set
            && value.as_str().is_none_or(|folder| judge.places.absolute(folder) != judge.places.cwd)
        {
            judge.add(ask(tool, "it runs in another folder"));
        }
        let is_known_shell = |shell: &str| {
            let known = matches!(file_name(shell), "bash" | "sh" | "zsh");
            known && (!shell.contains('/') || in_system_folder(shell))
        };
        if matches!(key.as_str(), "shell" | "executable" | "interpreter")
            && set
            && !value.as_str().is_some_and(is_known_shell)
        {
            judge.add(ask(tool, "it runs in a shell that is not known"));
        }
    }
}

/// Members of a shell call that name the folder it runs in.
const FOLDER_KEYS: [&str; 8] = [
    "cwd",
    "workdir",
    "working_directory",
    "workingdirectory",
    "dir_path",
    "dirpath",
    "directory",
    "working_dir",
];
