//! Programs that build, and files and modules that are run.

mod names;
mod publish;

pub(super) use names::{
    Leaving, TaskPlace, file_leaves, leaves_for, looks_by_verb, names_leaving_task, names_server,
    said_by_name,
};
pub(crate) use names::{leaves_the_machine, sends};
pub(crate) use publish::{dotnet_publish, dry_run, migration, packs};

use super::entry::{ParsedArgs, Role, is_number, lists};
use super::{Judge, wrappers};
use crate::environment;
use crate::expand::{Arg, Shape, shown};
use crate::paths::{self, Access, PathClass, Places};
use crate::programs::{self, Class};
use crate::verdict::{Decision, Finding, Rule};
use names::{file_place, is_source, leaves_as_script, leaving};

/// Asks about a folder, the value of an option, whose name says that what is built there leaves the
/// machine.
fn build_folder(judge: &mut Judge<'_>, parsed: &ParsedArgs<'_>) {
    // `cmake-build-release` holds a build, and not a release.
    let leaves_as_folder =
        |path: &str| leaves_the_machine(&path.to_lowercase().replace("release", ""));
    let leaves = |folder: &&Arg| folder.known().is_some_and(leaves_as_folder);
    if parsed.values(&["-C", "--directory"]).iter().any(leaves) {
        judge.ask(parsed, "builds in a folder whose name says that it leaves the machine");
    }
}

/// make: the usual goals, and no variables that name programs.
pub(crate) fn make(judge: &mut Judge<'_>, parsed: &ParsedArgs<'_>) {
    const GOALS: [&str; 6] = ["all", "build", "check", "lint", "setup", "test"];
    const VARIABLES: [&str; 5] = ["V", "VERBOSE", "DEBUG", "RELEASE", "JOBS"];
    if parsed.has(&["--version"]) {
        return;
    }
    build_folder(judge, parsed);
    let mut goals = 0;
    for operand in &parsed.operands {
        let text = operand.known().unwrap_or_default();
        match text.split_once('=') {
            Some((name, value)) if VARIABLES.contains(&name) && is_word(value) => {}
            Some((name, value)) => {
                let what = "gets a variable that may change what it runs";
                let leaves = sends(name, value) || leaves_the_machine(value);
                judge.about(parsed, Decision::Ask, !leaves, what);
            }
            None if GOALS.contains(&text) || is_number(text) => goals += 1,
            None => {
                let shown = shown(&operand.text);
                let is_variable = operand.shape == Shape::Holes
                    && shown.split_once('=').is_some_and(|(name, _)| is_word(name));
                let is_kept = |goal: &str| !leaves_the_machine(goal);
                let containable = is_variable || operand.known().is_some_and(is_kept);
                let said = operand.known().and_then(leaving);
                let what = match said {
                    Some(said) => said.sentence(),
                    None => format!("has no rule for the goal `{shown}`"),
                };
                judge.about(parsed, Decision::Ask, containable, &what);
            }
        }
    }
    if goals == 0 {
        judge.ask_held(parsed, "has no goal, and what the first one does is not known");
    }
}

/// ninja: targets that leave the build folder.
pub(crate) fn ninja(judge: &mut Judge<'_>, parsed: &ParsedArgs<'_>) {
    build_folder(judge, parsed);
    let plain = |arg: &&Arg| {
        arg.known().is_some_and(|text| !text.contains("install") && !leaves_the_machine(text))
    };
    if !parsed.operands.iter().all(plain) {
        judge.ask(parsed, "installs, deploys, or has a target that is not known");
    }
}

