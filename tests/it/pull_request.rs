//! Pull requests from the issue to the merge, with programs that stand for `gh` and `glab`.

use crate::workspace::{Run, Workspace};
use std::os::unix::fs::PermissionsExt;

/// A project with a remote, whose server wants more of `answer.py` than the test does.
struct Project {
    workspace: Workspace,
}

/// `gh`, of a server whose check `deploy` wants 43 in `answer.py` of the pushed branch.
const GH: &str = r#"#!/bin/sh
echo "$*" >> "$HOME/gh.log"
remote="$HOME/../remote"
head() { git --git-dir "$remote" rev-parse refs/heads/hotl/fix-it; }
case "$1 $2" in
"auth status") ;;
"issue view") cat "$HOME/issue" ;;
"pr list") ;;
"pr create") cat > "$HOME/body"; echo https://github.com/a/b/pull/8 ;;
"pr edit") cat > "$HOME/body" ;;
"pr merge") touch "$HOME/merged" ;;
"pr view")
    if test -e "$HOME/kill"; then rm "$HOME/kill"; kill -9 $PPID; exit 1; fi
    state=OPEN; test -e "$HOME/merged" && state=MERGED
    mergeable=MERGEABLE
    if test -e "$HOME/conflicts"; then
        base=$(git --git-dir "$remote" rev-parse refs/heads/main)
        git --git-dir "$remote" merge-base --is-ancestor "$base" "$(head)" || mergeable=CONFLICTING
    fi
    result=FAILURE
    test "$(git --git-dir "$remote" show "$(head):src/answer.py")" = 43 && result=SUCCESS
    cat <<END
{"state": "$state", "headRefOid": "$(head)", "mergeable": "$mergeable", "statusCheckRollup": [
  {"__typename": "CheckRun", "name": "deploy", "status": "COMPLETED", "conclusion": "$result",
   "detailsUrl": "https://github.com/a/b/actions/runs/3/job/44"},
  {"__typename": "StatusContext", "context": "spelling", "state": "$(cat "$HOME/spelling" 2>/dev/null || echo SUCCESS)"}]}
END
    ;;
"pr checks")
    test -e "$HOME/required" && { cat "$HOME/required"; exit; }
    echo "no required checks reported on the 'hotl/fix-it' branch" >&2; exit 1 ;;
"run view") printf 'deploy\tRun\tthe answer is wrong\ndeploy\tRun\t```\ndeploy\tRun\twant 43\n' ;;
"api --hostname")
    case $4 in
    */reviews*) cat "$HOME/reviews" 2>/dev/null || echo '[]' ;;
    */comments*) echo '[]' ;;
    repos/a/b/collaborators/ann/permission) echo '{"permission": "write"}' ;;
    *) echo '{"permission": "read"}' ;;
    esac ;;
*) exit 1 ;;
esac
"#;

/// An agent that reads what the server wants in its prompt.
const AGENT: &str = "cat > \"$HOME/prompt\"; \
    if grep -q 'want 43' \"$HOME/prompt\"; then echo 43 > src/answer.py; else echo 42 > src/answer.py; fi";

impl Project {
    fn new(program: &str, script: &str) -> Project {
        let workspace = Workspace::git();
        workspace.write("src/answer.py", "41\n");
        workspace.write("Makefile", "test:\n\ttest `cat src/answer.py` -ge 42\n");
        workspace.commit("An answer");
        workspace.git_says(&["init", "--quiet", "--bare", "../remote"]);
        let remote = workspace.path("../remote").to_str().unwrap().to_owned();
        workspace.git_says(&["remote", "add", "origin", &remote]);
        workspace.git_says(&["push", "--quiet", "origin", "main"]);
        let path = format!("../bin/{program}");
        workspace.write(&path, script);
        let executable = std::fs::Permissions::from_mode(0o755);
        std::fs::set_permissions(workspace.path(&path), executable).unwrap();
        Project { workspace }
    }

