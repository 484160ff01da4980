//! Commands of git that take files which they do not name.

use super::super::Judge;
use super::super::entry::ParsedArgs;
use crate::expand::Arg;
use crate::verdict::{Finding, PathRule, Rule};

/// What a command hands to git to be committed: as much as these pathspecs stand for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Staging {
    /// The folder that the command runs in.
    pub folder: String,
    /// As git reads them; none: everything.
    pub pathspecs: Vec<String>,
    /// Which files of those.
    pub takes: Taken,
}

/// Files that a command takes, each kind with those before it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Taken {
    /// What the index has and the last commit has not.
    Staged,
    /// What git tracks and has changed.
    Tracked,
    /// What git does not track.
    Untracked,
    /// What git ignores.
    Ignored,
}

/// `git add`: what it would take is known to git alone.
pub(crate) fn stage(judge: &mut Judge<'_>, parsed: &ParsedArgs<'_>) {
    if parsed.has_certainly(&["-n", "--dry-run"]) {
        return;
    }
    let takes = match parsed.has(&["-f", "--force"]) {
        _ if parsed.has_certainly(&["-u", "--update"]) => Taken::Tracked,
        true => Taken::Ignored,
        false => Taken::Untracked,
    };
    stages(judge, parsed, &parsed.operands, takes);
}

/// `git commit`: the index, or only the files that it names. With some options it takes both.
pub(crate) fn commit(judge: &mut Judge<'_>, parsed: &ParsedArgs<'_>) {
    match parsed.has(&["-a", "--all", "-i", "--include", "-p", "--patch"]) {
        true => stages(judge, parsed, &[], Taken::Tracked),
        false if parsed.operands.is_empty() => stages(judge, parsed, &[], Taken::Staged),
        false => stages(judge, parsed, &parsed.operands, Taken::Tracked),
    }
}

/// Judges what is taken of the files that `specs` stand for.
fn stages(judge: &mut Judge<'_>, parsed: &ParsedArgs<'_>, specs: &[&Arg], takes: Taken) {
    if let Some(secret) = judge.places.would_stage.first() {
        let secret = onloop_syntax::text::one_line(secret);
        let reason =
            format!("`{}` would take `{secret}`, whose name says that it is a secret", parsed.name);
        return judge.add(Finding::deny(Rule::Path(PathRule::Secret), reason));
    }
    // What is not known may stand for everything.
    let specs: Option<Vec<String>> =
        specs.iter().map(|arg| arg.known().map(str::to_owned)).collect();
    judge.staged.push(Staging {
        folder: judge.places.cwd.clone(),
        pathspecs: specs.unwrap_or_default(),
        takes,
    });
}

/// `git stash`: what is not tracked goes into git's objects, secrets too.
pub(crate) fn stash(judge: &mut Judge<'_>, parsed: &ParsedArgs<'_>) {
    if !parsed.program.has_subcommands() {
        judge.takes_back(&parsed.operands);
        judge.classified(parsed.program.class, parsed);
    }
    let all = parsed.has(&["-a", "--all"]);
    if all || parsed.has(&["-u", "--include-untracked"]) {
        let takes = if all { Taken::Ignored } else { Taken::Untracked };
        stages(judge, parsed, &parsed.operands, takes);
    }
}
