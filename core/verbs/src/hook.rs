//! `onloop hook HOST`: reads one event of an agent host from standard input and prints the answer.
//!
//! Whatever happens, the host gets a complete answer in its own form, and never one that makes it
//! run a call that was not judged.

mod background;
mod capture;
mod client_rules;
mod compacted;
mod confined;
mod driving;
mod files;
mod judge;
mod keep;
mod log;
mod prompt;
mod provider_wait;
mod stop;
mod turn;

use onloop_effect::{Exit, Io, is_within};
use onloop_engine::error::CommandError;
use onloop_engine::git::checkout::Checkout;
use onloop_engine::lookup::agent::on_path;
use onloop_engine::sandbox::programs;
use onloop_engine::session::files::{HookCaller, Sessions};
use onloop_engine::session::origin::SessionOrigin;
use onloop_engine::state::config::{self, Loaded};
use onloop_engine::terminal::input;
use onloop_permission::rules::GivenRules;
use onloop_sessions::handsoff::{DEPTH_VARIABLE, SessionId};
use onloop_sessions::hooks::{
    AnswerForm, HookAnswer, HookEvent, HookInput, Host, PermissionMode, unknown_host,
};
use onloop_syntax::{limits, text};

/// Arguments of `onloop hook`.
#[derive(Clone, Debug, clap::Args)]
pub struct HookArgs {
    /// The agent host that calls.
    #[arg(help = onloop_engine::client_files::host_help())]
    pub host: String,
    /// How long the host waits, as its entry for this hook says
    #[arg(long, value_name = "SECONDS")]
    pub timeout: Option<u64>,
    /// How many times the host lets an agent be continued, as its entry says
    #[arg(long, value_name = "COUNT")]
    pub loop_limit: Option<u32>,
    /// Judge a stop once the agent's background tasks had their time; the client does not wait
    #[arg(long, hide = true)]
    pub background: bool,
    /// What a run says about the calls of its agent; it starts its agent with this
    #[arg(long, value_name = "FILE", hide = true)]
    pub policy: Option<String>,
}

/// The arguments of a command line that is a hook's. Hooks run before every tool call, and
/// reading the whole grammar takes longer than judging a call; besides, a hook must answer
/// whatever else is on its command line.
pub fn called_as_hook(argv: &[String]) -> Option<HookArgs> {
    match argv {
        [_, verb, host, rest @ ..] if verb == "hook" && !host.starts_with('-') => {
            let option = |name: &str| rest.windows(2).find(|pair| pair[0] == name).map(|p| &p[1]);
            let timeout = option("--timeout").and_then(|seconds| seconds.parse().ok());
            let loop_limit = option("--loop-limit").and_then(|count| count.parse().ok());
            let policy = option("--policy").cloned();
            let background = rest.iter().any(|word| word == "--background");
            Some(HookArgs { host: host.clone(), timeout, loop_limit, background, policy })
        }
        _ => None,
    }
}

/// What to print for a process that crashes in a hook before it has printed anything. `None` if
/// the command line is not a hook's.
pub fn answer_of_a_broken_hook(argv: &[String]) -> Option<String> {
    let host: Host = called_as_hook(argv)?.host.parse().ok()?;
    Some(host.safe_answer("an internal error of onloop kept it from judging this call"))
}

