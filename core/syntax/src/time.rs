//! Points in time. The host supplies them; this crate has no clock.

mod civil;

use serde::de::{Error, Unexpected};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use civil::{Civil, TimeForm, WrittenTime};

/// The range of a four-digit year and of the negative years that a clock can show.
const RANGE_MS: std::ops::RangeInclusive<i64> = -377_705_023_201_000..=253_402_207_200_999;

/// The pause before the next try after `failures` earlier ones, in milliseconds: `first_ms`, doubled for
/// each failure, at most `longest_ms`.
pub fn backoff_ms(first_ms: u64, failures: u32, longest_ms: u64) -> u64 {
    let growth = 1_u64.checked_shl(failures).unwrap_or(u64::MAX);
    first_ms.saturating_mul(growth).min(longest_ms)
}

/// Milliseconds since 1970-01-01T00:00:00Z.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Timestamp(i64);

impl Timestamp {
    /// 1970-01-01T00:00:00Z.
    pub const EPOCH: Timestamp = Timestamp(0);

    /// A point in time; milliseconds outside the years -9999 to 9999 are clamped.
    pub fn from_millis(millis: i64) -> Self {
        Timestamp(millis.clamp(*RANGE_MS.start(), *RANGE_MS.end()))
    }

    /// Milliseconds since the epoch.
    pub fn as_millis(self) -> i64 {
        self.0
    }

    /// So many milliseconds later, clamped as [`from_millis`](Self::from_millis) does.
    pub fn later(self, ms: u64) -> Timestamp {
        Self::from_millis(self.0.saturating_add(i64::try_from(ms).unwrap_or(i64::MAX)))
    }

    /// Milliseconds from `earlier` to `self`; zero when the clock went backwards.
    pub fn millis_since(self, earlier: Timestamp) -> u64 {
        u64::try_from(self.0.saturating_sub(earlier.0)).unwrap_or(0)
    }

    /// Reads RFC 3339 (`2026-03-20T21:23:15Z`, any offset) or epoch milliseconds.
    pub fn parse(text: &str) -> Option<Self> {
        let text = text.trim();
        if let Ok(millis) = text.parse::<i64>() {
            return Some(Self::from_millis(millis));
        }
        civil::read(text).and_then(WrittenTime::in_its_zone).map(Self::from_millis)
    }

    /// Reads a date with a time of day as [`parse`](Self::parse) does; without a zone it is UTC.
    pub fn parse_or_utc(text: &str) -> Option<Self> {
        civil::read(text).map(|written| Self::from_millis(written.in_its_zone_or_utc()))
    }

    /// `2026-03-20T21:23:15+00:00`, the form of the record.
    pub fn to_rfc3339(self) -> String {
        Civil::from_millis(self.0).to_text(TimeForm::Rfc3339)
    }

    /// `2026-03-20T21:23:15.042Z`: lossless, so [`parse`](Self::parse) returns the same time.
    pub fn to_rfc3339_millis(self) -> String {
        let seconds = Civil::from_millis(self.0).to_text(TimeForm::Rfc3339);
        let seconds = seconds.trim_end_matches("+00:00");
        format!("{seconds}.{:03}Z", self.0.rem_euclid(1000))
    }

    /// This time without the part of a second, as a record stores it.
    pub fn whole_seconds(self) -> Timestamp {
        Timestamp(self.0 - self.0.rem_euclid(1000))
    }

    /// `20260320T212315Z`, the time part of a run id.
    pub fn to_run_id_stamp(self) -> String {
        Civil::from_millis(self.0).to_text(TimeForm::RunId)
    }

    /// `21:23:15`, as the report's event log shows it.
    pub fn to_clock(self) -> String {
        Civil::from_millis(self.0).to_text(TimeForm::Clock)
    }

    /// `2026-03-20`.
    pub fn to_date(self) -> String {
        Civil::from_millis(self.0).to_text(TimeForm::Date)
    }
}

impl Serialize for Timestamp {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        to.serialize_str(&self.to_rfc3339())
    }
}

impl<'de> Deserialize<'de> for Timestamp {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Timestamp, D::Error> {
        let text = String::deserialize(from)?;
        let found = crate::text::ellipsis(&text, 80);
        let wrong = || D::Error::invalid_value(Unexpected::Str(&found), &"a time as in RFC 3339");
        Timestamp::parse(&text).ok_or_else(wrong)
    }
}

/// Times to the millisecond, for `#[serde(with)]`. By itself a time is stored to the second.
pub mod millis {
    use super::{Deserialize, Deserializer, Serializer, Timestamp};

    /// Writes [`Timestamp::to_rfc3339_millis`].
    ///
    /// # Errors
    ///
    /// Those of the serializer.
    pub fn serialize<S: Serializer>(at: &Timestamp, to: S) -> Result<S::Ok, S::Error> {
        to.serialize_str(&at.to_rfc3339_millis())
    }

    /// Reads what [`Timestamp::parse`] reads.
    ///
    /// # Errors
    ///
    /// The text is not a time.
    pub fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<Timestamp, D::Error> {
        Timestamp::deserialize(from)
    }
}

#[cfg(test)]
mod tests {
    use super::Timestamp;

    #[test]
    fn formats_are_utc_and_sortable() {
        let at = Timestamp::parse("2026-03-20T21:23:15Z").unwrap();
        assert_eq!(at.to_rfc3339(), "2026-03-20T21:23:15+00:00");
        assert_eq!(at.to_run_id_stamp(), "20260320T212315Z");
        assert_eq!(at.to_clock(), "21:23:15");
        assert_eq!(Timestamp::parse("2026-03-20T22:23:15+01:00"), Some(at));
        assert_eq!(Timestamp::parse(&at.as_millis().to_string()), Some(at));
        for millis in [0, 1, 999, 1000, 1_774_041_795_042] {
            let at = Timestamp::from_millis(millis);
            assert_eq!(Timestamp::parse(&at.to_rfc3339_millis()), Some(at));
        }
        assert_eq!(Timestamp::from_millis(-1).to_rfc3339_millis(), "1969-12-31T23:59:59.999Z");
        assert_eq!(Timestamp::from_millis(-1).whole_seconds().as_millis(), -1000);
    }

    #[test]
    fn text_that_is_no_time_is_refused() {
        for text in ["", "yesterday", "2026-13-01T00:00:00Z", "2026-03-20", "9e99"] {
            assert_eq!(Timestamp::parse(text), None, "{text}");
        }
    }

    #[test]
    fn times_of_no_calendar_are_clamped() {
        assert_eq!(Timestamp::from_millis(i64::MAX).to_date(), "9999-12-30");
        assert_eq!(Timestamp::from_millis(i64::MIN).to_date(), "-9999-01-02");
        let range = jiff::Timestamp::MIN.as_millisecond()..=jiff::Timestamp::MAX.as_millisecond();
        assert_eq!(super::RANGE_MS, range);
    }

    #[test]
    fn a_clock_that_goes_backwards_measures_zero() {
        let late = Timestamp::from_millis(1000);
        assert_eq!(Timestamp::EPOCH.millis_since(late), 0);
        assert_eq!(late.millis_since(Timestamp::EPOCH), 1000);
    }
}
