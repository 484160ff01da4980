//! The folder of git: what of it may be read.

use super::{Places, begins_with, has_entry, pattern_matches, pattern_matches_any};

/// Files of git, and folders of them, that hold no address and no setting. Source:
/// gitrepository-layout(5) of git 2.47, and the manuals of the commands that leave the rest.
const WITHOUT_SETTINGS: &[&str] = &[
    "head",
    "orig_head",
    "fetch_head",
    "merge_head",
    "cherry_pick_head",
    "revert_head",
    "rebase_head",
    "bisect_head",
    "auto_merge",
    "packed-refs",
    "index",
    "index.lock",
    "shallow",
    "description",
    "commit_editmsg",
    "merge_msg",
    "merge_mode",
    "merge_rr",
    "squash_msg",
    "tag_editmsg",
    "notes_editmsg",
    "gitdir",
    "commondir",
    "hooks",
    "info",
    "logs",
    "refs",
    "objects",
    "rebase-merge",
    "rebase-apply",
    "sequencer",
    "bisect_log",
    "bisect_start",
    "bisect_terms",
    "bisect_names",
];

/// Whether what lies at `inside`, a normal path in lower case below the folder of git, holds no settings.
fn is_plain(inside: &str) -> bool {
    // The folder of another worktree.
    let own = inside.strip_prefix("worktrees/").and_then(|rest| rest.split_once('/'));
    let inside = own.map_or(inside, |(_, inside)| inside);
    let name = inside.rsplit('/').next().unwrap_or(inside);
    !name.starts_with("config") && WITHOUT_SETTINGS.iter().any(|entry| begins_with(inside, entry))
}

/// Whether a pattern of the shell may stand for the folder of git, or for something in it
/// that may hold settings.
pub(super) fn reaches_settings(pattern: &str) -> bool {
    reaches(&pattern.to_lowercase(), &|part| pattern_matches(part, ".git"))
}

/// The same for a pattern of a program, in which stars match leading dots. A part without a letter stands
/// for everything, about which there is another question.
pub(super) fn chosen_reaches_settings(pattern: &str) -> bool {
    let is_telling = |part: &str| part.bytes().any(|b| b.is_ascii_alphanumeric());
    reaches(&pattern.to_lowercase(), &|part| is_telling(part) && pattern_matches_any(part, ".git"))
}

fn reaches(pattern: &str, may_be_git: &dyn Fn(&str) -> bool) -> bool {
    let is_wild = |part: &str| part.contains(['*', '?', '[', '\\']);
    let parts: Vec<&str> = pattern.split('/').filter(|part| !matches!(*part, "" | ".")).collect();
    let (mut ends, last) = (parts.iter().enumerate(), parts.len());
    ends.any(|(at, part)| {
        let inside = &parts[(at + 1).min(last)..];
        let certain = inside.iter().take_while(|part| !is_wild(part) && **part != "..");
        let certain = certain.copied().collect::<Vec<_>>().join("/");
        may_be_git(part) && (inside.contains(&"..") || !is_plain(&certain))
    })
}

impl Places {
    /// Whether the path in the folder of git, and what it is a link to, hold no settings.
    pub(super) fn holds_no_settings(&self, path: &str) -> bool {
        self.named(path).iter().all(|absolute| {
            let lower = absolute.to_lowercase();
            let inside = lower.rsplit_once("/.git/").map(|(_, inside)| inside);
            !has_entry(&lower, &[".git"]) || inside.is_some_and(is_plain)
        })
    }
}
