//! Folders in which something that concerns a folder is looked for: that one and those above it.
//!
//! Only files of the person who works in a folder may decide about it. So the search ends at
//! the home, and before folders that hold everybody's homes or that everybody shares: a file in `/tmp`
//! decides nothing.

use onloop_effect::{Io, is_within};

/// Folders in which everybody may keep what is theirs.
const SHARED: [&str; 6] =
    ["/tmp", "/var/tmp", "/usr/tmp", "/dev/shm", "/private/tmp", "/private/var/tmp"];

/// The way up from a folder: first that one, each without a slash at its end; of the topmost nothing
/// is left.
#[derive(Debug)]
pub(crate) struct Ancestors<'a> {
    next: Option<&'a str>,
    homes: Vec<&'a str>,
    shared: Vec<&'a str>,
}

impl<'a> Ancestors<'a> {
    /// From `folder`.
    pub(crate) fn from(io: &'a Io, folder: &'a str) -> Ancestors<'a> {
        let variables = |names: &[&str]| -> Vec<&'a str> {
            let folders = names.iter().filter_map(|name| io.env(name));
            folders.map(without_slash).filter(|folder| !folder.is_empty()).collect()
        };
        let homes = variables(&["HOME", "USERPROFILE"]);
        let shared = SHARED.into_iter().chain(variables(&["TMPDIR"])).collect();
        Ancestors { next: Some(without_slash(folder)), homes, shared }
    }

    fn is_ours(&self, folder: &str) -> bool {
        let is_above = |home: &&str| *home != folder && is_within(home, folder);
        !self.shared.contains(&folder) && !self.homes.iter().any(is_above)
    }
}

impl<'a> Iterator for Ancestors<'a> {
    type Item = &'a str;

    fn next(&mut self) -> Option<&'a str> {
        let folder = self.next.take().filter(|folder| self.is_ours(folder))?;
        if !self.homes.contains(&folder) {
            self.next = folder.rfind('/').map(|at| &folder[..at]);
        }
        Some(folder)
    }
}

fn without_slash(folder: &str) -> &str {
    folder.trim_end_matches('/')
}

#[cfg(test)]
mod tests {
    use super::*;
    use onloop_effect::{Exit, Program, Start, Turn};

    /// The way up from a folder.
    fn way(variables: &[(&str, &str)], from: &'static str) -> Vec<String> {
        let mut start = Start::example(["onloop"]);
        let owned = |(name, value): &(&str, &str)| ((*name).to_owned(), (*value).to_owned());
        start.env = variables.iter().map(owned).collect();
        let slot = std::rc::Rc::new(std::cell::RefCell::new(Vec::new()));
        let found = slot.clone();
        let mut program = Program::new(start, move |io| async move {
            found.borrow_mut().extend(Ancestors::from(&io, from).map(str::to_owned));
            Exit::Done
        });
        assert!(matches!(program.resume(None), Turn::Exit(Exit::Done)));
        slot.take()
    }

    #[test]
    fn the_way_ends_at_home_and_before_what_everybody_shares() {
        type Case<'c> = (&'c [(&'c str, &'c str)], &'static str, &'c [&'c str]);
        let table: [Case<'_>; 11] = [
            (&[], "/work/repo/", &["/work/repo", "/work", ""]),
            (&[], "/", &[""]),
            (&[("HOME", "/root")], "/work/repo", &["/work/repo", "/work"]),
            (&[("HOME", "/")], "/work/repo", &["/work/repo", "/work", ""]),
            (&[("HOME", "/home/u/")], "/home/u/p/sub", &["/home/u/p/sub", "/home/u/p", "/home/u"]),
            (&[("HOME", "/home/u")], "/home/other/p", &["/home/other/p", "/home/other"]),
            (&[("HOME", "/home/u")], "/home", &[]),
            (&[("HOME", "/home/u")], "/home/user/p", &["/home/user/p", "/home/user"]),
            (&[("HOME", "/root")], "/tmp/x/y", &["/tmp/x/y", "/tmp/x"]),
            (&[("HOME", "/root"), ("TMPDIR", "/scratch/")], "/scratch/x", &["/scratch/x"]),
            (&[("HOME", "/root")], "/tmp", &[]),
        ];
        for (variables, from, expected) in table {
            assert_eq!(way(variables, from), expected, "{variables:?} {from}");
        }
    }
}
