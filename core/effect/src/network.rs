//! The network of a confined program: all of it, none, or what a list names.

use core::net::{IpAddr, Ipv6Addr};
use std::fmt;
use std::str::FromStr;

use serde::de::Error;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use onloop_syntax::limits;
use onloop_syntax::text;

/// The network of a confined program.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Network {
    /// The network of the machine.
    #[default]
    All,
    /// A private loopback device.
    Loopback,
    /// None.
    None,
    /// A private loopback device, and a proxy of the host that connects to these names. Needs
    /// bubblewrap.
    Names(Vec<NetworkName>),
}

/// A name of a network list: `host`, `*.host`, `localhost:PORT`, `@provider`, `@registries` or
/// `@localhost`.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum NetworkName {
    /// `@provider`: the servers of the agent's model. Core replaces it by their names.
    Provider,
    /// `@registries`: package registries and the git remotes of the checkout. Core replaces it by
    /// their names.
    Registries,
    /// `@localhost`: servers of this machine, except those of onloop and of container engines.
    Localhost,
    /// `localhost:PORT`: one server of this machine.
    Port(u16),
    /// A host or an IP address, in the form of [`host_name`].
    Host(String),
    /// `*.host`: every host below this one.
    Below(String),
}

/// Why a text is not a network, or not a name of one.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{reason}")]
pub struct InvalidNetwork {
    /// The problem, as a clause.
    pub reason: String,
}

const PROVIDER: &str = "@provider";
const REGISTRIES: &str = "@registries";
const LOCALHOST: &str = "@localhost";

impl Network {
    /// The networks that one word names.
    pub const WORDS: &[&str] = &["all", "loopback", "none"];
    /// The names that stand for several hosts.
    pub const GROUPS: [&str; 3] = [PROVIDER, REGISTRIES, LOCALHOST];
    /// The address at which a confined program with [`Network::Names`] finds the proxy. It speaks
    /// HTTP and SOCKS 5.
    pub const PROXY: (&str, u16) = ("127.0.0.1", 3128);

    /// Reads a list of names.
    ///
    /// # Errors
    ///
    /// The list is empty, has more than [`limits::NETWORK_NAMES`] names, or one is invalid.
    pub fn of_names<'n>(
        names: impl IntoIterator<Item = &'n str>,
    ) -> Result<Network, InvalidNetwork> {
        let names = names.into_iter().map(str::parse).collect::<Result<Vec<NetworkName>, _>>()?;
        if names.is_empty() {
            return Err(invalid("the list is empty; `loopback` allows no name".to_owned()));
        }
        if names.len() > limits::NETWORK_NAMES {
            return Err(invalid(format!("it has more than {} names", limits::NETWORK_NAMES)));
        }
        Ok(Network::Names(names))
    }

    /// Whether a program of this network can reach `host`, in the form of [`host_name`], at `port`.
    pub fn allows(&self, host: &str, port: u16) -> bool {
        match self {
            Network::All => true,
            Network::Loopback | Network::None => false,
            Network::Names(names) => names.iter().any(|name| name.allows(host, port)),
        }
    }

    /// Whether it is a list of names.
    pub fn is_list(&self) -> bool {
        matches!(self, Network::Names(_))
    }
}

impl NetworkName {
    fn allows(&self, host: &str, port: u16) -> bool {
        match self {
            // Groups that were not replaced allow nothing.
            NetworkName::Provider | NetworkName::Registries => false,
            NetworkName::Localhost => is_loopback_name(host),
            NetworkName::Port(own) => is_loopback_name(host) && *own == port,
            NetworkName::Host(own) => own == host,
            NetworkName::Below(above) => {
                host.strip_suffix(above.as_str()).is_some_and(|rest| rest.ends_with('.'))
            }
        }
    }
}

