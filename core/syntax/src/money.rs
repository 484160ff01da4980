//! Amounts of money, exact to a millionth of a US dollar.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// An amount in US dollars, from nothing to [`Money::MOST`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Money {
    micros: u64,
}

/// Text that is not an amount of money.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NotMoney;

impl Money {
    /// Nothing.
    pub const ZERO: Money = Money { micros: 0 };

    /// The largest amount: JSON readers keep whole numbers exactly up to 2^53.
    pub const MOST: Money = Money { micros: 1 << 53 };

    /// That many millionths of a dollar, at most [`Money::MOST`].
    pub const fn from_micros(micros: u64) -> Money {
        if micros > Money::MOST.micros { Money::MOST } else { Money { micros } }
    }

    /// Millionths of a dollar.
    pub const fn micros(self) -> u64 {
        self.micros
    }

    /// Dollars as a JSON number; [`Money::from_usd`] makes the same amount of it again.
    pub fn usd(self) -> f64 {
        self.micros as f64 / 1e6
    }

    /// The amount whose shortest decimal form is that of `usd`, see [`Money::from_number`]. `None`:
    /// negative, infinite or not a number.
    pub fn from_usd(usd: f64) -> Option<Money> {
        Money::from_number(&usd.to_string())
    }

    /// Reads an amount as programs write numbers: any number of decimals, rounded to the nearest
    /// millionth, and an optional exponent. Larger amounts become [`Money::MOST`]. `None`:
    /// negative, or not a number.
    pub fn from_number(text: &str) -> Option<Money> {
        let (mantissa, exponent) = match text.split_once(['e', 'E']) {
            Some((mantissa, exponent)) => (mantissa, exponent.parse::<i32>().ok()?),
            None => (text, 0),
        };
        let (negative, mantissa) = match mantissa.strip_prefix('-') {
            Some(rest) => (true, rest),
            None => (false, mantissa.strip_prefix('+').unwrap_or(mantissa)),
        };
        let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
        let digits = format!("{whole}{fraction}");
        if digits.is_empty() || !digits.bytes().all(|byte| byte.is_ascii_digit()) {
            return None;
        }
        // The end of the millionths in `digits`.
        let end = i64::try_from(whole.len()).ok()? + i64::from(exponent) + 6;
        let mut micros = 0u64;
        let mut rounds_up = false;
        for (index, digit) in (0i64..).zip(digits.bytes()) {
            let digit = digit - b'0';
            if index < end {
                micros = micros.saturating_mul(10).saturating_add(u64::from(digit));
            } else {
                rounds_up = index == end && digit >= 5;
                break;
            }
        }
        let missing = end.saturating_sub_unsigned(digits.len() as u64).max(0);
        if micros != 0 {
            let factor = u32::try_from(missing).ok().and_then(|zeros| 10u64.checked_pow(zeros));
            micros = micros.saturating_mul(factor.unwrap_or(u64::MAX));
        }
        let money = Money::from_micros(micros.saturating_add(u64::from(rounds_up)));
        (!negative || digits.bytes().all(|digit| digit == b'0')).then_some(money)
    }

    /// The difference, at least zero.
    pub fn saturating_sub(self, other: Money) -> Money {
        Money::from_micros(self.micros.saturating_sub(other.micros))
    }

    /// The sum, at most [`Money::MOST`].
    pub fn saturating_add(self, other: Money) -> Money {
        Money::from_micros(self.micros.saturating_add(other.micros))
    }
}

/// An amount as people write it in a file: digits, with at most six decimals.
impl FromStr for Money {
    type Err = NotMoney;

    fn from_str(text: &str) -> Result<Money, NotMoney> {
        let (whole, fraction) = text.split_once('.').unwrap_or((text, ""));
        let digits = |part: &str| part.bytes().all(|byte| byte.is_ascii_digit());
        if whole.is_empty() || !digits(whole) || !digits(fraction) || fraction.len() > 6 {
            return Err(NotMoney);
        }
        let micros = format!("{whole}{fraction:0<6}").parse().map_err(|_| NotMoney)?;
        if micros > Money::MOST.micros {
            return Err(NotMoney);
        }
        Ok(Money { micros })
    }
}

