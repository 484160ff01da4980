//! What the table of programs cannot say: small languages in arguments, and programs whose
//! arguments decide what they do.

mod awk;
mod sed;

use super::{Judge, workflow};
use crate::permission::environment;
use crate::permission::expand::{Arg, HOLE, Shape, shown};
use crate::permission::options::ParsedArgs;
use crate::permission::paths::{self, Access, PathClass, Places};
use crate::permission::programs::Class;
use crate::permission::verdict::{Decision, Finding, Rule};

pub(super) fn pattern_option(judge: &mut Judge<'_>, parsed: &ParsedArgs<'_>) {
    let in_option = parsed.has(&["-e", "--regexp", "-f", "--file"]);
    let lists = parsed.args.iter().any(|arg| arg.known() == Some("--files"));
    if (in_option || lists)
        && let Some(first) = parsed.operands.first()
    {
        judge.consider(judge.places.judge(first, Access::Read));
    }
}

pub(super) fn jq(judge: &mut Judge<'_>, parsed: &ParsedArgs<'_>) {
    query(judge, parsed, parsed.operands.first().copied());
}

pub(super) fn yq(judge: &mut Judge<'_>, parsed: &ParsedArgs<'_>) {
    // `eval` and `eval-all` stand before the expression, and without one the first is a file.
    for operand in &parsed.operands {
        query(judge, parsed, Some(operand));
        judge.consider(judge.places.judge(operand, Access::Read));
    }
}

fn query(judge: &mut Judge<'_>, parsed: &ParsedArgs<'_>, filter: Option<&Arg>) {
    let Some(filter) = filter else { return };
    match filter.known() {
        None if filter.shape == Shape::Pattern => {}
        None => judge.ask(parsed, "gets a filter that is put together when it runs"),
        Some(text) => {
            let words = text.split(|c: char| !c.is_ascii_alphanumeric() && c != '_' && c != '$');
            let reads = [
                "load",
                "load_str",
                "load_xml",
                "load_props",
                "load_base64",
                "input_line_number",
                "$__loc__",
                "get_search_list",
                "env",
                "$ENV",
                "import",
                "include",
                "input_filename",
                "$__prog_args",
                "envsubst",
                "strenv",
                "eval",
            ];
            if words.into_iter().any(|word| reads.contains(&word)) {
                judge.ask(parsed, "gets a filter that reads the environment or other files");
            }
        }
    }
}

pub(super) fn awk(judge: &mut Judge<'_>, parsed: &ParsedArgs<'_>) {
    let Some(program) = parsed.operands.first() else {
        return;
    };
    match program.text.as_str() {
        text if program.known().is_some() || program.shape == Shape::Pattern => {
            if let Some(what) = awk::objection(text) {
                judge.ask(parsed, what);
            }
        }
        _ => judge.ask(parsed, "gets a program that is put together when it runs"),
    }
}

pub(super) fn sed(judge: &mut Judge<'_>, parsed: &ParsedArgs<'_>) {
    let mut scripts = parsed.values(&["-e", "--expression"]);
    let mut files = parsed.operands.as_slice();
    if scripts.is_empty()
        && let [script, rest @ ..] = files
    {
        scripts.push(script);
        files = rest;
    }
    let in_place = parsed.has(&["-i", "--in-place"]);
    let access = if in_place { Access::Write } else { Access::Read };
    for file in files {
        judge.consider(judge.places.judge(file, access));
    }
    if in_place {
        judge.writes(files);
    }
    for script in scripts {
        let text = script.known().or((script.shape == Shape::Pattern).then_some(&script.text));
        match text {
            Some(text) if sed::is_plain(text) => {}
            Some(_) => judge.ask(parsed, "gets a script that may run commands or write files"),
            None => judge.ask(parsed, "gets a script that is put together when it runs"),
        }
    }
}

/// Parts of an expression of find that take their value from the next word.
const FIND_VALUES: [&str; 29] = [
    "-name",
    "-iname",
    "-path",
    "-ipath",
    "-wholename",
    "-regex",
    "-iregex",
    "-regextype",
    "-type",
    "-xtype",
    "-size",
    "-mtime",
    "-mmin",
    "-atime",
    "-amin",
    "-ctime",
    "-cmin",
    "-newer",
    "-newermt",
    "-perm",
    "-user",
    "-group",
    "-links",
    "-inum",
    "-maxdepth",
    "-mindepth",
    "-printf",
    "-samefile",
    "-fstype",
];
/// Parts that take none.
const FIND_PLAIN: [&str; 34] = [
    "-empty",
    "-readable",
    "-writable",
    "-executable",
    "-nouser",
    "-nogroup",
    "-print",
    "-print0",
    "-ls",
    "-prune",
    "-quit",
    "-true",
    "-false",
    "-not",
    "-and",
    "-a",
    "-or",
    "-o",
    "-depth",
    "-mount",
    "-xdev",
    "-daystart",
    "-follow",
    "-noleaf",
    "-H",
    "-L",
    "-P",
    "-E",
    "-warn",
    "-nowarn",
    "!",
    "(",
    ")",
    ",",
];

