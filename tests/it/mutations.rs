//! The claims of the fuzz targets on saved files and on mutations of them: a fuzzer for every
//! build, without its tool. Seeds are fixed; `./test --all` and `ONLOOP_FUZZ_SECONDS` give each target
//! more time.

use std::path::Path;
use std::time::{Duration, Instant};

use onloop_core::hooks::Host;
use onloop_tests::Random;

use crate::rounds::is_long;
use crate::workspace::source_root;

#[path = "../fuzz/claims.rs"]
mod claims;

/// Files below a folder of the tests.
fn seeds(folder: &str) -> Vec<Vec<u8>> {
    named_seeds(folder).into_iter().map(|(_, bytes)| bytes).collect()
}

fn named_seeds(folder: &str) -> Vec<(String, Vec<u8>)> {
    let folder = source_root().join("tests").join(folder);
    let entries = std::fs::read_dir(&folder).unwrap_or_else(|e| panic!("{folder:?}: {e}"));
    let mut paths: Vec<_> = entries.map(|entry| entry.unwrap().path()).collect();
    // The order of a folder is nobody's promise, and the seed must repeat.
    paths.sort();
    let files = paths.iter().filter(|path| path.is_file());
    files.map(|path| (path.file_name().unwrap().display().to_string(), read(path))).collect()
}

fn read(path: &Path) -> Vec<u8> {
    std::fs::read(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// Pieces that mean something in one of the formats.
const PIECES: &[&str] = &[
    "---\n",
    "\n{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"",
    "tools/call",
    "\"params\":{",
    "- [ ] **Step 1: ",
    "verify:",
    "```sh\n",
    "\r\n",
    "\u{feff}",
    "\0",
    "\"",
    "null",
    "{",
    "}",
    "[",
    "]",
    ":",
    ",",
    "-1",
    "1e999",
    "18446744073709551616",
    "\\ud800",
    "\"hook_event_name\":\"PreToolUse\"",
    "\"tool_name\":\"Bash\"",
    "PermissionRequest",
    "command",
    "until ",
    "loop: false\n",
    "<<EOF",
    "\u{202e}",
    "    ",
    "\t",
    "&",
    "*",
    "!",
    "|",
    ">",
];

fn mutate(random: &mut Random, seeds: &[Vec<u8>]) -> Vec<u8> {
    let mut bytes = random.pick(seeds).clone();
    for _ in 0..1 + random.below(6) {
        let at = random.below(bytes.len() as u64 + 1) as usize;
        let end = (at + 1 + random.below(40) as usize).min(bytes.len());
        match random.below(6) {
            0 => drop(bytes.drain(at..end)),
            1 => drop(bytes.splice(at..at, random.pick(PIECES).bytes())),
            2 if at < bytes.len() => bytes[at] = random.number() as u8,
            3 => {
                let copy = bytes[at..end].to_vec();
                bytes.splice(at..at, copy);
            }
            4 => {
                let other = random.pick(seeds);
                let from = random.below(other.len() as u64 + 1) as usize;
                bytes.truncate(at);
                bytes.extend_from_slice(&other[from..]);
            }
            _ => drop(bytes.splice(at..end, random.pick(PIECES).bytes())),
        }
    }
    bytes
}

fn holds(name: &str, seeds: &[Vec<u8>], claim: fn(&[u8])) {
    assert!(!seeds.is_empty(), "{name}: there is something to begin with");
    seeds.iter().for_each(|seed| claim(seed));
    let given = std::env::var("ONLOOP_FUZZ_SECONDS").ok();
    let seconds =
        given.map_or(if is_long() { 60.0 } else { 0.5 }, |s| s.parse().expect("a number"));
    let (started, budget) = (Instant::now(), Duration::from_secs_f64(seconds));
    let mut tried = 0;
    while started.elapsed() < budget {
        let bytes = mutate(&mut Random::new(tried), seeds);
        if let Err(panic) = std::panic::catch_unwind(|| claim(&bytes)) {
            eprintln!("{name}: mutation {tried} of the saved files:\n{}", bytes.escape_ascii());
            std::panic::resume_unwind(panic);
        }
        tried += 1;
    }
    println!("{name}: {tried} mutations");
    assert!(tried > 0, "{name}: nothing was tried");
}

#[test]
fn workflows_of_any_bytes() {
    let mut files = seeds("corpus/hotl");
    // Long files have their own tests; here they only cost mutations.
    files.retain(|file| file.len() < 20_000);
    holds("workflow", &files, claims::workflow);
}

#[test]
fn records_of_any_bytes() {
    holds("record", &seeds("state"), claims::record);
}

#[test]
fn events_of_any_bytes() {
    holds("events", &seeds("fuzz/seeds/events"), claims::events);
}

#[test]
fn hooks_of_any_bytes() {
    let seeds = named_seeds("fuzz/seeds/hook");
    for host in Host::ALL {
        let own = seeds.iter().filter(|(name, _)| name.starts_with(&format!("{}-", host.as_str())));
        let hosts: Vec<_> = own.map(|(_, bytes)| claims::host_and_input(bytes).0).collect();
        assert!(!hosts.is_empty(), "{host:?} has a saved file");
        assert!(hosts.iter().all(|read| *read == host), "files of {host:?} are read for {hosts:?}");
    }
    let seeds: Vec<_> = seeds.into_iter().map(|(_, bytes)| bytes).collect();
    holds("hook", &seeds, claims::hook);
}

#[test]
fn conversations_of_any_bytes() {
    holds("mcp", &seeds("fuzz/seeds/mcp"), claims::mcp);
}
