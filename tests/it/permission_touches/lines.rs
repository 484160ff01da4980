//! Lines made at random: a program, options that it lists itself, and operands that matter.

use std::process::{Command, Stdio};

use onloop_tests::random::Random;

/// Operands and values of options. A blank makes two words.
const WORDS: &[&str] = &[
    "a.txt",
    "b.json",
    "src/main.rs",
    "src",
    ".",
    "./",
    "config",
    "*",
    "*.txt",
    "src/*.rs",
    "list.txt",
    "new.txt",
    "build",
    "build/out.txt",
    "alpha",
    "1",
    "3",
    "-",
    "--",
    "HEAD",
    "HEAD~1",
    "main",
    "topic",
    "origin",
    "origin main",
    "HEAD:a.txt",
    ".env",
    "./.env",
    "sub/../.env",
    ".e*",
    "*env*",
    "config/credentials.json",
    "config/*.json",
    "config/*",
    "server.pem",
    "'*.pem'",
    "'*.json'",
    "'.e*'",
    "../outside/file.txt",
    "../outside",
    "../outside/new",
    "..",
    "~",
    "~/notes.txt",
    "~/.ssh/id_rsa",
    "../home/.netrc",
    "\"$HOME/notes.txt\"",
    "@~/notes.txt",
    "x=@../home/notes.txt",
    "x=@.env",
    ".git/config",
    ".git/hooks/post-checkout",
    ".git/x",
    ".claude/settings.json",
    ".github/workflows/ci.yml",
    "evil",
    "./evil.sh",
    "'evil;'",
    "prog.awk",
    "prog.sed",
    "prog.jq",
    "/etc/new",
    "/etc/hostname",
    "\"$SERVICE_TOKEN\"",
];

/// Pieces that scripts of small languages are put together from.
const SED: &[&str] = &[
    "p",
    "d",
    "s/a/b/",
    "s/a/b/g",
    "s/a/b/e",
    "s/alpha/evil/e",
    "s/a/b/w new.txt",
    "s,a\\,b,c,e",
    "s/a/b/w.env",
    "w ../outside/new",
    "w new.txt",
    "W .git/x",
    "r .env",
    "r a.txt",
    "R ~/notes.txt",
    "R .env",
    "1e evil",
    "e",
    "e evil",
    "1",
    "$",
    "1,2",
    "/alpha/",
    "\\,alpha,",
    "/a\\/b/",
    "/[/]e/",
    "!",
    "{",
    "}",
    ";",
    "\n",
    " ",
    "a\\",
    "a text",
    "i\\\n",
    "c x",
    "y/abc/eee/",
    "y/;e/ab/",
    "N",
    "D",
    "h",
    "G",
    "b",
    "t x",
    ":x",
    ":x;e evil",
    "q",
    "#e",
    "#n",
    "F",
    "=",
    "l",
    "s/x/\\n/;e evil",
    "s/[/]e/x/",
    "s\ne\nx\ne",
    "{p}",
    "{p;e evil\n}",
    "a\\\ne evil",
    "}e evil",
    "I",
    "M",
];
const AWK: &[&str] = &[
    "{print}",
    "{print $1}",
    "BEGIN{",
    "END{",
    "{",
    "}",
    ";",
    "\n",
    " ",
    "print",
    "print $0",
    "(",
    ")",
    "system(\"evil\")",
    "print > \"new.txt\"",
    "print >> \"../outside/new\"",
    "print | \"evil\"",
    "\"evil\" | getline",
    "getline x < \".env\"",
    "getline < \"a.txt\"",
    "getline",
    "/alpha/",
    "/ alpha",
    "/",
    "a/b/c",
    "x = 1",
    "y = x / 2",
    "?",
    ":",
    "x ? y : z",
    "x?\n",
    ":\nsystem(\"evil\")",
    "#",
    "# system",
    "\"a",
    "\"",
    "\\\"",
    "\"a\\\"b\"",
    "NR==1",
    "ENVIRON[\"SERVICE_TOKEN\"]",
    "for (k in ENVIRON) print ENVIRON[k]",
    "$1 ~ /a/",
    "~",
    "!~",
    "in",
    "close(\"x\")",
    "printf \"%s\", $1",
    "sub(/a/,\"b\")",
    "gsub(/\"/,\"\")",
    "||",
    "|",
    "&&",
    ">",
    ">>",
    "\\\n",
    "@load \"x\"",
    "function f(a){",
    "return a",
    "length",
    "length / 2",
    "ARGV[1]=\".env\"",
    "ARGV[1] = \"../home/notes.txt\"; ARGC = 2",
    "=",
    "+",
];
const JQ: &[&str] = &[
    ".",
    ".a",
    ".b[]",
    ".[0]",
    "|",
    ",",
    " ",
    "env",
    "env.SERVICE_TOKEN",
    "$ENV",
    "$ENV.SERVICE_TOKEN",
    "input",
    "inputs",
    "input_filename",
    "import \"env\" as e;",
    "include \"env\";",
    "show",
    "e::show",
    "\"\\(env)\"",
    "\"\\(.a)\"",
    "#",
    "# env",
    "\n",
    "@sh",
    "@text",
    "keys",
    "length",
    "$x",
    "$__prog_args",
    "$__loc__",
    "$ARGS",
    "builtins",
    "modulemeta",
    "getpath([\"a\"])",
    "debug",
    "stderr",
    "halt_error",
    "input_line_number",
    "get_search_list",
    "(",
    ")",
    "[",
    "]",
    "{a: 1}",
    "as $x",
    "reduce",
    "def f: env;",
    "f",
    "$",
    "\"env\"",
    "en",
    "v",
    "splits(\"a\")",
    "ltrimstr(\"x\")",
    "\"a\" as",
];