/// `2.50`: at least two decimals, and as many as exactness needs.
impl fmt::Display for Money {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let fraction = format!("{:06}", self.micros % 1_000_000);
        let (cents, rest) = fraction.split_at(2);
        write!(f, "{}.{cents}{}", self.micros / 1_000_000, rest.trim_end_matches('0'))
    }
}

/// Stored as millionths of a dollar.
impl Serialize for Money {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        to.serialize_u64(self.micros)
    }
}

impl<'de> Deserialize<'de> for Money {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Money, D::Error> {
        u64::deserialize(from).map(Money::from_micros)
    }
}

/// An amount that may be absent, as a number of dollars, for `#[serde(with)]`.
pub mod usd {
    use serde::de::{Error, Unexpected};

    use super::{Deserialize, Deserializer, Money, Serialize, Serializer};

    /// Writes [`Money::usd`].
    ///
    /// # Errors
    ///
    /// Those of the serializer.
    pub fn serialize<S: Serializer>(amount: &Option<Money>, to: S) -> Result<S::Ok, S::Error> {
        amount.map(Money::usd).serialize(to)
    }

    /// Reads what [`Money::from_usd`] reads.
    ///
    /// # Errors
    ///
    /// The number is not an amount.
    pub fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<Option<Money>, D::Error> {
        let Some(usd) = Option::<f64>::deserialize(from)? else { return Ok(None) };
        let wrong = || D::Error::invalid_value(Unexpected::Float(usd), &"an amount from 0");
        Money::from_usd(usd).map(Some).ok_or_else(wrong)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn people_write_plain_decimals() {
        let table = [
            ("2.50", Some(2_500_000)),
            ("2.03", Some(2_030_000)),
            ("2", Some(2_000_000)),
            ("2.", Some(2_000_000)),
            ("0", Some(0)),
            ("0.000001", Some(1)),
            ("9007199254.740992", Some(1 << 53)),
            ("9007199254.740993", None),
            ("99999999999999999999", None),
            ("0.0000001", None),
            (".5", None),
            ("-1", None),
            ("+1", None),
            ("1e3", None),
            ("NaN", None),
            ("", None),
        ];
        for (text, expected) in table {
            assert_eq!(text.parse().ok().map(Money::micros), expected, "{text}");
        }
    }

    #[test]
    fn programs_write_any_number() {
        let table = [
            ("2.03", Some(2_030_000)),
            ("0.30000000000000004", Some(300_000)),
            ("1e-3", Some(1_000)),
            ("1.5E+2", Some(150_000_000)),
            ("25e-1", Some(2_500_000)),
            ("4e-7", Some(0)),
            ("5e-7", Some(1)),
            ("9e-8", Some(0)),
            ("0.0000015", Some(2)),
            ("0.00000149", Some(1)),
            (".5", Some(500_000)),
            ("-0.0", Some(0)),
            ("0e999999999", Some(0)),
            ("1e999999999", Some(1 << 53)),
            ("1e-999999999", Some(0)),
            ("99999999999999999999999999", Some(1 << 53)),
            ("-1", None),
            ("-1e-9", None),
            ("NaN", None),
            ("inf", None),
            ("1e99999999999", None),
            ("1e", None),
            ("e1", None),
            (".", None),
            ("", None),
            ("1,5", None),
        ];
        for (text, expected) in table {
            assert_eq!(Money::from_number(text).map(Money::micros), expected, "{text}");
        }
        for (usd, expected) in [
            (2.03, Some(2_030_000)),
            (0.1 + 0.2, Some(300_000)),
            (1e300, Some(1 << 53)),
            (f64::NAN, None),
            (f64::INFINITY, None),
            (-0.01, None),
        ] {
            assert_eq!(Money::from_usd(usd).map(Money::micros), expected, "{usd}");
        }
    }

    #[test]
    fn an_amount_survives_json_and_is_shown_exactly() {
        for (micros, text) in [
            (0, "0.00"),
            (1, "0.000001"),
            (500_000, "0.50"),
            (2_030_000, "2.03"),
            (2_029_999, "2.029999"),
            (1 << 53, "9007199254.740992"),
        ] {
            let money = Money::from_micros(micros);
            assert_eq!(Money::from_usd(money.usd()), Some(money));
            assert_eq!((money.to_string().as_str(), text.parse()), (text, Ok(money)));
        }
        assert_eq!(Money::MOST.saturating_add(Money::MOST), Money::MOST);
    }
}
