//! Programs that find, copy, pack and delete files.

mod guarded;

use super::entry::{ParsedArgs, Role, lists};
use super::{Judge, workflow};
use crate::expand::{Arg, HOLE, Shape};
use crate::paths::{self, Access, PathClass};
use crate::programs::{self, Class};
use crate::verdict::Decision;

/// Parts of an expression of find that take their value from the next word.
const FIND_VALUES: &str = "\
    -name -iname -path -ipath -wholename -regex -iregex -regextype -type -xtype -size \
    -mtime -mmin -atime -amin -ctime -cmin -newer -newermt -perm -user -group -links -inum \
    -maxdepth -mindepth -printf -samefile -fstype";

/// Parts that take none.
const FIND_PLAIN: &str = "\
    -empty -readable -writable -executable -nouser -nogroup -print -print0 -ls -prune \
    -quit -true -false -not -and -a -or -o -depth -mount -xdev -daystart -follow -noleaf \
    -H -L -P -E -warn -nowarn ! ( ) ,";

/// find: where it starts, and what it does with what it finds.
pub(crate) fn find(judge: &mut Judge<'_>, parsed: &ParsedArgs<'_>) {
    if parsed.args.iter().any(|arg| matches!(arg.text.as_str(), "-files0-from" | "-f")) {
        judge.ask(parsed, "reads a list of files");
    }
    let mut at = 0;
    let mut roots = Vec::new();
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
            "-delete" => deletes_found(judge, parsed, &roots, name.as_deref()),
            "-exec" | "-execdir" | "-ok" | "-okdir" => {
                // `+` ends the command only behind `{}`.
                let ends = |end: &usize| match parsed.args[*end].text.as_str() {
                    ";" => true,
                    "+" => *end > at && parsed.args[*end - 1].text == "{}",
                    _ => false,
                };
                let end = (at..parsed.args.len()).find(ends).unwrap_or(parsed.args.len());
                if text.ends_with("dir") {
                    judge.ask_held(parsed, "runs commands in folders that are not known");
                    judge.seen.lost = true;
                }
                let command = &parsed.args[at..end];
                let follows = |arg: &Arg| matches!(arg.text.as_str(), "-L" | "-follow");
                if parsed.args.iter().any(follows) {
                    judge.ask_held(parsed, "runs a command with what links lead to");
                }
                // One of the words may be `;`, behind which the expression continues.
                if command.iter().any(becomes_words) {
                    judge.ask_held(parsed, "gets words that are not known and may end its command");
                }
                for root in if roots.is_empty() { &["."][..] } else { &roots } {
                    found_command(judge, command, root, name.as_deref());
                }
                at = end + 1;
            }
            "-fprint" | "-fprint0" | "-fls" | "-fprintf" => {
                judge.ask(parsed, "writes what it finds to a file");
                if let Some(file) = parsed.args.get(at) {
                    judge.opens(file, Access::Write);
                }
            }
            _ if text.starts_with(['-', '!', '(', ')', ',']) && arg.shape != Shape::Splits => {
                if lists(FIND_VALUES, text) {
                    if parsed.args.get(at).is_some_and(becomes_words) {
                        judge.ask_held(parsed, "gets a pattern that the shell expands; quote it");
                    }
                    at += 1;
                } else if !lists(FIND_PLAIN, text) {
                    judge.ask(parsed, &format!("has a part `{text}` that is not known"));
                }
            }
            _ => {
                if arg.opaque_start() {
                    judge.ask(parsed, "gets a word that is not known and may be an action");
                } else if arg.may_be_option() {
                    judge.ask_held(parsed, "gets a name that is not known and may be an action");
                }
                judge.consider(judge.places.judge(arg, Access::List));
                roots.push(text);
            }
        }
    }
}

/// Whether any number of words may become of one.
fn becomes_words(arg: &Arg) -> bool {
    matches!(arg.shape, Shape::Pattern | Shape::Splits)
}

/// `find -delete`: what has one name, below folders of the checkout, can be kept first.
fn deletes_found(
    judge: &mut Judge<'_>,
    parsed: &ParsedArgs<'_>,
    roots: &[&str],
    name: Option<&str>,
) {
    let roots = if roots.is_empty() { &["."][..] } else { roots };
    guarded::deleted(judge, parsed, roots, name);
    let mut found = roots.iter().map(|root| found_files(root, name));
    if found.all(|files| judge.is_kept_by_git(&files)) {
        return judge.removes_what_is_kept(parsed);
    }
    let in_checkout = |root: &&str| judge.places.class(root) == PathClass::Repository;
    let is_output = !judge.places.asks_git
        && name.is_some_and(paths::is_built)
        && roots.iter().all(in_checkout);
    if is_output || roots.iter().all(|root| judge.places.is_below_temporary(&Arg::exact(*root))) {
        return judge.about(parsed, Decision::Ask, true, PASSING);
    }
    judge.deny(parsed, "deletes everything that it finds");
}

