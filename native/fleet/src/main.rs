//! The `onloop-fleet` program.

fn main() -> std::process::ExitCode {
    std::process::ExitCode::SUCCESS
}
