use super::{Place, read};

/// What is found in `text`, without the reasons.
fn names(text: &str) -> Vec<String> {
    let reading = read(text, Place::Elsewhere).unwrap();
    let name = |message: &str| message.split('`').nth(1).unwrap_or_default().to_owned();
    reading.breaches.iter().map(|breach| name(&breach.message)).collect()
}

#[test]
fn everything_that_reaches_outside_is_found() {
    let table: &[(&str, &[&str])] = &[
        ("fn f() { std::fs::read(p); }", &["std::fs::read"]),
        ("fn f() { ::std::process::exit(1) }", &["std::process::exit"]),
        (
            "use std::{fmt, fs::{self, File as F}, net::*};",
            &["std::fs", "std::fs::File", "std::net"],
        ),
        ("use std::env as surroundings;", &["std::env"]),
        ("use std::time::{Duration, Instant};", &["std::time::Instant"]),
        ("pub use std::thread;", &["std::thread"]),
        ("type Map = std::collections::HashMap<u8, u8>;", &["std::collections::HashMap"]),
        ("fn f(p: &std::path::Path) {}", &["std::path::Path"]),
        (
            "fn f() { println!(\"a\"); std::eprint!(\"b\"); dbg!(1); }",
            &["println!", "eprint!", "dbg!"],
        ),
        ("macro_rules! m { () => { std::env::var(\"A\") } }", &["std::env::var"]),
        ("fn f() { vec![std::time::SystemTime::now()] }", &["std::time::SystemTime::now"]),
        ("extern crate libc;", &["extern"]),
        ("#[cfg(unix)] fn f() {}", &["cfg(unix)"]),
        (
            "#[cfg(all(feature = \"cli\", not(target_os = \"linux\")))] fn f() {}",
            &["cfg(target_os)"],
        ),
        ("#[cfg_attr(windows, allow(dead_code))] fn f() {}", &["cfg(windows)"]),
        ("fn f() -> bool { cfg!(target_arch = \"wasm32\") }", &["cfg(target_arch)"]),
        ("#[derive(Clone, serde::Serialize)] struct A;", &["derive(Serialize)"]),
        ("#[cfg_attr(feature = \"x\", derive(Deserialize))] struct A;", &["derive(Deserialize)"]),
    ];
    for (text, expected) in table {
        assert_eq!(names(text), *expected, "{text}");
    }
}

#[test]
fn imports_that_open_the_way_are_found() {
    for text in ["use std as s;", "use std::time;", "use std::{io};", "use std::collections::*;"] {
        let reading = read(text, Place::Elsewhere).unwrap();
        let [breach] = reading.breaches.as_slice() else { panic!("{text}: {reading:?}") };
        assert!(breach.message.contains("opens the way"), "{}", breach.message);
    }
}

#[test]
fn what_reaches_nothing_passes() {
    for text in [
        "// std::fs::read\n/* println!() */ /// std::net\nfn f() {}",
        "const A: &str = \"std::fs\"; const B: &str = r#\"std::env\"#; const C: char = '\"';",
        "const VERSION: &str = env!(\"CARGO_PKG_VERSION\"); const V: &str = std::env!(\"A\");",
        "use std::{collections::{BTreeMap, btree_map::Entry}, fmt::{self, Write}, time::Duration};",
        "use crate::process::Command; fn f() { process::run(); fs::read(); thread::go() }",
        "fn f() -> impl Sized + use<> { print != dbg }",
        "#[cfg(feature = \"cli\")] #[cfg_attr(feature = \"cli\", derive(clap::Args))] struct A;",
        "#[derive(Clone, Debug)] struct Serialize;",
        "fn f<'a>(x: &'a str) -> &'a str { x }",
    ] {
        assert_eq!(names(text), [""; 0], "{text}");
    }
}

#[test]
fn only_the_test_code_is_left_out() {
    let outside = "fn g() { std::fs::read() }";
    for inside in [
        "#[cfg(test)] mod tests { use std::fs; }",
        "#[cfg(test)] #[allow(dead_code)] pub(crate) mod tests { use std::fs; }",
        "#[cfg(test)] mod tests;",
        "#[cfg(test)] use std::{fs, net};",
        "#[cfg(test)] const fn f() { std::env::var() }",
        "#[cfg(test)] const A: fn() = { std::env::vars };",
        "#[cfg(all(test, feature = \"cli\"))] fn f<A, B>() { println!() }",
        "#[cfg(test)] pub struct A(std::fs::File);",
        "struct A { #[cfg(test)] b: std::fs::File, c: u8 }",
    ] {
        assert_eq!(names(inside), [""; 0], "{inside}");
        assert_eq!(names(&format!("{inside} {outside}")), ["std::fs::read"], "{inside}");
    }
    assert_eq!(names("#![cfg(test)]\nuse std::fs;"), [""; 0]);
    assert_eq!(names("#[cfg(not(test))] use std::fs;"), ["std::fs"]);
    assert_eq!(names("struct A { #[cfg(test)] b: u8, c: std::fs::File }"), ["std::fs::File"]);
}

#[test]
fn test_modules_in_their_own_files_are_reported() {
    let reading = read("#[cfg(test)]\nmod tests;\nmod a;", Place::Elsewhere).unwrap();
    assert_eq!(reading.test_modules, ["tests"]);
}

#[test]
fn what_is_not_rust_is_an_error() {
    assert!(read("fn f() { ( }", Place::Elsewhere).is_err());
}
