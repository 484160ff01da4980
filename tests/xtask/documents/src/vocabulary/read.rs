//! The form that serde's derived code gives a type. An attribute that is not known here is an
//! error: it could mean another form.

use std::collections::BTreeMap;

use syn::punctuated::Punctuated;
use syn::{Attribute, Expr, Fields, GenericArgument, Item, Lit, Meta, PathArguments, Token};

use super::{Declaration, Member, Type};

/// Types whose serde code is written by hand, or that have none. The tests hold each against
/// what core really writes.
fn by_hand(name: &str) -> Option<Type> {
    let reply = |name, of: &str| {
        let of = Type::Named(of.to_owned());
        let members = vec![Member::plain("at_ms", Type::Number), Member::plain(name, of)];
        (String::new(), Type::Object(members))
    };
    match name {
        "Bytes" | "Exit" => Some(Type::Number),
        "Durability" => Some(Type::Boolean),
        "NetworkName" => Some(Type::Text),
        "Reply" => {
            Some(Type::OneOf(vec![reply("outcome", "Outcome"), reply("failure", "Failure")]))
        }
        _ => None,
    }
}

/// What a function writes that an attribute names, and a sentence about it.
fn written_by(function: &str) -> Result<(Type, &'static str), String> {
    match function {
        "millis" => Ok((Type::Number, "Milliseconds since 1970.")),
        "hex" => Ok((Type::Text, "Thirty-two hexadecimal digits.")),
        "argv_member" => {
            let words = Type::List(Box::new(Type::Text));
            Ok((Type::Object(vec![Member::plain("argv", words)]), ""))
        }
        _ => Err(format!("what `{function}` writes is not known here")),
    }
}

