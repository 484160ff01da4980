//! `onloop doctor`: what is installed where, and whether it would protect anything.

mod confine;
mod machine;
mod prune;
mod retention;
mod waits;

use confine::examine_confinement;
use machine::examine_machine;
use onloop_auto::prompts::AGENTS;
use onloop_effect::{Command, Exit, Failure, Io, ProcessEnd, ProcessStatus, Shell};
use onloop_engine::client_files::{CANARY_VARIABLE, known, look, quiet, setting};
use onloop_engine::error::CommandError;
use onloop_engine::lookup::agent::{find_on_path, on_path};
use onloop_engine::sandbox::leftovers;
use onloop_engine::state::config;
use onloop_install::canary::{self, deciding_events, hooks_in};
use onloop_install::{
    HookCall, HostFile, InstallScope, InstalledHook, ServerFile, Setting, host_files,
    switches_hooks_off,
};
use onloop_sessions::hooks::Host;
use onloop_syntax::syntax::strict_json;
use onloop_syntax::text::{COLUMNS, ellipsis, one_line, wrapped};
use waits::examine_waits;

/// Arguments of `onloop doctor`.
#[derive(Clone, Debug, Default, clap::Args)]
pub struct DoctorArgs {
    /// A host, as for `onloop install`, or `confine` [default: all hosts]
    #[arg(value_name = "HOST")]
    pub host: Option<String>,
    /// Only remove old logs, and checkpoints here that nobody needs any more
    #[arg(long, conflicts_with = "host")]
    pub prune: bool,
}

/// The word that asks about confining instead of a host.
const CONFINE: &str = "confine";

/// What was found, in the order in which it is printed.
#[derive(Default)]
struct Findings {
    lines: Vec<String>,
    is_bad: bool,
}

impl Findings {
    fn good(&mut self, line: impl AsRef<str>) {
        self.lines.push(format!("  ✓ {}", one_line(line.as_ref())));
    }

    fn note(&mut self, line: impl AsRef<str>) {
        let line = format!("  · {}", one_line(line.as_ref()));
        self.lines.push(wrapped(&line, COLUMNS, 4));
    }

    fn bad(&mut self, line: impl AsRef<str>, fix: &str) {
        self.is_bad = true;
        self.lines.push(format!("  ✗ {}", one_line(line.as_ref())));
        self.lines.push(format!("      fix: {fix}"));
    }
}

/// `onloop doctor`.
pub(crate) async fn doctor(io: &Io, args: &DoctorArgs) -> Result<Exit, CommandError> {
    if args.prune {
        return prune::prune(io).await;
    }
    if args.host.as_deref() == Some(CONFINE) {
        return Ok(examine_confinement(io).await);
    }
    let hosts = match &args.host {
        None => Host::ALL.to_vec(),
        Some(word) => vec![known(word)?],
    };
    let program = io.start().program.join(" ");
    let place = if program.is_empty() { "inside another program" } else { &program };
    let version = env!("CARGO_PKG_VERSION");
    io.result(format!("onloop {version}: {}\n", one_line(place))).await;
    let loaded = config::load(io, &io.start().cwd).await;
    if let Some(why) = &loaded.untrusted_file {
        io.result(format!("  ! {why}\n")).await;
    }
    if !program.is_empty() && !on_path(io, "onloop").await {
        io.result("  ! `onloop` is not on your PATH; agents are told its full path\n").await;
    }
    if let Some(line) = retention::line(io, loaded.config.retention_days).await {
        io.result(format!("  · {line}\n")).await;
    }
    for folder in leftovers::found(io).await {
        io.result(format!(
            "  ! a killed run has left {folder}; the next run or `onloop doctor --prune` removes it\n"
        ))
        .await;
    }
    let enabled = loaded.config.enabled;
    let mut exit = Exit::Done;
    for note in loaded.notes() {
        io.result(format!("  ✗ configuration: {note}\n")).await;
        exit = Exit::Failed;
    }
    if args.host.is_none() {
        let mut findings = Findings::default();
        examine_machine(io, &mut findings).await;
        io.result(format!("{}\n", findings.lines.join("\n"))).await;
    }
    let mut absent = Vec::new();
    for host in hosts {
        let mut findings = Findings::default();
        let client = client(io, host).await;
        if let Some(Version::NoAnswer { path, why }) = &client {
            findings.note(format!("`{path}` does not answer `--version`: {why}"));
        }
        let is_installed = examine(io, host, args.host.is_some(), enabled, &mut findings).await;
        if client.is_none() && !is_installed && args.host.is_none() && !findings.is_bad {
            absent.push(host.title());
            continue;
        }
        let title = match client {
            Some(Version::Known(version)) => format!("{}: {version}", host.title()),
            Some(Version::NoAnswer { .. }) | None => host.title().to_owned(),
        };
        io.result(format!("{title}\n{}\n", findings.lines.join("\n"))).await;
        if findings.is_bad {
            exit = Exit::Failed;
        }
    }
    if !absent.is_empty() {
        io.result(format!("Not found: {}\n", absent.join(", "))).await;
    }
    Ok(exit)
}

