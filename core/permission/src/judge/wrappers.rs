//! Commands that run other commands: what they run is judged as if it stood alone.

use super::builtins::{self, behind_dashes};
use super::entry::{ParsedArgs, Role, lists};
use super::{Judge, files, tasks};
use crate::environment::{Scope, leads_to_setup};
use crate::expand::{Arg, Shape};
use crate::paths::{Access, PathClass};
use crate::programs::Class;
use crate::verdict::{Decision, Finding, Rule};

/// The arguments joined with blanks, as eval joins them.
pub(super) fn joined(args: &[Arg]) -> Arg {
    let texts: Vec<&str> = args.iter().map(Arg::guessed).collect();
    let is_exact = args.iter().all(|arg| arg.shape == Shape::Exact);
    let shape = if is_exact { Shape::Exact } else { Shape::Splits };
    Arg { shape, ..Arg::exact(texts.join(" ")) }
}

/// eval: its arguments are a line of shell.
pub(crate) fn eval(judge: &mut Judge<'_>, parsed: &ParsedArgs<'_>) {
    judge.code_argument(&joined(behind_dashes(parsed.args)));
}

/// command and builtin: `command -v` only looks.
pub(crate) fn command(judge: &mut Judge<'_>, parsed: &ParsedArgs<'_>) {
    if parsed.has(&["-v", "-V"]) {
        return;
    }
    rest(judge, parsed);
}

fn rest(judge: &mut Judge<'_>, parsed: &ParsedArgs<'_>) {
    if let Some(rest) = parsed.rest {
        let stdin = judge.standard.take();
        judge.command(&parsed.args[rest..], stdin.as_ref());
    }
}

/// trap: its first argument is run later.
pub(crate) fn trap(judge: &mut Judge<'_>, parsed: &ParsedArgs<'_>) {
    judge.seen.deferred = true;
    let reason = "what a trap runs, runs at a time that is not known";
    judge.add(Finding::containable(Rule::HiddenCode, reason));
    let acts = |first: &Arg| !matches!(first.text.as_str(), "-" | "-l" | "-p" | "");
    if parsed.args.first().is_some_and(acts)
        && let Some(code) = behind_dashes(parsed.args).first()
    {
        judge.code_argument(code);
    }
}

/// alias: a definition is code for later lines.
pub(crate) fn alias(judge: &mut Judge<'_>, parsed: &ParsedArgs<'_>) {
    judge.ask(parsed, Class::Runs.sentence());
    for arg in parsed.args {
        if let Some((_, code)) = arg.text.split_once('=') {
            judge.guessed_code(code);
        }
    }
}

/// env: assignments, then a command; alone it shows everything.
pub(crate) fn env(judge: &mut Judge<'_>, parsed: &ParsedArgs<'_>) {
    let mut args = parsed.args;
    while let [first, rest @ ..] = args {
        match first.text.as_str() {
            "-0" | "--null" | "-v" | "--debug" => args = rest,
            "-" | "-i" | "--ignore-environment" => {
                without(judge, "HOME");
                args = rest;
            }
            "--" => {
                args = rest;
                break;
            }
            "-u" | "--unset" => {
                pattern_value(judge, parsed, rest);
                without(judge, rest.first().map_or("", |name| &name.text));
                args = rest.get(1..).unwrap_or_default();
            }
            text if text.starts_with("--unset=") || (text.starts_with("-u") && text.len() > 2) => {
                unknown_value(judge, parsed, first);
                without(judge, text.strip_prefix("--unset=").unwrap_or(&text[2..]));
                args = rest;
            }
            "-S" | "--split-string" | "-C" | "--chdir" | "-P" | "-a" => {
                judge.ask(parsed, "splits words or changes the folder");
                if let Some(code) = rest.first().filter(|_| first.text.contains(['S', 's'])) {
                    judge.guessed_code(code.guessed());
                }
                args = rest.get(1..).unwrap_or_default();
            }
            text if text.starts_with('-') => {
                judge.ask(parsed, "has an option that is not known");
                let code = text.trim_start_matches("--split-string=").trim_start_matches("-S");
                judge.guessed_code(code);
                // `-vS CODE`.
                if let Some(code) = rest.first().filter(|_| text.ends_with('S')) {
                    judge.guessed_code(code.guessed());
                }
                args = rest;
            }
            _ => break,
        }
    }
    while let [first, rest @ ..] = args {
        let Some((name, value)) = first.text.split_once('=').filter(|(name, _)| !name.is_empty())
        else {
            break;
        };
        pattern_value(judge, parsed, args);
        let value = Arg { shape: first.shape, ..Arg::exact(value) };
        judge.assignment(name, &value, Scope::Program);
        args = rest;
    }
    if args.is_empty() {
        return judge.classified(Class::Describes, parsed);
    }
    let stdin = judge.standard.take();
    judge.command(args, stdin.as_ref());
}

