//! What git may read and start, as data.

/// Settings that turn off what git starts or changes by itself.
///
/// Filters and credential helpers stay on: a checkout without filters contains the wrong bytes, and a
/// partial clone may have to fetch.
pub(crate) const HARDENED_CONFIG: &[&str] = &[
    // The file system monitor is a program.
    "core.fsmonitor=false",
    "submodule.recurse=false",
    "gc.auto=0",
    "maintenance.auto=false",
    "advice.detachedHead=false",
];

/// Turns hooks off: the path is not a folder.
pub(crate) const NO_HOOKS: &str = "core.hooksPath=/dev/null";

/// Settings for an index of our own. The result does not depend on the repository's configuration, and git
/// trusts an index entry only while size and all times are the same.
pub(crate) const ISOLATED_CONFIG: &[&str] = &[
    "core.splitIndex=false",
    "core.untrackedCache=false",
    "core.trustctime=true",
    "core.checkStat=default",
    "core.ignoreStat=false",
    "core.safecrlf=false",
    "core.logAllRefUpdates=false",
    "index.sparse=false",
    "index.skipHash=true",
    "i18n.commitEncoding=UTF-8",
];

/// Environment of every git command. A read must not refresh the index, because that changes a file.
/// Replacements and grafts are ignored: an agent that writes to the repository could use them to show
/// other content and other parents.
pub(crate) const ENVIRONMENT: &[(&str, &str)] = &[
    ("LC_ALL", "C"),
    ("GIT_TERMINAL_PROMPT", "0"),
    ("GIT_OPTIONAL_LOCKS", "0"),
    ("GIT_LITERAL_PATHSPECS", "1"),
    ("GIT_NO_REPLACE_OBJECTS", "1"),
    ("GIT_GRAFT_FILE", "/dev/null/none"),
];

/// `GIT_` variables that git inherits: the user's identity, access to servers, where repositories are
/// searched, and configuration that the user adds.
///
/// Every other `GIT_` variable is removed, because it can name another repository or index.
pub(crate) const INHERITED_VARIABLES: &[&str] = &[
    "GIT_ALLOW_PROTOCOL",
    "GIT_ASKPASS",
    "GIT_ATTR_NOSYSTEM",
    "GIT_AUTHOR_EMAIL",
    "GIT_AUTHOR_NAME",
    "GIT_CEILING_DIRECTORIES",
    "GIT_COMMITTER_EMAIL",
    "GIT_COMMITTER_NAME",
    "GIT_CONFIG_COUNT",
    "GIT_CONFIG_GLOBAL",
    "GIT_CONFIG_NOSYSTEM",
    "GIT_CONFIG_SYSTEM",
    "GIT_DISCOVERY_ACROSS_FILESYSTEM",
    "GIT_EXEC_PATH",
    "GIT_HTTP_LOW_SPEED_LIMIT",
    "GIT_HTTP_LOW_SPEED_TIME",
    "GIT_HTTP_PROXY_AUTHMETHOD",
    "GIT_HTTP_USER_AGENT",
    "GIT_LFS_SKIP_SMUDGE",
    "GIT_PROTOCOL_FROM_USER",
    "GIT_PROXY_COMMAND",
    "GIT_PROXY_SSL_CAINFO",
    "GIT_PROXY_SSL_CERT",
    "GIT_PROXY_SSL_CERT_PASSWORD_PROTECTED",
    "GIT_PROXY_SSL_KEY",
    "GIT_SSH",
    "GIT_SSH_COMMAND",
    "GIT_SSH_VARIANT",
    "GIT_SSL_CAINFO",
    "GIT_SSL_CAPATH",
    "GIT_SSL_CERT",
    "GIT_SSL_CERT_PASSWORD_PROTECTED",
    "GIT_SSL_CIPHER_LIST",
    "GIT_SSL_KEY",
    "GIT_SSL_NO_VERIFY",
    "GIT_SSL_VERSION",
];

/// Prefixes of inherited variables that are numbered; `GIT_CONFIG_COUNT` says how many there are.
pub(crate) const INHERITED_PREFIXES: &[&str] = &["GIT_CONFIG_KEY_", "GIT_CONFIG_VALUE_"];

/// Settings, as sections and names, whose value is a program that git starts for one of our commands.
///
/// Programs that [`HARDENED_CONFIG`] and the options of our commands turn off are left out: hooks, the file
/// system monitor, and everything that shows differences.
pub(crate) const PROGRAM_SETTINGS: &[(&str, &[&str])] = &[
    ("filter", &["clean", "smudge", "process"]),
    ("merge", &["driver"]),
    ("gpg", &["program", "defaultkeycommand"]),
    ("core", &["sshcommand", "gitproxy", "askpass"]),
    ("credential", &["helper"]),
    ("remote", &["uploadpack", "receivepack", "vcs"]),
    ("protocol", &["allow"]),
];
