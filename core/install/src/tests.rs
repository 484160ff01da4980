use serde_json::Value;

use super::*;

const FOREIGN_CLAUDE: &str = r#"{
    // my settings
    "model": "opus",
    "hooks": {
        "PreToolUse": [
            { "matcher": "Bash", "hooks": [{ "type": "command", "command": "./mine.sh" }] }, // mine
        ],
        "Stop": [],
    },
}
"#;

fn setting(scope: InstallScope, program: &[&str]) -> Setting {
    Setting {
        program: program.iter().map(|&word| word.to_owned()).collect(),
        scope,
        home: "/home/me".to_owned(),
        project: "/srv/repo".to_owned(),
        user_folder: String::new(),
        waits: Waits::of(&Config::default()),
        continuations: 10,
    }
}

fn of(host: Host, scope: InstallScope) -> Vec<HostFile> {
    let user_folder = user_folder(host, "/home/me", |_| None);
    host_files(host, &Setting { user_folder, ..setting(scope, &["/opt/on loop/onloop"]) }, &[])
}

fn shared(host: Host) -> HostFile {
    of(host, InstallScope::User).remove(0)
}

#[test]
fn hooks_go_where_the_host_looks_for_them() {
    let table = [
        (Host::Claude, "/home/me/.claude/settings.json", "/srv/repo/.claude/settings.json"),
        (Host::Codex, "/home/me/.codex/hooks.json", "/srv/repo/.codex/hooks.json"),
        (Host::Cursor, "/home/me/.cursor/hooks.json", "/srv/repo/.cursor/hooks.json"),
        (
            Host::VsCode,
            "/home/me/.copilot/hooks/onloop.json",
            "/srv/repo/.github/hooks/onloop.json",
        ),
        (
            Host::OpenCode,
            "/home/me/.config/opencode/plugins/onloop.js",
            "/srv/repo/.opencode/plugins/onloop.js",
        ),
        (
            Host::Cline,
            "/home/me/Documents/Cline/Hooks/PreToolUse",
            "/srv/repo/.clinerules/hooks/PreToolUse",
        ),
        (
            Host::Copilot,
            "/home/me/.copilot/hooks/onloop-copilot.json",
            "/srv/repo/.github/hooks/onloop-copilot.json",
        ),
    ];
    assert_eq!(table.len(), Host::ALL.len());
    for (host, user, project) in table {
        assert_eq!(of(host, InstallScope::User)[0].path(), user);
        assert_eq!(of(host, InstallScope::Project)[0].path(), project);
    }
    let named = |name: &str| (name == "XDG_CONFIG_HOME").then_some("/c");
    assert_eq!(user_folder(Host::OpenCode, "/h", named), "/c/opencode");
    assert_eq!(user_folder(Host::Claude, "/h", |_| Some("/c/")), "/c");
}

#[test]
fn every_host_finds_its_own_hook_again_and_no_other() {
    for host in [Host::Claude, Host::Codex, Host::Cursor, Host::VsCode, Host::Copilot] {
        let text = of(host, InstallScope::Project)[0].installed(None).unwrap();
        let hooks = installed_hooks(host, &text).unwrap();
        assert!(hooks.iter().any(|hook| hook.event.to_lowercase().contains("tooluse")), "{text}");
        for other in Host::ALL.into_iter().filter(|other| *other != host) {
            assert_eq!(installed_hooks(other, &text).unwrap(), [], "{other:?} {text}");
        }
        for hook in hooks {
            match hook.call {
                HookCall::Words(words) => {
                    assert_eq!(words[..3], ["/opt/on loop/onloop", "hook", host.as_str()]);
                }
                HookCall::Line(line) => {
                    let start = format!("'/opt/on loop/onloop' hook {}", host.as_str());
                    assert!(line.starts_with(&start), "{line}");
                }
            }
        }
    }
}

