//! `onloop permit`: what the permission engine says, and why.

use onloop_documents::permission as document;
use onloop_documents::permission::{BatchError, BatchLine, LineFault, TrustList};
use onloop_effect::{Durability, Exit, Expect, Failure, FailureKind, Io};
use onloop_engine::error::CommandError;
use onloop_engine::sandbox::programs;
use onloop_engine::state::config::{self, PROJECT_FILE, find_in_ancestors, trust_path};
use onloop_engine::{git::checkout, git::known_to_git, git::links, session::workspace};
use onloop_permission::{Call, CallingSession, Context, Decision, decide, explain};
use onloop_syntax::limits;
use onloop_syntax::syntax::strict_json;

/// `onloop permit explain`.
#[derive(Clone, Debug, clap::Args)]
pub struct ExplainArgs {
    /// Name of the tool, or a line of shell when no input follows
    pub tool_or_line: String,
    /// Input of the tool as JSON; `-` reads it from standard input
    pub input: Option<String>,
    /// Print one JSON document instead of text
    #[arg(long)]
    pub json: bool,
    /// Judge as if a session ran this workflow
    #[arg(long, value_name = "NAME")]
    pub workflow: Option<String>,
    /// Judge as if the call ran in a sandbox
    #[arg(long)]
    pub confined: bool,
    /// Judge as if this branch were checked out; default: the one that is
    #[arg(long, value_name = "NAME")]
    pub branch: Option<String>,
}

/// `onloop permit batch`.
#[derive(Clone, Debug, Default, clap::Args)]
pub struct BatchArgs {}

/// `onloop permit trust`.
#[derive(Clone, Debug, Default, clap::Args)]
pub struct TrustArgs {
    /// Take the trust back
    #[arg(long)]
    pub revoke: bool,
}

/// Shows how a call is understood and what is decided. Exit: 0 allow, 1 deny, 3 ask.
///
/// # Errors
///
/// The call or the configuration cannot be read.
pub async fn explain_call(io: &Io, args: &ExplainArgs) -> Result<Exit, CommandError> {
    let call = read_call(io, args).await;
    let call = call.map_err(|error| CommandError::usage(error.to_string()))?;
    let io = &programs::outside_of(io, &[&io.start().cwd]);
    let (mut context, mut notes) = configured(io).await?;
    let cwd = &io.start().cwd;
    let checkout = checkout::own(io, cwd).await;
    let project = checkout.as_ref().map_or(cwd, |checkout| &checkout.root);
    workspace::place(&mut context.places, project, cwd);
    context.git_branch = match &args.branch {
        Some(branch) => Some(branch.clone()),
        None => workspace::branch(io, &call, checkout.as_ref()).await,
    };
    links::resolve(io, &call, &mut context).await;
    if let Some(workflow) = &args.workflow {
        let session = CallingSession { id: "explained".to_owned(), workflow: workflow.clone() };
        context = context.with_session(Some(session));
    }
    if args.confined {
        context = context.confine();
    }
    let explained = explain(&call, &context);
    let ruling = known_to_git::look(io, &call, &mut context, explained, explain).await;
    notes.splice(0..0, context.rules.notes().iter().cloned());
    if args.json {
        io.result(format!("{}\n", document::explanation(&ruling, &notes))).await;
    } else {
        let columns = usize::from(io.start().terminal.columns).clamp(40, 80);
        let offers = onloop_permission::allowing::offers(&ruling, &call, &context);
        let text = onloop_permission::render::text(&ruling, &offers, &notes, columns);
        io.result(text).await;
    }
    Ok(match ruling.decision {
        Decision::Allow => Exit::Done,
        Decision::Deny => Exit::Failed,
        Decision::Ask => Exit::Paused,
    })
}

/// Why the input of a tool cannot be read.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
enum InputError {
    /// Standard input cannot be read.
    #[error("{}", .0.message)]
    Failed(Failure),
    #[error("the input is too large")]
    TooLarge,
    #[error("the input is not UTF-8")]
    Encoding,
    /// Not JSON, or a key is named twice, as the reader says.
    #[error("the input is not JSON: {0}")]
    Json(String),
}

