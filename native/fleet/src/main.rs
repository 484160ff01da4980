//! The `onloop-fleet` program.

fn main() -> std::process::ExitCode {
    onloop_fleet::cli::main()
}
