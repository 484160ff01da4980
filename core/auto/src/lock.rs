//! The lock of rw-auto: a file with the time since which a run works.
//!
//! Agents that drive themselves write it too, so the reader understands several forms. A lock is held for
//! [`HELD_MS`] after its newest stamp; children may run longer than that, which is why the
//! holder writes a new stamp as often as it can.

use serde_json::Value;

use super::lines;
use onloop_syntax::time::Timestamp;

/// Age at which a lock is stale, in milliseconds. A stamp as far in the future is broken.
pub const HELD_MS: i64 = 600_000;

/// Whether a lock that exists still counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LockState {
    /// A run holds it.
    Held,
    /// Its run is gone; it may be replaced.
    Stale,
}

/// What a lock with this stamp means at `now`. A lock without any usable stamp is stale.
pub fn state(stamp: Option<Timestamp>, now: Timestamp) -> LockState {
    let Some(stamp) = stamp else {
        return LockState::Stale;
    };
    let age_ms = now.as_millis().saturating_sub(stamp.as_millis());
    if -HELD_MS < age_ms && age_ms < HELD_MS { LockState::Held } else { LockState::Stale }
}

/// When a lock with this content was last known to be held. The content decides; where it
/// names no usable time, the last change of the file does.
pub fn stamp(content: &str, modified: Option<Timestamp>) -> Option<Timestamp> {
    let mut stamps = Stamps::default();
    let body = content.trim_matches(|c: char| c.is_whitespace() || c == '\u{feff}');
    if body.starts_with('{') {
        if let Ok(Value::Object(fields)) = serde_json::from_str(body) {
            for (key, value) in &fields {
                stamps.note(key, json_time(value));
            }
        }
    } else {
        for line in lines::raw(content) {
            stamps.read_line(line);
        }
    }
    stamps.refreshed.or(stamps.newest).or(modified)
}

#[derive(Default)]
struct Stamps {
    /// Our own field takes precedence over every other.
    refreshed: Option<Timestamp>,
    newest: Option<Timestamp>,
}

impl Stamps {
    fn note(&mut self, key: &str, time: Option<Timestamp>) {
        const KEYS: [&str; 6] =
            ["timestamp", "acquired_at", "created_at", "started_at", "ts", "time"];
        if key.eq_ignore_ascii_case("refreshed_at") {
            self.refreshed = self.refreshed.max(time);
        } else if KEYS.iter().any(|known| key.eq_ignore_ascii_case(known)) {
            self.newest = self.newest.max(time);
        }
    }

    /// A bare time (whatever follows it on the line), `KEY=value` or `key: value`.
    fn read_line(&mut self, line: &str) {
        let line = line.trim().trim_start_matches("- ").trim_start();
        if let Some(time) = leading_time(line) {
            self.newest = self.newest.max(Some(time));
        } else if let Some((key, value)) = line.split_once(['=', ':']) {
            let value = value.trim().trim_matches(['"', '\'']);
            self.note(key.trim().trim_matches(['"', '*', '`']), leading_time(value));
        }
    }
}

/// A time at the start of `text`, alone or followed by white space.
fn leading_time(text: &str) -> Option<Timestamp> {
    let mut ends = text.match_indices(char::is_whitespace).map(|(at, _)| at);
    let first = ends.next().unwrap_or(text.len());
    let second = ends.next().unwrap_or(text.len());
    // A date and a time of day may be separated by a blank.
    parse_time(&text[..second]).or_else(|| parse_time(&text[..first]))
}

fn json_time(value: &Value) -> Option<Timestamp> {
    match value {
        Value::String(text) => parse_time(text.trim()),
        Value::Number(number) => epoch(number.as_f64()?),
        Value::Null | Value::Bool(_) | Value::Array(_) | Value::Object(_) => None,
    }
}

/// RFC 3339, the same without a zone (then UTC), or a number of seconds or milliseconds.
fn parse_time(text: &str) -> Option<Timestamp> {
    if !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit()) {
        return epoch(text.parse().ok()?);
    }
    // Without a time of day it is a date, which is too coarse for a lock.
    if !text.contains(['T', 't', ' ']) || text.len() > 64 {
        return None;
    }
    Timestamp::parse_or_utc(text)
}

/// Seconds or milliseconds since 1970: seconds would reach the limit in the year 5138,
/// milliseconds passed it in 1973.
fn epoch(number: f64) -> Option<Timestamp> {
    const SECONDS_LIMIT: f64 = 1e11;
    if !(1.0..1e15).contains(&number) {
        return None;
    }
    let millis = if number < SECONDS_LIMIT { number * 1000.0 } else { number };
    Some(Timestamp::from_millis(millis as i64))
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOW: &str = "2026-02-24T01:00:00Z";

    fn at(text: &str) -> Timestamp {
        Timestamp::parse(text).unwrap()
    }

    fn judged(content: &str) -> LockState {
        state(stamp(content, None), at(NOW))
    }

    #[test]
    fn a_lock_is_held_for_ten_minutes_either_way() {
        for (written, expected) in [
            ("2026-02-24T00:59:30Z", LockState::Held),
            ("2026-02-24T00:50:01Z", LockState::Held),
            ("2026-02-24T00:50:00.001Z", LockState::Held),
            ("2026-02-24T00:50:00Z", LockState::Stale),
            ("2020-01-01T00:00:00Z", LockState::Stale),
            ("2026-02-24T01:09:59Z", LockState::Held),
            ("2026-02-24T01:10:00Z", LockState::Stale),
            ("2099-01-01T00:00:00Z", LockState::Stale),
        ] {
            assert_eq!(judged(written), expected, "{written}");
        }
    }

    #[test]
    fn every_known_form_is_understood() {
        for content in [
            "2026-02-24T00:57:00Z\n",
            "\u{feff}2026-02-24T00:57:00Z\r\n",
            "2026-02-24 00:57:00",
            "20260224T005700Z",
            "2026-02-24T09:57:00+09:00",
            "2026-02-24T00:57:00Z pid 4711",
            "1771894620",
            "1771894620000\n",
            "{\"acquired_at\":\"2026-02-24T00:57:00Z\"}",
            "{\"ts\":1771894620}",
            "{\"time\":1771894620000.5}",
            "{\"acquired_at\":\"2026-02-24T00:10:00Z\",\"refreshed_at\":\"2026-02-24T00:57:00Z\"}",
            "{\"acquired_at\":\"2099-02-24T00:10:00Z\",\"refreshed_at\":\"2026-02-24T00:57:00Z\"}",
            "OWNER=rw-auto\nTIMESTAMP=2026-02-24T00:57:00Z\n",
            "rw-auto lock\n- timestamp: 2026-02-24T00:57:11Z\n",
            "started_at = '2026-02-24 00:57:00'",
        ] {
            assert_eq!(judged(content), LockState::Held, "{content:?}");
        }
    }

    #[test]
    fn what_is_no_time_leaves_it_to_the_file() {
        for content in [
            "",
            "locked",
            "2026-02-31T00:59:00Z",
            "2026-02-24",
            "{\"acquired_at\":\"2026-02-24T00:5",
            "{\"acquired_at\":null,\"note\":\"2026-02-24T00:59:00Z\"}",
            "{\"time\":1e300,\"ts\":-5}",
            "[\"2026-02-24T00:59:00Z\"]",
            "99999999999999999999999999",
            "pid: 4711",
        ] {
            assert_eq!(stamp(content, None), None, "{content:?}");
            assert_eq!(stamp(content, Some(at(NOW))), Some(at(NOW)), "{content:?}");
        }
    }
}
