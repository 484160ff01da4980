//! Streams of real clients, and of documented ones, become the events beside them; however they
//! are cut, mixed and repeated, they are read without a panic and no token counts twice.

use std::fs;
use std::path::{Path, PathBuf};

use onloop_core::agent::{AgentState, Client, TurnOutcome};
use onloop_core::effect::ProcessStatus;
use onloop_core::tokens::Tokens;
use onloop_tests::stream_events::read;
use proptest::prelude::*;

/// A stream, its client, and the events in it.
struct Recorded {
    name: String,
    client: Client,
    stream: String,
    events: PathBuf,
}

fn recorded() -> Vec<Recorded> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("streams");
    let mut found = Vec::new();
    for entry in fs::read_dir(&folder).unwrap() {
        let path = entry.unwrap().path();
        let file = path.file_name().unwrap().to_str().unwrap();
        let Some(name) = file.strip_suffix(".jsonl").filter(|name| !name.contains('.')) else {
            continue;
        };
        found.push(Recorded {
            name: name.to_owned(),
            client: name.split('-').next().unwrap().parse().unwrap(),
            stream: fs::read_to_string(&path).unwrap(),
            events: folder.join(format!("{name}.events.jsonl")),
        });
    }
    found.sort_by(|a, b| a.name.cmp(&b.name));
    found
}

#[test]
fn every_stream_becomes_the_events_beside_it() {
    let streams = recorded();
    assert!(streams.len() >= 9, "{}", streams.len());
    for client in Client::ALL {
        assert!(streams.iter().any(|stream| stream.client == client), "{client:?}");
    }
    for recorded in streams {
        let (found, _) = read(recorded.client, &recorded.stream);
        if std::env::var_os("ONLOOP_BLESS").is_some() {
            fs::write(&recorded.events, &found).unwrap();
        }
        let expected = fs::read_to_string(&recorded.events).unwrap();
        assert!(found == expected, "{}: {found}", recorded.name);
    }
}

#[test]
fn the_verdict_needs_the_word_of_the_client_and_the_end_of_its_process() {
    for recorded in recorded() {
        let (_, state) = read(recorded.client, &recorded.stream);
        let name = &recorded.name;
        assert_eq!(state.outcome(ProcessStatus::Exited(0)), TurnOutcome::Completed, "{name}");
        let killed = state.outcome(ProcessStatus::Signalled(9));
        assert_eq!(killed, TurnOutcome::NoFinalEvent, "{name}");
        let failed = state.outcome(ProcessStatus::Exited(1));
        assert!(matches!(failed, TurnOutcome::Failed(_)), "{name}: {failed:?}");
        // Without its last line nobody knows.
        let lines: Vec<&str> = recorded.stream.lines().collect();
        let (_, cut) = read(recorded.client, &lines[..lines.len() - 1].join("\n"));
        let cut = cut.outcome(ProcessStatus::Exited(0));
        assert_eq!(cut, TurnOutcome::NoFinalEvent, "{name}");
    }
}

/// Lines of one stream in any order, repeated and left out, with some of them cut and others'
/// bytes in them.
fn mixed() -> impl Strategy<Value = (usize, Vec<(prop::sample::Index, u8, Vec<u8>)>)> {
    let streams = recorded().len();
    let line = (any::<prop::sample::Index>(), 0..8u8, prop::collection::vec(any::<u8>(), 0..40));
    (0..streams, prop::collection::vec(line, 0..60))
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, ..ProptestConfig::default() })]

    #[test]
    fn nothing_panics_and_nothing_counts_twice((which, parts) in mixed(), chunk in 1..500usize) {
        let all = recorded();
        let Recorded { client, stream, .. } = &all[which];
        let lines: Vec<&[u8]> = stream.lines().map(str::as_bytes).collect();
        let mut bytes = Vec::new();
        for (index, kind, noise) in parts {
            let line = lines[index.index(lines.len())];
            match kind {
                0 => bytes.extend_from_slice(&line[..line.len() / 2]),
                1 => bytes.extend_from_slice(&noise),
                _ => bytes.extend_from_slice(line),
            }
            bytes.push(b'\n');
        }
        let mut state = AgentState::new(*client, Tokens::default());
        for part in bytes.chunks(chunk) {
            let said = state.push(part);
            prop_assert!(said.chars().all(|c| !c.is_control() || matches!(c, '\n' | '\t')), "{said:?}");
        }
        state.finish();
        let (_, whole) = read(*client, stream);
        let (some, most) = (state.tokens().unwrap_or_default(), whole.tokens().unwrap_or_default());
        prop_assert!(some.input <= most.input && some.output <= most.output, "{some:?} {most:?}");
        prop_assert!(some.cached_input <= most.cached_input);
        prop_assert!(state.cost() <= whole.cost());
        prop_assert!(state.denied() <= whole.denied());
    }

    #[test]
    fn any_bytes_are_read(bytes in prop::collection::vec(any::<u8>(), 0..2000)) {
        for client in Client::ALL {
            let mut state = AgentState::new(client, Tokens::default());
            state.push(&bytes);
            state.finish();
            state.outcome(ProcessStatus::Exited(0));
        }
    }
}

/// Text that could steer a terminal or break a line, in every text of a stream.
#[test]
fn hostile_text_is_harmless_in_every_transcript() {
    for recorded in recorded() {
        let hostile = recorded.stream.replace("\"I ", "\"\\u001b[2J\\u0007\\u202eI ");
        let hostile = hostile.replace("\"command\":\"", "\"command\":\"\\u001b]0;x\\u0007\\n");
        let mut state = AgentState::new(recorded.client, Tokens::default());
        let said = state.push(hostile.as_bytes());
        let bad = |c: char| (c.is_control() && c != '\n') || c == '\u{202e}';
        assert!(!said.contains(bad), "{said:?}");
    }
}
