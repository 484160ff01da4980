//! What a fresh worktree gets before its first step: copies of ignored files, and `setup`.

use std::os::unix::fs::{PermissionsExt, symlink};

use super::{FILE, begin, standing, wait_until, workflow};
use crate::workspace::Workspace;

const STEP: &str = "\
- [ ] **Step 1: Look**
action: look
loop: until it is there
verify: test -f ready && cat .env
```sh
cat .env > seen
```
";

/// A repository that ignores `.env`, `local/` and `ready`, and whose checkout has some of it.
fn repository(setup: &str) -> Workspace {
    let project = Workspace::git();
    project.write(".gitignore", ".env\nlocal/\nready\nlog\n");
    project.write(".worktreeinclude", "# ours\n.env\nlocal/*\n!local/no\n/tracked.txt\n*.link\n");
    project.write("tracked.txt", "tracked\n");
    project.write(FILE, workflow(setup, STEP));
    project.commit("Begin");
    project.write(".env", "KEY=1\n");
    project.write("local/tool", "#!/bin/sh\n");
    project.write("local/no", "no\n");
    project.write("other", "untracked, and not ignored\n");
    let tool = project.path("local/tool");
    std::fs::set_permissions(tool, PermissionsExt::from_mode(0o755)).unwrap();
    symlink("/etc/passwd", project.path("local/passwd")).unwrap();
    project
}

const SETUP: &str =
    "setup:\n  - echo once >> log\n  - \"touch ready  # 'q'\"\ndirty_worktree: allow\n";

#[test]
fn a_fresh_worktree_is_made_ready_once() {
    let project = repository(SETUP);
    let run = project.onloop(&["run", FILE, "--agent", "script"]).expect_exit(0);
    assert_eq!(standing(&project), "completed: done");
    let worktree = project.worktree("hotl/w");
    let mode = |file: &str| worktree.join(file).metadata().unwrap().permissions().mode() & 0o777;
    assert_eq!((mode(".env"), mode("local/tool")), (0o600, 0o700));
    for absent in ["local/no", "local/passwd", "other"] {
        assert!(worktree.join(absent).symlink_metadata().is_err(), "{absent}");
    }
    assert_eq!(std::fs::read_to_string(worktree.join("log")).unwrap(), "once\n");
    assert!(!project.path("log").exists(), "the checkout stays as it is");
    for said in [
        "    not copied: local/passwd is not a plain file\n",
        "→ Setup: echo once >> log\n→ Setup: touch ready  # 'q'\n",
        "✓ Setup: 2 files copied, 2 commands run\n",
    ] {
        assert!(run.stderr.contains(said), "{said} in {}", run.stderr);
    }
    let record = project.record();
    assert_eq!(record["set_up"], serde_json::json!({ "copied": 2, "commands": 2 }));
    let id = record["run_id"].as_str().unwrap();
    let ledger = std::fs::read_to_string(project.kept(id, "ledger.jsonl")).unwrap();
    let place = |event: &str| ledger.find(&format!("\"event\":\"{event}\"")).expect(event);
    assert!(place("work_started") < place("worktree_set_up"));
    assert!(place("worktree_set_up") < place("step_started"));
    assert!(project.kept(id, "logs/setup-1.log").exists());
}

/// Begins the run as an agent does that drives it by itself; its id.
fn driven(project: &Workspace) -> String {
    let prepared = project.onloop(&["prepare", FILE]).expect_exit(0);
    let place: serde_json::Value = serde_json::from_str(&prepared.stdout).unwrap();
    let of = |member: &str| place[member].as_str().unwrap();
    let words = [
        ["--execution-root", of("execution_root")],
        ["--worktree-path", of("worktree_path")],
        ["--repo-root", of("repo_root")],
        ["--branch", of("branch")],
    ];
    let words = [&["init", of("workflow_path")][..], words.as_flattened()].concat();
    project.onloop(&words).expect_exit(0).stdout.trim().to_owned()
}

#[test]
fn an_agent_that_drives_the_run_gets_a_worktree_that_is_ready() {
    let project = repository(SETUP);
    let id = driven(&project);
    let step = |action: &str| project.onloop(&["step", "1", action, "--run-id", &id]);
    let start = step("start").expect_exit(0);
    assert_eq!(start.stdout, "started step 1\n");
    assert!(start.stderr.contains("✓ Setup: 2 files copied, 2 commands run\n"), "{}", start.stderr);
    let worktree = project.worktree("hotl/w");
    std::fs::remove_file(worktree.join("ready")).unwrap();
    step("verify").expect_exit(1);
    step("retry").expect_exit(0);
    let again = step("start").expect_exit(0);
    assert!(!again.stderr.contains("Setup"), "{}", again.stderr);
    assert_eq!(std::fs::read_to_string(worktree.join("log")).unwrap(), "once\n");
    std::fs::write(worktree.join("ready"), "").unwrap();
    step("verify").expect_exit(0);
}

