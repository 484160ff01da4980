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

/// The name in each `https://name@host` and `https://name:password@host` that is a token: some servers
/// take it there.
pub(super) fn tokens(value: &str) -> impl Iterator<Item = &str> {
    let addresses = value.split("://").zip(value.split("://").skip(1));
    let of_web =
        addresses.filter(|(scheme, _)| scheme.ends_with("http") || scheme.ends_with("https"));
    let names = of_web.filter_map(|(_, rest)| {
        let authority = rest.split(|c: char| c.is_whitespace() || "/?#\"'<>".contains(c)).next()?;
        authority.rsplit_once('@')?.0.split(':').next()
    });
    names.filter(|name| is_token(name))
}

/// Whether a word is as long as a token and has a digit.
pub(crate) fn is_token(word: &str) -> bool {
    const SHORTEST_TOKEN_BYTES: usize = 20;
    word.len() >= SHORTEST_TOKEN_BYTES && word.bytes().any(|byte| byte.is_ascii_digit())
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
