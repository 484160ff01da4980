//! The examples of the documentation, executed by the real program: what they promise to
//! their readers is what happens.

use serde_json::Value;

use crate::workspace::{Workspace, source_root};

/// One example, copied into a repository of its own and run.
struct Example {
    workspace: Workspace,
    workflow: &'static str,
    branch: &'static str,
}

const EXAMPLES: [(&str, &str, &str); 4] = [
    ("links", "hotl-workflow-fix-links.md", "hotl/fix-links"),
    ("release", "hotl-workflow-release.md", "release/1.4.0"),
    ("budget", "hotl-workflow-shrink-page.md", "hotl/shrink-page"),
    ("site", "hotl-workflow-build-site.md", "hotl/build-site"),
];

impl Example {
    fn new(folder: &str) -> Example {
        let (_, workflow, branch) =
            EXAMPLES.into_iter().find(|(name, ..)| *name == folder).expect("it is in the table");
        let workspace = Workspace::without_commit();
        workspace.copy_from(&source_root().join("docs/examples").join(folder));
        workspace.commit("Begin");
        Example { workspace, workflow, branch }
    }

    /// A file of the worktree in which the run works.
    fn read(&self, below: &str) -> String {
        let path = self.workspace.worktree(self.branch).join(below);
        std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{path:?}: {error}"))
    }

    fn exists(&self, below: &str) -> bool {
        self.workspace.worktree(self.branch).join(below).exists()
    }

    fn report(&self) -> String {
        let id = text(&self.workspace.record()["run_id"]);
        self.read(&format!(".hotl/reports/{id}.md"))
    }

    /// `x` and ` ` for the boxes of the workflow in the worktree, in order.
    fn boxes(&self) -> String {
        let workflow = self.read(self.workflow);
        let marks = workflow.lines().filter_map(|line| line.strip_prefix("- ["));
        marks.filter_map(|rest| rest.chars().next()).collect()
    }

    /// `status attempts` of each step in the record.
    fn steps(&self) -> Vec<String> {
        let record = self.workspace.record();
        let steps = record["steps"].as_array().expect("a list").iter();
        steps.map(|step| format!("{} {}", text(&step["status"]), step["attempts"])).collect()
    }

    fn status(&self) -> String {
        text(&self.workspace.record()["status"])
    }

    /// The original and the branch that was checked out are as they were.
    #[track_caller]
    fn assert_source_untouched(&self) {
        assert_eq!(self.workspace.git_says(&["status", "--porcelain"]), "");
        assert_eq!(self.workspace.git_says(&["branch", "--show-current"]), "main");
        assert_eq!(self.workspace.git_says(&["rev-list", "--count", "main"]), "1");
        assert!(!self.workspace.read(self.workflow).contains("- [x]"));
    }
}

fn text(value: &Value) -> String {
    value.as_str().unwrap_or_else(|| panic!("{value} is no text")).to_owned()
}

#[track_caller]
fn assert_in_order(found: &str, expected: &[&str]) {
    let mut rest = found;
    for part in expected {
        let Some((_, after)) = rest.split_once(part) else {
            panic!("`{part}` is missing, or in the wrong place, in:\n{found}");
        };
        rest = after;
    }
}

#[test]
fn every_example_is_known_and_lints_without_a_warning() {
    let folder = source_root().join("docs/examples");
    let mut found: Vec<String> = std::fs::read_dir(folder)
        .unwrap()
        .filter(|entry| entry.as_ref().unwrap().file_type().unwrap().is_dir())
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    found.sort();
    let mut known = EXAMPLES.map(|(name, ..)| name);
    known.sort_unstable();
    assert_eq!(found, known);
    for (name, workflow, _) in EXAMPLES {
        let example = Example::new(name);
        let lint = example.workspace.onloop(&["lint", "--deny-warnings", workflow]);
        let lint = lint.expect_exit(0);
        assert!(!lint.stderr.contains("warning"), "{name}: {}", lint.stderr);
    }
}

