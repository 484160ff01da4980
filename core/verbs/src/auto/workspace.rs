//! The workspace in the current folder: the files below `.ai/`, its health, and the readers of
//! the token stream.

use std::collections::BTreeSet;

use sha2::{Digest, Sha256};

use onloop_agents as agent;
use onloop_auto::progress::{TaskStatus, TaskTable};
use onloop_auto::record::{
    AutoEnding, AutoEvent, AutoNext, Health, HealthStep, Probe, Snapshot, Transition,
};
use onloop_auto::workspace_file::{Presence, WorkspaceFile};
use onloop_auto::{
    ACTIVE_PLAN_PATH, CONTEXT_PATH, FEATURES_FOLDER, PAUSE_PATH, PLANS_FOLDER, PROGRESS_PATH,
    Profile, feature, plan,
};
use onloop_effect::{Failure, Io, ProcessSpec, ProcessStatus, Stat};
use onloop_syntax::limits;
use onloop_syntax::text;
use onloop_syntax::time::Timestamp;

mod lock;

use lock::Guard;
pub(super) use lock::{LockFile, stamp, stamping};

/// Lines for `sh -c` that check and repair a workspace.
#[derive(Clone, Debug, Default)]
pub(super) struct HealthCommands {
    pub(super) check: Option<String>,
    pub(super) repair: Option<String>,
}

/// The workspace in the current folder.
pub(super) struct Workspace {
    io: Io,
    health: HealthCommands,
    guard: Guard,
    guard_wait_ms: u64,
    is_interrupted: bool,
    /// Whether people were told why the run ends.
    is_explained: bool,
    speech: Speech,
}

/// When the lines of a dispatch are printed.
pub(super) enum Speech {
    /// At once.
    Immediate,
    /// Once [`Workspace::speak`] is called, because something has to be stored first.
    Deferred(String),
}

impl Workspace {
    pub(super) fn new(io: &Io, health: HealthCommands, speech: Speech) -> Workspace {
        Workspace {
            io: io.clone(),
            health,
            guard: Guard::NotTried,
            guard_wait_ms: 0,
            is_interrupted: false,
            is_explained: false,
            speech,
        }
    }

    /// Time of the last effect.
    pub(super) fn now(&self) -> Timestamp {
        self.io.now()
    }

    /// Whether the person has pressed Ctrl-C during one of our effects.
    pub(super) fn is_interrupted(&self) -> bool {
        self.is_interrupted
    }

    /// Prints what was deferred.
    pub(super) async fn speak(&mut self) {
        if let Speech::Deferred(text) = &mut self.speech {
            let text = std::mem::take(text);
            if !text.is_empty() {
                self.io.result(text).await;
            }
        }
    }

    /// Prints the lines of a transition, after what they mean for people.
    pub(super) async fn say(&mut self, transition: &Transition) {
        if let Some(note) = &transition.note {
            self.io.note(format!("note: {}", text::one_line(note))).await;
        }
        if let Some(ending) = transition.auto.ending().filter(|_| !self.is_explained) {
            self.is_explained = true;
            self.explain(ending).await;
        }
        let lines: String = transition.tokens.iter().map(|token| format!("{token}\n")).collect();
        match (&mut self.speech, transition.auto.next()) {
            (Speech::Deferred(deferred), AutoNext::Dispatch(_)) => deferred.push_str(&lines),
            _ if lines.is_empty() => {}
            _ => self.io.result(lines).await,
        }
    }

