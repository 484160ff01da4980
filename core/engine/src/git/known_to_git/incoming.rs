//! What commits that a call takes over would change. A command in the sandbox may commit what it must
//! not write: hooks, and what decides about agents.

use crate::git::hardened;
use onloop_agents::confine::OF_AGENTS;
use onloop_effect::{Io, is_within};
use onloop_permission::expand::HOLE;
use onloop_permission::{Context, Examined};
use onloop_syntax::text;
use std::collections::BTreeSet;

use super::remotes::{revisions, source};

/// What a command of git takes over.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Takes {
    /// Files as a revision has them. Where it has them as the current one, a merge leaves them.
    Files,
    /// The same, and the changes since a revision anew.
    FilesAndChanges,
    /// What revisions changed.
    Changes,
    /// A stash, with its index and the files that git did not track.
    Stash,
    /// The index alone, as a revision has it.
    Index,
}

/// Commands of git that take over a revision, and the one that they take without a word.
const TAKES: [(&str, Takes, &str); 11] = [
    ("git merge", Takes::Files, "@{upstream}"),
    ("git rebase", Takes::FilesAndChanges, "@{upstream}"),
    ("git cherry-pick", Takes::Changes, "HEAD"),
    ("git switch", Takes::Files, "HEAD"),
    ("git checkout", Takes::Files, "HEAD"),
    ("git revert", Takes::Changes, "HEAD"),
    ("git stash apply", Takes::Stash, "refs/stash@{0}"),
    ("git stash branch", Takes::Stash, "refs/stash@{0}"),
    ("git stash pop", Takes::Stash, "refs/stash@{0}"),
    ("git reset", Takes::Index, "HEAD"),
    ("git restore", Takes::Index, "HEAD"),
];

/// Options with which git continues what it began, or returns to the current revision.
const RESUMING: [&str; 4] = ["--continue", "--abort", "--skip", "--quit"];

/// Commands of git that move names: what the line takes over afterwards may be what they name.
const NAMES: [&str; 4] = ["git branch", "git tag", "git reset", "git fetch"];

/// Folders with files of [`OF_AGENTS`] in which projects keep much else.
const COMMON: [&str; 2] = [".github", ".vscode"];

/// Why a person must decide about commands that are allowed and take over commits; `None` if those
/// change no such file.
pub(super) async fn question(io: &Io, context: &Context, commands: &[Examined]) -> Option<String> {
    let takes = |name: &str| TAKES.into_iter().find(|(known, ..)| *known == name);
    commands.iter().find(|command| takes(&command.name).is_some())?;
    let root = context.places.root.as_deref().unwrap_or(&context.places.cwd);
    let hooks = context.places.git_hooks.iter();
    let hooks = hooks.filter_map(|path| path.strip_prefix(root)?.strip_prefix('/'));
    let protected: Vec<&str> = hooks.chain(OF_AGENTS).collect();
    let above = OF_AGENTS.iter().filter_map(|path| Some(path.rsplit_once('/')?.0));
    let specs = protected.iter().copied().chain(above);
    let specs: BTreeSet<String> = specs.map(|path| format!(":(top,literal,icase){path}")).collect();
    let specs: Vec<&str> = specs.iter().map(String::as_str).collect();
    // The questions below see the commits as they are; git takes those that stand for them.
    let replaced = ["for-each-ref", "--count=1", "--format=%(refname)", "refs/replace"];
    if !hardened::text(io, root, &replaced).await.is_ok_and(|refs| refs.is_empty()) {
        return Some("git may take other commits for those named (`git replace`)".to_owned());
    }
    let named_before = commands.iter().filter(|command| NAMES.contains(&command.name.as_str()));
    let named_before = named_before.flat_map(|command| command.words.iter().skip(2));
    let named_before: Vec<&str> = named_before.flat_map(|word| revisions(source(word))).collect();
    for command in commands {
        let Some((name, takes, default)) = takes(&command.name) else { continue };
        let own = own_revisions(command, takes);
        let mut found = BTreeSet::new();
        for word in own.iter().map(String::as_str).chain(named_before.iter().copied()) {
            // It may name several, of which git takes all and tells one.
            if word.contains("FETCH_HEAD") || word == "--all" || is_unclear(word, takes) {
                return Some(format!("it is not known what `{name}` takes over"));
            }
            found.extend(commits(io, root, word).await.lines().map(str::to_owned));
        }
        let named: Vec<&str> = found.iter().map(String::as_str).collect();
        let named = if named.is_empty() { vec![default] } else { named };
        let shown = match own.as_slice() {
            [only] if RESUMING.contains(&only.as_str()) => {
                vec![words(&["diff", "-R", "HEAD"])]
            }
            _ => shown(takes, &named),
        };
        for shown in shown {
            let shown: Vec<&str> = shown.iter().map(String::as_str).collect();
            let changes = async |form, specs: &[&str]| {
                // A file of the checkout may have git look away from repositories inside.
                let plain = [form, "-z", "--no-renames", "--ignore-submodules=dirty", "--"];
                hardened::text(io, root, &[&*shown, &plain, specs].concat()).await
            };
            let raw = changes("--raw", &[]).await;
            let (raw, changed) = match (raw, changes("--name-status", &specs).await) {
                (Ok(raw), Ok(changed)) => (raw, changed),
                // Without an upstream, or files that git did not track, there is nothing to take.
                _ if named == [default] || shown[0] == "diff-tree" => continue,
                _ => return Some(format!("it is not known what `{name}` takes over")),
            };
            if raw.split(['\0', '\n']).any(|line| brings_repository(line, takes)) {
                return Some(format!("`{name}` brings a repository inside, which git then enters"));
            }
            if takes == Takes::Index {
                continue;
            }
            let mut fields = changed.split(['\0', '\n']).filter(|field| !field.is_empty());
            while let (Some(status), Some(path)) = (fields.next(), fields.next()) {
                if is_protected(status, path, &protected) {
                    let path = text::one_line(path);
                    return Some(format!("`{name}` takes over a change of `{path}`"));
                }
            }
        }
    }
    None
}

