//! The folders in which clients of agents keep their sessions and their logins. A session writes what
//! the table names; the rest decides what a client does the next time, perhaps without being confined.

use super::Needs;
use super::home::{Row, Use, join, rows};

/// What Claude Code keeps beside its folder, or in it where that is moved, and writes when it is used
/// for the first time.
const CLAUDE_FILE: &str = ".claude.json";

/// Stands in the table for the name that Claude Code gives a checkout.
const CHECKOUT: &str = "{checkout}";

/// Claude Code shortens longer names, with a digest.
const LONGEST_NAME: usize = 200;

/// A client on this machine.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ClientPlace {
    /// Each row, and the folder that it is about.
    rows: Vec<(Row, String)>,
    /// Its settings outside of its folder.
    file: Option<String>,
    /// How it names the checkout.
    checkout: Option<String>,
}

impl ClientPlace {
    /// The client `name`, which works in `checkout`; nothing for names that are not known.
    /// `variable` is an environment variable that is set.
    pub fn of<'v>(
        name: &str,
        home: Option<&str>,
        variable: impl Fn(&str) -> Option<&'v str>,
        checkout: &str,
    ) -> ClientPlace {
        let place = |row: Row| Some((row, row.place(home, &variable)?.0));
        let rows: Vec<_> = rows(Some(name)).filter_map(place).collect();
        let file = match (name, variable("CLAUDE_CONFIG_DIR"), home) {
            ("claude", Some(folder), _) => Some(join(folder.trim_end_matches('/'), CLAUDE_FILE)),
            ("claude", None, Some(home)) => Some(join(home.trim_end_matches('/'), CLAUDE_FILE)),
            (_, _, _) => None,
        };
        let checkout = Some(name_of(checkout)).filter(|name| name.len() <= LONGEST_NAME);
        ClientPlace { rows, file, checkout }
    }

    /// Folders that the client makes when it is used for the first time. A confined client cannot
    /// make them, or loses them.
    pub fn folders(&self) -> Vec<String> {
        self.used(&[Use::Folder, Use::SessionFolder, Use::Made])
    }

    /// Files that the client makes when it is used for the first time, empty at first.
    pub fn files(&self) -> Vec<String> {
        self.used(&[Use::SessionFile])
    }

    /// A file with an object of JSON, which is empty at first.
    pub fn file(&self) -> Option<&str> {
        self.file.as_deref()
    }

    /// Folders of which everything that is there is seen.
    pub fn listed(&self) -> Vec<String> {
        self.used(&[Use::Folder])
    }

    /// What a turn needs besides what every command may touch. `names` are the entries of
    /// [`ClientPlace::listed`] folders, with their paths.
    pub fn needs(&self, entries: &[String]) -> Needs {
        let may_write = self.used(&[Use::Session, Use::SessionFile, Use::SessionFolder]);
        let mut hidden: Vec<String> = self.used(&[Use::Hidden]);
        hidden.retain(|path| !may_write.contains(path));
        let mut needs = Needs {
            may_read: self.used(&[Use::Read]),
            scratch: self.used(&[Use::Folder, Use::Discard]),
            hidden: Vec::new(),
            may_write,
            provider: Vec::new(),
        };
        for entry in entries {
            match hidden.iter().any(|pattern| fits(entry, pattern)) {
                true => needs.hidden.push(entry.clone()),
                false if needs.may_write.contains(entry) || needs.scratch.contains(entry) => {}
                false => needs.may_read.push(entry.clone()),
            }
        }
        needs.may_read.extend(self.file.clone());
        needs
    }

    fn used(&self, uses: &[Use]) -> Vec<String> {
        let rows = self.rows.iter().filter(|(row, _)| uses.contains(&row.usage));
        rows.filter_map(|(row, folder)| Some(join(folder, &self.part(row)?))).collect()
    }

    /// The part of a row. Where the checkout has no known name, what belongs to it is where that of
    /// every checkout is, and what lies in it is not known.
    fn part(&self, row: &Row) -> Option<String> {
        let Some((before, after)) = row.part.split_once(CHECKOUT) else {
            return Some(row.part.to_owned());
        };
        match &self.checkout {
            Some(name) => Some(format!("{before}{name}{after}")),
            None if after.is_empty() => Some(before.trim_end_matches('/').to_owned()),
            None => None,
        }
    }
}

