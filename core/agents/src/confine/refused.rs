//! What a confined program was refused, for people and agents.

use onloop_effect::{NetworkName, RefusedName, RefusedReason};

/// Most names in the line.
const MOST: usize = 5;

/// Returns the refused names and what allows them, on one line; `None`: nothing was refused.
pub fn refused_line(refused: &[RefusedName]) -> Option<String> {
    let (first, rest) =
        (refused.get(..MOST).unwrap_or(refused), refused.len().saturating_sub(MOST));
    let named = |of: &RefusedName| match of.count {
        1 => of.name.clone(),
        count => format!("{} ({count} times)", of.name),
    };
    let mut line = format!("refused: {}", first.iter().map(named).collect::<Vec<_>>().join(", "));
    if rest > 0 {
        line += &format!(" and {rest} more");
    }
    let with = |reason| first.iter().filter(move |of| of.reason == reason);
    // A text that is not a name cannot be allowed.
    let open = with(RefusedReason::NotListed).map(|of| of.name.as_str());
    let open: Vec<&str> = open.filter(|name| name.parse::<NetworkName>().is_ok()).collect();
    if !open.is_empty() {
        line += &format!("; allow it with `network: [{}]`", open.join(", "));
    }
    if let Some(of) = with(RefusedReason::LocalAddress).next() {
        line += &format!("; {} has an address of this machine or of its link", of.name);
    }
    if let Some(of) = with(RefusedReason::ReservedPort).next() {
        line += &format!("; {} belongs to onloop or to a container engine", of.name);
    }
    (!first.is_empty()).then_some(line)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_refused_is_named_with_what_allows_it() {
        let of = |name: &str, reason, count| RefusedName { name: name.to_owned(), reason, count };
        use RefusedReason::{LocalAddress, NotListed, ReservedPort};
        let table = [
            (vec![], None),
            (
                vec![of("evil.example", NotListed, 1)],
                Some("refused: evil.example; allow it with `network: [evil.example]`"),
            ),
            (
                vec![of("a.example", NotListed, 3), of("localhost:80", NotListed, 1)],
                Some(
                    "refused: a.example (3 times), localhost:80; allow it with \
                     `network: [a.example, localhost:80]`",
                ),
            ),
            (vec![of("127.1", NotListed, 1)], Some("refused: 127.1")),
            (
                vec![of("a.example", LocalAddress, 1), of("localhost:2375", ReservedPort, 1)],
                Some(
                    "refused: a.example, localhost:2375; a.example has an address of this machine \
                     or of its link; localhost:2375 belongs to onloop or to a container engine",
                ),
            ),
        ];
        for (refused, line) in table {
            assert_eq!(refused_line(&refused).as_deref(), line, "{refused:?}");
        }
        let many = vec![of("x.example", LocalAddress, 1); MOST + 2];
        assert!(refused_line(&many).unwrap().contains(" and 2 more; "));
    }
}
