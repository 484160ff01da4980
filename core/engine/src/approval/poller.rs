//! Reading a bot's updates for everybody who waits: only one process can do that at a time.
//!
//! The holder of the lock reads, and leaves each answer in the folder of answers, sealed. An
//! update is confirmed to Telegram only after the answer in it is on the disk, so a reader
//! that is killed loses none: the next one reads the same updates again.

use super::telegram::{Bot, CallError};
use onloop_documents::approval as document;
use onloop_documents::approval::{Offset, SealedAnswer};
use onloop_effect::{Durability, Expect, Failure, Io, OptionalExt};
use onloop_sessions::handsoff::approval::{
    ChatQuestion, ChatReaction, judge, message, seal, updates,
};
use onloop_syntax::limits;

/// An offset that is older is established anew: after a week without updates Telegram begins to count
/// from anywhere.
const OFFSET_KEPT_MS: i64 = 6 * 24 * 60 * 60 * 1000;

/// The files that the processes that wait for one bot share.
#[derive(Clone, Debug)]
pub(super) struct PollerPaths {
    folder: String,
}

impl PollerPaths {
    pub(super) fn new(folder: &str, bot: &Bot<'_>) -> PollerPaths {
        PollerPaths { folder: format!("{folder}/{}", bot.id()) }
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

    /// Held by the process that waits for the answer.
    pub(super) fn question_lock(&self, nonce: &str) -> String {
        format!("{}/{nonce}.lock", self.questions())
    }

    pub(super) fn answer(&self, nonce: &str) -> String {
        format!("{}/answers/{nonce}.json", self.folder)
    }
}

/// Whether it is known where the updates that matter begin. Without that, an old answer could
/// be taken for a new one.
pub(super) async fn has_offset(io: &Io, paths: &PollerPaths) -> bool {
    read_offset(io, paths).await.is_some()
}

async fn read_offset(io: &Io, paths: &PollerPaths) -> Option<i64> {
    let (bytes, _) = io.read(&paths.offset(), limits::APPROVAL_DOCUMENT_BYTES).await.ok()?;
    let offset = document::read_offset(&bytes).ok()?;
    let age_ms = io.now().as_millis().saturating_sub(offset.at_ms);
    (0..=OFFSET_KEPT_MS).contains(&age_ms).then_some(offset.next)
}

/// Stores where the updates that matter begin: after everything that Telegram has now. Only for
/// the holder of the lock.
///
/// # Errors
///
/// When Telegram does not say, or it cannot be stored.
pub(super) async fn establish(
    io: &Io,
    bot: &Bot<'_>,
    paths: &PollerPaths,
    timeout_ms: u64,
) -> Result<(), CallError> {
    if has_offset(io, paths).await {
        return Ok(());
    }
    let payload = message::updates(-1, 1, 0);
    let answer = bot.answer(io, "getUpdates", &payload, timeout_ms).await?;
    let last = updates::read(&answer.body).ok_or(CallError::Garbled)?;
    let next = last.last().map_or(0, |update| update.update_id.saturating_add(1));
    save_offset(io, paths, next).await
}

async fn save_offset(io: &Io, paths: &PollerPaths, next: i64) -> Result<(), CallError> {
    let bytes = document::write_offset(Offset { next, at_ms: io.now().as_millis() });
    // Without it the beginning would be established anew after a power cut, behind unread updates.
    io.write(&paths.offset(), bytes, Expect::Any, Durability::Durable).await?;
    Ok(())
}

/// Waits up to `wait_ms` for updates and stores the answers in them. Only for the holder of the
/// lock.
///
/// # Errors
///
/// When they cannot be fetched or stored; the offset is unchanged then.
pub(super) async fn read_once(
    io: &Io,
    bot: &Bot<'_>,
    paths: &PollerPaths,
    wait_ms: u64,
) -> Result<(), CallError> {
    let Some(offset) = read_offset(io, paths).await else {
        return establish(io, bot, paths, limits::APPROVAL_HTTP_MS).await;
    };
    // The question may stay open that long, the connection a little longer.
    let wait_sec = wait_ms.min(limits::APPROVAL_POLL_MS) / 1000;
    let payload = message::updates(offset, limits::APPROVAL_UPDATES, wait_sec);
    let timeout_ms = wait_sec * 1000 + limits::APPROVAL_LAST_CALL_MS;
    let answer = bot.answer(io, "getUpdates", &payload, timeout_ms).await?;
    let updates = updates::read(&answer.body).ok_or(CallError::Garbled)?;
    let Some(last) = updates.iter().map(|update| update.update_id).max() else {
        return Ok(());
    };
    // Whatever fails before the offset is stored leaves the updates unconfirmed: Telegram sends
    // them again.
    let (questions, mut decided) = waiting(io, paths).await?;
    for update in &updates {
        let now_ms = io.now().as_millis();
        let acts = judge(update, &questions, now_ms, |nonce| decided.iter().any(|n| n == nonce));
        for act in &acts {
            if let ChatReaction::Decide { nonce, choice, by, name } = act {
                let (choice, by, name) = (*choice, *by, name.clone());
                let seal = seal(bot.token(), nonce, choice, (by, &name));
                let answer = document::write_answer(&SealedAnswer { choice, by, name, seal });
                let path = paths.answer(nonce);
                // The chat forgets what was fetched.
                match io.write(&path, answer, Expect::Absent, Durability::Durable).await {
                    Err(failure) if !failure.is_exists() => return Err(failure.into()),
                    Ok(_) | Err(_) => decided.push(nonce.clone()),
                }
            }
        }
        reply(io, bot, &acts).await;
    }
    let next = last.saturating_add(1).max(offset);
    save_offset(io, paths, next).await
}

/// Tells the person what became of an answer. The answer counts even if this fails.
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
        // A server that does not respond would be waited for again and again.
        if matches!(told, Err(CallError::Failed(_))) {
            return;
        }
    }
}

