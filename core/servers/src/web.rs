//! `onloop web`: what is on this machine, in a browser, and the decisions that a person takes there.
//!
//! `AuthGuard` (in `guard`) is the state machine that says who may see and change something: a call in, what it
//! may do out. The program that answers the calls is [`web`]; what it shows is made by
//! [`page`](onloop_documents::page), and what it changes it changes with the programs of the command line.

mod answer;
mod captured;
mod form;
mod guard;
mod route;
mod server;

pub use server::{WebArgs, web};
