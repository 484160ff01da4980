//! Handing one notice to one receiver.

use serde_json::{Value, json};

use super::template;
use crate::approval::telegram::Bot;
use onloop_documents::notices::Notice;
use onloop_effect::{
    Failure, FailureKind, HttpMethod, HttpSpec, Io, ProcessSpec, ProcessStatus, Shell,
};
use onloop_sessions::handsoff::config::{BotToken, Receiver, Webhook};
use onloop_syntax::limits;
use onloop_syntax::text;

/// Bytes of what a command says that are kept.
const SAID_BYTES: usize = 2 * 1024;

/// Hands `notice` over, within `timeout_ms`.
///
/// # Errors
///
/// Why the receiver has not taken it, on one line and without a secret of its address.
pub async fn send(
    io: &Io,
    receiver: &Receiver,
    notice: &Notice,
    timeout_ms: u64,
) -> Result<(), Failure> {
    let sent = match receiver {
        Receiver::Command { line, folder } => {
            let spec = ProcessSpec::shell(Shell::Sh, line.as_str())
                .in_folder(folder.as_str())
                .with_env(variables(notice))
                .with_stdin(format!("{}\n", notice.document()));
            run(io, spec, timeout_ms).await
        }
        Receiver::Webhook(webhook) => post(io, webhook, notice, timeout_ms).await,
        Receiver::Desktop => show(io, notice, timeout_ms).await,
        Receiver::Telegram { token, chat_id } => {
            chat(io, (token, *chat_id), notice, timeout_ms).await
        }
    };
    sent.map_err(|failure| Failure::new(failure.kind, text::one_line(&failure.message)))
}

/// The receiver has not taken the notice, for this reason.
fn untaken(why: String) -> Failure {
    Failure::new(FailureKind::Other, why)
}

/// What the environment of a command says.
fn variables(notice: &Notice) -> Vec<(&'static str, String)> {
    let step = notice.step.as_ref().map(|(number, _)| number.to_string());
    vec![
        ("ONLOOP_NOTICE_EVENT", notice.kind.as_str().to_owned()),
        ("ONLOOP_NOTICE_TITLE", notice.title.clone()),
        ("ONLOOP_NOTICE_TEXT", template::plain(notice, limits::NOTICE_BYTES)),
        ("ONLOOP_NOTICE_RUN_ID", notice.run_id.clone().unwrap_or_default()),
        ("ONLOOP_NOTICE_STEP", step.unwrap_or_default()),
        ("ONLOOP_NOTICE_FOLDER", notice.folder.clone()),
        ("ONLOOP_NOTICE_BRANCH", notice.branch.clone().unwrap_or_default()),
    ]
}

/// Runs a program to its end.
///
/// # Errors
///
/// `NotFound` where there is no such program; otherwise how it ended, and the last line it said.
async fn run(io: &Io, spec: ProcessSpec, timeout_ms: u64) -> Result<(), Failure> {
    let end = io.process(spec.timeout_ms(timeout_ms).capture_bytes(SAID_BYTES)).await?;
    let how = match end.status {
        ProcessStatus::Exited(0) => return Ok(()),
        ProcessStatus::Exited(code) => format!("it ended with exit code {code}"),
        ProcessStatus::Signalled(signal) => format!("signal {signal} ended it"),
        ProcessStatus::TimedOut => format!("it took longer than {}", text::span(timeout_ms)),
        ProcessStatus::Interrupted => "it was interrupted".to_owned(),
    };
    let said = end.stderr.text();
    let said = said.lines().rfind(|line| !line.trim().is_empty());
    let said = said.map(|line| format!(": {}", text::ellipsis(line.trim(), 200)));
    Err(untaken(how + &said.unwrap_or_default()))
}

async fn post(io: &Io, webhook: &Webhook, notice: &Notice, timeout_ms: u64) -> Result<(), Failure> {
    let (url, body) = template::request(webhook.template, &webhook.url, notice);
    let mut headers = vec![("content-type".to_owned(), "application/json".to_owned())];
    let bearer = webhook.token.as_ref().map(|token| format!("Bearer {token}"));
    headers.extend(bearer.map(|bearer| ("authorization".to_owned(), bearer)));
    let spec = HttpSpec {
        method: HttpMethod::Post,
        url,
        headers,
        body: Some(body.to_string().into_bytes().into()),
        timeout_ms,
        limit_bytes: limits::NOTICE_ANSWER_BYTES,
    };
    let origin = spec.origin().unwrap_or_default().to_owned();
    let answer = io.http(spec).await?;
    match answer.status {
        200..=299 => Ok(()),
        status => Err(untaken(format!("{origin} answered with status {status}"))),
    }
}

async fn chat(
    io: &Io,
    (token, chat_id): (&BotToken, i64),
    notice: &Notice,
    timeout_ms: u64,
) -> Result<(), Failure> {
    let bot = Bot::new(io, token).map_err(|insecure| untaken(insecure.to_string()))?;
    let words = format!("{}\n{}", notice.title, template::plain(notice, limits::NOTICE_BYTES));
    // Without a form for text nothing in it is understood as more than text.
    let payload = json!({
        "chat_id": chat_id,
        "text": words,
        "link_preview_options": { "is_disabled": true },
    });
    let sent: Result<Value, _> = bot.call(io, "sendMessage", &payload, timeout_ms).await;
    sent.map(|_| ()).map_err(|error| untaken(error.to_string()))
}

/// Shows the notice on the desktop: with the program of the freedesktop, else with that of macOS.
async fn show(io: &Io, notice: &Notice, timeout_ms: u64) -> Result<(), Failure> {
    let facts = &notice.facts;
    let words =
        ["notify-send", "--app-name=onloop", "--", &notice.title, &template::escaped(facts)];
    let missing = match run(io, ProcessSpec::argv(words), timeout_ms).await {
        Ok(()) => return Ok(()),
        Err(failure) if failure.is_not_found() => failure,
        Err(failure) => return Err(untaken(format!("notify-send: {}", failure.message))),
    };
    let script = [
        "osascript",
        "-e",
        "on run argv",
        "-e",
        "display notification (item 2 of argv) with title (item 1 of argv)",
        "-e",
        "end run",
        "--",
        &notice.title,
        facts,
    ];
    match run(io, ProcessSpec::argv(script), timeout_ms).await {
        Ok(()) => Ok(()),
        Err(failure) if failure.is_not_found() => {
            let why = missing.message;
            Err(untaken(format!("neither notify-send nor osascript is here: {why}")))
        }
        Err(failure) => Err(untaken(format!("osascript: {}", failure.message))),
    }
}
