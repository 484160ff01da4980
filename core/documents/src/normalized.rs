//! `hotl.workflow/v1`: a plan as a document that other programs read.

use serde_json::{Value, json};

use onloop_effect::{BranchName, Shell};
use onloop_syntax::money::Money;
use onloop_workflow::{Assertion, Budgets, Check, Expectation, Gate, Loop, Plan, ShellCheck, Step};

/// Version of the document.
pub const SCHEMA: &str = "hotl.workflow/v1";

/// The plan that was read from `path`, in the form that `normalize` prints. Fields that the
/// format has and the document's first readers do not know are there only when the file uses
/// them.
pub fn normalize(path: &str, plan: &Plan) -> Value {
    let budgets = &plan.budgets;
    let mut document = json!({
        "schema": SCHEMA,
        "source": { "format": "hotl-markdown", "path": path },
        "workflow": {
            "slug": plan.slug,
            "intent": plan.intent,
            "success_criteria": plan.success_criteria,
            "risk_level": plan.risk.as_str(),
            "auto_approve": plan.auto_approve,
            "branch": plan.branch.as_ref().map(BranchName::as_str),
            "policy": {
                "profile": "standard",
                "sensitive_actions": "human",
                "budgets": budgets_value(budgets),
            },
            "total_steps": plan.steps.len(),
            "steps": plan.steps.iter().map(step).collect::<Vec<_>>(),
        },
    });
    if plan.max_parallel > 1 {
        document["workflow"]["max_parallel"] = json!(plan.max_parallel);
    }
    document
}

/// Bounds; `max_tokens` came later, and readers expect it only where it says something.
fn budgets_value(budgets: &Budgets) -> Value {
    let mut value = json!({
        "max_total_attempts": budgets.total_attempts,
        "max_agents": budgets.agents,
        "max_cost_usd": budgets.cost.map(Money::usd),
        "max_elapsed_minutes": budgets.elapsed_minutes,
    });
    if let Some(tokens) = budgets.tokens {
        value["max_tokens"] = json!(tokens);
    }
    value
}

fn step(step: &Step) -> Value {
    let (repeat, max_iterations) = match &step.repeat {
        Loop::Never => (json!(false), onloop_syntax::limits::DEFAULT_ITERATIONS),
        Loop::Until { condition, limit } => (json!(format!("until {condition}")), limit.get()),
    };
    let verify = match step.checks.as_slice() {
        [] => Value::Null,
        [only] => check(only),
        several => json!({
            "type": "multi",
            "command": null,
            "checks": several.iter().map(check).collect::<Vec<_>>(),
        }),
    };
    let mut document = json!({
        "number": step.number,
        "name": step.name,
        "action": step.action,
        "loop": repeat,
        "max_iterations": max_iterations,
        "verify": verify,
        "gate": step.gate.map(Gate::as_str),
    });
    if let Some(depends_on) = &step.depends_on {
        document["depends_on"] = json!(depends_on);
    }
    if step.baseline {
        document["baseline"] = json!(true);
    }
    if !step.may_change.is_empty() {
        document["may_change"] = json!(step.may_change);
    }
    if let Some(network) = &step.network {
        document["network"] = json!(network);
    }
    if let Some(model) = &step.model {
        document["model"] = json!(model);
    }
    if let Some(script) = &step.script {
        document["script"] = json!({ "shell": script.shell.as_str(), "text": script.text });
    }
    document
}

pub(super) fn check(check: &Check) -> Value {
    match check {
        Check::Shell(check) => shell_check(check),
        Check::Browser { url, check } => json!({
            "type": "browser",
            "command": format!("browser: {url} - {check}"),
            "url": url,
            "check": check,
        }),
        Check::HumanReview { prompt } => {
            json!({ "type": "human-review", "command": null, "prompt": prompt })
        }
        Check::Artifact { path, assertion } => {
            let (kind, value) = match assertion {
                Assertion::Exists => ("exists", None),
                Assertion::Contains(text) => ("contains", Some(text)),
                Assertion::MatchesGlob(glob) => ("matches-glob", Some(glob)),
            };
            json!({
                "type": "artifact",
                "command": null,
                "path": path,
                "assert": { "kind": kind, "value": value },
            })
        }
    }
}

