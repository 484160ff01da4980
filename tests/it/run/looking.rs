//! `status`, `list`, `next`, `report`, `summary` and `--json`.

use onloop_core::page::web::SCRIPT;
use serde_json::{Value, json};

use super::{project, run};
use crate::workspace::{Run, Workspace, program, report_facts};

pub(super) fn paused() -> (Workspace, String) {
    let project = project(
        "",
        "- [ ] **Step 1: First | second**\naction: go\nloop: false\nverify: true\ngate: human\n\
         ```sh\ntrue\n```\n\n\
         - [ ] **Step 2: Last**\naction: go\nloop: false\nverify: true\n```sh\ntrue\n```\n",
    );
    run(&project, &[]).expect_exit(3);
    let id = project.record()["run_id"].as_str().unwrap().to_owned();
    (project, id)
}

fn read_json(text: &str) -> Value {
    serde_json::from_str(text).unwrap_or_else(|error| panic!("{error}: {text}"))
}

#[test]
fn an_unfinished_run_is_shown_and_a_finished_one_only_when_asked_for() {
    let (project, id) = paused();
    let status = project.onloop(&["status"]).expect_exit(0);
    assert!(
        status.stdout.contains(&id) && status.stdout.contains("Waiting for you"),
        "{}",
        status.stdout
    );
    let one = project.onloop(&["status", &id]).expect_exit(0);
    super::decide_and_resume(&project, &one, "Approve and continue").expect_exit(0);
    assert_eq!(project.onloop(&["status"]).expect_exit(0).stdout, "");
    assert!(project.onloop(&["list"]).expect_exit(0).stdout.contains(&id));
    assert_eq!(read_json(&project.onloop(&["status", "--json"]).stdout), json!([]));
    let list = read_json(&project.onloop(&["list", "--json"]).stdout);
    assert_eq!(list[0]["run_id"], *id);
    assert_eq!(list[0]["status"], "completed");
}

#[test]
fn status_says_what_is_going_on_and_what_comes_next() {
    let (project, id) = paused();
    let listed = project.onloop(&["status"]).expect_exit(0).stdout;
    let first = listed.lines().next().unwrap();
    assert_eq!(first, format!("⏸ {id}  Waiting for you, just now"));
    assert!(listed.contains("\n    the gate of step 1 waits for you\n"), "{listed}");
    let now = |project: &Workspace| -> Vec<String> {
        let shown = project.onloop(&["status", &id]).expect_exit(0).stdout;
        assert!(
            shown.lines().all(|line| line.chars().count() <= 80 || line.contains('/')),
            "{shown}"
        );
        let line = |word: &str| shown.lines().find(|line| line.starts_with(word));
        let line = |word: &str| line(word).map(|l| l.split(" (for ").next().unwrap().to_owned());
        ["Now: ", "Who: ", "Then: "].iter().filter_map(|word| line(word)).collect()
    };
    assert_eq!(now(&project), ["Now: the gate of step 1 waits for you", "Then: step 2: Last"]);
    project.onloop(&["gate", "1", "approved"]).expect_exit(0);
    // No process drives it between two verbs.
    for step in ["", "start", "verify"] {
        if !step.is_empty() {
            project.onloop(&["step", "2", step]).expect_exit(0);
        }
        let then = if step == "verify" {
            "Then: all checks once more, the end"
        } else {
            "Then: step 2: Last"
        };
        assert_eq!(now(&project), ["Now: nobody works on it", then], "after `{step}`");
    }
    project.onloop(&["finalize"]).expect_exit(0);
    assert_eq!(now(&project), ["Now: completed (just now)"]);
}

#[test]
fn status_says_who_works() {
    let project = project(
        "",
        "- [ ] **Step 1: Only**\naction: go\nloop: until it is\nmax_iterations: 2\nverify: true\n\
         ```sh\ntouch began; while ! test -e go; do sleep 0.05; done\n```\n",
    );
    let child = super::begin(&project, &["run", "--mode", "none"]);
    super::wait_until("the step works", || project.path("began").exists());
    let status = project.onloop(&["status", &project.kept_ids()[0]]).expect_exit(0).stdout;
    assert!(status.contains("\nNow: the agent works on step 1 (attempt 1/2) (for "), "{status}");
    let who = format!("\nWho: process {} on ", child.id());
    assert!(
        status.contains(&who) && status.contains(" drives it, the agent is process "),
        "{status}"
    );
    assert!(status.contains("\nThen: its 1 check\n"), "{status}");
    // What the driver does itself is nobody else's command.
    let next = project.onloop(&["next"]).expect_exit(0).stdout;
    assert_eq!(
        next,
        format!("act (step 1)\n# process {} drives this run: wait for it\n", child.id())
    );
    let json = project.onloop(&["next", "--json"]).expect_exit(0).stdout;
    let json: serde_json::Value = serde_json::from_str(&json).unwrap();
    assert_eq!((&json["driver"], &json["commands"]), (&child.id().into(), &serde_json::json!([])));
    project.write("go", "");
    super::output_of(child).expect_exit(0);
}