/// What `program --version` says.
enum Version {
    /// Its first line.
    Known(String),
    /// The program at `path` was started, or could not be, and says no version.
    NoAnswer { path: String, why: String },
}

/// The host's own program and what it says of its version; `None`: it is not on PATH.
async fn client(io: &Io, host: Host) -> Option<Version> {
    let program = match host {
        Host::Claude => "claude",
        Host::Codex => "codex",
        Host::Cursor => "cursor-agent",
        Host::OpenCode => "opencode",
        Host::Copilot => "copilot",
        Host::Cline => "cline",
        // `code` starts a window where no other runs.
        Host::VsCode => return None,
    };
    version_of(io, program).await
}

/// What `program --version` says; `None`: it is not on PATH.
async fn version_of(io: &Io, program: &str) -> Option<Version> {
    let words = [program, "--version"].map(str::to_owned).to_vec();
    let why = match io.process(quiet(Command::Argv(words), None)).await {
        Ok(end) => {
            let (said, complaint) = (end.stdout.text(), end.stderr.text());
            let first =
                |text: &str| text.lines().find(|line| !line.trim().is_empty()).map(one_line);
            match (end.status, first(&said)) {
                (ProcessStatus::Exited(0), Some(version)) => {
                    return Some(Version::Known(ellipsis(&version, 80)));
                }
                (ProcessStatus::Exited(0), None) => "it prints nothing".to_owned(),
                (ProcessStatus::Exited(code), said) => {
                    let line = first(&complaint).or(said).unwrap_or_default();
                    format!("it ends with exit code {code}: {}", ellipsis(&line, 200))
                }
                _ => format!("it {}", ending(&end)),
            }
        }
        Err(failure) => failure.message,
    };
    let path = find_on_path(io, program).await?;
    Some(Version::NoAnswer { path, why })
}

/// Whether hooks of ours are installed in the client.
async fn examine(
    io: &Io,
    host: Host,
    is_wanted: bool,
    enabled: bool,
    findings: &mut Findings,
) -> bool {
    let mut installed = Vec::new();
    for scope in InstallScope::ALL {
        let setting = match setting(io, host, scope).await {
            Ok(setting) => setting,
            Err(why) => {
                findings.bad(why.to_string(), "set it and try again");
                return false;
            }
        };
        if examine_scope(io, host, &setting, enabled, findings).await {
            installed.push(scope);
        }
    }
    match installed.as_slice() {
        [] if is_wanted => {
            findings.bad("no hooks installed", &format!("onloop install {}", host.as_str()));
        }
        [] => findings.note(format!("no hooks installed: onloop install {}", host.as_str())),
        [_] => obstacles(io, host, findings).await,
        [_, _, ..] => {
            findings
                .note("installed for the user and for this project: every call is judged twice");
            obstacles(io, host, findings).await;
        }
    }
    !installed.is_empty()
}

/// Whether something of ours is there.
async fn examine_scope(
    io: &Io,
    host: Host,
    setting: &Setting,
    enabled: bool,
    findings: &mut Findings,
) -> bool {
    let fix = format!("onloop install {} --scope {}", host.as_str(), setting.scope.as_str());
    let (mut hooks, mut expected) = (Vec::new(), Vec::new());
    let (mut is_old, mut place) = (false, String::new());
    for (at, host_file) in host_files(host, setting, &AGENTS).into_iter().enumerate() {
        let found = match look(io, setting, host_file.path()).await {
            Ok((_, found)) => found,
            Err(why) => {
                findings.bad(why.to_string(), "look at the file");
                continue;
            }
        };
        let Some((text, _)) = found else { continue };
        if let HostFile::Server(file) = &host_file {
            is_old |= examine_server(io, setting.scope, file, &text, findings).await;
            continue;
        }
        is_old |= host_file.installed(Some(&text)).is_ok_and(|wanted| wanted != text);
        if !has_hooks(host, &host_file, at) || is_anothers(&host_file, &text) {
            continue;
        }
        expected.extend(own_calls(host, &host_file, &text));
        match hooks_in(host, host_file.path(), &text) {
            Ok(found) => hooks.extend(found),
            Err(why) => findings.bad(format!("`{}`: {why}", host_file.path()), "correct the file"),
        }
        if place.is_empty() {
            place = host_file.path().to_owned();
        }
    }
    if hooks.is_empty() {
        return false;
    }
    let scope = setting.scope.as_str();
    for event in deciding_events(host) {
        if !hooks.iter().any(|hook| hook.event == *event) {
            findings.bad(format!("{scope}: nothing is asked at `{event}` (`{place}`)"), &fix);
        }
    }
    examine_waits(host, setting, (&hooks, &place), findings);
    try_hooks(io, host, setting, enabled, (&hooks, &expected, &place), findings).await;
    if !findings.is_bad {
        let count = onloop_syntax::text::counted(hooks.len() as u64, "hook");
        findings.good(format!("{scope}: {count} in `{place}`; `rm -rf /` is refused"));
    }
    if is_old {
        findings.note(format!("{scope}: not what this version installs; `{fix}` replaces it"));
    }
    true
}

