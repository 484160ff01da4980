//! `onloop auto rehearse`: whole runs over made-up workspaces. Nothing real is touched.

use std::collections::{BTreeMap, VecDeque};

use super::drive::{Halt, advance, take};
use super::world::{LockFile, LockRefused, World};
use crate::auto::LOCK_PATH;
use crate::auto::child::ChildOutcome;
use crate::auto::document::Document;
use crate::auto::record::{Assignment, Auto, Event, Health, HealthStep, Options, Step};
use crate::documents::auto::{
    ChildDocument, DispatchDocument, EntryDocument, HealthDocument, Rehearsal, RehearsalError,
    Scenario, to_line,
};
use crate::effect::{Exit, FailureKind, Io};
use crate::limits;
use crate::text;
use crate::time::Timestamp;

/// Arguments of `onloop auto rehearse`.
#[derive(Clone, Debug)]
#[cfg_attr(feature = "cli", derive(clap::Args))]
pub struct RehearseArgs {
    /// Scenarios, one JSON object a line; `-` reads standard input
    #[cfg_attr(feature = "cli", arg(value_name = "FILE", default_value = "-"))]
    pub file: String,
}

/// Plays every scenario of a file and prints what the run would have said.
pub async fn rehearse(io: Io, args: RehearseArgs) -> Exit {
    let options = Options::default();
    if args.file != "-" {
        return match io.read(&args.file, limits::SCENARIO_FILE_BYTES).await {
            Ok((bytes, _)) => {
                play_lines(&io, &bytes, options).await;
                Exit::Done
            }
            Err(failure) => {
                io.note(format!("error: cannot read `{}`: {failure}", args.file)).await;
                Exit::Usage
            }
        };
    }
    loop {
        match io.read_input(limits::SCENARIO_LINE_BYTES).await {
            Ok(chunk) if chunk.is_empty() => return Exit::Done,
            Ok(chunk) => play_lines(&io, &chunk, options).await,
            Err(failure) if failure.kind == FailureKind::Interrupted => return Exit::Interrupted,
            Err(failure) => {
                io.note(format!("error: cannot read standard input: {failure}")).await;
                return Exit::Refused;
            }
        }
    }
}

async fn play_lines(io: &Io, bytes: &[u8], options: Options) {
    for line in bytes.split(|&byte| byte == b'\n') {
        if !line.trim_ascii().is_empty() {
            io.result(play_line(line, options).await).await;
        }
    }
}

/// The answer to one line; a line that is no scenario is answered with what is wrong.
async fn play_line(line: &[u8], options: Options) -> String {
    match serde_json::from_slice::<Scenario>(line) {
        Ok(scenario) => match play(scenario, options).await {
            Ok(rehearsal) => to_line(&rehearsal),
            Err(error) => to_line(&error),
        },
        Err(error) => {
            let id = serde_json::from_slice::<serde_json::Value>(line)
                .map_or(serde_json::Value::Null, |mut value| value["id"].take());
            to_line(&RehearsalError { id, error: text::one_line(&error.to_string()) })
        }
    }
}

async fn play(scenario: Scenario, options: Options) -> Result<Rehearsal, RehearsalError> {
    let Scenario { id, profile, now, argument, env, tree, health, health_patch, children } =
        scenario;
    let refuse = |error: String| RehearsalError { id: id.clone(), error };
    let profile = profile.try_into().map_err(refuse)?;
    let now = Timestamp::parse(&now)
        .ok_or_else(|| refuse(format!("found `{now}` as `now`, expected an RFC 3339 time")))?;
    let mut stage = Stage {
        now,
        tree,
        health: health.map(HealthDocument::outcomes).unwrap_or_default().into(),
        health_patch,
        lines: Vec::new(),
    };
    let mut auto = Auto::begin(Assignment {
        run: "rehearsal".to_owned(),
        argument: argument.unwrap_or_default(),
        profile,
        options,
        can_dispatch: env.run_subagent,
    });
    let mut children = VecDeque::from(children);
    let mut dispatches = Vec::new();
    while let Halt::Child(waiting, dispatch) = advance(&mut stage, auto).await {
        dispatches.push(DispatchDocument::new(&dispatch));
        let outcome = match children.pop_front() {
            Some(child) => stage.let_act(child),
            None => ChildOutcome::Failed("the scenario has no more children".to_owned()),
        };
        let event = Event::ChildFinished { cycle: dispatch.cycle, outcome };
        auto = take(&mut stage, &waiting, event).await;
    }
    let lock_present = stage.tree.contains_key(LOCK_PATH);
    Ok(Rehearsal { id, lines: stage.lines, dispatches, lock_present })
}

