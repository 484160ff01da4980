//! A browser without a window: it keeps cookies, and sends what the page would send.

use onloop_core::effect::{CallAnswer, WebCall};

/// What a browser does next.
pub(super) type Step = Box<dyn FnOnce(&mut Browser) -> WebCall>;

/// What a browser knows.
#[derive(Default)]
pub(super) struct Browser {
    /// `127.0.0.1:PORT`.
    pub(super) host: String,
    keys: Vec<String>,
    cookie: String,
    /// The path below which everything lies.
    pub(super) root: String,
    page: String,
    kept: String,
}

impl Browser {
    /// Takes over a link that the terminal shows.
    pub(super) fn hear(&mut self, link: &str) {
        let Some((address, key)) = link.trim().split_once("/in/") else { return };
        self.host = address.split("://").nth(1).expect("it is an address").to_owned();
        self.keys.push(key.to_owned());
    }

    pub(super) fn see(&mut self, answer: &CallAnswer) {
        if let Some(cookie) = header(answer, "set-cookie") {
            self.cookie = cookie.split(';').next().expect("it has a value").to_owned();
            let path = cookie.split("Path=").nth(1).and_then(|rest| rest.split(';').next());
            self.root = path.expect("it has a path").trim_end_matches('/').to_owned();
        }
        self.page = String::from_utf8_lossy(&answer.body).into_owned();
    }

    /// Opens the latest link.
    pub(super) fn enter(&mut self) -> WebCall {
        let key = self.keys.last().expect("a link was shown").clone();
        self.call("GET", format!("/in/{key}"), "")
    }

    /// Opens a path below the root.
    pub(super) fn get(&mut self, path: &str) -> WebCall {
        self.call("GET", format!("{}{path}", self.root), "")
    }

    /// The same, and what comes is kept. The page that is seen now is kept as it is.
    pub(super) fn get_and_keep(&mut self, path: &str) -> WebCall {
        self.kept.clear();
        self.get(path)
    }

    /// Opens a path as a stranger does.
    pub(super) fn get_unknown(&mut self, path: &str) -> WebCall {
        let mut call = self.call("GET", path.to_owned(), "");
        call.headers.retain(|(name, _)| name != "cookie");
        call
    }

    /// Sends what the page with the present facts would send to `action`, with these fields besides.
    pub(super) fn submit(&mut self, action: &str, fields: &[(&str, &str)]) -> WebCall {
        let page = self.page.clone();
        self.send(&page, action, fields)
    }

    /// The same, and the page is kept for [`Browser::submit_kept`].
    pub(super) fn keep_page_and_submit(
        &mut self,
        action: &str,
        fields: &[(&str, &str)],
    ) -> WebCall {
        self.kept = self.page.clone();
        self.submit(action, fields)
    }

    /// Sends a form of the page that was kept: one that lies in another tab since then.
    pub(super) fn submit_kept(&mut self, action: &str, fields: &[(&str, &str)]) -> WebCall {
        if self.kept.is_empty() {
            self.kept = self.page.clone();
        }
        let page = self.kept.clone();
        self.send(&page, action, fields)
    }

    /// Listens as the present page wants to.
    pub(super) fn listen(&mut self) -> WebCall {
        let page = self.page.clone();
        self.listen_on(&page)
    }

    /// The same, and the page is kept for [`Browser::listen_as_kept`].
    pub(super) fn keep_page_and_listen(&mut self) -> WebCall {
        self.kept = self.page.clone();
        self.listen()
    }

    /// Listens as the page wants to that was kept.
    pub(super) fn listen_as_kept(&mut self) -> WebCall {
        let page = self.kept.clone();
        self.listen_on(&page)
    }

    fn listen_on(&self, page: &str) -> WebCall {
        let facts = facts_of(page);
        let seen = facts["seen"].as_str().expect("it says what it shows");
        let run =
            facts["run"]["card"]["id"].as_str().map_or_else(String::new, |id| format!("run={id}&"));
        self.call("GET", format!("{}/events?{run}seen={seen}", self.root), "")
    }

    /// Tries the first key that was shown.
    pub(super) fn submit_first_key(&mut self) -> WebCall {
        let body = format!("key={}", self.keys[0]);
        self.call("POST", "/in".to_owned(), &body)
    }

    fn send(&self, page: &str, action: &str, fields: &[(&str, &str)]) -> WebCall {
        let form = |name: &str, value: &str| format!("{name}={}", encoded(value));
        let mut body: Vec<String> = Vec::new();
        if action == "/in" {
            let (_, rest) =
                page.split_once("name=\"key\" value=\"").expect("the page has the form");
            body.push(form("key", rest.split('"').next().expect("it ends")));
        } else {
            let facts = facts_of(page);
            let token = match action.split('/').nth(1) {
                Some("out") => &facts["out"],
                Some("call") => &facts["tokens"][&action["/call/".len()..]],
                _ => &facts["token"],
            };
            body.push(form("form", token.as_str().expect("the page may do this")));
            let run = &facts["run"];
            body.extend(run["seen"].as_str().map(|seen| form("seen", seen)));
            body.extend(run["choice"]["step"].as_u64().map(|step| form("step", &step.to_string())));
        }
        body.extend(fields.iter().map(|(name, value)| form(name, value)));
        let path =
            if action == "/in" { action.to_owned() } else { format!("{}{action}", self.root) };
        self.call("POST", path, &body.join("&"))
    }

    fn call(&self, method: &str, target: String, body: &str) -> WebCall {
        let mut headers = vec![("host".to_owned(), self.host.clone())];
        if !self.cookie.is_empty() {
            headers.push(("cookie".to_owned(), self.cookie.clone()));
        }
        headers.push(("sec-fetch-site".to_owned(), "same-origin".to_owned()));
        if method == "POST" {
            headers.push(("origin".to_owned(), format!("http://{}", self.host)));
            let kind = "application/x-www-form-urlencoded".to_owned();
            headers.push(("content-type".to_owned(), kind));
        }
        let body = body.as_bytes().to_vec().into();
        WebCall { call: 0, method: method.to_owned(), target, headers, body }
    }
}

/// The facts that an answer has.
pub(super) fn facts_of(page: &str) -> serde_json::Value {
    serde_json::from_str(page).expect("it has facts")
}

/// A header of an answer.
pub(super) fn header<'a>(answer: &'a CallAnswer, name: &str) -> Option<&'a str> {
    answer.headers.iter().find(|(key, _)| key == name).map(|(_, value)| value.as_str())
}

/// Gives a call another value of a header.
pub(super) fn set(call: &mut WebCall, name: &str, value: &str) {
    call.headers.retain(|(key, _)| key != name);
    call.headers.push((name.to_owned(), value.to_owned()));
}

fn encoded(value: &str) -> String {
    value.bytes().map(|byte| format!("%{byte:02X}")).collect()
}