/// Tries each way in which the hooks in `place` are called, as far as that is `expected`.
async fn try_hooks(
    io: &Io,
    host: Host,
    setting: &Setting,
    enabled: bool,
    (hooks, expected, place): (&[InstalledHook], &[HookCall], &str),
    findings: &mut Findings,
) {
    let scope = setting.scope.as_str();
    let fix = format!("onloop install {} --scope {scope}", host.as_str());
    let mut tried: Vec<&HookCall> = Vec::new();
    for hook in hooks {
        if tried.contains(&&hook.call) {
            continue;
        }
        tried.push(&hook.call);
        // These come with the repository, whose author must not decide what doctor runs.
        if setting.scope == InstallScope::Project && !expected.contains(&hook.call) {
            let why = format!("{scope}: `{}` (`{place}`) does not call this", hook.event);
            findings.bad(format!("{why} program; it was not tried"), &fix);
            continue;
        }
        match try_hook(io, host, &hook.call).await {
            Ok(()) => {}
            Err(_) if !enabled => findings.bad(
                "`handsoff.enabled` is off, so hooks decide nothing",
                "switch it on in `.agentize.local.yaml`",
            ),
            Err(why) => findings.bad(format!("{scope}: `{}` (`{place}`): {why}", hook.event), &fix),
        }
    }
}

/// Starts the server of ours that a file names, and asks for its tools. Whether the file names
/// it in another way than this program would.
async fn examine_server(
    io: &Io,
    scope: InstallScope,
    file: &ServerFile,
    text: &str,
    findings: &mut Findings,
) -> bool {
    let (path, word) = (&file.path, scope.as_str());
    let Some(words) = file.words_in(text) else { return false };
    let is_old = words != file.words();
    // As with hooks: a repository does not say what is started in order to look at it.
    if scope == InstallScope::Project && is_old {
        let why = format!("{word}: the server in `{path}` is not this program");
        findings.note(format!("{why}; it was not tried"));
        return true;
    }
    let input = Some(canary::conversation().into_bytes());
    let end = io.process(quiet(Command::Argv(words), input)).await;
    let tools = end.map_err(|failure| failure.to_string()).and_then(|end| {
        canary::tools_in(&end.stdout.text()).ok_or_else(|| {
            let said = ellipsis(&one_line(&end.stderr.text()), 200);
            format!("it lists no tools; it said `{said}`")
        })
    });
    match tools {
        Ok(count) => {
            let tools = onloop_syntax::text::counted(count as u64, "tool");
            findings.good(format!("{word}: a server with {tools} in `{path}`"));
        }
        Err(why) => findings.bad(
            format!("{word}: the server in `{path}`: {why}"),
            "install it again, or take it out of the file",
        ),
    }
    is_old
}

/// The calls that this very program would install. A file of ours that is a program itself
/// must be ours to the byte.
fn own_calls(host: Host, host_file: &HostFile, text: &str) -> Vec<HookCall> {
    let wanted = match host_file {
        HostFile::Own(file) if host == Host::Cline && file.content != text => return Vec::new(),
        HostFile::Own(file) => Ok(file.content.clone()),
        HostFile::Shared(_) => host_file.installed(None),
        HostFile::Server(_) => return Vec::new(),
    };
    let hooks = wanted.and_then(|wanted| hooks_in(host, host_file.path(), &wanted));
    hooks.unwrap_or_default().into_iter().map(|hook| hook.call).collect()
}

