//! Settings of git in variables.

use std::collections::BTreeMap;

use onloop_syntax::text::says_secret;

/// The values of settings in the variable `name` with which git signs in. A setting has a variable for its
/// name and one for its value, or all are quoted in `GIT_CONFIG_PARAMETERS`.
pub(super) fn secrets<'e>(
    name: &str,
    value: &'e str,
    env: &'e BTreeMap<String, String>,
) -> impl Iterator<Item = &'e str> {
    let number = name.strip_prefix("GIT_CONFIG_VALUE_");
    let key = number.and_then(|number| env.get(&format!("GIT_CONFIG_KEY_{number}")));
    let single = number.map(|_| (key.map_or("", String::as_str), value));
    let listed = if name == "GIT_CONFIG_PARAMETERS" { value } else { "" };
    let listed = listed.split("' '").filter_map(|setting| setting.split_once('='));
    let settings = single.into_iter().chain(listed);
    let plain = settings.map(|(key, value)| (key.trim_matches('\''), value.trim_matches('\'')));
    plain.filter(|(key, value)| signs_in(key, value)).map(|(_, value)| value)
}

fn signs_in(key: &str, value: &str) -> bool {
    const SIGNS_IN: [&str; 6] =
        ["extraheader", "password", "token", "secret", "credential", "authorization"];
    let about = format!("{key} {value}").to_lowercase();
    SIGNS_IN.iter().any(|word| about.contains(word)) || says_secret(&key.replace('.', ""))
}
