//! Files as people and hosts write them: installing, upgrading and uninstalling gives every byte back.

use onloop_core::auto::prompts::AGENTS;
use onloop_core::handsoff::config::Config;
use onloop_core::hooks::Host;
use onloop_core::install::{HostFile, InstallScope, Setting, Waits, host_files};

use crate::rounds::sampled;

/// Which of a host's files a text stands for.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Part {
    Hooks,
    Servers,
}

const JSON: &[(Host, Part, &str)] = &[
    (Host::Claude, Part::Hooks, CLAUDE_SETTINGS),
    (Host::Claude, Part::Hooks, "{\n}\n"),
    (Host::Claude, Part::Hooks, "{\n  \"hooks\": {\n  }\n}\n"),
    (Host::Claude, Part::Servers, PLAIN_SERVERS),
    (Host::Codex, Part::Hooks, CODEX_HOOKS),
    (Host::Cursor, Part::Hooks, CURSOR_HOOKS),
    (Host::Cursor, Part::Servers, PLAIN_SERVERS),
    (Host::VsCode, Part::Servers, VSCODE_SERVERS),
    (Host::OpenCode, Part::Servers, OPENCODE),
    (Host::OpenCode, Part::Servers, "{\n  \"mcp\": {\n  }\n}\n"),
    (Host::Copilot, Part::Servers, PLAIN_SERVERS),
];

const TOML: &[&str] = &[
    CODEX_CONFIG,
    "",
    "# Only a comment.\n",
    "model = \"o\"\n\n\n",
    "[mcp_servers]\n",
    "[mcp_servers.a]\ncommand = \"a\"\n\n[mcp_servers.b]\ncommand = \"b\" # last\n",
    "mcp_servers.docs.command = \"docs\"\n",
];

const CLAUDE_SETTINGS: &str = r#"{
  "model": "opus",
  "permissions": {
    "allow": ["Bash(npm run lint)", "Read(~/.zshrc)"],
    "deny": [
      "Read(./.env)",
      "Bash(curl:*)"
    ]
  },
  "env": { "BASH_DEFAULT_TIMEOUT_MS": "120000" },
  "hooks": {
    "PreToolUse": [
      {
        "matcher": "Edit|Write",
        "hooks": [{ "type": "command", "command": "jq -r '.tool_input.file_path' | xargs fmt" }]
      }
    ],
    "Notification": []
  },
  "statusLine": { "type": "command", "command": "~/.claude/status.sh \"{,}\" // no comment" }
}
"#;

const CODEX_HOOKS: &str = r#"{
    "hooks": {
        "Stop": [
            {
                "hooks": [
                    {
                        "type": "command",
                        "command": "say done",
                        "timeout": 5
                    }
                ]
            }
        ]
    }
}
"#;

const CURSOR_HOOKS: &str = r#"{
  "version": 1,
  "hooks": {
    "afterFileEdit": [{ "command": "./hooks/format.sh" }],
    "stop": [
      { "command": "./hooks/audit.sh", "loop_limit": 2 }
    ]
  }
}
"#;

const PLAIN_SERVERS: &str = r#"{
  "mcpServers": {
    "github": {
      "command": "docker",
      "args": ["run", "-i", "--rm", "-e", "TOKEN", "example/github-mcp"],
      "env": { "TOKEN": "${TOKEN}" }
    },
    "docs": { "url": "https://docs.example/mcp" }
  }
}
"#;

const VSCODE_SERVERS: &str = r#"{
	"inputs": [
		{ "type": "promptString", "id": "key", "description": "Key", "password": true }
	],
	"servers": {
		"playwright": { "type": "stdio", "command": "npx", "args": ["-y", "playwright-mcp"] }
	}
}
"#;

const OPENCODE: &str = r#"{
  "$schema": "https://opencode.example/config.json",
  "permission": { "bash": { "git push *": "ask", "*": "allow" } },
  "mcp": {
    "search": {
      "type": "remote",
      "url": "https://search.example/mcp",
      "enabled": false
    }
  },
  "theme": "system"
}
"#;

