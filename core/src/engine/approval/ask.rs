//! Asking a person: send, wait for the answer, say in the chat what came of it.

use super::Resolution;
use super::poller::{self, Meeting};
use super::telegram::{Bot, CallError};
use crate::documents::approval as document;
use crate::effect::{Durability, Expect, Failure, Io};
use crate::handsoff::approval::message::{self, ApprovalSubject, GIVEN_UP, Messages, TIMED_OUT};
use crate::handsoff::approval::{ApprovalChoice, ChatQuestion, nonce, seal};
use crate::handsoff::config::Telegram;
use crate::limits;
use crate::time::Timestamp;

/// Longest wait for the lock before we look whether its holder has stored our answer.
const LOOK_EVERY_MS: u64 = 1000;

/// How much later a question expires than its asker stops waiting.
const LAST_MOMENT_MS: i64 = 1000;

/// How the waiting ended without an answer.
enum NoAnswer {
    /// Nobody answered in time.
    TimedOut,
    /// We cannot wait any longer; why.
    GaveUp(String),
}

/// Asks a person about `subject` and waits up to `wait_ms`, including the time to send.
pub(super) async fn person(
    io: &Io,
    telegram: &Telegram,
    subject: &ApprovalSubject,
    wait_ms: u64,
) -> Resolution {
    let no_answer = |why: &dyn std::fmt::Display| {
        Resolution::NoAnswer(format!("asking through Telegram: {why}"))
    };
    let mut deadline = Deadline::new(io.now(), wait_ms);
    let bot = match Bot::new(io, &telegram.token) {
        Ok(bot) => bot,
        Err(insecure) => return no_answer(&insecure),
    };
    let meeting = Meeting::new(&super::folder(io), &bot);
    if let Err(error) = know_the_beginning(io, &bot, &meeting, &deadline).await {
        return no_answer(&error);
    }
    // The chat belongs to somebody else's service.
    let subject = ApprovalSubject {
        tool: io.redacted(&subject.tool),
        target: io.redacted(&subject.target),
        session_id: subject.session_id.clone(),
        reason: io.redacted(&subject.reason),
    };
    let messages = message::messages(&subject);
    let wait_ms = i64::try_from(wait_ms).unwrap_or(i64::MAX);
    let mut question = ChatQuestion {
        nonce: nonce(io.start().random, 0),
        chat_id: telegram.chat_id,
        allowed_user_ids: telegram.allowed_user_ids.clone(),
        message_ids: Vec::new(),
        bot: String::new(),
        // What arrives at the last moment and is read then still counts.
        until_ms: io.now().as_millis().saturating_add(wait_ms).saturating_add(LAST_MOMENT_MS),
        complete: messages.complete,
    };
    // Whoever reads the updates must know the question before anybody can press its button.
    if let Err(failure) = publish(io, &meeting, &question).await {
        return no_answer(&failure);
    }
    let verdict = match send(io, &bot, &messages, &mut question, &deadline).await {
        Ok(question_id) => {
            let outcome = match publish(io, &meeting, &question).await {
                Ok(()) => wait(io, &bot, telegram, &meeting, &question, &mut deadline).await,
                Err(failure) => Err(NoAnswer::GaveUp(failure.message)),
            };
            close(io, &bot, &question, &messages, question_id, outcome).await
        }
        Err(error) => no_answer(&error),
    };
    let _ = io.remove(&meeting.question(&question.nonce)).await;
    let _ = io.remove(&meeting.answer(&question.nonce)).await;
    verdict
}

