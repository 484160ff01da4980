//! Runs whose agents and checks are confined, and calls of agents that run confined instead of
//! being asked about.

use std::net::TcpListener;

use serde_json::{Value, json};

use super::mechanisms;
use super::place::{Place, SECRET};
use crate::rounds::sampled;
use crate::workspace::{Run, program};

const FRONT: &str =
    "intent: Try\nsuccess_criteria: It works\nrisk_level: low\ndirty_worktree: allow\n";

/// A workflow of one step in the repository, committed.
pub(super) fn place(more: &str, verify: &str, script: &str) -> Place {
    let place = Place::new();
    let script =
        if script.is_empty() { String::new() } else { format!("\n```bash\n{script}\n```\n") };
    place.write(
        "repo/hotl-workflow-try.md",
        &format!(
            "---\n{FRONT}{more}---\n\n- [ ] **Step 1: Go**\naction: Go.\nloop: false\n\
             verify:{verify}\n{script}"
        ),
    );
    place.git("repo", &["add", "hotl-workflow-try.md"]);
    place.git("repo", &["commit", "--quiet", "--message", "Add a workflow"]);
    place
}

pub(super) fn run(place: &Place, options: &[&str]) -> Run {
    place.onloop("repo", &[&["run", "hotl-workflow-try.md"], options].concat())
}

