//! Which files hold secrets, by their names. Everything here is lower case.

use onloop_syntax::text::HOME_SECRETS;

/// File names that hold secrets wherever they are. Sources of those that are not the manual of a program
/// of the name: Sentry CLI 2 (`.sentryclirc`), clasp 3 (`.clasprc.json`), the packages of MariaDB in
/// Debian 13 (`debian.cnf`), Firebase Admin SDK 13 (`serviceAccountKey.json`).
const NAMES: &[&str] = &[
    ".sentryclirc",
    ".clasprc.json",
    "debian.cnf",
    "msmtprc",
    "serviceaccountkey.json",
    "service_account_key.json",
    "service_account.json",
    "serviceaccount.json",
    "admin.conf",
    "super-admin.conf",
    "kubelet.conf",
    "bootstrap-kubelet.conf",
    "k3s.yaml",
    "rke2.yaml",
    "kube_config_cluster.yml",
    "talosconfig",
    "credentials.csv",
    "credentials.db",
    "accesstokens.json",
    "access_tokens.db",
    "msal_token_cache.json",
    "azureprofile.json",
    "client_secrets.json",
    "oauth.json",
    "oauth_creds.json",
    "google_accounts.json",
    "local.settings.json",
    "credentials.yml.enc",
    ".terraformrc",
    "terraform.rc",
    ".dockercfg.json",
    ".cargo-credentials",
    ".gem-credentials",
    ".mylogin.cnf",
    ".psql_history",
    ".mysql_history",
    ".node_repl_history",
    ".irb_history",
    ".sqlite_history",
    ".lesshst",
    ".authinfo",
    ".authinfo.gpg",
    ".smbcredentials",
    ".claude.json",
    "secrets.env",
    "secrets.tfvars",
    "vault-password",
    ".vault_pass",
    ".vault_pass.txt",
    "vault_pass.txt",
    "opasswd",
    ".secrets.toml",
    ".secrets.yaml",
    ".secrets.yml",
    ".secrets.json",
    ".secrets",
    ".dev.vars",
    ".databrickscfg",
    ".snowsql",
    ".wgetrc",
    ".msmtprc",
    ".mbsyncrc",
    ".bunfig.toml",
    ".zhistory",
    ".mycli-history",
    "user-data.txt",
    ".netrc",
    "_netrc",
    ".pgpass",
    ".my.cnf",
    ".pypirc",
    ".git-credentials",
    ".htpasswd",
    ".vault-token",
    ".s3cfg",
    ".boto",
    ".envrc",
    "credentials",
    "credentials.json",
    ".credentials.json",
    "credentials.toml",
    "credentials.yml",
    "credentials.yaml",
    "credentials.xml",
    "client_secret.json",
    "secrets.json",
    "secrets.yml",
    "secrets.yaml",
    "secrets.toml",
    "secret.json",
    "secret.yml",
    "secret.yaml",
    "auth.json",
    "token.json",
    "kubeconfig",
    ".dockercfg",
    ".dockerconfigjson",
    "shadow",
    "gshadow",
    "sudoers",
    "master.passwd",
    "krb5.keytab",
    "master.key",
    "terraform.tfstate",
    "application_default_credentials.json",
    ".bash_history",
    ".zsh_history",
    ".python_history",
    ".agentize.local.yaml",
];

/// Endings of names of key material and of files of variables.
const ENDINGS: [&str; 22] = [
    ".env",
    ".pem",
    ".key",
    ".p12",
    ".p8",
    ".pfx",
    ".jks",
    ".keystore",
    ".kdbx",
    ".ppk",
    ".ovpn",
    ".tfstate",
    ".tfstate.backup",
    ".tfvars",
    ".tfvars.json",
    ".kubeconfig",
    ".mobileprovision",
    ".keytab",
    ".jceks",
    ".bks",
    ".agekey",
    ".asc.key",
];

/// Beginnings of names of key material, public halves excepted.
const KEY_PAIRS: [&str; 4] = ["id_rsa", "id_dsa", "id_ecdsa", "id_ed25519"];

