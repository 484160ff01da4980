//! Lines with git.

use super::*;
use Decision::{Allow, Ask, Deny};

/// Asserts decisions that are the same outside of a sandbox and in one.
fn assert_decisions(table: &[(&str, Decision)]) {
    for confined in [false, true] {
        let mut context = Context::new("/srv/repo");
        context.git_branch = Some("issue-42-x".to_owned());
        context.confined = confined;
        lines::assert_decisions(&context, table);
    }
}

#[test]
fn an_option_that_makes_harmless_counts_if_nothing_takes_it_back() {
    assert_decisions(&[
        ("git clean -ndx", Allow),
        ("git clean -nfdx src", Allow),
        ("git clean -n --no-dry-run -fdx", Deny),
        ("git clean --no-dry-r -fdxn", Deny),
        ("git clean -n $X -f", Deny),
        ("git clean -nf *", Deny),
        ("git restore --staged a.txt", Allow),
        ("git restore --staged --no-staged .", Deny),
        ("git restore -S --no-sta .", Deny),
        ("git switch -c topic && git push -u origin topic", Allow),
        ("git switch -c topic --no-create other && git push -u origin HEAD", Ask),
    ]);
}
