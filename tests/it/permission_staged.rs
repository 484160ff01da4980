//! What `git add` and `git commit -a` would take, and what a push would reach, is asked of git.

use crate::workspace::Workspace;

/// The decision about a line of the shell, and why.
fn judged(project: &Workspace, line: &str) -> (String, String) {
    let run = project.onloop(&["permit", "explain", "--json", line]);
    let said: serde_json::Value = serde_json::from_str(&run.stdout).expect("JSON");
    let text = |name: &str| said[name].as_str().expect("a text").to_owned();
    (text("decision"), text("reason"))
}

fn allowed() -> (String, String) {
    ("allow".to_owned(), "everything in it is known to be harmless".to_owned())
}

fn taken(command: &str, path: &str) -> (String, String) {
    let why = format!("`{command}` would take `{path}`, whose name says that it is a secret");
    ("deny".to_owned(), why)
}

#[test]
fn a_secret_is_not_staged_together_with_other_files() {
    let project = Workspace::git();
    project.write("src/a.txt", "a\n");
    project.write("conf/.env.production", "KEY=1\n");
    for line in ["git add .", "git add -A", "git add conf", "git stage '*'", "git add ':/'"] {
        let command = if line.contains("stage") { "git stage" } else { "git add" };
        assert_eq!(judged(&project, line), taken(command, "conf/.env.production"), "{line}");
    }
    let in_folder = "cd conf && git add .";
    assert_eq!(judged(&project, in_folder), taken("git add", "conf/.env.production"));
    for line in
        ["git add src", "git add src/a.txt", "git add -u", "git commit -am x", "git add -n ."]
    {
        assert_eq!(judged(&project, line), allowed(), "{line}");
    }
    // What git ignores it takes only when it is told to.
    project.write(".gitignore", ".env*\n");
    assert_eq!(judged(&project, "git add ."), allowed());
    assert_eq!(judged(&project, "git add -f conf"), taken("git add", "conf/.env.production"));
    project.write(".gitignore", "conf/\n");
    assert_eq!(judged(&project, "git add -f conf"), taken("git add", "conf/.env.production"));
    // One that is tracked is taken again when it has changed.
    project.git_says(&["add", "--force", "."]);
    project.commit("all of it");
    assert_eq!(judged(&project, "git commit -am x"), allowed());
    project.write("conf/.env.production", "KEY=2\n");
    assert_eq!(judged(&project, "git commit -am x"), taken("git commit", "conf/.env.production"));
    assert_eq!(judged(&project, "git commit -m x"), allowed());
    project.write("conf/.env.production", "KEY=1\n");
    project.git_says(&["rm", "--quiet", "--cached", "conf/.env.production"]);
    assert_eq!(judged(&project, "git add -u"), allowed());
    project.git_says(&["reset", "--quiet"]);
    std::fs::remove_file(project.path("conf/.env.production")).unwrap();
    assert_eq!(judged(&project, "git commit -am x"), allowed());
}

#[test]
fn a_commit_takes_no_secret_that_a_script_has_staged() {
    let project = Workspace::git();
    project.write("a.txt", "a\n");
    project.write("conf/.env", "KEY=1\n");
    project.git_says(&["add", "--force", "."]);
    for line in [
        "git commit -m x",
        "git commit --amend --no-edit",
        "git commit -m x conf",
        "cd conf && git commit -m x",
    ] {
        assert_eq!(judged(&project, line), taken("git commit", "conf/.env"), "{line}");
    }
    assert_eq!(judged(&project, "git commit -m x a.txt"), allowed());
    project.commit("all of it");
    project.write("a.txt", "b\n");
    project.git_says(&["add", "a.txt"]);
    assert_eq!(judged(&project, "git commit -m x"), allowed());
    project.git_says(&["rm", "--quiet", "--cached", "conf/.env"]);
    assert_eq!(judged(&project, "git commit -m x"), allowed());
}

