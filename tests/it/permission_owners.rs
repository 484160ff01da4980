//! Whose a file is decides what it may grant.

use std::os::unix::fs::chown;

use crate::workspace::Workspace;

/// The decision about `line` in a folder of ours below one of others, and the text about it.
fn decided(place: &Workspace, line: &str) -> (String, String) {
    let explain = |words: &[&str]| {
        let words = [&["permit", "explain"], words, &[line]].concat();
        place.onloop_at("team/mine", &words).stdout
    };
    let said: serde_json::Value = serde_json::from_str(&explain(&["--json"])).expect("JSON");
    let text = explain(&[]).split_whitespace().collect::<Vec<_>>().join(" ");
    (said["decision"].as_str().expect("a text").to_owned(), text)
}

/// Gives files away, which only root can; whether it could.
fn given_away(place: &Workspace, paths: &[&str]) -> bool {
    paths.iter().all(|path| chown(place.path(path), Some(12_345), None).is_ok())
}

#[test]
fn rules_of_another_user_allow_nothing() {
    let place = Workspace::plain();
    let rules = "team/.agentize.local.yaml";
    place.write(rules, "permissions: {allow: ['^frob'], deny: ['^git status']}\n");
    place.write("team/mine/a.txt", "a\n");
    assert_eq!(decided(&place, "frob x").0, "allow");
    let is_theirs = given_away(&place, &[rules]);
    let (decision, text) = decided(&place, "frob x");
    assert_eq!(decision, if is_theirs { "ask" } else { "allow" });
    let why = format!(
        "note: `{}` belongs to another user, so it is not taken for yours: of what is in it only \
         the rules that deny or ask count; a file of your own in the checkout or in your home is \
         taken",
        place.path(rules).display()
    );
    assert_eq!(crate::flat(&text).ends_with(&why), is_theirs, "{text}");
    assert_eq!(decided(&place, "git status").0, "deny");
    // Who works in a folder of theirs works by their files.
    given_away(&place, &["team/mine"]);
    assert_eq!(decided(&place, "frob x").0, "allow");
}

#[test]
fn a_repository_of_another_user_around_the_work_is_none() {
    let place = Workspace::plain();
    place.write("team/.git/HEAD", "ref: refs/heads/main\n");
    for folder in ["objects", "refs"] {
        std::fs::create_dir_all(place.path("team/.git").join(folder)).unwrap();
    }
    place.write("team/other/a.txt", "a\n");
    place.write("team/mine/a.txt", "a\n");
    let write = "echo x > ../other/a.txt";
    assert_eq!(decided(&place, write).0, "allow");
    let is_theirs = given_away(&place, &["team/.git"]);
    assert_eq!(decided(&place, write).0, if is_theirs { "ask" } else { "allow" });
    given_away(&place, &["team/mine"]);
    assert_eq!(decided(&place, write).0, "allow");
}
