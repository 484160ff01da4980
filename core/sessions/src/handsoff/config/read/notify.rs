//! The section `notify`. A receiver of which something is wrong is left out: half an address tells
//! the wrong people.

use serde_yaml::Value;

use super::{ConfigValue, Reader, veiled};
use crate::handsoff::config::{Notify, Receiver, Telegram, Template, Webhook};
use onloop_effect::is_safe_address;
use onloop_run::NoticeKind;
use onloop_syntax::limits;
use onloop_syntax::syntax::strict_yaml::described;
use onloop_syntax::text::alternatives;

impl Reader<'_> {
    /// `None` sends no notifications.
    pub(super) fn notify(&mut self, chat: Option<&Telegram>, folder: &str) -> Option<Notify> {
        let kinds = self.kinds();
        let command = self.text("notify.command", is_line, "a line for a shell");
        let webhook = self.webhook();
        let desktop = self.flag("notify.desktop").or(false, false);
        let told = self.flag("notify.telegram");
        let mut receivers = Vec::new();
        if let ConfigValue::Set(line) = command {
            let folder = folder.trim_end_matches('/').to_owned();
            receivers.push(Receiver::Command { line, folder });
        }
        receivers.extend(webhook.map(Receiver::Webhook));
        receivers.extend(desktop.then_some(Receiver::Desktop));
        // A chat alone sends the notice that something is finished, as it does for agentize.
        let is_alone = told == ConfigValue::Absent && receivers.is_empty() && chat.is_some();
        match (is_alone || told.or(false, false), chat) {
            (true, Some(Telegram { token, chat_id, .. })) => {
                receivers.push(Receiver::Telegram { token: token.clone(), chat_id: *chat_id });
            }
            (true, None) => self.note(
                "`notify.telegram` has no effect: `telegram` is not set up or not switched on"
                    .to_owned(),
            ),
            (false, _) => {}
        }
        let usual = match is_alone {
            true => vec![NoticeKind::Completed, NoticeKind::Session],
            false => NoticeKind::ALL.to_vec(),
        };
        let kinds = kinds.or(usual, Vec::new());
        (!receivers.is_empty() && !kinds.is_empty()).then_some(Notify { kinds, receivers })
    }

    fn webhook(&mut self) -> Option<Webhook> {
        let url = self.hidden(
            "notify.webhook.url",
            |url| url.bytes().all(|byte| byte.is_ascii_graphic()) && is_safe_address(url),
            "an address that begins with `https://`, or `http://` on this machine",
        );
        let template = self.value("notify.webhook.template", &alternatives(Template::WORDS), |v| {
            v.as_str()?.trim().to_lowercase().parse().ok()
        });
        let token = self.hidden(
            "notify.webhook.token",
            |token| token.bytes().all(|byte| byte.is_ascii_graphic()),
            "letters, digits and signs without spaces",
        );
        let is_whole = template != ConfigValue::Faulty && token != ConfigValue::Faulty;
        let ConfigValue::Set(url) = url else { return None };
        if !is_whole {
            self.note("`notify.webhook` is off until the problems above are fixed".to_owned());
            return None;
        }
        let template = template.or(Template::Json, Template::Json);
        Some(Webhook { url, template, token: token.usable() })
    }

    /// What is found instead is not repeated: it may be most of a secret.
    fn hidden(
        &mut self,
        path: &str,
        fits: fn(&str) -> bool,
        expected: &str,
    ) -> ConfigValue<String> {
        let Some(value) = self.find(path) else { return self.absent(path) };
        match value.as_str().map(str::trim) {
            Some("") => ConfigValue::Absent,
            Some(text) if text.len() <= limits::NOTICE_ADDRESS_BYTES && fits(text) => {
                ConfigValue::Set(text.to_owned())
            }
            Some(_) => self.wrong(path, "a string of another form", expected),
            None => self.wrong(path, &veiled(value), expected),
        }
    }

    fn kinds(&mut self) -> ConfigValue<Vec<NoticeKind>> {
        let path = "notify.events";
        let Some(value) = self.find(path) else { return self.absent(path) };
        let words: Option<Vec<String>> = match value {
            Value::String(list) => Some(list.split(',').map(str::to_owned).collect()),
            Value::Sequence(items) => {
                items.iter().map(|item| item.as_str().map(str::to_owned)).collect()
            }
            _ => None,
        };
        let words: Vec<String> =
            words.unwrap_or_default().iter().map(|word| word.trim().to_lowercase()).collect();
        if words == ["all"] {
            return ConfigValue::Set(NoticeKind::ALL.to_vec());
        }
        let kinds: Option<Vec<NoticeKind>> = words.iter().map(|word| word.parse().ok()).collect();
        match kinds.filter(|kinds| !kinds.is_empty()) {
            Some(kinds) => ConfigValue::Set(kinds),
            None => {
                let expected = format!("`all`, or some of {}", alternatives(NoticeKind::WORDS));
                self.wrong(path, &described(value), &expected)
            }
        }
    }
}

fn is_line(text: &str) -> bool {
    text.len() <= limits::NOTICE_ADDRESS_BYTES && !text.contains(['\0', '\n', '\r'])
}
