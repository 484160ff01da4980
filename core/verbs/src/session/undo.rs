//! `onloop session undo`: lists and brings back what onloop kept before calls of a session.

use std::collections::BTreeSet;

use super::SessionId;
use onloop_documents::kept_files::{KeptFiles, KeptPath};
use onloop_effect::{
    Durability, Exit, Expect, Failure, FailureKind, FileKind, Io, OptionalExt, ProcessSpec,
    is_within,
};
use onloop_engine::error::CommandError;
use onloop_engine::git::checkout;
use onloop_engine::run::decider::demand_person;
use onloop_engine::session::kept_files::{
    Keeping, Kept, keep, kept_content, list, sessions, uncommitted,
};
use onloop_permission::Losses;
use onloop_permission::paths::{configures_agents, runs_by_itself};
use onloop_syntax::{limits, text};
use serde_json::json;

/// Files of one kept state that a listing names; it counts the rest.
const NAMED: usize = 5;

/// Arguments of `onloop session undo`.
#[derive(Clone, Debug, Default, clap::Args)]
pub struct SessionUndoArgs {
    /// Session id, or the beginning of one
    pub id: String,
    /// A number of the list, a file or a folder to bring back [default: list]
    #[arg(value_name = "NUMBER|PATH")]
    pub what: Option<String>,
    /// Also overwrite files that have newer content; that is kept first
    #[arg(long, requires = "what")]
    pub force: bool,
    /// Print the list as JSON
    #[arg(long, conflicts_with = "what")]
    pub json: bool,
}

/// A file to bring back.
struct Wanted<'k> {
    kept: &'k Kept,
    index: usize,
}

impl Wanted<'_> {
    fn file(&self) -> &KeptPath {
        &self.kept.document.files[self.index]
    }
}

/// `onloop session undo`.
pub async fn session_undo(io: &Io, args: &SessionUndoArgs) -> Result<Exit, CommandError> {
    let Some(checkout) = checkout::find(io, &io.start().cwd).await else {
        return Err(CommandError::refused("onloop keeps files of a session in its git repository")
            .because("this folder is not in a repository")
            .fix_by(
                "go to the folder that the session worked in",
                "onloop session list --everywhere",
            ));
    };
    let root = checkout.root.as_str();
    let id = known(io, root, &args.id).await?;
    let kept = list(io, root, &id).await?;
    let Some(what) = &args.what else {
        io.result(listed(&kept, args.json)).await;
        return Ok(Exit::Done);
    };
    demand_person(io, "undoing work").await?;
    let named = path_inside(io, root, what);
    let wanted = wanted(&kept, what, &named, &id)?;
    bring_back(io, root, &id, (wanted, &named), args.force).await
}

/// The only session with this id, or beginning of one, for which something is kept.
async fn known(io: &Io, root: &str, id: &str) -> Result<SessionId, CommandError> {
    let ids = sessions(io, root).await?;
    let meant: Vec<&String> = ids.iter().filter(|known| known.starts_with(id)).collect();
    let shown = text::ellipsis(&text::one_line(id), 128);
    let found = match meant.as_slice() {
        [only] => Some(*only),
        several => several.iter().copied().find(|known| *known == id),
    };
    if let Some(id) = found.and_then(|id| SessionId::new(id)) {
        return Ok(id);
    }
    if meant.len() > 1 {
        let ids: Vec<&str> = meant.iter().map(|id| id.as_str()).collect();
        return Err(CommandError::usage(format!("`{shown}` begins several session ids"))
            .fix(format!("name one of {}", ids.join(", "))));
    }
    Err(CommandError::refused(format!("nothing is kept here for a session `{shown}`"))
        .because(
            "onloop keeps uncommitted files before calls of a session that remove or overwrite them",
        )
        .fix_by("see the sessions of this folder", "onloop session list"))
}

fn listed(kept: &[Kept], as_json: bool) -> String {
    if as_json {
        let entry = |kept: &Kept| {
            let paths: Vec<&str> = kept.document.files.iter().map(|f| f.path.as_str()).collect();
            let Kept { number, at, commit, document } = kept;
            let (at, call) = (at.to_rfc3339(), &document.about);
            json!({ "number": number, "at": at, "call": call, "commit": commit, "files": paths })
        };
        let list: Vec<_> = kept.iter().map(entry).collect();
        return format!("{:#}\n", json!(list));
    }
    let mut out = String::new();
    for Kept { number, at, document: KeptFiles { about, files }, .. } in kept {
        let about = text::ellipsis(&text::one_line(about), 100);
        out += &format!("{number}  {}  {about}\n", at.to_rfc3339());
        for KeptPath { path, .. } in files.iter().take(NAMED) {
            out += &format!("     {}\n", text::one_line(path));
        }
        if files.len() > NAMED {
            out += &format!("     … and {} more\n", files.len() - NAMED);
        }
    }
    out
}

/// A path on the command line, seen from the top of the checkout.
fn path_inside(io: &Io, root: &str, what: &str) -> String {
    let absolute = io.caller_path(what);
    let inside = absolute.strip_prefix(root).and_then(|path| path.strip_prefix('/'));
    inside.unwrap_or(what).trim_end_matches('/').to_owned()
}

