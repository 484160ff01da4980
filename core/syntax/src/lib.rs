//! Text, time, limits, diagnostics and readers that keep positions: the base of every other onloop
//! crate.
#![forbid(unsafe_code)]

pub mod diagnostic;
pub mod form;
pub mod limits;
pub mod money;
pub mod syntax;
pub mod text;
pub mod time;
pub mod tokens;
