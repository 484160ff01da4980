//! Judges the commands of a line and collects the findings.
//!
//! The table ([`programs`]) and the reader of arguments ([`options`]) only say what is there; the
//! judgements about it are here and in the modules below.

pub(super) mod builtins;
pub(super) mod entry;
pub(super) mod files;
pub(super) mod folder;
pub(super) mod forge;
pub(super) mod git;
mod line;
pub(super) mod network;
mod program;
mod redirection;
mod roles;
pub(super) mod scripts;
mod subcommand;
pub(super) mod tasks;
pub(super) mod workflow;
pub(super) mod wrappers;

use super::Context;
use super::environment::{self, Scope};
use super::expand::{Arg, Shape, Variables};
use super::losses::Losses;
use super::options;
use super::paths::{Places, file_name, mentions_secret};
use super::programs::{self, Class};
use super::shell::{self, AssignmentForm, ParsedShell, ScopeKind, Word};
use super::verdict::{Decision, Finding, Rule, Worst};
use entry::{ParsedArgs, ProgramEntry};
pub use git::{Staging, Taken};
use onloop_syntax::{limits, text::says_secret};
use std::borrow::Cow;

/// Collects findings about one call.
pub(super) struct Judge<'c> {
    /// What the call is judged against.
    pub context: &'c Context,
    /// The folders of the context, seen from where the command runs.
    pub places: Cow<'c, Places>,
    seen: line::Seen,
    worst: Worst,
    commands: Vec<Examined>,
    depth: usize,
    /// The folders that commands of the line may lead to.
    folders: Vec<String>,
    /// The shell whose code is judged may know less than bash.
    is_posix_only: bool,
    /// The standard input of the command that is being checked, when the line contains it.
    pub standard: Option<Arg>,
    traced: bool,
    /// Whether files that git may bring back count as if it could, and what the call loses.
    recovering: Option<Losses>,
    /// What its commands would stage that they do not name.
    staged: Vec<Staging>,
}

/// Programs that print their version without a look at the project. Sources: their manuals; not cargo,
/// rustc and python, which rustup and pyenv may take as a file of the project says.
const SAY_VERSION: [&str; 4] = ["deno", "node", "npm", "uv"];

/// One command as it was understood, for explanations and for tests.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Examined {
    /// Its words, with a placeholder for what is not known.
    pub words: Vec<String>,
    /// What its entry in the table says; `None` without an entry.
    pub class: Option<Class>,
    /// What the table says that it is for; empty without an entry.
    pub about: &'static str,
    /// The table that knows it; empty without an entry.
    pub table: &'static str,
    /// The manuals that the table follows.
    pub source: &'static str,
    /// The part of its name that the table knows: `git push`.
    pub name: String,
    /// The worst finding about it; when not tracing, kept only if it asks.
    pub finding: Option<Finding>,
    /// How many wrappers and substitutions it was found in.
    pub depth: usize,
}

impl<'c> Judge<'c> {
    /// A judge without findings. With `traced`, the words of every command are kept.
    pub(super) fn new(context: &'c Context, traced: bool) -> Self {
        Judge {
            context,
            places: Cow::Borrowed(&context.places),
            seen: line::Seen::default(),
            worst: Worst::default(),
            commands: Vec::new(),
            depth: 0,
            folders: Vec::new(),
            is_posix_only: false,
            standard: None,
            traced,
            recovering: None,
            staged: Vec::new(),
        }
    }

    /// A judge to which every file that git may bring back counts as if it could.
    pub(super) fn recovering(context: &'c Context) -> Self {
        Judge { recovering: Some(Losses::default()), ..Judge::new(context, false) }
    }

    /// What the call removes or overwrites; only of a judge that recovers.
    pub(super) fn losses(&mut self) -> Option<Losses> {
        self.recovering.take()
    }

    /// Whether the call removes something that git has exactly as it is.
    pub(super) fn is_restorable(&self) -> bool {
        self.seen.restorable
    }

    /// Whether a command may change something, or is not known to change nothing.
    pub(super) fn changes(&self) -> bool {
        let reads = |command: &Examined| command.class.is_some_and(Class::only_reads);
        !self.seen.written.is_empty() || !self.commands.iter().all(reads)
    }

    /// Notes that the whole call runs beside others.
    pub(super) fn is_in_background(&mut self) {
        self.seen.background = true;
    }

    /// What its commands would stage that they do not name.
    pub(super) fn staged(&mut self) -> Vec<Staging> {
        std::mem::take(&mut self.staged)
    }

    /// The folders below the root in which its commands run git.
    pub(super) fn git_folders(&mut self) -> Vec<String> {
        std::mem::take(&mut self.seen.git_folders)
    }

