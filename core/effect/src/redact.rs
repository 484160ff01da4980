//! Redaction: removes the values of secret environment variables from everything that is stored,
//! shown or sent.
//!
//! A variable counts as secret by its name. Its value is hidden as it stands and in the forms that
//! programs print it in: inside of JSON and HTML, percent-encoded, one line of several. A short value and
//! an ordinary word occur in ordinary text: these are hidden only behind the variable's name. Children
//! still get the variable itself.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::Arc;

use super::{Capture, ProcessEnd};
use onloop_syntax::text::says_secret;

pub(super) mod address;
mod git;
mod settings;
#[cfg(test)]
mod tests;

/// Ends of names that say something about a secret, or name a column.
const ABOUT: [&str; 5] = ["_PREFIX", "_SUFFIX", "_DOMAIN", "PRIMARY_KEY", "FOREIGN_KEY"];

/// Replaces a secret whose name is unknown.
pub(super) const REDACTED: &str = "[redacted]";

/// Whether `text` has a mark in place of a secret, so that it is not what was meant.
pub fn has_redaction(text: &str) -> bool {
    text.contains(REDACTED) || text.contains("[redacted ")
}

/// Shorter values occur in ordinary text.
const SHORTEST_SECRET_CHARS: usize = 12;
/// What stands between the name of a variable and its value where programs print both.
const BETWEEN: [&str; 9] = ["=", "=\"", "='", ": ", ": \"", ":", ":\"", "\":\"", "\": \""];
/// Shorter parts of a secret at the edge of what was kept of an output tell nothing.
const SHORTEST_PART_BYTES: usize = 4;
/// Last parts of names that say where a secret is, not its value.
const PLACES: [&str; 6] = ["FILE", "PATH", "DIR", "SOCK", "HOME", "PWD"];

/// The secrets of one environment.
pub struct Redaction {
    /// By their first byte, the longest first, because one secret may contain another.
    secrets: Vec<Secret>,
    /// The range of secrets for each first byte; empty without secrets.
    begins: Vec<Range<usize>>,
}

/// One form of a secret.
struct Secret {
    form: String,
    placeholder: String,
}

impl Secret {
    fn first(&self) -> usize {
        usize::from(self.form.as_bytes()[0])
    }
}

/// A text that is secret, with what it stands between where it is hidden although it is ordinary.
struct Value<'e> {
    /// The variable that has it.
    name: &'e str,
    text: Cow<'e, str>,
    begins: Vec<String>,
    ends: &'static str,
}

impl<'e> Value<'e> {
    fn whole(name: &'e str, text: &'e str) -> Value<'e> {
        Value { name, text: Cow::Borrowed(text), begins: behind(name), ends: "" }
    }

    /// The password of an address.
    fn password(name: &'e str, text: Cow<'e, str>) -> Value<'e> {
        Value { name, text, begins: vec![":".to_owned()], ends: "@" }
    }

    /// The values of `NAME=VALUE,NAME=VALUE`, as they stand and as they are sent. What follows a scheme,
    /// such as `Bearer`, is a secret of its own.
    fn headers(name: &'e str, list: &'e str) -> Vec<Value<'e>> {
        let mut values = Vec::new();
        for (header, text) in list.split(',').filter_map(|part| part.split_once('=')) {
            let begins = behind(header.trim());
            let sent = percent_decoded(text.trim());
            let token = sent.rsplit_once(' ').map(|(_, token)| token.to_owned());
            let texts = [Some(text.trim().to_owned()), Some(sent.clone()), token];
            values.extend(texts.into_iter().flatten().map(|text| Value {
                name,
                text: Cow::Owned(text),
                begins: begins.clone(),
                ends: "",
            }));
        }
        values
    }
}

/// How programs print a name in front of its value.
fn behind(name: &str) -> Vec<String> {
    BETWEEN.map(|between| format!("{name}{between}")).to_vec()
}

