//! `onloop doctor`.

use super::{HOSTS, onloop};
use crate::rounds::sampled;
use crate::workspace::Workspace;

/// Tells nothing of the clients that whoever runs the tests may have.
fn doctor(project: &Workspace, words: &str) -> crate::workspace::Run {
    onloop(project, &format!("doctor {words}"))
}

#[test]
fn every_installed_hook_refuses_the_canary() {
    let project = Workspace::plain();
    for host in HOSTS {
        onloop(&project, &format!("install {host}")).expect_exit(0);
        let run = doctor(&project, host).expect_exit(0);
        assert!(run.stdout.contains("`rm -rf /` is refused"), "{host}: {run:?}");
    }
    let run = doctor(&project, "").expect_exit(0);
    assert_eq!(run.stdout.matches("is refused").count(), HOSTS.len(), "{run:?}");
    // Claude Code keeps those of a user itself.
    let servers = run.stdout.matches("a server with 14 tools in").count();
    assert_eq!(servers, HOSTS.len() - 1, "{run:?}");
}

#[test]
fn a_server_is_tried_and_one_that_a_repository_made_up_is_not() {
    let project = Workspace::plain();
    onloop(&project, "install claude --scope project").expect_exit(0);
    let run = doctor(&project, "claude").expect_exit(0);
    assert!(run.stdout.contains("project: a server with 14 tools in `"), "{run:?}");
    let made_up = r#"{"mcpServers": {"onloop": {"command": "/tmp/evil/onloop", "args": ["mcp"]}}}"#;
    project.write(".mcp.json", made_up);
    let run = doctor(&project, "claude").expect_exit(0);
    assert!(
        crate::flat(&run.stdout).contains("mcp.json` is not this program; it was not tried"),
        "{run:?}"
    );

    onloop(&project, "install cursor").expect_exit(0);
    let gone =
        r#"{"mcpServers": {"onloop": {"command": "/does/not/exist/onloop", "args": ["mcp"]}}}"#;
    project.write("../home/.cursor/mcp.json", gone);
    let run = doctor(&project, "cursor").expect_exit(1);
    assert!(run.stdout.contains("✗ user: the server in `"), "{run:?}");
}

#[test]
fn nothing_installed_is_wrong_only_where_it_was_asked_for() {
    let project = Workspace::plain();
    let run = doctor(&project, "").expect_exit(0);
    let absent = run.stdout.lines().find_map(|line| line.strip_prefix("Not found: "));
    let absent = absent.map_or(0, |names| names.split(", ").count());
    let found = run.stdout.matches("  · no hooks installed: onloop install ").count();
    assert_eq!(found + absent, HOSTS.len(), "{run:?}");
    assert!(run.stdout.contains("  ✓ git version "), "{run:?}");
    let run = doctor(&project, "codex").expect_exit(1);
    assert!(
        run.stdout.contains("  ✗ no hooks installed\n      fix: onloop install codex\n"),
        "{run:?}"
    );
    doctor(&project, "emacs").expect_exit(2);
}

#[test]
fn a_client_that_does_not_answer_is_not_called_absent() {
    let project = Workspace::plain();
    project.write("../bin/codex", "#!/bin/sh\necho 'node: not found' >&2\nexit 127\n");
    project.shell("chmod +x ../bin/codex").expect_exit(0);
    let run = doctor(&project, "").expect_exit(0);
    let said =
        "bin/codex` does not answer `--version`: it ends with exit code 127: node: not found";
    assert!(crate::flat(&run.stdout).contains(said), "{run:?}");
}

#[test]
fn a_program_that_is_gone_is_named_with_what_to_do() {
    let project = Workspace::plain();
    for host in ["claude", "codex", "cline", "opencode"] {
        onloop(&project, &format!("install {host} --scope project")).expect_exit(0);
    }
    project.shell("mkdir other && mv ../bin/onloop other/onloop").expect_exit(0);
    for host in ["claude", "codex", "cline", "opencode"] {
        let run = project.shell(&format!("other/onloop doctor {host}")).expect_exit(1);
        let fix = format!("      fix: onloop install {host} --scope project\n");
        assert!(run.stdout.contains("  ✗ project: ") && run.stdout.contains(&fix), "{run:?}");
        project.shell(&format!("other/onloop install {host} --scope project")).expect_exit(0);
        project.shell(&format!("other/onloop doctor {host}")).expect_exit(0);
    }
}

