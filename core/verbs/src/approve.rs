//! `onloop approve` and `reject`: lists what waits for a person, and answers it.

mod by_telegram;

use crate::gate::{approve_run, reject_run};
use onloop_documents::approval::{PendingCall, pending_list};
use onloop_documents::board::{self, RunCard};
use onloop_effect::{Exit, Failure, Io, ProcessSpec};
use onloop_engine::approval::pending::{self, Waiting};
use onloop_engine::board::ChangeWatcher;
use onloop_engine::error::{CommandError, ErrorKind};
use onloop_engine::lookup::select::{Fitting, ShortNames, find_named};
use onloop_engine::run::continuation::what_takes_further;
use onloop_engine::run::decider::decider;
use onloop_engine::session::origin::top_folder;
use onloop_engine::state::store::Store;
use onloop_engine::{approval, state::config};
use onloop_run::DecisionChannel;
use onloop_sessions::handsoff::DEPTH_VARIABLE;
use onloop_sessions::handsoff::approval::ApprovalChoice;
use onloop_syntax::limits;
use onloop_syntax::text;
use onloop_syntax::time::Timestamp;
use serde_json::Value;

/// `onloop approve`.
#[derive(Clone, Debug, Default, clap::Args)]
pub struct ApproveArgs {
    /// A run or a call, or the beginning of its id; left out: list what waits
    pub id: Option<String>,
    /// Deny the call instead
    #[arg(long, requires = "id")]
    pub deny: bool,
    /// Then resume the session of the call with Claude Code
    #[arg(long)]
    pub resume: bool,
    /// Start no driver for the run; print the command that continues it
    #[arg(long, requires = "id")]
    pub no_continue: bool,
    /// Ask about all that wait through Telegram, one after the other
    #[arg(long, conflicts_with_all = ["id", "deny", "json"])]
    pub telegram: bool,
    /// Print JSON
    #[arg(long)]
    pub json: bool,
}

/// The shortest name of a call.
const CALL_NAME_BYTES: usize = 8;

/// Arguments of `onloop reject`.
#[derive(Clone, Debug, clap::Args)]
pub struct RejectArgs {
    /// A run or a call, or the beginning of its id
    pub id: String,
    /// Why; kept in the record of the run
    #[arg(long, value_name = "TEXT")]
    pub reason: String,
    /// Have the agent do the step again for that reason; else the run ends
    #[arg(long)]
    pub redo: bool,
    /// Start no driver for the run; print the command that continues it
    #[arg(long)]
    pub no_continue: bool,
}

/// `onloop reject`.
pub(crate) async fn reject(io: &Io, args: &RejectArgs) -> Result<Exit, CommandError> {
    let calls = pending::list(io).await?.calls;
    if calls.iter().any(|call| call.id.starts_with(&args.id)) {
        let id = Some(args.id.clone());
        let args = ApproveArgs { id, deny: true, ..ApproveArgs::default() };
        return Box::pin(approve(io, &args)).await;
    }
    match find_named(io, &args.id, Fitting::OnlyUnfinished).await? {
        Some(run) => reject_run(io, &run.id, (&args.reason, args.redo), args.no_continue).await,
        None => Err(not_one("nothing that waits has", &args.id)),
    }
}

/// Nothing, or more than one call, has an id that begins with `wanted`.
fn not_one(what: &str, wanted: &str) -> CommandError {
    let shown = text::ellipsis(&text::one_line(wanted), 60);
    CommandError::usage(format!("{what} an id that begins with `{shown}`"))
        .fix_by("list what waits", "onloop approve")
}

/// `onloop approve`.
pub(crate) async fn approve(io: &Io, args: &ApproveArgs) -> Result<Exit, CommandError> {
    // An agent that we asked for an opinion does not answer for the person.
    if io.env(DEPTH_VARIABLE).is_some() {
        return Err(CommandError::refused("an agent cannot approve its own calls"));
    }
    if args.telegram {
        return by_telegram::ask_about_all(io, args.resume).await;
    }
    if args.resume && args.id.is_none() {
        return Err(CommandError::usage("`--resume` needs the id of a call, or `--telegram`"));
    }
    let Waiting { calls, unreadable } = pending::list(io).await?;
    warn(io, &unreadable).await;
    let Some(wanted) = &args.id else {
        let runs = ChangeWatcher::default().look(io).await.runs;
        let runs: Vec<RunCard> = runs.into_iter().filter(|card| card.state.asks_person()).collect();
        show(io, &calls, &runs, args.json).await;
        return Ok(Exit::Done);
    };
    let matching: Vec<&PendingCall> =
        calls.iter().filter(|call| call.id.starts_with(wanted.as_str())).collect();
    let call = match matching.as_slice() {
        [call] => *call,
        [] => {
            let run = match args.deny {
                true => None,
                false => find_named(io, wanted, Fitting::OnlyUnfinished).await?,
            };
            return match run {
                Some(run) => approve_run(io, &run.id, args.no_continue).await,
                None => Err(not_one("nothing that waits has", wanted)),
            };
        }
        _ => return Err(not_one("several waiting calls have", wanted)),
    };
    let choice = if args.deny { ApprovalChoice::Deny } else { ApprovalChoice::Allow };
    // The bot is the one of the project in which the call was made.
    let config = config::own(io, &top_folder(io, &call.cwd).await).await;
    let by = decider(io, DecisionChannel::Terminal).user;
    let answered = approval::answer_beside_chat(io, &config, call, choice, by.as_deref()).await;
    let call = answered.map_err(|failure| {
        let is_usage = failure.is_not_found() || failure.is_conflict();
        let kind = if is_usage { ErrorKind::Usage } else { ErrorKind::Refused };
        CommandError::from(failure).of_kind(kind)
    })?;
    if args.json {
        io.result(format!("{}\n", pending_list(std::slice::from_ref(&call)))).await;
    }
    continue_session(io, &call, choice, args.resume).await
}

