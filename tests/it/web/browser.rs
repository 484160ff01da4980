//! A browser without a window: it keeps cookies, and sends the forms that it sees.

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

    /// Sends the form on the present page that leads to `action`, with these fields beside the hidden ones.
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
        let (_, rest) = page.split_once("data-events=\"").expect("the page listens");
        let target = rest.split('"').next().expect("it ends").replace("&amp;", "&");
        self.call("GET", target, "")
    }

    /// Tries the first key that was shown.
    pub(super) fn submit_first_key(&mut self) -> WebCall {
        let body = format!("key={}", self.keys[0]);
        self.call("POST", "/in".to_owned(), &body)
    }

    fn send(&self, page: &str, action: &str, fields: &[(&str, &str)]) -> WebCall {
        let path =
            if action == "/in" { action.to_owned() } else { format!("{}{action}", self.root) };
        let start = page.find(&format!("action=\"{path}\"")).expect("the page has the form");
        let form = page[start..].split("</form>").next().expect("it has an end");
        let mut body: Vec<String> = form
            .split("<input type=\"hidden\" name=\"")
            .skip(1)
            .map(|input| {
                let (name, rest) = input.split_once("\" value=\"").expect("it has a value");
                format!("{name}={}", rest.split('"').next().expect("it ends"))
            })
            .collect();
        body.extend(fields.iter().map(|(name, value)| format!("{name}={}", encoded(value))));
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