#[test]
fn on_windows_every_line_is_one_for_its_shells_and_is_found_again() {
    let program = r"C:\Program Files\onloop\onloop.exe";
    for host in [Host::Codex, Host::Cursor, Host::VsCode, Host::Copilot] {
        let setting = Setting {
            home: r"C:\Users\me".to_owned(),
            user_folder: r"C:\Users\me\.x".to_owned(),
            ..setting(InstallScope::User, &[program])
        };
        let text = host_files(host, &setting, &[])[0].installed(None).unwrap();
        let hooks = installed_hooks(host, &text).unwrap();
        assert!(!hooks.is_empty(), "{text}");
        for hook in hooks {
            let HookCall::Line(line) = hook.call else { panic!("{host:?}: {hook:?}") };
            let start = format!("cmd /c \"{program}\" hook {}", host.as_str());
            assert!(line.starts_with(&start), "{line}");
        }
        assert_eq!(text.contains("\"powershell\""), host == Host::Copilot, "{text}");
    }
    // Where a program is called without a shell in between, nothing is quoted.
    let claude =
        host_files(Host::Claude, &setting(InstallScope::User, &[program]), &[])[0].installed(None);
    let calls = installed_hooks(Host::Claude, &claude.unwrap()).unwrap();
    assert!(matches!(&calls[0].call, HookCall::Words(words) if words[0] == program));
}

#[test]
fn claude_is_told_not_to_run_what_could_not_be_judged() {
    let text = shared(Host::Claude).installed(None).unwrap();
    let settings: Value = serde_json::from_str(&text).unwrap();
    let handler = |event: &str| settings["hooks"][event][0]["hooks"][0].clone();
    assert_eq!(handler("PreToolUse")["onFailure"], "block");
    assert_eq!(handler("PermissionRequest")["onFailure"], "block");
    for event in ["Stop", "UserPromptSubmit", "PostToolUse"] {
        assert_eq!(handler(event)["onFailure"], Value::Null, "{event}");
    }
    assert_eq!(handler("PreToolUse")["timeout"].to_string(), handler("PreToolUse")["args"][3]);
}

#[test]
fn cursor_is_told_how_often_a_session_is_continued() {
    let stop = |continuations| {
        let user_folder = "/home/me/.cursor".to_owned();
        let plain = setting(InstallScope::User, &["onloop"]);
        let setting = Setting { user_folder, continuations, ..plain };
        let text = host_files(Host::Cursor, &setting, &[])[0].installed(None).unwrap();
        let hooks: Value = serde_json::from_str(&text).unwrap();
        hooks["hooks"]["stop"][0].clone()
    };
    let expected = "onloop hook cursor --timeout 60 --loop-limit 30";
    assert_eq!((&stop(30)["loop_limit"], &stop(30)["command"]), (&30.into(), &expected.into()));
    // It never goes below what Cursor does by itself: our own limit ends a session earlier.
    assert_eq!(stop(0)["loop_limit"], 5);
}

#[test]
fn only_a_compacted_conversation_starts_our_hook() {
    for host in [Host::Claude, Host::Codex] {
        let text = shared(host).installed(None).unwrap();
        let settings: Value = serde_json::from_str(&text).unwrap();
        assert_eq!(settings["hooks"]["SessionStart"][0]["matcher"], "compact", "{host:?}");
        assert_eq!(settings["hooks"]["PreToolUse"][0]["matcher"], Value::Null, "{host:?}");
    }
}

#[test]
fn foreign_bytes_stay_and_come_back() {
    let host_file = shared(Host::Claude);
    let installed = host_file.installed(Some(FOREIGN_CLAUDE)).unwrap();
    assert!(
        installed.contains("// mine\n            {\n                \"hooks\": ["),
        "{installed}"
    );
    assert!(installed.contains("\"Stop\": [{\n"), "{installed}");
    assert_eq!(host_file.installed(Some(&installed)).unwrap(), installed);
    let remains = host_file.removed(&installed).unwrap();
    assert_eq!(remains.text, FOREIGN_CLAUDE);
    assert!(!remains.is_nothing);
}

