//! Well-behaved and hostile programs. Times are bounds with a wide margin: they tell a
//! program that was ended from one that ran to its own end, not how fast this machine is.

use std::os::unix::fs::PermissionsExt;
use std::time::{Duration, Instant, SystemTime};

use onloop_core::effect::Shell;
use onloop_core::effect::{Command, FailureKind, ProcessEnd, ProcessSpec, ProcessStatus, Request};
use onloop_core::limits;

use super::{World, command, line};

fn run(spec: ProcessSpec) -> ProcessEnd {
    World::new().run(spec).unwrap()
}

fn quickly<T>(what: impl FnOnce() -> T) -> T {
    let start = Instant::now();
    let result = what();
    assert!(start.elapsed() < Duration::from_secs(60), "took {:?}", start.elapsed());
    result
}

/// How a line ends that is given too little time, but enough to write the file `up`: a busy
/// machine may need long for that.
fn timed_out_when_up(world: &mut World, text: &str) -> ProcessEnd {
    for timeout_ms in [200, 1_000, 5_000, 25_000] {
        let spec = ProcessSpec { timeout_ms: Some(timeout_ms), ..line(text) };
        let end = quickly(|| world.run(spec).unwrap());
        assert_eq!(end.status, ProcessStatus::TimedOut);
        assert!(end.duration_ms >= timeout_ms);
        if world.path("up").exists() {
            return end;
        }
    }
    panic!("it never wrote its file: {text}");
}

#[test]
fn every_way_to_end_is_told_apart() {
    let table = [
        ("true", ProcessStatus::Exited(0)),
        ("exit 3", ProcessStatus::Exited(3)),
        ("exit 255", ProcessStatus::Exited(255)),
        ("no-such-program-here", ProcessStatus::Exited(127)),
        ("kill -9 $$", ProcessStatus::Signalled(9)),
        ("kill -TERM $$", ProcessStatus::Signalled(15)),
    ];
    for (text, expected) in table {
        assert_eq!(run(line(text)).status, expected, "{text}");
    }
}

#[test]
fn both_streams_arrive_whole_and_apart() {
    let end = run(line("echo out; echo err >&2; echo more"));
    assert_eq!(end.stdout.text(), "out\nmore\n");
    assert_eq!(end.stderr.text(), "err\n");
    assert_eq!(end.stdout.total_bytes, 9);
}

#[test]
fn shells_get_the_line_exactly_as_written() {
    let text = "printf '%s|' \"a b\" '$x' \\\\ ; echo \"é\"";
    for shell in [Shell::Sh, Shell::Bash] {
        let end = run(command(Command::Shell { shell, line: text.to_owned() }));
        assert_eq!(end.stdout.text(), "a b|$x|\\|é\n", "{shell:?}");
    }
    let bash = Command::Shell { shell: Shell::Bash, line: "[[ a == a ]] && echo $0".to_owned() };
    assert_eq!(run(command(bash)).stdout.text(), "bash\n");
}

#[test]
fn what_cannot_be_started_says_why() {
    let argv = |words: &[&str]| {
        command(Command::Argv(words.iter().map(|&word| word.to_owned()).collect()))
    };
    let mut gone = argv(&["true"]);
    gone.cwd = "no/such/folder".to_owned();
    let mut nameless = argv(&["true"]);
    nameless.env_set.insert("A=B".to_owned(), String::new());
    let table = [
        (argv(&["no-such-program-here"]), FailureKind::NotFound, "no such program on `PATH`"),
        (argv(&["./missing"]), FailureKind::NotFound, "no such program at that path"),
        (argv(&["/"]), FailureKind::Denied, "permission denied"),
        (argv(&["./noise"]), FailureKind::Invalid, "neither a program nor a script"),
        (argv(&[]), FailureKind::Invalid, "without a program"),
        (argv(&[""]), FailureKind::Invalid, "without a program"),
        (argv(&["echo", "a\0b"]), FailureKind::Invalid, "NUL"),
        (gone, FailureKind::Invalid, "`no/such/folder` does not exist"),
        (nameless, FailureKind::Invalid, "environment variable"),
    ];
    for (spec, kind, words) in table {
        let mut world = World::new();
        std::fs::write(world.path("noise"), [0xff; 100]).unwrap();
        let executable = std::fs::Permissions::from_mode(0o755);
        std::fs::set_permissions(world.path("noise"), executable).unwrap();
        let failure = world.run(spec).unwrap_err();
        assert_eq!(failure.kind, kind, "{failure}");
        assert!(failure.message.contains(words), "{failure}");
    }
}

#[test]
fn a_missing_shell_is_named() {
    let mut spec = line("true");
    spec.command = Command::Shell { shell: Shell::Bash, line: "true".to_owned() };
    spec.env_set.insert("PATH".to_owned(), "/nonexistent".to_owned());
    let failure = World::new().run(spec).unwrap_err();
    assert_eq!(failure.kind, FailureKind::NotFound);
    assert_eq!(failure.message, "cannot run `bash`: there is no such program on `PATH`");
}

