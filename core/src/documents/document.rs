//! Declares JSON documents whose unknown fields survive.

use std::borrow::Cow;

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
            fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
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

/// Declares a struct that is read and written as a JSON object.
///
/// Every field may be missing or `null` (then it is its type's default), fields are written
/// in the declared order, and members that are not declared are kept in `unknown` and
/// written back after the others. A `sparse` document leaves out what is absent; the others
/// write `null`, because older readers expect their keys.
macro_rules! document {
    (sparse; $($document:tt)*) => {
        crate::documents::document::document! { @ true $($document)* }
    };
    (@ $sparse:literal $(#[$meta:meta])* $vis:vis struct $name:ident {
        $($(#[$field_meta:meta])* $field:ident: $type:ty,)*
    }) => {
        $(#[$meta])*
        #[derive(Clone, Debug, Default, PartialEq)]
        $vis struct $name {
            $($(#[$field_meta])* $vis $field: $type,)*
            /// Members that this version does not know.
            $vis unknown: serde_json::Map<String, serde_json::Value>,
        }

        impl serde::Serialize for $name {
            fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                use serde::ser::SerializeMap;
                let mut map = serializer.serialize_map(None)?;
                $(if !($sparse && crate::documents::document::Absent::is_absent(&self.$field)) {
                    map.serialize_entry(
                        const { crate::documents::document::member(stringify!($field)) },
                        &self.$field,
                    )?;
                })*
                for (key, value) in &self.unknown {
                    map.serialize_entry(key, value)?;
                }
                map.end()
            }
        }

        impl crate::documents::document::Absent for $name {}

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
                        let mut document = $name::default();
                        while let Some(key) = map.next_key::<crate::documents::document::Key<'de>>()? {
                            match &*key.0 {
                                $(key if key == const {
                                    crate::documents::document::member(stringify!($field))
                                } => {
                                    let value: Option<$type> = map.next_value().map_err(|error| {
                                        serde::de::Error::custom(format!("`{key}`: {error}"))
                                    })?;
                                    document.$field = value.unwrap_or_default();
                                })*
                                _ => {
                                    document.unknown.insert(key.0.into_owned(), map.next_value()?);
                                }
                            }
                        }
                        Ok(document)
                    }
                }
                deserializer.deserialize_map(Fields)
            }
        }
    };
    ($($document:tt)*) => {
        crate::documents::document::document! { @ false $($document)* }
    };
}

pub(crate) use document;

/// Whether a field says nothing.
pub(crate) trait Absent {
    /// `true` only for what JSON would show as `null`.
    fn is_absent(&self) -> bool {
        false
    }
}

impl<T> Absent for Option<T> {
    fn is_absent(&self) -> bool {
        self.is_none()
    }
}

impl<T> Absent for Vec<T> {}
impl Absent for String {}
impl Absent for bool {}
impl Absent for u32 {}
impl Absent for u64 {}