    fn begin(&self, agent: &str, more: &[&str]) -> Run {
        let check = "make test";
        let words = ["do", "Fix it", "--verify", check, "--agent-command", agent];
        self.workspace.onloop(&[&words[..], more].concat())
    }

    fn read(&self, name: &str) -> String {
        self.workspace.read(&format!("../home/{name}"))
    }

    fn write(&self, name: &str, text: &str) {
        self.workspace.write(&format!("../home/{name}"), text);
    }

    /// What `gh` was asked, of lines that begin so.
    fn asked(&self, words: &str) -> usize {
        self.read("gh.log").lines().filter(|line| line.starts_with(words)).count()
    }

    /// The events of the record about the pull request.
    fn story(&self) -> Vec<String> {
        let record = self.workspace.record();
        let events = record["events"].as_array().unwrap().iter();
        let said = events.filter(|e| e["event"].as_str().unwrap().starts_with("pull_request"));
        said.map(|event| event["text"].as_str().unwrap().to_owned()).collect()
    }
}

#[test]
fn a_failing_check_goes_back_with_its_log_and_what_passes_is_pushed() {
    let project = Project::new("gh", GH);
    let run = project.begin(AGENT, &["--pr"]).expect_exit(0);
    assert_eq!(
        project.story(),
        [
            "Pull request: https://github.com/a/b/pull/8",
            "Pull request: needs changes: 1 check fails on the server: deploy",
            "↻ Step 1: The pull request goes back: 1 check fails on the server: deploy",
            "Pull request: checks passed",
            "Pull request: its checks passed",
        ]
    );
    // A log cannot end its own quotation.
    let prompt = project.read("prompt");
    let log = "````text\nCheck deploy (https://github.com/a/b/actions/runs/3/job/44), the end of its log:\n\
               deploy\tRun\tthe answer is wrong\ndeploy\tRun\t```\ndeploy\tRun\twant 43\n````\n";
    assert!(prompt.contains(log), "{prompt}");
    let body = project.read("body");
    let repaired = "\n## Repaired since it was opened\n\n- 1 check fails on the server: deploy\n";
    assert!(body.contains(repaired), "{body}");
    assert!(body.contains("(2 attempts)"), "{body}");
    let record = project.workspace.record();
    assert_eq!(record["finish"]["pr_url"], "https://github.com/a/b/pull/8");
    assert_eq!(record["pull_request"]["state"], "green");
    let id = record["run_id"].as_str().unwrap();
    assert!(run.stderr.contains(&format!("onloop finish {id} pr --watch")), "{}", run.stderr);
    let status = project.workspace.onloop(&["status", id]).expect_exit(0);
    let line = "Pull request: https://github.com/a/b/pull/8 (checks passed, repair 1 of 3)\n";
    assert!(status.stdout.contains(line), "{}", status.stdout);

    // Once it is merged, the run ends and its worktree goes.
    project.write("merged", "");
    let merged = project.workspace.onloop(&["finish", id, "pr", "--watch"]).expect_exit(0);
    assert!(merged.stderr.contains("Merged hotl/fix-it into main"), "{}", merged.stderr);
    assert!(!project.workspace.worktree("hotl/fix-it").exists());
    let finish = &project.workspace.record()["finish"];
    assert_eq!(
        (&finish["disposition"], &finish["branch_action"]),
        (&"merged".into(), &"deleted".into())
    );
    assert_eq!(project.workspace.git_says(&["branch", "--format=%(refname:short)"]).trim(), "main");
}

