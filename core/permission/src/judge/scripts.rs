//! What the table of programs cannot say: small languages in arguments.

mod awk;
mod sed;

use super::Judge;
use super::entry::{ParsedArgs, is_number};
use crate::expand::Arg;
use crate::paths::Access;

/// grep and rg: with a pattern in an option, the first argument is a file.
pub(crate) fn pattern_option(judge: &mut Judge<'_>, parsed: &ParsedArgs<'_>) {
    let in_option = parsed.has(&["-e", "--regexp", "-f", "--file"]);
    let lists = parsed.args.iter().any(|arg| arg.known() == Some("--files"));
    if (in_option || lists)
        && let Some(first) = parsed.operands.first()
    {
        judge.reads(first);
    }
    if parsed.has(&["--hidden", "-."]) || parsed.count(&["-u", "--unrestricted"]) > 1 {
        judge.ask_held(parsed, "looks into hidden files, which are where secrets are");
    }
}

/// jq: filters that read the environment or other files.
pub(crate) fn jq(judge: &mut Judge<'_>, parsed: &ParsedArgs<'_>) {
    // It takes a negative number for its filter.
    let is_negative = |arg: &Arg| arg.text.strip_prefix('-').is_some_and(is_number);
    if parsed.args.iter().any(is_negative) {
        judge.ask(parsed, "has a filter in place of an option");
    }
    query(judge, parsed, parsed.operands.first().copied(), |before, word| {
        // `.env` is a member of the input, unless the dot belongs to what stands before.
        let member = before.strip_suffix('.');
        member.is_some_and(|before| !before.ends_with(|c: char| c == '.' || c.is_ascii_digit()))
            || is_own_variable(before, word)
    });
}

/// Whether a word of a filter is a variable that only the filter and its options set.
fn is_own_variable(before: &str, word: &str) -> bool {
    before.ends_with('$') && word != "ENV" && !word.starts_with("__")
}

/// yq: as jq, and functions that load files.
pub(crate) fn yq(judge: &mut Judge<'_>, parsed: &ParsedArgs<'_>) {
    const COMMANDS: [&str; 4] = ["eval", "eval-all", "e", "ea"];
    let mut operands = parsed.operands.as_slice();
    // One of these stands before the expression, and without an expression the first is a file.
    if let [first, rest @ ..] = operands
        && COMMANDS.contains(&first.text.as_str())
    {
        operands = rest;
    }
    if parsed.has(&["-i", "--inplace", "--in-place"]) {
        judge.ask_held(parsed, "edits files in place");
        let files = if operands.len() > 1 { &operands[1..] } else { operands };
        files.iter().for_each(|file| judge.opens(file, Access::Write));
        judge.writes(files);
    }
    for operand in operands {
        query(judge, parsed, Some(operand), is_own_variable);
        judge.reads(operand);
        if operand.text.ends_with(".yq") {
            judge.ask_held(parsed, "takes its filter from a file");
        }
    }
}

/// Judges a filter; `is_own` tells of a word, by what stands before it, whether it is a name that the filter or
/// its input chose.
fn query(
    judge: &mut Judge<'_>,
    parsed: &ParsedArgs<'_>,
    filter: Option<&Arg>,
    is_own: impl Fn(&str, &str) -> bool,
) {
    let Some(filter) = filter else { return };
    match filter.known() {
        None => judge.ask_held(parsed, "gets a filter that is put together when it runs"),
        Some(text) => {
            // Blanks may stand behind the `$` of a variable.
            let ends = |c: char| !c.is_ascii_alphanumeric() && c != '_';
            let mut at = 0;
            let words = text.split_inclusive(ends).filter_map(|part| {
                let (before, word) = (&text[..at], part.trim_end_matches(ends));
                at += part.len();
                (!is_own(before, word)).then_some(word)
            });
            let reads = [
                "input_line_number",
                "__loc__",
                "get_search_list",
                "env",
                "ENV",
                "import",
                "include",
                "input_filename",
                "__prog_args",
                "envsubst",
                "strenv",
                "eval",
            ];
            // Versions of yq differ in the names of what loads: `load_str`, `loadstr`, `loadxml`.
            // A number may stand directly in front.
            let is_digit = |c: char| c.is_ascii_digit();
            let mut words = words.map(|word| word.trim_start_matches(is_digit));
            if words.any(|word| word.contains("load") || reads.contains(&word)) {
                judge.ask(parsed, "gets a filter that reads the environment or other files");
            }
        }
    }
}

/// awk: programs that start others, or read and write files of their own choice.
pub(crate) fn awk(judge: &mut Judge<'_>, parsed: &ParsedArgs<'_>) {
    let Some(program) = parsed.operands.first() else {
        return;
    };
    match program.known() {
        Some(text) => {
            if let Some(what) = awk::objection(text) {
                judge.ask_held(parsed, what);
            }
        }
        None => judge.ask_held(parsed, "gets a program that is put together when it runs"),
    }
}

/// sed: scripts that run commands or read and write files.
pub(crate) fn sed(judge: &mut Judge<'_>, parsed: &ParsedArgs<'_>) {
    let mut scripts = parsed.values(&["-e", "--expression"]);
    let mut files = parsed.operands.as_slice();
    if scripts.is_empty()
        && let [script, rest @ ..] = files
    {
        scripts.push(script);
        files = rest;
    }
    let in_place = parsed.has(&["-i", "--in-place"]);
    // In a suffix, `*` stands for the file's name and `/` leads to another folder.
    let plain = |c: char| c.is_ascii_alphanumeric() || "._~-".contains(c);
    for suffix in parsed.values(&["-i", "--in-place"]) {
        if !suffix.known().is_some_and(|text| text.chars().all(plain)) {
            judge.ask_held(parsed, "keeps a copy of the file in a place that is not known");
            continue;
        }
        for file in files {
            let copy = Arg { text: format!("{}{}", file.text, suffix.text), ..(*file).clone() };
            judge.opens(&copy, Access::Write);
            judge.writes(&[&copy]);
        }
    }
    for file in files {
        match in_place {
            true => judge.opens(file, Access::Write),
            false => judge.reads(file),
        }
    }
    if in_place {
        judge.writes(files);
    }
    for script in scripts {
        match script.known() {
            Some(text) if sed::is_plain(text) => {}
            Some(_) => judge.ask_held(parsed, "gets a script that may run commands or write files"),
            None => judge.ask_held(parsed, "gets a script that is put together when it runs"),
        }
    }
}