/// Adds the structs and enums of a source.
pub(super) fn items(
    source: &str,
    module: &'static str,
    into: &mut BTreeMap<String, (&'static str, Item)>,
) -> Result<(), String> {
    let file = syn::parse_file(source).map_err(|error| error.to_string())?;
    for item in file.items {
        let name = match &item {
            Item::Struct(item) => item.ident.to_string(),
            Item::Enum(item) => item.ident.to_string(),
            _ => continue,
        };
        if into.insert(name.clone(), (module, item)).is_some() {
            return Err(format!("a second type `{name}`"));
        }
    }
    Ok(())
}

/// What becomes of a struct or an enum.
pub(super) fn declaration(item: &Item, module: &'static str) -> Result<Declaration, String> {
    let (name, attributes, generics) = match item {
        Item::Struct(item) => (&item.ident, &item.attrs, &item.generics),
        Item::Enum(item) => (&item.ident, &item.attrs, &item.generics),
        _ => unreachable!("only structs and enums are kept"),
    };
    let name = name.to_string();
    let of = match by_hand(&name) {
        Some(of) => Ok(of),
        None if !generics.params.is_empty() => Err("it is generic".to_owned()),
        None => derived(item, attributes),
    };
    let of = of.map_err(|why| format!("`{name}`: {why}"))?;
    Ok(Declaration { name, doc: documentation(attributes), of, module })
}

fn derived(item: &Item, attributes: &[Attribute]) -> Result<Type, String> {
    if !derives_serialize(attributes) {
        return Err("it does not derive `Serialize`".to_owned());
    }
    let serde = Serde::read(attributes)?;
    match item {
        Item::Struct(item) => {
            serde.only(&["deny_unknown_fields"])?;
            content(&item.fields)?.ok_or_else(|| "it has no fields".to_owned())
        }
        Item::Enum(item) => {
            serde.only(&["tag", "content", "rename_all", "untagged"])?;
            let variants = item.variants.iter().map(|variant| {
                Serde::read(&variant.attrs)?.only(&[])?;
                let name = serde.renamed(&variant.ident.to_string())?;
                let of = choice(&serde, name, content(&variant.fields)?)
                    .map_err(|why| format!("`{}`: {why}", variant.ident))?;
                Ok((documentation(&variant.attrs), of))
            });
            Ok(Type::OneOf(variants.collect::<Result<_, String>>()?))
        }
        _ => unreachable!("only structs and enums are kept"),
    }
}

/// A variant in the representation that the attributes of its enum name.
fn choice(serde: &Serde, name: String, content: Option<Type>) -> Result<Type, String> {
    let tag = |tag: &str| Member::plain(tag, Type::Literal(name.clone()));
    match (serde.get("untagged"), serde.get("tag"), serde.get("content"), content) {
        (Some(_), None, None, Some(of)) => Ok(of),
        (None, None, None, None) => Ok(Type::Literal(name)),
        (None, None, None, Some(of)) => Ok(Type::Object(vec![Member::plain(&name, of)])),
        (None, Some(key), _, None) => Ok(Type::Object(vec![tag(key)])),
        (None, Some(key), Some(inside), Some(of)) => {
            Ok(Type::Object(vec![tag(key), Member::plain(inside, of)]))
        }
        (None, Some(key), None, Some(Type::Object(members))) => {
            Ok(Type::Object([vec![tag(key)], members].concat()))
        }
        (None, Some(key), None, Some(of @ Type::Named(_))) => {
            Ok(Type::Both(Box::new(Type::Object(vec![tag(key)])), Box::new(of)))
        }
        (..) => Err("a variant like this has no known form here".to_owned()),
    }
}

/// `None`: there are no fields.
fn content(fields: &Fields) -> Result<Option<Type>, String> {
    match fields {
        Fields::Unit => Ok(None),
        Fields::Named(fields) => {
            let members = fields.named.iter().map(|field| {
                let rust = field.ident.as_ref().expect("it is a named field").to_string();
                member(&rust, field).map_err(|why| format!("`{rust}`: {why}"))
            });
            Ok(Some(Type::Object(members.collect::<Result<_, String>>()?)))
        }
        Fields::Unnamed(fields) if fields.unnamed.len() == 1 => {
            let field = &fields.unnamed[0];
            let serde = Serde::read(&field.attrs)?;
            serde.only(&["serialize_with"])?;
            match serde.get("serialize_with") {
                Some(function) => Ok(Some(written_by(function)?.0)),
                None => kind(&field.ty).map(Some),
            }
        }
        Fields::Unnamed(_) => Err("it has several fields without names".to_owned()),
    }
}

fn member(rust: &str, field: &syn::Field) -> Result<Member, String> {
    let serde = Serde::read(&field.attrs)?;
    serde.only(&["rename", "with", "default", "skip_serializing_if"])?;
    let skipped = serde.get("skip_serializing_if");
    // What is left out has to be what its default puts there.
    let is_default = serde.get("default").is_some();
    if skipped.is_some_and(|function| function != "Option::is_none" && !is_default) {
        return Err("a member that is left out for another reason than being `None`".to_owned());
    }
    if serde.get("default").is_some_and(|function| !function.is_empty()) {
        return Err("a default other than the type's own".to_owned());
    }
    let (of, sentence) = match serde.get("with") {
        Some(module) => written_by(module)?,
        None => (kind(&field.ty)?, ""),
    };
    Ok(Member {
        name: serde.get("rename").unwrap_or(rust).to_owned(),
        doc: format!("{} {sentence}", documentation(&field.attrs)).trim().to_owned(),
        optional: skipped.is_some() || serde.get("default").is_some(),
        of,
    })
}

/// The type of a field.
fn kind(of: &syn::Type) -> Result<Type, String> {
    match of {
        syn::Type::Tuple(tuple) => {
            Ok(Type::Tuple(tuple.elems.iter().map(kind).collect::<Result<_, _>>()?))
        }
        syn::Type::Path(path) => {
            let last = path.path.segments.last().ok_or("a path without a name")?;
            let arguments = match &last.arguments {
                PathArguments::None => Vec::new(),
                PathArguments::AngleBracketed(arguments) => arguments.args.iter().collect(),
                PathArguments::Parenthesized(_) => return Err("a function".to_owned()),
            };
            named(&last.ident.to_string(), &arguments)
        }
        _ => Err("a type of a kind that is not known here".to_owned()),
    }
}

fn named(name: &str, arguments: &[&GenericArgument]) -> Result<Type, String> {
    let inside = |argument: &GenericArgument| match argument {
        GenericArgument::Type(of) => kind(of).map(Box::new),
        _ => Err(format!("an argument of `{name}` is not a type")),
    };
    match (name, arguments) {
        ("String", []) => Ok(Type::Text),
        ("bool", []) => Ok(Type::Boolean),
        ("u16" | "u32" | "u64" | "usize" | "i32" | "i64", []) => Ok(Type::Number),
        ("Option", [of]) => inside(of).map(Type::OrNull),
        ("Vec", [of]) => inside(of).map(Type::List),
        // Only how it is kept in memory.
        ("Box", [of]) => Ok(*inside(of)?),
        ("BTreeMap", [key, of]) if *inside(key)? == Type::Text => inside(of).map(Type::Map),
        // How it is written, an attribute says.
        ("Timestamp", []) => Err("a time without a unit".to_owned()),
        (_, []) => Ok(Type::Named(name.to_owned())),
        (_, _) => Err(format!("`{name}` with arguments is not known here")),
    }
}

/// The serde attributes of one thing: names, and the texts that some have.
struct Serde(Vec<(String, String)>);

impl Serde {
    fn read(attributes: &[Attribute]) -> Result<Serde, String> {
        let mut found = Vec::new();
        for attribute in attributes {
            match word(attribute.path()).as_str() {
                "doc" | "derive" | "allow" | "error" | "default" => {}
                "serde" => {
                    let metas = attribute
                        .parse_args_with(Punctuated::<Meta, Token![,]>::parse_terminated)
                        .map_err(|error| error.to_string())?;
                    for meta in metas {
                        found.push((word(meta.path()), value(&meta)?));
                    }
                }
                other => return Err(format!("the attribute `{other}` is not known here")),
            }
        }
        Ok(Serde(found))
    }

    fn get(&self, name: &str) -> Option<&str> {
        self.0.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str())
    }

    /// Refuses every attribute but these.
    fn only(&self, known: &[&str]) -> Result<(), String> {
        match self.0.iter().find(|(name, _)| !known.contains(&name.as_str())) {
            Some((name, _)) => Err(format!("`serde({name})` is not known here")),
            None => Ok(()),
        }
    }

    /// The name of a variant under `rename_all`.
    fn renamed(&self, variant: &str) -> Result<String, String> {
        match self.get("rename_all") {
            None => Ok(variant.to_owned()),
            Some("UPPERCASE") => Ok(variant.to_uppercase()),
            Some("snake_case") => Ok(snake_case(variant)),
            Some(rule) => Err(format!("the rule `{rule}` is not known here")),
        }
    }
}

