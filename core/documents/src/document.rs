//! Declares JSON documents whose unknown fields survive.

use std::borrow::Cow;
use std::fmt;

/// The name of a member in JSON: that of the field, which Rust may spell `r#loop`.
pub(super) const fn member(field: &str) -> &str {
    match field.as_bytes() {
        [b'r', b'#', ..] => field.split_at(2).1,
        _ => field,
    }
}

/// Name of a member that is being read; a large record has tens of thousands, so it is copied
/// only where it contains escapes.
pub(super) struct Key<'de>(pub(super) Cow<'de, str>);

impl<'de> serde::Deserialize<'de> for Key<'de> {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Text;
        impl<'de> serde::de::Visitor<'de> for Text {
            type Value = Key<'de>;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("the name of a member")
            }
            fn visit_borrowed_str<E>(self, text: &'de str) -> Result<Key<'de>, E> {
                Ok(Key(Cow::Borrowed(text)))
            }
            fn visit_str<E>(self, text: &str) -> Result<Key<'de>, E> {
                Ok(Key(Cow::Owned(text.to_owned())))
            }
        }
        deserializer.deserialize_str(Text)
    }
}

/// Why a stored document is not read, as a clause.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum DocumentError {
    /// It is not UTF-8.
    #[error("it is not UTF-8")]
    NotUtf8,
    /// It is not JSON, or not of this shape; the parser's message.
    #[error("{0}")]
    Json(String),
    /// A member that the parser accepts cannot be used.
    #[error("`{path}` {what}")]
    Member {
        /// Where it stands: `finish.recorded_at`.
        path: String,
        /// What is wrong with it; continues a sentence that begins with its name.
        what: String,
    },
}

impl DocumentError {
    pub(super) fn member(path: impl Into<String>, what: impl ToString) -> DocumentError {
        DocumentError::Member { path: path.into(), what: what.to_string() }
    }
}

impl From<serde_json::Error> for DocumentError {
    fn from(error: serde_json::Error) -> DocumentError {
        DocumentError::Json(error.to_string())
    }
}

/// Which program wrote a record, as far as its members tell.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Generation {
    /// Another one, before there was a `schema`.
    Older,
    /// Ours, before it knew of `written` and of what becomes of the work.
    First,
    /// Ours.
    Present,
}

/// The first members, in the order of their declaration, that a document should have and does
/// not: of those that every generation writes, those since [`Generation::First`] and those since
/// [`Generation::Present`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Lacks(pub(crate) [Option<&'static str>; 3]);

impl Lacks {
    /// The member that a document of `generation` should have and does not.
    pub(crate) fn of(self, generation: Generation) -> Option<&'static str> {
        let [always, first, present] = self.0;
        match generation {
            Generation::Older => always,
            Generation::First => always.or(first),
            Generation::Present => always.or(first).or(present),
        }
    }
}

/// Since when a member is written: the index in [`Lacks`].
macro_rules! since {
    () => {
        0
    };
    (first) => {
        1
    };
    (present) => {
        2
    };
}

/// Declares a struct that is read and written as a JSON object.
///
/// Fields are written in the declared order, and members that are not declared are kept in
/// `unknown` and written back after the others. What is missing, or `null` where that is no
/// value of the field's type, is the type's default and is named in `lacks`: whoever reads a
/// document asks there whether it may be missing. `[first]` or `[present]` behind a type says
/// since when the member is written, `[optional]` that it never has to be there, `[rare]` that it
/// is also left out where it is absent.
///
/// A `sparse` document leaves out what is absent, so its `Option`s are all optional; the others
/// write `null`, because older readers expect their keys.
macro_rules! document {
    (sparse; $($document:tt)*) => {
        crate::document::document! { @ true $($document)* }
    };
    (@ $sparse:literal $(#[$meta:meta])* $vis:vis struct $name:ident {
        $($(#[$field_meta:meta])* $field:ident: $type:ty $([$since:ident])?,)*
    }) => {
        $(#[$meta])*
        #[derive(Clone, Debug, Default, PartialEq)]
        $vis struct $name {
            $($(#[$field_meta])* $vis $field: $type,)*
            /// Members that this version does not know.
            $vis unknown: serde_json::Map<String, serde_json::Value>,
            /// Members that are missing.
            $vis lacks: crate::document::Lacks,
        }

        impl serde::Serialize for $name {
            fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                use serde::ser::SerializeMap;
                let mut map = serializer.serialize_map(None)?;
                $(if !(($sparse || crate::document::rare!($($since)?))
                    && crate::document::Absent::is_absent(&self.$field))
                {
                    map.serialize_entry(
                        const { crate::document::member(stringify!($field)) },
                        &self.$field,
                    )?;
                })*
                for (key, value) in &self.unknown {
                    map.serialize_entry(key, value)?;
                }
                map.end()
            }
        }

        impl crate::document::Absent for $name {}

        impl<'de> serde::Deserialize<'de> for $name {
            fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                struct Fields;
                impl<'de> serde::de::Visitor<'de> for Fields {
                    type Value = $name;
                    fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                        f.write_str("an object")
                    }
                    fn visit_map<A>(self, mut map: A) -> Result<$name, A::Error>
                    where
                        A: serde::de::MapAccess<'de>,
                    {
                        use crate::document::Absent;
                        let mut document = $name::default();
                        $(let mut $field = $sparse && <$type as Absent>::CAN_BE_NULL;)*
                        while let Some(key) = map.next_key::<crate::document::Key<'de>>()? {
                            match &*key.0 {
                                $(key if key == const {
                                    crate::document::member(stringify!($field))
                                } => {
                                    let value: Option<$type> = map.next_value().map_err(|error| {
                                        serde::de::Error::custom(format!("`{key}`: {error}"))
                                    })?;
                                    $field = value.is_some() || <$type as Absent>::CAN_BE_NULL;
                                    document.$field = value.unwrap_or_default();
                                })*
                                _ => {
                                    document.unknown.insert(key.0.into_owned(), map.next_value()?);
                                }
                            }
                        }
                        $(crate::document::note!(
                            document, $field, stringify!($field) $(, $since)?
                        );)*
                        Ok(document)
                    }
                }
                deserializer.deserialize_map(Fields)
            }
        }
    };
    ($($document:tt)*) => {
        crate::document::document! { @ false $($document)* }
    };
}

/// Notes in `lacks` that a member is missing.
macro_rules! note {
    ($document:ident, $seen:ident, $name:expr, optional) => {
        let _ = $seen;
    };
    ($document:ident, $seen:ident, $name:expr, rare) => {
        let _ = $seen;
    };
    ($document:ident, $seen:ident, $name:expr $(, $since:ident)?) => {
        if !$seen {
            let lacks = &mut $document.lacks.0[crate::document::since!($($since)?)];
            lacks.get_or_insert(const { crate::document::member($name) });
        }
    };
}

/// Whether a member is left out where it is absent.
macro_rules! rare {
    (rare) => {
        true
    };
    ($($since:ident)?) => {
        false
    };
}

pub(crate) use {document, note, rare, since};

/// Whether a field says nothing.
pub(crate) trait Absent {
    /// Whether `null` is a value of this type.
    const CAN_BE_NULL: bool = false;

    /// `true` only for what JSON would show as `null`.
    fn is_absent(&self) -> bool {
        false
    }
}

impl<T> Absent for Option<T> {
    const CAN_BE_NULL: bool = true;

    fn is_absent(&self) -> bool {
        self.is_none()
    }
}

impl<T> Absent for Vec<T> {}
impl Absent for String {}
impl Absent for bool {}
impl Absent for u32 {}
impl Absent for u64 {}
