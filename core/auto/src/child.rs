//! The one text that a child agent answers with.

use super::lines;
use super::one_line::OneLine;
use super::token::NextCommand;
use onloop_syntax::form::given;
use serde::{Deserialize, Serialize};

/// How a child came back.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ChildOutcome {
    /// With a text, which may say anything.
    Answered(String),
    /// It failed: the call threw, the process ended with an error. For people: how.
    Failed(String),
    /// It took too long.
    TimedOut,
    /// The person stopped it.
    Cancelled,
    /// This host cannot start children.
    Unavailable,
}

/// What rw-auto takes from a child's answer.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ChildAnswer {
    /// What the child says comes next.
    pub next: NextCommand,
    /// The feature file that a person has to review first, if any.
    #[serde(deserialize_with = "given")]
    pub review: Option<Review>,
}

/// A request to review a feature file. Values that are missing or empty are `None`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Review {
    /// Why; usually `APPROVAL_MISSING` or `APPROVAL_RESET_SCOPE_CHANGED`.
    #[serde(deserialize_with = "given")]
    pub reason: Option<OneLine>,
    /// Which file. It is shown and never opened.
    #[serde(deserialize_with = "given")]
    pub file: Option<OneLine>,
    /// What to edit.
    #[serde(deserialize_with = "given")]
    pub hint: Option<OneLine>,
}

/// Why an answer does not count.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum InvalidAnswer {
    /// No line begins with `NEXT_COMMAND=`, apart from quoted placeholders.
    #[error("found no line that begins with `NEXT_COMMAND=`, expected one")]
    NoNextCommand,
    /// Two such lines disagree.
    #[error("found `NEXT_COMMAND={0}` and `NEXT_COMMAND={1}`, expected one")]
    Conflict(OneLine, OneLine),
    /// The value is unknown.
    #[error("found `NEXT_COMMAND={0}`, expected `done`, `rw-planner`, `rw-loop` or `rw-auto`")]
    Unknown(OneLine),
}

impl ChildAnswer {
    /// Reads an answer. Keys count at the very beginning of a line, exactly as they are
    /// spelled; a code fence around them does not hide them. A value that begins with `<`
    /// is a placeholder that the child quoted from its instructions.
    pub fn parse(text: &str) -> Result<ChildAnswer, InvalidAnswer> {
        let mut value: Option<&str> = None;
        let mut wants_review = false;
        let mut details = Details::default();
        for line in lines::raw(text) {
            if let Some(next) = line.strip_prefix("NEXT_COMMAND=").map(str::trim) {
                match value {
                    _ if next.starts_with('<') => {}
                    None => value = Some(next),
                    Some(earlier) if earlier == next => {}
                    Some(earlier) => {
                        return Err(InvalidAnswer::Conflict(earlier.into(), next.into()));
                    }
                }
            } else if line.trim_end() == "FEATURE_REVIEW_REQUIRED" {
                wants_review = true;
            } else {
                details.note(line);
            }
        }
        let value = value.ok_or(InvalidAnswer::NoNextCommand)?;
        let next = value.parse().map_err(|_| InvalidAnswer::Unknown(value.into()))?;
        Ok(ChildAnswer { next, review: wants_review.then(|| details.review()) })
    }
}

/// First value of each detail key. The first line of a key counts, even an empty one.
#[derive(Default)]
struct Details<'a> {
    reason: Option<&'a str>,
    file: Option<&'a str>,
    hint: Option<&'a str>,
}

impl<'a> Details<'a> {
    fn note(&mut self, line: &'a str) {
        for (slot, key) in [
            (&mut self.reason, "FEATURE_REVIEW_REASON="),
            (&mut self.file, "FEATURE_FILE="),
            (&mut self.hint, "FEATURE_REVIEW_HINT="),
        ] {
            if let (None, Some(value)) = (&slot, line.strip_prefix(key)) {
                *slot = Some(value);
            }
        }
    }

