//! What an agent has done to the files that verify it.

use std::fs;

use serde_json::{Value, json};

use crate::rounds::sampled;
use crate::workspace::Workspace;

/// A run of steps, each with its check and its script, with more frontmatter.
fn workflow(more: &str, steps: &[(&str, &str, &str)]) -> String {
    let mut file = format!("---\nintent: write\nsuccess_criteria: written\n{more}---\n");
    for (number, (repeat, check, script)) in (1..).zip(steps) {
        file += &format!(
            "\n- [ ] **Step {number}: Write**\naction: write\nloop: {repeat}\nverify: \
             {check}\n\n```sh\n{script}\n```\n"
        );
    }
    file
}

fn repository(workflow: &str) -> Workspace {
    let workspace = Workspace::git();
    workspace.write("ci/check.sh", ". \"$(dirname \"$0\")/lib.sh\"\nis_done\n");
    workspace.write("ci/lib.sh", "is_done() {\n  test -f done.txt\n}\n");
    workspace.write("hotl-workflow-x.md", workflow);
    workspace.commit("begin");
    workspace
}

fn summary(workspace: &Workspace) -> Value {
    let id = workspace.record()["run_id"].as_str().expect("a run id").to_owned();
    let printed = workspace.onloop(&["summary", &id, "--json"]).expect_exit(0).stdout;
    serde_json::from_str(&printed).expect("a summary")
}

/// Whether the host observes what checks open, as a run says it.
fn is_observed(summary: &Value) -> bool {
    summary["steps"][0]["inputs"][0]["observed"] == true
}

/// How a changed file that a check opens was found.
fn how(summary: &Value) -> &'static str {
    if is_observed(summary) { "the check opened" } else { "the check names" }
}

#[test]
#[ignore = "only with --all"]
fn whoever_decides_at_a_gate_hears_of_checks_that_were_changed_before() {
    let steps = [
        ("false", "sh ci/check.sh", "echo exit 0 > ci/check.sh"),
        ("false\ngate: human", "true", "touch new.sh"),
    ];
    let workspace = repository(&workflow("risk_level: medium\n", &steps));
    workspace.onloop(&["run", "--agent", "script"]).expect_exit(3);
    let id = workspace.record()["run_id"].as_str().expect("a run id").to_owned();
    let status = workspace.onloop(&["status", &id, "--json"]).expect_exit(0).stdout;
    let status: Value = serde_json::from_str(&status).expect("JSON");
    let facts = status["asks"].to_string();
    let how = how(&summary(&workspace));
    let warning = format!("⚠ Step 1, check 1: {how} ci/check.sh, changed in step 1 (+1 -2)");
    assert!(facts.contains(&warning), "{facts}");
}

#[test]
fn a_check_that_the_run_has_changed_passes_with_a_warning() {
    let steps = [
        ("false", "sh ci/check.sh", "echo done > done.txt"),
        ("false", "sh ci/check.sh && test -f new.sh", "echo exit 0 > ci/check.sh; touch new.sh"),
    ];
    let workspace = repository(&workflow("risk_level: low\n", &steps));
    let said = workspace.onloop(&["run", "--agent", "script"]).expect_exit(0).stderr;
    let summary = summary(&workspace);
    let (how, found) = (how(&summary), summary["steps"][1]["warnings"][0]["found"].clone());
    let warning = format!("{how} ci/check.sh, changed in step 2 (+1 -2)");
    assert!(said.contains(&format!("\n    ⚠ Step 2, check 1: {warning}\n")), "{said}");
    // Step 1 passed with the script as it was; when its check was repeated it was another.
    assert!(said.contains(&format!("\n    ⚠ Step 1, check 1: {warning}\n")), "{said}");
    let expected = json!([{
        "kind": "check_changed",
        "path": "ci/check.sh",
        "found": found,
        "change": "changed",
        "steps": [2],
        "added": 1,
        "removed": 2,
        "check": 1,
        "text": warning,
    }]);
    assert_eq!(summary["steps"][0]["warnings"], expected);
    assert_eq!(summary["steps"][1]["warnings"], expected);
    let id = summary["run_id"].as_str().unwrap();
    let receipt = workspace.onloop(&["receipt", id, "--json"]).expect_exit(0).stdout;
    let receipt: Value = serde_json::from_str(&receipt).unwrap();
    assert_eq!(receipt["evidence"][1]["warnings"], expected);
    let report = workspace.onloop(&["report", id]).expect_exit(0).stdout;
    let line = format!("⚠ Step 2, check 1: {}\n", warning.replace('_', "\\_"));
    assert!(report.contains(&line), "{report}");
    assert!(report.contains(&format!("  - ⚠ {warning}\n")), "{report}");
}

