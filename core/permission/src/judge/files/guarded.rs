//! Whole folders in which files lie that configure agents or run by themselves: `.github`.

use super::super::Judge;
use super::super::entry::ParsedArgs;
use super::{is_rebuilt, may_be_folder, sources};
use crate::expand::{Arg, HOLE};
use crate::paths::{Access, pattern_matches_any};

/// Asks about the removal of such a folder.
pub(super) fn removed(judge: &mut Judge<'_>, parsed: &ParsedArgs<'_>, recursive: bool) {
    let is_above = |arg: &Arg| {
        let is_lost = judge.places.is_lost_with_run(arg) || is_rebuilt(judge, arg);
        judge.places.is_above_guarded(arg.guessed()) && !is_lost
    };
    if recursive && parsed.operands.iter().any(|arg| is_above(arg)) {
        judge.ask(parsed, "removes a folder in which files run by themselves");
    }
}

/// Asks about a folder that is moved from or to where what is in it runs by itself, or copied to there.
pub(super) fn replaced(judge: &mut Judge<'_>, parsed: &ParsedArgs<'_>) {
    let is_above = |arg: &Arg| judge.places.is_above_guarded(arg.guessed());
    let (from, to) = sources(parsed);
    let is_whole = match parsed.name {
        "cp" => parsed.has(&["-r", "-R", "--recursive", "-a", "--archive"]),
        "ln" => true,
        _ => from.iter().any(|arg| is_above(arg)),
    };
    let is_target = to.is_some_and(is_above) && from.iter().any(|arg| may_be_folder(arg));
    if is_target && (is_whole || parsed.name == "mv") || is_whole && parsed.name == "mv" {
        judge.ask(parsed, "replaces a folder in which files run by themselves");
    }
}

/// Asks about files below folders that `find` deletes, if some of them may run by themselves.
pub(super) fn deleted(
    judge: &mut Judge<'_>,
    parsed: &ParsedArgs<'_>,
    roots: &[&str],
    name: Option<&str>,
) {
    // Workflows of services have any name with one of these endings.
    const WORKFLOWS: [&str; 2] = ["workflow.yml", "workflow.yaml"];
    let name = name.unwrap_or("*");
    let may_be_workflow = WORKFLOWS.iter().any(|workflow| pattern_matches_any(name, workflow));
    let runs_by_itself = |root: &&str| {
        let file = Arg::exact(format!("{root}/{name}").replace(['*', '?', HOLE], "_"));
        judge.places.is_above_guarded(root)
            || may_be_workflow && judge.places.is_around(root)
            || judge.places.judge(&file, Access::Write).is_some()
    };
    if roots.iter().any(runs_by_itself) {
        judge.ask(parsed, "deletes files that run by themselves");
    }
}