/// The questions that wait, and the ids of those that have an answer. Questions that expired long
/// ago are removed.
///
/// # Errors
///
/// When a question cannot be read now. One that is damaged is left out: no answer reaches it, and
/// its host asks.
async fn waiting(
    io: &Io,
    paths: &PollerPaths,
) -> Result<(Vec<ChatQuestion>, Vec<String>), Failure> {
    let (mut waiting, mut decided) = (Vec::new(), Vec::new());
    for question in questions(io, paths).await? {
        let (path, answer) = (paths.question(&question.nonce), paths.answer(&question.nonce));
        let kept_ms = i64::try_from(limits::APPROVAL_KEPT_MS).unwrap_or(i64::MAX);
        if question.until_ms.saturating_add(kept_ms) < io.now().as_millis() {
            let _ = io.remove(&path).await;
            let _ = io.remove(&answer).await;
            continue;
        }
        if io.stat(&answer).await.is_ok() {
            decided.push(question.nonce.clone());
        }
        waiting.push(question);
    }
    Ok((waiting, decided))
}

/// Every question that is kept and can be read.
///
/// # Errors
///
/// When one cannot be read now.
pub(super) async fn questions(io: &Io, paths: &PollerPaths) -> Result<Vec<ChatQuestion>, Failure> {
    let names = io.list(&paths.questions()).await.optional()?.unwrap_or_default();
    let mut questions = Vec::new();
    for nonce in names.iter().filter_map(|name| name.strip_suffix(".json")) {
        let path = paths.question(nonce);
        // Between the two its asker may have removed it.
        let read = io.read(&path, limits::APPROVAL_DOCUMENT_BYTES).await.optional()?;
        let Some((bytes, _)) = read else { continue };
        questions.extend(document::read_question(&bytes).ok().filter(|q| q.nonce == nonce));
    }
    Ok(questions)
}
