use onloop_core::effect::wire::{self, Message};
use onloop_core::effect::{Durability, Exit, Turn};
use serde_json::{Map, Value, json};

use super::*;

const PINNED: &str = include_str!("../../../../../core/effect/src/wire/tests.rs");

fn vocabulary() -> Vec<Declaration> {
    declarations(SOURCES, DOCUMENTS).unwrap()
}

/// The module for types of which the first is called `A`.
fn module(source: &str) -> Result<String, String> {
    Ok(write::module(WHOLE, &declarations(&[("a.rs", source)], &["A"])?))
}

fn of<'a>(name: &str, all: &'a [Declaration]) -> &'a Type {
    &all.iter().find(|declaration| declaration.name == name).expect(name).of
}

/// Whether a value has a type, with no member too many and none missing.
fn fits(value: &Value, kind: &Type, all: &[Declaration]) -> bool {
    match kind {
        Type::Text => value.is_string(),
        Type::Number => value.is_number(),
        Type::Boolean => value.is_boolean(),
        Type::Named(name) => fits(value, of(name, all), all),
        Type::Literal(text) => value == text,
        Type::List(kind) => {
            value.as_array().is_some_and(|list| list.iter().all(|value| fits(value, kind, all)))
        }
        Type::Tuple(kinds) => value.as_array().is_some_and(|list| {
            list.len() == kinds.len() && list.iter().zip(kinds).all(|(v, kind)| fits(v, kind, all))
        }),
        Type::Map(kind) => {
            value.as_object().is_some_and(|map| map.values().all(|value| fits(value, kind, all)))
        }
        Type::OrNull(kind) => value.is_null() || fits(value, kind, all),
        Type::OneOf(choices) => choices.iter().any(|(_, kind)| fits(value, kind, all)),
        Type::Object(_) | Type::Both(..) => value.as_object().is_some_and(|found| {
            shapes(kind, all).iter().any(|members| {
                let known = |name: &String| members.iter().any(|member| member.name == *name);
                found.keys().all(known)
                    && members.iter().all(|member| match found.get(&member.name) {
                        Some(value) => fits(value, &member.of, all),
                        None => member.optional,
                    })
            })
        }),
    }
}

/// The lists of members that an object of a type can have.
fn shapes(kind: &Type, all: &[Declaration]) -> Vec<Vec<Member>> {
    match kind {
        Type::Object(members) => vec![members.clone()],
        Type::Named(name) => shapes(of(name, all), all),
        Type::OneOf(choices) => choices.iter().flat_map(|(_, kind)| shapes(kind, all)).collect(),
        Type::Both(left, right) => {
            let right = shapes(right, all);
            let left = shapes(left, all);
            left.iter().flat_map(|l| right.iter().map(|r| [&l[..], r].concat())).collect()
        }
        other => panic!("{other:?} is not an object"),
    }
}

/// Values of a type that together have each of its choices.
fn samples(kind: &Type, all: &[Declaration]) -> Vec<Value> {
    match kind {
        Type::Text => vec![json!("00000000000000000000000000000000")],
        Type::Number => vec![json!(0)],
        Type::Boolean => vec![json!(true), json!(false)],
        Type::Named(name) => samples(of(name, all), all),
        Type::Literal(text) => vec![json!(text)],
        Type::List(kind) => samples(kind, all).into_iter().map(|one| json!([one])).collect(),
        Type::Tuple(kinds) => vec![kinds.iter().map(|kind| samples(kind, all).remove(0)).collect()],
        Type::Map(kind) => samples(kind, all).into_iter().map(|one| json!({"A": one})).collect(),
        Type::OrNull(kind) => [vec![Value::Null], samples(kind, all)].concat(),
        Type::OneOf(choices) => choices.iter().flat_map(|(_, kind)| samples(kind, all)).collect(),
        Type::Object(_) | Type::Both(..) => {
            shapes(kind, all).iter().flat_map(|members| objects(members, all)).collect()
        }
    }
}

