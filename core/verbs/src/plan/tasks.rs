//! Tasks in a Markdown file: checklists, and the task lists of spec-kit and OpenSpec.

use onloop_syntax::limits;
use onloop_syntax::text;

/// What a file of tasks says.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Tasks {
    /// Its first heading.
    pub(super) title: Option<String>,
    /// The tasks that are not ticked, in their order.
    pub(super) open: Vec<Task>,
    /// Lines that are not part of a workflow, and why, as text for people.
    pub(super) left_out: Vec<String>,
}

/// A task.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Task {
    /// Its own name, such as `T012` or `2.1`; else `#` and its number in the file.
    pub(super) label: String,
    /// What is to be done, on one line, without the label.
    pub(super) words: String,
    /// The lines below it that belong to it.
    pub(super) details: String,
}

/// Reads the tasks of a Markdown file. A line that is neither a heading nor part of a task is left out,
/// and so is a task that is ticked.
pub(super) fn read(source: &str) -> Tasks {
    let mut tasks = Tasks::default();
    let mut reader = Reader::default();
    for (number, line) in (1..).zip(source.lines()) {
        reader.line(&mut tasks, number, line);
    }
    tasks
}

/// Where the reader is.
#[derive(Default)]
struct Reader {
    /// Tasks so far, ticked ones too.
    count: usize,
    /// What the lines below a task belong to: its indentation, and whether it is left out.
    item: Option<(usize, bool)>,
    /// The mark that ends the fenced block.
    fence: Option<String>,
    /// What marks a task that may run beside others was named.
    told_parallel: bool,
}

impl Reader {
    fn line(&mut self, tasks: &mut Tasks, number: usize, line: &str) {
        let line = text::printable(line);
        let trimmed = line.trim();
        let indent = line.len() - line.trim_start().len();
        if let Some(mark) = &self.fence {
            if trimmed == mark {
                self.fence = None;
            }
            return self.below(tasks, number, &line);
        }
        if let Some((is_done, words)) = checkbox(trimmed) {
            return self.task(tasks, number, (indent, is_done), words);
        }
        let is_inside = self.item.is_some_and(|(at, _)| indent > at);
        if trimmed.is_empty() || is_rule(trimmed) {
            return;
        }
        if let Some(heading) = trimmed.strip_prefix('#').filter(|_| !is_inside) {
            self.item = None;
            if tasks.title.is_none() && heading.starts_with(' ') {
                tasks.title = Some(heading.trim().to_owned());
            }
            return;
        }
        let mark: String = trimmed.chars().take_while(|c| matches!(c, '`' | '~')).collect();
        if mark.len() >= 3 {
            self.fence = Some(mark);
        }
        if !is_inside {
            self.item = None;
        }
        self.below(tasks, number, &line);
    }

    fn task(
        &mut self,
        tasks: &mut Tasks,
        number: usize,
        (indent, is_done): (usize, bool),
        words: &str,
    ) {
        self.count += 1;
        let (label, words) = match label(words) {
            Some((label, rest)) => (label.to_owned(), rest),
            None => (format!("#{}", self.count), words),
        };
        let words = text::one_line(words);
        let is_left_out = is_done || words.trim().is_empty() || self.count > limits::PLAN_TASKS;
        self.item = Some((indent, is_left_out));
        let why = match (is_done, words.trim().is_empty()) {
            (true, _) => "done already",
            (false, true) => "says nothing",
            (false, false) => "one task too many",
        };
        if is_left_out {
            tasks.left_out.push(format!("line {number}: task {label} {why}: {words}"));
            return;
        }
        let (words, is_parallel) = match words.split_once("[P]") {
            Some((before, after)) => {
                (format!("{} {}", before.trim(), after.trim()).trim().to_owned(), true)
            }
            None => (words, false),
        };
        if is_parallel && !std::mem::replace(&mut self.told_parallel, true) {
            tasks.left_out.push(format!(
                "line {number}: the mark `[P]`, here and below: steps run one after the other"
            ));
        }
        tasks.open.push(Task { label, words, details: String::new() });
    }

