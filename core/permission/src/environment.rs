//! Assignments: which variables are known to change nothing but what a program prints.
//!
//! What another variable does is not known: a sandbox holds it, unless the line also reaches out of the
//! sandbox on purpose, where the variable may choose the destination.

use super::expand::Arg;
use super::judge::{network, tasks};
use super::verdict::{Finding, Rule};

/// Names that change only what a program prints or how much work it does.
const HARMLESS: &[&str] = &[
    "CI",
    "DEBUG",
    "VERBOSE",
    "QUIET",
    "LANG",
    "LANGUAGE",
    "TZ",
    "TERM",
    "COLUMNS",
    "LINES",
    "NO_COLOR",
    "FORCE_COLOR",
    "CLICOLOR",
    "CLICOLOR_FORCE",
    "COLORTERM",
    "RUST_LOG",
    "RUST_BACKTRACE",
    "RUST_TEST_THREADS",
    "CARGO_TERM_COLOR",
    "CARGO_INCREMENTAL",
    "PYTHONUNBUFFERED",
    "PYTHONDONTWRITEBYTECODE",
    "PYTHONIOENCODING",
    "PYTHONUTF8",
    "PYTHONHASHSEED",
    "NODE_ENV",
    "GIT_TERMINAL_PROMPT",
    "GIT_OPTIONAL_LOCKS",
    "MAKE_TERMOUT",
    "SOURCE_DATE_EPOCH",
];

/// Names that switch off the checks which a repository has before a commit or a push. Sources: manuals
/// of pre-commit 4, prek 0.2, husky 9, lefthook 1, overcommit 0.64, simple-git-hooks 2, hk 1, CaptainHook 5.
const SKIPS_HOOKS: &[&str] = &[
    "SKIP",
    "HUSKY",
    "HUSKY_SKIP_HOOKS",
    "HUSKY_SKIP_INSTALL",
    "LEFTHOOK",
    "LEFTHOOK_EXCLUDE",
    "OVERCOMMIT_DISABLE",
    "OVERCOMMIT_SKIP",
    "SKIP_HOOKS",
    "SKIP_GIT_HOOKS",
    "SKIP_SIMPLE_GIT_HOOKS",
    "SKIP_PRE_COMMIT",
    "NO_VERIFY",
    "PRE_COMMIT_ALLOW_NO_CONFIG",
    "HK",
    "HK_SKIP_STEPS",
    "HK_SKIP_HOOK",
    "PREK_SKIP",
    "PREK_ALLOW_NO_CONFIG",
    "CAPTAINHOOK_DISABLE",
    "CAPTAINHOOK_SKIP_HOOKS",
];

/// Beginnings of names that shells, git and common programs take from the environment that they are in.
/// A shell passes on a variable of such a name although the line does not export it. Sources: manuals
/// of bash 5.2, git 2.47 and what it starts (ssh, curl, gpg, an editor, a pager), ld.so, glibc 2.40.
const INHERITED: &[&str] = &[
    "PATH",
    "HOME",
    "IFS",
    "CDPATH",
    "ENV",
    "SHELL",
    "BASH",
    "POSIXLY_CORRECT",
    "GLOBIGNORE",
    "EXECIGNORE",
    "DIRSTACK",
    "FPATH",
    "ZDOTDIR",
    "NULLCMD",
    "READNULLCMD",
    "PS4",
    "PROMPT",
    "EDITOR",
    "VISUAL",
    "PAGER",
    "LESS",
    "BROWSER",
    "TMP",
    "TEMP",
    "LD_",
    "DYLD_",
    "GLIBC_",
    "MALLOC_",
    "GCONV_",
    "LOCPATH",
    "NLSPATH",
    "LV",
    "MORE",
    "GIT_",
    "SSH_",
    "GPG_",
    "GNUPG",
    "PERL",
    "GH_",
    "GITHUB_",
    "GITLAB_",
    "NODE_",
    "NPM_",
    "PYTHON",
    "PIP_",
    "RUSTC",
    "RUSTFLAGS",
    "CARGO_",
    "GO",
    "JAVA_",
    "JDK_",
    "MAVEN_",
    "GRADLE_",
    "DOCKER_",
    "KUBE",
    "AWS_",
    "AZURE_",
    "CLOUDSDK_",
    "PG",
    "MYSQL",
    "DATABASE_URL",
    "HTTP_",
    "HTTPS_",
    "ALL_PROXY",
    "NO_PROXY",
    "SSL_",
    "CURL_",
    "XDG_",
    "VIRTUAL_ENV",
    "CLAUDE_",
    "CODEX_",
    "OPENCODE_",
    "ANTHROPIC_",
    "OPENAI_",
    "GEMINI_",
    "ONLOOP_",
    "HOTL_",
    "AGENTIZE_",
    "MAKE",
    "CC",
    "CXX",
    "DISPLAY",
];

