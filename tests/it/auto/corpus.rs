//! Files that people wrote: what a reader must find in each.

use std::path::{Path, PathBuf};

use onloop_core::auto::feature;
use onloop_core::auto::progress::{TaskStatus, TaskTable, Tasks};

/// Where files are that people wrote, which are not ours to publish: `ONLOOP_CORPUS`, else beside the
/// repository, where somebody has put them.
fn corpus() -> Option<PathBuf> {
    match std::env::var_os("ONLOOP_CORPUS") {
        Some(named) => Some(named.into()),
        None => Some(Path::new(env!("CARGO_MANIFEST_DIR")).join("../../shared/corpus"))
            .filter(|folder| folder.is_dir()),
    }
}

fn real_files_give_the_counts_they_were_counted_to_have(folder: &Path) {
    let expected = std::fs::read_to_string(folder.join("expected.tsv")).expect("counts");
    let mut files = 0;
    for line in expected.lines().skip(1) {
        let cells: Vec<&str> = line.split('\t').collect();
        let text = std::fs::read_to_string(folder.join(cells[0])).expect(cells[0]);
        match cells[1] {
            "progress" => assert_eq!(counts(&text), cells[2..10].join(" "), "{}", cells[0]),
            "feature" => {
                assert_eq!(feature::is_ready(&text), cells[10] == "1", "{}", cells[0]);
            }
            kind => panic!("{}: unknown kind {kind}", cells[0]),
        }
        files += 1;
    }
    assert!(files >= 30, "{files} files");
}

/// Rows, rows by status, whether any is active, and the ids.
fn counts(text: &str) -> String {
    let progress = TaskTable::parse(text);
    let count = |wanted: fn(&TaskStatus) -> bool| {
        progress.rows.iter().filter(|row| wanted(&row.status)).count()
    };
    let ids: Vec<&str> = progress.rows.iter().map(|row| row.id.as_str()).collect();
    format!(
        "{} {} {} {} {} {} {} {}",
        progress.rows.len(),
        count(|status| *status == TaskStatus::Pending),
        count(|status| *status == TaskStatus::InProgress),
        count(|status| *status == TaskStatus::Completed),
        count(|status| *status == TaskStatus::Blocked),
        count(|status| matches!(status, TaskStatus::Other(_))),
        u8::from(progress.tasks() == Tasks::Active),
        ids.join(",")
    )
}

/// Look-alikes of what people wrote, and that as well where it is.
#[test]
fn files_like_the_real_ones_are_read_alike() {
    for (name, text, expected) in [
        (
            "a log that quotes the table",
            include_str!("../../corpus/auto/progress-log-quotes-rows.md"),
            "3 1 0 2 0 0 1 TASK-01,TASK-02,TASK-03",
        ),
        (
            "another tool's tracker",
            include_str!("../../corpus/auto/progress-other-tool.md"),
            "2 1 0 0 0 1 1 TASK-001,TASK-002",
        ),
        ("no table at all", include_str!("../../corpus/auto/progress-prose.md"), "0 0 0 0 0 0 0 "),
    ] {
        assert_eq!(counts(text), expected, "{name}");
    }
    for (text, expected) in [
        (include_str!("../../corpus/auto/feature-draft-mentions-ready.md"), Some("DRAFT")),
        (include_str!("../../corpus/auto/feature-status-section.md"), Some("READY_FOR_PLAN")),
    ] {
        assert_eq!(feature::status(text).as_deref(), expected);
    }
    if let Some(folder) = corpus() {
        real_files_give_the_counts_they_were_counted_to_have(&folder.join("auto"));
    }
}
