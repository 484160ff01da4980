//! What runs by the first word of a command: a program of a table or none, a function, a file.

use super::entry::ArgFinding;
use super::tasks::{self, Leaving, TaskPlace};
use super::{Judge, wrappers};
use crate::expand::{Arg, HOLE};
use crate::options;
use crate::paths::{file_name, in_system_folder};
use crate::programs::{self, Class};
use crate::verdict::{Finding, Rule};

impl Judge<'_> {
    /// The program's name is only known when the line runs.
    pub(super) fn unknown_program(&mut self, args: &[Arg], stdin: Option<&Arg>) {
        self.add(Finding::ask(Rule::ComputedProgram, "a program's name is not known in advance"));
        let mut words: Vec<Arg> = Vec::new();
        for arg in args {
            let text = arg.guessed().replace(HOLE, "");
            words.extend(text.split_ascii_whitespace().map(Arg::exact));
        }
        if let Some(first) = words.first() {
            let pattern = first.text.contains(['*', '?', '[']);
            if !pattern && !first.text.is_empty() {
                return self.forbidding(|judge| judge.command(&words, stdin));
            }
            for name in programs::matching(file_name(&first.text)) {
                self.forbidden_program(name, &words, stdin);
            }
        }
    }

    pub(super) fn known_program(&mut self, args: &[Arg], stdin: Option<&Arg>, at: usize) {
        let path = args[0].text.as_str();
        let name = file_name(path);
        if path.contains('/') && !in_system_folder(path) {
            self.runs_file(path);
            let finding = tasks::run_file(path, &args[1..], &self.places);
            self.consider(finding);
            wrappers::behind_mark(self, &args[1..]);
            self.reaches_database(name, args);
            if let Some(program) = programs::find(name) {
                self.forbidden_program(name, args, stdin);
                let parsed = options::parse(program, name, &args[1..]);
                for found in &parsed.found {
                    if let ArgFinding::Makes(option, class @ Class::NamesCode) = found {
                        self.makes(&parsed, option, *class);
                    }
                }
            }
            return;
        }
        if path.contains('=') && !path.starts_with('=') {
            return self
                .add(Finding::ask(Rule::ComputedProgram, format!("`{path}` is not a program")));
        }
        if self.context.replaced.contains(name) {
            let reason = format!("`{name}` is a file of the checkout, or follows one");
            self.add(Finding::containable(Rule::ProgramFile, reason));
        }
        match programs::find_row(name) {
            Some((table, program)) => {
                (self.commands[at].table, self.commands[at].source) = (table.name, table.source);
                self.entry(program, name, &args[1..], stdin, at);
            }
            None => self.unlisted_program(name, args, stdin),
        }
    }

    fn unlisted_program(&mut self, name: &str, args: &[Arg], stdin: Option<&Arg>) {
        if name.starts_with('-') {
            let reason = format!("`{name}` stands where a program is expected");
            self.add(Finding::ask(Rule::UnknownProgram, reason));
            return wrappers::any_command(self, &args[1..]);
        }
        let said = [
            tasks::names_leaving_task(&[Arg::exact(name)], TaskPlace::Open),
            tasks::names_leaving_task(&args[1..], TaskPlace::Open),
            tasks::names_server(&args[1..]),
        ];
        let named = said.into_iter().fold(None, Leaving::graver);
        let found = named.filter(|found| !self.has_own_database(found, &args[1..]));
        let leaves = found.is_some();
        let reason = match found {
            Some(found) => format!("`{name}` {}", found.sentence()),
            None => format!("there is no rule for `{name}`"),
        };
        let finding = Finding::containable(Rule::UnknownProgram, reason);
        self.add(Finding { containable: !leaves, lasting: leaves, ..finding });
        wrappers::handed_on(self, &args[1..]);
        self.reaches_database(name, args);
        let folded = name.to_lowercase();
        let folded = folded.strip_suffix(".exe").unwrap_or(&folded);
        if folded != name && programs::find(folded).is_some() {
            self.forbidden_program(folded, args, stdin);
        }
    }

    /// Judges `args` as a call of the program `name`, which it may be: it can only forbid.
    fn forbidden_program(&mut self, name: &str, args: &[Arg], stdin: Option<&Arg>) {
        let words = [&[Arg::exact(name)], &args[1..]].concat();
        self.forbidding(|judge| judge.command(&words, stdin));
    }
}
