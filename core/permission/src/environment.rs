//! Assignments: setting a variable that decides which code runs is as good as running it.

use super::expand::Arg;
use super::verdict::{Finding, Rule};

/// Names that are known to change only what a program prints or how much work it does.
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
const DECIDING: &[&str] = &[
    "ZDOTDIR",
    "PHPRC",
    "PHP_*",
    "R_*",
    "COVERAGE_*",
    "CCACHE_*",
    "SCCACHE_*",
    "DISTCC_*",
    "JULIA_*",
    "LUA_*",
    "TCL*",
    "ERL_*",
    "ELIXIR_*",
    "MIX_*",
    "DOTNET_*",
    "COMPLUS_*",
    "CORECLR_*",
    "MONO_*",
    "MSBUILD*",
    "NUGET_*",
    "COMPOSER_*",
    "VIM*",
    "NVIM_*",
    "EXINIT",
    "EMACS*",
    "INPUTRC",
    "FPATH",
    "KSH_ENV",
    "FCEDIT",
    "HIST*",
    "PYTEST_*",
    "TOX_*",
    "NOX_*",
    "PRE_COMMIT_*",
    "HUSKY*",
    "LEFTHOOK*",
    "VITE_*",
    "WEBPACK_*",
    "JEST_*",
    "TS_NODE_*",
    "BABEL_*",
    "ESLINT_*",
    "PRETTIER_*",
    "BAZEL_*",
    "ANT_*",
    "SBT_*",
    "KOTLIN_*",
    "SCALA_*",
    "GCC_*",
    "COMPILER_*",
    "CFLAGS",
    "LDFLAGS",
    "LDSHARED",
    "QT_*",
    "GTK_*",
    "GIO_*",
    "GSETTINGS_*",
    "GST_*",
    "DBUS_*",
    "SUDO_*",
    "OPENCODE_*",
    "CLAUDE_*",
    "CODEX_*",
    "ANTHROPIC_*",
    "OPENAI_*",
    "GEMINI_*",
    "ONLOOP_*",
    "HOTL_*",
    "AGENTIZE_*",
    "TF_*",
    "TERRAFORM_*",
    "ANSIBLE_*",
    "VAULT_*",
    "HELM_*",
    "CONTAINER*",
    "BUILDKIT*",
    "PODMAN_*",
    "PG*",
    "MYSQL*",
    "SQLITE_*",
    "WGETRC",
    "SYSTEM_WGETRC",
    "NETRC",
    "MISE_*",
    "ASDF_*",
    "RTX_*",
    "DIRENV_*",
    "NVM_*",
    "FNM_*",
    "VOLTA_*",
    "PYENV_*",
    "RBENV_*",
    "SDKMAN_*",
    "LS_COLORS_*",
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

/// Endings of such names: what the variable holds is run, loaded or contacted.
const DECIDING_ENDINGS: [&str; 25] = [
    "PATH", "OPTIONS", "OPTS", "FLAGS", "CONFIG", "CONF", "HOME", "COMMAND", "CMD", "SHELL", "RSH",
    "PAGER", "EDITOR", "WRAPPER", "RUNNER", "PROXY", "HOOK", "HOOKS", "PRELOAD", "ASKPASS", "RC",
    "INIT", "STARTUP", "TOKEN", "EXEC",
];

/// Endings up to this length count only after an underscore.
const SHORT_ENDING_BYTES: usize = 3;

/// Whether a variable of this name may decide what code runs, or where something goes.
pub(crate) fn names_code(name: &str) -> bool {
    if HARMLESS.contains(&name) || name.starts_with("LC_") || is_git_identity(name) {
        return false;
    }
    let upper = name.to_ascii_uppercase();
    let listed = DECIDING.iter().any(|entry| match entry.strip_suffix('*') {
        Some(start) => upper.starts_with(start),
        None => upper == *entry,
    });
    // Short endings need a boundary: `SRC` does not end in `RC`.
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

/// Judges setting `name` to `value`; `None` when it is harmless. `alone` means that the shell
/// itself keeps the variable, not one command.
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
    let reason = format!("`{name}` can change what {whom} runs, loads or contacts");
    Some(Finding { held: only_builds(name, value), ..Finding::ask(Rule::Environment, reason) })
}

/// Variables that only builds and tests read.
const BUILDING: &str = "RUSTFLAGS RUSTDOCFLAGS NODE_OPTIONS PYTHONPATH CFLAGS CXXFLAGS GOFLAGS \
                        GOOS GOARCH CGO_ENABLED CARGO_TARGET_DIR CARGO_BUILD_JOBS \
                        CARGO_PROFILE_RELEASE_DEBUG CARGO_NET_OFFLINE NODE_PATH PYTEST_ADDOPTS \
                        DJANGO_SETTINGS_MODULE COVERAGE_FILE";

/// Whether a sandbox holds what a variable changes: a build reads it, and its value names neither
/// a file nor code.
fn only_builds(name: &str, value: &Arg) -> bool {
    const NAMING: [&str; 10] = [
        "require", "import", "eval", "plugin", "load", "wrapper", "linker", "runner", "specs",
        "exec",
    ];
    let known = BUILDING.split_ascii_whitespace().any(|known| known == name);
    let plain = value.known().is_some_and(|text| {
        let lower = text.to_lowercase();
        !lower.contains('/') && !lower.contains("-b") && !NAMING.iter().any(|n| lower.contains(n))
    });
    known && plain
}
