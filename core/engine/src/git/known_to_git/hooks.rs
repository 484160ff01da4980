//! Files of the checkout that git runs as hooks, or that say what it runs.

use crate::git::links::{below_root, real_path};
use crate::git::{checkout, hardened};
use crate::sandbox::automation;
use onloop_effect::{Failure, FileKind, Io, OptionalExt, is_within};
use onloop_permission::paths::{Link, Places};
use onloop_permission::{Call, Context, classified_paths};
use std::collections::BTreeSet;

/// The hooks that git runs, by githooks(5) of git 2.51.
const HOOKS: &str = "applypatch-msg commit-msg fsmonitor-watchman p4-changelist \
    p4-post-changelist p4-pre-submit p4-prepare-changelist post-applypatch post-checkout post-commit \
    post-index-change post-merge post-receive post-rewrite post-update pre-applypatch pre-auto-gc \
    pre-commit pre-merge-commit pre-push pre-rebase pre-receive prepare-commit-msg proc-receive \
    push-to-checkout reference-transaction sendemail-validate update";

/// Last parts of the names of settings that are programs or lines of a shell, by git-config(1) of git 2.51.
const PROGRAMS: [&str; 32] = [
    "alternaterefscommand",
    "askpass",
    "cccmd",
    "clean",
    "cmd",
    "command",
    "defaultkeycommand",
    "difffilter",
    "driver",
    "editor",
    "external",
    "fsmonitor",
    "gitproxy",
    "headercmd",
    "helper",
    "packobjectshook",
    "pager",
    "path",
    "process",
    "program",
    "receivepack",
    "recentobjectshook",
    "sendmailcmd",
    "smtpserver",
    "smudge",
    "sshcommand",
    "templatedir",
    "textconv",
    "tocmd",
    "update",
    "uploadpack",
    "vcs",
];

/// Adds to `context` the files of the checkout that git runs as hooks, and those of a call to which names
/// of files lead that run by themselves. Whether there are any.
///
/// # Errors
///
/// As [`files`].
pub(super) async fn learn(io: &Io, call: &Call, context: &mut Context) -> Result<bool, Failure> {
    let Some(root) = context.places.root.clone() else { return Ok(false) };
    context.places.git_hooks.extend(files(io, &root).await?);
    let linked = automation::linked(io, &root).await;
    let paths = if linked.is_empty() { BTreeSet::new() } else { classified_paths(call, context) };
    for path in paths {
        for (target, name) in linked.iter().filter(|(target, _)| is_within(&path, target)) {
            let named = format!("{name}{}", path.strip_prefix(target.as_str()).unwrap_or_default());
            context.places.links.insert(path.clone(), Link::To(named));
        }
    }
    Ok(!context.places.git_hooks.is_empty() || !context.places.links.is_empty())
}

/// The folder of `core.hooksPath` where it lies in the checkout at `root`, files of the checkout that hooks
/// are links to, those from which git takes settings, and those that these have git run.
///
/// # Errors
///
/// When git does not answer.
pub(crate) async fn files(io: &Io, root: &str) -> Result<Vec<String>, Failure> {
    let Some(checkout) = checkout::own(io, root).await else { return Ok(Vec::new()) };
    checkout.demand_repository(io).await?;
    let Configured { hooks, settings, programs } = configured(io, root).await?;
    let roots = (io.canonical(root).await.unwrap_or_else(|_| root.to_owned()), root.to_owned());
    // Where it really is or would be, in the checkout under the name that is used for it.
    let real = async |path: String| match real_path(io, &path).await {
        Some(Link::To(real)) => below_root(real, Some(&roots)),
        Some(Link::Dangling) | None => path,
    };
    let mut found = Vec::new();
    for file in settings {
        found.push(real(file.clone()).await);
        found.push(file);
    }
    for word in programs {
        let path = Places::new(root).absolute(&word);
        if word.starts_with(['.', '~']) || io.stat(&path).await.is_ok() {
            found.push(real(path.clone()).await);
            found.push(path);
        }
    }
    let folder = hooks.clone().unwrap_or_else(|| format!("{root}/.git/hooks"));
    let folder = real(folder).await;
    found.extend(hooks);
    // In the top of the checkout not everything is a hook.
    match folder == root {
        true => found.extend(HOOKS.split(' ').map(|name| format!("{root}/{name}"))),
        false => found.push(folder.clone()),
    }
    // The hooks of husky in `.husky/_` start those in `.husky`.
    let called = folder.strip_suffix("/_").filter(|above| *above != root);
    found.extend(called.map(str::to_owned));
    for name in io.list(&folder).await.unwrap_or_default() {
        let path = format!("{folder}/{name}");
        if io.stat(&path).await.is_ok_and(|stat| stat.kind == FileKind::Link) {
            found.push(real(path).await);
        }
    }
    // A git folder may have another name.
    for folder in [checkout.common_folder(io).await, checkout.git_folder] {
        found.extend(["hooks", "config"].map(|name| format!("{folder}/{name}")));
    }
    let git = format!("{root}/.git");
    found.retain(|path| path != root && is_within(path, root) && !is_within(path, &git));
    found.sort();
    found.dedup();
    Ok(found)
}

