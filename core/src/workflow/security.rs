//! Words that say that a step touches security.
//!
//! A word counts as a word: `author`, `monkey`, `keyboard` and `tokenizer` are none of ours,
//! `api_key`, `apiKey`, `OAuth2` and `unauthenticated` are.

/// What a security word is about, in the vocabulary of the format.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Topic {
    Auth,
    Encrypt,
    Secret,
    Key,
    Password,
    Token,
    Permission,
    Role,
    Billing,
}

impl Topic {
    /// The word by which the format names the topic.
    pub(super) fn word(self) -> &'static str {
        match self {
            Topic::Auth => "auth",
            Topic::Encrypt => "encrypt",
            Topic::Secret => "secret",
            Topic::Key => "key",
            Topic::Password => "password",
            Topic::Token => "token",
            Topic::Permission => "permission",
            Topic::Role => "role",
            Topic::Billing => "billing",
        }
    }

    /// `key` and `role` have many harmless meanings; lint does not call a missing gate an
    /// error because of them alone.
    pub(super) fn is_certain(self) -> bool {
        !matches!(self, Topic::Key | Topic::Role)
    }

    /// The topic of one lower-case word without digits at its end.
    fn of(word: &[u8]) -> Option<Topic> {
        let stem = [b"un".as_slice(), b"re", b"pre"]
            .iter()
            .find_map(|prefix| word.strip_prefix(*prefix))
            .unwrap_or(word);
        match word {
            b"auth" | b"auths" | b"authn" | b"authz" | b"oauth" => Some(Topic::Auth),
            b"secret" | b"secrets" => Some(Topic::Secret),
            b"key" | b"keys" | b"apikey" | b"apikeys" | b"keychain" | b"keypair" | b"keypairs"
            | b"keyring" | b"keystore" | b"privkey" | b"pubkey" => Some(Topic::Key),
            b"token" | b"tokens" => Some(Topic::Token),
            b"role" | b"roles" => Some(Topic::Role),
            b"billing" => Some(Topic::Billing),
            _ if word.starts_with(b"password") => Some(Topic::Password),
            _ if word.starts_with(b"permission") => Some(Topic::Permission),
            _ if stem.starts_with(b"encrypt") || word.starts_with(b"decrypt") => {
                Some(Topic::Encrypt)
            }
            _ if stem.starts_with(b"authenticat")
                || stem.starts_with(b"authoriz")
                || stem.starts_with(b"authoris") =>
            {
                Some(Topic::Auth)
            }
            _ => None,
        }
    }
}

/// Longest word that is looked at; no security word is longer.
const WORD_BYTES: usize = 24;

/// Calls `found` for every security word in `text`.
pub(super) fn scan(text: &str, mut found: impl FnMut(Topic)) {
    let bytes = text.as_bytes();
    let mut word = [0; WORD_BYTES];
    let mut length = 0;
    for (at, &byte) in bytes.iter().enumerate() {
        let is_word = byte.is_ascii_alphabetic();
        if length > 0 && (!is_word || begins_word(bytes, at)) {
            if length <= WORD_BYTES {
                Topic::of(&word[..length]).into_iter().for_each(&mut found);
            }
            length = 0;
        }
        if is_word {
            if length < WORD_BYTES {
                word[length] = byte.to_ascii_lowercase();
            }
            length += 1;
        }
    }
    if (1..=WORD_BYTES).contains(&length) {
        Topic::of(&word[..length]).into_iter().for_each(found);
    }
}

/// Whether a capital begins a word inside a name: `apiKey`, `APIKey`, `OAuth`.
fn begins_word(bytes: &[u8], at: usize) -> bool {
    let next_is_lower = bytes.get(at + 1).is_some_and(u8::is_ascii_lowercase);
    bytes[at].is_ascii_uppercase()
        && (bytes[at - 1].is_ascii_lowercase()
            || (bytes[at - 1].is_ascii_uppercase() && next_is_lower))
}

/// Whether `text` names something that a person should look at: auth, encrypt, secret, key,
/// password, token, permission, role or billing, in any inflection, in prose or in a name.
pub fn is_sensitive(text: &str) -> bool {
    let mut sensitive = false;
    scan(text, |_| sensitive = true);
    sensitive
}

#[cfg(test)]
mod tests {
    use super::is_sensitive;

    #[test]
    fn words_that_are_sensitive() {
        for text in [
            "auth",
            "Auth module",
            "authn",
            "authenticate",
            "authentication",
            "Unauthenticated",
            "authorize",
            "authorisation",
            "unauthorized",
            "OAuth",
            "OAuth2",
            "test_auth.py",
            "re-authenticate",
            "encryption",
            "encrypted",
            "unencrypted",
            "decrypt",
            "secret",
            "client_secret",
            "SECRETS",
            "key",
            "keys",
            "api_key",
            "apiKey",
            "API_KEY",
            "APIKey",
            "key-value",
            "keychain",
            "password",
            "passwords",
            "remember-password",
            "rememberPassword",
            "passwordless",
            "token",
            "tokens",
            "tokenId",
            "token2",
            "permission",
            "permissions",
            "role",
            "roles",
            "role-based",
            "billing",
            "日本auth語",
        ] {
            assert!(is_sensitive(text), "{text}");
        }
    }

    #[test]
    fn words_that_only_contain_one() {
        for text in [
            "author",
            "authored",
            "authority",
            "keyboard",
            "keyword",
            "monkey",
            "hotkey",
            "tokenizer",
            "tokenize",
            "secretary",
            "parole",
            "roleplay",
            "bill",
            "billboard",
            "passage",
            "permit",
            "",
            "the whole story",
            "Keynote",
        ] {
            assert!(!is_sensitive(text), "{text}");
        }
    }
}
