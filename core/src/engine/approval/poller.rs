//! Reading a bot's updates for everybody who waits: only one process can do that at a time.
//!
//! Whoever holds the lock reads, and leaves each answer in the folder of answers, sealed. An
//! update is confirmed to Telegram only after the answer in it is on the disk, so a reader
//! that is killed loses none: the next one reads the same updates again.

use super::telegram::{Bot, CallError};
use crate::documents::approval as document;
use crate::documents::approval::{Offset, SealedAnswer};
use crate::effect::{Durability, Expect, FailureKind, Io};
use crate::handsoff::approval::{ChatQuestion, ChatReaction, judge, message, seal, updates};
use crate::limits;

/// An offset that is older is asked for anew.
const OFFSET_KEPT_MS: i64 = 24 * 60 * 60 * 1000;

/// Where the processes that wait for one bot meet.
#[derive(Clone, Debug)]
pub(super) struct Meeting {
    folder: String,
}

impl Meeting {
    pub(super) fn new(folder: &str, bot: &Bot<'_>) -> Meeting {
        Meeting { folder: format!("{folder}/{}", bot.id()) }
    }

    pub(super) fn lock(&self) -> String {
        format!("{}/reader.lock", self.folder)
    }

    fn offset(&self) -> String {
        format!("{}/offset.json", self.folder)
    }

    fn questions(&self) -> String {
        format!("{}/questions", self.folder)
    }

    pub(super) fn question(&self, nonce: &str) -> String {
        format!("{}/{nonce}.json", self.questions())
    }

    pub(super) fn answer(&self, nonce: &str) -> String {
        format!("{}/answers/{nonce}.json", self.folder)
    }
}

/// Whether it is known where the updates that matter begin. Without that, an old answer could
/// be taken for a new one.
pub(super) async fn has_offset(io: &Io, meeting: &Meeting) -> bool {
    read_offset(io, meeting).await.is_some()
}

async fn read_offset(io: &Io, meeting: &Meeting) -> Option<i64> {
    let (bytes, _) = io.read(&meeting.offset(), limits::APPROVAL_DOCUMENT_BYTES).await.ok()?;
    let offset = document::read_offset(&bytes).ok()?;
    // After a quiet week Telegram begins to count anew, perhaps below where it was.
    let age_ms = io.now().as_millis().saturating_sub(offset.at_ms);
    (0..=OFFSET_KEPT_MS).contains(&age_ms).then_some(offset.next)
}

/// Makes sure that it is known where the updates that matter begin: behind everything that
/// Telegram has now. Only for who holds the lock.
///
/// # Errors
///
/// When Telegram does not say, or it cannot be written down.
pub(super) async fn establish(
    io: &Io,
    bot: &Bot<'_>,
    meeting: &Meeting,
    timeout_ms: u64,
) -> Result<(), String> {
    if has_offset(io, meeting).await {
        return Ok(());
    }
    let payload = message::updates(-1, 1, 0);
    let answer = bot.answer(io, "getUpdates", &payload, timeout_ms).await;
    let last = answer
        .and_then(|answer| updates::read(&answer.body).ok_or(CallError::Garbled))
        .map_err(|error| error.to_string())?;
    let next = last.last().map_or(0, |update| update.update_id.saturating_add(1));
    save_offset(io, meeting, next).await
}

async fn save_offset(io: &Io, meeting: &Meeting, next: i64) -> Result<(), String> {
    let bytes = document::write_offset(Offset { next, at_ms: io.now().as_millis() });
    match io.write(&meeting.offset(), bytes, Expect::Any, Durability::Relaxed).await {
        Ok(_) => Ok(()),
        Err(failure) => Err(failure.message),
    }
}