/// Variables that are numbers, so that the shell evaluates the text they are given, which may run a
/// command. Sources: manuals of bash 5.2, zsh 5.9, ksh 93.
const NUMBERS: &[&str] = &[
    "RANDOM",
    "SRANDOM",
    "SECONDS",
    "LINENO",
    "OPTIND",
    "OPTERR",
    "HISTCMD",
    "HISTSIZE",
    "SAVEHIST",
    "EPOCHSECONDS",
    "COLUMNS",
    "LINES",
    "TMOUT",
    "FUNCNEST",
    "UID",
    "EUID",
    "GID",
    "EGID",
    "PPID",
    "SHLVL",
    "BASHPID",
    "ARGC",
    "ERRNO",
    "DIRSTACKSIZE",
    "KEYTIMEOUT",
    "LISTMAX",
    "LOGCHECK",
    "MAILCHECK",
    "TRY_BLOCK_ERROR",
    "TRY_BLOCK_INTERRUPT",
];

/// Variables that name what a runner runs. Sources: manuals of tox 4, nox 2024, Maven 3.9, npm 11.
const NAME_TASKS: [&str; 4] = ["TOXENV", "NOXSESSION", "MAVEN_ARGS", "NPM_CONFIG_CALL"];

/// Variables that choose by the name of an environment which servers a program works on.
const CHOOSE_SERVERS: [&str; 5] =
    ["ENV", "STAGE", "ENVIRONMENT", "SPRING_PROFILES_ACTIVE", "DJANGO_SETTINGS_MODULE"];

/// How an assignment reaches programs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Scope {
    /// The shell keeps it, and passes it on only if it was exported before.
    Shell,
    /// A command of git gets it that runs no hooks; the manual names every variable that git reads.
    Git,
    /// `read` gets it, which splits one line by it. No other built-in command: some of them keep it.
    Read,
    /// Programs get it, such as the hooks that a command of git runs.
    Program,
}

/// What a variable may do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Effect {
    Harmless,
    SkipsHooks,
    Unknown,
}

/// Whether a name begins with `begin`, in any case.
fn begins(name: &str, begin: &str) -> bool {
    let start = name.as_bytes().get(..begin.len());
    start.is_some_and(|start| start.eq_ignore_ascii_case(begin.as_bytes()))
}

fn effect(name: &str, scope: Scope) -> Effect {
    if SKIPS_HOOKS.iter().any(|known| name.eq_ignore_ascii_case(known)) {
        return Effect::SkipsHooks;
    }
    if HARMLESS.contains(&name) || name.starts_with("LC_") || is_git_identity(name) {
        return Effect::Harmless;
    }
    let is_own = matches!(scope, Scope::Shell | Scope::Git)
        && !INHERITED.iter().any(|start| begins(name, start));
    if is_own { Effect::Harmless } else { Effect::Unknown }
}

fn is_git_identity(name: &str) -> bool {
    let who = name.strip_prefix("GIT_AUTHOR_").or_else(|| name.strip_prefix("GIT_COMMITTER_"));
    matches!(who, Some("NAME" | "EMAIL" | "DATE"))
}

/// Whether programs may be steered by a variable of this name.
pub(super) fn is_unknown(name: &str) -> bool {
    effect(name, Scope::Program) != Effect::Harmless
}

/// Whether the shell and git find by a variable of this name what the person has set up, such as hooks, so
/// that taking it away is a change as well.
pub(super) fn leads_to_setup(name: &str) -> bool {
    ["PATH", "HOME", "XDG_", "GIT_"].iter().any(|start| name.starts_with(start))
}

/// Whether a value makes programs work on a server that others use.
fn names_server(name: &str, value: &str) -> bool {
    const PARTS: [&str; 7] = ["PG", "MYSQL", "POSTGRES", "DB", "DATABASE", "REDIS", "MONGO"];
    let names_host = name.ends_with("HOST") || name.ends_with("HOSTADDR") || name == "PGSERVICE";
    let of_database = names_host && PARTS.iter().any(|part| name.contains(part));
    let is_production = matches!(value, "production" | "prod")
        && matches!(name, "RAILS_ENV" | "RACK_ENV" | "APP_ENV");
    let is_remote = ["ssh:", "tcp:"].iter().any(|begin| value.starts_with(begin));
    is_remote && network::is_server_elsewhere(value)
        || network::is_database_elsewhere(value)
        || of_database && !network::is_this_machine(value)
        || is_production
}

/// Variables that choose by the name of an environment which database a program works on. Sources: manuals
/// of Rails 8, Rack 3, Mix 1.18, Symfony 7, knex 3, Flask 3.
const CHOOSE_DATABASES: [&str; 6] =
    ["RAILS_ENV", "RACK_ENV", "MIX_ENV", "APP_ENV", "NODE_ENV", "FLASK_ENV"];

