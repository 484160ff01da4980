//! Forms of times and random bytes in documents.

/// Times as milliseconds since 1970.
pub(super) mod millis {
    use serde::{Deserialize, Deserializer, Serializer};

    use onloop_syntax::time::Timestamp;

    pub(crate) fn serialize<S: Serializer>(at: &Timestamp, to: S) -> Result<S::Ok, S::Error> {
        to.serialize_i64(at.as_millis())
    }

    pub(crate) fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<Timestamp, D::Error> {
        i64::deserialize(from).map(Timestamp::from_millis)
    }
}

/// Sixteen bytes as thirty-two hexadecimal digits.
pub(super) mod hex {
    use serde::de::Error;
    use serde::{Deserialize, Deserializer, Serializer};

    pub(crate) fn serialize<S: Serializer>(bytes: &[u8; 16], to: S) -> Result<S::Ok, S::Error> {
        to.collect_str(&format_args!("{:032x}", u128::from_be_bytes(*bytes)))
    }

    pub(crate) fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<[u8; 16], D::Error> {
        let text = String::deserialize(from)?;
        // The number parser also accepts a sign.
        let digits = Some(text.as_str())
            .filter(|text| text.len() == 32 && text.bytes().all(|byte| byte.is_ascii_hexdigit()));
        let number = digits.and_then(|digits| u128::from_str_radix(digits, 16).ok());
        number
            .map(u128::to_be_bytes)
            .ok_or_else(|| D::Error::custom("`random` is not 32 hexadecimal digits"))
    }
}