/// The first sample of every member, and each of the others in its place once.
fn objects(members: &[Member], all: &[Declaration]) -> Vec<Value> {
    let of_members: Vec<_> = members.iter().map(|m| (&m.name, samples(&m.of, all))).collect();
    let first: Map<_, _> =
        of_members.iter().map(|(name, of)| ((*name).clone(), of[0].clone())).collect();
    let mut objects = vec![Value::Object(first.clone())];
    for (name, others) in of_members {
        for other in others.into_iter().skip(1) {
            let mut object = first.clone();
            object.insert(name.clone(), other);
            objects.push(Value::Object(object));
        }
    }
    objects
}

/// Each writer of a document counts the positions of attachments anew.
fn without_numbers(value: &Value) -> Value {
    match value {
        Value::Number(_) => json!(0),
        Value::Array(list) => list.iter().map(without_numbers).collect(),
        Value::Object(map) => {
            map.iter().map(|(name, value)| (name.clone(), without_numbers(value))).collect()
        }
        Value::Null | Value::Bool(_) | Value::String(_) => value.clone(),
    }
}

#[test]
fn core_reads_every_form_of_a_reply_and_writes_it_again() {
    let all = vocabulary();
    let samples = samples(of("Reply", &all), &all);
    assert!(samples.len() > 40, "{}", samples.len());
    for sample in samples {
        let message = Message { json: sample.to_string(), attachments: vec![Vec::new()] };
        // Each use of the one attachment finds it empty, as it is.
        let reply = wire::read_reply(message);
        let reply = reply.unwrap_or_else(|why| panic!("{sample}: {why}"));
        let again: Value = serde_json::from_str(&wire::write_reply(reply).json).unwrap();
        let again = without_numbers(&again);
        assert_eq!(again, as_written(&sample, &again, &all));
    }
}

/// `sample` without the members that `written` leaves out: what is `null`, and what is `false` or 0 where
/// the vocabulary says that it may be left out.
fn as_written(sample: &Value, written: &Value, all: &[Declaration]) -> Value {
    let Value::Object(map) = sample else { return sample.clone() };
    let is_nothing = |name: &str, value: &Value| {
        let is_least = value == false || value == 0;
        value.is_null() || is_least && all.iter().any(|one| has_optional(&one.of, name))
    };
    let is_written = |name: &str, value| !is_nothing(name, value) || written.get(name).is_some();
    let kept = map.iter().filter(|(name, value)| is_written(name, value));
    kept.map(|(name, value)| (name.clone(), as_written(value, &written[name.as_str()], all)))
        .collect()
}

/// Whether an object of a type may lack a truth value or a number of that name.
fn has_optional(kind: &Type, name: &str) -> bool {
    match kind {
        Type::Object(members) => members.iter().any(|member| {
            let is_plain = matches!(member.of, Type::Boolean | Type::Number);
            member.optional && member.name == name && is_plain
        }),
        Type::OneOf(choices) => choices.iter().any(|(_, kind)| has_optional(kind, name)),
        Type::Both(left, right) => has_optional(left, name) || has_optional(right, name),
        _ => false,
    }
}

#[test]
fn core_reads_every_form_of_a_start_and_writes_it_again() {
    let all = vocabulary();
    for sample in samples(of("Start", &all), &all) {
        let start = wire::read_start(&sample.to_string());
        let start = start.unwrap_or_else(|why| panic!("{sample}: {why}"));
        let again = serde_json::to_value(start).unwrap();
        assert_eq!(again, as_written(&sample, &again, &all));
    }
}

#[test]
fn what_may_be_left_out_of_a_start_is_marked() {
    let all = vocabulary();
    let Type::Object(members) = of("Start", &all) else { panic!("a start is an object") };
    let whole = samples(of("Start", &all), &all).remove(0);
    for Member { name, optional, .. } in members {
        let mut part = whole.clone();
        part.as_object_mut().unwrap().remove(name);
        assert_eq!(wire::read_start(&part.to_string()).is_ok(), *optional, "{name}");
    }
}

