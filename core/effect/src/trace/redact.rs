//! Redaction of traces: hides secrets and cuts long values.

use std::collections::BTreeMap;

use serde_json::{Map, Value, json};

use crate::redact::address::is_token;
use crate::redact::{OutputPiece, REDACTED, Redaction, is_secret};
use crate::{Outcome, Reply};
use onloop_syntax::{limits, text};

/// With a number and ` bytes]`, it replaces the rest of a long text.
const CUT: &str = "[cut ";
/// Prefixes of well-known tokens. Sources: the manuals of GitHub, GitLab 18 ("Token overview"), Slack, AWS
/// ("IAM identifiers"), Stripe, Docker Hub, PyPI (a macaroon begins so), npm and Hugging Face.
const TOKEN_PREFIXES: [&str; 26] = [
    "sk-",
    "ghp_",
    "gho_",
    "ghu_",
    "ghs_",
    "ghr_",
    "github_pat_",
    "glpat-",
    "glptt-",
    "gldt-",
    "glrt-",
    "glcbt-",
    "glsoat-",
    "sk_live_",
    "sk_test_",
    "rk_live_",
    "rk_test_",
    "dckr_pat_",
    "dckr_oat_",
    "pypi-AgEI",
    "xoxb-",
    "xoxp-",
    "xapp-",
    "AKIA",
    "AIza",
    // The links, cookies and forms of `onloop web`.
    "olw_",
];
/// The same of tokens that are letters and digits only: variables and files have names that begin so.
const PLAIN_TOKEN_PREFIXES: [&str; 3] = ["npm_", "hf_", "ASIA"];
/// Request headers that contain no secrets.
const PLAIN_HEADERS: [&str; 3] = ["accept", "content-type", "user-agent"];

/// The redaction of one program's trace.
#[derive(Debug)]
pub(super) struct TraceRedaction {
    values: Redaction,
}

impl TraceRedaction {
    pub(super) fn new(env: &BTreeMap<String, String>) -> TraceRedaction {
        TraceRedaction { values: Redaction::new(env) }
    }

    /// The values of secret variables of any length.
    pub(super) fn environment(&self, env: &mut Value) {
        for (name, value) in env.as_object_mut().into_iter().flatten() {
            if is_secret(name) {
                *value = Value::from(REDACTED);
            }
        }
    }

    /// Output of a process, as the program sees it.
    pub(super) fn reply(&self, reply: &mut Reply) {
        match &mut reply.outcome {
            Ok(Outcome::Process(end)) => self.values.end(end),
            // Every key of the web server is derived from it.
            Ok(Outcome::Listening { secret, .. }) => *secret = Vec::new().into(),
            _ => {}
        }
    }

    /// Every text in a document.
    pub(super) fn document(&self, document: &mut Value) {
        match document {
            Value::String(text) => *text = bounded(self.text(text)),
            Value::Array(values) => values.iter_mut().for_each(|value| self.document(value)),
            Value::Object(members) => {
                self.environment(members.get_mut("env_set").unwrap_or(&mut Value::Null));
                headers(members);
                members.values_mut().for_each(|value| self.document(value));
            }
            Value::Null | Value::Bool(_) | Value::Number(_) => {}
        }
    }

    /// A text, or `{"hex": …}`.
    pub(super) fn bytes(&self, bytes: &[u8]) -> Value {
        match std::str::from_utf8(bytes) {
            Ok(text) => Value::String(bounded(self.text(text))),
            Err(_) => {
                let mut digits = String::new();
                self.values.pieces(bytes, |piece| match piece {
                    OutputPiece::Plain(bytes) => {
                        digits.extend(bytes.iter().map(|b| format!("{b:02x}")))
                    }
                    OutputPiece::Placeholder(placeholder) => digits.push_str(placeholder),
                });
                json!({"hex": bounded(digits)})
            }
        }
    }

    fn text(&self, text: &str) -> String {
        private_keys(&passwords(&schemes(&tokens(&web_tokens(&self.values.text(text))))))
    }
}

