//! What the groups of a network list stand for, and how programs find the proxy.

use std::collections::BTreeSet;

use onloop_effect::{Network, NetworkName, host_name, is_loopback_name};

/// The network of agents unless something else is asked for.
pub fn agent_network() -> Network {
    Network::Names(vec![NetworkName::Provider, NetworkName::Registries, NetworkName::Localhost])
}

/// The network of lines of shell that run confined instead of being asked about.
pub fn line_network() -> Network {
    Network::Names(vec![NetworkName::Registries, NetworkName::Localhost])
}

/// A client, the variables with the address of its model's server, and the servers without them.
/// `{NAME}` stands for a variable; a server with one that is not set is left out.
struct ClientServers {
    client: &'static str,
    addresses: &'static [&'static str],
    servers: &'static [&'static str],
}

/// From what the clients' documentation lists for firewalls: requests to the model and the renewal
/// of logins. Telemetry and updates are not among them.
const PROVIDERS: &[ClientServers] = &[
    ClientServers {
        client: "claude",
        addresses: &[
            "ANTHROPIC_BASE_URL",
            "ANTHROPIC_BEDROCK_BASE_URL",
            "ANTHROPIC_VERTEX_BASE_URL",
            "ANTHROPIC_FOUNDRY_BASE_URL",
        ],
        servers: &[
            "api.anthropic.com",
            "claude.ai",
            "console.anthropic.com",
            "platform.claude.com",
            "bedrock.{AWS_REGION}.amazonaws.com",
            "bedrock-runtime.{AWS_REGION}.amazonaws.com",
            "{CLOUD_ML_REGION}-aiplatform.googleapis.com",
            "{ANTHROPIC_FOUNDRY_RESOURCE}.services.ai.azure.com",
        ],
    },
    ClientServers {
        client: "codex",
        addresses: &["OPENAI_BASE_URL", "CODEX_OSS_BASE_URL"],
        servers: &["api.openai.com", "auth.openai.com", "chatgpt.com"],
    },
    ClientServers {
        client: "opencode",
        addresses: &[],
        servers: &[
            "api.anthropic.com",
            "api.openai.com",
            "console.anthropic.com",
            "generativelanguage.googleapis.com",
            "models.dev",
            "opencode.ai",
            "openrouter.ai",
        ],
    },
    ClientServers {
        client: "cursor",
        addresses: &["CURSOR_API_ENDPOINT"],
        servers: &["*.cursor.sh", "api.cursor.com", "cursor.com"],
    },
    ClientServers {
        client: "gemini",
        addresses: &["GOOGLE_GEMINI_BASE_URL", "GOOGLE_VERTEX_BASE_URL", "CODE_ASSIST_ENDPOINT"],
        servers: &[
            "accounts.google.com",
            "cloudcode-pa.googleapis.com",
            "generativelanguage.googleapis.com",
            "oauth2.googleapis.com",
            "{GOOGLE_CLOUD_LOCATION}-aiplatform.googleapis.com",
        ],
    },
    ClientServers {
        client: "qwen",
        addresses: &["OPENAI_BASE_URL"],
        servers: &[
            "chat.qwen.ai",
            "dashscope-intl.aliyuncs.com",
            "dashscope.aliyuncs.com",
            "portal.qwen.ai",
        ],
    },
    ClientServers {
        client: "copilot",
        addresses: &["COPILOT_API_URL"],
        servers: &["*.githubcopilot.com", "api.github.com"],
    },
];

/// Servers that package managers ask unless they are configured otherwise.
const REGISTRIES: &[&str] = &[
    // cargo and rustup
    "crates.io",
    "index.crates.io",
    "static.crates.io",
    "static.rust-lang.org",
    // npm, pnpm and yarn
    "registry.npmjs.org",
    "registry.yarnpkg.com",
    // pip and uv
    "pypi.org",
    "files.pythonhosted.org",
    // go
    "proxy.golang.org",
    "sum.golang.org",
    // Maven and Gradle
    "repo.maven.apache.org",
    "repo1.maven.org",
    "plugins.gradle.org",
    "services.gradle.org",
    "downloads.gradle.org",
    // bundler, composer, NuGet, mix and pub
    "rubygems.org",
    "index.rubygems.org",
    "packagist.org",
    "repo.packagist.org",
    "api.nuget.org",
    "repo.hex.pm",
    "pub.dev",
];

/// Variables with the addresses of other registries; some hold several.
const REGISTRY_ADDRESSES: &[&str] = &[
    "NPM_CONFIG_REGISTRY",
    "npm_config_registry",
    "YARN_NPM_REGISTRY_SERVER",
    "PIP_INDEX_URL",
    "PIP_EXTRA_INDEX_URL",
    "UV_DEFAULT_INDEX",
    "UV_INDEX",
    "UV_INDEX_URL",
    "UV_EXTRA_INDEX_URL",
    "GOPROXY",
];

