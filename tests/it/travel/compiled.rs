//! A workflow of GitHub Actions that was compiled, performed as GitHub would: each job is a machine
//! with a fresh clone, and its scripts run in order.

use std::collections::BTreeMap;
use std::fs;

use serde_json::Value;

use super::{WORKFLOW, first};
use crate::workspace::{Run, Workspace};

const RUN_ID: &str = "4711";
const ID: &str = "x-gh-4711";

/// One of two attempts fails, as the first of the agent does.
const AGENT: &str = "cat > /dev/null; if [ \"$ONLOOP_STEP\" = 1 ]; then n=$(cat n 2>/dev/null || \
                     echo 0); echo $((n + 1)) > n; else cp n more.txt; fi";

/// A step name of somebody who means no good.
const HOSTILE: &str = "It's ${{ secrets.KEY }}: \"x\" # [a, *b] & !c";

/// A review and a gate of one step, a gate that decides by itself, and one at the end.
const GATES: &str = "---
intent: see every kind of job
success_criteria: each is there
risk_level: medium
---

- [ ] **Step 1: Draw**
action: draw it
loop: false
verify:
  type: human-review
  prompt: does it look right
gate: human

- [ ] **Step 2: Colour**
action: colour it
loop: until it is coloured
max_iterations: 4
verify: test -f colours
gate: auto

- [ ] **Step 3: Frame**
action: frame it
loop: false

- [ ] **Step 4: Hang**
action: hang it
loop: false
gate: human
";

/// Steps that run at the same time, of which one waits for a gate.
const GRAPH: &str = "---
intent: draw and write at the same time
success_criteria: both fit
risk_level: low
worktree: true
max_parallel: 2
---

- [ ] **Step 1: Draw**
action: draw it
loop: false
gate: human

- [ ] **Step 2: Colour**
action: colour it
loop: false
verify: test -f colours

- [ ] **Step 3: Write**
action: write it
loop: false
verify: test -f text
depends_on: []

- [ ] **Step 4: Bind**
action: bind it
loop: false
verify: test -f book
depends_on: [2, 3]
";

fn compile(machine: &Workspace, options: &[&str]) -> Run {
    let words = [&["compile", "hotl-workflow-x.md", "--to", "github"], options].concat();
    machine.onloop(&words)
}

/// The document as YAML.
fn jobs(document: &str) -> Vec<(String, Value)> {
    let document: Value = serde_yaml::from_str(document).expect("it is YAML");
    let jobs = document["jobs"].as_object().expect("there are jobs").clone();
    let mut ordered: Vec<(String, Value)> = Vec::new();
    let mut before: Option<String> = None;
    while ordered.len() < jobs.len() {
        let follows = |job: &Value| job["needs"].as_str() == before.as_deref();
        let (name, job) = jobs.iter().find(|(_, job)| follows(job)).expect("a chain");
        ordered.push((name.clone(), job.clone()));
        before = Some(name.clone());
    }
    ordered
}

/// What a machine of GitHub would know: a clone, variables, and the programs that jobs use.
struct Runner {
    machine: Workspace,
    summary: String,
}

impl Runner {
    fn new(first: &Workspace, approver: Option<&str>) -> Runner {
        let machine = Workspace::plain();
        let hub = first.path("../hub.git");
        machine.git_says(&[
            "clone",
            "--quiet",
            "--depth",
            "1",
            "--branch",
            "main",
            &format!("file://{}", hub.display()),
            ".",
        ]);
        // What it installs is the program under test, which is there already.
        machine.write("../bin/npm", "#!/bin/sh\necho \"npm $*\" >> \"$HOME/npm.log\"\n");
        let gh = match approver {
            Some(name) => format!("#!/bin/sh\necho \"$*\" > \"$HOME/gh.log\"\necho {name}\n"),
            None => "#!/bin/sh\nexit 4\n".to_owned(),
        };
        machine.write("../bin/gh", gh);
        for program in ["npm", "gh"] {
            machine.shell(&format!("chmod +x ../bin/{program}")).expect_exit(0);
        }
        Runner { machine, summary: String::new() }
    }

    /// Performs a job; the scripts that say `always()` run whatever came of those before.
    fn perform(&mut self, job: &Value) -> Result<(), String> {
        let mut failed: Option<String> = None;
        for step in job["steps"].as_array().expect("there are steps") {
            let Some(script) = step["run"].as_str() else { continue };
            let always = step["if"].as_str() == Some("${{ always() }}");
            if failed.is_some() && !always {
                continue;
            }
            let run = self.script(script, &step["env"]);
            if run.exit != Some(0) {
                let name = step["name"].as_str().unwrap_or_default();
                failed.get_or_insert(format!("{name}: {:?}\n{}", run.exit, run.stderr));
            }
        }
        failed.map_or(Ok(()), Err)
    }