/// As Claude Code names a folder: every unit of UTF-16 that is not a letter or digit is a dash.
fn name_of(folder: &str) -> String {
    let unit = |c: char| match c.is_ascii_alphanumeric() {
        true => c.to_string(),
        false => "-".repeat(c.len_utf16()),
    };
    folder.chars().map(unit).collect()
}

/// Whether a path is the one of a row, whose last part may be `*MIDDLE*`.
fn fits(path: &str, pattern: &str) -> bool {
    let last = |path: &str| path.rsplit_once('/').map(|(a, b)| (a.to_owned(), b.to_owned()));
    let (Some((folder, name)), Some((around, wanted))) = (last(path), last(pattern)) else {
        return false;
    };
    let middle = wanted.strip_prefix('*').and_then(|wanted| wanted.strip_suffix('*'));
    folder == around && middle.map_or(name == wanted, |middle| name.contains(middle))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn place(name: &str, moved: Option<(&str, &'static str)>) -> ClientPlace {
        let variable = |name: &str| moved.filter(|(moved, _)| *moved == name).map(|(_, to)| to);
        ClientPlace::of(name, Some("/home/u/"), variable, "/srv/w_1/é")
    }

    #[test]
    fn a_client_may_write_its_sessions_and_not_what_it_will_obey() {
        let entries = ["projects", "settings.json", "statusline.sh", ".credentials.json"];
        let entries = entries.map(|name| format!("/home/u/.claude/{name}"));
        let needs = place("claude", None).needs(&entries);
        let has = |list: &[String], path: &str| list.contains(&format!("/home/u/{path}"));
        for path in [".claude/.credentials.json", ".claude/projects/-srv-w-1--"] {
            assert!(has(&needs.may_write, path), "{path}: {needs:?}");
        }
        for path in [
            ".claude/settings.json",
            ".claude/statusline.sh",
            ".claude.json",
            ".claude/projects/-srv-w-1--/memory",
        ] {
            assert!(has(&needs.may_read, path), "{path}: {needs:?}");
        }
        assert!(has(&needs.hidden, ".claude/projects"), "{needs:?}");
        assert!(!has(&needs.may_read, ".claude/.credentials.json"), "{needs:?}");
        assert_eq!(needs.scratch[0], "/home/u/.claude");
        let needs = place("opencode", Some(("XDG_DATA_HOME", "/data"))).needs(&[]);
        for path in ["/data/opencode", "/data/opencode/auth.json"] {
            assert!(needs.may_write.contains(&path.to_owned()), "{path}: {needs:?}");
        }
        assert!(needs.may_read.contains(&"/data/opencode/bin".to_owned()), "{needs:?}");
        let needs = place("opencode", Some(("OPENCODE_CONFIG", "/c/o.json"))).needs(&[]);
        assert!(needs.may_read.contains(&"/c/o.json".to_owned()), "{needs:?}");
        let codex = place("codex", Some(("CODEX_HOME", "/c/")));
        let needs = codex.needs(&["/c/state_5.sqlite".to_owned()]);
        assert_eq!(needs.may_write[..2], ["/c/auth.json", "/c/sessions"]);
        assert_eq!(codex.files(), ["/c/installation_id"]);
        assert_eq!(needs.hidden, ["/c/state_5.sqlite"]);
        assert_eq!(place("script", None).needs(&[]), Needs::default());
    }

    #[test]
    fn a_checkout_whose_name_is_too_long_shares_the_folder_of_all() {
        let folder = format!("/srv/{}", "a".repeat(LONGEST_NAME));
        let claude = ClientPlace::of("claude", Some("/home/u"), |_| None, &folder);
        let projects = "/home/u/.claude/projects".to_owned();
        let needs = claude.needs(std::slice::from_ref(&projects));
        assert!(needs.may_write.contains(&projects) && needs.hidden.is_empty(), "{needs:?}");
    }

    #[test]
    fn what_a_client_makes_at_first_is_known() {
        let claude = place("claude", None);
        assert_eq!(claude.listed(), ["/home/u/.claude"]);
        assert_eq!(claude.file(), Some("/home/u/.claude.json"));
        for path in ["/home/u/.claude", "/home/u/.claude/plugins"] {
            assert!(claude.folders().contains(&path.to_owned()), "{path}");
        }
        let moved = place("claude", Some(("CLAUDE_CONFIG_DIR", "/c")));
        assert_eq!(
            (moved.listed(), moved.file()),
            (vec!["/c".to_owned()], Some("/c/.claude.json"))
        );
        assert_eq!(place("codex", None).file(), None);
    }
}
