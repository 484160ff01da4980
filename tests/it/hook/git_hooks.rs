//! Hooks of git among the files of the checkout.

use super::permission::tool;
use super::{bash, calls, claude};
use crate::workspace::Workspace;
use serde_json::json;

#[test]
fn the_folder_of_hooks_is_not_written_wherever_it_is() {
    for (configured, hook) in [
        ("tools/hooks", "tools/hooks/pre-commit"),
        ("./.husky/_", ".husky/_/pre-commit"),
        (".", "pre-commit"),
    ] {
        let project = Workspace::git();
        project.write(hook, "#!/bin/sh\n");
        project.commit("Hooks");
        let write = |path: &str| {
            tool(&project, "Write", json!({ "file_path": project.path(path), "content": "x" }))
        };
        assert_ne!(write(hook), "deny", "{hook}");
        project.git_says(&["config", "core.hooksPath", configured]);
        assert_eq!(write(hook), "deny", "{hook}");
        assert_eq!(write("src/a"), "allow");
        for line in [format!("echo x > {hook}"), format!("sed -i s/a/b/ {hook}")] {
            assert_eq!(bash(&project, &line).0, "deny", "{line}");
        }
        assert_eq!(bash(&project, &format!("cat {hook}")).0, "allow");
    }
}

#[test]
#[cfg(unix)]
fn a_file_that_a_hook_is_a_link_to_is_a_hook() {
    let project = Workspace::git();
    project.write("tools/check.sh", "#!/bin/sh\n");
    std::fs::create_dir_all(project.path(".git/hooks")).unwrap();
    std::os::unix::fs::symlink("../../tools/check.sh", project.path(".git/hooks/pre-commit"))
        .unwrap();
    assert_eq!(bash(&project, "echo x > tools/check.sh").0, "deny");
}

#[test]
fn hooks_and_settings_are_not_written_in_a_git_folder_of_another_name() {
    let project = Workspace::git();
    let run = project.shell("mv .git store && echo 'gitdir: store' > .git && git status --short");
    run.expect_exit(0);
    for path in ["store/hooks/pre-commit", "store/config"] {
        assert_eq!(bash(&project, &format!("echo x > {path}")).0, "deny", "{path}");
    }
}

#[test]
fn files_that_look_like_a_bare_repository_are_not_used_as_one() {
    let project = Workspace::plain();
    assert_eq!(bash(&project, "git status").0, "allow");
    let write = |path: &str| {
        tool(&project, "Write", json!({ "file_path": project.path(path), "content": "x" }))
    };
    assert_eq!(write("HEAD"), "allow");
    project.write("HEAD", "ref: refs/heads/main\n");
    project.write("config", "[core]\n\trepositoryformatversion = 0\n\tbare = false\n\tworktree = .\n\tfsmonitor = touch ran\n");
    project.write("objects/x", "");
    project.write("refs/x", "");
    // As git does, outside of onloop.
    project.git_says(&["status", "--short"]);
    assert!(project.path("ran").exists());
    std::fs::remove_file(project.path("ran")).unwrap();
    let said = calls(&project, "s1", "git status");
    assert!(said["hookSpecificOutput"]["updatedInput"].is_object(), "{said}");
    assert_ne!(bash(&project, "rm objects/x && git add .").0, "allow");
    assert!(!project.path("ran").exists());
}

#[test]
#[cfg(target_os = "linux")]
fn a_contained_line_adds_no_hook_to_the_top_folder() {
    let project = Workspace::git();
    project.write("mk.py", "open('pre-commit', 'w').write('evil')\n");
    project.commit("Program");
    project.git_says(&["config", "core.hooksPath", "."]);
    let said = calls(&project, "s1", "python3 mk.py");
    let line = said["hookSpecificOutput"]["updatedInput"]["command"].as_str().unwrap().to_owned();
    project.command_at(".", "bash").args(["-c", &line]).status().unwrap();
    assert!(!project.path("pre-commit").exists() || project.read("pre-commit").is_empty());
}