pub(super) fn find(judge: &mut Judge<'_>, parsed: &ParsedArgs<'_>) {
    if parsed.args.iter().any(|arg| matches!(arg.text.as_str(), "-files0-from" | "-f")) {
        judge.ask(parsed, "reads a list of files");
    }
    let mut at = 0;
    let mut root = ".".to_owned();
    let mut name = None;
    while let Some(arg) = parsed.args.get(at) {
        at += 1;
        let text = arg.text.as_str();
        match text {
            "-name" if name.is_none() => name = parsed.args.get(at).map(|arg| arg.text.clone()),
            // With alternatives, other names are found too.
            "-name" | "-iname" | "-o" | "-or" | "-not" | "!" | "," => name = Some(HOLE.to_string()),
            _ => {}
        }
        match text {
            "-delete" => judge.deny(parsed, "deletes everything that it finds"),
            "-exec" | "-execdir" | "-ok" | "-okdir" => {
                let end =
                    parsed.args[at..].iter().position(|a| matches!(a.text.as_str(), ";" | "+"));
                let end = end.map_or(parsed.args.len(), |end| at + end);
                found_command(judge, &parsed.args[at..end], &root, name.as_deref());
                at = end + 1;
            }
            "-fprint" | "-fprint0" | "-fls" | "-fprintf" => {
                judge.ask(parsed, "writes what it finds to a file");
                if let Some(file) = parsed.args.get(at) {
                    judge.consider(judge.places.judge(file, Access::Write));
                }
            }
            _ if text.starts_with(['-', '!', '(', ')', ',']) && arg.shape != Shape::Splits => {
                if FIND_VALUES.contains(&text) {
                    at += 1;
                } else if !FIND_PLAIN.contains(&text) {
                    judge.ask(parsed, &format!("has a part `{text}` that is not known"));
                }
            }
            _ => {
                if arg.opaque_start() {
                    judge.ask(parsed, "gets a word that is not known and may be an action");
                }
                judge.consider(judge.places.judge(arg, Access::List));
                text.clone_into(&mut root);
            }
        }
    }
}

/// A command that find runs, with a pattern for what it found in place of `{}`.
fn found_command(judge: &mut Judge<'_>, args: &[Arg], root: &str, name: Option<&str>) {
    let found = match name {
        Some(name)
            if !name.contains(HOLE)
                && !paths::sought_secret(name)
                && name.contains(|c: char| c.is_alphanumeric()) =>
        {
            Arg {
                text: format!("{root}/*/{name}"),
                shape: Shape::Pattern,
                guess: None,
                secret: false,
            }
        }
        _ => Arg { text: HOLE.to_string(), shape: Shape::Holes, guess: None, secret: false },
    };
    let args: Vec<Arg> = args.iter().map(|arg| replace(arg, "{}", &found)).collect();
    judge.command(&args, None);
}

/// `arg` with `found` in place of `mark`.
pub(super) fn replace(arg: &Arg, mark: &str, found: &Arg) -> Arg {
    if !arg.text.contains(mark) {
        return arg.clone();
    }
    if arg.text == mark {
        return found.clone();
    }
    let text = arg.text.replace(mark, &HOLE.to_string());
    Arg { text, shape: Shape::Holes.max_with(arg.shape), guess: None, secret: false }
}

impl Shape {
    fn max_with(self, other: Shape) -> Shape {
        if other == Shape::Splits { other } else { self }
    }
}

pub(super) fn chmod(judge: &mut Judge<'_>, parsed: &ParsedArgs<'_>) {
    let [mode, files @ ..] = parsed.args else {
        return judge.classified(Class::Changes, parsed);
    };
    for file in files {
        judge.consider(judge.places.judge(file, Access::Write));
    }
    let executable = matches!(mode.known(), Some("+x" | "u+x" | "a+x" | "ug+x" | "ugo+x"));
    if !executable || files.is_empty() || files.iter().any(|file| file.text.starts_with('-')) {
        judge.classified(Class::Changes, parsed);
    }
}

