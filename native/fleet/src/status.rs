//! `onloop fleet status`: shows runs, workers and open decisions.

mod run_line;

use std::io::Write;
use std::time::Duration;

use clap::Args;
use onloop_core::effect::Exit;
use onloop_core::text;
use onloop_core::time::Timestamp;
use serde_json::{Value, json};

use crate::cli::refuse;
use crate::client::Client;
use crate::config::FleetConfig;
use crate::engine::{
    AccountView, EngineError, Overview, QueueState, ReadJournal, ReadOverview, RunView, WorkerView,
};
use crate::queue_state::{millis, now};
use run_line::RunLine;

/// Columns of the text.
const COLUMNS: usize = 80;
/// Longest time that the server may be unreachable, for instance during a restart.
const RETRY_TIMEOUT: Duration = Duration::from_secs(3);
/// Journals that are read at once.
const AT_ONCE: usize = 8;
/// Age of a worker's last heartbeat from which it is shown.
const SILENT_MS: u64 = 60 * 1000;

/// Arguments of `onloop fleet status`.
#[derive(Clone, Debug, Args)]
pub(crate) struct StatusArgs {
    /// Address of the server [default: the fleet of this machine]
    #[arg(long, value_name = "URL")]
    pub(crate) server: Option<String>,
    /// Show finished runs as well
    #[arg(long)]
    pub(crate) all: bool,
    /// Print one JSON document
    #[arg(long)]
    pub(crate) json: bool,
}

pub(crate) fn status(args: &StatusArgs) -> Exit {
    let client = match FleetConfig::find(args.server.as_deref()) {
        Ok(known) => known.client(),
        Err(error) => return refuse(error),
    };
    let shown = look(&client, args.all).map(|(overview, runs)| match args.json {
        true => document(client.url(), &overview, &runs),
        false => page(client.url(), &overview, &runs, args.all, millis(now())),
    });
    match shown {
        Ok(shown) => match std::io::stdout().write_all(shown.as_bytes()) {
            Ok(()) => Exit::Done,
            Err(error) => refuse(format!("cannot write the result: {error}")),
        },
        Err(error) => refuse(format!("{error}; the server is {}", client.url())),
    }
}

fn look(client: &Client, all: bool) -> Result<(Overview, Vec<RunLine>), EngineError> {
    let overview = client.call_within(RETRY_TIMEOUT, &ReadOverview {})?;
    let is_over = |view: &RunView| {
        view.holder.is_none()
            && matches!(view.state, QueueState::Finished { .. } | QueueState::Local { .. })
    };
    let shown: Vec<&RunView> = overview.runs.iter().filter(|view| all || !is_over(view)).collect();
    let runs = std::thread::scope(|scope| {
        let some = shown.len().div_ceil(AT_ONCE).max(1);
        let read = |view: &RunView| {
            let lines = client.call(&ReadJournal::now(&view.run_id))?;
            Ok(RunLine::of(lines.view, &lines.lines))
        };
        let readers: Vec<_> = shown
            .chunks(some)
            .map(|views| scope.spawn(move || views.iter().map(|view| read(view)).collect()))
            .collect();
        let read = readers
            .into_iter()
            .map(|reader| reader.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)));
        read.collect::<Result<Vec<Vec<RunLine>>, EngineError>>()
    })?;
    Ok((overview, runs.into_iter().flatten().collect()))
}

/// Describes a run without a journal, for people.
pub(crate) fn described(view: RunView) -> String {
    RunLine::of(view, "").text()
}

fn document(server: &str, overview: &Overview, runs: &[RunLine]) -> String {
    let document = json!({
        "schema": "onloop.fleet_status/v1",
        "server": server,
        "runs": runs.iter().map(RunLine::document).collect::<Vec<Value>>(),
        "workers": overview.workers,
        "accounts": overview.accounts,
    });
    serde_json::to_string_pretty(&document).expect("only string keys") + "\n"
}

fn page(server: &str, overview: &Overview, runs: &[RunLine], all: bool, now_ms: u64) -> String {
    let mut page = String::new();
    if runs.is_empty() {
        page += match all {
            true => "No runs. Old runs are in the archive: `onloop status RUN` shows one.\n",
            false => "No unfinished runs. Submit one: `onloop run FILE --on fleet`\n",
        };
    }
    for run in runs {
        page += &run.text();
    }
    page += &format!("\n{}\n", heading(overview, server));
    for worker in &overview.workers {
        page += &worker_line(worker, now_ms);
    }
    for account in &overview.accounts {
        page += &account_line(account);
    }
    page
}

fn heading(overview: &Overview, server: &str) -> String {
    let slots = overview.workers.iter().map(|worker| u64::from(worker.offer.slots)).sum::<u64>();
    let workers = overview.workers.len() as u64;
    let server = text::one_line(server);
    match workers {
        0 => text::wrapped(
            &format!(
                "No workers: start one with `onloop fleet worker --server {server} --repos DIR`"
            ),
            COLUMNS,
            2,
        ),
        _ => format!(
            "{} with {} at {server}",
            text::counted(workers, "worker"),
            text::counted(slots, "slot")
        ),
    }
}