/// Beginnings and endings of other names: of Kerberos caches, and of keys for accounts of services.
const AROUND: [(&str, &str); 4] =
    [("krb5cc", ""), ("krb5.keytab", ""), ("service-account", ".json"), ("", ".ccache")];

/// Sources: apt_auth.conf(5), krb5.conf(5), systemd.exec(5) of systemd 257 (`/run/credentials`), passwd(5) and
/// GitLab Runner 17. Folders in which everything is secret, beside [`HOME_SECRETS`]: one component, or a path.
const FOLDERS: &[&str] = &[
    "etc/kubernetes",
    "etc/rancher",
    "var/lib/rancher",
    "var/lib/kubelet",
    "var/run/secrets",
    "etc/shadow-",
    "etc/gshadow-",
    "etc/krb5.keytab",
    "etc/letsencrypt",
    "etc/wireguard",
    "etc/openvpn",
    "etc/docker/key.json",
    "etc/passwd",
    "etc/passwd-",
    "etc/apt/auth.conf",
    "etc/apt/auth.conf.d",
    "etc/gitlab-runner",
    "etc/krb5kdc",
    "run/credentials",
    "etc/networkmanager/system-connections",
    "etc/netplan",
    "etc/wpa_supplicant",
    "etc/ppp",
    "etc/ipsec.secrets",
    "etc/samba/smbpasswd",
    "var/lib/cloud",
    "var/lib/networkmanager",
    "library/keychains",
    "etc/ssl/private",
    "etc/sudoers.d",
    "run/secrets",
    ".tmp/telegram",
    "huggingface/token",
    "huggingface/stored_tokens",
];

/// Endings that make an environment file a template without values.
const TEMPLATES: [&str; 4] = [".example", ".sample", ".template", ".dist"];

/// Whether a name is that of a template: `.env.example`, `.env.production.example`.
fn is_template(name: &str) -> bool {
    let is_plain = |label: &str| {
        let label = label.strip_prefix('.').unwrap_or_default();
        !label.is_empty() && label.bytes().all(|b| b.is_ascii_alphanumeric() || b"_-".contains(&b))
    };
    let kind = name.strip_prefix(".env").unwrap_or_default();
    let label = TEMPLATES.iter().find_map(|end| kind.strip_suffix(end));
    kind == ".defaults" || label.is_some_and(|label| label.is_empty() || is_plain(label))
}

/// Entries below `/proc/<pid>` that show a process's memory, environment or files.
const PROCESS_ENTRIES: [&str; 12] = [
    "environ",
    "mem",
    "maps",
    "map_files",
    "fd",
    "fdinfo",
    "root",
    "cwd",
    "exe",
    "auxv",
    "cmdline",
    "task",
];

/// Whether the name of an absolute, normal, lower-case path says that it is a secret.
pub(super) fn is_secret(lower: &str) -> bool {
    let name = lower.rsplit('/').next().unwrap_or(lower);
    is_secret_name(name)
        || super::has_entry(lower, FOLDERS)
        || (super::has_entry(lower, &SECRET_FOLDERS) && !is_compiled(name))
        || (super::has_entry(lower, &["licenses"]) && !is_license_text(name))
        || super::has_entry(lower, HOME_SECRETS)
        || is_process_secret(lower)
        || (name == ".npmrc" && (lower.starts_with('~') || lower.matches('/').count() <= 3))
        || (lower.starts_with("/etc/ssh/")
            && name.starts_with("ssh_host")
            && !name.ends_with(".pub"))
        || matches!(lower, "/proc" | "/proc/kcore")
}

fn is_secret_name(name: &str) -> bool {
    let copied = name.trim_end_matches('~');
    let copied = [".bak", ".old", ".orig", ".save", ".swp", ".backup"]
        .iter()
        .find_map(|end| copied.strip_suffix(end))
        .unwrap_or(copied);
    if copied != name && copied.len() > 1 && is_secret_name(copied) {
        return true;
    }
    // `.env1` and `.env~` are ones, `.environment` is not.
    let variant = name
        .strip_prefix(".env")
        .and_then(|rest| rest.chars().next())
        .is_some_and(|next| !next.is_alphabetic());
    let environment = name == ".env"
        || name == ".envs"
        || (variant && !is_template(name) && !name.ends_with(".d.ts"));
    let key = KEY_PAIRS.iter().any(|pair| name.starts_with(pair)) && !name.ends_with(".pub");
    let is_around = |(begin, end): &(&str, &str)| name.starts_with(begin) && name.ends_with(end);
    // The console of Firebase names a key `PROJECT-firebase-adminsdk-ID.json`.
    let service = AROUND.iter().any(is_around)
        || name.contains("-firebase-adminsdk-") && name.ends_with(".json");
    environment
        || key
        || service
        || NAMES.contains(&name)
        || (ENDINGS.iter().any(|ending| name.len() > ending.len() && name.ends_with(ending)))
}

