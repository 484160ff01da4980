//! What an attempt failed with, and whether the next one failed in the same way.

use serde::{Deserialize, Serialize};

use onloop_syntax::form::is_default;
use onloop_syntax::text;

/// What a failed attempt failed with.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LastFailure {
    /// Why, on one line.
    pub reason: String,
    /// The end of what the check or the agent said.
    pub output: String,
    /// The check that failed, from 0; `None`: the agent failed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub check: Option<u32>,
    /// Attempts in a row, this one included, that changed no file and failed in this way.
    #[serde(default, skip_serializing_if = "is_default")]
    pub idle: u32,
}

/// Attempts without a change and with the same failure after which another one is not worth its cost.
pub(super) const IDLE_ATTEMPTS: u32 = 2;

impl LastFailure {
    /// A failure that is no repetition.
    pub fn new(reason: String, output: String) -> LastFailure {
        LastFailure { reason, output, check: None, idle: 0 }
    }

    /// Whether `other` is the same failure, apart from numbers and times in what was said.
    pub(super) fn is_like(&self, other: &LastFailure) -> bool {
        let same = |one: &str, two: &str| without_accidents(one) == without_accidents(two);
        // A reason has the exit code, in which each digit counts.
        self.check == other.check
            && self.reason == other.reason
            && same(&self.output, &other.output)
    }
}

/// The end of a text, with one `0` for each number, each address and each name in the folder for
/// temporary files: where a long one was cut depends on its numbers.
fn without_accidents(text: &str) -> String {
    const COMPARED_BYTES: usize = 2000;
    const TEMPORARY: &str = "/tmp/";
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(c) = rest.chars().next() {
        let digits = |text: &str| text.trim_start_matches(|c: char| c.is_ascii_hexdigit()).len();
        let skipped = match (rest.strip_prefix("0x"), rest.strip_prefix(TEMPORARY)) {
            (Some(after), _) => rest.len() - digits(after),
            (None, Some(name)) => {
                let ends = |c: char| c.is_whitespace() || "/'\"`:;,()<>[]".contains(c);
                TEMPORARY.len() + name.find(ends).unwrap_or(name.len())
            }
            (None, None) if c.is_ascii_digit() => 1,
            (None, None) => 0,
        };
        match skipped {
            0 => out.push(c),
            _ if out.ends_with('0') => {}
            _ => out.push('0'),
        }
        rest = &rest[skipped.max(c.len_utf8())..];
    }
    text::suffix(&out, COMPARED_BYTES).to_owned()
}

#[cfg(test)]
mod tests {
    use super::LastFailure;

    #[test]
    fn failures_are_alike_apart_from_numbers_addresses_and_temporary_names() {
        let table = [
            ("1 failed in 0.12s", "1 failed in 13.5s", true),
            ("<object at 0x7f3c2ab0>", "<object at 0x55e0fa9c1d>", true),
            ("no such file: '/tmp/tmpq8_x1/a'", "no such file: '/tmp/tmp7zzz/a'", true),
            ("listen 127.0.0.1:40123", "listen 127.0.0.1:51", true),
            ("expected face", "expected cafe", false),
            ("/tmp/x/a is missing", "/tmp/x/b is missing", false),
        ];
        for (one, two, expected) in table {
            let failure = |text: &str| LastFailure::new("exit code 1".to_owned(), text.to_owned());
            assert_eq!(failure(one).is_like(&failure(two)), expected, "{one}, {two}");
        }
    }
}
