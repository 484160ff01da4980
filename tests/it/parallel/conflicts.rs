//! Steps that change the same lines.

use super::{Step, forks, project, run, workflow, worktrees};
use crate::run::FILE;
use crate::workspace::Workspace;

/// Two steps that change the same line, each in its way.
fn clashing() -> Workspace {
    let step = |fields, word| {
        (
            fields,
            format!("grep -q {word} base.txt"),
            format!("sed -i 's/^four.*/&{word}/' base.txt"),
        )
    };
    let (one, two) = (step("", "-left"), step("depends_on: []\n", "-right"));
    // `grep` would take the word for an option.
    let check = |line: &str| line.replace("grep -q ", "grep -q -e ");
    project(
        "max_parallel: 2\n",
        &[Step(one.0, &check(&one.1), &one.2), Step(two.0, &check(&two.1), &two.2)],
    )
}

#[test]
fn a_conflict_goes_to_the_agent_once_in_the_worktree_of_the_run() {
    let project = clashing();
    project.write(
        "agent.sh",
        "if grep -q '^## Conflicts' \"$ONLOOP_PROMPT_FILE\"; then\n  echo resolve >> ../turns\n  \
         sed -i -e '/^<<<<<<< /d' -e '/^=======$/d' -e '/^>>>>>>> /d' base.txt\n  exit\nfi\n\
         case $ONLOOP_STEP in\n1) sed -i 's/^four.*/four-left/' base.txt;;\n\
         2) sed -i 's/^four.*/four-right/' base.txt;;\nesac\n",
    );
    project.commit("agent");
    let said = project.onloop(&["run", "--agent-command", "sh ./agent.sh"]).expect_exit(0).stderr;
    assert!(said.contains("Merged into the work of the run, with 1 conflict"), "{said}");
    let base = std::fs::read_to_string(project.worktree("hotl/w").join("base.txt")).unwrap();
    assert!(base.contains("\nfour-left\nfour-right\n"), "{base}");
    let turns = std::fs::read_to_string(project.worktree("hotl/w").join("../turns")).unwrap();
    assert_eq!(turns, "resolve\n");
    assert_eq!(forks(&project), ["done merged", "done merged"]);
    assert_eq!(worktrees(&project), 2);
}

#[test]
#[ignore = "only with --all"]
fn a_conflict_that_stays_blocks_the_step_and_keeps_both_sides() {
    let project = clashing();
    let said = run(&project, &[]).expect_exit(1);
    let record = project.record();
    let reason = record["steps"][1]["block_reason"].as_str().expect("it is blocked").to_owned();
    assert!(reason.contains("not resolved: CONFLICT (content)"), "{reason}\n{}", said.stderr);
    let sides = both_sides(&project, &reason, "base.txt");
    assert!(sides[0].contains("four-left") && sides[1].contains("four-right"), "{sides:?}");
    // A person resolves it, and the run completes.
    let base = project.worktree("hotl/w").join("base.txt");
    let both = std::fs::read_to_string(&base).unwrap();
    let run = record["run_id"].as_str().unwrap();
    // The marks name the sides, which git knows by these names.
    for side in [
        format!("<<<<<<< refs/onloop/{run}/before-step-2\n"),
        format!(">>>>>>> refs/onloop/{run}/step-2\n"),
    ] {
        assert!(both.contains(&side), "{both}");
        let name = side[8..].trim();
        assert!(project.shell(&format!("git show {name}:base.txt")).stdout.contains("four-"));
    }
    let lines = both.lines().filter(|line| !line.starts_with(['<', '=', '>']));
    std::fs::write(&base, lines.map(|line| format!("{line}\n")).collect::<String>()).unwrap();
    project.onloop(&["resume"]).expect_exit(0);
    assert_eq!(forks(&project), ["done merged", "done merged"]);
}

/// What the two sides that a reason names have in a file; nothing where a side does not have it.
fn both_sides(project: &Workspace, reason: &str, file: &str) -> Vec<String> {
    let names = reason.split('`').filter(|word| word.starts_with("refs/onloop/"));
    names.map(|side| project.shell(&format!("git show '{side}:{file}'")).stdout).collect()
}