    /// What was found, and every command that was looked at.
    pub(super) fn finish(mut self, in_shell: bool) -> (Option<Finding>, Vec<Examined>) {
        if in_shell {
            self.is_beside_others();
        }
        let mentions_secret = self.conclude();
        let finding = self.worst.into_finding();
        let finding = finding.map(|found| {
            let containable = in_shell
                && self.context.confined
                && found.decision == Decision::Ask
                && found.containable
                && !mentions_secret;
            if !containable {
                return found;
            }
            let reason = format!("{}, and the sandbox holds what it does", found.reason);
            Finding::allow(Rule::Contained(Box::new(found.rule)), reason)
        });
        (finding, self.commands)
    }

    /// What runs beside a confined command is confined as well: files change between this decision and
    /// their use. Behind a command that waits, one may have begun. Our own program has no place in a sandbox,
    /// and looks at what it uses; the commands of a forge wait for a server.
    fn is_beside_others(&mut self) {
        let is_beside = self.context.places.has_confined_command;
        let behind = match (is_beside, self.seen.waited) {
            (true, _) => 0,
            (false, Some(waits)) => waits,
            (false, None) if self.seen.background => 0,
            (false, None) => return,
        };
        let is = |command: &Examined, name: &str| command.name.split(' ').next() == Some(name);
        let others = self.commands.iter().skip(behind).filter(|command| {
            let opens_nothing = command.class == Some(Class::Prints) || is(command, "gh");
            !is(command, "onloop") && (is_beside || !opens_nothing)
        });
        // A line of redirections alone opens files as well.
        let opens = is_beside && (self.seen.redirects || self.commands.is_empty());
        if opens || others.count() > 0 {
            let reason = match is_beside {
                true => "a confined command that still runs may change what it uses",
                false => "what it uses behind a command that waits, or beside it, may change",
            };
            let ours = self.commands.iter().any(|command| is(command, "onloop"));
            let found = Finding::ask(Rule::HiddenCode, reason);
            self.add(Finding { containable: !ours, ..found });
        }
    }

    /// Adds a finding.
    pub(super) fn add(&mut self, finding: Finding) {
        self.worst.add(finding);
    }

    /// Adds a finding if there is one.
    pub(super) fn consider(&mut self, finding: Option<Finding>) {
        self.worst.consider(finding);
    }

    /// Reads `text` as shell code and judges every command in it.
    pub(super) fn code(&mut self, text: &str) {
        if self.depth >= limits::SHELL_REREAD_DEPTH {
            return self.add(Finding::ask(Rule::ShellDepth, "commands are nested too deeply"));
        }
        self.depth += 1;
        let script = shell::read(text);
        self.script(&script);
        // `select` prints the words that it is for.
        let has_loop = script.scopes.iter().any(|s| matches!(s.kind, ScopeKind::For { .. }));
        self.seen.rereads |=
            self.depth > 1 && text.contains('$') || has_loop && text.contains("select");
        self.seen.secret_variable |=
            line::has_secret_variable(text, &self.context.secret_variables);
        self.depth -= 1;
    }

    /// Judges `text` as shell code that may run or not: it can only forbid.
    pub(super) fn guessed_code(&mut self, text: &str) {
        self.forbidding(|judge| judge.code(text));
    }

    /// Judges `args` as a command that may run or not: it can only forbid.
    pub(super) fn guessed_command(&mut self, args: &[Arg]) {
        self.forbidding(|judge| judge.command(args, None));
    }

    /// Runs `examine` and keeps its worst finding only if that denies, waits for a person, or is about
    /// what leaves the machine.
    fn forbidding(&mut self, examine: impl FnOnce(&mut Self)) {
        let outer = std::mem::take(&mut self.worst);
        examine(self);
        let inner = std::mem::replace(&mut self.worst, outer);
        let leaves = |finding: &Finding| finding.lasting && !finding.containable;
        let matters = inner.decision() == Decision::Deny || inner.waits();
        if matters || inner.finding().is_some_and(leaves) {
            let finding = inner.into_finding();
            let mut kept = Worst::default();
            kept.consider(finding);
            self.worst.absorb(kept);
        }
    }

