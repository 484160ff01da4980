//! Runs that go from machine to machine through a repository: each workspace is a machine with a
//! clone and a state home of its own.

mod compiled;

use std::fs;

use crate::workspace::Workspace;

/// The first step succeeds at its second attempt and has a gate; the second one needs the first.
const WORKFLOW: &str = "---
intent: write files
success_criteria: the files are there
risk_level: low
---

- [ ] **Step 1: Count**
action: count to two
loop: until it is two
max_iterations: 3
verify: test \"$(cat n)\" = 2
gate: human

```sh
n=$(cat n 2>/dev/null || echo 0)
echo $((n + 1)) > n
```

- [ ] **Step 2: Go on**
action: use what is there
loop: false
verify: test \"$(cat more.txt)\" = 2

```sh
cp n more.txt
```
";

const ID: &str = "x-1";

/// A machine whose clone has the workflow, with the repository `hub.git` beside it.
fn first() -> Workspace {
    let first = Workspace::git();
    first.write("hotl-workflow-x.md", WORKFLOW);
    first.commit("Plan");
    first.git_says(&["init", "--quiet", "--bare", "../hub.git"]);
    first.git_says(&["remote", "add", "origin", "../hub.git"]);
    first.git_says(&["push", "--quiet", "origin", "main"]);
    first
}

/// Another machine with a clone of the same repository.
fn another(first: &Workspace) -> Workspace {
    let other = Workspace::plain();
    let hub = first.path("../hub.git");
    other.git_says(&["clone", "--quiet", "--branch", "main", hub.to_str().unwrap(), "."]);
    other.identify();
    other
}

fn run(machine: &Workspace) -> crate::workspace::Run {
    machine.onloop(&["run", "--agent", "script", "--run-id", ID])
}

fn ledger(machine: &Workspace) -> String {
    fs::read_to_string(machine.kept(ID, "ledger.jsonl")).expect("the machine has the run")
}

fn hub_refs(first: &Workspace) -> String {
    first.git_says(&["--git-dir", "../hub.git", "for-each-ref", "refs/onloop"])
}

#[test]
fn a_run_goes_on_where_another_machine_left_it() {
    let (one, two) = {
        let one = first();
        let two = another(&one);
        (one, two)
    };
    run(&one).expect_exit(3);
    let said = one.onloop(&["push", ID]).expect_exit(0).stderr;
    assert!(said.contains("onloop fetch x-1"), "{said}");
    // The same again is there already.
    let again = one.onloop(&["push", ID]).expect_exit(0).stderr;
    assert!(again.contains("is at origin already"), "{again}");

    let asked = two.onloop(&["fetch", ID]).expect_exit(3);
    assert!(asked.stdout.contains("It would run"), "{}", asked.stdout);
    assert!(asked.stdout.contains("cp n more.txt"), "{}", asked.stdout);
    assert!(two.kept_ids().is_empty(), "nothing is taken over unasked");
    two.onloop(&["fetch", ID, "--yes"]).expect_exit(0);
    let worktree = two.worktree("hotl/x");
    assert_eq!(fs::read_to_string(worktree.join("n")).unwrap(), "2\n");
    assert!(ledger(&two).starts_with(&ledger(&one)), "the ledger continues");
    two.onloop(&["gate", "1", "approved", "--run-id", ID]).expect_exit(0);
    two.onloop(&["resume", ID, "--agent", "script"]).expect_exit(0);
    assert_eq!(fs::read_to_string(worktree.join("more.txt")).unwrap(), "2\n");
    two.onloop(&["push", ID]).expect_exit(0);

    // It comes home into the checkout that it left.
    one.onloop(&["fetch", ID, "--yes"]).expect_exit(0);
    assert!(ledger(&one).starts_with(&ledger(&two)), "home again");
    let summary = one.onloop(&["summary", ID]).expect_exit(0).stdout;
    assert!(summary.contains("\"completed\""), "{summary}");
    two.onloop(&["finish", ID, "publish"]).expect_exit(0);
    let files = one.git_says(&["--git-dir", "../hub.git", "ls-tree", "--name-only", "hotl/x"]);
    assert!(files.contains("more.txt"), "{files}");
}