/// `onloop hook`.
pub(crate) async fn hook(io: &Io, args: &HookArgs) -> Result<Exit, CommandError> {
    let bytes = input::whole(io, limits::HOOK_INPUT_BYTES).await;
    let Ok(host) = args.host.parse::<Host>() else {
        return unknown(io, &args.host, bytes.as_deref().unwrap_or(&[])).await;
    };
    let read = match &bytes {
        Ok(bytes) => host.read(bytes).map_err(|malformed| malformed.to_string()),
        Err(failure) => Err(failure.message.clone()),
    };
    let (cwd, project) = match &read {
        Ok(input) => (input.cwd.as_deref(), input.project.as_deref()),
        Err(_) => (None, None),
    };
    let start = io.start().cwd.as_str();
    let named = [cwd, project, io.env("CLAUDE_PROJECT_DIR")].into_iter().flatten();
    let folders: Vec<&str> = named.chain([start]).filter(|it| it.starts_with('/')).collect();
    let io = &programs::outside_of(io, &folders);
    let said = match read {
        Ok(input) if is_in_background(args, &input.event) => {
            return Ok(Box::pin(in_background(io, host, input, args)).await);
        }
        Ok(input) => {
            let form = input.event.answer_form();
            let timeout_ms =
                args.timeout.map_or(host.default_timeout_ms(), |s| s.saturating_mul(1000));
            let answer = match turn::TurnPolicyFile::of(io, args.policy.as_deref()) {
                Some(channel) => turn::respond(io, host, input, timeout_ms, &channel).await,
                None => Box::pin(respond(io, host, input, timeout_ms, args.loop_limit)).await,
            };
            host.write(form, &answer)
        }
        Err(why) => {
            let input = bytes.as_deref().unwrap_or_default();
            host.refusal(input, &format!("onloop cannot understand this call: {why}"))
        }
    };
    if !said.is_empty() {
        io.result(said).await;
    }
    Ok(Exit::Done)
}

/// Whether the client does not wait for the hook. Every other event is judged, however it is called.
fn is_in_background(args: &HookArgs, event: &HookEvent) -> bool {
    match event {
        HookEvent::StopFailed(_) => true,
        HookEvent::Stop(_) => args.background,
        HookEvent::Prompt { .. }
        | HookEvent::ToolCall(_)
        | HookEvent::PermissionRequest(_)
        | HookEvent::ToolDone { .. }
        | HookEvent::Compacted
        | HookEvent::Other => false,
    }
}

/// A hook for which the client does not wait. Its answer is the exit code: what it prints on standard
/// output counts for nothing.
async fn in_background(io: &Io, host: Host, input: HookInput, args: &HookArgs) -> Exit {
    // A run waits by itself for the agent that it has started.
    if turn::TurnPolicyFile::of(io, args.policy.as_deref()).is_some() {
        return Exit::Done;
    }
    let timeout_ms = args.timeout.map_or(host.default_timeout_ms(), |s| s.saturating_mul(1000));
    let event = input.event.clone();
    let context = HookContext::new(io, host, input, timeout_ms, None).await;
    match event {
        HookEvent::StopFailed(failure) => provider_wait::failed(&context, &failure).await,
        HookEvent::Stop(stop) => background::bounded(&context, &stop).await,
        _ => Exit::Done,
    }
}

/// The form of the answer is not known. Every host takes exit code 2 as "no". An agent that wants
/// to stop would be continued by it, so there the exit code is 0.
async fn unknown(io: &Io, name: &str, input: &[u8]) -> Result<Exit, CommandError> {
    let error = CommandError::usage(unknown_host(name));
    let names_stop = |word: &&str| {
        let event = word.trim_matches('"').to_ascii_lowercase();
        ["stop", "subagentstop", "session.idle"].contains(&event.as_str())
    };
    let input = String::from_utf8_lossy(input);
    let stops = input.split([':', ',', '{', '}', ' ']).filter(|word| names_stop(word)).count() > 0;
    if !stops {
        return Err(error);
    }
    error.report(io).await;
    Ok(Exit::Done)
}

/// One event with everything that every answer needs.
struct HookContext {
    io: Io,
    host: Host,
    session: Option<SessionId>,
    /// Where the agent works, absolute.
    cwd: String,
    /// How the host decides about calls.
    mode: PermissionMode,
    /// File with the conversation.
    transcript: Option<String>,
    /// How long the host waits for us, from our start.
    timeout_ms: u64,
    /// How many times the host lets an agent be continued, where its entry says so.
    loop_limit: Option<u32>,
    /// The checkout around the project.
    checkout: Option<Checkout>,
    /// Whether an agent may have made the checkout, with settings that run.
    is_nested: bool,
    /// The folder whose configuration decides.
    top: String,
    /// The top folder of the project.
    project: String,
    loaded: Loaded,
    /// Where a run keeps what its agent must not write, where a run started the agent.
    state_home: Option<String>,
    /// Whether the agent is confined, and every call of it.
    confined: bool,
    /// The folder for temporary files that the run has for itself.
    temporary: Option<String>,
}

