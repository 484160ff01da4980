//! The `onloop` program.

fn main() {}