#[test]
fn a_push_of_a_commit_with_a_secret_asks() {
    let project = Workspace::git();
    project.git_says(&["remote", "add", "origin", "https://example.org/shop.git"]);
    project.git_says(&["switch", "--quiet", "--create", "topic"]);
    assert_eq!(judged(&project, "git push origin topic"), allowed());
    project.write("conf/.env", "KEY=1\n");
    project.git_says(&["add", "--force", "."]);
    project.commit("conf");
    project.git_says(&["rm", "--quiet", "conf/.env"]);
    project.commit("without it");
    let why = "it pushes `conf/.env` in a commit, and its name says that it is a secret";
    for line in [
        "git push",
        "git push origin HEAD",
        "git push origin topic:other",
        "git switch -c other && git push -u origin other",
    ] {
        assert_eq!(judged(&project, line), ("ask".to_owned(), why.to_owned()), "{line}");
    }
    // The line brings it.
    project.git_says(&["branch", "with"]);
    project.git_says(&["reset", "--quiet", "--hard", "HEAD~2"]);
    for line in [
        "git merge with && git push",
        "git cherry-pick HEAD..with && git push origin topic",
        "git reset with && git push",
        "git switch -c other with && git push origin other",
        "git restore --source=with~1 --staged . && git commit -m x && git push",
        "git restore -swith~1 --staged . && git commit -m x && git push",
    ] {
        assert_eq!(judged(&project, line), ("ask".to_owned(), why.to_owned()), "{line}");
    }
    for line in ["git push", "git merge main && git push", "git commit -m with && git push"] {
        assert_eq!(judged(&project, line), allowed(), "{line}");
    }
    // The remote has it.
    project.git_says(&["update-ref", "refs/remotes/origin/with", "with"]);
    assert_eq!(judged(&project, "git merge with && git push"), allowed());
}

#[test]
fn a_home_folder_that_is_a_repository_keeps_its_secrets() {
    let home = Workspace::git();
    home.write(".netrc", "machine example.org password x\n");
    let run = home.shell(r#"HOME="$PWD" onloop permit explain --json 'git add .'"#);
    let said: serde_json::Value = serde_json::from_str(&run.stdout).expect("JSON");
    let why = "`git add` would take `.netrc`, whose name says that it is a secret";
    assert_eq!((said["decision"].as_str(), said["reason"].as_str()), (Some("deny"), Some(why)));
}

#[test]
fn what_git_does_not_say_is_asked_about() {
    let project = Workspace::git();
    std::fs::write(project.path(".git/index"), "no index").unwrap();
    let (decision, why) = judged(&project, "git add .");
    assert_eq!(decision, "ask");
    assert!(why.starts_with("it is not known what this would stage: git says: "), "{why}");
}

#[test]
fn a_push_is_judged_by_the_remotes_tags_and_branches_that_git_knows() {
    let project = Workspace::git();
    project.git_says(&["switch", "--quiet", "--create", "topic"]);
    project.git_says(&["tag", "beta1"]);
    let asks = |line: &str, why: &str| {
        assert_eq!(judged(&project, line), ("ask".to_owned(), why.to_owned()), "{line}");
    };
    let missing = |name: &str| {
        format!("this repository has no remote `{name}`, so that git takes a folder of this name")
    };
    assert_eq!(judged(&project, "git add -u && git push upstream topic"), allowed());
    asks("mkdir upstream && git push upstream topic", &missing("upstream"));
    project.write("origin/HEAD", "ref: refs/heads/main\n");
    asks("git pull origin main", &missing("origin"));
    project.git_says(&["remote", "add", "origin", "https://example.org/shop.git"]);
    for line in ["git push -u origin topic", "git push", "git fetch origin", "git pull --rebase"] {
        assert_eq!(judged(&project, line), allowed(), "{line}");
    }
    asks("git push origin beta1", "it pushes the tag `beta1`");
    for (name, value) in [
        ("push.default", "upstream"),
        ("branch.topic.remote", "origin"),
        ("branch.topic.merge", "refs/heads/main"),
    ] {
        project.git_says(&["config", name, value]);
    }
    project.git_says(&["update-ref", "refs/remotes/origin/main", "HEAD"]);
    asks("git push", "it pushes the protected branch `main`");
    let elsewhere = |setting: &str| {
        format!("the setting `{setting}` of git may push something else than the branch")
    };
    let upstream = elsewhere("push.default upstream");
    asks("git switch -c other origin/main && git push", &upstream);
    asks("git push origin topic", &upstream);
    project.git_says(&["config", "--unset", "push.default"]);
    assert_eq!(judged(&project, "git push origin topic"), allowed());
    project.git_says(&["config", "remote.origin.push", "topic:main"]);
    asks("git pu\\sh origin topic", &elsewhere("remote.origin.push topic:main"));
}

#[test]
fn files_of_hands_off_sessions_stay_out_of_commits_and_out_of_the_way() {
    let project = Workspace::git();
    let event =
        r#"{"hook_event_name":"UserPromptSubmit","session_id":"s1","prompt":"/plan-to-issue x"}"#;
    let line = format!("printf '%s' '{event}' | onloop hook claude");
    assert_eq!(project.shell(&line).expect_exit(0).stdout, "");
    assert!(project.path(".tmp/hooked-sessions/s1.json").exists());
    assert_eq!(project.git_says(&["status", "--porcelain", "--untracked-files=all"]), "");
    // Whoever has said otherwise is right.
    project.write(".tmp/.gitignore", "# mine\n");
    project.shell(&line).expect_exit(0);
    assert_eq!(project.read(".tmp/.gitignore"), "# mine\n");
}