fn is_word(text: &str) -> bool {
    text.bytes().all(|b| b.is_ascii_alphanumeric() || b"_-.".contains(&b))
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
    let leaves = |target: &&Arg| {
        let leaves = |name: &str| name.contains("install") || leaves_the_machine(name);
        target.known().is_none_or(leaves)
    };
    // What stands behind `--` is for the program that builds.
    let at = |word: &str| parsed.args.iter().position(|arg| arg.text == word);
    let (end, build) = (at("--").unwrap_or(parsed.args.len()), at("--build"));
    let is_in = |args: &[Arg], operand: &Arg| args.iter().any(|arg| std::ptr::eq(arg, operand));
    let folder = build.and_then(|at| parsed.args.get(at + 1));
    for operand in parsed.operands.iter().filter(|operand| is_in(&parsed.args[..end], operand)) {
        judge.role(operand, Role::Write, parsed);
    }
    let is_folder = |operand: &Arg| folder.is_some_and(|folder| std::ptr::eq(folder, operand));
    let more = parsed.operands.iter().filter(|operand| build.is_some() && !is_folder(operand));
    // `release` is a way to build.
    let presets = parsed.values(&["--preset"]);
    let leaves_as_preset = |preset: &Arg| {
        let name = preset.text.to_lowercase().replace("release", "");
        leaves(&&Arg { text: name, ..preset.clone() })
    };
    let has_preset = build.is_some() && presets.into_iter().any(leaves_as_preset);
    if has_preset || targets.iter().chain(more).any(leaves) {
        judge.ask(parsed, "installs or deploys what it built");
    }
    if parsed.args.is_empty() {
        judge.ask(parsed, "has nothing to do");
    }
    if end < parsed.args.len() {
        judge.ask_held(parsed, "hands words on to the program that builds");
    }
    // `-E env` and `-E time` run a command.
    if parsed.has(&["-E"]) {
        wrappers::any_suffix(judge, parsed.args);
    }
}

/// cargo fmt: what stands behind `--` is for rustfmt.
pub(crate) fn cargo_fmt(judge: &mut Judge<'_>, parsed: &ParsedArgs<'_>) {
    judge.classified(parsed.program.class, parsed);
    if let Some(at) = parsed.args.iter().position(|arg| arg.text == "--") {
        let program = [Arg::exact("rustfmt")];
        judge.command(&[&program[..], &parsed.args[at + 1..]].concat(), None);
    }
}

/// cargo clean: of another folder than the one that builds write to, everything would be lost.
pub(crate) fn cargo_clean(judge: &mut Judge<'_>, parsed: &ParsedArgs<'_>) {
    if parsed.has(&["--target-dir", "--manifest-path"]) {
        return judge.classified(Class::Deletes, parsed);
    }
    let root = judge.places.root.as_ref().unwrap_or(&judge.places.cwd);
    let target = format!("{root}/target");
    judge.command(&["rm", "-rf", &target].map(Arg::exact), None);
    // A toolchain of the project may do it.
    judge.classified(Class::Runs, parsed);
}

fn publishes_if(leaves: bool, judge: &mut Judge<'_>, parsed: &ParsedArgs<'_>) {
    judge.classified(if leaves { Class::Publishes } else { parsed.program.class }, parsed);
}

/// `npm run deploy` and the like, whose names say that they leave the machine.
pub(crate) fn task(judge: &mut Judge<'_>, parsed: &ParsedArgs<'_>) {
    // Some run a file by its name, too, a package, or any command.
    let begin = parsed.args.iter().position(|arg| arg.text == "run").map_or(0, |at| at + 1);
    let file = parsed.args[begin..].iter().find(|arg| !arg.text.starts_with('-'));
    let script = file.is_some_and(|arg| is_source(&arg.text) && leaves_as_script(&arg.text));
    if let Some(at) = parsed.args.iter().position(|arg| arg.text.starts_with("npm:")) {
        judge.runner(&parsed.args[at..]);
    }
    if let Some(at) = parsed.args.iter().position(|arg| arg.text == "exec") {
        wrappers::any_suffix(judge, &parsed.args[at + 1..]);
    }
    // They run a program of the project where they have no such script.
    if matches!(parsed.name, "yarn run" | "pnpm run" | "bun run") {
        judge.forbidding(|judge| judge.runner(parsed.behind_options()));
    }
    // Behind `--` may be words that the task runs, or names of tests.
    let mut behind = parsed.args.iter().skip_while(|arg| arg.text != "--").skip(1);
    if behind.next().is_some_and(|arg| programs::find(paths::file_name(&arg.text)).is_some()) {
        wrappers::behind_mark(judge, parsed.args);
    }
    // A pattern that is none for files stands for a task of any name.
    let is_open = |arg: &Arg| arg.shape == Shape::Pattern && !arg.text.contains(['/', '.']);
    let is_named = |arg: &Arg| is_open(arg) || leaves_for(parsed.name, &arg.text);
    published_script(judge, parsed);
    let leaves = script || parsed.args.iter().any(is_named);
    // `nx run-many -t lint -t deploy` names each task by an option.
    let many = parsed.args.iter().any(|arg| lists("run-many affected", &arg.text));
    let place = if many { TaskPlace::Each } else { place_of(parsed.name) };
    let named = names_leaving_task(parsed.args, place);
    judge.task_leaves(parsed, named.filter(|_| !script));
    if leaves {
        judge.classified(Class::Publishes, parsed);
    }
}

