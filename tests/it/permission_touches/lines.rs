//! Lines made at random: a program, options that it lists itself or that a table knows, and operands
//! that matter.

use std::path::PathBuf;
use std::process::{Command, Stdio};

use onloop_core::permission::grammar::{Grammar, KnownOption, OptionValue, grammars};
use onloop_tests::random::Random;

use super::words::{
    AWK, BROUGHT, CHANGES, FORGE, FORGE_OPTIONS, GIT, HELPFUL, JQ, SED, THERE, UNTOLD, WORDS,
};

struct Program {
    name: String,
    options: Vec<String>,
}

/// Programs that never end by themselves, or write without end.
const ENDLESS: [&str; 3] = ["yes", "sleep", "watch"];

/// Programs that are here, with their options.
pub(super) struct Vocabulary {
    /// With the options that they list themselves.
    programs: Vec<Program>,
    /// As the tables know them.
    grammars: Vec<Grammar>,
}

impl Vocabulary {
    /// Asks each program for its options; `home` is a home folder without anything that counts.
    pub(super) fn of_this_machine(home: &str) -> Vocabulary {
        let told = |words: &[&str]| {
            let mut command = Command::new(words[0]);
            command.args(&words[1..]).env("HOME", home).stdin(Stdio::null());
            let output = command.output().ok()?;
            let text = [output.stdout, output.stderr].concat();
            Some(options(&String::from_utf8_lossy(&text)))
        };
        let mut programs = Vec::new();
        for (name, ask) in HELPFUL {
            let Some(mut options) = told(&[&[*name], *ask].concat()) else { continue };
            let untold = UNTOLD.iter().filter(|(who, _)| who == name);
            options.extend(untold.flat_map(|(_, more)| more.iter().map(|&word| word.to_owned())));
            programs.push(Program { name: (*name).to_owned(), options });
        }
        for subcommand in GIT {
            let options = told(&["git", subcommand, "-h"]).unwrap_or_default();
            programs.push(Program { name: format!("git {subcommand}"), options });
        }
        for subcommand in FORGE {
            let options = FORGE_OPTIONS.iter().map(|&option| option.to_owned()).collect();
            programs.push(Program { name: format!("gh {subcommand}"), options });
        }
        let grammars = grammars().into_iter().filter(is_here).collect();
        Vocabulary { programs, grammars }
    }

    /// A line: a command, alone or in something that changes what it works on.
    pub(super) fn line(&self, random: &mut Random) -> String {
        let command = self.command(random);
        let word = *random.pick(WORDS);
        match random.below(20) {
            0 => format!("cd src && {command}"),
            1 => format!("cd {word} && {command}"),
            2 => format!("{command} > {word}"),
            3 => format!("{command} < {word}"),
            4 => format!("{command} | {}", self.command(random)),
            5 => format!("{command} | xargs {}", self.command(random)),
            6 => format!("for f in {word} a.txt; do {command} \"$f\"; done"),
            7 => self.with_variable(random),
            8 => format!("find {word} -exec {command} {{}} +"),
            9 => format!("{} && {command} {}", random.pick(CHANGES), random.pick(BROUGHT)),
            _ => command,
        }
    }

    /// A command with a variable, perhaps of several words, in one of its words or after them.
    fn with_variable(&self, random: &mut Random) -> String {
        let value = match random.chance(50) {
            true => operand(random).to_owned(),
            false => format!("{} {}", operand(random), random.pick(WORDS)),
        };
        let use_of = *random.pick(&["$X", "\"$X\"", "${X}", "${X#1 }", "${X:-a.txt}"]);
        let command = self.command(random);
        let mut words: Vec<&str> = command.split(' ').collect();
        let at = 1 + random.below(words.len() as u64) as usize;
        let changed = words.get(at).map(|word| format!("{word}{use_of}"));
        match &changed {
            Some(changed) => words[at] = changed,
            None => words.push(use_of),
        }
        format!("X='{}'; {}", value.replace('\'', ""), words.join(" "))
    }

    /// A command from a table or from what a program says about itself.
    fn command(&self, random: &mut Random) -> String {
        match random.chance(50) {
            true => self.by_table(random),
            false => self.by_program(random),
        }
    }

    /// A command within the grammar of a table, or one step beyond it.
    fn by_table(&self, random: &mut Random) -> String {
        let Grammar { command, options } = random.pick(&self.grammars);
        let mut words = vec![command.clone()];
        for _ in 0..random.below(4).min(options.len() as u64) {
            words.extend(known(*random.pick(options), random));
        }
        for _ in 0..random.below(3) {
            words.push(operand(random).to_owned());
        }
        if random.chance(40) {
            self.step_beyond(&mut words, random);
        }
        words.join(" ")
    }

    /// Changes one word, so that the grammar may not have it.
    fn step_beyond(&self, words: &mut Vec<String>, random: &mut Random) {
        let at = 1 + random.below(words.len() as u64) as usize;
        let other = random.pick(&self.grammars);
        match random.below(5) {
            // An option of another program, or none that is known.
            0 if !other.options.is_empty() => {
                let word = random.pick(&other.options).name.to_owned();
                words.insert(at, word);
            }
            1 => words.insert(at, (*random.pick(&["--", "-", "-Z", "--zz", "-zz=x"])).to_owned()),
            2 if at < words.len() => drop(words.remove(at)),
            3 if at < words.len() => {
                let word = words[at].clone();
                words.insert(at, word);
            }
            _ if at < words.len() => {
                words[at]
                    .push_str(random.pick::<&str>(&["=", "x", "=.env", "{a,.env}", "/../..", ":"]));
            }
            _ => words.push((*random.pick(WORDS)).to_owned()),
        }
    }

