//! A short way to read the verbs that an agent calls again and again.
//!
//! Building the grammar of every verb takes longer than most of these verbs do. Here only the
//! grammar of the one that was named is built. What does not fit it, and every question for help, is
//! left to the whole grammar, so that there is one place that explains.
//!
//! clap can defer the arguments of all verbs (`#[command(defer = true)]`). That is not enough: the
//! names and texts of thirty verbs remain. `onloop status` in an empty repository takes 0.94 million
//! instructions with it and 0.81 million this way, a tenth of the time of the whole process (release
//! build, x86-64). And clap then shows the documentation of the types of the arguments as the
//! descriptions of the verbs.

use clap::{Args, Command, FromArgMatches};

use super::Verb;

/// The verb, when it is one of these and all of `argv` fits it.
pub(super) fn verb(argv: &[String]) -> Option<Verb> {
    let words = argv.get(1..)?;
    match words.first()?.as_str() {
        "step" => arguments(words).map(Verb::Step),
        "gate" => arguments(words).map(Verb::Gate),
        "next" => arguments(words).map(Verb::Next),
        "status" => arguments(words).map(Verb::Status),
        "lint" => arguments(words).map(Verb::Lint),
        "run" => arguments(words).map(Verb::Run),
        "resume" => arguments(words).map(Verb::Resume),
        _ => None,
    }
}

/// The name of the verb stands where the name of a program would.
fn arguments<T: Args + FromArgMatches>(words: &[String]) -> Option<T> {
    let grammar = T::augment_args(Command::new("verb").disable_help_flag(true));
    T::from_arg_matches(&grammar.try_get_matches_from(words).ok()?).ok()
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::super::Cli;
    use super::*;

    fn words_of(line: &str) -> Vec<String> {
        line.split(' ').map(str::to_owned).collect()
    }

    #[test]
    fn the_short_way_reads_what_the_whole_grammar_reads() {
        let lines = [
            "onloop step 1 start",
            "onloop step 2 block --reason why --run-id a-20260320T212315Z",
            "onloop gate 4 approved --run-id add-auth-20260320T212315Z",
            "onloop next",
            "onloop next --json",
            "onloop status",
            "onloop status --all --json",
            "onloop lint",
            "onloop lint --fix -- -odd-name.md",
            "onloop lint a.md b.md --format json",
            "onloop run",
            "onloop run wf.md --agent-command ./act.sh --mode none --auto-approve",
            "onloop run --review=claude wf.md",
            "onloop resume",
            "onloop resume add-auth-20260320T212315Z --adopt",
        ];
        for line in lines {
            let argv = words_of(line);
            let whole = Cli::try_parse_from(&argv).map(|cli| format!("{:?}", cli.verb));
            let short = verb(&argv).map(|verb| format!("{verb:?}"));
            assert_eq!(short, whole.ok(), "{line}");
            assert!(short.is_some(), "{line}");
        }
    }

    #[test]
    fn what_has_to_be_explained_is_left_to_the_whole_grammar() {
        let lines = [
            "onloop",
            "onloop --help",
            "onloop step --help",
            "onloop step -h",
            "onloop step",
            "onloop step 1 stat",
            "onloop run --mod none",
            "onloop gate 1 perhaps",
            "onloop man",
            "onloop --version",
        ];
        for line in lines {
            assert!(verb(&words_of(line)).is_none(), "{line}");
        }
    }
}
