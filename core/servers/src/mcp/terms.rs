//! What a client declares, once for a conversation or with each stateless request.

use serde_json::{Map, Value, json};

use onloop_syntax::syntax::json_rpc::RpcError;
use onloop_syntax::text::{ellipsis, one_line, words};

/// The version of the protocol whose requests declare themselves. There is no conversation: what a
/// request needs to know comes with it.
pub const STATELESS_VERSION: &str = "2026-07-28";

const VERSION: &str = "io.modelcontextprotocol/protocolVersion";
const CAPABILITIES: &str = "io.modelcontextprotocol/clientCapabilities";
const LOG_LEVEL: &str = "io.modelcontextprotocol/logLevel";

/// Methods that only the stateless protocol has.
const STATELESS_METHODS: [&str; 2] = ["server/discover", "subscriptions/listen"];

words! {
    /// The severity of a log message, the lowest first.
    pub enum LogLevel {
        /// For debugging onloop.
        Debug = "debug",
        /// Normal progress.
        Info = "info",
        /// What is worth a look.
        Notice = "notice",
        /// What may be wrong.
        Warning = "warning",
        /// What went wrong.
        Error = "error",
        /// Worse.
        Critical = "critical",
        /// Worse still.
        Alert = "alert",
        /// The program cannot run.
        Emergency = "emergency",
    }
}

impl LogLevel {
    /// Reads a level that a client wants.
    ///
    /// # Errors
    ///
    /// When there is no such level.
    pub(super) fn read(name: &str, value: &Value) -> Result<LogLevel, RpcError> {
        let level = value.as_str().and_then(|word| word.parse().ok());
        level.ok_or_else(|| {
            let found = ellipsis(&one_line(&value.to_string()), 100);
            let message =
                format!("`{name}` is `{found}`, expected one of {}", LogLevel::WORDS.join(", "));
            RpcError::new(RpcError::INVALID_PARAMS, message)
        })
    }

    /// Whether a client that asks for this level gets messages of level `other`.
    pub fn includes(self, other: LogLevel) -> bool {
        other as u8 >= self as u8
    }

    /// The level of a note for people.
    pub fn of_note(note: &str) -> LogLevel {
        let begins =
            |word: &str| note.get(..word.len()).is_some_and(|s| s.eq_ignore_ascii_case(word));
        if begins("error:") {
            LogLevel::Error
        } else if begins("warning:") {
            LogLevel::Warning
        } else {
            LogLevel::Info
        }
    }
}

/// The protocol that a request belongs to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Protocol {
    /// A conversation that began with `initialize`.
    #[default]
    Conversation,
    /// A request that declares its client itself.
    Stateless,
}

/// What the client of a request declared.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ClientSettings {
    /// The protocol.
    pub protocol: Protocol,
    /// Whether people can be asked through the client.
    pub elicits: bool,
    /// The lowest level of log messages that it wants; `None`: none at all.
    pub log: Option<LogLevel>,
}

impl ClientSettings {
    /// What a request declares about itself; `None`: nothing, so it belongs to a conversation.
    ///
    /// # Errors
    ///
    /// A version that we do not speak, or something that is missing.
    pub(super) fn declared(
        method: &str,
        params: &Map<String, Value>,
    ) -> Result<Option<ClientSettings>, RpcError> {
        let nothing = Map::new();
        let meta = params.get("_meta").and_then(Value::as_object).unwrap_or(&nothing);
        let claims = [VERSION, CAPABILITIES].iter().any(|key| meta.contains_key(*key));
        if !claims && !STATELESS_METHODS.contains(&method) {
            return Ok(None);
        }
        let invalid = |message: String| RpcError::new(RpcError::INVALID_PARAMS, message);
        let version = meta.get(VERSION).and_then(Value::as_str);
        let version = version
            .ok_or_else(|| invalid(format!("`_meta` needs `{VERSION}`, which is a string")))?;
        if version != STATELESS_VERSION {
            let shown = ellipsis(&one_line(version), 100);
            let message = format!(
                "protocol version `{shown}` is not supported; expected `{STATELESS_VERSION}`, or \
                 `initialize` for an earlier one"
            );
            let data = json!({ "supported": [STATELESS_VERSION], "requested": shown });
            return Err(RpcError::new(RpcError::UNSUPPORTED_VERSION, message).with_data(data));
        }
        let capabilities = meta.get(CAPABILITIES).filter(|value| value.is_object());
        let capabilities = capabilities.ok_or_else(|| {
            invalid(format!("`_meta` needs `{CAPABILITIES}`, which is an object"))
        })?;
        let log = meta.get(LOG_LEVEL).map(|level| LogLevel::read(LOG_LEVEL, level)).transpose()?;
        let elicits = elicits(capabilities);
        Ok(Some(ClientSettings { protocol: Protocol::Stateless, elicits, log }))
    }
}

/// Whether a client with these capabilities can show a form to a person. Nothing said about how means
/// by a form.
pub(super) fn elicits(capabilities: &Value) -> bool {
    capabilities["elicitation"]
        .as_object()
        .is_some_and(|how| how.is_empty() || how.contains_key("form"))
}

/// How long a result may be taken for the present one, for clients that keep it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Freshness {
    /// It is not kept.
    Unknown,
    /// It may be another one at once.
    Stale,
    /// As long as this program runs.
    Fixed,
}

/// A result as the stateless protocol has it: it says what it is, who gives it, and how long it holds.
pub(super) fn dressed(mut result: Value, freshness: Freshness) -> Value {
    const HOUR_MS: u64 = 3_600_000;
    let Some(members) = result.as_object_mut() else { return result };
    members.entry("resultType").or_insert_with(|| json!("complete"));
    let meta = members.entry("_meta").or_insert_with(|| json!({}));
    meta["io.modelcontextprotocol/serverInfo"] = server_info();
    let (ttl_ms, scope) = match freshness {
        Freshness::Unknown => return result,
        Freshness::Stale => (0, "private"),
        Freshness::Fixed => (HOUR_MS, "public"),
    };
    members.insert("ttlMs".to_owned(), json!(ttl_ms));
    members.insert("cacheScope".to_owned(), json!(scope));
    result
}

/// Who we are.
pub(super) fn server_info() -> Value {
    json!({ "name": "onloop", "title": "onloop", "version": env!("CARGO_PKG_VERSION") })
}

/// What we offer, whatever the version.
pub(super) fn capabilities() -> Value {
    json!({
        "completions": {},
        "logging": {},
        "prompts": {},
        "resources": { "subscribe": true, "listChanged": true },
        "tools": {},
    })
}

/// An error as the protocol of its request numbers it.
pub(super) fn renumbered(mut error: RpcError, protocol: Protocol) -> RpcError {
    if protocol == Protocol::Stateless && error.code == RpcError::NO_RESOURCE {
        error.code = RpcError::INVALID_PARAMS;
    }
    error
}