/// Judges that programs run without a variable.
fn without(judge: &mut Judge<'_>, name: &str) {
    if leads_to_setup(name) {
        judge.assignment(name, &Arg::unknown(Shape::Holes), Scope::Program);
    }
}

/// Asks about an option's value, the first of `rest`, that may become several words: the second of them would be
/// the command.
fn pattern_value(judge: &mut Judge<'_>, parsed: &ParsedArgs<'_>, rest: &[Arg]) {
    if rest.first().is_some_and(|value| matches!(value.shape, Shape::Pattern | Shape::Splits)) {
        judge.ask(parsed, "gets words in front of its command that are not known");
    }
}

/// Asks about an option's word that is not known: it may become several words, or have an empty value, so
/// that the option takes the next word.
fn unknown_value(judge: &mut Judge<'_>, parsed: &ParsedArgs<'_>, option: &Arg) {
    if option.known().is_none() {
        judge.ask(parsed, "gets words in front of its command that are not known");
    }
}

/// Options of xargs that take their value from the next word.
const XARGS_VALUES: &str = "\
    -I -n -P -L -d -E -s -a -J -R --max-args --max-procs --delimiter --arg-file \
    --replace-str --eof-str --max-chars";
const XARGS_PLAIN: &str =
    "-0 --null -r --no-run-if-empty -t --verbose -x --exit -p --interactive -o --open-tty";

/// xargs: a command whose last words, or the marked ones, come from the input.
pub(crate) fn xargs(judge: &mut Judge<'_>, parsed: &ParsedArgs<'_>) {
    let mut args = parsed.args;
    let mut mark = None;
    let mut counts = false;
    while let [first, rest @ ..] = args {
        let text = first.text.as_str();
        if text == "--" {
            args = rest;
            break;
        }
        if !text.starts_with('-') && !first.opaque_start() {
            break;
        }
        counts |= text.starts_with("--max-") || counts_words(text);
        if lists(XARGS_VALUES, text) {
            pattern_value(judge, parsed, rest);
            if matches!(text, "-I" | "-J" | "--replace-str") {
                rest.iter().take(1).for_each(|mark| unknown_value(judge, parsed, mark));
                mark = rest.first().map(|arg| arg.text.clone());
            }
            if matches!(text, "-a" | "--arg-file")
                && let Some(file) = rest.first()
            {
                judge.role(file, Role::Read, parsed);
            }
            args = rest.get(1..).unwrap_or_default();
            continue;
        }
        unknown_value(judge, parsed, first);
        match text {
            "-i" | "--replace" => mark = Some("{}".to_owned()),
            _ if text.starts_with("-I") => mark = Some(text[2..].to_owned()),
            _ if text.starts_with("-i") => mark = Some(text[2..].to_owned()),
            _ if text.starts_with("--replace=") => mark = Some(text[10..].to_owned()),
            _ if lists(XARGS_PLAIN, text) || is_cluster(text) => {}
            _ => judge.ask(parsed, "has an option that is not known"),
        }
        args = rest;
    }
    if args.is_empty() {
        return;
    }
    let found = Arg::unknown(Shape::Holes);
    let mut command: Vec<Arg> = match &mark {
        Some(mark) if !mark.is_empty() => {
            args.iter().map(|arg| files::replace(arg, mark, &found)).collect()
        }
        _ => args.to_vec(),
    };
    // With a number of words or lines, GNU xargs forgets the mark and appends the words.
    if mark.is_none() || counts {
        command.push(Arg::unknown(Shape::Splits));
    }
    judge.command(&command, None);
}

/// `-n9`, `-L 2`, `-l`, `-0n9`: each command gets a number of words or lines.
fn counts_words(text: &str) -> bool {
    let letters = text.strip_prefix('-').unwrap_or_default();
    letters.trim_start_matches(['0', 'r', 't', 'x', 'p', 'o']).starts_with(['n', 'L', 'l'])
}

