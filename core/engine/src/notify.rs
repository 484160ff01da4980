//! Telling a person who is not watching: that a run waits for them, is blocked or is over.
//!
//! What there is to tell is read from the ledger, and what was told is remembered beside it for each
//! receiver, after it was told: a process that is killed in between tells it again, with the same
//! id. A receiver that is down is tried again by the next process that works on the run, as long as
//! the news still holds. A failed delivery never makes a run fail, and no running step waits for one.

pub mod send;
pub mod session;
mod template;

use crate::run::advice::{next_commands, reason};
use crate::run::gate::facts;
use crate::state::config;
use crate::state::store::Store;
use onloop_documents::ledger;
use onloop_documents::notices::{Notice, Told};
use onloop_effect::{Durability, Expect, Failure, Io, OptionalExt};
use onloop_run::{Attention, AttentionTracker, Facts, Question, Run};
use onloop_sessions::handsoff::config::{Notify, Receiver};
use onloop_syntax::limits;
use onloop_syntax::text;

/// Tells a person what they should know of the run, unless they were told.
pub(crate) async fn deliver(io: &Io, store: &Store) {
    deliver_to(io, store, |_| true).await;
}

/// The same but for the chat, in which they are asked.
pub(crate) async fn deliver_except_chat(io: &Io, store: &Store) {
    deliver_to(io, store, |receiver| !matches!(receiver, Receiver::Telegram { .. })).await;
}

async fn deliver_to(io: &Io, store: &Store, is_meant: impl Fn(&Receiver) -> bool) {
    if store.run().attention().is_none() {
        return;
    }
    let place = &store.run().place;
    // Not the worktree: what lies there came with the repository, or from an agent.
    let folder = place.repo_root.as_ref().unwrap_or(&place.execution_root);
    let Some(mut notify) = config::own(io, folder).await.notify else { return };
    notify.receivers.retain(is_meant);
    let lock = store.paths().told_lock();
    if io.lock(&lock, limits::NOTICE_TIMEOUT_MS).await.is_err() {
        // Somebody else is telling.
        return;
    }
    let told = deliver_locked(io, store, &notify).await;
    let _ = io.unlock(&lock).await;
    if let Err(failure) = told {
        let why = text::one_line(&failure.message);
        io.note(format!("warning: no notification was sent: {why}")).await;
    }
}

async fn deliver_locked(io: &Io, store: &Store, notify: &Notify) -> Result<(), Failure> {
    let (bytes, _) = io.read(&store.paths().ledger(), limits::RECORD_BYTES).await?;
    let mut tracker = AttentionTracker::default();
    if ledger::walk(&bytes, u64::MAX, None, |seq, run| tracker.look(seq, run)).is_err() {
        // The next reader of the ledger reports what is wrong with it.
        return Ok(());
    }
    let Some((since, attention)) = tracker.current() else { return Ok(()) };
    if !notify.kinds.contains(&attention.kind()) {
        return Ok(());
    }
    let path = store.paths().told();
    let found = io.read(&path, limits::NOTICES_TOLD_BYTES).await.optional()?;
    let mut told = found.map(|(bytes, _)| Told::read(&bytes)).unwrap_or_default();
    let mut notice = None;
    for receiver in &notify.receivers {
        if told.knows(receiver.name(), since) {
            continue;
        }
        if notice.is_none() {
            notice = Some(notice_of(io, store, since, attention).await);
        }
        let notice = notice.as_ref().expect("it was just made");
        match send::send(io, receiver, notice, limits::NOTICE_TIMEOUT_MS).await {
            Ok(()) => {
                told.tell(receiver.name(), since);
                io.write(&path, told.write(), Expect::Any, Durability::Durable).await?;
            }
            Err(Failure { message: why, .. }) => {
                let name = receiver.name();
                io.note(format!(
                    "warning: `notify.{name}` was not reached: {why}\n  It is tried again with the \
                     next command for this run."
                ))
                .await;
            }
        }
    }
    Ok(())
}

/// What is told about a run.
async fn notice_of(io: &Io, store: &Store, since: u64, attention: &Attention) -> Notice {
    let run = store.run();
    let step = attention.step().and_then(|step| run.step(step));
    let facts = match step {
        Some(step) if asks_about_work(attention) => facts(io, run, step.step.number).await,
        Some(_) | None => None,
    };
    let place = &run.place;
    Notice {
        id: format!("{}#{since}", run.id),
        kind: attention.kind(),
        at: io.now(),
        title: io.redacted(&title(run, attention)),
        facts: io.redacted(&facts_of(run, attention, facts.as_ref())),
        advice: match attention {
            Attention::Completed => String::new(),
            Attention::PullRequest { .. } => crate::run::advice::pull_request_commands(run),
            _ => next_commands(run),
        },
        run_id: Some(run.id.clone()),
        session_id: None,
        step: step
            .map(|record| (record.step.number, io.redacted(&text::one_line(&record.step.name)))),
        folder: text::one_line(&place.execution_root),
        branch: place.branch.as_deref().map(text::one_line),
    }
}

