//! Programs that build, and files and modules that are run.

use super::Judge;
use super::entry::ParsedArgs;
use crate::environment;
use crate::expand::{Arg, HOLE, shown};
use crate::paths::{self, Access, PathClass, Places};
use crate::programs::Class;
use crate::verdict::{Decision, Finding, Rule};

/// make: the usual goals, and no variables that name programs.
pub(crate) fn make(judge: &mut Judge<'_>, parsed: &ParsedArgs<'_>) {
    const GOALS: [&str; 6] = ["all", "build", "check", "lint", "setup", "test"];
    const VARIABLES: [&str; 5] = ["V", "VERBOSE", "DEBUG", "RELEASE", "JOBS"];
    if parsed.has(&["--version"]) {
        return;
    }
    let mut goals = 0;
    for operand in &parsed.operands {
        let text = operand.known().unwrap_or_default();
        match text.split_once('=') {
            Some((name, value)) if VARIABLES.contains(&name) && is_word(value) => {}
            Some(_) => judge.ask_held(parsed, "gets a variable that may change what it runs"),
            None if GOALS.contains(&text) || is_number(text) => goals += 1,
            None => {
                let shown = shown(&operand.text);
                let held = !leaves_the_machine(text);
                let what = format!("has no rule for the goal `{shown}`");
                judge.about(parsed, Decision::Ask, held, &what);
            }
        }
    }
    if goals == 0 {
        judge.ask_held(parsed, "has no goal, and what the first one does is not known");
    }
}

/// Beginnings of words that say that a task sends something away, changes what others use, or changes a
/// database.
const LEAVES: [&str; 12] = [
    "deploy",
    "publish",
    "release",
    "upload",
    "promote",
    "rollout",
    "provision",
    "destroy",
    "migrat",
    "undeploy",
    "unpublish",
    "production",
];
/// Words that say so only as a whole.
const LEAVES_AS_A_WORD: [&str; 4] = ["prod", "push", "ship", "apply"];

/// Whether the name of a task or script says that it sends something away.
pub(super) fn leaves_the_machine(name: &str) -> bool {
    let lower = name.to_lowercase();
    let mut words = lower.split(|c: char| !c.is_ascii_alphanumeric());
    name.contains(HOLE)
        || words.any(|word| {
            LEAVES.iter().any(|begin| word.starts_with(begin)) || LEAVES_AS_A_WORD.contains(&word)
        })
}

/// ninja: targets that leave the build folder.
pub(crate) fn ninja(judge: &mut Judge<'_>, parsed: &ParsedArgs<'_>) {
    let plain = |arg: &&Arg| arg.known().is_some_and(|text| !text.contains("install"));
    if !parsed.operands.iter().all(plain) {
        judge.ask(parsed, "installs, or has a target that is not known");
    }
}

fn is_word(text: &str) -> bool {
    text.bytes().all(|b| b.is_ascii_alphanumeric() || b"_-.".contains(&b))
}

fn is_number(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit())
}

/// cmake: definitions that choose programs.
pub(crate) fn cmake(judge: &mut Judge<'_>, parsed: &ParsedArgs<'_>) {
    for value in parsed.values(&["-D"]) {
        let known = value.known().unwrap_or_default();
        let (name, value) = known.split_once('=').unwrap_or((known, ""));
        let name = name.split(':').next().unwrap_or_default();
        let plain = name == "CMAKE_BUILD_TYPE"
            || name == "CMAKE_EXPORT_COMPILE_COMMANDS"
            || (!name.contains("CMAKE_") && !environment::is_unknown(name));
        if !plain || name.is_empty() || !is_word(value) {
            judge.ask_held(parsed, "gets a definition that may choose what it runs");
        }
    }
    let targets = parsed.values(&["-t", "--target"]);
    if targets.iter().any(|target| target.text.contains("install")) {
        judge.ask(parsed, "installs what it built");
    }
    if parsed.args.is_empty() {
        judge.ask(parsed, "has nothing to do");
    }
    // What stands behind `--` is for the program that builds.
    if parsed.args.iter().any(|arg| arg.text == "--") {
        judge.ask_held(parsed, "hands words on to the program that builds");
    }
}

/// cargo fmt: what stands behind `--` is for rustfmt.
pub(crate) fn cargo_fmt(judge: &mut Judge<'_>, parsed: &ParsedArgs<'_>) {
    if let Some(at) = parsed.args.iter().position(|arg| arg.text == "--") {
        let program = [Arg::exact("rustfmt")];
        judge.command(&[&program[..], &parsed.args[at + 1..]].concat(), None);
    }
}

/// cargo clean: of another folder than the one that builds write to, everything would be lost.
pub(crate) fn cargo_clean(judge: &mut Judge<'_>, parsed: &ParsedArgs<'_>) {
    if parsed.has(&["--target-dir", "--manifest-path"]) {
        judge.classified(Class::Deletes, parsed);
    }
}

/// `npm run deploy` and the like, whose names say that they leave the machine.
pub(crate) fn task(judge: &mut Judge<'_>, parsed: &ParsedArgs<'_>) {
    let leaves = parsed.args.iter().any(|arg| leaves_the_machine(&arg.text));
    let class = if leaves { Class::Publishes } else { parsed.program.class };
    judge.classified(class, parsed);
}