/// `-0r`, `-n1`, `-0n10`, `-P4`: letters without value, then perhaps one with a number.
fn is_cluster(text: &str) -> bool {
    let letters = text[1..].trim_start_matches(['0', 'r', 't', 'x']);
    let number = letters.strip_prefix(['n', 'P', 'L', 's']).unwrap_or(letters);
    !text.starts_with("--") && number.bytes().all(|b| b.is_ascii_digit())
}

/// watch: its arguments are a line of shell, or with `-x` a command.
pub(crate) fn watch(judge: &mut Judge<'_>, parsed: &ParsedArgs<'_>) {
    let Some(at) = parsed.rest else { return };
    let words = &parsed.args[at..];
    if parsed.has(&["-x", "--exec"]) {
        judge.command(words, None);
    } else {
        judge.shell_argument(&joined(words));
    }
}

/// `setsid`, which does not wait for the command where it leads a group of processes.
pub(crate) fn setsid(judge: &mut Judge<'_>, parsed: &ParsedArgs<'_>) {
    let Some(at) = parsed.rest else { return };
    judge.is_in_background();
    let input = judge.standard.clone();
    judge.command(&parsed.args[at..], input.as_ref());
}

/// `npm explore PACKAGE WORD…`: the words are a line of shell.
pub(crate) fn explore(judge: &mut Judge<'_>, parsed: &ParsedArgs<'_>) {
    if let Some(at) = parsed.rest {
        judge.shell_argument(&joined(behind_dashes(&parsed.args[at..])));
    }
    rest_is_command(judge, parsed);
}

/// A wrapper whose own options are not known: every way to read the rest is looked at, and
/// can only forbid.
pub(crate) fn rest_is_command(judge: &mut Judge<'_>, parsed: &ParsedArgs<'_>) {
    judge.ask_held(parsed, Class::Runs.sentence());
    any_command(judge, parsed.args);
}

/// Looks for a forbidden command in words of which any may be the program, or a whole line: `-c CODE`,
/// `-qcCODE`, `--command=CODE`.
pub(super) fn any_command(judge: &mut Judge<'_>, args: &[Arg]) {
    const LETTERS: usize = 4;
    for word in args.iter().map(Arg::guessed).filter(|word| word.contains(' ')) {
        judge.guessed_code(word);
        if word.starts_with('-') {
            let letters = (2..=LETTERS).filter_map(|at| word.get(at..));
            let value = word.split_once('=').map(|(_, value)| value);
            letters.chain(value).for_each(|code| judge.guessed_code(code));
        }
    }
    any_suffix(judge, args);
}

/// flock: behind the file, `-c` and one more word are a line of shell.
pub(crate) fn flock(judge: &mut Judge<'_>, parsed: &ParsedArgs<'_>) {
    match parsed.rest.map_or(&[][..], |at| &parsed.args[at..]) {
        [option, code] if matches!(option.text.as_str(), "-c" | "--command") => {
            judge.shell_argument(code);
        }
        _ => rest(judge, parsed),
    }
}

/// The same of one that runs it out of the sandbox: in another service, or with other rights.
pub(crate) fn rest_is_outside(judge: &mut Judge<'_>, parsed: &ParsedArgs<'_>) {
    judge.ask(parsed, Class::Runs.sentence());
    any_suffix(judge, parsed.args);
}

/// Looks for a forbidden command in `args`, whichever word it starts at, so that asking about the
/// wrapper does not hide it.
pub(super) fn any_suffix(judge: &mut Judge<'_>, args: &[Arg]) {
    const TRIED: usize = 8;
    for at in 0..args.len().min(TRIED) {
        if !args[at].text.starts_with('-') {
            judge.guessed_command(&args[at..]);
        }
    }
}

/// Judges the words behind `--`, which a program may run.
pub(super) fn behind_mark(judge: &mut Judge<'_>, args: &[Arg]) {
    if let Some(at) = args.iter().position(|arg| arg.text == "--") {
        judge.guessed_command(&args[at + 1..]);
    }
}

/// The same, and the words behind `run` or `exec`.
pub(super) fn handed_on(judge: &mut Judge<'_>, args: &[Arg]) {
    behind_mark(judge, args);
    let runs = |arg: &Arg| matches!(arg.text.as_str(), "run" | "exec");
    if let Some(at) = args.iter().position(runs) {
        any_suffix(judge, &args[at + 1..]);
    }
}