#[test]
fn a_new_version_replaces_the_entries_of_the_old_one() {
    let user_folder = "/home/me/.claude".to_owned();
    let old = Setting { user_folder, ..setting(InstallScope::User, &["/old/hotl-rt"]) };
    let old = host_files(Host::Claude, &old, &[])[0].installed(Some(FOREIGN_CLAUDE)).unwrap();
    let host_file = shared(Host::Claude);
    let new = host_file.installed(Some(&old)).unwrap();
    assert!(!new.contains("/old/") && new.contains("/opt/on loop/onloop"), "{new}");
    assert_eq!(new, host_file.installed(Some(FOREIGN_CLAUDE)).unwrap());
    assert_eq!(host_file.removed(&new).unwrap().text, FOREIGN_CLAUDE);
}

#[test]
fn of_a_group_that_somebody_put_together_only_our_part_is_ours() {
    let text = r#"{"hooks": {"Stop": [{"hooks": [{"command": "a"}, {"command": "/x/onloop", "args": ["hook", "claude"]}]}]}}"#;
    let remains = shared(Host::Claude).removed(text).unwrap();
    assert_eq!(remains.text, r#"{"hooks": {"Stop": [{"hooks": [{"command": "a"}]}]}}"#);
}

#[test]
fn what_only_looks_like_ours_is_left_alone() {
    for command in [
        "nonloop hook claude",
        "onloop hook claudette",
        "echo onloop hook codex",
        "onloop run hook claude",
    ] {
        let text = format!(
            "{{\"hooks\": {{\"Stop\": [{{\"hooks\": [{{\"command\": \"{command}\"}}]}}]}}}}"
        );
        assert_eq!(shared(Host::Claude).removed(&text).unwrap().text, text);
    }
}

#[test]
fn a_file_that_is_new_is_gone_afterwards() {
    for host in [Host::Claude, Host::Codex, Host::Cursor] {
        let host_file = shared(host);
        for empty in [None, Some(""), Some("\u{feff} \n")] {
            let installed = host_file.installed(empty).unwrap();
            assert!(host_file.removed(&installed).unwrap().is_nothing, "{installed}");
        }
        let commented = "{ /* mine */ \"version\": 1 }";
        let installed = host_file.installed(Some(commented)).unwrap();
        let remains = host_file.removed(&installed).unwrap();
        assert_eq!((remains.text.as_str(), remains.is_nothing), (commented, false));
    }
}

#[test]
fn what_cannot_be_edited_is_refused_with_the_reason() {
    let table = [
        (Host::Claude, "[]", "it is not a JSON object"),
        (Host::Claude, "{\"hooks\": []}", "its `hooks` should be an object"),
        (Host::Claude, "{\"hooks\": {\"Stop\": 1}}", "its `hooks.Stop` should be a list"),
        (Host::Claude, "{\"a\": 1, \"a\": 1}", "line 1: `a` is given twice"),
        (Host::Claude, "{\n", "line 2: found the end, expected a key in double quotes"),
        (Host::Cursor, "{\"hooks\": {}}", "its `version` should be 1; found none"),
        (Host::Cursor, "{\"version\": 2}", "its `version` should be 1; found `2`"),
    ];
    for (host, text, expected) in table {
        assert_eq!(shared(host).installed(Some(text)).unwrap_err().to_string(), expected);
    }
    let skill = of(Host::Codex, InstallScope::User).pop().unwrap();
    assert_eq!(skill.installed(Some("mine")), Err(EditError::OtherFile));
    assert_eq!(skill.removed("mine").unwrap().text, "mine");
}

#[test]
fn codex_entries_depend_on_nothing_but_the_place_of_the_program() {
    let mut slow = Config::default();
    slow.supervisor.provider = Provider::Claude;
    let of = |config: &Config| {
        let waits = Waits::of(config);
        host_files(
            Host::Codex,
            &Setting { waits, ..setting(InstallScope::Project, &["/bin/onloop"]) },
            &[],
        )
    };
    assert_eq!(of(&slow), of(&Config::default()));
    assert!(of(&slow)[0].installed(None).unwrap().contains("\"/bin/onloop hook codex\""));
    // A longer timeout than Codex's default makes the person trust the hooks again.
    let yaml = "telegram: {enabled: true, token: '1:a', chat_id: 1, timeout_sec: 3600}";
    let patient = of(&Config::read(yaml, "/"))[0].installed(None).unwrap();
    let file: Value = serde_json::from_str(&patient).unwrap();
    let handler = &file["hooks"]["PreToolUse"][0]["hooks"][0];
    assert_eq!(handler["timeout"], 3658);
    assert_eq!(handler["command"], "/bin/onloop hook codex --timeout 3658");
}

#[test]
fn hooks_may_take_as_long_as_everything_that_they_ask() {
    let mut config = Config { auto_permission: false, ..Config::default() };
    assert_eq!(Waits::of(&config), Waits { call_s: 60, stop_s: 60, short_s: 60 });
    config.auto_permission = true;
    config.supervisor.provider = Provider::Codex;
    let waits = Waits::of(&config);
    assert!(waits.stop_s > limits::SUPERVISOR_TIMEOUT_MS / 1000);
    assert!(waits.call_s * 1000 > limits::JUDGE_TIMEOUT_MS);
}

#[test]
fn the_plugin_of_opencode_starts_our_hook() {
    let text = of(Host::OpenCode, InstallScope::User)[0].installed(None).unwrap();
    let words = opencode::words_of(&text).unwrap();
    assert_eq!(words[..3], ["/opt/on loop/onloop", "hook", "opencode"]);
    assert!(!text.contains("600_000"), "{text}");
}

#[test]
fn skills_have_the_form_that_agents_expect() {
    for skill in &offer::SKILLS {
        let is_plain = |c: char| c.is_ascii_lowercase() || c == '-';
        assert!(skill.name.len() <= 64 && skill.name.chars().all(is_plain), "{}", skill.name);
        assert!(skill.description.len() <= 1024);
        assert!(skill.file().starts_with(&format!("---\nname: {}\n", skill.name)));
    }
}

#[test]
fn the_rules_of_cline_say_what_the_skills_say() {
    let files = of(Host::Cline, InstallScope::User);
    let rules = files.iter().find(|file| file.path().ends_with("/Cline/Rules/onloop.md")).unwrap();
    let text = rules.installed(None).unwrap();
    let mut rest = text.as_str();
    for skill in &offer::SKILLS {
        let lines = [skill.name, skill.description].into_iter().chain(skill.instructions.lines());
        for line in lines {
            let at = rest.find(line).unwrap_or_else(|| panic!("{}: {line}", skill.name));
            rest = &rest[at + line.len()..];
        }
    }
    assert_eq!(text.lines().filter(|line| line.starts_with("# ")).count(), offer::SKILLS.len());
    assert!(rules.removed(&text).unwrap().is_nothing);
}

/// The server's file of a host, if it has one in that scope.
fn server(host: Host, scope: InstallScope) -> Option<ServerFile> {
    of(host, scope).into_iter().find_map(|host_file| match host_file {
        HostFile::Server(file) => Some(file),
        HostFile::Shared(_) | HostFile::Own(_) => None,
    })
}

#[test]
fn servers_go_where_the_host_looks_for_them() {
    let table = [
        (Host::Claude, None, Some("/srv/repo/.mcp.json")),
        (Host::Codex, Some("/home/me/.codex/config.toml"), Some("/srv/repo/.codex/config.toml")),
        (Host::Cursor, Some("/home/me/.cursor/mcp.json"), Some("/srv/repo/.cursor/mcp.json")),
        (Host::VsCode, None, Some("/srv/repo/.vscode/mcp.json")),
        (
            Host::OpenCode,
            Some("/home/me/.config/opencode/opencode.json"),
            Some("/srv/repo/opencode.json"),
        ),
        (Host::Cline, Some("/home/me/.cline/data/settings/cline_mcp_settings.json"), None),
        (
            Host::Copilot,
            Some("/home/me/.copilot/mcp-config.json"),
            Some("/srv/repo/.github/mcp.json"),
        ),
    ];
    assert_eq!(table.len(), Host::ALL.len());
    for (host, user, project) in table {
        for (scope, expected) in [(InstallScope::User, user), (InstallScope::Project, project)] {
            let file = server(host, scope);
            assert_eq!(file.as_ref().map(|file| file.path.as_str()), expected, "{host:?}");
            let Some(file) = file else { continue };
            let installed = file.merged(None).unwrap();
            let words = file.words_in(&installed).unwrap();
            assert_eq!(words, ["/opt/on loop/onloop", "mcp"], "{installed}");
            assert!(file.without(&installed).unwrap().is_nothing, "{installed}");
        }
    }
}

#[test]
fn every_host_gets_its_own_form_of_a_server() {
    let table = [
        (
            Host::Claude,
            r#"{"mcpServers":{"onloop":{"command":"/opt/on loop/onloop","args":["mcp"],"type":"stdio"}}}"#,
        ),
        (
            Host::Cursor,
            r#"{"mcpServers":{"onloop":{"command":"/opt/on loop/onloop","args":["mcp"]}}}"#,
        ),
        (
            Host::VsCode,
            r#"{"servers":{"onloop":{"command":"/opt/on loop/onloop","args":["mcp"],"type":"stdio"}}}"#,
        ),
        (
            Host::OpenCode,
            r#"{"mcp":{"onloop":{"type":"local","command":["/opt/on loop/onloop","mcp"],"enabled":true}}}"#,
        ),
        (
            Host::Copilot,
            r#"{"mcpServers":{"onloop":{"command":"/opt/on loop/onloop","args":["mcp"],"type":"local","tools":["*"]}}}"#,
        ),
    ];
    for (host, expected) in table {
        let text = server(host, InstallScope::Project).unwrap().merged(None).unwrap();
        let found: Value = serde_json::from_str(&text).unwrap();
        assert_eq!(found.to_string(), expected);
    }
    let text = server(Host::Codex, InstallScope::Project).unwrap().merged(None).unwrap();
    let expected = "[mcp_servers.onloop]\ncommand = \"/opt/on loop/onloop\"\nargs = [\"mcp\"]\n\
                    tool_timeout_sec = 86400\n";
    assert_eq!(text, expected);
}

#[test]
fn servers_of_others_stay_and_come_back() {
    let file = server(Host::Cursor, InstallScope::User).unwrap();
    let theirs = "{\n  // mine\n  \"mcpServers\": {\n    \"a\": { \"command\": \"x\" },\n  },\n}\n";
    let installed = file.merged(Some(theirs)).unwrap();
    assert!(installed.contains("// mine") && installed.contains("/opt/on loop/onloop"));
    assert_eq!(file.merged(Some(&installed)).unwrap(), installed);
    let remains = file.without(&installed).unwrap();
    assert_eq!((remains.text.as_str(), remains.is_nothing), (theirs, false));
    let other = r#"{"mcpServers": {"onloop": {"command": "./mine"}}}"#;
    assert_eq!(file.merged(Some(other)), Err(EditError::OtherServer));
    assert_eq!(file.without(other).unwrap().text, other);
    let error = file.merged(Some(r#"{"mcpServers": []}"#)).unwrap_err();
    assert_eq!(error.to_string(), "its `mcpServers` should be an object");
    assert_eq!(file.words_in(other), None);
}
