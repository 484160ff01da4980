//! What a form sends.

use std::collections::BTreeMap;

/// Most fields that are accepted.
const FIELDS: usize = 16;

/// The fields of a form, each once.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Fields(BTreeMap<String, String>);

impl Fields {
    /// Reads `application/x-www-form-urlencoded`, or the query of an address. `None`: it is not that,
    /// or names a field twice.
    pub(super) fn read(text: &str) -> Option<Fields> {
        let mut fields = BTreeMap::new();
        for pair in text.split('&').filter(|pair| !pair.is_empty()) {
            let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
            let before = fields.insert(decoded(name)?, decoded(value)?);
            if before.is_some() || fields.len() > FIELDS {
                return None;
            }
        }
        Some(Fields(fields))
    }

    /// A field; empty where it is missing.
    pub(super) fn get(&self, name: &str) -> &str {
        self.0.get(name).map_or("", String::as_str)
    }
}

/// Text without its escapes. `None`: an escape is broken, or it is not UTF-8.
fn decoded(text: &str) -> Option<String> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.bytes();
    while let Some(byte) = rest.next() {
        bytes.push(match byte {
            b'+' => b' ',
            b'%' => digit(rest.next()?)? * 16 + digit(rest.next()?)?,
            byte => byte,
        });
    }
    String::from_utf8(bytes).ok()
}

fn digit(byte: u8) -> Option<u8> {
    char::from(byte).to_digit(16).and_then(|digit| u8::try_from(digit).ok())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn forms_are_read_strictly() {
        let table = [
            ("", Some(vec![])),
            ("a=b", Some(vec![("a", "b")])),
            ("a=b+c%20%C3%A9&d=&e", Some(vec![("a", "b c é"), ("d", ""), ("e", "")])),
            ("a=1&a=2", None),
            ("a=%", None),
            ("a=%4", None),
            ("a=%+1", None),
            ("a=%ff", None),
        ];
        for (text, expected) in table {
            let owned = |pairs: Vec<(&str, &str)>| {
                Fields(pairs.into_iter().map(|(n, v)| (n.to_owned(), v.to_owned())).collect())
            };
            assert_eq!(Fields::read(text), expected.map(owned), "{text}");
        }
        let many: Vec<String> = (0..=FIELDS).map(|n| format!("f{n}=1")).collect();
        assert_eq!(Fields::read(&many.join("&")), None);
        assert_eq!(Fields::read(&many[1..].join("&")).unwrap().get("f7"), "1");
    }
}
