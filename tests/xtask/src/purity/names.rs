//! The name of a public type means one thing in all of core.

use std::collections::BTreeMap;

use super::direction::room;
use super::modules::Modules;

/// Every name that two rooms give to types of their own. A type that is re-exported is declared
/// once, so it may be found in as many rooms as like.
pub(crate) fn faults(modules: &Modules) -> Vec<String> {
    let mut rooms: BTreeMap<&str, BTreeMap<&str, String>> = BTreeMap::new();
    for (module, found) in modules.types() {
        let place = format!("{}:{}", modules.path(module), found.line);
        rooms.entry(&found.name).or_default().entry(room(module)).or_insert(place);
    }
    rooms.retain(|_, places| places.len() > 1);
    let fault = |(name, places): (&str, BTreeMap<&str, String>)| {
        let places: Vec<_> = places.into_values().collect();
        format!("`{name}` means something else in each of {}", places.join(", "))
    };
    rooms.into_iter().map(fault).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sources::SourceFile;

    fn faults_of(files: &[(&str, &str)]) -> Vec<String> {
        let file = |(path, text): &(&str, &str)| SourceFile {
            path: format!("core/src/{path}"),
            text: (*text).to_owned(),
        };
        faults(&Modules::read(&files.iter().map(file).collect::<Vec<_>>()).unwrap())
    }

    #[test]
    fn a_name_belongs_to_one_room() {
        let here = ("run/next.rs", "\npub enum Next { Act }");
        for there in [
            "pub enum Next {}",
            "pub(crate) struct Next<'a>(&'a str);",
            "pub(super) trait Next {}",
            "#[derive(Clone)] pub type Next = u8;",
            "document! { pub(in crate::auto) struct Next { a: u8 } }",
        ] {
            assert_eq!(
                faults_of(&[here, ("auto/record.rs", there)]),
                ["`Next` means something else in each of core/src/auto/record.rs:1, \
                  core/src/run/next.rs:2"],
                "{there}"
            );
        }
    }

    #[test]
    fn a_room_may_say_a_name_again() {
        let here = ("run/next.rs", "pub enum Next { Act }");
        for (path, text) in [
            ("auto/record.rs", "enum Next {}"),
            ("auto/record.rs", "pub use crate::run::Next;"),
            ("auto/record.rs", "#[cfg(test)] mod tests { pub enum Next {} }"),
            ("auto/record.rs", "macro_rules! m { ($Next:ident) => { pub enum $Next {} } }"),
            ("auto/record.rs", "pub enum AutoNext { Next } pub fn next() {}"),
            ("run/other.rs", "pub(super) enum Next {}"),
        ] {
            assert_eq!(faults_of(&[here, (path, text)]), [""; 0], "{text}");
        }
    }
}
