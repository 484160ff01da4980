//! The host of a rehearsal: files in memory, and processes that end as the scenario says.

use std::collections::{BTreeMap, VecDeque};

use crate::auto::child;
use onloop_agents as agent;
use onloop_auto::child::ChildOutcome;
use onloop_auto::documents::{
    ChildDocument, DispatchDocument, EntryContent, EntryDocument, HealthDocument, Scenario,
};
use onloop_auto::record::Health;
use onloop_effect::{
    Capture, Expect, Failure, FailureKind, FileKind, Outcome, ProcessEnd, ProcessSpec,
    ProcessStatus, Request, Say, Stat, Version,
};
use onloop_syntax::time::Timestamp;

/// The line that starts a child.
pub(super) const CHILD: &str = "child";
/// The line that checks the workspace's health.
pub(super) const HEALTH_CHECK: &str = "health check";
/// The line that repairs what the check has found, and checks again.
pub(super) const HEALTH_REPAIR: &str = "health repair";

/// A workspace in memory, and what a run has said and done there.
pub(super) struct Stage {
    /// Continues only while a child works.
    pub(super) now: Timestamp,
    /// Path → file; folders are there through their files.
    pub(super) tree: BTreeMap<String, EntryDocument>,
    /// Standard output.
    pub(super) output: String,
    /// The children that were started.
    pub(super) dispatches: Vec<DispatchDocument>,
    children: VecDeque<ChildDocument>,
    health: VecDeque<Health>,
    health_patch: BTreeMap<String, Option<EntryDocument>>,
}

impl Stage {
    pub(super) fn new(now: Timestamp, scenario: Scenario) -> Stage {
        Stage {
            now,
            tree: scenario.tree,
            output: String::new(),
            dispatches: Vec::new(),
            children: scenario.children.into(),
            health: scenario.health.map_or(Vec::new(), HealthDocument::outcomes).into(),
            health_patch: scenario.health_patch,
        }
    }

    pub(super) fn perform(&mut self, request: Request) -> Result<Outcome, Failure> {
        match request {
            Request::Read { path, limit_bytes } => self.read(&path, limit_bytes),
            Request::Write { path, bytes, expect, durability: _, private: _ } => {
                self.write(path, &bytes, &expect)
            }
            Request::Remove { path } => match self.tree.remove(&path) {
                Some(_) => Ok(Outcome::Done),
                None => Err(missing(&path)),
            },
            Request::List { path } => Ok(Outcome::Names { names: self.names(&path) }),
            Request::Stat { path } => self.stat(&path),
            Request::Process(spec) => self.process(&spec),
            Request::Say(Say::Result(text)) => {
                self.output.push_str(&text);
                Ok(Outcome::Done)
            }
            // No other process works here.
            Request::Say(Say::Note(_)) | Request::Lock { .. } | Request::Unlock { .. } => {
                Ok(Outcome::Done)
            }
            Request::ReadTail { .. }
            | Request::Append { .. }
            | Request::Patch { .. }
            | Request::Canonical { .. }
            | Request::Holder { .. }
            | Request::Ancestors
            | Request::Wait { .. }
            | Request::End
            | Request::EndGroup { .. }
            | Request::Launch(_)
            | Request::Interrupt { .. }
            | Request::Git(_)
            | Request::Http(_)
            | Request::Serve(_)
            | Request::Ask { .. }
            | Request::ReadInput { .. }
            | Request::Changes { .. }
            | Request::Sleep { .. } => {
                Err(Failure::new(FailureKind::Unsupported, "a rehearsal has no such effect"))
            }
        }
    }

    fn read(&self, path: &str, limit_bytes: u64) -> Result<Outcome, Failure> {
        match self.tree.get(path).map(|entry| &entry.content) {
            Some(EntryContent::Text(text)) if text.len() as u64 > limit_bytes => {
                Err(Failure::new(FailureKind::TooLarge, format!("`{path}` is too large")))
            }
            Some(EntryContent::Text(text)) => Ok(Outcome::File {
                bytes: text.clone().into_bytes().into(),
                version: version(text),
            }),
            Some(EntryContent::Unreadable(why)) => Err(Failure::new(FailureKind::Denied, why)),
            None if self.is_folder(path) => {
                Err(Failure::new(FailureKind::Invalid, format!("`{path}` is a folder")))
            }
            None => Err(missing(path)),
        }
    }

