//! What the hook adds to the permission engine: session, branch, links, places.

use serde_json::{Value, json};

use super::{bash, claude, prompt, say};
use crate::workspace::Workspace;

pub(super) fn tool(project: &Workspace, tool: &str, input: Value) -> String {
    let said = claude(project, "PreToolUse", json!({ "tool_name": tool, "tool_input": input }));
    said["hookSpecificOutput"]["permissionDecision"].as_str().unwrap().to_owned()
}

#[test]
fn rights_of_a_workflow_last_as_long_as_its_session() {
    let project = Workspace::plain();
    let line = "gh auth status";
    assert_ne!(bash(&project, line).0, "allow");
    prompt(&project, "/setup-viewboard");
    assert_eq!(bash(&project, line).0, "allow");
    let other = super::claude_input(
        "s2",
        "PreToolUse",
        json!({
        "tool_name": "Bash", "tool_input": { "command": line } }),
    );
    let said = say(&project, "claude", &other);
    assert_ne!(said["hookSpecificOutput"]["permissionDecision"], "allow");
    assert_eq!(bash(&project, "onloop session done s1").0, "allow");
    assert_ne!(bash(&project, "onloop session done s2").0, "allow");
    project.onloop(&["session", "done", "s1"]).expect_exit(0);
    assert_ne!(bash(&project, line).0, "allow");
}

#[test]
fn d5_the_branch_that_is_checked_out_is_known() {
    let project = Workspace::git();
    project.git_says(&["checkout", "--quiet", "-b", "issue-42"]);
    let push = "git push --force-with-lease origin issue-42";
    assert_eq!(bash(&project, push).0, "allow");
    assert_ne!(bash(&project, "git push --force origin main").0, "allow");
    project.git_says(&["worktree", "add", "--quiet", "../linked", "-b", "issue-43"]);
    assert_eq!(bash(&project, push).0, "allow");
    let linked = project.command_at("../linked", "true").get_current_dir().unwrap().to_owned();
    assert!(linked.exists());
}

#[test]
fn what_git_has_as_it_is_may_be_thrown_away() {
    let project = Workspace::git();
    // What would run confined otherwise is asked about.
    project.write(".agentize.local.yaml", "permissions:\n  confine: off\n");
    project.write(".gitignore", "ignored\n.agentize.local.yaml\n");
    for name in ["clean", "with blank", "src/clean", "changed", "staged", "marked", "gone"] {
        project.write(name, "as committed\n");
    }
    project.git_says(&["add", "--all"]);
    project.git_says(&["commit", "--quiet", "--message", "Files"]);
    for name in ["changed", "staged", "marked", "untracked", "ignored"] {
        project.write(name, "work of hours\n");
    }
    project.git_says(&["add", "staged"]);
    project.git_says(&["update-index", "--assume-unchanged", "marked"]);
    std::fs::remove_file(project.path("gone")).unwrap();
    // Whoever asks git does not run what a repository says.
    project.git_says(&["config", "core.fsmonitor", "touch ran; false"]);
    for (files, decision) in [
        ("clean", "allow"),
        ("clean src/clean", "allow"),
        ("'with blank'", "allow"),
        ("./src/../clean", "allow"),
        ("changed", "ask"),
        ("clean changed", "ask"),
        ("staged", "ask"),
        ("marked", "ask"),
        ("untracked", "ask"),
        ("ignored", "ask"),
        ("gone", "ask"),
        ("src", "ask"),
        ("nothing", "ask"),
    ] {
        for line in ["rm", "git restore", "git checkout --"].map(|verb| format!("{verb} {files}")) {
            assert_eq!(bash(&project, &line).0, decision, "{line}");
            let explained = project.onloop(&["permit", "explain", &line]);
            assert_eq!(explained.exit, Some(if decision == "allow" { 0 } else { 3 }), "{line}");
        }
    }
    assert_eq!(bash(&project, "cd src && rm clean").0, "allow");
    assert_eq!(bash(&project, "git checkout -- .").0, "deny");
    assert!(!project.path("ran").exists());
}

