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
fn a_pathspec_that_may_stand_for_protected_files_is_asked_about() {
    assert_decisions(&[
        ("git rm .claude/settings.json", Deny),
        ("git rm '.claud?/settings.json'", Ask),
        (r"git rm '.clau\de/settings.json'", Ask),
        ("git rm -q ':(top).github/workflows/ci.yml'", Ask),
        ("git rm -r .", Ask),
        ("git rm -r ./", Ask),
        ("git rm -r /srv/repo", Ask),
        ("git rm -r src/..", Ask),
        ("git rm '*'", Ask),
        ("git rm ':!src'", Ask),
        ("git rm -r .github", Ask),
        ("git rm -r a/.github/", Ask),
        ("git rm -r --cached --no-cached .", Ask),
        ("git mv .github old", Ask),
        ("git restore ':(top).github/workflows/ci.yml'", Deny),
        ("git checkout HEAD -- '.claud?/settings.json'", Deny),
        // These name what they are about, or leave it where it is.
        ("git rm src/a.rs", Allow),
        ("git rm -r src", Allow),
        ("git rm -r src/", Allow),
        ("git rm -r --cached .", Allow),
        ("git rm -nr .", Allow),
        ("git mv src lib", Allow),
        ("git mv src/a.rs .", Allow),
    ]);
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
    let context = Context::new("/srv/repo");
    for (line, takes) in [
        ("git add -n --no-dry-run -f .", Taken::Ignored),
        ("git add -u --no-update .", Taken::Untracked),
        ("git add -n $X .", Taken::Untracked),
    ] {
        let found = stagings(&Call::shell(line), &context);
        let found: Vec<_> = found.iter().map(|of| of.takes).collect();
        assert_eq!(found, [takes], "{line}");
    }
}

#[test]
fn a_push_to_a_branch_of_releases_asks() {
    for (branch, decision) in [
        ("beta", Decision::Ask),
        ("1.x", Decision::Ask),
        ("3.0", Decision::Ask),
        ("v2", Decision::Ask),
        ("42", Decision::Allow),
        ("beta-banner", Decision::Allow),
        ("v2-parser", Decision::Allow),
    ] {
        let line = format!("git push origin HEAD:{branch}");
        assert_eq!(
            decide(&Call::shell(&line), &Context::new("/srv/repo")).decision,
            decision,
            "{line}"
        );
    }
}

#[test]
fn git_mv_that_goes_on_after_errors_is_not_allowed() {
    for (line, decision) in [
        ("git mv a b", Decision::Allow),
        ("git mv -k src x/y", Decision::Ask),
        ("X=@~/notes.txt; git mv -k -k src $X", Decision::Ask),
    ] {
        for confined in [false, true] {
            let mut context = Context::new("/srv/repo");
            context.confined = confined;
            let found = decide(&Call::shell(line), &context).decision;
            assert_eq!(found, decision, "{line} {confined}");
        }
    }
}

#[test]
fn a_lease_that_names_a_commit_forces() {
    let mut context = Context::new("/srv/repo");
    context.git_branch = Some("feature/x".to_owned());
    lines::assert_decisions(
        &context,
        &[
            ("git push --force-with-lease origin feature/x", Allow),
            ("git push --force-with-lease=feature/x origin feature/x", Allow),
            ("git push --force-with-lease=feature/x:3027d93 origin feature/x", Deny),
            ("git push --force-with-lease=feature/x: origin feature/x", Deny),
            ("git push --force-with-lease --force-with-lease=x:1 origin feature/x", Deny),
            ("git push --force-with-lease=feature/x:$X origin feature/x", Deny),
        ],
    );
}

#[test]
fn what_runs_by_itself_is_not_deleted_with_its_folder_although_git_has_it() {
    let mut context = Context::new("/srv/repo");
    context.places.asks_git = true;
    for path in [".github/", "src/", ".github/**/*.yml", "**/*.yml", "**/*.orig", "src/**/*.yml"] {
        context.places.unchanged.insert(format!("/srv/repo/{path}"));
    }
    let (allow, ask) = (Decision::Allow, Decision::Ask);
    for (line, decision) in [
        ("rm -rf src", allow),
        ("rm -rf .github", ask),
        ("rm -r .github/.", ask),
        ("find . -name '*.orig' -delete", allow),
        ("find src -name '*.yml' -delete", allow),
        ("find .github -name '*.yml' -delete", ask),
        ("find . -name '*.yml' -delete", ask),
    ] {
        assert_eq!(decide(&Call::shell(line), &context).decision, decision, "{line}");
    }
}