#[test]
fn nobody_is_asked_about_a_step_without_checks_while_its_driver_works() {
    let project = project(
        "",
        "- [ ] **Step 1: Only**\naction: go\nloop: false\n\
         ```sh\ntouch began; while ! test -e go; do sleep 0.05; done\n```\n",
    );
    let child = super::begin(&project, &["run", "--mode", "none"]);
    super::wait_until("the step works", || project.path("began").exists());
    let next = read_json(&project.onloop(&["next", "--json"]).expect_exit(0).stdout);
    assert_eq!((&next["action"], &next["needs_person"]), (&"act".into(), &false.into()));
    assert_eq!(next["driver"], child.id());
    let gate = project.onloop(&["gate", "1", "approved"]).expect_exit(1).stderr;
    let wait = format!("fix: wait for process {}, which drives it: onloop watch ", child.id());
    assert!(crate::flat(&gate).contains(&wait), "{gate}");
    project.write("go", "");
    super::output_of(child);
}

#[test]
fn resume_keeps_the_options_of_the_run() {
    let (project, id) = paused();
    let options = ["--agent-command", "true a", "--max-wait", "2h"];
    run(&project, &[&["--fresh"][..], &options].concat()).expect_exit(3);
    let other = project.kept_ids().into_iter().find(|other| *other != id).unwrap();
    let said = |words: &[&str]| project.onloop(words).expect_exit(3).stderr;
    let again = said(&["resume", &other]);
    assert!(again.contains("\n  Options: --agent-command 'true a' --max-wait 2h\n"), "{again}");
    // An option of the command line counts instead, from then on.
    said(&["resume", &other, "--agent", "script", "--max-wait", "1h"]);
    let again = said(&["resume", &other]);
    assert!(again.contains("\n  Options: --agent script --max-wait 1h\n"), "{again}");
    // The agent that was found without a name is kept, too.
    assert!(said(&["resume", &id]).contains("\n  Options: --agent script\n"));
}

#[test]
fn a_secret_value_in_the_options_is_named_again() {
    let (project, _) = paused();
    let project = project.with_env("DEPLOY_TOKEN", "tok-12345678");
    let agent = ["--agent-command", "true tok-12345678"];
    run(&project, &[&["--fresh"][..], &agent].concat()).expect_exit(3);
    let id = project.kept_ids().pop().unwrap();
    let options = std::fs::read_to_string(project.kept(&id, "options")).unwrap();
    assert!(!options.contains("tok-12345678"), "{options}");
    let refused = crate::flat(&project.onloop(&["resume", &id]).expect_exit(2).stderr);
    assert!(refused.contains("secret value, which onloop does not store"), "{refused}");
    project.onloop(&["resume", &id, "--agent", "script"]).expect_exit(3);
}

#[test]
fn a_refusal_says_how_the_run_stands_and_what_fits() {
    let (project, id) = paused();
    let said = |words: &[&str]| project.onloop(words).expect_exit(1).stderr;
    let waits = format!(
        "cause: run {id} is paused: the gate of step 1 waits for you fix: wait for the decision of a \
         person, who has these choices: onloop next --run-id {id}"
    );
    assert_eq!(
        crate::flat(&said(&["step", "2", "verify"])),
        format!("error: step 2 is `pending`, expected `in_progress` {waits}")
    );
    let unknown = crate::flat(&said(&["step", "9", "verify"]));
    assert_eq!(unknown, format!("error: the run has no step 9 {waits}"));
    project.onloop(&["gate", "1", "approved"]).expect_exit(0);
    assert_eq!(
        crate::flat(&said(&["step", "1", "retry"])),
        format!(
            "error: step 1 is `done`, expected `failed` cause: run {id} is running: step 2 \
             is about to start fix: do what comes next: onloop step 2 start --run-id {id}"
        )
    );
}

