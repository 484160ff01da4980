//! Whose a file of rules is decides what it may grant.

use std::os::unix::fs::{MetadataExt, chown};

use crate::workspace::Workspace;

/// The decision about `frob`, and about `git status`, below a folder with rules for both.
fn decided(place: &Workspace) -> [String; 2] {
    ["frob x", "git status"].map(|line| {
        let run = place.onloop_at("team/mine", &["permit", "explain", "--json", line]);
        let said: serde_json::Value = serde_json::from_str(&run.stdout).expect("JSON");
        said["decision"].as_str().expect("a text").to_owned()
    })
}

#[test]
fn rules_of_another_user_above_the_work_allow_nothing() {
    let place = Workspace::plain();
    let rules = "team/.agentize.local.yaml";
    place.write(rules, "permissions: {allow: ['^frob'], deny: ['^git status']}\n");
    place.write("team/mine/a.txt", "a\n");
    assert_eq!(decided(&place), ["allow", "deny"]);
    let path = place.path(rules);
    // Only root can give a file away.
    if std::fs::metadata(&path).unwrap().uid() == 0 {
        chown(&path, Some(12_345), None).unwrap();
        assert_eq!(decided(&place), ["ask", "deny"]);
        let run = place.onloop_at("team/mine", &["permit", "explain", "frob x"]);
        let notes = run.stdout.split("note: ").last().unwrap_or_default();
        let said = notes.split_whitespace().collect::<Vec<_>>().join(" ");
        let path = path.display();
        let expected = format!(
            "`{path}` is above your work and belongs to another user, so it is not taken for yours: \
             of what is in it only the rules that deny or ask count; a file of your own in the \
             checkout or in your home is taken"
        );
        assert_eq!(said, expected);
    }
}