#[test]
#[cfg(target_os = "linux")]
fn a_contained_line_changes_no_hook() {
    let project = Workspace::git();
    project.write(".husky/_/pre-commit", "#!/bin/sh\n");
    project.write(".husky/pre-commit", "#!/bin/sh\n");
    project.write("mk.py", "open('.husky/pre-commit', 'w').write('evil')\n");
    project.commit("Hooks");
    project.git_says(&["config", "core.hooksPath", ".husky/_"]);
    let said = calls(&project, "s1", "python3 mk.py");
    let line = said["hookSpecificOutput"]["updatedInput"]["command"].as_str().unwrap().to_owned();
    project.command_at(".", "bash").args(["-c", &line]).status().unwrap();
    assert_eq!(project.read(".husky/pre-commit"), "#!/bin/sh\n");
}

#[test]
fn a_file_that_settings_of_git_include_is_protected_as_they_are() {
    let project = Workspace::git();
    project.write("tools/gitcfg", "");
    assert_eq!(bash(&project, "echo x > tools/gitcfg").0, "allow");
    project.git_says(&["config", "include.path", "../tools/gitcfg"]);
    project.git_says(&["config", "includeIf.gitdir:/x/.path", "../tools/later"]);
    // The folder of a person's settings may be a link to one of the checkout.
    project.write("dotfiles/config", "[x]\n\tflag\n\ty = ~y/z\n");
    let folder = project.path("../home/settings");
    std::os::unix::fs::symlink(project.path("dotfiles"), &folder).unwrap();
    let settings = folder.join("config").to_str().unwrap().to_owned();
    let project = project.with_env("GIT_CONFIG_GLOBAL", &settings);
    project.write("others/config", "");
    std::fs::create_dir_all(project.path("../home/.config")).unwrap();
    let folder = project.path("../home/.config/git");
    std::os::unix::fs::symlink(project.path("others"), folder).unwrap();
    for path in ["tools/gitcfg", "tools/later", "dotfiles/config", "others/config"] {
        assert_eq!(bash(&project, &format!("echo x > {path}")).0, "deny", "{path}");
    }
}

/// Runs `script` as the sandbox lets it.
#[cfg(target_os = "linux")]
fn run_contained(project: &Workspace, script: &str) {
    project.write("script.sh", script);
    let said = calls(project, "s1", "bash script.sh");
    let line = said["hookSpecificOutput"]["updatedInput"]["command"].as_str().unwrap().to_owned();
    project.command_at(".", "bash").args(["-c", &line]).status().unwrap();
}

#[test]
#[cfg(target_os = "linux")]
fn git_resumes_and_contacts_nothing_that_was_prepared_in_the_sandbox() {
    let project = Workspace::git();
    project.write("a", "1\n");
    project.commit("One");
    project.write("a", "2\n");
    project.commit("Two");
    let rebase =
        "GIT_SEQUENCE_EDITOR='printf \"break\\nexec touch ran\\n\" >' git rebase -i HEAD~1\n";
    run_contained(&project, rebase);
    run_contained(
        &project,
        "mkdir -p .git/sequencer .git/remotes && echo x > .git/sequencer/todo\n",
    );
    run_contained(
        &project,
        "mkdir -p .git/remotes && echo \"URL: $PWD/evil\" > .git/remotes/upstream\n",
    );
    run_contained(&project, "git rev-parse HEAD > .git/MERGE_AUTOSTASH\n");
    // A commit would write what it names with what is recorded.
    run_contained(&project, "mkdir -p .git/rr-cache/a && printf 'a\\t../x\\0' > .git/MERGE_RR\n");
    // What other programs keep there stays, and git commits as before.
    run_contained(&project, "echo x > .git/opencode; git commit -q --allow-empty -m Three\n");
    assert_eq!(project.read(".git/opencode"), "x\n");
    assert_eq!(project.git_says(&["log", "-1", "--format=%s"]).trim(), "Three");
    let names = ["rebase-merge", "sequencer", "remotes", "MERGE_AUTOSTASH", "MERGE_RR", "rr-cache"];
    for path in names {
        assert!(!project.path(".git").join(path).exists(), "{path}");
    }
    project.write("src/a", "");
    for path in [".git/remotes/upstream", "upstream.git/HEAD", "upstream.bundle"] {
        project.write(path, "URL: ../evil\n");
        for line in ["git push upstream issue-1", "git fetch upstream"] {
            assert_eq!(bash(&project, line).0, "ask", "{line} with {path}");
            let call = json!({
                "tool_name": "Bash", "tool_input": { "command": line }, "cwd": project.path("src"),
            });
            let said = claude(&project, "PreToolUse", call);
            let decision = &said["hookSpecificOutput"]["permissionDecision"];
            assert_eq!(decision, "ask", "{line} in a folder with {path}");
        }
        std::fs::remove_file(project.path(path)).unwrap();
        let _ = std::fs::remove_dir(project.path("upstream.git"));
    }
}