/// Names of folders in which everything but source code is secret.
const SECRET_FOLDERS: [&str; 2] = ["secret", "secrets"];

/// Whether a file is source code of a language that is compiled: a module that handles secrets.
fn is_compiled(name: &str) -> bool {
    const ENDINGS: [&str; 9] =
        [".rs", ".go", ".java", ".kt", ".swift", ".scala", ".cs", ".hs", ".zig"];
    ENDINGS.iter().any(|ending| name.ends_with(ending))
}

/// Whether a file has the name of a license text. The folder may hold keys of licenses, too.
///
/// Source: the identifiers of the SPDX License List, by which REUSE 3 names the files.
fn is_license_text(name: &str) -> bool {
    const TEXTS: [&str; 18] = [
        "0bsd",
        "agpl-",
        "apache-",
        "bsd-",
        "bsl-",
        "cc-",
        "cc0-",
        "epl-",
        "eupl-",
        "gpl-",
        "isc",
        "lgpl-",
        "mit",
        "mpl-",
        "ofl-",
        "unicode-",
        "unlicense",
        "zlib",
    ];
    let stem = name.strip_suffix(".txt").or_else(|| name.strip_suffix(".md"));
    let is_plain =
        |stem: &str| stem.bytes().all(|b| b.is_ascii_alphanumeric() || b"-.".contains(&b));
    let is_known = |stem: &str| {
        TEXTS
            .iter()
            .any(|text| if text.ends_with('-') { stem.starts_with(text) } else { stem == *text })
    };
    stem.is_some_and(|stem| is_plain(stem) && is_known(stem))
}

fn is_process_secret(lower: &str) -> bool {
    let Some(rest) = lower.strip_prefix("/proc/") else {
        return false;
    };
    let mut parts = rest.split('/');
    let process = parts.next().unwrap_or_default();
    let is_process = process == "self"
        || process == "thread-self"
        || process.bytes().all(|b| b.is_ascii_digit())
        || process.contains(['*', '?', '[']);
    // A search of the folder reads what is in it.
    let is_folder = rest.find('/').is_none_or(|slash| slash + 1 == rest.len());
    let hits = |part: &str, entry: &str| matches(part, entry, Dots::Written);
    let holds = |part: &str| PROCESS_ENTRIES.iter().any(|entry| hits(part, entry));
    is_process && (is_folder || parts.any(holds))
}

/// Sample names: a pattern that matches one of them may match a secret.
const SAMPLES: [&str; 15] = [
    ".env",
    ".env.local",
    ".env.production",
    "prod.env",
    "id_rsa",
    "id_ed25519",
    ".netrc",
    ".git-credentials",
    "server.pem",
    "server.key",
    "environ",
    ".ssh",
    ".aws",
    ".credentials.json",
    ".agentize.local.yaml",
];

/// More samples, for patterns that do not begin with a star: `*.json` is meant for the
/// project's files.
const PLAIN_SAMPLES: [&str; 6] =
    ["credentials", "credentials.json", "secrets.yaml", "secrets.json", "auth.json", "shadow"];

