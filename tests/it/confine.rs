//! Confined commands, as real processes: what they must not reach, and what they must.

mod egress;
mod escapes;
mod homes;
mod mounts;
mod place;
mod private_git;
mod run;
mod tools;

use std::process::Command;
use std::sync::OnceLock;

use place::Place;

/// The mechanisms that this machine has. One is bubblewrap; Landlock depends on the kernel.
fn mechanisms() -> Vec<&'static str> {
    static FOUND: OnceLock<Vec<&str>> = OnceLock::new();
    FOUND.get_or_init(look_for_mechanisms).clone()
}

fn look_for_mechanisms() -> Vec<&'static str> {
    let place = Place::new();
    let there = |mechanism: &&str| {
        let said = place.confine(&["--with", mechanism], "true");
        if said.exit != Some(0) {
            eprintln!("not tried with {mechanism}: {}", said.stderr.trim());
            assert_eq!(said.exit, Some(4), "a refusal has its own code: {}", said.stderr);
        }
        said.exit == Some(0)
    };
    let found: Vec<_> = ["bubblewrap", "landlock"].into_iter().filter(there).collect();
    assert!(found.contains(&"bubblewrap"), "bubblewrap does not work here");
    found
}

/// Whether a program is installed.
pub(crate) fn has(program: &str) -> bool {
    Command::new("sh")
        .args(["-c", "command -v \"$0\" >/dev/null", program])
        .status()
        .is_ok_and(|status| status.success())
}

#[test]
fn the_exit_code_is_that_of_the_command() {
    for mechanism in mechanisms() {
        let place = Place::new();
        for (line, code) in [("true", 0), ("exit 7", 7), ("kill -9 $$", 137), ("no-such-x", 127)] {
            let run = place.confine(&["--with", mechanism], line);
            assert_eq!(run.exit, Some(code), "{mechanism}: {line}: {}", run.stderr);
        }
        let run = place.confine(&["--with", mechanism], "echo out; echo err >&2");
        assert_eq!((run.stdout.as_str(), run.stderr.as_str()), ("out\n", "err\n"), "{mechanism}");
    }
}

#[test]
fn what_cannot_be_enforced_is_refused() {
    let place = Place::new();
    let seatbelt = place.confine(&["--with", "seatbelt"], "touch was-here");
    let loopback = ["--with", "landlock", "--network", "loopback"];
    let loopback = place.confine(&loopback, "touch was-here");
    if cfg!(target_os = "linux") {
        assert_eq!(seatbelt.exit, Some(4));
        assert_eq!(
            seatbelt.stderr,
            "error: the command cannot be confined\n  cause: this is not macOS\n"
        );
        assert_eq!(loopback.exit, Some(4));
        assert_eq!(
            loopback.stderr,
            "error: the command cannot be confined\n  \
             cause: Landlock cannot tell one network from another\n"
        );
    }
    assert!(!place.path("wt/was-here").exists());
    let home = place.confine_in("home", &[], "true");
    assert_eq!(home.exit, Some(4), "{}", home.stderr);
    assert!(crate::flat(&home.stderr).contains("contains"), "{}", home.stderr);
}

#[test]
fn temporary_files_are_gone_afterwards() {
    for mechanism in mechanisms() {
        let place = Place::new();
        let run = place.confine(&["--with", mechanism], "echo a > $TMPDIR/a; echo $TMPDIR");
        assert_eq!(run.exit, Some(0), "{}", run.stderr);
        assert!(!std::path::Path::new(run.stdout.trim()).exists(), "{}", run.stdout);
    }
}

#[test]
fn the_doctor_says_what_works() {
    let place = Place::new();
    place.write("wt/.claude/a", "");
    let before = place.outside();
    let run = place.onloop("wt", &["doctor", "confine"]);
    let found = mechanisms();
    assert_eq!(run.exit, Some(0), "{}", run.stdout);
    let says = |words: &str| run.stdout.contains(words);
    assert!(says("Commands can be confined here."), "{}", run.stdout);
    for mechanism in found {
        assert!(says(&format!("✓ {mechanism}: works; network `all`")), "{}", run.stdout);
    }
    for held in [
        "write a git hook",
        "write settings of git",
        "write a SessionStart hook into the checkout's settings",
        "write into the folder of Claude Code, where its hooks are",
        "read the records of runs",
        "read a login: ~/.ssh",
        "reach a host that is not allowed",
        "reach an address past the proxy",
        "send a question about a name",
    ] {
        assert!(says(&format!("  ✓ held: {held}\n")), "{held}: {}", run.stdout);
    }
    assert!(!says("not held") && place.changes_since(&before).is_empty(), "{}", run.stdout);
}
