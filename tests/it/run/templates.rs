//! Workflows that `onloop new` writes, as they are.

use super::{command_below, standing};
use crate::workspace::Workspace;

/// Each part has its own file; the last one fits only where all are.
const AGENT: &str = "cat > /dev/null; mkdir -p parts; \
                     if [ \"$ONLOOP_STEP\" = 4 ]; then cat parts/1 parts/2 parts/3; fi > out || exit 1; \
                     echo done > parts/$ONLOOP_STEP";

#[test]
#[ignore = "only with --all"]
fn the_template_of_parallel_steps_runs_up_to_its_gate() {
    let project = Workspace::git();
    project.write("Makefile", "test:\n\tgrep -q done parts/*\n");
    project.onloop(&["new", "parts", "--template", "parallel"]).expect_exit(0);
    project.commit("Begin");
    let file = "hotl-workflow-parts.md";
    let lint = project.onloop(&["lint", "--deny-warnings", file]).expect_exit(0);
    assert!(!lint.stderr.contains("warning"), "{}", lint.stderr);
    let waits = project.onloop(&["run", "--agent-command", AGENT]).expect_exit(3);
    assert_eq!(standing(&project), "paused: done, done, done, done");
    project.shell(&command_below(&waits, "Approve")).expect_exit(0);
    project.onloop(&["resume"]).expect_exit(0);
    assert_eq!(standing(&project), "completed: done, done, done, done");
    for part in ["1", "2", "3", "4"] {
        let path = project.worktree("hotl/parts").join("parts").join(part);
        assert_eq!(std::fs::read_to_string(&path).expect("a part"), "done\n", "{part}");
    }
}