/// What git cannot mark in a file: one side stays there.
#[test]
#[ignore = "only with --all"]
fn a_conflict_without_marks_blocks_until_a_person_continues() {
    let project = Workspace::git();
    project.write("gone.txt", "one\ntwo\nthree\n");
    project.write("kept.txt", "four\nfive\nsix\n");
    project.write("image", b"a\0b");
    std::os::unix::fs::symlink("nowhere", project.path("link")).unwrap();
    let odd = "$(printf 'odd\\nname')";
    let left = format!(
        "rm gone.txt; sed -i s/five/5/ kept.txt; printf 'l\\0b' > image; ln -sf left link\n\
         printf 'l\\0' > \"{odd}\"; printf 'l\\0' > $(printf 'odd\\377')"
    );
    let right = format!(
        "sed -i s/two/2/ gone.txt; rm kept.txt; printf 'r\\0b' > image; ln -sf right link\n\
         printf 'r\\0' > \"{odd}\"; printf 'r\\0' > $(printf 'odd\\377')"
    );
    let steps = [Step("", "true", &left), Step("depends_on: []\n", "true", &right)];
    project.write(&format!("sub/{FILE}"), workflow("max_parallel: 2\n", &steps));
    project.commit("begin");
    let run = |arguments: &[&str]| project.onloop_at("sub", arguments);
    run(&["run", "--agent", "script"]).expect_exit(1);
    let record = || project.record();
    let step = record()["steps"][1].clone();
    let conflicts = step["fork"]["conflicts"].as_array().expect("there are some").clone();
    let reason = step["block_reason"].as_str().expect("it is blocked").to_owned();
    assert_eq!(conflicts.len(), 6, "{conflicts:#?}");
    assert!(reason.contains(" and 5 more; the work of the other steps"), "{reason}");
    let said = format!("{conflicts:?}");
    for kind in ["deleted in step 2 and modified in the steps before", "Version step 2 of gone.txt"]
    {
        assert!(said.contains(kind), "no `{kind}`: {said}");
    }
    assert_eq!(both_sides(&project, &reason, "gone.txt"), ["", "one\n2\nthree\n"]);
    assert_eq!(both_sides(&project, &reason, "image"), ["l\0b", "r\0b"]);
    // The person takes the files as they are.
    run(&["resume"]).expect_exit(0);
    assert_eq!(record()["steps"][1]["fork"]["resolved"], true);
}

#[test]
#[ignore = "only with --all"]
fn an_agent_is_told_of_a_conflict_without_marks_and_has_to_change_something() {
    let agent = |resolve: &str| {
        format!(
            "if grep -q '^- `base.txt`: CONFLICT (modify/delete): base.txt deleted in the steps \
             before' \"$ONLOOP_PROMPT_FILE\"; then {resolve}\nexit\nfi\n\
             case $ONLOOP_STEP in\n1) rm base.txt;;\n2) sed -i s/four/4/ base.txt;;\nesac\n"
        )
    };
    // The side of each step is where the prompt says.
    let sides = "test $(git show $(sed -n 's/^`git show \\(.*\\)^1:PATH.*/\\1/p' $ONLOOP_PROMPT_FILE)^2:base.txt \
                 | grep -c 4) = 1 && git rm -qf base.txt";
    for (resolve, exit) in [(sides, 0), ("true", 1)] {
        let steps = [Step("", "true", ""), Step("depends_on: []\n", "true", "")];
        let project = project("max_parallel: 2\n", &steps);
        project.write("agent.sh", agent(resolve));
        project.commit("agent");
        let said = project.onloop(&["run", "--agent-command", "sh ./agent.sh"]).expect_exit(exit);
        let base = project.worktree("hotl/w").join("base.txt");
        assert_eq!(base.exists(), exit == 1, "{}", said.stderr);
        let is_named = said.stderr.contains("not resolved: CONFLICT (modify/delete)");
        assert_eq!(is_named, exit == 1, "{}", said.stderr);
    }
}

/// The work of an agent says how files are merged, and a driver of the person's configuration is a
/// program.
#[test]
fn the_work_cannot_choose_the_program_that_merges_it() {
    let project = project(
        "max_parallel: 2\n",
        &[
            Step("", "true", "echo '* merge=evil' > .gitattributes; sed -i s/one/1/ base.txt"),
            Step(
                "depends_on: []\n",
                "true",
                "echo '* merge=evil' > .gitattributes; sed -i s/seven/7/ base.txt",
            ),
        ],
    );
    let ran = project.path("../ran");
    let driver = format!("touch {} && exit 1", ran.display());
    project.git_says(&["config", "merge.evil.driver", &driver]);
    project.git_says(&["config", "merge.default", "evil"]);
    run(&project, &[]).expect_exit(0);
    assert!(!ran.exists(), "the driver has run");
    let base = std::fs::read_to_string(project.worktree("hotl/w").join("base.txt")).unwrap();
    assert!(base.starts_with("1\n") && base.ends_with("7\n"), "{base}");
}
