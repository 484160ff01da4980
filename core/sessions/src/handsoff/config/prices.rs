//! What models cost, as the user knows it: dated, and used only where a client does not say it.

use std::collections::BTreeMap;

use serde_yaml::{Mapping, Value};

use onloop_syntax::limits;
use onloop_syntax::money::Money;
use onloop_syntax::syntax::strict_yaml::described;
use onloop_syntax::text;
use onloop_syntax::time::Timestamp;
use onloop_syntax::tokens::Tokens;

/// Tokens that a price is for.
const PER_TOKENS: u128 = 1_000_000;

/// What models cost at some time.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Prices {
    /// The day on which the user looked, as `2026-10-01`.
    pub as_of: String,
    models: BTreeMap<String, Price>,
}

/// What a model costs, for a million tokens.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Price {
    input: Money,
    cached_input: Money,
    output: Money,
}

impl Prices {
    /// What these tokens of a model cost, rounded up to a millionth of a dollar; `None`: nobody
    /// knows what it costs.
    pub fn cost(&self, model: &str, tokens: Tokens) -> Option<Money> {
        let price = self.models.get(model)?;
        let of = |tokens: u64, price: Money| u128::from(tokens) * u128::from(price.micros());
        let fresh = tokens.input.saturating_sub(tokens.cached_input);
        let sum = of(fresh, price.input)
            .saturating_add(of(tokens.cached_input, price.cached_input))
            .saturating_add(of(tokens.output, price.output));
        let micros = u64::try_from(sum.div_ceil(PER_TOKENS)).unwrap_or(u64::MAX);
        Some(Money::from_micros(micros))
    }

    /// Reads `{as_of: DATE, MODEL: {input, cached_input, output}}`.
    ///
    /// # Errors
    ///
    /// What is wrong, as a clause about the path that comes with it. Prices of which one is wrong
    /// are all left out: a bound on cost must not rest on a guess.
    pub(super) fn read(fields: &Mapping) -> Result<Prices, (String, String)> {
        let mut prices = Prices::default();
        if fields.len() > limits::CONFIG_PRICES {
            let what =
                format!("has {} entries; {} are allowed", fields.len(), limits::CONFIG_PRICES);
            return Err(("prices".to_owned(), what));
        }
        for (key, value) in fields {
            let Some(name) = key.as_str() else {
                return Err(("prices".to_owned(), format!("has a key that is {}", described(key))));
            };
            let path = format!("prices.{}", text::ellipsis(&text::one_line(name), 100));
            match name {
                "as_of" => prices.as_of = day(value).map_err(|what| (path, what))?,
                model => {
                    let price = price(value).map_err(|what| (path, what))?;
                    prices.models.insert(model.to_owned(), price);
                }
            }
        }
        if prices.as_of.is_empty() {
            let what = "needs `as_of`, the day on which they were looked up".to_owned();
            return Err(("prices".to_owned(), what));
        }
        Ok(prices)
    }
}

fn day(value: &Value) -> Result<String, String> {
    let is_day =
        |text: &&str| text.len() == 10 && Timestamp::parse(&format!("{text}T00:00:00Z")).is_some();
    let day = value.as_str().filter(is_day);
    day.map(str::to_owned)
        .ok_or_else(|| format!("is {}; expected a day such as 2026-10-01", described(value)))
}

fn price(value: &Value) -> Result<Price, String> {
    const FIELDS: [&str; 3] = ["input", "cached_input", "output"];
    let expected = "expected `input`, `cached_input` and `output`, in dollars for a million tokens";
    let bad = || format!("is {}; {expected}", described(value));
    let fields = value.as_mapping().ok_or_else(bad)?;
    if fields.iter().any(|(key, _)| !key.as_str().is_some_and(|key| FIELDS.contains(&key))) {
        return Err(format!("has other keys; {expected}"));
    }
    let [input, cached_input, output] = FIELDS.map(|name| match fields.get(name) {
        Some(Value::Number(number)) => Money::from_number(&number.to_string()),
        Some(_) | None => None,
    });
    match (input, cached_input, output) {
        (Some(input), Some(cached_input), Some(output)) => {
            Ok(Price { input, cached_input, output })
        }
        _ => Err(format!("lacks a price; {expected}")),
    }
}

#[cfg(test)]
mod tests {
    use crate::handsoff::config::Config;
    use onloop_syntax::money::Money;
    use onloop_syntax::tokens::Tokens;

    fn read(yaml: &str) -> Config {
        Config::read(yaml, "/home/me")
    }

    #[test]
    fn tokens_cost_what_the_user_says_and_are_rounded_up() {
        let yaml = "prices:\n  as_of: 2026-10-01\n  gpt-x: {input: 1.25, cached_input: 0.125, output: \
                    10}\n";
        let config = read(yaml);
        assert_eq!(config.notes, Vec::<String>::new());
        let prices = config.prices.unwrap();
        assert_eq!(prices.as_of, "2026-10-01");
        let cost = |input, cached_input, output| {
            prices.cost("gpt-x", Tokens { input, cached_input, output }).map(Money::micros)
        };
        assert_eq!(cost(1_000_000, 200_000, 100_000), Some(1_000_000 + 25_000 + 1_000_000));
        assert_eq!(cost(1, 0, 0), Some(2));
        assert_eq!(cost(0, 0, 0), Some(0));
        assert_eq!(cost(u64::MAX, 0, u64::MAX), Some(Money::MOST.micros()));
        assert_eq!(prices.cost("another", Tokens::default()), None);
    }

    #[test]
    fn a_price_that_is_wrong_takes_all_of_them_away() {
        let good = "a: {input: 1, cached_input: 1, output: 1}";
        let table = [
            ("5".to_owned(), "expected a mapping"),
            (format!("{{{good}}}"), "`prices` needs `as_of`"),
            (format!("{{as_of: soon, {good}}}"), "expected a day such as 2026-10-01"),
            (format!("{{as_of: 2026-13-01, {good}}}"), "expected a day such as 2026-10-01"),
            (
                format!("{{as_of: 2026-10-01, {good}, b: 3}}"),
                "`prices.b` is the number `3`; expected `input`",
            ),
            ("{as_of: 2026-10-01, b: {input: 1}}".to_owned(), "`prices.b` lacks a price"),
            (
                "{as_of: 2026-10-01, b: {input: -1, cached_input: 1, output: 1}}".to_owned(),
                "`prices.b` lacks a price",
            ),
            (
                "{as_of: 2026-10-01, b: {input: 1, cached_input: 1, output: 1, in: 1}}".to_owned(),
                "`prices.b` has other keys",
            ),
        ];
        for (prices, expected) in table {
            let config = read(&format!("prices: {prices}\n"));
            assert_eq!(config.prices, None, "{prices}");
            assert!(config.notes.iter().any(|note| note.contains(expected)), "{:?}", config.notes);
        }
    }
}
