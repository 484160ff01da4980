//! Judges arguments by what the table says that they are.

use super::entry::{ArgFinding, ParsedArgs, ProgramEntry, Role};
use super::{Judge, is_containable, network, tasks};
use crate::expand::{Arg, HOLE, Shape, shown};
use crate::paths::{Access, PathClass, in_system_folder};
use crate::programs;
use crate::verdict::{Finding, PathRule, Rule};

/// What is said about a word that may become an option.
fn possible_option(arg: &Arg) -> &'static str {
    match arg.shape {
        Shape::Pattern => "gets a pattern that may match a file named like an option; `./` helps",
        Shape::Exact => "gets a value that may be an option; write them in one word",
        Shape::Holes | Shape::Splits => "gets a word that is not known and may be an option",
    }
}

/// The files and folders that a program reads.
fn searched<'p>(parsed: &'p ParsedArgs<'_>) -> impl Iterator<Item = &'p str> {
    parsed.found.iter().filter_map(|found| match found {
        ArgFinding::Operand(arg, Role::Read) => Some(arg.guessed()),
        _ => None,
    })
}

impl Judge<'_> {
    /// Judges what the reader of the arguments found, in the order of the words.
    pub(super) fn arguments(&mut self, parsed: &ParsedArgs<'_>) {
        for found in &parsed.found {
            match found {
                ArgFinding::Operand(arg, role) => self.role(arg, *role, parsed),
                ArgFinding::Value(at, role) => {
                    if let Some(value) = &parsed.seen[*at].value {
                        self.role(value, *role, parsed);
                    }
                }
                ArgFinding::Makes(name, class) => self.makes(parsed, name, *class),
                ArgFinding::PossibleOption(arg) => self.ask_held(parsed, possible_option(arg)),
                ArgFinding::UnquotedValue => {
                    self.ask_held(parsed, "gets unquoted words that are not known");
                }
                ArgFinding::UnknownCommand => {
                    self.ask(parsed, "gets words from which its command is not certain");
                }
                ArgFinding::MisplacedOption(name) => self.add(Finding::ask(
                    Rule::Program(parsed.name.to_owned()),
                    format!("`{name}` stands where another word of `{}` is expected", parsed.name),
                )),
                ArgFinding::UnlistedOption(name) => {
                    let shown = shown(name);
                    let rule = Rule::Option(format!("{} {shown}", parsed.name));
                    let what =
                        format!("`{}` has an option `{shown}` that is not known", parsed.name);
                    let containable = is_containable(parsed);
                    self.add(Finding { containable, ..Finding::ask(rule, what) });
                }
                ArgFinding::ShortenedOption(name) => {
                    self.ask(parsed, &format!("has a shortened option `{name}`"));
                }
            }
        }
    }

    /// Judges an argument or an option's value by what it is.
    pub(super) fn role(&mut self, arg: &Arg, role: Role, parsed: &ParsedArgs<'_>) {
        let is_file =
            matches!(role, Role::Read | Role::Write | Role::Code | Role::List | Role::AtFile);
        // Git itself does not follow links that are tracked.
        let is_tracked = parsed.name.starts_with("git ")
            && parsed.operands.iter().any(|operand| std::ptr::eq(*operand, arg));
        if is_file && arg.text != "-" && !is_tracked {
            self.uses_file();
        }
        if role == Role::Read && arg.text != "-" {
            self.consider(self.context.client.file(arg, Access::Read, &self.places));
        }
        // With a mark in front it leaves files out, and `rg --files` shows names only.
        let chooses = !arg.text.starts_with('!') && !parsed.has_certainly(&["--files"]);
        if role == Role::Glob && chooses {
            self.chosen_files(arg, parsed);
        }
        let places = &self.places;
        let finding = match role {
            Role::Data | Role::Text | Role::Name | Role::Command => None,
            Role::Word => {
                let plain = |c: char| c.is_ascii_alphanumeric() || "_-,.=+".contains(c);
                let is_plain = arg.known().is_some_and(|text| text.chars().all(plain));
                let rule = || Rule::Option(format!("{} {}", parsed.name, shown(&arg.text)));
                let what = "has an option with a value that is not known";
                (!is_plain)
                    .then(|| Finding::containable(rule(), format!("`{}` {what}", parsed.name)))
            }
            Role::List => places.judge(arg, Access::List),
            Role::Glob if !chooses => places.judge_glob(arg),
            Role::Glob => {
                // rg enters a hidden folder only if a pattern matches the folder itself.
                let folder = arg.text.split('/').next().unwrap_or_default();
                let stays_out = folder.starts_with('.')
                    && !folder.contains(['*', '?', '[', '{', '\\'])
                    && searched(parsed).next().is_none();
                let of_pattern = |found: &Finding| found.rule == Rule::Path(PathRule::Pattern);
                places.judge_chosen(arg).filter(|found| !(stays_out && of_pattern(found)))
            }
            Role::Code => places.judge(arg, Access::Run),
            Role::Address => network::address(arg),
            Role::Read => {
                // Some programs take more arguments from a file behind `@`.
                let listed = arg.text.strip_prefix('@').filter(|rest| !rest.is_empty());
                let listed = listed.and_then(|rest| {
                    places.judge(&Arg { text: rest.to_owned(), ..arg.clone() }, Access::Read)
                });
                places.judge(arg, Access::Read).filter(|_| arg.text != "-").or(listed)
            }
            Role::Write => {
                let finding = places.judge(arg, Access::Write).filter(|_| arg.text != "-");
                self.writes(&[arg]);
                finding
            }
            Role::AtFile => return self.at_file(arg),
            Role::Object => return self.object(arg),
            Role::Shell => return self.shell_argument(arg),
            Role::Refused => return self.ask(parsed, "is not judged by its arguments"),
        };
        // A sandbox does not hold what a program may send.
        let containable = is_containable(parsed);
        self.consider(
            finding.map(|finding| Finding {
                containable: finding.containable && containable,
                ..finding
            }),
        );
    }

    /// Whether each value of an option that takes code names files of the checkout, or a name or version
    /// without a place: as held as a script of the checkout. An address, or another folder, is code from
    /// elsewhere.
    pub(super) fn names_own_code(&mut self, parsed: &ParsedArgs<'_>, option: &str) -> bool {
        let values = parsed.values(&[option]);
        let is_plain = |c: char| c.is_ascii_alphanumeric() || "._+-/%".contains(c);
        // By another name a program does something else: `exec -a git-rm git`.
        if parsed.name == "exec" {
            return false;
        }
        let is_own = |part: &str| {
            let leaves = |entry: &'static ProgramEntry| !entry.class.is_containable();
            // `@scope/name` is a package, and `@file` of some programs a file.
            let part = part.strip_prefix('@').unwrap_or(part);
            let path = Arg::exact(part);
            // What standard input has is not in the line.
            part != "-"
                && !part.starts_with("/dev/")
                && part.chars().all(is_plain)
                && !programs::find(part).is_some_and(leaves)
                && (!part.contains('/')
                    || in_system_folder(part)
                    || self.places.judge(&path, Access::Run).is_none_or(|found| found.containable))
        };
        let is_held = |value: &&Arg| {
            let text = value.known().unwrap_or(":");
            // Plugins of pytest are turned off by `no:NAME`.
            let text = text.strip_prefix("no:").unwrap_or(text);
            let mut parts = text.split([' ', '=', ',']).filter(|part| !part.is_empty());
            parts.all(is_own) && (text.contains('=') || !tasks::leaves_the_machine(text))
        };
        let count = parsed.count(&[option]);
        let is_own = count > 0 && values.len() == count && values.iter().all(is_held);
        // It may be a command.
        for value in values.iter().filter(|value| value.text.contains([' ', ','])) {
            self.guessed_code(&value.guessed().replace(',', " "));
        }
        is_own
    }

    /// Compares the files that a pattern chooses, below the folders that are searched, with the rules of the
    /// client.
    fn chosen_files(&mut self, glob: &Arg, parsed: &ParsedArgs<'_>) {
        let mut roots: Vec<&str> = searched(parsed).collect();
        if roots.is_empty() {
            roots.push(".");
        }
        // Without a slash it is about the names of files at any depth.
        let (between, glob) = match glob.text.contains('/') {
            true => ("", glob.text.trim_start_matches('/')),
            false => ("*/", glob.text.as_str()),
        };
        for text in roots.iter().map(|root| format!("{root}/{between}{glob}")) {
            let file = Arg { shape: Shape::Pattern, ..Arg::exact(text) };
            self.consider(self.context.client.file(&file, Access::Read, &self.places));
        }
    }

    fn at_file(&mut self, arg: &Arg) {
        let text = arg.text.as_str();
        let file = text.strip_prefix('@').or_else(|| text.split_once("=@").map(|(_, file)| file));
        let file = file.or_else(|| text.split_once("=<").map(|(_, file)| file));
        if let Some(file) = file {
            let file = Arg { text: file.to_owned(), ..arg.clone() };
            self.consider(self.places.judge(&file, Access::Read));
        }
    }

    /// Judges a revision by the file it names: secrets stay secret in history.
    fn object(&mut self, arg: &Arg) {
        let places = &self.places;
        let text = arg.guessed().replace(HOLE, "");
        if text.contains(['*', '?', '[']) || text.starts_with(':') {
            let pattern = text.rsplit([':', ')', '!', '^']).next().unwrap_or_default();
            let pattern = Arg { text: pattern.to_owned(), ..arg.clone() };
            self.consider(places.judge_glob(&pattern));
        }
        let places = &self.places;
        let path = text.rsplit_once(':').map_or(text.as_str(), |(_, path)| path);
        for path in [text.as_str(), path] {
            if places.class(path) == PathClass::Secret {
                return self.consider(places.judge_text(path, Access::Read));
            }
        }
        if text.starts_with(['/', '~']) || text.contains("..") && text.contains('/') {
            let outside = self.places.judge_text(&text, Access::Read);
            let revision = text.contains("..") && !text.split('/').any(|part| part == "..");
            self.consider(outside.filter(|_| !revision));
        }
        if arg.shape == Shape::Pattern {
            self.consider(self.places.judge(arg, Access::Read));
        }
        // It may hold a colon and a path.
        if arg.opaque_start() || arg.text.contains(HOLE) {
            let rule = Rule::Path(PathRule::Unknown);
            self.add(match arg.commit {
                true => Finding::containable(rule, "it uses a commit that is not known"),
                false => Finding::ask(rule, "it shows a file that is not known"),
            });
        }
    }

    /// Runs `judge` for code of a shell that may follow POSIX and no more, or of bash.
    pub(super) fn in_shell(&mut self, is_posix_only: bool, judge: impl FnOnce(&mut Self)) {
        let outer = std::mem::replace(&mut self.is_posix_only, is_posix_only);
        judge(self);
        self.is_posix_only = outer;
    }

    /// Judges code in an argument that a program hands to `sh`.
    pub(super) fn shell_argument(&mut self, arg: &Arg) {
        self.in_shell(true, |judge| judge.code_argument(arg));
    }

    /// Judges code in an argument for the shell that the line itself is for.
    pub(super) fn code_argument(&mut self, arg: &Arg) {
        match arg.known() {
            Some(code) => self.code(code),
            None => {
                self.seen.unseen = true;
                self.add(Finding::ask(Rule::HiddenCode, "shell code is put together when it runs"));
                self.guessed_code(&arg.guessed().replace(HOLE, " "));
            }
        }
    }
}
