//! `onloop web`: answers browsers until it is interrupted.

mod decide;
mod open;
mod show;

use super::answer::{Content, answer, data, elsewhere, with_cookie};
use super::form::Fields;
use super::guard::{Admitted, AuthGuard, File, Outside, Rejected, SignedIn};
use super::route::{Act, Sight, act, place};
use onloop_documents::page::web as page;
use onloop_effect::{CallAnswer, Exit, Failure, Io, WebCall};
use onloop_engine::board::ChangeWatcher;
use onloop_engine::error::CommandError;
use onloop_engine::run::decider::demand_person;
use onloop_syntax::limits;
use onloop_syntax::text;
use onloop_syntax::time::Timestamp;

/// Arguments of `onloop web`.
#[derive(Clone, Debug, Default, clap::Args)]
pub struct WebArgs {
    /// The port on this machine [default: any that is free]
    #[arg(long, value_name = "N", default_value_t = 0, hide_default_value = true)]
    pub port: u16,
    /// Open the page in a browser of this machine
    #[arg(long)]
    pub open: bool,
    /// The address under which a proxy offers the page to a browser
    #[arg(long, value_name = "URL")]
    pub proxy: Option<String>,
}

/// `onloop web`.
///
/// # Errors
///
/// An agent is at work, the address of the proxy is not one, or the server cannot listen.
pub async fn web(io: &Io, args: &WebArgs) -> Result<Exit, CommandError> {
    demand_person(io, "what is decided on the page").await?;
    let outside = match args.proxy.as_deref().map(|address| (address, Outside::read(address))) {
        Some((address, None)) => {
            let shown = text::ellipsis(&text::one_line(address), 80);
            let what = format!("`{shown}` is not an address such as https://NAME[:PORT]");
            return Err(CommandError::usage(what));
        }
        Some((_, outside)) => outside,
        None => None,
    };
    let (port, secret) = io.listen(args.port).await?;
    let proxy = args.proxy.as_deref().map(|address| address.trim_end_matches('/').to_owned());
    let server = Server {
        io: io.clone(),
        port,
        proxy,
        guard: AuthGuard::new(port, secret, outside),
        watcher: ChangeWatcher::default(),
        streams: Vec::new(),
        looked: io.now(),
        is_stale: false,
        opened: None,
        is_interrupted: false,
    };
    server.serve(args.open).await
}

struct Server {
    io: Io,
    port: u16,
    proxy: Option<String>,
    guard: AuthGuard,
    watcher: ChangeWatcher,
    streams: Vec<Stream>,
    /// When it was last looked whether something has changed.
    looked: Timestamp,
    /// Something may have changed since then.
    is_stale: bool,
    /// The file that leads a browser here.
    opened: Option<String>,
    /// The person has interrupted something that was done for a browser.
    is_interrupted: bool,
}

/// A page that wants to know when it has changed.
struct Stream {
    call: u64,
    session: SignedIn,
    /// The run that it shows; `None`: everything.
    id: Option<String>,
    /// Digest of what it shows.
    seen: String,
    /// When it last heard anything.
    heard: Timestamp,
}

impl Server {
    async fn serve(mut self, opens: bool) -> Result<Exit, CommandError> {
        let link = self.print_link().await;
        if opens {
            self.opened = open::open(&self.io, &link).await.map_err(ended)?;
        }
        let error = loop {
            match self.next_call().await {
                Ok(Some(call)) => self.take(call).await,
                Ok(None) => self.is_stale = true,
                Err(failure) => break ended(failure),
            }
            if self.is_interrupted {
                break CommandError::interrupted();
            }
            let since = self.io.now().millis_since(self.looked);
            if since >= limits::WEB_STILL_MS || (self.is_stale && since >= limits::WEB_LOOK_MS) {
                self.tell().await;
            }
        };
        self.forget_opened().await;
        Err(error)
    }

    /// Waits for a call; while pages want to know when to look again, also for a change, or until they
    /// have to hear that they are still heard.
    async fn next_call(&mut self) -> Result<Option<WebCall>, Failure> {
        let since = self.io.now().millis_since(self.looked);
        match (self.streams.is_empty(), self.is_stale) {
            (true, _) => self.io.next_call(None, &[]).await,
            // However much is written, it is not looked at all the time.
            (false, true) => {
                let left = limits::WEB_LOOK_MS.saturating_sub(since);
                self.io.next_call(Some(left), &[]).await
            }
            (false, false) => {
                let left = limits::WEB_STILL_MS.saturating_sub(since);
                self.io.next_call(Some(left), self.watcher.folders()).await
            }
        }
    }

    /// Says the link that lets one browser in, and returns it.
    async fn print_link(&mut self) -> String {
        let key = self.guard.new_key(self.io.now());
        let own = format!("http://127.0.0.1:{}", self.port);
        let link = format!("{}/in/{key}", self.proxy.as_deref().unwrap_or(&own));
        self.io.result(format!("{link}\n")).await;
        let minutes = limits::WEB_KEY_MS / 60_000;
        self.io
            .note(format!(
                "Open it in a browser; it lets one in, within {minutes} minutes. Whoever then opens \
                 the\naddress without it gets a new one shown here. Ctrl-C ends this."
            ))
            .await;
        link
    }