/// What is secret of a variable of `env`.
fn values_of<'e>(
    name: &'e str,
    value: &'e str,
    env: &'e BTreeMap<String, String>,
) -> Vec<Value<'e>> {
    let mut values = Vec::new();
    let is_headers = is_headers(name);
    let is_whole = is_headers || is_secret(name) && !is_place(name, value);
    let whole = is_whole.then_some(value);
    for text in whole.into_iter().chain(git::secrets(name, value, env)) {
        let texts = credentials(text.trim()).into_iter().flatten();
        values.extend(texts.map(|text| Value::whole(name, text)));
    }
    for password in address::passwords(value) {
        values.push(Value::password(name, Cow::Borrowed(password)));
        values.push(Value::password(name, Cow::Owned(percent_decoded(password))));
    }
    let tokens = address::tokens(value).map(|text| (Vec::new(), Cow::Borrowed(text)));
    let settings = settings::secrets(value).map(|(begins, text)| (begins, text.into()));
    let members = settings::members(value).map(|(key, text)| (behind(&key), text.into()));
    let texts = tokens.chain(settings).chain(members);
    values.extend(texts.map(|(begins, text)| Value { name, text, begins, ends: "" }));
    if is_headers {
        values.extend(Value::headers(name, value));
    }
    values
}

/// The names of the variables of `env` in whose values something is secret, whatever their names say.
pub fn names_with_secrets(env: &BTreeMap<String, String>) -> impl Iterator<Item = &String> {
    let has_secret = |(name, value): &(&String, &String)| {
        values_of(name, value, env).iter().any(|value| !value.text.is_empty())
    };
    env.iter().filter(has_secret).map(|(name, _)| name)
}

impl std::fmt::Debug for Redaction {
    /// Never shows a secret.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Redaction").field("secrets", &self.secrets.len()).finish_non_exhaustive()
    }
}

impl Redaction {
    /// The secrets of this environment: the values of variables with a secret name, the passwords in
    /// addresses such as `postgres://name:password@host`, settings within a value such as `AccountKey=…`,
    /// and the headers of requests to a collector.
    pub fn new(env: &BTreeMap<String, String>) -> Redaction {
        let mut values: Vec<Value<'_>> = Vec::new();
        for (name, value) in env {
            values.extend(values_of(name, value, env));
        }
        let placeholders: Vec<String> =
            values.iter().map(|value| placeholder(value.name)).collect();
        let mut secrets: Vec<Secret> = Vec::new();
        for (Value { text, .. }, placeholder) in values.iter().zip(&placeholders) {
            let forms = forms(text).into_iter().filter(|form| {
                // Otherwise what stands for one secret would be taken for another one.
                !is_ordinary(form)
                    && !REDACTED.contains(form.as_str())
                    && !placeholders.iter().any(|placeholder| placeholder.contains(form.as_str()))
            });
            let placeholder = || placeholder.clone();
            secrets.extend(forms.map(|form| Secret { form, placeholder: placeholder() }));
        }
        for (Value { text, begins, ends, .. }, placeholder) in values.iter().zip(&placeholders) {
            if is_ordinary(text) && !text.is_empty() && !REDACTED.starts_with(text.as_ref()) {
                secrets.extend(begins.iter().map(|begin| Secret {
                    form: format!("{begin}{text}{ends}"),
                    placeholder: format!("{begin}{placeholder}{ends}"),
                }));
            }
        }
        // The first name counts for a value that several variables have.
        secrets.sort_by(|a, b| {
            let order = (a.first(), b.form.len()).cmp(&(b.first(), a.form.len()));
            order.then_with(|| a.form.cmp(&b.form))
        });
        secrets.dedup_by(|later, earlier| later.form == earlier.form);
        if secrets.is_empty() {
            return Redaction { secrets, begins: Vec::new() };
        }
        let begins = (0..256).map(|byte| {
            let begin = secrets.partition_point(|secret| secret.first() < byte);
            begin..secrets.partition_point(|secret| secret.first() <= byte)
        });
        Redaction { begins: begins.collect(), secrets }
    }

    /// Each form of a secret with its placeholder, for hosts in another language. Forms with the
    /// same beginning are ordered by length, the longest first.
    pub fn forms(&self) -> impl Iterator<Item = (&str, &str)> {
        self.secrets.iter().map(|secret| (secret.form.as_str(), secret.placeholder.as_str()))
    }