/// Runners of one task, which gets the words behind it.
const RUN_ONE: &str = "npm yarn pnpm bun cargo nx docker podman nerdctl bundle deno";

/// Where the name of a task stands behind the words that a table knows.
fn place_of(name: &str) -> TaskPlace {
    let (first, last) = name.split_once(' ').unwrap_or((name, ""));
    match lists(RUN_ONE, first) && !last.starts_with("workspace") {
        true if looks_by_verb(last) => TaskPlace::Before,
        true => TaskPlace::First,
        false => TaskPlace::Each,
    }
}

/// `npm run cdk -- deploy`: a script whose name is one of a program that publishes, and what it gets.
fn published_script(judge: &mut Judge<'_>, parsed: &ParsedArgs<'_>) {
    let Some(mark) = parsed.args.iter().position(|arg| arg.text == "--").filter(|&at| at > 0)
    else {
        return;
    };
    let script = &parsed.args[mark - 1];
    let table = programs::find_row(&script.text).map(|(table, _)| table.name);
    if matches!(table, Some("services" | "packages" | "forge")) {
        judge.guessed_command(&[std::slice::from_ref(script), &parsed.args[mark + 1..]].concat());
    }
}

/// Whether words choose a database of the checkout, of tests or of development or in a file, or another one;
/// `None` if none chooses one.
fn chosen_database(args: &[Arg]) -> Option<bool> {
    let choice = |(at, arg): (usize, &Arg)| {
        let text = arg.text.as_str();
        let next = args.get(at + 1).map_or("", |arg| arg.text.as_str());
        let (name, value) = text.split_once('=').unwrap_or((text, next));
        match name {
            "--env" | "--environment" => Some(environment::is_for_development(value)),
            _ if text.contains('=') && environment::is_file_database(value) => Some(true),
            _ if environment::is_file_database(text) => Some(true),
            _ if arg.known().is_none() => Some(false),
            _ if text.contains('=') => environment::chooses_own_database(name, value),
            _ => None,
        }
    };
    let choices = args.iter().enumerate().filter_map(choice);
    choices.reduce(|first, second| first && second)
}

/// `yarn workspace NAME` and its kin: the words behind are a command of yarn.
pub(crate) fn workspace(judge: &mut Judge<'_>, parsed: &ParsedArgs<'_>) {
    const TRIED: usize = 8;
    task(judge, parsed);
    for at in 1..parsed.args.len().min(TRIED) {
        let yarn = [Arg::exact("yarn")];
        judge.guessed_command(&[&yarn[..], &parsed.args[at..]].concat());
    }
}

/// Whether a file or package is this program, however it is installed.
fn is_onloop(path: &str) -> bool {
    let name = paths::file_name(path);
    let name = name.split_once('.').map_or(name, |(name, _)| name);
    let in_package = path.contains("node_modules/onloop/") || path.contains("@onloop/");
    matches!(name, "onloop" | "hotl-rt") && path.contains('/') || in_package
}

/// The program that a file is, which an interpreter runs: `node_modules/.bin/vercel`,
/// `.yarn/releases/yarn-4.1.0.cjs`, `npm-cli.js`.
fn program_of_file(path: &str) -> Option<&str> {
    let name = paths::file_name(path);
    let base = name.split('.').next().unwrap_or_default();
    let (program, rest) = base.split_once('-').unwrap_or((base, ""));
    let is_version = rest.starts_with(|c: char| c.is_ascii_digit());
    let is_manager = matches!(program, "npm" | "npx" | "yarn" | "pnpm")
        && (is_version || matches!(rest, "" | "cli" | "berry"));
    match is_manager {
        true => Some(program),
        false => Some(name).filter(|name| path.contains('/') && !name.contains('.')),
    }
}

