//! Commands that change the folder: what follows is judged from every folder that it may be in.

use super::Judge;
use super::entry::ParsedArgs;
use crate::expand::{Arg, Variables};
use crate::paths::{Access, PathClass};
use crate::shell::{ParsedShell, ScopeKind, Word};
use crate::verdict::{Finding, PathRule, Rule};
use onloop_syntax::limits;
use std::collections::{BTreeMap, BTreeSet};

/// The names of the commands.
const CHANGES: [&str; 4] = ["cd", "pushd", "popd", "chdir"];

/// Most commands of a script that may change the folder.
const MOST_CHANGES: usize = 64;

/// How often commands that may run again are judged from the folders that are found.
const ROUNDS: usize = 2;

/// What the commands judged so far do to the folder of the shell.
#[derive(Default)]
pub(super) struct Moves {
    /// Where they may lead.
    made: Vec<String>,
    /// How many of them run code at any later time: traps.
    pub deferred: usize,
    /// How many are a `popd`, which may lead to wherever another command leads.
    returns: usize,
    /// A function has the name of a command that changes the folder.
    shadowed: bool,
}

impl Moves {
    /// How many folders commands may lead to.
    fn known(&self) -> usize {
        self.made.iter().collect::<BTreeSet<_>>().len()
    }
}

/// The folders that the commands of a script may run in.
pub(super) struct FolderChanges<'s> {
    script: &'s ParsedShell,
    begin: &'s str,
    /// The folders that each command was judged from.
    judged: Vec<Vec<String>>,
    /// Where commands may lead, by their index.
    changes: BTreeMap<usize, Vec<String>>,
    /// Commands with code that runs at any later time.
    deferred: BTreeSet<usize>,
    /// Commands with a `popd`, and how many folders were known when they were judged.
    returns: BTreeMap<usize, usize>,
}

impl<'s> FolderChanges<'s> {
    pub(super) fn new(script: &'s ParsedShell, begin: &'s str) -> FolderChanges<'s> {
        FolderChanges {
            script,
            begin,
            judged: vec![Vec::new(); script.commands.len()],
            changes: BTreeMap::new(),
            deferred: BTreeSet::new(),
            returns: BTreeMap::new(),
        }
    }

    /// The folders in which the command at `index` may run; `shadowed` says whether `cd` may be a function.
    fn of(&self, index: usize, shadowed: bool) -> Vec<String> {
        let mut found = vec![self.begin.to_owned()];
        // In a loop what follows comes first, the time before.
        let changes = self.changes.range(index..).chain(self.changes.range(..index));
        let reaching = changes.filter(|(at, _)| self.reaches(**at, index));
        for (at, leads) in reaching.clone() {
            if !shadowed && self.is_certain(*at, index) {
                found.clear();
            }
            add_new(&mut found, leads);
        }
        // A function or a trap may have run in between.
        for (at, leads) in reaching {
            if self.runs_any_time(*at) || self.runs_any_time(index) {
                add_new(&mut found, leads);
            }
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
        from < to
            && is_plain
            && change.alone
            && simple.list == change.list
            && simple.after_success
            && simple.scope >= change.scope
    }

    /// Whether a change of folder at `from` may be in force where `to` runs.
    fn reaches(&self, from: usize, to: usize) -> bool {
        if from < to || self.runs_any_time(to) {
            return self.runs_any_time(to) || self.reaches_behind(from, to);
        }
        // It runs again in a loop around both.
        let mut scopes = self.script.scopes_around(self.script.commands[from].scope);
        scopes
            .by_ref()
            .take_while(|at| !matches!(self.script.scopes[*at].kind, ScopeKind::Subshell))
            .any(|at| {
                let is_loop =
                    matches!(self.script.scopes[at].kind, ScopeKind::Loop | ScopeKind::For { .. });
                is_loop && self.is_around(at, to)
            })
    }

    fn reaches_behind(&self, from: usize, to: usize) -> bool {
        for at in self.script.scopes_around(self.script.commands[from].scope) {
            if self.is_around(at, to) {
                return true;
            }
            // A subshell keeps its folder to itself.
            if matches!(self.script.scopes[at].kind, ScopeKind::Subshell) {
                return false;
            }
        }
        true
    }

    /// Whether a command runs when something calls it: in a function or a trap.
    fn runs_any_time(&self, index: usize) -> bool {
        let mut scopes = self.script.scopes_around(self.script.commands[index].scope);
        self.deferred.contains(&index)
            || scopes.any(|at| matches!(self.script.scopes[at].kind, ScopeKind::Function))
    }

    fn is_around(&self, scope: usize, index: usize) -> bool {
        self.script.scopes_around(self.script.commands[index].scope).any(|at| at == scope)
    }

    /// How many folders are known that commands lead to.
    pub(super) fn known(&self) -> usize {
        self.changes.values().map(Vec::len).sum()
    }
}

