//! A browser of this machine.
//!
//! Everybody on a machine can read the arguments of its programs. So the browser is not given the link, but a
//! file that only its owner can read and that leads there.

use super::*;
use crate::effect::{Durability, Expect, Outcome, ProcessSpec, ProcessStatus, Request};
use crate::engine::store::StateHome;
use crate::page::web::leading_page;

/// What opens a file in a browser, by its system.
const OPENERS: [&str; 2] = ["xdg-open", "open"];
/// Time in which an opener says that it cannot.
const OPENER_MS: u64 = 1_500;

/// Opens `link`, and returns the file that leads there; `None`: there is none.
pub(super) async fn open(io: &Io, link: &str) -> Option<String> {
    let home = StateHome::of(io).ok()?;
    let path = home.web_page(io.start().process.pid);
    let page = leading_page(link).into_bytes();
    if let Err(failure) = io.write(&path, page, Expect::Any, Durability::Relaxed).await {
        let why = text::one_line(&failure.message);
        io.note(format!("warning: no browser was opened: {why}")).await;
        return None;
    }
    for opener in OPENERS {
        // Some openers stay until the browser is closed, and it would be closed with them.
        let spec = ProcessSpec {
            timeout_ms: None,
            wake_after_ms: Some(OPENER_MS),
            ..ProcessSpec::argv([opener, &path])
        };
        match io.request(Request::Process(spec)).await {
            Ok(Outcome::Running) => return Some(path),
            Ok(Outcome::Process(end)) if end.status == ProcessStatus::Exited(0) => {
                return Some(path);
            }
            Ok(_) | Err(_) => {}
        }
    }
    io.note("warning: no browser was opened; open the link by hand").await;
    let _ = io.remove(&path).await;
    None
}
