//! What commits that a call takes over would change. A command in the sandbox may commit what it must
//! not write: hooks, and what decides about agents.

use crate::git::hardened;
use onloop_agents::confine::OF_AGENTS;
use onloop_effect::Io;
use onloop_permission::{Call, Context, Ruling, explain};
use onloop_syntax::{limits, text};

/// What of git shows the changes that come with a revision.
type Shown = fn(revision: &str) -> Vec<String>;

/// Commands of git that take over a revision, and the one that they take without a word.
const TAKES: [(&str, Shown, &str); 9] = [
    ("git merge", since, "@{upstream}"),
    ("git rebase", since, "@{upstream}"),
    ("git cherry-pick", since, "HEAD"),
    ("git switch", between, "HEAD"),
    ("git checkout", between, "HEAD"),
    ("git revert", undone, "HEAD"),
    ("git stash apply", since, "stash@{0}"),
    ("git stash branch", since, "stash@{0}"),
    ("git stash pop", since, "stash@{0}"),
];

/// What a revision changed since it left the current branch.
fn since(revision: &str) -> Vec<String> {
    vec!["diff".to_owned(), format!("HEAD...{revision}")]
}

/// How a revision differs from the current one.
fn between(revision: &str) -> Vec<String> {
    ["diff", "HEAD", revision].map(str::to_owned).into()
}

/// What came with a revision and after it.
fn undone(revision: &str) -> Vec<String> {
    vec!["diff".to_owned(), format!("{revision}^"), "HEAD".to_owned()]
}

/// The files that git did not track, in a stash.
fn untracked(revision: &str) -> Vec<String> {
    let words = ["diff-tree", "-r", "--root", "--no-commit-id"].map(str::to_owned);
    words.into_iter().chain([format!("{revision}^3")]).collect()
}

/// Why a person must decide about an allowed call that takes over commits; `None` if they change no
/// such file.
pub(super) async fn question(
    io: &Io,
    call: &Call,
    context: &Context,
    ruling: &Ruling,
) -> Option<String> {
    let takes = |name: &str| TAKES.into_iter().find(|(known, ..)| *known == name);
    ruling.commands.iter().find(|command| takes(&command.name).is_some())?;
    let root = context.places.root.as_deref().unwrap_or(&context.places.cwd);
    let hooks = context.places.git_hooks.iter();
    let hooks = hooks.filter_map(|path| path.strip_prefix(root)?.strip_prefix('/'));
    let protected = hooks.chain(OF_AGENTS).map(|path| format!(":(top,literal,icase){path}"));
    let protected: Vec<String> = protected.collect();
    let says = async |words: &[&str], paths: &[String]| {
        let paths = paths.iter().map(String::as_str);
        let words: Vec<&str> = words.iter().copied().chain(paths).collect();
        let said = hardened::says(io, root, &words, None, limits::HOOK_GIT_TIMEOUT_MS).await;
        said.map(|said| String::from_utf8_lossy(&said).into_owned())
    };
    for command in explain(call, context).commands {
        let Some((name, changes, default)) = takes(&command.name) else { continue };
        let named = revisions(&command.words, name);
        let mut found = String::new();
        for word in named {
            // Behind a word that is no revision, git takes all for files.
            found += &says(&["rev-parse", "--revs-only"], &[word]).await.unwrap_or_default();
        }
        let found = found.lines().map(|line| line.trim_start_matches('^')).collect::<Vec<_>>();
        let found = if found.is_empty() { vec![default] } else { found };
        for revision in found {
            let mut shown = vec![changes(revision)];
            shown.extend(name.starts_with("git stash").then(|| untracked(revision)));
            for shown in shown {
                let shown: Vec<&str> = shown.iter().map(String::as_str).collect();
                let words = [&*shown, &["--name-only", "-z", "--no-renames", "--"]];
                let changed = match says(&words.concat(), &protected).await {
                    Ok(changed) => changed,
                    // Without an upstream, a commit before or files that git did not track.
                    Err(_) if revision == default || shown[0] == "diff-tree" => continue,
                    Err(_) => return Some(format!("it is not known what `{name}` takes over")),
                };
                if let Some(path) = changed.split_terminator('\0').next() {
                    let path = text::one_line(path);
                    return Some(format!("`{name}` takes over a change of `{path}`"));
                }
            }
        }
    }
    None
}

/// The words of a command that may be revisions.
fn revisions(words: &[String], name: &str) -> Vec<String> {
    let verb = name.rsplit(' ').next().unwrap_or_default();
    let operands = words.iter().skip_while(|word| *word != verb).skip(1);
    let is_stash = name.starts_with("git stash");
    let operands = operands.filter(|word| *word == "-" || !word.starts_with('-'));
    let revision = |word: &String| match word.as_str() {
        "-" => "@{-1}".to_owned(),
        digits if is_stash && digits.bytes().all(|b| b.is_ascii_digit()) => {
            format!("stash@{{{digits}}}")
        }
        word => word.to_owned(),
    };
    operands.map(revision).collect()
}
