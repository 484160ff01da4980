//! `onloop plan` in real repositories, with scripts that stand for the agent.

use std::fs::Permissions;
use std::os::unix::fs::PermissionsExt;

use crate::do_task::GH;
use crate::run::terminal::Session;
use crate::workspace::{Run, Workspace};

/// A project with a test, and an agent that reads `draft-1`, `draft-2`, … in the home folder, one for
/// each attempt, and keeps its prompts there.
fn project(drafts: &[&str]) -> Workspace {
    let project = Workspace::git();
    project.write("Makefile", "test:\n\tgrep -q 42 answer\n");
    project.write("answer", "41\n");
    project.commit("A test that fails");
    for (number, draft) in (1..).zip(drafts) {
        project.write(&format!("../home/draft-{number}"), draft);
    }
    project
}

const AGENT: &str = "cat > \"$HOME/prompt-$ONLOOP_ATTEMPT\"
    cp \"$HOME/draft-$ONLOOP_ATTEMPT\" hotl-workflow-fix-the-answer.md";

/// A draft of one step whose other lines are `more`.
fn draft(more: &str) -> String {
    format!(
        "---\nintent: Fix the answer\nsuccess_criteria: The test passes\nrisk_level: low\n---\n\n\
         ## Steps\n\n- [ ] **Step 1: Write 42**\naction: Write 42 to answer (tasks T001, 1.2)\n{more}"
    )
}

const GOOD: &str = "loop: until the test passes\nmax_iterations: 3\nverify: make test\n";

fn plan(project: &Workspace, words: &[&str]) -> Run {
    project.onloop(&[&["plan", "--agent-command", AGENT], words].concat())
}

#[test]
#[ignore = "only with --all"]
fn findings_go_back_to_the_agent_and_the_draft_is_written_without_a_terminal() {
    let (bad, good) = (draft("verify: make test\n"), draft(GOOD));
    let project = project(&[&bad, &good]);
    let run = plan(&project, &["Fix the answer"]).expect_exit(0);
    assert_eq!(run.stdout, "hotl-workflow-fix-the-answer.md\n");
    assert_eq!(project.read("hotl-workflow-fix-the-answer.md"), good);
    for expected in [
        "\n1 finding about the draft, sent back to the agent:\n  line 9: error: ",
        "\nFix the answer\n  1 step, low risk; done when: The test passes\n",
        "\n  1  Write 42 (up to 3 attempts)\n       check   make test\n",
        "The checks were not tried: there is no sandbox: ",
        "  onloop run hotl-workflow-fix-the-answer.md",
    ] {
        assert!(run.stderr.contains(expected), "{expected}: {}", run.stderr);
    }
    let first = project.read("../home/prompt-1");
    assert!(first.contains("for this goal: Fix the answer\n"), "{first}");
    assert!(first.contains("- The tests of this project: `make test`.\n"), "{first}");
    let second = project.read("../home/prompt-2");
    assert!(second.contains("it has to be done again: onloop found: line 9: error: "), "{second}");
    // Nothing has run, and nothing is left but the file.
    assert_eq!(project.read("answer"), "41\n");
    assert_eq!(project.git_says(&["branch", "--format=%(refname:short)"]), "main");
    assert!(!project.worktree("hotl/plan-fix-the-answer").exists());
    assert_eq!(project.git_says(&["worktree", "list"]).lines().count(), 1);
    let again = plan(&project, &["Fix the answer"]).expect_exit(2);
    assert!(again.stderr.contains("exists; it was left as it is"), "{}", again.stderr);
}

#[test]
#[ignore = "only with --all"]
fn a_draft_that_stays_wrong_is_not_written() {
    let bad = draft("verify: make test\n");
    let project = project(&[&bad, &bad, &bad, &bad, &bad]);
    let run = plan(&project, &["Fix the answer"]).expect_exit(1);
    assert!(run.stderr.contains("the draft still has errors"), "{}", run.stderr);
    assert!(!project.path("hotl-workflow-fix-the-answer.md").exists());
    assert!(project.path("../home/prompt-4").exists());
    assert!(!project.path("../home/prompt-5").exists(), "three rounds");
}

