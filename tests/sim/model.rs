//! Random lives of random plans on a simulated machine, and what must hold in all of them.
//!
//! One seed is one life: a plan, and then programs, alone or two at once, while the power
//! goes, the disk fills up, the clock jumps, people interrupt, and somebody edits the plan.
//! In the end the machine calms down, and a person who only follows the printed advice must
//! come to a completed run.

mod claims;
mod followed;
mod ledgers;
mod life;
mod plan;
mod repository;
mod world;

pub use followed::follow;
pub(crate) use ledgers::{Ledgers, Record};
pub(crate) use life::is_write;
pub use life::{Trace, history, live};