/// Establishes where new updates begin, so that old ones are not taken for answers.
async fn know_the_beginning(
    io: &Io,
    bot: &Bot<'_>,
    meeting: &Meeting,
    deadline: &Deadline,
) -> Result<(), CallError> {
    let lock = meeting.lock();
    let mut wait_ms = limits::LOCK_WAIT_MS.min(deadline.left_ms(io.now()));
    // Whoever holds the lock makes the beginning known, and may then keep the lock to read.
    while !poller::has_offset(io, meeting).await {
        let slice_ms = wait_ms.min(LOOK_EVERY_MS);
        match io.lock(&lock, slice_ms).await {
            Ok(()) => {
                let timeout_ms = deadline.call_ms(io.now());
                let known = poller::establish(io, bot, meeting, timeout_ms).await;
                let _ = io.unlock(&lock).await;
                return known;
            }
            Err(failure) if failure.is_busy() && wait_ms > slice_ms => {
                wait_ms -= slice_ms;
            }
            Err(failure) => return Err(failure.into()),
        }
    }
    Ok(())
}

async fn publish(io: &Io, meeting: &Meeting, question: &ChatQuestion) -> Result<(), Failure> {
    let bytes = document::write_question(question);
    let path = meeting.question(&question.nonce);
    io.write(&path, bytes, Expect::Any, Durability::Relaxed).await.map(|_| ())
}

/// Sends the parts and then the question; returns the id of the message with the buttons.
async fn send(
    io: &Io,
    bot: &Bot<'_>,
    messages: &Messages,
    question: &mut ChatQuestion,
    deadline: &Deadline,
) -> Result<i64, CallError> {
    for part in &messages.parts {
        let payload = message::send_part(question.chat_id, part);
        let sent = bot.call(io, "sendMessage", &payload, deadline.call_ms(io.now())).await?;
        question.message_ids.extend(sent["message_id"].as_i64());
    }
    let payload = message::send_question(question.chat_id, messages, &question.nonce);
    let sent = bot.call(io, "sendMessage", &payload, deadline.call_ms(io.now())).await?;
    let id = sent["message_id"].as_i64().ok_or(CallError::Garbled)?;
    question.message_ids.push(id);
    question.bot = sent["from"]["username"].as_str().unwrap_or_default().to_owned();
    Ok(id)
}

/// Waits for the answer, as the process that reads the updates or beside it.
async fn wait(
    io: &Io,
    bot: &Bot<'_>,
    telegram: &Telegram,
    meeting: &Meeting,
    question: &ChatQuestion,
    deadline: &mut Deadline,
) -> Result<ApprovalChoice, NoAnswer> {
    let lock = meeting.lock();
    let mut reading = false;
    let ended = loop {
        match answer(io, bot, telegram, meeting, question).await {
            Some(choice) => break Ok(choice),
            None if deadline.left_ms(io.now()) == 0 => break Err(NoAnswer::TimedOut),
            None => {}
        }
        let left_ms = deadline.left_ms(io.now());
        if !reading {
            match io.lock(&lock, left_ms.min(LOOK_EVERY_MS)).await {
                Ok(()) => reading = true,
                Err(failure) if failure.is_busy() => deadline.waited(LOOK_EVERY_MS),
                Err(failure) => break Err(NoAnswer::GaveUp(failure.message)),
            }
            // Its last holder may have stored our answer before it let go.
            continue;
        }
        let poll_ms = left_ms.min(telegram.poll_interval_ms);
        // Telegram waits whole seconds; what is left of one must not become a busy loop.
        if poll_ms < 1000
            && let Err(failure) = io.sleep(poll_ms).await
        {
            break Err(NoAnswer::GaveUp(failure.message));
        }
        match poller::read_once(io, bot, meeting, poll_ms).await {
            Ok(()) => deadline.read(poll_ms),
            Err(error) if error.is_final() || deadline.failed() => {
                break Err(NoAnswer::GaveUp(error.to_string()));
            }
            Err(error) => {
                let pause_ms = match error {
                    CallError::Refused { retry_after_ms: Some(ms), .. } => ms,
                    CallError::Failed(_) | CallError::Refused { .. } | CallError::Garbled => {
                        telegram.poll_interval_ms
                    }
                };
                let pause_ms = pause_ms.min(left_ms);
                if let Err(failure) = io.sleep(pause_ms).await {
                    break Err(NoAnswer::GaveUp(failure.message));
                }
                deadline.waited(pause_ms);
            }
        }
    };
    if reading {
        let _ = io.unlock(&lock).await;
    }
    ended
}