/// conda and its kin: one sub-command of many runs a command.
pub(crate) fn may_hand_on(judge: &mut Judge<'_>, parsed: &ParsedArgs<'_>) {
    judge.ask_held(parsed, Class::Runs.sentence());
    handed_on(judge, parsed.args);
}

/// ssh: the words after the host are a line for the remote shell.
pub(crate) fn remote(judge: &mut Judge<'_>, parsed: &ParsedArgs<'_>) {
    judge.classified(Class::Connects, parsed);
    let words: Vec<Arg> = parsed.operands.iter().skip(1).map(|arg| (*arg).clone()).collect();
    if !words.is_empty() {
        judge.guessed_code(joined(&words).guessed());
    }
}

/// docker and kubectl: the command that runs inside is looked at as well.
pub(crate) fn container(judge: &mut Judge<'_>, parsed: &ParsedArgs<'_>) {
    if !parsed.program.has_subcommands() {
        judge.classified(Class::Connects, parsed);
    }
    let inside = parsed.args.iter().position(|arg| matches!(arg.text.as_str(), "exec" | "run"));
    if let Some(at) = inside {
        let behind = &parsed.args[at + 1..];
        mounts(judge, parsed, behind);
        match parsed.args[at].text == "exec" {
            true => in_container(judge, behind),
            false => any_suffix(judge, behind),
        }
    }
}

/// Options of `exec` that take the next word, and those that take nothing.
const EXEC_VALUES: &str = "\
    -u --user -w --workdir -e --env --env-file --index -n --namespace -c --container \
    --detach-keys";
const EXEC_PLAIN: &str =
    "-i -t -it -ti -T -d --interactive --tty --no-tty --no-TTY --detach --privileged";

/// Looks at the command behind the name of the container. Behind an option that is not known, it may begin
/// at any word.
fn in_container(judge: &mut Judge<'_>, args: &[Arg]) {
    let mut rest = args;
    while let [first, behind @ ..] = rest {
        rest = match first.text.as_str() {
            name if lists(EXEC_VALUES, name) => behind.get(1..).unwrap_or_default(),
            name if lists(EXEC_PLAIN, name) => behind,
            name if name.starts_with('-') => return any_suffix(judge, args),
            _ => {
                let begin = usize::from(behind.first().is_some_and(|arg| arg.text == "--"));
                return judge.guessed_command(&behind[begin..]);
            }
        };
    }
}

/// Judges the folders that a container gets, which it may write, and what gives it the machine.
fn mounts(judge: &mut Judge<'_>, parsed: &ParsedArgs<'_>, args: &[Arg]) {
    for (at, arg) in args.iter().enumerate() {
        let (name, value) = match arg.text.split_once('=') {
            Some((name, value)) => (name, Arg { text: value.to_owned(), ..arg.clone() }),
            None => (
                arg.text.as_str(),
                args.get(at + 1).cloned().unwrap_or_else(|| Arg::unknown(Shape::Splits)),
            ),
        };
        match name {
            "-v" | "--volume" => {
                let from = value.text.split(':').next().unwrap_or_default().to_owned();
                if from.contains('/') || value.opaque_start() {
                    let folder = Arg { text: from, ..value };
                    judge.opens(&folder, Access::Write);
                }
            }
            "--privileged" | "--mount" | "--device" | "--pid" | "--cap-add" | "--userns" => {
                judge.ask(parsed, "gives a container more than its own files");
            }
            _ => {}
        }
    }
}

/// sudo and similar programs are forbidden; what they run is judged all the same.
pub(crate) fn privileged(judge: &mut Judge<'_>, parsed: &ParsedArgs<'_>) {
    judge.guessed_command(parsed.behind_options());
}

/// The options of a shell, as bash reads them.
#[derive(Default)]
struct ShellOptions<'p> {
    /// Whether the first operand is code, or else the standard input whatever operands there are.
    takes_code: bool,
    reads_input: bool,
    /// Whether an option does more than the ordinary ones.
    odd: bool,
    /// Whether it is not certain where the options end.
    unread: bool,
    /// The operands.
    rest: &'p [Arg],
}

