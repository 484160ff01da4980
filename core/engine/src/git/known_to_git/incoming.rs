//! What commits that a call takes over would change. A command in the sandbox may commit what it must
//! not write: hooks, and what decides about agents.

use crate::git::hardened;
use onloop_agents::confine::OF_AGENTS;
use onloop_effect::Io;
use onloop_permission::{Context, Examined};
use onloop_syntax::{limits, text};

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
}

/// Commands of git that take over a revision, and the one that they take without a word.
const TAKES: [(&str, Takes, &str); 9] = [
    ("git merge", Takes::Files, "@{upstream}"),
    ("git rebase", Takes::FilesAndChanges, "@{upstream}"),
    ("git cherry-pick", Takes::Changes, "HEAD"),
    ("git switch", Takes::Files, "HEAD"),
    ("git checkout", Takes::Files, "HEAD"),
    ("git revert", Takes::Changes, "HEAD"),
    ("git stash apply", Takes::Stash, "stash@{0}"),
    ("git stash branch", Takes::Stash, "stash@{0}"),
    ("git stash pop", Takes::Stash, "stash@{0}"),
];

/// Options with which git continues what it began, or returns to the current revision.
const RESUMING: [&str; 4] = ["--continue", "--abort", "--skip", "--quit"];

/// Why a person must decide about commands that are allowed and take over commits; `None` if those
/// change no such file.
pub(super) async fn question(io: &Io, context: &Context, commands: &[Examined]) -> Option<String> {
    let takes = |name: &str| TAKES.into_iter().find(|(known, ..)| *known == name);
    commands.iter().find(|command| takes(&command.name).is_some())?;
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
    for command in commands {
        let Some((name, takes, default)) = takes(&command.name) else { continue };
        let mut found = String::new();
        for word in revisions(command, takes) {
            // Behind a word that is no revision, git takes all for files.
            found += &says(&["rev-parse", "--revs-only"], &[word]).await.unwrap_or_default();
        }
        let named: Vec<&str> = found.lines().collect();
        let named = if named.is_empty() { vec![default] } else { named };
        let shown = match command.words.iter().any(|word| RESUMING.contains(&word.as_str())) {
            true => vec![words(&["diff", "HEAD"])],
            false => shown(takes, &named),
        };
        let revisions = named.iter().map(|revision| revision.trim_start_matches('^'));
        for revision in revisions.filter(|_| takes != Takes::Changes) {
            let raw = ["diff", "--raw", "-z", "--no-renames", "HEAD", revision];
            let raw = says(&raw, &[]).await.unwrap_or_default();
            if raw.split('\0').any(is_new_repository) {
                return Some(format!("`{name}` brings a repository inside, which git then enters"));
            }
        }
        for shown in shown {
            let shown: Vec<&str> = shown.iter().map(String::as_str).collect();
            let words = [&*shown, &["--name-only", "-z", "--no-renames", "--"]].concat();
            let changed = match says(&words, &protected).await {
                Ok(changed) => changed,
                // Without an upstream, or files that git did not track, there is nothing to take.
                Err(_) if named == [default] || shown[0] == "diff-tree" => continue,
                Err(_) => return Some(format!("it is not known what `{name}` takes over")),
            };
            if let Some(path) = changed.split(['\0', '\n']).find(|path| !path.is_empty()) {
                let path = text::one_line(path);
                return Some(format!("`{name}` takes over a change of `{path}`"));
            }
        }
    }
    None
}

/// Whether a line of `git diff --raw` is about a repository where none was.
fn is_new_repository(line: &str) -> bool {
    line.starts_with(':') && !line.starts_with(":160000 ") && line.get(8..14) == Some("160000")
}

/// The questions to git about which files change.
fn shown(takes: Takes, named: &[&str]) -> Vec<Vec<String>> {
    const LOG: [&str; 5] = ["-c", "log.showRoot=true", "log", "-m", "--format="];
    let mut shown = Vec::new();
    let between = |revision: String| vec!["diff".to_owned(), "HEAD".to_owned(), revision];
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
            Takes::Files | Takes::Changes => {}
        }
    }
    shown
}

fn words(words: &[&str]) -> Vec<String> {
    words.iter().map(|word| (*word).to_owned()).collect()
}

/// The words of a command that may be revisions.
fn revisions(command: &Examined, takes: Takes) -> Vec<String> {
    let verb = command.name.rsplit(' ').next().unwrap_or_default();
    let operands = command.words.iter().skip_while(|word| *word != verb).skip(1);
    let operands = operands.filter(|word| *word == "-" || !word.starts_with('-'));
    let revision = |word: &String| match word.as_str() {
        "-" => "@{-1}".to_owned(),
        digits if takes == Takes::Stash && digits.bytes().all(|b| b.is_ascii_digit()) => {
            format!("stash@{{{digits}}}")
        }
        word => word.to_owned(),
    };
    operands.map(revision).collect()
}
