//! Commits that commands of git take over, and what such commands write besides.

use super::bash;
use crate::workspace::Workspace;

/// A checkout on `main` with a branch `evil`, which configures agents, and `topic` on top of it.
fn forged() -> Workspace {
    let project = Workspace::git();
    project.write("README.md", "1\n");
    project.commit("Start");
    project.git_says(&["switch", "-q", "-c", "evil"]);
    project.write(".claude/settings.json", "{}\n");
    project.commit("Evil");
    project.git_says(&["switch", "-q", "-c", "topic"]);
    project.write("README.md", "2\n");
    project.commit("Topic");
    project.git_says(&["switch", "-q", "main"]);
    project
}

#[track_caller]
fn expect(project: &Workspace, lines: &[&str], decision: &str) {
    for line in lines {
        let said = bash(project, line);
        assert_eq!(said.0, decision, "{line}: {}", said.1);
    }
}

#[test]
fn what_git_puts_aside_meanwhile_is_compared_with_the_current_revision() {
    let project = forged();
    let aside = [
        "git rebase --autostash topic",
        "git rebase --autostash HEAD | true",
        "git merge --autostash topic",
        "git pull --autostash",
        "git pull --rebase --autostash",
    ];
    let plain = ["git rebase topic", "git merge topic", "git pull", "git pull --rebase"];
    expect(&project, &["git rebase --autostash main", "git pull --autostash"], "allow");
    // The branch is moved, and the files are those of before.
    project.git_says(&["reset", "-q", "evil"]);
    expect(&project, &aside, "ask");
    expect(&project, &plain, "allow");
    for setting in ["rebase.autoStash", "merge.autoStash"] {
        project.git_says(&["config", setting, "true"]);
        expect(&project, &plain, "ask");
        project.git_says(&["config", setting, "false"]);
        expect(&project, &plain, "allow");
        project.git_says(&["config", "--unset", setting]);
    }
    project.git_says(&["reset", "-q", "main"]);
    expect(&project, &["git reset -q evil && git pull --autostash"], "ask");
    // A file that the index alone has is removed.
    project.write(".gitignore", ".agentize.local.yaml\n");
    project.commit("Ignore");
    project.write(".agentize.local.yaml", "permissions: {}\n");
    expect(&project, &["git rebase --autostash main"], "allow");
    project.git_says(&["add", "-f", ".agentize.local.yaml"]);
    expect(&project, &["git rebase --autostash main", "git merge --autostash main"], "ask");
}

#[test]
fn a_return_to_the_current_revision_is_seen_beside_other_options() {
    let project = forged();
    let lines = [
        "git cherry-pick --abort --no-edit",
        "git cherry-pick --no-edit --skip",
        "git revert --abort --no-edit",
        "git revert --abort --reference",
        "git revert --skip --no-edit",
        "git rebase --abort -q",
        "git merge -q --abort",
    ];
    expect(&project, &lines, "allow");
    project.git_says(&["update-ref", "HEAD", "evil"]);
    expect(&project, &lines, "ask");
}

#[test]
fn what_git_takes_without_a_word_is_asked_about_where_it_does_not_answer() {
    let project = forged();
    project.git_says(&["branch", "base", "main"]);
    project.git_says(&["switch", "-q", "-c", "work", "--track", "base"]);
    expect(&project, &["git merge"], "allow");
    project.git_says(&["branch", "-f", "base", "evil"]);
    // What looks like a revision may be the message.
    let lines = [
        "git merge",
        "git merge -m main",
        "git merge --no-ff -m main",
        "git branch x main && git merge",
    ];
    expect(&project, &lines, "ask");
    expect(
        &project,
        &["git merge main", "git merge -m x main", "git merge --no-edit main"],
        "allow",
    );
    let id = project.git_says(&["rev-parse", "base^{tree}"]);
    let (folder, name) = id.trim().split_at(2);
    std::fs::remove_file(project.path(&format!(".git/objects/{folder}/{name}"))).unwrap();
    expect(&project, &["git merge"], "ask");
    project.git_says(&["branch", "--unset-upstream"]);
    expect(&project, &["git merge", "git stash pop"], "allow");
}