/// The requests that core's own tests pin, as texts of JSON.
fn pinned_requests() -> Vec<Value> {
    let raw: Vec<&str> =
        PINNED.split("r#\"").skip(1).map(|rest| rest.split_once("\"#").unwrap().0).collect();
    let rest = raw.iter().find(|text| text.starts_with("\"cwd\":")).unwrap();
    let whole = raw.iter().filter(|text| text.starts_with("{\"do\":")).map(|text| text.to_string());
    let formats = raw.iter().filter(|text| text.starts_with("{{\"do\":"));
    let formatted =
        formats.map(|text| text.replace("{rest}", rest).replace("{{", "{").replace("}}", "}"));
    whole.chain(formatted).map(|text| serde_json::from_str(&text).expect(&text)).collect()
}

#[test]
fn the_requests_that_tests_of_core_pin_have_their_types() {
    let all = vocabulary();
    let request = of("Request", &all);
    let pinned = pinned_requests();
    assert_eq!(pinned.len(), 25);
    for document in pinned {
        assert!(fits(&document, request, &all), "{document}");
        for name in document.as_object().unwrap().keys() {
            let mut other = document.clone();
            let value = other.as_object_mut().unwrap().remove(name).unwrap();
            let may_lack = ["role", "run", "unless_changed", "working"].contains(&name.as_str());
            assert_eq!(fits(&other, request, &all), may_lack, "without `{name}`: {other}");
            other[format!("{name}_")] = value;
            assert!(!fits(&other, request, &all), "{other}");
        }
    }
}

#[test]
fn types_written_by_hand_are_what_core_writes() {
    let all = vocabulary();
    for exit in [Exit::Done, Exit::Interrupted] {
        let turn: Value = serde_json::from_str(&wire::write_turn(Turn::Exit(exit)).json).unwrap();
        assert!(fits(&turn, of("Turn", &all), &all), "{turn}");
    }
    for durability in [Durability::Durable, Durability::Relaxed] {
        let value = serde_json::to_value(durability).unwrap();
        assert!(fits(&value, of("Durability", &all), &all), "{value}");
    }
}

