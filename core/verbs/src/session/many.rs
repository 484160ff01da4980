//! `onloop session clear --all` and `--older-than`.

use super::{SessionClearArgs, found, note};
use onloop_effect::{Exit, Io, OptionalExt};
use onloop_engine::error::CommandError;
use onloop_engine::session::files::{SessionError, Sessions};
use onloop_engine::state::session_places;
use onloop_sessions::handsoff::SessionId;
use onloop_syntax::text;
use onloop_workflow::duration::parse_ms;

pub(super) async fn clear(io: &Io, args: &SessionClearArgs) -> Result<Exit, CommandError> {
    let age_ms = args.older_than.as_deref().map(|given| age("--older-than", given)).transpose()?;
    let (sessions, ids) = found(io).await?;
    let mut meant: Vec<(Sessions, SessionId)> =
        ids.into_iter().map(|id| (sessions.clone(), id)).collect();
    if args.everywhere {
        for place in session_places::all(io).await {
            let kept = Sessions::kept(io, &place.folder);
            if meant.iter().all(|(known, id)| known.home() != kept.home() || *id != place.id) {
                meant.push((kept, place.id));
            }
        }
    }
    let (mut count, mut exit) = (0, Exit::Done);
    for (sessions, id) in meant {
        match clear_one(io, &sessions, &id, age_ms).await {
            Ok(true) => {
                count += 1;
                note(io, &id, "forgotten by `onloop session clear`").await;
            }
            Ok(false) => {}
            // One that cannot be removed keeps no other.
            Err(error) => exit = CommandError::from(error).report(io).await,
        }
    }
    let verb = if count == 1 { "is" } else { "are" };
    io.note(format!("{} {verb} forgotten", text::counted(count, "session"))).await;
    Ok(exit)
}

/// The age that `option` is given, in milliseconds.
pub(super) fn age(option: &str, given: &str) -> Result<u64, CommandError> {
    parse_ms(given).ok_or_else(|| {
        let given = text::ellipsis(&text::one_line(given), 40);
        CommandError::usage(format!(
            "`{option} {given}`: expected a time such as `90s`, `12h` or `7d`, at most `7d`"
        ))
    })
}

/// Whether there was one, and it was old enough.
async fn clear_one(
    io: &Io,
    sessions: &Sessions,
    id: &SessionId,
    age_ms: Option<u64>,
) -> Result<bool, SessionError> {
    if let Some(age_ms) = age_ms {
        // Of one that cannot be read its file tells the time.
        let changed = match sessions.load(id).await {
            Ok(session) => session.and_then(|session| session.updated_at),
            Err(_) => io.stat(&sessions.file(id)).await.ok().map(|stat| stat.modified),
        };
        if changed.is_some_and(|at| io.now().millis_since(at) <= age_ms) {
            return Ok(false);
        }
    }
    // Nothing is made again where a checkout was removed.
    if io.stat(sessions.home()).await.optional()?.is_none() {
        session_places::forget(io, sessions.home(), id.as_str()).await;
        return Ok(true);
    }
    sessions.clear(id).await
}
