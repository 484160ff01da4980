//! The help of the command line: groups of verbs, and the examples of each verb.
//!
//! The texts are data: the grammar, the manual page and `docs/cli.md` are made from the table below.

mod table;

use clap::Command;
use clap::error::{ContextKind, ContextValue};
use onloop_effect::{Exit, Io};
use onloop_engine::error::CommandError;
use onloop_syntax::text;
use onloop_workflow::suggest::nearest;

use table::{GROUPS, PEOPLE_HELPS, PLUMBING, PLUMBING_HELPS, VerbHelp};

/// Arguments of `onloop help`.
#[derive(Clone, Debug, Default, clap::Args)]
pub(super) struct HelpArgs {
    /// The verb to explain; left out: all verbs in their groups
    #[arg(value_name = "VERB")]
    pub(super) words: Vec<String>,
    /// Also show the verbs for agents, scripts and hosts
    #[arg(long, conflicts_with = "words")]
    pub(super) all: bool,
}

/// `onloop help`.
pub(super) async fn help(io: &Io, args: &HelpArgs) -> Result<Exit, CommandError> {
    let mut grammar = super::command();
    let shown = match args.words.is_empty() {
        true => overview(&grammar, args.all),
        false => {
            grammar.build();
            help_of(&mut grammar, &args.words)?
        }
    };
    io.result(shown).await;
    Ok(Exit::Done)
}

/// The help of one verb, as `--help` prints it.
pub(super) fn help_of(grammar: &mut Command, words: &[String]) -> Result<String, CommandError> {
    let mut command = grammar;
    for (depth, word) in words.iter().enumerate() {
        let known: Vec<String> = command.get_subcommands().map(|c| c.get_name().into()).collect();
        let known: Vec<&str> = known.iter().map(String::as_str).collect();
        if !known.contains(&word.as_str()) {
            let near = nearest(word, &known)
                .map_or_else(String::new, |near| format!("; did you mean `{near}`?"));
            let word = text::one_line(word);
            let error = CommandError::usage(format!("there is no verb `{word}`{near}"));
            return Err(match &words[..depth] {
                [] => error.fix_by("list all verbs", "onloop help --all"),
                above => error.fix_by("list the verbs", format!("onloop help {}", above.join(" "))),
            });
        }
        command = command.find_subcommand_mut(word).expect("it is among the known ones");
    }
    Ok(command.render_long_help().to_string())
}

/// The groups in which help and documents show the verbs; plumbing is the last one.
pub fn groups() -> impl Iterator<Item = (&'static str, &'static [&'static str])> {
    GROUPS.iter().copied().chain([PLUMBING])
}

/// All verbs in their groups; the plumbing only with `all`.
pub(super) fn overview(grammar: &Command, all: bool) -> String {
    let mut out = String::from(
        "onloop runs coding agents unattended and verifies every step.\n\n\
         Usage: onloop VERB [OPTIONS]\n",
    );
    for (group, verbs) in groups().take(GROUPS.len() + usize::from(all)) {
        out += &format!("\n{group}:\n");
        for verb in verbs {
            let command = grammar.find_subcommand(verb);
            let about = command.and_then(Command::get_about);
            let about = about.map(ToString::to_string).unwrap_or_default();
            out += &format!("  {verb:<12}{about}\n");
        }
    }
    out += "\nExit codes: 0 done, 1 the work failed, 2 usage or invalid file, 3 waiting for a\n\
            person, 4 refused, 70 a bug in onloop, 130 interrupted.\n";
    if !all {
        out += "\n`onloop help --all` also lists the verbs for agents, scripts and hosts.\n";
    }
    out + "\nNext:\n  onloop demo                         see a run, in ten seconds\n  \
           onloop do 'Fix the failing test'    one task in this repository\n  \
           onloop help do                      read more about a verb\n"
}

/// `grammar` with examples and references at each verb, and the overview as its own help.
pub(super) fn with_help(mut grammar: Command) -> Command {
    for help in PEOPLE_HELPS.iter().chain(PLUMBING_HELPS) {
        let mut words = help.verb.split(' ');
        let verb = words.next().expect("a split has a first part");
        let inner = words.next();
        grammar = grammar.mut_subcommand(verb, |command| match inner {
            None => command.after_help(after(help)),
            Some(inner) => command.mut_subcommand(inner, |inner| inner.after_help(after(help))),
        });
    }
    let text = overview(&grammar, false);
    grammar.override_help(text)
}

/// An example of the verb at the beginning of `words`, and the command that shows its help; `None`:
/// there is no verb.
pub(super) fn example(words: &[String]) -> Option<String> {
    let named = |count: usize| {
        let verb = words.get(..count)?.join(" ");
        PEOPLE_HELPS.iter().chain(PLUMBING_HELPS).find(|help| help.verb == verb)
    };
    let VerbHelp { verb, examples: [(comment, line), ..], .. } = named(2).or_else(|| named(1))?;
    Some(format!("\nExample:\n  # {comment}\n  {line}\nMore: onloop help {verb}\n"))
}

/// The error of a word in the place of a verb that is not one; `None`: `error` is another one.
pub(super) fn unknown_verb(words: &[String], error: &clap::Error) -> Option<CommandError> {
    let Some(ContextValue::String(unknown)) = error.get(ContextKind::InvalidSubcommand) else {
        return None;
    };
    let end = words.iter().position(|word| word == unknown)?;
    let mut grammar = super::command();
    help_of(&mut grammar, &words[..=end]).err()
}

/// What follows the options of a verb in its help.
fn after(help: &VerbHelp) -> String {
    let mut out = String::new();
    if !help.notes.is_empty() {
        out += &format!("{}\n\n", text::wrapped(help.notes, 80, 0));
    }
    out += "Examples:\n";
    for (comment, line) in &help.examples {
        out += &format!("  # {comment}\n  {line}\n");
    }
    out + &format!("\nSee also: {}", help.see_also.join(", "))
}