/// The files that `what` names: those of a state by its number, or the newest kept content of a path.
fn wanted<'k>(
    kept: &'k [Kept],
    what: &str,
    path: &str,
    id: &SessionId,
) -> Result<Vec<Wanted<'k>>, CommandError> {
    let all =
        |kept: &'k Kept| (0..kept.document.files.len()).map(move |index| Wanted { kept, index });
    let list = || format!("onloop session undo {id}");
    if let Ok(number) = what.parse::<usize>() {
        let found = kept.iter().find(|kept| kept.number == number);
        return found.map(|kept| all(kept).collect()).ok_or_else(|| {
            CommandError::usage(format!("nothing is kept under number {number}"))
                .fix_by("list what is kept", list())
        });
    }
    let is_meant = |wanted: &Wanted<'_>| is_within(&wanted.file().path, path);
    let mut found: Vec<Wanted<'k>> = Vec::new();
    for wanted in kept.iter().rev().flat_map(all).filter(is_meant) {
        if found.iter().all(|known| known.file().path != wanted.file().path) {
            found.push(wanted);
        }
    }
    match found.is_empty() {
        false => Ok(found),
        true => Err(CommandError::usage(format!("no kept state has `{}`", text::one_line(what)))
            .fix_by("list what is kept", list())),
    }
}

async fn bring_back(
    io: &Io,
    root: &str,
    id: &SessionId,
    (wanted, named): (Vec<Wanted<'_>>, &str),
    force: bool,
) -> Result<Exit, CommandError> {
    let mut differing = Vec::new();
    for wanted in wanted {
        let bytes = kept_content(io, root, wanted.kept, wanted.index).await?;
        let path = format!("{root}/{}", wanted.file().path);
        let present = io.read(&path, limits::KEPT_BYTES).await;
        if !present.is_ok_and(|(present, _)| present == bytes) {
            differing.push((wanted, bytes));
        }
    }
    let paths = differing.iter().map(|(wanted, _)| wanted.file().path.as_str());
    let newer = uncommitted(io, root, paths).await?;
    if force && !newer.is_empty() {
        keep_newer(io, root, id, &newer).await?;
    }
    let (mut left, mut refused, mut why) = (Vec::new(), Vec::new(), String::new());
    for (wanted, bytes) in &differing {
        let file = wanted.file();
        let shown = text::one_line(&file.path);
        // A line in the sandbox can forge a kept state.
        if (runs_by_itself(&file.path) || configures_agents(&file.path)) && file.path != named {
            refused.push(shown);
            why = "it runs by itself or configures agents: look at its content, and name it".into();
            continue;
        }
        if !force && newer.contains(&file.path) {
            left.push(shown);
            continue;
        }
        match write(io, root, file, bytes).await {
            Ok(()) => {
                let number = wanted.kept.number;
                io.note(format!("Brought back {shown}, as before call {number}")).await;
            }
            Err(failure) if failure.is_interrupted() => return Err(failure.into()),
            Err(failure) => {
                refused.push(shown);
                why = failure.message;
            }
        }
    }
    if differing.is_empty() {
        io.note("Nothing to bring back: these files have their kept content.").await;
    }
    match left.is_empty() {
        _ if !refused.is_empty() => {
            let what = format!("not brought back: {}", refused.join(", "));
            Err(CommandError::refused(what).because(text::one_line(&why)))
        }
        true => Ok(Exit::Done),
        false => Err(CommandError::failed(format!("newer content stays: {}", left.join(", ")))
            .fix("add --force to overwrite it; the newer content is kept first")),
    }
}

async fn keep_newer(
    io: &Io,
    root: &str,
    id: &SessionId,
    newer: &BTreeSet<String>,
) -> Result<(), CommandError> {
    let removed = newer.iter().map(|path| format!("{root}/{path}")).collect();
    let keeping = Keeping {
        root,
        session: id,
        losses: &Losses { removed, ..Losses::default() },
        everything: false,
        about: &format!("onloop session undo {id}"),
        // They are overwritten on the word of a person.
        is_secret: &|_| false,
    };
    let kept = keep(io, keeping).await;
    let number = kept.map_err(|why| {
        CommandError::refused("the newer content cannot be kept, so nothing was changed")
            .because(why)
    })?;
    if let Some(number) = number {
        io.note(format!("Kept the newer content: onloop session undo {id} {number}")).await;
    }
    Ok(())
}

async fn write(io: &Io, root: &str, file: &KeptPath, bytes: &[u8]) -> Result<(), Failure> {
    let path = format!("{root}/{}", file.path);
    // A link may lead out of the checkout.
    for (end, _) in file.path.match_indices('/') {
        let folder = format!("{root}/{}", &file.path[..end]);
        let found = io.stat(&folder).await.optional()?;
        if found.is_some_and(|found| found.kind != FileKind::Folder) {
            let why = format!("`{folder}` is not a folder any more");
            return Err(Failure::new(FailureKind::Conflict, why));
        }
    }
    let found = io.stat(&path).await.optional()?;
    io.write(&path, bytes.to_vec(), Expect::Any, Durability::Durable).await?;
    if file.executable && !found.is_some_and(|found| found.executable) {
        io.process(ProcessSpec::argv(["chmod", "+x", "--", &path])).await?;
    }
    Ok(())
}
