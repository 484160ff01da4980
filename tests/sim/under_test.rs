//! The `onloop` program itself, built among the tests so that they find it.

fn main() -> std::process::ExitCode {
    onloop::main()
}
