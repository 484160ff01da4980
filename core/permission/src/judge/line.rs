//! What only the commands of a line together show: code that is fetched and run, files that are
//! written and run, functions that call themselves.

use std::collections::BTreeSet;

use super::{Examined, Judge, builtins};
use crate::expand::Arg;
use crate::options;
use crate::paths::{Access, file_name, mentions_secret};
use crate::programs::Class;
use crate::shell::{ParsedShell, Scope, ScopeKind, Simple, Word};
use crate::verdict::{Finding, PathRule, Rule};
use onloop_syntax::text::says_secret;

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
    /// Whether the variables of the command choose a database of the checkout; `None` if none chooses one.
    pub own_database: Option<bool>,
    /// A program is allowed to reach beyond the checkout: git, a forge, a service.
    pub reaches: bool,
    /// git runs in a folder below the root that is no repository of its own, as far as the host saw.
    pub in_plain: bool,
    /// A part of the line, or all of it, runs beside what follows it.
    pub background: bool,
    /// A command reads or writes files by redirections.
    pub redirects: bool,
    /// The first command that takes its time, so that others may run meanwhile.
    pub waited: Option<usize>,
    /// A part of the line may run again.
    pub repeats: bool,
    /// The commands of the line are not one list joined by `&&`.
    pub parts: bool,
    /// Folders below the root of the checkout in which git runs.
    pub git_folders: Vec<String>,
    /// The folder is not known in which commands run.
    pub lost: bool,
    /// A part of the line runs at a later time: a trap or a function.
    pub deferred: bool,
    /// Something is removed or overwritten.
    pub loses: bool,
    /// The branch that is checked out may be another one than before.
    pub switched: bool,
    /// Something is removed that git has exactly as it is.
    pub restorable: bool,
    /// Something is removed that the host keeps.
    pub kept: bool,
    /// The shell prints its commands before it runs them.
    pub traces: bool,
    /// A variable occurs that is secret.
    pub secret_variable: bool,
    /// A variable gets the value of a secret.
    pub secret_set: bool,
    /// Code within the line's words uses variables, or a command of the shell prints its own.
    pub rereads: bool,
}