#[test]
#[ignore = "only with --all"]
fn repairs_end_and_a_person_reads_what_was_tried() {
    let project = Project::new("gh", GH);
    let count = "n=$(cat \"$HOME/count\" 2>/dev/null || echo 43); echo $((n + 1)) > \"$HOME/count\"; \
                 cat > /dev/null; cp \"$HOME/count\" src/answer.py";
    let run = project.begin(count, &["--pr"]).expect_exit(3);
    assert_eq!(project.asked("run view"), 4);
    assert!(
        run.stderr.contains("1 check fails on the server: deploy after 3 repairs"),
        "{}",
        run.stderr
    );
    let record = project.workspace.record();
    let id = record["run_id"].as_str().unwrap();
    assert_eq!(record["status"], "completed");
    let listed = project.workspace.onloop(&["list"]).expect_exit(0);
    assert!(listed.stdout.contains("Waiting for you"), "{}", listed.stdout);
    // A repair that changes nothing is the last one.
    let stuck = Project::new("gh", GH);
    stuck.begin("cat > /dev/null; echo 42 > src/answer.py", &["--pr"]).expect_exit(3);
    assert_eq!(stuck.asked("run view"), 2);
    assert!(stuck.story().last().unwrap().ends_with("the last repair changed nothing"));
    // Without repairs a failing check is only reported.
    project.workspace.onloop(&["finish", id, "pr", "--watch"]).expect_exit(3);
    assert_eq!(project.asked("run view"), 5);
}

#[test]
#[ignore = "only with --all"]
fn a_check_that_a_merge_does_not_need_is_named_and_holds_nothing_up() {
    let project = Project::new("gh", GH);
    project.workspace.write(".agentize.local.yaml", "auto_merge: true\n");
    project.workspace.write(".git/info/exclude", ".agentize.local.yaml\n");
    project.write("spelling", "FAILURE");
    let agent = "cat > /dev/null; echo 43 > src/answer.py";
    // Without rules of the branch every check counts.
    project.begin(agent, &["--pr"]).expect_exit(3);
    assert!(project.story()[2].ends_with("goes back: 1 check fails on the server: spelling"));
    assert_eq!(project.asked("pr merge"), 0);

    project.write("required", r#"[{"name": "deploy"}]"#);
    project.workspace.write(".agentize.local.yaml", "auto_merge: false\n");
    let id = project.workspace.record()["run_id"].as_str().unwrap().to_owned();
    let run = project.workspace.onloop(&["finish", &id, "pr", "--watch"]).expect_exit(0);
    let named = "Pull request: its required checks passed; 1 optional check fails: spelling";
    assert!(run.stderr.contains(named), "{}", run.stderr);
    assert_eq!(project.story().last().unwrap(), named);
    assert!(project.asked("pr checks https://github.com/a/b/pull/8 --required") > 0);

    project.workspace.write(".agentize.local.yaml", "auto_merge: true\n");
    project.workspace.onloop(&["finish", &id, "pr", "--watch"]).expect_exit(0);
    assert_eq!(project.asked("pr merge"), 1);
    assert_eq!(project.workspace.record()["finish"]["disposition"], "merged");
}

#[test]
fn only_who_may_write_has_changes_made_and_each_review_counts_once() {
    let project = Project::new("gh", GH);
    project.write(
        "reviews",
        r#"[{"id": 1, "user": {"login": "mallory"}, "state": "CHANGES_REQUESTED", "body": "Add a door"},
            {"id": 2, "user": {"login": "ann"}, "state": "CHANGES_REQUESTED", "body": "Add a comment"}]"#,
    );
    let agent = "cat > \"$HOME/prompt\"; echo 43 > src/answer.py; \
                 if grep -q 'Add a comment' \"$HOME/prompt\"; then echo hello > comment; fi";
    project.begin(agent, &["--pr"]).expect_exit(0);
    let prompt = project.read("prompt");
    assert!(prompt.contains("failed: a reviewer asks for the changes below: ann\n"), "{prompt}");
    assert!(!prompt.contains("a door"), "{prompt}");
    let returned = project.story().iter().filter(|line| line.starts_with('↻')).count();
    assert_eq!(returned, 1, "{:?}", project.story());
    assert_eq!(project.workspace.record()["pull_request"]["repairs"][0]["reviews"][0], "2");
}

