//! Programs that the search path finds in the checkout, where an agent may have written them, or that a
//! file of the checkout leads elsewhere.

use super::remotes::may_make_files;
use super::{STARTS_GIT, hooks};
use crate::git::links::below_root;
use crate::sandbox::programs::OpenFolders;
use onloop_effect::{Io, is_within};
use onloop_permission::{Call, Context, Ruling, classified_paths};
use std::collections::BTreeSet;

/// Programs that others start by their name, in order: `zcat` starts `gzip`, git starts `ssh`.
const STARTED: [&str; 65] = [
    "awk",
    "base64",
    "basename",
    "bash",
    "bzip2",
    "cat",
    "compress",
    "cp",
    "cut",
    "date",
    "dirname",
    "env",
    "expr",
    "gawk",
    "gh",
    "git",
    "gpg",
    "gpg2",
    "gpgsm",
    "grep",
    "groff",
    "gzip",
    "head",
    "id",
    "jq",
    "less",
    "locale",
    "ls",
    "lzma",
    "man",
    "more",
    "mv",
    "nano",
    "node",
    "npm",
    "nroff",
    "nvim",
    "perl",
    "pinentry",
    "ps",
    "readlink",
    "realpath",
    "rm",
    "scp",
    "sed",
    "sh",
    "sort",
    "ssh",
    "ssh-keygen",
    "stat",
    "stty",
    "tail",
    "tar",
    "test",
    "tput",
    "tr",
    "uname",
    "vi",
    "vim",
    "wc",
    "which",
    "xargs",
    "xz",
    "zcat",
    "zstd",
];

/// Programs that others run in another folder, or what follows.
const MOVE: [&str; 5] = ["cd", "pushd", "popd", "git", "env"];

/// Adds to `context` the programs of a call that are files of the checkout. Whether there are
/// any.
pub(super) async fn learn(io: &Io, call: &Call, context: &mut Context, ruling: &Ruling) -> bool {
    let root = context.places.root.clone().unwrap_or_else(|| context.places.cwd.clone());
    // Its settings, which a commit may bring, say where it sends a token.
    if ruling.commands.iter().any(|command| command.name.starts_with("npm"))
        && io.stat(&format!("{root}/.npmrc")).await.is_ok()
    {
        context.replaced.insert("npm".to_owned());
    }
    let Some(path) = io.env("PATH") else { return !context.replaced.is_empty() };
    let names = ruling.commands.iter().filter_map(|command| command.name.split(' ').next());
    let names: Vec<&str> = names.collect();
    // What a relative entry finds depends on the folder.
    let is_relative = |entry: &str| root.starts_with('/') && !entry.starts_with('/');
    if path.split(':').any(is_relative) && names.iter().any(|name| MOVE.contains(name)) {
        context.replaced.extend(names.iter().map(|name| (*name).to_owned()));
        return true;
    }
    let open = OpenFolders::around(io, &[&root]).await;
    let (mut folders, mut there) = (Vec::new(), BTreeSet::new());
    let entries: BTreeSet<&str> = path.split(':').collect();
    for entry in entries {
        let folder = match entry {
            "" => context.places.cwd.clone(),
            entry => context.places.absolute(entry),
        };
        if open.has(io, &folder).await {
            folders.push(folder);
            continue;
        }
        there.extend(open.led_from(io, &folder, &names).await);
    }
    if writes_in(io, call, context, ruling, &folders).await {
        context.replaced.extend(names.iter().map(|name| (*name).to_owned()));
        return true;
    }
    for folder in &folders {
        there.extend(io.list(folder).await.unwrap_or_default());
    }
    let may_start = there.iter().any(|name| is_started(name));
    let is_there = |name: &&&str| may_start || there.contains(**name);
    context.replaced.extend(names.iter().filter(is_there).map(|name| (*name).to_owned()));
    let starts_git = || names.iter().any(|name| STARTS_GIT.contains(name));
    if !may_start && !there.is_empty() && starts_git() && is_set(io, &root, &there).await {
        context.replaced.extend(STARTS_GIT.map(str::to_owned));
    }
    context.places.program_folders = folders;
    !context.replaced.is_empty()
}

/// Whether a call may write programs in one of these folders, and start them.
async fn writes_in(
    io: &Io,
    call: &Call,
    context: &Context,
    ruling: &Ruling,
    folders: &[String],
) -> bool {
    if folders.is_empty() || !ruling.changes || ruling.commands.len() < 2 {
        return false;
    }
    // What it brings is not known before.
    if ruling.commands.iter().any(|command| command.name == "git pull") {
        return true;
    }
    let root = context.places.root.clone().unwrap_or_default();
    let roots = (io.canonical_once(&root).await.unwrap_or_else(|_| root.clone()), root);
    let mut spelled = folders.to_vec();
    for folder in folders {
        spelled.extend(
            io.canonical_once(folder).await.ok().map(|real| below_root(real, Some(&roots))),
        );
    }
    let may_make = ruling.commands.iter().any(may_make_files);
    classified_paths(call, context).iter().any(|path| {
        let is_above = |folder: &String| may_make && is_within(folder, path);
        spelled.iter().any(|folder| is_within(path, folder) || is_above(folder))
    })
}

/// Whether settings of git, or variables that say what it starts, name one of these programs.
async fn is_set(io: &Io, root: &str, programs: &BTreeSet<String>) -> bool {
    let Ok(settings) = hooks::settings(io, root).await else { return true };
    let variables = io.env_all().iter().filter(|(name, _)| hooks::names_program(name));
    let values = variables.map(|(_, value)| value.as_str()).chain(settings.split('\0'));
    let is_of_name = |c: char| c.is_alphanumeric() || "-_.+".contains(c);
    let mut words = values.flat_map(|value| value.split(|c| !is_of_name(c)));
    words.any(|word| programs.contains(word))
}

/// Whether other programs start this one by its name.
fn is_started(name: &str) -> bool {
    name.starts_with("git-") || STARTED.binary_search(&name).is_ok()
}

#[cfg(test)]
mod tests {
    #[test]
    fn programs_are_found_in_their_order() {
        assert!(super::STARTED.is_sorted());
    }
}