/// Which of a host's files name hooks. Cline has one program for each event.
fn has_hooks(host: Host, host_file: &HostFile, at: usize) -> bool {
    let is_program = matches!(host_file, HostFile::Own(file) if file.executable);
    at == 0 || (host == Host::Cline && is_program)
}

fn is_anothers(host_file: &HostFile, text: &str) -> bool {
    match host_file {
        HostFile::Own(file) => !file.is_ours(text),
        HostFile::Shared(_) | HostFile::Server(_) => false,
    }
}

/// Why a hook does not protect anything.
#[derive(Debug, thiserror::Error)]
enum HookFault {
    #[error("cannot be run: {0}")]
    NotRun(Failure),
    /// It ended without refusing the call.
    #[error("{}", ending(.0))]
    NotRefused(ProcessEnd),
}

/// How a hook ended that did not refuse the call.
fn ending(end: &ProcessEnd) -> String {
    match end.status {
        ProcessStatus::Exited(0) => {
            let said = ellipsis(&one_line(&end.stdout.text()), 120);
            format!("did not refuse `rm -rf /`; it said `{said}`")
        }
        ProcessStatus::Exited(code) => {
            let why = ellipsis(&one_line(&end.stderr.text()), 200);
            format!("ended with exit code {code}: {why}")
        }
        ProcessStatus::Signalled(signal) => format!("was ended by signal {signal}"),
        ProcessStatus::TimedOut => "gave no answer in time".to_owned(),
        ProcessStatus::Interrupted => "was interrupted".to_owned(),
    }
}

/// Sends a call that must be refused.
async fn try_hook(io: &Io, host: Host, call: &HookCall) -> Result<(), HookFault> {
    let command = match call {
        HookCall::Words(words) => Command::Argv(words.clone()),
        HookCall::Line(line) => Command::Shell { shell: Shell::Sh, line: line.clone() },
    };
    let event = canary::event(host).into_bytes();
    let spec = quiet(command, Some(event)).with_env([(CANARY_VARIABLE, "1")]);
    let end = io.process(spec).await.map_err(HookFault::NotRun)?;
    let is_refused =
        end.status == ProcessStatus::Exited(0) && canary::is_refusal(host, &end.stdout.text());
    if is_refused { Ok(()) } else { Err(HookFault::NotRefused(end)) }
}

/// What keeps installed hooks from being called.
async fn obstacles(io: &Io, host: Host, findings: &mut Findings) {
    match host {
        Host::Claude => claude_settings(io, findings).await,
        Host::Codex => {
            codex_features(io, findings).await;
            findings.note(
                "only Codex knows whether you trust these hooks: `/hooks` in `codex` shows it; \
                 untrusted ones are skipped without a message",
            );
        }
        Host::VsCode => findings.note(
            "VS Code ignores matchers and also calls the hooks of Claude Code, where ours \
             decide nothing; `chat.hooks.enabled` must be on",
        ),
        Host::Cline => findings.note("hooks must be switched on in Cline's own settings"),
        Host::Copilot => findings.note("Copilot CLI runs a tool when a hook fails or is too slow"),
        Host::Cursor | Host::OpenCode => {}
    }
}

/// Settings of Claude Code that switch hooks off, wherever they are.
async fn claude_settings(io: &Io, findings: &mut Findings) {
    for scope in InstallScope::ALL {
        let Ok(setting) = setting(io, Host::Claude, scope).await else { return };
        let folder = match scope {
            InstallScope::User => setting.user_folder.clone(),
            InstallScope::Project => format!("{}/.claude", setting.project),
        };
        for name in ["settings.json", "settings.local.json"] {
            let path = format!("{folder}/{name}");
            let Ok((_, Some((text, _)))) = look(io, &setting, &path).await else { continue };
            let Ok(settings) = strict_json::parse(&text) else { continue };
            for key in ["disableAllHooks", "allowManagedHooksOnly"] {
                if settings[key] == true {
                    let fix = format!("take `{key}` out of `{path}`");
                    findings.bad(format!("`{key}` in `{path}` switches hooks off"), &fix);
                }
            }
        }
    }
}

/// A configuration of Codex that switches hooks off.
async fn codex_features(io: &Io, findings: &mut Findings) {
    let Ok(setting) = setting(io, Host::Codex, InstallScope::User).await else { return };
    let path = format!("{}/config.toml", setting.user_folder);
    let Ok((_, Some((text, _)))) = look(io, &setting, &path).await else { return };
    if switches_hooks_off(&text) {
        let fix = format!("take it out of `{path}`");
        findings.bad(format!("`features.hooks` is off in `{path}`"), &fix);
    }
}
