//! Recordings of real programs, replayed by this one.

use crate::temporary::temporary_folder;
use crate::workspace::{Workspace, source_root};

/// `onloop replay` in an empty folder: output, words for people, exit code.
fn replay(path: &std::path::Path) -> (String, String, Option<i32>) {
    let run = Workspace::plain().onloop(&["replay", path.to_str().unwrap()]);
    (run.stdout, run.stderr, run.exit)
}

#[test]
fn every_recording_is_repeated_request_by_request() {
    let folder = source_root().join("tests/traces");
    let mut traces: Vec<_> =
        std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    traces.retain(|path| path.extension().is_some_and(|ending| ending == "jsonl"));
    assert!(traces.len() >= 3, "a run, a hook and a conversation: {traces:?}");
    for path in traces {
        let text = std::fs::read_to_string(&path).unwrap();
        let requests = text.lines().filter(|line| line.starts_with("{\"request\"")).count();
        let expected =
            format!("{requests} requests, as recorded by onloop 0.1.0 (native); exit code 0\n");
        let (said, notes, code) = replay(&path);
        assert_eq!((said, code), (expected, Some(0)), "{}: {notes}", path.display());
    }
}

#[test]
fn the_first_other_request_is_shown_whole() {
    let folder = temporary_folder();
    let trace = source_root().join("tests/traces/claude-pre-tool-use.jsonl");
    let text = std::fs::read_to_string(trace).unwrap();
    let line = text.lines().nth(5).unwrap();
    let other = line.replace("/.git", "/.hg");
    assert_ne!(line, other);
    let path = folder.path().join("changed.jsonl");
    let changed = text.replacen(line, &other, 1).replacen("\"0.1.0\"", "\"0.0.9\"", 1);
    std::fs::write(&path, changed).unwrap();
    let (said, notes, code) = replay(&path);
    let shown = path.display();
    let expected =
        format!("{shown}:6: differs after 2 requests\nrecorded: {other}\nnow:      {line}\n");
    assert_eq!((said, code), (expected, Some(1)));
    assert_eq!(notes, "note: recorded by onloop 0.0.9; this is onloop 0.1.0\n");
}

#[test]
fn what_is_not_a_trace_is_refused() {
    let folder = temporary_folder();
    let path = folder.path().join("a.jsonl");
    std::fs::write(&path, "hello\n").unwrap();
    let shown = path.display();
    let (said, notes, code) = replay(&path);
    let expected = format!(
        "error: cannot replay `{shown}` cause: its first line is not the header of a trace"
    );
    assert_eq!((said, crate::flat(&notes), code), (String::new(), expected, Some(2)));
}

#[cfg(unix)]
#[test]
fn a_recording_is_private_hides_secrets_and_can_be_replayed() {
    use std::os::unix::fs::PermissionsExt;
    let folder = temporary_folder();
    let path = folder.path().join("trace.jsonl");
    std::fs::write(&path, "an older file that others can read").unwrap();
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o644)).unwrap();
    let project = Workspace::plain()
        .with_env("ONLOOP_TRACE", path.to_str().unwrap())
        .with_env("DEMO_TOKEN", "tok3n-tok3n-tok3n");
    let code = project.onloop(&["lint", "tok3n-tok3n-tok3n.md"]).exit.unwrap();
    let text = std::fs::read_to_string(&path).unwrap();
    assert_eq!(std::fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
    assert!(text.starts_with("{\"trace\":1,\"onloop\":") && !text.contains("tok3n"), "{text}");
    let (said, notes, replayed) = replay(&path);
    assert_eq!(replayed, Some(0), "{said}{notes}");
    assert!(said.ends_with(&format!("; exit code {code}\n")), "{said}");
}
