//! Sessions of an agent that go on without a person at its side.

pub mod approval;
pub mod config;

/// Set in the environment of every agent that we ask for an opinion. Our own hook, called by
/// such an agent, must not ask another one: it answers from its rules alone.
pub const DEPTH_VARIABLE: &str = "ONLOOP_HOOK_DEPTH";

/// What a host tells the processes in a session about that session. An agent that is asked for
/// an opinion is in none: Claude Code would refuse to start inside itself.
pub const SESSION_VARIABLES: &[&str] = &[
    "CLAUDECODE",
    "CLAUDE_CODE_ENTRYPOINT",
    "CLAUDE_CODE_SESSION_ATTENDED",
    "CLAUDE_CODE_SESSION_ID",
    "CLAUDE_CODE_SSE_PORT",
    "CLAUDE_ENV_FILE",
    "CLAUDE_PID",
    "CLAUDE_PROJECT_DIR",
];
