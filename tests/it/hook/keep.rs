//! What a call of a session removes or overwrites is kept first and can be brought back.

use std::os::unix::fs::{PermissionsExt, symlink};
use std::process::Command;

use serde_json::{Value, json};

use super::{bash, calls};
use crate::rounds::sampled;
use crate::workspace::{Run, Workspace};

/// A project with committed and uncommitted files.
fn project() -> Workspace {
    let project = Workspace::git();
    project.write(".gitignore", "*.log\n");
    for name in ["edited", "plain", "src/a", "src/b"] {
        project.write(name, "committed\n");
    }
    project.git_says(&["add", "--all"]);
    project.git_says(&["commit", "--quiet", "--message", "Files"]);
    for name in ["edited", "src/a", "src/new", "notes", "d.log"] {
        project.write(name, "hours of work\n");
    }
    project
}

/// Lets session `s1` call a line, which must be allowed, and runs it as Claude Code does. Returns the
/// reason.
#[track_caller]
fn run(project: &Workspace, line: &str) -> String {
    let said = calls(project, "s1", line);
    let said = &said["hookSpecificOutput"];
    assert_eq!(said["permissionDecision"], "allow", "{line}: {said}");
    let line = said["updatedInput"]["command"].as_str().unwrap_or(line);
    let mut command = project.command_at(".", "bash");
    command.args(["-c", line]).status().unwrap();
    said["permissionDecisionReason"].as_str().unwrap().to_owned()
}

fn undo(project: &Workspace, words: &[&str]) -> Run {
    project.onloop(&[&["session", "undo"], words].concat())
}

fn list(project: &Workspace) -> Vec<(String, Vec<String>)> {
    let listed = undo(project, &["s1", "--json"]).expect_exit(0).stdout;
    let listed: Value = serde_json::from_str(&listed).unwrap();
    let entry = |kept: &Value| {
        let paths = kept["files"].as_array().unwrap().iter();
        let paths = paths.map(|path| path.as_str().unwrap().to_owned()).collect();
        (kept["call"].as_str().unwrap().to_owned(), paths)
    };
    listed.as_array().unwrap().iter().map(entry).collect()
}

#[test]
fn what_a_contained_line_removes_comes_back() {
    let work = "hours of work\n";
    let lines = [
        ("git restore edited", &["edited"][..]),
        ("git checkout -- edited src/a", &["edited", "src/a"]),
        ("git checkout edited", &["edited"]),
        ("git checkout src", &["src/a"]),
        ("rm notes", &["notes"]),
        ("rm -f d.log edited plain", &["d.log", "edited"]),
        ("rm -rf src", &["src/a", "src/new"]),
        ("rm -r src", &["src/a", "src/new"]),
        ("mv plain edited", &["edited"]),
        ("cp plain notes", &["notes"]),
        ("rm notes && ./no-such-tool", &["notes"]),
        ("python3 -c 'import os; os.remove(\"notes\")'", &["notes"]),
        ("cp plain d.log", &["d.log"]),
    ];
    for (line, lost) in sampled(3, lines) {
        let project = project();
        let reason = run(&project, line);
        assert!(reason.ends_with("to undo: onloop session undo s1 1"), "{line}: {reason}");
        for path in lost {
            let there = std::fs::read_to_string(project.path(path)).ok();
            assert_ne!(there.as_deref(), Some(work), "{line} {path}");
        }
        undo(&project, &["s1", "1", "--force"]).expect_exit(0);
        for path in lost {
            assert_eq!(project.read(path), work, "{line} {path}");
        }
    }
}

#[test]
fn a_line_runs_unkept_only_where_nothing_is_lost() {
    let project = project();
    assert!(!bash(&project, "rm plain").1.contains("undo"));
    assert_eq!(bash(&project, "rm plain").1, "onloop (built-in): git can restore what it removes");
    project.write("src/.env", "TOKEN=x\n");
    let (decision, reason) = bash(&project, "rm -rf src");
    assert_eq!(decision, "deny", "{reason}");
    assert!(reason.contains("`src/.env` has the name of a secret"), "{reason}");
    project.write("big", vec![b'x'; 16 * 1024 * 1024 + 1]);
    let (decision, reason) = bash(&project, "rm big");
    assert_eq!(decision, "ask", "{reason}");
    assert!(reason.contains("it would keep more than 16 MiB, with `big`"), "{reason}");
    for number in 0..501 {
        project.write(&format!("many/{number}"), "x\n");
    }
    let (decision, reason) = bash(&project, "rm -r many");
    assert_eq!(decision, "ask", "{reason}");
    assert!(reason.contains("it would keep more than 500 files"), "{reason}");
    symlink("plain", project.path("link")).unwrap();
    assert!(bash(&project, "rm link").1.contains("`link` is not a regular file"));
    // Files beside the named ones stop nothing, and no secret comes into git.
    run(&project, "rm notes");
    let (_, paths) = list(&project).pop().unwrap();
    assert!(paths.contains(&"notes".to_owned()) && paths.contains(&"edited".to_owned()));
    assert!(!paths.iter().any(|path| ["src/.env", "big", "link"].contains(&path.as_str())));
    for line in ["git checkout -- .", "git reset --hard", "rm -rf .", "rm -rf ../x"] {
        assert_eq!(bash(&project, line).0, "deny", "{line}");
    }
}

