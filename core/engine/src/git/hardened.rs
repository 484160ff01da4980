//! Questions to git as a program, where the vocabulary between programs and hosts has none.

use crate::git::checkout;
use crate::run::checks::private_names;
use crate::sandbox::running;
use onloop_effect::{Capture, Failure, FailureKind, Io, ProcessSpec, ProcessStatus, is_within};
use onloop_syntax::limits;

/// Commands of git for which exit code 1 is an answer.
const ANSWER_WITH_1: [&str; 2] = ["check-ignore", "merge-tree"];

/// The tree without files.
const EMPTY_TREE: &str = "4b825dc642cb6eb9a060e54bf8d69288fbee4904";

/// How questions about what is not as committed begin. Git looks into no repository inside: its
/// configuration names programs that git would start, and an agent writes it.
pub(crate) const STATUS: [&str; 5] =
    ["status", "--porcelain", "-z", "--no-renames", "--ignore-submodules=all"];

/// What git says in `root`, with everything in the repository's configuration switched off that would
/// run a program or write.
///
/// # Errors
///
/// `TooLarge` beyond [`limits::GIT_ANSWER_BYTES`]; `Unknown` where git was ended; git is not there, or
/// refuses.
pub async fn says(
    io: &Io,
    root: &str,
    words: &[&str],
    input: Option<Vec<u8>>,
    timeout_ms: u64,
) -> Result<Vec<u8>, Failure> {
    says_with(io, root, Vec::new(), (words, input), timeout_ms).await
}

/// What git says to a hook, as text and within the time that a hook has.
///
/// # Errors
///
/// As [`says_to_hook`].
pub(crate) async fn text(io: &Io, root: &str, words: &[&str]) -> Result<String, Failure> {
    let said = says_to_hook(io, root, words, None).await?;
    Ok(String::from_utf8_lossy(&said).into_owned())
}

/// What git says to a hook, beside which a confined command may run.
///
/// # Errors
///
/// As [`says`], and where such a command may have made settings of git.
pub(crate) async fn says_to_hook(
    io: &Io,
    root: &str,
    words: &[&str],
    input: Option<Vec<u8>>,
) -> Result<Vec<u8>, Failure> {
    let mut variables: Vec<(&str, String)> = Vec::new();
    variables.extend(common_folder(io, root).await?.map(|folder| ("GIT_COMMON_DIR", folder)));
    let mut all = Vec::new();
    if running::is_any(io, root).await {
        // No file that such a command may have made then names a program to run for others.
        variables.push(("GIT_ATTR_SOURCE", EMPTY_TREE.to_owned()));
        all.extend(["-c", "core.attributesFile=/dev/null"]);
    }
    all.extend(words);
    says_with(io, root, variables, (&all, input), limits::HOOK_GIT_TIMEOUT_MS).await
}

/// As [`says`], with an index file of its own.
///
/// # Errors
///
/// As [`says`].
pub(crate) async fn says_with_index(
    io: &Io,
    root: &str,
    index: &str,
    words: &[&str],
    timeout_ms: u64,
) -> Result<Vec<u8>, Failure> {
    let index = vec![("GIT_INDEX_FILE", index.to_owned())];
    says_with(io, root, index, (words, None), timeout_ms).await
}

async fn says_with(
    io: &Io,
    root: &str,
    variables: Vec<(&str, String)>,
    (words, input): (&[&str], Option<Vec<u8>>),
    timeout_ms: u64,
) -> Result<Vec<u8>, Failure> {
    let calm = [
        "git",
        "-c",
        "core.hooksPath=/dev/null",
        "-c",
        "core.fsmonitor=false",
        "-c",
        "core.untrackedCache=false",
    ];
    let mut spec = ProcessSpec::argv(calm.into_iter().chain(words.iter().copied()))
        .in_folder(root)
        .without_env(private_names(io))
        .with_env([
            ("GIT_OPTIONAL_LOCKS", "0"),
            ("GIT_TERMINAL_PROMPT", "0"),
            ("GIT_NO_REPLACE_OBJECTS", "1"),
            ("GIT_GRAFT_FILE", "/dev/null/none"),
        ])
        .with_env(variables)
        .timeout_ms(timeout_ms);
    spec.capture_bytes = limits::GIT_ANSWER_BYTES as usize;
    if let Some(input) = input {
        spec = spec.with_stdin(input);
    }
    let end = io.process(spec).await?;
    let failed = |what: String| Err(Failure::new(FailureKind::Other, what));
    match end.status {
        ProcessStatus::Exited(0 | 1) if end.stdout.omitted_bytes() > 0 => {
            Err(Failure::new(FailureKind::TooLarge, "git says more than is read"))
        }
        ProcessStatus::Exited(0) => Ok(whole(&end.stdout)),
        // 1: none of these paths is ignored; a merge has conflicts.
        ProcessStatus::Exited(1) if words.iter().any(|word| ANSWER_WITH_1.contains(word)) => {
            Ok(whole(&end.stdout))
        }
        ProcessStatus::Interrupted => Err(Failure::interrupted()),
        ProcessStatus::Exited(_) => failed(format!("git says: {}", end.stderr.text().trim_end())),
        ProcessStatus::Signalled(signal) => {
            let what = format!("git was ended by signal {signal}");
            Err(Failure::new(FailureKind::Unknown, what))
        }
        ProcessStatus::TimedOut => Err(Failure::new(FailureKind::Unknown, "git took too long")),
    }
}

/// The folder of git of a checkout that is no linked worktree. A confined command that still runs can make
/// a file in it (`commondir`) that leads git to settings elsewhere.
///
/// # Errors
///
/// Such a command may have made settings of this worktree.
async fn common_folder(io: &Io, root: &str) -> Result<Option<String>, Failure> {
    let Some(checkout) = checkout::find(io, root).await else { return Ok(None) };
    demand(io, &format!("{}/config.worktree", checkout.git_folder)).await?;
    let own = format!("{}/.git", checkout.root);
    let is_main = checkout.git_folder == own && !is_within(root, &own);
    Ok(is_main.then_some(own))
}

/// Refuses settings of git that a confined command may have made that still runs.
///
/// # Errors
///
/// Such a command may have made a file with settings, or one that leads to them.
pub(crate) async fn demand_own_settings(io: &Io, root: &str) -> Result<(), Failure> {
    let Some(checkout) = checkout::find(io, root).await else { return Ok(()) };
    for name in ["commondir", "config", "config.worktree"] {
        demand(io, &format!("{}/{name}", checkout.git_folder)).await?;
    }
    Ok(())
}

async fn demand(io: &Io, settings: &str) -> Result<(), Failure> {
    if io.stat(settings).await.is_ok() && running::may_have_made(io, settings).await {
        let why = format!("`{settings}` may be of a confined command that still runs");
        return Err(Failure::new(FailureKind::Denied, why));
    }
    Ok(())
}

fn whole(output: &Capture) -> Vec<u8> {
    [&output.head[..], &output.tail[..]].concat()
}
