//! The shell reader against bash itself: lines made at random are run by a real bash in which
//! every program only writes down its name, and each name must be among the commands that
//! the reader found.

mod evaluated;
mod folders;
mod odd;

use std::cell::Cell;
use std::collections::BTreeSet;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use onloop_core::permission::{Call, Context, explain};
use tempfile::TempDir;

use crate::rounds::rounds;
use crate::temporary::temporary_folder;

const LINES: u64 = 120;
const PROGRAMS: u64 = 10;

/// A small generator: the same seed makes the same line on every machine.
struct Lines(u64);

impl Lines {
    fn below(&mut self, limit: u64) -> u64 {
        // Constants of a well-known linear congruential generator; the high bits are good.
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % limit
    }

    fn program(&mut self) -> String {
        format!("p{}", self.below(PROGRAMS))
    }

    fn word(&mut self, depth: u32) -> String {
        const PLAIN: [&str; 10] =
            ["x", "\"a b\"", "'c;d'", "\\;", "$HOME", "*.c", "a#b", "$'\\x41'", "$((2))", "{a,b}"];
        let choice = self.below(if depth == 0 { 10 } else { 24 });
        match choice {
            0..=9 => PLAIN[choice as usize].to_owned(),
            10 => format!("$( {})", self.line(depth - 1)),
            11 => format!("\"$( {})\"", self.line(depth - 1)),
            12 => {
                let inner = self.line(depth - 1).replace('\\', "\\\\").replace('`', "\\`");
                format!("`{inner}`")
            }
            13 => format!("<({})", self.line(depth - 1)),
            14 => format!("${{x:-$( {})}}", self.line(depth - 1)),
            15 => format!("\"${{x:-$( {})}}\"", self.line(depth - 1)),
            16 => format!("$((1 + $({}; echo 1)))", self.program()),
            17 => format!("{{a,$({})}}", self.program()),
            18 => format!("\"\\\"$({})\\\"\"", self.program()),
            19 => format!("'$({})'", self.program()),
            20 => format!("${{x//a/$({})}}", self.program()),
            21 => format!("\"${{x+'$({})'}}\"", self.program()),
            22 => format!("${{x-'$({})'}}", self.program()),
            _ => format!("${{x-\"}}$({})\"}}", self.program()),
        }
    }

    fn simple(&mut self, depth: u32) -> String {
        let mut line = String::new();
        if self.below(7) == 0 {
            line = format!("A={} ", self.word(depth));
        }
        line += ["", "", "\\", "''", "\"\""][self.below(5) as usize];
        line += &self.program();
        for _ in 0..self.below(3) {
            line += [" ", "  ", "\t", " \\\n"][self.below(4) as usize];
            line += &self.word(depth);
        }
        line +=
            ["", "", "", " >/dev/null", " 2>&1", " < /dev/null", " <<< x"][self.below(7) as usize];
        line
    }

    fn line(&mut self, depth: u32) -> String {
        if depth == 0 || self.below(3) == 0 {
            return self.simple(depth);
        }
        let inner = self.line(depth - 1);
        let quoted = inner.replace('\'', "'\\''");
        match self.below(19) {
            0 => format!("{inner}; {}", self.line(depth - 1)),
            1 => format!("{inner} && {}", self.line(depth - 1)),
            2 => format!("{inner} || {}", self.line(depth - 1)),
            3 => format!("{inner} | {}", self.line(depth - 1)),
            4 => format!("{inner}\n{}", self.line(depth - 1)),
            5 => format!("( {inner} )"),
            6 => format!("{{ {inner}; }}"),
            7 => format!("if {inner}; then {}; else {}; fi", self.line(depth - 1), self.simple(0)),
            8 => format!("for i in 1 {}; do {inner}; done", self.word(depth - 1)),
            9 => format!("while {inner}; do {}; break; done", self.simple(0)),
            10 => format!("case {} in a) {inner};; *) {};; esac", self.word(0), self.simple(0)),
            11 => format!("f() {{ {inner}; }}; f"),
            12 => format!("eval '{quoted}'"),
            13 => format!("bash -c '{quoted}'"),
            14 => format!("cat <<E\n{} $({})\nE\n{inner}", self.word(0), self.program()),
            15 => format!("cat <<'E'\n$({})\nE\n{inner}", self.program()),
            16 => format!("[[ -n {} ]] && {inner}", self.word(depth - 1)),
            17 => format!("{} # {}\n{inner}", self.simple(0), self.program()),
            _ => format!("! time {inner}"),
        }
    }
}

