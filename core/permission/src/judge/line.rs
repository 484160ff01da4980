//! What only the commands of a line together show: code that is fetched and run, files that are
//! written and run, functions that call themselves.

use super::{Examined, Judge, folder};
use crate::expand::{Arg, Variables};
use crate::paths::{file_name, mentions_secret};
use crate::programs::Class;
use crate::shell::{ParsedShell, Word};
use crate::verdict::{Decision, Finding, Rule};

/// What was seen of a line so far.
#[derive(Default)]
pub(super) struct Seen {
    /// Something was fetched from a network.
    pub fetched: bool,
    /// Code runs that is not in the line: from standard input or a substitution.
    pub unseen: bool,
    /// The name of a secret occurs in a word.
    pub secret: bool,
    /// Names of files that are written.
    pub written: Vec<String>,
    /// Names of files that are run.
    pub run: Vec<String>,
    /// The project's own rules are run.
    pub built: bool,
    /// A variable is set of which it is not known what programs do with it.
    pub steered: bool,
    /// A program is allowed to reach beyond the checkout: git, a forge, a service.
    pub reaches: bool,
    /// git runs in a folder below the root that is no repository of its own, as far as the host saw.
    pub in_plain: bool,
    /// Folders below the root of the checkout in which git runs.
    pub git_folders: Vec<String>,
    /// The folder is not known in which commands run.
    pub lost: bool,
    /// The branch that is checked out may be another one than before.
    pub switched: bool,
    /// Something is removed that git has exactly as it is.
    pub restorable: bool,
    /// Something is removed that the host keeps.
    pub kept: bool,
}

/// Ends of names of files that builds run.
const RULES: [&str; 12] = [
    "makefile",
    "gnumakefile",
    ".mk",
    "cmakelists.txt",
    ".cmake",
    "build.ninja",
    ".sh",
    ".bash",
    "package.json",
    "build.rs",
    "cargo.toml",
    "conftest.py",
];

impl Judge<'_> {
    /// Notes what the words of a command say about the line.
    pub(super) fn look(&mut self, args: &[Arg]) {
        let name = args.first().map_or("", |arg| file_name(arg.guessed()));
        self.seen.fetched |=
            matches!(name, "curl" | "wget" | "wget2" | "aria2c" | "http" | "https");
        if self.context.confined {
            self.seen.secret |= args.iter().any(|arg| mentions_secret(arg.guessed()));
        }
        // Whether a variable is set shows nothing of its value.
        if args.iter().any(|arg| arg.secret) && !matches!(name, "test" | "[" | ":" | "true") {
            let reason = "a variable whose name says that it is secret is in its words";
            self.add(Finding::ask(Rule::SecretVariable, reason));
        }
    }

    /// Notes files that a command writes.
    pub(super) fn writes(&mut self, files: &[&Arg]) {
        for file in files {
            self.consider(self.context.client.written(file, &self.places));
            self.overwrites(file);
        }
        let names = files.iter().map(|arg| file_name(arg.guessed()).to_lowercase());
        self.seen.written.extend(names);
    }

    /// Notes a file that a command runs.
    pub(super) fn runs_file(&mut self, path: &str) {
        self.seen.run.push(file_name(path).to_lowercase());
    }

    /// Judges what the line does as a whole.
    pub(super) fn conclude(&mut self) {
        let seen = std::mem::take(&mut self.seen);
        if seen.fetched && seen.unseen {
            self.add(Finding::deny(Rule::HiddenCode, "it runs code that it fetches"));
        }
        let rule = |name: &&String| RULES.iter().any(|end| name.ends_with(end));
        let runs = |name: &&String| seen.run.contains(name) || (seen.built && rule(name));
        if seen.written.iter().any(|name| runs(&name)) {
            let reason = "it writes a file that it runs";
            self.add(Finding::containable(Rule::HiddenCode, reason));
        }
        let writes = |command: &Examined| {
            let of_git = command.name.starts_with("git ")
                && !matches!(command.name.as_str(), "git init" | "git clone");
            !of_git && !command.class.is_some_and(Class::only_reads)
        };
        if seen.in_plain && (!seen.written.is_empty() || self.commands.iter().any(writes)) {
            let reason = "the line may make a folder a repository in which it runs git";
            self.add(Finding::ask(Rule::HiddenCode, reason));
        }
        if seen.steered && seen.reaches {
            let reason = "a variable that is not known may choose what it contacts";
            self.add(Finding::ask(Rule::Environment, reason));
        }
        self.secret_mentioned = seen.secret;
    }

    /// Forbids functions that call themselves, which is how a line fills a machine with processes.
    pub(super) fn recursion(&mut self, script: &ParsedShell) {
        let body = |scope: usize, command: usize| {
            let mut at = Some(script.commands[command].scope);
            while let Some(current) = at {
                if current == scope {
                    return true;
                }
                at = script.scopes[current].parent;
            }
            false
        };
        let calls = |from: usize, name: &str| {
            (0..script.commands.len()).any(|command| {
                let words = &script.commands[command].words;
                body(script.functions[from].scope, command)
                    && words.iter().filter_map(Word::as_literal).any(|word| word == name)
            })
        };
        let functions = &script.functions;
        let count = functions.len().min(MOST_FUNCTIONS);
        let mut reaches: Vec<Vec<bool>> = (0..count)
            .map(|from| (0..count).map(|to| calls(from, &functions[to].name)).collect())
            .collect();
        for via in 0..count {
            for from in 0..count {
                for to in 0..count {
                    let through = reaches[from][via] && reaches[via][to];
                    reaches[from][to] |= through;
                }
            }
        }
        if functions.len() > MOST_FUNCTIONS {
            self.add(Finding::ask(Rule::ShellSize, "there are too many functions"));
        }
        if (0..count).any(|at| reaches[at][at]) {
            let reason = "a function calls itself without end";
            self.add(Finding::deny(Rule::HiddenCode, reason));
        }
    }

    /// Judges the command at `index` from every folder that it may run in.
    pub(super) fn in_folders(
        &mut self,
        folders: &folder::FolderChanges<'_>,
        index: usize,
        judge: impl Fn(&mut Self),
    ) {
        let Some(found) = folders.of(index) else {
            return self.add(Finding::ask(Rule::ShellSize, "it changes the folder too often"));
        };
        let [only] = found.as_slice() else {
            let begin = self.places.cwd.clone();
            for cwd in found {
                self.go(cwd);
                judge(self);
            }
            return self.go(begin);
        };
        if *only == self.places.cwd {
            return judge(self);
        }
        let begin = self.places.cwd.clone();
        self.go(only.clone());
        judge(self);
        self.go(begin);
    }

    /// Judges what follows from the folder `cwd`.
    pub(super) fn go(&mut self, cwd: String) {
        if self.places.cwd != cwd {
            self.places.to_mut().cwd = cwd;
        }
    }
}

/// Most functions of which it is looked at what they call.
const MOST_FUNCTIONS: usize = 16;

/// The decision about a line that runs in a sandbox.
pub(super) fn is_contained(finding: &Finding, secret_mentioned: bool) -> bool {
    finding.decision == Decision::Ask && finding.containable && !secret_mentioned
}

/// The variables of a script; in one that changes the folder, `PWD` is not known.
pub(super) fn variables<'s>(
    script: &'s ParsedShell,
    cwd: &'s str,
    home: &'s str,
    temporary: Option<&'s str>,
) -> Variables<'s> {
    Variables::new(script, (!folder::changes(script)).then_some(cwd), home, temporary)
}