    fn write(&mut self, path: String, bytes: &[u8], expect: &Expect) -> Result<Outcome, Failure> {
        let there = match self.tree.get(&path).map(|entry| &entry.content) {
            Some(EntryContent::Text(text)) => Some(version(text)),
            Some(EntryContent::Unreadable(_)) | None => None,
        };
        let refused = match expect {
            Expect::Absent if self.tree.contains_key(&path) => Some(FailureKind::Exists),
            Expect::Version(expected) if there.as_ref() != Some(expected) => {
                Some(FailureKind::Conflict)
            }
            Expect::Any | Expect::Absent | Expect::Version(_) => None,
        };
        if let Some(kind) = refused {
            return Err(Failure::new(kind, format!("`{path}` has changed")));
        }
        let text = String::from_utf8_lossy(bytes).into_owned();
        let written = version(&text);
        let entry = EntryDocument { content: EntryContent::Text(text), modified: None };
        self.tree.insert(path, entry);
        Ok(Outcome::Written { version: written })
    }

    fn names(&self, folder: &str) -> Vec<String> {
        let folder = format!("{folder}/");
        let inside = self.tree.range(folder.clone()..);
        let mut names: Vec<String> = inside
            .map_while(|(path, _)| path.strip_prefix(&folder))
            .map(|rest| rest.split('/').next().unwrap_or(rest).to_owned())
            .collect();
        names.dedup();
        names
    }

    fn stat(&self, path: &str) -> Result<Outcome, Failure> {
        let entry = self.tree.get(path);
        let kind = match entry {
            Some(_) => FileKind::File,
            None if self.is_folder(path) => FileKind::Folder,
            None => return Err(missing(path)),
        };
        // A file whose time the scenario does not name is older than every other.
        let modified = entry.and_then(|entry| entry.modified);
        let modified = modified.unwrap_or(Timestamp::from_millis(i64::MIN));
        Ok(Outcome::Stat(Stat { kind, size_bytes: 0, modified, executable: false, foreign: false }))
    }

    fn is_folder(&self, path: &str) -> bool {
        let folder = format!("{path}/");
        self.tree.range(folder.clone()..).next().is_some_and(|(path, _)| path.starts_with(&folder))
    }

    fn process(&mut self, spec: &ProcessSpec) -> Result<Outcome, Failure> {
        if spec.command == agent::command_line(CHILD) {
            return self.child(spec);
        }
        if spec.command == agent::command_line(HEALTH_REPAIR) {
            let changes = std::mem::take(&mut self.health_patch);
            self.patch(changes);
        }
        let code = match self.health.pop_front() {
            Some(Health::Passed) => 0,
            Some(Health::Failed) => 1,
            Some(Health::Unavailable) | None => 127,
        };
        Ok(ended(ProcessStatus::Exited(code), ""))
    }

    fn child(&mut self, spec: &ProcessSpec) -> Result<Outcome, Failure> {
        let variable = |name| spec.env_set.get(name).cloned().unwrap_or_default();
        let (target, argument) =
            (variable(child::TARGET_VARIABLE), variable(child::ARGUMENT_VARIABLE));
        self.dispatches.push(DispatchDocument { target, argument });
        // A child that the scenario does not have fails.
        let Some(child) = self.children.pop_front() else {
            return Ok(ended(ProcessStatus::Exited(1), ""));
        };
        let now_ms = self.now.as_millis().saturating_add(child.takes_ms());
        self.now = Timestamp::from_millis(now_ms);
        self.patch(child.tree_patch.clone());
        match child.outcome() {
            ChildOutcome::Answered(text) => Ok(ended(ProcessStatus::Exited(0), &text)),
            ChildOutcome::Failed(_) => Ok(ended(ProcessStatus::Exited(1), "")),
            ChildOutcome::TimedOut => Ok(ended(ProcessStatus::TimedOut, "")),
            ChildOutcome::Cancelled => Ok(ended(ProcessStatus::Interrupted, "")),
            ChildOutcome::Unavailable => Err(missing(CHILD)),
        }
    }

    fn patch(&mut self, changes: BTreeMap<String, Option<EntryDocument>>) {
        for (path, change) in changes {
            match change {
                Some(entry) => self.tree.insert(path, entry),
                None => self.tree.remove(&path),
            };
        }
    }
}

fn ended(status: ProcessStatus, output: &str) -> Outcome {
    let stdout = Capture {
        head: output.as_bytes().to_vec().into(),
        tail: Vec::new().into(),
        total_bytes: output.len() as u64,
    };
    Outcome::Process(ProcessEnd {
        status,
        stdout,
        stderr: Capture::default(),
        duration_ms: 0,
        confined: None,
        opened: None,
        refused: Vec::new(),
    })
}

fn version(text: &str) -> Version {
    Version(text.to_owned())
}

fn missing(path: &str) -> Failure {
    Failure::new(FailureKind::NotFound, format!("`{path}` is not there"))
}
