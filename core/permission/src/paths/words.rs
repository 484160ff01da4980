//! Paths in words of which no table says what they are.

use super::found::containable;
use super::{PathClass, Places, secret};
use crate::expand::Arg;
use crate::verdict::{Finding, PathRule};

/// What a word may name as a path: itself, and what stands behind `=`, `:`, `@`, `,` and the letter of an
/// option. In a text these are punctuation, and only the first `=` and the last `:` count.
pub(crate) fn paths_in(word: &str) -> impl Iterator<Item = &str> {
    const MARKS: [char; 4] = ['=', ':', '@', ','];
    let value = word.split_once('=').map(|(_, value)| value);
    let behind_colon = word.rsplit_once(':').map(|(_, path)| path);
    let single = if word.contains(char::is_whitespace) { "" } else { word };
    let behind = single.match_indices(MARKS).map(|(at, _)| &single[at + 1..]);
    let letter = single.strip_prefix('-').filter(|letters| !letters.starts_with('-'));
    let behind_letter =
        letter.and_then(|letters| Some(&letters[letters.chars().next()?.len_utf8()..]));
    let all = [Some(word), value, behind_colon, behind_letter].into_iter().flatten();
    all.chain(behind).chain(single.split(MARKS)).filter(|path| !path.is_empty())
}

/// The parts of a word that may be paths, whatever the word is for.
pub(crate) fn parts(word: &str) -> impl Iterator<Item = &str> {
    let parts = word.split(|c: char| c.is_whitespace() || "\"'`=:,;|()<>&{}@".contains(c));
    parts.filter(|part| !part.is_empty())
}

/// Whether a word, whatever it is for, mentions a file that is secret by its name.
pub(crate) fn mentions_secret(text: &str) -> bool {
    parts(&text.to_lowercase()).any(secret::is_mentioned)
}

impl Places {
    /// What speaks against a word of a command that an allow rule is about: such a rule says nothing about
    /// what the word may name outside the checkout, secrets, and files that are protected there. With
    /// `is_elsewhere`, a path from `/` is one of another machine.
    pub(crate) fn judge_word(&self, arg: &Arg, is_elsewhere: bool) -> Option<Finding> {
        let word = arg.text.as_str();
        let is_text = word.contains(char::is_whitespace);
        // `host:/path`.
        let of_host = |c: char| c.is_ascii_alphanumeric() || "@._-".contains(c);
        let host = word.split_once(':').map_or("", |(host, _)| host);
        let is_remote = host.len() > 1 && !host.starts_with('-') && host.chars().all(of_host);
        let is_elsewhere = is_elsewhere || is_remote;
        let secret = (!is_text && mentions_secret(word)).then_some(PathRule::Secret);
        // What stands behind `http:` is no path, and neither are most texts.
        let is_path = |path: &&str| {
            !path.starts_with("//") && (!is_text || path.starts_with(['/', '~', '.']))
        };
        let mut paths = paths_in(word).filter(is_path);
        let rule = secret.or_else(|| paths.find_map(|path| self.protection(path, is_elsewhere)))?;
        containable(rule, format!("no allow rule covers what `{word}` may name"))
    }

    /// Why the file at a path needs more than an allow rule about a program.
    fn protection(&self, path: &str, is_elsewhere: bool) -> Option<PathRule> {
        // A rule that names a folder is not about what lies beside it.
        let mut inner = path.split('/').skip_while(|part| matches!(*part, "" | "." | ".."));
        if inner.any(|part| part == "..") {
            return Some(PathRule::Odd);
        }
        match self.class(path) {
            PathClass::Repository
            | PathClass::Stream
            | PathClass::Endless
            | PathClass::ClientFile
            | PathClass::OwnState
            | PathClass::OwnTemporary
            | PathClass::Temporary => None,
            PathClass::Git | PathClass::GitHook => Some(PathRule::Git),
            PathClass::Control => Some(PathRule::Control),
            PathClass::Automation => Some(PathRule::Automation),
            PathClass::State => Some(PathRule::State),
            PathClass::Secret => Some(PathRule::Secret),
            PathClass::Device | PathClass::DanglingLink => Some(PathRule::Device),
            PathClass::Home | PathClass::Packages => Some(PathRule::Home),
            PathClass::Outside => (!is_elsewhere).then_some(PathRule::Outside),
        }
    }
}
