//! A browser of this machine.
//!
//! Everybody on a machine can read the arguments of its programs. So the browser is not given the link, but a
//! file that only its owner can read and that leads there.

use super::*;
use onloop_documents::page::web::leading_page;
use onloop_effect::{Durability, Expect, LaunchSpec};
use onloop_engine::state::store::StateHome;

/// What opens a file in a browser, by its system.
const OPENERS: [&str; 2] = ["xdg-open", "open"];
/// Time in which an opener says that it cannot.
const OPENER_MS: u64 = 1_500;

/// Opens `link`, and returns the file that leads there; `None`: no browser was opened, and the person
/// was told.
///
/// # Errors
///
/// The person has interrupted it.
pub(super) async fn open(io: &Io, link: &str) -> Result<Option<String>, Failure> {
    let Some(path) = write_leading_page(io, link).await else { return Ok(None) };
    let opened = try_openers(io, &path).await;
    if let Ok(true) = opened {
        return Ok(Some(path));
    }
    let _ = io.remove(&path).await;
    opened?;
    io.note("warning: no browser was opened; open the link by hand").await;
    Ok(None)
}

async fn write_leading_page(io: &Io, link: &str) -> Option<String> {
    let home = StateHome::of(io).ok()?;
    let path = home.web_page(io.start().process.pid);
    let page = leading_page(link).into_bytes();
    if let Err(failure) = io.write(&path, page, Expect::Any, Durability::Relaxed).await {
        let why = text::one_line(&failure.message);
        io.note(format!("warning: no browser was opened: {why}")).await;
        return None;
    }
    Some(path)
}

/// Whether one of them has opened the file.
async fn try_openers(io: &Io, path: &str) -> Result<bool, Failure> {
    for opener in OPENERS {
        let launch = LaunchSpec {
            argv: [opener, path].map(str::to_owned).to_vec(),
            cwd: io.start().cwd.clone(),
            env_remove: Vec::new(),
            log: None,
            wait_ms: OPENER_MS,
        };
        match io.launch(launch).await {
            Ok(()) => return Ok(true),
            Err(failure) if failure.is_interrupted() => return Err(failure),
            Err(_) => {}
        }
    }
    Ok(false)
}
