//! Runs one workflow in many repositories, a limited number at once, and prints a table.

use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use onloop_core::documents::fleet_run::FleetRun;
use onloop_core::effect::Exit;
use onloop_core::text;
use onloop_core::verb::Submitted;

use super::{give, remember, submission};
use crate::cli::Refusal;
use crate::client::Client;
use crate::engine::{QueueState, ReadJournal, RunView, Submission};

/// Longest wait of one request for news.
const LOOK_MS: u64 = 20_000;
/// Longest time that an unreachable server is retried.
const RETRY_TIMEOUT: Duration = Duration::from_secs(600);

/// What all repositories share.
pub(super) struct Batch<'a> {
    pub(super) client: Client,
    /// The fleet of the runs.
    pub(super) fleet: FleetRun,
    /// The workflow.
    pub(super) found: &'a Submitted,
    /// The options of `onloop run`.
    pub(super) options: &'a [String],
}

/// The result for one repository.
struct Row {
    repository: String,
    run_id: String,
    result: RunResult,
}

enum RunResult {
    /// The run has finished or waits.
    State(QueueState),
    /// It was not submitted, or the server stayed unreachable.
    Failed(String),
}

impl RunResult {
    fn words(&self) -> String {
        match self {
            RunResult::State(QueueState::Finished { status: how }) => how.clone(),
            RunResult::State(QueueState::NeedsPerson { reason: what }) => what.clone(),
            RunResult::State(QueueState::Retry { reason: what, .. }) => {
                format!("next try: {what}")
            }
            RunResult::State(QueueState::Local { host }) => format!("moved to {host}"),
            RunResult::State(QueueState::Ready | QueueState::RateLimited { .. }) => {
                "running".to_owned()
            }
            RunResult::Failed(why) => format!("failed: {why}"),
        }
    }

    fn exit(&self) -> Exit {
        match self {
            RunResult::State(QueueState::Finished { status: how }) if how == "completed" => {
                Exit::Done
            }
            RunResult::State(QueueState::Finished { .. }) | RunResult::Failed(_) => Exit::Failed,
            RunResult::State(_) => Exit::Paused,
        }
    }
}

/// Submits one run for each repository of the list and waits until all have finished or wait; the exit
/// code is that of the worst.
pub(super) fn submit(batch: &Batch<'_>, list: &Path, parallel: usize) -> Result<Exit, Refusal> {
    let Batch { client, fleet, found, options } = batch;
    let text = std::fs::read_to_string(list)
        .map_err(|error| Refusal::refused(format!("`{}`: {error}", list.display())))?;
    let lines = text.lines().map(str::trim);
    let repositories: Vec<String> = lines
        .filter(|line| !line.is_empty() && !line.starts_with('#'))
        .map(str::to_owned)
        .collect();
    if repositories.is_empty() {
        return Err(Refusal::usage(format!(
            "`{}` names no repository\n  fix: write one address a line",
            list.display()
        )));
    }
    let next = AtomicUsize::new(0);
    let rows = Mutex::new(Vec::new());
    // One at a time, because it takes over the process.
    let remembering = Mutex::new(());
    std::thread::scope(|scope| {
        for _ in 0..parallel.clamp(1, repositories.len()) {
            scope.spawn(|| {
                loop {
                    let at = next.fetch_add(1, Ordering::Relaxed);
                    let Some(repository) = repositories.get(at) else { return };
                    let mut one = submission(found, options, repository.clone(), None);
                    one.run_id = format!("{}-r{}", one.run_id, at + 1);
                    let remember_it = || {
                        let _one = remembering.lock().unwrap_or_else(PoisonError::into_inner);
                        // A failure was printed, and the run does not depend on it.
                        let _ = remember(&one.run_id, fleet.clone());
                    };
                    let row = follow(client, &one, remember_it);
                    eprintln!("{}: {}", text::one_line(repository), row.result.words());
                    rows.lock().unwrap_or_else(PoisonError::into_inner).push((at, row));
                }
            });
        }
    });
    let mut rows = rows.into_inner().unwrap_or_else(PoisonError::into_inner);
    rows.sort_by_key(|(at, _)| *at);
    let rows: Vec<Row> = rows.into_iter().map(|(_, row)| row).collect();
    print!("{}", table(&rows));
    let exits: Vec<Exit> = rows.iter().map(|row| row.result.exit()).collect();
    let worst = [Exit::Failed, Exit::Paused].into_iter().find(|exit| exits.contains(exit));
    Ok(worst.unwrap_or(Exit::Done))
}

/// Submits one run and waits until it has finished or waits.
fn follow(client: &Client, submission: &Submission, remember_it: impl FnOnce()) -> Row {
    let row = |result| Row {
        repository: submission.repository.clone(),
        run_id: submission.run_id.clone(),
        result,
    };
    if let Err(error) = give(client, submission) {
        return row(RunResult::Failed(error.to_string()));
    }
    remember_it();
    let mut read = ReadJournal { wait_ms: LOOK_MS, ..ReadJournal::now(&submission.run_id) };
    loop {
        let lines = match client.call_within(RETRY_TIMEOUT, &read) {
            Ok(lines) => lines,
            Err(error) => return row(RunResult::Failed(error.to_string())),
        };
        let RunView { holder, state: rest, head, .. } = lines.view;
        match (holder, rest) {
            // A retry may never succeed, so the table does not wait for it.
            (
                None,
                rest @ (QueueState::NeedsPerson { .. }
                | QueueState::Retry { .. }
                | QueueState::Finished { .. }
                | QueueState::Local { .. }),
            ) => {
                return row(RunResult::State(rest));
            }
            (_, _) => read.after = head.map_or(read.after, |head| head.seq),
        }
    }
}

fn table(rows: &[Row]) -> String {
    let width = rows.iter().map(|row| row.repository.chars().count()).max().unwrap_or(0).min(40);
    let line = |row: &Row| {
        let repository = text::one_line(&row.repository);
        let words = text::one_line(&row.result.words());
        format!("{repository:width$}  {}\n{:width$}  {}\n", words, "", row.run_id)
    };
    rows.iter().map(line).collect()
}