    /// `text` with `[redacted NAME]` in place of each secret.
    pub fn text<'t>(&self, text: &'t str) -> Cow<'t, str> {
        match self.bytes(text.as_bytes()) {
            Cow::Borrowed(_) => Cow::Borrowed(text),
            // Whole texts replace whole texts, so the result is UTF-8.
            Cow::Owned(clean) => Cow::Owned(String::from_utf8_lossy(&clean).into_owned()),
        }
    }

    /// The same for any bytes.
    pub fn bytes<'b>(&self, bytes: &'b [u8]) -> Cow<'b, [u8]> {
        if !bytes.iter().any(|&byte| !self.beginning_with(byte).is_empty()) {
            return Cow::Borrowed(bytes);
        }
        let mut clean = Vec::new();
        self.pieces(bytes, |piece| piece.write(&mut clean));
        Cow::Owned(clean)
    }

    /// The text between the secrets, and the placeholders, in order.
    pub(super) fn pieces(&self, bytes: &[u8], hand_on: impl FnMut(OutputPiece<'_>)) {
        self.scan(bytes, Rest::IsAll, hand_on);
    }

    /// The output of a program without secrets. The number of omitted bytes stays.
    pub(super) fn end(&self, end: &mut ProcessEnd) {
        self.capture(&mut end.stdout);
        self.capture(&mut end.stderr);
    }

    fn capture(&self, capture: &mut Capture) {
        if self.secrets.is_empty() {
            return;
        }
        let omitted_bytes = capture.omitted_bytes();
        let (head, tail) = if omitted_bytes == 0 {
            // A secret may begin in the head and end in the tail.
            let whole = [&*capture.head, &*capture.tail].concat();
            let mut head = self.bytes(&whole).into_owned();
            let tail = head.split_off(capture.head.len().min(head.len()));
            (head, tail)
        } else {
            (self.cut_end(&capture.head), self.cut_begin(&capture.tail))
        };
        capture.total_bytes = (head.len() + tail.len()) as u64 + omitted_bytes;
        (capture.head, capture.tail) = (head.into(), tail.into());
    }

    /// Without secrets, and without the beginning of one that the cut shortened.
    fn cut_end(&self, bytes: &[u8]) -> Vec<u8> {
        let mut clean = self.bytes(bytes).into_owned();
        let parts = self.secrets.iter().flat_map(|secret| {
            let form = secret.form.as_bytes();
            (SHORTEST_PART_BYTES..form.len()).rev().map(move |len| (&form[..len], secret))
        });
        let part =
            parts.filter(|(part, _)| clean.ends_with(part)).max_by_key(|(part, _)| part.len());
        if let Some((part, secret)) = part {
            clean.truncate(clean.len() - part.len());
            clean.extend(secret.placeholder.as_bytes());
        }
        clean
    }

    /// Without secrets, and without the end of one that the cut shortened.
    fn cut_begin(&self, bytes: &[u8]) -> Vec<u8> {
        let parts = self.secrets.iter().flat_map(|secret| {
            let form = secret.form.as_bytes();
            (1..=form.len().saturating_sub(SHORTEST_PART_BYTES))
                .map(move |at| (&form[at..], secret))
        });
        let part =
            parts.filter(|(part, _)| bytes.starts_with(part)).max_by_key(|(part, _)| part.len());
        match part {
            None => self.bytes(bytes).into_owned(),
            Some((part, secret)) => {
                let mut clean = secret.placeholder.clone().into_bytes();
                clean.extend(&*self.bytes(&bytes[part.len()..]));
                clean
            }
        }
    }

    /// Passes `bytes` on, piece by piece, and returns how many. The remaining bytes may be the
    /// beginning of a secret that continues in the next chunk.
    fn scan(&self, bytes: &[u8], rest: Rest, mut hand_on: impl FnMut(OutputPiece<'_>)) -> usize {
        let (mut done, mut at) = (0, 0);
        while at < bytes.len() {
            match self.look(&bytes[at..], rest) {
                Look::Plain => at += 1,
                Look::Secret(secret) => {
                    hand_on(OutputPiece::Plain(&bytes[done..at]));
                    hand_on(OutputPiece::Placeholder(&secret.placeholder));
                    at += secret.form.len();
                    done = at;
                }
                Look::Unfinished => break,
            }
        }
        hand_on(OutputPiece::Plain(&bytes[done..at]));
        at
    }

    fn beginning_with(&self, byte: u8) -> &[Secret] {
        self.begins.get(usize::from(byte)).map_or(&[], |range| &self.secrets[range.clone()])
    }

    /// The secret at the start of these bytes.
    fn look(&self, bytes: &[u8], rest: Rest) -> Look<'_> {
        for secret in self.beginning_with(bytes[0]) {
            let form = secret.form.as_bytes();
            if bytes.starts_with(form) {
                return Look::Secret(secret);
            }
            if rest == Rest::MayFollow && form.starts_with(bytes) {
                return Look::Unfinished;
            }
        }
        Look::Plain
    }
}

