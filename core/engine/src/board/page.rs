//! What the page of a run asks for: `onloop web` sends it piece by piece, and a report holds all of it.

use serde_json::{Map, Value, json};

use super::log::fork_of_attempt;
use super::{AttemptText, ChangeWatcher};
use crate::run::gate::{Change, Form, patch};
use crate::state::store::{Paths, StateHome};
use onloop_documents::board::{self, RunState, RunView};
use onloop_documents::spans::spans;
use onloop_effect::{Failure, FailureKind, Io};
use onloop_run::Run;
use onloop_syntax::limits;
use onloop_syntax::text;

/// A part of what there is to know about a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RunPart {
    /// The attempts at a step.
    Attempts {
        /// Number of the step.
        step: u32,
    },
    /// The log or the prompt of an attempt, such as `2-1`.
    Text {
        /// The attempt.
        attempt: String,
        /// Which of the two.
        kind: AttemptText,
    },
    /// What was changed.
    Diff(DiffOf),
    /// What was wanted, what came of it, and what proves it.
    Summary,
}

/// Whose change is shown.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum DiffOf {
    /// That of the whole run.
    Run,
    /// What is not approved yet.
    Unapproved,
    /// That of a step, or of an attempt at it, such as `2-1`.
    Part(String),
}

impl RunPart {
    /// The path under which the page asks for it.
    pub fn path(&self, id: &str) -> String {
        let part = match self {
            RunPart::Attempts { step } => format!("attempts?step={step}"),
            RunPart::Text { attempt, kind: AttemptText::Log } => format!("log?attempt={attempt}"),
            RunPart::Text { attempt, kind: AttemptText::Prompt } => {
                format!("prompt?attempt={attempt}")
            }
            RunPart::Diff(DiffOf::Run) => "diff?of=run".to_owned(),
            RunPart::Diff(DiffOf::Unapproved) => "diff?of=unapproved".to_owned(),
            RunPart::Diff(DiffOf::Part(name)) => format!("diff?of={name}"),
            RunPart::Summary => "summary".to_owned(),
        };
        format!("/data/run/{id}/{part}")
    }
}

/// What every page needs.
pub fn common(io: &Io) -> Map<String, Value> {
    let states = RunState::ALL.iter().map(|state| {
        let facts = json!({
            "mark": state.mark(),
            "words": state.words(),
            "needs_person": state.needs_person(),
            "is_over": state.is_over(),
        });
        (state.as_str().to_owned(), facts)
    });
    let states: Map<String, Value> = states.collect();
    Map::from_iter([
        ("now".to_owned(), io.now().to_rfc3339_millis().into()),
        ("states".to_owned(), states.into()),
    ])
}

impl ChangeWatcher {
    /// A run that was looked at, without its parts.
    pub async fn overview(&self, io: &Io, mut view: RunView) -> Map<String, Value> {
        let spans = match self.record(&view.card.id) {
            Some(run) => spans(run, &Box::pin(self.forks(io, run)).await),
            None => Vec::new(),
        };
        view.log.clear();
        let mut run = json!(view);
        for step in run["steps"].as_array_mut().into_iter().flatten() {
            step["checks"] = Value::Null;
        }
        let mut found = common(io);
        found.extend([("run".to_owned(), run), ("spans".to_owned(), json!(spans))]);
        found
    }

    /// A part of a run that was looked at, with at most `most` bytes of a text or a change; `None`: the
    /// record of the run cannot be read.
    pub async fn part(&self, io: &Io, id: &str, part: &RunPart, most: usize) -> Option<Value> {
        Some(match part {
            RunPart::Attempts { step } => json!(self.attempts(io, id, *step).await),
            RunPart::Text { attempt, kind } => {
                let limit_bytes = limits::WEB_LOG_BYTES.min(most as u64);
                json!(self.text(io, id, (attempt, *kind), limit_bytes).await)
            }
            RunPart::Diff(of) => {
                let run = self.record(id)?;
                let found = match of {
                    DiffOf::Unapproved => patch(io, run).await,
                    DiffOf::Run => changed_by(io, run, None).await,
                    DiffOf::Part(name) => changed_by(io, run, Some(name)).await,
                };
                let whole = match of {
                    DiffOf::Part(name) => format!("onloop diff {id} {name}"),
                    DiffOf::Run | DiffOf::Unapproved => format!("onloop diff {id}"),
                };
                shown(found, limits::WEB_PATCH_BYTES.min(most), whole)
            }
            RunPart::Summary => {
                let read = self.runs.get(id)?.read.as_ref().ok()?;
                let home = StateHome::of(io).ok()?;
                let path = Paths::new(&home, "", id).ledger();
                let (ledger, _) = io.read(&path, limits::RECORD_BYTES).await.ok()?;
                json!(board::summary(read, &ledger))
            }
        })
    }
}

async fn changed_by(io: &Io, run: &Run, part: Option<&str>) -> Result<String, Failure> {
    let fork = match (part, StateHome::of(io)) {
        (Some(part), Ok(home)) => fork_of_attempt(io, &home, run, part).await,
        (_, _) => None,
    };
    let (run, part) = match &fork {
        Some((fork, attempt)) => (fork, Some(attempt.as_str())),
        None => (run, part),
    };
    let Some(ends) = run.checkpoints_around(part) else {
        return Err(Failure::new(FailureKind::NotFound, "no checkpoint has this work"));
    };
    match Change::between(io, run, ends).await? {
        Some(change) => change.show(io, Form::Patch).await,
        None => Ok(String::new()),
    }
}

/// A change as far as the page shows it; the command `whole` shows all of it. What hides in it is spelled
/// out: a person decides about it.
fn shown(patch: Result<String, Failure>, most: usize, whole: String) -> Value {
    let patch = match patch {
        Ok(patch) => text::visible(&patch, &['\n', '\t']),
        Err(failure) => {
            return json!({ "patch": "", "trouble": text::one_line(&failure.message) });
        }
    };
    let kept = text::prefix(&patch, most);
    if kept.len() == patch.len() {
        return json!({ "patch": kept });
    }
    // A line that was cut in the middle would say something else.
    let end = kept.rfind('\n').map_or(0, |end| end + 1);
    json!({ "patch": &kept[..end], "whole": whole })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_change_is_cut_behind_a_whole_line_and_hides_nothing() {
        let patch = || Ok("+one\n+t\u{202e}wo\n".to_owned());
        let whole = || "onloop diff a".to_owned();
        let all = shown(patch(), 99, whole());
        assert_eq!(all, json!({ "patch": "+one\n+t\\u{202e}wo\n" }));
        for most in [5, 6, 10] {
            let cut = json!({ "patch": "+one\n", "whole": "onloop diff a" });
            assert_eq!(shown(patch(), most, whole()), cut);
        }
        assert_eq!(shown(patch(), 4, whole()), json!({ "patch": "", "whole": "onloop diff a" }));
    }
}