/// `cargo run` and `go run`: a program whose name says that it leaves the machine.
pub(crate) fn run_target(judge: &mut Judge<'_>, parsed: &ParsedArgs<'_>) {
    let mut named = parsed.values(&["--bin", "--example", "-p", "--package"]);
    named.extend(parsed.operands.first());
    let behind = parsed.behind_options().get(1..).unwrap_or_default();
    let words: Vec<&str> = parsed.args.iter().map(|arg| arg.text.as_str()).collect();
    let only_helps = matches!(words[..], [.., "--", "--help" | "-h" | "--version"]);
    let leaves = !only_helps && named.iter().any(|arg| leaves_as_script(&arg.text));
    // `go run github.com/pressly/goose/v3/cmd/goose@latest up`
    if let Some(path) = parsed.operands.first().filter(|path| path.text.contains('@')) {
        let path = path.text.split('@').next().unwrap_or_default();
        let is_version = |part: &&str| part.starts_with('v') && is_number(&part[1..]);
        let program = path.rsplit('/').find(|part| !is_version(part)).unwrap_or_default();
        if !program.is_empty() && !program.contains('.') {
            judge.guessed_command(&[&[Arg::exact(program)], behind].concat());
        }
    }
    judge.task_leaves(parsed, names_leaving_task(behind, TaskPlace::Open).filter(|_| !leaves));
    if leaves {
        judge.classified(Class::Publishes, parsed);
    }
}

/// npm: settings below the top of the checkout may name a server and the variables that it gets.
pub(crate) fn npm(judge: &mut Judge<'_>, parsed: &ParsedArgs<'_>) {
    const FOLDERS: [&str; 6] =
        ["--prefix", "-C", "--dir", "--cwd", "--userconfig", "--globalconfig"];
    let top = judge.places.root.as_ref().unwrap_or(&judge.context.places.cwd);
    if *top != judge.places.cwd || judge.seen.lost || parsed.has(&FOLDERS) {
        judge.ask_held(parsed, "may read settings of a folder below the top of the checkout");
    }
    // Those at the top may be what git brought.
    judge.uses_file();
}

/// Interpreters: a sandbox holds what code does, wherever it stands, unless a name says that it leaves
/// the machine.
pub(crate) fn interpreter(judge: &mut Judge<'_>, parsed: &ParsedArgs<'_>) {
    let mut containable = true;
    if let Some(at) = parsed.args.iter().position(|arg| is_onloop(&arg.text)) {
        judge.command(&[&[Arg::exact("onloop")], &parsed.args[at + 1..]].concat(), None);
    }
    if let Some((file, behind)) = parsed.args.split_first()
        && let Some(program) = program_of_file(&file.text)
    {
        judge.guessed_command(&[&[Arg::exact(program)], behind].concat());
    }
    let is_python = parsed.name.starts_with("py");
    if let Some(module) = python_module(parsed.args).filter(|_| is_python) {
        judge.runner(&module);
    } else {
        // Behind options it is not known which file is run: every one counts.
        let first = parsed.args.first();
        let has_file = first.is_some_and(|arg| !arg.text.starts_with('-'));
        let candidates = if has_file { &parsed.args[..1] } else { parsed.args };
        for file in candidates.iter().filter(|arg| is_source(&arg.text)) {
            judge.consider(judge.places.judge(file, Access::Read));
            judge.runs_file(file.guessed());
            containable &= !leaves_as_script(&file.text);
        }
        // `node ./deploy` runs `deploy.js`.
        let leaves = |file: &Arg| file.shape == Shape::Pattern || leaves_as_script(&file.text);
        containable &= !(has_file && leaves(&parsed.args[0]));
        // A database of the project is on this machine. What loses its data asks all the same.
        let migrates = |arg: &Arg| {
            let lower = arg.text.to_lowercase();
            let loses =
                ["fresh", "reset", "refresh", "drop"].iter().any(|part| lower.contains(part));
            lower.contains("migrat") && !loses
        };
        containable &= !(parsed.args.iter().any(migrates)
            && parsed.args.iter().any(|arg| arg.text == "--force"));
        let begin = parsed.args.iter().position(|arg| has_file || is_source(&arg.text));
        let words = &parsed.args[begin.unwrap_or(parsed.args.len())..];
        let (file_word, behind) =
            words.split_first().map_or(("", words), |(file, behind)| (file.text.as_str(), behind));
        let flushes =
            file_word.ends_with("manage.py") && behind.iter().any(|arg| arg.text == "flush");
        let own: Vec<Arg> =
            behind.iter().filter(|arg| !migrates(arg) && arg.text != "--").cloned().collect();
        let found = names_leaving_task(&own, file_place(file_word)).filter(|_| containable);
        let found = Leaving::graver(found, flushes.then(|| Leaving::of("flush", true)));
        wrappers::behind_mark(judge, parsed.args);
        if found.is_some() {
            judge.task_leaves(parsed, found);
        }
        if let Some(file) = first.filter(|file| has_file && !is_source(&file.text)) {
            judge.consider(judge.places.judge(file, Access::Read));
            judge.runs_file(file.guessed());
        }
        judge.seen.unseen |= !has_file && !parsed.args.iter().any(|arg| arg.text.len() > 2);
    }
    judge.about(parsed, Decision::Ask, containable, Class::Runs.sentence());
}