    /// Tells people why the run ended, where the tokens alone do not.
    async fn explain(&mut self, ending: AutoEnding) {
        let why = match ending {
            AutoEnding::Done => return self.explain_done().await,
            AutoEnding::LockHeld => self.explain_lock().await,
            AutoEnding::Paused => {
                format!("`{PAUSE_PATH}` stops every run; remove it and start again")
            }
            AutoEnding::Undecided => format!(
                "nothing says what to do: `{PROGRESS_PATH}` has no tasks, no file in \
                 `{FEATURES_FOLDER}` is READY_FOR_PLAN, and no argument says what to build"
            ),
            AutoEnding::LanguagePolicy => match self.file(CONTEXT_PATH).await {
                WorkspaceFile::Unreadable(why) => format!("`{CONTEXT_PATH}` cannot be read: {why}"),
                WorkspaceFile::Missing | WorkspaceFile::Readable(_) => format!(
                    "rw-planner did not write `{CONTEXT_PATH}`; write it, or run `onloop auto init`"
                ),
            },
            AutoEnding::RootInvalid => match self.file(PROGRESS_PATH).await {
                WorkspaceFile::Unreadable(why) => {
                    format!("`{PROGRESS_PATH}` cannot be read: {why}; repair or remove it")
                }
                // The transition has named what else is wrong.
                WorkspaceFile::Missing | WorkspaceFile::Readable(_) => return,
            },
            AutoEnding::MaxCycles => {
                "the cycles are used up; `--max-cycles` allows up to 20".to_owned()
            }
            // A whole loop has said which agent is missing.
            AutoEnding::Environment if matches!(self.speech, Speech::Immediate) => return,
            AutoEnding::Environment => {
                "this host starts no child agents; `onloop auto` starts them itself".to_owned()
            }
            AutoEnding::Unhealthy => match &self.health.check {
                Some(line) => format!("the health check failed; fix what it finds: `{line}`"),
                None => "the health check failed".to_owned(),
            },
            AutoEnding::Cancelled => {
                "it was stopped; `onloop auto` starts again with the first open task".to_owned()
            }
            // Their transitions have said why.
            AutoEnding::Review
            | AutoEnding::Invalid
            // A route stops nothing.
            | AutoEnding::RoutedPlanner
            | AutoEnding::RoutedLoop
            | AutoEnding::RoutedNowhere => return,
        };
        self.io.note(format!("note: {}", text::one_line(&why))).await;
    }

    /// What was believed.
    async fn explain_done(&mut self) {
        let progress = self.file(PROGRESS_PATH).await;
        let rows = progress.text().map_or(Vec::new(), |text| TaskTable::parse(text).rows);
        let open = rows.iter().filter(|row| row.status != TaskStatus::Completed);
        let named: Vec<String> =
            open.map(|row| format!("{} ({})", row.id, row.status.as_str())).collect();
        if !named.is_empty() {
            let named = text::ellipsis(&text::one_line(&named.join(", ")), 300);
            self.io
                .note(format!(
                    "note: the child said that it is done, and was believed; `{PROGRESS_PATH}` has \
                     rows that are not completed: {named}"
                ))
                .await;
        }
    }

    /// Performs one half of the health check.
    pub(super) async fn check_health(&mut self, step: HealthStep) -> Health {
        let line = match step {
            HealthStep::Check => self.health.check.clone(),
            HealthStep::Repair => self.health.repair.clone(),
        };
        match line {
            Some(line) => self.run_health(&line).await,
            None => Health::Unavailable,
        }
    }

    /// Looks at progress file and lock. The lock comes with what it means, because it is
    /// replaced only if it is still the same then.
    pub(super) async fn probe(&mut self) -> (Probe, Option<LockFile>) {
        match self.file(PROGRESS_PATH).await.presence() {
            Presence::Unreadable => (Probe::ProgressUnreadable, None),
            Presence::Missing | Presence::Readable => {
                let lock = self.read_lock().await;
                (Probe::Lock(lock.sight()), Some(lock))
            }
        }
    }

    /// Looks at everything that routing depends on.
    pub(super) async fn observe(&mut self, profile: Profile) -> AutoEvent {
        let mut digest = Sha256::new();
        let mut note = |path: &str, file: &WorkspaceFile| {
            let (kind, text) = match file {
                WorkspaceFile::Missing => ("missing", ""),
                WorkspaceFile::Readable(text) => ("text", text.as_str()),
                WorkspaceFile::Unreadable(_) => ("unreadable", ""),
            };
            digest.update(format!("{path}\n{kind} {}\n", text.len()));
            digest.update(text);
        };

        let paused = self.exists(PAUSE_PATH).await;
        let context = self.file(CONTEXT_PATH).await;
        note(CONTEXT_PATH, &context);
        let progress = self.file(PROGRESS_PATH).await;
        note(PROGRESS_PATH, &progress);
        let mut ready_feature = false;
        for path in self.feature_paths().await {
            let file = self.file(&path).await;
            note(&path, &file);
            ready_feature |= file.text().is_some_and(feature::is_ready);
        }
        let mut artifacts = false;
        if profile.needs_artifacts() {
            artifacts = self.has_artifacts().await;
            note(ACTIVE_PLAN_PATH, &WorkspaceFile::Readable(artifacts.to_string()));
        }
        AutoEvent::Observed(Snapshot {
            paused,
            context: context.presence(),
            tasks: progress.text().map(|text| TaskTable::parse(text).tasks()),
            ready_feature,
            artifacts,
            fingerprint: text::hex(&digest.finalize()),
        })
    }

