//! The descendant that a hanging program waits for.

use onloop_core::text;

use super::{Entry, all};

/// Longest command line that is shown.
const SHOWN_CHARS: usize = 200;

/// Returns the command line of the descendant that `pid` waits for. Git waits for its own parts, so
/// these are skipped. `None`: there is no descendant.
pub(in crate::host) fn waited_for_by(pid: u32) -> Option<String> {
    let all = all();
    let mut found = None;
    let mut above = pid;
    while let Some(child) = newest_child(&all, above) {
        let words = words(child);
        let is_part = words.first().is_some_and(|program| is_git(program));
        found = Some(words);
        if !is_part {
            break;
        }
        above = child;
    }
    found.filter(|words| !words.is_empty()).map(|words| shown(&words))
}

fn newest_child(all: &[(u32, Entry)], parent: u32) -> Option<u32> {
    let children = all.iter().filter(|(_, entry)| entry.parent == parent && !entry.zombie);
    let age = |entry: &Entry| entry.started.parse::<u64>().unwrap_or(0);
    children.max_by_key(|(pid, entry)| (age(entry), *pid)).map(|(pid, _)| *pid)
}

fn words(pid: u32) -> Vec<String> {
    let line = std::fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
    let words =
        line.split(|byte| *byte == 0).map(|word| String::from_utf8_lossy(word).into_owned());
    let mut words: Vec<String> = words.collect();
    // Each word ends with a NUL.
    words.pop();
    words
}

fn is_git(program: &str) -> bool {
    let name = program.rsplit('/').next().unwrap_or_default();
    name == "git" || name.starts_with("git-")
}

fn shown(words: &[String]) -> String {
    let words: Vec<String> = words.iter().map(|word| without_user(word)).collect();
    text::ellipsis(&text::one_line(&words.join(" ")), SHOWN_CHARS)
}

/// Removes user name and password from an address.
fn without_user(word: &str) -> String {
    let Some((scheme, rest)) = word.split_once("://") else { return word.to_owned() };
    let end = rest.find('/').unwrap_or(rest.len());
    match rest[..end].rfind('@') {
        Some(at) => format!("{scheme}://{}", &rest[at + 1..]),
        None => word.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::process::CommandExt;
    use std::process::Command;

    use super::*;

    #[test]
    fn an_address_is_shown_without_its_password() {
        for (word, expected) in [
            ("https://me:secret@host/x@y", "https://host/x@y"),
            ("https://host/x@y", "https://host/x@y"),
            ("git@host:x", "git@host:x"),
        ] {
            assert_eq!(without_user(word), expected);
        }
    }

    #[test]
    fn parts_of_git_are_looked_through() {
        let mut part = Command::new("sh");
        part.arg0("git-part").args(["-c", "sh -c 'sleep 1000; exit 1'; exit 1"]).process_group(0);
        let mut part = part.spawn().unwrap();
        let hung = loop {
            let hung = waited_for_by(part.id());
            if hung.as_deref().is_some_and(|hung| !hung.starts_with("git-part")) {
                break hung;
            }
            std::thread::yield_now();
        };
        assert_eq!(hung.as_deref(), Some("sh -c sleep 1000; exit 1"));
        let group = rustix::process::Pid::from_child(&part);
        rustix::process::kill_process_group(group, rustix::process::Signal::KILL).unwrap();
        part.wait().unwrap();
    }
}
