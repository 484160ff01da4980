//! Commands of the shell itself.

use super::Judge;
use super::entry::ParsedArgs;
use crate::environment::{Scope, leads_to_setup};
use crate::expand::{Arg, Shape};
use crate::verdict::Decision;

/// printf: `-v` names a variable, whose subscript is evaluated, and `%n` writes the one that an
/// argument names.
pub(crate) fn printf(judge: &mut Judge<'_>, parsed: &ParsedArgs<'_>) {
    const WRITES: &str = "may write a variable";
    if parsed.args.first().is_some_and(|arg| arg.text.starts_with("-v") || arg.opaque_start()) {
        return judge.ask_held(parsed, WRITES);
    }
    let writes = match behind_dashes(parsed.args) {
        [] => false,
        [format] => matches!(format.shape, Shape::Splits | Shape::Pattern),
        [format, ..] => format.known().is_none_or(|format| {
            let flags = |c: char| "#'-+ $*.hjlLqtz".contains(c) || c.is_ascii_digit();
            let format = format.replace("%%", "");
            format.split('%').skip(1).any(|rest| rest.trim_start_matches(flags).starts_with('n'))
        }),
    };
    if writes {
        judge.seen.steered = true;
        judge.about(parsed, Decision::Ask, true, WRITES);
    }
}

/// sleep, and tail where it follows a file: what comes after it may find what others made meanwhile.
pub(crate) fn waits(judge: &mut Judge<'_>, parsed: &ParsedArgs<'_>) {
    if parsed.name == "sleep" || parsed.has(&["-f", "-F", "--follow", "--retry"]) {
        judge.seen.waited.get_or_insert(judge.commands.len());
    }
}

/// The arguments without a `--` in front.
pub(super) fn behind_dashes(args: &[Arg]) -> &[Arg] {
    match args {
        [first, rest @ ..] if first.text == "--" => rest,
        args => args,
    }
}

/// Operators of test between two operands.
const COMPARISONS: [&str; 14] =
    ["=", "==", "!=", "<", ">", "-eq", "-ne", "-lt", "-le", "-gt", "-ge", "-nt", "-ot", "-ef"];

/// test: looking at variables evaluates their subscripts. Where an operand is not known, the form of
/// the expression must say that it is an operand.
pub(crate) fn test(judge: &mut Judge<'_>, parsed: &ParsedArgs<'_>) {
    let evaluates = |arg: &Arg| matches!(arg.text.as_str(), "-v" | "-R");
    if parsed.args.iter().any(evaluates) {
        judge.ask(parsed, "evaluates the name of a variable");
    }
    let is_certain = match tested(parsed.name, parsed.args) {
        [] => true,
        [only] => is_word(only),
        [operator, operand] => operator.known().is_some() && is_word(operand),
        [left, operator, right] => {
            let compares = operator.known().is_some_and(|word| COMPARISONS.contains(&word));
            compares && is_word(left) && is_word(right)
        }
        more => more.iter().all(|arg| arg.known().is_some()),
    };
    if !is_certain {
        judge.ask_held(parsed, "gets a word that is not known and may be an operator");
    }
}

/// The operands and operators of test.
fn tested<'p>(name: &str, args: &'p [Arg]) -> &'p [Arg] {
    let args = match args {
        [args @ .., end] if name == "[" && end.text == "]" => args,
        args => args,
    };
    match args {
        [not, rest @ ..] if not.known() == Some("!") => rest,
        args => args,
    }
}

fn is_word(arg: &Arg) -> bool {
    arg.shape != Shape::Splits
}

/// Whether a command shows nothing of its words but whether a variable is set, or equals another. An
/// operator between numbers, or one that is missing, makes the shell print the operand.
pub(super) fn keeps_secret(name: &str, args: &[Arg]) -> bool {
    let is_one_of =
        |operator: &Arg, known: &[&str]| operator.known().is_some_and(|it| known.contains(&it));
    matches!(name, "test" | "[")
        && match tested(name, args) {
            [operand] => is_word(operand),
            [operator, operand] => is_one_of(operator, &["-n", "-z"]) && is_word(operand),
            [left, operator, right] => {
                is_one_of(operator, &["=", "==", "!="]) && is_word(left) && is_word(right)
            }
            _ => false,
        }
}

