//! What an address means.

use super::form::Fields;
use onloop_engine::board::{AttemptText, DiffOf, RunPart};
use onloop_run::is_run_id;

/// What there is to see.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Sight {
    /// The page, whose script asks for everything else.
    Page,
    /// Facts, as JSON.
    Facts(Facts),
    /// A stream that tells when to look again: when one run, or anything, is not as the page that listens
    /// has `seen` it any more.
    Events { id: Option<String>, seen: String },
}

/// Facts that the page asks for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Facts {
    /// Everything on this machine.
    Board,
    /// One run.
    Run { id: String },
    /// A part of it.
    Part { id: String, part: RunPart },
}

/// What can be changed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Act {
    /// An action on a run.
    Run { id: String },
    /// The answer to a call of a tool that waits.
    Answer { call: String },
    /// The end of this browser's session.
    SignOut,
}

/// What `path`, which begins behind the name of the place, shows.
pub(super) fn place(path: &str, query: &str) -> Option<Sight> {
    let query = Fields::read(query)?;
    let parts: Vec<&str> = path.strip_prefix('/')?.split('/').collect();
    Some(match parts.as_slice() {
        [""] => Sight::Page,
        ["run", id] if is_run_id(id) => Sight::Page,
        ["events"] => {
            let seen = query.get("seen").to_owned();
            match query.get("run") {
                "" => Sight::Events { id: None, seen },
                id if is_run_id(id) => Sight::Events { id: Some(id.to_owned()), seen },
                _ => return None,
            }
        }
        ["data"] => Sight::Facts(Facts::Board),
        ["data", "run", id] if is_run_id(id) => Sight::Facts(Facts::Run { id: (*id).to_owned() }),
        ["data", "run", id, what] if is_run_id(id) => {
            Sight::Facts(Facts::Part { id: (*id).to_owned(), part: part_of_run(what, &query)? })
        }
        _ => return None,
    })
}

fn part_of_run(what: &str, query: &Fields) -> Option<RunPart> {
    Some(match what {
        "attempts" => RunPart::Attempts { step: query.get("step").parse().ok()? },
        "log" | "prompt" => {
            let kind = if what == "log" { AttemptText::Log } else { AttemptText::Prompt };
            let attempt = Some(query.get("attempt")).filter(|name| is_attempt(name))?.to_owned();
            RunPart::Text { attempt, kind }
        }
        "diff" => {
            let of = match query.get("of") {
                "run" => DiffOf::Run,
                "unapproved" => DiffOf::Unapproved,
                part if is_number(part) || is_attempt(part) => DiffOf::Part(part.to_owned()),
                _ => return None,
            };
            RunPart::Diff(of)
        }
        "summary" => RunPart::Summary,
        _ => return None,
    })
}

/// Whether `name` is that of an attempt, such as `2-1`. It becomes a part of a path.
fn is_attempt(name: &str) -> bool {
    name.split_once('-').is_some_and(|(step, attempt)| is_number(step) && is_number(attempt))
}

fn is_number(word: &str) -> bool {
    !word.is_empty() && word.len() <= 9 && word.bytes().all(|byte| byte.is_ascii_digit())
}

/// What `path` changes.
pub(super) fn act(path: &str) -> Option<Act> {
    let parts: Vec<&str> = path.strip_prefix('/')?.split('/').collect();
    Some(match parts.as_slice() {
        ["out"] => Act::SignOut,
        ["run", id] if is_run_id(id) => Act::Run { id: (*id).to_owned() },
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
        let run = "/run/a-20260320T212315Z";
        let data = |what: &str| format!("/data{run}{what}");
        let facts = |facts| Some(Sight::Facts(facts));
        let part = |part| facts(Facts::Part { id: id.to_owned(), part });
        let text = |attempt: &str, kind| part(RunPart::Text { attempt: attempt.to_owned(), kind });
        let diff = |of| part(RunPart::Diff(of));
        let table = [
            ("/", "", Some(Sight::Page)),
            ("", "", None),
            ("//", "", None),
            (run, "", Some(Sight::Page)),
            (run, "step=2&tab=diff", Some(Sight::Page)),
            ("/run/..", "", None),
            ("/run/..%2f", "", None),
            ("/run/a-20260320T212315Z/", "", None),
            ("/data", "", facts(Facts::Board)),
            (&data(""), "", facts(Facts::Run { id: id.to_owned() })),
            (&data("/attempts"), "step=2", part(RunPart::Attempts { step: 2 })),
            (&data("/attempts"), "", None),
            (&data("/log"), "attempt=2-1", text("2-1", AttemptText::Log)),
            (&data("/prompt"), "attempt=2-1", text("2-1", AttemptText::Prompt)),
            (&data("/log"), "attempt=../2-1", None),
            (&data("/log"), "attempt=2", None),
            (&data("/diff"), "of=run", diff(DiffOf::Run)),
            (&data("/diff"), "of=unapproved", diff(DiffOf::Unapproved)),
            (&data("/diff"), "of=2", diff(DiffOf::Part("2".to_owned()))),
            (&data("/diff"), "of=2-1", diff(DiffOf::Part("2-1".to_owned()))),
            (&data("/diff"), "of=HEAD", None),
            (&data("/summary"), "", part(RunPart::Summary)),
            ("/events", "", events(None, "")),
            ("/events", "seen=f1f0", events(None, "f1f0")),
            ("/events", "run=a-20260320T212315Z&seen=f1f0", events(Some(id), "f1f0")),
            ("/events", "run=../x", None),
        ];
        for (path, query, expected) in table {
            assert_eq!(place(path, query), expected, "{path}?{query}");
            // A report holds its parts under the paths that the page asks for.
            if let Some(Sight::Facts(Facts::Part { part, .. })) = expected {
                let asked = format!("{path}?{query}");
                assert_eq!(part.path(id), asked.trim_end_matches('?'));
            }
        }
        let table = [
            ("/out", Some(Act::SignOut)),
            (run, Some(Act::Run { id: id.to_owned() })),
            ("/run/a-20260320T212315Z/gate", None),
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
