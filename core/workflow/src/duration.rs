//! Durations as people write them: `90s`, `5m`, `1h30m`.

/// Longest accepted duration: a week.
pub const LONGEST_MS: u64 = 7 * 24 * 60 * 60 * 1000;

/// Reads numbers with the units `ms`, `s`, `m`, `h` and `d`, largest unit first, into
/// milliseconds. `None` for anything else, for zero and for more than [`LONGEST_MS`].
pub fn parse_ms(text: &str) -> Option<u64> {
    let mut rest = text;
    let mut total_ms: u64 = 0;
    let mut last_unit_ms = u64::MAX;
    while !rest.is_empty() {
        let digits = rest.bytes().take_while(u8::is_ascii_digit).count();
        let (number, after) = rest.split_at(digits);
        let letters = after.bytes().take_while(u8::is_ascii_lowercase).count();
        let (unit, next) = after.split_at(letters);
        let unit_ms = match unit {
            "ms" => 1,
            "s" => 1000,
            "m" => 60 * 1000,
            "h" => 60 * 60 * 1000,
            "d" => 24 * 60 * 60 * 1000,
            _ => return None,
        };
        if unit_ms >= last_unit_ms {
            return None;
        }
        last_unit_ms = unit_ms;
        total_ms = total_ms.checked_add(number.parse::<u64>().ok()?.checked_mul(unit_ms)?)?;
        rest = next;
    }
    (1..=LONGEST_MS).contains(&total_ms).then_some(total_ms)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_and_what_is_none() {
        let table = [
            ("10s", Some(10_000)),
            ("5m", Some(300_000)),
            ("1h30m", Some(5_400_000)),
            ("250ms", Some(250)),
            ("1d", Some(86_400_000)),
            ("7d", Some(LONGEST_MS)),
            ("8d", None),
            ("", None),
            ("0s", None),
            ("10", None),
            ("s", None),
            ("30m1h", None),
            ("1h 30m", None),
            ("-1s", None),
            ("99999999999999999999h", None),
            ("1.5h", None),
        ];
        for (text, expected) in table {
            assert_eq!(parse_ms(text), expected, "{text}");
        }
    }
}
