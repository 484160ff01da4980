//! The table of limits, from the documentation of `onloop_core::limits`.

use crate::rust_docs::{self, Documented};

const SOURCE: &str = include_str!("../../../../core/syntax/src/limits.rs");

/// `docs/limits.md`.
pub(crate) fn document() -> String {
    let mut text = String::from(
        "# Limits\n\n\
         Generated from `core/syntax/src/limits.rs` by `cargo xtask generate`; do not edit.\n\n\
         Hitting a limit is a named diagnostic or failure, never a silent cut.\n\n\
         | limit | value | what it bounds |\n| --- | ---: | --- |\n",
    );
    for item in rust_docs::read(SOURCE) {
        if let Some((name, value)) = constant(&item) {
            text.push_str(&format!("| `{name}` | {value} | {} |\n", item.text.replace('|', "\\|")));
        }
    }
    text
}

/// The name and the readable value of a public constant.
fn constant<'a>(item: &Documented<'a>) -> Option<(&'a str, String)> {
    let (name, rest) = item.declaration.strip_prefix("pub const ")?.split_once(':')?;
    let expression = rest.split_once('=')?.1.trim().trim_end_matches(';');
    let value = match product(expression) {
        Some(number) => readable(number, name),
        None => format!("`{expression}`"),
    };
    Some((name, value))
}

/// The value of a product of whole numbers; `None` for any other expression.
fn product(expression: &str) -> Option<u64> {
    expression.split('*').try_fold(1_u64, |product, factor| {
        product.checked_mul(factor.trim().replace('_', "").parse().ok()?)
    })
}

/// The number in the largest unit that it is a multiple of; the name says which unit it has.
fn readable(number: u64, name: &str) -> String {
    let units: &[(u64, &str)] = if name.ends_with("_BYTES") {
        &[(1 << 30, "GiB"), (1 << 20, "MiB"), (1 << 10, "KiB"), (1, "bytes")]
    } else if name.ends_with("_MS") {
        &[(3_600_000, "h"), (60_000, "min"), (1000, "s"), (1, "ms")]
    } else {
        &[]
    };
    match units.iter().find(|(unit, _)| number >= *unit && number.is_multiple_of(*unit)) {
        Some((unit, label)) => format!("{} {label}", number / unit),
        None => number.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_shown_in_the_unit_that_fits() {
        let table = [
            ("pub const A_BYTES: usize = 4 * 1024 * 1024;", "4 MiB"),
            ("pub const A_BYTES: u64 = 1500;", "1500 bytes"),
            ("pub const A_MS: u64 = 10 * 60 * 1000;", "10 min"),
            ("pub const A_MS: u64 = 10_000;", "10 s"),
            ("pub const A_MS: u64 = 1_500;", "1500 ms"),
            ("pub const A_MS: u64 = 0;", "0"),
            ("pub const A_STEPS: usize = 10_000;", "10000"),
            ("pub const A: &[u8] = b\"x\";", "`b\"x\"`"),
        ];
        for (declaration, value) in table {
            let item = Documented { declaration, text: String::new() };
            assert_eq!(constant(&item).unwrap().1, value, "{declaration}");
        }
    }

    #[test]
    fn every_limit_of_core_is_in_the_table_and_documented() {
        let limits: Vec<Documented<'_>> =
            rust_docs::read(SOURCE).into_iter().filter(|item| constant(item).is_some()).collect();
        assert_eq!(limits.len(), SOURCE.matches("pub const ").count());
        assert!(!limits.is_empty());
        for limit in limits {
            assert!(!limit.text.is_empty(), "{}", limit.declaration);
        }
    }
}