/// Whether a file name pattern matches a secret's name. A part without any letter (`*`,
/// `*.*`) is an ordinary folder listing and matches nothing here.
pub(super) fn pattern_hits_secret(pattern: &str) -> bool {
    // Any folder may turn out to be the one of a process.
    if is_secret(pattern) || pattern.split('/').any(|part| part == "environ") {
        return true;
    }
    let names_secret = |(part, is_last): (&str, bool)| {
        let telling = part.starts_with('.') || part.bytes().any(|b| b.is_ascii_alphabetic());
        let wild = part.contains(['*', '?', '[']);
        let hits =
            |samples: &[&str]| samples.iter().any(|sample| matches(part, sample, Dots::Written));
        let is_folder = !is_last && (hits(FOLDERS) || hits(&SECRET_FOLDERS));
        let names_one =
            names_hidden_or_one(part) && (hits(NAMES) || hits(HOME_SECRETS) || is_folder);
        let plain = !part.starts_with('*') && hits(&PLAIN_SAMPLES);
        telling && wild && (hits(&SAMPLES) || plain || names_one || ending_hits_secret(part))
    };
    parts(pattern).is_none_or(|parts| parts.into_iter().any(names_secret))
}

/// Whether a pattern is meant for hidden files, or for one name of which some characters are left out.
fn names_hidden_or_one(part: &str) -> bool {
    part.starts_with('.') || !part.contains('*')
}

/// Whether a pattern whose stars match leading dots is meant for secrets. `*.json` is meant for
/// others.
pub(super) fn glob_hits_secret(pattern: &str) -> bool {
    let document = |sample: &str| sample.ends_with(".json") || sample.ends_with(".yaml");
    let names_secret = |(last, is_last): (&str, bool)| {
        let hits = |sample: &&str| {
            let broad = last.starts_with('*') && document(sample);
            !broad && matches(last, sample, Dots::Matched)
        };
        let names_dot =
            last.starts_with(['.', '[']) && last.contains('.') && last.contains(['*', '?']);
        let telling = names_dot || last.bytes().any(|b| b.is_ascii_alphabetic());
        let one = |is_it: &dyn Fn(&&str) -> bool| NAMES.iter().chain(HOME_SECRETS).any(is_it);
        // The star in front may be the dot of a name and no more.
        let dotted = last.strip_prefix('*').filter(|rest| names_hidden_or_one(rest));
        let is_dotted = |sample: &&str| {
            let rest = sample.strip_prefix('.').zip(dotted);
            rest.is_some_and(|(name, pattern)| matches(pattern, name, Dots::Matched))
        };
        let names_one = || names_hidden_or_one(last) && one(&hits) || one(&is_dotted);
        let is_sample =
            || telling && (SAMPLES.iter().chain(&PLAIN_SAMPLES).any(hits) || names_one());
        is_last && (ending_hits_secret(last) || is_sample())
    };
    !pattern.starts_with('!')
        && (is_secret(pattern)
            || parts(pattern).is_none_or(|parts| parts.into_iter().any(names_secret)))
}

/// Most ways to divide a pattern into names.
const MOST_PARTS: usize = 256;

/// The names in a pattern of paths, each with whether it is the last. For some programs a slash in a bracket
/// is one of its characters, and for others it divides names. `None`: there are too many ways.
fn parts(pattern: &str) -> Option<Vec<(&str, bool)>> {
    let slashes = || pattern.match_indices('/').map(|(at, _)| at);
    let mut parts = Vec::new();
    for start in std::iter::once(0).chain(slashes().map(|at| at + 1)) {
        for end in slashes().filter(|end| *end >= start).chain([pattern.len()]) {
            let part = &pattern[start..end];
            parts.push((part, end == pattern.len()));
            if parts.len() > MOST_PARTS {
                return None;
            }
            if !may_be_in_bracket(part.as_bytes()) {
                break;
            }
        }
    }
    Some(parts)
}

/// Whether what follows `pattern` may be in a bracket that begins in it.
fn may_be_in_bracket(mut pattern: &[u8]) -> bool {
    while let Some(at) = pattern.iter().position(|b| *b == b'[') {
        match plain_end(&pattern[at..]) {
            Some(length) => pattern = &pattern[at + length..],
            None => return true,
        }
    }
    false
}