#[test]
fn links_are_fixed_one_with_each_attempt() {
    let example = Example::new("links");
    let run = example.workspace.onloop(&["run", example.workflow]).expect_exit(0);
    assert_in_order(
        &run.stderr,
        &[
            "  Agent: script\n",
            "→ Step 1: See that links are broken\n",
            "✗ Step 2: Fix them one by one (verify failed)\n",
            "    | docs/index.md:3:setup.md\n",
            "↻ Step 2: Fix them one by one (attempt 2/5)\n",
            "↻ Step 2: Fix them one by one (attempt 3/5)\n",
            "✓ Step 2: Fix them one by one (3 attempts)\n",
            "Run completed",
        ],
    );
    assert_eq!(
        run.stdout,
        "Execution Summary\n\n\
         ✓ Step 1: See that links are broken - Done (1 attempt)\n\
         ✓ Step 2: Fix them one by one - Done (3 attempts)\n\
         ✓ Step 3: Commit the corrections - Done (1 attempt)\n"
    );
    assert_eq!(example.status(), "completed");
    assert_eq!(example.steps(), ["done 1", "done 3", "done 1"]);
    assert_eq!(example.boxes(), "xxx");
    assert_in_order(
        &example.report(),
        &[
            "**Status:** completed",
            "| Fix them one by one | ✓ Done | 3 |",
            "↻ Step 2: Retrying (3/5)",
            "✓ Repeated 3 checks: all hold",
            "Step 2: command ./check-links.sh: passed",
        ],
    );
    let index = example.read("docs/index.md");
    assert!(index.contains("[setup](guide/install.md)"), "{index}");
    assert!(index.contains("[interface](reference/interface.md)"), "{index}");
    let log = example.workspace.git_says(&["log", "--format=%s", "hotl/fix-links"]);
    assert_eq!(log, "Fix links\nBegin");
    example.assert_source_untouched();
}

#[test]
fn a_release_waits_for_a_reader_and_for_a_decision() {
    let example = Example::new("release");
    let onloop = |arguments: &[&str], exit| example.workspace.onloop(arguments).expect_exit(exit);
    let tags = || example.workspace.git_says(&["tag", "--list"]);

    let run = onloop(&["run", example.workflow], 3);
    let id = text(&example.workspace.record()["run_id"]);
    assert_in_order(
        &run.stderr,
        &[
            "⚡ Step 1: Raise the version (auto-approved)\n",
            "⏸ Step 2: Write the release notes (waits for you)\n",
            "Waiting for you",
            "To review: Read NOTES.md.",
            &format!("onloop approve {id}"),
        ],
    );
    assert_eq!(example.status(), "paused");
    assert_eq!(example.steps(), ["done 1", "blocked 1", "pending 0", "pending 0"]);
    assert_eq!(example.boxes(), "x   ");
    assert_eq!(
        example.read("NOTES.md"),
        "## 1.4.0\n\n- Brew green tea as well.\n- Say how long it takes.\n\n"
    );

    // Resuming is not approving.
    onloop(&["resume", &id], 3);
    assert_eq!(example.steps()[1], "blocked 1");

    onloop(&["gate", "2", "approved", "--run-id", &id], 0);
    let resumed = onloop(&["resume", &id], 3);
    assert_in_order(
        &resumed.stderr,
        &["→ Step 3: Commit the release\n", &format!("onloop approve {id}")],
    );
    assert_eq!(example.boxes(), "xxx ");
    assert_eq!(tags(), "", "nothing is tagged before the decision");

    onloop(&["gate", "3", "approved", "--run-id", &id], 0);
    onloop(&["resume", &id], 0);
    assert_eq!(example.status(), "completed");
    assert_eq!(example.boxes(), "xxxx");
    assert_eq!(tags(), "v1.4.0");
    assert_in_order(
        &example.report(),
        &[
            "**Status:** completed",
            "| Raise the version | ⚡ Auto-approved |",
            "| Commit the release | ✓ Approved |",
            "Human review for Step 2: approved (human)",
            "Gate Step 3: approved (human)",
        ],
    );
    example.assert_source_untouched();
}

