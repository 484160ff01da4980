//! What a person or their client decided is never loosened.

use serde_json::{Value, json};

use super::nested::decided;
use super::{claude, say};
use crate::workspace::Workspace;

const TOOL: &str = "./tool.sh deploy --now";

/// A project with a tool that nothing is known about.
fn project() -> Workspace {
    let project = Workspace::git();
    project.write("tool.sh", "#!/bin/sh\n");
    project
}

fn call(project: &Workspace, mode: &str, tool: &str, input: Value) -> Value {
    let members = json!({ "permission_mode": mode, "tool_name": tool, "tool_input": input,
        "cwd": project.path("").to_str().unwrap() });
    claude(project, "PreToolUse", members)["hookSpecificOutput"].clone()
}

fn line(project: &Workspace, mode: &str, line: &str) -> Value {
    call(project, mode, "Bash", json!({ "command": line }))
}

#[test]
fn rules_of_claude_code_hold_at_every_level_of_its_settings() {
    for file in [
        "../home/.claude/remote-settings.json",
        "../home/.claude/settings.json",
        ".claude/settings.json",
        ".claude/settings.local.json",
    ] {
        for (list, decision) in [("deny", "deny"), ("ask", "ask")] {
            let project = project();
            let rules = json!({ "permissions": { list: ["Bash(./tool.sh deploy:*)"] } });
            let path = project.path(file);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, rules.to_string()).unwrap();
            for mode in ["default", "acceptEdits", "plan"] {
                let said = line(&project, mode, TOOL);
                if (mode, decision) != ("plan", "ask") {
                    assert_eq!(said["permissionDecision"], decision, "{file} {mode}: {said}");
                }
                assert_eq!(said["updatedInput"], Value::Null, "{file} {mode}: {said}");
            }
            // What a person must decide is denied where nobody is asked.
            assert_eq!(line(&project, "bypassPermissions", TOOL)["permissionDecision"], "deny");
            let other = line(&project, "default", "git status");
            assert_eq!(other["permissionDecision"], "allow", "{other}");
        }
    }
}

#[test]
fn settings_of_claude_code_that_are_not_found_are_asked_about() {
    let project = project().with_env("CLAUDE_CONFIG_DIR", "../other");
    let said = line(&project, "default", "git status");
    assert_eq!(said["permissionDecision"], "ask", "{said}");
}

#[test]
fn local_settings_of_claude_code_hold_in_worktrees_of_their_checkout() {
    let project = project();
    project.commit("Tool");
    project.git_says(&["worktree", "add", "--quiet", "../linked"]);
    let rules = json!({ "permissions": { "ask": ["Bash(./tool.sh:*)"] } });
    project.write(".claude/settings.local.json", rules.to_string());
    for folder in [".", "../linked"] {
        let said = decided(&project, folder, Some(folder), TOOL);
        let why = said["permissionDecisionReason"].as_str().unwrap();
        assert!(why.starts_with("onloop (client:ask)"), "{folder}: {said}");
    }
}

#[cfg(unix)]
#[test]
fn rules_of_claude_code_hold_behind_links() {
    use std::os::unix::fs::symlink;
    let project = project();
    let rules = json!({ "permissions": { "deny": ["Read(./private/**)", "Edit(./private/**)"] } });
    project.write(".claude/settings.json", rules.to_string());
    project.write("private/sub/x", "x\n");
    project.write("private/p", "x\n");
    project.write("plain/sub/x", "x\n");
    symlink("private/sub", project.path("docl")).unwrap();
    symlink("plain/sub", project.path("up")).unwrap();
    symlink("../private/p", project.path("plain/q")).unwrap();
    for command in [
        "cat docl/../p",
        "cd docl && cat ../p",
        "cd -P docl/.. && cat p",
        "echo x > docl/../p",
        "cd -P up/.. && cat q",
    ] {
        assert_eq!(line(&project, "default", command)["permissionDecision"], "deny", "{command}");
    }
    for command in ["cat up/../x", "cd -P up/.. && cat sub/x", "cat plain/../tool.sh"] {
        assert_eq!(line(&project, "default", command)["permissionDecision"], "allow", "{command}");
    }
}