/// Whether the ending of a pattern for names, of which some characters are there, may be one of key material.
fn ending_hits_secret(pattern: &str) -> bool {
    let pattern = pattern.as_bytes();
    let Some(last_letter) = pattern.iter().rposition(u8::is_ascii_alphabetic) else {
        return false;
    };
    let last_star = pattern.iter().rposition(|b| *b == b'*');
    let is_uncertain = may_be_in_bracket(pattern);
    // The places behind what may stand for the dot.
    let mut reached = vec![false; pattern.len() + 1];
    let mut open = 0;
    for (at, byte) in pattern[..last_letter].iter().enumerate() {
        reached[at + 1] = match byte {
            b'.' => true,
            // In front of the dot stands a name.
            b'?' => at > 0,
            b'*' => last_star == Some(at),
            b']' => is_uncertain || open > 1 && may_match_dot(&pattern[open..at]),
            _ => false,
        };
        if *byte == b'[' {
            open = at + 1;
        }
    }
    ENDINGS.iter().any(|ending| reaches_end(pattern, reached.clone(), &ending[1..]))
}

/// Whether a bracket with these characters may match a dot: they are more than letters, digits and ranges
/// of them.
fn may_match_dot(bracket: &[u8]) -> bool {
    let is_plain = |b: &u8| b.is_ascii_alphanumeric() || *b == b'-';
    !bracket.iter().all(is_plain) || bracket.windows(2).any(|two| two == b"--")
}

/// Whether a part of a word is the name or pattern of a secret.
pub(super) fn is_mentioned(part: &str) -> bool {
    let name = part.rsplit('/').next().unwrap_or(part);
    is_secret_name(name) || pattern_hits_secret(part) || (part.contains('/') && is_secret(part))
}

/// Whether a name that `find` is asked for can be a secret's; there a star matches a leading
/// dot.
pub(super) fn sought_name_hits_secret(name: &str) -> bool {
    let mut samples = SAMPLES.iter().chain(&PLAIN_SAMPLES);
    is_secret(name)
        || ending_hits_secret(name)
        || samples.any(|sample| matches(name, sample, Dots::Matched))
}

/// What it takes to match a leading dot.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Dots {
    /// A dot in the pattern.
    Written,
    /// Anything that matches other characters.
    Matched,
}

/// Shell pattern matching where a bracket matches any one character. Where a bracket ends differs between
/// programs if there is another in it (`[[:alpha:]]`), if it begins with its end (`[]a]`) or if a backslash is
/// in it; then it may end at each `]`.
pub(super) fn matches(pattern: &str, name: &str, dots: Dots) -> bool {
    if dots == Dots::Written && name.starts_with('.') && !pattern.starts_with(['.', '[', '\\']) {
        return false;
    }
    let mut reached = vec![false; pattern.len() + 1];
    reached[0] = true;
    reaches_end(pattern.as_bytes(), reached, name)
}

/// Whether the end of `pattern` matches `name`, from one of the places in it that are `reached`.
fn reaches_end(pattern: &[u8], mut reached: Vec<bool>, name: &str) -> bool {
    for byte in name.as_bytes().iter().map(Some).chain([None]) {
        let mut next = vec![false; pattern.len() + 1];
        let mut open = None;
        for at in 0..pattern.len() {
            if pattern[at] == b']' && open.is_some_and(|open| at > open + 1) {
                next[at + 1] = true;
            }
            if !reached[at] {
                continue;
            }
            match pattern[at] {
                b'*' => (reached[at + 1], next[at]) = (true, true),
                b'?' => next[at + 1] = true,
                b'[' => match plain_end(&pattern[at..]) {
                    Some(end) => next[at + end] = true,
                    None => open = open.or(Some(at)),
                },
                b'\\' if byte.is_some() && pattern.get(at + 1) == byte => next[at + 2] = true,
                _ => {}
            }
            if byte == Some(&pattern[at]) {
                next[at + 1] = true;
            }
        }
        if byte.is_some() {
            reached = next;
        }
    }
    reached[pattern.len()]
}

/// The length of the bracket at the beginning of `pattern`, if every program sees the same end.
fn plain_end(pattern: &[u8]) -> Option<usize> {
    let inner = &pattern[1..];
    let negated = usize::from(matches!(inner.first(), Some(b'!' | b'^')));
    let length = inner[negated..].iter().position(|b| matches!(b, b'[' | b']' | b'\\'))?;
    let end = negated + length;
    (length > 0 && inner[end] == b']').then_some(end + 2)
}