#[test]
fn what_an_allowed_line_overwrites_is_kept() {
    let project = project();
    run(&project, "echo x > notes");
    run(&project, "echo x > plain");
    run(&project, "echo x > new");
    run(&project, "sed -i s/work/x/ edited");
    let kept = list(&project);
    let named = |line: &str, path: &str| (line.to_owned(), vec![path.to_owned()]);
    assert_eq!(
        kept,
        [named("echo x > notes", "notes"), named("sed -i s/work/x/ edited", "edited")]
    );
}

#[test]
fn what_would_be_overwritten_and_cannot_be_kept_is_asked_about() {
    let project = project();
    std::fs::write(project.path("big.bin"), vec![b'x'; 17 * 1024 * 1024]).unwrap();
    project.write("ignored.log", "made again\n");
    project.write("real", "hours of work\n");
    symlink("real", project.path("link")).unwrap();
    for line in [": > big.bin", "sort plain -o big.bin", ": > link", "echo x | tee link"] {
        let said = calls(&project, "s1", line);
        assert_eq!(said["hookSpecificOutput"]["permissionDecision"], "ask", "{line}: {said}");
    }
    run(&project, "echo x > ignored.log");
}

#[test]
fn nothing_is_overwritten_unasked_while_git_does_not_answer() {
    let project = project();
    project.write(".git/index", "junk");
    for line in ["echo x > notes", "cp plain notes", "python3 x.py", "rm notes"] {
        let said = calls(&project, "s1", line);
        assert_eq!(said["hookSpecificOutput"]["permissionDecision"], "ask", "{line}: {said}");
    }
    run(&project, "echo x > new");
}

#[test]
fn a_repository_inside_is_not_removed_unasked() {
    let project = project();
    let init = "git init -q && git -c user.name=a -c user.email=a@b commit -q --allow-empty -m x";
    for path in ["vendor/sub", "in", "untracked"] {
        project.write(&format!("{path}/src/work"), "hours of work\n");
        project.shell(&format!("cd {path} && {init}")).expect_exit(0);
    }
    project.write("gone/a", "a\n");
    project.shell("git add vendor in gone && git commit -qm x && mkdir -p gone/empty");
    let id = project.git_says(&["-C", "in", "rev-parse", "HEAD"]);
    let link = format!("160000,{},gone/empty", id.trim());
    project.git_says(&["update-index", "--add", "--cacheinfo", &link]);
    for path in ["vendor", "vendor/sub", "vendor/sub/src", "in", "in/src", "untracked/src"] {
        let said = calls(&project, "s1", &format!("rm -rf {path}"));
        let said = &said["hookSpecificOutput"];
        assert_ne!(said["permissionDecision"], "allow", "{path}: {said}");
        let reason = said["permissionDecisionReason"].as_str().unwrap();
        assert!(reason.contains("is a repository of its own"), "{path}: {reason}");
    }
    run(&project, "rm in/src/work");
    run(&project, "rm -rf gone");
}

#[test]
fn what_is_behind_a_link_in_the_checkout_comes_back() {
    for line in ["echo x > link/new", "rm link/new", "rm -rf link/sub", "rm -r link/sub/"] {
        let project = project();
        project.write("src/sub/new", "hours of work\n");
        symlink("src", project.path("link")).unwrap();
        run(&project, line);
        undo(&project, &["s1", "1", "--force"]).expect_exit(0);
        for path in ["src/new", "src/sub/new"] {
            assert_eq!(project.read(path), "hours of work\n", "{line}");
        }
    }
}

#[test]
fn a_file_that_cannot_come_back_does_not_stop_the_others() {
    let project = project();
    run(&project, "rm d.log edited notes src/new");
    project.shell("mkdir d.log && rm -r src && echo x > src");
    let failed = undo(&project, &["s1", "1"]).expect_exit(4);
    assert!(failed.stderr.contains("not brought back: d.log, src/new"), "{}", failed.stderr);
    for path in ["edited", "notes"] {
        assert_eq!(project.read(path), "hours of work\n");
    }
}

