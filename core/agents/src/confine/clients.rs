//! The folders in which clients of agents keep their sessions and their logins, and what in them
//! decides what a client does the next time, perhaps without being confined.

use super::Needs;

/// A client's folders. Paths are below the home, or below what `variable` says instead.
struct ClientFolder {
    client: &'static str,
    /// Moves the folder, where there is such a variable.
    variable: &'static str,
    /// What the value of the variable stands for, as a path below the home.
    moved: &'static str,
    /// The folder.
    folder: &'static str,
    /// Files in it that are hidden from everybody else.
    own: &'static [&'static str],
    /// What in it stays as it is: settings, instructions, and what is run or loaded.
    kept: &'static [&'static str],
    /// Folders among these that the client makes when it is used for the first time.
    made: &'static [&'static str],
}

/// What Claude Code keeps beside its folder, or in it where that is moved, and writes when it is used
/// for the first time.
const CLAUDE_FILE: &str = ".claude.json";

const FOLDERS: &[ClientFolder] = &[
    ClientFolder {
        client: "claude",
        variable: "CLAUDE_CONFIG_DIR",
        moved: ".claude",
        folder: ".claude",
        own: &[".credentials.json"],
        kept: &[
            CLAUDE_FILE,
            "CLAUDE.md",
            "agents",
            "commands",
            "hooks",
            "keybindings.json",
            "local",
            "output-styles",
            "plugins",
            "rules",
            "settings.json",
            "settings.local.json",
            "skills",
            "workflows",
        ],
        made: &["plugins"],
    },
    ClientFolder {
        client: "codex",
        variable: "CODEX_HOME",
        moved: ".codex",
        folder: ".codex",
        own: &["auth.json"],
        kept: &[
            "AGENTS.md",
            "AGENTS.override.md",
            "config.toml",
            "hooks.json",
            "managed_config.toml",
            "plugins",
            "prompts",
            "requirements.toml",
            "rules",
        ],
        made: &[],
    },
    ClientFolder {
        client: "opencode",
        variable: "XDG_DATA_HOME",
        moved: ".local/share",
        folder: ".local/share/opencode",
        own: &["auth.json"],
        kept: &[],
        made: &[],
    },
    ClientFolder {
        client: "opencode",
        variable: "XDG_STATE_HOME",
        moved: ".local/state",
        folder: ".local/state/opencode",
        own: &[],
        kept: &[],
        made: &[],
    },
    ClientFolder {
        client: "opencode",
        variable: "XDG_CACHE_HOME",
        moved: ".cache",
        folder: ".cache/opencode",
        own: &[],
        kept: &[],
        made: &[],
    },
    ClientFolder {
        client: "opencode",
        variable: "XDG_CONFIG_HOME",
        moved: ".config",
        folder: ".config/opencode",
        own: &[],
        kept: &[
            "AGENTS.md",
            "agent",
            "agents",
            "command",
            "commands",
            "config.json",
            "mode",
            "modes",
            "opencode.json",
            "opencode.jsonc",
            "plugin",
            "plugins",
            "skill",
            "skills",
            "tool",
            "tools",
        ],
        made: &[],
    },
    ClientFolder {
        client: "gemini",
        variable: "",
        moved: "",
        folder: ".gemini",
        own: &["oauth_creds.json"],
        kept: &["GEMINI.md", "commands", "extensions", "hooks", "policies", "settings.json"],
        made: &[],
    },
    ClientFolder {
        client: "cursor",
        variable: "",
        moved: "",
        folder: ".cursor",
        own: &[],
        kept: &["cli-config.json", "hooks", "hooks.json", "mcp.json", "rules"],
        made: &[],
    },
    ClientFolder {
        client: "copilot",
        variable: "COPILOT_HOME",
        moved: ".copilot",
        folder: ".copilot",
        own: &[],
        kept: &["agents", "config.json", "hooks", "installed-plugins", "mcp-config.json", "skills"],
        made: &[],
    },
];

/// What a client finds when it has been used before.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Used {
    /// Its folders, and those in them that it makes itself.
    pub folders: Vec<String>,
    /// Files with an object of JSON, which is empty at first.
    pub files: Vec<String>,
}

/// What a client makes when it is used for the first time, nothing for names that are not known. Somebody who
/// is confined cannot make it, or has it taken away again. `variable` is an environment variable that is set.
pub fn client_used<'v>(
    client: &str,
    home: Option<&str>,
    variable: impl Fn(&str) -> Option<&'v str>,
) -> Used {
    let mut used = Used::default();
    for (folder, known) in known(client, home, &variable) {
        let made = known.made.iter().map(|name| format!("{folder}/{name}"));
        used.folders.extend(made.collect::<Vec<_>>());
        used.files.extend(claude_file(known, &folder, home, &variable));
        used.folders.insert(0, folder);
    }
    used
}