/// Whether what a person knows at a gate is what they need.
fn asks_about_work(attention: &Attention) -> bool {
    matches!(attention, Attention::Asks(Question::Gate { .. } | Question::Review { .. }))
}

/// What is the case, on one line.
pub(crate) fn title(run: &Run, attention: &Attention) -> String {
    let name = text::one_line(&run.place.slug);
    match attention {
        Attention::Asks(Question::Budget { .. }) => format!("{name}: a budget is reached"),
        Attention::Asks(_) | Attention::Paused { .. } => format!("{name} waits for you"),
        Attention::Limit { agent, .. } => format!("{name}: the usage limit of {agent} is reached"),
        Attention::Blocked(blocker) => format!("{name} is blocked at step {}", blocker.step),
        Attention::Completed => format!("{name} is completed"),
        Attention::PullRequest { state, .. } => {
            format!("{name}: {}", state.clause(state.as_reason()))
        }
    }
}

fn facts_of(run: &Run, attention: &Attention, facts: Option<&Facts>) -> String {
    let why = match attention {
        Attention::Asks(question) => reason(run, question),
        Attention::Paused { reason } => reason.clone(),
        Attention::Limit { until, .. } => {
            format!("It continues by itself when the limit is lifted: {}", until.to_rfc3339())
        }
        Attention::Blocked(blocker) => blocker.reason.clone(),
        // The title says how it stands.
        Attention::PullRequest { state, reason, .. } if reason != state.as_reason() => {
            reason.clone()
        }
        Attention::Completed | Attention::PullRequest { .. } => {
            text::one_line(&run.settings.intent)
        }
    };
    let mut lines = vec![sentence(&text::one_line(&why))];
    lines.push(format!("Run: {}", run.id));
    match facts {
        Some(facts) => lines.push(facts.to_string().trim_end().to_owned()),
        None => {
            let step = attention.step().and_then(|step| run.step(step));
            if let Some(record) = step {
                let (number, name) = (record.step.number, text::one_line(&record.step.name));
                lines.push(format!("Step {number} of {}: {name}", run.steps.len()));
            }
            lines.push(format!("Work: {}", text::one_line(&run.place.execution_root)));
        }
    }
    lines.extend(run.place.branch.as_deref().map(|b| format!("Branch: {}", text::one_line(b))));
    let url = run.pull_request_url();
    lines.extend(url.map(|url| format!("Pull request: {}", text::one_line(url))));
    lines.join("\n")
}

/// With a capital letter.
fn sentence(words: &str) -> String {
    let mut chars = words.chars();
    match chars.next() {
        Some(first) => first.to_uppercase().chain(chars).collect(),
        None => String::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use onloop_run::{
        Beginning, Disposition, Event, FinishAct, FinishOutcome, Place, PullRequest,
        PullRequestState,
    };
    use onloop_syntax::time::Timestamp;
    use onloop_workflow::Plan;

    #[test]
    fn the_pull_request_of_the_work_is_named() {
        let beginning = Beginning {
            id: "x-1".to_owned(),
            place: Place { slug: "x".to_owned(), ..Place::default() },
            ..Beginning::default()
        };
        let mut run = Run::begin(&Plan::example("x", Vec::new()), beginning);
        assert!(!facts_of(&run, &Attention::Completed, None).contains("Pull request"));
        let pr_url = Some("https://example.org/pull/1".to_owned());
        let outcome = FinishOutcome { pr_url, ..FinishOutcome::new(Disposition::Published) };
        let act = FinishAct::Publish {
            commit: "c1".to_owned(),
            remote: "origin".to_owned(),
            pull_request: PullRequest::NotAsked { target: None },
        };
        let recorded = Event::FinishRecorded { outcome, replace: false };
        let intended = Event::FinishIntended { act, notes: None, replace: false };
        for event in [Event::RunFinalized, intended, recorded] {
            run.apply(Timestamp::EPOCH, &event).expect("nothing is left to do");
        }
        let facts = facts_of(&run, &Attention::Completed, None);
        assert!(facts.ends_with("\nPull request: https://example.org/pull/1"), "{facts}");
        let seen = |state: PullRequestState, reason: &str| {
            let (url, reason) = ("https://example.org/pull/1".to_owned(), reason.to_owned());
            let attention = Attention::PullRequest { state, url, reason };
            let facts = facts_of(&run, &attention, None);
            let first = facts.lines().next().unwrap_or_default().to_owned();
            assert_eq!(facts.matches("https://").count(), 1, "{facts}");
            (title(&run, &attention), first)
        };
        let green = PullRequestState::Green;
        let (title, first) = seen(green, green.as_reason());
        assert_eq!((&*title, &*first), ("x: pull request checks passed", "Show"));
        let (title, first) = seen(PullRequestState::Red, "1 check fails on the server: deploy");
        assert_eq!(title, "x: pull request needs changes");
        assert_eq!(first, "1 check fails on the server: deploy");
    }
}