/// Bytes as [`Redaction::bytes`] writes them; `None` for other values.
pub(super) fn read_bytes(value: &Value) -> Option<Vec<u8>> {
    if let Some(text) = value.as_str() {
        return Some(text.as_bytes().to_vec());
    }
    // A redacted or cut text has no bytes.
    let digits: String = pieces(value.get("hex")?.as_str()?).concat();
    let pairs = digits.as_bytes().chunks(2);
    pairs.map(|pair| u8::from_str_radix(std::str::from_utf8(pair).ok()?, 16).ok()).collect()
}

/// Whether `text` can be the recorded text.
pub(super) fn matches(recorded: &str, now: &str) -> bool {
    if recorded == now {
        return true;
    }
    let pieces = pieces(recorded);
    let [first, middle @ .., last] = pieces.as_slice() else { return false };
    let Some(mut rest) = now.strip_prefix(first).and_then(|rest| rest.strip_suffix(last)) else {
        return false;
    };
    for piece in middle {
        match rest.find(piece) {
            Some(at) => rest = &rest[at + piece.len()..],
            None => return false,
        }
    }
    true
}

/// The text between the placeholders.
fn pieces(text: &str) -> Vec<&str> {
    let (mut pieces, mut begin, mut from) = (Vec::new(), 0, 0);
    while let Some(at) = text[from..].find('[').map(|at| from + at) {
        match placeholder_len(&text[at..]) {
            Some(len) => {
                pieces.push(&text[begin..at]);
                begin = at + len;
                from = begin;
            }
            None => from = at + 1,
        }
    }
    pieces.push(&text[begin..]);
    pieces
}

fn placeholder_len(text: &str) -> Option<usize> {
    // With the name of a variable, or without.
    if let Some(rest) = text.strip_prefix("[redacted") {
        let is_name = |c: char| c.is_ascii_alphanumeric() || matches!(c, ' ' | '_' | '-' | '.');
        let rest = rest.trim_start_matches(is_name).strip_prefix(']')?;
        return Some(text.len() - rest.len());
    }
    let rest = text.strip_prefix(CUT)?.trim_start_matches(|digit: char| digit.is_ascii_digit());
    let rest = rest.strip_prefix(" bytes]")?;
    Some(text.len() - rest.len())
}

fn bounded(mut text: String) -> String {
    if text.len() > limits::TRACE_BODY_BYTES {
        let kept = text::prefix(&text, limits::TRACE_BODY_BYTES).len();
        let cut = text.len() - kept;
        text.truncate(kept);
        text.push_str(&format!("{CUT}{cut} bytes]"));
    }
    text
}

fn headers(members: &mut Map<String, Value>) {
    let pairs = members.get_mut("headers").and_then(Value::as_array_mut).into_iter().flatten();
    for pair in pairs {
        if let Some([name, value]) = pair.as_array_mut().map(Vec::as_mut_slice) {
            let name = name.as_str().unwrap_or_default().to_ascii_lowercase();
            if !PLAIN_HEADERS.contains(&name.as_str()) {
                *value = Value::from(REDACTED);
            }
        }
    }
}

/// Hides tokens with a well-known prefix, anywhere in the text.
fn tokens(text: &str) -> String {
    let is_part = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | ':');
    let mut clean = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(begin) = rest.find(is_part) {
        let end = rest[begin..].find(|c| !is_part(c)).map_or(rest.len(), |len| begin + len);
        clean.push_str(&rest[..begin]);
        clean.push_str(&word(&rest[begin..end]));
        rest = &rest[end..];
    }
    clean + rest
}

