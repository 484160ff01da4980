//! The pages of `onloop web`, made for a phone that is held in one hand.
//!
//! They need no script for anything that decides; the script only looks again when something has changed.

mod board;
mod run;
#[cfg(test)]
mod tests;

use super::html::escaped;
use onloop_syntax::text;
use onloop_syntax::time::Timestamp;

pub use board::board_page;
pub use run::{RunPage, Shown, diff_page, run_page};

const OWN_STYLE: &str = include_str!("web/web.css");
/// The script: it looks again when something has changed.
pub const SCRIPT: &str = include_str!("web/live.js");
/// The picture in a browser's tab.
pub const ICON: &str = include_str!("web/icon.svg");

/// The style of every page. It is in the page, so that it is painted without a further call; the
/// policy names its digest.
pub fn style() -> String {
    format!("{}{OWN_STYLE}", super::html::STYLE)
}

/// What all pages of one browser share.
#[derive(Clone, Debug)]
pub struct Frame {
    /// The path below which everything lies, without a slash at its end.
    pub root: String,
    /// What the form for signing out has to say.
    pub out: String,
    /// When the page is made.
    pub now: Timestamp,
}

/// What the script of a page has to know to keep it as it is on the machine.
#[derive(Clone, Copy)]
struct Live<'a> {
    /// Its address below the root: what a form led to has another one, under which nothing is.
    page: &'a str,
    /// The stream that tells when it has changed, as far as the query lacks `seen`.
    events: &'a str,
    /// Digest of what it shows. The stream goes on from there, so that nothing is missed before it opens.
    seen: &'a str,
}

impl Frame {
    /// A page for whoever is signed in; `live`: it changes while it is open.
    fn page(&self, title: &str, live: Option<Live<'_>>, main: &str) -> String {
        let (root, out) = (&self.root, &self.out);
        let data = live.map_or_else(String::new, |live| {
            format!(
                " data-page=\"{root}{}\" data-events=\"{root}{}seen={}\" data-now=\"{}\"",
                escaped(live.page),
                escaped(live.events),
                escaped(live.seen),
                self.now.to_rfc3339()
            )
        });
        document(
            title,
            &format!(
                "<header class=\"top\"><nav aria-label=\"Pages\"><a class=\"home\" href=\"{root}/\">\
                 onloop</a></nav>\n<p id=\"live\" class=\"faint\" role=\"status\"></p>\n\
                 <form method=\"post\" action=\"{root}/out\"><input type=\"hidden\" name=\"form\" \
                 value=\"{out}\"><button class=\"quiet\">Sign out</button></form></header>\n\
                 <main id=\"main\"{data}>\n{main}</main>\n"
            ),
        )
    }

    /// How long ago something was, with the time itself as its title.
    fn ago(&self, at: Timestamp) -> String {
        let moment = at.to_rfc3339();
        let words = text::ago(self.now.millis_since(at));
        format!("<time datetime=\"{moment}\" title=\"{moment}\">{words}</time>")
    }
}

/// A page for whoever is not signed in, or whose call was turned away: a title and a few sentences, in
/// which `back` leads on.
pub fn notice_page(title: &str, sentences: &[&str], back: Option<(&str, &str)>) -> String {
    document(title, &format!("<main id=\"main\">\n{}</main>\n", notice(title, sentences, back)))
}

/// The same in answer to a form, whose address shows nothing: from there a browser reloads `page`.
pub fn outcome_page(title: &str, sentences: &[&str], page: &str) -> String {
    let main = notice(title, sentences, Some((page, "To the beginning")));
    let page = escaped(page);
    document(title, &format!("<main id=\"main\" data-page=\"{page}\">\n{main}</main>\n"))
}

fn notice(title: &str, sentences: &[&str], back: Option<(&str, &str)>) -> String {
    let mut main = format!("<h1>{}</h1>\n", escaped(title));
    for sentence in sentences {
        main += &format!("<p>{}</p>\n", escaped(sentence));
    }
    if let Some((path, words)) = back {
        main += &format!(
            "<p><a class=\"button\" href=\"{}\">{}</a></p>\n",
            escaped(path),
            escaped(words)
        );
    }
    main
}

/// The page behind the link that the terminal shows. Looking at it uses nothing up: a preview may do
/// that, too.
pub fn door_page(key: &str) -> String {
    document(
        "Sign in",
        &format!(
            "<main id=\"main\">\n<h1>Sign in to onloop</h1>\n\
             <p>This browser will see every run on this machine and decide at gates.</p>\n\
             <form method=\"post\" action=\"/in\"><input type=\"hidden\" name=\"key\" value=\"{}\">\
             <button class=\"main\" autofocus>Sign in on this browser</button></form>\n</main>\n",
            escaped(key)
        ),
    )
}

/// A file that leads a browser to `link` and holds nothing else.
pub fn leading_page(link: &str) -> String {
    let link = escaped(link);
    format!(
        "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta name=\"referrer\" content=\"no-referrer\">\n\
         <meta http-equiv=\"refresh\" content=\"0; url={link}\">\n<title>onloop</title>\n</head>\n\
         <body><p><a href=\"{link}\">To onloop</a></p></body>\n</html>\n"
    )
}

/// A whole document; the policy is in the headers of the answer.
fn document(title: &str, body: &str) -> String {
    let title = escaped(title);
    format!(
        "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <meta name=\"color-scheme\" content=\"light dark\">\n\
         <title>{title}</title>\n<link rel=\"icon\" href=\"/icon.svg\" type=\"image/svg+xml\">\n\
         <style>{}</style>\n<script src=\"/live.js\" defer></script>\n\
         </head>\n<body class=\"web\">\n{body}</body>\n</html>\n",
        style()
    )
}
