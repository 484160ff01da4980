//! The task table of `.ai/PROGRESS.md`.

use std::borrow::Cow;
use std::ops::Range;

use super::lines;
use super::one_line::OneLine;

/// The task table of a progress file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TaskTable {
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
    /// Anything else, in lower case. The row counts as a task, but no run waits for it.
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

    /// The status as it is written.
    pub fn as_str(&self) -> &str {
        match self {
            TaskStatus::Pending => "pending",
            TaskStatus::InProgress => "in-progress",
            TaskStatus::Completed => "completed",
            TaskStatus::Blocked => "blocked",
            TaskStatus::Other(word) => word,
        }
    }

    /// Whether the task is still to be worked on.
    pub fn is_active(&self) -> bool {
        match self {
            TaskStatus::Pending | TaskStatus::InProgress => true,
            TaskStatus::Completed | TaskStatus::Blocked | TaskStatus::Other(_) => false,
        }
    }
}

impl TaskTable {
    /// Reads a progress file. Rows count below a `## Task Status` heading, up to the next
    /// heading of level 1 or 2; in a file without that heading they count everywhere.
    pub fn parse(text: &str) -> TaskTable {
        let rows = rows(text).into_iter().map(|(_, line, row)| TaskRow {
            id: task_id(&line[row.id]).unwrap_or_default().to_owned(),
            title: row.title.map_or(String::new(), |title| line[title].to_owned()),
            status: TaskStatus::parse(row.status.map_or("", |status| &line[status])),
        });
        TaskTable { rows: rows.collect() }
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

/// `text` with another status, and perhaps another commit, in every row of task `id`. Not a
/// byte of anything else changes. `None`: no row of that task can be edited, because there is
/// none, it has no cell for a status, or a comment stands inside it.
pub fn with_status(
    text: &str,
    id: &str,
    status: &TaskStatus,
    commit: Option<&str>,
) -> Option<String> {
    let commit = commit.map(|commit| OneLine::from(commit).as_str().replace('|', "\\|"));
    let mut out = String::with_capacity(text.len() + 16);
    let mut copied = 0;
    for (start, line, row) in rows(text) {
        if task_id(&line[row.id.clone()]) != Some(id) || matches!(line, Cow::Owned(_)) {
            continue;
        }
        let Some(status_cell) = row.status else { continue };
        let mut edits = vec![(status_cell, status.as_str())];
        edits.extend(row.commit.zip(commit.as_deref()));
        edits.sort_by_key(|(range, _)| range.start);
        for (range, word) in edits {
            out.push_str(&text[copied..start + range.start]);
            // An empty cell gets room around its first word.
            let is_narrow = range.is_empty() && !line[..range.start].ends_with(' ');
            out.push_str(if is_narrow { " " } else { "" });
            out.push_str(word);
            let is_narrow = range.is_empty() && !line[range.end..].starts_with(' ');
            out.push_str(if is_narrow { " " } else { "" });
            copied = start + range.end;
        }
    }
    if copied == 0 {
        return None;
    }
    out.push_str(&text[copied..]);
    Some(out)
}

/// Every task row in scope: where its line starts, the line, and its cells.
fn rows(text: &str) -> Vec<(usize, Cow<'_, str>, Row)> {
    let page: Vec<(usize, Cow<'_, str>)> = lines::located(text).collect();
    let has_section = page.iter().any(|(_, line)| is_task_heading(line));
    let mut in_scope = !has_section;
    let mut table = Table::default();
    let mut rows = Vec::new();
    for (start, line) in page {
        if let Some((level, _)) = lines::heading(&line) {
            if has_section && level <= 2 {
                in_scope = is_task_heading(&line);
            }
            table = Table::default();
        } else if in_scope && let Some(row) = table.read(&line) {
            rows.push((start, line, row));
        }
    }
    rows
}

/// `## Task Status`, perhaps with a colon or something in parentheses after it.
fn is_task_heading(line: &str) -> bool {
    const TITLE: &str = "Task Status";
    let Some((2, title)) = lines::heading(line) else { return false };
    let Some((start, rest)) = title.split_at_checked(TITLE.len()) else { return false };
    let rest = rest.trim_start();
    start.eq_ignore_ascii_case(TITLE) && (rest.is_empty() || rest.starts_with([':', '(']))
}

/// Where the cells of a task row stand in its line, without the blanks around them.
struct Row {
    id: Range<usize>,
    title: Option<Range<usize>>,
    status: Option<Range<usize>>,
    commit: Option<Range<usize>>,
}

/// What the header of the table being read says.
#[derive(Default)]
struct Table {
    /// Column of the cell headed `Status`; the third where no header says otherwise.
    status: Option<usize>,
    /// Column of the cell headed `Commit`; the fourth where no header says otherwise.
    commit: Option<usize>,
}

impl Table {
    fn read(&mut self, line: &str) -> Option<Row> {
        const TITLE: usize = 1;
        const STATUS: usize = 2;
        const COMMIT: usize = 3;
        let cells = cells(line)?;
        if task_id(&line[cells[0].clone()]).is_some() {
            let cell = |column: usize| cells.get(column).cloned();
            return Some(Row {
                id: cells[0].clone(),
                title: cell(TITLE),
                status: cell(self.status.unwrap_or(STATUS)),
                commit: cell(self.commit.unwrap_or(COMMIT)),
            });
        }
        let headed = |name: &str| {
            let is_it = |cell: &Range<usize>| {
                lines::undecorated(&line[cell.clone()]).eq_ignore_ascii_case(name)
            };
            cells.iter().position(is_it)
        };
        if let Some(status) = headed("Status") {
            *self = Table { status: Some(status), commit: headed("Commit") };
        }
        None
    }
}

/// Where the trimmed cells of a table line stand; an escaped pipe does not separate. There
/// is at least one.
fn cells(line: &str) -> Option<Vec<Range<usize>>> {
    let indent = line.len() - line.trim_start().len();
    let end = line.trim_end().len();
    line[indent..].strip_prefix('|')?;
    let mut cells = Vec::new();
    let first = indent + 1;
    let mut start = first;
    let mut escaped = false;
    for (at, &byte) in line.as_bytes().iter().enumerate().take(end).skip(first) {
        if byte == b'|' && !escaped {
            cells.push(trimmed(line, start..at));
            start = at + 1;
        }
        escaped = byte == b'\\' && !escaped;
    }
    if start < end || cells.is_empty() {
        cells.push(trimmed(line, start..end));
    }
    Some(cells)
}

/// `range` without the blanks at its ends; a blank one shrinks to its middle.
fn trimmed(line: &str, range: Range<usize>) -> Range<usize> {
    let cell = &line[range.clone()];
    let lead = cell.len() - cell.trim_start().len();
    if lead == cell.len() {
        let first = cell.chars().next().map_or(0, char::len_utf8);
        return range.start + first..range.start + first;
    }
    range.start + lead..range.start + cell.trim_end().len()
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
        let rows = TaskTable::parse(text).rows;
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
        assert_eq!(TaskTable::parse(text).tasks(), Tasks::Active);
    }

    #[test]
    fn the_heading_may_carry_a_note() {
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
        assert_eq!(TaskTable::parse(text).tasks(), Tasks::Settled);
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
        assert_eq!(TaskTable::parse(text).tasks(), Tasks::Active);
        assert_eq!(TaskTable::parse("## Task Status\n").tasks(), Tasks::None);
    }

    #[test]
    fn a_status_changes_and_nothing_else_does() {
        let completed =
            |text: &str| with_status(text, "TASK-01", &TaskStatus::Completed, Some("a1b2c3d"));
        for (before, after) in [
            (
                "\u{feff}## Task Status\r\n| TASK-01 | x | pending | - |\r\n## Log\r\n| TASK-01 | x | pending | - |\r\n",
                "\u{feff}## Task Status\r\n| TASK-01 | x | completed | a1b2c3d |\r\n## Log\r\n| TASK-01 | x | pending | - |\r\n",
            ),
            ("|TASK-01|x|pending||", "|TASK-01|x|completed| a1b2c3d |"),
            ("| TASK-01 | x | pending | |", "| TASK-01 | x | completed | a1b2c3d |"),
            ("| **TASK-01** | a \\| b | `pending` |", "| **TASK-01** | a \\| b | completed |"),
            (
                "| Task | Commit | Status |\n|-|-|-|\n| TASK-01 | - | pending |\n| TASK-02 | - | pending |\n",
                "| Task | Commit | Status |\n|-|-|-|\n| TASK-01 | a1b2c3d | completed |\n| TASK-02 | - | pending |\n",
            ),
            (
                "| TASK-01 | x | pending | - |\n| TASK-01 | x | blocked | - |",
                "| TASK-01 | x | completed | a1b2c3d |\n| TASK-01 | x | completed | a1b2c3d |",
            ),
        ] {
            assert_eq!(completed(before).as_deref(), Some(after), "{before:?}");
        }
        for untouched in [
            "",
            "| TASK-02 | x | pending | - |",
            "```\n| TASK-01 | x | pending | - |\n```",
            "| TASK-01 | x | pending <!-- n --> | - |",
            "| TASK-01 | x |",
        ] {
            assert_eq!(completed(untouched), None, "{untouched:?}");
        }
        let forged =
            with_status("| TASK-01 | x | y | z |", "TASK-01", &TaskStatus::Blocked, Some("a|\nb"));
        assert_eq!(forged.as_deref(), Some("| TASK-01 | x | blocked | a\\| b |"));
    }
}
