//! Background tasks: an agent that stops while one runs waits for it. Its client wakes it when the
//! task ends.
//!
//! A task that never ends, such as a development server, must not hold the session for ever. So the
//! wait is bounded, and a task that had its time is not waited for again.

use super::session::{Session, SessionState};
use onloop_syntax::limits;
use onloop_syntax::time::Timestamp;

impl Session {
    /// Its agent has work again.
    pub fn waits_no_longer(&mut self) {
        self.0.tasks_since = None;
    }

    /// The agent stops while the tasks `running` run. Returns until when it waits for them; `None`
    /// if it does not: none runs, or each had its time.
    pub fn waits_for_tasks(&mut self, at: Timestamp, running: &[&str]) -> Option<Timestamp> {
        if !matches!(self.state, SessionState::Open(_)) || self.pause.is_some() {
            return None;
        }
        self.0.tasks.retain(|known| running.contains(&known.as_str()));
        if running.iter().all(|id| self.tasks.iter().any(|known| known == id)) {
            self.0.tasks_since = None;
            return None;
        }
        let since = *self.0.tasks_since.get_or_insert(at);
        let until = after_wait(since);
        if until > at {
            return Some(until);
        }
        self.tasks_had_their_time(running);
        None
    }

    /// The tasks `running` are not waited for any more.
    pub fn tasks_had_their_time(&mut self, running: &[&str]) {
        let ids = running.iter().take(limits::BACKGROUND_TASKS);
        self.0.tasks = ids.map(|&id| id.to_owned()).collect();
        self.0.tasks_since = None;
    }

    /// Until when it waits for background tasks.
    pub fn tasks_until(&self) -> Option<Timestamp> {
        self.tasks_since.map(after_wait)
    }

    /// That it waits for background tasks, for people.
    pub fn task_wait(&self, now: Timestamp) -> Option<&'static str> {
        let until = self.tasks_until()?;
        Some(match until > now {
            true => "waits for its background tasks",
            false => "its background tasks do not end",
        })
    }
}

fn after_wait(since: Timestamp) -> Timestamp {
    since.later(limits::BACKGROUND_WAIT_MS)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::handsoff::command::detect;
    use crate::handsoff::{Pause, Prompt, SessionEnding, SessionId};

    fn at(minutes: i64) -> Timestamp {
        Timestamp::from_millis(minutes * 60_000)
    }

    fn session() -> Session {
        let started = detect("/issue-to-impl 42", &[]).unwrap();
        Session::begin(SessionId::new("s1").unwrap(), started, at(0))
    }

    #[test]
    fn a_task_is_waited_for_once_and_not_for_ever() {
        let mut session = session();
        assert_eq!(session.waits_for_tasks(at(0), &[]), None);
        assert_eq!(session.waits_for_tasks(at(0), &["server"]), Some(at(30)));
        assert_eq!(session.waits_for_tasks(at(10), &["server"]), Some(at(30)));
        assert_eq!(session.waits_for_tasks(at(30), &["server"]), None);
        assert_eq!(session.waits_for_tasks(at(31), &["server"]), None);
        // Another one gets its own time beside it, and so does one that ran before.
        assert_eq!(session.waits_for_tasks(at(40), &["server", "test"]), Some(at(70)));
        assert_eq!(session.waits_for_tasks(at(41), &["server"]), None);
        assert_eq!(session.waits_for_tasks(at(42), &["test"]), Some(at(72)));
        assert_eq!(session.continuation_count, 0);
    }

    #[test]
    fn a_session_that_ends_waits_for_no_task() {
        let mut session = session();
        session.waits_for_tasks(at(0), &["server"]);
        assert_eq!(session.task_wait(at(1)), Some("waits for its background tasks"));
        assert_eq!(session.task_wait(at(30)), Some("its background tasks do not end"));
        session.end(at(1), SessionEnding::Stopped, None);
        assert_eq!((session.tasks_until(), session.task_wait(at(1))), (None, None));
    }

    #[test]
    fn what_is_paused_or_prompted_does_not_wait() {
        let mut session = session();
        session.waits_for_tasks(at(0), &["test"]);
        session.prompted(at(5), Prompt { text: "use node 20", id: None });
        assert_eq!(session.tasks_until(), None);
        assert_eq!(session.waits_for_tasks(at(6), &["test"]), Some(at(36)));
        session.0.pause = Some(Pause::Person);
        assert_eq!(session.waits_for_tasks(at(7), &["test"]), None);
    }
}