/// What an interpreter runs.
enum Runs<'p> {
    /// A module of this name, with its arguments behind it.
    Module(&'p [Arg]),
    /// A file.
    File(&'p Arg),
    /// Code in an argument, or on the standard input.
    Code,
}

fn run_by<'p>(parsed: &ParsedArgs<'p>) -> Runs<'p> {
    const CODE: [&str; 8] = ["-c", "-e", "-E", "-p", "-r", "--eval", "--print", "-"];
    const VALUES: [&str; 6] = ["-W", "-X", "-I", "--import", "--require", "--loader"];
    let mut at = 0;
    while let Some(arg) = parsed.args.get(at) {
        at += 1;
        match arg.text.as_str() {
            "-m" if parsed.name.starts_with("py") => return Runs::Module(&parsed.args[at..]),
            text if CODE.contains(&text) => return Runs::Code,
            text if VALUES.contains(&text) => at += 1,
            text if text.starts_with('-') => {}
            _ => return Runs::File(arg),
        }
    }
    Runs::Code
}

/// Interpreters: a sandbox holds what code does, wherever it stands, unless its name says that it
/// leaves the machine.
pub(crate) fn interpreter(judge: &mut Judge<'_>, parsed: &ParsedArgs<'_>) {
    let held = match run_by(parsed) {
        Runs::Module(words) => {
            judge.runner(words);
            true
        }
        Runs::File(file) => {
            judge.consider(judge.places.judge(file, Access::Read));
            judge.runs_file(file.guessed());
            // A word in the arguments says so, too; a database of the project is on this machine.
            let is_word = |arg: &&Arg| !arg.text.starts_with('-') && !arg.text.contains(['/', '.']);
            let leaves = |arg: &Arg| {
                leaves_the_machine(&arg.text)
                    && !arg.text.contains(HOLE)
                    && !arg.text.to_lowercase().contains("migrat")
            };
            !leaves_the_machine(paths::file_name(&file.text))
                && !parsed.args.iter().filter(is_word).any(leaves)
        }
        Runs::Code => {
            judge.seen.unseen |= !parsed.args.iter().any(|arg| arg.text.len() > 2);
            true
        }
    };
    judge.about(parsed, Decision::Ask, held, Class::Runs.sentence());
}

/// Options of runners that take the next word.
const RUNNER_VALUES: [&str; 22] = [
    "-p",
    "--package",
    "--from",
    "--with",
    "--python",
    "--spec",
    "--extra",
    "--group",
    "-w",
    "--workspace",
    "--filter",
    "-C",
    "--dir",
    "--cwd",
    "--prefix",
    "--directory",
    "--project",
    "--env-file",
    "--index",
    "--index-url",
    "-F",
    "--registry",
];

/// `npx`, `uv run`, `bundle exec` and the like: what they run is judged as if it stood alone.
pub(crate) fn runner(judge: &mut Judge<'_>, parsed: &ParsedArgs<'_>) {
    judge.classified(parsed.program.class, parsed);
    let mut args = parsed.args;
    while let [first, rest @ ..] = args {
        match first.text.as_str() {
            "--" => args = rest,
            "-c" | "--call" => {
                if let Some(code) = rest.first() {
                    judge.shell_argument(code);
                }
                return;
            }
            "-m" | "--module" => args = rest,
            text if RUNNER_VALUES.contains(&text) => args = rest.get(1..).unwrap_or_default(),
            text if text.starts_with("--call=") => {
                let code = first.text.trim_start_matches("--call=");
                return judge.shell_argument(&Arg { text: code.to_owned(), ..first.clone() });
            }
            text if text.starts_with('-') => args = rest,
            _ => break,
        }
    }
    judge.runner(args);
}

impl Judge<'_> {
    /// Judges the command of a runner. Its program is a package, perhaps with a scope and a version.
    fn runner(&mut self, args: &[Arg]) {
        let Some((first, rest)) = args.split_first() else { return };
        let mut first = first.clone();
        if first.known().is_some() && !first.text.starts_with(['.', '/']) {
            let scoped = first.text.strip_prefix('@').and_then(|name| name.split_once('/'));
            let name = scoped.map_or(first.text.as_str(), |(_, name)| name);
            first.text = name.split('@').next().unwrap_or_default().to_owned();
        }
        self.command(&[&[first][..], rest].concat(), None);
    }
}

/// Judges running the file at `path`; `None` for the project's own test scripts and for scripts
/// of skills.
pub(super) fn run_file(path: &str, args: &[Arg], places: &Places) -> Option<Finding> {
    let absolute = places.absolute(path);
    let root = places.root.as_deref();
    let inside = root.and_then(|root| paths::below(&absolute, root)).unwrap_or_default();
    let named = |folder: &str| {
        inside.strip_prefix(folder).is_some_and(|rest| rest.ends_with(".sh") && rest.len() > 3)
    };
    let plain = !path.split('/').any(|part| part == "..");
    let tests = named("tests/") && places.class(path) == PathClass::Repository;
    // Nobody but the developer can write below these folders.
    let skill = [".claude/skills/", ".claude-plugin/skills/"].iter().any(|folder| {
        inside.strip_prefix(folder).is_some_and(|rest| {
            let mut parts = rest.split('/').skip(1);
            parts.next() == Some("scripts") && rest.ends_with(".sh")
        })
    });
    if plain && (tests || skill) {
        return None;
    }
    let reason = format!("`{path}` is a file whose content is not judged");
    let inside = matches!(places.class(path), PathClass::Repository | PathClass::Automation);
    let leaves = leaves_the_machine(paths::file_name(path))
        || args.iter().any(|arg| leaves_the_machine(&arg.text));
    let held = inside && !leaves;
    Some(Finding { held, ..Finding::ask(Rule::ProgramFile, reason) })
}