async fn respond(
    io: &Io,
    host: Host,
    input: HookInput,
    timeout_ms: u64,
    loop_limit: Option<u32>,
) -> HookAnswer {
    if input.event == HookEvent::Other {
        return HookAnswer::Nothing;
    }
    let event = input.event.clone();
    let context =
        HookContext { loop_limit, ..HookContext::new(io, host, input, timeout_ms, None).await };
    // Not before every call of a tool.
    if let (Some(why), HookEvent::Prompt { .. }) = (&context.loaded.untrusted_file, &event) {
        io.note(format!("onloop: {why}")).await;
    }
    if !context.loaded.config.enabled {
        return HookAnswer::Nothing;
    }
    let form = event.answer_form();
    let answer = match event {
        HookEvent::ToolCall(call) => judge::tool_call(&context, &call).await,
        HookEvent::PermissionRequest(call) => judge::permission_request(&context, &call).await,
        // An agent that we asked for an opinion, or that a run started, is not continued by a hook.
        HookEvent::Prompt { .. }
        | HookEvent::ToolDone { .. }
        | HookEvent::Stop(_)
        | HookEvent::Compacted
            if context.is_inner() =>
        {
            return HookAnswer::Nothing;
        }
        HookEvent::Prompt { text, id, typed } => {
            prompt::submitted(&context, &text, id.as_deref(), typed).await
        }
        HookEvent::ToolDone { call, output } => capture::tool_done(&context, &call, &output).await,
        HookEvent::Stop(stop) => stop::stopped(&context, &stop).await,
        HookEvent::Compacted => compacted::compacted(&context).await,
        HookEvent::StopFailed(_) | HookEvent::Other => HookAnswer::Nothing,
    };
    with_mistakes(&context, form, answer).await
}

impl HookContext {
    async fn new(
        io: &Io,
        host: Host,
        input: HookInput,
        timeout_ms: u64,
        rules: Option<&GivenRules>,
    ) -> HookContext {
        let start = io.start().cwd.as_str();
        let cwd = input.cwd.filter(|cwd| cwd.starts_with('/')).unwrap_or_else(|| start.to_owned());
        let session = input.session.as_deref().and_then(SessionId::new);
        // The agent may be in any folder now; what counts is where it was started.
        let named = match host {
            Host::Claude => io.env("CLAUDE_PROJECT_DIR"),
            // Its own hooks run in the folder of its settings, and a line in any folder.
            Host::Cursor => input.project.as_deref().or(Some(cwd.as_str())),
            Host::Codex | Host::VsCode | Host::OpenCode | Host::Cline | Host::Copilot => None,
        };
        let named = named.filter(|folder| folder.starts_with('/'));
        let project = named.unwrap_or(start).to_owned();
        let SessionOrigin { checkout, top, is_nested } = match named {
            Some(folder) if host == Host::Claude => SessionOrigin::at(io, folder).await,
            Some(_) | None => SessionOrigin::around(io, &project, session.as_ref()).await,
        };
        let loaded = match rules {
            Some(rules) => config::given(io, &project, rules),
            None => config::load_below(io, &top, &project).await,
        };
        HookContext {
            io: io.clone(),
            host,
            session,
            mode: input.mode,
            transcript: input.transcript,
            timeout_ms,
            loop_limit: None,
            project: checkout.as_ref().map_or(project, |checkout| checkout.root.clone()),
            cwd,
            checkout,
            is_nested,
            top,
            loaded,
            state_home: None,
            confined: false,
            temporary: None,
        }
    }

    /// Folders in which runs of this conversation may work, each once.
    fn folders(&self) -> Vec<&str> {
        let mut folders = vec![self.io.start().cwd.as_str()];
        for folder in [self.project.as_str(), self.cwd.as_str()] {
            if !folders.contains(&folder) {
                folders.push(folder);
            }
        }
        folders
    }