/// Programs that tell their options when they are called like this.
const HELPFUL: &[(&str, &[&str])] = &[
    ("grep", &["--help"]),
    ("sed", &["--help"]),
    ("jq", &["--help"]),
    ("find", &["--help"]),
    ("tar", &["--help"]),
    ("sort", &["--help"]),
    ("diff", &["--help"]),
    ("rm", &["--help"]),
    ("cp", &["--help"]),
    ("ls", &["--help"]),
    ("xargs", &["--help"]),
    ("awk", &["--help"]),
    ("rg", &["--help"]),
];

/// Subcommands of git.
const GIT: &[&str] = &[
    "diff",
    "log",
    "show",
    "status",
    "grep",
    "blame",
    "ls-files",
    "ls-tree",
    "cat-file",
    "rev-parse",
    "rev-list",
    "branch",
    "tag",
    "stash",
    "checkout",
    "switch",
    "restore",
    "add",
    "commit",
    "rm",
    "mv",
    "describe",
    "shortlog",
    "config",
    "remote",
    "fetch",
    "push",
    "pull",
    "merge",
    "rebase",
    "archive",
    "format-patch",
    "am",
    "apply",
    "bundle",
    "clean",
    "reset",
    "worktree",
    "submodule",
    "notes",
    "reflog",
    "for-each-ref",
    "show-ref",
    "hash-object",
    "check-ignore",
    "check-attr",
    "diff-tree",
    "diff-index",
    "cherry-pick",
    "revert",
    "whatchanged",
    "range-diff",
    "merge-base",
    "name-rev",
    "ls-remote",
    "count-objects",
    "var",
    "difftool",
    "mergetool",
    "interpret-trailers",
    "stripspace",
    "column",
    "bisect",
];

