//! The rows of `home.tsv`: what of a home folder is seen and written, with the source of each.

use onloop_syntax::text::words;

const TABLE: &str = include_str!("home.tsv");

/// What a path of a home is there for; the table's head explains each word.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Use {
    Read,
    Config,
    Cache,
    CacheFile,
    Hidden,
    Folder,
    Session,
    SessionFile,
    SessionFolder,
    Made,
    Discard,
}

words! {
    impl pub Use {
        Read = "read",
        Config = "config",
        Cache = "cache",
        CacheFile = "cache-file",
        Hidden = "hidden",
        Folder = "folder",
        Session = "session",
        SessionFile = "session-file",
        SessionFolder = "session-folder",
        Made = "made",
        Discard = "discard",
    }
}

/// A row of the table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Row {
    /// The client that it is for; `None`: every program.
    pub(super) client: Option<&'static str>,
    pub(super) usage: Use,
    /// The variable that moves the folder.
    pub(super) variable: Option<&'static str>,
    /// The folder, below a home; `None` where only the variable names it.
    folder: Option<&'static str>,
    /// The part of the folder; empty: all of it.
    pub(super) part: &'static str,
}

impl Row {
    fn read(line: &'static str) -> Option<Row> {
        let mut columns = line.split('\t');
        let mut next = || columns.next();
        let named = |word: &'static str| Some(word).filter(|word| *word != "-");
        Some(Row {
            client: named(next()?),
            usage: next()?.parse().ok()?,
            variable: named(next()?),
            folder: named(next()?),
            part: next().map(|part| if part == "." { "" } else { part })?,
        })
    }

    /// Where its folder is, and whether a variable says so.
    pub(super) fn place<'v>(
        &self,
        home: Option<&str>,
        variable: impl Fn(&str) -> Option<&'v str>,
    ) -> Option<(String, bool)> {
        let moved = self.variable.and_then(variable);
        let moved = moved.map(|path| path.trim_end_matches('/'));
        if let Some(path) = moved.filter(|path| path.starts_with('/')) {
            return Some((path.to_owned(), true));
        }
        let (home, folder) = (home?.trim_end_matches('/'), self.folder?);
        Some((format!("{home}/{folder}"), false))
    }
}

/// The rows of one client, or of every program.
pub(super) fn rows(client: Option<&str>) -> impl Iterator<Item = Row> {
    let all = TABLE.lines().filter(|line| !line.starts_with('#')).filter_map(Row::read);
    all.filter(move |row| row.client == client)
}

/// A part of a folder.
pub(super) fn join(folder: &str, part: &str) -> String {
    if part.is_empty() { folder.to_owned() } else { format!("{folder}/{part}") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_line_is_a_row_with_a_source() {
        let lines = TABLE.lines().filter(|line| !line.starts_with('#'));
        for line in lines {
            assert!(Row::read(line).is_some(), "{line}");
            let columns: Vec<_> = line.split('\t').collect();
            assert!(columns.len() == 6 && columns[5].starts_with("https://"), "{line}");
            let is_plain = |path: &str| {
                !path.starts_with('/') && !path.split('/').any(|part| matches!(part, "" | ".."))
            };
            assert!(is_plain(columns[3]) && is_plain(columns[4]), "{line}");
        }
    }
}