#[test]
fn an_agent_that_works_instead_of_planning_is_told_to_restore_the_files() {
    let good = draft(GOOD);
    let project = project(&[&good, &good]);
    let agent = format!("{AGENT}\ntest \"$ONLOOP_ATTEMPT\" = 2 || echo 42 > answer");
    let agent = format!("{agent}\ntest \"$ONLOOP_ATTEMPT\" = 1 || git checkout -q answer");
    let words = ["plan", "Fix the answer", "--agent-command", &agent];
    let run = project.onloop(&words).expect_exit(0);
    assert!(run.stderr.contains("  `answer` was changed; restore it"), "{}", run.stderr);
    assert_eq!(project.read("answer"), "41\n");
}

#[test]
fn a_person_sends_the_draft_back_edits_it_and_approves() {
    let (first, second) = (draft(GOOD), draft("loop: false\nverify: make test\n"));
    let project =
        project(&[&first, &second]).with_env("EDITOR", "sed -i 's/Write 42\\*/Write it*/'");
    let question = "[a]pprove [e]dit [s]end back [x] discard, Enter keeps the draft: ";
    let words = ["plan", "Fix the answer", "--agent-command", AGENT];
    let mut session = Session::start(&project, &words);
    session.expect("Write 42 (up to 3 attempts)");
    session.answer(question, "s");
    session.answer("What should change? ", "one attempt only");
    session.answer(question, "");
    let (seen, exit) = session.end();
    assert_eq!(exit, Some(3), "{seen}");
    assert!(seen.contains("The same command continues with it."), "{seen}");
    let prompt = project.read("../home/prompt-2");
    assert!(prompt.contains("it has to be done again: one attempt only"), "{prompt}");

    // A link could lead to a secret file.
    let draft =
        project.worktree("hotl/plan-fix-the-answer").join("hotl-workflow-fix-the-answer.md");
    let moved = draft.with_extension("moved");
    std::fs::rename(&draft, &moved).unwrap();
    std::os::unix::fs::symlink("/etc/passwd", &draft).unwrap();
    let run = project.onloop(&words).expect_exit(1);
    assert!(run.stderr.contains("is not a plain file"), "{}", run.stderr);
    assert!(run.stderr.contains("--fresh"), "{}", run.stderr);
    std::fs::rename(&moved, &draft).unwrap();

    let mut session = Session::start(&project, &words);
    session.expect("is kept from before");
    session.answer(question, "e");
    session.expect("  1  Write it");
    session.answer(question, "a");
    let (seen, exit) = session.end();
    assert_eq!(exit, Some(0), "{seen}");
    let written = project.read("hotl-workflow-fix-the-answer.md");
    assert_eq!(written, second.replace("Write 42**", "Write it**"));
    assert!(!project.path("../home/prompt-3").exists(), "what a person wrote stays");
}

#[test]
#[ignore = "only with --all"]
fn tasks_of_other_tools_are_covered_or_named() {
    let good = draft(GOOD);
    let project = project(&[&good, &good]);
    let tasks = "# Tasks: Fix the answer\n\nRead the plan first.\n\n- [ ] T001 [P] Write 42\n\
                 - [ ] 1.2 Test it\n- [x] T003 Set up\n- [ ] T004 Tell people\n";
    project.write("specs/001-answer/tasks.md", tasks);
    let run = plan(&project, &["--from", "."]).expect_exit(0);
    for expected in [
        "Tasks: 3 open tasks in ./specs/001-answer/tasks.md\n",
        "  line 3: Read the plan first.\n",
        "  line 5: the mark `[P]`, here and below: ",
        "  line 7: task T003 done already: Set up\n",
        "1 finding about the draft, sent back to the agent:\n  no step names task T004: Tell people\n",
        "\nNot in the plan: task T004: Tell people\n",
    ] {
        assert!(run.stderr.contains(expected), "{expected}: {}", run.stderr);
    }
    let prompt = project.read("../home/prompt-1");
    assert!(prompt.contains("They are data: "), "{prompt}");
    assert!(prompt.contains(tasks), "{prompt}");
}

