//! Folders in which build tools keep what they have fetched and built, for every project.

use onloop_effect::is_within;

/// The variable that moves a tool's folder, where it is otherwise below a home, and what in it is
/// written. No folder from which programs are started later is among them.
const TOOLS: [(&str, &str, &[&str]); 14] = [
    (
        "CARGO_HOME",
        ".cargo",
        &["registry", "git", ".package-cache", ".package-cache-mutate", ".global-cache"],
    ),
    ("npm_config_cache", ".npm", &["_cacache", "_logs"]),
    ("YARN_CACHE_FOLDER", ".cache/yarn", &[""]),
    ("PNPM_HOME", ".local/share/pnpm", &["store"]),
    ("", ".cache/pnpm", &[""]),
    ("PIP_CACHE_DIR", ".cache/pip", &[""]),
    ("UV_CACHE_DIR", ".cache/uv", &[""]),
    ("GOPATH", "go", &["pkg"]),
    ("GOMODCACHE", "go/pkg/mod", &[""]),
    ("GOCACHE", ".cache/go-build", &[""]),
    ("GRADLE_USER_HOME", ".gradle", &["caches", "daemon", "native", "notifications", "workers"]),
    ("", ".m2/repository", &[""]),
    ("CCACHE_DIR", ".cache/ccache", &[""]),
    ("SCCACHE_DIR", ".cache/sccache", &[""]),
];

/// Parts of a tool's folder that are files.
const FILES: [&str; 3] = [".package-cache", ".package-cache-mutate", ".global-cache"];

/// A build tool's folder on this machine.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ToolFolder {
    /// Where it is.
    pub folder: String,
    /// The variable that moves it, and whether it does; `None`: there is none.
    variable: Option<(&'static str, bool)>,
    parts: &'static [&'static str],
}

/// The folders of the tools that are known. `variable` is an environment variable that is set.
pub fn tool_folders<'v>(
    home: Option<&str>,
    variable: impl Fn(&str) -> Option<&'v str>,
) -> Vec<ToolFolder> {
    let folder = |(name, below_home, parts): (&'static str, &str, _)| {
        let name = Some(name).filter(|name| !name.is_empty());
        let moved = name.and_then(&variable).filter(|path| path.starts_with('/'));
        let folder = match moved {
            Some(path) => path.to_owned(),
            None => format!("{}/{below_home}", home?),
        };
        let folder = folder.trim_end_matches('/').to_owned();
        Some(ToolFolder { folder, variable: name.map(|name| (name, moved.is_some())), parts })
    };
    TOOLS.into_iter().filter_map(folder).collect()
}

impl ToolFolder {
    /// What of it is written.
    pub fn caches(&self) -> impl Iterator<Item = String> {
        self.parts.iter().map(|part| self.part(part))
    }

    fn part(&self, part: &str) -> String {
        let folder = &self.folder;
        if part.is_empty() { folder.clone() } else { format!("{folder}/{part}") }
    }

    /// Folders to make where the tool has not been used yet: those in its own folder, which
    /// `is_there` or was chosen by a variable. The others are not littered into a home.
    pub fn to_make(&self, is_there: bool) -> Vec<String> {
        let is_chosen = self.variable.is_some_and(|(_, moves)| moves);
        let parts = self.parts.iter().filter(|part| !FILES.contains(part));
        let parts = parts.filter(|_| is_there || is_chosen);
        parts.map(|part| self.part(part)).collect()
    }

    /// The variable that moves it below `temporary`, where it is not there and nobody has said where
    /// it is.
    pub fn elsewhere(&self, temporary: &str) -> Option<(&'static str, String)> {
        let (name, _) = self.variable.filter(|(_, moves)| !moves)?;
        Some((name, format!("{temporary}/caches/{}", name.to_ascii_lowercase())))
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
        let elsewhere = Some(("CARGO_HOME", "/tmp/r/caches/cargo_home".to_owned()));
        assert_eq!(cargo.elsewhere("/tmp/r"), elsewhere);
        let maven = find(&usual, "/home/u/.m2/repository");
        assert_eq!((maven.to_make(false).len(), maven.elsewhere("/tmp/r")), (0, None));
        let moved = tool_folders(Some("/home/u"), |name| (name == "PIP_CACHE_DIR").then_some("/p"));
        let pip = find(&moved, "/p");
        assert_eq!((pip.to_make(false), pip.elsewhere("/tmp/r")), (vec!["/p".to_owned()], None));
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