fn word(word: &str) -> String {
    // `123456:AA…` of Telegram, in a URL after `bot`.
    if let Some((number, secret)) = word.rsplit_once(':') {
        let digits = number.len() - number.trim_end_matches(|c: char| c.is_ascii_digit()).len();
        if digits >= 6 && secret.len() >= 30 {
            return format!("{number}:{REDACTED}");
        }
    }
    let parts = word.split(':').map(|part| {
        let is_plain =
            |prefix: &&&str| part[prefix.len()..].bytes().all(|b| b.is_ascii_alphanumeric());
        let begins = |prefix: &&&str| part.starts_with(**prefix);
        let plain = PLAIN_TOKEN_PREFIXES.iter().filter(begins).find(is_plain);
        let token = TOKEN_PREFIXES.iter().find(begins).or(plain);
        match token {
            Some(prefix)
                if part.len() >= prefix.len() + 16
                    && part.contains(|c: char| c.is_ascii_digit()) =>
            {
                format!("{prefix}{REDACTED}")
            }
            Some(_) | None => part.to_owned(),
        }
    });
    parts.collect::<Vec<_>>().join(":")
}

/// Hides JSON web tokens: `HEADER.CLAIMS.SIGNATURE`, of which the first two begin as encoded JSON does.
fn web_tokens(text: &str) -> String {
    const CLAIMS: &str = ".eyJ";
    let is_part = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-');
    let mut clean = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find(CLAIMS) {
        let header = rest[..at].trim_end_matches(is_part).len();
        let end = |from: usize| rest[from..].find(|c| !is_part(c)).map_or(rest.len(), |n| from + n);
        let mut past = end(at + 1);
        if rest[past..].starts_with('.') {
            past = end(past + 1);
        }
        let is_one = rest[header..].starts_with("eyJ");
        clean.push_str(if is_one { &rest[..header] } else { &rest[..past] });
        clean.push_str(if is_one { REDACTED } else { "" });
        rest = &rest[past..];
    }
    clean + rest
}

/// Hides what a client signs in with behind the name of a scheme: `Authorization: Bearer …`.
fn schemes(text: &str) -> String {
    const SCHEMES: [&str; 4] = ["Bearer ", "bearer ", "Basic ", "basic "];
    let is_part = |c: char| c.is_ascii_alphanumeric() || "-._~+/=".contains(c);
    let mut clean = String::with_capacity(text.len());
    let mut rest = text;
    let next = |rest: &str| {
        let found = SCHEMES.iter().filter_map(|scheme| Some(rest.find(scheme)? + scheme.len()));
        found.min()
    };
    while let Some(at) = next(rest) {
        let (before, behind) = rest.split_at(at);
        let end = behind.find(|c| !is_part(c)).unwrap_or(behind.len());
        clean.push_str(before);
        clean.push_str(if is_token(&behind[..end]) { REDACTED } else { &behind[..end] });
        rest = &behind[end..];
    }
    clean + rest
}

/// Hides the password in URLs such as `https://name:password@host`, and a token in place of the name.
fn passwords(text: &str) -> String {
    let mut clean = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find("://") {
        let (before, authority) = rest.split_at(at + 3);
        clean.push_str(before);
        let end = authority
            .find(|c: char| c.is_whitespace() || "/?#\"'<>".contains(c))
            .unwrap_or(authority.len());
        let user = authority[..end].rfind('@').map(|at| &authority[..at]).unwrap_or_default();
        let (name, password) = user.split_once(':').map_or((user, None), |(n, p)| (n, Some(p)));
        clean.push_str(if is_token(name) { REDACTED } else { name });
        clean.push_str(if password.is_some() { ":" } else { "" });
        clean.push_str(if password.is_some() { REDACTED } else { "" });
        rest = &authority[user.len()..];
    }
    clean + rest
}

/// Hides the text between the first and last line of a private key.
fn private_keys(text: &str) -> String {
    const BEGIN: &str = " PRIVATE KEY-----";
    let mut clean = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find(BEGIN) {
        let (before, key) = rest.split_at(at + BEGIN.len());
        clean.push_str(before);
        clean.push_str(REDACTED);
        let end = key.find("-----END ").unwrap_or(key.len());
        let past = key[end..].find(BEGIN).map_or(key.len(), |len| end + len + BEGIN.len());
        clean.push_str(&key[end..past]);
        rest = &key[past..];
    }
    clean + rest
}