    fn script(&mut self, script: &str, env: &Value) -> Run {
        assert!(!script.contains("${{"), "no expression is in a script: {script}");
        let summary = self.machine.path("../summary.md");
        let mut given = BTreeMap::from([
            ("RUN", ID.to_owned()),
            ("GITHUB_SERVER_URL", "https://github.com".to_owned()),
            ("GITHUB_REPOSITORY", "o/r".to_owned()),
            ("GITHUB_RUN_ID", RUN_ID.to_owned()),
            ("GITHUB_TRIGGERING_ACTOR", "starter".to_owned()),
            ("RUNNER_TEMP", self.machine.path("..").to_str().unwrap().to_owned()),
            ("GITHUB_STEP_SUMMARY", summary.to_str().unwrap().to_owned()),
        ]);
        for (name, value) in env.as_object().into_iter().flatten() {
            let value = match value.as_str() {
                Some("${{ github.token }}") => "token",
                Some("${{ github.event.issue.number }}") => "7",
                Some("${{ github.event.sender.login }}") => "sender",
                Some("${{ secrets.MODEL_KEY }}") => "secret MODEL_KEY",
                other => panic!("{other:?} is no variable that GitHub sets here"),
            };
            given.insert(name.as_str(), value.to_owned());
        }
        let mut command = self.machine.command_at(".", "sh");
        command.args(["-e", "-c", script]).envs(&given);
        let run = Run::from(command.output().expect("there is a shell"));
        self.summary = fs::read_to_string(&summary).unwrap_or_default();
        run
    }
}