async fn read_call(io: &Io, args: &ExplainArgs) -> Result<Call, InputError> {
    let Some(input) = &args.input else {
        return Ok(Call::shell(&args.tool_or_line));
    };
    let input = match input.as_str() {
        "-" => all_input(io).await?,
        text => text.to_owned(),
    };
    let input = strict_json::parse(&input).map_err(|error| InputError::Json(error.to_string()))?;
    Ok(Call { tool: args.tool_or_line.clone(), input })
}

async fn all_input(io: &Io) -> Result<String, InputError> {
    let mut bytes = Vec::new();
    loop {
        let chunk = io.read_input(limits::PERMIT_LINE_BYTES).await.map_err(InputError::Failed)?;
        if chunk.is_empty() {
            break;
        }
        bytes.extend(chunk);
        if bytes.len() as u64 > limits::PERMIT_LINE_BYTES {
            return Err(InputError::TooLarge);
        }
    }
    String::from_utf8(bytes).map_err(|_| InputError::Encoding)
}

/// Judges one call per line of standard input, in constant memory.
pub async fn batch(io: &Io, _args: &BatchArgs) -> Result<Exit, CommandError> {
    let cwd = io.start().cwd.clone();
    loop {
        let chunk = match io.read_input(limits::PERMIT_LINE_BYTES).await {
            Ok(chunk) => chunk,
            Err(failure) if failure.kind == FailureKind::TooLarge => {
                io.result(document::refusal(&unreadable(LineFault::TooLong))).await;
                continue;
            }
            Err(failure) => return Err(failure.into()),
        };
        if chunk.is_empty() {
            return Ok(Exit::Done);
        }
        let mut answers = String::new();
        let lines = chunk.strip_suffix(b"\n").unwrap_or(&chunk);
        for line in lines.split(|byte| *byte == b'\n') {
            answers.push_str(&batch_line(line, &cwd));
        }
        io.result(answers).await;
    }
}

fn unreadable(fault: LineFault) -> BatchError {
    BatchError { id: serde_json::Value::Null, fault }
}

fn batch_line(line: &[u8], cwd: &str) -> String {
    let Ok(line) = std::str::from_utf8(line) else {
        return document::refusal(&unreadable(LineFault::Encoding));
    };
    let line = line.strip_suffix('\r').unwrap_or(line);
    if line.trim().is_empty() {
        return String::new();
    }
    match BatchLine::read(line, cwd) {
        Ok(read) => document::answer(&read.id, &decide(&read.call, &read.context)),
        Err(error) => document::refusal(&error),
    }
}

/// Records that the developer has read the project's rules as they are now.
pub async fn trust(io: &Io, args: &TrustArgs) -> Result<Exit, CommandError> {
    io.note(record_trust(io, args.revoke).await?).await;
    Ok(Exit::Done)
}

async fn record_trust(io: &Io, revoke: bool) -> Result<String, CommandError> {
    let Some((path, bytes)) = find_in_ancestors(io, &io.start().cwd, PROJECT_FILE).await? else {
        return Err(CommandError::usage(format!(
            "there is no `{PROJECT_FILE}` in this folder or above it"
        )));
    };
    let list_path = trust_path(io)?;
    let (mut list, expect) = match io.read(&list_path, limits::CONFIG_BYTES as u64).await {
        Ok((bytes, version)) => (TrustList::read(&bytes), Expect::Version(version)),
        Err(failure) if failure.kind == FailureKind::NotFound => {
            (TrustList::default(), Expect::Absent)
        }
        Err(failure) => return Err(failure.into()),
    };
    let message = if revoke {
        list.remove(&bytes);
        format!("`{path}` is not trusted any more: only its deny and ask rules count")
    } else {
        list.add(&bytes);
        format!("`{path}` is trusted as it is now: its allow rules count until it changes")
    };
    io.write(&list_path, list.write(), expect, Durability::Durable).await?;
    Ok(message)
}

/// The context of the current folder.
///
/// # Errors
///
/// When a configuration file exists but cannot be read.
async fn configured(io: &Io) -> Result<(Context, Vec<String>), Failure> {
    let loaded = config::load(io, &io.start().cwd).await;
    let context = loaded.context();
    match loaded.failure {
        Some(failure) => Err(failure),
        None => {
            Ok((context, [loaded.config.notes, Vec::from_iter(loaded.untrusted_file)].concat()))
        }
    }
}

#[cfg(test)]
mod tests;