/// What of GitHub's program is tried; its options are these.
const FORGE: &[&str] = &[
    "pr create",
    "pr view",
    "pr list",
    "pr edit 1",
    "pr comment 1",
    "pr diff 1",
    "pr checks",
    "pr review 1",
    "pr status",
    "issue create",
    "issue view 1",
    "issue list",
    "issue comment 1",
    "issue edit 1",
    "api",
    "api repos/o/r",
    "release view",
    "release create v1",
    "release list",
    "repo view",
    "auth status",
    "auth token",
    "gist create",
    "gist view x",
    "run list",
    "run view 1",
    "search issues",
];
const FORGE_OPTIONS: &[&str] = &[
    "-d",
    "--draft",
    "-F",
    "--body-file",
    "-b",
    "--body",
    "-t",
    "--title",
    "-f",
    "--fill",
    "-w",
    "--web",
    "-R",
    "--repo",
    "-B",
    "--base",
    "-H",
    "--head",
    "-T",
    "--template",
    "--input",
    "--field",
    "--raw-field",
    "-q",
    "--jq",
    "--json",
    "-X",
    "--method",
    "--notes-file",
    "-n",
    "--notes",
    "--recover",
    "-a",
    "-l",
    "--label",
    "-c",
    "--comments",
    "-L",
    "--limit",
    "--paginate",
    "-i",
    "--show-token",
    "--hostname",
    "-s",
    "--state",
    "-p",
    "--public",
    "--edit",
    "-e",
];

/// Options that exist and are not told.
const UNTOLD: &[(&str, &[&str])] = &[
    (
        "jq",
        &[
            "-f",
            "-L",
            "--from-file",
            "--slurpfile",
            "--rawfile",
            "--argfile",
            "--args",
            "--jsonargs",
            "--seq",
            "-e",
            "--tab",
        ],
    ),
    (
        "awk",
        &[
            "-f",
            "-F",
            "-v",
            "-W",
            "-E",
            "-e",
            "-i",
            "-l",
            "-o",
            "-d",
            "-p",
            "--file",
            "--include",
            "--exec",
            "--load",
        ],
    ),
    ("grep", &["--inc", "--exclude-f", "-f", "--dereference-recursive"]),
    ("sed", &["--in-pl", "--fil", "-fprog.sed", "-i.bak", "-ne", "-s", "--expr"]),
    ("find", &["-files0-from", "-newerXY", "-fprintf", "-okdir", "-O3", "-D", "-ilname", "-lname"]),
    (
        "tar",
        &[
            "cf", "xf", "tf", "czf", "xzf", "-cf", "-xf", "-czvf", "--to-com", "-I", "--rsh-c",
            "rf", "Af",
        ],
    ),
];

struct Program {
    name: String,
    options: Vec<String>,
}

/// Programs that are here, with their options.
pub(super) struct Vocabulary(Vec<Program>);

impl Vocabulary {
    /// Asks each program for its options; `home` is a home folder without anything that counts.
    pub(super) fn of_this_machine(home: &str) -> Vocabulary {
        let told = |words: &[&str]| {
            let mut command = Command::new(words[0]);
            command.args(&words[1..]).env("HOME", home).stdin(Stdio::null());
            let output = command.output().ok()?;
            let text = [output.stdout, output.stderr].concat();
            Some(options(&String::from_utf8_lossy(&text)))
        };
        let mut programs = Vec::new();
        for (name, ask) in HELPFUL {
            let Some(mut options) = told(&[&[*name], *ask].concat()) else { continue };
            let untold = UNTOLD.iter().filter(|(who, _)| who == name);
            options.extend(untold.flat_map(|(_, more)| more.iter().map(|&word| word.to_owned())));
            programs.push(Program { name: (*name).to_owned(), options });
        }
        for subcommand in GIT {
            let options = told(&["git", subcommand, "-h"]).unwrap_or_default();
            programs.push(Program { name: format!("git {subcommand}"), options });
        }
        for subcommand in FORGE {
            let options = FORGE_OPTIONS.iter().map(|&option| option.to_owned()).collect();
            programs.push(Program { name: format!("gh {subcommand}"), options });
        }
        Vocabulary(programs)
    }