/// A folder in which bash finds nothing but stubs and a few programs.
struct Playground {
    folder: TempDir,
    runs: Cell<u32>,
}

/// Programs that lines may really start, where they are installed.
const REAL: [&str; 20] = [
    "awk", "bash", "cat", "cp", "env", "find", "git", "ln", "mv", "nice", "nohup", "sed", "setsid",
    "sleep", "sort", "stdbuf", "tar", "tee", "timeout", "xargs",
];

impl Playground {
    fn new() -> Playground {
        let playground = Playground { folder: temporary_folder(), runs: Cell::new(0) };
        let programs = playground.path("bin");
        fs::create_dir(&programs).expect("a folder is made");
        fs::create_dir(playground.path("work")).expect("a folder is made");
        for number in 0..PROGRAMS {
            let path = programs.join(format!("p{number}"));
            fs::write(&path, format!("#!/bin/sh\necho p{number} >> \"$LOG\"\necho out\n"))
                .expect("a stub is written");
            fs::set_permissions(&path, fs::Permissions::from_mode(0o755))
                .expect("a stub is executable");
        }
        for program in REAL {
            let folders = ["/bin", "/usr/bin", "/usr/local/bin"];
            let found = folders.map(|folder| Path::new(folder).join(program));
            if let Some(path) = found.iter().find(|path| path.exists()) {
                std::os::unix::fs::symlink(path, programs.join(program)).expect("a link is made");
            }
        }
        playground
    }

    fn path(&self, below: &str) -> PathBuf {
        self.folder.path().join(below)
    }

    /// Empties the folder that lines run in.
    fn clear(&self) {
        fs::remove_dir_all(self.path("work")).expect("a folder is removed");
        fs::create_dir(self.path("work")).expect("a folder is made");
    }

    /// Writes a file of the folder that lines run in.
    fn write(&self, name: &str, content: &str) {
        fs::write(self.path("work").join(name), content).expect("a file is written");
    }

    /// The stubs that bash runs for `line`.
    fn run(&self, line: &str) -> BTreeSet<String> {
        self.run_by("/bin/bash", line)
    }

    /// The stubs that a shell runs for `line`.
    fn run_by(&self, shell: &str, line: &str) -> BTreeSet<String> {
        // What a line leaves running writes later.
        let log = self.path(&format!("log{}", self.runs.replace(self.runs.get() + 1)));
        fs::write(&log, "").expect("a log is written");
        // A line may have a loop without end.
        Command::new("/bin/sh")
            .args(["-c", "ulimit -t 1; exec \"$0\" -c \"$1\"", shell, line])
            .env_clear()
            .env("PATH", self.path("bin"))
            .env("LOG", &log)
            .env("HOME", self.path("work"))
            .current_dir(self.path("work"))
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .status()
            .expect("the shell starts");
        let written = fs::read_to_string(&log).expect("the log is there");
        written.lines().map(str::to_owned).collect()
    }
}

#[test]
fn what_bash_runs_is_what_the_reader_finds() {
    let playground = Playground::new();
    let mut started = 0;
    let count = rounds(LINES, 10 * LINES);
    for seed in 0..count {
        let line = Lines(seed).line(3);
        let ran = playground.run(&line);
        let ruling = explain(&Call::shell(&line), &Context::new("/srv/repo"));
        assert!(
            !ruling.reason.contains("cannot be read"),
            "seed {seed}: {}: {line}",
            ruling.reason
        );
        for program in &ran {
            let found =
                ruling.commands.iter().any(|command| command.words.first() == Some(program));
            assert!(found, "seed {seed}: bash runs {program}, which is not found in: {line}");
        }
        started += ran.len();
    }
    assert!(started as u64 > count, "the lines start only {started} programs");
}
