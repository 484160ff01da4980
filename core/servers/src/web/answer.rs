//! Answers, and the headers that all of them have.

use onloop_documents::page::leave_out_nulls;
use onloop_effect::CallAnswer;
use serde_json::Value;

/// Only our own script, style and picture; no frames, and forms only to us. What is a script can come from
/// nothing that the page makes of text, so text of an agent cannot become one.
const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; \
                      connect-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'; \
                      require-trusted-types-for 'script'; trusted-types 'none'";

/// What a browser must do with every answer. With `no-referrer` it would not say where a form comes
/// from, and that is checked; `same-origin` sends it only to this server.
const HEADERS: [(&str, &str); 7] = [
    ("x-content-type-options", "nosniff"),
    ("x-frame-options", "DENY"),
    ("referrer-policy", "same-origin"),
    ("cache-control", "no-store"),
    ("cross-origin-opener-policy", "same-origin"),
    ("cross-origin-resource-policy", "same-origin"),
    ("cross-origin-embedder-policy", "require-corp"),
];

/// What the body is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Content {
    Page,
    Script,
    Style,
    Picture,
    Data,
    Events,
}

impl Content {
    fn as_str(self) -> &'static str {
        match self {
            Content::Page => "text/html; charset=utf-8",
            Content::Script => "text/javascript; charset=utf-8",
            Content::Style => "text/css; charset=utf-8",
            Content::Data => "application/json",
            Content::Picture => "image/svg+xml",
            Content::Events => "text/event-stream",
        }
    }
}

/// An answer with a body.
pub(super) fn answer(status: u16, content: Content, body: &str) -> CallAnswer {
    let own = ("content-type", content.as_str());
    let pairs = HEADERS.into_iter().chain([("content-security-policy", POLICY), own]);
    CallAnswer {
        status,
        headers: pairs.map(|(name, value)| (name.to_owned(), value.to_owned())).collect(),
        body: body.as_bytes().to_vec().into(),
        open: content == Content::Events,
    }
}

/// Facts as JSON; members that are null are left out.
pub(super) fn data(status: u16, mut facts: Value) -> CallAnswer {
    leave_out_nulls(&mut facts);
    answer(status, Content::Data, &facts.to_string())
}

/// Leads to another page, after something was changed.
pub(super) fn elsewhere(path: &str) -> CallAnswer {
    let mut answer = answer(303, Content::Page, "");
    answer.headers.push(("location".to_owned(), path.to_owned()));
    answer
}

/// The same with a cookie.
pub(super) fn with_cookie(mut answer: CallAnswer, cookie: String) -> CallAnswer {
    answer.headers.push(("set-cookie".to_owned(), cookie));
    answer
}