    fn script(&mut self, script: &ParsedShell) {
        self.seen.background |= script.has_background;
        for concern in &script.concerns {
            self.add(Finding::ask(Rule::HiddenCode, *concern));
        }
        if self.is_posix_only && script.only_bash {
            let reason = "another shell than bash may read it otherwise";
            self.add(Finding::ask(Rule::UnreadableShell, reason));
        }
        if let Some(unparsed) = &script.unparsed {
            let reason = format!("the command cannot be read: {unparsed}");
            self.add(Finding::ask(Rule::UnreadableShell, reason));
        }
        if script.has_compound {
            let reason = "loops, functions and `[[` run in a sandbox only";
            self.add(Finding::containable(Rule::UnreadableShell, reason));
        }
        let unknown = Arg::unknown(Shape::Splits);
        for scope in &script.scopes {
            if let ScopeKind::For { variable, .. } = &scope.kind {
                self.assignment(variable, &unknown, Scope::Shell);
            }
        }
        for name in &script.volatile {
            self.assignment(name, &unknown, Scope::Shell);
        }
        self.recursion(script);
        self.order(script);
        let begin = self.places.cwd.clone();
        let home = self.places.home().to_owned();
        // What is around code of an inner shell may have set the variable.
        let temporary = self.context.places.own_temporary.as_deref();
        let temporary = temporary.filter(|_| self.depth <= 1);
        let mut variables = Variables::new(script, Some(&begin), &home, temporary);
        variables.find_secrets(&self.context.secret_variables);
        if variables.hold_secrets() {
            self.seen.secret_set = true;
            // What is around this code may show the variable.
            if self.depth > 1 {
                self.shows_secret();
            }
        }
        let mut folders = folder::FolderChanges::new(script, &begin);
        for (index, simple) in script.commands.iter().enumerate() {
            self.seen.own_database = None;
            for assignment in &simple.assignments {
                let stays = folders.are_none() && !self.seen.lost;
                variables.cwd = stays.then_some(begin.as_str());
                let value = variables.single(&assignment.value, index);
                let scope = scope_of(&simple.words);
                self.assignment(&assignment.name, &value, scope);
                let name = assignment.name.as_str();
                if value.secret && may_show(name, !simple.words.is_empty()) {
                    self.shows_secret();
                }
                if assignment.form == AssignmentForm::Array {
                    self.latent_code(&value);
                }
            }
            self.in_folders(&mut folders, index, &mut variables);
        }
    }

    fn simple(&mut self, script: &ParsedShell, index: usize, variables: &Variables<'_>) {
        let simple = &script.commands[index];
        self.seen.redirects |= !simple.redirections.is_empty();
        for redirection in &simple.redirections {
            self.redirection(script, redirection, variables, index);
        }
        let redirections = simple.redirections.as_slice();
        self.redirected_secrets(script, redirections, variables, index);
        self.consider(self.context.client.source(simple));
        if simple.words.is_empty() {
            return;
        }
        let stdin = self.standard_input(script, redirections, variables, index);
        for args in variables.commands(index) {
            self.command(&args, stdin.as_ref());
        }
    }

    /// An assignment in front of a command, or for the shell itself.
    pub(super) fn assignment(&mut self, name: &str, value: &Arg, scope: Scope) {
        if self.context.confined {
            self.seen.secret |= mentions_secret(value.guessed());
        }
        let finding = self.variable(name, value, scope);
        if let Some(is_own) =
            environment::chooses_own_database(name, value.known().unwrap_or_default())
        {
            self.seen.own_database = Some(is_own && self.seen.own_database != Some(false));
        }
        self.seen.steered |= finding.is_some();
        self.consider(finding);
        self.latent_code(value);
        if name.eq_ignore_ascii_case("npm_config_call") {
            self.guessed_code(value.guessed());
        }
    }

    /// What is found about setting a variable.
    pub(super) fn variable(&self, name: &str, value: &Arg, scope: Scope) -> Option<Finding> {
        let is_passed_on = scope == Scope::Shell && self.context.exported.contains(name);
        environment::judge(name, value, if is_passed_on { Scope::Program } else { scope })
    }

    /// Judges substitutions in a value, which a later evaluation may run.
    fn latent_code(&mut self, value: &Arg) {
        let text = &value.text;
        if !text.contains("$(") && !text.contains('`') && !text.contains("${") {
            return;
        }
        self.add(Finding::ask(
            Rule::HiddenCode,
            "a variable holds a substitution that an evaluation may run",
        ));
        self.guessed_code(text);
    }