#[test]
fn commits_that_change_hooks_or_configure_agents_are_asked_about() {
    let project = Workspace::git();
    for path in [".husky/pre-commit", ".claude/settings.json", "README.md"] {
        project.write(path, "{}\n");
    }
    project.commit("Start");
    project.git_says(&["config", "core.hooksPath", ".husky"]);
    for (branch, path) in
        [("hook", ".husky/post-merge"), ("agent", ".claude/settings.json"), ("plain", "a.txt")]
    {
        project.git_says(&["switch", "-q", "-c", branch, "main"]);
        project.write(path, "{ }\n");
        project.commit(branch);
    }
    project.git_says(&["switch", "-q", "main"]);
    for (branch, decision) in [("hook", "ask"), ("agent", "ask"), ("plain", "allow")] {
        for verb in ["merge", "merge --no-edit", "cherry-pick", "rebase", "switch"] {
            let line = format!("git {verb} {branch}");
            assert_eq!(bash(&project, &line).0, decision, "{line}");
        }
    }
    for (line, decision) in [
        ("git switch plain && git switch -", "allow"),
        ("git switch -c topic agent", "ask"),
        ("git checkout -b topic hook", "ask"),
        ("git cherry-pick main..agent", "ask"),
        ("git merge", "allow"),
        ("git revert HEAD", "ask"),
        ("git stash pop", "allow"),
    ] {
        assert_eq!(bash(&project, line).0, decision, "{line}");
    }
    project.git_says(&["merge", "-q", "plain"]);
    assert_eq!(bash(&project, "git revert HEAD").0, "allow");
    project.git_says(&["merge", "-q", "--no-edit", "agent"]);
    assert_eq!(bash(&project, "git revert -m 1 HEAD").0, "ask");
    for (path, decision) in
        [("b.txt", "allow"), (".envrc", "ask"), (".claude/settings.json", "ask")]
    {
        project.write(path, "{  }\n");
        project.git_says(&["stash", "-q", "-u"]);
        let said = bash(&project, "git stash pop");
        assert_eq!(said.0, decision, "{path} {said:?}");
    }
    assert_eq!(bash(&project, "git stash apply 2").0, "allow");
    assert_eq!(bash(&project, "git stash apply 1").0, "ask");
}

#[test]
fn a_forged_history_brings_no_change_of_what_configures_agents_unasked() {
    let project = Workspace::git();
    project.write(".claude/settings.json", "{}\n");
    project.commit("Start");
    let commit = |content: &str, message: &str| {
        project.write(".claude/settings.json", content);
        project.write("a.txt", message);
        project.commit(message);
    };
    // The branch is clean where it ends, and not before.
    commit("{ }\n", "Changed");
    commit("{}\n", "Back");
    project.git_says(&["branch", "back"]);
    commit("{ }\n", "Again");
    project.git_says(&["branch", "again"]);
    commit("{}\n", "Clean");
    for (line, decision) in [
        ("git cherry-pick again", "ask"),
        ("git cherry-pick back~1", "ask"),
        ("git cherry-pick back..again", "ask"),
        ("git revert HEAD", "ask"),
        ("git merge again", "ask"),
        ("git rebase back", "ask"),
        ("git switch back", "allow"),
        ("git merge back", "allow"),
        ("git merge --abort", "allow"),
    ] {
        assert_eq!(bash(&project, line).0, decision, "{line}");
    }
    // The branch was moved, and the files are those of before.
    project.git_says(&["update-ref", "HEAD", "again"]);
    for line in ["git merge --abort", "git cherry-pick --abort", "git rebase --skip"] {
        assert_eq!(bash(&project, line).0, "ask", "{line}");
    }
}

