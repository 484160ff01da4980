//! Errors of a client's turn, classified by the reaction that they need.

use serde_json::Value;

use super::clean::cleaned;

/// Bytes that are kept of a message.
const MESSAGE_BYTES: usize = 2000;

/// Something that went wrong.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AgentError {
    /// What kind of thing.
    pub kind: AgentErrorKind,
    /// The client's words, printable and cut.
    pub message: String,
}

onloop_syntax::text::words! {
    /// Kinds of errors that are answered differently.
    pub enum AgentErrorKind {
        /// The client is not logged in, or its key is refused.
        Auth = "auth",
        /// The provider refuses the request as such; again would be the same.
        BadRequest = "bad_request",
        /// The conversation does not fit into the model's context.
        TooLong = "too_long",
        /// A limit on usage is reached.
        Limit = "limit",
        /// The provider has no room at the moment.
        Overloaded = "overloaded",
        /// The provider cannot be reached, or the connection broke.
        Network = "network",
        /// Anything else.
        Other = "other",
    }
}

/// Parts of messages, in lower case, that tell a kind. The first that is found counts.
const SIGNS: &[(AgentErrorKind, &[&str])] = &[
    (
        AgentErrorKind::TooLong,
        &[
            "context window",
            "context length",
            "context_length",
            "prompt is too long",
            "prompt too long",
            "prompt_too_long",
            "contextoverflow",
        ],
    ),
    (
        AgentErrorKind::Limit,
        &[
            "usage limit",
            "usage_limit",
            "rate limit",
            "rate_limit",
            "quota",
            "too many requests",
            "hit your",
        ],
    ),
    (
        AgentErrorKind::Auth,
        &[
            "unauthorized",
            "forbidden",
            "authentication",
            "api key",
            "api-key",
            "not logged in",
            "log in",
            "/login",
        ],
    ),
    (AgentErrorKind::Overloaded, &["overloaded", "at capacity", "service unavailable"]),
    (AgentErrorKind::BadRequest, &["invalid_request", "invalid request", "bad request"]),
    (
        AgentErrorKind::Network,
        &["connection", "network", "disconnected", "timeout", "timed out", "econn", "socket"],
    ),
];

impl AgentError {
    /// Tells the kind by the HTTP status of the provider's answer, where there is one, else by the
    /// message.
    pub(super) fn new(status: Option<u64>, message: &str) -> AgentError {
        let told = AgentErrorKind::of_message(message);
        let kind = match status.and_then(AgentErrorKind::of_status) {
            // Too long is a bad request with a name of its own.
            Some(AgentErrorKind::BadRequest) if told == Some(AgentErrorKind::TooLong) => {
                AgentErrorKind::TooLong
            }
            Some(kind) => kind,
            None => told.unwrap_or(AgentErrorKind::Other),
        };
        AgentError::of_kind(kind, message)
    }

    /// An error whose kind is known.
    pub(super) fn of_kind(kind: AgentErrorKind, message: &str) -> AgentError {
        AgentError { kind, message: cleaned(message, MESSAGE_BYTES) }
    }
}

impl AgentErrorKind {
    /// `None`: the status says nothing about it.
    fn of_status(status: u64) -> Option<AgentErrorKind> {
        match status {
            401 | 403 => Some(AgentErrorKind::Auth),
            413 => Some(AgentErrorKind::TooLong),
            429 => Some(AgentErrorKind::Limit),
            400..=499 => Some(AgentErrorKind::BadRequest),
            500..=599 => Some(AgentErrorKind::Overloaded),
            _ => None,
        }
    }

    /// The kind of an error that is only a message; `None` if unknown.
    pub fn of_message(message: &str) -> Option<AgentErrorKind> {
        let message = message.to_lowercase();
        let found = SIGNS.iter().find(|(_, signs)| signs.iter().any(|sign| message.contains(sign)));
        let by_words = found.map(|(kind, _)| *kind);
        by_words.or_else(|| {
            let words = message.split(|c: char| !c.is_ascii_alphanumeric());
            let (mut statuses, mut is_next) = (Vec::new(), false);
            for word in words.filter(|word| !word.is_empty()) {
                if is_next {
                    statuses.extend(word.parse::<u64>().ok());
                }
                is_next = matches!(word, "status" | "code" | "error");
            }
            statuses.into_iter().find_map(AgentErrorKind::of_status)
        })
    }
}

/// The message in a provider's answer that a client passes on as it came, else the answer itself.
pub(super) fn message_within(text: &str) -> String {
    let inner = serde_json::from_str::<Value>(text).ok();
    let message = inner.as_ref().and_then(|answer| answer["error"]["message"].as_str());
    message.unwrap_or(text).to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kinds_are_told_by_status_and_else_by_words() {
        let table: [(Option<u64>, &str, AgentErrorKind); 17] = [
            (Some(401), "no", AgentErrorKind::Auth),
            (Some(400), "prompt is too long: 210000 tokens", AgentErrorKind::TooLong),
            (Some(400), "fake: bad", AgentErrorKind::BadRequest),
            (Some(429), "Overloaded", AgentErrorKind::Limit),
            (Some(529), "Overloaded", AgentErrorKind::Overloaded),
            (Some(200), "?", AgentErrorKind::Other),
            (None, "You’ve hit your usage limit. Try again at 12:16 PM.", AgentErrorKind::Limit),
            (None, "Quota exceeded. Check your plan.", AgentErrorKind::Limit),
            (None, "exceeded retry limit, last status: 429 Too Many", AgentErrorKind::Limit),
            (None, "unexpected status 401 : invalid x", AgentErrorKind::Auth),
            (None, "unexpected status 503: no", AgentErrorKind::Overloaded),
            (None, "Selected model is at capacity.", AgentErrorKind::Overloaded),
            (None, "ran out of room in the model's context window.", AgentErrorKind::TooLong),
            (None, "stream disconnected before completion", AgentErrorKind::Network),
            (None, "Connection failed: error sending request", AgentErrorKind::Network),
            (None, "Reached maximum budget ($2)", AgentErrorKind::Other),
            (None, "", AgentErrorKind::Other),
        ];
        for (status, message, kind) in table {
            assert_eq!(AgentError::new(status, message).kind, kind, "{status:?} {message}");
        }
    }

    #[test]
    fn an_answer_that_is_passed_on_raw_is_read_for_its_message() {
        assert_eq!(message_within(r#"{"error":{"message":"no","code":1}}"#), "no");
        assert_eq!(message_within("plain"), "plain");
        assert_eq!(message_within("{}"), "{}");
    }
}