/// The beginning of the variables in which cargo finds further registries.
const CARGO_REGISTRIES: &str = "CARGO_REGISTRIES_";

/// Returns the servers of the model of `client`, of every known client if it is not known.
/// `variable` is an environment variable that is set.
pub fn provider_names<'v>(
    client: Option<&str>,
    variable: impl Fn(&str) -> Option<&'v str>,
) -> Vec<NetworkName> {
    let is_known = |name: &str| PROVIDERS.iter().any(|row| row.client == name);
    let client = client.filter(|name| is_known(name));
    let mut names = BTreeSet::new();
    for row in PROVIDERS.iter().filter(|row| client.is_none_or(|name| name == row.client)) {
        let addresses = row.addresses.iter().filter_map(|name| variable(name));
        let own: Vec<NetworkName> = addresses.filter_map(server_of).collect();
        match own.is_empty() {
            true => {
                let servers = row.servers.iter().filter_map(|server| filled(server, &variable));
                names.extend(servers.filter_map(|server| server.parse().ok()));
            }
            false => names.extend(own),
        }
    }
    names.into_iter().collect()
}

/// Replaces the variable in a row; `None`: it is not set.
fn filled<'v>(server: &str, variable: impl Fn(&str) -> Option<&'v str>) -> Option<String> {
    let Some((before, rest)) = server.split_once('{') else { return Some(server.to_owned()) };
    let (name, after) = rest.split_once('}')?;
    Some(format!("{before}{}{after}", variable(name).filter(|value| !value.is_empty())?))
}

/// Returns the package registries of an environment, and the servers of the git remotes with these
/// addresses.
pub fn registry_names<'v>(
    variables: impl Iterator<Item = (&'v str, &'v str)>,
    remotes: &[String],
) -> Vec<NetworkName> {
    let mut names: BTreeSet<NetworkName> =
        REGISTRIES.iter().filter_map(|server| server.parse().ok()).collect();
    let is_address = |name: &str| {
        REGISTRY_ADDRESSES.contains(&name)
            || (name.starts_with(CARGO_REGISTRIES) && name.ends_with("_INDEX"))
    };
    let configured = variables.filter(|(name, _)| is_address(name));
    let several = configured.flat_map(|(_, value)| value.split([' ', ',', '|']));
    names.extend(several.filter_map(server_of));
    names.extend(remotes.iter().filter_map(|remote| server_of(remote)));
    names.into_iter().collect()
}

/// The server of a URL, or of the short form of a git remote.
fn server_of(address: &str) -> Option<NetworkName> {
    // A registry of cargo or an index of uv has a word in front.
    let address = address.rsplit_once("+http").map_or_else(
        || address.split_once("=http").map_or(address.to_owned(), |(_, url)| format!("http{url}")),
        |(_, url)| format!("http{url}"),
    );
    let (port, place) = match address.split_once("://") {
        Some(("https", rest)) => (443, rest),
        Some(("http", rest)) => (80, rest),
        Some(("ssh", rest)) => (22, rest),
        Some(_) => return None,
        None => {
            let (host, _) = address.split_once(':').filter(|(host, _)| !host.contains('/'))?;
            (22, host)
        }
    };
    let place = place.split(['/', '?', '#']).next()?;
    let place = place.rsplit_once('@').map_or(place, |(_, place)| place);
    let (host, port) = match place.rsplit_once(':') {
        Some((host, number)) if !number.ends_with(']') => (host, number.parse().ok()?),
        Some(_) | None => (place, port),
    };
    let host = host_name(host)?;
    Some(if is_loopback_name(&host) { NetworkName::Port(port) } else { NetworkName::Host(host) })
}

/// Replaces `@provider` and `@registries` by their names.
pub fn expanded(
    network: &Network,
    provider: &[NetworkName],
    registries: &[NetworkName],
) -> Network {
    let Network::Names(names) = network else { return network.clone() };
    let mut all: Vec<NetworkName> = Vec::new();
    for name in names {
        match name {
            NetworkName::Provider => all.extend(provider.iter().cloned()),
            NetworkName::Registries => all.extend(registries.iter().cloned()),
            other => all.push(other.clone()),
        }
    }
    all.sort();
    all.dedup();
    Network::Names(all)
}

