//! A hook that is called from a folder that the agent has changed to, and may have prepared.

use std::io::Write;
use std::process::Stdio;

use serde_json::{Value, json};

use super::{calls, never_started};
use crate::workspace::{Workspace, program};

/// The decision and the reason about a line, called from `folder`; Claude Code names the folder in which
/// it was started, or not. Nothing where the hook gives no opinion.
#[track_caller]
pub(super) fn decided(
    project: &Workspace,
    folder: &str,
    started_in: Option<&str>,
    line: &str,
) -> Value {
    let input = json!({ "session_id": "s1", "hook_event_name": "PreToolUse", "tool_name": "Bash",
        "cwd": project.path(folder), "tool_input": { "command": line } });
    let mut command = project.command_at(folder, program());
    command.env("HANDSOFF_AUTO_PERMISSION", "0").args(["hook", "claude"]);
    if let Some(started_in) = started_in {
        command.env("CLAUDE_PROJECT_DIR", project.path(started_in));
    }
    command.stdin(Stdio::piped()).stdout(Stdio::piped());
    let mut child = command.spawn().unwrap();
    child.stdin.take().unwrap().write_all(input.to_string().as_bytes()).unwrap();
    let said = child.wait_with_output().unwrap().stdout;
    let said: Value = serde_json::from_slice(&said).unwrap_or(Value::Null);
    said["hookSpecificOutput"].clone()
}

/// Whether the hook lets the line run as it is.
#[track_caller]
fn runs(project: &Workspace, folder: &str, started_in: Option<&str>, line: &str) -> bool {
    let said = decided(project, folder, started_in, line);
    never_started(project);
    said["permissionDecision"] == "allow" && said["updatedInput"].is_null()
}

/// A project with a repository in `nest` that starts a program, which leaves `ran` in the project.
fn with_nest() -> Workspace {
    let project = Workspace::git();
    project.write("nest/x", "x\n");
    project.write("nest/.gitattributes", "x filter=x\n");
    let commit = "git -c user.name=a -c user.email=a@b commit -qm x";
    project.shell(&format!("cd nest && git init -q && git add -A && {commit}")).expect_exit(0);
    let program = format!("touch {}", project.path("ran").display());
    project.write("monitor", format!("#!/bin/sh\n{program}\n"));
    project.shell("chmod +x monitor");
    let monitor = project.path("monitor").display().to_string();
    project.git_says(&["-C", "nest", "config", "core.fsmonitor", &monitor]);
    let clean = format!("{program}; cat");
    project.git_says(&["-C", "nest", "config", "filter.x.clean", &clean]);
    project.write("nest/x", "y\n");
    let _ = std::fs::remove_file(project.path("ran"));
    project
}

#[test]
#[cfg(target_os = "linux")]
fn a_session_that_no_hook_has_written_gives_no_rights() {
    let project = Workspace::git();
    let session = r#"{"session_id":"s1","workflow":"ultra-planner","state":"initial","continuation_count":0}"#;
    project.write("sub/a", "a\n");
    let line = "gh issue edit 3 --body x";
    project.write("sub/.tmp/hooked-sessions/s1.json", session);
    assert!(!runs(&project, "sub", Some("."), line));
    // A confined command cannot write the one that counts.
    let said = decided(&project, ".", None, "python3 forge.py");
    let confined = said["updatedInput"]["command"].as_str().unwrap().to_owned();
    project.write(
        "forge.py",
        "import shutil\nshutil.copy('sub/.tmp/hooked-sessions/s1.json', '.tmp/hooked-sessions')\n",
    );
    assert_ne!(project.shell(&confined).exit, Some(0));
    assert!(!runs(&project, ".", Some("."), line));
    assert_eq!(project.git_says(&["status", "--porcelain", ".tmp"]), "");
    project.write(".tmp/hooked-sessions/s1.json", session);
    assert!(runs(&project, ".", Some("."), line), "it is the file that gives them");
}

#[test]
fn a_configuration_below_the_top_of_the_checkout_only_takes_permissions_away() {
    let project = Workspace::git();
    project.write("sub/a", "a\n");
    let rules = "handsoff: {enabled: false}\npermissions: {allow: ['^python3'], deny: ['^frob']}\n";
    project.write("sub/.agentize.local.yaml", rules);
    for started_in in [None, Some(".")] {
        assert!(!runs(&project, "sub", started_in, "python3 ../pw.py"), "{started_in:?}");
        assert!(runs(&project, "sub", started_in, "cat a"), "{started_in:?}");
    }
    let said = decided(&project, "sub", None, "frob x");
    assert_eq!(said["permissionDecision"], "deny", "{said}");
    // The session began there.
    assert!(decided(&project, "sub", Some("sub"), "python3 ../pw.py").is_null());
    project.write("nest/.agentize.local.yaml", rules);
    project.shell("git -C nest init -q");
    assert!(!runs(&project, "nest", None, "python3 ../pw.py"));
    assert!(!decided(&project, "nest", None, "python3 ../pw.py").is_null());
}