#[test]
fn a_name_that_git_and_a_reader_take_for_different_commits_hides_no_change() {
    let project = Workspace::git();
    project.git_says(&["branch", "clean"]);
    project.git_says(&["switch", "-q", "-c", "agent"]);
    project.write(".claude/settings.json", "{}\n");
    project.commit("Agent");
    project.git_says(&["switch", "-q", "main"]);
    // A tag beside a branch, a branch of a remote alone, a name that the line itself makes.
    project.git_says(&["branch", "both", "agent"]);
    project.git_says(&["tag", "both", "main"]);
    project.git_says(&["update-ref", "refs/remotes/origin/there", "agent"]);
    let ids =
        ["main", "agent"].map(|name| project.git_says(&["rev-parse", name]).trim().to_owned());
    project.write(
        ".git/FETCH_HEAD",
        format!("{}\t\tbranch 'a' of x\n{}\t\tbranch 'b' of x\n", ids[0], ids[1]),
    );
    for (line, decision) in [
        ("git switch both", "ask"),
        ("git switch there", "ask"),
        ("git merge FETCH_HEAD", "ask"),
        ("git branch t agent && git merge t", "ask"),
        ("git branch t agent; git switch t", "ask"),
        ("git merge -m --abort agent", "ask"),
        ("git merge age\"$(echo nt)\"", "ask"),
        ("x=age; git merge ${x}nt", "ask"),
        ("git switch -- $(echo agent)", "ask"),
        ("git switch ag?nt", "ask"),
        ("git branch t $(echo agent) && git merge t", "ask"),
        ("git merge -m \"$(date)\" agent", "ask"),
        ("git merge -m \"$(date)\" clean", "allow"),
        ("git merge --no-ff -m --continue agent", "ask"),
        ("git branch t clean && git merge t", "allow"),
        ("git switch clean", "allow"),
        ("git merge -m --abort clean", "allow"),
    ] {
        assert_eq!(bash(&project, line).0, decision, "{line}");
    }
}

#[test]
#[cfg(unix)]
fn a_merge_that_moves_files_to_where_agents_look_is_asked_about() {
    let project = Workspace::git();
    project.write("own/settings.txt", "a\nb\nc\n");
    project.commit("Start");
    project.git_says(&["switch", "-q", "-c", "adds"]);
    project.write("own/settings.json", "{}\n");
    project.commit("Add");
    project.git_says(&["switch", "-q", "-c", "links", "main"]);
    std::os::unix::fs::symlink("own", project.path(".claude")).unwrap();
    project.commit("Link");
    project.git_says(&["switch", "-q", "main"]);
    assert_eq!(bash(&project, "git merge links").0, "ask");
    assert_eq!(bash(&project, "git merge adds").0, "allow");
    // Git follows a folder that was renamed.
    project.git_says(&["mv", "own", ".claude"]);
    project.git_says(&["commit", "-q", "-m", "Move"]);
    assert_eq!(bash(&project, "git merge adds").0, "ask");
}

