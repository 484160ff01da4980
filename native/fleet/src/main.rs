//! The `onloop-fleet` program.

#[cfg(unix)]
fn main() -> std::process::ExitCode {
    onloop_fleet::cli::main()
}

#[cfg(not(unix))]
fn main() -> std::process::ExitCode {
    eprintln!("error: a fleet needs Linux or macOS");
    std::process::ExitCode::from(4)
}