#[test]
fn a_rejected_release_is_not_tagged() {
    let example = Example::new("release");
    let onloop = |arguments: &[&str], exit| example.workspace.onloop(arguments).expect_exit(exit);
    onloop(&["run", example.workflow], 3);
    let id = text(&example.workspace.record()["run_id"]);
    onloop(&["gate", "2", "rejected", "--run-id", &id], 0);
    let resumed = onloop(&["resume", &id], 1);
    assert!(resumed.stderr.contains("Rejected: human review rejected"), "{}", resumed.stderr);
    assert_eq!(example.status(), "blocked");
    assert_eq!(example.boxes(), "x   ");
    assert_eq!(example.workspace.git_says(&["tag", "--list"]), "");
}

#[test]
fn a_page_that_does_not_fit_is_not_published() {
    let example = Example::new("budget");
    let run = example.workspace.onloop(&["run", example.workflow]).expect_exit(1);
    let why = "Still failing after 3 attempts: verify failed: exit code 1 (loop: until the page fits into 200 bytes)";
    assert_in_order(
        &run.stderr,
        &["    | 312 bytes of 200\n", "    | 284 bytes of 200\n", "    | 283 bytes of 200\n"],
    );
    assert!(crate::flat(&run.stderr).contains(why), "{}", run.stderr);
    assert!(run.stderr.contains("onloop resume shrink-page-"), "{}", run.stderr);
    assert_eq!(
        run.stdout,
        "Execution Summary\n\n\
         ✗ Step 1: Squeeze the page - Blocked (3 attempts)\n\
         · Step 2: Publish the page - Pending (0 attempts)\n"
    );
    assert_eq!(example.status(), "blocked");
    assert_eq!(text(&example.workspace.record()["steps"][0]["block_reason"]), why);
    assert_eq!(example.steps(), ["blocked 3", "pending 0"]);
    assert_eq!(example.boxes(), "  ");
    assert_in_order(
        &example.report(),
        &["**Status:** blocked", "| Squeeze the page | ✗ Blocked |", "283 bytes of 200", why],
    );
    assert!(example.read("page.html").contains("three minutes"));
    assert!(!example.exists("public"));
}

#[test]
fn a_site_is_built_and_every_kind_of_check_holds() {
    let example = Example::new("site");
    let run = example.workspace.onloop(&["run", example.workflow]).expect_exit(0);
    assert_in_order(
        &run.stderr,
        &[
            "  ✓ Step 1: Begin with nothing\n  → Step 2: Build every page\n",
            "  · Step 3: Look at what came out\n",
            "Run completed",
        ],
    );
    assert_eq!(example.status(), "completed");
    assert_eq!(example.boxes(), "xxx");
    let index = example.read("public/index.html");
    assert_eq!(
        index,
        "<!doctype html><title>Teapots &amp; kettles</title>\n<p>\n\
         Everything about tea in less than a page.\n<p>\nSee brewing for the details.\n"
    );
    assert!(!example.exists("again"));
    let record = example.workspace.record();
    let verdicts: Vec<String> = record["steps"][2]["verify"]["checks"]
        .as_array()
        .expect("several checks")
        .iter()
        .map(|check| format!("{} {}", text(&check["type"]), text(&check["verdict"])))
        .collect();
    assert_eq!(verdicts, ["artifact passed", "shell passed", "shell passed"]);
}

#[test]
fn a_site_whose_warnings_get_out_is_refused() {
    let example = Example::new("site");
    let broken = example.workspace.read("build-site.sh").replace("/^%/ { next }\n", "");
    example.workspace.write("build-site.sh", broken);
    example.workspace.commit("Let the warnings out");
    let run = example.workspace.onloop(&["run", example.workflow]).expect_exit(1);
    assert!(run.stderr.contains("TODO: ask somebody"), "{}", run.stderr);
    assert_eq!(example.steps(), ["done 1", "done 1", "blocked 1"]);
    assert_eq!(example.boxes(), "xx ");
}