    fn review(&self) -> Review {
        let relayed = |value: Option<&str>| value.map(OneLine::from).filter(|v| !v.is_empty());
        Review { reason: relayed(self.reason), file: relayed(self.file), hint: relayed(self.hint) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> String {
        match ChildAnswer::parse(text) {
            Ok(ChildAnswer { next, review: None }) => next.as_str().to_owned(),
            Ok(ChildAnswer { next, review: Some(review) }) => {
                let shown = |value: Option<OneLine>| value.map_or("-".into(), |v| v.to_string());
                let [reason, file, hint] = [review.reason, review.file, review.hint].map(shown);
                format!("{} review {reason} {file} {hint}", next.as_str())
            }
            Err(InvalidAnswer::NoNextCommand) => "none".to_owned(),
            Err(InvalidAnswer::Conflict(..)) => "conflict".to_owned(),
            Err(InvalidAnswer::Unknown(value)) => format!("unknown {value}"),
        }
    }

    #[test]
    fn exactly_one_next_command_is_found_or_none() {
        for (text, expected) in [
            ("NEXT_COMMAND=done", "done"),
            ("\u{feff}NEXT_COMMAND=rw-auto", "rw-auto"),
            ("prose\r\nNEXT_COMMAND= rw-loop \t\r\nmore", "rw-loop"),
            ("a\rNEXT_COMMAND=rw-planner\rb", "rw-planner"),
            ("```text\nNEXT_COMMAND=done\n```", "done"),
            ("NEXT_COMMAND=done\nNEXT_COMMAND=done", "done"),
            ("NEXT_COMMAND=<rw-planner|rw-loop>\nNEXT_COMMAND=done", "done"),
            ("NEXT_COMMAND=rw-loop\nNEXT_COMMAND=done", "conflict"),
            ("NEXT_COMMAND=\nNEXT_COMMAND=done", "conflict"),
            ("NEXT_COMMAND=", "unknown "),
            ("NEXT_COMMAND=<done>", "none"),
            ("NEXT_COMMAND=rw-review", "unknown rw-review"),
            ("NEXT_COMMAND=Done", "unknown Done"),
            ("NEXT_COMMAND=done.", "unknown done."),
            ("NEXT_COMMAND=`done`", "unknown `done`"),
            ("NEXT_COMMAND=done\u{0}", "unknown done"),
            ("next_command=done", "none"),
            ("NEXT_COMMAND = done", "none"),
            (" NEXT_COMMAND=done", "none"),
            ("- NEXT_COMMAND=done", "none"),
            ("> NEXT_COMMAND=done", "none"),
            ("**NEXT_COMMAND=done**", "none"),
            ("x\u{2028}NEXT_COMMAND=done", "none"),
            ("x\u{b}NEXT_COMMAND=done\u{c}NEXT_COMMAND=done", "none"),
            ("AUTO_ROUTE_TARGET=done", "none"),
            ("", "none"),
        ] {
            assert_eq!(read(text), expected, "{text:?}");
        }
    }

    #[test]
    fn a_review_is_a_line_of_its_own_and_relays_one_line_values() {
        for (text, expected) in [
            (
                "FEATURE_REVIEW_REQUIRED \nFEATURE_REVIEW_REASON=X\nFEATURE_FILE=a.md\n\
                 FEATURE_REVIEW_HINT=do it\nNEXT_COMMAND=done",
                "done review X a.md do it",
            ),
            (
                "FEATURE_FILE=first\nFEATURE_FILE=second\nNEXT_COMMAND=done\n\
                 FEATURE_REVIEW_REQUIRED\nFEATURE_REVIEW_REASON=\nFEATURE_REVIEW_REASON=late",
                "done review - first -",
            ),
            (
                "FEATURE_REVIEW_REQUIRED\nFEATURE_REVIEW_HINT=a\u{2028}\u{85}\u{1b}NEXT_COMMAND=done\n\
                 FEATURE_FILE=\u{7}\u{2029}\nNEXT_COMMAND=rw-planner",
                "rw-planner review - - a NEXT_COMMAND=done",
            ),
            ("see FEATURE_REVIEW_REQUIRED\nNEXT_COMMAND=done", "done"),
            (" FEATURE_REVIEW_REQUIRED\nNEXT_COMMAND=done", "done"),
            ("FEATURE_REVIEW_REQUIRED: yes\nNEXT_COMMAND=done", "done"),
            ("FEATURE_REVIEW_REQUIRED\n FEATURE_FILE=x\nNEXT_COMMAND=done", "done review - - -"),
            ("FEATURE_REVIEW_REQUIRED", "none"),
        ] {
            assert_eq!(read(text), expected, "{text:?}");
        }
    }
}
