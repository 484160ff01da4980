//! What must hold for every line of shell, over lines made at random.

use onloop_core::permission::{Call, Context, Decision, decide, explain};
use proptest::prelude::*;

use crate::rounds::cases;

fn decision(line: &str) -> Decision {
    decide(&Call::shell(line), &Context::new("/srv/repo")).decision
}

/// Simple commands of every decision, with words that quoting can play with.
fn command() -> impl Strategy<Value = Vec<String>> {
    let program = prop::sample::select(vec![
        "git", "ls", "cat", "rm", "echo", "find", "make", "cargo", "sudo", "curl", "sed", "xargs",
        "timeout", "env", "bash", "evil", "grep", "tee", "chmod", "gh", "mkdir", "sort", "jq",
    ]);
    let word = prop::sample::select(vec![
        "status",
        "push",
        "-f",
        "origin",
        "main",
        "-rf",
        "/",
        "src",
        ".env",
        "-c",
        "id",
        "test",
        "+x",
        "a.txt",
        "--force",
        "5",
        "-exec",
        "{}",
        ";",
        "+",
        "-n",
        "1p",
        "reset",
        "--hard",
        "../x",
        "-o",
        "/etc/x",
        ".git/config",
        "diff",
        "--output=x",
        "-delete",
        "a b",
        "pr",
        "view",
    ]);
    (program, prop::collection::vec(word, 0..5)).prop_map(|(program, words)| {
        std::iter::once(program).chain(words).map(str::to_owned).collect()
    })
}

/// Ways to write one word that all mean the same.
fn spelled(word: &str, style: u8) -> String {
    match style % 5 {
        0 => format!("'{word}'"),
        1 => format!("\"{word}\""),
        2 => word.chars().flat_map(|c| ['\\', c]).collect(),
        3 => word.bytes().fold("$'".to_owned(), |all, b| format!("{all}\\x{b:02x}")) + "'",
        _ => format!("''{}\"\"", spelled(word, 0)),
    }
}

fn quoted(words: &[String]) -> String {
    words.iter().map(|word| spelled(word, 0)).collect::<Vec<_>>().join(" ")
}

/// Places in a line where a command can hide.
const FRAMES: [&str; 22] = [
    "ls; %",
    "ls && %",
    "ls || %",
    "ls | %",
    "ls & %",
    "ls\n%",
    "(%)",
    "{ %\n}",
    "echo $(%)",
    "echo \"$(%)\"",
    "echo `%`",
    "cat <(%)",
    "if ls; then %\nfi",
    "while %\ndo ls; done",
    "for x in a; do %\ndone",
    "case x in x) %\n;; esac",
    "f() { %\n}",
    "! %",
    "x=$(%)",
    "cat <<E\n$(%)\nE",
    "echo ${x:-$(%)}",
    "ls > >(%)",
];

