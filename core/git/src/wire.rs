//! The JSON between a task and a host that is not written in Rust. Bytes travel beside it, as in
//! [`onloop_effect::wire`].

use onloop_effect::wire::{Malformed, Message, attach, detach};
use onloop_effect::{Failure, GitRequest};
use serde::Deserialize;
use serde_json::{Value, json};

use crate::{StepReply, Surroundings, TaskTurn};

/// What a task begins with.
#[derive(Deserialize)]
struct Beginning {
    request: GitRequest,
    #[serde(flatten)]
    surroundings: Surroundings,
}

/// The reply to a step, or why it was not done.
#[derive(Deserialize)]
#[serde(rename_all = "snake_case")]
enum Reply {
    Reply(StepReply),
    Failure(Failure),
}

/// Reads a request and where it is performed: `{"request": …, "cwd": …, "env": …, "longest_ms": …}`.
///
/// # Errors
///
/// [`Malformed`] with the position in the JSON.
pub fn read_beginning(mut message: Message) -> Result<(GitRequest, Surroundings), Malformed> {
    let read = serde_json::from_str(&message.json);
    let Beginning { mut request, surroundings } =
        read.map_err(|error| Malformed::new("request to git", error))?;
    attach(request.bytes_mut(), &mut message.attachments)?;
    Ok((request, surroundings))
}

/// Reads the reply to a step: `{"reply": …}` or `{"failure": …}`.
///
/// # Errors
///
/// [`Malformed`] with the position in the JSON.
pub fn read_reply(mut message: Message) -> Result<Result<StepReply, Failure>, Malformed> {
    let read = serde_json::from_str(&message.json);
    match read.map_err(|error| Malformed::new("reply to a step of git", error))? {
        Reply::Reply(mut reply) => {
            attach(reply.bytes_mut(), &mut message.attachments)?;
            Ok(Ok(reply))
        }
        Reply::Failure(failure) => Ok(Err(failure)),
    }
}

/// Writes what a task wants: `{"step": …}`, `{"outcome": …}` or `{"failure": …}`.
pub fn write_turn(mut turn: TaskTurn) -> Message {
    let attachments = match &mut turn {
        TaskTurn::Step(step) => detach(step.bytes_mut()),
        TaskTurn::End(Ok(outcome)) => detach(outcome.bytes_mut()),
        TaskTurn::End(Err(_)) => Vec::new(),
    };
    let document: Value = match &turn {
        TaskTurn::Step(step) => json!({ "step": step }),
        TaskTurn::End(Ok(outcome)) => json!({ "outcome": outcome }),
        TaskTurn::End(Err(failure)) => json!({ "failure": failure }),
    };
    Message { json: document.to_string(), attachments }
}