#[test]
fn links_lead_to_what_they_are() {
    let project = Workspace::git();
    let link = |to: &str, at: &str| std::os::unix::fs::symlink(to, project.path(at)).unwrap();
    project.write("src/real.rs", "");
    link("/etc", "docs");
    link("src/real.rs", "inside.rs");
    link("/etc/nowhere-yet", "dangling");
    link("../.git/hooks", "src/hooks");
    let write = |path: &str| {
        let path = project.path(path);
        tool(&project, "Write", json!({ "file_path": path, "content": "x" }))
    };
    assert_eq!(write("src/new.rs"), "allow");
    assert_eq!(write("inside.rs"), "allow");
    assert_ne!(write("docs/passwd"), "allow");
    assert_ne!(write("docs/new/deep/file"), "allow");
    assert_ne!(write("dangling"), "allow");
    assert_eq!(write("src/hooks/pre-commit"), "deny");
    assert_ne!(bash(&project, "echo x > docs/passwd").0, "allow");
    assert_eq!(bash(&project, "echo x > src/new.rs").0, "allow");
    assert_ne!(bash(&project, "echo x > src/hooks/pre-commit").0, "allow");
    // The system goes up from where the link leads.
    assert_eq!(bash(&project, "cat src/hooks/../../src/real.rs").0, "allow");
    assert_eq!(bash(&project, "echo x > src/hooks/../config").0, "deny");
    // Whatever else the call asks about.
    assert_eq!(bash(&project, "python3 x.py; cat docs/shadow").0, "deny");
    assert_eq!(bash(&project, "python3 x.py; echo x > src/hooks/pre-commit").0, "deny");
    let patch = "*** Begin Patch\n*** Delete File: inside.rs\n*** Add File: src/hooks/pre-commit\n\
                 +x\n*** End Patch";
    assert_eq!(tool(&project, "apply_patch", json!({ "patchText": patch })), "deny");
    let files: String = (0..70).map(|at| format!(" f{at}")).collect();
    assert_eq!(bash(&project, &format!("cat{files} src/real.rs")).0, "allow");
    assert_eq!(bash(&project, &format!("cat{files} src/hooks/../config")).0, "ask");
}