impl<'p> ShellOptions<'p> {
    fn read(judge: &mut Judge<'_>, args: &'p [Arg]) -> Self {
        const PLAIN: [&str; 4] = ["--noprofile", "--norc", "--posix", "--login"];
        const LETTERS: &[u8] = b"abcefhiklmnoprstuvxBCDEHPT";
        let mut options = ShellOptions { rest: args, ..ShellOptions::default() };
        while let [arg, rest @ ..] = options.rest {
            let Some(letters) = arg.known().and_then(|text| text.strip_prefix(['-', '+'])) else {
                options.unread |= arg.may_be_option();
                break;
            };
            options.rest = rest;
            if matches!(arg.text.as_str(), "-" | "--") {
                break;
            }
            if PLAIN.contains(&arg.text.as_str()) {
                continue;
            }
            // Shells differ on `+c`, and on a name directly behind `o`.
            let differs = arg.text.starts_with('+') && letters.contains(['c', 's'])
                || letters.find('o').is_some_and(|at| at + 1 < letters.len());
            if differs || !letters.bytes().all(|b| LETTERS.contains(&b)) {
                options.unread = true;
            } else {
                options.takes_code |= letters.contains('c');
                options.reads_input |= letters.contains('s');
            }
            options.odd |= !letters.bytes().all(|b| b"celuxos".contains(&b));
            judge.seen.traces |= letters.contains('x');
            if letters.ends_with('o') {
                let name = rest.first().and_then(Arg::known).unwrap_or_default();
                options.rest = rest.get(1..).unwrap_or_default();
                judge.seen.traces |= name == "xtrace";
                options.odd |= !builtins::SHELL_OPTIONS.contains(&name);
            }
        }
        options.odd |= options.unread;
        options
    }
}

/// sh, bash and other shells: code in an argument or on the standard input is judged, a file
/// or a terminal is not.
pub(crate) fn shell(judge: &mut Judge<'_>, parsed: &ParsedArgs<'_>) {
    let posix = matches!(parsed.name, "sh" | "bash" | "zsh" | "dash" | "ksh" | "ash" | "mksh");
    let options = ShellOptions::read(judge, parsed.args);
    let stdin = judge.standard.take();
    judge.seen.unseen |= options.reads_input && stdin.is_none();
    let odd = options.odd || !posix;
    if odd {
        // Any word may be the code.
        for word in parsed.args.iter().chain(&stdin) {
            judge.guessed_code(word.guessed());
        }
    }
    // Others understand more than dash does, and `sh` may be dash.
    let is_posix_only = matches!(parsed.name, "sh" | "dash" | "ash");
    let rest = if options.takes_code || !options.reads_input { options.rest } else { &[] };
    let code = match (options.takes_code, rest, stdin) {
        (true, [code, ..], _) => Some(code.clone()),
        (false, [], Some(text)) => Some(text),
        (false, [file, behind @ ..], _) => {
            // `busybox rm`, and scripts: the rest may be a command.
            judge.seen.unseen |= file.known().is_none_or(|path| path.starts_with("/dev/"));
            let containable = posix
                && !options.unread
                && file.known().is_some_and(|path| {
                    let known = judge.places.is_inside(path) || judge.places.is_temporary(path);
                    known && !tasks::file_leaves(path, behind)
                });
            judge.runs_file(file.guessed());
            judge.about(parsed, Decision::Ask, containable, Class::Runs.sentence());
            if !posix {
                judge.guessed_command(rest);
            }
            return;
        }
        _ => None,
    };
    match code {
        Some(code) if !odd || code.known().is_none() => {
            // Code on the standard input may read what follows it, and other shells have more to say.
            if !options.takes_code || !(is_posix_only || parsed.name == "bash") {
                judge.about(parsed, Decision::Ask, true, Class::Runs.sentence());
            }
            judge.in_shell(is_posix_only, |judge| judge.code_argument(&code));
        }
        Some(_) => judge.ask(parsed, Class::Runs.sentence()),
        None => {
            judge.seen.unseen = true;
            judge.ask(parsed, Class::Runs.sentence());
        }
    }
}

/// `source`: a file of the project, or what another command writes.
pub(crate) fn source(judge: &mut Judge<'_>, parsed: &ParsedArgs<'_>) {
    let words = parsed.behind_options();
    let file = words.first().and_then(Arg::known);
    judge.seen.unseen |= file.is_none_or(|path| path.starts_with("/dev/"));
    if let Some(path) = file {
        judge.runs_file(path);
    }
    let containable = file.is_some_and(|path| {
        let places = &judge.places;
        let known = places.is_inside(path)
            || places.is_temporary(path)
            || places.class(path) == PathClass::Packages;
        known && !tasks::file_leaves(path, &words[1..])
    });
    judge.about(parsed, Decision::Ask, containable, Class::Runs.sentence());
}