/// What settings of git name.
#[derive(Default)]
struct Configured {
    /// The folder of `core.hooksPath`, absolute.
    hooks: Option<String>,
    /// Files with settings, absolute.
    settings: BTreeSet<String>,
    /// Words of what git runs, each of which may be a file.
    programs: BTreeSet<String>,
}

/// What may be files in a program with its arguments, or in a line of a shell: its words, what stands in
/// quotes, modules of Python, and paths behind a folder that the line finds out.
fn words(line: &str) -> impl Iterator<Item = String> {
    let is_of_path = |c: char| c.is_alphanumeric() || "/._-+~@%:,".contains(c);
    let words = line.split(move |c| !is_of_path(c)).chain(line.split(['\'', '"']));
    let words = words.map(str::trim).filter(|word| !word.is_empty());
    words.flat_map(|word| {
        let inside = word.trim_start_matches('/');
        let module = word.replace('.', "/");
        let modules = ["", "/__main__", "/__init__"].map(|end| format!("{module}{end}.py"));
        let modules = modules.into_iter().filter(|_| word.contains('.') && !word.contains('/'));
        [word.to_owned(), inside.to_owned()].into_iter().chain(modules)
    })
}

/// What git says about its settings: for each its origin, its name and its value. Without git, nothing.
pub(super) async fn settings(io: &Io, root: &str) -> Result<String, Failure> {
    let words = ["config", "-z", "--show-origin", "--list"];
    Ok(hardened::text(io, root, &words).await.optional()?.unwrap_or_default())
}

async fn configured(io: &Io, root: &str) -> Result<Configured, Failure> {
    let said = settings(io, root).await?;
    let mut configured = Configured::default();
    let mut fields = said.split_terminator('\0');
    while let (Some(origin), Some(setting)) = (fields.next(), fields.next()) {
        // A setting on the command line turns hooks off for this question.
        let Some(file) = origin.strip_prefix("file:") else { continue };
        let file = Places::new(root).absolute(file);
        // One without a value has no line break.
        let (name, value) = setting.split_once('\n').unwrap_or((setting, ""));
        let path = match value.strip_prefix("~/") {
            Some(rest) => format!("{}/{rest}", io.env("HOME").unwrap_or_default()),
            None => value.to_owned(),
        };
        let includes = name.starts_with("include") && name.ends_with(".path");
        let last = name.rsplit('.').next().unwrap_or_default();
        if !includes && (PROGRAMS.binary_search(&last).is_ok() || name.starts_with("pager.")) {
            configured.programs.extend(words(&path));
        }
        if name == "core.hookspath" {
            configured.hooks = Some(Places::new(root).absolute(&path));
        } else if includes {
            let folder = file.rsplit_once('/').map_or(root, |(folder, _)| folder);
            configured.settings.insert(Places::new(folder).absolute(&path));
        }
        configured.settings.insert(file);
    }
    let of_git = io.env_all().iter().filter(|(name, _)| names_program(name));
    configured.programs.extend(of_git.flat_map(|(_, value)| words(value)));
    // Git looks there as well where it found nothing yet.
    let home = io.env("HOME").unwrap_or_default();
    let global = io.env("XDG_CONFIG_HOME").map_or(format!("{home}/.config"), str::to_owned);
    configured.settings.extend([format!("{home}/.gitconfig"), format!("{global}/git/config")]);
    Ok(configured)
}

/// Whether a variable says what git runs, or where a program that runs unconfined finds settings that
/// may name programs.
pub(super) fn names_program(variable: &str) -> bool {
    const VARIABLES: [&str; 18] = [
        "AWS_CONFIG_FILE",
        "AWS_SHARED_CREDENTIALS_FILE",
        "BASH_ENV",
        "BROWSER",
        "DOCKER_CONFIG",
        "EDITOR",
        "ENV",
        "GH_CONFIG_DIR",
        "INPUTRC",
        "KUBECONFIG",
        "LD_AUDIT",
        "LD_PRELOAD",
        "LESSOPEN",
        "PAGER",
        "RIPGREP_CONFIG_PATH",
        "SSH_ASKPASS",
        "TERMINFO",
        "VISUAL",
    ];
    variable.starts_with("GIT_") || VARIABLES.contains(&variable)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn programs_are_found_in_their_order() {
        assert!(PROGRAMS.is_sorted());
    }

    #[test]
    fn every_word_of_a_line_may_be_a_file() {
        for (line, file) in [
            ("./tools/clean.sh", "./tools/clean.sh"),
            ("!sh -c './a b' -- %f", "./a b"),
            ("!sh -c './a b' -- %f", "./a"),
            ("\"$(git rev-parse --show-toplevel)/tools/c.sh\" %f", "tools/c.sh"),
            ("python3 -m tools.strip", "tools/strip.py"),
            ("python3 -m tools", "tools"),
        ] {
            assert!(words(line).any(|word| word == file), "{line}: {file}");
        }
        assert_eq!(words("").count(), 0);
    }
}