#[test]
fn untracked_files_of_a_stash_are_seen_whatever_it_descends_from() {
    let project = forged();
    let commit = |words: &[&str]| {
        let words = [&["commit-tree", "-m", "x"], words].concat();
        project.git_says(&words).trim().to_owned()
    };
    let index = commit(&["main^{tree}", "-p", "main"]);
    for tree in ["evil^{tree}", "main^{tree}"] {
        let decision = if tree.starts_with("evil") { "ask" } else { "allow" };
        for parents in [&[][..], &["-p", "evil"], &["-p", "evil", "-p", "topic"]] {
            let untracked = commit(&[&[tree], parents].concat());
            let parents = ["-p", "main", "-p", &index, "-p", &untracked];
            let stash = commit(&[&["main^{tree}"], &parents[..]].concat());
            project.git_says(&["update-ref", "--create-reflog", "refs/stash", &stash]);
            let lines = ["git stash pop", "git stash apply", "git stash branch n"];
            expect(&project, &lines, decision);
        }
    }
    // A branch of a remote is no stash.
    project.git_says(&["update-ref", "refs/stash", "topic"]);
    project.git_says(&["update-ref", "refs/remotes/origin/n", "main"]);
    expect(&project, &["git stash branch n"], "ask");
}

#[test]
#[cfg(unix)]
fn a_line_break_in_a_name_hides_no_change() {
    let project = Workspace::git();
    project.write(".claude/a\nb", "1\n");
    project.commit("Start");
    project.git_says(&["branch", "plain"]);
    project.git_says(&["switch", "-q", "-c", "topic"]);
    project.write(".claude/a\nb", "2\n");
    project.write(".claude/settings.json", "{}\n");
    project.commit("Topic");
    project.git_says(&["switch", "-q", "main"]);
    let verbs = ["merge", "switch", "cherry-pick", "rebase"];
    let lines = verbs.map(|verb| format!("git {verb} topic"));
    expect(&project, &lines.each_ref().map(String::as_str), "ask");
    expect(&project, &["git merge plain", "git switch plain"], "allow");
}

#[test]
fn commits_that_change_what_hooks_run_are_asked_about_unless_a_remote_has_them() {
    let project = Workspace::git();
    project.write("README.md", "1\n");
    project.commit("Start");
    project.git_says(&["branch", "feature"]);
    for (branch, path) in [
        ("hooks", ".pre-commit-config.yaml"),
        ("ci", ".github/workflows/ci.yml"),
        ("plain", "src/a.txt"),
    ] {
        project.git_says(&["switch", "-q", "-c", branch, "main"]);
        project.write(path, "x\n");
        project.commit(branch);
        project.git_says(&["switch", "-q", "-c", "later"]);
        project.write("later.txt", "x\n");
        project.commit("Later");
        project.git_says(&["switch", "-q", "main"]);
        let verbs = ["merge", "switch", "rebase", "merge --no-edit"];
        let mut lines: Vec<String> = verbs.map(|verb| format!("git {verb} later")).into();
        lines.push(format!("git cherry-pick {branch}"));
        lines.push(format!("git cherry-pick main..{branch}"));
        let lines: Vec<&str> = lines.iter().map(String::as_str).collect();
        expect(&project, &lines, if branch == "hooks" { "ask" } else { "allow" });
        project.git_says(&["update-ref", &format!("refs/remotes/origin/{branch}"), branch]);
        // An agent pushes such a branch without a question.
        expect(&project, &lines, if branch == "hooks" { "ask" } else { "allow" });
        project.git_says(&["update-ref", &format!("refs/remotes/origin/release/{branch}"), branch]);
        expect(&project, &lines, "allow");
        project.git_says(&["branch", "-q", "-D", "later"]);
    }
    // A merge may bring what none of its parents has.
    project.git_says(&["switch", "-q", "-c", "mixed", "plain"]);
    project.git_says(&["merge", "-q", "--no-commit", "--no-ff", "feature", "ci"]);
    project.write("lefthook.yml", "x\n");
    project.commit("Mixed");
    project.git_says(&["switch", "-q", "main"]);
    expect(&project, &["git merge mixed", "git switch mixed", "git rebase mixed"], "ask");
    // What the remote has comes without a question, and so does the way back.
    project.git_says(&["switch", "-q", "feature"]);
    let update = ["git merge origin/ci", "git rebase origin/ci", "git switch main"];
    expect(&project, &update, "allow");
    project.write("b.txt", "x\n");
    project.commit("Own");
    expect(&project, &update, "allow");
    project.git_says(&["merge", "-q", "--no-edit", "ci"]);
    expect(&project, &["git switch main", "git switch -c next", "git rebase origin/ci"], "allow");
    project.git_says(&["update-ref", "-d", "refs/remotes/origin/hooks"]);
    project.git_says(&["update-ref", "-d", "refs/remotes/origin/release/hooks"]);
    // The branch is moved, so that it seems to have the files.
    project.git_says(&["reset", "-q", "hooks"]);
    expect(&project, &["git switch main && git merge hooks"], "ask");
    expect(&project, &["git rebase --autostash main", "git merge --abort"], "ask");
}

