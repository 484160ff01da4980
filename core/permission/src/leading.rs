//! Commands without the options in front of their sub-commands.
//!
//! A rule names a command by its first words: `git push`. `git -P push` and `git -C . push` are the
//! same command, so that rules which deny or ask look at it without these options, too.

use super::expand::Arg;
use super::judge::entry::ProgramEntry;
use super::options;
use super::paths::file_name;
use super::programs::{self, Class};

/// Most ways to read the options of one command.
const MOST_READINGS: usize = 16;

/// Words behind which stands the name of what is run.
const RUNNERS: [&str; 16] = [
    "npx",
    "bunx",
    "pnpx",
    "uvx",
    "dlx",
    "run",
    "run-script",
    "exec",
    "x",
    "mvn",
    "mvnw",
    "gradle",
    "gradlew",
    "just",
    "task",
    "rake",
];

/// The command in `args` without options in front of its sub-command. There are several where an
/// option that no table lists may take the next word; none where there is no such option.
pub(super) fn without_leading_options(args: &[Arg]) -> Vec<Vec<Arg>> {
    let mut found = Vec::new();
    if let Some((program, rest)) = args.split_first() {
        let entry = programs::find(file_name(program.guessed()));
        collect(entry, &args[..1], rest, &mut found);
    }
    found.retain(|short| short.len() < args.len());
    found
}

/// Collects what may be meant by `rest`, the arguments of `entry`, which `kept` names.
fn collect(
    entry: Option<&'static ProgramEntry>,
    kept: &[Arg],
    rest: &[Arg],
    found: &mut Vec<Vec<Arg>>,
) {
    if !takes_subcommand(entry, kept) {
        return;
    }
    let mut next = 0;
    while found.len() < MOST_READINGS
        && let Some(first) = first_operand(entry, &rest[next..])
    {
        let at = next + first;
        let word = &rest[at];
        next = at + 1;
        // `cargo +nightly`.
        if word.text.starts_with('+') {
            continue;
        }
        let kept = [kept, &rest[at..next]].concat();
        found.push([kept.as_slice(), &rest[next..]].concat());
        let mut listed = entry.into_iter().flat_map(ProgramEntry::every_subcommand);
        let sub = listed.find(|sub| sub.is_called(word.guessed()));
        // One without an entry may have sub-commands of its own: `kubectl rollout -n x restart`.
        collect(sub.or(entry), &kept, &rest[next..], found);
        let before = at.checked_sub(1).map(|before| rest[before].text.as_str());
        if !before.is_some_and(|option| may_take_word(entry, option)) {
            return;
        }
    }
}

/// Whether the first argument says what the program does. That of programs which control something is
/// taken for a sub-command, although the table lists none.
fn takes_subcommand(entry: Option<&ProgramEntry>, kept: &[Arg]) -> bool {
    let controls = |class| {
        matches!(
            class,
            Class::Connects
                | Class::Publishes
                | Class::Administers
                | Class::Installs
                | Class::Builds
        )
    };
    let runs = kept.last().is_some_and(|word| RUNNERS.contains(&file_name(word.guessed())));
    let is_program = kept.len() == 1;
    runs || entry
        .map_or(is_program, |entry| entry.has_subcommands() || is_program && controls(entry.class))
}

/// Where the first word stands that is neither an option nor the value of one.
fn first_operand(entry: Option<&'static ProgramEntry>, args: &[Arg]) -> Option<usize> {
    let Some(entry) = entry else {
        return args.iter().position(|arg| !arg.text.starts_with('-'));
    };
    let parsed = options::parse(entry, "", args);
    let operand = parsed.operands.first();
    let is_first = |arg: &&Arg| operand.is_some_and(|first| std::ptr::eq(*first, *arg));
    parsed.rest.or_else(|| args.iter().position(|arg| is_first(&arg)))
}

/// Whether an option may take the next word: no table says that it takes none, or has its value in it.
fn may_take_word(entry: Option<&'static ProgramEntry>, option: &str) -> bool {
    let is_option = option.starts_with('-') && option.len() > 1 && option != "--";
    let short = option.get(..2).filter(|short| *short != "--");
    let names = [Some(option), short].into_iter().flatten();
    let is_listed =
        entry.is_some_and(|entry| names.into_iter().any(|it| entry.option(it).is_some()));
    is_option && !is_listed && !option.contains('=')
}
