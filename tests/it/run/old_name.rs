//! The program under the name that older agents call: they know no exit code but 0 and 1.

use super::{FILE, project};
use crate::workspace::{Run, Workspace, program};

fn called(project: &Workspace, name: &str, words: &[&str]) -> Run {
    let link = project.path(&format!("../bin/{name}"));
    if !link.exists() {
        std::os::unix::fs::symlink(program(), &link).unwrap();
    }
    project.command_at(".", &link).args(words).output().expect("the program is there").into()
}

#[test]
fn verbs_of_the_old_name_end_with_0_or_1() {
    let steps = "- [ ] **Step 1: Only**\naction: go\nloop: false\nverify: test -e done\n";
    let project = project("", steps);
    project.write("broken.md", "no workflow");
    let table: [(&[&str], i32, i32); 9] = [
        (&["init"], 2, 1),
        (&["init", "broken.md"], 1, 1),
        (&["init", "none.md"], 1, 1),
        (&["step", "1", "dance"], 2, 1),
        (&["gate", "1", "approved", "--run-id", "none"], 1, 1),
        (&["no-such-verb"], 2, 1),
        (&["summary", "none-20260320T212315Z"], 2, 1),
        (&["finish", "none-20260320T212315Z", "keep"], 2, 1),
        (&["--version"], 0, 0),
    ];
    for (words, exit, old) in table {
        let run = called(&project, "onloop", words);
        assert_eq!(run.exit, Some(exit), "onloop {words:?}: {}", run.stderr);
        let run = called(&project, "hotl-rt", words);
        assert_eq!(run.exit, Some(old), "hotl-rt {words:?}: {}", run.stderr);
    }
    // The same work, and verbs that the old name never had keep their codes.
    called(&project, "hotl-rt", &["init", FILE]).expect_exit(0);
    called(&project, "hotl-rt", &["step", "1", "start"]).expect_exit(0);
    called(&project, "hotl-rt", &["step", "1", "verify"]).expect_exit(1);
    called(&project, "hotl-rt", &["abandon", "none", "--reason", ""]).expect_exit(2);
}