#[test]
#[ignore = "only with --all"]
fn what_a_script_reads_in_counts_and_what_the_step_begins_does_not() {
    let steps = [
        ("false", "sh ci/check.sh", "echo 'is_done() { true; }' > ci/lib.sh"),
        ("false", "test -f made.txt && grep -q made made.txt", "echo made > made.txt"),
    ];
    let workspace = repository(&workflow("risk_level: low\n", &steps));
    workspace.onloop(&["run", "--agent", "script"]).expect_exit(0);
    let summary = summary(&workspace);
    assert_eq!(summary["steps"][0]["warnings"][0]["path"], "ci/lib.sh");
    assert_eq!(summary["steps"][0]["warnings"][0]["steps"], json!([1]));
    assert_eq!(summary["steps"][1]["warnings"], json!([]));
}

#[test]
fn a_protected_file_is_brought_back_and_the_attempt_fails() {
    let script = "echo \"turn $ONLOOP_ATTEMPT\" > turn.txt\necho done > done.txt\n\
                  if [ \"$ONLOOP_ATTEMPT\" = 1 ]; then\n  echo exit 0 > ci/check.sh\n  echo x > \
                  ci/new.sh\nfi";
    let steps = [("until it is done\nmax_iterations: 3", "sh ci/check.sh", script)];
    let workspace = repository(&workflow("risk_level: low\nprotect: [\"ci/**\"]\n", &steps));
    let said = workspace.onloop(&["run", "--agent", "script"]).expect_exit(0).stderr;
    let reason = "the agent changed ci/check.sh and 1 more files that are protected";
    assert!(said.contains(reason), "{said}");
    let at = workspace.worktree("hotl/x");
    let text = |name: &str| fs::read_to_string(at.join(name)).unwrap();
    assert_eq!(text("ci/check.sh"), ". \"$(dirname \"$0\")/lib.sh\"\nis_done\n");
    assert!(!at.join("ci/new.sh").exists());
    // What else the attempt did is there.
    assert_eq!(text("turn.txt"), "turn 2\n");
    let summary = summary(&workspace);
    assert_eq!(summary["steps"][0]["attempts"], 2);
    assert_eq!(summary["steps"][0]["warnings"], json!([]));
    let id = summary["run_id"].as_str().unwrap();
    // What it wrote is not lost.
    let kept = format!("refs/onloop/{id}/1-1:ci/check.sh");
    assert_eq!(workspace.git_says(&["show", &kept]), "exit 0");
}

#[test]
#[ignore = "only with --all"]
fn the_next_prompt_says_what_must_not_be_changed() {
    let steps = [("until it is done\nmax_iterations: 2", "sh ci/check.sh", "true")];
    let workspace = repository(&workflow("risk_level: low\nprotect: [ci]\n", &steps));
    let line = "cat > prompt-$ONLOOP_ATTEMPT; touch done.txt; test \"$ONLOOP_ATTEMPT\" = 2 || echo \
                exit 0 > ci/check.sh";
    workspace.onloop(&["run", "--agent-command", line]).expect_exit(0);
    let at = workspace.worktree("hotl/x");
    let first = fs::read_to_string(at.join("prompt-1")).unwrap();
    assert!(first.contains("Do not change these files: `ci`.\n"), "{first}");
    let second = fs::read_to_string(at.join("prompt-2")).unwrap();
    let expected = "The attempt before failed: the agent changed ci/check.sh, which is protected\n";
    assert!(second.contains(expected), "{second}");
    assert!(second.contains("they are as they were before:\n  ci/check.sh\n"), "{second}");
}

