//! A program that does nothing: the floor under everything that starts a process.

fn main() {}