/// Waits up to `wait_ms` for updates and passes on what they answer. Only for who holds the
/// lock.
///
/// # Errors
///
/// When there are none to be had; the offset is then as it was.
pub(super) async fn read_once(
    io: &Io,
    bot: &Bot<'_>,
    meeting: &Meeting,
    wait_ms: u64,
) -> Result<(), CallError> {
    let offset = read_offset(io, meeting).await.ok_or(CallError::Garbled)?;
    // The question may stay open that long, the connection a little longer.
    let wait_sec = wait_ms.min(limits::APPROVAL_POLL_MS) / 1000;
    let payload = message::updates(offset, limits::APPROVAL_UPDATES, wait_sec);
    let timeout_ms = wait_sec * 1000 + limits::APPROVAL_LAST_CALL_MS;
    let answer = bot.answer(io, "getUpdates", &payload, timeout_ms).await?;
    let incoming = updates::read(&answer.body).ok_or(CallError::Garbled)?;
    let Some(last) = incoming.iter().map(|update| update.update_id).max() else {
        return Ok(());
    };
    let (questions, mut decided) = waiting(io, meeting).await;
    for update in &incoming {
        let now_ms = io.now().as_millis();
        let acts = judge(update, &questions, now_ms, |nonce| decided.iter().any(|n| n == nonce));
        for act in &acts {
            if let ChatReaction::Decide { nonce, choice, by } = act {
                let seal = seal(bot.token(), nonce, *choice, *by);
                let answer =
                    document::write_answer(&SealedAnswer { choice: *choice, by: *by, seal });
                let path = meeting.answer(nonce);
                match io.write(&path, answer, Expect::Absent, Durability::Relaxed).await {
                    Ok(_) => decided.push(nonce.clone()),
                    Err(failure) if failure.kind == FailureKind::Exists => {
                        decided.push(nonce.clone());
                    }
                    // Not confirmed, it will be told again.
                    Err(failure) => return Err(CallError::Failed(failure)),
                }
            }
        }
        reply(io, bot, &acts).await;
    }
    let next = last.saturating_add(1).max(offset);
    save_offset(io, meeting, next)
        .await
        .map_err(|why| CallError::Failed(crate::effect::Failure::new(FailureKind::Other, why)))
}

/// Tells the person what became of an answer. That it could not be told changes nothing.
async fn reply(io: &Io, bot: &Bot<'_>, acts: &[ChatReaction]) {
    let timeout_ms = limits::APPROVAL_LAST_CALL_MS;
    for act in acts {
        let told = match act {
            ChatReaction::Decide { .. } => continue,
            ChatReaction::Acknowledge { callback_id, text } => {
                let payload = message::acknowledge(callback_id, text);
                bot.call(io, "answerCallbackQuery", &payload, timeout_ms).await
            }
            ChatReaction::Confirm { chat_id, reply_to, text } => {
                let payload = message::confirm(*chat_id, *reply_to, text);
                bot.call(io, "sendMessage", &payload, timeout_ms).await
            }
        };
        // One that does not answer would be waited for again and again.
        if matches!(told, Err(CallError::Failed(_))) {
            return;
        }
    }
}

/// The questions that wait, and the numbers of those that have an answer. What is long over is
/// swept away.
async fn waiting(io: &Io, meeting: &Meeting) -> (Vec<ChatQuestion>, Vec<String>) {
    let names = io.list(&meeting.questions()).await.unwrap_or_default();
    let (mut questions, mut decided) = (Vec::new(), Vec::new());
    for nonce in names.iter().filter_map(|name| name.strip_suffix(".json")) {
        let path = meeting.question(nonce);
        let Ok((bytes, _)) = io.read(&path, limits::APPROVAL_DOCUMENT_BYTES).await else {
            continue;
        };
        let Some(question) = document::read_question(&bytes).ok().filter(|q| q.nonce == nonce)
        else {
            continue;
        };
        let kept_ms = i64::try_from(limits::APPROVAL_KEPT_MS).unwrap_or(i64::MAX);
        if question.until_ms.saturating_add(kept_ms) < io.now().as_millis() {
            let _ = io.remove(&path).await;
            let _ = io.remove(&meeting.answer(nonce)).await;
            continue;
        }
        if io.stat(&meeting.answer(nonce)).await.is_ok() {
            decided.push(nonce.to_owned());
        }
        questions.push(question);
    }
    (questions, decided)
}
