//! The allow-list of a worker: which repositories it works on.
//!
//! An entry is an address as git takes it. A `*` at its end stands for any rest of the path. Entries and
//! repositories are compared after dot segments and percent-encoding are resolved, and on the worker's own
//! file system also after links.

use std::path::{Path, PathBuf};

use percent_encoding::percent_decode_str;

/// A parsed address of a repository.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Address {
    /// Scheme and host, or the host of `host:path`; empty for this machine.
    origin: String,
    /// The path, which may contain dot segments and links.
    path: String,
}

impl Address {
    /// Reads an address; `None`: it is not an address, or it is relative.
    fn parse(text: &str) -> Option<Address> {
        if text.chars().any(char::is_control) {
            return None;
        }
        if let Some((scheme, rest)) = text.split_once("://") {
            let (authority, path) = rest.split_at(rest.find('/')?);
            let (user, host) = authority.rsplit_once('@').unwrap_or(("", authority));
            let (scheme, host) = (scheme.to_ascii_lowercase(), host.to_ascii_lowercase());
            let origin = match scheme.as_str() {
                "file" if matches!(host.as_str(), "" | "localhost") => String::new(),
                _ => format!("{scheme}://{user}@{host}"),
            };
            return Some(Address { origin, path: decoded(path)? });
        }
        if text.starts_with('/') {
            return Some(Address { origin: String::new(), path: text.to_owned() });
        }
        // As in `git@[::1]:shop`, the host may have colons.
        let host_end = text.find("]:").map_or_else(|| text.find(':'), |end| Some(end + 1))?;
        let (host, path) = (&text[..host_end], &text[host_end + 1..]);
        let is_host = !host.is_empty() && !host.contains('/');
        is_host.then(|| Address { origin: format!("{host}:"), path: path.to_owned() })
    }

    fn is_local(&self) -> bool {
        self.origin.is_empty()
    }
}

/// One entry of an allow-list.
enum Entry {
    /// `*` alone.
    Any,
    /// One repository.
    One(Address),
    /// All repositories of a folder whose first name begins with `stem`.
    Below { folder: Address, stem: String },
}

impl Entry {
    fn parse(text: &str) -> Option<Entry> {
        let Some(beginning) = text.strip_suffix('*') else {
            return Address::parse(text).map(Entry::One);
        };
        if beginning.is_empty() {
            return Some(Entry::Any);
        }
        // A `*` in the host would admit hosts that merely begin alike.
        let Address { origin, path } = Address::parse(beginning)?;
        let (folder, stem) = path.rsplit_once('/').unwrap_or(("", &path));
        let folder = if path.starts_with('/') { format!("{folder}/") } else { folder.to_owned() };
        Some(Entry::Below { folder: Address { origin, path: folder }, stem: stem.to_owned() })
    }

    /// Whether the entry covers a repository. Both paths are resolved by `resolve`.
    fn covers(
        &self,
        address: &Address,
        path: &str,
        resolve: impl Fn(&Address) -> Option<String>,
    ) -> bool {
        match self {
            Entry::Any => true,
            Entry::One(one) => {
                one.origin == address.origin && resolve(one).as_deref() == Some(path)
            }
            Entry::Below { folder, stem } => {
                let resolved = resolve(folder);
                let below = resolved.as_deref().and_then(|folder| match folder {
                    "" | "/" => path.strip_prefix(folder),
                    _ => path.strip_prefix(folder)?.strip_prefix('/'),
                });
                folder.origin == address.origin
                    && below.is_some_and(|rest| rest.len() > stem.len() && rest.starts_with(stem))
            }
        }
    }
}

/// Whether an entry of an allow-list can be read.
pub(crate) fn is_entry(text: &str) -> bool {
    Entry::parse(text).is_some()
}

/// Whether an entry covers a repository by their text alone: only the worker knows its own links.
pub(crate) fn covers(entry: &str, repository: &str) -> bool {
    let (Some(entry), Some(address)) = (Entry::parse(entry), Address::parse(repository)) else {
        return false;
    };
    let resolve = |address: &Address| without_dots(&address.path);
    resolve(&address).is_some_and(|path| entry.covers(&address, &path, resolve))
}

/// Whether an entry covers a repository on the machine where git opens it.
pub(crate) fn admits(entry: &str, repository: &str) -> bool {
    let (Some(parsed), Some(address)) = (Entry::parse(entry), Address::parse(repository)) else {
        return false;
    };
    if !covers(entry, repository) {
        return false;
    }
    if !address.is_local() || matches!(parsed, Entry::Any) {
        return true;
    }
    let resolve = |address: &Address| real(Path::new(&address.path));
    let opened = address.path.trim_end_matches('/');
    // Git opens the first of these paths that is a repository.
    ["", "/.git", ".git", ".git/.git", ".bundle"].iter().all(|ending| {
        let path = PathBuf::from(format!("{opened}{ending}"));
        // A `.git` file can name any other folder.
        let leads_on = ending.ends_with("/.git") && path.is_file();
        match path.symlink_metadata() {
            Err(_) => true,
            Ok(_) if leads_on => false,
            Ok(_) if ending.ends_with("/.git") => {
                let inside = path.parent().and_then(real).map(|parent| format!("{parent}/.git"));
                real(&path) == inside
            }
            Ok(_) => real(&path).is_some_and(|path| {
                let path = path.strip_suffix(ending).unwrap_or(&path);
                parsed.covers(&address, path, resolve)
            }),
        }
    })
}