fn worker_line(worker: &WorkerView, now_ms: u64) -> String {
    let silent_ms = now_ms.saturating_sub(worker.seen_ms);
    let seen = match silent_ms {
        0..SILENT_MS => String::new(),
        _ => format!(", last seen {} ago", text::span(silent_ms)),
    };
    let offer = &worker.offer;
    let name = text::one_line(&offer.worker);
    let host = match offer.host == offer.worker {
        true => String::new(),
        false => format!(" on {}", text::one_line(&offer.host)),
    };
    let line = format!("  {name}{host}: {} of {} busy{seen}", offer.busy, offer.slots);
    text::wrapped(&line, COLUMNS, 4) + "\n"
}

fn account_line(account: &AccountView) -> String {
    let mut line = format!("  {}: {} running", text::one_line(&account.agent), account.busy);
    if let Some(parallel) = account.parallel {
        line += &format!(", at most {parallel}");
    }
    if let Some(until) = account.until_ms {
        line += &format!(", rate limited until {}", moment(until));
    }
    text::wrapped(&line, COLUMNS, 4) + "\n"
}

/// Formats a time of the engine for people.
fn moment(ms: u64) -> String {
    Timestamp::from_millis(i64::try_from(ms).unwrap_or(i64::MAX)).to_rfc3339()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::Offer;

    #[test]
    fn a_page_says_what_there_is_in_eighty_columns() {
        let offer = |worker: &str, host: &str, busy| Offer {
            worker: worker.to_owned(),
            host: host.to_owned(),
            slots: 2,
            busy,
            repositories: Vec::new(),
        };
        let run = |run_id: &str, holder: Option<&str>, state| {
            let view = RunView {
                run_id: run_id.to_owned(),
                repository: "git@example.com:one".to_owned(),
                workflow: "hotl-workflow-one.md".to_owned(),
                user: None,
                at_ms: 0,
                holder: holder.map(str::to_owned),
                state,
                head: None,
            };
            RunLine::of(view, "")
        };
        let runs = [
            run("one", Some("desk"), QueueState::Ready),
            run("two", None, QueueState::Ready),
            run("three", None, QueueState::NeedsPerson { reason: "the gate of step 2".to_owned() }),
            run("four", None, QueueState::RateLimited { at_ms: 0, agent: "claude".to_owned() }),
            run(
                "seven",
                None,
                QueueState::Retry { at_ms: 0, reason: "on desk: no answer".to_owned() },
            ),
            run("five", None, QueueState::Finished { status: "completed".to_owned() }),
            run("six", None, QueueState::Local { host: "laptop".to_owned() }),
        ];
        let overview = Overview {
            runs: Vec::new(),
            workers: vec![
                WorkerView { offer: offer("desk", "desk", 1), seen_ms: 1_000_000 },
                WorkerView { offer: offer("night", "tower", 0), seen_ms: 700_000 },
            ],
            accounts: vec![AccountView {
                agent: "claude".to_owned(),
                parallel: Some(2),
                busy: 1,
                until_ms: Some(0),
            }],
        };
        let expected = "\
→ one
    hotl-workflow-one.md in git@example.com:one
    running on desk
· two
    hotl-workflow-one.md in git@example.com:one
    waiting for a worker
⏸ three
    hotl-workflow-one.md in git@example.com:one
    the gate of step 2
    onloop resume three
⏳ four
    hotl-workflow-one.md in git@example.com:one
    claude is rate limited until 1970-01-01T00:00:00+00:00
· seven
    hotl-workflow-one.md in git@example.com:one
    next try at 1970-01-01T00:00:00+00:00: on desk: no answer
✓ five
    hotl-workflow-one.md in git@example.com:one
    completed
✓ six
    hotl-workflow-one.md in git@example.com:one
    moved to laptop

2 workers with 4 slots at http://desk:9400
  desk: 1 of 2 busy
  night on tower: 0 of 2 busy, last seen 5 min ago
  claude: 1 running, at most 2, rate limited until 1970-01-01T00:00:00+00:00
";
        assert_eq!(page("http://desk:9400", &overview, &runs, true, 1_000_000), expected);
        let nothing = page("http://desk:9400", &Overview::default(), &[], false, 0);
        assert_eq!(
            nothing,
            "No unfinished runs. Submit one: `onloop run FILE --on fleet`\n\n\
             No workers: start one with\n  \
             `onloop fleet worker --server http://desk:9400 --repos DIR`\n"
        );
        let document: Value =
            serde_json::from_str(&document("http://desk:9400", &overview, &runs)).expect("JSON");
        assert_eq!(document["runs"][2]["state"]["kind"], "needs_person");
        assert_eq!(document["workers"][1]["offer"]["host"], "tower");
    }
}