#[test]
fn a_setup_that_fails_begins_no_attempt_of_an_agent_that_drives_the_run() {
    let project = repository("setup: echo no >&2; exit 3\ndirty_worktree: allow\n");
    let id = driven(&project);
    let start = project.onloop(&["step", "1", "start", "--run-id", &id]).expect_exit(1);
    assert_eq!(start.stdout, "");
    assert!(start.stderr.contains("error: setup failed"), "{}", start.stderr);
    let ledger = std::fs::read_to_string(project.kept(&id, "ledger.jsonl")).unwrap();
    assert!(ledger.contains("\"event\":\"work_started\",\"worker\":\"setup\""), "{ledger}");
    assert!(!ledger.contains("\"event\":\"step_started\""), "{ledger}");
}

#[test]
#[ignore = "only with --all"]
fn a_setup_that_fails_stops_before_the_first_attempt_and_is_done_again() {
    let setup = "setup: |\n  echo once >> log\n  test -e fixed || { seq 30; echo nope >&2; exit 3; }\n  \
                 touch ready\ndirty_worktree: allow\n";
    let project = repository(setup);
    let run = project.onloop(&["run", FILE, "--agent", "script"]).expect_exit(3);
    let record = project.record();
    assert_eq!((&record["status"], &record["steps"][0]["attempts"]), (&"paused".into(), &0.into()));
    assert!(record.get("set_up").is_none(), "{record}");
    let why = "setup failed: `test -e fixed || { seq 30; echo nope >&2; exit 3; }`: exit code 3";
    let flat = crate::flat(&run.stderr);
    assert!(flat.contains(&format!("error: {why} ")), "{}", run.stderr);
    for said in ["  | 30\n", "  | nope\n", "more lines in the log"] {
        assert!(run.stderr.contains(said), "{said} in {}", run.stderr);
    }
    let id = record["run_id"].as_str().unwrap();
    assert!(run.stderr.contains(&format!("onloop resume {id}")), "{}", run.stderr);
    std::fs::write(project.worktree("hotl/w").join("fixed"), "").unwrap();
    project.onloop(&["resume", id, "--agent", "script"]).expect_exit(0);
    let log = project.worktree("hotl/w").join("log");
    assert_eq!(std::fs::read_to_string(&log).unwrap(), "once\nonce\n");
    assert_eq!(project.record()["set_up"]["commands"], 3);
}

#[test]
fn a_run_in_the_checkout_itself_needs_no_setup() {
    let project = repository("setup: exit 1\ndirty_worktree: allow\n");
    project.write("ready", "");
    project.onloop(&["run", FILE, "--agent", "script", "--mode", "branch"]).expect_exit(0);
    assert!(project.record().get("set_up").is_none());
}

#[test]
fn nothing_is_copied_through_a_link_of_the_commit() {
    let project = repository("dirty_worktree: allow\n");
    // The commit has a link where the checkout has a folder now.
    std::fs::remove_dir_all(project.path("local")).unwrap();
    let outside = project.path("outside");
    std::fs::create_dir(&outside).unwrap();
    symlink(&outside, project.path("local")).unwrap();
    project.git_says(&["add", "--force", "local"]);
    project.git_says(&["commit", "--quiet", "--message", "Link"]);
    std::fs::remove_file(project.path("local")).unwrap();
    project.write("local/tool", "x");
    let run = project.onloop(&["run", FILE, "--agent", "script"]).expect_exit(3);
    assert!(crate::flat(&run.stderr).contains("setup failed"), "{}", run.stderr);
    assert!(!outside.join("tool").exists());
}

#[test]
fn a_setup_whose_onloop_was_killed_is_ended_and_done_again() {
    let project = repository(
        "setup: [echo once >> log, test -e fixed || exec sleep 600, touch ready]\n\
                              dirty_worktree: allow\n",
    );
    let mut child = begin(&project, &["run", FILE, "--agent", "script"]);
    let log = project.worktree("hotl/w").join("log");
    let acts = || {
        let id = project.kept_ids().pop()?;
        let ledger = std::fs::read_to_string(project.kept(&id, "ledger.jsonl")).ok()?;
        (ledger.matches("\"worker\":\"setup\"").count() == 2).then_some(id)
    };
    wait_until("the second line runs", || acts().is_some());
    child.kill().unwrap();
    child.wait().unwrap();
    std::fs::write(project.worktree("hotl/w").join("fixed"), "").unwrap();
    let id = acts().expect("it ran");
    project.onloop(&["resume", &id, "--agent", "script"]).expect_exit(0);
    assert_eq!(std::fs::read_to_string(&log).unwrap(), "once\nonce\n");
    assert_eq!(project.record()["set_up"]["commands"], 3);
}