/// Said about what is lost without harm.
const PASSING: &str = "deletes what builds made or what is in a temporary folder";

/// A command that find runs, with a pattern for what it found in place of `{}`.
fn found_command(judge: &mut Judge<'_>, args: &[Arg], root: &str, name: Option<&str>) {
    let mut found = found_files(root, name);
    let program = args.first().and_then(Arg::known).and_then(programs::find);
    // A program that shows no content needs to know only that what was found is no option.
    if found.shape == Shape::Holes {
        match program.is_some_and(|entry| entry.operands == [Role::List]) {
            true => found.text.insert_str(0, root),
            false => judge.consider(judge.places.judge_text(root, Access::Read)),
        }
    }
    let args: Vec<Arg> = args.iter().map(|arg| replace(arg, "{}", &found)).collect();
    judge.command(&args, None);
}

/// A pattern for what has this name below `root`, where a star stands for folders; a word that is not
/// known where it may be a secret.
fn found_files(root: &str, name: Option<&str>) -> Arg {
    let in_git = |name: &str| paths::pattern_matches(name, "config");
    let is_known = |name: &&str| {
        !name.contains(HOLE)
            && !in_git(name)
            && !paths::sought_secret(name)
            && name.contains(|c: char| c.is_alphanumeric())
    };
    match name.filter(is_known) {
        Some(name) => Arg { shape: Shape::Pattern, ..Arg::exact(format!("{root}/*/{name}")) },
        None => Arg::unknown(Shape::Holes),
    }
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
    Arg { shape: Shape::Holes.max_with(arg.shape), ..Arg::exact(text) }
}

impl Shape {
    fn max_with(self, other: Shape) -> Shape {
        if other == Shape::Splits { other } else { self }
    }
}

/// chmod: making files of the project executable.
pub(crate) fn chmod(judge: &mut Judge<'_>, parsed: &ParsedArgs<'_>) {
    let [mode, files @ ..] = parsed.args else {
        return judge.classified(Class::Changes, parsed);
    };
    for file in files {
        judge.opens(file, Access::Write);
    }
    const EXECUTABLE: [&str; 6] = ["+x", "u+x", "a+x", "ug+x", "ugo+x", "755"];
    let executable = mode.known().is_some_and(|mode| EXECUTABLE.contains(&mode));
    let is_option = |arg: &Arg| arg.text.starts_with('-') || arg.may_be_option();
    if !executable || files.is_empty() || files.iter().any(is_option) {
        judge.classified(Class::Changes, parsed);
    }
}

/// cp, mv, ln: every argument is read or written.
pub(crate) fn copy(judge: &mut Judge<'_>, parsed: &ParsedArgs<'_>) {
    let own = parsed.name == "mv" && workflow::moves_state(parsed, judge);
    if own {
        return;
    }
    let known = |arg: &&Arg| matches!(arg.shape, Shape::Exact | Shape::Pattern);
    let named = parsed.operands.iter().all(known);
    judge.about(parsed, Decision::Ask, named && parsed.name != "rename", Class::Changes.sentence());
    let moves = parsed.name == "mv" || parsed.name == "rename";
    let into_option = parsed.has(&["-t", "--target-directory"]);
    for (at, operand) in parsed.operands.iter().enumerate() {
        let last = at + 1 == parsed.operands.len() && !into_option;
        judge.consider(match (last, moves) {
            (true, _) => judge.places.judge(operand, Access::Write),
            (false, true) => judge.places.judge_removed(operand),
            (false, false) => judge.places.judge(operand, Access::Read),
        });
    }
    into_folder(judge, parsed);
    guarded::replaced(judge, parsed);
    judge.writes(&parsed.operands);
}

/// What is copied or moved, and where to, if that is a word.
fn sources<'o>(parsed: &'o ParsedArgs<'_>) -> (&'o [&'o Arg], Option<&'o Arg>) {
    let folder = parsed.values(&["-t", "--target-directory"]).first().copied();
    match (folder, parsed.operands.as_slice()) {
        (Some(folder), from) => (from, Some(folder)),
        // `ln FILE` makes a link of the same name.
        (None, from @ [_]) if parsed.name == "ln" => (from, None),
        (None, [from @ .., to]) => (from, Some(to)),
        (None, []) => (&[], None),
    }
}

