//! The verbs of `onloop auto`.

mod drive;
mod rehearse;
mod world;

pub use rehearse::{RehearseArgs, rehearse};
