//! Passwords in addresses.

/// The password of each `scheme://name:password@host` in a value.
pub(super) fn passwords(value: &str) -> Vec<&str> {
    // Most values have no address, which one byte search shows.
    if !value.contains('@') {
        return Vec::new();
    }
    let ends = |c: char| c.is_whitespace() || matches!(c, '"' | '\'' | '<' | '>');
    let behind = value.split("://").skip(1);
    behind.filter_map(|rest| password(rest.split(ends).next().unwrap_or_default())).collect()
}

/// The password in what follows `://`.
fn password(rest: &str) -> Option<&str> {
    let authority = rest.split(['/', '?', '#']).next().unwrap_or_default();
    if let Some((user, _)) = authority.rsplit_once('@') {
        return user.split_once(':').map(|(_, password)| password);
    }
    // Many programs take a password that is not encoded; a port is a number.
    let (_, port) = authority.split_once(':')?;
    if port.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    let (user, _) = rest.rsplit_once('@')?;
    user.split_once(':').map(|(_, password)| password)
}
