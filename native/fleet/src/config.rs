//! The fleet of this machine: `fleet/server.json` and `fleet/fleet.key` in the state home.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use onloop_core::effect::state_home;
use serde::{Deserialize, Serialize};
use ureq::http::Uri;

use crate::authority::{Authority, AuthorityError};
use crate::client::{Client, is_loopback};
use crate::key::{Key, KeyError};

/// Names the server, and replaces the file.
pub const SERVER_VARIABLE: &str = "ONLOOP_FLEET_SERVER";
/// Names the file with the key.
pub const KEY_VARIABLE: &str = "ONLOOP_FLEET_KEY_FILE";
/// Names the file with the certificate authority of the server.
pub const AUTHORITY_VARIABLE: &str = "ONLOOP_FLEET_CA_FILE";
/// The value 1 allows a server on another machine without TLS.
pub const PLAIN_VARIABLE: &str = "ONLOOP_FLEET_PLAIN_HTTP";
const SERVER: &str = "server.json";
const KEY: &str = "fleet.key";
const AUTHORITY: &str = "ca.pem";

/// The fleet of this machine.
#[derive(Clone, Debug)]
pub struct FleetConfig {
    /// Address of its server.
    pub url: String,
    /// Its key.
    pub key: Key,
    /// The file with the key.
    pub key_file: PathBuf,
    /// The authority that signed the server's certificate; `None`: one that browsers trust.
    pub authority: Option<Authority>,
}

/// Why this machine has no usable fleet, with the fix.
#[derive(Debug, thiserror::Error)]
pub enum ConfigError {
    /// There is no state home.
    #[error(
        "there is no state home, because HOME is not set\n  fix: set ONLOOP_STATE_HOME to an absolute folder"
    )]
    NoHome,
    /// No server is named.
    #[error(
        "this machine has no fleet\n  fix: start one with `onloop fleet up`, or name the server of \
         another machine with `--server` or ONLOOP_FLEET_SERVER"
    )]
    NoServer,
    /// The key is missing or invalid.
    #[error(
        "{0}\n  fix: copy `fleet.key` from the server's data folder, or name a copy in \
         ONLOOP_FLEET_KEY_FILE"
    )]
    Key(#[from] KeyError),
    /// The certificate authority is missing or invalid.
    #[error("{0}\n  fix: name the file with the authority's certificate in ONLOOP_FLEET_CA_FILE")]
    Authority(#[from] AuthorityError),
    /// The file with the server's address cannot be read.
    #[error("{}: {why}", path.display())]
    Server {
        /// The file.
        path: PathBuf,
        /// Why, as a clause.
        why: String,
    },
    /// Anybody on the network could read the key.
    #[error(
        "`{url}` is not encrypted, and each request carries the fleet's key\n  fix: use `https://` \
         or an SSH tunnel to 127.0.0.1; ONLOOP_FLEET_PLAIN_HTTP=1 allows it in a network that you trust"
    )]
    Plain {
        /// The server.
        url: String,
    },
    /// The text is not the address of a server.
    #[error(
        "`{url}` is not the address of a server; expected `https://HOST` or `http://127.0.0.1:PORT`"
    )]
    Url {
        /// The text.
        url: String,
    },
}

#[derive(Serialize, Deserialize)]
struct ServerDocument {
    url: String,
}

impl FleetConfig {
    /// Returns the fleet of this machine; `server` is the address on the command line.
    ///
    /// # Errors
    ///
    /// Why there is none.
    pub fn find(server: Option<&str>) -> Result<FleetConfig, ConfigError> {
        FleetConfig::find_in(&environment(), &current_folder(), server)
    }

