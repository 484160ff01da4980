//! Documentation written for Rust, in the names that the documents have.

use std::collections::BTreeMap;

use super::{Declaration, Type, read::snake_case};

/// Replaces the Rust names in every comment. Links become plain names.
pub(super) fn translate(declarations: &mut [Declaration]) {
    let names = names(declarations);
    for declaration in declarations {
        declaration.doc = text(&declaration.doc, &names);
        inside(&mut declaration.of, &names);
    }
}

fn inside(of: &mut Type, names: &BTreeMap<String, String>) {
    match of {
        Type::Object(members) => {
            for member in members {
                member.doc = text(&member.doc, names);
                inside(&mut member.of, names);
            }
        }
        Type::OneOf(choices) => {
            for (doc, of) in choices {
                *doc = text(doc, names);
                inside(of, names);
            }
        }
        Type::Text | Type::Number | Type::Boolean | Type::Named(_) | Type::Literal(_) => {}
        Type::List(_) | Type::Tuple(_) | Type::Map(_) | Type::OrNull(_) | Type::Both(..) => {}
    }
}

/// What a document says for a Rust name: kinds of failure and of requests are mentioned
/// without the name of their type.
fn names(declarations: &[Declaration]) -> BTreeMap<String, String> {
    let mut names = BTreeMap::from([("None".to_owned(), "null".to_owned())]);
    for Declaration { name, of, .. } in declarations {
        let Type::OneOf(choices) = of else { continue };
        for tag in choices.iter().filter_map(|(_, of)| tag(of)) {
            names.insert(format!("{name}::{tag}"), tag.to_owned());
            if matches!(name.as_str(), "FailureKind" | "GitRequest" | "Request") {
                names.insert(tag.to_owned(), tag.to_owned());
            }
        }
    }
    names
}

/// The text that tells a choice from the others.
fn tag(of: &Type) -> Option<&str> {
    match of {
        Type::Literal(text) => Some(text),
        Type::Object(members) => members.first().and_then(|member| tag(&member.of)),
        Type::Both(left, _) => tag(left),
        _ => None,
    }
}

/// A comment with `` [`A::B`] `` and `` [`A::B`](path) `` as names, and each name between
/// backticks in the document's words.
fn text(doc: &str, names: &BTreeMap<String, String>) -> String {
    let mut result = String::new();
    let mut rest = doc;
    while let Some((before, behind)) = rest.split_once('`') {
        let Some((name, behind)) = behind.split_once('`') else { break };
        let linked = before.strip_suffix('[').zip(behind.strip_prefix(']'));
        let (before, behind) = match linked {
            Some((before, behind)) => (
                before,
                behind
                    .strip_prefix('(')
                    .map_or(behind, |path| path.split_once(')').map_or("", |(_, behind)| behind)),
            ),
            None => (before, behind),
        };
        result.push_str(&format!("{before}`{}`", of_document(name, names)));
        rest = behind;
    }
    result + rest
}

/// `Type::Variant` by what it is called in a document, `Type::field` with a dot.
fn of_document(name: &str, names: &BTreeMap<String, String>) -> String {
    let (of, last) = name.rsplit_once("::").map_or((None, name), |(of, last)| (Some(of), last));
    let key = match of {
        Some(of) => format!("{of}::{}", snake_case(last)),
        None if last == "None" => last.to_owned(),
        None if last.starts_with(char::is_uppercase) => snake_case(last),
        None => return name.to_owned(),
    };
    names.get(&key).cloned().unwrap_or_else(|| name.replace("::", "."))
}
