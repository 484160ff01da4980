//! Sub-commands of programs: known ones, unlisted ones, and those that stand for another program.

use super::Judge;
use super::entry::{ParsedArgs, words};
use super::tasks::{self, Leaving, TaskPlace};
use crate::expand::{Arg, shown};
use crate::programs::Class;

impl Judge<'_> {
    pub(super) fn subcommand(&mut self, parsed: &ParsedArgs<'_>, stdin: Option<&Arg>, at: usize) {
        let begin = self.places.cwd.clone();
        for &start in &parsed.other_starts {
            let name = parsed.name.split(' ').map(Arg::exact);
            let command: Vec<Arg> = name.chain(parsed.args[start..].iter().cloned()).collect();
            self.guessed_command(&command);
        }
        if let Some(check) = parsed.program.check {
            check(self, parsed);
        }
        self.subcommand_here(parsed, stdin, at);
        self.go(begin);
    }

    fn subcommand_here(&mut self, parsed: &ParsedArgs<'_>, stdin: Option<&Arg>, at: usize) {
        self.commands[at].class = Some(parsed.program.class);
        let Some(rest) = parsed.rest else {
            self.classified(parsed.program.class, parsed);
            if !parsed.args.is_empty() || parsed.program.alone {
                return;
            }
            return self.ask(parsed, "has no sub-command");
        };
        let word = &parsed.args[rest];
        let known = word
            .known()
            .and_then(|word| parsed.program.every_subcommand().find(|sub| sub.is_called(word)));
        match (known, parsed.program.otherwise) {
            (Some(sub), _) => {
                let name = format!("{} {}", parsed.name, word.text);
                self.entry(sub, &name, &parsed.args[rest + 1..], stdin, at);
            }
            (None, Some(class)) if word.known().is_some() => {
                self.unlisted_subcommand(parsed, word, class)
            }
            (None, _) => {
                self.ask(parsed, &format!("has no rule for `{}`", shown(&word.text)));
            }
        }
    }

    fn unlisted_subcommand(&mut self, parsed: &ParsedArgs<'_>, word: &Arg, class: Class) {
        let behind = parsed.rest.map_or(&[][..], |at| &parsed.args[at + 1..]);
        let place = match tasks::looks_by_verb(&word.text) {
            true => TaskPlace::Before,
            false => TaskPlace::Open,
        };
        let next = behind.first().map_or("", |arg| arg.text.as_str());
        let of_name = tasks::said_by_name(&word.text, next);
        let named = Leaving::graver(of_name, tasks::names_leaving_task(behind, place));
        let mut leaves = tasks::leaves_for(parsed.name, &word.text);
        // Some take the beginning of a name: `npm publi`.
        let takes_beginning = matches!(parsed.name, "npm" | "gem" | "bundle" | "bundler");
        let begins = |name: &&str| takes_beginning && name.starts_with(&word.text);
        let mut is_beginning = false;
        for sub in parsed.program.every_subcommand() {
            for full in words(sub.names).filter(begins) {
                is_beginning = true;
                leaves |= !sub.class.is_containable();
                let command = [parsed.name, full].map(Arg::exact);
                self.guessed_command(&[&command[..], behind].concat());
            }
        }
        let class = match (leaves, is_beginning) {
            (true, _) => Class::Publishes,
            (false, true) => parsed.program.class,
            (false, false) => class,
        };
        if named.is_some() {
            self.task_leaves(parsed, named);
        }
        self.classified(class, parsed);
        // Some run a program of the project: `yarn vercel`.
        if let Some(at) = parsed.rest.filter(|_| matches!(parsed.name, "yarn" | "pnpm" | "bun")) {
            self.forbidding(|judge| judge.runner(&parsed.args[at..]));
        }
    }
}
