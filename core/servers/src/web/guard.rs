//! Who may see and change something: a call in, what it may do out.
//!
//! Everything on this machine can open a connection to us, and a browser carries calls that pages of
//! others have written. So nothing counts but what others cannot have:
//!
//! - A *link* with a key that was printed to the person's terminal. It is exchanged once, by pressing
//!   a button, for a *session*: a cookie that scripts cannot read and other sites cannot make the browser send.
//! - Browsers send a cookie to every port of a machine, also to a server that an agent has started
//!   there. So the cookie is bound to a path with an unpredictable name, below which everything lies.
//! - The `Host` must be ours, or a name that somebody else has pointed at this machine would do.
//! - What changes something must come from a form of ours: by its `Origin`, and by a token in it.

use sha2::{Digest, Sha256};

use super::form::Fields;
use onloop_effect::WebCall;
use onloop_syntax::limits;
use onloop_syntax::text;
use onloop_syntax::time::Timestamp;

/// How everything begins that lets somebody in; traces do not show what does.
const MARK: &str = "olw_";
/// The name of the cookie.
const COOKIE: &str = "onloop";

/// What a call may do.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Admitted {
    /// Get a file that says nothing about this machine.
    File(File),
    /// See the button that exchanges the key.
    SignInPage { key: String },
    /// Have a key exchanged for a session.
    SignIn { key: String, is_https: bool },
    /// See something, with this query.
    See { session: SignedIn, path: String, query: String },
    /// Change something.
    Change { session: SignedIn, path: String, form: Fields },
}

/// A file that is the same for everybody.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum File {
    Script,
    Style,
    Picture,
}

/// Why a call is rejected.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Rejected {
    /// It is not a request of ours.
    Malformed,
    /// It is neither `GET` nor `POST`.
    Method,
    /// It came under a name that is not ours.
    Host,
    /// It did not come from a page of ours.
    Origin,
    /// No one is signed in.
    SignedOut,
    /// Its form is not one that this session was given, or is an old one.
    Fields,
}

/// Who is signed in, by the digest of the cookie.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct SignedIn([u8; 32]);

#[derive(Debug)]
struct Open {
    session: SignedIn,
    until: Timestamp,
}

/// A key that was not used yet.
#[derive(Debug)]
struct Key {
    digest: [u8; 32],
    until: Timestamp,
}

/// The state of who may come in.
pub(super) struct AuthGuard {
    secret: Vec<u8>,
    port: u16,
    /// Another address under which a browser reaches us, such as that of a proxy.
    outside: Option<Outside>,
    key: Option<Key>,
    open: Vec<Open>,
    made: u64,
}

/// An address of a proxy.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Outside {
    scheme: &'static str,
    host: String,
}

impl Outside {
    /// Reads `https://NAME[:PORT]`. `None`: it is something else.
    pub(super) fn read(address: &str) -> Option<Outside> {
        let (scheme, rest) = ["https", "http"].into_iter().find_map(|scheme| {
            Some((scheme, address.strip_prefix(scheme)?.strip_prefix("://")?))
        })?;
        let host = rest.strip_suffix('/').unwrap_or(rest).to_ascii_lowercase();
        let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-.:[]".contains(&byte);
        (!host.is_empty() && host.bytes().all(is_plain)).then_some(Outside { scheme, host })
    }
}

impl AuthGuard {
    /// No session is open yet. `secret` is unpredictable.
    pub(super) fn new(port: u16, secret: Vec<u8>, outside: Option<Outside>) -> AuthGuard {
        AuthGuard { secret, port, outside, key: None, open: Vec::new(), made: 0 }
    }

    /// The path below which everything lies, without a slash at its end.
    pub(super) fn root(&self) -> String {
        format!("/{}", &text::hex(&self.derived(&[b"place"]))[..32])
    }