pub(super) fn copy(judge: &mut Judge<'_>, parsed: &ParsedArgs<'_>) {
    let own = parsed.name == "mv" && workflow::moves_state(parsed, judge);
    if own {
        return;
    }
    let known = |arg: &&Arg| matches!(arg.shape, Shape::Exact | Shape::Pattern);
    let named = parsed.operands.iter().all(known) && parsed.operands.len() > 1;
    judge.about(parsed, Decision::Ask, named && parsed.name != "rename", Class::Changes.sentence());
    let moves = parsed.name == "mv" || parsed.name == "rename";
    let into_option = parsed.has(&["-t", "--target-directory"]);
    for (at, operand) in parsed.operands.iter().enumerate() {
        let last = at + 1 == parsed.operands.len() && !into_option;
        let access = if last || moves { Access::Write } else { Access::Read };
        judge.consider(judge.places.judge(operand, access));
    }
    // What is copied into a folder keeps its name there.
    if let [from @ .., to] = parsed.operands.as_slice() {
        for source in from {
            let name = paths::file_name(source.text.trim_end_matches('/'));
            let target = format!("{}/{name}", to.text.trim_end_matches('/'));
            let target = Arg { text: target, ..(*source).clone() };
            let finding = judge.places.judge(&target, Access::Write);
            judge.consider(finding.filter(|_| source.shape == Shape::Exact));
        }
    }
    judge.writes(&parsed.operands);
}

/// Folders that a build makes anew, whatever is lost in them.
const REBUILT: [&str; 20] = [
    "target",
    "node_modules",
    "__pycache__",
    ".pytest_cache",
    ".mypy_cache",
    ".ruff_cache",
    ".tox",
    ".nox",
    ".next",
    ".nuxt",
    ".turbo",
    ".parcel-cache",
    ".gradle",
    ".venv",
    ".eggs",
    ".nyc_output",
    ".svelte-kit",
    ".angular",
    ".dart_tool",
    "bower_components",
];

/// Whether a path lies in a folder that a build makes anew.
fn is_rebuilt(judge: &Judge<'_>, arg: &Arg) -> bool {
    let Some(path) = arg.known() else { return false };
    let absolute = judge.places.absolute(path);
    let root = judge.places.root.as_deref();
    let Some(inside) = root.and_then(|root| paths::below(&absolute, root)) else { return false };
    judge.places.class(path) == PathClass::Repository
        && inside.split('/').any(|part| REBUILT.contains(&part))
}

pub(super) fn rm(judge: &mut Judge<'_>, parsed: &ParsedArgs<'_>) {
    let options: Vec<&str> = parsed
        .args
        .iter()
        .map(|arg| arg.text.as_str())
        .take_while(|text| *text != "--")
        .filter(|text| text.starts_with('-'))
        .collect();
    let given = |letters: [char; 2], long: &str| {
        options.iter().any(|option| match option.strip_prefix("--") {
            Some(name) => !name.is_empty() && long.starts_with(name),
            None => option.contains(letters),
        })
    };
    let recursive = given(['r', 'R'], "recursive");
    let force = given(['f', 'f'], "force");
    let root = parsed.operands.iter().any(|arg| {
        let path = judge.places.absolute(arg.text.trim_end_matches('*'));
        path == "/" || path == "~" || Some(path) == judge.places.root
    });
    let bare =
        options.iter().any(|option| "--no-preserve-root".starts_with(option) && option.len() > 5);
    if (recursive && root) || bare {
        return judge.deny(parsed, "deletes everything");
    }
    let known = options.iter().all(|option| {
        option.strip_prefix('-').is_some_and(|o| o.bytes().all(|b| b"rRfvdi".contains(&b)))
            || matches!(*option, "--recursive" | "--force" | "--verbose" | "--dir")
    });
    let operands = !parsed.operands.is_empty();
    if known && operands && parsed.operands.iter().all(|arg| is_rebuilt(judge, arg)) {
        return;
    }
    if recursive && force {
        return judge.deny(parsed, "deletes folders without asking");
    }
    let named = parsed.operands.iter().all(|arg| arg.known().is_some()) && operands;
    judge.about(parsed, Decision::Ask, named, Class::Deletes.sentence());
}

pub(super) fn dd(judge: &mut Judge<'_>, parsed: &ParsedArgs<'_>) {
    judge.classified(Class::Changes, parsed);
    for arg in parsed.args {
        for (prefix, access) in [("of=", Access::Write), ("if=", Access::Read)] {
            if let Some(path) = arg.text.strip_prefix(prefix) {
                let path = Arg { text: path.to_owned(), ..arg.clone() };
                judge.consider(judge.places.judge(&path, access));
            }
        }
    }
}