/// The module that Python runs, and its arguments: `-m NAME`, also behind other letters and in one word.
fn python_module(args: &[Arg]) -> Option<Vec<Arg>> {
    let mut rest = args;
    while let [first, behind @ ..] = rest {
        if first.text == "--check-hash-based-pycs" {
            rest = behind.get(1..).unwrap_or_default();
            continue;
        }
        let letters = first.text.strip_prefix('-').filter(|letters| !letters.starts_with('-'))?;
        let at = letters.find(['m', 'c', 'W', 'X']);
        let (value, is_module) = match at {
            Some(at) => (&letters[at + 1..], letters[at..].starts_with('m')),
            None => ("-", false),
        };
        if at.is_some_and(|at| letters[at..].starts_with('c')) {
            return None;
        }
        match (is_module, value.is_empty()) {
            (true, true) => return Some(behind.to_vec()),
            (true, false) => {
                let module = Arg { text: value.to_owned(), ..first.clone() };
                return Some([&[module], behind].concat());
            }
            (false, true) => rest = behind.get(1..).unwrap_or_default(),
            (false, false) => rest = behind,
        }
    }
    None
}

/// Options of runners that take the next word.
const RUNNER_VALUES: &str = "\
    -p --package --from --with --python --spec --extra --group -w --workspace --filter -C \
    --dir --cwd --prefix --directory --project --env-file --index --index-url -F \
    --registry";

/// Options of runners that take nothing.
const RUNNER_PLAIN: &str = "\
    -y --yes --no --no-install -q --quiet -s --silent --bun --frozen --locked --isolated \
    --no-sync -v";

/// Runners that refuse an option that they do not know, so that each of these is read as it seems.
const STRICT_RUNNERS: &str = "uv uvx pipx poetry pdm hatch pipenv rye";

/// `npx`, `uv run`, `bundle exec` and the like: what they run is judged as if it stood alone.
pub(crate) fn runner(judge: &mut Judge<'_>, parsed: &ParsedArgs<'_>) {
    judge.classified(parsed.program.class, parsed);
    let is_strict = lists(STRICT_RUNNERS, parsed.name.split(' ').next().unwrap_or_default());
    let mut args = parsed.args;
    // Whether an option in front may have taken the word, and whether one may have taken an earlier one.
    let (mut may_be_taken, mut is_guess) = (false, false);
    while let [first, rest @ ..] = args {
        let text = first.text.as_str();
        let (name, value) = match text.split_once('=').filter(|_| text.starts_with('-')) {
            Some((name, value)) => (name, Some(Arg { text: value.to_owned(), ..first.clone() })),
            None => (text, None),
        };
        let was_taken = std::mem::take(&mut may_be_taken);
        let words = std::mem::replace(&mut args, rest);
        match (name, value) {
            ("--" | "-m" | "--module", None) => {}
            ("-c" | "--call", value) => {
                if let Some(code) = value.as_ref().or(rest.first()) {
                    judge.shell_argument(code);
                }
                return;
            }
            (name, value) if lists(RUNNER_VALUES, name) => {
                if value.is_some() {
                    continue;
                }
                if !is_strict && !matches!(name, "-p" | "--package") {
                    judge.forbidding(|judge| judge.runner(rest));
                }
                args = rest.get(1..).unwrap_or_default();
            }
            (_, Some(value)) => judge.guessed_code(value.guessed()),
            (name, None) if name.starts_with('-') => may_be_taken = !lists(RUNNER_PLAIN, name),
            _ => {
                let examine = |judge: &mut Judge<'_>| judge.runner(words);
                if is_guess {
                    judge.forbidding(examine)
                } else {
                    examine(judge)
                }
                if !was_taken {
                    return;
                }
                is_guess = true;
            }
        }
    }
}

