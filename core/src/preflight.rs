//! Where a run may work: facts about a repository in, a decision out.

mod facts;

pub use facts::*;
