//! The files that `onloop install` writes for each client.
//!
//! [`offer`] describes the subscribed events, skills and commands once. The module of each client
//! turns them into that client's files. This crate touches no file: a [`HostFile`] computes the new
//! content of a file from its present content.
//!
//! If a client reads a folder, onloop puts a file of its own there. If it reads a file that the
//! user shares, onloop adds entries and keeps every other byte.
#![forbid(unsafe_code)]

pub mod agent;
pub mod canary;
mod claude;
mod cline;
mod codex;
mod copilot;
mod cursor;
pub mod diff;
mod edit_error;
mod hook_file;
pub mod offer;
mod opencode;
mod own_file;
pub mod plugin;
mod server_file;
#[cfg(test)]
mod tests;
mod turn;
mod vscode;
mod waits;

pub use codex::switches_hooks_off;
pub use edit_error::EditError;
pub use hook_file::{HookCall, HookFile, InstalledHook, installed_hooks};
pub use own_file::OwnFile;
pub use server_file::ServerFile;
pub use turn::TurnHook;

use agent::AgentDefinition;
use onloop_sessions::handsoff::config::{Config, Provider};
use onloop_sessions::hooks::Host;
use onloop_syntax::limits;
use onloop_syntax::text::words;

/// The name of onloop's server in every client.
const SERVER: &str = "onloop";

words! {
    /// The sessions that an installation covers.
    #[derive(clap::ValueEnum)]
    pub enum InstallScope {
        /// All sessions of this user.
        User = "user",
        /// Sessions in this project.
        Project = "project",
    }
}

impl InstallScope {
    /// The default: the user's sessions, except for clients whose hooks belong to a
    /// repository.
    pub fn usual(host: Host) -> InstallScope {
        match host {
            Host::Claude | Host::Codex | Host::Cursor | Host::OpenCode | Host::Cline => {
                InstallScope::User
            }
            Host::VsCode | Host::Copilot => InstallScope::Project,
        }
    }
}

/// The target folders, and the program that the files call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Setting {
    /// The command line that starts onloop, in words; never empty.
    pub program: Vec<String>,
    /// The sessions that the installation covers.
    pub scope: InstallScope,
    /// The user's home folder, absolute, without a final `/`.
    pub home: String,
    /// The project's top folder, absolute, without a final `/`.
    pub project: String,
    /// The folder with the host's settings of the user, absolute; see [`user_folder`].
    pub user_folder: String,
    /// How long hooks may take.
    pub waits: Waits,
    /// Most continuations of a session, for clients that count them.
    pub continuations: u32,
}

impl Setting {
    /// A path in the host's folder for the user, or in the project.
    fn path(&self, for_user: &str, for_project: &str) -> String {
        match self.scope {
            InstallScope::Project => format!("{}/{for_project}", self.project),
            InstallScope::User => format!("{}/{for_user}", self.user_folder),
        }
    }

    /// The command line that starts onloop's server, in words.
    fn server_words(&self) -> Vec<String> {
        let mut words = self.program.clone();
        words.push("mcp".to_owned());
        words
    }

    /// The command line of the hook, for a shell of this machine.
    fn hook_line(&self, host: Host, wait_s: Option<u64>) -> String {
        let words = self.hook_words(host, wait_s);
        if self.is_on_windows() {
            return onloop_syntax::text::windows_line(&words);
        }
        let words: Vec<String> =
            words.iter().map(|word| onloop_syntax::text::shell_word(word)).collect();
        words.join(" ")
    }

    /// Whether the program runs on Windows.
    fn is_on_windows(&self) -> bool {
        self.program.first().is_some_and(|program| onloop_syntax::text::is_windows_path(program))
    }

    fn hook_words(&self, host: Host, wait_s: Option<u64>) -> Vec<String> {
        let mut words = self.program.clone();
        words.extend(["hook".to_owned(), host.as_str().to_owned()]);
        if let Some(seconds) = wait_s {
            words.extend(["--timeout".to_owned(), seconds.to_string()]);
        }
        words
    }
}

/// The folder with a host's settings of the user, absolute. `variable` reads the environment.
pub fn user_folder<'e>(
    host: Host,
    home: &str,
    variable: impl Fn(&str) -> Option<&'e str>,
) -> String {
    let (named, usual) = match host {
        Host::Claude => (variable("CLAUDE_CONFIG_DIR"), ".claude"),
        Host::Codex => (variable("CODEX_HOME"), ".codex"),
        Host::Cursor => (None, ".cursor"),
        Host::VsCode => (None, ".copilot"),
        Host::Copilot => (variable("COPILOT_HOME"), ".copilot"),
        Host::OpenCode => (variable("OPENCODE_CONFIG_DIR"), ".config/opencode"),
        Host::Cline => (None, "Documents/Cline"),
    };
    match (named, variable("XDG_CONFIG_HOME").filter(|_| host == Host::OpenCode)) {
        (Some(folder), _) => folder.trim_end_matches('/').to_owned(),
        (None, Some(folder)) => format!("{folder}/opencode"),
        (None, None) => format!("{home}/{usual}"),
    }
}

/// The timeouts of onloop's hooks, in seconds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Waits {
    /// Before a tool call, which may ask a model and a person.
    pub call_s: u64,
    /// When the agent stops, which may ask a supervisor.
    pub stop_s: u64,
    /// For everything else.
    pub short_s: u64,
}