impl Judge<'_> {
    /// Judges the command of a runner. Its program is a package, perhaps with a scope and a version.
    pub(super) fn runner(&mut self, args: &[Arg]) {
        let Some((first, rest)) = args.split_first() else { return };
        if first.text.contains([' ', ';', '&', '|']) {
            // A runner may hand its words to a shell: `pnpm --shell-mode exec 'npm test'`.
            self.guessed_code(wrappers::joined(args).guessed());
        }
        let mut first = first.clone();
        if let Some(package) = first.text.strip_prefix("npm:") {
            first.text = package.to_owned();
        }
        if is_onloop(&first.text) {
            first.text = "onloop".to_owned();
        } else if first.known().is_some() && !first.text.starts_with(['.', '/']) {
            let scoped = first.text.strip_prefix('@').and_then(|name| name.split_once('/'));
            // `@railway/cli` is the program `railway`.
            let name = scoped.map_or(first.text.as_str(), |(scope, name)| {
                if name.split('@').next() == Some("cli") { scope } else { name }
            });
            first.text = listed_name(name.split('@').next().unwrap_or_default());
        }
        self.command(&[&[first][..], rest].concat(), None);
    }
}

/// The name that a table knows a package by: `eas-cli` has the program `eas`, the module `ghp_import` is
/// `ghp-import`.
fn listed_name(package: &str) -> String {
    let program = package.strip_suffix("-cli").unwrap_or(package);
    let others = [program.to_owned(), package.replace('_', "-")];
    let is_listed = |name: &String| programs::find(name).is_some();
    let other = others.into_iter().find(is_listed).filter(|_| programs::find(package).is_none());
    other.unwrap_or_else(|| package.to_owned())
}

impl Judge<'_> {
    /// Whether what a name says is about a database of the checkout, which words or variables choose.
    pub(super) fn has_own_database(&self, found: &Leaving, args: &[Arg]) -> bool {
        let chosen = match (self.seen.own_database, chosen_database(args)) {
            (Some(first), Some(second)) => first && second,
            (first, second) => first.or(second).unwrap_or(false),
        };
        found.is_database && chosen
    }

    /// Judges a command by what the name of its task says; without a finding, by the class of its program.
    pub(super) fn task_leaves(&mut self, parsed: &ParsedArgs<'_>, found: Option<Leaving>) {
        match found.filter(|found| !self.has_own_database(found, parsed.args)) {
            Some(found) => {
                let rule = Rule::Program(parsed.name.to_owned());
                let reason = format!("`{}` {}", parsed.name, found.sentence());
                self.add(Finding::ask(rule, reason).for_good());
            }
            None => self.classified(parsed.program.class, parsed),
        }
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
    let skill = [".claude/skills/", ".claude-plugin/skills/"].iter().any(|folder| {
        inside.strip_prefix(folder).is_some_and(|rest| {
            let mut parts = rest.split('/').skip(1);
            parts.next() == Some("scripts") && rest.ends_with(".sh")
        })
    });
    // A host with a sandbox runs there what an agent may have written.
    if plain && (tests || skill) && !places.asks_git {
        return None;
    }
    let reason = format!("`{path}` is a file whose content is not judged");
    use PathClass::{Automation, GitHook, Repository};
    let is_inside = matches!(places.class(path), Repository | Automation | GitHook);
    let is_held = is_inside || places.is_temporary(path);
    let leaves = file_leaves(path, args);
    let finding = Finding::ask(Rule::ProgramFile, reason);
    Some(Finding { containable: is_held && !leaves, lasting: leaves, ..finding })
}
