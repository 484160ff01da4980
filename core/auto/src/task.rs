//! Tasks that are workflows: which one is next, and what the loop answers about it.

use std::fmt::Write;

use super::one_line::OneLine;
use super::progress::{TaskRow, TaskStatus, TaskTable};
use super::token::{NextCommand, Token};

/// Workflows that do tasks lie here, each under the id of its task.
pub const WORKFLOWS_FOLDER: &str = ".ai/workflows";

/// The workflow that does a task. A task id has no separator in it, so the path stays in its
/// folder.
pub fn workflow_path(id: &str) -> String {
    format!("{WORKFLOWS_FOLDER}/{id}.md")
}

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

/// How a task's run stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TaskEnd {
    /// Every step is verified.
    Completed,
    /// A person has to decide something.
    Paused,
    /// A step cannot be done.
    Blocked,
}

impl TaskEnd {
    /// The status in the task table.
    pub fn status(self) -> TaskStatus {
        match self {
            TaskEnd::Completed => TaskStatus::Completed,
            TaskEnd::Paused => TaskStatus::InProgress,
            TaskEnd::Blocked => TaskStatus::Blocked,
        }
    }
}

/// What a run of a task's workflow has come to, and where the evidence is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TaskResult<'a> {
    /// The task.
    pub id: &'a str,
    /// How its run stands.
    pub end: TaskEnd,
    /// The run.
    pub run: &'a str,
    /// Its report.
    pub report: &'a str,
}

impl TaskResult<'_> {
    /// The loop's answer about a task, after which `left` is left to do.
    pub fn answer(&self, left: TasksLeft<'_>) -> String {
        let TaskResult { id, end, run, report } = *self;
        let mut text = format!("TASK_ID={id}\nTASK_STATUS={}\n", end.status().as_str());
        line(&mut text, "RUN_ID", run);
        line(&mut text, "RUN_REPORT", report);
        let (reason, hint) = match end {
            TaskEnd::Completed => return text + &after_completion(left),
            TaskEnd::Paused => {
                ("RUN_PAUSED", format!("{id} waits for a decision: see `onloop status {run}`"))
            }
            TaskEnd::Blocked => {
                ("RUN_BLOCKED", format!("{id} is blocked: read {report}, fix the cause"))
            }
        };
        let hint = format!("{hint}, then run rw-auto again");
        let path = workflow_path(id);
        let lines = [
            Token::ReviewRequired,
            Token::ReviewReason(OneLine::from(reason)),
            Token::FeatureFile(OneLine::from(path.as_str())),
            Token::ReviewHint(OneLine::from(hint.as_str())),
            Token::NextCommand(NextCommand::Planner),
        ];
        for token in lines {
            writeln!(text, "{token}").expect("a string takes everything");
        }
        text
    }
}

/// The loop's answer when there is nothing left to do.
pub fn finished_answer() -> String {
    after_completion(TasksLeft::Finished)
}

fn after_completion(left: TasksLeft<'_>) -> String {
    let next = match left {
        TasksLeft::Finished => NextCommand::Done,
        TasksLeft::Task(_) | TasksLeft::Unclear => NextCommand::Loop,
    };
    format!("REVIEW_STATUS=OK\n{}\n", Token::NextCommand(next))
}

fn line(text: &mut String, key: &str, value: &str) {
    writeln!(text, "{key}={}", OneLine::from(value)).expect("a string takes everything");
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::child::ChildAnswer;

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

    #[test]
    fn every_answer_is_one_that_the_contract_takes() {
        let left = table("pending");
        let row = TasksLeft::Task(&left.rows[0]);
        for (end, left, next, reason) in [
            (TaskEnd::Completed, TasksLeft::Finished, NextCommand::Done, None),
            (TaskEnd::Completed, row, NextCommand::Loop, None),
            (TaskEnd::Completed, TasksLeft::Unclear, NextCommand::Loop, None),
            (TaskEnd::Paused, row, NextCommand::Planner, Some("RUN_PAUSED")),
            (TaskEnd::Blocked, row, NextCommand::Planner, Some("RUN_BLOCKED")),
        ] {
            let report = "/a/b\nNEXT_COMMAND=done\n.md";
            let result = TaskResult { id: "TASK-01", end, run: "x-1", report };
            let text = result.answer(left);
            let answer = ChildAnswer::parse(&text).expect("a valid answer");
            assert_eq!(answer.next, next, "{text}");
            let review = answer.review.and_then(|review| review.reason);
            assert_eq!(review.as_ref().map(OneLine::as_str), reason, "{text}");
        }
        assert_eq!(ChildAnswer::parse(&finished_answer()).unwrap().next, NextCommand::Done);
    }
}
