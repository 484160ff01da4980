/**
 * What git may read and start.
 *
 * Generated from `native/src/host/git/settings.rs` by `cargo xtask generate`; do not edit.
 */

export const HARDENED_CONFIG: readonly string[] = [
  "core.fsmonitor=false",
  "submodule.recurse=false",
  "gc.auto=0",
  "maintenance.auto=false",
  "advice.detachedHead=false",
];

export const ISOLATED_CONFIG: readonly string[] = [
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

export const INHERITED_VARIABLES: readonly string[] = [
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

export const INHERITED_PREFIXES: readonly string[] = [
  "GIT_CONFIG_KEY_",
  "GIT_CONFIG_VALUE_",
];

export const NO_HOOKS = "core.hooksPath=/dev/null";

export const ENVIRONMENT: Readonly<Record<string, string>> = {
  LC_ALL: "C",
  GIT_TERMINAL_PROMPT: "0",
  GIT_OPTIONAL_LOCKS: "0",
  GIT_LITERAL_PATHSPECS: "1",
  GIT_NO_REPLACE_OBJECTS: "1",
  GIT_GRAFT_FILE: "/dev/null/none",
};

/** Names of settings that name programs, by section. */
export const PROGRAM_SETTINGS: Readonly<Record<string, readonly string[]>> = {
  filter: ["clean", "smudge", "process"],
  merge: ["driver"],
  gpg: ["program", "defaultkeycommand"],
  core: ["sshcommand", "gitproxy", "askpass"],
  credential: ["helper"],
  remote: ["uploadpack", "receivepack", "vcs"],
  protocol: ["allow"],
};

export const QUESTION_TIMEOUT_MS = 300000;
export const ACT_TIMEOUT_MS = 1800000;
export const CHECKPOINT_TIMEOUT_MS = 300000;
export const ANSWER_BYTES = 268435456;
