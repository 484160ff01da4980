//! Decides when to draw, to read and to wait.

use std::time::{Duration, Instant};

/// Shortest time between two reads of the machine.
const LOOK_EVERY: Duration = Duration::from_millis(500);
/// Shortest time between two frames.
const DRAW_EVERY: Duration = Duration::from_millis(80);
/// Longest age of a frame, which shows minutes.
pub(super) const REFRESH: Duration = Duration::from_secs(30);

/// What is due.
#[derive(Debug)]
pub(super) struct Pace {
    looked: Instant,
    drawn: Option<Instant>,
    /// Something may have changed since the last read.
    pub(super) is_stale: bool,
    /// The frame differs from the model.
    pub(super) is_dirty: bool,
}

impl Pace {
    /// After a read, before the first frame.
    pub(super) fn new(now: Instant) -> Pace {
        Pace { looked: now, drawn: None, is_stale: false, is_dirty: true }
    }

    pub(super) fn looked(&mut self, now: Instant) {
        (self.looked, self.is_stale, self.is_dirty) = (now, false, true);
    }

    pub(super) fn drawn(&mut self, now: Instant) {
        (self.drawn, self.is_dirty) = (Some(now), false);
    }

    pub(super) fn may_draw(&self, now: Instant) -> bool {
        let is_early = |drawn| now.saturating_duration_since(drawn) < DRAW_EVERY;
        self.is_dirty && !self.drawn.is_some_and(is_early)
    }

    pub(super) fn may_look(&self, now: Instant) -> bool {
        let since = now.saturating_duration_since(self.looked);
        since >= REFRESH || (self.is_stale && since >= LOOK_EVERY)
    }

    /// Whether a change event matters. While a read is due, every event would only wake the loop.
    pub(super) fn hears(&self) -> bool {
        !self.is_stale
    }

    /// Longest wait for other events.
    pub(super) fn longest(&self, now: Instant) -> Duration {
        let left =
            |since, every: Duration| every.saturating_sub(now.saturating_duration_since(since));
        let look = left(self.looked, if self.is_stale { LOOK_EVERY } else { REFRESH });
        let draw = self.drawn.filter(|_| self.is_dirty).map(|drawn| left(drawn, DRAW_EVERY));
        draw.map_or(look, |draw| draw.min(look))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: Duration = Duration::from_millis(1);

    #[test]
    fn a_change_does_not_wake_the_loop_while_a_read_is_due() {
        let begin = Instant::now();
        let mut pace = Pace::new(begin);
        pace.drawn(begin);
        assert!(pace.hears() && !pace.may_look(begin + LOOK_EVERY));
        assert_eq!(pace.longest(begin), REFRESH);
        pace.is_stale = true;
        assert!(!pace.hears() && !pace.may_look(begin + LOOK_EVERY - MS));
        assert_eq!(pace.longest(begin + 100 * MS), LOOK_EVERY - 100 * MS);
        assert!(pace.may_look(begin + LOOK_EVERY));
        pace.looked(begin + LOOK_EVERY);
        assert!(pace.hears() && pace.is_dirty);
    }

    #[test]
    fn without_a_notice_it_is_looked_at_in_the_end() {
        let begin = Instant::now();
        let pace = Pace::new(begin);
        assert!(!pace.may_look(begin + REFRESH - MS) && pace.may_look(begin + REFRESH));
    }

    #[test]
    fn pictures_follow_each_other_at_a_distance() {
        let begin = Instant::now();
        let mut pace = Pace::new(begin);
        assert!(pace.may_draw(begin));
        pace.drawn(begin);
        assert!(!pace.may_draw(begin + DRAW_EVERY));
        pace.is_dirty = true;
        assert!(!pace.may_draw(begin + DRAW_EVERY - MS) && pace.may_draw(begin + DRAW_EVERY));
        assert_eq!(pace.longest(begin + 30 * MS), DRAW_EVERY - 30 * MS);
    }
}