fn ledger(first: &Workspace) -> Vec<Value> {
    let name = format!("refs/onloop/{ID}/ledger:ledger.jsonl");
    let text = first.git_says(&["--git-dir", "../hub.git", "show", &name]);
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

fn approver(first: &Workspace) -> String {
    let lines = ledger(first);
    let decided = lines.iter().find(|line| line["event"] == "gate_decided").expect("a decision");
    decided["by"]["user"].as_str().expect("a name").to_owned()
}

#[test]
fn each_job_takes_the_run_further_and_the_last_one_publishes_it() {
    let first = first();
    let document = compile(&first, &["--agent-command", AGENT]).expect_exit(0).stdout;
    let jobs = jobs(&document);
    let names: Vec<&str> = jobs.iter().map(|(name, _)| name.as_str()).collect();
    assert_eq!(names, ["step-1", "gate-1", "step-2"]);

    let mut runner = Runner::new(&first, None);
    runner.perform(&jobs[0].1).unwrap();
    assert!(runner.summary.contains("Step 1: Count"), "{}", runner.summary);
    let installed = runner.machine.read("../home/npm.log");
    assert!(installed.contains(concat!("onloop@", env!("CARGO_PKG_VERSION"))), "{installed}");
    // Nobody approves before the gate is reached, and the same job again changes nothing but lines.
    let before = ledger(&first).len();
    Runner::new(&first, None).perform(&jobs[0].1).unwrap();
    assert!(ledger(&first).len() > before);

    Runner::new(&first, Some("reviewer")).perform(&jobs[1].1).unwrap();
    assert_eq!(approver(&first), "reviewer (GitHub)");
    // Approved is approved.
    Runner::new(&first, None).perform(&jobs[1].1).unwrap();
    let decisions = ledger(&first).iter().filter(|line| line["event"] == "gate_decided").count();
    assert_eq!(decisions, 1);

    // A workflow run for a run that is further passes through what is behind it.
    Runner::new(&first, None).perform(&jobs[0].1).unwrap();
    // The repository does not take the branch, and then it does; published is published.
    let hook = first.path("../hub.git/hooks/update");
    fs::write(&hook, "#!/bin/sh\ncase $1 in refs/heads/*) exit 1 ;; esac\n").unwrap();
    first.shell("chmod +x ../hub.git/hooks/update").expect_exit(0);
    let failed = Runner::new(&first, None).perform(&jobs[2].1).unwrap_err();
    assert!(failed.starts_with("Publish the branch: Some(1)"), "{failed}");
    fs::remove_file(&hook).unwrap();
    for _ in 0..2 {
        Runner::new(&first, None).perform(&jobs[2].1).unwrap();
    }
    let branch = format!("hotl/{ID}:more.txt");
    assert_eq!(first.git_says(&["--git-dir", "../hub.git", "show", &branch]), "2");
    // Whoever has a clone can look at all of it.
    first.onloop(&["fetch", ID, "--yes"]).expect_exit(0);
    let summary = first.onloop(&["summary", ID]).expect_exit(0).stdout;
    let summary: Value = serde_json::from_str(&summary).unwrap();
    assert_eq!(summary["status"], "completed", "{summary}");
    assert_eq!(summary["steps"][0]["attempts"], 2, "{summary}");
}

#[test]
#[ignore = "only with --all"]
fn a_job_that_failed_goes_on_when_it_is_run_again() {
    let first = first();
    // It does nothing until somebody has put a file where it looks.
    let marker = first.path("../allowed");
    let agent = format!("cat > /dev/null; test -e {} || exit 1; {AGENT}", marker.display());
    let document = compile(&first, &["--agent-command", &agent]).expect_exit(0).stdout;
    let jobs = jobs(&document);
    let failed = Runner::new(&first, None).perform(&jobs[0].1).unwrap_err();
    assert!(failed.starts_with("Run: Some(1)"), "{failed}");
    let lines = ledger(&first);
    assert!(lines.iter().any(|line| line["event"] == "step_blocked"), "it was pushed all the same");
    fs::write(&marker, "").unwrap();
    Runner::new(&first, None).perform(&jobs[0].1).unwrap();
    assert!(ledger(&first).len() > lines.len());
    // Without the environment's history the decision says who started it, and no more.
    Runner::new(&first, None).perform(&jobs[1].1).unwrap();
    assert_eq!(approver(&first), "started by starter (GitHub)");
}

#[test]
fn a_plan_that_was_changed_since_is_not_run() {
    let first = first();
    let document = compile(&first, &["--agent", "script"]).expect_exit(0).stdout;
    first.write("hotl-workflow-x.md", WORKFLOW.replace("count to two", "count to three"));
    first.commit("Edit");
    first.git_says(&["push", "--quiet", "origin", "main"]);
    let failed = Runner::new(&first, None).perform(&jobs(&document)[0].1).unwrap_err();
    assert!(failed.starts_with("Run: Some(2)"), "{failed}");
    assert!(crate::flat(&failed).contains("compile it again"), "{failed}");
    let refs = first.git_says(&["--git-dir", "../hub.git", "for-each-ref", "refs/onloop"]);
    assert_eq!(refs, "");
}

#[test]
fn what_is_compiled_is_as_it_was() {
    let first = first();
    let agent = ["--agent", "claude", "--secret", "ANTHROPIC_API_KEY", "--install", "make agent"];
    let hostile = [
        ("--agent-command", "echo '${{ github.token }}' it\\'s"),
        ("--runs-on", "a: b # ${{ x }}"),
        ("--install", "echo \"${{ secrets.A }}\""),
    ];
    let hostile: Vec<&str> = hostile.iter().flat_map(|(name, value)| [*name, *value]).collect();
    let named = WORKFLOW.replace("Step 1: Count", &format!("Step 1: {HOSTILE}"));
    for (name, file, content, options) in [
        ("github", "hotl-workflow-x.md", WORKFLOW, &agent[..]),
        ("gates", "docs/plans/2026-03-20-gates-workflow.md", GATES, &[]),
        ("graph", "docs/plans/2026-03-20-graph-workflow.md", GRAPH, &[]),
        ("hostile", "docs/hotl-workflow-a b'${{x}}.md", &named, &hostile),
        (
            "label",
            "hotl-workflow-x.md",
            WORKFLOW,
            &["--agent", "claude", "--on-label", "onloop: go"],
        ),
    ] {
        first.write(file, content);
        let words = [&["compile", file, "--to", "github"], options].concat();
        let document = first.onloop(&words).expect_exit(0);
        let whole = document.stdout.replace(env!("CARGO_PKG_VERSION"), "VERSION");
        let golden = format!("{}/corpus/compiled/{name}.yml", env!("CARGO_MANIFEST_DIR"));
        if std::env::var_os("ONLOOP_WRITE_DOCUMENTS").is_some() {
            fs::write(&golden, &whole).unwrap();
        }
        let written = fs::read_to_string(golden).unwrap();
        assert_eq!(whole, written, "{name}: ONLOOP_WRITE_DOCUMENTS=1 writes it");
        assert!(document.stderr.contains("-step-1"), "{}", document.stderr);
    }
    compile(&first, &["--out", "made.yml"]).expect_exit(0);
    assert!(first.read("made.yml").starts_with("# Made by onloop"));
}

#[test]
fn text_of_others_is_only_text() {
    let first = first();
    let hostile = WORKFLOW.replace("Step 1: Count", &format!("Step 1: {HOSTILE}"));
    first.write("docs/hotl-workflow-a b'${{x}}.md", hostile);
    first.commit("Hostile");
    let words = ["compile", "docs/hotl-workflow-a b'${{x}}.md", "--to", "github"];
    let document = first.onloop(&words).expect_exit(0).stdout;
    let jobs = jobs(&document);
    let shown = jobs[0].1["name"].as_str().unwrap();
    assert!(shown.contains("It's $ {{ secrets.KEY }}"), "{shown}");
    for expression in document.split("${{").skip(1) {
        let known = [" inputs.run", " github.token }}", " always() }}"];
        assert!(known.iter().any(|known| expression.starts_with(known)), "{expression}");
    }
    let script = jobs[0].1["steps"][3]["run"].as_str().unwrap();
    let line = script.lines().find(|line| line.contains("onloop run")).unwrap();
    let path = line.split_once(" -- ").unwrap().1.trim_end_matches(" || code=$?");
    let said = first.shell(&format!("printf %s {path}")).expect_exit(0).stdout;
    assert_eq!(said, "docs/hotl-workflow-a b'${{x}}.md");
    for (options, why) in [
        (&["--agent-command", "a\nb"][..], "--agent-command is not one line"),
        (&["--secret", "A-B"], "--secret is `A-B`"),
        (&["--runs-on", ""], "--runs-on is not one line"),
        (&["--on-label", "it's"], "--on-label is empty, or has quotes"),
    ] {
        let said = compile(&first, options).expect_exit(2).stderr;
        assert!(crate::flat(&said).contains(why), "{said}");
    }
}

/// What starts a workflow.
#[derive(Clone, Copy)]
struct Started {
    event_name: &'static str,
    label: &'static str,
}

impl Started {
    /// Whether a condition holds, of those that compiled workflows have.
    fn holds(self, condition: &str) -> bool {
        let words = condition.trim_start_matches("${{").trim_end_matches("}}").trim();
        let term = |term: &str| {
            let (name, is_equal, value) = match (term.split_once(" == "), term.split_once(" != ")) {
                (Some((name, value)), _) => (name, true, value),
                (None, Some((name, value))) => (name, false, value),
                (None, None) => panic!("{term} is no condition that is known here"),
            };
            let found = match name {
                "github.event_name" => self.event_name,
                "github.event.label.name" => self.label,
                other => panic!("{other} is unknown here"),
            };
            (found == value.trim_matches('\'')) == is_equal
        };
        words.split(" || ").any(term)
    }

    /// The names of the jobs that are performed until one fails or waits for a reviewer, and the first
    /// failure. A job whose condition does not hold is skipped, and so are all that need it.
    fn perform(
        self,
        jobs: &[(String, Value)],
        runner: impl Fn() -> Runner,
    ) -> (Vec<String>, Option<String>) {
        let mut performed = Vec::new();
        for (name, job) in jobs {
            let is_skipped = job["if"].as_str().is_some_and(|condition| !self.holds(condition));
            if is_skipped || !job["environment"].is_null() {
                break;
            }
            let mut job = job.clone();
            job["steps"].as_array_mut().expect("there are steps").retain(|step| {
                let condition = step["if"].as_str().filter(|words| !words.contains("always()"));
                condition.is_none_or(|condition| self.holds(condition))
            });
            performed.push(name.clone());
            if let Err(failure) = runner().perform(&job) {
                return (performed, Some(failure));
            }
        }
        (performed, None)
    }
}

#[test]
fn strangers_get_no_secret_and_start_nothing() {
    let first = first();
    let seen = first.path("../seen");
    let agent = format!("printf %s \"$MODEL_KEY\" > {}; {AGENT}", seen.display());
    let options = ["--agent-command", &agent, "--on-label", "go", "--secret", "MODEL_KEY"];
    let document = compile(&first, &options).expect_exit(0).stdout;
    let jobs = jobs(&document);
    assert!(!jobs[0].1.to_string().contains("secrets."), "{}", jobs[0].1);
    // Every job needs the one before, so none has a secret unless the first has passed.
    for (before, (name, job)) in jobs.iter().zip(&jobs[1..]) {
        assert_eq!(job["needs"], before.0, "{name}");
        assert!(job["if"].is_null(), "{name} would run whatever came of the others");
    }
    let runner = |permission: &'static str| {
        let runner = Runner::new(&first, None);
        runner.machine.write("../bin/gh", HUB);
        runner.machine.write("../home/permission", permission);
        runner
    };
    let nothing_begun = || {
        let refs = first.git_says(&["--git-dir", "../hub.git", "for-each-ref", "refs/onloop"]);
        assert_eq!((refs.as_str(), seen.exists()), ("", false));
    };
    let labelled = |label| Started { event_name: "issues", label };
    for permission in ["read\n", "none\n", "triage\n", "", "admin write\n", "writer\n"] {
        let (performed, failure) = labelled("go").perform(&jobs, || runner(permission));
        assert_eq!(performed, ["allowed"], "{permission:?}");
        assert!(failure.unwrap().contains("sender may not write to this repository"));
        nothing_begun();
    }
    for label in ["Go away", "go!", ""] {
        let (performed, failure) = labelled(label).perform(&jobs, || runner("admin\n"));
        assert_eq!((performed.len(), failure), (0, None), "{label:?}");
        nothing_begun();
    }
    let (performed, failure) = labelled("go").perform(&jobs, || runner("write\n"));
    assert_eq!(
        (performed.as_slice(), failure),
        (&["allowed".to_owned(), "step-1".to_owned()][..], None)
    );
    assert_eq!(fs::read_to_string(&seen).unwrap(), "secret MODEL_KEY");
    // Who starts it by hand may write already; nobody is asked about them.
    let by_hand = Started { event_name: "workflow_dispatch", label: "" };
    let (performed, failure) = by_hand.perform(&jobs, || runner("read\n"));
    assert_eq!((performed.len(), failure), (2, None));
}

