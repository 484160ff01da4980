//! Types as a module of TypeScript.

use std::collections::{BTreeMap, BTreeSet};

use super::{Declaration, Member, STEPS, Type, WHOLE, mentioned};

/// Columns that a line of a comment may have.
const WIDTH: usize = 100;

const HEAD: &str = "\
/**
 * What programs ask of a host, and what it answers.
 *
 * Generated from `core/effect/src` by `cargo xtask generate`; do not edit.
 */
";

/// A document has the position of an attachment; `npm/src/wire.ts` hands hosts the bytes themselves.
const BYTES: &str = "
/** Content of a file, a stream or a body. */
export type Bytes = Uint8Array;
";

/// The module of this name: its own types, after those that they take from others.
pub(super) fn module(module: &str, declarations: &[Declaration]) -> String {
    let mut text = HEAD.to_owned();
    text.push_str(&imports(module, declarations));
    let own = declarations.iter().filter(|declaration| declaration.module == module);
    for Declaration { name, doc, of, .. } in own {
        if name == "Bytes" {
            text.push_str(BYTES);
            continue;
        }
        text.push('\n');
        comment(doc, 0, &mut text);
        match of {
            Type::Object(_) => {
                text.push_str(&format!("export interface {name} {}\n", shown(of, 0)));
            }
            Type::OneOf(choices) => {
                text.push_str(&format!("export type {name} ="));
                for (doc, of) in choices {
                    text.push('\n');
                    comment(doc, 2, &mut text);
                    text.push_str(&format!("  | {}", shown(of, 4)));
                }
                text.push_str(";\n");
            }
            _ => text.push_str(&format!("export type {name} = {};\n", shown(of, 0))),
        }
    }
    text
}

/// What the types of a module take from other modules; the whole hands on everything.
fn imports(module: &str, declarations: &[Declaration]) -> String {
    let mut wanted = Vec::new();
    for declaration in declarations.iter().filter(|declaration| declaration.module == module) {
        mentioned(&declaration.of, &mut wanted);
    }
    let mut from: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    for declaration in declarations.iter().filter(|declaration| declaration.module != module) {
        let names = from.entry(declaration.module).or_default();
        if wanted.contains(&declaration.name) {
            names.insert(&declaration.name);
        }
    }
    let mut lines = String::new();
    for (other, names) in from {
        if !names.is_empty() {
            let names: String = names.iter().map(|name| format!("  {name},\n")).collect();
            lines += &format!("import type {{\n{names}}} from \"./{other}.js\";\n");
        }
        if module == WHOLE && other != STEPS {
            lines += &format!("export type * from \"./{other}.js\";\n");
        }
    }
    if lines.is_empty() { lines } else { format!("\n{lines}") }
}

/// A type, in a block that is indented this far.
fn shown(of: &Type, indent: usize) -> String {
    match of {
        Type::Text => "string".to_owned(),
        Type::Number => "number".to_owned(),
        Type::Boolean => "boolean".to_owned(),
        Type::Named(name) => name.clone(),
        Type::Literal(text) => format!("\"{text}\""),
        Type::List(of) => match **of {
            Type::OrNull(_) => format!("({})[]", shown(of, indent)),
            _ => format!("{}[]", shown(of, indent)),
        },
        Type::Tuple(parts) => {
            let parts: Vec<String> = parts.iter().map(|of| shown(of, indent)).collect();
            format!("[{}]", parts.join(", "))
        }
        Type::Map(of) => format!("Record<string, {}>", shown(of, indent)),
        Type::OrNull(of) => format!("{} | null", shown(of, indent)),
        Type::Both(left, right) => {
            format!("({} & {})", shown(left, indent), shown(right, indent))
        }
        Type::OneOf(choices) => {
            let choices: Vec<String> = choices.iter().map(|(_, of)| shown(of, indent)).collect();
            format!("({})", choices.join(" | "))
        }
        Type::Object(members) => object(members, indent),
    }
}

/// On one line as long as nothing in it has a comment.
fn object(members: &[Member], indent: usize) -> String {
    let declared = |member: &Member, indent| {
        let optional = if member.optional { "?" } else { "" };
        format!("{}{optional}: {}", member.name, shown(&member.of, indent))
    };
    if members.iter().all(|member| member.doc.is_empty()) {
        let members: Vec<String> = members.iter().map(|member| declared(member, indent)).collect();
        return format!("{{ {} }}", members.join("; "));
    }
    let mut text = "{\n".to_owned();
    for member in members {
        comment(&member.doc, indent + 2, &mut text);
        let line = declared(member, indent + 2);
        text.push_str(&format!("{:1$}{line};\n", "", indent + 2));
    }
    text.push_str(&format!("{:1$}}}", "", indent));
    text
}

/// Words filled up to the width, on one line where they fit.
fn comment(doc: &str, indent: usize, into: &mut String) {
    let margin = " ".repeat(indent);
    let words = doc.split_whitespace().collect::<Vec<_>>().join(" ").replace("*/", "*\\/");
    if words.is_empty() {
        return;
    }
    if indent + words.chars().count() + "/**  */".len() <= WIDTH {
        into.push_str(&format!("{margin}/** {words} */\n"));
        return;
    }
    into.push_str(&format!("{margin}/**\n"));
    let mut line = format!("{margin} *");
    for word in words.split(' ') {
        if line.chars().count() + 1 + word.chars().count() > WIDTH {
            into.push_str(&format!("{line}\n"));
            line = format!("{margin} *");
        }
        line.push_str(&format!(" {word}"));
    }
    into.push_str(&format!("{line}\n{margin} */\n"));
}
