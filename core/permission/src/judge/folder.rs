//! Commands that change the folder: what follows is judged from every folder that it may be in.

use super::Judge;
use super::entry::ParsedArgs;
use crate::expand::{Arg, Variables};
use crate::paths::{Access, PathClass};
use crate::shell::{ParsedShell, ScopeKind, Simple, Word};
use crate::verdict::{Finding, PathRule, Rule};
use onloop_syntax::limits;

/// The names of the commands.
const CHANGES: [&str; 4] = ["cd", "pushd", "popd", "chdir"];

/// A change of folder in a script.
struct Change {
    /// Index of the command.
    at: usize,
    /// Where it leads, for each folder that it may start from.
    leads: Vec<String>,
}

/// The folders that the commands of a script may run in.
pub(super) struct FolderChanges<'s> {
    script: &'s ParsedShell,
    begin: String,
    changes: Vec<Change>,
}

/// Whether a script changes the folder anywhere.
pub(super) fn changes(script: &ParsedShell) -> bool {
    script.commands.iter().any(changes_folder)
}

fn changes_folder(simple: &Simple) -> bool {
    // Behind `command`, `builtin` or an assignment it does the same.
    let mut words = simple.words.iter().filter_map(Word::as_literal);
    words.any(|word| CHANGES.contains(&word))
}

impl<'s> FolderChanges<'s> {
    pub(super) fn new(script: &'s ParsedShell, begin: &str) -> FolderChanges<'s> {
        FolderChanges { script, begin: begin.to_owned(), changes: Vec::new() }
    }

    /// The folders in which the command at `index` may run; `None` when there are too many.
    pub(super) fn of(&self, index: usize) -> Option<Vec<String>> {
        let simple = &self.script.commands[index];
        let mut found = vec![self.begin.clone()];
        for change in &self.changes {
            let from = &self.script.commands[change.at];
            if !self.reaches(from, simple) {
                continue;
            }
            let certain =
                simple.list == from.list && simple.after_success && same_place(from, simple);
            if certain {
                found.clear();
            }
            for lead in &change.leads {
                if !found.contains(lead) {
                    found.push(lead.clone());
                }
            }
        }
        (found.len() <= limits::SHELL_FOLDERS).then_some(found)
    }

    /// Whether a change of folder at `from` may be in force where `to` runs.
    fn reaches(&self, from: &Simple, to: &Simple) -> bool {
        let mut scope = Some(from.scope);
        // A subshell keeps its folder to itself.
        while let Some(at) = scope {
            if self.is_around(at, to) {
                return true;
            }
            let current = &self.script.scopes[at];
            if matches!(current.kind, ScopeKind::Subshell) {
                return false;
            }
            scope = current.parent;
        }
        true
    }

    fn is_around(&self, scope: usize, simple: &Simple) -> bool {
        let mut at = Some(simple.scope);
        while let Some(current) = at {
            if current == scope {
                return true;
            }
            at = self.script.scopes[current].parent;
        }
        false
    }

    /// Notes that the command at `index` may change the folder.
    pub(super) fn note(&mut self, index: usize, judge: &Judge<'_>, variables: &Variables<'_>) {
        let simple = &self.script.commands[index];
        if !changes_folder(simple) {
            return;
        }
        let begins = self.of(index).unwrap_or_default();
        let mut leads = Vec::new();
        for args in variables.commands(index) {
            let name = args.iter().position(|arg| CHANGES.contains(&arg.text.as_str()));
            let Some(at) = name.filter(|at| args[*at].text != "popd") else { continue };
            let target = args[at + 1..].iter().find(|arg| !is_option(arg));
            let Some(target) = target.and_then(|arg| arg.known()) else {
                // Where it leads is not known; what follows is judged from where it was.
                leads.extend(begins.iter().cloned());
                continue;
            };
            for begin in &begins {
                leads.push(judge.places.from(begin).absolute(target));
            }
        }
        self.changes.push(Change { at: index, leads });
    }
}

fn same_place(from: &Simple, to: &Simple) -> bool {
    from.scope == to.scope || to.scope > from.scope
}

fn is_option(arg: &Arg) -> bool {
    matches!(arg.text.as_str(), "-P" | "-L" | "-e" | "--" | "-q" | "-n" | "-s")
}

/// Judges a change of folder: within the checkout it is followed.
pub(crate) fn judge(judge: &mut Judge<'_>, parsed: &ParsedArgs<'_>) {
    let rule = || Rule::Path(PathRule::Outside);
    if parsed.name == "popd" && parsed.args.is_empty() {
        return;
    }
    let targets: Vec<&Arg> = parsed.args.iter().filter(|arg| !is_option(arg)).collect();
    let [target] = targets.as_slice() else {
        return judge.add(Finding::deny(rule(), "it leaves the working folder"));
    };
    let Some(path) = target.known().filter(|path| !path.starts_with(['-', '+'])) else {
        judge.seen.lost = true;
        return judge.add(Finding::containable(rule(), "it goes to a folder that is not known"));
    };
    judge.consider(judge.places.judge_text(path, Access::List));
    if !judge.places.is_inside(path) {
        return judge
            .add(Finding::containable(rule(), format!("`{path}` is outside the checkout")));
    }
    if judge.places.class(path) != PathClass::Repository {
        judge.add(Finding::ask(rule(), format!("`{path}` is not a folder of the project")));
    }
}