impl Judge<'_> {
    /// Notes that a script begins which may define functions.
    pub(super) fn begin_script(&mut self, script: &ParsedShell) {
        self.moves.shadowed |=
            script.functions.iter().any(|function| CHANGES.contains(&function.name.as_str()));
    }

    /// Judges the command at `index` from every folder that it may run in, as far as it was
    /// not yet.
    /// `false`: there are too many.
    pub(super) fn in_folders<'s>(
        &mut self,
        folders: &mut FolderChanges<'s>,
        index: usize,
        variables: &mut Variables<'s>,
    ) -> bool {
        let mut found = folders.of(index, self.moves.shadowed);
        let is_complete =
            found.len() <= limits::SHELL_FOLDERS && folders.changes.len() <= MOST_CHANGES;
        found.truncate(limits::SHELL_FOLDERS);
        let known = self.moves.known();
        let has_changed = folders.returns.get(&index).is_some_and(|before| *before != known);
        let (made, deferred, returns) =
            (self.moves.made.len(), self.moves.deferred, self.moves.returns);
        for cwd in found {
            let is_new = !folders.judged[index].contains(&cwd);
            if is_new {
                folders.judged[index].push(cwd.clone());
            } else if !has_changed {
                continue;
            }
            variables.cwd = (cwd == folders.begin && !self.seen.lost).then_some(folders.begin);
            self.go(cwd);
            self.simple(folders.script, index, variables);
        }
        self.go(folders.begin.to_owned());
        let leads = &self.moves.made[made..];
        if !leads.is_empty() {
            add_new(folders.changes.entry(index).or_default(), leads);
        }
        if self.moves.deferred > deferred {
            folders.deferred.insert(index);
        }
        if self.moves.returns > returns {
            folders.returns.insert(index, self.moves.known());
        }
        is_complete
    }

    /// Judges commands that may run again, or later, from the folders that other commands lead to.
    pub(super) fn in_later_folders<'s>(
        &mut self,
        folders: &mut FolderChanges<'s>,
        variables: &mut Variables<'s>,
    ) {
        for _ in 0..ROUNDS {
            let known = folders.known();
            if known == 0 {
                return;
            }
            let mut is_complete = true;
            for index in 0..folders.judged.len() {
                is_complete &= self.in_folders(folders, index, variables);
            }
            if is_complete && folders.known() == known {
                return;
            }
        }
        self.lose_folder("it may change the folder again and again");
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
    if parsed.name == "popd" && parsed.args.is_empty() {
        // Back to where any `pushd` was.
        judge.moves.returns += 1;
        let first = judge.context.places.cwd.clone();
        let known: BTreeSet<String> = judge.moves.made.iter().cloned().chain([first]).collect();
        if judge.moves.made.is_empty() || known.len() > limits::SHELL_FOLDERS {
            judge.lose_folder(UNKNOWN);
        }
        return judge.moves.made.extend(known.into_iter().take(limits::SHELL_FOLDERS));
    }
    let targets: Vec<&Arg> = parsed.args.iter().filter(|arg| !is_option(arg)).collect();
    let [target] = targets.as_slice() else {
        return judge.add(Finding::deny(rule(), "it leaves the working folder"));
    };
    let Some(path) = target.known().filter(|path| !path.starts_with(['-', '+'])) else {
        return judge.lose_folder(UNKNOWN);
    };
    judge.moves.made.push(judge.places.absolute(path));
    judge.consider(judge.places.judge_text(path, Access::List));
    if !judge.places.is_inside(path) {
        return judge
            .add(Finding::containable(rule(), format!("`{path}` is outside the checkout")));
    }
    if judge.places.class(path) != PathClass::Repository {
        judge.add(Finding::ask(rule(), format!("`{path}` is not a folder of the project")));
    }
}