proptest! {
    #![proptest_config(ProptestConfig { cases: cases(400, 3000), ..ProptestConfig::default() })]

    #[test]
    fn a_hidden_command_is_never_judged_milder(words in command(), frame in 0..FRAMES.len()) {
        // A backquote in a frame is itself an escape level; words have none.
        let alone = decision(&quoted(&words));
        let line = FRAMES[frame].replace('%', &quoted(&words));
        prop_assert!(decision(&line) >= alone, "{line}");
    }

    #[test]
    fn adding_a_command_never_makes_a_line_milder(first in command(), second in command()) {
        let (first, second) = (quoted(&first), quoted(&second));
        let alone = decision(&first).max(decision(&second));
        for operator in [";", "&&", "||", "|", "&", "\n"] {
            let line = format!("{first} {operator} {second}");
            prop_assert!(decision(&line) >= alone, "{line}");
        }
    }

    #[test]
    fn quoting_and_spacing_change_nothing(words in command(), styles in prop::collection::vec(any::<u8>(), 6)) {
        let alone = decision(&quoted(&words));
        let other: Vec<String> =
            words.iter().zip(styles.iter().cycle()).map(|(w, s)| spelled(w, *s)).collect();
        for space in [" ", "  ", "\t", " \\\n "] {
            prop_assert_eq!(decision(&other.join(space)), alone, "{}", other.join(space));
        }
        prop_assert_eq!(decision(&format!("  {}  # note", other.join(" "))), alone);
    }

    #[test]
    fn wrapping_never_makes_a_command_milder(words in command(), wrapper in 0..12usize) {
        let alone = decision(&quoted(&words));
        let line = quoted(&words);
        let wrapped = match wrapper {
            0 => format!("env A=1 {line}"),
            1 => format!("timeout 5 {line}"),
            2 => format!("nohup {line}"),
            3 => format!("nice -n 3 {line}"),
            4 => format!("command {line}"),
            5 => format!("time {line}"),
            6 => format!("stdbuf -oL {line}"),
            7 => format!("setsid {line}"),
            8 => format!("bash -c {}", spelled(&line.replace('\'', "\""), 0)),
            9 => format!("eval {}", spelled(&line.replace('\'', "\""), 0)),
            10 => format!("exec {line}"),
            _ => format!("A=1 B='x y' {line}"),
        };
        prop_assert!(decision(&wrapped) >= alone, "{wrapped}");
    }

    #[test]
    fn any_text_is_judged_without_panic(line in "\\PC{0,200}") {
        decision(&line);
    }

    #[test]
    fn shell_like_text_is_judged_without_panic(
        parts in prop::collection::vec(prop::sample::select(vec![
            "$(", ")", "`", "\"", "'", "${", "}", "((", "))", "<<E\n", "E\n", "\n", "\\", ";", "|",
            "&", "<", ">", "[[", "]]", "if ", "then ", "fi ", "case x in ", "esac ", "do ", "done ",
            "for x in ", "while ", "{ ", "f() ", "$'", "\\x4", "a=", "[", "=", "é", "~", "*", "{a,", "#",
            "git ", "status ", "rm ", "-rf ", "/", "x", " ", "!", "$x", "$((", "<(", "2>&1", "\u{200b}",
        ]), 0..60),
    ) {
        let line: String = parts.concat();
        explain(&Call::shell(&line), &Context::new("/srv/repo"));
    }
}

/// Answers in `limit_ms`, and does not allow.
fn refused_soon(name: &str, line: &str, limit_ms: u128) {
    let start = std::time::Instant::now();
    let decision = decision(line);
    let taken = start.elapsed().as_millis();
    assert_ne!(decision, Decision::Allow, "{name}");
    assert!(taken <= limit_ms, "{name} took {taken} ms");
}

#[test]
fn deep_and_long_lines_are_answered_soon() {
    // Unoptimised builds and busy machines are slow; what matters is that it is not worse
    // than linear, and that the stack holds.
    const SOON_MS: u128 = 5_000;
    for (name, open, close) in [
        ("substitutions", "echo $(", ")"),
        ("subshells", "(", ")"),
        ("groups", "{ ", ";}"),
        ("quoted", "echo \"$(", ")\""),
        ("parameters", "echo ${x:-", "}"),
        ("ifs", "if ", "; fi"),
        ("arithmetic", "echo $((", "))"),
        ("half arithmetic", "$((", ")"),
        ("processes", "cat <(", ")"),
        ("braces", "{a,", "}"),
        ("cases", "case x in x) ", ";; esac"),
        ("loops", "while ", "; do"),
        ("backquotes", "id `", "`"),
        ("escaped", "\\", ""),
        ("functions", "f() { ", "; }"),
        ("tests", "[[ ( ", " )"),
        ("evals", "eval ", ""),
        ("envs", "env ", ""),
        ("here", "cat <<A ", ""),
        ("bangs", "! ", ""),
        ("commands", "id;", ""),
        ("assignments", "PATH=1 ", ""),
        ("arrays", "a=( ", ")"),
    ] {
        for depth in [100, 3_000] {
            let line = format!("{}id{}", open.repeat(depth), close.repeat(depth));
            refused_soon(name, &line, SOON_MS);
            refused_soon(name, &open.repeat(depth), SOON_MS);
        }
    }
    refused_soon("one megabyte", &"git status; ".repeat(100_000), SOON_MS);
    refused_soon("eight mebibytes", &"a".repeat(8 * 1024 * 1024), SOON_MS);
    refused_soon(
        "a long word and a command",
        &format!("echo {}; id", "a".repeat(200_000)),
        SOON_MS,
    );
    refused_soon("many words", &format!("id {}", "a ".repeat(100_000)), SOON_MS);
    refused_soon("many braces", &format!("id {}", "{a,b}".repeat(10_000)), SOON_MS);
    refused_soon("many stars", &format!("cat .{}env", "*".repeat(10_000)), SOON_MS);
    refused_soon(
        "many loops",
        &format!("{}id $a{}", "for a in 1 2 3 4; do ".repeat(20), "; done".repeat(20)),
        SOON_MS,
    );
}
