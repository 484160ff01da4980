//! Submodules are repositories of their own.

use super::*;

#[test]
fn a_submodule_is_a_repository_of_its_own() {
    for (kind, init) in KINDS {
        let place = Place::with_commit(init);
        place.init("super", init);
        place.commit("super", "top.txt", "");
        place.git("super", &["submodule", "--quiet", "add", "../repo", "sub"]);
        let survey = place.survey("super/sub", "main").unwrap();
        assert_eq!(survey.root, place.text("super/sub"), "{kind}");
        assert_eq!(survey.main_root, place.text("super/sub"), "{kind}");
        assert!(!survey.linked, "{kind}");
        assert_eq!(survey.target_checked_out_at, Some(place.text("super/sub")), "{kind}");
        place.git("super/sub", &["worktree", "add", "--quiet", "-b", "y", "../../linked"]);
        let linked = place.survey("linked", "y").unwrap();
        assert_eq!(linked.main_root, place.text("super/sub"), "{kind}");
    }
}

#[test]
fn of_a_submodule_nothing_but_its_commit_is_looked_at() {
    for (kind, init) in KINDS {
        let place = Place::with_commit(init);
        place.init("super", init);
        place.git("super", &["submodule", "--quiet", "add", "../repo", "sub"]);
        place.git("super", &["commit", "--quiet", "--message", "add it"]);
        // A program that git would start to compare a file with another time.
        let filter = format!("touch '{}'; cat", place.text("started"));
        place.git("super/sub", &["config", "filter.x.clean", &filter]);
        place.write("super/sub/.gitattributes", "* filter=x\n");
        let content = place.read("super/sub/file.txt");
        place.write("super/sub/file.txt", &content);
        assert_eq!(place.survey("super", "x").unwrap().dirty, Vec::<String>::new(), "{kind}");
        assert!(!place.path("started").exists(), "{kind}");
        place.commit("super/sub", "file.txt", "more\n");
        assert_eq!(place.survey("super", "x").unwrap().dirty, ["sub"], "{kind}");
    }
}