/// Names of options of the shell that do not change what later commands mean.
pub(super) const SHELL_OPTIONS: [&str; 7] =
    ["pipefail", "errexit", "nounset", "xtrace", "verbose", "noglob", "noclobber"];

/// set: options that are known not to change what later commands mean.
pub(crate) fn set(judge: &mut Judge<'_>, parsed: &ParsedArgs<'_>) {
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
        judge.seen.traces |= text.starts_with('-') && letters.contains('x');
        if letters.ends_with('o') {
            let option = args.next().and_then(Arg::known).unwrap_or_default();
            judge.seen.traces |= option == "xtrace";
            harmless &= SHELL_OPTIONS.contains(&option);
        }
    }
    if !harmless {
        judge.ask(parsed, "changes how the shell reads what follows");
    }
}

/// export, declare and the like: assignments in disguise.
pub(crate) fn declare(judge: &mut Judge<'_>, parsed: &ParsedArgs<'_>) {
    let mut names = 0;
    let mut exports = parsed.name == "export";
    let mut is_array = false;
    for arg in parsed.args {
        let text = arg.text.as_str();
        if let Some(letters) = text.strip_prefix('-') {
            exports |= letters.contains('x');
            is_array |= letters.contains(['a', 'A']);
            if !letters.bytes().all(|b| b"xgraA".contains(&b)) || letters.is_empty() {
                judge.ask(parsed, "prints, evaluates or links variables");
            }
            continue;
        }
        names += 1;
        let (name, value) = text.split_once('=').unwrap_or((text, ""));
        let name = name.strip_suffix('+').unwrap_or(name);
        if !is_name(name) {
            judge.ask(parsed, "evaluates the name of a variable");
        }
        // The shell reads the value of an array as it reads a line.
        if value.starts_with('(') || is_array && arg.known().is_none() {
            judge.ask(parsed, "evaluates the value of an array");
        }
        if text.contains('=') {
            let value = Arg { shape: arg.shape, ..Arg::exact(value) };
            judge.assignment(name, &value, Scope::Program);
        } else {
            // It exports what the variable holds already, or takes its value away in a function.
            let scope = if exports { Scope::Program } else { Scope::Shell };
            judge.assignment(name, &Arg::unknown(Shape::Holes), scope);
        }
    }
    if names == 0 {
        judge.ask(parsed, "prints variables");
    }
}

/// Builtins whose arguments are names of variables.
pub(crate) fn plain_names(judge: &mut Judge<'_>, parsed: &ParsedArgs<'_>) {
    let named = parsed.values(&["-a"]).into_iter().filter(|_| parsed.name == "read");
    for operand in parsed.operands.iter().copied().chain(named) {
        let text = operand.text.as_str();
        let option =
            text.starts_with(':') || text.chars().all(|c| c.is_ascii_alphanumeric() || c == ':');
        if operand.known().is_none() || !(is_name(text) || (parsed.name == "getopts" && option)) {
            judge.ask(parsed, "evaluates the name of a variable");
        } else {
            let keeps = parsed.name == "unset" && !leads_to_setup(text);
            let finding = judge.variable(text, &Arg::unknown(Shape::Holes), Scope::Shell);
            judge.consider(finding.filter(|_| !keeps));
        }
    }
}

fn is_name(text: &str) -> bool {
    let start = text.bytes().next().is_some_and(|b| b.is_ascii_alphabetic() || b == b'_');
    start && text.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_')
}

/// date: an argument without `+` sets the clock.
pub(crate) fn date(judge: &mut Judge<'_>, parsed: &ParsedArgs<'_>) {
    if !parsed.operands.iter().all(|arg| arg.text.starts_with('+')) {
        judge.ask(parsed, "sets the clock");
    }
}

/// wait: `-p` names a variable, whose subscript is evaluated.
pub(crate) fn waits_for(judge: &mut Judge<'_>, parsed: &ParsedArgs<'_>) {
    steers(judge, parsed);
    if parsed.args.iter().any(|arg| arg.may_be_option()) {
        judge.seen.steered = true;
        judge.about(parsed, Decision::Ask, true, "waits for what is only known when the line runs");
    }
}

/// `exit` and the like: some shells evaluate what they are given.
pub(crate) fn steers(judge: &mut Judge<'_>, parsed: &ParsedArgs<'_>) {
    if parsed.operands.iter().any(|arg| arg.guessed().contains(['[', '$', '`', '('])) {
        judge.ask(parsed, "evaluates its argument");
    }
}