/// A part of the scanned bytes.
pub(super) enum OutputPiece<'p> {
    /// Unchanged bytes.
    Plain(&'p [u8]),
    /// The placeholder of a secret.
    Placeholder(&'p str),
}

impl OutputPiece<'_> {
    fn write(&self, out: &mut Vec<u8>) {
        out.extend(match self {
            OutputPiece::Plain(bytes) => bytes,
            OutputPiece::Placeholder(placeholder) => placeholder.as_bytes(),
        });
    }
}

enum Look<'r> {
    Plain,
    Secret(&'r Secret),
    /// The bytes that may become a secret.
    Unfinished,
}

/// Whether a secret may continue after these bytes.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Rest {
    IsAll,
    MayFollow,
}

/// Redacts a stream in chunks, including secrets that cross chunk borders.
#[derive(Debug)]
pub struct RedactedStream {
    redaction: Arc<Redaction>,
    /// Bytes that may be the beginning of a secret.
    held: Vec<u8>,
}

impl RedactedStream {
    /// A stream without the secrets of `redaction`.
    pub fn new(redaction: Arc<Redaction>) -> RedactedStream {
        RedactedStream { redaction, held: Vec::new() }
    }

    /// The bytes that are clean after this chunk.
    pub fn push<'c>(&mut self, chunk: &'c [u8]) -> Cow<'c, [u8]> {
        if self.redaction.secrets.is_empty() {
            return Cow::Borrowed(chunk);
        }
        self.held.extend(chunk);
        let mut clean = Vec::new();
        let done =
            self.redaction.scan(&self.held, Rest::MayFollow, |piece| piece.write(&mut clean));
        self.held.drain(..done);
        Cow::Owned(clean)
    }

    /// The remaining bytes at the end of the stream.
    pub fn finish(&mut self) -> Vec<u8> {
        let held = std::mem::take(&mut self.held);
        self.redaction.bytes(&held).into_owned()
    }
}

/// Whether redaction hides the value of a variable. An environment variable named `KEY` or `KEY_…`
/// is secret, unlike a word of a shell command.
pub(super) fn is_secret(name: &str) -> bool {
    // They name a setting.
    if name.starts_with("GIT_CONFIG_KEY_") || ABOUT.iter().any(|end| ends_with(name, end)) {
        return false;
    }
    let mut parts = name.as_bytes().split(|&byte| byte == b'_');
    parts.any(|part| part.eq_ignore_ascii_case(b"KEY"))
        || says_secret(name)
        || signs_bundler_in(name)
}

fn ends_with(name: &str, end: &str) -> bool {
    let begin = name.len().checked_sub(end.len());
    begin.and_then(|at| name.get(at..)).is_some_and(|last| last.eq_ignore_ascii_case(end))
}

/// Whether a variable has what Bundler signs in with at the host in its name: `BUNDLE_GEMS__EXAMPLE__COM`.
fn signs_bundler_in(name: &str) -> bool {
    const OTHERS: [&str; 4] = ["BUILD__", "GEM__", "LOCAL__", "MIRROR__"];
    let host = name.strip_prefix("BUNDLE_").filter(|host| host.contains("__"));
    host.is_some_and(|host| !OTHERS.iter().any(|other| host.starts_with(other)))
}

/// The names of the variables of `env` that are secret and set.
pub fn secret_names(env: &BTreeMap<String, String>) -> impl Iterator<Item = &String> {
    let is_meant = |(name, value): &(&String, &String)| {
        !value.is_empty() && is_secret(name) && !is_place(name, value)
    };
    env.iter().filter(is_meant).map(|(name, _)| name)
}

/// A secret, and what it is without the name of a header and without the scheme in front of it.
fn credentials(value: &str) -> [Option<&str>; 3] {
    let field = value.split_once(": ").map(|(_, field)| field.trim());
    let sent = field.unwrap_or(value).split_once(' ');
    let is_scheme = |scheme: &str| {
        ["bearer", "basic", "token"].iter().any(|known| scheme.eq_ignore_ascii_case(known))
    };
    let token = sent.filter(|(scheme, _)| is_scheme(scheme)).map(|(_, token)| token.trim());
    [Some(value), field, token]
}

/// Whether a variable holds the headers with which OpenTelemetry signs in at a collector.
fn is_headers(name: &str) -> bool {
    name.starts_with("OTEL_EXPORTER_OTLP_") && name.ends_with("HEADERS")
}

/// Whether a value occurs in ordinary text: it is short, or a word or two without a digit.
fn is_ordinary(value: &str) -> bool {
    let is_word = |c: char| c.is_alphabetic() || matches!(c, '-' | '_');
    let joints = value.matches(['-', '_']).count();
    value.chars().count() < SHORTEST_SECRET_CHARS
        || (joints < 2 && value.chars().all(is_word) && is_one_case(value))
}

