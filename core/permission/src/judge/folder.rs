//! Commands that change the folder: what follows is judged from every folder that it may be in.

use super::Judge;
use super::entry::ParsedArgs;
use crate::expand::{Arg, Variables};
use crate::paths::{Access, PathClass};
use crate::shell::{ParsedShell, ScopeKind, Word};
use crate::verdict::{Finding, PathRule, Rule};
use onloop_syntax::limits;
use std::collections::BTreeMap;

/// Most commands of a script that may change the folder.
const MOST_CHANGES: usize = 64;

/// The folders that the commands of a script may run in.
pub(super) struct FolderChanges<'s> {
    script: &'s ParsedShell,
    begin: &'s str,
    /// Where commands may lead, by their index.
    changes: BTreeMap<usize, Vec<String>>,
}

impl<'s> FolderChanges<'s> {
    pub(super) fn new(script: &'s ParsedShell, begin: &'s str) -> FolderChanges<'s> {
        FolderChanges { script, begin, changes: BTreeMap::new() }
    }

    /// The folders in which the command at `index` may run.
    fn of(&self, index: usize) -> Vec<String> {
        let mut found = vec![self.begin.to_owned()];
        for (at, leads) in self.changes.range(..index).filter(|(at, _)| self.reaches(**at, index)) {
            if self.is_certain(*at, index) {
                found.clear();
            }
            add_new(&mut found, leads);
        }
        found
    }

    /// Whether the command at `to` runs only if the one at `from` changed the folder just before.
    fn is_certain(&self, from: usize, to: usize) -> bool {
        let [change, simple] = [from, to].map(|index| &self.script.commands[index]);
        let literal = |word: &Word, names: &[&str]| {
            word.as_literal().is_some_and(|word| names.contains(&word))
        };
        let is_plain = match change.words.as_slice() {
            [name, options @ .., _] => {
                literal(name, &["cd", "pushd"])
                    && options.iter().all(|word| literal(word, &["--", "-P", "-L"]))
            }
            [] | [_] => false,
        };
        is_plain
            && change.alone
            && simple.list == change.list
            && simple.after_success
            && simple.scope >= change.scope
    }

    /// Whether a change of folder at `from` may be in force where `to` runs, later.
    fn reaches(&self, from: usize, to: usize) -> bool {
        let around = |index: usize| self.script.scopes_around(self.script.commands[index].scope);
        // A subshell keeps its folder to itself.
        let subshell =
            around(from).find(|at| matches!(self.script.scopes[*at].kind, ScopeKind::Subshell));
        subshell.is_none_or(|subshell| around(to).any(|at| at == subshell))
    }

    /// Whether the command at `index` may run again in the shell whose folder it changes.
    fn may_repeat(&self, index: usize) -> bool {
        self.script
            .scopes_around(self.script.commands[index].scope)
            .map(|at| &self.script.scopes[at].kind)
            .take_while(|kind| !matches!(kind, ScopeKind::Subshell))
            .any(|kind| {
                matches!(kind, ScopeKind::Loop | ScopeKind::For { .. } | ScopeKind::Function)
            })
    }

    /// Whether the folder is certainly that in which the script begins.
    pub(super) fn are_none(&self) -> bool {
        self.changes.is_empty()
    }
}

impl Judge<'_> {
    /// Judges the command at `index` from every folder that it may run in.
    pub(super) fn in_folders<'s>(
        &mut self,
        folders: &mut FolderChanges<'s>,
        index: usize,
        variables: &mut Variables<'s>,
    ) {
        let mut found = folders.of(index);
        if found.len() > limits::SHELL_FOLDERS || folders.changes.len() > MOST_CHANGES {
            self.add(Finding::ask(Rule::ShellSize, "it changes the folder too often"));
        }
        found.truncate(limits::SHELL_FOLDERS);
        let made = self.folders.len();
        for cwd in found {
            variables.cwd = (cwd == folders.begin && !self.seen.lost).then_some(folders.begin);
            self.go(cwd);
            self.simple(folders.script, index, variables);
        }
        self.go(folders.begin.to_owned());
        let leads = &self.folders[made..];
        if !leads.is_empty() {
            add_new(folders.changes.entry(index).or_default(), leads);
            if folders.may_repeat(index) {
                self.lose_folder("it may change the folder again and again");
            }
        }
    }

    /// The folder is not known in which what follows runs.
    fn lose_folder(&mut self, reason: &str) {
        self.seen.lost = true;
        self.add(Finding::containable(Rule::Path(PathRule::Outside), reason));
    }

    /// Judges what follows from the folder `cwd`.
    pub(super) fn go(&mut self, cwd: String) {
        if self.places.cwd != cwd {
            self.places.to_mut().cwd = cwd;
        }
    }
}

/// Adds the folders that are not there.
fn add_new(folders: &mut Vec<String>, more: &[String]) {
    for folder in more {
        if !folders.contains(folder) {
            folders.push(folder.clone());
        }
    }
}

fn is_option(arg: &Arg) -> bool {
    matches!(arg.text.as_str(), "-P" | "-L" | "-e" | "--" | "-q" | "-n" | "-s")
}

/// Judges a change of folder: within the checkout it is followed.
pub(crate) fn judge(judge: &mut Judge<'_>, parsed: &ParsedArgs<'_>) {
    const UNKNOWN: &str = "it goes to a folder that is not known";
    let rule = || Rule::Path(PathRule::Outside);
    if parsed.name == "popd" {
        return judge.lose_folder(UNKNOWN);
    }
    let targets: Vec<&Arg> = parsed.args.iter().filter(|arg| !is_option(arg)).collect();
    let [target] = targets.as_slice() else {
        return judge.add(Finding::deny(rule(), "it leaves the working folder"));
    };
    let Some(path) = target.known().filter(|path| !path.starts_with(['-', '+'])) else {
        return judge.lose_folder(UNKNOWN);
    };
    // `cd -P` goes up from where a link leads.
    let folders = [Some(judge.places.absolute(path)), judge.places.physical(path)];
    judge.folders.extend(folders.into_iter().flatten());
    judge.consider(judge.places.judge_text(path, Access::List));
    if !judge.places.is_inside(path) {
        return judge
            .add(Finding::containable(rule(), format!("`{path}` is outside the checkout")));
    }
    if judge.places.class(path) != PathClass::Repository {
        judge.add(Finding::ask(rule(), format!("`{path}` is not a folder of the project")));
    }
}