#[cfg(target_os = "linux")]
#[test]
#[ignore = "only with --all"]
fn a_protected_file_whose_name_is_not_text_is_brought_back_and_shown() {
    let raw = "\"$(printf 'ci/\\377x.yml')\"";
    let free = "\"$(printf 'free\\377.txt')\"";
    let script = format!(
        "echo done > done.txt\necho new > {free}\nif [ \"$ONLOOP_ATTEMPT\" = 1 ]; then\n  echo new > \
         {raw}\nfi"
    );
    let steps = [("until it is done\nmax_iterations: 3", "sh ci/check.sh", &*script)];
    let workspace = repository(&workflow("risk_level: low\nprotect: [\"ci/**\"]\n", &steps));
    workspace.shell(&format!("echo old > {raw}; git add ci; git commit -qm raw")).expect_exit(0);
    let said = workspace.onloop(&["run", "--agent", "script"]).expect_exit(0).stderr;
    assert!(said.contains(r"the agent changed ci/\xffx.yml, which is protected"), "{said}");
    assert!(said.contains(r"free\377.txt"), "the change is listed: {said}");
    let at = workspace.worktree("hotl/x");
    let at = at.to_str().unwrap();
    let kept = workspace.shell(&format!("cd {at} && cat {raw} {free}")).expect_exit(0).stdout;
    assert_eq!(kept, "old\nnew\n");
}

#[test]
fn at_high_risk_the_files_that_checks_run_are_protected() {
    let begins = "printf 'exit 1' > ci/check.sh; echo exit 0 > begun.sh; echo done > done.txt";
    let check = "sh ci/check.sh && sh begun.sh && grep -q done done.txt";
    let steps = [("false", check, begins)];
    let workspace = repository(&workflow("risk_level: high\n", &steps));
    workspace.write("done.txt", "not yet\n");
    workspace.commit("more");
    let said = workspace.onloop(&["run", "--agent", "script"]).expect_exit(1).stderr;
    assert!(said.contains("the agent changed ci/check.sh, which is protected"), "{said}");
    let at = workspace.worktree("hotl/x");
    assert_eq!(fs::read_to_string(at.join("begun.sh")).unwrap(), "exit 0\n");
    assert_eq!(fs::read_to_string(at.join("done.txt")).unwrap(), "done\n");
}

#[test]
fn an_agent_that_drives_itself_is_held_to_it_too() {
    let steps = [("until it is done\nmax_iterations: 3", "sh ci/check.sh", "true")];
    let workspace = repository(&workflow("risk_level: low\nprotect: ci/check.sh\n", &steps));
    workspace.onloop(&["init", "hotl-workflow-x.md"]).expect_exit(0);
    workspace.onloop(&["step", "1", "start"]).expect_exit(0);
    workspace.write("done.txt", "done\n");
    workspace.write("ci/check.sh", "exit 0\n");
    let said = workspace.onloop(&["step", "1", "verify"]).expect_exit(1).stderr;
    assert_eq!(
        crate::flat(&said),
        "error: the agent changed ci/check.sh, which is protected Do not change these files; they \
         are as they were before: ci/check.sh (What was written there is in checkpoint 1-1.)"
    );
    assert!(workspace.read("ci/check.sh").contains("is_done"));
    workspace.onloop(&["step", "1", "retry"]).expect_exit(0);
    workspace.onloop(&["step", "1", "start"]).expect_exit(0);
    assert_eq!(workspace.onloop(&["step", "1", "verify"]).expect_exit(0).stdout, "pass\n");
}