/// Whether a word is written in one case, but for its first letters.
fn is_one_case(value: &str) -> bool {
    value.split(['-', '_']).all(|word| {
        let rest = word.chars().skip(1);
        rest.clone().all(|c| !c.is_uppercase()) || word.chars().all(|c| !c.is_lowercase())
    })
}

/// Whether a variable tells where a secret is: that is shown, because messages name files.
fn is_place(name: &str, value: &str) -> bool {
    let name = name.to_ascii_uppercase();
    let last = name.rsplit('_').next().unwrap_or_default();
    PLACES.contains(&last) && value.contains(['/', '\\'])
}

fn placeholder(name: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.');
    let name: String = name.chars().map(|c| if is_plain(c) { c } else { '_' }).collect();
    format!("[redacted {name}]")
}

/// The forms in which programs print a value.
fn forms(value: &str) -> Vec<String> {
    let mut values = vec![value.to_owned()];
    // Programs quote or indent a text line by line. The first and last lines of a PEM key are the
    // same in every key.
    let lines = value.lines().map(str::trim).filter(|line| !line.starts_with("-----"));
    values.extend(lines.map(str::to_owned));
    let mut forms = Vec::new();
    for value in &values {
        let json = json_escaped(value);
        forms.extend([value.clone(), json.replace('/', "\\/"), json_escaped(&json)]);
        forms.extend([only_ascii(&json), without_html(&json), json]);
        forms.extend(["&#39;", "&#x27;"].map(|apostrophe| in_html(value, apostrophe)));
        for kept in ["-_.~", "-_.~!'()*", "-_.~/"] {
            let encoded = percent_encoded(value, kept);
            forms.extend([lower_case_digits(&encoded), encoded.replace("%20", "+"), encoded]);
        }
    }
    forms
}

fn json_escaped(value: &str) -> String {
    let quoted = serde_json::Value::from(value).to_string();
    quoted[1..quoted.len() - 1].to_owned()
}

/// The form in HTML, including onloop's own pages.
fn in_html(value: &str, apostrophe: &str) -> String {
    let escapes = [("&", "&amp;"), ("<", "&lt;"), (">", "&gt;"), ("\"", "&quot;")];
    let quoted = escapes.iter().fold(value.to_owned(), |text, (c, escape)| text.replace(c, escape));
    quoted.replace('\'', apostrophe)
}

/// The form of encoders with ASCII output.
fn only_ascii(json: &str) -> String {
    escaped(json, |c| !c.is_ascii())
}

/// The form of encoders whose output is safe in HTML.
fn without_html(json: &str) -> String {
    escaped(json, |c| matches!(c, '<' | '>' | '&'))
}

fn escaped(json: &str, is_escaped: impl Fn(char) -> bool) -> String {
    let mut out = String::with_capacity(json.len());
    for c in json.chars() {
        if is_escaped(c) {
            let units = c.encode_utf16(&mut [0; 2]).to_vec();
            out.extend(units.iter().map(|unit| format!("\\u{unit:04x}")));
        } else {
            out.push(c);
        }
    }
    out
}

fn percent_encoded(value: &str, kept: &str) -> String {
    let mut out = String::with_capacity(value.len());
    for byte in value.bytes() {
        if byte.is_ascii_alphanumeric() || kept.as_bytes().contains(&byte) {
            out.push(char::from(byte));
        } else {
            out.push_str(&format!("%{byte:02X}"));
        }
    }
    out
}

/// Percent encoding with lower-case digits: `%2f` instead of `%2F`.
fn lower_case_digits(encoded: &str) -> String {
    let mut digits = 0;
    let lower = |c: char| {
        if c == '%' {
            digits = 2;
        } else if digits > 0 {
            digits -= 1;
            return c.to_ascii_lowercase();
        }
        c
    };
    encoded.chars().map(lower).collect()
}

fn percent_decoded(text: &str) -> String {
    let bytes = text.as_bytes();
    let (mut out, mut at) = (Vec::with_capacity(bytes.len()), 0);
    while at < bytes.len() {
        let digits = text.get(at + 1..at + 3).filter(|_| bytes[at] == b'%');
        match digits.and_then(|digits| u8::from_str_radix(digits, 16).ok()) {
            Some(byte) => {
                out.push(byte);
                at += 3;
            }
            None => {
                out.push(bytes[at]);
                at += 1;
            }
        }
    }
    String::from_utf8_lossy(&out).into_owned()
}
