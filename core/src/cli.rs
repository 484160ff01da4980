//! The command line: one grammar, compiled into every host.

use crate::program::{Exit, Io};

/// Runs the verb named by the command line.
pub async fn main(io: Io) -> Exit {
    io.result(format!("onloop {}\n", env!("CARGO_PKG_VERSION"))).await;
    Exit::Done
}
