//! The frame of a page, and text that is only text in it.

use onloop_syntax::text;

/// Forbids everything but the styles in the page.
const POLICY: &str = "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; \
                      form-action 'none'";
pub(super) const STYLE: &str = include_str!("style.css");

/// `text` as text between tags and inside of quoted attributes, without what could steer a terminal
/// into which a page is copied, or hide meaning.
pub(super) fn escaped(text: &str) -> String {
    let text = text::printable(text);
    let mut out = String::with_capacity(text.len() + text.len() / 8);
    for c in text.chars() {
        match c {
            '&' => out += "&amp;",
            '<' => out += "&lt;",
            '>' => out += "&gt;",
            '"' => out += "&quot;",
            '\'' => out += "&#39;",
            c => out.push(c),
        }
    }
    out
}

/// A symbol as HTML. Few machines have letters for some of them, so these are drawn.
pub(super) fn mark(symbol: &str) -> String {
    let path = match symbol {
        "⏸" => "M1 0h2v8H1zM5 0h2v8H5z",
        "⏳" => "M1 0h6L4.5 4 7 8H1l2.5-4z",
        _ => return escaped(symbol),
    };
    format!(
        "<svg class=\"mark\" viewBox=\"0 0 8 8\" aria-hidden=\"true\">\
         <path d=\"{path}\" fill=\"currentColor\"/></svg>"
    )
}

/// How what has this symbol is coloured.
pub(super) fn class_of(symbol: &str) -> &'static str {
    match symbol {
        "✓" | "⚡" => "good",
        "✗" | "!" | "■" => "bad",
        "⏸" | "⏳" | "?" | "○" => "wait",
        _ => "faint",
    }
}

/// A whole document around `body`, which is HTML already.
pub(super) fn page(title: &str, body: &str) -> String {
    let title = escaped(title);
    format!(
        "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta http-equiv=\"Content-Security-Policy\" content=\"{POLICY}\">\n\
         <meta name=\"referrer\" content=\"no-referrer\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <meta name=\"color-scheme\" content=\"light dark\">\n\
         <title>{title}</title>\n<style>\n{STYLE}</style>\n</head>\n<body>\n{body}</body>\n</html>\n"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_stays_text() {
        let hostile = "</title><script>alert('1')</script>\u{202e}&\u{1b}[31m\"";
        let safe = "&lt;/title&gt;&lt;script&gt;alert(&#39;1&#39;)&lt;/script&gt;&amp;&quot;";
        assert_eq!(escaped(hostile), safe);
        assert!(page(hostile, "").contains(&format!("<title>{safe}</title>")));
    }
}