const CODEX_CONFIG: &str = r#"model = "gpt"  # the usual one
approval_policy = "on-request"
notify = [
    "notify-send",
    "codex", # with a comment
]

[features]
hooks = true

[mcp_servers.docs]
command = "npx"
args = ["-y", "docs-mcp"]

[mcp_servers.docs.env]
TOKEN = '[mcp_servers.onloop]'

[projects."/srv/app"]
trust_level = "trusted"
"#;

/// The file that a host with the program at `program` gets.
fn host_file(host: Host, part: Part, program: &str) -> HostFile {
    let setting = Setting {
        program: vec![program.to_owned()],
        scope: InstallScope::Project,
        home: "/h".to_owned(),
        project: "/p".to_owned(),
        user_folder: "/h/.x".to_owned(),
        waits: Waits::of(&Config::default()),
        continuations: 10,
    };
    let is_it = |file: &HostFile| match file {
        HostFile::Shared(_) => part == Part::Hooks,
        HostFile::Server(_) => part == Part::Servers,
        HostFile::Own(_) => false,
    };
    host_files(host, &setting, &AGENTS).into_iter().find(is_it).expect("the host has such a file")
}

/// The same content, as editors and systems write it.
fn spellings(text: &str) -> Vec<String> {
    let mut spellings = vec![text.to_owned(), text.trim_end().to_owned(), format!("{text}\n\n")];
    spellings.extend([text.replace('\n', "\n\n"), text.replace("  ", "\t")]);
    let windows = spellings.iter().map(|text| text.replace('\n', "\r\n")).collect::<Vec<_>>();
    let marked = [&spellings[0], &windows[0]].map(|text| format!("\u{feff}{text}"));
    spellings.extend(windows);
    spellings.extend(marked);
    spellings
}

/// Spellings that only JSON with comments has.
fn json_spellings(text: &str) -> Vec<String> {
    let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
    for at in 1..lines.len() {
        let (above, closes) = (lines[at - 1].trim_end(), lines[at].trim_start());
        if closes.starts_with(['}', ']']) && !above.ends_with(['{', '[', ',']) {
            lines[at - 1].push(',');
        }
    }
    let compact = text.lines().map(str::trim).collect::<String>();
    let commented = format!("// mine\n{}\n", lines.join(" // \"{[,\n"));
    let block = text.replace(",\n", " /* , */,\n");
    let texts = [text.to_owned(), format!("{}\n", lines.join("\n")), compact, commented, block];
    texts.iter().flat_map(|text| spellings(text)).collect()
}

#[track_caller]
fn assert_round_trip(host: Host, part: Part, text: &str) {
    let [old, new] = ["/old/onloop", "/opt/on loop/onloop"].map(|p| host_file(host, part, p));
    let installed = new.installed(Some(text)).unwrap_or_else(|why| panic!("{why}: {text:?}"));
    assert_ne!(installed, text);
    assert_eq!(new.installed(Some(&installed)).unwrap(), installed, "installed twice: {text:?}");
    let upgraded = new.installed(Some(&old.installed(Some(text)).unwrap())).unwrap();
    assert_eq!(upgraded, installed, "upgraded: {text:?}");
    for program in [&old, &new] {
        assert_eq!(program.removed(&installed).unwrap().text, text, "uninstalled");
        assert_eq!(program.removed(text).unwrap().text, text, "uninstalled twice");
    }
}

#[test]
fn json_of_every_host_comes_back() {
    let all = JSON.iter().flat_map(|(host, part, text)| {
        json_spellings(text).into_iter().map(|text| (*host, *part, text))
    });
    for (host, part, text) in sampled(7, all) {
        assert_round_trip(host, part, &text);
    }
}

#[test]
fn the_configuration_of_codex_comes_back() {
    for text in TOML.iter().flat_map(|text| spellings(text)) {
        assert_round_trip(Host::Codex, Part::Servers, &text);
    }
}
