//! Arguments that make a program do more than it seems to.

use super::lines::{assert_decisions, confined};
use super::*;

/// Asserts that a sandbox holds each of `lines`, and that without one they are asked about.
fn assert_contained(lines: &[&str]) {
    let decisions = |decision| lines.iter().map(|line| (*line, decision)).collect::<Vec<_>>();
    assert_decisions(&Context::new("/srv/repo"), &decisions(Decision::Ask));
    assert_decisions(&confined(), &decisions(Decision::Allow));
}

#[test]
fn a_script_that_is_not_one_plain_line_is_contained() {
    assert_contained(&[
        "sed 'a\\\ns/\ne touch x\n#/x/' a.txt",
        "sed 'i\\\ny/\ne touch x\n#/x/' a.txt",
        "sed 'a foo\ns/a/b/' a.txt",
        "sed -e 'a\\' -e 's/' -e 'e touch x' -e '#/x/' a.txt",
        "sed '1i // license' a.txt",
        "sed 's/a/b/\ns/c/d/' a.txt",
        "sed -e 's/a/b\\' -e 'c/' a.txt",
        "awk 'BEGIN{print 1,\n\n2 > \".git/hooks/x\"}'",
        "awk '{ n++ }\nEND { print n }' a.txt",
    ]);
    assert_decisions(
        &Context::new("/srv/repo"),
        &[
            ("sed -n '1,/^$/p' a.txt", Decision::Allow),
            ("sed -e 's/a/b/' -e '/x/d' a.txt", Decision::Allow),
            ("sed '/x/{s/a/b/;p}' a.txt", Decision::Allow),
            ("awk '$3 > 5 { print $1, $2; n++ } END { print n }' a.txt", Decision::Allow),
            ("awk '/a|b/ || $2 >= 3 { print }' a.txt", Decision::Allow),
        ],
    );
}

#[test]
fn a_package_manager_runs_the_project_where_it_has_no_such_command() {
    assert_contained(&[
        "yarn prefix",
        "yarn why x",
        "yarn list",
        "yarn --version",
        "yarn help",
        "bun query",
        "bun ll",
        "pnpm query",
        "pnpm why x",
        "pnpm explain x",
        "pdm --version",
        "uv pip list",
        "uv pip freeze",
        "poetry pip check",
        "poetry tool list",
    ]);
    assert_decisions(
        &Context::new("/srv/repo"),
        &[
            ("npm ls", Decision::Allow),
            ("npm explain x", Decision::Allow),
            ("npm help", Decision::Allow),
            ("pip list", Decision::Allow),
        ],
    );
}
