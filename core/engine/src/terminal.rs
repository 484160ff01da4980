//! A person at the terminal: questions, long texts, standard input.

pub mod ask;
pub mod input;
pub(crate) mod pager;