fn shell_check(check: &ShellCheck) -> Value {
    let mut document = json!({ "type": "shell", "command": check.command });
    let mut extend = |key: &str, value: Value| {
        document[key] = value;
    };
    if check.allow_no_tests {
        extend("allow_no_tests", json!(true));
    }
    if check.expect == Expectation::Fail {
        extend("expect", json!("fail"));
    }
    if let Some(timeout_ms) = check.timeout_ms {
        extend("timeout_ms", json!(timeout_ms));
    }
    if let Some(cwd) = &check.cwd {
        extend("cwd", json!(cwd));
    }
    if !check.env.is_empty() {
        let env = check.env.iter().map(|(name, value)| (name.clone(), json!(value))).collect();
        extend("env", Value::Object(env));
    }
    if check.shell != Shell::Bash {
        extend("shell", json!(check.shell.as_str()));
    }
    if let Some(platform) = check.platform {
        extend("platform", json!(platform.as_str()));
    }
    if let Some(network) = &check.network {
        extend("network", json!(network));
    }
    document
}

#[cfg(test)]
mod tests {
    use super::*;

    const FILE: &str = "---\nintent: A\nsuccess_criteria: B\nrisk_level: medium\nbranch: f/x\n\
        max_cost_usd: 2.5\n---\n\
        - [ ] **Step 1: One**\naction: do\nloop: until green\nmax_iterations: 4\nverify: ! make\n\
        - [ ] **Step 2: Two**\naction: do\nloop: false\nverify:\n  - type: shell\n    command: make\n    \
        timeout: 5s\n    env:\n      A: b\n  - type: artifact\n    path: out\n    assert:\n      \
        kind: exists\ngate: human\n";

    #[test]
    fn a_graph_is_there_where_the_file_says_it() {
        let file = FILE
            .replacen("branch", "worktree: true\nmax_parallel: 3\nbranch", 1)
            .replace("gate: human", "gate: human\ndepends_on: []");
        let plan = onloop_workflow::parse("hotl-workflow-a.md", file.as_bytes()).plan.unwrap();
        let workflow = &normalize("hotl-workflow-a.md", &plan)["workflow"];
        assert_eq!(workflow["max_parallel"], 3);
        assert_eq!(workflow["steps"][0].get("depends_on"), None);
        assert_eq!(workflow["steps"][1]["depends_on"], json!([]));
    }

    #[test]
    fn a_plan_in_the_normal_form() {
        let plan = onloop_workflow::parse("hotl-workflow-a.md", FILE.as_bytes()).plan.unwrap();
        let expected = json!({
            "schema": "hotl.workflow/v1",
            "source": { "format": "hotl-markdown", "path": "hotl-workflow-a.md" },
            "workflow": {
                "slug": "a", "intent": "A", "success_criteria": "B", "risk_level": "medium",
                "auto_approve": false, "branch": "f/x",
                "policy": {
                    "profile": "standard", "sensitive_actions": "human",
                    "budgets": {
                        "max_total_attempts": null, "max_agents": null, "max_cost_usd": 2.5,
                        "max_elapsed_minutes": null,
                    },
                },
                "total_steps": 2,
                "steps": [
                    {
                        "number": 1, "name": "One", "action": "do", "loop": "until green",
                        "max_iterations": 4, "verify": { "type": "shell", "command": "! make" },
                        "gate": null,
                    },
                    {
                        "number": 2, "name": "Two", "action": "do", "loop": false,
                        "max_iterations": 3,
                        "verify": { "type": "multi", "command": null, "checks": [
                            { "type": "shell", "command": "make", "timeout_ms": 5000,
                              "env": { "A": "b" } },
                            { "type": "artifact", "command": null, "path": "out",
                              "assert": { "kind": "exists", "value": null } },
                        ] },
                        "gate": "human",
                    },
                ],
            },
        });
        assert_eq!(normalize("hotl-workflow-a.md", &plan), expected);
    }
}