/// A made-up workspace.
struct Stage {
    now: Timestamp,
    tree: BTreeMap<String, EntryDocument>,
    health: VecDeque<Health>,
    health_patch: BTreeMap<String, Option<EntryDocument>>,
    lines: Vec<String>,
}

impl Stage {
    fn let_act(&mut self, child: ChildDocument) -> ChildOutcome {
        self.now = Timestamp::from_millis(self.now.as_millis().saturating_add(child.takes_ms()));
        patch(&mut self.tree, child.tree_patch.clone());
        child.outcome()
    }

    fn is_folder(&self, path: &str) -> bool {
        let folder = format!("{path}/");
        self.tree.range(folder.clone()..).next().is_some_and(|(path, _)| path.starts_with(&folder))
    }
}

fn patch(
    tree: &mut BTreeMap<String, EntryDocument>,
    changes: BTreeMap<String, Option<EntryDocument>>,
) {
    for (path, change) in changes {
        match change {
            Some(entry) => tree.insert(path, entry),
            None => tree.remove(&path),
        };
    }
}

impl World for Stage {
    type Version = String;

    fn now(&self) -> Timestamp {
        self.now
    }

    fn is_interrupted(&self) -> bool {
        false
    }

    async fn exists(&mut self, path: &str) -> bool {
        self.tree.contains_key(path) || self.is_folder(path)
    }

    async fn document(&mut self, path: &str) -> Document {
        match self.tree.get(path) {
            Some(entry) => entry.document(),
            None if self.is_folder(path) => Document::Unreadable("it is a folder".to_owned()),
            None => Document::Missing,
        }
    }

    async fn names(&mut self, folder: &str) -> Vec<String> {
        let folder = format!("{folder}/");
        let inside = self.tree.range(folder.clone()..);
        let mut names: Vec<String> = inside
            .map_while(|(path, _)| path.strip_prefix(&folder))
            .map(|rest| rest.split('/').next().unwrap_or(rest).to_owned())
            .collect();
        names.dedup();
        names
    }

    async fn modified(&mut self, path: &str) -> Option<Timestamp> {
        self.tree.get(path)?.modified()
    }

    async fn check_health(&mut self, step: HealthStep) -> Health {
        match step {
            HealthStep::Check => {}
            HealthStep::Repair => patch(&mut self.tree, std::mem::take(&mut self.health_patch)),
        }
        self.health.pop_front().unwrap_or(Health::Unavailable)
    }

    async fn read_lock(&mut self) -> LockFile<String> {
        let modified = self.modified(LOCK_PATH).await;
        match self.document(LOCK_PATH).await {
            Document::Missing => LockFile::Absent,
            Document::Readable(content) => {
                LockFile::Text { version: content.clone(), content, modified }
            }
            Document::Unreadable(_) => LockFile::Unreadable { modified },
        }
    }

    async fn write_lock(
        &mut self,
        content: String,
        over: LockFile<String>,
    ) -> Result<(), LockRefused> {
        let is_unchanged = match (over, self.read_lock().await) {
            (LockFile::Absent, LockFile::Absent)
            | (LockFile::Unreadable { .. }, LockFile::Unreadable { .. }) => true,
            (LockFile::Text { version, .. }, LockFile::Text { content, .. }) => version == content,
            (
                LockFile::Absent
                | LockFile::Alive
                | LockFile::Text { .. }
                | LockFile::Unreadable { .. },
                _,
            ) => false,
        };
        if !is_unchanged {
            return Err(LockRefused::Changed);
        }
        self.tree.insert(LOCK_PATH.to_owned(), EntryDocument::Text(content));
        Ok(())
    }

    async fn remove_lock(&mut self) {
        self.tree.remove(LOCK_PATH);
    }

    async fn say(&mut self, step: &Step) {
        self.lines.extend(step.tokens.iter().map(ToString::to_string));
    }
}