    /// Whether the agent was started by a hook of ours that asked it for an opinion.
    fn is_asked_by_us(&self) -> bool {
        self.io.env(DEPTH_VARIABLE).is_some()
    }

    /// Whether the agent was started by a run, or by a hook that asked it for an opinion.
    fn is_inner(&self) -> bool {
        self.is_asked_by_us() || self.io.env("ONLOOP_RUN_ID").is_some()
    }

    /// Time until the host stops waiting for us.
    fn time_left_ms(&self) -> u64 {
        let spent_ms = self.io.now().millis_since(self.io.start().now);
        self.timeout_ms.saturating_sub(spent_ms)
    }

    /// The end of the conversation, and whether that is all of it. A transcript that is not
    /// there yet, or not any more, is an empty one.
    async fn transcript(&self) -> (Vec<u8>, bool) {
        let Some(path) = &self.transcript else { return (Vec::new(), true) };
        match self.io.read_tail(path, limits::TRANSCRIPT_TAIL_BYTES).await {
            Ok((bytes, size_bytes)) => {
                let whole = bytes.len() as u64 == size_bytes;
                (bytes, whole)
            }
            Err(_) => (Vec::new(), true),
        }
    }

    /// Whether the host holds what a command does in a sandbox of its own, as far as is known.
    async fn is_sandboxed_by_host(&self) -> bool {
        let Some(path) = &self.transcript else { return false };
        let end = self.io.read_tail(path, limits::TRANSCRIPT_TURN_BYTES).await;
        end.is_ok_and(|(bytes, _)| self.host.is_sandboxed(&bytes))
    }

    /// The line with which the agent calls this program; `None` if its name is enough.
    async fn program_line(&self) -> Option<String> {
        if on_path(&self.io, "onloop").await { None } else { self.full_program() }
    }

    /// The line with the full path of this program. A program in the project is the agent's to
    /// change, so it is not one that may be called without a question.
    fn full_program(&self) -> Option<String> {
        let words = &self.io.start().program;
        let is_own = words.iter().any(|word| is_within(word, &self.project));
        let quoted: Vec<String> = words.iter().map(|word| text::shell_word(word)).collect();
        (!words.is_empty() && !is_own).then(|| quoted.join(" "))
    }

    /// The files of the session.
    async fn sessions(&self, id: &SessionId) -> Sessions {
        let caller = HookCaller { host: self.host, cwd: self.cwd.clone() };
        let sessions = Sessions::of(&self.io, id, &[&self.project, &self.cwd]).await;
        let sessions = sessions.called_by(caller);
        // The hooks of a run are confined with its agent.
        if self.state_home.is_some() { sessions.with_answers_beside() } else { sessions }
    }
}

/// `answer` to an event that is answered in `form`, with what is wrong with the configuration where
/// the person at the host has not heard of it. The first hook of a session that can say it does.
async fn with_mistakes(context: &HookContext, form: AnswerForm, answer: HookAnswer) -> HookAnswer {
    let is_moment = match form {
        AnswerForm::Prompt | AnswerForm::Stop | AnswerForm::Compacted => true,
        // Calls are many.
        AnswerForm::ToolCall | AnswerForm::PermissionRequest | AnswerForm::Other => false,
    };
    let before = match &answer {
        HookAnswer::Nothing => String::new(),
        HookAnswer::SystemMessage(message) => format!("{message}\n"),
        // Hosts take one thing at a time.
        HookAnswer::Decided(..)
        | HookAnswer::Rewritten { .. }
        | HookAnswer::Deferred(_)
        | HookAnswer::Continue(_)
        | HookAnswer::AdditionalContext(_) => return answer,
    };
    let Some(said) = context.loaded.mistakes().filter(|_| is_moment) else { return answer };
    let Some(id) = &context.session else { return answer };
    match context.sessions(id).await.are_new(id, &said).await {
        Ok(true) => {}
        Ok(false) => return answer,
        // Better twice than never.
        Err(error) => log::debug(context, &format!("what was said is not kept: {error}")).await,
    }
    if !context.host.tells_at_prompts() {
        context.io.note(said).await;
        return answer;
    }
    HookAnswer::SystemMessage(before + &said)
}