/// A run at this risk whose one check is `make test`.
fn made(risk: &str, script: &str, makefile: Option<&str>) -> (Workspace, crate::workspace::Run) {
    let workspace =
        repository(&workflow(&format!("risk_level: {risk}\n"), &[("false", "make test", script)]));
    if let Some(makefile) = makefile {
        workspace.write("Makefile", makefile);
        workspace.commit("rules");
    }
    let run = workspace.onloop(&["run", "--agent", "script"]);
    (workspace, run)
}

#[test]
fn what_a_program_takes_its_rules_from_counts_though_no_line_names_it() {
    let makefile = Some("test:\n\t@sh ci/check.sh\n");
    let scripts = [
        ("printf 'test:\\n\\ttrue\\n' > Makefile", "Makefile"),
        // One that counts before the other.
        ("printf 'test:\\n\\ttrue\\n' > GNUmakefile", "GNUmakefile"),
        ("git mv Makefile old && printf 'test:\\n\\ttrue\\n' > makefile", "makefile"),
        // What the rules run has a warning; at high risk that is for `protect` to name.
        ("echo exit 0 > ci/check.sh", "ci/check.sh"),
    ];
    for (script, path) in sampled(3, scripts) {
        let script = format!("echo done > done.txt\n{script}");
        let (workspace, run) = made("low", &script, makefile);
        run.expect_exit(0);
        let warnings = &summary(&workspace)["steps"][0]["warnings"];
        let paths = warnings.as_array().expect("a list").iter().filter_map(|r| r["path"].as_str());
        assert!(paths.into_iter().any(|found| found == path), "{script}: {warnings}");
        if path != "ci/check.sh" {
            let said = made("high", &script, makefile).1.expect_exit(1).stderr;
            assert!(said.contains(" protected"), "{script}: {said}");
        }
    }
    // Who was asked for the rules may write them.
    for risk in ["low", "high"] {
        let (workspace, run) = made(risk, "printf 'test:\\n\\ttrue\\n' > Makefile", None);
        run.expect_exit(0);
        assert_eq!(summary(&workspace)["steps"][0]["warnings"], json!([]), "{risk}");
    }
}

/// The warnings of a run of one step in a repository with these files, where the host observes what
/// checks open; `None`: it does not.
fn observed(
    files: &[(&str, &str)],
    (check, script): (&str, &str),
    more: &str,
) -> Option<(Vec<String>, Value)> {
    let check = format!("{check}\n{more}");
    let workspace = repository(&workflow("risk_level: low\n", &[("false", check.trim(), script)]));
    for (path, content) in files {
        workspace.write(path, content);
    }
    workspace.commit("files");
    workspace.onloop(&["run", "--agent", "script"]).expect_exit(0);
    let summary = summary(&workspace);
    if !is_observed(&summary) {
        return None;
    }
    let step = &summary["steps"][0];
    let warnings = step["warnings"].as_array().expect("a list");
    let words = |warning: &Value| {
        let word = |name: &str| warning[name].as_str().expect("a text").to_owned();
        let hides = if warning["hides"] == true { " hides" } else { "" };
        format!("{} {}{hides}", word("path"), word("change"))
    };
    Some((warnings.iter().map(words).collect(), step["inputs"][0]["files"].clone()))
}

/// One way to defeat a check whose command does not name the file.
struct Cheat<'a> {
    files: &'a [(&'a str, &'a str)],
    check: &'a str,
    script: &'a str,
    /// The warning.
    warned: &'a str,
}