/// What is copied or moved into a folder keeps its name there.
fn into_folder(judge: &mut Judge<'_>, parsed: &ParsedArgs<'_>) {
    let here = Arg::exact(".");
    let (from, to) = sources(parsed);
    let to = to.unwrap_or(&here);
    for source in from {
        let name = paths::file_name(source.text.trim_end_matches('/'));
        let target = format!("{}/{name}", to.text.trim_end_matches('/'));
        let target = Arg { text: target, ..(*source).clone() };
        judge.writes(&[&target]);
        let finding = judge.places.judge(&target, Access::Write);
        judge.consider(finding.filter(|_| source.shape == Shape::Exact));
    }
}

/// git mv: a folder takes along all that is in it, which may run by its new name or has run by its old one.
pub(crate) fn moved(judge: &mut Judge<'_>, parsed: &ParsedArgs<'_>) {
    into_folder(judge, parsed);
    if parsed.operands.iter().any(|arg| judge.places.is_above_automation(arg.guessed())) {
        judge.ask(parsed, "may move a folder to or from where what is in it runs by itself");
    }
    judge.writes(&parsed.operands);
}

/// Whether a path lies in a folder that a build makes anew.
fn is_rebuilt(judge: &Judge<'_>, arg: &Arg) -> bool {
    let path = arg.text.as_str();
    if !matches!(arg.shape, Shape::Exact | Shape::Pattern) {
        return false;
    }
    let absolute = judge.places.absolute(path);
    let root = judge.places.root.as_deref();
    let Some(inside) = root.and_then(|root| paths::below(&absolute, root)) else { return false };
    let mut parts = inside.split('/');
    judge.places.class(path) == PathClass::Repository
        && parts.any(|part| paths::REBUILT.contains(&part))
        && (arg.shape == Shape::Exact || !parts.any(|part| part.contains(['*', '?', '['])))
}

/// Whether a path has a name that builds and tests give to what they write. A pattern says no more than
/// its ending.
fn is_built(judge: &Judge<'_>, arg: &Arg) -> bool {
    let path = arg.text.trim_end_matches('/');
    let absolute = judge.places.absolute(path);
    let inside = judge.places.root.as_deref().and_then(|root| paths::below(&absolute, root));
    let inside = inside.filter(|_| judge.places.class(path) == PathClass::Repository);
    match arg.shape {
        Shape::Exact => inside.is_some_and(|inside| inside.split('/').any(paths::is_built)),
        Shape::Pattern => inside.is_some_and(|inside| {
            let end = paths::file_name(inside).strip_prefix('*');
            !path.contains("..")
                && inside.matches(['*', '?', '[', '{']).count() == 1
                && end.is_some_and(|end| end.starts_with('.') && paths::is_built(end))
        }),
        Shape::Holes | Shape::Splits => false,
    }
}

/// Whether a path is that of a file of the checkout, by its name.
fn is_one_file(judge: &Judge<'_>, arg: &Arg) -> bool {
    arg.known().is_some_and(|path| judge.places.class(path) == PathClass::Repository)
        && !may_be_folder(arg)
}

/// Whether git ignores everything in a folder, or has it exactly as it is. The name of a folder that a
/// build makes anew may stand behind `*`, which is any depth then.
fn is_kept_folder(judge: &mut Judge<'_>, arg: &Arg) -> bool {
    let path = arg.text.trim_end_matches('/');
    if judge.places.class(path) != PathClass::Repository {
        return false;
    }
    let absolute = judge.places.absolute(path);
    match arg.shape {
        Shape::Exact => judge.is_kept(format!("{absolute}/")),
        Shape::Pattern if is_rebuilt(judge, arg) => {
            judge.is_kept(format!("{}/", absolute.replace("/*/", "/**/")))
        }
        Shape::Pattern | Shape::Holes | Shape::Splits => false,
    }
}

