//! The npm package in a page and its worker: bundled with what the registry has, opened in Chromium.

use std::path::PathBuf;

use crate::apt::{self, on_path};
use crate::npm;
use crate::stage::Stop;
use crate::tally::Tally;

/// Names the browser, instead of those that are looked for.
pub(crate) const VARIABLE: &str = "ONLOOP_TEST_BROWSER";
/// The first of these on `PATH` is taken.
const NAMES: [&str; 4] = ["chromium", "chromium-browser", "google-chrome", "google-chrome-stable"];
const DEBIAN_PACKAGE: &str = "chromium";

/// Opens the package in a browser, which is installed where there is none.
pub(crate) fn test() -> Result<Tally, Stop> {
    npm::test_in_browser(&program()?)
}

/// A browser: the one that is named, else one that is there, else one that is installed.
pub(crate) fn program() -> Result<PathBuf, Stop> {
    match std::env::var_os(VARIABLE).filter(|named| !named.is_empty()) {
        Some(named) => Ok(PathBuf::from(named)),
        None => on_path(&NAMES).map_or_else(install, Ok),
    }
}

/// With Debian's own tool, where we may. A stage that says nothing tests nothing, so anything else
/// is a failure that says what to do.
fn install() -> Result<PathBuf, Stop> {
    let refuse = |why: &str| {
        Stop::from(format!(
            "no browser: {why}\nnone of {} is on PATH; on Debian and its relatives: \
             sudo apt-get install {DEBIAN_PACKAGE}; elsewhere set {VARIABLE} to a Chromium",
            NAMES.join(", ")
        ))
    };
    apt::install(DEBIAN_PACKAGE, &NAMES).map_err(|why| refuse(&why))?;
    on_path(&NAMES).ok_or_else(|| refuse("the package that was installed brought none"))
}
