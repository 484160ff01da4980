//! Braces in patterns, which the program expands and not the shell: `{a,.env}`.

/// Most patterns that one may stand for.
const MOST: usize = 64;

/// The patterns without braces that `pattern` stands for; `None`: too many.
pub(super) fn alternatives(pattern: &str) -> Option<Vec<String>> {
    let mut found = vec![pattern.to_owned()];
    // Each round takes one pair of braces out of every pattern.
    while let Some(at) = found.iter().position(|pattern| innermost(pattern).is_some()) {
        let pattern = found.swap_remove(at);
        let (open, close) = innermost(&pattern)?;
        for choice in pattern[open + 1..close].split(',') {
            let one = format!("{}{choice}{}", &pattern[..open], &pattern[close + 1..]);
            if !found.contains(&one) {
                found.push(one);
            }
        }
        if found.len() > MOST {
            return None;
        }
    }
    Some(found)
}

/// The first pair of braces with none in between.
fn innermost(pattern: &str) -> Option<(usize, usize)> {
    let close = pattern.find('}').filter(|close| pattern[..*close].contains('{'));
    let close = close.or_else(|| {
        let open = pattern.find('{')?;
        pattern[open..].find('}').map(|at| open + at)
    })?;
    Some((pattern[..close].rfind('{')?, close))
}

#[cfg(test)]
mod tests {
    use super::alternatives;

    #[test]
    fn braces_stand_for_each_of_their_choices() {
        let table = [
            ("*.rs", "*.rs"),
            ("{a,.env}", ".env a"),
            ("x{a,b{c,d}}y", "xay xbcy xbdy"),
            ("}{a,b}", "}a }b"),
            ("{a", "{a"),
        ];
        for (pattern, expected) in table {
            let mut found = alternatives(pattern).unwrap();
            found.sort();
            assert_eq!(found.join(" "), expected, "{pattern}");
        }
        assert_eq!(alternatives(&"{a,b}".repeat(7)), None);
    }
}