    async fn take(&mut self, call: WebCall) {
        let number = call.call;
        let answer = match self.guard.judge(self.io.now(), &call) {
            Ok(admitted) => self.admitted(number, admitted).await,
            Err(refusal) => Some(self.refused(&call, refusal).await),
        };
        if let Some(answer) = answer {
            // Who does not wait for the answer any more needs none.
            let _ = self.io.answer_call(number, answer).await;
        }
    }

    /// The answer; `None`: it was given.
    async fn admitted(&mut self, call: u64, admitted: Admitted) -> Option<CallAnswer> {
        Some(match admitted {
            Admitted::File(File::Script) => answer(200, Content::Script, page::SCRIPT),
            Admitted::File(File::Style) => answer(200, Content::Style, page::STYLE),
            Admitted::File(File::Picture) => answer(200, Content::Picture, page::ICON),
            Admitted::SignInPage { key } => answer(200, Content::Page, &page::sign_in_page(&key)),
            Admitted::SignIn { key, is_https } => self.sign_in(&key, is_https).await,
            Admitted::See { session, path, query } => match place(&path, &query) {
                Some(Sight::Events { id, seen }) => {
                    return self.listen(call, session, id, seen).await;
                }
                Some(Sight::Page) => {
                    answer(200, Content::Page, &page::app_page(&self.guard.root()))
                }
                Some(Sight::Facts(facts)) => self.show(session, &facts).await,
                None => self.nothing_there(),
            },
            Admitted::Change { session, path, form } => match act(&path) {
                Some(act) => self.change(session, &act, &form).await,
                None => self.nothing_there(),
            },
        })
    }

    async fn sign_in(&mut self, key: &str, is_https: bool) -> CallAnswer {
        match self.guard.sign_in(self.io.now(), key, is_https) {
            Some(cookie) => {
                self.forget_opened().await;
                with_cookie(elsewhere(&format!("{}/", self.guard.root())), cookie)
            }
            None => signed_out(),
        }
    }

    async fn change(&mut self, session: SignedIn, act: &Act, form: &Fields) -> CallAnswer {
        match act {
            Act::Run { id } => self.act_on_run(id, form).await,
            Act::Answer { call } => self.answer_waiting(call, form).await,
            Act::SignOut => {
                let cookie = self.guard.sign_out(session);
                self.end_streams_of_strangers().await;
                let sentences = ["This browser sees and decides nothing any more."];
                let page = page::notice_page("Signed out", &sentences, None);
                with_cookie(answer(200, Content::Page, &page), cookie)
            }
        }
    }

    async fn refused(&mut self, call: &WebCall, refusal: Rejected) -> CallAnswer {
        if refusal != Rejected::SignedOut {
            return refused(refusal);
        }
        // A person who has no link any more gets one where only they can read it.
        if !self.guard.has_key(self.io.now()) && call.method == "GET" {
            self.print_link().await;
        }
        signed_out()
    }

    fn nothing_there(&self) -> CallAnswer {
        let root = format!("{}/", self.guard.root());
        let page = page::notice_page("Not found", &[], Some((&root, "To all runs")));
        answer(404, Content::Page, &page)
    }

    async fn forget_opened(&mut self) {
        if let Some(path) = self.opened.take() {
            let _ = self.io.remove(&path).await;
        }
    }
}

/// Ctrl-C is how a person ends the server.
fn ended(failure: Failure) -> CommandError {
    match failure.is_interrupted() {
        true => CommandError::interrupted(),
        false => failure.into(),
    }
}

fn signed_out() -> CallAnswer {
    let page = page::notice_page(
        "Not signed in",
        &[
            "This page is for the person who started onloop web.",
            "Open the link that it has printed. A link works once, for ten minutes; when it is used up, a new \
             one is shown in the terminal in which it runs.",
            "You have signed in with this browser before? Then try again.",
        ],
        Some(("", "Try again")),
    );
    answer(401, Content::Page, &page)
}

fn refused(refusal: Rejected) -> CallAnswer {
    let (status, title, why) = match refusal {
        Rejected::Malformed => (400, "Not understood", "The request could not be read."),
        Rejected::Method => (405, "Not understood", "Only GET and POST are understood."),
        Rejected::Host => (
            403,
            "Not under this name",
            "Open the page under the very address that onloop web has printed. Behind a proxy start it with \
             --proxy and the address of the proxy.",
        ),
        Rejected::Origin => {
            (403, "Nothing was changed", "The request did not come from a page of onloop.")
        }
        Rejected::Fields => (
            403,
            "Nothing was changed",
            "The form is an old one or not yours. Go back, reload the page and decide again.",
        ),
        Rejected::SignedOut => return signed_out(),
    };
    let mut answer = answer(status, Content::Page, &page::notice_page(title, &[why], None));
    if refusal == Rejected::Method {
        answer.headers.push(("allow".to_owned(), "GET, POST".to_owned()));
    }
    answer
}
