//! Text in which quotes, line breaks and brackets stand anywhere: what is allowed runs nothing,
//! whatever bash and dash make of it.

use std::path::Path;

use onloop_core::permission::{Call, Context, Decision, decide};

use super::{Lines, Playground};
use crate::rounds::rounds;

const TEXTS: u64 = 4_000;

/// What texts are made of; `P` stands for the name of a program.
const PARTS: &[&str] = &[
    "'",
    "'",
    "\"",
    "\"",
    "`",
    "`",
    "$(",
    "$(",
    ")",
    ")",
    "${x",
    "${x-",
    "${x#",
    "${y:",
    "${x//",
    "}",
    "}",
    "\\",
    "\\\n",
    "\\\n",
    "\n",
    "\n",
    ";",
    ";",
    " ",
    " ",
    " ",
    "#",
    " #",
    " #",
    "P",
    "P",
    "; P ",
    "; P ",
    "\nP\n",
    "echo ",
    "echo ",
    ": ",
    "cat <<E\n",
    "cat <<'E'\n",
    "cat <<-E\n",
    "E",
    "\nE\n",
    "\nE)",
    "$'",
    "$",
    "{",
    "{a,",
    ",",
    "(",
    "A=(a",
    "A=",
    "A=(",
    "x",
    "a",
    "&",
    "&&",
    "|",
    "||",
    "[[ ",
    " ]]",
    "$((",
    "))",
    "((",
    "1",
    "<",
    ">",
    "<(",
    "<<<",
    "!",
    "=",
    "[",
    "]",
    "a[",
    "case a in a) ",
    "esac",
    "\\'",
    "\\\"",
    "\\`",
    "@P",
    "~",
    "*",
    "$1",
    "\t",
];

/// A text of parts in any order.
fn soup(lines: &mut Lines) -> String {
    let mut text = ["echo ", "x=1; echo ", ": ", ""][lines.below(4) as usize].to_owned();
    for _ in 0..3 + lines.below(16) {
        text += &part(lines);
    }
    text
}

/// A line with parts put into it and taken out of it.
fn mutated(lines: &mut Lines) -> String {
    let mut text = lines.line(2);
    for _ in 0..1 + lines.below(4) {
        let mut at = lines.below(text.len() as u64 + 1) as usize;
        while !text.is_char_boundary(at) {
            at -= 1;
        }
        match lines.below(4) {
            0 if at < text.len() => drop(text.remove(at)),
            _ => text.insert_str(at, &part(lines)),
        }
    }
    // Programs of which nothing is known always ask: most become words.
    for number in 0..super::PROGRAMS {
        if lines.below(4) > 0 {
            text = text.replace(&format!("p{number}"), "echo");
        }
    }
    text
}

fn part(lines: &mut Lines) -> String {
    let part = PARTS[lines.below(PARTS.len() as u64) as usize];
    if part.contains('P') && !part.contains('@') {
        return part.replace('P', &lines.program());
    }
    part.to_owned()
}

#[test]
fn odd_text_that_is_allowed_runs_nothing() {
    let playground = Playground::new();
    let dash = ["/bin/dash", "/usr/bin/dash"].into_iter().find(|path| Path::new(path).exists());
    let context = Context::new("/srv/repo");
    let is_allowed = |line: &str| decide(&Call::shell(line), &context).decision == Decision::Allow;
    let mut allowed = 0;
    for seed in 0..rounds(TEXTS, 10 * TEXTS) {
        let mut lines = Lines(seed);
        let text = if seed % 2 == 0 { soup(&mut lines) } else { mutated(&mut lines) };
        // Its loop may have lost its end.
        if text.contains("while") {
            continue;
        }
        if is_allowed(&text) {
            allowed += 1;
            let ran = playground.run(&text);
            assert!(ran.is_empty(), "seed {seed}: bash runs {ran:?} for {text:?}");
        }
        let by_sh = format!("sh -c '{}'", text.replace('\'', "'\\''"));
        if let Some(dash) = dash
            && is_allowed(&by_sh)
        {
            let ran = playground.run_by(dash, &text);
            assert!(ran.is_empty(), "seed {seed}: dash runs {ran:?} for {text:?}");
        }
    }
    assert!(allowed > 0, "no text is allowed");
}