/// Returns a host name or an IP address in its canonical form: lower case, without a final dot and
/// brackets, IPv4 in IPv6 as IPv4. `None`: it is neither. Short forms of addresses, such as `127.1`,
/// are neither.
pub fn host_name(text: &str) -> Option<String> {
    let bracketed = text.strip_prefix('[').and_then(|text| text.strip_suffix(']'));
    if let Some(text) = bracketed {
        return text.parse::<Ipv6Addr>().ok().map(|address| address.to_canonical().to_string());
    }
    if let Ok(address) = text.parse::<IpAddr>() {
        return Some(address.to_canonical().to_string());
    }
    let text = text.strip_suffix('.').unwrap_or(text).to_ascii_lowercase();
    let is_label = |label: &str| {
        (1..=63).contains(&label.len())
            && !label.starts_with('-')
            && !label.ends_with('-')
            && label.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_".contains(&byte))
    };
    let last = text.rsplit('.').next().unwrap_or_default();
    let is_number = last.starts_with(|c: char| c.is_ascii_digit());
    (text.len() <= 253 && text.split('.').all(is_label) && !is_number).then_some(text)
}

/// Whether a host, in the form of [`host_name`], is this machine by its name.
pub fn is_loopback_name(host: &str) -> bool {
    let is_loopback = |address: IpAddr| address.is_loopback() || address.is_unspecified();
    host == "localhost"
        || host.ends_with(".localhost")
        || host.parse::<IpAddr>().is_ok_and(is_loopback)
}

fn is_plain_word(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_alphanumeric())
}

fn invalid(reason: String) -> InvalidNetwork {
    InvalidNetwork { reason }
}

impl FromStr for NetworkName {
    type Err = InvalidNetwork;

    fn from_str(text: &str) -> Result<NetworkName, InvalidNetwork> {
        let wrong = |why: &str| {
            Err(invalid(format!("`{}` {why}", text::ellipsis(&text::one_line(text), 80))))
        };
        match text {
            PROVIDER => return Ok(NetworkName::Provider),
            REGISTRIES => return Ok(NetworkName::Registries),
            LOCALHOST => return Ok(NetworkName::Localhost),
            _ => {}
        }
        if text.starts_with('@') {
            return wrong("is not one of `@provider`, `@registries` and `@localhost`");
        }
        if Network::WORDS.contains(&text) || text == "*" {
            return wrong("is not a name; `network: all` stands alone");
        }
        if text.contains("://") || text.contains('/') {
            return wrong("has more than a host; write it without scheme and path");
        }
        if let Some(port) = text.strip_prefix("localhost:") {
            let port = port.parse().ok().filter(|port| *port != 0);
            return port.map_or_else(|| wrong("has no valid port"), |p| Ok(NetworkName::Port(p)));
        }
        if let Some(above) = text.strip_prefix("*.") {
            let above = host_name(above).filter(|host| host.contains('.'));
            let is_name = |host: &String| host.parse::<IpAddr>().is_err();
            return match above.filter(is_name) {
                Some(host) => Ok(NetworkName::Below(host)),
                None => wrong("is not `*.` and a name of at least two parts"),
            };
        }
        match host_name(text) {
            Some(host) if is_loopback_name(&host) => {
                wrong("is this machine; write `@localhost` or `localhost:PORT`")
            }
            Some(host) => Ok(NetworkName::Host(host)),
            None if !text.is_ascii() => wrong("is not ASCII; write it as `xn--…`"),
            None => wrong("is not a host name or an IP address, without a port"),
        }
    }
}

impl FromStr for Network {
    type Err = InvalidNetwork;

    /// A word, or names with commas between them. A name alone has a dot in it.
    fn from_str(text: &str) -> Result<Network, InvalidNetwork> {
        match text {
            "all" => Ok(Network::All),
            "loopback" => Ok(Network::Loopback),
            "none" => Ok(Network::None),
            // It would be a host, which is hardly what a misspelt word means.
            word if is_plain_word(word) && word != "localhost" => {
                let word = text::ellipsis(word, 80);
                let why = "is not `all`, `loopback` or `none`; a host without a dot is written";
                Err(invalid(format!("`{word}` {why} `{word}.`")))
            }
            names => Network::of_names(names.split(',').map(str::trim)),
        }
    }
}

impl fmt::Display for NetworkName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            NetworkName::Provider => f.write_str(PROVIDER),
            NetworkName::Registries => f.write_str(REGISTRIES),
            NetworkName::Localhost => f.write_str(LOCALHOST),
            NetworkName::Port(port) => write!(f, "localhost:{port}"),
            NetworkName::Host(host) => f.write_str(host),
            NetworkName::Below(host) => write!(f, "*.{host}"),
        }
    }
}