#[test]
fn a_file_that_git_looks_away_from_is_kept_as_others_are() {
    for mark in ["--assume-unchanged", "--skip-worktree"] {
        let project = project();
        project.git_says(&["update-index", mark, "plain"]);
        project.write("plain", "hours of work\n");
        run(&project, "python3 -c 'open(\"plain\", \"w\")'");
        assert_eq!(project.read("plain"), "", "{mark}");
        undo(&project, &["s1", "plain", "--force"]).expect_exit(0);
        assert_eq!(project.read("plain"), "hours of work\n", "{mark}");
    }
}

#[test]
fn an_abort_keeps_what_was_edited() {
    let project = project();
    project.git_says(&["add", "--all"]);
    project.git_says(&["commit", "--quiet", "--message", "Ours"]);
    project.git_says(&["checkout", "--quiet", "-b", "other", "HEAD^"]);
    project.write("edited", "theirs\n");
    project.git_says(&["commit", "--quiet", "--all", "--message", "Theirs"]);
    for (begin, end) in [("merge", "merge"), ("rebase", "rebase"), ("cherry-pick", "cherry-pick")] {
        let mut command = project.command_at(".", "git");
        assert!(!command.args([begin, "main"]).status().unwrap().success(), "{begin}");
        project.write("edited", format!("resolved in the {begin}\n"));
        let reason = run(&project, &format!("git {end} --abort"));
        assert!(reason.contains("onloop session undo s1"), "{reason}");
        assert_eq!(project.read("edited"), "theirs\n");
        undo(&project, &["s1", "edited"]).expect_exit(0);
        assert_eq!(project.read("edited"), format!("resolved in the {begin}\n"));
        project.git_says(&["checkout", "--quiet", "edited"]);
    }
    project.write("edited", vec![b'x'; 17 * 1024 * 1024]);
    let (decision, reason) = bash(&project, "git merge --abort");
    assert_eq!(decision, "ask", "{reason}");
    assert!(reason.contains("more than 16 MiB"), "{reason}");
}

#[test]
fn newer_content_stays_unless_it_is_forced_and_is_kept_then() {
    let project = project();
    std::fs::set_permissions(project.path("notes"), PermissionsExt::from_mode(0o755)).unwrap();
    run(&project, "rm notes edited");
    project.write("notes", "newer\n");
    let refused = undo(&project, &["s1", "1"]).expect_exit(1);
    assert!(refused.stderr.contains("newer content stays: notes"), "{}", refused.stderr);
    assert_eq!(project.read("edited"), "hours of work\n");
    assert_eq!(project.read("notes"), "newer\n");
    undo(&project, &["s1", "notes", "--force"]).expect_exit(0);
    assert_eq!(project.read("notes"), "hours of work\n");
    let mode = project.path("notes").metadata().unwrap().permissions().mode();
    assert_eq!(mode & 0o111, 0o111);
    let again = undo(&project, &["s1", "1"]).expect_exit(0);
    assert!(again.stderr.contains("Nothing to bring back"), "{}", again.stderr);
    undo(&project, &["s1", "2", "--force"]).expect_exit(0);
    assert_eq!(project.read("notes"), "newer\n");
}

#[test]
fn undo_names_what_it_cannot_do() {
    let project = project();
    let unknown = undo(&project, &["s1"]).expect_exit(4);
    assert!(unknown.stderr.contains("nothing is kept here for a session `s1`"));
    run(&project, "rm src/new notes");
    run(&project, "./no-such-tool");
    run(&project, "./no-such-tool again");
    assert_eq!(list(&project).len(), 2, "the same content is kept once");
    undo(&project, &["s", "src"]).expect_exit(0);
    assert_eq!(project.read("src/new"), "hours of work\n");
    for (what, why) in [("9", "under number 9"), ("other", "no kept state has `other`")] {
        let refused = undo(&project, &["s1", what]).expect_exit(2);
        assert!(refused.stderr.contains(why), "{}", refused.stderr);
    }
    // A folder that became a link does not lead the content out of the checkout.
    std::fs::remove_dir_all(project.path("src")).unwrap();
    std::fs::create_dir(project.path("../outside")).unwrap();
    symlink("../outside", project.path("src")).unwrap();
    let refused = undo(&project, &["s1", "src/new"]).expect_exit(4);
    assert!(refused.stderr.contains("is not a folder any more"), "{}", refused.stderr);
    assert!(!project.path("../outside/new").exists());
}

