//! Types as a module of TypeScript.

use super::{Declaration, Member, Type};

/// Columns that a line of a comment may have.
const WIDTH: usize = 100;

const HEAD: &str = "\
/**
 * The documents that cross the border to the core. Bytes are not part of them: where a document
 * has `Bytes`, it has the position of an attachment in the list beside it.
 *
 * Generated from `core/src/effect` by `cargo xtask generate`; do not edit.
 */
";

/// The whole module.
pub(super) fn module(declarations: &[Declaration]) -> String {
    let mut text = HEAD.to_owned();
    for Declaration { name, doc, of } in declarations {
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