/// Returns the path without links, as far as it exists.
fn real(path: &Path) -> Option<String> {
    let (existing, rest) = path.ancestors().find_map(|ancestor| {
        Some((ancestor.canonicalize().ok()?, path.strip_prefix(ancestor).ok()?))
    })?;
    without_dots(&existing.join(rest).to_string_lossy())
}

/// Resolves `.` and `..`; `None`: the path leaves its root.
fn without_dots(path: &str) -> Option<String> {
    let mut parts: Vec<&str> = Vec::new();
    for part in path.split('/') {
        match part {
            "" | "." => {}
            ".." => {
                parts.pop()?;
            }
            part => parts.push(part),
        }
    }
    let root = if path.starts_with('/') { "/" } else { "" };
    Some(format!("{root}{}", parts.join("/")))
}

/// Resolves percent-encoding; `None`: it contains a control character or is not UTF-8.
fn decoded(path: &str) -> Option<String> {
    let path = percent_decode_str(path).decode_utf8().ok()?.into_owned();
    (!path.contains(char::is_control)).then_some(path)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_are_compared_after_dots_are_resolved() {
        let table = [
            ("*", "/srv/git/shop", true),
            ("/srv/git/*", "/srv/git/shop", true),
            ("/srv/git/*", "/srv/git/team/shop.git/", true),
            ("/srv/git/*", "/srv/./git//shop", true),
            ("/srv/git/*", "file:///srv/git/shop", true),
            ("/srv/git/sh*", "/srv/git/shop", true),
            ("/srv/git/sh*", "/srv/git/blog", false),
            ("/srv/*", "/srv/../subrepo", false),
            ("/srv/*", "/srv/git/../../etc", false),
            ("/srv/*", "/srv", false),
            ("/srv/*", "/srvother/shop", false),
            ("/srv/*", "/..", false),
            ("/srv/*", "file:///srv/%2e%2e/subrepo", false),
            ("/srv/*", "srv/shop", false),
            ("*", "../shop", false),
            ("/srv/git/shop", "/srv/git/blog/../shop", true),
            ("/srv/git/shop", "/srv/git/shop2", false),
            ("https://example.org/team/*", "https://example.org/team/shop.git", true),
            ("https://example.org/team/*", "HTTPS://Example.org/team/shop.git", true),
            ("https://example.org/team/*", "https://example.org/team/../other/shop", false),
            ("https://example.org/team/*", "https://example.org/team/%2E%2e/other/shop", false),
            ("https://example.org/team/*", "https://example.org/team%2f..%2fother", false),
            ("https://example.org/team/*", "https://example.org/team/%0ashop", false),
            ("https://example.org/team/*", "https://example.org@evil.example/team/shop", false),
            ("https://example.org*", "https://example.org.evil.example/shop", false),
            ("git@example.org:team/*", "git@example.org:team/shop", true),
            ("git@example.org:team/*", "git@example.org:team/../other", false),
            ("git@example.org:team/*", "git@example.org:../team/shop", false),
            ("git@example.org:*", "git@example.org:shop", true),
            ("git@example.org:*", "git@example.org.evil.example:shop", false),
            ("git@example.org:sh*", "git@example.org:shop", true),
            ("git@[::1]:*", "git@[::1]:shop", true),
        ];
        for (entry, repository, expected) in table {
            assert_eq!(covers(entry, repository), expected, "{entry} {repository}");
        }
        for entry in ["https://example.org*", "https://*", "shop", "git@exam*"] {
            assert!(!is_entry(entry), "{entry}");
        }
    }

    #[test]
    fn links_on_this_machine_are_resolved() {
        use std::os::unix::fs::symlink;
        let folder = tempfile::tempdir().expect("a folder");
        let at = |name: &str| folder.path().join(name);
        for name in ["srv/shop/.git", "srv/bare.git", "srv/half", "other/.git", "srv/tree"] {
            std::fs::create_dir_all(at(name)).expect("a folder");
        }
        symlink(at("other"), at("srv/link")).expect("a link");
        symlink(at("other"), at("srv/missing.git")).expect("a link");
        symlink(at("other/.git"), at("srv/half/.git")).expect("a link");
        std::fs::write(at("srv/tree/.git"), "gitdir: /other/.git").expect("a file");
        symlink(at("srv"), at("alias")).expect("a link");
        let path = |name: &str| at(name).to_string_lossy().into_owned();
        let table = [
            ("srv/*", "srv/shop", true),
            ("srv/*", "alias/shop", false),
            ("alias/*", "alias/shop", true),
            ("srv/shop", "srv/shop", true),
            ("srv/bare", "srv/bare", true),
            ("srv/*", "srv/link", false),
            ("srv/*", "srv/link/../other", false),
            ("srv/*", "srv/missing", false),
            ("srv/*", "srv/half", false),
            ("srv/*", "srv/tree", false),
            ("srv/*", "srv/nothing", true),
        ];
        for (entry, repository, expected) in table {
            assert_eq!(admits(&path(entry), &path(repository)), expected, "{entry} {repository}");
        }
        assert!(admits("*", &path("srv/link")), "an entry for everything");
    }
}
