//! Commands that change the folder, in every order and nesting: what is allowed writes nothing outside
//! of the checkout, in whichever folder bash comes to run it.

use std::fs;

use onloop_core::permission::{Call, Context, Decision, decide};

use super::{Lines, Playground};
use crate::rounds::rounds;

const LINES: u64 = 3_000;

/// `ROOT` stands for the checkout, in which `a/b` and `b/a` are.
const COMMANDS: &[&str] = &[
    "cd a",
    "cd a",
    "cd b",
    "cd a/b",
    "cd ROOT",
    "cd ROOT/b",
    "cd nowhere",
    "pushd a",
    "pushd b",
    "pushd -n a",
    "pushd ROOT",
    "popd",
    "popd",
    "c=cd; $c a",
    "c=ROOT; cd $c",
    "command cd b",
    "eval 'cd a'",
    "{cd,a}",
    "eval 'popd; cd b'",
    "echo cd a",
    "echo popd",
    "f",
    "f",
    ":",
    "false",
    "echo > ../new",
    "echo > ../new",
    "echo > ../../new",
    "echo > new",
    "trap 'echo > ../new' EXIT",
    "trap 'cd ROOT' EXIT",
    "trap - EXIT",
    "eval 'f'",
    "cd a > /dev/null",
];

fn command(lines: &mut Lines) -> String {
    COMMANDS[lines.below(COMMANDS.len() as u64) as usize].to_owned()
}

fn line(lines: &mut Lines, depth: u32) -> String {
    if depth == 0 || lines.below(5) == 0 {
        return command(lines);
    }
    let inner = line(lines, depth - 1);
    match lines.below(16) {
        0..=2 => format!("{inner}; {}", line(lines, depth - 1)),
        3..=6 => format!("{inner} && {}", line(lines, depth - 1)),
        7 => format!("{inner} || {}", line(lines, depth - 1)),
        8 => format!("{inner} | {}", line(lines, depth - 1)),
        9 => format!("( {inner} )"),
        10 => format!("{{ {inner}; }}"),
        11 => format!("if {inner}; then {}; fi", line(lines, depth - 1)),
        12 => format!("for i in 1 2; do {inner}; done"),
        13 => format!("f() {{ {inner}; }}; {}", line(lines, depth - 1)),
        14 => format!("! {}", command(lines)),
        _ => format!("n=x; while [ $n != xxx ]; do n=x$n; {inner}; done"),
    }
}

#[test]
fn what_is_allowed_writes_nothing_outside_in_whatever_folder_it_runs() {
    let playground = Playground::new();
    let root = playground.path("work").canonicalize().expect("the folder is there");
    let root = root.to_str().expect("the path is text");
    let outside = [playground.path("new"), playground.path("../new")];
    let (mut allowed, mut context) = (0, Context::new(root));
    // The temporary folder that all of this is in does not count as one.
    context.places.own_temporary = None;
    for seed in 0..rounds(LINES, 10 * LINES) {
        let mut lines = Lines(seed);
        let text = line(&mut lines, 4).replace("ROOT", root);
        if decide(&Call::shell(&text), &context).decision != Decision::Allow {
            continue;
        }
        allowed += 1;
        playground.clear();
        for folder in ["a/b", "b/a"] {
            fs::create_dir_all(playground.path("work").join(folder)).expect("folders are made");
        }
        playground.run(&text);
        for path in &outside {
            assert!(!path.exists(), "seed {seed}: bash writes {} for: {text}", path.display());
        }
    }
    assert!(allowed > 0, "no line is allowed");
}
