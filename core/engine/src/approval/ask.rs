//! Asking a person: send, wait for the answer, say in the chat what came of it.
//!
//! A question about a call is asked once: a process that asks about a call with an open question
//! of a process that is gone, takes that one up.

use super::deadline::Deadline;
pub(crate) use super::no_answer::NoAnswer;
use super::poller::{self, PollerPaths};
use super::telegram::{Bot, CallError};
use onloop_documents::approval as document;
use onloop_effect::{Durability, Expect, Failure, Io, OptionalExt};
use onloop_sessions::handsoff::approval::message::{self, GIVEN_UP, Messages, SETTLED, TIMED_OUT};
use onloop_sessions::handsoff::approval::{ApprovalChoice, ChatQuestion, nonce, seal};
use onloop_sessions::handsoff::config::Telegram;
use onloop_syntax::limits;

/// Longest wait for the lock before we look whether its holder has stored our answer.
const LOOK_EVERY_MS: u64 = 1000;

/// How much later a question expires than its asker stops waiting.
const LAST_MOMENT_MS: u64 = 1000;

/// How a person is asked.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Asking<'a> {
    /// Keeps the questions of one process apart.
    pub(crate) asked_before: u32,
    /// How long this process waits, including the time to send.
    pub(crate) wait_ms: u64,
    /// The call that it is about, by the id under which calls wait.
    pub(crate) call: Option<&'a str>,
    /// The session that makes the call.
    pub(crate) session: Option<&'a str>,
    /// Whether the question stays open when there is no answer in that time, as its call waits
    /// without a process.
    pub(crate) stays: bool,
    /// A file, and its size, with whose growth the question is settled elsewhere.
    pub(crate) ends_with: Option<(&'a str, u64)>,
}

/// A person's answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Given {
    /// What they say.
    pub(crate) choice: ApprovalChoice,
    /// What they are called, or their number.
    pub(crate) by: String,
}

/// Who asks, and where.
struct Asker<'a> {
    io: &'a Io,
    bot: Bot<'a>,
    telegram: &'a Telegram,
    paths: PollerPaths,
}

/// Shows a person `messages`, in which nothing is secret any more, and waits for their answer.
pub(crate) async fn person(
    io: &Io,
    telegram: &Telegram,
    messages: &Messages,
    asking: Asking<'_>,
) -> Result<Given, NoAnswer> {
    let session = asking.session.map(str::to_owned);
    let mut deadline = Deadline::new(io.now(), asking.wait_ms, session);
    let asker = Asker::new(io, telegram)?;
    let (io, paths) = (asker.io, &asker.paths);
    deadline.persist(io, telegram, async |_| asker.know_the_beginning().await).await?;
    let taken_up = match asking.call {
        Some(call) => asker.take_up(call).await,
        None => None,
    };
    let (mut question, is_held) = match taken_up {
        Some(question) => (question, true),
        None => {
            let question = asker.question(messages, asking);
            let lock = paths.question_lock(&question.nonce);
            let is_held = io.lock(&lock, 0).await.is_ok();
            (question, is_held)
        }
    };
    let outcome = asker.ask(messages, &mut question, &mut deadline, asking).await;
    if is_held {
        let _ = io.unlock(&paths.question_lock(&question.nonce)).await;
    }
    outcome
}

/// Closes the question that is open about a call which was answered elsewhere, and forgets it.
pub(super) async fn settle(
    io: &Io,
    telegram: &Telegram,
    messages: &Messages,
    call: &str,
    choice: ApprovalChoice,
) {
    let Ok(asker) = Asker::new(io, telegram) else { return };
    let Some(question) = asker.take_up(call).await else { return };
    let lock = asker.paths.question_lock(&question.nonce);
    asker.forget(&question).await;
    asker.close(&question, messages, messages.labels.given(choice)).await;
    let _ = io.unlock(&lock).await;
}

/// What somebody in the chat has said about a call, as far as it was read already.
pub(super) async fn known(io: &Io, telegram: &Telegram, call: &str) -> Option<Given> {
    let asker = Asker::new(io, telegram).ok()?;
    let question = asker.open_about(call).await?;
    asker.answer(&question).await
}

/// Whether a question about a call is open and no process waits for its answer.
pub(super) async fn is_open(io: &Io, telegram: &Telegram, call: &str) -> bool {
    match Asker::new(io, telegram) {
        Ok(asker) => asker.open_about(call).await.is_some(),
        Err(_) => false,
    }
}

