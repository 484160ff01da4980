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

/// Like [`parse`], but lenient in strings: reads a lone half of a surrogate pair in an escape as U+FFFD,
/// which JavaScript writes where it cuts a text inside a character, and control characters as they are.
/// A byte-order mark in front counts as nothing.
///
/// # Errors
///
/// As [`parse`].
pub fn parse_lossy(text: &str) -> serde_json::Result<Value> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    parse(&with_escaped_controls(&without_lone_surrogates(text)))
}

/// Like [`parse_lossy`], of a text that ends inside its object: only the members that are complete.
/// `None`: it does not end there, or they are not JSON.
pub fn parse_cut_off(text: &str) -> Option<Value> {
    let (mut depth, mut is_value, mut end) = (0_u32, false, None);
    let mut strings = Strings::default();
    for (at, byte) in text.bytes().enumerate() {
        let was_inside = strings.is_inside;
        strings.step(byte);
        match byte {
            // A string has ended; before the colon it is a name.
            b'"' if was_inside && !strings.is_inside => {
                end = if depth == 1 && is_value { Some(at + 1) } else { end };
            }
            _ if was_inside => {}
            b':' if depth == 1 => is_value = true,
            b',' if depth == 1 => {
                is_value = false;
                end = Some(at);
            }
            b'{' | b'[' => depth += 1,
            b'}' | b']' => {
                depth = depth.checked_sub(1).filter(|depth| *depth > 0)?;
                end = if depth == 1 && is_value { Some(at + 1) } else { end };
            }
            _ => {}
        }
    }
    parse_lossy(&format!("{}}}", text.get(..end?)?)).ok()
}

/// Whether the bytes so far end inside a string.
#[derive(Default)]
struct Strings {
    is_inside: bool,
    is_escaped: bool,
}

impl Strings {
    fn step(&mut self, byte: u8) {
        match byte {
            _ if self.is_escaped => self.is_escaped = false,
            b'\\' if self.is_inside => self.is_escaped = true,
            b'"' => self.is_inside = !self.is_inside,
            _ => {}
        }
    }
}

fn with_escaped_controls(text: &str) -> Cow<'_, str> {
    if !text.bytes().any(|byte| byte < b' ') {
        return Cow::Borrowed(text);
    }
    let mut strings = Strings::default();
    let (mut result, mut copied) = (String::new(), 0);
    for (at, byte) in text.bytes().enumerate() {
        if strings.is_inside && byte < b' ' {
            result.push_str(&text[copied..at]);
            result.push_str(&format!("\\u{byte:04x}"));
            copied = at + 1;
        }
        strings.step(byte);
    }
    result.push_str(&text[copied..]);
    Cow::Owned(result)
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
    use super::{parse, parse_cut_off, parse_lossy};
    use serde_json::json;

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
    fn strings_are_read_leniently_and_structure_is_not() {
        assert_eq!(
            parse_lossy("\u{feff}{\n\"a\": \"b\u{1}\n\"}").unwrap(),
            json!({"a": "b\u{1}\n"})
        );
        for text in ["{\u{1}}", "{\"a\":\u{1}1}", "{\"a\":1,\"a\":2}", "\u{feff}\u{feff}{}"] {
            assert!(parse_lossy(text).is_err(), "{text:?}");
        }
    }

    #[test]
    fn of_a_text_that_was_cut_off_the_complete_members_are_read() {
        let table = [
            (r#"{"a":"b","c":"d""#, Some(json!({"a": "b", "c": "d"}))),
            (r#"{"a":"b","c":"d"#, Some(json!({"a": "b"}))),
            (r#"{"a":"b","c""#, Some(json!({"a": "b"}))),
            (r#"{"a":"b","c":12"#, Some(json!({"a": "b"}))),
            (r#"{"a":{"b":"},"},"c":[1"#, Some(json!({"a": {"b": "},"}}))),
            (r#"{"a":"b"}"#, None),
            (r#"{"a":"b"} {"#, None),
            (r#"{"a":"b","a":"c","d"#, None),
            (r#"{"a"#, None),
            ("", None),
        ];
        for (text, expected) in table {
            assert_eq!(parse_cut_off(text), expected, "{text}");
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
