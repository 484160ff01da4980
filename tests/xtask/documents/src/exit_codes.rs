//! The table of exit codes, from the documentation of [`Exit`].

use onloop_core::effect::Exit;

use crate::rust_docs;

const SOURCE: &str = include_str!("../../../../core/effect/src/exit.rs");

/// Every exit with a name, in the order of the table.
const EXITS: &[Exit] = &[
    Exit::Done,
    Exit::Failed,
    Exit::Usage,
    Exit::Paused,
    Exit::Refused,
    Exit::Bug,
    Exit::Interrupted,
];

/// `docs/exit-codes.md`.
pub(crate) fn document() -> String {
    let mut text = String::from(
        "# Exit codes\n\n\
         Generated from `core/effect/src/exit.rs` by `cargo xtask generate`; do not edit.\n\n\
         | code | name | meaning |\n| ---: | --- | --- |\n",
    );
    for exit in EXITS {
        let meaning = meaning(*exit);
        text.push_str(&format!("| {} | `{exit:?}` | {meaning} |\n", exit.code()));
    }
    text.push_str("\n`onloop auto` has its own exit codes: see [rw-auto](auto.md).\n");
    text
}

/// The variant's documentation without the code it begins with, which must be the right one.
fn meaning(exit: Exit) -> String {
    let declaration = format!("{exit:?},");
    let within = SOURCE.split_once("pub enum Exit {").expect("`Exit` is declared there").1;
    let documented = rust_docs::read(within)
        .into_iter()
        .find(|item| item.declaration == declaration)
        .unwrap_or_else(|| panic!("`{exit:?}` does not have its own line"));
    let (code, meaning) = documented.text.split_once(": ").unwrap_or_default();
    assert_eq!(code, exit.code().to_string(), "the documentation of `{exit:?}` names its code");
    meaning.to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_exit_is_in_the_table() {
        let declared = SOURCE.split_once("pub enum Exit {").unwrap().1.split_once("\n}").unwrap().0;
        // A verb with its own table describes its codes there.
        let own = |item: &rust_docs::Documented<'_>| !item.declaration.starts_with("Custom(");
        let variants = rust_docs::read(declared).iter().filter(|item| own(item)).count();
        assert_eq!(EXITS.len(), variants);
        for exit in EXITS {
            assert!(!meaning(*exit).is_empty(), "{exit:?}");
        }
    }
}