/// Commands of git that make a repository.
const CREATES: [&str; 2] = ["git init", "git clone"];

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
            // In a word that the shell leaves alone, `.*` alone is most often anything, in an expression.
            let is_mention = |arg: &&Arg| match arg.known() {
                Some(text) => mentions_secret(&text.replace(".*", ".")),
                None => mentions_secret(arg.guessed()),
            };
            let mut mentions = args.iter().filter(is_mention).peekable();
            if mentions.peek().is_some() {
                let names = options::names(name, &args[1..]);
                let is_name = |arg: &Arg| names.iter().any(|known| std::ptr::eq(*known, arg));
                self.seen.secret |= mentions.any(|arg| !is_name(arg));
            }
        }
        if args.iter().any(|arg| arg.secret) && !builtins::keeps_secret(name, &args[1..]) {
            self.shows_secret();
        }
    }

    /// Asks about a secret variable that a command gets.
    pub(super) fn shows_secret(&mut self) {
        let reason = "a variable that is secret by its name or its value is in its words";
        self.add(Finding::ask(Rule::SecretVariable, reason));
    }

    /// Judges a file that a command reads.
    pub(super) fn reads(&mut self, file: &Arg) {
        self.consider(self.context.client.file(file, Access::Read, &self.places));
        self.opens(file, Access::Read);
    }

    /// Judges a file that a command opens, for the rules about paths.
    pub(super) fn opens(&mut self, file: &Arg, access: Access) {
        self.uses_file();
        self.consider(self.places.judge(file, access));
    }

    /// Contains the use of a file behind a command of git that may put a link in its place.
    pub(super) fn uses_file(&mut self) {
        let updates = |command: &Examined| {
            command.name.starts_with("git ")
                && matches!(command.class, Some(Class::Updates | Class::Changes))
        };
        if self.commands.iter().any(updates) {
            let reason = "git may bring links and settings that the line uses then";
            self.add(Finding::containable(Rule::HiddenCode, reason));
        }
    }

    /// Notes files that a command writes.
    pub(super) fn writes(&mut self, files: &[&Arg]) {
        for file in files {
            self.consider(self.context.client.file(file, Access::Write, &self.places));
            self.overwrites(file);
        }
        let names = files.iter().map(|arg| file_name(arg.guessed()).to_lowercase());
        self.seen.written.extend(names);
    }

    /// Notes a file that a command runs.
    pub(super) fn runs_file(&mut self, path: &str) {
        self.seen.run.push(file_name(path).to_lowercase());
    }

    /// Judges what the line does as a whole. Whether it mentions a secret.
    pub(super) fn conclude(&mut self) -> bool {
        let seen = std::mem::take(&mut self.seen);
        if seen.fetched && seen.unseen {
            self.add(Finding::deny(Rule::HiddenCode, "it runs code that it fetches"));
        }
        if seen.secret_set && seen.rereads || seen.traces && seen.secret_variable {
            self.shows_secret();
        }
        // Code that runs later runs wherever the line has gone by then.
        let is_lost = seen.lost || seen.deferred && !self.folders.is_empty();
        if is_lost && seen.loses {
            let reason = "it removes or overwrites files in a folder that is not known";
            let rule = Rule::Path(PathRule::Outside);
            self.add(Finding::ask(rule, reason).for_good());
        }
        let rule = |name: &&String| RULES.iter().any(|end| name.ends_with(end));
        let runs = |name: &&String| seen.run.contains(name) || (seen.built && rule(name));
        if seen.written.iter().any(|name| runs(&name)) {
            let reason = "it writes a file that it runs";
            self.add(Finding::containable(Rule::HiddenCode, reason));
        }
        if seen.in_plain && (!seen.written.is_empty() || self.prepares_git(&seen)) {
            let reason = "the line may make a folder a repository in which it runs git";
            self.add(Finding::ask(Rule::HiddenCode, reason));
        }
        if seen.steered && seen.reaches {
            let reason = "a variable that is not known may choose what it contacts";
            self.add(Finding::ask(Rule::Environment, reason));
        }
        seen.secret
    }

    /// Notes whether commands may run again, or beside each other.
    pub(super) fn order(&mut self, script: &ParsedShell) {
        let may_repeat =
            |scope: &Scope| !matches!(scope.kind, ScopeKind::Top | ScopeKind::Subshell);
        self.seen.deferred |= !script.functions.is_empty();
        self.seen.repeats |= script.scopes.iter().any(may_repeat);
        let is_one = |simple: &Simple| simple.list == script.commands[0].list;
        self.seen.parts |= script.scopes.len() > 1 || !script.commands.iter().all(is_one);
    }

    /// Whether a command may write files before git runs. The last command of git is not followed by
    /// another one if it runs once, and alone or at the end of one list.
    fn prepares_git(&self, seen: &Seen) -> bool {
        let of_git = |command: &Examined| command.name.starts_with("git ");
        let last = self.commands.iter().rposition(of_git);
        let is_only = self.commands.iter().filter(|command| of_git(command)).count() == 1;
        let least = self.commands.iter().map(|command| command.depth).min();
        // What a wrapper runs may wait, or run again.
        let wrapped = |command: &Examined| of_git(command) && Some(command.depth) != least;
        let ordered =
            !seen.repeats && (is_only || !seen.parts) && !self.commands.iter().any(wrapped);
        self.commands.iter().enumerate().any(|(at, command)| {
            let leaves_files =
                command.class.is_some_and(|class| class.only_reads() || class == Class::Records)
                    || ordered && Some(at) == last && !CREATES.contains(&command.name.as_str());
            !leaves_files
        })
    }

    /// Notes that the command that is being judged changes no file of the working tree.
    pub(super) fn leaves_files(&mut self) {
        if let Some(command) = self.commands.last_mut() {
            command.class = Some(Class::Records);
        }
    }

    /// Forbids functions that call themselves, which is how a line fills a machine with processes.
    pub(super) fn recursion(&mut self, script: &ParsedShell) {
        let body = |scope: usize, command: usize| {
            script.scopes_around(script.commands[command].scope).any(|at| at == scope)
        };
        let calls = |from: usize, name: &str| {
            (0..script.commands.len()).any(|command| {
                let words = &script.commands[command].words;
                // `command` runs the program of this name.
                let to_program = words.first().and_then(Word::as_literal) == Some("command");
                let mut words = words[if to_program { 2 } else { 0 }.min(words.len())..].iter();
                body(script.functions[from].scope, command)
                    && words.any(|word| word.as_literal() == Some(name))
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
}

/// Whether a variable stands in a line that is secret: by its name, or one of `known`.
pub(super) fn has_secret_variable(text: &str, known: &BTreeSet<String>) -> bool {
    text.split('$').skip(1).any(|rest| {
        let rest = rest.trim_start_matches(['{', '!', '#']);
        let is_name = |c: char| c.is_ascii_alphanumeric() || c == '_';
        let name = &rest[..rest.find(|c| !is_name(c)).unwrap_or(rest.len())];
        says_secret(name) || known.contains(name)
    })
}

/// Most functions of which it is looked at what they call.
const MOST_FUNCTIONS: usize = 16;
