//! A hook that a run has handed to its agent for one turn: every call gets a clear answer, for
//! nobody sits before the agent, and each is written down, because not every client tells of calls
//! that were refused.

use super::{Scene, judge};
use crate::documents::turn_policy::{self, JudgedCall};
use crate::effect::{Durability, Failure, FailureKind, Io, OptionalExt};
use crate::hooks::{HookAnswer, HookEvent, HookInput, Host};
use crate::permission::{Call, Decision, Ruling, TurnPolicy};
use crate::{limits, text};

/// How often a line is tried to be added to the log while other hooks add theirs.
const TRIES: u32 = 50;
/// Bytes of a line's texts.
const ABOUT_BYTES: usize = 400;

pub(super) async fn respond(
    io: &Io,
    host: Host,
    input: HookInput,
    timeout_ms: u64,
    policy: &str,
) -> HookAnswer {
    let (HookEvent::ToolCall(call) | HookEvent::PermissionRequest(call)) = input.event.clone()
    else {
        return HookAnswer::Nothing;
    };
    let read = io.read(policy, limits::HOOK_INPUT_BYTES).await;
    let policy = read.map_err(|failure| failure.to_string());
    let policy = policy.and_then(|(bytes, _)| {
        turn_policy::read(&bytes).map_err(|error| format!("what the run says is damaged: {error}"))
    });
    let guard = match policy {
        Ok(read) => read,
        Err(why) => {
            let why = format!("onloop (run): {}", text::one_line(&why));
            return HookAnswer::Decided(Decision::Deny, why);
        }
    };
    let mut scene = Scene::new(io, host, input, timeout_ms).await;
    scene.state_home = Some(guard.state_home);
    let ruling = settled(&scene, &call, &guard.policy).await;
    if let Err(failure) = log(&scene, &call, &ruling, &guard.calls).await {
        // A call that nobody can see afterwards does not run.
        let why = format!("onloop (run): the call cannot be written down: {failure}");
        return HookAnswer::Decided(Decision::Deny, text::one_line(&why));
    }
    judge::decided(&scene, &call, &ruling.ruling).await
}

/// A ruling, and whether somebody made it.
struct Settled {
    ruling: Ruling,
    decided: bool,
}

/// By rules, by whoever can be asked, and else as the run wants it.
async fn settled(scene: &Scene, call: &Call, policy: &TurnPolicy) -> Settled {
    let ruling = judge::by_rules(scene, call).await;
    let known = policy.settle(call, ruling.clone());
    if ruling.decision != Decision::Ask || known.decision == Decision::Allow {
        return Settled { ruling: known, decided: true };
    }
    let ruling = match scene.is_asked_by_us() {
        true => ruling,
        false => judge::escalated(scene, call, ruling).await,
    };
    let decided = ruling.decision != Decision::Ask;
    Settled { ruling: policy.settle(call, ruling), decided }
}

/// Adds a line to the log of the turn.
async fn log(scene: &Scene, call: &Call, settled: &Settled, path: &str) -> Result<(), Failure> {
    let short = |words: &str| text::ellipsis(&text::one_line(words), ABOUT_BYTES);
    let about = scene.io.redacted(&turn_policy::told(&call.input));
    let line = JudgedCall {
        tool: short(&call.tool),
        about: short(&about),
        decision: settled.ruling.decision.as_str().to_owned(),
        decided: settled.decided,
        reason: short(&settled.ruling.reason),
    };
    let mut tries = 0;
    loop {
        let size = scene.io.stat(path).await.optional()?.map_or(0, |stat| stat.size_bytes);
        match scene.io.append(path, line.line(), size, Durability::Relaxed).await {
            Err(failure) if failure.is_conflict() && tries < TRIES => tries += 1,
            Err(failure) if failure.is_conflict() => {
                return Err(Failure::new(FailureKind::Busy, "other hooks write to the log"));
            }
            done => return done,
        }
    }
}
