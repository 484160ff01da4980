//! What an address means.

use super::form::Fields;
use onloop_run::is_run_id;

/// What there is to see.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Sight {
    /// Everything.
    Board,
    /// One run; its steps from this one on, or those around the one that it is at.
    Run { id: String, from: Option<u32> },
    /// What a run has changed: since the last approval, or in one step.
    Diff { id: String, step: Option<u32> },
    /// A stream that tells when to look again: when one run, or anything, is not as the page that listens
    /// has `seen` it any more.
    Events { id: Option<String>, seen: String },
}

/// What can be changed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Act {
    /// The decision at a gate or a review of a run.
    Decide { id: String },
    /// The answer to a call of a tool that waits.
    Answer { call: String },
    /// The end of this browser's session.
    SignOut,
}

/// What `path`, which begins behind the name of the place, shows.
pub(super) fn place(path: &str, query: &str) -> Option<Sight> {
    let query = Fields::read(query)?;
    let number = |name: &str| match query.get(name) {
        "" => Some(None),
        digits => digits.parse().ok().filter(|number| *number > 0).map(Some),
    };
    let parts: Vec<&str> = path.strip_prefix('/')?.split('/').collect();
    Some(match parts.as_slice() {
        [""] => Sight::Board,
        ["events"] => {
            let seen = query.get("seen").to_owned();
            match query.get("run") {
                "" => Sight::Events { id: None, seen },
                id if is_run_id(id) => Sight::Events { id: Some(id.to_owned()), seen },
                _ => return None,
            }
        }
        ["run", id] if is_run_id(id) => Sight::Run { id: (*id).to_owned(), from: number("from")? },
        ["run", id, "diff"] if is_run_id(id) => {
            Sight::Diff { id: (*id).to_owned(), step: number("step")? }
        }
        _ => return None,
    })
}

/// What `path` changes.
pub(super) fn act(path: &str) -> Option<Act> {
    let parts: Vec<&str> = path.strip_prefix('/')?.split('/').collect();
    Some(match parts.as_slice() {
        ["out"] => Act::SignOut,
        ["run", id, "gate"] if is_run_id(id) => Act::Decide { id: (*id).to_owned() },
        ["call", id] if is_call_id(id) => Act::Answer { call: (*id).to_owned() },
        _ => return None,
    })
}

fn is_call_id(id: &str) -> bool {
    !id.is_empty() && id.len() <= 128 && id.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'-')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_mean_one_thing_or_nothing() {
        let id = "a-20260320T212315Z";
        let events = |id: Option<&str>, seen: &str| {
            Some(Sight::Events { id: id.map(str::to_owned), seen: seen.to_owned() })
        };
        let run = |from| Some(Sight::Run { id: id.to_owned(), from });
        let table = [
            ("/", "", Some(Sight::Board)),
            ("", "", None),
            ("//", "", None),
            ("/run/a-20260320T212315Z", "", run(None)),
            ("/run/a-20260320T212315Z", "from=51", run(Some(51))),
            ("/run/a-20260320T212315Z", "from=0", None),
            ("/run/a-20260320T212315Z", "from=x", None),
            ("/run/..", "", None),
            ("/run/..%2f", "", None),
            ("/run/a-20260320T212315Z/", "", None),
            (
                "/run/a-20260320T212315Z/diff",
                "step=2",
                Some(Sight::Diff { id: id.to_owned(), step: Some(2) }),
            ),
            ("/events", "", events(None, "")),
            ("/events", "seen=f1f0", events(None, "f1f0")),
            ("/events", "run=a-20260320T212315Z&seen=f1f0", events(Some(id), "f1f0")),
            ("/events", "run=../x", None),
        ];
        for (path, query, expected) in table {
            assert_eq!(place(path, query), expected, "{path}?{query}");
        }
        let table = [
            ("/out", Some(Act::SignOut)),
            ("/run/a-20260320T212315Z/gate", Some(Act::Decide { id: id.to_owned() })),
            ("/call/1f2e3d4c", Some(Act::Answer { call: "1f2e3d4c".to_owned() })),
            ("/call/../x", None),
            ("/call/", None),
            ("/", None),
        ];
        for (path, expected) in table {
            assert_eq!(act(path), expected, "{path}");
        }
    }
}
