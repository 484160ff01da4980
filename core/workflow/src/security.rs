//! Words about security in a step.
//!
//! Only whole words count: `api_key`, `apiKey`, `OAuth2` and `unauthenticated` do, `author`,
//! `monkey`, `keyboard` and `tokenizer` do not.

use onloop_syntax::text::words;

words! {
    /// The topic of a security word, in the vocabulary of the format.
    #[derive(PartialOrd, Ord)]
    pub(super) enum Topic {
        Auth = "auth",
        Encrypt = "encrypt",
        Secret = "secret",
        Key = "key",
        Password = "password",
        Token = "token",
        Permission = "permission",
        Role = "role",
        Billing = "billing",
    }
}

impl Topic {
    /// `key` and `role` have many harmless meanings. On their own they make a missing gate a
    /// warning, not an error.
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

/// Longest word that is compared; no security word is longer.
const WORD_BYTES: usize = 24;

/// The class of a byte in the search for words.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Class {
    Lower,
    Upper,
    Other,
}

/// The class of every byte: the search reads every byte of every action.
const CLASSES: [Class; 256] = {
    let mut classes = [Class::Other; 256];
    let mut byte = 0;
    while byte < 128 {
        if (byte as u8).is_ascii_lowercase() {
            classes[byte] = Class::Lower;
        } else if (byte as u8).is_ascii_uppercase() {
            classes[byte] = Class::Upper;
        }
        byte += 1;
    }
    classes
};

/// Calls `found` for every security word in `text`. A capital letter starts a word inside a name:
/// `apiKey`, `APIKey`, `OAuth`.
pub(super) fn scan(text: &str, mut found: impl FnMut(Topic)) {
    let bytes = text.as_bytes();
    let class = |at: usize| bytes.get(at).map_or(Class::Other, |&byte| CLASSES[usize::from(byte)]);
    let mut at = 0;
    while at < bytes.len() {
        let start = at;
        at += 1;
        match class(start) {
            Class::Other => continue,
            Class::Lower => {}
            Class::Upper => {
                while class(at) == Class::Upper && class(at + 1) != Class::Lower {
                    at += 1;
                }
                // The `A` of `OAuth` is a word; the `A` of `Auth` starts one.
                if at > start + 1 && class(at) != Class::Lower {
                    look_at(&bytes[start..at], &mut found);
                    continue;
                }
            }
        }
        while class(at) == Class::Lower {
            at += 1;
        }
        look_at(&bytes[start..at], &mut found);
    }
}

fn look_at(word: &[u8], found: &mut impl FnMut(Topic)) {
    if !(3..=WORD_BYTES).contains(&word.len()) {
        return;
    }
    // The first letters of all security words and of their prefixes.
    if !matches!(word[0] | 0x20, b'a' | b'b' | b'd' | b'e' | b'k' | b'o'..=b'u') {
        return;
    }
    let mut lower = [0; WORD_BYTES];
    let lower = &mut lower[..word.len()];
    lower.copy_from_slice(word);
    lower.make_ascii_lowercase();
    Topic::of(lower).into_iter().for_each(found);
}

#[cfg(test)]
mod tests {
    fn is_sensitive(text: &str) -> bool {
        let mut sensitive = false;
        super::scan(text, |_| sensitive = true);
        sensitive
    }

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
