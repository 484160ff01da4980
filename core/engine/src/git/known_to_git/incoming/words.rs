//! Words of commands that take over commits.

use super::super::remotes::revisions;
use super::{RESUMING, Takes};
use onloop_permission::Examined;
use onloop_permission::expand::HOLE;

/// Options of which it is certain that no value follows.
const FLAGS: [&str; 7] =
    ["--no-edit", "--no-ff", "--ff-only", "--squash", "--no-commit", "--autostash", "-q"];

/// Whether the shell makes a revision of a word that nothing is known of. No name of a revision has the
/// characters of a pattern in it.
pub(super) fn is_unclear(word: &str, takes: Takes) -> bool {
    word.contains(HOLE) || takes != Takes::Index && word.contains(['*', '?', '['])
}

/// The words behind the name of a command.
pub(super) fn operands(command: &Examined) -> Vec<&str> {
    let verb = command.name.rsplit(' ').next().unwrap_or_default();
    let words = command.words.iter().map(String::as_str);
    words.skip_while(|word| *word != verb).skip(1).collect()
}

/// Whether a command has a revision that is no value of an option.
pub(super) fn is_told(command: &Examined) -> bool {
    let words = operands(command);
    let may_take = |word: &&str| word.starts_with('-') && !FLAGS.contains(word);
    let is_value = [false].into_iter().chain(words.iter().map(may_take));
    let told =
        words.iter().zip(is_value).filter(|(word, is_value)| !word.starts_with('-') && !is_value);
    // The first one of this command is the name of a branch.
    told.count() > usize::from(command.name == "git stash branch")
}

/// The words of a command that may be revisions, or say how it continues if there is no other one.
pub(super) fn own_revisions(command: &Examined, takes: Takes) -> Vec<String> {
    let words = operands(command);
    if let [only] = words.as_slice()
        && RESUMING.contains(only)
    {
        return vec![(*only).to_owned()];
    }
    if command.name == "git pull" {
        return Vec::new();
    }
    if takes == Takes::Index {
        let named = words.into_iter().take_while(|word| *word != "--");
        // A value may stand directly behind the letters of options.
        let ends = |word: &str| match word.strip_prefix('-') {
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
    let revision = |word: &str| match word {
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