#[test]
fn next_names_the_command_that_does_it() {
    let (project, id) = paused();
    let next = project.onloop(&["next"]).expect_exit(0);
    let choices = ["approved", "rejected", "rejected --redo --reason TEXT"]
        .map(|words| format!("onloop gate 1 {words} --run-id {id}"));
    assert_eq!(next.stdout, format!("ask-gate (step 1)\n{}\n", choices.join("\n")));
    let next = read_json(&project.onloop(&["next", "--json"]).stdout);
    assert_eq!(next["action"], "ask-gate");
    assert_eq!(next["run_id"], *id);
    assert_eq!((&next["command"], &next["needs_person"]), (&Value::Null, &Value::Bool(true)));
    assert_eq!(next["commands"], serde_json::json!(choices));
    // An agent is told to wait.
    let mut agent = project.command_at(".", program());
    let next: Run =
        agent.arg("next").env("ONLOOP_STEP", "1").output().expect("the program is there").into();
    assert_eq!(next.stdout, "ask-gate (step 1)\n# only a person may decide this: wait for them\n");
    project.onloop(&["gate", "1", "approved"]).expect_exit(0);
    let next = read_json(&project.onloop(&["next", "--json", "--run-id", &id]).stdout);
    assert_eq!(next["command"], *format!("onloop step 2 start --run-id {id}"));
}

#[test]
fn in_another_folder_the_runs_of_every_folder_are_named_first() {
    let (project, id) = paused();
    std::fs::create_dir(project.path("../elsewhere")).unwrap();
    for words in [&["next"][..], &["resume"], &["stop"], &["report"]] {
        let refused = project.onloop_at("../elsewhere", words).expect_exit(4).stderr;
        let fix = "fix: list the runs of other folders: onloop list --everywhere fix: begin one";
        assert!(crate::flat(&refused).contains(fix), "{words:?}: {refused}");
    }
    let listed = project.onloop_at("../elsewhere", &["list", "--everywhere"]).expect_exit(0);
    assert!(listed.stdout.contains(&id), "{listed:?}");
}

#[test]
fn the_report_is_a_rendering_of_the_record() {
    let (project, id) = paused();
    let printed = project.onloop(&["report", &id]).expect_exit(0).stdout;
    assert_eq!(printed, project.read(&format!(".hotl/reports/{id}.md")));
    assert!(printed.contains("|  1   | First \\| second | ⏸ Waiting for you | 1 |"), "{printed}");
    std::fs::write(project.path(&format!(".hotl/reports/{id}.md")), "scribbles").unwrap();
    assert_eq!(project.onloop(&["report", &id]).stdout, printed);
    project.onloop(&["gate", "1", "approved"]).expect_exit(0);
    assert!(project.read(&format!(".hotl/reports/{id}.md")).contains("Gate Step 1: approved"));
}

