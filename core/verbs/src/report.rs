//! `onloop report`: what happened in a run, as Markdown or as a page.

use serde_json::{Map, Value, json};

use onloop_documents::board;
use onloop_documents::page::{leave_out_nulls, report_page};
use onloop_effect::{Durability, Exit, Expect, Io};
use onloop_engine::board::{AttemptText, ChangeWatcher, DiffOf, RunPart};
use onloop_engine::error::CommandError;
use onloop_engine::lookup::select::{Fitting, RunName, open};
use onloop_run::{Run, render_report};
use onloop_syntax::limits;
use onloop_syntax::text;

/// Arguments of `onloop report`.
#[derive(Clone, Debug, Default, clap::Args)]
pub struct ReportArgs {
    /// The run
    #[command(flatten)]
    pub run: RunName,
    /// One page for a browser, as in `onloop web`, instead of Markdown
    #[arg(long)]
    pub html: bool,
    /// Write it to a file
    #[arg(long, value_name = "FILE")]
    pub out: Option<String>,
}

/// `onloop report`: rendered anew from the record.
pub(crate) async fn report(io: &Io, args: &ReportArgs) -> Result<Exit, CommandError> {
    let store = open(io, args.run.as_deref(), Fitting::Latest).await?;
    let run = store.run();
    let document = match args.html {
        true => {
            let facts = io.redacted(&Box::pin(facts(io, run)).await);
            let title = io.redacted(&text::one_line(&run.settings.intent));
            report_page(&run.id, &title, &facts)
        }
        false => render_report(run),
    };
    let Some(out) = &args.out else {
        io.result(document).await;
        return Ok(Exit::Done);
    };
    let document = io.redacted(&document).into_bytes();
    io.write(out, document, Expect::Any, Durability::Relaxed).await?;
    Ok(Exit::Done)
}

/// What the page would ask a server for, as JSON. What cannot be read any more is left out of it.
async fn facts(io: &Io, run: &Run) -> String {
    let id = &run.id;
    let mut watcher = ChangeWatcher::default();
    let mut facts = Facts::default();
    if let Some(mut view) = watcher.run(io, id).await {
        // A report decides nothing.
        (view.choice, view.facts, view.actions) = (None, None, Vec::new());
        view.events = board::events(run, limits::REPORT_EVENTS);
        let mut overview = watcher.overview(io, view).await;
        overview.insert("seen".to_owned(), "".into());
        facts.add(format!("/data/run/{id}"), overview.into());
    }
    let attempts = texts(io, run, &watcher, &mut facts).await;
    let steps = attempts.iter().map(|(step, _)| step.to_string());
    let mut steps: Vec<String> = steps.collect();
    steps.dedup();
    let names = attempts.iter().map(|(step, attempt)| format!("{step}-{attempt}"));
    let mut diffs: Vec<DiffOf> = names.chain(steps).map(DiffOf::Part).collect();
    diffs.extend([DiffOf::Unapproved, DiffOf::Run]);
    let mut room = Room { bytes: limits::REPORT_PATCH_BYTES, shares: diffs.len() };
    let diffs = diffs.into_iter().map(RunPart::Diff);
    for part in diffs.chain([RunPart::Summary]) {
        if let Some(found) = watcher.part(io, id, &part, room.share()).await {
            room.spend(facts.add(part.path(id), found));
        }
    }
    facts.document(id)
}

/// Adds the attempts of each step, with their logs and prompts. Returns their steps and numbers.
async fn texts(io: &Io, run: &Run, watcher: &ChangeWatcher, facts: &mut Facts) -> Vec<(u32, u32)> {
    let mut steps = Vec::new();
    for record in &run.steps {
        let step = record.step.number;
        steps.push((step, watcher.attempts(io, &run.id, step).await));
    }
    let all = steps.iter().flat_map(|(_, attempts)| attempts);
    let shares = all.map(|attempt| attempt.checks.len() + 3).sum();
    let mut room = Room { bytes: limits::REPORT_TEXT_BYTES, shares };
    let mut found = Vec::new();
    for (step, mut attempts) in steps {
        for attempt in &mut attempts {
            let outputs = attempt.checks.iter_mut().map(|check| &mut check.output);
            for output in outputs.chain([&mut attempt.output]) {
                let kept = text::suffix(output, room.share());
                if kept.len() < output.len() {
                    *output = format!("--- Only the end; `onloop web` shows more ---\n{kept}");
                }
                room.spend(output.len());
            }
            for kind in [AttemptText::Log, AttemptText::Prompt] {
                let part = RunPart::Text { attempt: format!("{step}-{}", attempt.number), kind };
                if let Some(text) = watcher.part(io, &run.id, &part, room.share()).await {
                    room.spend(facts.add(part.path(&run.id), text));
                }
            }
            found.push((step, attempt.number));
        }
        facts.add(RunPart::Attempts { step }.path(&run.id), json!(attempts));
    }
    found
}

/// Bytes that several texts share.
struct Room {
    bytes: usize,
    /// Texts that are still to come.
    shares: usize,
}

impl Room {
    /// Bytes for the next text: what an earlier one did not need is there for those after it.
    fn share(&self) -> usize {
        self.bytes / self.shares.max(1)
    }

    fn spend(&mut self, bytes: usize) {
        self.bytes = self.bytes.saturating_sub(bytes);
        self.shares = self.shares.saturating_sub(1);
    }
}

/// What there is at each path; the same at several paths is there once.
#[derive(Default)]
struct Facts {
    places: Map<String, Value>,
    values: Vec<String>,
}

impl Facts {
    /// Returns the bytes that this takes.
    fn add(&mut self, path: String, mut value: Value) -> usize {
        leave_out_nulls(&mut value);
        let value = value.to_string();
        let known = self.values.iter().position(|known| *known == value);
        self.places.insert(path, known.unwrap_or(self.values.len()).into());
        match known {
            Some(_) => 0,
            None => {
                let bytes = value.len();
                self.values.push(value);
                bytes
            }
        }
    }

    fn document(&self, id: &str) -> String {
        let (start, places) = (json!(format!("/run/{id}?tab=summary")), json!(self.places));
        format!(r#"{{"start":{start},"places":{places},"values":[{}]}}"#, self.values.join(","))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_share_the_room_and_the_same_one_is_held_once() {
        let mut facts = Facts::default();
        let mut room = Room { bytes: 100, shares: 4 };
        let mut shares = Vec::new();
        for path in ["/a", "/b", "/c", "/d"] {
            shares.push(room.share());
            room.spend(facts.add(path.to_owned(), json!("0123456789")));
        }
        // Twelve bytes with the quotes, and nothing for the three others.
        assert_eq!(shares, [25, 29, 44, 88]);
        let document: Value = serde_json::from_str(&facts.document("a")).expect("it is JSON");
        assert_eq!(document["values"], json!(["0123456789"]));
        assert_eq!(document["places"], json!({ "/a": 0, "/b": 0, "/c": 0, "/d": 0 }));
        room.spend(1000);
        assert_eq!(room.share(), 0);
    }
}
