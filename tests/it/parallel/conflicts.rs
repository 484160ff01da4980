//! Steps that change the same lines.

use super::{Step, forks, project, run, worktrees};
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
    assert!(said.contains("Merged into the work of the run, with conflicts in 1 file"), "{said}");
    let base = std::fs::read_to_string(project.worktree("hotl/w").join("base.txt")).unwrap();
    assert!(base.contains("\nfour-left\nfour-right\n"), "{base}");
    let turns = std::fs::read_to_string(project.worktree("hotl/w").join("../turns")).unwrap();
    assert_eq!(turns, "resolve\n");
    assert_eq!(forks(&project), ["done merged", "done merged"]);
    assert_eq!(worktrees(&project), 2);
}

#[test]
fn a_conflict_that_stays_blocks_the_step_and_keeps_both_sides() {
    let project = clashing();
    let said = run(&project, &[]).expect_exit(1);
    let record = project.record();
    let reason = record["steps"][1]["block_reason"].as_str().expect("it is blocked").to_owned();
    assert!(reason.contains("is not resolved in `base.txt`"), "{reason}\n{}", said.stderr);
    let id = record["run_id"].as_str().expect("an id");
    let show = |name: &str| project.git_says(&["show", &format!("refs/onloop/{name}:base.txt")]);
    assert!(show(&format!("{id}/2-1-start")).contains("four-left"));
    assert!(show(&format!("{id}.step-2/2-1")).contains("four-right"));
    for name in [format!("refs/onloop/{id}/2-1-start"), format!("refs/onloop/{id}.step-2/")] {
        assert!(reason.contains(&name), "{reason}");
    }
    // A person resolves it, and the run completes.
    let base = project.worktree("hotl/w").join("base.txt");
    let both = std::fs::read_to_string(&base).unwrap();
    assert!(both.contains("<<<<<<<") && both.contains(">>>>>>>"), "{both}");
    let lines = both.lines().filter(|line| !line.starts_with(['<', '=', '>']));
    std::fs::write(&base, lines.map(|line| format!("{line}\n")).collect::<String>()).unwrap();
    project.onloop(&["resume"]).expect_exit(0);
    assert_eq!(forks(&project), ["done merged", "done merged"]);
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
    run(&project, &[]).expect_exit(0);
    assert!(!ran.exists(), "the driver has run");
    let base = std::fs::read_to_string(project.worktree("hotl/w").join("base.txt")).unwrap();
    assert!(base.starts_with("1\n") && base.ends_with("7\n"), "{base}");
}
