//! Showing a person at a terminal more than fits on it.

use crate::state::store::Store;
use onloop_effect::{Durability, Expect, Io, ProcessSpec, ProcessStatus, Shell};
use onloop_syntax::text;

/// The pager, unless `PAGER` names another one.
const PAGER: &str = "less";
/// Options for it, unless `LESS` has some: leave at once where everything fits, show colours, leave the
/// text on the screen.
const OPTIONS: (&str, &str) = ("LESS", "FRX");

/// What a shell answers where there is no such program, or one that it cannot run.
const NO_SUCH_PROGRAM: [i32; 2] = [126, 127];

/// Shows `shown`, coloured with ANSI, in a pager; without a pager or a terminal, as
/// a note. What is in it besides the colours must not steer a terminal.
pub(crate) async fn page(io: &Io, store: &Store, shown: &str) {
    let Some(pager) = pager(io) else { return io.note(shown).await };
    let file = store.paths().evidence(&format!("shown-{}.txt", io.start().process.pid));
    let plain = io.env("NO_COLOR").is_some().then(|| text::printable(shown));
    let content = io.redacted(plain.as_deref().unwrap_or(shown));
    let written = io.write(&file, content.into_bytes(), Expect::Any, Durability::Relaxed).await;
    if written.is_err() {
        return io.note(shown).await;
    }
    let mut spec = ProcessSpec::shell(Shell::Sh, format!("{pager} {}", text::shell_word(&file)));
    if io.env(OPTIONS.0).is_none() {
        spec = spec.with_env([OPTIONS]);
    }
    let spec = ProcessSpec { timeout_ms: None, interactive: true, ..spec };
    let ended = io.process(spec.in_folder(io.start().cwd.clone())).await;
    let _ = io.remove(&file).await;
    let is_shown = ended.is_ok_and(|end| match end.status {
        ProcessStatus::Exited(code) => !NO_SUCH_PROGRAM.contains(&code),
        ProcessStatus::Signalled(_) | ProcessStatus::TimedOut | ProcessStatus::Interrupted => true,
    });
    if !is_shown {
        io.note(shown).await;
    }
}

/// The line that shows a file page by page; `None`: there is no terminal, or no pager is wanted.
fn pager(io: &Io) -> Option<&str> {
    let terminal = io.start().terminal;
    let turns_pages = terminal.stdin && terminal.stdout && terminal.stderr;
    let is_simple = io.env("CI").is_some() || io.env("TERM").is_none_or(|term| term == "dumb");
    let wanted = io.env_all().get("PAGER").map_or(PAGER, |pager| pager.trim());
    (turns_pages && !is_simple && !["", "cat"].contains(&wanted)).then_some(wanted)
}