/// rm: deleting folders without asking cannot be undone.
pub(crate) fn rm(judge: &mut Judge<'_>, parsed: &ParsedArgs<'_>) {
    for operand in &parsed.operands {
        // What stands behind `*` has the name of a folder that builds make anew.
        let is_named = operand.shape == Shape::Pattern && is_rebuilt(judge, operand);
        let finding = judge.places.judge_removed(operand).filter(|_| !is_named);
        judge.consider(finding);
    }
    judge.writes(&parsed.operands);
    let recursive = parsed.has(&["-r", "-R", "--recursive"]);
    let force = parsed.has(&["-f", "--force"]);
    guarded::removed(judge, parsed, recursive);
    let root = parsed.operands.iter().any(|arg| {
        let path = judge.places.absolute(arg.text.trim_end_matches('*'));
        path == "~" || judge.places.is_around(&path)
    });
    if recursive && root {
        return judge.deny(parsed, "deletes everything");
    }
    let is_certain = |arg: &Arg| !arg.text.starts_with('-') || arg.known().is_some();
    let known = !parsed.operands.is_empty() && parsed.args.iter().all(is_certain);
    // Where the host asks git, only what git ignores or has is free.
    let by_name = !judge.places.asks_git;
    let is_free = |judge: &mut Judge<'_>, arg: &Arg| {
        judge.places.is_lost_with_run(arg)
            || (by_name && is_rebuilt(judge, arg))
            || (recursive && is_kept_folder(judge, arg))
    };
    let all_free = known && parsed.operands.iter().all(|arg| is_free(judge, arg));
    if all_free {
        return judge.removes_what_is_kept(parsed);
    }
    // In a sandbox a path must be certain: without the value of a variable it may be another.
    let is_temporary = |arg: &Arg| {
        judge.places.is_below_temporary(arg)
            && (arg.shape != Shape::Holes || !judge.context.confined)
    };
    let is_output = |arg: &Arg| is_rebuilt(judge, arg) || is_built(judge, arg);
    let is_passing =
        |arg: &Arg| is_temporary(arg) || (by_name && (is_output(arg) || is_one_file(judge, arg)));
    if recursive && !parsed.operands.is_empty() && parsed.operands.iter().all(|arg| is_passing(arg))
    {
        return judge.about(parsed, Decision::Ask, true, PASSING);
    }
    if recursive && force && !parsed.operands.iter().all(|arg| is_output(arg)) {
        return judge.deny(parsed, "deletes folders without asking");
    }
    if recursive && force {
        let what = "deletes a folder of which git does not ignore everything";
        return judge.ask(parsed, what);
    }
    // Files only: of a folder git may have some files and not others.
    let single = known && !recursive;
    if single && parsed.operands.iter().all(|arg| judge.is_kept_by_git(arg)) {
        return judge.removes_what_is_kept(parsed);
    }
    let named =
        parsed.operands.iter().all(|arg| arg.known().is_some()) && !parsed.operands.is_empty();
    judge.about(parsed, Decision::Ask, named, Class::Deletes.sentence());
}

/// Common names of files that have no dot, and the standard input.
const FILES_WITHOUT_DOT: [&str; 12] = [
    "Makefile",
    "GNUmakefile",
    "makefile",
    "Dockerfile",
    "Containerfile",
    "Jenkinsfile",
    "LICENSE",
    "README",
    "CHANGELOG",
    "NOTICE",
    "Gemfile",
    "-",
];

/// Whether a word may be a folder. A name without a dot is as likely one, unless it is a common one of a
/// file.
fn may_be_folder(arg: &Arg) -> bool {
    let (text, name) = (arg.guessed(), paths::file_name(arg.guessed()));
    let is_file = text.starts_with("/dev/") || FILES_WITHOUT_DOT.contains(&name);
    let is_plain = name.trim_matches('.').contains('.') && !text.contains(['*', '?', '[']);
    !is_plain && !is_file
}

/// diff: of two folders it shows every file that differs, those with secret names included.
pub(crate) fn diff(judge: &mut Judge<'_>, parsed: &ParsedArgs<'_>) {
    let is_folder = |arg: &&Arg| {
        let text = arg.guessed();
        matches!(paths::file_name(text), "" | "." | "..") || text.contains(['*', '?', '['])
    };
    let whole = parsed.has(&["-r", "--recursive", "-N", "--new-file", "--unidirectional-new-file"]);
    let files = parsed.operands.iter().copied();
    let files: Vec<&Arg> = files.chain(parsed.values(&["--from-file", "--to-file"])).collect();
    if whole || files.iter().any(is_folder) || files.iter().filter(|f| may_be_folder(f)).count() > 1
    {
        judge.ask_held(parsed, "compares folders, with all that is in them");
    }
}

