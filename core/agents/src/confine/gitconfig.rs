//! A configuration of git without what is secret in it.

/// Sections of credentials.
const SECTIONS: [&str; 5] = ["credential", "github", "gitlab", "imap", "sendemail"];

/// Parts of names whose values are secret.
const NAMES: [&str; 5] = ["extraheader", "password", "pass", "secret", "token"];

/// The lines of a configuration without its credentials: sections of them, values with secret names,
/// and the users of addresses.
pub fn without_credentials(text: &str) -> String {
    let (mut kept, mut is_secret_section, mut continues) = (String::new(), false, None);
    for line in text.split_inclusive('\n') {
        let bare = line.trim();
        let keeps = match continues {
            Some(keeps) => keeps,
            None => {
                if let Some(section) = bare.strip_prefix('[') {
                    let name = section.split([' ', '\t', ']', '.']).next().unwrap_or_default();
                    is_secret_section =
                        SECTIONS.iter().any(|secret| name.eq_ignore_ascii_case(secret));
                }
                !is_secret_section && !is_secret(bare)
            }
        };
        continues = bare.ends_with('\\').then_some(keeps);
        if keeps {
            kept += &without_user(line);
        }
    }
    kept
}

/// A line without the users of its addresses, so that a remote stays a remote.
fn without_user(line: &str) -> String {
    let mut parts = line.split("://");
    let mut kept = parts.next().unwrap_or_default().to_owned();
    for rest in parts {
        let end = rest.find(['/', '"', ' ', '\n']).unwrap_or(rest.len());
        let (host, path) = rest.split_at(end);
        let name = match host.rsplit_once('@') {
            Some((user, name)) if user != "git" => name,
            Some(_) | None => host,
        };
        kept.extend(["://", name, path]);
    }
    kept
}

/// Whether the name of a line says that its value is secret.
fn is_secret(line: &str) -> bool {
    let setting = line.rsplit_once(']').map_or(line, |(_, after)| after);
    let (name, _) = setting.split_once('=').unwrap_or((setting, ""));
    let name = name.trim().to_ascii_lowercase();
    NAMES.iter().any(|secret| name.contains(secret))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn credentials_are_left_out_and_the_rest_stays() {
        let text = "[user]\n\tname = A\n[credential \"https://x\"]\n\thelper = store\n[http]\n\t\
                    extraHeader = Authorization: x\n\tsslVerify = true\n\
                    [url \"https://u:p@host/\"]\n\tinsteadOf = https://host/\n\
                    [url \"ssh://git@host/\"]\n\tinsteadOf = https://other/\n[github]\n\ttoken = \
                    \\\n\tsecret\n[remote \"o\"]\n\turl = https://u:p@h.org/r@2\n[alias]\n\tst = status\n";
        let clean = without_credentials(text);
        for gone in ["store", "Authorization", "u:p@", "token", "secret"] {
            assert!(!clean.contains(gone), "{gone}: {clean}");
        }
        for kept in
            ["name = A", "sslVerify", "git@host", "url = https://h.org/r@2\n", "st = status"]
        {
            assert!(clean.contains(kept), "{kept}: {clean}");
        }
        let plain = "[user]\n\tname = A\n[core]\n\tautocrlf = input";
        assert_eq!(without_credentials(plain), plain);
    }
}