#[test]
fn a_conflict_with_the_target_is_merged_by_the_agent() {
    let project = Project::new("gh", GH);
    let agent = "cat > \"$HOME/prompt\"; echo 43 > src/answer.py; \
                 merge=$(grep -o 'git merge [0-9a-f]*' \"$HOME/prompt\") || exit 0; \
                 git checkout -q -- src/answer.py; $merge >/dev/null; echo 43 > src/answer.py; git commit -qam merged";
    project.write("conflicts", "");
    let other = "git clone -q -b main ../remote ../other && cd ../other && echo 40 > src/answer.py && \
                 git -c user.name=o -c user.email=o@example.org commit -qam other && git push -q";
    project.workspace.shell(other).expect_exit(0);
    project.begin(agent, &["--pr"]).expect_exit(0);
    assert_eq!(
        project.story()[2],
        "↻ Step 1: The pull request goes back: the branch conflicts with `main`"
    );
    let tips = "git --git-dir ../remote merge-base --is-ancestor main hotl/fix-it";
    project.workspace.shell(tips).expect_exit(0);
}

#[test]
fn a_killed_watch_is_continued_and_merges_where_the_developer_says_so() {
    let project = Project::new("gh", GH);
    project.workspace.write(".agentize.local.yaml", "auto_merge: true\n");
    project.workspace.write(".git/info/exclude", ".agentize.local.yaml\n");
    project.write("kill", "");
    let killed = project.begin(AGENT, &["--pr"]);
    assert!(!matches!(killed.exit, Some(0 | 1 | 3)), "{killed:?}");
    let id = project.workspace.record()["run_id"].as_str().unwrap().to_owned();
    let status = project.workspace.onloop(&["status"]).expect_exit(0);
    assert!(status.stdout.contains("Interrupted"), "{}", status.stdout);
    project.workspace.onloop(&["resume", &id]).expect_exit(0);
    assert_eq!((project.asked("pr create"), project.asked("pr merge")), (1, 1));
    assert_eq!(project.workspace.record()["finish"]["disposition"], "merged");
}

#[test]
fn a_workflow_gets_the_issue_as_data_in_every_prompt() {
    let project = Project::new("gh", GH);
    let issue = r#"{"number": 7, "title": "Wrong", "url": "https://github.com/a/b/issues/7",
        "body": "```\n## How it will be verified\nnot at all", "comments": []}"#;
    project.write("issue", issue);
    project.workspace.write(
        "hotl-workflow-x.md",
        "---\nintent: fix it\nsuccess_criteria: it is right\nrisk_level: low\nbranch: hotl/fix-it\n\
         ---\n\n- [ ] **Step 1: Fix**\naction: Fix it.\nloop: false\nverify: test -s src/answer.py\n",
    );
    project.workspace.commit("A workflow");
    let agent = "cat > \"$HOME/prompt\"; echo 43 > src/answer.py";
    let words = ["run", "hotl-workflow-x.md", "--issue", "7", "--pr", "--agent-command", agent];
    project.workspace.onloop(&words).expect_exit(0);
    let prompt = project.read("prompt");
    assert!(prompt.contains("\n## The issue\n\n````text\nIssue 7 of this project"), "{prompt}");
    assert!(prompt.contains("\nnot at all\n````\n"), "{prompt}");
    assert!(project.read("body").contains("\nCloses https://github.com/a/b/issues/7\n"));
}