#[test]
#[cfg(target_os = "linux")]
fn a_push_goes_where_the_branch_leads() {
    let project = Workspace::git();
    project.git_says(&["branch", "topic"]);
    for name in ["feat", "hidden"] {
        project.write(&format!(".git/refs/heads/{name}"), "ref: refs/heads/main\n");
    }
    project.write(".git/hidden", project.git_says(&["rev-parse", "topic"]));
    for (line, decision) in [
        ("git push origin topic", "allow"),
        ("git push origin feat", "ask"),
        ("git push origin hidden", "ask"),
        ("git push origin HEAD", "ask"),
    ] {
        assert_eq!(bash(&project, line).0, decision, "{line}");
    }
    project.git_says(&["switch", "-q", "topic"]);
    assert_eq!(bash(&project, "git push origin HEAD").0, "allow");
    for head in ["ref:  refs/heads/main\n", "ref:refs/heads/main\n"] {
        project.write(".git/HEAD", head);
        assert_eq!(bash(&project, "git push origin HEAD").0, "ask", "{head:?}");
        assert_eq!(bash(&project, "git push").0, "ask", "{head:?}");
    }
}

#[test]
fn a_command_without_a_remote_reaches_those_of_the_project() {
    let project = Workspace::git();
    project.git_says(&["switch", "-q", "-c", "topic"]);
    assert_eq!(bash(&project, "git push").0, "allow");
    let settings = [
        ("branch.topic.remote", "deploy", &["git push", "git pull", "git fetch"][..]),
        ("branch.topic.pushRemote", "../beside.git", &["git push"]),
        ("remote.pushDefault", "deploy", &["git push"]),
        ("branch.other.remote", "deploy", &[]),
        ("branch.topic.remote", "upstream", &[]),
        // The only one that there is.
        ("remote.deploy.url", "git@example.com:deploy", &["git push", "git pull", "git fetch"]),
    ];
    for (name, value, asked) in settings {
        project.git_says(&["config", name, value]);
        for line in ["git push", "git pull", "git fetch"] {
            let found = bash(&project, line);
            let is_asked = asked.contains(&line);
            assert_eq!(found.0 == "ask", is_asked, "{name} {value}: {line}: {found:?}");
        }
        project.git_says(&["config", "--unset", name]);
    }
    project.git_says(&["config", "branch.other.remote", "deploy"]);
    assert_eq!(bash(&project, "git switch other && git push").0, "ask");
    // What the line makes may follow another remote.
    project.git_says(&["config", "--unset", "branch.other.remote"]);
    let line = "git switch -c new --track deploy/new && git push";
    project.git_says(&["remote", "add", "origin", "git@example.com:x"]);
    assert_eq!(bash(&project, "git switch -c new && git push").0, "allow");
    project.git_says(&["remote", "add", "deploy", "git@example.com:deploy"]);
    for line in [line, "git fetch --all", "git pull --all"] {
        assert_eq!(bash(&project, line).0, "ask", "{line}");
    }
}

#[test]
#[cfg(target_os = "linux")]
fn a_branch_with_a_new_repository_inside_is_asked_about() {
    let project = Workspace::git();
    project.git_says(&["switch", "-q", "-c", "topic"]);
    let head = project.git_says(&["rev-parse", "HEAD"]);
    let link = format!("160000,{},nest", head.trim());
    project.git_says(&["update-index", "--add", "--cacheinfo", &link]);
    project.git_says(&["commit", "-q", "-m", "Nest"]);
    project.git_says(&["switch", "-q", "main"]);
    project.git_says(&["branch", "plain"]);
    let asks = |lines: &[&str]| {
        for line in lines {
            assert_eq!(bash(&project, line).0, "ask", "{line}");
        }
    };
    let picks = ["git cherry-pick topic && git status", "git revert -n plain..topic"];
    asks(&["git switch topic", "git merge topic", "git rebase topic", picks[0], picks[1]]);
    asks(&[
        "git restore --staged --source=topic .",
        "git restore -S -stopic .",
        "git restore -Sstopic . && git status",
        "git reset topic -- .",
    ]);
    for line in
        ["git reset", "git restore --staged .", "git reset && git status", "git reset plain"]
    {
        assert_eq!(bash(&project, line).0, "allow", "{line}");
    }
    // A file of the checkout has git look away from it.
    project.write(".gitmodules", "[submodule \"nest\"]\n\tpath = nest\n\tignore = all\n");
    asks(&["git merge topic", "git restore --staged --source=topic ."]);
    // The index has no such repository, the branch has.
    project.git_says(&["symbolic-ref", "HEAD", "refs/heads/topic"]);
    asks(&["git reset -q && git status", "git restore --staged . && git status"]);
    project.write(".git/MERGE_HEAD", project.git_says(&["rev-parse", "topic"]));
    asks(&["git merge --abort && git status"]);
}

