//! `cargo xtask <stage>`.

fn main() {}