#[test]
fn the_report_as_a_page_is_one_file_that_loads_nothing() {
    let steps = "- [ ] **Step 1: Make <b>it</b>**\naction: make *it* </script><script>alert(1)</script>\n\
        loop: false\nverify: cat it.txt; grep -q made it.txt\ngate: human\n\
        ```sh\necho 'made </script> in-the-vault' > it.txt; echo said in-the-vault\n```\n";
    let project = Workspace::git().with_env("VAULT_TOKEN", "in-the-vault");
    project.write(super::FILE, super::workflow("", steps));
    project.commit("Plan");
    project.onloop(&["run", "--mode", "branch"]).expect_exit(3);
    project.onloop(&["gate", "1", "approved"]).expect_exit(0);
    project.onloop(&["resume"]).expect_exit(0);
    let id = project.record()["run_id"].as_str().unwrap().to_owned();
    let told = project.onloop(&["report", &id, "--html", "--out", "report.html"]).expect_exit(0);
    assert_eq!((told.stdout.as_str(), told.stderr.as_str()), ("", ""));
    let page = project.read("report.html");
    // All but the moment at which it was made.
    let printed = project.onloop(&["report", &id, "--html"]).expect_exit(0).stdout;
    assert_eq!(printed.len(), page.len());
    for (element, count) in
        [("<script", 2), ("</script", 2), ("<b>", 0), (" src=", 0), ("<link", 0)]
    {
        let found = page.matches(element).count() - SCRIPT.matches(element).count();
        assert_eq!(found, count, "{element}");
    }
    assert!(page.contains("default-src 'none'; script-src 'sha256-"), "{}", &page[..800]);
    assert!(!page.contains("in-the-vault"));
    let facts = report_facts(&page);
    let at = |path: &str| {
        let place = &facts["places"][&format!("/data/run/{id}{path}")];
        facts["values"][place.as_u64().expect("it is there") as usize].clone()
    };
    let run = &at("")["run"];
    assert_eq!(run["steps"][0]["name"], "Make <b>it</b>");
    assert_eq!(run["actions"], json!([]));
    let summary = at("/summary");
    let decision = summary["steps"][0]["decisions"][0].as_str().expect("it was decided");
    assert!(decision.starts_with("Gate: approved by ") && decision.contains(", command, "));
    assert_eq!(summary["receipt"][0][0], "Verified commit");
    assert_eq!(
        at("/attempts?step=1")[0]["checks"][0]["output"],
        "made </script> [redacted VAULT_TOKEN]"
    );
    assert_eq!(at("/log?attempt=1-1")[0]["text"], "said [redacted VAULT_TOKEN]");
    for of in ["run", "1", "1-1"] {
        let patch = at(&format!("/diff?of={of}"))["patch"].as_str().unwrap_or_default().to_owned();
        assert!(patch.contains("+made </script> [redacted VAULT_TOKEN]"), "{patch}");
    }
    let refused = project.onloop(&["report", &id, "--html", "--out", "no/such/folder/"]);
    assert_eq!(refused.exit, Some(4), "{}", refused.stderr);
}

#[test]
fn summaries() {
    let (project, id) = paused();
    let summary = read_json(&project.onloop(&["summary", &id]).expect_exit(0).stdout);
    assert_eq!(summary, read_json(&project.onloop(&["summary", &id, "--json"]).stdout));
    assert_eq!(summary["run_id"], *id);
    let claude = project.onloop(&["summary", &id, "--platform", "claude"]).expect_exit(0).stdout;
    assert!(claude.contains("| 1 | First \\| second | ⏸ Waiting for you | 1 |"), "{claude}");
    let codex = project.onloop(&["summary", &id, "--platform", "codex"]).expect_exit(0).stdout;
    assert!(codex.starts_with("Execution Summary\n\n⏸ Step 1: First | second"), "{codex}");
}

#[test]
fn json_is_one_document_whatever_happens() {
    let table = [("true", 0), ("false", 1)];
    for (check, exit) in table {
        let project = project(
            "",
            &format!(
                "- [ ] **Step 1: Only**\naction: go\nloop: false\nverify: {check}\n```sh\ntrue\n```\n"
            ),
        );
        let run = run(&project, &["--json"]).expect_exit(exit);
        assert_eq!(read_json(&run.stdout)["status"], project.record()["status"]);
    }
    let (project, _) = paused();
    let resumed = project.onloop(&["resume", "--json"]).expect_exit(3);
    assert_eq!(read_json(&resumed.stdout)["status"], "paused");
}

#[test]
fn a_damaged_record_is_reported_and_kept() {
    let (project, id) = paused();
    project.write(".hotl/state/other-20260101T000000Z.json", "{\"run_id\":");
    let list = project.onloop(&["list"]).expect_exit(0);
    assert!(list.stdout.contains("? other-20260101T000000Z  Unreadable"), "{}", list.stdout);
    assert!(list.stdout.contains(&id), "{}", list.stdout);
    let list = read_json(&project.onloop(&["list", "--json"]).stdout);
    let unreadable = list.as_array().unwrap().iter().find(|run| run["status"] == "unreadable");
    assert!(unreadable.is_some(), "{list}");
    project.onloop(&["resume", "other-20260101T000000Z"]).expect_exit(4);
    assert_eq!(project.read(".hotl/state/other-20260101T000000Z.json"), "{\"run_id\":");
}

#[test]
fn several_unfinished_runs_are_listed_and_none_is_chosen() {
    let (project, _) = paused();
    run(&project, &["--fresh"]).expect_exit(3);
    let before = project.records();
    let refused = project.onloop(&["resume"]).expect_exit(2);
    assert!(refused.stderr.contains("several runs fit"), "{}", refused.stderr);
    assert!(project.onloop(&["gate", "1", "approved"]).exit == Some(1));
    assert_eq!(project.records(), before);
}