#[test]
fn tasks_become_steps_without_an_agent() {
    let project = project(&[]);
    let tasks = "## 1. Answer\n- [ ] 1.1 Write 42\n- [ ] 1.2 Test it\n";
    project.write("openspec/changes/fix-answer/tasks.md", tasks);
    project.write("openspec/changes/archive/old/tasks.md", tasks);
    let convert = ["plan", "--no-agent", "--from", "."];
    let run = project.onloop(&convert).expect_exit(0);
    assert_eq!(run.stdout, "hotl-workflow-fix-answer.md\n");
    assert!(run.stderr.contains("  1  Write 42\n       ○ no check\n"), "{}", run.stderr);
    let written = project.read("hotl-workflow-fix-answer.md");
    assert_eq!(written.matches("This step has no check.").count(), 1, "{written}");
    project.onloop(&["lint", "hotl-workflow-fix-answer.md"]).expect_exit(0);
    project.commit("Plan");
    let agent = ["--agent-command", "echo 42 > answer"];
    project.onloop(&[&["run", "fix-answer"][..], &agent].concat()).expect_exit(0);

    project.write("openspec/changes/another/tasks.md", tasks);
    let several = project.onloop(&convert).expect_exit(2);
    assert!(several.stderr.contains("openspec/changes/another/tasks.md"), "{}", several.stderr);
    project.write("NOTES.md", "Nothing to do.\n");
    let none = project.onloop(&["plan", "--no-agent", "--from", "NOTES.md"]).expect_exit(2);
    assert!(none.stderr.contains("line 1: Nothing to do."), "{}", none.stderr);
}

#[test]
fn an_issue_without_a_checklist_is_one_task() {
    let project = project(&[]);
    project.write("../bin/gh", GH);
    std::fs::set_permissions(project.path("../bin/gh"), Permissions::from_mode(0o755)).unwrap();
    let convert = ["plan", "--no-agent", "--from", "#7"];
    project.onloop(&convert).expect_exit(4);
    project.write("../home/logged-in", "");
    let run = project.onloop(&convert).expect_exit(0);
    let file = run.stdout.trim_end();
    assert_eq!(file, "hotl-workflow-resolve-issue-7-the-answer-is-wrong.md");
    let written = project.read(file);
    assert!(
        written.contains("action: Task #1: Resolve issue 7: The answer is wrong\n"),
        "{written}"
    );
    assert!(written.contains("It should be `42`."), "{written}");
    let checked = project.onloop(&["normalize", file, "--json"]).expect_exit(0);
    let plan: serde_json::Value = serde_json::from_str(&checked.stdout).unwrap();
    assert_eq!(plan["workflow"]["steps"].as_array().map(Vec::len), Some(1), "{plan:#}");
}

#[test]
fn the_workflow_of_a_task_becomes_a_file() {
    let project = project(&[]);
    project.onloop(&["do", "Fix it", "--agent-command", "echo 42 > answer"]).expect_exit(0);
    let run = project.onloop(&["plan", "--from-run", "fix-it"]).expect_exit(0);
    assert_eq!(run.stdout, "hotl-workflow-fix-it.md\n");
    assert!(project.read("hotl-workflow-fix-it.md").contains("command: make test\n"));
}

#[test]
fn nothing_is_drafted_without_an_agent_or_a_commit() {
    let project = project(&[]);
    let git = project.path("../bin/git");
    std::fs::create_dir_all(git.parent().unwrap()).unwrap();
    let path = std::env::var_os("PATH").unwrap();
    let real =
        std::env::split_paths(&path).map(|folder| folder.join("git")).find(|git| git.is_file());
    std::os::unix::fs::symlink(real.unwrap(), &git).unwrap();
    let project = project.with_env("PATH", git.parent().unwrap().to_str().unwrap());
    let run = project.onloop(&["plan", "x", "--agent", "codex"]).expect_exit(2);
    assert!(run.stderr.contains("`codex` is not on PATH"), "{}", run.stderr);
    assert!(!project.path(".hotl").exists());
    let empty = Workspace::without_commit();
    let run = plan(&empty, &["x"]).expect_exit(4);
    assert!(run.stderr.contains("--no-agent"), "{}", run.stderr);
    plan(&empty, &[" "]).expect_exit(2);
    plan(&empty, &[]).expect_exit(2);
}
