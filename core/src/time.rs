//! Points in time. They always arrive from the host; nothing here asks for one.

use jiff::tz::TimeZone;

/// Milliseconds since 1970-01-01T00:00:00Z.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Timestamp(i64);

impl Timestamp {
    /// 1970-01-01T00:00:00Z.
    pub const EPOCH: Timestamp = Timestamp(0);

    /// A point in time; milliseconds outside jiff's range (years -9999 to 9999) are clamped.
    pub fn from_millis(millis: i64) -> Self {
        let range = jiff::Timestamp::MIN.as_millisecond()..=jiff::Timestamp::MAX.as_millisecond();
        Timestamp(millis.clamp(*range.start(), *range.end()))
    }

    /// Milliseconds since the epoch.
    pub fn as_millis(self) -> i64 {
        self.0
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
        text.parse::<jiff::Timestamp>().ok().map(|t| Timestamp(t.as_millisecond()))
    }

    /// `2026-03-20T21:23:15+00:00`, the form that every generation of the record uses.
    pub fn to_rfc3339(self) -> String {
        self.format("%Y-%m-%dT%H:%M:%S+00:00")
    }

    /// `20260320T212315Z`, the time part of a run id.
    pub fn to_run_id_stamp(self) -> String {
        self.format("%Y%m%dT%H%M%SZ")
    }

    /// `21:23:15`, as the report's event log shows it.
    pub fn to_clock(self) -> String {
        self.format("%H:%M:%S")
    }

    /// `2026-03-20`.
    pub fn to_date(self) -> String {
        self.format("%Y-%m-%d")
    }

    fn format(self, form: &str) -> String {
        jiff::Timestamp::from_millisecond(self.0)
            .unwrap_or(jiff::Timestamp::UNIX_EPOCH)
            .to_zoned(TimeZone::UTC)
            .strftime(form)
            .to_string()
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
    }

    #[test]
    fn text_that_is_no_time_is_refused() {
        for text in ["", "yesterday", "2026-13-01T00:00:00Z", "2026-03-20", "9e99"] {
            assert_eq!(Timestamp::parse(text), None, "{text}");
        }
    }

    #[test]
    fn a_clock_that_goes_backwards_measures_zero() {
        let late = Timestamp::from_millis(1000);
        assert_eq!(Timestamp::EPOCH.millis_since(late), 0);
        assert_eq!(late.millis_since(Timestamp::EPOCH), 1000);
    }
}
