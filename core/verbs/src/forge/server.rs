//! Which program knows a server: by its name, and by what the person has told `gh` and `glab`.
//!
//! Only the environment and the person's own configuration of these programs are asked. What lies in a
//! repository, such as `.git/glab-cli/config.yml`, may be an agent's.

use super::Forge;
use onloop_effect::Io;

/// Largest configuration of `gh` or `glab` that is read.
const CONFIG_BYTES: u64 = 256 * 1024;

impl Forge {
    /// The kind of server that `host` is.
    pub(super) async fn of_host(io: &Io, host: &str) -> Forge {
        let host = host.to_ascii_lowercase();
        if let Some(known) = by_name(&host) {
            return known;
        }
        // A port belongs to the name for some programs and to the address for others.
        let name = host.split(':').next().unwrap_or_default();
        let is_it = |value: &str| [host.as_str(), name].contains(&host_in(value).as_str());
        for (variable, forge) in
            [("GITLAB_HOST", Forge::GitLab), ("GL_HOST", Forge::GitLab), ("GH_HOST", Forge::GitHub)]
        {
            if io.env(variable).is_some_and(is_it) {
                return forge;
            }
        }
        for (forge, section) in [(Forge::GitLab, Some("hosts")), (Forge::GitHub, None)] {
            for path in files(forge, |name| io.env(name)) {
                let Ok((bytes, _)) = io.read(&path, CONFIG_BYTES).await else { continue };
                let known = hosts(&String::from_utf8_lossy(&bytes), section);
                if known.iter().any(|known| is_it(known)) {
                    return forge;
                }
            }
        }
        match host.contains("gitlab") {
            true => Forge::GitLab,
            false => Forge::GitHub,
        }
    }
}

/// The servers whose names say what they are, without a host there is GitHub.
fn by_name(host: &str) -> Option<Forge> {
    match host {
        "" | "github.com" | "ssh.github.com" => Some(Forge::GitHub),
        "gitlab.com" | "altssh.gitlab.com" => Some(Forge::GitLab),
        host if host.ends_with(".ghe.com") => Some(Forge::GitHub),
        _ => None,
    }
}

/// The host of what a variable holds: a name, or an address.
fn host_in(value: &str) -> String {
    let rest = value.trim().split_once("://").map_or(value.trim(), |(_, rest)| rest);
    rest.split('/').next().unwrap_or_default().to_ascii_lowercase()
}

/// Where the program of a server keeps the hosts that it knows, the first ones first.
fn files<'e>(forge: Forge, env: impl Fn(&str) -> Option<&'e str>) -> Vec<String> {
    let env = |name: &str| env(name).filter(|path| !path.is_empty()).map(str::to_owned);
    let home = env("HOME").or_else(|| env("USERPROFILE"));
    let below = |folder: Option<String>, rest: &str| folder.map(|above| format!("{above}/{rest}"));
    let found = match forge {
        Forge::GitHub => vec![
            below(env("GH_CONFIG_DIR"), "hosts.yml"),
            below(env("XDG_CONFIG_HOME"), "gh/hosts.yml"),
            below(env("APPDATA"), "GitHub CLI/hosts.yml"),
            below(home, ".config/gh/hosts.yml"),
        ],
        Forge::GitLab => vec![
            below(env("GLAB_CONFIG_DIR"), "config.yml"),
            below(home.clone(), ".config/glab-cli/config.yml"),
            below(env("XDG_CONFIG_HOME"), "glab-cli/config.yml"),
            below(env("LOCALAPPDATA"), "glab-cli/config.yml"),
            below(home, "Library/Application Support/glab-cli/config.yml"),
            Some("/etc/xdg/glab-cli/config.yml".to_owned()),
        ],
    };
    found.into_iter().flatten().filter(|path| is_absolute(path)).collect()
}

/// On this or on another system.
fn is_absolute(path: &str) -> bool {
    path.starts_with('/') || path.get(1..3).is_some_and(|rest| [":/", ":\\"].contains(&rest))
}

/// The keys of a mapping: of `section`, or of the document. `glab` writes tokens as `!!null TOKEN`, so
/// that readers of YAML refuse its file.
fn hosts(document: &str, section: Option<&str>) -> Vec<String> {
    let mut found = Vec::new();
    // How far the keys are indented; `None`: none has been seen.
    let (mut is_inside, mut indent) = (section.is_none(), None);
    for line in document.lines() {
        let words = line.trim();
        if words.is_empty() || words.starts_with('#') {
            continue;
        }
        let depth = line.len() - line.trim_start().len();
        let Some(key) = key(words) else { continue };
        match section {
            Some(section) if depth == 0 => (is_inside, indent) = (key == section, None),
            _ if is_inside && depth == *indent.get_or_insert(depth) => found.push(key.to_owned()),
            _ => {}
        }
    }
    found
}

/// The key of `key: value`. That of a host may have a port.
fn key(words: &str) -> Option<&str> {
    let end =
        words.find(": ").or_else(|| words.len().checked_sub(1).filter(|_| words.ends_with(':')))?;
    Some(words[..end].trim().trim_matches(['"', '\'']))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hosts_are_read_from_what_the_programs_write() {
        let gh = "github.com:\n    git_protocol: https\n    users:\n        ann:\n    user: ann\n\
                  git.corp.example:\n    oauth_token: secret\n";
        assert_eq!(hosts(gh, None), ["github.com", "git.corp.example"]);
        let glab = "# What protocol to use\ngit_protocol: ssh\nhosts:\n    gitlab.com:\n        \
                    # Your token\n        token:\n        api_host: gitlab.com\n    \
                    code.corp.example:8443:\n        token: !!null glpat-1\n    'b.example':\n        \
                    user: ann\n# End\neditor: vi\nlast_update: {}\n";
        let known = ["gitlab.com", "code.corp.example:8443", "b.example"];
        assert_eq!(hosts(glab, Some("hosts")), known);
        for hostile in ["", "\u{0}", "hosts", "- a\n- b", "hosts: [a, b]", ":"] {
            assert!(hosts(hostile, Some("hosts")).is_empty(), "{hostile:?}");
        }
    }

    #[test]
    fn names_and_variables_say_what_a_server_is() {
        for (host, known) in [
            ("github.com", Some(Forge::GitHub)),
            ("corp.ghe.com", Some(Forge::GitHub)),
            ("gitlab.com", Some(Forge::GitLab)),
            ("gitlab.com.evil.example", None),
            ("git.corp.example", None),
        ] {
            assert_eq!(by_name(host), known, "{host}");
        }
        for value in ["git.corp.example", "https://Git.corp.example/", " git.corp.example "] {
            assert_eq!(host_in(value), "git.corp.example", "{value}");
        }
    }

    #[test]
    fn only_the_persons_own_files_are_read() {
        let env = |name: &str| match name {
            "HOME" => Some("/home/ann"),
            "XDG_CONFIG_HOME" => Some("/c"),
            "GLAB_CONFIG_DIR" => Some("here"),
            _ => None,
        };
        assert_eq!(
            files(Forge::GitHub, env),
            ["/c/gh/hosts.yml", "/home/ann/.config/gh/hosts.yml"]
        );
        assert!(files(Forge::GitLab, env).iter().all(|path| !path.starts_with("here")));
        let nothing = files(Forge::GitHub, |_| None);
        assert!(nothing.is_empty(), "{nothing:?}");
    }
}