#[test]
fn commits_that_others_stand_for_are_asked_about() {
    let project = Workspace::git();
    let evil = {
        project.git_says(&["switch", "-q", "-c", "evil"]);
        project.write(".claude/settings.json", "{}\n");
        project.commit("Evil");
        project.git_says(&["rev-parse", "HEAD"])
    };
    project.git_says(&["switch", "-q", "-c", "topic", "main"]);
    project.write("a", "1\n");
    project.commit("Good");
    let good = project.git_says(&["rev-parse", "HEAD"]);
    project.git_says(&["switch", "-q", "main"]);
    assert_eq!(bash(&project, "git merge topic").0, "allow");
    project.git_says(&["pack-refs", "--all"]);
    let packed = project.read(".git/packed-refs");
    let replaced = format!("{packed}{} refs/replace/{}\n", evil.trim(), good.trim());
    project.write(".git/packed-refs", replaced);
    for line in ["git merge topic", "git switch topic", "git cherry-pick topic"] {
        assert_eq!(bash(&project, line).0, "ask", "{line}");
    }
}

#[test]
fn references_that_git_does_not_find_by_every_way_are_asked_about() {
    let project = Workspace::git();
    project.git_says(&["branch", "topic"]);
    project.git_says(&["branch", "ref"]);
    project.git_says(&["pack-refs", "--all"]);
    assert_eq!(bash(&project, "git merge topic").0, "allow");
    let packed = project.read(".git/packed-refs");
    let (head, refs) = packed.split_once('\n').unwrap();
    let turned: Vec<&str> = refs.lines().rev().collect();
    // Git halves the list until it finds a name.
    project.write(".git/packed-refs", format!("{head}\n{}\n", turned.join("\n")));
    for line in ["git merge topic", "git switch topic"] {
        assert_eq!(bash(&project, line).0, "ask", "{line}");
    }
}

#[test]
#[cfg(target_os = "linux")]
fn a_contained_line_changes_no_copy_of_what_commits_say() {
    let project = Workspace::git();
    project.git_says(&["commit-graph", "write", "--reachable"]);
    let graph = project.path(".git/objects/info/commit-graph");
    let before = std::fs::read(&graph).unwrap();
    run_contained(
        &project,
        "cd .git/objects; chmod +w info/commit-graph; echo x > info/commit-graph\n\
         mkdir -p info/commit-graphs pack/multi-pack-index.d; echo x > pack/multi-pack-index\n\
         echo x > info/commit-graphs/commit-graph-chain; echo x > pack/new\n",
    );
    assert_eq!(std::fs::read(&graph).unwrap(), before);
    let objects = project.path(".git/objects");
    for name in ["info/commit-graphs", "pack/multi-pack-index", "pack/multi-pack-index.d"] {
        assert!(!objects.join(name).exists(), "{name}");
    }
    assert!(objects.join("pack/new").exists());
}

#[test]
#[cfg(target_os = "linux")]
fn what_a_name_leads_to_that_decides_about_agents_is_guarded_as_it_is() {
    use std::os::unix::fs::symlink;
    let project = Workspace::git();
    project.write("conf/set.json", "{}\n");
    project.write("conf/flows/a.yml", "x\n");
    project.write("conf/other.json", "{}\n");
    std::fs::create_dir(project.path(".claude")).unwrap();
    std::fs::create_dir(project.path(".github")).unwrap();
    symlink("../conf/set.json", project.path(".claude/settings.json")).unwrap();
    symlink("../conf/flows", project.path(".github/workflows")).unwrap();
    project.commit("Links");
    let write = |name: &str| {
        let input = json!({ "file_path": project.path(name), "content": "x" });
        tool(&project, "Write", input)
    };
    assert_ne!(write("conf/set.json"), "allow");
    assert_ne!(write("conf/flows/new.yml"), "allow");
    assert_eq!(write("conf/other.json"), "allow");
    run_contained(&project, "echo evil | tee conf/set.json conf/flows/a.yml conf/other.json");
    for (name, content) in
        [("conf/set.json", "{}\n"), ("conf/flows/a.yml", "x\n"), ("conf/other.json", "evil\n")]
    {
        assert_eq!(project.read(name), content, "{name}");
    }
}

