//! Dates and times of day in UTC, and the texts that people and programs write for them.
//!
//! A calendar library adds zones and spans that core does not need, and made up an eighth of the
//! WebAssembly module. The tests compare this module with that library.

use std::fmt;

const DAY_SECONDS: i64 = 86_400;
/// Days from 0000-03-01 to 1970-01-01.
const EPOCH_DAYS: i64 = 719_468;
/// A cycle of the Gregorian calendar: 400 years.
const ERA_DAYS: i64 = 146_097;

/// A point in time in calendar and clock fields.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Civil {
    year: i64,
    month: i64,
    day: i64,
    second_of_day: i64,
}

/// A text form of a point in time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum TimeForm {
    /// `2026-03-20T21:23:15+00:00`.
    Rfc3339,
    /// `20260320T212315Z`.
    RunId,
    /// `21:23:15`.
    Clock,
    /// `2026-03-20`.
    Date,
}

impl Civil {
    pub(super) fn from_millis(millis: i64) -> Civil {
        let seconds = millis.div_euclid(1000);
        // Years begin in March here, so that the leap day comes last.
        let days = seconds.div_euclid(DAY_SECONDS) + EPOCH_DAYS;
        let (era, day) = (days.div_euclid(ERA_DAYS), days.rem_euclid(ERA_DAYS));
        let year = (day - day / 1460 + day / 36_524 - day / 146_096) / 365;
        let day = day - (365 * year + year / 4 - year / 100);
        let month = (5 * day + 2) / 153;
        let in_next_year = i64::from(month >= 10);
        Civil {
            year: era * 400 + year + in_next_year,
            month: month + 3 - 12 * in_next_year,
            day: day - (153 * month + 2) / 5 + 1,
            second_of_day: seconds.rem_euclid(DAY_SECONDS),
        }
    }

    /// Seconds since 1970.
    fn seconds(self) -> i64 {
        let before_march = i64::from(self.month <= 2);
        let years = self.year - before_march;
        let (era, year) = (years.div_euclid(400), years.rem_euclid(400));
        let month = self.month + 12 * before_march - 3;
        let day = 365 * year + year / 4 - year / 100 + (153 * month + 2) / 5 + self.day - 1;
        (era * ERA_DAYS + day - EPOCH_DAYS) * DAY_SECONDS + self.second_of_day
    }

    fn is_in_calendar(self) -> bool {
        let is_leap = self.year % 4 == 0 && (self.year % 100 != 0 || self.year % 400 == 0);
        let days = match self.month {
            2 => 28 + i64::from(is_leap),
            4 | 6 | 9 | 11 => 30,
            1 | 3 | 5 | 7 | 8 | 10 | 12 => 31,
            _ => return false,
        };
        (1..=days).contains(&self.day)
    }

    pub(super) fn to_text(self, form: TimeForm) -> String {
        let Civil { year, month, day, second_of_day } = self;
        let (hour, minute) = (second_of_day / 3600, second_of_day / 60 % 60);
        let second = second_of_day % 60;
        let year = Year(year);
        match form {
            TimeForm::Rfc3339 => {
                format!("{year}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}+00:00")
            }
            TimeForm::RunId => format!("{year}{month:02}{day:02}T{hour:02}{minute:02}{second:02}Z"),
            TimeForm::Clock => format!("{hour:02}:{minute:02}:{second:02}"),
            TimeForm::Date => format!("{year}-{month:02}-{day:02}"),
        }
    }
}

/// Four digits, with a sign before negative years.
struct Year(i64);

impl fmt::Display for Year {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let sign = if self.0 < 0 { "-" } else { "" };
        write!(f, "{sign}{:04}", self.0.unsigned_abs())
    }
}

/// The content of a text about a point in time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct WrittenTime {
    /// Milliseconds since 1970, with the text's clock read as UTC.
    clock_ms: i64,
    /// Seconds that its clock is ahead of UTC; `None` without a zone.
    ahead_s: Option<i64>,
}

