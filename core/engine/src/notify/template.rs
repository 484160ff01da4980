//! Notices in the forms in which servers take them. What is in a notice comes from workflow files and
//! from agents: it contains no mention and no link, and it cannot end its quotation.

use serde_json::{Value, json};

use onloop_documents::notices::Notice;
use onloop_run::NoticeKind;
use onloop_sessions::handsoff::config::Template;
use onloop_syntax::limits;
use onloop_syntax::text;

/// The address and the body of a request that hands `notice` to the server at `url`.
pub(super) fn request(template: Template, url: &str, notice: &Notice) -> (String, Value) {
    let body = match template {
        Template::Json => notice.document(),
        Template::Slack => slack(notice),
        Template::Discord => discord(notice),
        Template::Ntfy => return ntfy(url, notice),
    };
    (url.to_owned(), body)
}

/// Facts and advice as plain text of at most `limit_bytes`; of the two, facts are cut.
pub(super) fn plain(notice: &Notice, limit_bytes: usize) -> String {
    let advice = text::ellipsis(&notice.advice, limit_bytes / 2);
    let facts = text::ellipsis(&notice.facts, limit_bytes.saturating_sub(advice.len() + 2));
    match advice.is_empty() {
        true => facts,
        false => format!("{facts}\n\n{advice}"),
    }
}

/// Without the signs that Slack gives a meaning to, with which mentions and links begin, and desktops
/// that understand tags.
pub(super) fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}

/// Text that is shown as it is between these marks.
fn code(text: &str) -> String {
    format!("```\n{}\n```", text.replace("```", "'''"))
}

fn slack(notice: &Notice) -> Value {
    let title = escaped(&notice.title).replace(['*', '_', '`', '~'], " ");
    let text = format!("*{title}*\n{}", code(&escaped(&plain(notice, limits::NOTICE_BYTES))));
    json!({ "text": text, "unfurl_links": false, "unfurl_media": false })
}

fn discord(notice: &Notice) -> Value {
    let title = notice.title.replace(['*', '_', '`', '~', '|', '[', ']', '<', '>', '\\'], " ");
    let title = text::ellipsis(&title, 150);
    let text = code(&plain(notice, limits::NOTICE_DISCORD_BYTES - title.len()));
    json!({ "content": format!("**{title}**\n{text}"), "allowed_mentions": { "parse": [] } })
}

/// Ntfy takes JSON at the address above that of the topic.
fn ntfy(url: &str, notice: &Notice) -> (String, Value) {
    let path = url.split(['?', '#']).next().unwrap_or_default().trim_end_matches('/');
    let (server, topic) = path.rsplit_once('/').unwrap_or((path, ""));
    let (tag, priority) = match notice.kind {
        NoticeKind::Waits => ("raised_hand", 4),
        NoticeKind::Blocked => ("no_entry", 4),
        NoticeKind::Budget => ("moneybag", 4),
        NoticeKind::Limit => ("hourglass", 3),
        NoticeKind::Completed => ("white_check_mark", 3),
        NoticeKind::Session => ("checkered_flag", 3),
        NoticeKind::PrGreen => ("white_check_mark", 3),
        NoticeKind::PrRed => ("no_entry", 4),
        NoticeKind::PrMerged => ("checkered_flag", 3),
    };
    let body = json!({
        "topic": topic,
        "title": notice.title,
        "message": plain(notice, limits::NOTICE_BYTES),
        "tags": [tag],
        "priority": priority,
    });
    (format!("{server}/"), body)
}

#[cfg(test)]
mod tests {
    use super::*;
    use onloop_syntax::time::Timestamp;

    fn notice() -> Notice {
        Notice {
            id: "shop-20260320T212315Z#12".to_owned(),
            kind: NoticeKind::Waits,
            at: Timestamp::EPOCH,
            title: "shop waits for you <!channel> *now*".to_owned(),
            facts: "Step 2 of 3: Polish ``` @everyone <https://x|y> & (risk: low)".to_owned(),
            advice: "Approve and continue:\n  onloop gate 2 approved".to_owned(),
            run_id: Some("shop-20260320T212315Z".to_owned()),
            session_id: None,
            step: Some((2, "Polish".to_owned())),
            folder: "/srv/shop".to_owned(),
            branch: Some("hotl/shop".to_owned()),
        }
    }

    #[test]
    fn each_server_gets_its_form_and_nothing_breaks_out_of_it() {
        let url = "https://example.org/T1/B2";
        let (to, body) = request(Template::Slack, url, &notice());
        assert_eq!(to, url);
        assert_eq!(
            body["text"],
            "*shop waits for you &lt;!channel&gt;  now *\n```\nStep 2 of 3: Polish ''' @everyone \
             &lt;https://x|y&gt; &amp; (risk: low)\n\nApprove and continue:\n  onloop gate 2 \
             approved\n```"
        );
        let (to, body) = request(Template::Discord, url, &notice());
        assert_eq!((to.as_str(), &body["allowed_mentions"]["parse"]), (url, &json!([])));
        assert_eq!(
            body["content"],
            "**shop waits for you  !channel   now **\n```\nStep 2 of 3: Polish ''' @everyone \
             <https://x|y> & (risk: low)\n\nApprove and continue:\n  onloop gate 2 approved\n```"
        );
        let (to, body) = request(Template::Ntfy, "https://ntfy.example/sub/topic", &notice());
        assert_eq!(to, "https://ntfy.example/sub/");
        assert_eq!((&body["topic"], &body["tags"]), (&json!("topic"), &json!(["raised_hand"])));
        assert_eq!(body["title"], notice().title);
        let (_, body) = request(Template::Json, url, &notice());
        assert_eq!(
            body,
            json!({
                "schema": "onloop.notice/v1", "id": "shop-20260320T212315Z#12", "event": "waits",
                "at": "1970-01-01T00:00:00+00:00", "title": notice().title, "text": notice().facts,
                "advice": notice().advice, "run_id": "shop-20260320T212315Z", "session_id": null,
                "step": 2, "step_name": "Polish", "folder": "/srv/shop", "branch": "hotl/shop",
            })
        );
    }

    #[test]
    fn a_long_notice_keeps_its_commands_within_what_a_chat_takes() {
        let long = Notice { facts: "ä".repeat(9_000), ..notice() };
        let (_, body) = request(Template::Discord, "https://example.org/x", &long);
        let content = body["content"].as_str().unwrap();
        assert!(content.len() <= 2_000, "{}", content.len());
        assert!(content.ends_with("onloop gate 2 approved\n```"), "{content}");
        assert!(plain(&long, limits::NOTICE_BYTES).len() <= limits::NOTICE_BYTES);
    }
}