#[test]
fn of_two_machines_that_go_on_with_one_run_one_can_push() {
    let one = first();
    let two = another(&one);
    run(&one).expect_exit(3);
    one.onloop(&["push", ID]).expect_exit(0);
    two.onloop(&["fetch", ID, "--yes"]).expect_exit(0);
    for machine in [&one, &two] {
        machine.onloop(&["gate", "1", "approved", "--run-id", ID]).expect_exit(0);
    }
    let mut children = Vec::new();
    for machine in [&one, &two] {
        let mut command = machine.command_at(".", crate::workspace::program());
        children.push(command.args(["push", ID]).spawn().unwrap());
    }
    let mut codes: Vec<i32> =
        children.into_iter().map(|mut child| child.wait().unwrap().code().unwrap()).collect();
    let winner = if codes[0] == 0 { &one } else { &two };
    let loser = if codes[0] == 0 { &two } else { &one };
    codes.sort_unstable();
    assert_eq!(codes, [0, 4], "exactly one wins");
    let name = format!("refs/onloop/{ID}/ledger:ledger.jsonl");
    let there = one.git_says(&["--git-dir", "../hub.git", "show", &name]);
    assert_eq!(there, ledger(winner).trim_end(), "all that the winner has, and nothing else");
    let before = hub_refs(&one);
    let said = loser.onloop(&["push", ID]).expect_exit(4).stderr;
    assert!(crate::flat(&said).contains("continued in two places"), "{said}");
    let said = crate::flat(&loser.onloop(&["fetch", ID, "--yes"]).expect_exit(4).stderr);
    assert!(said.contains("nothing was fetched") && said.contains("from line"), "{said}");
    assert_eq!(hub_refs(&one), before, "nothing changed");
}

#[test]
fn a_ledger_that_is_not_sound_is_refused_and_nothing_changes() {
    let one = first();
    run(&one).expect_exit(3);
    one.onloop(&["push", ID]).expect_exit(0);
    let whole = ledger(&one);
    let damaged = whole.replacen("count to two", "count to ten", 1);
    let cut = &whole[..whole.len() - 10];
    for (text, why) in [
        (damaged.as_str(), "line 1: its checksum is not"),
        (cut, "its last line is torn"),
        ("", "there is no whole line"),
    ] {
        plant(&one, ID, text);
        let two = another(&one);
        let said = two.onloop(&["fetch", ID, "--yes"]).expect_exit(4).stderr;
        assert!(
            crate::flat(&said).contains("has no sound ledger") && crate::flat(&said).contains(why),
            "{said}"
        );
        assert!(two.kept_ids().is_empty() && !two.worktree("hotl/x").exists(), "{why}");
    }
    // Under the name of another run.
    plant(&one, "y-1", &whole);
    let two = another(&one);
    let said = two.onloop(&["fetch", "y-1", "--yes"]).expect_exit(4).stderr;
    assert!(crate::flat(&said).contains("it is the ledger of run `x-1`"), "{said}");
}

/// Puts a ledger where a push would.
fn plant(machine: &Workspace, id: &str, ledger: &str) {
    machine.write("../planted", ledger);
    let line = format!(
        "blob=$(git hash-object -w ../planted) && tree=$(printf '100644 blob %s\\tledger.jsonl\\n' \
         $blob | git mktree) && git push --quiet --force origin \
         $(git commit-tree -m planted $tree):refs/onloop/{id}/ledger"
    );
    machine.shell(&line).expect_exit(0);
}

#[test]
fn what_cannot_be_pushed_or_fetched_says_why() {
    let one = first();
    run(&one).expect_exit(3);
    for (arguments, code, why) in [
        (&["fetch", "nothing-1"][..], 2, "`origin` has no run `nothing-1`"),
        (&["fetch", "nothing-1", "--if-any"], 0, "origin has no run nothing-1"),
        (&["fetch", "../../x"], 2, "`../../x` is not the id of a run"),
        (&["fetch", "--", "--upload-pack=x"], 2, "is not the id of a run"),
        (&["fetch", ID, "--remote", "https://x"], 4, "is not the name of a remote"),
        (&["push", ID, "--remote", "nowhere"], 4, "there is no remote `nowhere`"),
        (&["push", ID, "--remote", "gone"], 4, "`gone` does not answer"),
        (&["fetch", ID, "--remote", "gone"], 4, "`gone` does not answer"),
    ] {
        one.git_says(&["config", "remote.gone.url", "../gone.git"]);
        let said = one.onloop(arguments).expect_exit(code).stderr;
        assert!(crate::flat(&said).contains(why), "{arguments:?}: {said}");
    }
    // An agent neither sends a run away nor takes one over.
    for verb in ["push", "fetch"] {
        let agent = format!("ONLOOP_STEP=1 onloop {verb} {ID}");
        let said = one.shell(&agent).expect_exit(4).stderr;
        assert!(crate::flat(&said).contains("is for a person to decide"), "{said}");
    }
}