/// Where [`CLAUDE_FILE`] is.
fn claude_file<'v>(
    known: &ClientFolder,
    folder: &str,
    home: Option<&str>,
    variable: &impl Fn(&str) -> Option<&'v str>,
) -> Option<String> {
    match (known.client, variable(known.variable), home) {
        ("claude", Some(_), _) => Some(format!("{folder}/{CLAUDE_FILE}")),
        ("claude", None, Some(home)) => {
            Some(format!("{}/{CLAUDE_FILE}", home.trim_end_matches('/')))
        }
        (_, _, _) => None,
    }
}

/// What the turn of a client needs besides what every command may touch; as [`client_used`].
pub fn client_needs<'v>(
    client: &str,
    home: Option<&str>,
    variable: impl Fn(&str) -> Option<&'v str>,
) -> Needs {
    let mut needs = Needs::default();
    for (folder, known) in known(client, home, &variable) {
        let within = |name: &&str| format!("{folder}/{name}");
        needs.may_write.extend(known.own.iter().map(within));
        needs.may_read.extend(known.kept.iter().map(within));
        needs.may_write.push(folder);
    }
    // Its settings, which lie beside its folder.
    if let (true, Some(home)) = (client == "claude", home) {
        needs.may_read.push(format!("{}/{CLAUDE_FILE}", home.trim_end_matches('/')));
    }
    needs
}

fn known<'v>(
    client: &str,
    home: Option<&str>,
    variable: &impl Fn(&str) -> Option<&'v str>,
) -> Vec<(String, &'static ClientFolder)> {
    let path = |known: &ClientFolder| {
        let moved = Some(known.variable).filter(|name| !name.is_empty()).and_then(variable);
        let moved = moved.filter(|path| path.len() > 1 && path.starts_with('/'));
        match (moved, home) {
            (Some(moved), _) => {
                let below = known.folder.strip_prefix(known.moved).unwrap_or_default();
                Some(format!("{}{below}", moved.trim_end_matches('/')))
            }
            (None, Some(home)) => Some(format!("{}/{}", home.trim_end_matches('/'), known.folder)),
            (None, None) => None,
        }
    };
    let of_client = FOLDERS.iter().filter(|known| known.client == client);
    of_client.filter_map(|known| Some((path(known)?, known))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_client_may_write_its_sessions_and_not_what_it_will_obey() {
        let needs = client_needs("claude", Some("/home/u"), |_| None);
        assert_eq!(needs.may_write, ["/home/u/.claude/.credentials.json", "/home/u/.claude"]);
        for path in ["/home/u/.claude/settings.json", "/home/u/.claude.json"] {
            assert!(needs.may_read.contains(&path.to_owned()), "{path}");
        }
        let moved = |name: &str| (name == "XDG_DATA_HOME").then_some("/data");
        let needs = client_needs("opencode", Some("/home/u/"), moved);
        for path in ["/data/opencode", "/data/opencode/auth.json", "/home/u/.cache/opencode"] {
            assert!(needs.may_write.contains(&path.to_owned()), "{path}: {needs:?}");
        }
        let moved = |name: &str| (name == "CODEX_HOME").then_some("/c/");
        let needs = client_needs("codex", None, moved);
        assert_eq!(needs.may_write, ["/c/auth.json", "/c"]);
        assert_eq!(client_needs("script", Some("/home/u"), |_| None), Needs::default());
    }

    #[test]
    fn what_a_client_makes_at_first_is_known() {
        let used = |moved: Option<&'static str>| {
            client_used("claude", Some("/home/u"), |name| {
                moved.filter(|_| name == "CLAUDE_CONFIG_DIR")
            })
        };
        assert_eq!(used(None).folders, ["/home/u/.claude", "/home/u/.claude/plugins"]);
        assert_eq!(used(None).files, ["/home/u/.claude.json"]);
        assert_eq!(used(Some("/c")).folders, ["/c", "/c/plugins"]);
        assert_eq!(used(Some("/c")).files, ["/c/.claude.json"]);
        let codex = client_used("codex", Some("/home/u"), |_| None);
        assert_eq!(codex, Used { folders: vec!["/home/u/.codex".to_owned()], files: Vec::new() });
    }
}