/// `gh` of a repository in which only `sender` may write, with one issue.
const HUB: &str = r#"#!/bin/sh
echo "$*" >> "$HOME/gh.log"
case "$1 $2" in
"api repos/o/r/collaborators/sender/permission") cat "$HOME/permission" ;;
"issue view")
    echo '{"number": 7, "title": "Count", "url": "https://github.com/o/r/issues/7", "body": "Twice", "comments": []}' ;;
"pr create") cat > "$HOME/body"; echo https://github.com/o/r/pull/8 ;;
esac
"#;

#[test]
fn a_label_starts_a_run_for_those_who_may_write_and_ends_with_a_pull_request() {
    let first = first();
    let agent = format!("cat > \"$HOME/prompt\"; test -z \"$GH_TOKEN\" || exit 1; true | {AGENT}");
    let options = ["--agent-command", agent.as_str(), "--on-label", "go"];
    let document = compile(&first, &options).expect_exit(0).stdout;
    let jobs = jobs(&document);
    let names: Vec<&str> = jobs.iter().map(|(name, _)| name.as_str()).collect();
    assert_eq!(names, ["allowed", "step-1", "gate-1", "step-2"]);
    let condition = "github.event_name != 'issues' || github.event.label.name == 'go'";
    assert_eq!(jobs[0].1["if"], condition);
    assert_eq!(jobs[0].1["permissions"], serde_json::json!({}));
    let may: Vec<&Value> = jobs[1..].iter().map(|(_, job)| &job["permissions"]).collect();
    let (write, read) = ("write", "read");
    assert_eq!(*may[0], serde_json::json!({ "contents": write, "issues": read }));
    assert_eq!(*may[2], serde_json::json!({ "contents": write, "pull-requests": write }));

    let runner = |permission: &str| {
        let runner = Runner::new(&first, None);
        runner.machine.write("../bin/gh", HUB);
        runner.machine.write("../home/permission", permission);
        runner
    };
    let refused = runner("read\n").perform(&jobs[0].1).unwrap_err();
    assert!(refused.contains("sender may not write to this repository"), "{refused}");
    runner("write\n").perform(&jobs[0].1).unwrap();
    let mut works = runner("");
    works.perform(&jobs[1].1).unwrap();
    let prompt = works.machine.read("../home/prompt");
    assert!(prompt.contains("\nTitle: Count\n\nTwice\n"), "{prompt}");
    Runner::new(&first, Some("reviewer")).perform(&jobs[2].1).unwrap();
    let mut last = runner("");
    last.perform(&jobs[3].1).unwrap();
    let body = last.machine.read("../home/body");
    assert!(body.contains("\nCloses https://github.com/o/r/issues/7\n"), "{body}");
}