/// The variables by which programs find the proxy. Each is read by the programs behind it.
///
/// `ALL_PROXY` names HTTP, too: Python's HTTP libraries refuse to start with a SOCKS proxy unless a
/// further package is installed.
pub fn proxy_variables() -> Vec<(&'static str, String)> {
    let (host, port) = Network::PROXY;
    let proxy = format!("http://{host}:{port}");
    // Servers of this machine have ports of their own inside.
    let local = "localhost,127.0.0.1,::1".to_owned();
    let mut variables: Vec<(&str, String)> = [
        // curl, git, wget, pip, cargo, npm and most others.
        "http_proxy",
        "https_proxy",
        "all_proxy",
        // Go, .NET, Claude Code and what reads capitals only.
        "HTTP_PROXY",
        "HTTPS_PROXY",
        "ALL_PROXY",
    ]
    .map(|name| (name, proxy.clone()))
    .into();
    variables.extend(["no_proxy", "NO_PROXY"].map(|name| (name, local.clone())));
    // `fetch` and `http` of Node 22.21, 24 and newer.
    variables.push(("NODE_USE_ENV_PROXY", "1".to_owned()));
    // Every Java virtual machine; it says so on standard error.
    let java = ["http", "https"]
        .map(|scheme| format!("-D{scheme}.proxyHost={host} -D{scheme}.proxyPort={port}"));
    let direct = "-Dhttp.nonProxyHosts=localhost|127.*|[::1]";
    variables.push(("JAVA_TOOL_OPTIONS", format!("{} {direct}", java.join(" "))));
    variables
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(names: &[NetworkName]) -> Vec<String> {
        names.iter().map(ToString::to_string).collect()
    }

    #[test]
    fn every_row_of_the_tables_is_a_name() {
        for server in REGISTRIES {
            assert!(server.parse::<NetworkName>().is_ok(), "{server}");
        }
        for row in PROVIDERS {
            for server in row.servers {
                let server = filled(server, |_| Some("x1")).unwrap();
                assert!(server.parse::<NetworkName>().is_ok(), "{}: {server}", row.client);
            }
        }
    }

    #[test]
    fn a_provider_is_where_the_clients_variable_says() {
        let none = |_: &str| None;
        let claude = texts(&provider_names(Some("claude"), none));
        assert!(claude.contains(&"api.anthropic.com".to_owned()), "{claude:?}");
        assert!(!claude.iter().any(|name| name.contains("amazonaws")), "{claude:?}");
        let region = |name: &str| (name == "AWS_REGION").then_some("eu-west-1");
        let bedrock = texts(&provider_names(Some("claude"), region));
        assert!(bedrock.contains(&"bedrock-runtime.eu-west-1.amazonaws.com".to_owned()));
        let base =
            |name: &str| (name == "ANTHROPIC_BASE_URL").then_some("http://127.0.0.1:8080/v1");
        assert_eq!(texts(&provider_names(Some("claude"), base)), ["localhost:8080"]);
        let base = |name: &str| (name == "OPENAI_BASE_URL").then_some("https://u:p@Llm.Example/v1");
        assert_eq!(texts(&provider_names(Some("codex"), base)), ["llm.example"]);
        let unknown = texts(&provider_names(Some("mine"), none));
        assert!(unknown.contains(&"api.anthropic.com".to_owned()));
        assert!(unknown.contains(&"chatgpt.com".to_owned()));
        assert_eq!(unknown, texts(&provider_names(None, none)));
    }

    #[test]
    fn registries_are_known_configured_and_the_remotes_of_the_checkout() {
        let variables = [
            ("PIP_INDEX_URL", "https://user:key@pip.example:8443/simple"),
            ("GOPROXY", "https://go.example,direct"),
            ("CARGO_REGISTRIES_MINE_INDEX", "sparse+https://cargo.example/index/"),
            ("UV_INDEX", "mine=https://uv.example/simple"),
            ("npm_config_registry", "http://localhost:4873"),
            ("OTHER_URL", "https://other.example"),
        ];
        let remotes = ["git@git.example:a/b.git", "https://code.example/a", "/srv/a.git", "../b"];
        let names = registry_names(variables.into_iter(), &remotes.map(str::to_owned));
        let names = texts(&names);
        for name in [
            "crates.io",
            "pip.example",
            "go.example",
            "cargo.example",
            "uv.example",
            "localhost:4873",
            "git.example",
            "code.example",
        ] {
            assert!(names.contains(&name.to_owned()), "{name}: {names:?}");
        }
        assert_eq!(names.len(), REGISTRIES.len() + 7, "{names:?}");
    }

    #[test]
    fn groups_are_replaced_by_their_names() {
        let asked: Network = "@provider,a.example,@localhost".parse().unwrap();
        let provider = ["p.example".parse().unwrap()];
        let network = expanded(&asked, &provider, &[]);
        assert_eq!(network.to_string(), "@localhost,a.example,p.example");
        assert_eq!(expanded(&Network::All, &provider, &[]), Network::All);
    }
}
