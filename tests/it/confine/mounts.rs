//! Random lists of what may be written, read and hidden, and what real mechanisms make of them.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use onloop::host::{Host, Interrupts, OsHost};
use onloop_core::effect::{
    Confinement, FailureKind, Mechanism, Outcome, ProcessSpec, Reach, Request, Shell, Start,
    is_within,
};
use proptest::prelude::*;

use crate::workspace::ordinary_folder;

/// What the folder below has in it: each has a file `f`.
const FOLDERS: [&str; 7] = ["", "a", "a/a", "a/b", "b", "b/a", "b/a/a"];

/// Writes to every path that is named, and says which ones it wrote.
const WRITE: &str =
    "for path in $PATHS; do echo new 2>/dev/null > \"$path\" && echo \"$path\"; done";

/// Moves every folder away and puts another one with the same names in its place.
const MOVE: &str = "for path in $PATHS; do folder=$(dirname \"$path\"); \
    mv \"$folder\" \"$folder.gone\"; mkdir -p \"$folder\"; rm -f \"$path\"; \
    echo evil > \"$path\"; ln -sfn elsewhere \"$folder\"; done 2>/dev/null; true";

#[derive(Clone, Debug)]
struct Rules(Vec<(String, usize)>);

fn rules() -> impl Strategy<Value = Rules> {
    let folder = prop::sample::select(&FOLDERS[1..]);
    let name = prop::sample::select(&["", "/f", "/absent"][..]);
    let rule = (folder, name, 0_usize..6);
    let rules = prop::collection::vec(rule, 1..8);
    rules.prop_map(|rules| {
        Rules(
            rules
                .into_iter()
                .map(|(folder, name, list)| (format!("{folder}{name}"), list))
                .collect(),
        )
    })
}

impl Rules {
    /// The top folder may be written; the rest is as the rules say.
    fn confinement(&self, top: &Path, only: Mechanism) -> Confinement {
        let top = top.to_str().unwrap();
        let mut confinement = Confinement { only: Some(only), ..Confinement::default() };
        confinement.may_write.push(top.to_owned());
        for (path, list) in &self.0 {
            let path = format!("{top}/{path}");
            // What is not there can only be kept from coming to be there.
            if *list < 3 && !Path::new(&path).exists() {
                continue;
            }
            match list {
                0 => confinement.may_write.push(path),
                1 => confinement.others_write.push(path),
                2 => confinement.hidden.push(path),
                _ => confinement.may_read.push(path),
            }
        }
        confinement
    }
}

fn fill(top: &Path) {
    for folder in FOLDERS {
        std::fs::create_dir_all(top.join(folder)).unwrap();
        std::fs::write(top.join(folder).join("f"), "old\n").unwrap();
    }
}

/// Every path that is tried.
fn paths(top: &Path) -> Vec<PathBuf> {
    let names = |folder: &&str| ["f", "absent"].map(|name| top.join(folder).join(name));
    FOLDERS.iter().flat_map(names).collect()
}

fn state(top: &Path) -> BTreeMap<PathBuf, String> {
    let content = |path: PathBuf| {
        let content = std::fs::read_to_string(&path).unwrap_or_else(|_| "nothing".to_owned());
        (path, content)
    };
    paths(top).into_iter().map(content).collect()
}

/// What a line wrote to standard output; `None`: this mechanism cannot enforce the rules.
fn run(top: &Path, line: &str, confinement: Confinement) -> Option<String> {
    let cwd = top.to_str().unwrap().to_owned();
    let start = Start { cwd: cwd.clone(), ..Start::example(["onloop"]) };
    let interrupts = Interrupts::new().unwrap();
    let named: Vec<String> = paths(top).iter().map(|path| path.display().to_string()).collect();
    let spec = ProcessSpec::shell(Shell::Sh, line).in_folder(cwd).timeout_ms(60_000);
    let spec = spec.with_env([("PATHS", named.join(" "))]);
    let spec = ProcessSpec { confine: Some(Box::new(confinement)), ..spec };
    match OsHost::new(&start, &interrupts).perform(Request::Process(spec)).outcome {
        Ok(Outcome::Process(end)) => Some(end.stdout.text().to_owned()),
        Err(failure) if failure.kind == FailureKind::Unsupported => None,
        other => panic!("{line}: {other:?}"),
    }
}

/// Whether the kernel holds a path by itself: it is there, or a folder around it is protected.
fn is_held(confinement: &Confinement, path: &Path) -> bool {
    let path = path.to_str().unwrap();
    let rule = confinement.rules().into_iter().rfind(|(above, _)| is_within(path, above));
    rule.is_some_and(|(above, _)| Path::new(above).exists())
}

fn is_protected(reach: Reach, mechanism: Mechanism) -> bool {
    match reach {
        Reach::Read | Reach::Hidden => true,
        Reach::Others => mechanism == Mechanism::Bubblewrap,
        Reach::Write | Reach::Scratch => false,
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: crate::rounds::cases(6, 24), ..ProptestConfig::default() })]

    #[test]
    fn what_can_be_written_is_what_was_meant(rules in rules()) {
        for mechanism in [Mechanism::Bubblewrap, Mechanism::Landlock] {
            let folder = ordinary_folder();
            let top = folder.path().canonicalize().unwrap();
            fill(&top);
            let confinement = rules.confinement(&top, mechanism);
            let access = |path: &Path| confinement.access(path.to_str().unwrap());
            let before = state(&top);
            let held: Vec<bool> =
                paths(&top).iter().map(|path| is_held(&confinement, path)).collect();
            let Some(written) = run(&top, WRITE, confinement.clone()) else { continue };
            let after = state(&top);
            for (path, held) in paths(&top).into_iter().zip(held) {
                let wrote = written.lines().any(|line| Path::new(line) == path);
                let reach = access(&path);
                if is_protected(reach, mechanism) && (held || reach == Reach::Read) {
                    prop_assert_eq!(&after[&path], &before[&path], "{:?} {:?}", mechanism, path);
                    // In a folder that looks empty a write succeeds and is thrown away.
                    let is_seen = matches!(reach, Reach::Read | Reach::Others);
                    let at_once = mechanism == Mechanism::Bubblewrap && held && is_seen;
                    prop_assert!(!(at_once && wrote), "{mechanism:?} {path:?}: {written}");
                }
                if reach == Reach::Write {
                    prop_assert_eq!(&after[&path], "new\n", "{:?} {:?}", mechanism, path);
                }
            }
        }
    }

    #[test]
    fn nothing_protected_is_replaced_together_with_its_folder(rules in rules()) {
        for mechanism in [Mechanism::Bubblewrap, Mechanism::Landlock] {
            let folder = ordinary_folder();
            let top = folder.path().canonicalize().unwrap();
            fill(&top);
            let confinement = rules.confinement(&top, mechanism);
            let before = state(&top);
            if run(&top, MOVE, confinement.clone()).is_none() {
                continue;
            }
            let after = state(&top);
            for path in paths(&top) {
                if confinement.access(path.to_str().unwrap()) == Reach::Read {
                    prop_assert_eq!(&after[&path], &before[&path], "{:?} {:?}", mechanism, path);
                }
            }
        }
    }
}