impl WrittenTime {
    /// Milliseconds since 1970; none without a zone.
    pub(super) fn in_its_zone(self) -> Option<i64> {
        Some(self.clock_ms - self.ahead_s? * 1000)
    }

    /// Milliseconds since 1970; without a zone it is UTC.
    pub(super) fn in_its_zone_or_utc(self) -> i64 {
        self.clock_ms - self.ahead_s.unwrap_or(0) * 1000
    }
}

/// Reads RFC 3339 and further forms of ISO 8601: separators, seconds and the zone are optional, and
/// a blank may replace the `T`. A leap second counts as the second before it.
pub(super) fn read(text: &str) -> Option<WrittenTime> {
    let mut rest = Reader { rest: text.as_bytes() };
    let year = rest.number(4)?;
    let is_apart = rest.skip(b"-");
    let month = rest.number(2)?;
    if rest.skip(b"-") != is_apart {
        return None;
    }
    let day = rest.number(2)?;
    if !rest.skip(b"Tt ") {
        return None;
    }
    let (second_of_day, millis) = rest.time_of_day()?;
    let ahead_s = rest.zone()?;
    let civil = Civil { year, month, day, second_of_day };
    if !rest.rest.is_empty() || !civil.is_in_calendar() {
        return None;
    }
    // Rounds toward 1970, as an instant counts whole milliseconds.
    let clock_ms = civil.seconds() * 1000 + millis;
    Some(WrittenTime { clock_ms, ahead_s })
}

struct Reader<'a> {
    rest: &'a [u8],
}