#[test]
fn work_of_a_person_is_not_overwritten() {
    let one = first();
    let two = another(&one);
    run(&one).expect_exit(3);
    one.onloop(&["push", ID]).expect_exit(0);
    two.onloop(&["fetch", ID, "--yes"]).expect_exit(0);
    two.onloop(&["gate", "1", "approved", "--run-id", ID]).expect_exit(0);
    two.onloop(&["push", ID]).expect_exit(0);
    let mine = one.worktree("hotl/x").join("mine.txt");
    fs::write(&mine, "mine\n").unwrap();
    let said = one.onloop(&["fetch", ID, "--yes"]).expect_exit(4).stderr;
    assert!(
        crate::flat(&said).contains("files in") && crate::flat(&said).contains("are changed"),
        "{said}"
    );
    assert_eq!(fs::read_to_string(&mine).unwrap(), "mine\n");
    // Another branch of the same name is left alone, too.
    let three = another(&one);
    three.git_says(&["branch", "hotl/x", "main"]);
    three.git_says(&["commit", "--quiet", "--allow-empty", "--message", "Else"]);
    three.git_says(&["branch", "--force", "hotl/x", "main"]);
    let said = three.onloop(&["fetch", ID, "--yes"]).expect_exit(4).stderr;
    assert!(crate::flat(&said).contains("branch `hotl/x` is at"), "{said}");
}

#[test]
fn work_that_was_left_behind_is_verified_again() {
    let one = first();
    // Its driver dies with the work done. The next one verifies the work before it is kept.
    let died = one.path("../died");
    let die = format!("test -e {0} || {{ touch {0}; kill -9 $PPID; sleep 60; }}", died.display());
    let text = WORKFLOW.replace("echo $((n + 1)) > n\n", &format!("echo 2 > n\n{die}\n"));
    one.write("hotl-workflow-x.md", text);
    one.commit("Die");
    one.git_says(&["push", "--quiet", "origin", "main"]);
    let two = another(&one);
    run(&one);
    one.onloop(&["resume", ID, "--agent", "script"]).expect_exit(3);
    one.onloop(&["push", ID]).expect_exit(0);
    let whole = ledger(&one);
    let verified = whole.lines().position(|line| line.contains("\"step_verified\"")).unwrap();
    let known: Vec<&str> = whole.split_inclusive('\n').take(verified + 1).collect();
    assert!(!known.iter().any(|line| line.contains("\"acted\"")), "{known:?}");
    plant(&one, ID, &known.concat());
    one.git_says(&["--git-dir", "../hub.git", "update-ref", "-d", "refs/onloop/x-1/1-1"]);

    let said = two.onloop(&["fetch", ID, "--yes"]).expect_exit(0).stderr;
    assert!(said.contains("onloop resume"), "nobody is asked about a gate: {said}");
    assert!(!two.worktree("hotl/x").join("n").exists());
    two.onloop(&["resume", ID, "--agent", "script"]).expect_exit(3);
    let n = fs::read_to_string(two.worktree("hotl/x").join("n")).unwrap();
    assert_eq!(n, "2\n", "it is there when the gate is asked about");
}

#[test]
#[ignore = "only with --all"]
fn what_an_agent_left_is_verified_again_where_its_verdict_did_not_come() {
    let one = first();
    run(&one).expect_exit(3);
    let whole = ledger(&one);
    let acted = whole.lines().rfind(|line| line.contains("\"kind\":\"acted\"")).unwrap();
    let acted: serde_json::Value = serde_json::from_str(acted).unwrap();
    let acted = acted["commit"].as_str().unwrap();
    one.onloop(&["push", ID]).expect_exit(0);
    let hub = |words: &[&str]| one.git_says(&[&["--git-dir", "../hub.git"], words].concat());
    hub(&["update-ref", "refs/onloop/x-1/1-2", acted]);
    // Otherwise it comes along with what comes from it.
    hub(&["reflog", "expire", "--expire=now", "--all"]);
    hub(&["gc", "--quiet", "--prune=now"]);
    let two = another(&one);

    let said = two.onloop(&["fetch", ID, "--yes"]).expect_exit(0).stderr;
    assert!(said.contains("onloop resume"), "nobody is asked about a gate: {said}");
    assert!(ledger(&two).contains("\"lost_checkpoints\":[\"1-2\"]"), "{}", ledger(&two));
    let worktree = two.worktree("hotl/x");
    assert_eq!(fs::read_to_string(worktree.join("n")).unwrap(), "2\n", "nothing is done again");
    // A machine that has lost the record of the fetch finds the files of the run and continues it.
    fs::remove_dir_all(two.kept(ID, "")).unwrap();
    two.onloop(&["fetch", ID, "--yes"]).expect_exit(0);
    two.onloop(&["resume", ID, "--agent", "script"]).expect_exit(3);
    assert_eq!(fs::read_to_string(worktree.join("n")).unwrap(), "2\n");
    let verified = ledger(&two).matches("\"event\":\"step_verified\"").count();
    assert_eq!(verified, ledger(&one).matches("\"event\":\"step_verified\"").count() + 1);
    two.onloop(&["gate", "1", "approved", "--run-id", ID]).expect_exit(0);
    two.onloop(&["resume", ID, "--agent", "script"]).expect_exit(0);
    assert_eq!(fs::read_to_string(worktree.join("more.txt")).unwrap(), "2\n");
}

