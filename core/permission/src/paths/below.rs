//! Paths as text: made absolute, and compared part by part.

/// Whether one of `entries`, each a name or several with slashes, occurs in `path` as whole
/// components.
pub(super) fn has_entry(path: &str, entries: &[&str]) -> bool {
    let mut rest = path;
    loop {
        // Most entries differ in the first letter.
        let first = rest.as_bytes().first();
        let may = |entry: &&&str| entry.as_bytes().first() == first;
        if entries.iter().filter(may).any(|entry| begins_with(rest, entry)) {
            return true;
        }
        match rest.find('/') {
            Some(slash) => rest = &rest[slash + 1..],
            None => return false,
        }
    }
}

/// Whether `path` is `entry` or below it; `name*` is every name that begins so.
pub(super) fn begins_with(path: &str, entry: &str) -> bool {
    match entry.strip_suffix('*') {
        Some(begin) => path.starts_with(begin),
        None => below(path, entry).is_some(),
    }
}

/// [`below`] for a path in lower case and a folder in any.
pub(super) fn below_any_case<'p>(lower: &'p str, folder: &str) -> Option<&'p str> {
    if folder.is_ascii() {
        let start = lower.as_bytes().get(..folder.len())?;
        return match start.eq_ignore_ascii_case(folder.as_bytes()) {
            true => below(lower, &lower[..folder.len()]),
            false => None,
        };
    }
    below(lower, &folder.to_lowercase())
}

/// Whether a path in lower case is below `folder`, in which `*` stands for one name.
pub(super) fn below_pattern(lower: &str, folder: &str) -> bool {
    let mut parts = lower.split('/');
    let begins = folder.split('/').all(|wanted| {
        parts.next().is_some_and(|part| wanted == "*" || part == wanted.to_lowercase())
    });
    begins && parts.next().is_some()
}

/// The rest of `path` below `folder`; empty for the folder itself.
pub fn below<'p>(path: &'p str, folder: &str) -> Option<&'p str> {
    if folder == "/" {
        return path.strip_prefix('/');
    }
    match path.strip_prefix(folder)? {
        "" => Some(""),
        rest => rest.strip_prefix('/'),
    }
}

/// `path` made absolute against `cwd`, without `.`, `..` and doubled slashes.
pub(super) fn normal(path: &str, cwd: &str) -> String {
    let base = if path.starts_with(['/', '~']) { "" } else { cwd };
    let home = path.starts_with('~') || base.starts_with('~');
    let mut parts: Vec<&str> = Vec::new();
    for part in base.split('/').chain(path.split('/')) {
        match part {
            "" | "." => {}
            ".." => {
                // The folder above `~` is not known.
                match parts.len() {
                    1 if home => parts = vec!["~", "unknown"],
                    _ => {
                        parts.pop();
                    }
                }
            }
            part => parts.push(part),
        }
    }
    let joined = parts.join("/");
    if home { joined } else { format!("/{joined}") }
}

/// Whether a part of `path` is `..`.
pub(crate) fn goes_up(path: &str) -> bool {
    path.split('/').any(|part| part == "..")
}

/// `path` without `.`, doubled slashes and names that `..` leaves again. It stays relative, and keeps a
/// slash at its end.
pub(crate) fn tidy(path: &str) -> String {
    let is_relative = !path.starts_with(['/', '~']);
    let mut tidy = normal(path, "/");
    if is_relative {
        let mut parts: Vec<&str> = Vec::new();
        for part in path.split('/').filter(|part| !matches!(*part, "" | ".")) {
            match (part, parts.last()) {
                ("..", Some(last)) if *last != ".." => drop(parts.pop()),
                _ => parts.push(part),
            }
        }
        tidy = parts.join("/");
    }
    match tidy.as_str() {
        "" => ".".to_owned(),
        _ if path.ends_with('/') && !tidy.ends_with('/') => tidy + "/",
        _ => tidy,
    }
}

/// Whether `path` has `..` below folders of the system in which links change: the system goes up from
/// where such a link leads.
pub(super) fn goes_up_from_link(path: &str, cwd: &str) -> bool {
    const LINKS: [&str; 4] = ["/proc", "/dev", "/run", "/var/run"];
    if !path.contains("..") {
        return false;
    }
    let is_whole = path.starts_with(['/', '~']);
    let whole = if is_whole { path.to_owned() } else { format!("{cwd}/{path}") };
    let ends = whole.match_indices("/..").filter(|(at, _)| {
        let behind = whole.as_bytes().get(at + 3);
        behind.is_none_or(|b| *b == b'/')
    });
    let mut folders = ends.map(|(at, _)| normal(&whole[..at], "/").to_lowercase());
    folders.any(|folder| LINKS.iter().any(|link| below(&folder, link).is_some()))
}
