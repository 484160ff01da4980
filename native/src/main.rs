//! The `onloop` program.

fn main() -> std::process::ExitCode {
    onloop::main()
}