/// Names the stored calls that cannot be read: they wait, and cannot be answered.
async fn warn(io: &Io, unreadable: &[Failure]) {
    for failure in unreadable {
        io.note(format!("warning: {failure}")).await;
    }
}

/// Reports the answer, and resumes the session where that is wanted.
async fn continue_session(
    io: &Io,
    call: &PendingCall,
    choice: ApprovalChoice,
    resumes: bool,
) -> Result<Exit, CommandError> {
    let word = match choice {
        ApprovalChoice::Allow => "allowed",
        ApprovalChoice::Deny => "denied",
    };
    let call_words = format!("{} {}", text::one_line(&call.tool), quoted(&call.target));
    io.note(format!("{word}, for one time: {call_words}")).await;
    if resumes {
        return resume(io, call).await;
    }
    io.note(format!("continue with: {}", resume_line(call))).await;
    Ok(Exit::Done)
}

async fn show(io: &Io, calls: &[PendingCall], runs: &[RunCard], json: bool) {
    if json {
        let runs = serde_json::to_value(runs).expect("cards have only string keys");
        let mut all = pending_list(calls);
        if let (Some(all), Value::Array(runs)) = (all.as_array_mut(), runs) {
            all.extend(runs);
        }
        io.result(format!("{all}\n")).await;
        return;
    }
    if calls.is_empty() && runs.is_empty() {
        io.note("nothing waits for you").await;
        return;
    }
    let now = io.now();
    let mut out = String::new();
    let names = ShortNames::of(io, calls.iter().map(|call| call.id.clone())).await;
    for card in runs {
        let Ok(store) = Store::open(io, &card.id).await else {
            out += &board::entry(card, now);
            continue;
        };
        let name = names.name(&card.id, &store.run().place.slug);
        out += &board::entry(&RunCard { id: name.to_owned(), ..card.clone() }, now);
        // Not every run that waits for a person can be approved.
        for line in what_takes_further(io, store.paths(), store.run()).await.lines() {
            let is_command = line.trim_start().starts_with("onloop ");
            let line = if is_command { line.replace(&card.id, name) } else { line.to_owned() };
            out += &format!("    {line}\n");
        }
    }
    for call in calls {
        let answer = match call.answer {
            None => "Waiting for you",
            Some((ApprovalChoice::Allow, _)) => "Allowed, not fetched yet",
            Some((ApprovalChoice::Deny, _)) => "Denied, not fetched yet",
        };
        let ago = text::ago(now.millis_since(Timestamp::from_millis(call.since_ms)));
        out.push_str(&format!(
            "⏸ {}  {answer}, {ago}\n  session: {}\n  folder: {}\n  why: {}\n  {}:\n{}",
            names.name(&call.id, text::prefix(&call.id, CALL_NAME_BYTES)),
            text::one_line(&call.session_id),
            text::one_line(&call.cwd),
            text::one_line(&call.reason),
            text::one_line(&call.tool),
            indented(&call.target),
        ));
    }
    if !calls.is_empty() {
        out.push_str("\nonloop approve ID [--deny] [--resume]\n");
    }
    io.result(out).await;
}

/// The whole target, because what is not seen must not be approved. Invisible characters are escaped.
fn indented(target: &str) -> String {
    target.lines().map(|line| format!("    {}\n", text::visible(line, &[]))).collect()
}

fn quoted(target: &str) -> String {
    format!("`{}`", text::ellipsis(&text::one_line(target), 200))
}

fn resume_line(call: &PendingCall) -> String {
    let cwd = text::shell_word(&text::one_line(&call.cwd));
    format!("cd {cwd} && claude -p --resume {}", text::shell_word(&call.session_id))
}

/// Resumes the session; its hook is asked about the call again and finds the answer.
async fn resume(io: &Io, call: &PendingCall) -> Result<Exit, CommandError> {
    let spec = ProcessSpec::argv(["claude", "-p", "--resume", &call.session_id])
        .in_folder(&call.cwd)
        .timeout_ms(limits::AGENT_TIMEOUT_MS)
        .label("claude");
    let end = io.process(spec).await;
    let end = end.map_err(|f| CommandError::from(f).context("the session was not resumed"))?;
    io.result(end.stdout.text()).await;
    let what = "the session did not continue; the answer may not have been used yet";
    CommandError::unless_done(&end, CommandError::failed(what))?;
    Ok(Exit::Done)
}
