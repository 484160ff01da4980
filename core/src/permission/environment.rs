//! Assignments: variables that decide which code runs are commands in disguise.

use super::expand::Arg;
use super::verdict::{Finding, Rule};

/// Names that are known to change only what a program prints or how much it works.
const HARMLESS: [&str; 30] = [
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

/// Names, and beginnings of names that end in `*`, that choose programs, libraries,
/// configuration or destinations.
const DECIDING: [&str; 96] = [
    "PATH",
    "LD_*",
    "DYLD_*",
    "GIT_*",
    "BASH*",
    "ENV",
    "SHELL*",
    "IFS",
    "CDPATH",
    "PS0",
    "PS1",
    "PS2",
    "PS3",
    "PS4",
    "PROMPT*",
    "EDITOR",
    "VISUAL",
    "PAGER",
    "BROWSER",
    "LESS*",
    "MAN*",
    "NODE_*",
    "NPM_*",
    "YARN_*",
    "PNPM_*",
    "BUN_*",
    "DENO_*",
    "ELECTRON_*",
    "PYTHON*",
    "PIP_*",
    "UV_*",
    "POETRY_*",
    "VIRTUAL_ENV",
    "CONDA_*",
    "PERL*",
    "RUBY*",
    "GEM_*",
    "BUNDLE_*",
    "JAVA_*",
    "_JAVA_*",
    "JDK_*",
    "CLASSPATH",
    "MAVEN_*",
    "GRADLE_*",
    "CARGO_*",
    "RUSTC*",
    "RUSTFLAGS",
    "RUSTDOC*",
    "RUSTUP_*",
    "CC",
    "CXX",
    "CPP",
    "LD",
    "AR",
    "AS",
    "NM",
    "RANLIB",
    "MAKE*",
    "MFLAGS",
    "GNUMAKE*",
    "CMAKE_*",
    "NINJA_*",
    "CTEST_*",
    "GO*",
    "CGO_*",
    "GCONV_PATH",
    "LOCPATH",
    "NLSPATH",
    "TERMINFO*",
    "TERMCAP",
    "TMPDIR",
    "TMP",
    "TEMP",
    "HOME",
    "XDG_*",
    "RIPGREP_*",
    "FZF_*",
    "JQ*",
    "AWK*",
    "GREP_*",
    "TAR_*",
    "RSYNC_*",
    "SSH_*",
    "SVN_*",
    "CVS_*",
    "DOCKER_*",
    "KUBE*",
    "AWS_*",
    "GH_*",
    "GITHUB_*",
    "SSL_*",
    "CURL_*",
    "OPENSSL_*",
    "GLIBC_*",
    "MALLOC_*",
    "POSIXLY_CORRECT",
];

/// More of the same, by their endings: what they name is run, loaded or contacted.
const DECIDING_ENDINGS: [&str; 25] = [
    "PATH", "OPTIONS", "OPTS", "FLAGS", "CONFIG", "CONF", "HOME", "COMMAND", "CMD", "SHELL", "RSH",
    "PAGER", "EDITOR", "WRAPPER", "RUNNER", "PROXY", "HOOK", "HOOKS", "PRELOAD", "ASKPASS", "RC",
    "INIT", "STARTUP", "TOKEN", "EXEC",
];

/// Endings up to this length are looked for behind an underscore only.
const SHORT_ENDING_BYTES: usize = 3;

/// Whether a variable of this name may decide what code runs, or where something goes.
pub(super) fn names_code(name: &str) -> bool {
    if HARMLESS.contains(&name) || name.starts_with("LC_") || is_git_identity(name) {
        return false;
    }
    let upper = name.to_ascii_uppercase();
    let listed = DECIDING.iter().any(|entry| match entry.strip_suffix('*') {
        Some(start) => upper.starts_with(start),
        None => upper == *entry,
    });
    // Short endings need a border: `SRC` is no `RC`.
    let ending = |end: &str| {
        upper.strip_suffix(end).is_some_and(|rest| {
            rest.is_empty() || rest.ends_with('_') || end.len() > SHORT_ENDING_BYTES
        })
    };
    listed || DECIDING_ENDINGS.iter().any(|end| ending(end))
}

fn is_git_identity(name: &str) -> bool {
    let who = name.strip_prefix("GIT_AUTHOR_").or_else(|| name.strip_prefix("GIT_COMMITTER_"));
    matches!(who, Some("NAME" | "EMAIL" | "DATE"))
}

/// What speaks against giving `name` the value `value`; `alone` when it is given to the
/// shell itself instead of to one command.
pub(super) fn judge(name: &str, value: &Arg, alone: bool) -> Option<Finding> {
    if !names_code(name) {
        return None;
    }
    let quiet = matches!(name, "PAGER" | "GIT_PAGER" | "GH_PAGER" | "MANPAGER")
        && matches!(value.known(), Some("cat" | ""));
    let editor = matches!(name, "GIT_EDITOR" | "GIT_SEQUENCE_EDITOR" | "EDITOR" | "VISUAL")
        && matches!(value.known(), Some("true" | ":"));
    // `IFS= read` and `IFS=$'\n'` change how one script splits its own lines.
    let splitting =
        name == "IFS" && value.known().is_some_and(|v| v.bytes().all(|b| b",:\t\n ".contains(&b)));
    if quiet || editor || (splitting && !alone) {
        return None;
    }
    let whom = if alone { "the commands that follow" } else { "the command" };
    Some(Finding::ask(
        Rule::Environment,
        format!("`{name}` can change what {whom} runs, loads or contacts"),
    ))
}
