//! `onloop auto init`: the files that a run works with.

use super::args::InitArgs;
use crate::program::{Exit, Io};

/// Lays out `.ai/`.
pub async fn init(_io: Io, _args: InitArgs) -> Exit {
    Exit::Done
}
