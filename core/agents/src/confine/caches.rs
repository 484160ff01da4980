//! Folders in which tools keep their programs, and what they have fetched and built for every project.

use super::home::{Use, join, rows};
use onloop_effect::is_within;

/// A tool's folder on this machine.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ToolFolder {
    /// Where it is.
    pub folder: String,
    /// The variable that moves it, and whether it does; `None`: there is none.
    variable: Option<(&'static str, bool)>,
    parts: Vec<(Use, &'static str)>,
}

/// The folders of the tools that are known. `variable` is an environment variable that is set.
pub fn tool_folders<'v>(
    home: Option<&str>,
    variable: impl Fn(&str) -> Option<&'v str>,
) -> Vec<ToolFolder> {
    let mut tools: Vec<ToolFolder> = Vec::new();
    for row in rows(None) {
        let Some((folder, moves)) = row.place(home, &variable) else { continue };
        let part = (row.usage, row.part);
        let name = row.variable.map(|name| (name, moves));
        match tools.iter_mut().find(|tool| tool.folder == folder && tool.variable == name) {
            Some(tool) => tool.parts.push(part),
            None => tools.push(ToolFolder { folder, variable: name, parts: vec![part] }),
        }
    }
    tools
}

impl ToolFolder {
    /// What of it is written.
    pub fn caches(&self) -> impl Iterator<Item = String> {
        self.used(&[Use::Cache, Use::CacheFile])
    }

    /// What of it is seen and not written. No folder from which programs are started is a cache.
    pub fn visible(&self) -> impl Iterator<Item = String> {
        self.used(&[Use::Read, Use::Config])
    }

    /// What of that is seen only where it has no credentials.
    pub fn configurations(&self) -> impl Iterator<Item = String> {
        self.used(&[Use::Config])
    }

    /// What of it is hidden, though it lies in what is seen. A part may be `*`, any name.
    pub fn hidden(&self) -> impl Iterator<Item = String> {
        self.used(&[Use::Hidden])
    }

    fn used(&self, uses: &'static [Use]) -> impl Iterator<Item = String> {
        let parts = self.parts.iter().filter(|(usage, _)| uses.contains(usage));
        parts.map(|(_, part)| join(&self.folder, part))
    }

    /// Folders to make where the tool has not been used yet: those in its own folder, which
    /// `is_there` or was chosen by a variable. The others are not littered into a home.
    pub fn to_make(&self, is_there: bool) -> Vec<String> {
        let is_chosen = self.variable.is_some_and(|(_, moves)| moves);
        self.used(&[Use::Cache]).filter(|_| is_there || is_chosen).collect()
    }

    /// The variable that moves it below another folder, where it is not there and no variable says
    /// where it is: below `shared` if all of it is a cache, else below `own`. Programs in a tool's
    /// home that one process leaves would run in the next one.
    pub fn elsewhere(&self, own: &str, shared: &str) -> Option<(&'static str, String)> {
        self.variable.filter(|(_, moves)| !moves)?;
        self.fresh(if self.is_one_cache() { shared } else { own })
    }

    /// The variable that moves it below `folder`, whether it is there or not, so that nothing that
    /// was cached before is read; `None`: it has no cache, or no variable moves it.
    pub fn fresh(&self, folder: &str) -> Option<(&'static str, String)> {
        let (name, _) = self.variable?;
        self.caches().next()?;
        Some((name, format!("{folder}/caches/{}", name.to_ascii_lowercase())))
    }

    /// Whether it is one cache, without programs and settings of the tool.
    pub fn is_one_cache(&self) -> bool {
        self.parts == [(Use::Cache, "")]
    }
}

/// Caches that the environment configures.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Caches(Vec<String>);

/// A path that cannot be a cache.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is not the path of a cache: it is relative, has `..` in it, or is a home folder")]
pub struct CacheRefused(String);

impl Caches {
    /// Reads paths; `~/` is the home folder.
    ///
    /// # Errors
    ///
    /// [`CacheRefused`] for the first that is relative, a home folder or around one.
    pub fn read(paths: &[String], home: Option<&str>) -> Result<Caches, CacheRefused> {
        let read = |path: &String| {
            let refused = || {
                CacheRefused(onloop_syntax::text::ellipsis(
                    &onloop_syntax::text::one_line(path),
                    80,
                ))
            };
            let absolute = match (path.strip_prefix("~/"), home) {
                (Some(below), Some(home)) => format!("{}/{below}", home.trim_end_matches('/')),
                _ => path.clone(),
            };
            let absolute = absolute.trim_end_matches('/').to_owned();
            let is_odd = |part: &str| matches!(part, "" | "." | "..");
            let is_plain = absolute.starts_with('/') && !absolute[1..].split('/').any(is_odd);
            let is_home = home.is_some_and(|home| is_within(home, &absolute));
            if is_plain && !is_home { Ok(absolute) } else { Err(refused()) }
        };
        paths.iter().map(read).collect::<Result<_, _>>().map(Caches)
    }

