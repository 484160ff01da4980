//! What programs and hosts say to each other, as TypeScript: the types of `core/effect/src` in
//! the form that serde gives them.

mod read;
mod words;
mod write;

#[cfg(test)]
mod tests;

use std::collections::BTreeMap;

/// Where the types and the types inside them are.
const SOURCES: &[(&str, &str)] = &[
    ("effect.rs", include_str!("../../../../core/effect/src/lib.rs")),
    ("effect/bytes.rs", include_str!("../../../../core/effect/src/bytes.rs")),
    ("effect/confine.rs", include_str!("../../../../core/effect/src/confine.rs")),
    ("effect/exit.rs", include_str!("../../../../core/effect/src/exit.rs")),
    ("effect/failure.rs", include_str!("../../../../core/effect/src/failure.rs")),
    ("effect/files.rs", include_str!("../../../../core/effect/src/files.rs")),
    ("effect/git.rs", include_str!("../../../../core/effect/src/git.rs")),
    ("effect/http.rs", include_str!("../../../../core/effect/src/http.rs")),
    ("effect/network.rs", include_str!("../../../../core/effect/src/network.rs")),
    ("effect/process.rs", include_str!("../../../../core/effect/src/process.rs")),
    ("effect/request.rs", include_str!("../../../../core/effect/src/request.rs")),
    ("effect/serve.rs", include_str!("../../../../core/effect/src/serve.rs")),
    ("effect/shell.rs", include_str!("../../../../core/effect/src/shell.rs")),
    ("effect/start.rs", include_str!("../../../../core/effect/src/start.rs")),
    ("git/step.rs", include_str!("../../../../core/git/src/step.rs")),
];

/// The documents that cross the border; the rest is what they are made of.
const DOCUMENTS: &[&str] = &["Start", "Turn", "Reply", "Step", "StepReply"];

/// A type of TypeScript.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Type {
    Text,
    Number,
    Boolean,
    Named(String),
    /// One text.
    Literal(String),
    List(Box<Type>),
    Tuple(Vec<Type>),
    /// Values below names.
    Map(Box<Type>),
    /// The type, or `null`.
    OrNull(Box<Type>),
    Object(Vec<Member>),
    /// The members of both.
    Both(Box<Type>, Box<Type>),
    /// One of these, each with its documentation.
    OneOf(Vec<(String, Type)>),
}

/// A member of an object.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Member {
    name: String,
    /// Its documentation, in Markdown.
    doc: String,
    /// May be left out.
    optional: bool,
    of: Type,
}

impl Member {
    /// A member without documentation that is always there.
    fn plain(name: &str, of: Type) -> Member {
        Member { name: name.to_owned(), doc: String::new(), optional: false, of }
    }
}

/// A type with a name.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Declaration {
    name: String,
    /// Its documentation, in Markdown.
    doc: String,
    of: Type,
    /// Its module of the package, without an ending.
    module: &'static str,
}

/// The module that has every type, its own and those of the others.
const WHOLE: &str = "vocabulary";

/// The module of what hosts do for git, which the package keeps to itself.
const STEPS: &str = "git_steps";

/// Files whose types are in a module of their own.
const APART: &[(&str, &[&str])] = &[
    ("file_vocabulary", &["effect/files.rs"]),
    ("git_vocabulary", &["effect/git.rs"]),
    (STEPS, &["git/step.rs"]),
    ("serve_vocabulary", &["effect/serve.rs"]),
    (
        "process_vocabulary",
        &["effect/confine.rs", "effect/network.rs", "effect/process.rs", "effect/shell.rs"],
    ),
    ("start_vocabulary", &["effect/start.rs"]),
    ("failure_vocabulary", &["effect/failure.rs"]),
];

/// A module of the package, `npm/src/NAME.ts`.
pub(crate) fn module(name: &str) -> String {
    let declarations =
        declarations(SOURCES, DOCUMENTS).unwrap_or_else(|why| panic!("core/src/{why}"));
    write::module(name, &declarations)
}

fn module_of(source: &str) -> &'static str {
    let apart = APART.iter().find(|(_, sources)| sources.contains(&source));
    apart.map_or(WHOLE, |(module, _)| module)
}

/// The types with these names and every type inside them, each behind the one that first
/// mentions it.
fn declarations(sources: &[(&str, &str)], names: &[&str]) -> Result<Vec<Declaration>, String> {
    let mut items = BTreeMap::new();
    for (path, source) in sources {
        let module = module_of(path);
        read::items(source, module, &mut items).map_err(|why| format!("{path}: {why}"))?;
    }
    let mut found: Vec<Declaration> = Vec::new();
    let mut next: Vec<String> = names.iter().rev().map(|name| (*name).to_owned()).collect();
    while let Some(name) = next.pop() {
        if found.iter().any(|known| known.name == name) {
            continue;
        }
        let (module, item) = items.get(&name).ok_or_else(|| format!("effect: no type `{name}`"))?;
        let declaration =
            read::declaration(item, module).map_err(|why| format!("effect: {why}"))?;
        let mut inside = Vec::new();
        mentioned(&declaration.of, &mut inside);
        next.extend(inside.into_iter().rev());
        found.push(declaration);
    }
    words::translate(&mut found);
    Ok(found)
}

/// The names in a type, in their order.
fn mentioned(of: &Type, names: &mut Vec<String>) {
    match of {
        Type::Named(name) => names.push(name.clone()),
        Type::Text | Type::Number | Type::Boolean | Type::Literal(_) => {}
        Type::List(of) | Type::Map(of) | Type::OrNull(of) => mentioned(of, names),
        Type::Tuple(parts) => parts.iter().for_each(|of| mentioned(of, names)),
        Type::Object(members) => members.iter().for_each(|member| mentioned(&member.of, names)),
        Type::Both(left, right) => [left, right].iter().for_each(|of| mentioned(of, names)),
        Type::OneOf(choices) => choices.iter().for_each(|(_, of)| mentioned(of, names)),
    }
}
