//! `onloop approve`: lists and answers the calls that wait for a person.

mod by_telegram;

use onloop_documents::approval::{PendingCall, pending_list};
use onloop_effect::{Exit, Failure, Io, ProcessSpec, ProcessStatus};
use onloop_engine::approval::pending::{self, Waiting};
use onloop_engine::decide::decider;
use onloop_engine::{approval, config};
use onloop_run::Door;
use onloop_sessions::handsoff::DEPTH_VARIABLE;
use onloop_sessions::handsoff::approval::ApprovalChoice;
use onloop_syntax::limits;
use onloop_syntax::text;

/// `onloop approve`.
#[derive(Clone, Debug, Default, clap::Args)]
pub struct ApproveArgs {
    /// The call, or the beginning of its id; left out: list them
    pub id: Option<String>,
    /// Deny it instead
    #[arg(long, requires = "id")]
    pub deny: bool,
    /// Then resume its session with Claude Code
    #[arg(long)]
    pub resume: bool,
    /// Ask about all that wait through Telegram, one after the other
    #[arg(long, conflicts_with_all = ["id", "deny", "json"])]
    pub telegram: bool,
    /// Print JSON
    #[arg(long)]
    pub json: bool,
}

/// `onloop approve`.
pub async fn approve(io: &Io, args: &ApproveArgs) -> Exit {
    // An agent that we asked for an opinion does not answer for the person.
    if io.env(DEPTH_VARIABLE).is_some() {
        io.note("error: an agent cannot approve its own calls").await;
        return Exit::Refused;
    }
    if args.telegram {
        return by_telegram::ask_about_all(io, args.resume).await;
    }
    if args.resume && args.id.is_none() {
        io.note("error: `--resume` needs the id of a call, or `--telegram`").await;
        return Exit::Usage;
    }
    let Waiting { calls, unreadable } = match pending::list(io).await {
        Ok(waiting) => waiting,
        Err(failure) => {
            io.note(format!("error: {failure}")).await;
            return Exit::Refused;
        }
    };
    warn(io, &unreadable).await;
    let Some(wanted) = &args.id else {
        return show(io, &calls, args.json).await;
    };
    let mut matching = calls.iter().filter(|call| call.id.starts_with(wanted.as_str()));
    let (Some(call), None) = (matching.next(), matching.next()) else {
        let shown = text::ellipsis(&text::one_line(wanted), 60);
        let many = calls.iter().filter(|call| call.id.starts_with(wanted.as_str())).count();
        let why = if many == 0 { "no waiting call has" } else { "several waiting calls have" };
        io.note(format!("error: {why} an id that begins with `{shown}`; see `onloop approve`"))
            .await;
        return Exit::Usage;
    };
    let choice = if args.deny { ApprovalChoice::Deny } else { ApprovalChoice::Allow };
    // The bot is the one of the project in which the call was made.
    let config = config::own(io, &call.cwd).await;
    let by = decider(io, Door::Terminal).user;
    let answered = approval::answer_beside_chat(io, &config, call, choice, by.as_deref()).await;
    let call = match answered {
        Ok(call) => call,
        Err(failure) => {
            io.note(format!("error: {failure}")).await;
            let is_usage = failure.is_not_found() || failure.is_conflict();
            return if is_usage { Exit::Usage } else { Exit::Refused };
        }
    };
    if args.json {
        io.result(format!("{}\n", pending_list(std::slice::from_ref(&call)))).await;
    }
    go_on(io, &call, choice, args.resume).await
}

/// Names the stored calls that cannot be read: they wait, and cannot be answered.
async fn warn(io: &Io, unreadable: &[Failure]) {
    for failure in unreadable {
        io.note(format!("warning: {failure}")).await;
    }
}

/// Reports the answer, and resumes the session where that is wanted.
async fn go_on(io: &Io, call: &PendingCall, choice: ApprovalChoice, resumes: bool) -> Exit {
    let word = match choice {
        ApprovalChoice::Allow => "allowed",
        ApprovalChoice::Deny => "denied",
    };
    let call_words = format!("{} {}", text::one_line(&call.tool), quoted(&call.target));
    io.note(format!("{word}, for one time: {call_words}")).await;
    if resumes {
        return resume(io, call).await;
    }
    io.note(format!("go on with: {}", resume_line(call))).await;
    Exit::Done
}

async fn show(io: &Io, calls: &[PendingCall], json: bool) -> Exit {
    if json {
        io.result(format!("{}\n", pending_list(calls))).await;
        return Exit::Done;
    }
    if calls.is_empty() {
        io.note("no call waits for an answer").await;
        return Exit::Done;
    }
    let mut out = String::new();
    for call in calls {
        let answer = match call.answer {
            None => "waits",
            Some((ApprovalChoice::Allow, _)) => "allowed, not fetched yet",
            Some((ApprovalChoice::Deny, _)) => "denied, not fetched yet",
        };
        let since = onloop_syntax::time::Timestamp::from_millis(call.since_ms).to_rfc3339();
        out.push_str(&format!(
            "{}  {answer}  since {since}\n  session: {}\n  folder: {}\n  why: {}\n  {}:\n{}",
            call.id,
            text::one_line(&call.session_id),
            text::one_line(&call.cwd),
            text::one_line(&call.reason),
            text::one_line(&call.tool),
            indented(&call.target),
        ));
    }
    out.push_str("\nonloop approve ID [--deny] [--resume]\n");
    io.result(out).await;
    Exit::Done
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
async fn resume(io: &Io, call: &PendingCall) -> Exit {
    let spec = ProcessSpec::argv(["claude", "-p", "--resume", &call.session_id])
        .in_folder(&call.cwd)
        .timeout_ms(limits::AGENT_TIMEOUT_MS)
        .label("claude");
    match io.process(spec).await {
        Ok(end) => {
            io.result(end.stdout.text()).await;
            match end.status {
                ProcessStatus::Exited(0) => Exit::Done,
                ProcessStatus::Interrupted => Exit::Interrupted,
                ProcessStatus::Exited(_)
                | ProcessStatus::Signalled(_)
                | ProcessStatus::TimedOut => {
                    io.note(end.stderr.text()).await;
                    io.note("error: the session did not continue; the answer may not have been used yet")
                        .await;
                    Exit::Failed
                }
            }
        }
        Err(failure) => {
            io.note(format!("error: the session was not resumed: {failure}")).await;
            Exit::Refused
        }
    }
}
