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
            Some(_) => judge.ask(parsed, "gets a variable that may change what it runs"),
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

/// Whether the name of a task or script says that it sends something away or installs it.
pub(super) fn leaves_the_machine(name: &str) -> bool {
    const WORDS: [&str; 12] = [
        "deploy",
        "publish",
        "release",
        "push",
        "upload",
        "install",
        "ship",
        "promote",
        "rollout",
        "provision",
        "destroy",
        "apply",
    ];
    let lower = name.to_lowercase();
    name.contains(HOLE) || WORDS.iter().any(|word| lower.contains(word))
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
            || (!name.contains("CMAKE_") && !environment::names_code(name));
        if !plain || name.is_empty() || !is_word(value) {
            judge.ask(parsed, "gets a definition that may choose what it runs");
        }
    }
    let targets = parsed.values(&["-t", "--target"]);
    if targets.iter().any(|target| target.text.contains("install")) {
        judge.ask(parsed, "installs what it built");
    }
    if parsed.args.is_empty() {
        judge.ask(parsed, "has nothing to do");
    }
}

/// `npm run deploy` and the like, whose names say that they leave the machine.
pub(crate) fn task(judge: &mut Judge<'_>, parsed: &ParsedArgs<'_>) {
    let leaves = parsed.args.iter().any(|arg| leaves_the_machine(&arg.text));
    let class = if leaves { Class::Publishes } else { parsed.program.class };
    judge.classified(class, parsed);
}

/// Interpreters: a file or module of the project is held by a sandbox; code in an argument may
/// send anything anywhere, and nothing tells what it is for.
pub(crate) fn interpreter(judge: &mut Judge<'_>, parsed: &ParsedArgs<'_>) {
    let place = match parsed.args {
        [module, name, ..] if module.text == "-m" => name.known().is_some().then_some("."),
        [file, ..] if !file.text.starts_with('-') => file.known(),
        [option, file, ..]
            if matches!(option.text.as_str(), "-u" | "-B" | "-I" | "-E" | "-s" | "-w" | "-W") =>
        {
            file.known().filter(|file| !file.starts_with('-'))
        }
        [] | [..] => None,
    };
    let held = place.is_some_and(|path| {
        judge.places.is_inside(path) && !parsed.args.iter().any(|a| leaves_the_machine(&a.text))
    });
    if let Some(path) = place {
        judge.consider(judge.places.judge_text(path, Access::Read));
        judge.runs_file(path);
    }
    judge.seen.unseen |= place.is_none() && !parsed.args.iter().any(|arg| arg.text.len() > 2);
    judge.about(parsed, Decision::Ask, held, Class::Runs.sentence());
}

/// Judges running the file at `path`; `None` for the project's own test scripts and for scripts
/// of skills.
pub(super) fn run_file(path: &str, places: &Places) -> Option<Finding> {
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
    let held = places.class(path) == PathClass::Repository && !leaves_the_machine(path);
    Some(Finding { held, ..Finding::ask(Rule::ProgramFile, reason) })
}