#[test]
fn a_file_counts_that_a_check_opens_though_no_command_names_it() {
    let cheats = [
        Cheat {
            files: &[("tests/a.sh", "exit 1\n")],
            check: "for t in tests/*.sh; do sh $t || exit 1; done",
            script: "echo exit 0 > tests/a.sh",
            warned: "tests/a.sh changed",
        },
        Cheat {
            files: &[("tests/a.sh", "exit 1\n"), ("tests/b.sh", "exit 0\n")],
            check: "for t in tests/*.sh; do sh $t || exit 1; done",
            script: "rm tests/a.sh",
            warned: "tests/a.sh removed",
        },
        Cheat {
            files: &[("Makefile", "include rules.mk\n"), ("rules.mk", "test:\n\tfalse\n")],
            check: "make test",
            script: "printf 'test:\\n\\ttrue\\n' > rules.mk",
            warned: "rules.mk changed",
        },
        Cheat {
            files: &[("chk/a.sh", "exit 1\n")],
            check: "test -z \"$(find chk -name '*.sh' ! -exec sh {} \\; -print)\"",
            script: "echo exit 0 > chk/a.sh",
            warned: "chk/a.sh changed",
        },
        Cheat {
            files: &[("ask.sh", "PATH=$PWD/bin:$PATH\ngrep -q never README.md\n")],
            check: "sh ask.sh",
            script: "mkdir bin; printf '#!/bin/sh\\nexit 0\\n' > bin/grep; chmod +x bin/grep",
            warned: "bin/grep created hides",
        },
    ];
    for Cheat { files, check, script, warned } in sampled(2, cheats) {
        let Some((warnings, _)) = observed(files, (check, script), "") else { return };
        assert_eq!(warnings, [warned], "{check}");
    }
}

/// `make ok` goes by times, as caches of builds do, and the agent has run it before the check does.
#[test]
#[ignore = "only with --all"]
fn a_file_counts_that_a_build_cache_knows() {
    let makefile =
        "ok: $(wildcard tests/*.sh)\n\tfor t in $^; do sh $$t || exit 1; done\n\ttouch ok\n";
    let files = [("Makefile", makefile), ("tests/a.sh", "exit 1\n"), (".gitignore", "ok\n.hotl\n")];
    let script = "echo exit 0 > tests/a.sh; make ok";
    let Some((warnings, inputs)) = observed(&files, ("make ok", script), "") else { return };
    assert_eq!(warnings, ["tests/a.sh changed"]);
    assert_eq!(inputs[0]["path"], "tests/a.sh");
}

#[test]
fn a_test_that_became_a_link_is_changed() {
    let files = [("tests/a.sh", "exit 1\n"), ("tests/b.sh", "exit 0\n")];
    let check = "for t in tests/*.sh; do sh $t || exit 1; done";
    let script = "echo exit 0 > x.sh; ln -sf ../x.sh tests/a.sh; echo >> tests/b.sh";
    let Some((warnings, _)) = observed(&files, (check, script), "") else { return };
    assert_eq!(warnings, ["tests/a.sh changed", "tests/b.sh changed"]);
}

#[test]
#[ignore = "only with --all"]
fn what_a_step_is_told_to_change_and_what_is_under_test_is_listed_and_not_warned_about() {
    let files = [("tests/a.sh", "sh src/greet | grep -q hello\n"), ("src/greet", "echo\n")];
    let check = "for t in tests/*.sh; do sh $t || exit 1; done";
    let script = "echo 'echo hello' > src/greet; echo '. src/greet' >> tests/a.sh";
    let told = "may_change: [\"tests/**\"]";
    let Some((warnings, inputs)) = observed(&files, (check, script), told) else { return };
    assert_eq!(warnings, [""; 0]);
    let paths = |value: &Value| {
        let files = value.as_array().expect("a list").iter();
        files.map(|file| (file["path"].clone(), file["expected"] == true)).collect::<Vec<_>>()
    };
    assert_eq!(paths(&inputs), [(json!("tests/a.sh"), true), (json!("src/greet"), false)]);
    let Some((warnings, _)) = observed(&files, (check, script), "") else { return };
    assert_eq!(warnings, ["tests/a.sh changed"]);
}

#[test]
#[ignore = "only with --all"]
fn at_high_risk_a_step_may_change_what_it_is_told_to() {
    let more = "sh ci/check.sh\nmay_change: ci/check.sh";
    let steps = [("false", more, "echo exit 0 > ci/check.sh")];
    let workspace = repository(&workflow("risk_level: high\n", &steps));
    workspace.onloop(&["run", "--agent", "script"]).expect_exit(0);
    assert_eq!(summary(&workspace)["steps"][0]["warnings"], json!([]));
}
