//! Where the tasks of a plan come from: a checklist, spec-kit, OpenSpec, or an issue.

use crate::issue::{Issue, is_issue};
use crate::plan::tasks::{self, Task, Tasks};
use onloop_effect::{Failure, FileKind, Io};
use onloop_engine::error::CommandError;
use onloop_syntax::limits;
use onloop_syntax::text;

/// What a plan starts from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Source {
    /// The file or address, for people.
    pub(super) origin: String,
    /// What the work is for, on one line.
    pub(super) intent: String,
    /// The tasks that are to be done.
    pub(super) tasks: Vec<Task>,
    /// What is not part of them, as lines for people.
    pub(super) left_out: Vec<String>,
    /// All of it, as data for an agent.
    pub(super) material: String,
}

impl Source {
    /// Reads what `word` names: an issue, a file, or a folder with one file of tasks.
    ///
    /// # Errors
    ///
    /// It names nothing that can be read, or several files, or one without a task that is to be done.
    pub(super) async fn read(io: &Io, word: &str) -> Result<Source, CommandError> {
        if is_issue(word) && io.stat(word).await.is_err() {
            return Ok(Source::of_issue(&Issue::read(io, word).await?));
        }
        let path = file_of(io, word.trim_end_matches('/')).await?;
        let (bytes, _) = io.read(&path, limits::PLAN_SOURCE_BYTES as u64).await?;
        let content = String::from_utf8_lossy(&bytes).into_owned();
        let Tasks { title, open, left_out } = tasks::read(&content);
        if open.is_empty() {
            let error =
                CommandError::usage(format!("`{}` has no open task", text::one_line(&path)))
                    .fix("a task is a list item with an empty box: `- [ ] What is to be done`");
            return Err(error.listing(left_out));
        }
        let intent = title.unwrap_or_else(|| name_of(&path));
        let intent = intent.strip_prefix("Tasks:").unwrap_or(&intent).trim().to_owned();
        Ok(Source { origin: path, intent, tasks: open, left_out, material: content })
    }

    /// The tasks of an issue; without a checklist the issue is the only one.
    fn of_issue(issue: &Issue) -> Source {
        let Tasks { open, left_out, .. } = tasks::read(issue.body());
        let (tasks, left_out) = match open.is_empty() {
            false => (open, left_out),
            true => {
                let task = Task {
                    label: "#1".to_owned(),
                    words: issue.intent(),
                    details: issue.material(),
                };
                (vec![task], Vec::new())
            }
        };
        Source {
            origin: issue.url().to_owned(),
            intent: issue.intent(),
            tasks,
            left_out,
            material: issue.material(),
        }
    }
}

/// The file of tasks that `path` is, or that is in this folder of a known tool.
async fn file_of(io: &Io, path: &str) -> Result<String, CommandError> {
    let shown = text::one_line(path);
    let missing = |failure: Failure| match failure.is_not_found() {
        true => CommandError::usage(format!("`{shown}` was not found"))
            .fix("name a file or folder with tasks, or an issue by its number or address"),
        false => failure.into(),
    };
    let real = io.canonical(path).await.map_err(missing)?;
    let stat = io.stat(&real).await.map_err(missing)?;
    if stat.kind != FileKind::Folder {
        return Ok(path.to_owned());
    }
    // A feature of spec-kit or a change of OpenSpec, then the folders around several.
    let mut found = Vec::new();
    for folder in ["", "specs/", "changes/", "openspec/changes/"] {
        found.extend(tasks_in(io, &format!("{path}/{folder}")).await);
        if !found.is_empty() {
            break;
        }
    }
    match found.as_slice() {
        [only] => Ok(only.clone()),
        [] => Err(CommandError::usage(format!("`{shown}` has no file of tasks"))
            .because("neither `tasks.md` nor `specs/*/tasks.md` nor `changes/*/tasks.md` is there")
            .fix("name the file with the tasks")),
        several => Err(CommandError::usage(format!("`{shown}` has several files of tasks"))
            .listing(several.iter().map(|path| text::one_line(path)))
            .fix("name one of them")),
    }
}

/// `tasks.md` of a folder, else those of the folders in it. Archived changes are done.
async fn tasks_in(io: &Io, folder: &str) -> Vec<String> {
    let own = format!("{folder}tasks.md");
    if io.stat(&own).await.is_ok() {
        return vec![own];
    }
    let mut found = Vec::new();
    let mut names = io.list(if folder.is_empty() { "." } else { folder }).await.unwrap_or_default();
    names.sort();
    for name in names.iter().filter(|name| *name != "archive") {
        let path = format!("{folder}{name}/tasks.md");
        if io.stat(&path).await.is_ok() {
            found.push(path);
        }
    }
    found
}

/// A file without a title is called after itself, and `tasks.md` after its folder.
fn name_of(path: &str) -> String {
    let (folder, file) = path.rsplit_once('/').unwrap_or(("", path));
    let folder = folder.rsplit('/').next().unwrap_or_default();
    let name = match file {
        "tasks.md" if !folder.is_empty() => folder,
        file => file.strip_suffix(".md").unwrap_or(file),
    };
    text::one_line(&name.replace(['-', '_'], " "))
}