    /// A command of a program that lists its own options: every family as often as every other.
    fn by_program(&self, random: &mut Random) -> String {
        let families = ["git", "jq", "grep", "sed", "awk", "find", "tar", "gh", ""];
        let family = *random.pick(&families);
        let is_of = |program: &&Program| match family {
            "" => !families.contains(&program.name.split(' ').next().unwrap_or_default()),
            _ => program.name.split(' ').next() == Some(family),
        };
        let members: Vec<&Program> = self.programs.iter().filter(is_of).collect();
        let program = *random.pick(&members);
        let mut words = vec![program.name.clone()];
        for _ in 0..random.below(4) {
            words.extend(option(program, random));
        }
        let at = if random.chance(70) { words.len() } else { 1 };
        let script = match family {
            "sed" => Some(SED),
            "awk" => Some(AWK),
            "jq" => Some(JQ),
            _ => None,
        };
        if let Some(pieces) = script.filter(|_| random.chance(85)) {
            words.insert(at, quoted(&self::script(pieces, random)));
        } else if family == "grep" {
            words.insert(at, "alpha".to_owned());
        }
        for _ in 0..random.below(3) {
            words.push(operand(random).to_owned());
        }
        words.join(" ")
    }
}

/// Whether the program is installed and ends. One that is a script, or a stand-in in a home folder for
/// what a toolchain chooses, starts programs and writes files of its own on every call.
fn is_here(grammar: &Grammar) -> bool {
    let name = grammar.command.split(' ').next().unwrap_or_default();
    let path = std::env::var_os("PATH").unwrap_or_default();
    let mut there = std::env::split_paths(&path).map(|folder| folder.join(name));
    let Some(found) = there.find(|file| file.is_file()) else { return name == "gh" };
    let home = std::env::var_os("HOME").map(PathBuf::from);
    let is_of_a_user = home.is_some_and(|home| found.starts_with(home));
    let is_script = std::fs::read(&found).is_ok_and(|bytes| bytes.starts_with(b"#!"));
    !is_of_a_user && !is_script && !ENDLESS.contains(&name)
}

/// An operand or the value of an option; two of three name what is there and may be read, so that enough
/// lines work.
fn operand(random: &mut Random) -> &'static str {
    let words = if random.chance(67) { THERE } else { WORDS };
    random.pick::<&'static str>(words)
}

/// An option as its table knows it, with a value where it takes one.
fn known(option: KnownOption, random: &mut Random) -> Vec<String> {
    let name = option.name.to_owned();
    let value = operand(random).to_owned();
    let attached = match name.starts_with("--") {
        true => format!("{name}={value}"),
        false => format!("{name}{value}"),
    };
    match option.value {
        OptionValue::Nothing => vec![name],
        OptionValue::Next if random.chance(60) => vec![name, value],
        OptionValue::Attached if random.chance(40) => vec![name],
        OptionValue::Next | OptionValue::Attached => vec![attached],
        OptionValue::NextTwo => vec![name, "x".to_owned(), value],
    }
}

/// An option in one of the forms in which programs take it, perhaps with a value.
fn option(program: &Program, random: &mut Random) -> Vec<String> {
    if program.options.is_empty() {
        return Vec::new();
    }
    let mut name = random.pick(&program.options).clone();
    let is_long = name.starts_with("--");
    if is_long && random.chance(15) {
        let end = 3 + random.below(name.len() as u64 - 2) as usize;
        name.truncate(end.min(name.len()));
    } else if is_long && random.chance(5) {
        name.insert_str(2, "no-");
    } else if !is_long && name.len() == 2 && random.chance(25) {
        let letter = random.pick(&program.options).clone();
        name.extend(letter.strip_prefix('-').filter(|rest| rest.len() == 1));
    }
    let value = operand(random).to_owned();
    match random.below(10) {
        0..=4 => vec![name],
        5 | 6 => vec![name, value],
        _ if is_long => vec![format!("{name}={value}")],
        7 => vec![format!("{name}={value}")],
        _ => vec![format!("{name}{value}")],
    }
}

fn script(pieces: &[&str], random: &mut Random) -> String {
    let count = 1 + random.below(5);
    let mut script = String::new();
    for _ in 0..count {
        script += random.pick::<&str>(pieces);
        if random.chance(25) {
            script += random.pick::<&str>(&[" ", ";", "\n", "|"]);
        }
    }
    script
}

fn quoted(text: &str) -> String {
    format!("'{}'", text.replace('\'', "'\\''"))
}

/// What looks like an option in what a program says about itself.
fn options(help: &str) -> Vec<String> {
    let help = help.replace("[no-]", "");
    let words = help.split(|c: char| c.is_whitespace() || ",;|[](){}'\"`".contains(c));
    let mut options: Vec<String> = words
        .filter_map(|word| {
            let end = word.find(['=', '<']).unwrap_or(word.len());
            let name = word[..end].trim_end_matches(['.', ':']);
            let letters = name.trim_start_matches('-');
            let dashes = name.len() - letters.len();
            let plain = letters.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'-');
            ((1..=2).contains(&dashes) && plain && !letters.is_empty()).then(|| name.to_owned())
        })
        .collect();
    options.sort();
    options.dedup();
    options
}

#[test]
fn options_are_found_in_what_programs_say() {
    let help = "usage: x [-q | --quiet] [--[no-]stat[=<n>]] -o, --output=FILE\n  -delete -name PATTERN\n -- a-b";
    let found = options(help);
    assert_eq!(found, ["--output", "--quiet", "--stat", "-delete", "-name", "-o", "-q"]);
}