    /// Takes a line that belongs to the task above it, else leaves it out.
    fn below(&self, tasks: &mut Tasks, number: usize, line: &str) {
        match (self.item, tasks.open.last_mut()) {
            (Some((_, false)), Some(task)) => {
                task.details += line;
                task.details.push('\n');
            }
            (Some(_) | None, _) => {
                tasks.left_out.push(format!("line {number}: {}", text::one_line(line.trim())));
            }
        }
    }
}

/// Whether the box of a list item is ticked, and what follows it.
fn checkbox(line: &str) -> Option<(bool, &str)> {
    let digits = line.chars().take_while(char::is_ascii_digit).count();
    let rest = match digits {
        0 => line.strip_prefix(['-', '*', '+'])?,
        _ => line[digits..].strip_prefix(['.', ')'])?,
    };
    let rest = rest.trim_start().strip_prefix('[')?;
    let mut chars = rest.chars();
    let is_done = match chars.next()? {
        ' ' => false,
        'x' | 'X' => true,
        _ => return None,
    };
    chars.as_str().strip_prefix(']').map(|words| (is_done, words.trim()))
}

/// The name that a task begins with, such as `T012` or `2.1`, and the rest.
fn label(words: &str) -> Option<(&str, &str)> {
    let (first, rest) = words.split_once(' ')?;
    let name = first.trim_end_matches([':', '.']);
    let digits = name.trim_start_matches(|c: char| c.is_ascii_uppercase());
    let is_number = |part: &str| !part.is_empty() && part.chars().all(|c| c.is_ascii_digit());
    let is_id = digits.len() < name.len() && is_number(digits);
    let is_outline = name.contains('.') && name.split('.').all(is_number);
    (is_id || is_outline).then(|| (name, rest.trim_start()))
}

fn is_rule(line: &str) -> bool {
    line.len() >= 3 && ["-", "*", "_"].iter().any(|mark| line.replace(mark, "").trim().is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(source: &str) -> (Vec<String>, Vec<String>) {
        let tasks = read(source);
        let open = tasks.open.iter();
        let open = open.map(|task| format!("{}|{}|{}", task.label, task.words, task.details));
        (open.collect(), tasks.left_out)
    }

    #[test]
    fn nothing_in_a_file_of_tasks_is_dropped_silently() {
        let source = "# Release\n\nSome words.\n\n- [ ] Write it\n  in two files\n\n  ```sh\n  make\n  \
                      ```\n* [x] Set up\n  with a note\n1. [ ] Test it\n- plain item\n---\n- [ ]\n";
        let (open, left_out) = shown(source);
        assert_eq!(
            open,
            ["#1|Write it|  in two files\n  ```sh\n  make\n  ```\n", "#3|Test it|"]
                .map(str::to_owned)
        );
        let expected = [
            "line 3: Some words.",
            "line 11: task #2 done already: Set up",
            "line 12: with a note",
            "line 14: - plain item",
            "line 16: task #4 says nothing: ",
        ];
        assert_eq!(left_out, expected.map(str::to_owned));
        assert_eq!(read(source).title.as_deref(), Some("Release"));
    }

    #[test]
    fn tasks_keep_the_names_of_their_tool() {
        let (open, left_out) = shown(
            "## Phase 1: Setup\n- [ ] T001 Create src/a.py\n- [ ] T002 [P] [US1] Test a in tests/a.py\n\
             ## 2. Login\n- [ ] 2.1 Add the form\n  - [ ] 2.1.1 Style it\n- [ ] 3 files to read\n",
        );
        let expected = [
            "T001|Create src/a.py|",
            "T002|[US1] Test a in tests/a.py|",
            "2.1|Add the form|",
            "2.1.1|Style it|",
            "#5|3 files to read|",
        ];
        assert_eq!(open, expected.map(str::to_owned));
        assert_eq!(left_out.len(), 1);
        assert!(
            left_out[0].starts_with("line 3: the mark `[P]`, here and below: "),
            "{left_out:?}"
        );
    }
}