#[test]
fn a_fetch_enters_no_repository_that_a_fetched_commit_names() {
    let project = Workspace::git();
    project.git_says(&["remote", "add", "origin", "https://example.org/a/b"]);
    assert_eq!(bash(&project, "git fetch").0, "allow");
    project.git_says(&["config", "submodule.lib.url", "https://example.org/a/lib"]);
    for (line, decision) in [
        ("git fetch", "ask"),
        ("git status && git fetch -q origin", "ask"),
        ("git pull", "ask"),
        ("git fetch --no-recurse-submodules && git pull", "ask"),
        ("git pull --no-recurse-submodules --recurse-submodules=yes", "ask"),
        ("git fetch --no-recurse-submodules", "allow"),
        ("git pull --no-recurse-submodules --ff-only", "allow"),
        ("git status", "allow"),
        ("git push origin HEAD:topic", "allow"),
    ] {
        let (decided, reason) = bash(&project, line);
        assert_eq!(decided, decision, "{line}: {reason}");
    }
}

#[test]
fn a_checkout_in_which_git_does_not_answer_is_asked_about() {
    let broken = [
        "echo x > .git/HEAD",
        "rm .git/HEAD",
        "mv .git/HEAD .git/x && ln -s x .git/HEAD",
        "mv .git/refs .git/x",
        "mv .git/objects .git/x && touch .git/objects",
        "echo '[' > .git/config",
    ];
    for broken in broken {
        let project = Workspace::git();
        project.write("tools/hooks/pre-commit", "#!/bin/sh\n");
        project.write("notes", "a\n");
        project.commit("Hooks");
        project.write("notes", "b\n");
        project.git_says(&["config", "core.hooksPath", "tools/hooks"]);
        project.shell(broken).expect_exit(0);
        let hook = project.path("tools/hooks/pre-commit");
        let decision = tool(&project, "Write", json!({ "file_path": hook, "content": "x" }));
        assert_eq!(decision, "ask", "{broken}");
        for line in ["python3 mk.py", "echo x > notes", "git commit -qm x"] {
            let said = calls(&project, "s1", line);
            assert_eq!(
                said["hookSpecificOutput"]["permissionDecision"], "ask",
                "{broken}: {line}: {said}"
            );
        }
        let confined = project.onloop(&["confine", "--", "true"]);
        assert_ne!(confined.exit, Some(0), "{broken}: {}", confined.stderr);
        assert_eq!(bash(&project, "cat notes").0, "allow", "{broken}");
        if !broken.contains("config") {
            assert_eq!(bash(&project, "git status").0, "ask", "{broken}");
        }
    }
}

#[test]
fn without_an_index_git_writes_all_files_and_is_asked_about() {
    let project = Workspace::git();
    project.git_says(&["switch", "-q", "-c", "evil"]);
    project.write(".claude/settings.json", "{}\n");
    project.commit("Evil");
    project.git_says(&["switch", "-q", "main"]);
    project.git_says(&["branch", "topic", "evil"]);
    // Index and files are as before.
    project.git_says(&["update-ref", "refs/heads/main", "evil"]);
    assert_eq!(bash(&project, "git switch topic").0, "allow");
    std::fs::remove_file(project.path(".git/index")).unwrap();
    for line in ["git switch topic", "git switch -c new topic", "git merge topic"] {
        assert_eq!(bash(&project, line).0, "ask", "{line}");
    }
}
