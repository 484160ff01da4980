//! What surrounds a run: the files below `.ai/`, the lock, and whoever listens.

use std::collections::BTreeSet;

use sha2::{Digest, Sha256};

use crate::auto::document::Document;
use crate::auto::feature;
use crate::auto::plan;
use crate::auto::progress::Progress;
use crate::auto::record::{Event, Health, HealthStep, Snapshot, Step};
use crate::auto::{
    ACTIVE_PLAN_PATH, CONTEXT_PATH, FEATURES_FOLDER, PAUSE_PATH, PLANS_FOLDER, PROGRESS_PATH,
    Profile,
};
use crate::time::Timestamp;

/// The effects a run needs. There are two: the real workspace, and a rehearsal of one.
pub(super) trait World {
    /// Names one content of the lock file, for compare-and-replace.
    type Version;

    /// Time of the last effect.
    fn now(&self) -> Timestamp;

    /// Whether the person has asked for the end.
    fn is_interrupted(&self) -> bool;

    /// Whether anything is at a path.
    async fn exists(&mut self, path: &str) -> bool;

    /// The file at a path.
    async fn document(&mut self, path: &str) -> Document;

    /// Names in a folder, sorted; none where there is no folder.
    async fn names(&mut self, folder: &str) -> Vec<String>;

    /// When a file was last changed, where that is known.
    async fn modified(&mut self, path: &str) -> Option<Timestamp>;

    /// Performs one half of the health check.
    async fn check_health(&mut self, step: HealthStep) -> Health;

    /// What is at the lock's path.
    async fn read_lock(&mut self) -> LockFile<Self::Version>;

    /// Writes the lock over what was read before.
    async fn write_lock(
        &mut self,
        content: String,
        over: LockFile<Self::Version>,
    ) -> Result<(), LockRefused>;

    /// Removes the lock. There is nothing to be done about a failure but to say so.
    async fn remove_lock(&mut self);

    /// Prints the lines of a transition, and its remark for people.
    async fn say(&mut self, step: &Step);
}

/// What was read at the lock's path.
pub(super) enum LockFile<V> {
    /// Nothing.
    Absent,
    /// Text, whatever it says.
    Text {
        /// The text.
        content: String,
        /// Last change of the file.
        modified: Option<Timestamp>,
        /// Names this content.
        version: V,
    },
    /// Whatever it is, another process is alive that holds it.
    Alive,
    /// Something that cannot be read, and therefore not compared either.
    Unreadable {
        /// Last change of the file.
        modified: Option<Timestamp>,
    },
}

/// Why a lock was not written.
pub(super) enum LockRefused {
    /// Something else is there than was read before.
    Changed,
    /// It cannot be written. For people: why.
    Failed(String),
}

/// Looks at everything that routing depends on.
pub(super) async fn observe<W: World>(world: &mut W, profile: Profile) -> Event {
    let mut digest = Sha256::new();
    let mut note = |path: &str, document: &Document| {
        let (kind, text) = match document {
            Document::Missing => ("missing", ""),
            Document::Readable(text) => ("text", text.as_str()),
            Document::Unreadable(_) => ("unreadable", ""),
        };
        digest.update(format!("{path}\n{kind} {}\n", text.len()));
        digest.update(text);
    };

    let paused = world.exists(PAUSE_PATH).await;
    let context = world.document(CONTEXT_PATH).await;
    note(CONTEXT_PATH, &context);
    let progress = world.document(PROGRESS_PATH).await;
    note(PROGRESS_PATH, &progress);
    let mut ready_feature = false;
    for path in feature_paths(world).await {
        let document = world.document(&path).await;
        note(&path, &document);
        ready_feature |= document.text().is_some_and(feature::is_ready);
    }
    let mut artifacts = false;
    if profile.needs_artifacts() {
        artifacts = has_artifacts(world).await;
        note(ACTIVE_PLAN_PATH, &Document::Readable(artifacts.to_string()));
    }
    Event::Observed(Snapshot {
        paused,
        context: context.presence(),
        tasks: progress.text().map(|text| Progress::parse(text).tasks()),
        ready_feature,
        artifacts,
        fingerprint: hex(&digest.finalize()),
    })
}

/// Looks whether there is a context now, and which feature is the latest.
pub(super) async fn inspect<W: World>(world: &mut W) -> Event {
    let context = world.document(CONTEXT_PATH).await.presence();
    let mut features = Vec::new();
    for path in feature_paths(world).await {
        let modified = world.modified(&path).await;
        features.push((path, modified));
    }
    let named = features.iter().map(|(path, modified)| (path.as_str(), *modified));
    Event::Inspected { context, latest_feature: feature::latest(named).map(str::to_owned) }
}

async fn feature_paths<W: World>(world: &mut W) -> Vec<String> {
    let names = world.names(FEATURES_FOLDER).await;
    let features = names.iter().filter(|name| feature::is_feature_name(name));
    features.map(|name| format!("{FEATURES_FOLDER}/{name}")).collect()
}

async fn has_artifacts<W: World>(world: &mut W) -> bool {
    let active = world.document(ACTIVE_PLAN_PATH).await;
    let Some(id) = active.text().and_then(plan::active_id) else {
        return false;
    };
    let folder = format!("{PLANS_FOLDER}/{id}");
    let names: BTreeSet<String> = world.names(&folder).await.into_iter().collect();
    for name in plan::REQUIRED {
        if !names.contains(name) || !counts(world, &folder, name).await {
            return false;
        }
    }
    for name in names.iter().filter(|name| plan::is_findings_name(name)) {
        if counts(world, &folder, name).await {
            return true;
        }
    }
    false
}

async fn counts<W: World>(world: &mut W, folder: &str, name: &str) -> bool {
    world.document(&format!("{folder}/{name}")).await.text().is_some()
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}