    /// Judges one command with its arguments: by its entry in the table and by the user's
    /// rules.
    pub(super) fn command(&mut self, args: &[Arg], stdin: Option<&Arg>) {
        let Some(first) = args.first() else { return };
        if self.depth >= limits::SHELL_REREAD_DEPTH || self.commands.len() >= limits::SHELL_COMMANDS
        {
            // What was only guessed asks as well.
            let finding = Finding::ask(Rule::ShellSize, "there are too many commands");
            return self.add(finding.for_good());
        }
        self.depth += 1;
        let at = self.commands.len();
        self.commands.push(Examined {
            name: file_name(first.guessed()).to_owned(),
            depth: self.depth,
            ..Examined::default()
        });
        let outer = std::mem::take(&mut self.worst);
        self.look(args);
        self.consider(self.context.client.command(args, &self.places));
        if first.known().is_none() {
            self.unknown_program(args, stdin);
        } else {
            self.known_program(args, stdin, at);
        }
        let knows_files = self.commands[at].class.is_some_and(Class::knows_files);
        if !knows_files || self.worst.decision() > Decision::Allow {
            self.consider(self.context.client.uncertain(args, &self.places));
        }
        let mut own = std::mem::replace(&mut self.worst, outer);
        own = self.apply_rules(args, at, own);
        self.depth -= 1;
        if self.traced {
            self.commands[at].words = args.iter().map(|arg| arg.text.clone()).collect();
        }
        if self.traced || own.decision() == Decision::Ask {
            self.commands[at].finding = own.finding().cloned();
        }
        self.worst.absorb(own);
    }

    /// Combines what the tables found with the user's rules.
    fn apply_rules(&self, args: &[Arg], at: usize, own: Worst) -> Worst {
        let mut result = Worst::default();
        let built_in = own.decision();
        if built_in == Decision::Deny || self.context.rules.is_empty() {
            return own;
        }
        let matched = self.context.rules.command(args, &self.places);
        match (matched, built_in) {
            (Some(finding), _) if finding.decision > Decision::Allow => {
                result.add(finding);
                result.consider(own.into_finding());
            }
            // The rule allows the program, and says nothing about the rest.
            (Some(finding), Decision::Ask) => {
                let firm = own.firm(|option| self.context.rules.names_option(args, option));
                if let Some(firm) = firm {
                    result.add(firm.clone());
                } else if let Some(word) = self.uncovered_word(args, &self.commands[at]) {
                    result.add(word);
                    result.consider(own.into_finding());
                } else {
                    result.add(finding);
                }
            }
            _ => return own,
        }
        result
    }

    /// A word that an allow rule about the command says nothing about.
    fn uncovered_word(&self, args: &[Arg], command: &Examined) -> Option<Finding> {
        let has = |words: &[&str]| args.iter().any(|arg| words.contains(&arg.text.as_str()));
        let is_elsewhere = match command.name.split(' ').next() {
            Some("docker" | "podman" | "nerdctl" | "kubectl" | "oc") => has(&["exec", "run"]),
            // Services have names that begin with a slash.
            Some("aws") => !has(&["s3"]),
            Some(name) => matches!(name, "ssh" | "mosh" | "autossh" | "gh"),
            None => false,
        };
        let database = |arg: &Arg| {
            let word = arg.text.as_str();
            let is_named = || self.context.rules.names_option(args, word);
            (network::is_database_elsewhere(word) && !is_named()).then(|| {
                let reason = format!("no allow rule names the database `{word}`");
                Finding::ask(Rule::Option(format!("{} {word}", command.name)), reason).for_good()
            })
        };
        let mut words = args.iter().skip(1);
        words.find_map(|arg| self.places.judge_word(arg, is_elsewhere).or_else(|| database(arg)))
    }

    fn entry(
        &mut self,
        program: &'static ProgramEntry,
        name: &str,
        args: &[Arg],
        stdin: Option<&Arg>,
        at: usize,
    ) {
        if let [only] = args
            && matches!(only.known(), Some("--version" | "--help"))
            && program.class.decision() != Decision::Deny
        {
            self.commands[at].class = Some(Class::Prints);
            // Programs that do more than read load the project, or are files of it.
            let says_version = only.known() == Some("--version") && SAY_VERSION.contains(&name);
            if !program.class.is_allowed() && !says_version {
                let reason = format!("`{name}` may load the project before it shows help");
                self.add(Finding::containable(Rule::Program(name.to_owned()), reason));
            }
            return;
        }
        let parsed = options::parse(program, name, args);
        self.arguments(&parsed);
        name.clone_into(&mut self.commands[at].name);
        if program.has_subcommands() {
            return self.subcommand(&parsed, stdin, at);
        }
        self.commands[at].class = Some(program.class);
        self.commands[at].about = program.about;
        let class = program.class;
        let runs = class == Class::Builds || class == Class::Runs;
        self.seen.built |= runs;
        if runs {
            self.reaches_database(name, args);
        }
        self.seen.reaches |=
            matches!(class, Class::Records | Class::Updates | Class::Reports | Class::Queries);
        if program.check.is_none() || class.decision() != Decision::Ask {
            self.classified(class, &parsed);
        }
        if let Some(check) = program.check {
            let outer = self.standard.take();
            self.standard = stdin.cloned();
            check(self, &parsed);
            self.standard = outer;
        } else if let Some(rest) = parsed.rest {
            self.command(&args[rest..], stdin);
        }
    }