impl Reader<'_> {
    /// Exactly `digits` digits.
    fn number(&mut self, digits: usize) -> Option<i64> {
        let (found, rest) = self.rest.split_at_checked(digits)?;
        self.rest = rest;
        found.iter().try_fold(0, |number, digit| {
            digit.is_ascii_digit().then(|| number * 10 + i64::from(digit - b'0'))
        })
    }

    fn number_to(&mut self, limit: i64) -> Option<i64> {
        self.number(2).filter(|number| *number <= limit)
    }

    /// Whether the next byte is one of these; consumes it.
    fn skip(&mut self, bytes: &[u8]) -> bool {
        let found = self.rest.first().is_some_and(|first| bytes.contains(first));
        self.rest = &self.rest[usize::from(found)..];
        found
    }

    fn has_digit(&self) -> bool {
        self.rest.first().is_some_and(u8::is_ascii_digit)
    }

    /// Seconds and milliseconds.
    fn time_of_day(&mut self) -> Option<(i64, i64)> {
        let hour = self.number_to(23)?;
        let is_apart = self.skip(b":");
        let minute = self.number_to(59)?;
        let mut second = 0;
        let mut millis = 0;
        if if is_apart { self.skip(b":") } else { self.has_digit() } {
            second = self.number_to(60)?.min(59);
            if self.skip(b".,") {
                millis = self.fraction()?;
            }
        }
        Some((hour * 3600 + minute * 60 + second, millis))
    }

    /// One to nine digits, as milliseconds.
    fn fraction(&mut self) -> Option<i64> {
        let digits = self.rest.iter().take_while(|byte| byte.is_ascii_digit()).count();
        if !(1..=9).contains(&digits) {
            return None;
        }
        let nanos = self.number(digits)? * 10_i64.pow(9 - digits as u32);
        Some(nanos / 1_000_000)
    }

    /// The outer `None`: not a time zone.
    fn zone(&mut self) -> Option<Option<i64>> {
        if self.skip(b"Zz") {
            return Some(Some(0));
        }
        let is_behind = self.rest.first() == Some(&b'-');
        if !self.skip(b"+-") {
            return Some(None);
        }
        let mut ahead = self.number_to(25)? * 3600;
        if self.skip(b":") || self.has_digit() {
            ahead += self.number_to(59)? * 60;
        }
        Some(Some(if is_behind { -ahead } else { ahead }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Whether the library reads the same from a text.
    fn of_the_library(text: &str) -> Option<i64> {
        text.parse::<jiff::Timestamp>().ok().map(jiff::Timestamp::as_millisecond)
    }

    #[test]
    fn texts_mean_what_they_mean_to_the_library() {
        let texts = [
            "1970-01-01T00:00:00Z",
            "2026-03-20T21:23:15Z",
            "2026-03-20t21:23:15z",
            "2026-03-20 21:23:15+00:00",
            "2026-03-20T21:23:15.123456+01:30",
            "2026-03-20T21:23:15,5-08",
            "2026-03-20T21:23:15.123456789Z",
            "2026-03-20T21:23Z",
            "20260320T212315Z",
            "20260320T2123Z",
            "20260320T212315.25+0530",
            "2016-12-31T23:59:60Z",
            "2024-02-29T12:00:00Z",
            "2000-02-29T12:00:00Z",
            "0000-01-01T00:00:00Z",
            "0001-03-01T00:00:00+23:59",
            "9999-12-30T21:59:59Z",
            "1900-02-29T00:00:00Z",
            "2023-02-29T00:00:00Z",
            "2026-04-31T00:00:00Z",
            "2026-00-10T00:00:00Z",
            "2026-13-01T00:00:00Z",
            "2026-01-00T00:00:00Z",
            "2026-01-01T24:00:00Z",
            "2026-01-01T23:60:00Z",
            "2026-01-01T23:59:61Z",
            "2026-01-01T23:59:59.Z",
            "2026-01-01T23:59:59.1234567890Z",
            "2026-01-01T23:59:59+",
            "2026-01-01T23:59:59+1",
            "2026-01-01T23:59:59+01:",
            "2026-01-01T23:59:59+26:00",
            "2026-01-01T23:59:59",
            "2026-01-01",
            "2026-0101T00:00:00Z",
            "2026-01-01T00:00:00Z ",
            "2026-01-01T00:00:00Zulu",
            "26-01-01T00:00:00Z",
            "２026-01-01T00:00:00Z",
            "",
        ];
        for text in texts {
            let ours = read(text).and_then(WrittenTime::in_its_zone);
            assert_eq!(ours, of_the_library(text), "{text}");
        }
    }

    #[test]
    fn every_day_is_written_as_the_library_writes_it_and_read_again() {
        let days = jiff::Timestamp::MIN.as_second() / DAY_SECONDS
            ..jiff::Timestamp::MAX.as_second() / DAY_SECONDS;
        // A step that no calendar cycle divides, and every day of some leap years.
        let sparse = days.clone().step_by(97);
        let around_now = -4 * 366..ERA_DAYS;
        for day in sparse.chain(around_now) {
            // A different second of each day.
            let second = day * DAY_SECONDS + day.rem_euclid(DAY_SECONDS);
            let zoned = jiff::Timestamp::from_second(second)
                .expect("within the library's range")
                .to_zoned(jiff::tz::TimeZone::UTC);
            let text = Civil::from_millis(second * 1000).to_text(TimeForm::Rfc3339);
            if zoned.year() >= 0 {
                assert_eq!(text, zoned.strftime("%Y-%m-%dT%H:%M:%S+00:00").to_string());
                assert_eq!(read(&text).map(WrittenTime::in_its_zone_or_utc), Some(second * 1000));
            } else {
                assert!(text.starts_with('-') && read(&text).is_none(), "{text}");
            }
        }
    }

    #[test]
    fn a_time_without_a_zone_is_known_as_such() {
        let written = read("2026-03-20 21:23:15").unwrap();
        assert_eq!(written.in_its_zone(), None);
        let with_zone = read("2026-03-20T21:23:15Z").unwrap();
        assert_eq!(Some(written.in_its_zone_or_utc()), with_zone.in_its_zone());
    }
}