impl Waits {
    /// Timeouts that are long enough for every approver in `config`.
    pub fn of(config: &Config) -> Waits {
        const SHORTEST_S: u64 = 60;
        let model_ms = if config.auto_permission { limits::JUDGE_TIMEOUT_MS } else { 0 };
        let person_ms = config.telegram.as_ref().map_or(0, |telegram| telegram.timeout_ms);
        let margin_ms = 2 * limits::APPROVAL_MARGIN_MS + limits::HOOK_LOCK_WAIT_MS;
        let stop_ms = match config.supervisor.provider {
            Provider::None => 0,
            Provider::Claude | Provider::Codex | Provider::Cursor | Provider::Opencode => {
                limits::SUPERVISOR_TIMEOUT_MS
            }
        };
        let seconds = |ms: u64| (ms + margin_ms).div_ceil(1000).max(SHORTEST_S);
        Waits { call_s: seconds(model_ms + person_ms), stop_s: seconds(stop_ms), short_s: 60 }
    }

    fn of_moment(self, moment: offer::Moment) -> u64 {
        match moment {
            offer::Moment::ToolCall | offer::Moment::PermissionRequest => self.call_s,
            offer::Moment::Stop => self.stop_s,
            // It waits beside the client, and judges the stop then.
            offer::Moment::Background => limits::BACKGROUND_WAIT_MS / 1000 + self.stop_s,
            // This hook waits for the provider, and blocks no work.
            offer::Moment::StopFailure => limits::MAX_WAIT_MS / 1000 + 60,
            offer::Moment::Prompt | offer::Moment::ToolDone | offer::Moment::Compacted => {
                self.short_s
            }
        }
    }
}

/// One file of a host.
#[derive(Clone, Debug, PartialEq)]
pub enum HostFile {
    /// A file that the user shares, with entries of onloop.
    Shared(HookFile),
    /// A file that the user shares, with the entry of onloop's server.
    Server(ServerFile),
    /// A file that belongs to onloop alone.
    Own(OwnFile),
}

impl HostFile {
    /// Its absolute path.
    pub fn path(&self) -> &str {
        match self {
            HostFile::Shared(file) => &file.path,
            HostFile::Server(file) => &file.path,
            HostFile::Own(file) => &file.path,
        }
    }

    /// The content of the file after installation. `found` is its present content.
    ///
    /// # Errors
    ///
    /// If the change would touch entries that do not belong to onloop.
    pub fn installed(&self, found: Option<&str>) -> Result<String, EditError> {
        match self {
            HostFile::Shared(file) => file.merged(found),
            HostFile::Server(file) => file.merged(found),
            HostFile::Own(file) => file.written(found),
        }
    }

    /// The content of the file after removal.
    ///
    /// # Errors
    ///
    /// If the change would touch entries that do not belong to onloop.
    pub fn removed(&self, found: &str) -> Result<Remains, EditError> {
        match self {
            // An empty file has no entry of onloop, although it is no document either.
            HostFile::Shared(_) | HostFile::Server(_) if found.trim().is_empty() => {
                Ok(Remains { text: found.to_owned(), is_nothing: false })
            }
            HostFile::Shared(file) => file.without(found),
            HostFile::Server(file) => file.without(found),
            HostFile::Own(file) if file.is_ours(found) => {
                Ok(Remains { text: String::new(), is_nothing: true })
            }
            HostFile::Own(_) => Ok(Remains { text: found.to_owned(), is_nothing: false }),
        }
    }
}

/// The content of a file after removal.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Remains {
    /// Its text.
    pub text: String,
    /// Whether no entry is left in it.
    pub is_nothing: bool,
}

/// Every file for `host`, including `agents` if it reads agent files. The first has the hooks.
pub fn host_files(host: Host, setting: &Setting, agents: &[&AgentDefinition]) -> Vec<HostFile> {
    match host {
        Host::Claude => claude::host_files(setting, agents),
        Host::Codex => codex::host_files(setting),
        Host::Cursor => cursor::host_files(setting),
        Host::VsCode => vscode::host_files(setting, agents),
        Host::OpenCode => opencode::host_files(setting),
        Host::Cline => cline::host_files(setting),
        Host::Copilot => copilot::host_files(setting),
    }
}

/// Remaining manual steps and notes for the person, in paragraphs.
pub fn advice(host: Host, scope: InstallScope) -> Vec<&'static str> {
    match host {
        Host::Claude => {
            let mut advice =
                vec!["Sessions that are running read their hooks when they are started again."];
            if scope == InstallScope::User {
                advice.push(
                    "Claude Code keeps its own servers in a file that it rewrites all the time; for \
                     the tools as well, run: claude mcp add --scope user onloop -- onloop mcp",
                );
            }
            advice
        }
        Host::Codex => vec![
            "Codex skips hooks that nobody has trusted, without a message: start `codex`, open \
             `/hooks` and trust those of onloop. Trust holds until their command changes.",
        ],
        Host::Cursor => vec!["Restart Cursor, and look at its settings under Hooks."],
        Host::VsCode => vec![
            "Hooks are a preview: `chat.hooks.enabled` must be on.",
            "VS Code also reads the hooks of Claude Code; ours decide nothing there.",
        ],
        Host::OpenCode => vec![
            "`opencode run` ends when its agent stops; sessions go on by themselves in the \
             terminal interface and in `opencode serve` only.",
        ],
        Host::Cline => vec![
            "Switch hooks on in Cline's settings (Features → Enable Hooks); on Windows they do \
             not run.",
            "Cline has no \"ask\": what onloop does not deny is left to Cline's own approval. \
             Do not switch on automatic approval of commands there.",
        ],
        Host::Copilot => {
            let mut advice = vec![
                "Copilot CLI runs a tool when a hook fails or takes too long; `onloop doctor \
                 copilot` shows whether this one answers.",
            ];
            if scope == InstallScope::Project {
                advice
                    .push("The coding agent on GitHub reads the same file, and has no such path.");
            }
            advice
        }
    }
}