    /// A new key; the last one is void.
    pub(super) fn new_key(&mut self, now: Timestamp) -> String {
        let key = self.new_token(b"key");
        let until = now.later(limits::WEB_KEY_MS);
        self.key = Some(Key { digest: digest(key.as_bytes()), until });
        key
    }

    /// Whether a key waits to be used.
    pub(super) fn has_key(&self, now: Timestamp) -> bool {
        self.key.as_ref().is_some_and(|key| now < key.until)
    }

    /// Exchanges a key for the cookie of a new session; `None`: it is void.
    pub(super) fn sign_in(&mut self, now: Timestamp, key: &str, is_https: bool) -> Option<String> {
        if !self.has_key(now) || self.key.as_ref()?.digest != digest(key.as_bytes()) {
            return None;
        }
        self.key = None;
        let cookie = self.new_token(b"cookie");
        self.open.retain(|open| now < open.until);
        if self.open.len() >= limits::WEB_SESSIONS {
            self.open.remove(0);
        }
        let session = SignedIn(digest(cookie.as_bytes()));
        self.open.push(Open { session, until: now.later(limits::WEB_SESSION_MS) });
        let secure = if is_https { "; Secure" } else { "" };
        Some(self.cookie(&cookie) + secure)
    }

    /// Whether a session continues.
    pub(super) fn is_signed_in(&self, now: Timestamp, session: SignedIn) -> bool {
        self.open.iter().any(|open| open.session == session && now < open.until)
    }

    /// Ends a session, and returns the cookie that takes its place in the browser.
    pub(super) fn sign_out(&mut self, session: SignedIn) -> String {
        self.open.retain(|open| open.session != session);
        format!("{}; Max-Age=0", self.cookie(""))
    }

    /// What a form of this session that is sent to `path` has to say.
    pub(super) fn form_token(&self, session: SignedIn, path: &str) -> String {
        format!("{MARK}{}", text::hex(&self.derived(&[b"form", &session.0, path.as_bytes()])))
    }

    /// What `call` may do.
    pub(super) fn judge(&mut self, now: Timestamp, call: &WebCall) -> Result<Admitted, Rejected> {
        let origin = self.origin(call)?;
        let is_post = match call.method.as_str() {
            "GET" => false,
            "POST" => true,
            _ => return Err(Rejected::Method),
        };
        let (path, query) = call.target.split_once('?').unwrap_or((&call.target, ""));
        if !path.starts_with('/') {
            return Err(Rejected::Malformed);
        }
        if is_post {
            self.judge_change(now, call, &origin, path)
        } else {
            self.judge_look(now, call, path, query)
        }
    }

    /// The origin of our own pages, under the name by which this call came.
    fn origin(&self, call: &WebCall) -> Result<String, Rejected> {
        let host = call.header("host").ok_or(Rejected::Host)?.to_ascii_lowercase();
        let own = ["127.0.0.1", "localhost"].map(|name| format!("{name}:{}", self.port));
        if own.contains(&host) {
            return Ok(format!("http://{host}"));
        }
        let outside = self.outside.as_ref().filter(|outside| outside.host == host);
        let Outside { scheme, host } = outside.ok_or(Rejected::Host)?;
        Ok(format!("{scheme}://{host}"))
    }

    fn judge_look(
        &mut self,
        now: Timestamp,
        call: &WebCall,
        path: &str,
        query: &str,
    ) -> Result<Admitted, Rejected> {
        match path {
            "/app.js" => return Ok(Admitted::File(File::Script)),
            "/app.css" => return Ok(Admitted::File(File::Style)),
            "/icon.svg" => return Ok(Admitted::File(File::Picture)),
            _ => {}
        }
        if let Some(key) = path.strip_prefix("/in/") {
            // Looking at it changes nothing, so that a preview does not use it up.
            let is_it = self.key.as_ref().is_some_and(|k| k.digest == digest(key.as_bytes()));
            let is_live = is_it && self.has_key(now);
            return is_live
                .then(|| Admitted::SignInPage { key: key.to_owned() })
                .ok_or(Rejected::SignedOut);
        }
        let (session, path) = self.session(now, call, path)?;
        // A page of somebody else may lead to ours, and do nothing else with it.
        let is_theirs = call.header("sec-fetch-site").is_some_and(|site| site == "cross-site");
        let leads = call.header("sec-fetch-mode").is_none_or(|mode| mode == "navigate");
        if is_theirs && !leads {
            return Err(Rejected::Origin);
        }
        Ok(Admitted::See { session, path, query: query.to_owned() })
    }

