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

/// Reads a length of time such as `90s`, `10m`, `1h30m` or `500ms`; a bare number is seconds.
/// `None`: no such form, zero, or longer than a year.
pub fn parse_duration_ms(text: &str) -> Option<u64> {
    const YEAR_MS: u64 = 366 * 24 * 60 * 60 * 1000;
    let text = text.trim();
    let mut rest = text;
    let mut total: u64 = 0;
    while !rest.is_empty() {
        let digits = rest.len() - rest.trim_start_matches(|c: char| c.is_ascii_digit()).len();
        let number: u64 = rest.get(..digits)?.parse().ok()?;
        rest = &rest[digits..];
        let unit = rest.len() - rest.trim_start_matches(|c: char| c.is_ascii_alphabetic()).len();
        let factor = match &rest[..unit] {
            "ms" => 1,
            "s" => 1000,
            "m" => 60 * 1000,
            "h" => 60 * 60 * 1000,
            "" if digits == text.len() => 1000,
            _ => return None,
        };
        rest = &rest[unit..];
        total = total.checked_add(number.checked_mul(factor)?)?;
    }
    (1..=YEAR_MS).contains(&total).then_some(total)
}

#[cfg(test)]
mod tests {
    use super::{Timestamp, parse_duration_ms};

    #[test]
    fn lengths_of_time() {
        let table = [
            ("90s", Some(90_000)),
            ("10m", Some(600_000)),
            ("1h30m", Some(5_400_000)),
            ("500ms", Some(500)),
            ("30", Some(30_000)),
            ("0s", None),
            ("", None),
            ("10 m", None),
            ("m", None),
            ("1d", None),
            ("-1s", None),
            ("99999999999999999999s", None),
            ("1h30", None),
        ];
        for (text, expected) in table {
            assert_eq!(parse_duration_ms(text), expected, "{text}");
        }
    }

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
