//! The worked example of `docs/auto.md`, and the agent files, as they stand.

use std::path::PathBuf;

use clap::Parser;
use onloop_core::auto::prompts::AGENTS;
use onloop_core::verb::auto::{AutoArgs, AutoVerb, auto, with_argument_last};

use super::machine::{Machine, shell};

const PAGE: &str = include_str!("../../../docs/auto.md");

/// A command line with no other verb.
#[derive(Debug, Parser)]
enum Line {
    Auto(AutoArgs),
}

fn parsed(words: &[&str]) -> Result<AutoArgs, clap::Error> {
    let argv: Vec<String> =
        ["onloop", "auto"].iter().chain(words).map(|&word| word.to_owned()).collect();
    let Line::Auto(args) = Line::try_parse_from(with_argument_last(&argv))?;
    Ok(args)
}

/// The fenced blocks of a page: what stands after the fence, and the content.
fn blocks(page: &str) -> Vec<(&str, String)> {
    let mut blocks: Vec<(&str, String)> = Vec::new();
    let mut is_open = false;
    for line in page.lines() {
        match line.strip_prefix("```") {
            Some(info) if !is_open => {
                blocks.push((info, String::new()));
                is_open = true;
            }
            Some(_) => is_open = false,
            None if is_open => {
                let (_, text) = blocks.last_mut().expect("an open block");
                text.push_str(line);
                text.push('\n');
            }
            None => {}
        }
    }
    blocks
}

/// Words of a line, as a shell splits them.
fn words(line: &str) -> Vec<String> {
    let script = format!("for word in {line}; do printf '%s\\0' \"$word\"; done");
    let output = std::process::Command::new("sh").args(["-c", &script]).output().expect("a shell");
    let text = String::from_utf8(output.stdout).expect("UTF-8");
    text.split_terminator('\0').map(str::to_owned).collect()
}

/// Types a command of the page; what is printed, and how it ended where that is not 0.
fn typed(machine: &mut Machine, command: &str) -> String {
    let Some(line) = command.strip_prefix("onloop auto") else {
        let output = std::process::Command::new("sh")
            .args(["-c", command])
            .current_dir(machine.path("."))
            .output()
            .expect("a shell");
        assert!(output.status.success(), "{command}");
        return String::from_utf8(output.stdout).expect("UTF-8");
    };
    let words = words(line);
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    let args = parsed(&words).expect(command);
    let ended = machine.run(|io| auto(io, args), &mut shell);
    match ended.exit.code() {
        0 => ended.stdout,
        code => format!("{}[exit {code}]\n", ended.stdout),
    }
}

#[test]
fn the_worked_example_works() {
    let mut machine = Machine::new("2026-02-24T01:00:00Z");
    let mut run: Option<String> = None;
    let mut commands = 0;
    for (info, text) in blocks(PAGE) {
        if let Some(name) = info.strip_prefix("sh ") {
            machine.put(name, text);
            continue;
        }
        assert_eq!(info, "console");
        let mut expected = String::new();
        let mut found = String::new();
        for line in text.lines() {
            let Some(command) = line.strip_prefix("$ ") else {
                expected.push_str(&format!("{line}\n"));
                continue;
            };
            assert_eq!(found, expected);
            let command = match &run {
                Some(run) => command.replace("RUN", run),
                None => command.to_owned(),
            };
            let printed = typed(&mut machine, &command);
            if let Some((_, rest)) = printed.split_once(".ai/runtime/logs/") {
                run = rest.split_once('/').map(|(run, _)| run.to_owned());
            }
            found.push_str(&match &run {
                Some(run) => printed.replace(run.as_str(), "RUN"),
                None => printed,
            });
            commands += 1;
        }
        assert_eq!(found, expected);
    }
    assert!(commands >= 10, "{commands} commands");
}

#[test]
fn every_ending_is_documented_with_its_number() {
    for ending in onloop_core::auto::AutoEnding::ALL {
        let row = format!("| {} | ", ending.exit_code());
        assert!(PAGE.contains(&row), "{ending:?}");
    }
}

#[test]
fn the_grammar_is_the_documented_one() {
    for (words, argument) in [
        (&["add", "a", "greeting", "--agent", "claude"][..], "add a greeting"),
        (&["--hitl", "--max-cycles", "3", "add", "x"], "--hitl --max-cycles 3 add x"),
        (&["--agent-command=a b", "add", "x", "--auto", "--profile", "v3"], "add x --auto"),
        (&["add --json to stats"], "add --json to stats"),
        (&["add", "--json", "to", "stats", "--stop-on-stall"], "add --json to stats"),
        (&["--hitl --auto add x", "--profile=v2"], "--hitl --auto add x"),
        (&["--", "--agent", "of", "change"], "--agent of change"),
        (&["--max-cycles=-3"], "--max-cycles=-3"),
        (&["add", "route"], "add route"),
        (&[], ""),
    ] {
        let args = parsed(words).unwrap_or_else(|error| panic!("{words:?}: {error}"));
        assert!(args.verb.is_none(), "{words:?}");
        assert_eq!(args.run.argument_text(), argument, "{words:?}");
    }
    let args = parsed(&["x", "--profile", "v3", "--agent-command", "a b"]).expect("options");
    assert_eq!(args.run.rules.profile.as_deref(), Some("v3"));
    assert_eq!(args.run.agent_command.as_deref(), Some("a b"));
    match parsed(&["begin", "--hitl add x", "--profile", "v2"]).expect("begin").verb {
        Some(AutoVerb::Begin(args)) => {
            assert_eq!(args.argument, "--hitl add x");
            assert_eq!(args.rules.profile.as_deref(), Some("v2"));
        }
        other => panic!("{other:?}"),
    }
    for wrong in [
        &["--agent", "a", "--agent-command", "b"][..],
        &["resume", "file", "--failed", "threw"],
        &["--health-repair-command", "x"],
        &["--profile"],
    ] {
        assert!(parsed(wrong).is_err(), "{wrong:?}");
    }
}

/// The agent files that hosts install. `ONLOOP_BLESS=1` writes them anew.
#[test]
fn agent_files_are_up_to_date() {
    let plugin = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../npm/plugin");
    for agent in AGENTS {
        for (path, expected) in [
            (format!("agents/{}.md", agent.name), agent.claude_file()),
            (format!(".github/agents/{}.agent.md", agent.name), agent.vscode_file()),
        ] {
            let path = plugin.join(path);
            if std::env::var_os("ONLOOP_BLESS").is_some() {
                std::fs::create_dir_all(path.parent().expect("a folder")).expect("folders");
                std::fs::write(&path, &expected).expect("a file");
            }
            let found = std::fs::read_to_string(&path).unwrap_or_default();
            assert_eq!(found, expected, "{} is old; see ONLOOP_BLESS", path.display());
        }
    }
}