    /// Does the same with the key file and the authority file of a command line.
    ///
    /// # Errors
    ///
    /// Why there is none.
    pub fn with(
        server: Option<&str>,
        key_file: Option<&Path>,
        authority_file: Option<&Path>,
    ) -> Result<FleetConfig, ConfigError> {
        let mut env = environment();
        let named = [(KEY_VARIABLE, key_file), (AUTHORITY_VARIABLE, authority_file)];
        for (variable, file) in named {
            if let Some(path) = file.and_then(Path::to_str) {
                env.insert(variable.to_owned(), path.to_owned());
            }
        }
        FleetConfig::find_in(&env, &current_folder(), server)
    }

    fn find_in(
        env: &BTreeMap<String, String>,
        cwd: &str,
        server: Option<&str>,
    ) -> Result<FleetConfig, ConfigError> {
        let set = |name: &str| env.get(name).filter(|value| !value.is_empty());
        let home = folder_in(env, cwd);
        let named = server.map(str::to_owned).or_else(|| set(SERVER_VARIABLE).cloned());
        let url = match (named, &home) {
            (Some(url), _) => url,
            (None, Some(home)) => read_server(&home.join(SERVER))?,
            (None, None) => return Err(ConfigError::NoHome),
        };
        let uri = url.parse::<Uri>().ok().filter(|uri| uri.host().is_some());
        let is_encrypted = match uri.as_ref().and_then(|uri| uri.scheme_str()) {
            Some("https") => true,
            Some("http") => false,
            _ => return Err(ConfigError::Url { url: onloop_core::text::one_line(&url) }),
        };
        if !is_encrypted && !is_loopback(&url) && set(PLAIN_VARIABLE).is_none_or(|it| it != "1") {
            return Err(ConfigError::Plain { url });
        }
        let key = match (set(KEY_VARIABLE), &home) {
            (Some(path), _) => Path::new(cwd).join(path),
            (None, Some(home)) => home.join(KEY),
            (None, None) => return Err(ConfigError::NoHome),
        };
        let authority = match (set(AUTHORITY_VARIABLE), home.map(|home| home.join(AUTHORITY))) {
            // A server without TLS has no certificate.
            _ if !is_encrypted => None,
            (Some(path), _) => Some(Authority::read(&Path::new(cwd).join(path))?),
            (None, Some(file)) if file.exists() => Some(Authority::read(&file)?),
            (None, _) => None,
        };
        Ok(FleetConfig { url, key: Key::read(&key)?, key_file: key, authority })
    }

    /// Returns the server that this machine's commands use.
    ///
    /// # Errors
    ///
    /// Why there is none.
    pub fn server() -> Result<String, ConfigError> {
        read_server(&folder()?.join(SERVER))
    }

    /// Stores the fleet for this machine's commands.
    ///
    /// # Errors
    ///
    /// Why it cannot be written.
    pub fn remember(&self) -> Result<(), ConfigError> {
        let folder = folder()?;
        self.key.write(&folder.join(KEY))?;
        let path = folder.join(SERVER);
        let document = ServerDocument { url: self.url.clone() };
        let mut bytes = serde_json::to_vec(&document).expect("only string keys");
        bytes.push(b'\n');
        crate::private::write(&path, &bytes)
            .map_err(|error| ConfigError::Server { path, why: error.to_string() })
    }

    /// Returns a client of its server.
    pub fn client(&self) -> Client {
        Client::new(&self.url, self.key.clone(), self.authority.as_ref())
    }
}

/// Returns the folder of the fleet in the state home.
///
/// # Errors
///
/// [`ConfigError::NoHome`].
pub fn folder() -> Result<PathBuf, ConfigError> {
    folder_in(&environment(), &current_folder()).ok_or(ConfigError::NoHome)
}

/// Returns the folder for data that agents may see: `onloop/fleet` in `$XDG_DATA_HOME`, else in
/// `~/.local/share`. `None`: neither variable is set.
pub fn data_folder() -> Option<PathBuf> {
    let absolute = |name: &str| {
        std::env::var_os(name).map(PathBuf::from).filter(|folder| folder.is_absolute())
    };
    let home = || absolute("HOME").map(|home| home.join(".local/share"));
    absolute("XDG_DATA_HOME").or_else(home).map(|folder| folder.join("onloop/fleet"))
}

