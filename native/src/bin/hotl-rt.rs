//! The same program under the name that older agents call.

fn main() -> std::process::ExitCode {
    onloop::main()
}