    /// Adds the finding that follows from the class of a program alone.
    pub(super) fn classified(&mut self, class: Class, parsed: &ParsedArgs<'_>) {
        self.seen.reaches |= class == Class::Queries;
        if !class.is_allowed() {
            let rule = Rule::Program(parsed.name.to_owned());
            let reason = format!("`{}` {}", parsed.name, class.sentence());
            // What is put together when the line runs, or is an address, may carry something away.
            let sends = class == Class::Fetches && network::sends(parsed);
            let (decision, containable) = (class.decision(), class.is_containable() && !sends);
            let lasting = class.is_lasting() || sends;
            self.add(Finding { decision, rule, reason, containable, lasting });
        } else if class.finds_files() && self.context.confines_builds && is_containable(parsed) {
            self.ask_held(parsed, "uses files that it finds itself");
        }
    }

    /// Adds a finding about a program: "`git push` {what}".
    fn about(
        &mut self,
        parsed: &ParsedArgs<'_>,
        decision: Decision,
        containable: bool,
        what: &str,
    ) {
        let rule = Rule::Program(parsed.name.to_owned());
        let reason = format!("`{}` {what}", parsed.name);
        let lasting = decision == Decision::Ask && parsed.program.class.is_lasting();
        self.add(Finding { decision, containable, lasting, ..Finding::ask(rule, reason) });
    }

    /// Asks about a program: "`git push` {what}".
    fn ask(&mut self, parsed: &ParsedArgs<'_>, what: &str) {
        self.about(parsed, Decision::Ask, false, what);
    }

    /// Asks about a program of which a sandbox holds whatever it does, if it is one.
    fn ask_held(&mut self, parsed: &ParsedArgs<'_>, what: &str) {
        self.about(parsed, Decision::Ask, is_containable(parsed), what);
    }

    /// Forbids a program: "`git push` {what}".
    fn deny(&mut self, parsed: &ParsedArgs<'_>, what: &str) {
        self.about(parsed, Decision::Deny, false, what);
    }

    /// Judges an option that turns a program into something else.
    fn makes(&mut self, parsed: &ParsedArgs<'_>, name: &str, class: Class) {
        if class.is_allowed() {
            return;
        }
        // A rule about a program says nothing about options that make it something else.
        let rule = Rule::Option(format!("{} {name}", parsed.name));
        let names_code = matches!(class, Class::NamesCode | Class::Runs);
        // A server of this machine is within reach of a sandbox.
        let local = class == Class::Connects && network::is_local_only(parsed);
        let held =
            if names_code { self.names_own_code(parsed, name) } else { class.is_containable() };
        let containable = local || held && is_containable(parsed);
        let reason = format!("`{}` with `{name}` {}", parsed.name, class.sentence());
        let (decision, lasting) = (class.decision(), class.is_lasting() && !local);
        self.add(Finding { decision, rule, reason, containable, lasting });
    }
}

/// Whether a sandbox holds all that a program does. It hides the records of runs, so that onloop itself
/// cannot work inside.
fn is_containable(parsed: &ParsedArgs<'_>) -> bool {
    let program = parsed.name.split(' ').next();
    parsed.program.class.is_containable() && !matches!(program, Some("onloop" | "hotl-rt"))
}

/// Whether a variable is one whose value may be shown: prompts and what git records, and what a command
/// gets under a name that does not say that it is secret.
fn may_show(name: &str, is_prefix: bool) -> bool {
    let is_prompt = matches!(name, "PS0" | "PS1" | "PS2" | "PS3" | "PS4");
    is_prompt || name.starts_with("GIT_") || is_prefix && !says_secret(name)
}

/// How an assignment in front of these words reaches programs.
fn scope_of(words: &[Word]) -> Scope {
    let reads = |word: &str| {
        let git = programs::find("git").into_iter().flat_map(ProgramEntry::every_subcommand);
        git.filter(|sub| sub.class.only_reads()).any(|sub| sub.is_called(word))
    };
    let mut literals = words.iter().map(Word::as_literal);
    match (literals.next(), literals.next().flatten()) {
        (None, _) => Scope::Shell,
        (Some(Some("git")), Some(word)) if reads(word) => Scope::Git,
        (Some(Some("read" | "mapfile" | "readarray")), _) => Scope::Read,
        _ => Scope::Program,
    }
}