fn folder_in(env: &BTreeMap<String, String>, cwd: &str) -> Option<PathBuf> {
    state_home(env, cwd).map(|home| Path::new(&home).join("fleet"))
}

fn read_server(path: &Path) -> Result<String, ConfigError> {
    let bad = |why: String| ConfigError::Server { path: path.to_owned(), why };
    let bytes = match std::fs::read(path) {
        Ok(bytes) => bytes,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
            return Err(ConfigError::NoServer);
        }
        Err(error) => return Err(bad(error.to_string())),
    };
    let document: ServerDocument =
        serde_json::from_slice(&bytes).map_err(|error| bad(error.to_string()))?;
    Ok(document.url)
}

fn environment() -> BTreeMap<String, String> {
    std::env::vars_os()
        .filter_map(|(name, value)| Some((name.into_string().ok()?, value.into_string().ok()?)))
        .collect()
}

fn current_folder() -> String {
    let folder = std::env::current_dir().unwrap_or_default();
    folder.to_string_lossy().into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_fleet_is_found_by_arguments_variables_and_files() {
        let folder = tempfile::tempdir().expect("a folder");
        let home = folder.path().to_str().expect("UTF-8").to_owned();
        let mut env = BTreeMap::from([("ONLOOP_STATE_HOME".to_owned(), home)]);
        let find = |env: &_, server| FleetConfig::find_in(env, "/srv/desk", server);
        assert!(matches!(find(&env, None), Err(ConfigError::NoServer)));
        for url in ["http://one:1", "HTTP://one", "http://127.0.0.1:1@one"] {
            let plain = find(&env, Some(url)).unwrap_err();
            assert!(matches!(plain, ConfigError::Plain { .. }), "{plain}");
        }
        env.insert(PLAIN_VARIABLE.to_owned(), "1".to_owned());
        let missing = find(&env, Some("http://one:1")).unwrap_err();
        assert!(matches!(missing, ConfigError::Key(_)), "{missing}");
        Key::new().write(&folder.path().join("fleet/fleet.key")).expect("written");
        let url = |env: &_, server| find(env, server).map(|known| known.url);
        assert_eq!(url(&env, Some("http://one:1")).expect("known"), "http://one:1");
        std::fs::write(folder.path().join("fleet/server.json"), r#"{"url":"https://two"}"#)
            .expect("written");
        assert_eq!(url(&env, None).expect("known"), "https://two");
        env.insert(SERVER_VARIABLE.to_owned(), "http://three".to_owned());
        assert_eq!(url(&env, None).expect("known"), "http://three");
        assert_eq!(url(&env, Some("http://one:1")).expect("known"), "http://one:1");
        for wrong in ["one:1", "http://", "ftp://one", "http://one two"] {
            assert!(matches!(url(&env, Some(wrong)), Err(ConfigError::Url { .. })), "{wrong}");
        }
        let authority = folder.path().join("fleet/ca.pem");
        std::fs::write(&authority, "not yet").expect("written");
        assert_eq!(url(&env, None).expect("known"), "http://three", "it has no certificate");
        let wrong = url(&env, Some("https://three"));
        assert!(matches!(wrong, Err(ConfigError::Authority(AuthorityError::Form { .. }))));
        env.insert(AUTHORITY_VARIABLE.to_owned(), "nowhere.pem".to_owned());
        assert_eq!(url(&env, None).expect("known"), "http://three");
        let missing = url(&env, Some("https://three")).unwrap_err().to_string();
        assert!(missing.contains("/srv/desk/nowhere.pem"), "{missing}");
        env.insert(KEY_VARIABLE.to_owned(), "nowhere.key".to_owned());
        let missing = url(&env, None).unwrap_err().to_string();
        assert!(missing.contains("/srv/desk/nowhere.key"), "{missing}");
        assert!(matches!(find(&BTreeMap::new(), None), Err(ConfigError::NoHome)));
    }
}