/// As serde does it: each capital letter but the first begins a word.
pub(super) fn snake_case(name: &str) -> String {
    let mut text = String::new();
    for (at, letter) in name.char_indices() {
        if at > 0 && letter.is_uppercase() {
            text.push('_');
        }
        text.extend(letter.to_lowercase());
    }
    text
}

fn derives_serialize(attributes: &[Attribute]) -> bool {
    attributes.iter().filter(|attribute| attribute.path().is_ident("derive")).any(|attribute| {
        let names = Punctuated::<syn::Path, Token![,]>::parse_terminated;
        let names = attribute.parse_args_with(names).unwrap_or_default();
        names.iter().any(|name| name.is_ident("Serialize"))
    })
}

/// The comment above something, line by line.
fn documentation(attributes: &[Attribute]) -> String {
    let lines = attributes.iter().filter(|attribute| attribute.path().is_ident("doc"));
    let lines: Vec<String> = lines.filter_map(|line| value(&line.meta).ok()).collect();
    lines.iter().map(|line| line.trim()).collect::<Vec<_>>().join("\n")
}

fn word(path: &syn::Path) -> String {
    let words: Vec<String> = path.segments.iter().map(|part| part.ident.to_string()).collect();
    words.join("::")
}

/// The text of `name = "text"`; nothing for a bare name.
fn value(meta: &Meta) -> Result<String, String> {
    match meta {
        Meta::Path(_) => Ok(String::new()),
        Meta::NameValue(pair) => match &pair.value {
            Expr::Lit(literal) => match &literal.lit {
                Lit::Str(text) => Ok(text.value()),
                _ => Err(format!("`{}` is not a text", word(meta.path()))),
            },
            _ => Err(format!("`{}` is not a text", word(meta.path()))),
        },
        Meta::List(_) => Err(format!("`{}` with arguments is not known here", word(meta.path()))),
    }
}
