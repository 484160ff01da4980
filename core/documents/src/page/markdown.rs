//! Markdown of workflow files and agents as HTML that can do nothing.

use pulldown_cmark::{CowStr, Event, Options, Parser, Tag, TagEnd, html};

use onloop_syntax::text;

/// Where a link may lead: the page is opened from a file, so that nothing relative leads anywhere.
const SCHEMES: [&str; 3] = ["https://", "http://", "mailto:"];

/// `source` as HTML: what is HTML in it becomes text, pictures become links, and links lead to the
/// web or nowhere.
pub(super) fn rendered(source: &str) -> String {
    let source = text::printable(source);
    let options =
        Options::ENABLE_TABLES | Options::ENABLE_STRIKETHROUGH | Options::ENABLE_TASKLISTS;
    // Whether each link that is open leads somewhere.
    let mut open = Vec::new();
    let events = Parser::new_ext(&source, options).filter_map(|event| match event {
        Event::Html(html) | Event::InlineHtml(html) => Some(Event::Text(html)),
        Event::Start(Tag::Link { dest_url, title, id, link_type })
        | Event::Start(Tag::Image { dest_url, title, id, link_type }) => {
            let leads = leads_to_the_web(&dest_url) && !open.contains(&true);
            open.push(leads);
            leads.then_some(Event::Start(Tag::Link { dest_url, title, id, link_type }))
        }
        Event::End(TagEnd::Link | TagEnd::Image) => {
            open.pop().unwrap_or_default().then_some(Event::End(TagEnd::Link))
        }
        // Headings of the page are its own.
        Event::Start(Tag::Heading { .. }) => Some(Event::Start(Tag::Paragraph)),
        Event::End(TagEnd::Heading(_)) => Some(Event::End(TagEnd::Paragraph)),
        Event::Start(Tag::CodeBlock(_)) => Some(Event::Start(Tag::CodeBlock(
            pulldown_cmark::CodeBlockKind::Fenced(CowStr::from("")),
        ))),
        event => Some(event),
    });
    let mut out = String::new();
    html::push_html(&mut out, events);
    out
}

fn leads_to_the_web(url: &str) -> bool {
    let url = url.to_ascii_lowercase();
    SCHEMES.iter().any(|scheme| url.starts_with(scheme))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_people_write_is_shown_and_what_harms_is_text() {
        let table = [
            (
                "Do **this**, then `that`.",
                "<p>Do <strong>this</strong>, then <code>that</code>.</p>\n",
            ),
            ("# Title", "<p>Title</p>\n"),
            ("<script>alert(1)</script>", "&lt;script&gt;alert(1)&lt;/script&gt;"),
            ("a <img src=x onerror=alert(1)> b", "<p>a &lt;img src=x onerror=alert(1)&gt; b</p>\n"),
            ("[a](javascript:alert(1))", "<p>a</p>\n"),
            ("[a](JavaScript&#58;alert(1))", "<p>a</p>\n"),
            ("[a](data:text/html;base64,x)", "<p>a</p>\n"),
            ("[a](file:///etc/passwd)", "<p>a</p>\n"),
            (
                "[a](https://example.com/?a=\"b\")",
                "<p><a href=\"https://example.com/?a=%22b%22\">a</a></p>\n",
            ),
            (
                "![a](https://example.com/x.png)",
                "<p><a href=\"https://example.com/x.png\">a</a></p>\n",
            ),
            ("![a](x.png)", "<p>a</p>\n"),
            (
                "[![a](https://a.example/)](https://b.example/)",
                "<p><a href=\"https://b.example/\">a</a></p>\n",
            ),
            ("```html\" onclick=\"x\n<b>\n```", "<pre><code>&lt;b&gt;\n</code></pre>\n"),
            ("<javascript:alert(1)>", "<p>javascript:alert(1)</p>\n"),
        ];
        for (source, expected) in table {
            assert_eq!(rendered(source), expected, "{source}");
        }
    }
}