#[test]
fn a_repository_that_an_agent_may_have_made_does_not_run_its_settings() {
    let project = with_nest();
    let lines = [
        "git status",
        "git diff",
        "git add x",
        "git add -A",
        "git commit -am x",
        "rm x",
        "echo > x",
    ];
    for started_in in [None, Some(".")] {
        for line in lines {
            let is_git = line.starts_with("git");
            let runs = runs(&project, "nest", started_in, line);
            assert!(!(is_git && runs), "{started_in:?} {line}");
            assert!(!project.path("ran").exists(), "{started_in:?} {line}");
        }
    }
    for line in ["git -C nest add x", "cd nest && git add -A", "git -C nest status", "rm nest/x"] {
        calls(&project, "s1", line);
        assert!(!project.path("ran").exists(), "{line}");
    }
    // Git enters what the index names as a repository, however the line spells git.
    let link = project.git_says(&["rev-parse", "HEAD"]);
    let link = format!("160000,{},nest", link.trim());
    project.git_says(&["update-index", "--add", "--cacheinfo", &link]);
    let of_gh = "gh pr create --title x --body y --base main";
    for line in ["git status", r"g\it status", "$'g\\x69t' status", of_gh, "gh pr list"] {
        assert!(!runs(&project, ".", None, line), "{line}");
    }
    project.git_says(&["update-index", "--force-remove", "nest"]);
    // It stands in place of a file.
    project.git_says(&["add", "monitor"]);
    project.git_says(&["commit", "-qm", "Monitor"]);
    project.shell("mv monitor kept && cp -r nest monitor").expect_exit(0);
    for line in ["git add -u", "git add monitor", "git commit -am x", "git commit -m x monitor"] {
        assert!(!runs(&project, ".", None, &format!("{line} && git status")), "{line}");
    }
    project.shell("rm -r monitor && mv kept monitor").expect_exit(0);
    // Nobody has started what was to run confined.
    std::fs::remove_dir_all(project.path("../home/.state/onloop/temporary")).unwrap();
    // The session began there.
    assert!(runs(&project, "nest", Some("nest"), "git log"));
    // A linked worktree has the settings of its repository.
    project.git_says(&["worktree", "add", "-q", "trees/a"]);
    assert!(runs(&project, "trees/a", None, "git status"));
}

#[test]
fn a_hook_starts_nothing_in_a_repository_inside_whatever_it_asks_git() {
    let project = with_nest();
    project.shell("mkdir work && mv nest work/sub && cp -r work/sub work/.gitignore");
    project.write(".gitignore", "target\n");
    project.write("target/a", "a\n");
    project.shell("git add .gitignore && git commit -qm Rules");
    let link = project.git_says(&["-C", "work/sub", "rev-parse", "HEAD"]);
    for path in ["work/sub", "work/.gitignore"] {
        let link = format!("160000,{},{path}", link.trim());
        project.git_says(&["update-index", "--add", "--cacheinfo", &link]);
    }
    let _ = std::fs::remove_file(project.path("ran"));
    for line in ["rm -rf work", "rm -rf target", "rm -r target/a", "git merge --continue"] {
        calls(&project, "s1", line);
        assert!(!project.path("ran").exists(), "{line}");
    }
}

#[test]
fn a_repository_inside_is_read_as_git_reads_it() {
    // `good` starts nothing, `evil` does. Each line makes git use `evil` for the folder `sub`.
    let lines = [
        r#"mv good "$M/m" && mv evil "$M/m " && echo "gitdir: ../.git/modules/m " > sub/.git"#,
        r#"mv good "$M/m" && mv evil "$M/m"$'\xc2\xa0' && echo "gitdir: ../.git/modules/m"$'\xc2\xa0' > sub/.git"#,
        r#"mv evil "$M/e " && cp -r good $M/e && mv good "$M/m" && echo "../e " > "$M/m/commondir" && echo "gitdir: ../.git/modules/m" > sub/.git"#,
        r#"mv evil "$M/"$'e\xff' && mv good "$M/m" && echo $'../e\xff' > "$M/m/commondir" && echo "gitdir: ../.git/modules/m" > sub/.git"#,
        r#"mv good sub/.git && mkdir -p other/n && mv evil other/n/.git && echo x > other/n/x && git -C sub config core.worktree ../../other"#,
        r#"mv good sub/.git && mkdir -p other/n && mv evil other/n/.git && echo x > other/n/x && git -C sub config core.worktree "$PWD/other""#,
        r#"mv good sub/.git && mkdir -p $'s\xff' && mv evil $'s\xff/.git' && echo x > $'s\xff/x' && git update-index --add --cacheinfo 160000,$H,$'s\xff'"#,
    ];
    for line in lines {
        let project = Workspace::git();
        project.write("sub/x", "x\n");
        let ran = project.path("ran").display().to_string();
        let prepare = format!(
            "set -e; M=.git/modules; mkdir -p $M; cd sub; git init -q; git add x; \
             git -c user.name=a -c user.email=a@b commit -qm x; H=$(git rev-parse HEAD); \
             git update-index --add --cacheinfo 160000,$H,n; mv .git ../good; cd ..; \
             cp -r good evil; git --git-dir=evil update-index --force-remove n; \
             git --git-dir=evil config core.fsmonitor 'touch {ran}; false'; \
             git update-index --add --cacheinfo 160000,$H,sub; {line}; rm -rf good evil"
        );
        let mut shell = project.command_at(".", "bash");
        assert!(shell.args(["-c", &prepare]).status().unwrap().success(), "{line}");
        assert!(!runs(&project, ".", None, "git status"), "{line}");
        assert!(!project.path("ran").exists(), "{line}");
        project.shell("git status");
        assert!(project.path("ran").exists(), "git itself: {line}");
    }
}
