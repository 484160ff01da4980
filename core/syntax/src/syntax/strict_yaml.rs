//! YAML that people write, behind a guard: bounded in size and nesting, each key once.
//!
//! The library's reader is quadratic in nesting and reports no positions of values. The guard
//! therefore checks the size first, and a second reading finds a position when a message needs it.

use std::fmt;

use serde::de::{DeserializeSeed, Deserializer, Error, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde_yaml::Value;

use crate::diagnostic::Position;
use crate::limits;
use crate::text;

/// Upper bounds on a YAML document.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bounds {
    /// Most bytes.
    pub bytes: usize,
    /// Most `[` and `{`, quoted ones included.
    pub open_brackets: usize,
}

/// The bounds of a configuration file. Brackets in patterns count, so the bound is higher than in
/// frontmatter.
pub const CONFIGURATION: Bounds =
    Bounds { bytes: limits::CONFIG_BYTES, open_brackets: limits::CONFIG_OPEN_BRACKETS };

impl Bounds {
    /// Whether the library may read `yaml`.
    pub fn admit(self, yaml: &str) -> bool {
        yaml.len() <= self.bytes && open_brackets(yaml) <= self.open_brackets
    }
}

/// The number of `[` and `{`, quoted ones included.
pub fn open_brackets(yaml: &str) -> usize {
    yaml.bytes().filter(|byte| matches!(byte, b'[' | b'{')).count()
}

/// Why a document is refused. The text completes a sentence about the document.
#[derive(Debug, thiserror::Error)]
pub enum UnreadableYaml {
    /// It exceeds its [`Bounds`].
    #[error("is too large to be read")]
    TooLarge,
    /// It is not YAML, or it has a key twice.
    #[error("is not YAML: {0}")]
    Malformed(serde_yaml::Error),
}

/// Reads one document. A byte-order mark is skipped.
///
/// # Errors
///
/// [`UnreadableYaml`] when it exceeds `bounds` or is malformed.
pub fn parse(yaml: &str, bounds: Bounds) -> Result<Value, UnreadableYaml> {
    if !bounds.admit(yaml) {
        return Err(UnreadableYaml::TooLarge);
    }
    serde_yaml::from_str(without_mark(yaml)).map_err(UnreadableYaml::Malformed)
}

/// The part of an entry to locate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Part {
    /// Its key.
    Key,
    /// Its value.
    Value,
}

/// The position of the entry at `path`: keys of mappings and positions in lists. `None`: the entry
/// does not exist.
pub fn locate(yaml: &str, path: &[&str], part: Part) -> Option<Position> {
    let deserializer = serde_yaml::Deserializer::from_str(without_mark(yaml));
    let error = Seek { path, part }.deserialize(deserializer).err()?;
    let is_ours = error.to_string().contains(FOUND);
    let at = error.location().filter(|_| is_ours)?;
    Some(Position { line: at.line(), column: at.column() })
}

fn without_mark(yaml: &str) -> &str {
    yaml.strip_prefix('\u{feff}').unwrap_or(yaml)
}

/// The library reports the position of an error, so the search raises its result as an error.
const FOUND: &str = "the entry that is looked for";

/// Follows `path` and raises [`FOUND`] at its end.
#[derive(Clone, Copy)]
struct Seek<'p> {
    path: &'p [&'p str],
    part: Part,
}

