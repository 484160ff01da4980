//! Running them through the engine.

use std::process::Command;

use onloop_core::effect::{Capture, ProcessSpec, ProcessStatus};

use super::super::Orphans;
use super::super::child::Place;
use super::super::unix::{Attention, Beginning, Unstarted};
use super::{Bounds, HostProgramEnd, HostProgramError, HostPrograms, STDERR_BYTES};
use crate::host::failure;

pub(super) fn run(
    programs: &HostPrograms,
    mut command: Command,
    input: &[u8],
    bounds: Bounds,
) -> Result<HostProgramEnd, HostProgramError> {
    // Both ends of a stream are kept, and together they are all that may come. What a program says of a
    // failure is kept whole also where its answer may only be short.
    let each_end = bounds.limit_bytes.max(STDERR_BYTES).div_ceil(2);
    let each_end = usize::try_from(each_end).unwrap_or(usize::MAX);
    let mut spec =
        ProcessSpec::argv::<&str>([]).timeout_ms(bounds.timeout_ms).capture_bytes(each_end);
    if !input.is_empty() {
        spec = spec.with_stdin(input);
    }
    let beginning = Beginning {
        place: Place::OwnSessionForGood,
        restrictions: None,
        log: None,
        attention: programs.interrupts.clone().map_or(Attention::None, Attention::Shares),
        group: programs.running.clone(),
        orphans: Orphans::Leave,
    };
    let running = beginning.start(&mut command, &spec).map_err(|unstarted| match unstarted {
        Unstarted::Refused(error) => HostProgramError::Unstarted(error),
        Unstarted::Lost(error) => {
            HostProgramError::Failed(failure::of(&error, "cannot follow a process"))
        }
    })?;
    let (end, waited_for) = running.follow_to_its_end().map_err(HostProgramError::Failed)?;
    let exit = match end.status {
        ProcessStatus::Exited(exit) => exit,
        ProcessStatus::Signalled(_) => -1,
        ProcessStatus::TimedOut => return Ok(HostProgramEnd::TimedOut(waited_for)),
        ProcessStatus::Interrupted => return Ok(HostProgramEnd::Interrupted(waited_for)),
    };
    if end.stdout.total_bytes > bounds.limit_bytes {
        return Ok(HostProgramEnd::TooLarge);
    }
    Ok(HostProgramEnd::Ended { exit, stdout: joined(end.stdout), stderr: joined(end.stderr) })
}

fn joined(Capture { head, tail, .. }: Capture) -> Vec<u8> {
    let mut bytes = Vec::from(head);
    bytes.extend_from_slice(&tail);
    bytes
}