    /// Looks whether there is a context now, and which feature is the latest.
    pub(super) async fn inspect(&mut self) -> AutoEvent {
        let context = self.file(CONTEXT_PATH).await.presence();
        let mut features = Vec::new();
        for path in self.feature_paths().await {
            let modified = self.modified(&path).await;
            features.push((path, modified));
        }
        let named = features.iter().map(|(path, modified)| (path.as_str(), *modified));
        AutoEvent::Inspected { context, latest_feature: feature::latest(named).map(str::to_owned) }
    }

    async fn feature_paths(&mut self) -> Vec<String> {
        let names = self.names(FEATURES_FOLDER).await;
        let features = names.iter().filter(|name| feature::is_feature_name(name));
        features.map(|name| format!("{FEATURES_FOLDER}/{name}")).collect()
    }

    async fn has_artifacts(&mut self) -> bool {
        let active = self.file(ACTIVE_PLAN_PATH).await;
        let Some(id) = active.text().and_then(plan::active_id) else {
            return false;
        };
        let folder = format!("{PLANS_FOLDER}/{id}");
        let names: BTreeSet<String> = self.names(&folder).await.into_iter().collect();
        for name in plan::REQUIRED {
            if !names.contains(name) || !self.has_text(&folder, name).await {
                return false;
            }
        }
        for name in names.iter().filter(|name| plan::is_findings_name(name)) {
            if self.has_text(&folder, name).await {
                return true;
            }
        }
        false
    }

    async fn has_text(&mut self, folder: &str, name: &str) -> bool {
        self.file(&format!("{folder}/{name}")).await.text().is_some()
    }

    async fn file(&mut self, path: &str) -> WorkspaceFile {
        let read = self.io.read(path, limits::AUTO_FILE_BYTES).await;
        match self.notice(read) {
            Ok((bytes, _)) => WorkspaceFile::from_bytes(bytes),
            Err(failure) if failure.is_not_found() => WorkspaceFile::Missing,
            Err(failure) => WorkspaceFile::Unreadable(failure.message),
        }
    }

    /// Whether anything is at a path. What cannot be looked at may be there.
    async fn exists(&mut self, path: &str) -> bool {
        self.stat(path).await.map_or_else(|failure| !failure.is_not_found(), |_| true)
    }

    /// When the file at a path was last changed, where that is known.
    async fn modified(&mut self, path: &str) -> Option<Timestamp> {
        self.stat(path).await.ok().map(|stat| stat.modified)
    }

    /// Names in a folder, sorted; none where there is no folder.
    async fn names(&mut self, folder: &str) -> Vec<String> {
        let listed = self.io.list(folder).await;
        self.notice(listed).unwrap_or_default()
    }

    async fn stat(&mut self, path: &str) -> Result<Stat, Failure> {
        let stat = self.io.stat(path).await;
        self.notice(stat)
    }

    /// Notices Ctrl-C in a failure, whatever was asked for.
    fn notice<T>(&mut self, reply: Result<T, Failure>) -> Result<T, Failure> {
        if let Err(failure) = &reply {
            self.is_interrupted |= failure.is_interrupted();
        }
        reply
    }

    async fn run_health(&mut self, line: &str) -> Health {
        let spec = ProcessSpec::new(agent::command_line(line))
            .in_folder(&self.io.start().cwd)
            .label("health check");
        let ended = self.io.process(spec).await;
        let end = match self.notice(ended) {
            Ok(end) => end,
            Err(failure) => {
                self.io.note(format!("warning: cannot run the health check: {failure}")).await;
                return Health::Unavailable;
            }
        };
        match end.status {
            ProcessStatus::Interrupted => {
                self.is_interrupted = true;
                Health::Unavailable
            }
            // The shell found nothing to run.
            ProcessStatus::Exited(126 | 127) => Health::Unavailable,
            ProcessStatus::Exited(0) => said_health(&end.stdout.text()).unwrap_or(Health::Passed),
            ProcessStatus::Exited(_) | ProcessStatus::Signalled(_) | ProcessStatus::TimedOut => {
                Health::Failed
            }
        }
    }
}

/// What the last `AI_HEALTH_STATUS=` line of a health check says.
fn said_health(output: &str) -> Option<Health> {
    let said = output.lines().rev().find_map(|line| line.strip_prefix("AI_HEALTH_STATUS="));
    said.map(|word| Health::from_word(word.trim()))
}