    /// A line: every family of programs as often as every other.
    pub(super) fn line(&self, random: &mut Random) -> String {
        let families = ["git", "jq", "grep", "sed", "awk", "find", "tar", "gh", ""];
        let family = *random.pick(&families);
        let is_of = |program: &&Program| match family {
            "" => !families.contains(&program.name.split(' ').next().unwrap_or_default()),
            _ => program.name.split(' ').next() == Some(family),
        };
        let members: Vec<&Program> = self.0.iter().filter(is_of).collect();
        let program = *random.pick(&members);
        let mut words = vec![program.name.clone()];
        for _ in 0..random.below(4) {
            words.extend(option(program, random));
        }
        let at = if random.chance(70) { words.len() } else { 1 };
        let script = match family {
            "sed" => Some(SED),
            "awk" => Some(AWK),
            "jq" => Some(JQ),
            _ => None,
        };
        if let Some(pieces) = script.filter(|_| random.chance(85)) {
            words.insert(at, quoted(&self::script(pieces, random)));
        } else if family == "grep" {
            words.insert(at, "alpha".to_owned());
        }
        for _ in 0..random.below(3) {
            let word =
                if random.chance(50) { random.pick(&WORDS[..20]) } else { random.pick(WORDS) };
            words.push((*word).to_owned());
        }
        words.join(" ")
    }
}

/// An option in one of the forms in which programs take it, perhaps with a value.
fn option(program: &Program, random: &mut Random) -> Vec<String> {
    if program.options.is_empty() {
        return Vec::new();
    }
    let mut name = random.pick(&program.options).clone();
    let is_long = name.starts_with("--");
    if is_long && random.chance(15) {
        let end = 3 + random.below(name.len() as u64 - 2) as usize;
        name.truncate(end.min(name.len()));
    } else if is_long && random.chance(5) {
        name.insert_str(2, "no-");
    } else if !is_long && name.len() == 2 && random.chance(25) {
        let letter = random.pick(&program.options).clone();
        name.extend(letter.strip_prefix('-').filter(|rest| rest.len() == 1));
    }
    let value = (*random.pick(WORDS)).to_owned();
    match random.below(10) {
        0..=4 => vec![name],
        5 | 6 => vec![name, value],
        _ if is_long => vec![format!("{name}={value}")],
        7 => vec![format!("{name}={value}")],
        _ => vec![format!("{name}{value}")],
    }
}

fn script(pieces: &[&str], random: &mut Random) -> String {
    let count = 1 + random.below(5);
    let mut script = String::new();
    for _ in 0..count {
        script += random.pick::<&str>(pieces);
        if random.chance(25) {
            script += random.pick::<&str>(&[" ", ";", "\n", "|"]);
        }
    }
    script
}

fn quoted(text: &str) -> String {
    format!("'{}'", text.replace('\'', "'\\''"))
}

/// What looks like an option in what a program says about itself.
fn options(help: &str) -> Vec<String> {
    let help = help.replace("[no-]", "");
    let words = help.split(|c: char| c.is_whitespace() || ",;|[](){}'\"`".contains(c));
    let mut options: Vec<String> = words
        .filter_map(|word| {
            let end = word.find(['=', '<']).unwrap_or(word.len());
            let name = word[..end].trim_end_matches(['.', ':']);
            let letters = name.trim_start_matches('-');
            let dashes = name.len() - letters.len();
            let plain = letters.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'-');
            ((1..=2).contains(&dashes) && plain && !letters.is_empty()).then(|| name.to_owned())
        })
        .collect();
    options.sort();
    options.dedup();
    options
}

#[test]
fn options_are_found_in_what_programs_say() {
    let help = "usage: x [-q | --quiet] [--[no-]stat[=<n>]] -o, --output=FILE\n  -delete -name PATTERN\n -- a-b";
    let found = options(help);
    assert_eq!(found, ["--output", "--quiet", "--stat", "-delete", "-name", "-o", "-q"]);
}