#[test]
fn the_environment_is_ours_plus_and_minus_what_was_asked() {
    let mut spec = line("echo \"$A-${HOME-none}-${PATH:+path}\"");
    spec.env_set.insert("A".to_owned(), "x=1 y".to_owned());
    spec.env_remove.push("HOME".to_owned());
    assert_eq!(run(spec).stdout.text(), "x=1 y-none-path\n");
}

#[test]
fn input_is_closed_fed_or_left_unread_without_hanging() {
    quickly(|| {
        assert_eq!(run(line("cat; echo end")).stdout.text(), "end\n");
        // More in both directions than pipes hold: only interleaving gets through.
        let mut spec = line("cat");
        spec.stdin = Some(vec![b'x'; 3_000_000].into());
        spec.capture_bytes = 4_000_000;
        let end = run(spec);
        assert_eq!(end.stdout.head.len(), 3_000_000);
        let mut spec = line("exec true");
        spec.stdin = Some(vec![b'x'; 3_000_000].into());
        assert_eq!(run(spec).status, ProcessStatus::Exited(0));
    });
}

#[test]
fn long_output_keeps_both_ends_and_says_how_much_there_was() {
    let mut spec = line("echo first; yes | head -c 50000000; echo last");
    spec.capture_bytes = 1000;
    let end = quickly(|| run(spec));
    assert_eq!(end.stdout.total_bytes, 50_000_011);
    assert!(end.stdout.head.starts_with(b"first\n"));
    assert!(end.stdout.tail.ends_with(b"y\nlast\n"));
    assert_eq!((end.stdout.head.len(), end.stdout.tail.len()), (1000, 1000));
    assert_eq!(end.stdout.omitted_bytes(), 50_000_011 - 2000);
}

#[test]
fn a_program_that_never_ends_is_ended_with_its_whole_group() {
    let mut world = World::new();
    timed_out_when_up(&mut world, "sleep 1000 & echo $! > child; echo > up; wait");
    assert_gone(&world, "child");
}

#[test]
fn a_program_that_ignores_the_request_to_end_is_killed() {
    let text = "trap '' TERM; echo trapped; echo > up; while :; do sleep 1; done";
    let end = timed_out_when_up(&mut World::new(), text);
    assert_eq!(end.stdout.text(), "trapped\n");
}

#[test]
fn a_program_that_is_asked_to_end_may_say_something() {
    let text = "trap 'echo bye; exit 0' TERM; sleep 1000 & echo > up; wait";
    let end = timed_out_when_up(&mut World::new(), text);
    assert_eq!(end.stdout.text(), "bye\n");
}

#[test]
fn a_stopped_program_is_ended_too() {
    let mut spec = line("kill -STOP $$");
    spec.timeout_ms = Some(200);
    assert_eq!(quickly(|| run(spec)).status, ProcessStatus::TimedOut);
}

#[test]
fn a_grandchild_that_holds_the_pipe_does_not_hold_us() {
    let mut world = World::new();
    let end = quickly(|| world.run(line("sleep 1000 & echo $! > child; echo done")).unwrap());
    assert_eq!(end.status, ProcessStatus::Exited(0));
    assert_eq!(end.stdout.text(), "done\n");
    assert_gone(&world, "child");
}

#[test]
fn what_still_writes_after_its_shell_ended_is_heard() {
    let text = "printf out > >(sleep 0.05; cat)".to_owned();
    let spec = command(Command::Shell { shell: Shell::Bash, line: text });
    assert_eq!(run(spec).stdout.text(), "out");
}

#[test]
fn a_daemon_in_another_session_does_not_hold_us_either() {
    let mut world = World::new();
    let text = "setsid sh -c 'echo $$ > child; sleep 1000' & while ! test -s child; do :; done";
    let end = quickly(|| world.run(line(text)).unwrap());
    assert_eq!(end.status, ProcessStatus::Exited(0));
    // An embedded host leaves what left the group; the test cleans up after itself.
    let pid = std::fs::read_to_string(world.path("child")).unwrap();
    assert!(std::process::Command::new("kill").arg(pid.trim()).status().unwrap().success());
}

#[test]
fn output_is_copied_to_a_log_as_it_comes_and_added_to_what_is_there() {
    let mut world = World::new();
    let mut spec = line("echo one; echo two >&2");
    spec.stream_to = Some("logs/run/1.log".to_owned());
    world.run(spec.clone()).unwrap();
    world.run(spec).unwrap();
    let log = std::fs::read_to_string(world.path("logs/run/1.log")).unwrap();
    assert_eq!(log.matches("one\n").count(), 2, "{log}");
    assert_eq!(log.matches("two\n").count(), 2, "{log}");
}