pub(super) fn printf(judge: &mut Judge<'_>, parsed: &ParsedArgs<'_>) {
    if parsed.args.first().is_some_and(|arg| arg.text.starts_with("-v") || arg.opaque_start()) {
        judge.ask(parsed, "writes a variable");
    }
}

pub(super) fn test(judge: &mut Judge<'_>, parsed: &ParsedArgs<'_>) {
    let evaluates = |arg: &Arg| matches!(arg.text.as_str(), "-v" | "-R");
    if parsed.args.iter().any(evaluates) {
        judge.ask(parsed, "evaluates the name of a variable");
    }
}

pub(super) fn set(judge: &mut Judge<'_>, parsed: &ParsedArgs<'_>) {
    let mut args = parsed.args.iter();
    let mut harmless = !parsed.args.is_empty();
    while let Some(arg) = args.next() {
        let Some(text) = arg.known() else {
            harmless = false;
            break;
        };
        if text == "--" {
            break;
        }
        let letters = text.strip_prefix(['-', '+']).unwrap_or("?");
        harmless &= letters.bytes().all(|b| b"euxvfCo".contains(&b));
        if letters.ends_with('o') {
            let option = args.next().and_then(Arg::known).unwrap_or_default();
            harmless &=
                ["pipefail", "errexit", "nounset", "xtrace", "verbose", "noglob", "noclobber"]
                    .contains(&option);
        }
    }
    if !harmless {
        judge.ask(parsed, "changes how the shell reads what follows");
    }
}

pub(super) fn shopt(judge: &mut Judge<'_>, parsed: &ParsedArgs<'_>) {
    let known = ["-s", "-u", "-q", "nullglob", "failglob", "globstar", "nocaseglob"];
    if !parsed.args.iter().all(|arg| arg.known().is_some_and(|text| known.contains(&text))) {
        judge.ask(parsed, "changes how the shell reads what follows");
    }
}

pub(super) fn declare(judge: &mut Judge<'_>, parsed: &ParsedArgs<'_>) {
    for arg in parsed.args {
        let text = arg.text.as_str();
        if let Some(letters) = text.strip_prefix('-') {
            if !letters.bytes().all(|b| b"xgraA".contains(&b)) || letters.is_empty() {
                judge.ask(parsed, "prints, evaluates or links variables");
            }
            continue;
        }
        let (name, value) = text.split_once('=').unwrap_or((text, ""));
        let name = name.strip_suffix('+').unwrap_or(name);
        if !is_name(name) {
            judge.ask(parsed, "evaluates the name of a variable");
        }
        if text.contains('=') {
            let value =
                Arg { text: value.to_owned(), shape: arg.shape, guess: None, secret: false };
            judge.assignment(name, &value, true);
        }
    }
    if parsed.args.is_empty() {
        judge.ask(parsed, "prints variables");
    }
}

pub(super) fn plain_names(judge: &mut Judge<'_>, parsed: &ParsedArgs<'_>) {
    for operand in &parsed.operands {
        let text = operand.text.as_str();
        let option =
            text.starts_with(':') || text.chars().all(|c| c.is_ascii_alphanumeric() || c == ':');
        if operand.known().is_none() || !(is_name(text) || (parsed.name == "getopts" && option)) {
            judge.ask(parsed, "evaluates the name of a variable");
        } else {
            judge.consider(
                environment::judge(text, &Arg::exact(""), true).filter(|_| parsed.name != "unset"),
            );
        }
    }
}

fn is_name(text: &str) -> bool {
    let start = text.bytes().next().is_some_and(|b| b.is_ascii_alphabetic() || b == b'_');
    start && text.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_')
}

pub(super) fn module(judge: &mut Judge<'_>, parsed: &ParsedArgs<'_>) {
    let known = parsed.known_operands().unwrap_or_default();
    let named = |name: &&str| !name.starts_with(['/', '.', '~']) && !name.contains("..");
    let plain = match known.as_slice() {
        ["load", names @ ..] => !names.is_empty() && names.iter().all(named),
        ["list" | "avail"] => true,
        _ => false,
    };
    if !plain || parsed.args.len() != known.len() {
        judge.ask(parsed, "loads something else than a named module");
    }
}

pub(super) fn date(judge: &mut Judge<'_>, parsed: &ParsedArgs<'_>) {
    if !parsed.operands.iter().all(|arg| arg.text.starts_with('+')) {
        judge.ask(parsed, "sets the clock");
    }
}

