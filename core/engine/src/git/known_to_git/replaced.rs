//! Programs that the search path finds in the checkout, where an agent may have written them, or that a
//! file of the checkout leads elsewhere.

use crate::sandbox::programs::is_in_any;
use onloop_effect::Io;
use onloop_permission::{Context, Ruling};

/// Programs that others start by their name: `zcat` starts `gzip`, git starts `ssh`.
const STARTED: &str = " awk base64 bash basename bzip2 cat compress cp cut date dirname env expr gawk gh \
    git gpg gpg2 gpgsm grep groff gzip head id jq less locale ls lzma man more mv nano node npm nroff nvim perl \
    pinentry ps readlink realpath rm scp sed sh sort ssh ssh-keygen stat stty tail tar test tput tr uname vi vim \
    wc which xargs xz zcat zstd ";

/// Programs that others run in another folder, or what follows.
const MOVE: [&str; 5] = ["cd", "pushd", "popd", "git", "env"];

/// Adds to `context` the programs of a call that are files of the checkout. Whether there are
/// any.
pub(super) async fn learn(io: &Io, context: &mut Context, ruling: &Ruling) -> bool {
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
    let tops = [io.canonical_once(&root).await.unwrap_or_else(|_| root.clone()), root];
    let mut folders = Vec::new();
    for entry in path.split(':') {
        let entry = match entry {
            "" => context.places.cwd.clone(),
            entry => context.places.absolute(entry),
        };
        if is_in_any(io, &entry, &tops).await {
            folders.push(entry);
        }
    }
    for folder in folders {
        let there = io.list(&folder).await.unwrap_or_default();
        let may_start = there.iter().any(|name| is_started(name));
        let is_there = |name: &&&str| may_start || there.iter().any(|it| it == **name);
        context.replaced.extend(names.iter().filter(is_there).map(|name| (*name).to_owned()));
    }
    !context.replaced.is_empty()
}

/// Whether other programs start this one by its name.
fn is_started(name: &str) -> bool {
    name.starts_with("git-") || STARTED.contains(&format!(" {name} "))
}