#[test]
#[ignore = "only with --all"]
fn work_that_came_further_than_its_record_is_not_left_behind() {
    let one = first();
    run(&one).expect_exit(3);
    one.onloop(&["push", ID]).expect_exit(0);
    let whole = ledger(&one);
    let verified = whole.lines().enumerate().filter(|(_, line)| line.contains("\"step_verified\""));
    let last = verified.last().unwrap().0;
    let known: String = whole.split_inclusive('\n').take(last + 1).collect();
    plant(&one, ID, &known);
    let two = another(&one);
    let said = two.onloop(&["fetch", ID, "--yes"]).expect_exit(0).stderr;
    assert!(said.contains("onloop approve "), "{said}");
    assert!(!ledger(&two).contains("lost_checkpoints"));
    assert_eq!(fs::read_to_string(two.worktree("hotl/x").join("n")).unwrap(), "2\n");
}

#[test]
#[ignore = "only with --all"]
fn what_was_undone_stays_undone_elsewhere() {
    let one = first();
    run(&one).expect_exit(3);
    one.onloop(&["undo", ID, "1-1"]).expect_exit(0);
    one.onloop(&["push", ID]).expect_exit(0);
    let two = another(&one);
    two.onloop(&["fetch", ID, "--yes"]).expect_exit(0);
    for machine in [&one, &two] {
        let n = fs::read_to_string(machine.worktree("hotl/x").join("n")).unwrap();
        assert_eq!(n, "1\n");
    }
}

#[test]
#[ignore = "only with --all"]
fn a_fetch_that_was_refused_halfway_is_done_again() {
    let one = first();
    run(&one).expect_exit(3);
    one.onloop(&["push", ID]).expect_exit(0);
    let two = another(&one);
    // Git would run it when files are brought back.
    two.git_says(&["config", "filter.x.clean", "cat"]);
    let said = two.onloop(&["fetch", ID, "--yes"]).expect_exit(4).stderr;
    assert!(
        crate::flat(&said).contains("run `x-1` was not fetched")
            && crate::flat(&said).contains("filter.x.clean"),
        "{said}"
    );
    assert!(two.kept_ids().is_empty(), "a run that is known has its files");
    two.git_says(&["config", "--unset", "filter.x.clean"]);
    two.onloop(&["fetch", ID, "--yes"]).expect_exit(0);
    let n = two.worktree("hotl/x").join("n");
    assert_eq!(fs::read_to_string(n).unwrap(), "2\n");
    let again = two.onloop(&["fetch", ID, "--yes"]).expect_exit(0).stderr;
    assert!(again.contains("with more than origin has of it"), "{again}");
    two.onloop(&["push", ID]).expect_exit(0);
    let again = two.onloop(&["fetch", ID, "--yes"]).expect_exit(0).stderr;
    assert!(again.contains("is here already, as origin has it"), "{again}");
}

#[test]
fn a_named_run_begins_once_and_goes_on() {
    let one = first();
    run(&one).expect_exit(3);
    // The same again continues: it waits at the same gate.
    let said = run(&one).expect_exit(3).stderr;
    assert!(said.contains("Resumed run x-1"), "{said}");
    assert_eq!(one.kept_ids(), [ID]);
    let other = one.onloop(&["run", "--run-id", "-x"]).expect_exit(2).stderr;
    assert!(!other.is_empty());
    let said = one.onloop(&["run", "--run-id=a/b", "--agent", "script"]).expect_exit(2).stderr;
    assert!(crate::flat(&said).contains("is not an id for a run"), "{said}");
    let digest = "0".repeat(64);
    let arguments = ["run", "--run-id", "x-2", "--plan-digest", &digest, "--agent", "script"];
    let said = one.onloop(&arguments).expect_exit(2).stderr;
    assert!(crate::flat(&said).contains("was changed since it was compiled"), "{said}");
    assert_eq!(one.kept_ids(), [ID]);
}