/// A line in the sandbox can forge a kept state.
#[test]
fn what_runs_by_itself_comes_back_only_by_its_name() {
    let project = project();
    run(&project, "rm notes d.log");
    let forge = "set -e
        last=$(git for-each-ref --format='%(refname)' refs/onloop/sessions/s1 | tail -n 1)
        export GIT_INDEX_FILE=.git/forged
        git read-tree $last
        file=$(git show $last:kept.json | sed 's/\"notes\"/\".envrc\"/' | git hash-object -w --stdin)
        git update-index --cacheinfo 100644,$file,kept.json
        git update-ref $last $(git commit-tree -m x $(git write-tree))";
    assert!(project.command_at(".", "bash").args(["-c", forge]).status().unwrap().success());
    assert!(list(&project)[0].1.contains(&".envrc".to_owned()));
    let refused = undo(&project, &["s1", "1"]).expect_exit(4);
    assert!(refused.stderr.contains("not brought back: .envrc"), "{}", refused.stderr);
    assert!(!project.path(".envrc").exists());
    assert_eq!(project.read("d.log"), "hours of work\n");
    undo(&project, &["s1", ".envrc"]).expect_exit(0);
    assert_eq!(project.read(".envrc"), "hours of work\n");
}

#[test]
fn an_agent_does_not_undo_by_itself() {
    let project = project();
    run(&project, "rm notes");
    assert_eq!(bash(&project, "onloop session undo s1 1 --force").0, "ask");
    let mut command = project.command_at(".", crate::workspace::program());
    let ran = Run::from(
        command.args(["session", "undo", "s1", "1"]).env("ONLOOP_STEP", "1").output().unwrap(),
    );
    ran.expect_exit(4);
    assert!(!project.path("notes").exists());
}

#[test]
fn kept_files_are_pruned_with_their_session() {
    let project = project();
    run(&project, "rm notes");
    let pruned = project.onloop(&["doctor", "--prune"]).expect_exit(0);
    assert!(
        pruned.stdout.contains("Removed 0 checkpoints, kept 1 checkpoint"),
        "{}",
        pruned.stdout
    );
    let mut command: Command = project.command_at(".", crate::workspace::program());
    command.env("ONLOOP_NOW", "2060-01-01T00:00:00Z").args(["doctor", "--prune"]);
    let pruned = Run::from(command.output().unwrap()).expect_exit(0);
    assert!(pruned.stdout.contains("sessions/s1: not changed for 90 days"), "{}", pruned.stdout);
    undo(&project, &["s1"]).expect_exit(4);
}

#[test]
fn without_a_repository_or_a_session_nothing_is_kept() {
    let project = Workspace::plain();
    project.write("notes", "hours of work\n");
    assert!(!run(&project, "rm notes").contains("undo"));
    let refused = undo(&project, &["s1"]).expect_exit(4);
    assert!(refused.stderr.contains("in its git repository"), "{}", refused.stderr);
    let project = self::project();
    let call = json!({ "hook_event_name": "PreToolUse", "tool_name": "Bash", "tool_input": { "command": "rm notes" } });
    let said = super::say(&project, "claude", &call);
    assert_eq!(said["hookSpecificOutput"]["permissionDecision"], "ask", "{said}");
    undo(&project, &["s1"]).expect_exit(4);
}

#[test]
fn what_is_ignored_by_rules_that_are_not_committed_is_kept() {
    let rules = [
        (".gitignore", "*.log\nwork/\n"),
        ("work/.gitignore", "*\n"),
        (".git/info/exclude", "work\n"),
        ("work/deep/.gitignore", "notes\n"),
    ];
    for (file, text) in rules {
        let project = project();
        project.write("work/deep/notes", "hours of work\n");
        project.write(file, text);
        let reason = run(&project, "rm -rf work");
        assert!(!project.path("work").exists(), "{file}");
        assert!(reason.ends_with("to undo: onloop session undo s1 1"), "{file}: {reason}");
        undo(&project, &["s1", "1"]).expect_exit(0);
        assert_eq!(project.read("work/deep/notes"), "hours of work\n", "{file}");
    }
    // A rule that was committed, and no longer is what it was.
    let project = project();
    project.write(".gitignore", "*.log\n!work/a.log\n");
    project.git_says(&["commit", "--quiet", "--all", "--message", "Rules"]);
    project.write(".gitignore", "*.log\n");
    project.write("work/a.log", "hours of work\n");
    let reason = run(&project, "rm -rf work");
    assert!(reason.ends_with("to undo: onloop session undo s1 1"), "{reason}");
    // Tools make these anew.
    project.git_says(&["checkout", "--quiet", "--", ".gitignore"]);
    project.write(".pytest_cache/.gitignore", "*\n");
    project.write(".pytest_cache/v/a", "\n");
    project.write("dist/b.log", "\n");
    for line in ["rm -rf .pytest_cache", "rm -rf dist"] {
        let reason = run(&project, line);
        assert!(!reason.contains("undo"), "{line}: {reason}");
    }
    // A committed rule may be the agent's own. Only names of what builds make say that it can be missed.
    project.write("work/b.log", "hours of work\n");
    let reason = run(&project, "rm -rf work");
    assert!(reason.ends_with("to undo: onloop session undo s1 2"), "{reason}");
}