    fn judge_change(
        &mut self,
        now: Timestamp,
        call: &WebCall,
        origin: &str,
        path: &str,
    ) -> Result<Admitted, Rejected> {
        let site = call.header("sec-fetch-site").unwrap_or("same-origin");
        if call.header("origin") != Some(origin) || site != "same-origin" {
            return Err(Rejected::Origin);
        }
        let kind = call.header("content-type").unwrap_or_default();
        if kind.split(';').next().unwrap_or_default().trim() != "application/x-www-form-urlencoded"
        {
            return Err(Rejected::Malformed);
        }
        let form = std::str::from_utf8(&call.body).ok().and_then(Fields::read);
        let form = form.ok_or(Rejected::Malformed)?;
        if path == "/in" {
            let (key, is_https) = (form.get("key").to_owned(), origin.starts_with("https:"));
            return Ok(Admitted::SignIn { key, is_https });
        }
        let (session, path) = self.session(now, call, path)?;
        let expected = self.form_token(session, &path);
        if digest(form.get("form").as_bytes()) != digest(expected.as_bytes()) {
            return Err(Rejected::Fields);
        }
        Ok(Admitted::Change { session, path, form })
    }

    /// Who calls, and the path below ours. A call prolongs its session.
    fn session(
        &mut self,
        now: Timestamp,
        call: &WebCall,
        path: &str,
    ) -> Result<(SignedIn, String), Rejected> {
        let path = path.strip_prefix(self.root().as_str()).filter(|rest| rest.starts_with('/'));
        let path = path.ok_or(Rejected::SignedOut)?.to_owned();
        self.open.retain(|open| now < open.until);
        let cookies = call.headers.iter().filter(|(name, _)| name == "cookie");
        let pairs = cookies.flat_map(|(_, value)| value.split(';'));
        // Another server of this machine may have set one of the same name.
        for value in pairs.filter_map(|pair| pair.trim().strip_prefix(COOKIE)?.strip_prefix('=')) {
            let session = SignedIn(digest(value.as_bytes()));
            if let Some(open) = self.open.iter_mut().find(|open| open.session == session) {
                open.until = now.later(limits::WEB_SESSION_MS);
                return Ok((session, path));
            }
        }
        Err(Rejected::SignedOut)
    }

    fn cookie(&self, value: &str) -> String {
        format!("{COOKIE}={value}; Path={}/; HttpOnly; SameSite=Strict", self.root())
    }

    fn new_token(&mut self, what: &[u8]) -> String {
        self.made += 1;
        let token = self.derived(&[what, &self.made.to_le_bytes()]);
        format!("{MARK}{}", text::hex(&token))
    }

    /// What only who knows the secret can make of these parts. Hashed twice, so that nothing can be
    /// added to the parts.
    fn derived(&self, parts: &[&[u8]]) -> [u8; 32] {
        let mut hash = Sha256::new();
        for part in std::iter::once(&self.secret.as_slice()).chain(parts) {
            hash.update((part.len() as u64).to_le_bytes());
            hash.update(part);
        }
        digest(&hash.finalize())
    }
}

/// What is compared instead of a secret itself, so that the time it takes tells nothing.
fn digest(bytes: &[u8]) -> [u8; 32] {
    Sha256::digest(bytes).into()
}

#[cfg(test)]
mod tests;