#[test]
fn a_dialog_that_the_client_asks_for_is_not_answered() {
    let project = project();
    project.write(".claude/settings.json", r#"{"permissions":{"ask":["Bash(git status)"]}}"#);
    let members = json!({ "tool_name": "Bash", "tool_input": { "command": "git status" } });
    assert_eq!(claude(&project, "PermissionRequest", members), Value::Null);
    let members = json!({ "tool_name": "Bash", "tool_input": { "command": "git log" } });
    let said = claude(&project, "PermissionRequest", members);
    assert_eq!(said["hookSpecificOutput"]["decision"]["behavior"], "allow");
}

#[test]
fn while_claude_code_plans_writes_get_no_opinion_and_nothing_is_rewritten() {
    let project = project();
    let path = |file: &str| project.path(file).to_str().unwrap().to_owned();
    let home = project.path("../home").canonicalize().unwrap().to_str().unwrap().to_owned();
    let write =
        |path: &str| call(&project, "plan", "Write", json!({ "file_path": path, "content": "x" }));
    assert_eq!(write(&path("new.txt")), Value::Null);
    for line_of_shell in [TOOL, "sed -i s/a/b/ a.txt", "echo a > b", "git commit -m x", "npm test"]
    {
        assert_eq!(line(&project, "plan", line_of_shell), Value::Null, "{line_of_shell}");
    }
    assert_eq!(line(&project, "plan", "git log 2>/dev/null")["permissionDecision"], "allow");
    assert_eq!(line(&project, "plan", "rm -rf /")["permissionDecision"], "deny");
    assert_eq!(write(&format!("{home}/.claude/plans/p.md"))["permissionDecision"], "allow");
}

#[test]
fn files_that_claude_code_names_itself_are_its_own() {
    let project = project();
    let home = project.path("../home").canonicalize().unwrap().to_str().unwrap().to_owned();
    let plain = |c: char| if c.is_ascii_alphanumeric() { c } else { '-' };
    let slug: String =
        project.path("").to_str().unwrap().trim_end_matches('/').chars().map(plain).collect();
    let of = |tool: &str, path: &str| {
        let said = call(&project, "default", tool, json!({ "file_path": path, "content": "x" }));
        said["permissionDecision"].as_str().unwrap().to_owned()
    };
    let folder = format!("{home}/.claude/projects/{slug}");
    assert_eq!(of("Write", &format!("{folder}/memory/MEMORY.md")), "allow");
    assert_eq!(of("Read", &format!("{folder}/s1/tool-results/b1.txt")), "allow");
    assert_eq!(of("Write", &format!("{home}/.claude/plans/a.md")), "allow");
    // Another project's, and what is not a file of this kind.
    for other in ["projects/other/memory/MEMORY.md", "CLAUDE.md", "memory/MEMORY.md"] {
        assert_ne!(of("Write", &format!("{home}/.claude/{other}")), "allow", "{other}");
    }
    assert_ne!(of("Write", &format!("{folder}/s1.jsonl")), "allow");
}

#[test]
fn rules_of_opencode_hold() {
    let project = project();
    let ask = |command: &str| {
        let input = json!({ "event": "tool.execute.before", "session_id": "s1", "tool": "bash",
            "cwd": project.path("").to_str().unwrap(), "input": { "command": command } });
        say(&project, "opencode", &input)
    };
    for decision in ["deny", "ask"] {
        let rules =
            json!({ "permission": { "bash": { "*": "allow", "./tool.sh deploy*": decision } } });
        project.write("opencode.json", rules.to_string());
        let said = ask(TOOL);
        assert_eq!((&said["decision"], &said["input"]), (&json!(decision), &Value::Null), "{said}");
    }
    project.write("opencode.jsonc", r#"{"permission": {"bash": "ask"}, /* all */ }"#);
    assert_eq!(ask("git status")["decision"], "ask");
    project.write("opencode.jsonc", "{}");
    assert_eq!(ask("git status")["decision"], "allow");
    // Agents have rules in files of their own.
    for file in [".opencode/agent/plan.md", "../home/.config/opencode/agents/a/plan.md"] {
        project.write(file, "---\ndescription: Plans\npermission:\n  bash: deny\n---\nPlan.\n");
        assert_eq!(ask("git status")["decision"], "ask", "{file}");
        project.write(file, "Plan.\n");
        assert_eq!(ask("git status")["decision"], "allow", "{file}");
    }
    // What is said of everything stays when the project says more.
    project.write("opencode.json", r#"{"permission": {"edit": "allow"}}"#);
    project.write("../home/.config/opencode/config.json", r#"{"permission": "ask"}"#);
    assert_eq!(ask("git status")["decision"], "ask");
}

#[test]
fn opencode_is_asked_only_where_it_asks_a_person() {
    let project = project();
    let said = |tool: &str, input: Value| {
        let input = json!({ "event": "tool.execute.before", "session_id": "s1", "tool": tool,
            "cwd": project.path("").to_str().unwrap(), "input": input });
        say(&project, "opencode", &input)
    };
    let line = |line: &str| said("bash", json!({ "command": line }));
    // Otherwise a sandbox holds what the tool does.
    project.write(".agentize.local.yaml", "permissions: {confine: off}\n");
    let lines = ["npm publish", "git push origin main", "kubectl apply -f x", "./tool.sh"];
    for command in lines {
        let said = line(command);
        let why = said["reason"].as_str().unwrap();
        assert_eq!(said["decision"], "deny", "{command}: {said}");
        assert!(why.contains("opencode would run it without asking"), "{command}: {said}");
    }
    let workflow = json!({ "filePath": project.path(".github/workflows/x.yml"), "content": "x" });
    assert_eq!(said("write", workflow)["decision"], "deny");
    project.write("opencode.json", r#"{"permission": {"bash": "ask"}}"#);
    for command in lines {
        assert_eq!(line(command)["decision"], "ask", "{command}");
    }
    // An agent may have a rule of its own that allows it, and which agent calls is not known.
    let agent = "---\npermission:\n  bash:\n    npm publish: allow\n    git status: deny\n---\n";
    project.write(".opencode/agent/plan.md", agent);
    assert_eq!(line("npm publish")["decision"], "deny");
    assert_eq!(line("kubectl apply -f x")["decision"], "ask");
    project.write("opencode.json", "{}");
    assert_eq!(line("kubectl apply -f x")["decision"], "deny");
    assert_eq!(line("git status")["decision"], "ask");
}

#[test]
fn codex_does_not_take_a_question_about_lost_work_for_a_yes() {
    let project = project();
    project.commit("Tool");
    project.write("tool.sh", "#!/bin/sh\n# mine\n");
    let said = |command: &str| {
        let input = json!({ "session_id": "s1", "turn_id": "t", "model": "m",
            "cwd": project.path("").to_str().unwrap(), "transcript_path": null,
            "permission_mode": "default", "hook_event_name": "PreToolUse", "tool_name": "Bash",
            "tool_use_id": "u", "tool_input": { "command": command } });
        say(&project, "codex", &input)["hookSpecificOutput"]["permissionDecision"].clone()
    };
    for line in [
        "git restore tool.sh",
        "rm notes.txt",
        "cp a b",
        "npm publish",
        "curl -d @tool.sh https://a.example",
    ] {
        assert_eq!(said(line), "deny", "{line}");
    }
    for line in ["frobnicate", "cargo test"] {
        assert_eq!(said(line), Value::Null, "{line}");
    }
}

#[test]
fn what_codex_runs_unasked_without_a_sandbox_is_refused() {
    let project = project();
    let transcript = project.path("../rollout.jsonl");
    let said = |mode: &str, transcript: Option<&str>| {
        let input = json!({ "session_id": "s1", "turn_id": "t", "model": "m",
            "cwd": project.path("").to_str().unwrap(), "transcript_path": transcript,
            "permission_mode": mode, "hook_event_name": "PreToolUse", "tool_name": "Bash",
            "tool_use_id": "u", "tool_input": { "command": "frobnicate" } });
        say(&project, "codex", &input)["hookSpecificOutput"]["permissionDecision"].clone()
    };
    let path = transcript.to_str();
    assert_eq!(said("default", None), Value::Null);
    assert_eq!(said("bypassPermissions", None), "deny");
    for (policy, expected) in
        [("workspace-write", Value::Null), ("danger-full-access", json!("deny"))]
    {
        let payload = json!({ "approval_policy": "never", "sandbox_policy": { "type": policy } });
        let turn = json!({ "type": "turn_context", "payload": payload });
        std::fs::write(&transcript, format!("{turn}\n")).unwrap();
        assert_eq!(said("bypassPermissions", path), expected, "{policy}");
    }
}

#[test]
fn rules_of_codex_hold() {
    let project = project();
    let said = |event: &str, command: &str| {
        let input = json!({ "session_id": "s1", "turn_id": "t", "model": "m",
            "cwd": project.path("sub/deep").to_str().unwrap(), "transcript_path": null,
            "permission_mode": "default", "hook_event_name": event, "tool_name": "Bash",
            "tool_use_id": "u", "tool_input": { "command": command } });
        say(&project, "codex", &input)["hookSpecificOutput"].clone()
    };
    let rules = "prefix_rule(pattern=['git', 'log'], decision='forbidden')\n\
                 prefix_rule(pattern=['git', 'diff'], decision='prompt')\n";
    project.write("sub/deep/a", "");
    for file in [
        "../home/.codex/rules/default.rules",
        ".codex/rules/a.rules",
        "sub/.codex/rules/a.rules",
        "sub/deep/.codex/rules/a.rules",
    ] {
        project.write(file, rules);
        assert_eq!(said("PreToolUse", "git log")["permissionDecision"], "deny", "{file}");
        assert_eq!(said("PermissionRequest", "git log")["decision"]["behavior"], "deny");
        assert_eq!(said("PermissionRequest", "git diff"), Value::Null, "{file}");
        assert_eq!(said("PermissionRequest", "git status")["decision"]["behavior"], "allow");
        project.write(file, "load('more.rules')\n");
        assert_eq!(said("PermissionRequest", "git status"), Value::Null, "{file}");
        project.write(file, "");
    }
}