#[test]
fn each_representation_has_its_type() {
    let source = r#"
        /// Of a [`B::TwoWords`] and `None`.
        #[derive(Serialize)]
        pub struct A { pub b: B, pub c: Vec<Option<C>>, pub d: BTreeMap<String, D>, pub e: E }
        #[derive(Serialize)]
        #[serde(tag = "is", rename_all = "snake_case")]
        pub enum B {
            /// One.
            TwoWords { /// Two. */
                #[serde(default)] a: u64 },
            Inner(C),
            None,
        }
        #[derive(Serialize)]
        pub struct C { #[serde(rename = "at_ms", with = "millis")] pub at: Timestamp }
        #[derive(Serialize)]
        #[serde(rename_all = "UPPERCASE")]
        pub enum D { One, Two(i32) }
        #[derive(Serialize)]
        #[serde(tag = "to", content = "text")]
        pub enum E { Out(String) }
    "#;
    let expected = r#"
/** Of a `two_words` and `null`. */
export interface A { b: B; c: (C | null)[]; d: Record<string, D>; e: E }

export type B =
  /** One. */
  | {
      is: "two_words";
      /** Two. *\/ */
      a?: number;
    }
  | ({ is: "inner" } & C)
  | { is: "none" };

export interface C {
  /** Milliseconds since 1970. */
  at_ms: number;
}

export type D =
  | "ONE"
  | { TWO: number };

export type E =
  | { to: "Out"; text: string };
"#;
    let module = module(source).unwrap();
    assert_eq!(module.split_once(" */\n").unwrap().1, expected);
}

#[test]
fn a_change_of_a_type_changes_the_module() {
    let before = "#[derive(Serialize)] #[serde(rename_all = \"snake_case\")] \
                  pub enum A { B { path: String } }";
    let module_before = module(before).unwrap();
    for (old, new) in [
        ("path", "folder"),
        ("String", "u64"),
        ("String", "Option<String>"),
        ("path:", "#[serde(rename = \"p\")] path:"),
        ("B {", "C {"),
        ("} }", "}, C }"),
        ("snake_case", "UPPERCASE"),
        ("(rename_all", "(tag = \"do\", rename_all"),
        ("(rename_all", "(untagged, rename_all"),
    ] {
        let after = module(&before.replace(old, new)).unwrap();
        assert_ne!(after, module_before, "{old} → {new}");
    }
}

#[test]
fn what_is_not_known_is_an_error() {
    let table = [
        ("pub struct A { b: u8 }", "effect: `A`: it does not derive `Serialize`"),
        (
            "#[derive(Serialize)] struct A { b: HashSet<String> }",
            "effect: `A`: `b`: `HashSet` with arguments is not known here",
        ),
        ("#[derive(Serialize)] struct A<T> { b: T }", "effect: `A`: it is generic"),
        ("#[derive(Serialize)] struct A { b: B }", "effect: no type `B`"),
        (
            "#[derive(Serialize)] struct A { b: Timestamp }",
            "effect: `A`: `b`: a time without a unit",
        ),
        (
            "#[derive(Serialize)] struct A { #[serde(skip)] b: String }",
            "effect: `A`: `b`: `serde(skip)` is not known here",
        ),
        (
            "#[derive(Serialize)] struct A { #[serde(flatten)] b: String }",
            "effect: `A`: `b`: `serde(flatten)` is not known here",
        ),
        (
            "#[derive(Serialize)] struct A { #[serde(with = \"iso\")] b: String }",
            "effect: `A`: `b`: what `iso` writes is not known here",
        ),
        (
            "#[derive(Serialize)] struct A { #[serde(default = \"f\")] b: String }",
            "effect: `A`: `b`: a default other than the type's own",
        ),
        (
            "#[derive(Serialize)] struct A { #[cfg(test)] b: String }",
            "effect: `A`: `b`: the attribute `cfg` is not known here",
        ),
        (
            "#[derive(Serialize)] #[serde(rename_all = \"camelCase\")] struct A { b: String }",
            "effect: `A`: `serde(rename_all)` is not known here",
        ),
        (
            "#[derive(Serialize)] #[serde(rename_all = \"camelCase\")] enum A { B }",
            "effect: `A`: the rule `camelCase` is not known here",
        ),
        (
            "#[derive(Serialize)] #[serde(rename_all(serialize = \"x\"))] enum A { B }",
            "effect: `A`: `rename_all` with arguments is not known here",
        ),
        (
            "#[derive(Serialize)] enum A { #[serde(rename = \"c\")] B }",
            "effect: `A`: `serde(rename)` is not known here",
        ),
        (
            "#[derive(Serialize)] #[serde(tag = \"is\")] enum A { B(String) }",
            "effect: `A`: `B`: a variant like this has no known form here",
        ),
        (
            "#[derive(Serialize)] enum A { B(String, String) }",
            "effect: `A`: it has several fields without names",
        ),
        ("struct A; struct A;", "a.rs: a second type `A`"),
    ];
    for (source, expected) in table {
        assert_eq!(module(source).unwrap_err(), expected, "{source}");
    }
}

#[test]
fn a_type_of_another_module_is_taken_from_there() {
    let whole = "#[derive(Serialize)]\npub struct A { pub b: B }\n";
    let git = "#[derive(Serialize)]\npub struct B { pub a: u32 }\n";
    let found = declarations(&[("effect.rs", whole), ("effect/git.rs", git)], &["A"]).unwrap();
    let head = "import type {\n  B,\n} from \"./git_vocabulary.js\";\n\
                export type * from \"./git_vocabulary.js\";\n\nexport interface A {";
    assert!(write::module(WHOLE, &found).contains(head));
    let apart = write::module("git_vocabulary", &found);
    assert!(apart.contains("export interface B {") && !apart.contains("import"), "{apart}");
}