/// The answer that was stored for us, if it counts: it is sealed, and of a user whom *our*
/// configuration names. A damaged one never counts, and the question times out.
async fn answer(
    io: &Io,
    bot: &Bot<'_>,
    telegram: &Telegram,
    meeting: &Meeting,
    question: &ChatQuestion,
) -> Option<ApprovalChoice> {
    let path = meeting.answer(&question.nonce);
    let (bytes, _) = io.read(&path, limits::APPROVAL_DOCUMENT_BYTES).await.ok()?;
    let answer = document::read_answer(&bytes).ok()?;
    let expected = seal(bot.token(), &question.nonce, answer.choice, answer.by);
    let counts = answer.seal == expected && telegram.allowed_user_ids.contains(&answer.by);
    (counts && (answer.choice == ApprovalChoice::Deny || question.complete))
        .then_some(answer.choice)
}

/// Shows the outcome in the chat and removes the buttons.
async fn close(
    io: &Io,
    bot: &Bot<'_>,
    question: &ChatQuestion,
    messages: &Messages,
    question_id: i64,
    outcome: Result<ApprovalChoice, NoAnswer>,
) -> Resolution {
    let (shown, verdict) = match outcome {
        Ok(ApprovalChoice::Allow) => (ApprovalChoice::Allow.confirmation(), Resolution::Allow),
        Ok(ApprovalChoice::Deny) => {
            let why = "a person denied it through Telegram".to_owned();
            (ApprovalChoice::Deny.confirmation(), Resolution::Deny(why))
        }
        Err(NoAnswer::TimedOut) => {
            (TIMED_OUT, Resolution::NoAnswer("nobody answered through Telegram in time".to_owned()))
        }
        Err(NoAnswer::GaveUp(why)) => {
            (GIVEN_UP, Resolution::NoAnswer(format!("asking through Telegram: {why}")))
        }
    };
    let html = message::closed(&messages.question, shown);
    let payload = message::edit(question.chat_id, question_id, &html);
    // The answer counts even if the chat cannot show it.
    let _ = bot.call(io, "editMessageText", &payload, limits::APPROVAL_LAST_CALL_MS).await;
    verdict
}

/// When to give up. A clock that stands still must not make us wait for ever, so the time that
/// was waited and the number of reads count as well.
struct Deadline {
    began: Timestamp,
    wait_ms: u64,
    counted_ms: u64,
    failures: u32,
    reads: u64,
}

impl Deadline {
    fn new(began: Timestamp, wait_ms: u64) -> Deadline {
        Deadline { began, wait_ms, counted_ms: 0, failures: 0, reads: 0 }
    }

    fn left_ms(&self, now: Timestamp) -> u64 {
        let passed_ms = now.millis_since(self.began);
        // Where time passes, it is the only measure: a busy chat answers early and often.
        let passed_ms = if passed_ms == 0 { self.counted_ms } else { passed_ms };
        let most_reads = 100 + self.wait_ms / 100;
        if self.reads > most_reads { 0 } else { self.wait_ms.saturating_sub(passed_ms) }
    }

    /// How long a call other than `getUpdates` may take.
    fn call_ms(&self, now: Timestamp) -> u64 {
        let left_ms = self.left_ms(now).max(limits::APPROVAL_LAST_CALL_MS);
        limits::APPROVAL_HTTP_MS.min(left_ms)
    }

    fn waited(&mut self, ms: u64) {
        self.counted_ms += ms;
    }

    fn read(&mut self, ms: u64) {
        self.failures = 0;
        self.reads += 1;
        self.waited(ms);
    }

    /// Whether there were too many failures, this one included.
    fn failed(&mut self) -> bool {
        self.failures += 1;
        self.failures >= limits::APPROVAL_FAILURES
    }
}