    /// The paths.
    pub fn paths(&self) -> &[String] {
        &self.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tools_may_keep_their_caches_elsewhere() {
        let usual = tool_folders(Some("/home/u"), |_| None);
        let caches: Vec<String> = usual.iter().flat_map(ToolFolder::caches).collect();
        for path in ["/home/u/.cargo/registry", "/home/u/.npm/_cacache", "/home/u/go/pkg"] {
            assert!(caches.iter().any(|cache| cache == path), "{path}");
        }
        let moved = tool_folders(None, |name| (name == "CARGO_HOME").then_some("/c/"));
        let caches: Vec<String> = moved.iter().flat_map(ToolFolder::caches).collect();
        assert_eq!(caches[..2], ["/c/registry", "/c/git"]);
        assert!(caches.iter().all(|cache| cache.starts_with("/c/")));
        let visible: Vec<String> = moved.iter().flat_map(ToolFolder::visible).collect();
        assert_eq!(visible[..2], ["/c/bin", "/c/env"]);
        let named = tool_folders(None, |name| (name == "SSL_CERT_FILE").then_some("/srv/ca.pem"));
        let visible: Vec<String> = named.iter().flat_map(ToolFolder::visible).collect();
        assert_eq!(visible, ["/srv/ca.pem"]);
    }

    #[test]
    fn a_tool_that_was_never_used_works_without_littering() {
        let find = |folders: &[ToolFolder], path: &str| {
            folders.iter().find(|tool| tool.folder == path).unwrap().clone()
        };
        let usual = tool_folders(Some("/home/u"), |_| None);
        let cargo = find(&usual, "/home/u/.cargo");
        assert_eq!(cargo.to_make(true), ["/home/u/.cargo/registry", "/home/u/.cargo/git"]);
        assert_eq!(cargo.to_make(false), [""; 0]);
        let elsewhere = Some(("CARGO_HOME", "/tmp/r/1/caches/cargo_home".to_owned()));
        assert_eq!(cargo.elsewhere("/tmp/r/1", "/tmp/r"), elsewhere);
        let go = find(&usual, "/home/u/.cache/go-build");
        let elsewhere = Some(("GOCACHE", "/tmp/r/caches/gocache".to_owned()));
        assert_eq!(go.elsewhere("/tmp/r/1", "/tmp/r"), elsewhere);
        let maven = find(&usual, "/home/u/.m2/repository");
        assert_eq!((maven.to_make(false).len(), maven.elsewhere("/o", "/s")), (0, None));
        assert_eq!(maven.fresh("/s"), None, "no variable moves it");
        let rustup = find(&usual, "/home/u/.rustup");
        assert_eq!(rustup.elsewhere("/o", "/s"), None, "it has no cache");
        let moved = tool_folders(Some("/home/u"), |name| (name == "PIP_CACHE_DIR").then_some("/p"));
        let pip = find(&moved, "/p");
        let fresh = Some(("PIP_CACHE_DIR", "/s/caches/pip_cache_dir".to_owned()));
        assert_eq!(pip.fresh("/s"), fresh, "what is cached already is not read");
        assert_eq!((pip.to_make(false), pip.elsewhere("/o", "/s")), (vec!["/p".to_owned()], None));
    }

    #[test]
    fn a_cache_is_a_plain_path_that_is_no_home() {
        let read = |path: &str| Caches::read(&[path.to_owned()], Some("/home/u"));
        assert_eq!(read("~/.cache/x/").unwrap().paths(), ["/home/u/.cache/x"]);
        assert_eq!(read("/srv/cache").unwrap().paths(), ["/srv/cache"]);
        for path in ["", "/", "~/", "/home", "/home/u", "/home/u/", "a", "/a/../b", "/a//b"] {
            assert!(read(path).is_err(), "{path}");
        }
        assert_eq!(
            read("x").unwrap_err().to_string(),
            "`x` is not the path of a cache: it is relative, has `..` in it, or is a home folder"
        );
    }
}
