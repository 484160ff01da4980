//! core's rooms import only what stands above them, and no two files import each other.

use std::collections::{BTreeMap, BTreeSet};

use super::modules::{Import, Modules};

/// The rooms from the first to the last. A room imports rooms of earlier rows, and of its own row
/// only what [`SIDEWAYS`] allows.
pub(crate) const ROWS: &[&[&str]] = &[
    &["limits", "money", "text", "time", "tokens"],
    &["diagnostic", "syntax"],
    &["effect"],
    &[
        "agent",
        "auto",
        "confine",
        "handsoff",
        "hooks",
        "install",
        "language",
        "permission",
        "preflight",
        "run",
        "workflow",
    ],
    &["documents"],
    &["page"],
    &["engine"],
    &["verb"],
    &["lsp", "mcp", "watch", "web"],
    &["cli"],
];

/// Imports between rooms of one row: a room, and what it may take from.
pub(crate) const SIDEWAYS: &[(&str, &[&str])] = &[
    ("handsoff", &["run", "workflow"]),
    ("hooks", &["permission"]),
    ("install", &["auto", "handsoff", "hooks", "permission"]),
    ("language", &["workflow"]),
    ("preflight", &["workflow"]),
    ("run", &["workflow"]),
    ("syntax", &["diagnostic"]),
];

/// Every import against the order of the rooms, of a verb by a verb, and in a circle of files.
pub(crate) fn faults(modules: &Modules) -> Vec<String> {
    let imports = modules.imports();
    let mut faults = Vec::new();
    for import in &imports {
        if let Some(why) = against_the_order(import) {
            faults.push(format!("{}:{}: {why}", modules.path(&import.from), import.line));
        }
    }
    for circle in circles(&imports) {
        let files: Vec<_> = circle.iter().map(|module| modules.path(module)).collect();
        faults.push(format!("a circle of files that import each other: {}", files.join(", ")));
    }
    faults
}

/// The room that a module belongs to.
pub(crate) fn room(module: &str) -> &str {
    module.split("::").next().unwrap_or(module)
}

fn against_the_order(import: &Import) -> Option<String> {
    let (from, to) = (room(&import.from), room(&import.to));
    // The root of the crate is the table of contents.
    if from.is_empty() || to.is_empty() {
        return None;
    }
    if from == to {
        let (from, to) = (second(&import.from)?, second(&import.to)?);
        return (room(&import.from) == "verb" && from != to).then(|| {
            format!("verb `{from}` imports verb `{to}`; what both need belongs to `engine`")
        });
    }
    let (Some(row), Some(target)) = (row(from), row(to)) else {
        let unknown = if row(from).is_none() { from } else { to };
        return Some(format!("room `{unknown}` is not in the order of the rooms"));
    };
    if target < row || (target == row && allowed(from).contains(&to)) {
        return None;
    }
    Some(format!("`{from}` imports `{to}`, which does not stand above it"))
}

fn second(module: &str) -> Option<&str> {
    module.split("::").nth(1)
}

fn row(room: &str) -> Option<usize> {
    ROWS.iter().position(|rooms| rooms.contains(&room))
}

fn allowed(room: &str) -> &'static [&'static str] {
    SIDEWAYS.iter().find(|(name, _)| *name == room).map_or(&[], |(_, rooms)| rooms)
}

/// Sets of files that reach each other by imports. A module and those inside it are one thought:
/// imports between them do not count.
fn circles(imports: &[Import]) -> Vec<BTreeSet<&str>> {
    let mut edges: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    for Import { from, to, .. } in imports {
        if !is_inside(from, to) && !is_inside(to, from) {
            edges.entry(from).or_default().insert(to);
        }
    }
    let reach: BTreeMap<&str, BTreeSet<&str>> =
        edges.keys().map(|module| (*module, reachable(&edges, module))).collect();
    let mut found: Vec<BTreeSet<&str>> = Vec::new();
    for (module, reached) in &reach {
        if !reached.contains(module) || found.iter().any(|circle| circle.contains(module)) {
            continue;
        }
        let back = |other: &&&str| reach.get(**other).is_some_and(|back| back.contains(module));
        found.push(reached.iter().filter(back).copied().collect());
    }
    found
}