#[test]
fn explain_sees_the_links_the_project_and_the_branch_that_the_hook_sees() {
    let project = Workspace::git();
    let link = |to: &str, at: &str| std::os::unix::fs::symlink(to, project.path(at)).unwrap();
    project.write("src/real.rs", "");
    link("/etc", "src/docs");
    link("../../.git/hooks", "src/hooks");
    project.git_says(&["checkout", "--quiet", "-b", "issue-42"]);
    let explain = |words: &[&str]| {
        project.onloop_at("src", &[&["permit", "explain"], words].concat()).exit.unwrap()
    };
    let (allow, deny, ask) = (0, 1, 3);
    assert_eq!(explain(&["echo x > real.rs"]), allow);
    assert_eq!(explain(&["echo x > ../top.rs"]), allow, "the project begins above");
    assert_eq!(explain(&["echo x > docs/passwd"]), deny);
    assert_eq!(explain(&["Write", r#"{"file_path":"hooks/pre-commit","content":"x"}"#]), deny);
    let edits = r#"{"replacements":[{"filePath":"hooks/pre-commit","newString":"x"}]}"#;
    assert_eq!(explain(&["multi_replace_string_in_file", edits]), deny);
    let patch = "*** Begin Patch\n it's\n*** Update File: hooks/pre-commit\n*** End Patch";
    for key in ["patchText", "command"] {
        let input = json!({ key: patch }).to_string();
        assert_eq!(explain(&["apply_patch", &input]), deny);
    }
    let files: String = (0..300).map(|at| format!(" f{at}")).collect();
    assert_eq!(explain(&[&format!("cat{files}")]), ask, "more than are resolved");
    let push = "git push --force-with-lease origin issue-42";
    assert_eq!(explain(&[push]), allow);
    assert_ne!(explain(&[push, "--branch", "issue-7"]), allow);
}

#[test]
fn where_the_agent_is_does_not_widen_the_project() {
    let project = Workspace::git();
    let write = |cwd: &str, path: &str| {
        let members = json!({ "cwd": cwd, "tool_name": "Write",
            "tool_input": { "file_path": path, "content": "x" } });
        let said = claude(&project, "PreToolUse", members);
        said["hookSpecificOutput"]["permissionDecision"].as_str().unwrap().to_owned()
    };
    let sub = project.path("src");
    assert_eq!(write(sub.to_str().unwrap(), "a.rs"), "allow");
    assert_ne!(write("/", "a.rs"), "allow");
    assert_ne!(write("/etc", "a.rs"), "allow");
    assert_ne!(write("relative", "/etc/a.rs"), "allow");
}

#[test]
fn a_home_folder_is_no_project() {
    let project = Workspace::plain();
    let home = project.path("../home");
    let mut command = project.command_at("../home", crate::workspace::program());
    let call = super::claude_input(
        "s1",
        "PreToolUse",
        json!({ "tool_name": "Write",
        "tool_input": { "file_path": home.join("a.txt"), "content": "x" } }),
    );
    project.write("input.json", call.to_string());
    let input = std::fs::File::open(project.path("input.json")).unwrap();
    // The variable is a path without links, as shells set it.
    command.env("HOME", home.canonicalize().unwrap()).args(["hook", "claude"]).stdin(input);
    let output = command.output().unwrap();
    assert!(!String::from_utf8_lossy(&output.stdout).contains("\"allow\""), "{output:?}");
}

#[test]
fn d17_broken_configuration_takes_and_never_gives() {
    for broken in ["handsoff: [", "- a\n- b\n", "permissions: 7\n", "\u{0}"] {
        for file in [".agentize.local.yaml", ".agentize.yaml"] {
            let project = Workspace::plain();
            project.write(file, broken);
            assert_eq!(bash(&project, "rm -rf /").0, "deny", "{file} {broken}");
            assert_eq!(bash(&project, "git status").0, "ask", "{file} {broken}");
            // Their own file is for whoever sits there to mend.
            let is_own = file == ".agentize.local.yaml";
            assert_eq!(prompt(&project, "hello") != Value::Null, is_own, "{file} {broken}");
        }
    }
    let project = Workspace::plain();
    project.write(".agentize.local.yaml", "handsoff: [");
    prompt(&project, "/ultra-planner x");
    let said = claude(&project, "Stop", json!({}));
    assert_eq!(said["decision"], Value::Null);
    let message = said["systemMessage"].as_str().unwrap();
    assert!(message.contains("the local configuration"), "{message}");
}

#[test]
fn d30_an_agent_cannot_change_what_decides_about_it() {
    let project = Workspace::git();
    prompt(&project, "/ultra-planner x");
    for path in [
        ".agentize.local.yaml",
        ".agentize.yaml",
        ".claude/settings.json",
        ".git/hooks/pre-commit",
        ".tmp/hooked-sessions/s2.json",
        ".tmp/hooked-sessions/answers/s1.json",
        ".tmp/hooked-sessions/by-issue/1.json",
    ] {
        let input = json!({ "file_path": project.path(path), "content": "x" });
        assert_ne!(tool(&project, "Write", input), "allow", "{path}");
    }
}

#[test]
fn a_cloned_repository_does_not_bring_the_developers_rights_along() {
    let project = Workspace::git();
    let yaml = "permissions:\n  allow: ['^frobnicate']\n";
    project.write(".agentize.local.yaml", yaml);
    let call = json!({ "command": "frobnicate push" });
    assert_eq!(tool(&project, "Bash", call.clone()), "allow");
    project.git_says(&["add", ".agentize.local.yaml"]);
    assert_ne!(tool(&project, "Bash", call.clone()), "allow");
    project.commit("Mine");
    assert_ne!(tool(&project, "Bash", call.clone()), "allow");
    for form in ["2", "3", "4"] {
        project.git_says(&["update-index", "--index-version", form]);
        assert_ne!(tool(&project, "Bash", call.clone()), "allow", "{form}");
    }
    let said = project.onloop(&["doctor", "claude"]).stdout;
    assert!(said.contains(".agentize.local.yaml` is tracked by git"), "{said}");
    project.git_says(&["rm", "-q", "--cached", ".agentize.local.yaml"]);
    assert_eq!(tool(&project, "Bash", call), "allow");
}

#[test]
fn folders_are_removed_freely_where_git_ignores_them_and_git_runs_where_the_repository_is() {
    let project = Workspace::git();
    project.write(".agentize.local.yaml", "permissions:\n  confine: off\n");
    project.write(".gitignore", "dist\n__pycache__\n.agentize.local.yaml\n");
    project.write("target/kept.txt", "tracked\n");
    project.write("src/a.rs", "\n");
    project.commit("Files");
    project.write("target/kept.txt", "work of hours\n");
    for name in ["dist/a.js", "a/__pycache__/b.pyc", "build/c.o"] {
        project.write(name, "made\n");
    }
    for (line, decision) in [
        ("rm -rf dist", "allow"),
        ("rm -rf a/__pycache__", "allow"),
        ("find . -type d -name __pycache__ -exec rm -rf {} +", "allow"),
        // Of these git does not ignore everything, or has something else.
        ("rm -rf target", "ask"),
        ("rm -rf build", "ask"),
        ("rm -rf dist build", "ask"),
        ("cd src && git status", "allow"),
        ("git -C src log", "allow"),
    ] {
        assert_eq!(bash(&project, line).0, decision, "{line}");
    }
    project.write("src/.git/config", "[core]\n\tfsmonitor = ./evil\n");
    assert_eq!(bash(&project, "cd src && git status").0, "ask");
    assert_eq!(bash(&project, "git -C src log").0, "ask");
}

#[test]
fn a_stash_does_not_take_secrets() {
    let project = Workspace::git();
    project.write("new.txt", "x\n");
    assert_ne!(bash(&project, "git stash -u").0, "deny");
    project.write("sub/.env", "TOKEN=x\n");
    assert_eq!(bash(&project, "git stash -u").0, "deny");
    assert_ne!(bash(&project, "git stash").0, "deny");
}