#[test]
fn what_switches_hooks_off_is_found() {
    let project = Workspace::plain();
    onloop(&project, "install claude").expect_exit(0);
    project.write(".claude/settings.local.json", "{\"disableAllHooks\": true}");
    let run = doctor(&project, "claude").expect_exit(1);
    assert!(run.stdout.contains("`disableAllHooks` in `"), "{run:?}");
    project.write(".claude/settings.local.json", "{\"disableAllHooks\": false}");
    doctor(&project, "claude").expect_exit(0);

    onloop(&project, "install codex").expect_exit(0);
    for off in ["[features]\nhooks = false # for now\n", "features = { hooks = false }\n"] {
        project.write("../home/.codex/config.toml", off);
        let run = doctor(&project, "codex").expect_exit(1);
        assert!(run.stdout.contains("  ✗ `features.hooks` is off in `"), "{run:?}");
    }
    project.write("../home/.codex/config.toml", "[other]\nhooks = false\n");
    let run = doctor(&project, "codex").expect_exit(0);
    assert!(crate::flat(&run.stdout).contains("untrusted ones are skipped"), "{run:?}");
}

#[test]
fn a_missing_event_and_a_silent_configuration_are_found() {
    let project = Workspace::plain();
    onloop(&project, "install cursor").expect_exit(0);
    let hooks = project.read("../home/.cursor/hooks.json");
    project.write("../home/.cursor/hooks.json", hooks.replace("beforeReadFile", "beforeNothing"));
    let run = doctor(&project, "cursor").expect_exit(1);
    assert!(run.stdout.contains("user: nothing is asked at `beforeReadFile`"), "{run:?}");
    assert!(crate::flat(&run.stdout).contains("not what this version installs"), "{run:?}");
    onloop(&project, "install cursor").expect_exit(0);
    assert_eq!(project.read("../home/.cursor/hooks.json"), hooks);
    project.write(".agentize.local.yaml", "handsoff:\n  enabled: false\n");
    let run = doctor(&project, "cursor").expect_exit(1);
    assert!(run.stdout.contains("`handsoff.enabled` is off"), "{run:?}");
}

#[test]
fn a_repository_cannot_make_the_doctor_run_its_programs() {
    let project = Workspace::plain();
    project.write("bin/onloop", "#!/bin/sh\ntouch ran\n");
    project.shell("chmod +x bin/onloop").expect_exit(0);
    let program = project.path("bin/onloop");
    let program = program.to_str().unwrap();
    let hook = format!("{{\"hooks\": [{{\"command\": \"{program} hook codex\"}}]}}");
    project.write(".codex/hooks.json", format!("{{\"hooks\": {{\"PreToolUse\": [{hook}]}}}}"));
    let cline = format!(
        "#!/bin/sh\n# Installed by onloop; `onloop uninstall cline` removes it.\n{program}\n"
    );
    project.write(".clinerules/hooks/PreToolUse", cline);
    project.shell("chmod +x .clinerules/hooks/PreToolUse").expect_exit(0);
    for host in ["codex", "cline"] {
        let run = doctor(&project, host).expect_exit(1);
        assert!(crate::flat(&run.stdout).contains("it was not tried"), "{run:?}");
    }
    assert!(!project.path("ran").exists());
}

#[test]
fn a_host_that_waits_less_than_was_configured_is_named_with_what_to_do() {
    let telegram = "telegram: {enabled: true, token: '1:a', chat_id: 1, timeout_sec: 3600}\n";
    for host in sampled(3, ["claude", "codex", "cursor", "vscode", "opencode", "copilot"]) {
        let project = Workspace::plain();
        onloop(&project, &format!("install {host} --scope user")).expect_exit(0);
        doctor(&project, host).expect_exit(0);
        project.write(".agentize.local.yaml", telegram);
        let run = doctor(&project, host).expect_exit(1);
        let fix = format!("      fix: onloop install {host} --scope user\n");
        let says = ", and the configuration needs 1 h 0 min 58 s (`";
        assert!(run.stdout.contains(says) && run.stdout.contains(&fix), "{host}: {run:?}");
        onloop(&project, &format!("install {host} --scope user")).expect_exit(0);
        doctor(&project, host).expect_exit(0);
        // Another project, which needs less, takes nothing away.
        project.write(".agentize.local.yaml", "");
        let run = onloop(&project, &format!("install {host} --scope user")).expect_exit(0);
        assert!(
            crate::flat(&run.stderr).contains("already; nothing was changed"),
            "{host}: {run:?}"
        );
        project.write(".agentize.local.yaml", telegram);
        doctor(&project, host).expect_exit(0);
    }
    let project = Workspace::plain();
    onloop(&project, "install claude").expect_exit(0);
    project.write(".agentize.local.yaml", telegram);
    let run = doctor(&project, "claude").expect_exit(1);
    assert!(
        run.stdout.contains(
            "  ✗ user: Claude Code waits 1 min for `PreToolUse`, and the configuration needs \
             1 h 0 min 58 s (`"
        ),
        "{run:?}"
    );
    // Nothing says how long Cline waits.
    onloop(&project, "install cline").expect_exit(0);
    let run = doctor(&project, "cline").expect_exit(0);
    assert!(
        crate::flat(&run.stdout).contains("· user: Cline waits 30 s for `PreToolUse`"),
        "{run:?}"
    );
}