/// Whether the shell makes a revision of a word that nothing is known of. No name of a revision has the
/// characters of a pattern in it.
fn is_unclear(word: &str, takes: Takes) -> bool {
    word.contains(HOLE) || takes != Takes::Index && word.contains(['*', '?', '['])
}

/// The commits that a word may name, one a line. Behind a word that is no revision, git takes all for files.
async fn commits(io: &Io, root: &str, word: &str) -> String {
    let mut found = String::new();
    // A tag hides a branch.
    for spelling in [word, &format!("refs/heads/{word}")] {
        let words = ["rev-parse", "--quiet", "--revs-only", spelling];
        found += &hardened::text(io, root, &words).await.unwrap_or_default();
    }
    if found.is_empty() {
        let remote = format!("refs/remotes/*/{word}");
        let words = ["for-each-ref", "--format=%(objectname)", remote.as_str()];
        found = hardened::text(io, root, &words).await.unwrap_or_default();
    }
    found
}

/// Whether a change is one of a protected path, or may make one: by a link in the place of a folder above
/// it, or because git puts files into a folder to which others have moved.
fn is_protected(status: &str, path: &str, protected: &[&str]) -> bool {
    let path = path.to_lowercase();
    protected.iter().any(|protected| {
        let protected = protected.to_lowercase();
        let folder = protected.rsplit_once('/').map(|(folder, _)| folder);
        let moves = |folder: &str| {
            path == folder || status != "M" && !COMMON.contains(&folder) && is_within(&path, folder)
        };
        is_within(&path, &protected) || folder.is_some_and(moves)
    })
}

/// Whether a line of `git diff --raw` is about a repository where none was. Changes are also taken back.
fn brings_repository(line: &str, takes: Takes) -> bool {
    let is_link = |mode: Option<&str>| mode == Some("160000");
    let (before, after) = (is_link(line.get(1..7)), is_link(line.get(8..14)));
    line.starts_with(':') && before != after && (after || takes == Takes::Changes)
}

/// The questions to git about which files change.
fn shown(takes: Takes, named: &[&str]) -> Vec<Vec<String>> {
    const LOG: [&str; 5] = ["-c", "log.showRoot=true", "log", "-m", "--format="];
    let mut shown = Vec::new();
    let between = |revision: String| vec!["diff".to_owned(), "HEAD".to_owned(), revision];
    if takes == Takes::Index {
        let brought = |revision: &&str| words(&["diff", "--cached", "-R", revision]);
        return named.iter().map(brought).collect();
    }
    if takes == Takes::Changes {
        // A range says itself where to stop.
        let is_range = named.iter().any(|revision| revision.starts_with('^'));
        let alone = if is_range { &[][..] } else { &["--no-walk"] };
        shown.push(words(&[&LOG, alone, named].concat()));
        return shown;
    }
    for revision in named.iter().map(|revision| revision.trim_start_matches('^')) {
        shown.push(between(revision.to_owned()));
        match takes {
            Takes::FilesAndChanges => {
                shown.push(words(&[&LOG[..], &[&format!("{revision}..HEAD")]].concat()));
            }
            Takes::Stash => {
                shown.extend(["^1", "^2"].map(|parent| between(format!("{revision}{parent}"))));
                let untracked = format!("{revision}^3");
                let tree = ["diff-tree", "-r", "--root", "--no-commit-id", &untracked];
                shown.push(words(&tree));
            }
            Takes::Files | Takes::Changes | Takes::Index => {}
        }
    }
    shown
}

fn words(words: &[&str]) -> Vec<String> {
    words.iter().map(|word| (*word).to_owned()).collect()
}

/// The words of a command that may be revisions, or say how it continues if there is no other one.
fn own_revisions(command: &Examined, takes: Takes) -> Vec<String> {
    let verb = command.name.rsplit(' ').next().unwrap_or_default();
    let words: Vec<&String> =
        command.words.iter().skip_while(|word| *word != verb).skip(1).collect();
    if let [only] = words.as_slice()
        && RESUMING.contains(&only.as_str())
    {
        return vec![(*only).clone()];
    }
    if takes == Takes::Index {
        let named = words.into_iter().take_while(|word| *word != "--");
        // A value may stand directly behind the letters of options.
        let ends = |word: &'_ String| match word.strip_prefix('-') {
            Some(letters) if !letters.starts_with('-') => {
                letters.char_indices().map(|(at, _)| letters[at..].to_owned()).collect()
            }
            _ => revisions(word).into_iter().map(str::to_owned).collect::<Vec<_>>(),
        };
        return named.flat_map(ends).collect();
    }
    let mut is_message = false;
    let operands = words.into_iter().filter(|word| {
        let is_value = std::mem::replace(&mut is_message, *word == "-m");
        !(is_value && word.contains(HOLE)) && (*word == "-" || !word.starts_with('-'))
    });
    let revision = |word: &String| match word.as_str() {
        "-" => "@{-1}".to_owned(),
        digits if takes == Takes::Stash && digits.bytes().all(|b| b.is_ascii_digit()) => {
            format!("refs/stash@{{{digits}}}")
        }
        // A file beside the folder of references hides what git itself takes.
        word if takes == Takes::Stash && word.starts_with("stash") => format!("refs/{word}"),
        word => word.to_owned(),
    };
    operands.map(revision).collect()
}
