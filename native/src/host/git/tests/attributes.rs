//! Files of worktrees are those that git would write, byte for byte, whatever attributes say.

use std::collections::BTreeMap;
use std::io::Write;
use std::process::Stdio;

use super::*;

/// Repositories that are tried; `ONLOOP_ROUNDS` tries more, from `ONLOOP_SEED` on.
const ROUNDS: u64 = 24;

struct Random(u64);

impl Random {
    /// Below `count`.
    fn below(&mut self, count: usize) -> usize {
        // xorshift64*; a seed of 0 would stay 0.
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        let mixed = self.0.wrapping_mul(0x2545_F491_4F6C_DD1D) >> 33;
        usize::try_from(mixed).expect("it has 31 bits") % count
    }

    fn of<'a>(&mut self, all: &[&'a str]) -> &'a str {
        all[self.below(all.len())]
    }
}

const PATTERNS: [&str; 6] = ["*", "*.txt", "*.dat", "sub/*", "/a.txt", "c.*"];
const ATTRIBUTES: [&str; 19] = [
    "text",
    "-text",
    "!text",
    "text=auto",
    "eol=lf",
    "eol=crlf",
    "text eol=crlf",
    "text=auto eol=crlf",
    "text=auto eol=lf",
    "crlf",
    "-crlf",
    "crlf=input",
    "ident",
    "binary",
    "filter=case",
    "-filter",
    "filter=unknown",
    "working-tree-encoding=ISO-8859-1",
    "working-tree-encoding=UTF-16LE",
];
const FILES: [&str; 6] = ["a.txt", "b.dat", "c.md", "sub/a.txt", "sub/deep/c.dat", "sub/no-end"];
const PARTS: [&str; 8] = ["one", "\n", "\r\n", "\r", "é", "$Id$", "\n\n", "\0"];

/// A repository whose blobs are random and not what any attribute would have made of them.
fn random_place(random: &mut Random) -> Place {
    let place = Place::new();
    place.init("repo", &[]);
    for (key, values) in [
        ("core.autocrlf", ["", "true", "input", "false"]),
        ("core.eol", ["", "lf", "crlf", "native"]),
    ] {
        let value = random.of(&values);
        if !value.is_empty() {
            place.git("repo", &["config", key, value]);
        }
    }
    place.git("repo", &["config", "filter.case.smudge", "tr a-z A-Z"]);
    place.git("repo", &["config", "filter.case.clean", "tr A-Z a-z"]);
    for path in [".gitattributes", "sub/.gitattributes"] {
        if random.below(3) > 0 {
            blob(&place, path, &attributes(random));
        }
    }
    if random.below(3) == 0 {
        place.write("repo/.git/info/attributes", &attributes(random));
    }
    for path in FILES {
        let parts = 2 * random.below(8);
        blob(&place, path, &(0..parts).map(|_| random.of(&PARTS)).collect::<String>());
    }
    place.git("repo", &["commit", "--quiet", "--message", "random"]);
    place
}

fn attributes(random: &mut Random) -> String {
    (0..=random.below(4))
        .map(|_| format!("{} {}\n", random.of(&PATTERNS), random.of(&ATTRIBUTES)))
        .collect()
}

/// Puts a file into the index as it is.
fn blob(place: &Place, path: &str, content: &str) {
    let mut hash = Command::new("git")
        .args(["hash-object", "-w", "--no-filters", "--stdin"])
        .current_dir(place.path("repo"))
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    hash.stdin.take().unwrap().write_all(content.as_bytes()).unwrap();
    let id = String::from_utf8(hash.wait_with_output().unwrap().stdout).unwrap();
    let entry = format!("100644,{},{path}", id.trim_end());
    place.git("repo", &["update-index", "--add", "--cacheinfo", &entry]);
}

/// Every file in a folder, by its path.
fn files(top: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    let (mut found, mut folders) = (BTreeMap::new(), vec![top.to_owned()]);
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else if path.file_name().is_some_and(|name| name != ".git") {
                let content = fs::read(&path).unwrap();
                found.insert(path.strip_prefix(top).unwrap().to_owned(), content);
            }
        }
    }
    found
}

fn number(variable: &str) -> Option<u64> {
    std::env::var(variable).ok()?.parse().ok()
}

#[test]
fn files_of_a_worktree_are_what_git_makes_of_them() {
    let first = number("ONLOOP_SEED").unwrap_or(1);
    let (mut made, mut refused) = (0, 0);
    for seed in first..first + number("ONLOOP_ROUNDS").unwrap_or(ROUNDS) {
        let mut random = Random(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1);
        let place = random_place(&mut random);
        let commit = place.git("repo", &["rev-parse", "HEAD"]);
        place.git("repo", &["worktree", "add", "--quiet", "-b", "theirs", "../theirs"]);
        let expected = files(&place.path("theirs"));
        assert!(expected.len() >= FILES.len(), "seed {seed}: {expected:?}");
        place.create("ours", "ours", true).unwrap();
        assert_eq!(files(&place.path("ours")), expected, "seed {seed}");
        // A later look than the one of git, which has remembered what it wrote.
        let dirty = place.git("ours", &["status", "--porcelain", "--untracked-files=all"]);
        let names: Vec<&str> = dirty.lines().map(|line| &line[3..]).collect();
        assert_eq!(place.survey("ours", "x").unwrap().dirty, names, "seed {seed}");
        let request = GitRequest::CreateWorktree {
            cwd: place.text("repo"),
            path: place.text("alone"),
            branch: "alone".to_owned(),
            create_at: Some(commit),
        };
        // Without a git program: the same files, or none.
        match OsGit::with_program("no-such-git").perform(&request) {
            Ok(_) => {
                made += 1;
                assert_eq!(files(&place.path("alone")), expected, "seed {seed}, libgit2");
            }
            Err(failure) => {
                refused += 1;
                assert_eq!(failure.kind, FailureKind::Unsupported, "seed {seed}: {failure}");
                assert!(!place.path("alone").exists(), "seed {seed}");
            }
        }
    }
    assert!(made > 0 && refused > 0, "{made} made, {refused} refused");
}