/// Programs of binutils: any word behind `@` is a file of further arguments.
pub(crate) fn arguments_file(judge: &mut Judge<'_>, parsed: &ParsedArgs<'_>) {
    if parsed.args.iter().any(|arg| arg.text.starts_with('@') || arg.opaque_start()) {
        judge.ask_held(parsed, "may take more arguments from a file");
    }
}

/// dd: `of=` is written.
pub(crate) fn dd(judge: &mut Judge<'_>, parsed: &ParsedArgs<'_>) {
    judge.classified(Class::Changes, parsed);
    for arg in parsed.args {
        let named = |prefix: &str| {
            let guess = arg.guess.as_ref().map(|guess| guess.replacen(prefix, "", 1));
            let text = arg.text.strip_prefix(prefix)?.to_owned();
            Some(Arg { text, guess, ..arg.clone() })
        };
        if let Some(path) = named("of=") {
            judge.opens(&path, Access::Write);
            judge.writes(&[&path]);
        }
        if let Some(path) = named("if=") {
            judge.reads(&path);
        }
    }
}

/// `fd -x`: the command gets what was found.
pub(crate) fn fd(judge: &mut Judge<'_>, parsed: &ParsedArgs<'_>) {
    let Some(rest) = parsed.rest else { return };
    let command = &parsed.args[rest..];
    let may_end = |arg: &Arg| arg.text == ";" || becomes_words(arg) || arg.opaque_start();
    if command.iter().any(may_end) {
        judge.ask(parsed, "may have another command behind the first");
    }
    let found = Arg::unknown(Shape::Holes);
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

/// tree: letters behind one dash take the next words, one each.
pub(crate) fn tree(judge: &mut Judge<'_>, parsed: &ParsedArgs<'_>) {
    let splits = |arg: &Arg| {
        let letters = arg.text.strip_prefix('-').filter(|letters| !letters.starts_with('-'));
        letters.is_some_and(|letters| {
            let before = letters.char_indices().next_back().map_or("", |(at, _)| &letters[..at]);
            before.contains(['o', 'L', 'P', 'I', 'H', 'T'])
        })
    };
    if parsed.args.iter().any(splits) {
        judge.ask_held(parsed, "has a letter with a value in front of other letters");
    }
}

/// `mktemp`: where the run's temporary folder is, or in the checkout.
pub(crate) fn temporary(judge: &mut Judge<'_>, parsed: &ParsedArgs<'_>) {
    for path in parsed.operands.iter().copied().chain(parsed.values(&["--tmpdir"])) {
        judge.consider(judge.context.client.file(path, Access::Write, &judge.places));
        judge.opens(path, Access::Write);
    }
    if !parsed.operands.is_empty() && !parsed.has(&["--tmpdir", "-t"]) {
        return;
    }
    // A name in that folder, not one that leads out of it.
    let plain = |arg: &&Arg| arg.known().is_some_and(|name| !name.contains('/'));
    if judge.places.own_temporary.is_none() || !parsed.operands.iter().all(plain) {
        judge.ask_held(parsed, "makes a file in a temporary folder");
    }
}

/// `tar`: packing names what it reads and writes, unpacking does not.
pub(crate) fn tar(judge: &mut Judge<'_>, parsed: &ParsedArgs<'_>) {
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
    let is_option = |arg: &Arg| arg.text.starts_with('-') || arg.may_be_option();
    if !simple || files.iter().any(is_option) {
        judge.classified(Class::Changes, parsed);
        for arg in rest.iter().filter(|arg| !arg.text.starts_with('-')) {
            judge.opens(arg, Access::Read);
        }
        return;
    }
    // A colon names another machine.
    if archive.text.contains(':') {
        return judge.classified(Class::Connects, parsed);
    }
    let packs = letters.contains('c');
    let access = if packs { Access::Write } else { Access::Read };
    judge.opens(archive, access);
    if packs {
        judge.writes(&[archive]);
    }
    for file in files.iter().filter(|_| packs) {
        judge.opens(file, Access::Read);
    }
    // Most secrets of a checkout lie at its top, and a folder elsewhere may be one.
    let is_whole = |file: &Arg| {
        matches!(paths::file_name(file.guessed()), "" | "." | "..")
            || judge.places.class(file.guessed()) != PathClass::Repository
    };
    if packs && files.iter().any(is_whole) {
        judge.ask_held(parsed, "packs a folder with all that is in it");
    }
    if letters.contains('x') {
        judge.classified(Class::Changes, parsed);
    }
}
