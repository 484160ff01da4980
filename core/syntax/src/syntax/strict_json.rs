//! Strict JSON. An object that names a key twice is refused, because readers disagree on which
//! value counts.

use std::borrow::Cow;

use serde::de::{Deserialize, Deserializer, Error, MapAccess, SeqAccess, Visitor};
use serde_json::{Map, Number, Value};

/// Reads one JSON document.
///
/// # Errors
///
/// The problem and its location, on one line.
pub fn parse(text: &str) -> serde_json::Result<Value> {
    serde_json::from_str::<Strict>(text).map(|strict| strict.0)
}

/// Like [`parse`], but reads a lone half of a surrogate pair in an escape as U+FFFD. JavaScript writes
/// one where it cuts a text inside a character.
///
/// # Errors
///
/// As [`parse`].
pub fn parse_lossy(text: &str) -> serde_json::Result<Value> {
    parse(&without_lone_surrogates(text))
}

fn without_lone_surrogates(text: &str) -> Cow<'_, str> {
    const ESCAPE_BYTES: usize = 6;
    let unit = |at: usize| {
        let escape = text.get(at..at + ESCAPE_BYTES)?.strip_prefix("\\u")?;
        let is_hex = escape.bytes().all(|byte| byte.is_ascii_hexdigit());
        is_hex.then(|| u16::from_str_radix(escape, 16).ok()).flatten()
    };
    let (mut result, mut copied, mut at) = (String::new(), 0, 0);
    while let Some(found) = memchr::memchr(b'\\', &text.as_bytes()[at..]) {
        let start = at + found;
        at = match (unit(start), unit(start + ESCAPE_BYTES)) {
            (Some(0xd800..=0xdbff), Some(0xdc00..=0xdfff)) => start + 2 * ESCAPE_BYTES,
            (Some(0xd800..=0xdfff), _) => {
                result.push_str(&text[copied..start]);
                result.push_str("\\ufffd");
                copied = start + ESCAPE_BYTES;
                copied
            }
            // The escaped byte may be a backslash.
            (Some(_) | None, _) => (start + 2).min(text.len()),
        };
    }
    if copied == 0 {
        return Cow::Borrowed(text);
    }
    result.push_str(&text[copied..]);
    Cow::Owned(result)
}

struct Strict(Value);

impl<'de> Deserialize<'de> for Strict {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(StrictVisitor).map(Strict)
    }
}

struct StrictVisitor;

impl<'de> Visitor<'de> for StrictVisitor {
    type Value = Value;

    fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("a JSON value")
    }

    fn visit_unit<E>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_bool<E>(self, value: bool) -> Result<Value, E> {
        Ok(Value::Bool(value))
    }

    fn visit_i64<E>(self, value: i64) -> Result<Value, E> {
        Ok(Value::Number(value.into()))
    }

    fn visit_u64<E>(self, value: u64) -> Result<Value, E> {
        Ok(Value::Number(value.into()))
    }

    fn visit_f64<E: Error>(self, value: f64) -> Result<Value, E> {
        Number::from_f64(value).map(Value::Number).ok_or_else(|| E::custom("not a number"))
    }

    fn visit_str<E>(self, value: &str) -> Result<Value, E> {
        Ok(Value::String(value.to_owned()))
    }

    fn visit_string<E>(self, value: String) -> Result<Value, E> {
        Ok(Value::String(value))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Value, A::Error> {
        let mut list = Vec::new();
        while let Some(Strict(item)) = items.next_element()? {
            list.push(item);
        }
        Ok(Value::Array(list))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<Value, A::Error> {
        let mut map = Map::new();
        while let Some(key) = entries.next_key::<String>()? {
            let Strict(value) = entries.next_value()?;
            if map.contains_key(&key) {
                let key = crate::text::ellipsis(&crate::text::one_line(&key), 64);
                return Err(A::Error::custom(format!("`{key}` is given twice")));
            }
            map.insert(key, value);
        }
        Ok(Value::Object(map))
    }
}

#[cfg(test)]
mod tests {
    use super::{parse, parse_lossy};

    #[test]
    fn halves_of_surrogate_pairs_are_replaced() {
        let table = [
            (r#""a\ud83d""#, "a\u{fffd}"),
            (r#""\udc00b""#, "\u{fffd}b"),
            (r#""\ud83d\ud83d\ude00\uDE00""#, "\u{fffd}\u{1f600}\u{fffd}"),
            (r#""\ud83dx\ude00""#, "\u{fffd}x\u{fffd}"),
            (r#""\\ud83d \u00e9""#, "\\ud83d \u{e9}"),
            (r#""\\\ud83d日""#, "\\\u{fffd}日"),
        ];
        for (json, expected) in table {
            assert_eq!(parse_lossy(json).unwrap(), expected, "{json}");
        }
        for json in [r#""\ud83""#, r#""\"#, r#""\udzzz""#, r#"{"\ud83d":1,"\udc00":2}"#, "\"\\日\""]
        {
            assert!(parse_lossy(json).is_err(), "{json}");
        }
    }

    #[test]
    fn keys_are_given_once() {
        assert!(parse(r#"{"a": [1, {"b": null, "c": 1.5}], "d": "\u0041"}"#).is_ok());
        for text in [r#"{"a":1,"a":2}"#, r#"{"x":{"command":"ls","comm\u0061nd":"id"}}"#] {
            assert!(parse(text).unwrap_err().to_string().contains("given twice"), "{text}");
        }
        for text in ["", "{", "{} {}", "nul", "{\"a\":1,}", "\u{feff}{}"] {
            assert!(parse(text).is_err(), "{text}");
        }
        assert!(parse(&"[".repeat(100_000)).is_err());
    }
}
