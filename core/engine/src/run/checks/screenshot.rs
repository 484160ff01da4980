//! Pictures of pages for the people who review them.

use super::{Place, private_names};
use crate::state::store::Store;
use onloop_effect::{Durability, Expect, Io, ProcessEnd, ProcessSpec, ProcessStatus};
use onloop_syntax::text;

/// Time a browser may take for one picture.
const SCREENSHOT_TIMEOUT_MS: u64 = 30_000;

/// The path of a picture of the page for its reviewer, or why the browser made none. `None`: the page
/// is not on the web, or no Chromium is on the machine.
pub(super) async fn screenshot(
    io: &Io,
    store: &Store,
    url: &str,
    place: &Place<'_>,
) -> Option<Result<String, String>> {
    if !(url.starts_with("http://") || url.starts_with("https://")) {
        return None;
    }
    let paths = store.paths();
    let path = paths.evidence(&format!("{}-{}.png", place.step, place.index));
    // The browser does not create folders.
    let marker = paths.evidence(".keep");
    io.write(&marker, Vec::new(), Expect::Any, Durability::Relaxed).await.ok()?;
    let end = browser(io, url, &path, place).await;
    if io.stat(&path).await.is_ok_and(|stat| stat.size_bytes > 0) {
        return Some(Ok(path));
    }
    let _ = io.remove(&marker).await;
    end.map(|end| Err(failure_of(&end)))
}

/// Why the browser made no picture: its last message, else how it ended.
fn failure_of(end: &ProcessEnd) -> String {
    let said = end.stderr.text();
    let last = said.lines().rev().find(|line| !line.trim().is_empty());
    let why = match (end.status, last) {
        (ProcessStatus::TimedOut, _) => {
            format!("it made none in {} s", SCREENSHOT_TIMEOUT_MS / 1000)
        }
        // Chromium begins its messages with process, time and source in brackets.
        (_, Some(line)) => {
            text::one_line(line.split_once("] ").map_or(line, |(_, message)| message))
        }
        (ProcessStatus::Exited(code), None) => format!("exit code {code}"),
        (ProcessStatus::Signalled(signal), None) => format!("killed by signal {signal}"),
        (ProcessStatus::Interrupted, None) => "interrupted".to_owned(),
    };
    format!("the browser failed: {}", text::ellipsis(&why, 200))
}

/// What the first Chromium on the machine says after it was asked for a picture.
async fn browser(io: &Io, url: &str, path: &str, place: &Place<'_>) -> Option<ProcessEnd> {
    for program in ["chromium", "chromium-browser", "google-chrome", "chrome"] {
        let argv = [
            program,
            "--headless",
            "--disable-gpu",
            "--no-first-run",
            "--disable-background-networking",
            "--disable-sync",
            "--hide-scrollbars",
            "--window-size=1280,900",
            &format!("--screenshot={path}"),
            "--",
            url,
        ];
        let spec = ProcessSpec::argv(argv)
            .in_folder(place.root)
            .without_env(private_names(io))
            .timeout_ms(SCREENSHOT_TIMEOUT_MS)
            .capture_bytes(1024);
        match io.process(spec).await {
            Err(failure) if failure.is_not_found() => continue,
            end => return end.ok(),
        }
    }
    None
}
