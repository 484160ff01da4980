use clap::Parser;

#[test]
fn the_grammar_is_consistent() {
    super::command().debug_assert();
}

/// The help of every verb, with what calls it.
fn helps(command: &mut clap::Command, path: &str, found: &mut Vec<(String, String)>) {
    found.push((path.to_owned(), command.render_long_help().to_string()));
    for verb in command.get_subcommands_mut() {
        let path = format!("{path} {}", verb.get_name());
        helps(verb, &path, found);
    }
}

fn all_helps() -> Vec<(String, String)> {
    let mut found = Vec::new();
    helps(&mut super::command(), "onloop", &mut found);
    found
}

#[test]
fn help_fits_a_terminal_of_80_columns() {
    let mut long = Vec::new();
    for (path, help) in all_helps() {
        let lines = help.lines().filter(|line| line.chars().count() > 80);
        long.extend(lines.map(|line| format!("{path}: {line}")));
    }
    assert!(long.is_empty(), "{long:#?}");
}

#[test]
fn every_verb_teaches_with_examples_that_it_reads() {
    for (path, help) in all_helps() {
        let has_verbs = help.contains("\nCommands:\n") && path != "onloop auto";
        let examples = help.split_once("\nExamples:\n").map(|(_, examples)| examples);
        let Some(examples) = examples else {
            // The verbs of `auto` are shown together in its documentation.
            assert!(has_verbs || path.starts_with("onloop auto "), "{path} has no example");
            continue;
        };
        let lines = examples.lines().map_while(|line| line.strip_prefix("  "));
        for line in lines {
            let call = &line[line.find("onloop ").expect("an example calls onloop")..];
            let call = [" | ", " > ", " < ", "  "]
                .iter()
                .fold(call, |call, end| call.split(end).next().unwrap_or_default());
            // Another program's line may name ours twice.
            let call = call.strip_prefix("onloop -- ").unwrap_or(call);
            // A trace is recorded of another verb.
            let recorded = line.starts_with("ONLOOP_TRACE=");
            let ours = path == "onloop" || call.starts_with(&path);
            assert!(ours || recorded, "{path}: {call}");
            let mut words: Vec<String> = Vec::new();
            for (at, part) in call.split('\'').enumerate() {
                match at % 2 {
                    0 => words.extend(part.split_whitespace().map(str::to_owned)),
                    _ => words.push(part.to_owned()),
                }
            }
            let words = super::with_argument_last(&words);
            if let Err(error) = super::Cli::try_parse_from(words) {
                panic!("{path}: {call}: {error}");
            }
        }
    }
}
