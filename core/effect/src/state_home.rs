//! The state home: a folder outside every checkout, which agents must not write.

use crate::confine::is_within;
use std::collections::BTreeMap;

use super::Start;

impl Start {
    /// [`state_home`] of this program.
    pub fn state_home(&self) -> Option<String> {
        state_home(&self.env, &self.cwd)
    }

    /// `AGENTIZE_HOME`, if it is set. A `~/` before it is the home folder: an `.env` file is read by no
    /// shell that would expand it.
    pub fn agentize_home(&self) -> Option<String> {
        let set = |name: &str| self.env.get(name).map(|value| value.trim());
        let chosen = set("AGENTIZE_HOME").filter(|home| !home.is_empty())?;
        Some(match (chosen.strip_prefix("~/"), set("HOME")) {
            (Some(below), Some(home)) => format!("{}/{below}", trimmed(home)),
            (_, _) => chosen.to_owned(),
        })
    }
}

/// The absolute folder of the state home, with `/` between its parts and without a final `/`:
/// `ONLOOP_STATE_HOME`, else `$XDG_STATE_HOME/onloop`, else `%LOCALAPPDATA%\onloop\state` on
/// Windows, else `~/.local/state/onloop`. `None` if `env` has none of these variables.
///
/// A relative `ONLOOP_STATE_HOME` is below the current folder `cwd`; a relative `XDG_STATE_HOME` is
/// ignored, as its specification says.
pub fn state_home(env: &BTreeMap<String, String>, cwd: &str) -> Option<String> {
    let set = |name: &str| env.get(name).filter(|value| !value.is_empty());
    if let Some(own) = set("ONLOOP_STATE_HOME") {
        let own = own.replace('\\', "/");
        let path = if is_absolute(&own) { own } else { format!("{cwd}/{own}") };
        return Some(trimmed(&path));
    }
    if let Some(xdg) = set("XDG_STATE_HOME").filter(|path| is_absolute(path)) {
        return Some(format!("{}/onloop", trimmed(xdg)));
    }
    if has_drive(cwd)
        && let Some(local) = set("LOCALAPPDATA")
    {
        return Some(format!("{}/onloop/state", trimmed(&local.replace('\\', "/"))));
    }
    let home = set("HOME").filter(|path| is_absolute(path))?;
    Some(format!("{}/.local/state/onloop", trimmed(home)))
}

/// The state home and the base of relative paths. Its files are readable for their owner only.
#[derive(Debug)]
pub(super) struct PrivateFolder {
    home: Option<String>,
    cwd: String,
}

impl PrivateFolder {
    pub(super) fn of(start: &Start) -> PrivateFolder {
        PrivateFolder { home: start.state_home(), cwd: trimmed(&start.cwd) }
    }

    /// Whether `path` is the state home or below it.
    pub(super) fn contains(&self, path: &str) -> bool {
        let Some(home) = &self.home else { return false };
        let is_within = |path: &str| is_within(path, home);
        if is_absolute(path) {
            return is_within(path);
        }
        // A quick check: most relative paths of most programs are far from the state home.
        home.starts_with(&self.cwd) && is_within(&format!("{}/{path}", self.cwd))
    }
}

fn trimmed(path: &str) -> String {
    path.trim_end_matches('/').to_owned()
}

fn is_absolute(path: &str) -> bool {
    path.starts_with('/') || has_drive(path)
}

/// Whether `path` is an absolute path of Windows, `C:/…`.
fn has_drive(path: &str) -> bool {
    let mut chars = path.chars();
    chars.next().is_some_and(|c| c.is_ascii_alphabetic()) && chars.next() == Some(':')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_variable_that_is_set_decides() {
        let start = |cwd: &str, env: &[(&str, &str)]| Start {
            cwd: cwd.to_owned(),
            env: env
                .iter()
                .map(|(name, value)| ((*name).to_owned(), (*value).to_owned()))
                .collect(),
            ..Start::example(["onloop"])
        };
        let own = ("ONLOOP_STATE_HOME", "/s/");
        let (xdg, home) = (("XDG_STATE_HOME", "/x"), ("HOME", "/h"));
        let local = ("LOCALAPPDATA", r"C:\Users\me\AppData\Local");
        type Row<'a> = (&'a str, &'a [(&'a str, &'a str)], Option<&'a str>);
        let table: [Row<'_>; 9] = [
            ("/w", &[own, xdg, home], Some("/s")),
            ("/w", &[("ONLOOP_STATE_HOME", "state"), home], Some("/w/state")),
            ("/w", &[("ONLOOP_STATE_HOME", ""), xdg, home], Some("/x/onloop")),
            ("/w", &[("XDG_STATE_HOME", "x"), home], Some("/h/.local/state/onloop")),
            ("/w", &[home, local], Some("/h/.local/state/onloop")),
            ("C:/w", &[home, local], Some("C:/Users/me/AppData/Local/onloop/state")),
            ("C:/w", &[("ONLOOP_STATE_HOME", r"D:\s")], Some("D:/s")),
            ("/w", &[("HOME", "h")], None),
            ("/w", &[], None),
        ];
        for (cwd, env, expected) in table {
            assert_eq!(start(cwd, env).state_home().as_deref(), expected, "{env:?}");
        }
    }

    #[test]
    fn what_lies_in_the_state_home_is_private() {
        let folder = |cwd: &str, home: &str| {
            let env = [("ONLOOP_STATE_HOME".to_owned(), home.to_owned())].into();
            let start = Start { cwd: cwd.to_owned(), env, ..Start::example(["onloop"]) };
            PrivateFolder::of(&start)
        };
        let elsewhere = folder("/w", "/s");
        for path in ["/s", "/s/runs/a"] {
            assert!(elsewhere.contains(path), "{path}");
        }
        for path in ["/state", "/", "s", "runs/a", "../s"] {
            assert!(!elsewhere.contains(path), "{path}");
        }
        assert!(folder("/w", "state").contains("state/runs"));
        assert!(folder("/", "/s").contains("s/runs"));
        assert!(folder("/s/runs", "/s").contains("/s/runs/a"));
        let nowhere = PrivateFolder::of(&Start::example(["onloop"]));
        assert!(!nowhere.contains("/") && !nowhere.contains(""));
    }
}
