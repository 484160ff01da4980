//! Folders in which build tools keep what they have fetched and built, for every project.

use crate::effect::is_within;

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

/// The caches of the tools that are known. `variable` is an environment variable that is set.
pub fn default_caches<'v>(
    home: Option<&str>,
    variable: impl Fn(&str) -> Option<&'v str>,
) -> Vec<String> {
    let mut caches = Vec::new();
    for (name, below_home, parts) in TOOLS {
        let moved = Some(name).filter(|name| !name.is_empty()).and_then(&variable);
        let moved = moved.filter(|path| path.starts_with('/')).map(str::to_owned);
        let Some(folder) = moved.or_else(|| Some(format!("{}/{below_home}", home?))) else {
            continue;
        };
        let folder = folder.trim_end_matches('/');
        for part in parts {
            caches.push(if part.is_empty() { folder.into() } else { format!("{folder}/{part}") });
        }
    }
    caches
}

/// Caches that somebody has configured.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Caches(Vec<String>);

/// A path that cannot be a cache.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is no path of a cache: it is relative, has `..` in it, or is a home folder")]
pub struct CacheRefused(String);

impl Caches {
    /// Reads paths; `~/` is the home folder.
    ///
    /// # Errors
    ///
    /// [`CacheRefused`] for the first that is relative, a home folder or around one.
    pub fn read(paths: &[String], home: Option<&str>) -> Result<Caches, CacheRefused> {
        let read = |path: &String| {
            let refused = || CacheRefused(crate::text::ellipsis(&crate::text::one_line(path), 80));
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
        let none = default_caches(Some("/home/u"), |_| None);
        for path in ["/home/u/.cargo/registry", "/home/u/.npm/_cacache", "/home/u/go/pkg"] {
            assert!(none.iter().any(|cache| cache == path), "{path}");
        }
        let moved = default_caches(None, |name| (name == "CARGO_HOME").then_some("/c/"));
        assert_eq!(moved[..2], ["/c/registry", "/c/git"]);
        assert!(moved.iter().all(|cache| cache.starts_with("/c/")));
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
            "`x` is no path of a cache: it is relative, has `..` in it, or is a home folder"
        );
    }
}