impl<'de> DeserializeSeed<'de> for Seek<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Seek<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // What has no method here is refused with this text: every scalar.
        f.write_str(if self.path.is_empty() { FOUND } else { "YAML" })
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<(), A::Error> {
        let Some((first, rest)) = self.path.split_first() else {
            return Err(A::Error::custom(FOUND));
        };
        let wanted = first.parse::<usize>().ok();
        let mut position = 0;
        loop {
            let more = if wanted == Some(position) {
                items.next_element_seed(Seek { path: rest, part: self.part })?.is_some()
            } else {
                items.next_element::<IgnoredAny>()?.is_some()
            };
            if !more {
                return Ok(());
            }
            position += 1;
        }
    }

    fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<(), A::Error> {
        let Some((first, rest)) = self.path.split_first() else {
            return Err(A::Error::custom(FOUND));
        };
        let raise = rest.is_empty() && self.part == Part::Key;
        while let Some(is_wanted) = entries.next_key_seed(Key { wanted: first, raise })? {
            if is_wanted {
                entries.next_value_seed(Seek { path: rest, part: self.part })?;
            } else {
                entries.next_value::<IgnoredAny>()?;
            }
        }
        Ok(())
    }
}

/// Compares a key, and raises [`FOUND`] at the key that the search wants.
struct Key<'p> {
    wanted: &'p str,
    raise: bool,
}

impl<'de> DeserializeSeed<'de> for Key<'_> {
    type Value = bool;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<bool, D::Error> {
        deserializer.deserialize_str(self)
    }
}

impl Visitor<'_> for Key<'_> {
    type Value = bool;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a key")
    }

    fn visit_str<E: Error>(self, key: &str) -> Result<bool, E> {
        match key == self.wanted {
            true if self.raise => Err(E::custom(FOUND)),
            same => Ok(same),
        }
    }
}

/// A value in a few words, for messages that say what was found.
pub fn described(value: &Value) -> String {
    match value {
        Value::Null => "nothing".to_owned(),
        Value::Bool(flag) => format!("`{flag}`"),
        Value::Number(number) => format!("the number `{number}`"),
        Value::String(text) => format!("`{}`", text::ellipsis(&text::one_line(text), 60)),
        Value::Sequence(_) => "a list".to_owned(),
        Value::Mapping(_) => "a mapping".to_owned(),
        Value::Tagged(tagged) => {
            format!("the tag `{}`", text::ellipsis(&text::one_line(&tagged.tag.to_string()), 60))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const BOUNDS: Bounds = Bounds { bytes: 100, open_brackets: 8 };

    #[test]
    fn what_is_too_large_or_says_a_key_twice_is_not_read() {
        assert!(parse("a: [1, {b: 2}]", BOUNDS).is_ok());
        assert_eq!(parse("\u{feff}a: 1", BOUNDS).unwrap()["a"], Value::from(1));
        for (yaml, expected) in [
            ("[".repeat(9), "is too large"),
            (" ".repeat(101), "is too large"),
            ("a: 1\na: 2".to_owned(), "is not YAML: duplicate"),
            ("a: [".to_owned(), "is not YAML"),
            ("a: 1\n---\nb: 2".to_owned(), "is not YAML"),
        ] {
            let error = parse(&yaml, BOUNDS).unwrap_err().to_string();
            assert!(error.starts_with(expected), "{yaml:?}: {error}");
        }
    }

    #[test]
    fn entries_are_found_by_their_path() {
        let yaml = "# first\na:\n  b: 日本\n  c:\n    - x\n    - {d: 1}\n7: [1]\n";
        type Row = (&'static [&'static str], Part, Option<(usize, usize)>);
        let table: [Row; 8] = [
            (&["a"], Part::Key, Some((2, 1))),
            (&["a", "b"], Part::Value, Some((3, 6))),
            (&["a", "c", "1", "d"], Part::Value, Some((6, 11))),
            (&["a", "c", "0"], Part::Value, Some((5, 7))),
            (&["7"], Part::Value, Some((7, 4))),
            (&["a", "x"], Part::Value, None),
            (&["a", "c", "9"], Part::Value, None),
            (&["a", "b", "c"], Part::Key, None),
        ];
        for (path, part, expected) in table {
            let found = locate(yaml, path, part).map(|place| (place.line, place.column));
            assert_eq!(found, expected, "{path:?}");
        }
        assert_eq!(locate("a: [", &["b"], Part::Value), None);
    }
}