fn reachable<'a>(edges: &BTreeMap<&'a str, BTreeSet<&'a str>>, from: &str) -> BTreeSet<&'a str> {
    let mut reached = BTreeSet::new();
    let mut next: Vec<&str> = edges.get(from).into_iter().flatten().copied().collect();
    while let Some(module) = next.pop() {
        if reached.insert(module) {
            next.extend(edges.get(module).into_iter().flatten());
        }
    }
    reached
}

/// Whether `inner` is `outer` or lies in it.
fn is_inside(inner: &str, outer: &str) -> bool {
    inner.strip_prefix(outer).is_some_and(|rest| rest.is_empty() || rest.starts_with("::"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sources::SourceFile;

    fn faults_of(files: &[(&str, &str)]) -> Vec<String> {
        let files: Vec<SourceFile> = files
            .iter()
            .map(|(path, text)| SourceFile {
                path: format!("core/src/{path}"),
                text: (*text).to_owned(),
            })
            .collect();
        faults(&Modules::read(&files).unwrap())
    }

    #[test]
    fn a_room_takes_from_above_only() {
        assert_eq!(faults_of(&[("run.rs", "use crate::text::Line;"), ("text.rs", "")]), [""; 0]);
        assert_eq!(
            faults_of(&[("run/next.rs", "\nuse crate::engine::Store;"), ("engine.rs", "")]),
            ["core/src/run/next.rs:2: `run` imports `engine`, which does not stand above it"]
        );
        let inline = "fn f() { crate::cli::main() }";
        assert_eq!(
            faults_of(&[("verb/lint.rs", inline), ("cli.rs", "")]),
            ["core/src/verb/lint.rs:1: `verb` imports `cli`, which does not stand above it"]
        );
        assert_eq!(
            faults_of(&[("spare.rs", "use crate::text::Line;"), ("text.rs", "")]),
            ["core/src/spare.rs:1: room `spare` is not in the order of the rooms"]
        );
    }

    #[test]
    fn rooms_of_one_row_are_strangers_unless_the_table_says_otherwise() {
        let workflow = ("workflow.rs", "");
        assert_eq!(faults_of(&[("run.rs", "use crate::workflow::Plan;"), workflow]), [""; 0]);
        assert_eq!(
            faults_of(&[("auto.rs", "use crate::workflow::Plan;"), workflow]),
            ["core/src/auto.rs:1: `auto` imports `workflow`, which does not stand above it"]
        );
    }

    #[test]
    fn verbs_do_not_know_each_other() {
        let expected = "verb `run` imports verb `resume`; what both need belongs to `engine`";
        let root = ("verb.rs", "mod run;\nmod resume;\npub use resume::{ResumeArgs, resume};");
        let resume = ("verb/resume.rs", "");
        for text in [
            "use crate::verb::resume;",
            "use crate::verb::ResumeArgs;",
            "use super::resume::ResumeArgs;",
            "use super::{ResumeArgs as Args};",
            "fn f() { super::resume::f() }",
        ] {
            let found = faults_of(&[root, resume, ("verb/run.rs", text)]);
            assert_eq!(found, [format!("core/src/verb/run.rs:1: {expected}")], "{text}");
        }
        let parts =
            [root, resume, ("verb/run.rs", "mod part;"), ("verb/run/part.rs", "use super::f;")];
        assert_eq!(faults_of(&parts), [""; 0]);
    }

    #[test]
    fn files_do_not_import_each_other_in_a_circle() {
        let circle = [
            ("run/a.rs", "use super::b::B;"),
            ("run/b.rs", "use crate::run::C;"),
            ("run/c.rs", "fn f(x: super::a::A) {}"),
            ("run.rs", "mod a;\nmod b;\nmod c;\npub use c::C;"),
        ];
        assert_eq!(
            faults_of(&circle),
            [
                "a circle of files that import each other: core/src/run/a.rs, core/src/run/b.rs, core/src/run/c.rs"
            ]
        );
        let tests_may = [
            ("run/a.rs", "use super::b::B;"),
            ("run/b.rs", "#[cfg(test)]\nmod tests {\n use crate::run::a::A; }"),
            ("run.rs", "mod a;\nmod b;"),
        ];
        assert_eq!(faults_of(&tests_may), [""; 0]);
        let family = [("run.rs", "mod a;\npub use a::A;"), ("run/a.rs", "use super::B;")];
        assert_eq!(faults_of(&family), [""; 0]);
    }
}
