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
fn the_option_prints_what_the_verb_help_prints() {
    for (path, _) in all_helps().iter().filter(|(path, _)| path != "onloop") {
        let words: Vec<String> = path.split(' ').map(str::to_owned).collect();
        let asked = [&words[..], &["--help".to_owned()]].concat();
        // What follows is the command line of another program.
        if path.starts_with("onloop fleet") {
            continue;
        }
        let by_option = super::parse(&asked).expect_err(path).render().to_string();
        let mut grammar = super::command();
        grammar.build();
        let by_verb = super::help::help_of(&mut grammar, &words[1..]).expect(path);
        assert_eq!(by_option, by_verb, "{path}");
    }
}

#[test]
fn a_misspelt_verb_is_answered_with_the_one_that_is_meant() {
    let cases = [
        ("onloop rnu", "there is no verb `rnu`; did you mean `run`?", "onloop help --all"),
        (
            "onloop session lst",
            "there is no verb `lst`; did you mean `list`?",
            "onloop help session",
        ),
    ];
    for (line, message, command) in cases {
        let words: Vec<String> = line.split(' ').map(str::to_owned).collect();
        let error = super::parse(&words).expect_err(line);
        let said = super::help::unknown_verb(&words[1..], &error).expect(line).render();
        assert!(said.starts_with(&format!("error: {message}\n")), "{said}");
        assert!(said.ends_with(&format!("    {command}\n")), "{said}");
    }
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
fn every_verb_is_in_one_group() {
    let grammar = super::command();
    let mut grouped: Vec<&str> =
        super::help::groups().flat_map(|(_, verbs)| verbs).copied().collect();
    let mut known: Vec<&str> = grammar.get_subcommands().map(clap::Command::get_name).collect();
    grouped.sort_unstable();
    known.sort_unstable();
    assert_eq!(grouped, known);
}

#[test]
fn every_help_has_three_examples_that_the_grammar_reads_and_names_other_verbs() {
    let grammar = super::command();
    let known: Vec<&str> = grammar.get_subcommands().map(clap::Command::get_name).collect();
    for (path, help) in all_helps() {
        // The verbs of `auto` are shown together in its documentation.
        if path == "onloop" || path.starts_with("onloop auto ") {
            continue;
        }
        let (_, ending) = help.split_once("\nExamples:\n").unwrap_or_else(|| panic!("{path}"));
        let (examples, also) = ending.split_once("\n\nSee also: ").expect("references follow");
        let lines: Vec<&str> =
            examples.lines().filter_map(|line| line.strip_prefix("  ")).collect();
        assert_eq!(lines.len(), 6, "{path}: {examples}");
        for pair in lines.chunks(2) {
            assert!(pair[0].starts_with("# "), "{path}: {}", pair[0]);
            assert_readable(&path, pair[1]);
        }
        for verb in also.trim().split(", ") {
            assert!(known.contains(&verb), "{path}: {verb}");
        }
    }
}

fn assert_readable(path: &str, line: &str) {
    let call = &line[line.find("onloop ").expect("an example calls onloop")..];
    let ends = [" | ", " > ", " < "];
    let call = ends.iter().fold(call, |call, end| call.split(end).next().unwrap_or_default());
    // The line of another program may name ours twice.
    let call = call.strip_prefix("onloop -- ").unwrap_or(call);
    let mut words: Vec<String> = Vec::new();
    for (at, part) in call.split('\'').enumerate() {
        match at % 2 {
            0 => words.extend(part.split_whitespace().map(str::to_owned)),
            _ => words.push(part.to_owned()),
        }
    }
    if let Err(error) = super::parse(&super::with_argument_last(&words)) {
        panic!("{path}: {call}: {error}");
    }
}

#[test]
fn the_overview_shows_plumbing_only_when_all_is_asked_for() {
    let grammar = super::command();
    let (short, all) =
        (super::help::overview(&grammar, false), super::help::overview(&grammar, true));
    assert!(short.contains("\nStart work:\n") && !short.contains("\nPlumbing:\n"), "{short}");
    assert!(all.contains("\nPlumbing:\n") && all.contains("\n  normalize   "), "{all}");
    for line in all.lines() {
        assert!(line.chars().count() <= 80, "{line}");
    }
}
