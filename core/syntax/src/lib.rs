//! Text, time, limits, diagnostics and readers that keep positions: what every other crate of onloop builds on.
#![forbid(unsafe_code)]

pub mod diagnostic;
pub mod form;
pub mod limits;
pub mod money;
pub mod syntax;
pub mod text;
pub mod time;
pub mod tokens;
