//! Addresses of files, as editors and clients write them: `file:///srv/my%20repo`.

/// The path of a `file:` address.
pub fn path_of(uri: &str) -> Option<String> {
    let rest = uri.strip_prefix("file://")?;
    let path = rest.strip_prefix("localhost").unwrap_or(rest);
    if !path.starts_with('/') {
        return None;
    }
    let path = percent_decoded(path)?;
    // `/C:/folder` is `C:/folder`.
    let has_drive =
        path.as_bytes().get(2) == Some(&b':') && path.as_bytes()[1].is_ascii_alphabetic();
    Some(if has_drive { path[1..].to_owned() } else { path })
}

/// `text` with the bytes that `%` and two digits stand for; `None`: it is not UTF-8, or not so encoded.
pub fn percent_decoded(text: &str) -> Option<String> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let Some((&first, behind)) = rest.split_first() {
        if first != b'%' {
            bytes.push(first);
            rest = behind;
            continue;
        }
        let digits = std::str::from_utf8(behind.get(..2)?).ok()?;
        let is_hex = digits.bytes().all(|digit| digit.is_ascii_hexdigit());
        bytes.push(u8::from_str_radix(digits, 16).ok().filter(|byte| is_hex && *byte != 0)?);
        rest = &behind[2..];
    }
    String::from_utf8(bytes).ok()
}

/// The address of an absolute path with `/` between its parts.
pub fn uri_of(path: &str) -> String {
    let mut uri = String::from(if path.starts_with('/') { "file://" } else { "file:///" });
    for byte in path.bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' | b'/' => {
                uri.push(char::from(byte));
            }
            other => uri.push_str(&format!("%{other:02X}")),
        }
    }
    uri
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_of_folders_are_read() {
        let table = [
            ("file:///srv/my%20repo", Some("/srv/my repo")),
            ("file://localhost/srv/%C3%BC", Some("/srv/ü")),
            ("file:///C:/work", Some("C:/work")),
            ("file:///a%2", None),
            ("file:///a%00b", None),
            ("file:///a%+1", None),
            ("file:///%ff", None),
            ("file://server/share", None),
            ("https://example.org/", None),
            ("/srv", None),
            ("", None),
        ];
        for (uri, expected) in table {
            assert_eq!(path_of(uri).as_deref(), expected, "{uri}");
        }
    }

    #[test]
    fn a_path_is_found_again_behind_its_address() {
        let table = [
            ("/srv/my repo/ü.md", "file:///srv/my%20repo/%C3%BC.md"),
            ("C:/repo/a.md", "file:///C%3A/repo/a.md"),
            ("/a%2b", "file:///a%252b"),
        ];
        for (path, uri) in table {
            assert_eq!(uri_of(path), uri);
            assert_eq!(path_of(uri).as_deref(), Some(path));
        }
    }
}