/// Whether a variable chooses a database of the checkout (`RAILS_ENV=test`, `DATABASE_URL=sqlite:…`) or
/// another one; `None` if it chooses none.
pub(super) fn chooses_own_database(name: &str, value: &str) -> Option<bool> {
    if CHOOSE_DATABASES.contains(&name) {
        return Some(is_for_development(value));
    }
    let is_name = !name.starts_with('-') && !name.contains(['/', ':']);
    let names_database = ["DATABASE", "DB_", "_DB", "PGHOST", "MYSQL", "MONGO"]
        .iter()
        .any(|part| name.contains(part));
    (is_name && names_database).then(|| is_file_database(value))
}

/// Whether an environment of this name is one of tests or of development.
pub(super) fn is_for_development(value: &str) -> bool {
    matches!(value, "test" | "testing" | "development" | "dev" | "local")
}

/// Whether the address of a database is the one of a file.
pub(super) fn is_file_database(address: &str) -> bool {
    ["sqlite:", "sqlite3:", "sqlite+"].iter().any(|scheme| address.starts_with(scheme))
}

/// Whether a variable makes a program run a task that sends something away.
fn leaves(name: &str, value: &Arg, scope: Scope) -> bool {
    let names_tasks = NAME_TASKS.iter().any(|known| name.eq_ignore_ascii_case(known));
    let is_production = CHOOSE_SERVERS.contains(&name)
        && value
            .text
            .split(|c: char| !c.is_ascii_alphanumeric())
            .any(|word| word.starts_with("prod"));
    names_tasks && tasks::leaves_the_machine(&value.text)
        || scope == Scope::Program && (is_production || tasks::sends(name, &value.text))
}

/// Whether a variable that names a zone, a language or a terminal names a file outside of the system's
/// folder of these, or a character set in which a backslash may be the second half of a character: the
/// shell reads what follows in it.
fn is_no_plain_locale(name: &str, value: &Arg) -> bool {
    let names_set = name == "LANG" || name.starts_with("LC_");
    let names_data = names_set || matches!(name, "TZ" | "LANGUAGE" | "TERM");
    let is_odd = |value: &str| {
        let is_plain_set = matches!(value, "" | "C" | "POSIX")
            || value.split_once('.').is_some_and(|(_, set)| {
                let set = set.split('@').next().unwrap_or(set);
                set.eq_ignore_ascii_case("utf-8") || set.eq_ignore_ascii_case("utf8")
            });
        value.starts_with(['/', ':', '~'])
            || value.split(['/', ':']).any(|part| part == "..")
            || names_set && !is_plain_set
    };
    names_data && value.known().is_none_or(is_odd)
}

/// Judges setting `name` to `value`; `None` when it is harmless.
pub(super) fn judge(name: &str, value: &Arg, scope: Scope) -> Option<Finding> {
    let quiet = matches!(name, "PAGER" | "GIT_PAGER" | "GH_PAGER" | "MANPAGER")
        && matches!(value.known(), Some("cat" | ""));
    let editor = matches!(name, "GIT_EDITOR" | "GIT_SEQUENCE_EDITOR" | "EDITOR" | "VISUAL")
        && matches!(value.known(), Some("true" | ":"));
    let splitting = name == "IFS"
        && scope == Scope::Read
        && value.known().is_some_and(|v| v.bytes().all(|b| b",:\t\n ".contains(&b)));
    let is_number =
        |value: &Arg| value.known().is_some_and(|text| text.bytes().all(|b| b.is_ascii_digit()));
    match effect(name, scope) {
        _ if NUMBERS.contains(&name) && !is_number(value) => {
            let reason = format!("`{name}` is a number, and the shell evaluates what it is given");
            Some(Finding::ask(Rule::Environment, reason))
        }
        _ if quiet || editor || splitting => None,
        _ if leaves(name, value, scope) => {
            let reason = format!("`{name}` says that something leaves the machine");
            Some(Finding::ask(Rule::Environment, reason).for_good())
        }
        _ if value.known().is_some_and(|value| names_server(name, value)) => {
            let reason = format!("`{name}` names a server that others use");
            Some(Finding::ask(Rule::Environment, reason).for_good())
        }
        Effect::Harmless if is_no_plain_locale(name, value) => {
            let reason =
                format!("`{name}` may name a file that programs read, or another character set");
            Some(Finding::containable(Rule::Environment, reason))
        }
        Effect::Harmless => None,
        Effect::SkipsHooks => {
            let reason = format!("`{name}` switches off checks of the repository");
            Some(Finding::ask(Rule::Environment, reason))
        }
        Effect::Unknown => {
            let reason = format!("what `{name}` makes programs do is not known");
            Some(Finding::containable(Rule::Environment, reason))
        }
    }
}
