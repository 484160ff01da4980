//! Which task of the task table is next.

use super::progress::{TaskRow, TaskStatus, TaskTable};

/// What is left to do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TasksLeft<'a> {
    /// This task: one that was begun, else one that waits, else one that was blocked.
    Task(&'a TaskRow),
    /// Every task is completed.
    Finished,
    /// The table does not say: it has no row, or one with an unknown status.
    Unclear,
}

impl TaskTable {
    /// What is left to do.
    pub fn left(&self) -> TasksLeft<'_> {
        let with = |status: TaskStatus| self.rows.iter().find(|row| row.status == status);
        let next = with(TaskStatus::InProgress)
            .or_else(|| with(TaskStatus::Pending))
            .or_else(|| with(TaskStatus::Blocked));
        let is_completed = |row: &TaskRow| row.status == TaskStatus::Completed;
        match next {
            Some(task) => TasksLeft::Task(task),
            None if !self.rows.is_empty() && self.rows.iter().all(is_completed) => {
                TasksLeft::Finished
            }
            None => TasksLeft::Unclear,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn table(statuses: &str) -> TaskTable {
        let row = |(n, status): (usize, &str)| format!("| TASK-0{} | x | {status} | - |\n", n + 1);
        TaskTable::parse(&statuses.split_whitespace().enumerate().map(row).collect::<String>())
    }

    #[test]
    fn what_was_begun_goes_before_what_waits_and_that_before_what_is_blocked() {
        for (statuses, expected) in [
            ("completed pending in-progress blocked", "TASK-03"),
            ("blocked pending pending", "TASK-02"),
            ("completed blocked blocked", "TASK-02"),
            ("completed completed", "finished"),
            ("completed waiting", "unclear"),
            ("", "unclear"),
        ] {
            let progress = table(statuses);
            let found = match progress.left() {
                TasksLeft::Task(task) => task.id.as_str(),
                TasksLeft::Finished => "finished",
                TasksLeft::Unclear => "unclear",
            };
            assert_eq!(found, expected, "{statuses}");
        }
    }
}
