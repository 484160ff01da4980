//! Without a person at a terminal, a gate is decided in the developer's chat, where they have asked
//! to be told there.

use crate::approval::ask::{self, Asking, NoAnswer};
use crate::notify;
use crate::run::gate::facts;
use crate::state::store::Store;
use crate::terminal::ask::Consulted;
use crate::{run::advice, state::config};
use onloop_effect::Io;
use onloop_run::{Event, GateDecision, Mode, NoticeKind, Question};
use onloop_sessions::handsoff::approval::{ApprovalChoice, message};
use onloop_sessions::handsoff::config::{Config, Receiver, Telegram};
use onloop_syntax::text;
use onloop_workflow::Risk;

/// Asks the person in their chat about a gate or a review, and waits for as long as the configuration
/// says. [`Consulted::Nobody`] where that is not wanted, cannot be done, or there is no answer.
pub(crate) async fn gate_in_chat(io: &Io, store: &Store, question: &Question) -> Consulted {
    let (Question::Gate { step } | Question::Review { step, .. }) = *question else {
        return Consulted::Nobody;
    };
    let place = &store.run().place;
    // Not the worktree: what lies there came with the repository, or from an agent.
    let folder = place.repo_root.as_ref().unwrap_or(&place.execution_root);
    let config = config::own(io, folder).await;
    let Some(telegram) = chat(&config) else { return Consulted::Nobody };
    // Others are told before the wait.
    notify::deliver_except_chat(io, store).await;
    let run = store.run();
    let reason = text::one_line(&advice::reason(run, question));
    let title = format!("{}: {reason}", text::one_line(&run.place.slug));
    let facts = facts(io, run, step).await.map_or(String::new(), |facts| facts.to_string());
    let is_approvable = run.settings.risk != Risk::High;
    let messages = message::gate(&io.redacted(&title), &io.redacted(&facts), is_approvable);
    // One process may ask again and again.
    let asked_before = io.now().as_millis().rem_euclid(i64::from(u32::MAX)) as u32;
    let wait_ms = telegram.timeout_ms;
    let waiting = text::span(wait_ms);
    io.note(format!("Asking in the chat about step {step}, for {waiting} at most.")).await;
    let (ledger, size_bytes) = store.ledger_as_known();
    let ends_with = Some((ledger.as_str(), size_bytes));
    let asking =
        Asking { asked_before, wait_ms, call: None, session: None, stays: false, ends_with };
    match ask::person(io, telegram, &messages, asking).await {
        Ok(given) => Consulted::Decided(decided(step, given.choice)),
        Err(NoAnswer::Interrupted) => Consulted::Interrupted,
        Err(NoAnswer::Settled) => Consulted::Settled,
        Err(why) => {
            io.note(format!("Nobody decided in the chat: {}", text::one_line(&why.to_string())))
                .await;
            Consulted::Nobody
        }
    }
}

/// The chat, where the developer wants to be told there that a run waits for them.
fn chat(config: &Config) -> Option<&Telegram> {
    let notify = config.notify.as_ref()?;
    let is_told = notify.kinds.contains(&NoticeKind::Waits)
        && notify.receivers.iter().any(|receiver| matches!(receiver, Receiver::Telegram { .. }));
    config.telegram.as_ref().filter(|_| is_told)
}

fn decided(step: u32, choice: ApprovalChoice) -> Event {
    let decision = match choice {
        ApprovalChoice::Allow => GateDecision::Approved,
        ApprovalChoice::Deny => GateDecision::Rejected,
    };
    Event::GateDecided { step, decision, mode: Mode::Human }
}
