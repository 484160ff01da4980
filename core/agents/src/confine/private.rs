//! What nothing confined may read, by its place, and what would lead it out.

use onloop_syntax::text::HOME_SECRETS;

/// Below every home folder, beside [`HOME_SECRETS`]: keys, tokens, credentials, what
/// browsers and shells remember.
const OF_HOME: &[&str] = &[
    ".config/1Password",
    ".config/Bitwarden",
    ".config/helm",
    ".config/agentize",
    ".config/BraveSoftware",
    ".docker",
    ".dockercfg",
    ".heroku",
    ".terraformrc",
    ".vault-token",
    ".pki",
    ".netrc",
    "_netrc",
    ".pgpass",
    ".my.cnf",
    ".mylogin.cnf",
    ".pypirc",
    ".npmrc",
    ".yarnrc.yml",
    ".git-credentials",
    ".s3cfg",
    ".boto",
    ".cargo/credentials.toml",
    ".composer/auth.json",
    ".config/composer/auth.json",
    ".m2/settings-security.xml",
    ".sbt/.credentials",
    ".ivy2/.credentials",
    ".nuget/NuGet/NuGet.Config",
    ".bash_history",
    ".zsh_history",
    ".python_history",
    ".node_repl_history",
    ".psql_history",
    ".mysql_history",
    ".local/share/fish/fish_history",
    ".Xauthority",
    ".ICEauthority",
    ".claude/.credentials.json",
    ".claude.json",
    ".gemini/oauth_creds.json",
    ".agentize.local.yaml",
    "Library/Keychains",
    "Library/Cookies",
    "Library/Application Support/Google",
    "Library/Application Support/Firefox",
    "snap",
    ".var/app",
];

/// Of the machine.
const OF_MACHINE: &[&str] = &[
    "/etc/shadow",
    "/etc/shadow-",
    "/etc/gshadow",
    "/etc/gshadow-",
    "/etc/sudoers",
    "/etc/sudoers.d",
    "/etc/ssl/private",
    "/etc/krb5.keytab",
    "/etc/kubernetes",
    "/etc/rancher",
    "/etc/wireguard",
    "/etc/NetworkManager/system-connections",
    "/etc/ssh/ssh_host_rsa_key",
    "/etc/ssh/ssh_host_ecdsa_key",
    "/etc/ssh/ssh_host_ed25519_key",
    "/var/lib/docker",
    "/var/lib/containerd",
    "/var/lib/kubelet",
    "/var/lib/rancher",
    "/var/lib/incus",
    "/var/snap/lxd",
    "/var/spool/cron",
];

/// Environment variables that name agents, buses, daemons and terminals.
pub const VARIABLES: &[&str] = &[
    "SSH_AUTH_SOCK",
    "SSH_AGENT_PID",
    "SSH_ASKPASS",
    "SUDO_ASKPASS",
    "GIT_ASKPASS",
    "GPG_AGENT_INFO",
    "GPG_TTY",
    "GNOME_KEYRING_CONTROL",
    "GNOME_KEYRING_PID",
    "DBUS_SESSION_BUS_ADDRESS",
    "DBUS_SYSTEM_BUS_ADDRESS",
    "DBUS_STARTER_ADDRESS",
    "XDG_RUNTIME_DIR",
    "DISPLAY",
    "WAYLAND_DISPLAY",
    "WAYLAND_SOCKET",
    "XAUTHORITY",
    "SESSION_MANAGER",
    "PULSE_SERVER",
    "PIPEWIRE_REMOTE",
    "DOCKER_HOST",
    "CONTAINER_HOST",
    "BUILDKIT_HOST",
    "NOTIFY_SOCKET",
    "LISTEN_FDS",
    "LISTEN_PID",
    "LISTEN_FDNAMES",
    "CREDENTIALS_DIRECTORY",
    "TMUX",
    "STY",
    "KITTY_LISTEN_ON",
    "ALACRITTY_SOCKET",
    "WEZTERM_UNIX_SOCKET",
    "NVIM",
    "VSCODE_IPC_HOOK_CLI",
    "VSCODE_GIT_IPC_HANDLE",
    "VSCODE_GIT_ASKPASS_NODE",
    "VSCODE_GIT_ASKPASS_MAIN",
];

/// Everything private of these homes, of the machine, and of onloop itself. Homes are hidden as a whole;
/// these paths stay hidden in folders of them that are seen, and no program is confined to them.
pub fn private_paths(homes: &[String], state_home: Option<&str>) -> Vec<String> {
    let below = |home: &String| {
        let home = home.trim_end_matches('/').to_owned();
        HOME_SECRETS.iter().chain(OF_HOME).map(move |name| format!("{home}/{name}"))
    };
    let mut paths: Vec<String> = homes.iter().flat_map(below).collect();
    paths.extend(OF_MACHINE.iter().map(|path| (*path).to_owned()));
    paths.extend(state_home.map(str::to_owned));
    paths
}

/// Whether a file of that name sets variables that are nobody else's business. Templates, which
/// have no values in them, do not.
pub fn is_environment_file(name: &str) -> bool {
    let is_template = |name: &str| {
        let endings = [".example", ".sample", ".template", ".dist", ".defaults"];
        endings.iter().any(|ending| name.ends_with(ending))
    };
    name == ".envrc" || (name == ".env" || name.starts_with(".env.")) && !is_template(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn environment_files_are_known_by_their_names() {
        for name in [".env", ".env.local", ".envrc", ".env.production"] {
            assert!(is_environment_file(name), "{name}");
        }
        for name in [".env.example", "env", ".environment", ".env.local.sample", "x.env"] {
            assert!(!is_environment_file(name), "{name}");
        }
    }
}