#[test]
#[ignore = "only with --all"]
fn the_submodules_of_a_worktree_come_from_the_main_checkout() {
    let project = Workspace::git();
    let step = "- [ ] **Step 1: Look**\naction: look\nloop: false\nverify: test -d .\n";
    project.write(FILE, workflow("", step));
    project.commit("Begin");
    let git = |words: &[&str]| {
        let author = ["-c", "user.name=A", "-c", "user.email=a@example.org"];
        project.git_says(&[&author[..], &["-c", "protocol.file.allow=always"], words].concat())
    };
    let path = |name: &str| project.path(name).to_str().unwrap().to_owned();
    let (inner, outer) = (path("../inner"), path("../outer"));
    for source in [&inner, &outer] {
        git(&["init", "--quiet", source]);
        git(&["-C", source, "commit", "--quiet", "--allow-empty", "--message", "Begin"]);
    }
    git(&["-C", &outer, "submodule", "--quiet", "add", &inner, "inner"]);
    git(&["-C", &outer, "commit", "--quiet", "--message", "Add it"]);
    git(&["submodule", "--quiet", "add", &outer, "libs/outer"]);
    git(&["submodule", "--quiet", "update", "--init", "--recursive"]);
    git(&["commit", "--quiet", "--all", "--message", "Add it"]);
    // Nothing can be fetched.
    for source in [&inner, &outer] {
        std::fs::rename(source, format!("{source}.gone")).unwrap();
    }
    let filled = project.onloop(&["run", "--agent-command", "true"]).expect_exit(0);
    assert!(!filled.stderr.contains("submodule"), "{}", filled.stderr);
    let root = project.worktree("hotl/w");
    assert!(root.join("libs/outer/inner/.git").exists());
    let sub = root.join("libs/outer");
    let origin = project.git_says(&["-C", sub.to_str().unwrap(), "remote", "get-url", "origin"]);
    assert_eq!(origin, outer);

    git(&["submodule", "--quiet", "deinit", "--all", "--force"]);
    std::fs::remove_dir_all(project.path(".git/modules")).unwrap();
    let empty = project.onloop(&["run", "--agent-command", "true", "--fresh"]).expect_exit(0);
    let said = crate::flat(&empty.stderr);
    let expected = "warning: submodule `libs/outer` is empty in the worktree: it is not initialized \
         in the main checkout either fix: fill it with a line of `setup:`: - git submodule update \
         --init -- libs/outer";
    assert!(said.contains(expected), "{said}");
}

#[test]
#[ignore = "only with --all"]
fn a_submodule_at_another_commit_is_not_to_be_stashed() {
    let project = Workspace::git();
    let step = "- [ ] **Step 1: Look**\naction: look\nloop: false\nverify: test -d .\n";
    project.write(FILE, workflow("", step));
    project.commit("Begin");
    let git = |words: &[&str]| {
        let author = ["-c", "user.name=A", "-c", "user.email=a@example.org"];
        project.git_says(&[&author[..], &["-c", "protocol.file.allow=always"], words].concat())
    };
    let inner = project.path("../inner").to_str().unwrap().to_owned();
    git(&["init", "--quiet", &inner]);
    git(&["-C", &inner, "commit", "--quiet", "--allow-empty", "--message", "Begin"]);
    git(&["submodule", "--quiet", "add", &inner, "inner"]);
    git(&["commit", "--quiet", "--all", "--message", "Add it"]);
    git(&["-C", "inner", "commit", "--quiet", "--allow-empty", "--message", "Newer"]);
    let said = project.onloop(&["run", "--agent-command", "true"]).expect_exit(4).stderr;
    let expected = "error: 1 file is not committed, and the work must not be mixed with it: inner \
        fix: check out the recorded commits of submodules, which git does not stash: git submodule \
        update -- inner fix: commit what is changed, first inside of submodules, then run this again: \
        git commit --all";
    assert_eq!(crate::flat(&said), expected);
    git(&["submodule", "--quiet", "update", "--", "inner"]);
    project.onloop(&["run", "--agent-command", "true"]).expect_exit(0);
}

#[cfg(target_os = "linux")]
#[test]
fn a_workflow_for_another_system_is_refused_before_anything_is_made() {
    let project = Workspace::git();
    let step = "- [ ] **Step 1: Look**\naction: look\nloop: false\nverify: make\n";
    project.write(FILE, workflow("platform: windows\n", step));
    for more in [&[][..], &["--simulate"]] {
        let args = [&["run", "--agent-command", "true"][..], more].concat();
        let said = project.onloop(&args).expect_exit(4).stderr;
        let cause = "cause: `make`: it is written for windows, and this machine runs linux";
        assert!(said.contains(cause), "{said}");
    }
    assert_eq!(project.git_says(&["worktree", "list"]).lines().count(), 1);
}
