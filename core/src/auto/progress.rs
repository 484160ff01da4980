//! The task table of `.ai/PROGRESS.md`.

use std::borrow::Cow;

use super::lines;

/// What a progress file says about its tasks.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Progress {
    /// Every task row in the order of the file, duplicates included.
    pub rows: Vec<TaskRow>,
}

/// One row of the task table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TaskRow {
    /// `TASK-` and what follows, without decoration.
    pub id: String,
    /// Second cell as it is written.
    pub title: String,
    /// Where the task stands.
    pub status: TaskStatus,
}

/// Where a task stands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TaskStatus {
    /// `pending`
    Pending,
    /// `in-progress`
    InProgress,
    /// `completed`
    Completed,
    /// `blocked`
    Blocked,
    /// Anything else, in lower case. The row exists, but nobody waits for it.
    Other(String),
}

/// What the task table means for routing. A table cannot have active tasks and no rows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tasks {
    /// No task row.
    None,
    /// Rows, none of them pending or in progress.
    Settled,
    /// At least one row is pending or in progress.
    Active,
}

impl TaskStatus {
    fn parse(cell: &str) -> TaskStatus {
        match lines::undecorated(cell).to_ascii_lowercase().as_str() {
            "pending" => TaskStatus::Pending,
            "in-progress" => TaskStatus::InProgress,
            "completed" => TaskStatus::Completed,
            "blocked" => TaskStatus::Blocked,
            other => TaskStatus::Other(other.to_owned()),
        }
    }

    /// Whether somebody still has to work on the task.
    pub fn is_active(&self) -> bool {
        match self {
            TaskStatus::Pending | TaskStatus::InProgress => true,
            TaskStatus::Completed | TaskStatus::Blocked | TaskStatus::Other(_) => false,
        }
    }
}

impl Progress {
    /// Reads a progress file. Rows count below a `## Task Status` heading, up to the next
    /// heading of level 1 or 2; in a file without that heading they count everywhere.
    pub fn parse(text: &str) -> Progress {
        let page: Vec<Cow<'_, str>> = lines::visible(text).collect();
        let has_section = page.iter().any(|line| is_task_heading(line));
        let mut in_scope = !has_section;
        let mut table = Table::default();
        let mut rows = Vec::new();
        for line in &page {
            if let Some((level, _)) = lines::heading(line) {
                if has_section && level <= 2 {
                    in_scope = is_task_heading(line);
                }
                table = Table::default();
            } else if in_scope {
                rows.extend(table.read(line));
            }
        }
        Progress { rows }
    }

    /// What the table means for routing.
    pub fn tasks(&self) -> Tasks {
        if self.rows.iter().any(|row| row.status.is_active()) {
            Tasks::Active
        } else if self.rows.is_empty() {
            Tasks::None
        } else {
            Tasks::Settled
        }
    }
}

/// `## Task Status`, perhaps with a colon or something in parentheses after it.
fn is_task_heading(line: &str) -> bool {
    const TITLE: &str = "Task Status";
    let Some((2, title)) = lines::heading(line) else { return false };
    let Some((start, rest)) = title.split_at_checked(TITLE.len()) else { return false };
    let rest = rest.trim_start();
    start.eq_ignore_ascii_case(TITLE) && (rest.is_empty() || rest.starts_with([':', '(']))
}

/// Where the status stands in the table being read.
#[derive(Default)]
struct Table {
    /// Column of the cell headed `Status`; the third where no header says otherwise.
    status_column: Option<usize>,
}

impl Table {
    fn read(&mut self, line: &str) -> Option<TaskRow> {
        const TITLE: usize = 1;
        const STATUS: usize = 2;
        let cells = cells(line)?;
        if let Some(id) = task_id(cells[0]) {
            let cell = |column: usize| cells.get(column).copied().unwrap_or("");
            return Some(TaskRow {
                id: id.to_owned(),
                title: cell(TITLE).to_owned(),
                status: TaskStatus::parse(cell(self.status_column.unwrap_or(STATUS))),
            });
        }
        let is_status = |cell: &&str| lines::undecorated(cell).eq_ignore_ascii_case("Status");
        if let Some(column) = cells.iter().position(is_status) {
            self.status_column = Some(column);
        }
        None
    }
}

/// The trimmed cells of a table line; an escaped pipe does not separate.
fn cells(line: &str) -> Option<Vec<&str>> {
    let row = line.trim().strip_prefix('|')?;
    let mut cells = Vec::new();
    let mut start = 0;
    let mut escaped = false;
    for (at, byte) in row.bytes().enumerate() {
        if byte == b'|' && !escaped {
            cells.push(row[start..at].trim());
            start = at + 1;
        }
        escaped = byte == b'\\' && !escaped;
    }
    if start < row.len() || cells.is_empty() {
        cells.push(row[start..].trim());
    }
    Some(cells)
}

/// The task id in a first cell, whatever link, code or emphasis is around it.
fn task_id(cell: &str) -> Option<&str> {
    let mut text = cell;
    loop {
        let inner = link_text(lines::undecorated(text));
        if inner.len() == text.len() {
            break;
        }
        text = inner;
    }
    let number = text.strip_prefix("TASK-")?;
    let rest_fits = |b: u8| b.is_ascii_uppercase() || b.is_ascii_digit() || b == b'_' || b == b'-';
    (number.as_bytes().first()?.is_ascii_digit() && number.bytes().all(rest_fits)).then_some(text)
}