#[test]
fn a_file_is_not_moved_to_where_those_beside_it_have_moved() {
    let project = Workspace::git();
    project.write("README.md", "1\n");
    project.commit("Start");
    project.git_says(&["switch", "-q", "-c", "old"]);
    for name in ["x1", "x2", "x3"] {
        project.write(&format!("d/{name}"), format!("{name}\n"));
    }
    project.commit("Folder");
    project.git_says(&["switch", "-q", "-c", "evil"]);
    project.write("d/settings.json", "{}\n");
    project.commit("Evil");
    project.git_says(&["rm", "-q", "d/settings.json"]);
    project.git_says(&["commit", "-q", "-m", "Gone"]);
    let picks = ["git cherry-pick evil~1", "git cherry-pick old..evil", "git revert evil"];
    project.git_says(&["switch", "-q", "-c", "plain", "main"]);
    expect(&project, &picks, "allow");
    project.git_says(&["switch", "-q", "-c", "moved", "old"]);
    project.write("d/settings.json", "{}\n");
    project.git_says(&["add", "d"]);
    project.git_says(&["stash", "-q"]);
    expect(&project, &["git stash pop"], "allow");
    project.git_says(&["mv", "d", ".claude"]);
    expect(&project, &["git stash pop", "git stash apply"], "ask");
    project.git_says(&["commit", "-q", "-m", "Moved"]);
    expect(&project, &picks, "ask");
    // The other side has the folder in both places.
    project.git_says(&["switch", "-q", "-c", "both"]);
    project.git_says(&["checkout", "-q", "evil~1", "--", "d"]);
    project.git_says(&["commit", "-q", "-m", "Both"]);
    project.git_says(&["switch", "-q", "moved"]);
    project.git_says(&["reset", "-q", "--hard", "old"]);
    project.git_says(&["mv", "d", ".claude"]);
    project.git_says(&["commit", "-q", "-m", "Moved again"]);
    project.git_says(&["branch", "topic", "both"]);
    expect(&project, &["git merge --no-edit topic"], "ask");
}

#[test]
fn an_index_without_entries_is_none() {
    let project = forged();
    project.git_says(&["switch", "-q", "evil"]);
    expect(&project, &["git switch topic"], "allow");
    project.git_says(&["read-tree", "--empty"]);
    expect(&project, &["git switch topic"], "ask");
}