#[test]
fn a_log_keeps_the_beginning_and_the_end_of_what_one_program_says() {
    let mut world = World::new();
    let (head, tail) = (limits::LOG_HEAD_BYTES, limits::LOG_TAIL_BYTES);
    let mut spec = line("echo first; head -c 20000000 /dev/zero | tr '\\0' x; echo last");
    spec.stream_to = Some("a.log".to_owned());
    std::fs::write(world.path("a.log"), "earlier\n").unwrap();
    world.run(spec).unwrap();
    let log = std::fs::read_to_string(world.path("a.log")).unwrap();
    let omitted = 20_000_000 + 11 - head - tail;
    let between = format!("x\n[… {omitted} bytes not kept …]\nx");
    assert_eq!(log.len(), 8 + head + between.len() - 2 + tail);
    assert!(log.starts_with("earlier\nfirst\nx") && log.ends_with("xlast\n"));
    assert_eq!(log.find(&between), Some(8 + head - 1));
}

#[test]
fn what_cannot_become_a_log_is_refused_before_anything_runs() {
    let mut world = World::new();
    std::fs::create_dir(world.path("folder")).unwrap();
    for path in ["folder", "/dev/null", "folder/a\0b"] {
        let mut spec = line("touch started");
        spec.stream_to = Some(path.to_owned());
        assert_eq!(world.run(spec).unwrap_err().kind, FailureKind::Invalid, "{path}");
    }
    assert!(!world.path("started").exists());
}

#[test]
fn an_interrupt_ends_the_program_once() {
    let mut world = World::new();
    let interrupts = world.interrupts.clone();
    let up = world.path("up");
    let raise = std::thread::spawn(move || {
        // Before, it would be a pending interrupt, and nothing would be started.
        super::wait_for(&up);
        interrupts.raise();
    });
    let end = quickly(|| world.run(line("echo x > up; sleep 1000")).unwrap());
    raise.join().unwrap();
    assert_eq!(end.status, ProcessStatus::Interrupted);
    assert_eq!(world.run(line("true")).unwrap().status, ProcessStatus::Exited(0));
}

#[test]
fn a_pending_interrupt_stops_the_next_program_before_it_starts() {
    let mut world = World::new();
    world.interrupts.raise();
    let failure = world.run(line("touch started")).unwrap_err();
    assert_eq!(failure.kind, FailureKind::Interrupted);
    assert!(!world.path("started").exists());
    let sleep = Request::Sleep { duration_ms: 1 };
    assert!(world.perform(sleep).is_ok());
}

/// The process whose pid is in `file` is dead, or was killed and is about to be.
fn assert_gone(world: &World, file: &str) {
    let pid = std::fs::read_to_string(world.path(file)).unwrap();
    super::assert_dies(pid.trim());
}

/// On an overlay file system and outside Linux nothing is observed.
#[test]
fn a_file_that_a_program_opens_is_reported_whatever_its_name() {
    let mut world = World::new();
    std::fs::create_dir(world.path("folder")).unwrap();
    for name in ["read", "linked", "unread", "folder/inside"] {
        std::fs::write(world.path(name), "x").unwrap();
    }
    std::fs::hard_link(world.path("linked"), world.path("other")).unwrap();
    let files = ["read", "linked", "unread", "folder", "folder/gone"].map(str::to_owned).to_vec();
    let spec = line("cat read other folder/inside").observe(files.clone(), 0);
    let Some(opened) = world.run(spec).unwrap().opened else { return };
    assert_eq!(opened, ["folder", "folder/gone", "linked", "read"]);
    assert_eq!(world.run(line("true").observe(files, 0)).unwrap().opened, Some(Vec::new()));
    let many = vec!["read".to_owned(); limits::OBSERVED_FILES + 1];
    assert_eq!(world.run(line("cat read").observe(many, 0)).unwrap().opened, None);
}

#[test]
fn a_file_that_is_renewed_looks_changed_and_others_do_not() {
    let mut world = World::new();
    let past = SystemTime::now() - Duration::from_secs(3600);
    for name in ["cached", "other"] {
        std::fs::write(world.path(name), "x").unwrap();
        std::fs::File::open(world.path(name)).unwrap().set_modified(past).unwrap();
    }
    let files = ["cached", "other"].map(str::to_owned).to_vec();
    let spec = line("test -n \"$(find cached -mmin -30)\" && cat cached").observe(files, 1);
    let end = world.run(spec).unwrap();
    let Some(opened) = end.opened else { return };
    assert_eq!((end.status, opened), (ProcessStatus::Exited(0), vec!["cached".to_owned()]));
    assert_eq!(std::fs::metadata(world.path("other")).unwrap().modified().unwrap(), past);
}