pub(super) fn make(judge: &mut Judge<'_>, parsed: &ParsedArgs<'_>) {
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

pub(super) fn ninja(judge: &mut Judge<'_>, parsed: &ParsedArgs<'_>) {
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

pub(super) fn cmake(judge: &mut Judge<'_>, parsed: &ParsedArgs<'_>) {
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
pub(super) fn task(judge: &mut Judge<'_>, parsed: &ParsedArgs<'_>) {
    let leaves = parsed.args.iter().any(|arg| leaves_the_machine(&arg.text));
    let class = if leaves { Class::Publishes } else { parsed.program.class };
    judge.classified(class, parsed);
}

/// Interpreters: a file or module of the project is held by a sandbox; code in an argument may
/// send anything anywhere, and nothing tells what it is for.
pub(super) fn interpreter(judge: &mut Judge<'_>, parsed: &ParsedArgs<'_>) {
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

/// `exit` and the like: some shells evaluate what they are given.
pub(super) fn steers(judge: &mut Judge<'_>, parsed: &ParsedArgs<'_>) {
    if parsed.operands.iter().any(|arg| arg.guessed().contains(['[', '$', '`', '('])) {
        judge.ask(parsed, "evaluates its argument");
    }
}

/// `fd -x`: the command gets what was found.
pub(super) fn fd(judge: &mut Judge<'_>, parsed: &ParsedArgs<'_>) {
    let Some(rest) = parsed.rest else { return };
    let command = &parsed.args[rest..];
    let found = Arg { text: HOLE.to_string(), shape: Shape::Holes, guess: None, secret: false };
    let end = command.iter().position(|arg| arg.text == ";").unwrap_or(command.len());
    let marks = ["{}", "{/}", "{//}", "{.}", "{/.}"];
    let mut args: Vec<Arg> = command[..end]
        .iter()
        .map(|arg| marks.iter().fold(arg.clone(), |arg, mark| replace(&arg, mark, &found)))
        .collect();
    if !command[..end].iter().any(|arg| marks.iter().any(|mark| arg.text.contains(mark))) {
        args.push(found);
    }
    judge.command(&args, None);
}

/// `mktemp`: where the run's temporary folder is, or in the checkout.
pub(super) fn temporary(judge: &mut Judge<'_>, parsed: &ParsedArgs<'_>) {
    for operand in &parsed.operands {
        judge.consider(judge.places.judge(operand, Access::Write));
    }
    if parsed.operands.is_empty() || parsed.has(&["--tmpdir", "-t"]) {
        judge.ask_held(parsed, "makes a file in a temporary folder");
    }
}

/// `tar`: packing names what it reads and writes, unpacking does not.
pub(super) fn tar(judge: &mut Judge<'_>, parsed: &ParsedArgs<'_>) {
    const PROGRAMS: [&str; 10] = [
        "-I",
        "--use-c",
        "-F",
        "--info",
        "--new-v",
        "--to-c",
        "--checkpoint-a",
        "--rsh",
        "--rmt",
        "--owner-m",
    ];
    let options = || parsed.args.iter().map(|arg| arg.text.as_str());
    if options().any(|text| PROGRAMS.iter().any(|known| text.starts_with(known))) {
        judge.makes(parsed, "--use-compress-program", Class::NamesCode);
    }
    let Some((mode, rest)) = parsed.args.split_first() else {
        return judge.classified(Class::Changes, parsed);
    };
    let letters = mode.text.strip_prefix('-').unwrap_or(&mode.text);
    let plain = mode.known().is_some() && letters.bytes().all(|b| b"cxtzjJvpf".contains(&b));
    let modes = letters.bytes().filter(|b| b"cxt".contains(b)).count();
    let simple = plain && modes == 1 && letters.ends_with('f');
    let [archive, files @ ..] = rest else {
        return judge.classified(Class::Changes, parsed);
    };
    if !simple || files.iter().any(|file| file.text.starts_with('-')) {
        judge.classified(Class::Changes, parsed);
        for arg in rest.iter().filter(|arg| !arg.text.starts_with('-')) {
            judge.consider(judge.places.judge(arg, Access::Read));
        }
        return;
    }
    // A colon names another machine.
    if archive.text.contains(':') {
        return judge.classified(Class::Connects, parsed);
    }
    let packs = letters.contains('c');
    let access = if packs { Access::Write } else { Access::Read };
    judge.consider(judge.places.judge(archive, access));
    for file in files.iter().filter(|_| packs) {
        judge.consider(judge.places.judge(file, Access::Read));
    }
    if letters.contains('x') {
        judge.classified(Class::Changes, parsed);
    }
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
