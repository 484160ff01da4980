//! Answers, and the headers that all of them have.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use sha2::{Digest, Sha256};

use onloop_documents::page::web as page;
use onloop_effect::CallAnswer;

/// Only our own script and picture, and the very style that is in our pages; no frames, and forms only to
/// us.
fn policy() -> String {
    let style = STANDARD.encode(Sha256::digest(page::style().as_bytes()));
    format!(
        "default-src 'none'; script-src 'self'; style-src 'sha256-{style}'; img-src 'self'; \
         connect-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'"
    )
}

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
    Picture,
    Events,
}

impl Content {
    fn as_str(self) -> &'static str {
        match self {
            Content::Page => "text/html; charset=utf-8",
            Content::Script => "text/javascript; charset=utf-8",
            Content::Picture => "image/svg+xml",
            Content::Events => "text/event-stream",
        }
    }
}

/// An answer with a body.
pub(super) fn answer(status: u16, content: Content, body: &str) -> CallAnswer {
    let own = ("content-type", content.as_str());
    let policy = policy();
    let pairs = HEADERS.into_iter().chain([("content-security-policy", policy.as_str()), own]);
    CallAnswer {
        status,
        headers: pairs.map(|(name, value)| (name.to_owned(), value.to_owned())).collect(),
        body: body.as_bytes().to_vec().into(),
        open: content == Content::Events,
    }
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
