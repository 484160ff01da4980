//! What derived forms of stored types share, for the attributes of serde.

use serde::{Deserialize, Deserializer};

/// Whether a member says nothing and is left out.
pub fn is_default<T: Default + PartialEq>(value: &T) -> bool {
    *value == T::default()
}

/// The number of a member that is left out where it is 1.
pub fn one() -> u32 {
    1
}

/// Whether a number is that of [`one`].
pub fn is_one(number: &u32) -> bool {
    *number == one()
}

/// Reads a member that may be `null`, but not missing: serde by itself takes the one for the other.
///
/// # Errors
///
/// Those of the member's type.
pub fn given<'de, T: Deserialize<'de>, D: Deserializer<'de>>(
    from: D,
) -> Result<Option<T>, D::Error> {
    Option::deserialize(from)
}

/// A switch that is stored under a name that says the opposite.
pub mod negated {
    use serde::{Deserialize, Deserializer, Serialize, Serializer};

    /// Writes the opposite.
    ///
    /// # Errors
    ///
    /// Those of the serializer.
    pub fn serialize<S: Serializer>(value: &bool, to: S) -> Result<S::Ok, S::Error> {
        (!value).serialize(to)
    }

    /// Reads the opposite.
    ///
    /// # Errors
    ///
    /// It is not a truth value.
    pub fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<bool, D::Error> {
        bool::deserialize(from).map(|value| !value)
    }
}

/// A switch that is `on` where it is on, and left out otherwise.
pub mod on {
    use serde::de::Error;
    use serde::{Deserialize, Deserializer, Serializer};

    /// Writes `on`; a switch that is off is left out with [`is_default`](super::is_default).
    ///
    /// # Errors
    ///
    /// Those of the serializer.
    pub fn serialize<S: Serializer>(_: &bool, to: S) -> Result<S::Ok, S::Error> {
        to.serialize_str("on")
    }

    /// Reads `on`.
    ///
    /// # Errors
    ///
    /// Any other word.
    pub fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<bool, D::Error> {
        let word = String::deserialize(from)?;
        let found = crate::text::ellipsis(&word, 80);
        (word == "on").then_some(true).ok_or_else(|| D::Error::unknown_variant(&found, &["on"]))
    }
}