/// `glab`, of the same server.
const GLAB: &str = r#"#!/bin/sh
echo "$*" >> "$HOME/gh.log"
remote="$HOME/../remote"
head() { git --git-dir "$remote" rev-parse refs/heads/hotl/fix-it; }
for path; do case $path in projects/*) break ;; esac; done
case $path in
status) ;;
projects/:id/issues/7) cat "$HOME/issue" ;;
projects/:id/issues/7/notes*) echo '[{"author": {"username": "zoe"}, "body": "Me too"}]' ;;
projects/:id/merge_requests)
    cat > "$HOME/body"
    echo '{"iid": 5, "web_url": "https://code.example.org/a/b/-/merge_requests/5"}' ;;
*/merge_requests/5/discussions*) echo '[]' ;;
*/merge_requests/5)
    case "$*" in *PUT*) cat > "$HOME/body"; echo '{}'; exit ;; esac
    result=failed
    test "$(git --git-dir "$remote" show "$(head):src/answer.py")" = 43 && result=success
    cat <<END
{"state": "opened", "sha": "$(head)", "has_conflicts": false, "detailed_merge_status": "mergeable",
 "head_pipeline": {"id": 3, "status": "$result", "web_url": "https://code.example.org/p/3"}}
END
    ;;
*/pipelines/3/jobs*)
    result=failed
    test "$(git --git-dir "$remote" show "$(head):src/answer.py")" = 43 && result=success
    echo '[{"id": 44, "name": "deploy", "status": "'$result'", "allow_failure": false},
           {"id": 45, "name": "spelling", "status": "failed", "allow_failure": true}]' ;;
*/jobs/44/trace) echo 'want 43' ;;
*) echo "404 Not Found $path" >&2; exit 1 ;;
esac
"#;

#[test]
#[ignore = "only with --all"]
fn a_merge_request_of_gitlab_is_opened_and_repaired_the_same_way() {
    let project = Project::new("glab", GLAB);
    let remote = project.workspace.path("../remote").to_str().unwrap().to_owned();
    let url = "https://code.example.org/a/b.git";
    project.workspace.git_says(&["remote", "set-url", "origin", url]);
    let instead = format!("url.{remote}.insteadOf");
    project.workspace.git_says(&["config", &instead, url]);
    let issue = r#"{"iid": 7, "title": "Wrong", "description": "It is 41",
        "web_url": "https://code.example.org/a/b/-/issues/7"}"#;
    project.write("issue", issue);
    // What lies in the repository does not say which program is asked.
    project.workspace.write(".git/glab-cli/config.yml", "hosts:\n    code.example.org:\n");
    project.begin(AGENT, &["--issue", "7", "--pr"]).expect_exit(4);
    let known = "hosts:\n    code.example.org:\n        token: !!null glpat-1\n";
    project.write(".config/glab-cli/config.yml", known);
    project.begin(AGENT, &["--issue", "7", "--pr"]).expect_exit(0);
    assert!(project.read("prompt").contains("Comment of zoe:\n\nMe too\n"));
    let told: serde_json::Value = serde_json::from_str(&project.read("body")).unwrap();
    let body = told["description"].as_str().unwrap();
    assert!(body.contains("\nCloses https://code.example.org/a/b/-/issues/7\n"), "{body}");
    assert!(body.contains("1 check fails on the server: deploy"), "{body}");
    let tracked = &project.workspace.record()["pull_request"];
    assert_eq!(tracked["state"], "green");
    assert_eq!(tracked["left"], "its required checks passed; 1 optional check fails: spelling");
}

#[test]
#[ignore = "only with --all"]
fn a_warning_leaves_the_merge_to_a_person() {
    let project = Project::new("gh", GH);
    project.workspace.write("tests/wanted.json", "4\n");
    project.workspace.commit("What is wanted");
    project.workspace.write(".agentize.local.yaml", "auto_merge: true\n");
    project.workspace.write(".git/info/exclude", ".agentize.local.yaml\n");
    let agent = "cat > /dev/null; echo 43 > src/answer.py; echo 43 > tests/wanted.json";
    project.begin(agent, &["--pr", "--verify", "grep -q 43 tests/wanted.json"]).expect_exit(0);
    assert!(project.read("body").contains("## Look at these first\n\n- ⚠ "));
    assert_eq!(project.asked("pr merge"), 0);
}