/// `text` of `[text](target)` and `[text][name]`; anything else as it is.
fn link_text(text: &str) -> &str {
    let Some(inner) = text.strip_prefix('[') else {
        return text;
    };
    let linked = inner.split_once("](").filter(|(_, target)| target.ends_with(')'));
    let named = inner.split_once("][").filter(|(_, name)| name.ends_with(']'));
    linked.or(named).map_or(text, |(text, _)| text.trim())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shape(text: &str) -> String {
        let rows = Progress::parse(text).rows;
        let rows: Vec<String> =
            rows.iter().map(|row| format!("{} {:?}", row.id, row.status)).collect();
        rows.join(", ")
    }

    #[test]
    fn rows_count_below_the_task_status_heading_only() {
        let text = "\u{feff}# P\r\n## Task Status\r\n| Task | Title | Status | Commit |\r\n|--|--|--|--|\r\n\
            | TASK-01 | a | pending | - |\r\n### Phase 1\r\n| TASK-02 | b | completed | x |\r\n\
            ## Log\r\n| TASK-03 | c | pending | - |\r\n- TASK-01 back to `pending`\r\n";
        assert_eq!(shape(text), "TASK-01 Pending, TASK-02 Completed");
        assert_eq!(Progress::parse(text).tasks(), Tasks::Active);
    }

    #[test]
    fn the_heading_may_carry_a_remark() {
        let log = "\n## Log\n| TASK-2 | y | pending |\n";
        for (heading, expected) in [
            ("## Task Status", "TASK-1 Completed"),
            ("## task status ##", "TASK-1 Completed"),
            ("## Task Status:", "TASK-1 Completed"),
            ("## Task Status (phase 2)", "TASK-1 Completed"),
            ("## Task Statuses", "TASK-1 Completed, TASK-2 Pending"),
            ("### Task Status", "TASK-1 Completed, TASK-2 Pending"),
            ("## Tâsk Status", "TASK-1 Completed, TASK-2 Pending"),
        ] {
            let text = format!("{heading}\n| TASK-1 | x | completed |\n{log}");
            assert_eq!(shape(&text), expected, "{heading}");
        }
    }

    #[test]
    fn without_the_heading_rows_count_everywhere() {
        let text = "# Tracker\n## Tasks\n| TASK-001 | x | In Progress | me |\n## B\n| TASK-2 | y | blocked |";
        assert_eq!(shape(text), "TASK-001 Other(\"in progress\"), TASK-2 Blocked");
        assert_eq!(Progress::parse(text).tasks(), Tasks::Settled);
    }

    #[test]
    fn cells_are_read_as_people_write_them() {
        for (row, expected) in [
            ("|TASK-01|t|pending|-|", "TASK-01 Pending"),
            ("  | TASK-01 | t | pending", "TASK-01 Pending"),
            ("| `TASK-01` | t | **Pending** | |", "TASK-01 Pending"),
            ("| [TASK-01](tasks/TASK-01.md) | t | `in-progress` |", "TASK-01 InProgress"),
            ("| **[`TASK-1A_b`](x)** | t | pending |", ""),
            ("| **[`TASK-1A_B`](x)** | t | pending |", "TASK-1A_B Pending"),
            ("| TASK-01 | `a \\| pending` b | completed | - |", "TASK-01 Completed"),
            ("| TASK-01 | t \\\\| pending |", "TASK-01 Pending"),
            ("| TASK-01 | t | in_progress |", "TASK-01 Other(\"in_progress\")"),
            ("| TASK-01 | t |", "TASK-01 Other(\"\")"),
            ("| TASK-01 | t | pending <!-- or not --> | - |", "TASK-01 Pending"),
            ("| TASK-XX | t | pending |", ""),
            ("| TASK- | t | pending |", ""),
            ("| task-01 | t | pending |", ""),
            ("TASK-01 | t | pending |", ""),
            ("|", ""),
            ("||||", ""),
        ] {
            assert_eq!(shape(row), expected, "{row:?}");
        }
    }

    #[test]
    fn the_header_says_where_the_status_stands() {
        let table = "| Task | Owner | `status` |\n|-|-|-|\n| TASK-1 | pending | completed |\n";
        assert_eq!(shape(table), "TASK-1 Completed");
        let table = "| Status | Task |\n\n## Other\n| TASK-1 | x | blocked |\n";
        assert_eq!(shape(table), "TASK-1 Blocked", "a header ends with its section");
    }

    #[test]
    fn hidden_rows_do_not_count_and_duplicates_do() {
        let text = "## Task Status\n<!-- | TASK-1 | x | pending | -->\n```\n| TASK-2 | x | pending |\n```\n\
            | TASK-3 | x | pending |\n| TASK-3 | x | completed |\n";
        assert_eq!(shape(text), "TASK-3 Pending, TASK-3 Completed");
        assert_eq!(Progress::parse(text).tasks(), Tasks::Active);
        assert_eq!(Progress::parse("## Task Status\n").tasks(), Tasks::None);
    }
}
