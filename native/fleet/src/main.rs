//! The `onloop-fleet` program.

fn main() -> std::process::ExitCode {
    let args: Vec<std::ffi::OsString> = std::env::args_os().skip(1).collect();
    if args.first().is_some_and(|verb| verb == "guard") {
        let parent = args.get(1).and_then(|pid| pid.to_str()?.parse().ok());
        let error = onloop_fleet::guard::become_guarded(parent.unwrap_or(0), &args[2..]);
        eprintln!("error: {error}");
        return std::process::ExitCode::from(4);
    }
    std::process::ExitCode::SUCCESS
}
