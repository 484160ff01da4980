//! The pages of `onloop web`.
//!
//! The page of a person who is signed in is one script, which draws the facts that the server sends as JSON.
//! Its source is in `npm/web`; what the bundler makes of it is kept here, so that both hosts embed it. The few
//! pages before that are written here, and need no script.

use super::escaped;

/// The script of the page, bundled from `npm/web`.
pub const SCRIPT: &str = include_str!("web/app.js");
/// The style of every page, bundled from `npm/web`.
pub const STYLE: &str = include_str!("web/app.css");
/// The picture in a browser's tab.
pub const ICON: &str = include_str!("web/icon.svg");

/// The page of a person who is signed in; everything lies below `root`, which has no slash at its end.
pub fn app_page(root: &str) -> String {
    let root = escaped(root);
    document(
        "onloop",
        "<script src=\"/app.js\" defer></script>\n",
        &format!(
            "<div id=\"app\" data-root=\"{root}\"></div>\n<noscript><p>This page needs its script. \
             In a terminal, run <code>onloop approve</code>.</p></noscript>\n"
        ),
    )
}

/// A page for a browser that is not signed in, or whose call was rejected: a title and a few sentences, in
/// which `back` leads on.
pub fn notice_page(title: &str, sentences: &[&str], back: Option<(&str, &str)>) -> String {
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
    document(title, "", &format!("<main class=\"notice\">\n{main}</main>\n"))
}

/// The page behind the link that the terminal shows. A preview may open it, too: only the button uses the
/// key up.
pub fn sign_in_page(key: &str) -> String {
    document(
        "Sign in",
        "",
        &format!(
            "<main class=\"notice\">\n<h1>Sign in to onloop</h1>\n\
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
fn document(title: &str, head: &str, body: &str) -> String {
    let title = escaped(title);
    format!(
        "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <meta name=\"color-scheme\" content=\"light dark\">\n\
         <title>{title}</title>\n<link rel=\"icon\" href=\"/icon.svg\" type=\"image/svg+xml\">\n\
         <link rel=\"stylesheet\" href=\"/app.css\">\n{head}</head>\n<body>\n{body}</body>\n</html>\n"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pages_hold_text_and_neither_script_nor_style_of_their_own() {
        let hostile = "</script><b>\"'\u{202e}";
        let pages =
            [app_page(hostile), sign_in_page(hostile), notice_page(hostile, &[hostile], None)];
        for page in pages {
            assert!(!page.contains("<b>") && !page.contains('\u{202e}'), "{page}");
            assert!(!page.contains("<style") && !page.contains(" style="), "{page}");
            assert!(!page.contains("<script>") && !page.contains(" onclick"), "{page}");
        }
    }

    #[test]
    fn the_page_asks_nobody_else_and_is_small() {
        for word in ["@import", "url(", "http:", "https:"] {
            assert!(!STYLE.contains(word), "{word}");
        }
        // Names of formats, which nothing is loaded from.
        let script = SCRIPT.replace("http://www.w3.org/", "");
        assert!(!script.contains("http:") && !script.contains("https:"));
        assert!(SCRIPT.len() + STYLE.len() + ICON.len() < 100_000);
    }
}