impl fmt::Display for Network {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Network::All => f.write_str("all"),
            Network::Loopback => f.write_str("loopback"),
            Network::None => f.write_str("none"),
            Network::Names(names) => {
                for (index, name) in names.iter().enumerate() {
                    write!(f, "{}{name}", if index == 0 { "" } else { "," })?;
                }
                Ok(())
            }
        }
    }
}

impl Serialize for NetworkName {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        to.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for NetworkName {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<NetworkName, D::Error> {
        String::deserialize(from)?.parse().map_err(D::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_network_is_a_word_or_names() {
        for text in ["all", "none", "@provider,*.example.com,localhost:80", "10.0.0.1,::2,a_b"] {
            let network: Network = text.parse().unwrap();
            assert_eq!(network.to_string(), text);
            let stored = serde_json::to_string(&network).unwrap();
            assert_eq!(serde_json::from_str::<Network>(&stored).unwrap(), network, "{stored}");
        }
        assert_eq!("Example.COM.".parse::<Network>().unwrap().to_string(), "example.com");
        assert!("vm.".parse::<Network>().unwrap().allows("vm", 80));
        let stored = serde_json::to_value("a.b,@localhost".parse::<Network>().unwrap()).unwrap();
        assert_eq!(stored, serde_json::json!({"names": ["a.b", "@localhost"]}));
    }

    #[test]
    fn what_is_not_a_name_is_refused_with_a_reason() {
        for (text, reason) in [
            ("", "`` is not a host name or an IP address, without a port"),
            (
                "vm",
                "`vm` is not `all`, `loopback` or `none`; a host without a dot is written `vm.`",
            ),
            ("a,all", "`all` is not a name; `network: all` stands alone"),
            ("*", "`*` is not a name; `network: all` stands alone"),
            ("*.com", "`*.com` is not `*.` and a name of at least two parts"),
            ("*.10.0.0.1", "`*.10.0.0.1` is not `*.` and a name of at least two parts"),
            ("@local", "`@local` is not one of `@provider`, `@registries` and `@localhost`"),
            ("https://a.b", "`https://a.b` has more than a host; write it without scheme and path"),
            ("a.b:443", "`a.b:443` is not a host name or an IP address, without a port"),
            ("localhost", "`localhost` is this machine; write `@localhost` or `localhost:PORT`"),
            ("127.9.9.9", "`127.9.9.9` is this machine; write `@localhost` or `localhost:PORT`"),
            ("localhost:0", "`localhost:0` has no valid port"),
            ("127.1", "`127.1` is not a host name or an IP address, without a port"),
            ("a,0x7f000001", "`0x7f000001` is not a host name or an IP address, without a port"),
            ("é.fr", "`é.fr` is not ASCII; write it as `xn--…`"),
            ("-a.b", "`-a.b` is not a host name or an IP address, without a port"),
        ] {
            assert_eq!(text.parse::<Network>().unwrap_err().reason, reason, "{text}");
        }
        assert!(Network::of_names([]).is_err());
        assert!(Network::of_names(vec!["a.b"; limits::NETWORK_NAMES + 1]).is_err());
    }

    #[test]
    fn names_allow_themselves_and_nothing_else() {
        let network: Network = "a.example,*.b.example,localhost:80,10.0.0.1".parse().unwrap();
        for (host, port, is_allowed) in [
            ("a.example", 443, true),
            ("A.Example.", 22, true),
            ("x.a.example", 443, false),
            ("xa.example", 443, false),
            ("a.example.evil", 443, false),
            ("b.example", 443, false),
            ("x.y.b.example", 443, true),
            ("xb.example", 443, false),
            ("localhost", 80, true),
            ("127.0.0.1", 80, true),
            ("[::ffff:127.0.0.1]", 80, true),
            ("::1", 81, false),
            ("0.0.0.0", 80, true),
            ("10.0.0.1", 1, true),
            ("[::ffff:10.0.0.1]", 1, true),
            ("10.0.0.2", 1, false),
        ] {
            let host = host_name(host).unwrap();
            assert_eq!(network.allows(&host, port), is_allowed, "{host}:{port}");
        }
        assert!("@localhost".parse::<Network>().unwrap().allows("x.localhost", 9));
        for text in
            ["127.1", "2130706433", "0177.0.0.1", "a b", "a/b", "", ".", "a..b", "[1.2.3.4]"]
        {
            assert_eq!(host_name(text), None, "{text}");
        }
    }
}