impl<'a> Asker<'a> {
    fn new(io: &'a Io, telegram: &'a Telegram) -> Result<Asker<'a>, NoAnswer> {
        let bot = Bot::new(io, &telegram.token)
            .map_err(|insecure| NoAnswer::GaveUp(insecure.to_string()))?;
        let paths = PollerPaths::new(&super::folder(io), &bot);
        Ok(Asker { io, bot, telegram, paths })
    }

    /// A question that was not asked yet.
    fn question(&self, messages: &Messages, asking: Asking<'_>) -> ChatQuestion {
        // What arrives at the last moment and is read then still counts. The process that asks takes
        // its question away when it is over; if that process is gone, the next one takes it.
        let open_ms = match asking.call {
            Some(_) => limits::PENDING_KEPT_MS,
            None => asking.wait_ms.saturating_add(LAST_MOMENT_MS),
        };
        ChatQuestion {
            nonce: nonce(self.io.start().random, asking.asked_before),
            chat_id: self.telegram.chat_id,
            allowed_user_ids: self.telegram.allowed_user_ids.clone(),
            message_ids: Vec::new(),
            bot: String::new(),
            until_ms: self.now_ms().saturating_add_unsigned(open_ms),
            complete: messages.complete,
            call: asking.call.map(str::to_owned),
            repeated: false,
        }
    }

    fn now_ms(&self) -> i64 {
        self.io.now().as_millis()
    }

    /// Sends the question unless it was sent, and waits.
    async fn ask(
        &self,
        messages: &Messages,
        question: &mut ChatQuestion,
        deadline: &mut Deadline,
        Asking { stays, ends_with, .. }: Asking<'_>,
    ) -> Result<Given, NoAnswer> {
        // The reader of the updates must know the question before a person can press its button.
        self.publish(question, Durability::Relaxed).await?;
        if question.message_ids.is_empty() {
            if let Err(why) = self.send(messages, question, deadline).await {
                // It may be there all the same. The next process that asks about the call asks the same.
                let is_kept = question.call.is_some() && matches!(why, NoAnswer::Unreached(_));
                if !is_kept || self.publish(question, Durability::Durable).await.is_err() {
                    self.forget(question).await;
                }
                return Err(why);
            }
            // After a power cut the next process must not ask again.
            if let Err(failure) = self.publish(question, Durability::Durable).await {
                self.close(question, messages, GIVEN_UP).await;
                self.forget(question).await;
                return Err(failure.into());
            }
        }
        let outcome = self.wait(question, deadline, ends_with).await;
        match &outcome {
            Err(NoAnswer::TimedOut) if stays => return Err(NoAnswer::StaysOpen),
            Err(NoAnswer::Unreached(_)) if stays => return outcome,
            Ok(_) | Err(_) => {}
        }
        // An answer counts once: its question is taken away before it is used.
        let outcome = match (outcome, self.forget(question).await) {
            (Ok(given), true) => Ok(given),
            (Ok(_), false) => Err(NoAnswer::GaveUp("the question cannot be taken away".to_owned())),
            (Err(why), _) => Err(why),
        };
        let shown = match &outcome {
            Ok(given) => messages.labels.given(given.choice),
            Err(NoAnswer::TimedOut) => TIMED_OUT,
            Err(NoAnswer::Settled) => SETTLED,
            Err(_) => GIVEN_UP,
        };
        self.close(question, messages, shown).await;
        outcome
    }

    /// Establishes where new updates begin, so that old ones are not taken for answers.
    async fn know_the_beginning(&self) -> Result<(), CallError> {
        let (io, lock) = (self.io, self.paths.lock());
        let mut wait_ms = limits::LOCK_WAIT_MS;
        // The holder of the lock stores the beginning, and may then keep the lock to read.
        while !poller::has_offset(io, &self.paths).await {
            let slice_ms = wait_ms.min(LOOK_EVERY_MS);
            match io.lock(&lock, slice_ms).await {
                Ok(()) => {
                    let timeout_ms = limits::APPROVAL_HTTP_MS;
                    let known = poller::establish(io, &self.bot, &self.paths, timeout_ms).await;
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

    /// The question about a call whose asker is gone, which we hold from now on.
    async fn take_up(&self, call: &str) -> Option<ChatQuestion> {
        let question = self.open_about(call).await?;
        self.io.lock(&self.paths.question_lock(&question.nonce), 0).await.ok()?;
        // It is unknown whether a question that was about to be sent was sent.
        let repeated = question.repeated || question.message_ids.is_empty();
        // Who may answer, and how long, is as it is configured now.
        let allowed_user_ids = self.telegram.allowed_user_ids.clone();
        let until_ms = self.now_ms().saturating_add_unsigned(limits::PENDING_KEPT_MS);
        Some(ChatQuestion { repeated, allowed_user_ids, until_ms, ..question })
    }

    /// The question about a call whose asker is gone.
    async fn open_about(&self, call: &str) -> Option<ChatQuestion> {
        let questions = poller::questions(self.io, &self.paths).await.ok()?;
        for question in questions {
            let is_meant =
                question.call.as_deref() == Some(call) && question.chat_id == self.telegram.chat_id;
            // The chat says that one which is over is over.
            if !is_meant || question.until_ms <= self.now_ms() {
                continue;
            }
            let lock = self.paths.question_lock(&question.nonce);
            let holder = self.io.holder(&lock).await.ok().flatten();
            if holder.is_none_or(|holder| !holder.live) {
                return Some(question);
            }
        }
        None
    }

    async fn publish(&self, question: &ChatQuestion, how: Durability) -> Result<(), Failure> {
        let bytes = document::write_question(question);
        let path = self.paths.question(&question.nonce);
        self.io.write(&path, bytes, Expect::Any, how).await.map(|_| ())
    }

    /// Removes the question, and then its answer, which cannot be found without it. Whether the question is
    /// gone.
    async fn forget(&self, question: &ChatQuestion) -> bool {
        let removed = self.io.remove(&self.paths.question(&question.nonce)).await.optional();
        let _ = self.io.remove(&self.paths.answer(&question.nonce)).await;
        removed.is_ok()
    }

    /// Sends the parts and then the question. A message that the chat did not confirm is sent again: a
    /// question that is there twice is one question, and one that is not there is lost.
    async fn send(
        &self,
        messages: &Messages,
        question: &mut ChatQuestion,
        deadline: &mut Deadline,
    ) -> Result<(), NoAnswer> {
        let (io, telegram, bot) = (self.io, self.telegram, &self.bot);
        let mut ids = Vec::new();
        for part in &messages.parts {
            let payload = message::send_part(question.chat_id, part);
            let send = async |ms| bot.call(io, "sendMessage", &payload, ms).await;
            let sent = deadline.persist(io, telegram, send).await?;
            ids.extend(sent["message_id"].as_i64());
        }
        let payload = message::send_question(question.chat_id, messages, &question.nonce);
        let mut tries = 0_u32;
        let send = async |ms| {
            tries += 1;
            let sent = bot.call(io, "sendMessage", &payload, ms).await?;
            let id = sent["message_id"].as_i64().ok_or(CallError::Garbled)?;
            Ok((id, sent))
        };
        let (id, sent) = deadline.persist(io, telegram, send).await?;
        ids.push(id);
        question.repeated |= tries > 1;
        question.message_ids = ids;
        question.bot = sent["from"]["username"].as_str().unwrap_or_default().to_owned();
        Ok(())
    }

    /// Waits for the answer, as the process that reads the updates or beside it.
    async fn wait(
        &self,
        question: &ChatQuestion,
        deadline: &mut Deadline,
        ends_with: Option<(&str, u64)>,
    ) -> Result<Given, NoAnswer> {
        let (io, lock) = (self.io, self.paths.lock());
        let mut reading = false;
        let ended = loop {
            match self.answer(question).await {
                Some(given) => break Ok(given),
                None if has_grown(io, ends_with).await => break Err(NoAnswer::Settled),
                None if deadline.left_ms(io.now()) == 0 => break Err(deadline.over()),
                None => {}
            }
            let left_ms = deadline.left_ms(io.now());
            if !reading {
                match io.lock(&lock, left_ms.min(LOOK_EVERY_MS)).await {
                    Ok(()) => reading = true,
                    Err(failure) if failure.is_busy() => deadline.waited(LOOK_EVERY_MS),
                    Err(failure) => break Err(failure.into()),
                }
                // Its last holder may have stored our answer before it let go.
                continue;
            }
            let poll_ms = left_ms.min(self.telegram.poll_interval_ms);
            // Telegram waits whole seconds; what is left of one must not become a busy loop.
            if poll_ms < 1000
                && let Err(failure) = io.sleep(poll_ms).await
            {
                break Err(failure.into());
            }
            match poller::read_once(io, &self.bot, &self.paths, poll_ms).await {
                Ok(()) => deadline.read(io, poll_ms).await,
                Err(error) => {
                    if let Err(why) = deadline.endure(io, self.telegram, error).await {
                        break Err(why);
                    }
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
    async fn answer(&self, question: &ChatQuestion) -> Option<Given> {
        let path = self.paths.answer(&question.nonce);
        let (bytes, _) = self.io.read(&path, limits::APPROVAL_DOCUMENT_BYTES).await.ok()?;
        let answer = document::read_answer(&bytes).ok()?;
        let by = (answer.by, answer.name.as_str());
        let expected = seal(self.bot.token(), &question.nonce, answer.choice, by);
        let counts = answer.seal == expected && self.telegram.allowed_user_ids.contains(&answer.by);
        let counts = counts && (answer.choice == ApprovalChoice::Deny || question.complete);
        let by = match answer.name.is_empty() {
            true => format!("user {}", answer.by),
            false => answer.name,
        };
        counts.then_some(Given { choice: answer.choice, by })
    }

    /// Shows in the chat what came of it, and removes the buttons.
    async fn close(&self, question: &ChatQuestion, messages: &Messages, shown: &str) {
        let Some(question_id) = question.message_ids.last() else { return };
        let html = message::closed(&messages.question, shown);
        let payload = message::edit(question.chat_id, *question_id, &html);
        // The answer counts even if the chat cannot show it.
        let timeout_ms = limits::APPROVAL_LAST_CALL_MS;
        let _ = self.bot.call(self.io, "editMessageText", &payload, timeout_ms).await;
    }
}

/// Whether the file has another size than it had.
async fn has_grown(io: &Io, file: Option<(&str, u64)>) -> bool {
    let Some((path, size_bytes)) = file else { return false };
    io.stat(path).await.is_ok_and(|stat| stat.size_bytes != size_bytes)
}
