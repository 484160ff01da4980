//! Time from the operating system, or held still.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use onloop_core::effect::Failure;
use onloop_core::time::Timestamp;

use super::Interrupts;

/// The system's clock, unless it is frozen.
#[derive(Debug)]
pub struct OsClock {
    frozen: Option<Timestamp>,
    interrupts: Interrupts,
}

impl OsClock {
    /// A clock that always says `frozen`, or the real time without it. Sleeping takes real
    /// time either way.
    pub fn new(frozen: Option<Timestamp>, interrupts: &Interrupts) -> OsClock {
        OsClock { frozen, interrupts: interrupts.clone() }
    }

    /// The time now.
    pub fn now(&mut self) -> Timestamp {
        self.frozen.unwrap_or_else(|| timestamp(SystemTime::now()))
    }

    /// Whether [`OsClock::now`] never moves; measured durations are then zero, so that two
    /// runs produce the same bytes.
    pub fn is_frozen(&self) -> bool {
        self.frozen.is_some()
    }

    /// Performs `Request::Sleep`.
    pub fn sleep(&mut self, duration_ms: u64) -> Result<(), Failure> {
        self.interrupts.sleep(Duration::from_millis(duration_ms))
    }
}

/// Any time of the system; those before 1970 are negative.
pub fn timestamp(time: SystemTime) -> Timestamp {
    let millis = match time.duration_since(UNIX_EPOCH) {
        Ok(after) => i64::try_from(after.as_millis()).unwrap_or(i64::MAX),
        Err(before) => {
            i64::try_from(before.duration().as_millis()).map_or(i64::MIN, |millis| -millis)
        }
    };
    Timestamp::from_millis(millis)
}