/// Everything in the ledger of the only run.
fn ledger(place: &Place) -> Vec<Value> {
    let runs = std::fs::read_dir(place.path("state/runs")).unwrap();
    let mut runs = runs.map(|entry| entry.unwrap().path());
    // The place has a run of its own, which is nobody's.
    let run = runs.find(|path| path.file_name().unwrap().to_str().unwrap().starts_with("try-"));
    let ledger = run.unwrap().join("ledger.jsonl");
    let text = std::fs::read_to_string(ledger).unwrap();
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

#[test]
fn agents_and_checks_of_a_run_are_confined_and_the_ledger_says_how() {
    let by = mechanisms()[0];
    let script = "\
        cat ~/.ssh/id_ed25519 ../../../repo/.env > read 2>/dev/null\n\
        echo evil >> ../../../repo/hotl-workflow-try.md\n\
        echo evil > ../../../repo/.git/hooks/post-commit\n\
        find \"$HOME/../state\" -type f > state 2>/dev/null\n\
        echo fine > \"$TMPDIR/t\" && cat \"$TMPDIR/t\" > made\n\
        git add made && git commit -qm Made\n\
        sleep 600 > /dev/null 2>&1 &\n\
        true";
    let place = place(
        "confine: on\nsetup:\n  - echo ready > ready\n",
        " test -s made && ! test -s read && ! test -s state",
        script,
    );
    let before = std::fs::read_to_string(place.path("repo/hotl-workflow-try.md")).unwrap();
    let done = run(&place, &["--agent", "script", "--json"]).expect_exit(0);
    let after = std::fs::read_to_string(place.path("repo/hotl-workflow-try.md")).unwrap();
    assert_eq!(before, after);
    assert!(!place.path("repo/.git/hooks/post-commit").exists());
    let mut summary: Value = serde_json::from_str(&done.stdout).unwrap();
    for hold in summary["confined"].as_array_mut().unwrap() {
        assert!(without_caches(hold).contains(&json!("~/.gradle/caches")));
    }
    let names = json!({"names": ["@provider", "@registries", "@localhost"]});
    let hold = |worker: &str| {
        let network = if worker == "agent" { names.clone() } else { json!("all") };
        json!({"worker": worker, "step": 1, "by": by, "network": network})
    };
    assert_eq!(summary["confined"], json!([hold("setup"), hold("agent"), hold("check")]));
    let held: Vec<String> = ledger(&place)
        .iter()
        .filter(|event| event["event"].as_str().unwrap_or_default().ends_with("_started"))
        .filter(|event| event["event"] != "step_started")
        .map(|event| {
            let mut hold = event["confined"].clone();
            without_caches(&mut hold);
            format!("{} {hold}", event["event"])
        })
        .collect();
    let expected = [json!("all"), names].map(|of| json!({"by": by, "network": of}).to_string());
    let is_known = |line: &String| expected.iter().any(|of| line.ends_with(of.as_str()));
    assert!(held.len() >= 4 && held.iter().all(is_known), "{held:?}");
    let id = summary["run_id"].as_str().unwrap();
    let status = place.onloop("repo", &["status", id]);
    let confined = format!(
        "{by}: setup, check of step 1; {by}, network @provider,@registries,@localhost: \
         agent of step 1"
    );
    let said = crate::flat(&status.stdout);
    assert!(said.contains(&format!("Confined: {confined}")), "{}", status.stdout);
    let report = place.onloop("repo", &["report", id]);
    assert!(report.stdout.contains(&format!("**Confined:** {confined}\n")), "{}", report.stdout);
}

/// Takes out the caches that it shared.
fn without_caches(hold: &mut Value) -> Vec<Value> {
    let caches = hold.as_object_mut().unwrap().remove("caches");
    caches.unwrap().as_array().unwrap().clone()
}

/// The agent leaves something in a cache, with which alone the check passes.
#[test]
fn checks_on_a_clean_checkout_find_no_cache_of_the_agent() {
    // A tool that was never used has its cache in a folder of the run.
    let cases = [
        ("", true, 0),
        ("", false, 0),
        ("verify_clean: true\n", true, 1),
        ("verify_clean: true\n", false, 1),
    ];
    for (more, is_used, code) in sampled(3, cases) {
        let place = place(
            &format!("confine: on\nworktree: true\n{more}"),
            " test -f \"${PIP_CACHE_DIR:-$HOME/.cache/pip}/planted\"",
            "touch \"${PIP_CACHE_DIR:-$HOME/.cache/pip}/planted\" && echo made > made",
        );
        if is_used {
            place.write("home/.cache/pip/selfcheck.json", "{}\n");
        }
        let done = run(&place, &["--agent", "script", "--json"]).expect_exit(code);
        let summary: Value = serde_json::from_str(&done.stdout).unwrap();
        assert_eq!(summary["steps"][0]["attempts"], 1, "{summary}");
        if code == 1 {
            let why = summary["steps"][0]["block_reason"].to_string();
            assert!(why.contains("not on a clean checkout"), "{summary}");
        }
    }
}

#[test]
fn who_does_not_want_it_gets_none_and_the_ledger_says_so() {
    let place = place("", " 'true'", "echo hi > ../../../home/written");
    let done = run(&place, &["--agent", "script", "--confine", "off", "--json"]).expect_exit(0);
    assert!(!done.stderr.contains("not confined"), "{}", done.stderr);
    assert!(place.path("home/written").exists());
    let summary: Value = serde_json::from_str(&done.stdout).unwrap();
    let expected = json!({"worker": "agent", "step": 1, "why": "`--confine off`"});
    assert_eq!(summary["confined"][0], expected);
}

#[test]
fn where_it_cannot_be_done_a_run_says_so_once_or_is_refused() {
    let place = Place::new();
    place.write("home/.agentize.local.yaml", "{}\n");
    let file = format!(
        "---\n{FRONT}---\n\n- [ ] **Step 1: Go**\naction: Go.\nloop: false\nverify: 'true'\n"
    );
    place.write("home/hotl-workflow-try.md", &file);
    place.git("home", &["init", "--quiet", "--initial-branch=main"]);
    place.git("home", &["add", "hotl-workflow-try.md"]);
    place.git("home", &["commit", "--quiet", "--message", "Add a workflow"]);
    let start = |options: &[&str]| {
        let words = ["run", "hotl-workflow-try.md", "--agent", "script"];
        place.onloop("home", &[&words, options].concat())
    };
    let on = start(&["--confine", "on"]).expect_exit(4);
    let why = format!("`{0}` contains", place.path("home").display());
    let expected = format!("error: `--confine on`, and this machine has no sandbox cause: {why}");
    assert!(crate::flat(&on.stderr).contains(&expected), "{}", on.stderr);
    assert!(on.stderr.contains("\n    onloop doctor confine\n"), "{}", on.stderr);
    let auto = start(&[]).expect_exit(0);
    assert_eq!(auto.stderr.matches(&format!("Sandbox: none ({why}")).count(), 1, "{}", auto.stderr);
    let asked = file.replace("risk_level", "confine: on\nrisk_level");
    place.write("home/hotl-workflow-try.md", &asked);
    let refused = start(&["--confine", "off", "--fresh"]).expect_exit(4);
    let who =
        "error: the workflow file says `confine: on`, and this machine has no sandbox cause: ";
    assert!(crate::flat(&refused.stderr).contains(who), "{}", refused.stderr);
}

#[test]
fn a_check_has_the_network_that_the_file_gives_it() {
    let server = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = server.local_addr().unwrap().port();
    let reach = format!("exec 3<>/dev/tcp/127.0.0.1/{port}");
    let verify = format!(
        "\n  - type: shell\n    command: {reach}\n  - type: shell\n    command: {reach}\n    \
         expect: fail\n    network: none"
    );
    let place = place("", &verify, "");
    let done = run(&place, &["--agent", "script", "--json"]).expect_exit(0);
    let summary: Value = serde_json::from_str(&done.stdout).unwrap();
    assert_eq!(summary["confined"][0]["network"], "all", "the least that held: {summary}");
    let networks: Vec<Value> = ledger(&place)
        .into_iter()
        .filter(|event| event["event"] == "work_started" && event["worker"] == "check")
        .map(|event| event["confined"]["network"].clone())
        .collect();
    assert_eq!(networks[..2], [json!("all"), json!("none")]);
}

#[test]
fn a_death_by_signal_is_no_answer() {
    let verify = "\n  type: shell\n  command: kill -9 $$\n  expect: fail";
    let done = run(&place("", verify, ""), &["--agent", "script"]).expect_exit(1);
    assert!(
        done.stderr.contains("another reason than the code: exit code 137 (or killed by signal 9)"),
        "{}",
        done.stderr
    );
}

#[test]
fn an_agent_of_its_own_reads_its_prompt_and_tells_what_it_used() {
    let place = place("", " grep -q Go. got", "");
    let line = "cat \"$ONLOOP_PROMPT_FILE\" > got; echo evil > \"$ONLOOP_PROMPT_FILE\"; \
                echo '{\"tokens\": 7}' > \"$ONLOOP_USAGE_FILE\"";
    let done = run(&place, &["--agent-command", line, "--confine", "on", "--json"]).expect_exit(0);
    let reported = ledger(&place).into_iter().find(|event| event["event"] == "usage_reported");
    assert_eq!(reported.unwrap()["tokens"], 7, "{}", done.stderr);
    let id: Value = serde_json::from_str(&done.stdout).unwrap();
    let prompt = format!("state/runs/{}/prompts/1-1.md", id["run_id"].as_str().unwrap());
    let prompt = std::fs::read_to_string(place.path(&prompt)).unwrap();
    assert!(!prompt.contains("evil"), "{prompt}");
}

/// What a host's hook answers about a line.
fn answer(place: &Place, host: &str, call: &Value) -> Value {
    use std::io::Write;
    let mut command = place.command(program(), "wt");
    command.args(["hook", host]).env("HANDSOFF_AUTO_PERMISSION", "false");
    command.stdin(std::process::Stdio::piped()).stdout(std::process::Stdio::piped());
    let mut child = command.spawn().unwrap();
    child.stdin.take().unwrap().write_all(call.to_string().as_bytes()).unwrap();
    let output = child.wait_with_output().unwrap();
    serde_json::from_slice(&output.stdout).unwrap()
}

fn claude(place: &Place, line: &str) -> Value {
    let call = json!({
        "session_id": "s", "hook_event_name": "PreToolUse", "cwd": place.path("wt"),
        "tool_name": "Bash", "tool_input": { "command": line, "description": "Try" },
    });
    answer(place, "claude", &call)["hookSpecificOutput"].clone()
}

#[test]
fn an_undecided_call_runs_confined_with_its_own_output_and_exit_code() {
    let place = Place::new();
    place.write("home/.agentize.local.yaml", "{}\n");
    place.write(
        "wt/run.sh",
        "#!/bin/sh\necho \"<$1>\"; cat ~/.ssh/id_ed25519\necho x > ../repo/x\nexit 7\n",
    );
    let said = claude(&place, "sh run.sh 'a  b'\\''c'");
    assert_eq!(said["permissionDecision"], "allow", "{said}");
    assert_eq!(said["updatedInput"]["description"], "Try", "{said}");
    let line = said["updatedInput"]["command"].as_str().unwrap();
    let ran: Run = place.command("sh", "wt").args(["-c", line]).output().unwrap().into();
    assert_eq!((ran.exit, ran.stdout.as_str()), (Some(7), "<a  b'c>\n"), "{line}\n{}", ran.stderr);
    assert!(!ran.stdout.contains(SECRET) && !place.path("repo/x").exists());
    let call = json!({
        "event": "tool.execute.before", "session_id": "s", "cwd": place.path("wt"), "tool": "bash",
        "input": { "command": "sh run.sh" },
    });
    let said = answer(&place, "opencode", &call);
    assert_eq!(said["decision"], "allow", "{said}");
    assert!(said["input"]["command"].as_str().unwrap().contains(" confine --network "), "{said}");
}

#[test]
fn what_leaves_the_checkout_is_asked_about_and_what_is_denied_stays_denied() {
    let place = Place::new();
    place.write("home/.agentize.local.yaml", "{}\n");
    for (line, decision) in [
        ("git push origin main", "ask"),
        ("npm publish", "ask"),
        ("ssh host ls", "ask"),
        ("rm -rf /", "deny"),
        ("cat ~/.ssh/id_ed25519", "deny"),
    ] {
        let said = claude(&place, line);
        assert_eq!(said["permissionDecision"], decision, "{line}: {said}");
        assert_eq!(said["updatedInput"], Value::Null, "{line}");
    }
    place.write("home/.agentize.local.yaml", "permissions:\n  confine: off\n");
    assert_eq!(claude(&place, "sh run.sh")["permissionDecision"], "ask");
}

#[test]
#[ignore = "only with --all"]
fn the_checks_of_a_draft_are_tried_once_confined_and_without_network() {
    if mechanisms().is_empty() {
        return;
    }
    let place = Place::new();
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    place.write(
        "repo/draft",
        &format!(
            "---\nintent: Try\nsuccess_criteria: It works\nrisk_level: low\n---\n\n\
             - [ ] **Step 1: Go**\naction: Go.\nloop: false\nverify:\n  - grep -q b a.txt\n  \
             - touch made-by-a-check ../../../repo/made-by-a-check\n  \
             - exec 3<>/dev/tcp/127.0.0.1/{port}\n  - no-such-program\n  - test -f draft\n"
        ),
    );
    place.git("repo", &["add", "draft"]);
    place.git("repo", &["commit", "--quiet", "--message", "Add what an agent would draft"]);
    let agent = "cat > /dev/null; echo turn >> hotl-workflow-x.md; cp draft hotl-workflow-x.md";
    let run = place.onloop("repo", &["plan", "X", "--agent-command", agent]).expect_exit(0);
    for expected in [
        "check   grep -q b a.txt\n       now     fails (exit code 1)\n",
        "/made-by-a-check\n       now     fails (exit code 1)\n",
        &format!("{port}\n       now     fails (exit code 1)\n"),
        "check   no-such-program\n       now     cannot run: command not found\n",
        "check   test -f draft\n       now     passes\n",
    ] {
        assert!(run.stderr.contains(expected), "{expected}: {}", run.stderr);
    }
    let told = run.stderr.matches("`no-such-program` cannot run now: command not found.").count();
    assert_eq!(told, 1, "{}", run.stderr);
    assert!(!place.path("repo/made-by-a-check").exists());
    listener.set_nonblocking(true).unwrap();
    assert!(listener.accept().is_err(), "nothing came through");
}

#[test]
fn what_a_killed_run_has_left_is_named_and_removed_by_the_next_one() {
    let by = mechanisms()[0];
    let place = place("confine: on\n", " test -s ok.txt", "");
    let temporary = place.path("tmp");
    std::fs::create_dir_all(&temporary).unwrap();
    let left = || std::fs::read_dir(&temporary).unwrap().count();
    let onloop = |words: &[&str]| {
        let mut command = place.command(program(), "repo");
        command.env("TMPDIR", &temporary).args(words);
        command
    };
    let words = ["run", "hotl-workflow-try.md", "--agent-command"];
    let agent = "echo > \"$TMPDIR/f\"; echo > started; sleep 60";
    let mut child = onloop(&[&words[..], &[agent]].concat()).spawn().unwrap();
    let started = place.path(".hotl-worktrees/repo/hotl-try/started");
    for _ in 0..600 {
        if started.exists() {
            break;
        }
        std::thread::sleep(std::time::Duration::from_millis(50));
    }
    assert!(started.exists(), "{by}");
    let said = Run::from(onloop(&["doctor", "claude"]).output().unwrap()).stdout;
    assert!(!said.contains("has left"), "its run is alive: {said}");
    child.kill().unwrap();
    child.wait().unwrap();
    assert_eq!(left(), 1, "{by}");
    let said = Run::from(onloop(&["doctor", "claude"]).output().unwrap()).stdout;
    assert!(said.contains("a killed run has left "), "{said}");
    let said = Run::from(onloop(&["doctor", "--prune"]).output().unwrap()).expect_exit(0).stdout;
    assert!(said.contains("which a killed run has left"), "{said}");
    assert_eq!(left(), 0, "{by}");
    assert_eq!(std::fs::read_dir(place.path("state/temporary")).unwrap().count(), 0);
}
