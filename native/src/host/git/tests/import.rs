//! Packs of an untrusted git: what is taken, and what changes nothing.

use std::process::Stdio;

use onloop_core::limits;

use super::*;

/// What another git has made of the repository, packed.
struct Packed {
    head: String,
    commit: String,
    tree: String,
}

/// A clone that has one more commit, by `line`, and the pack of `objects` in it.
fn packed(place: &Place, line: &str, objects: &str) -> Packed {
    place.git(".", &["clone", "--quiet", "--shared", "repo", "agent"]);
    let head = place.git("repo", &["rev-parse", "HEAD"]);
    let git = "git -c user.name=A -c user.email=a@example.org";
    let shell = format!("set -e\n{line}\n{objects} | git pack-objects --quiet --stdout > ../pack");
    let ended = Command::new("sh")
        .args(["-c", &shell.replace("GIT", git)])
        .current_dir(place.path("agent"))
        .stdin(Stdio::null())
        .output()
        .unwrap();
    assert!(ended.status.success(), "{ended:?}");
    let commit = place.git("agent", &["rev-parse", "HEAD"]);
    let tree = place.git("agent", &["rev-parse", "HEAD^{tree}"]);
    Packed { head, commit, tree }
}

const ALL: &str = "git rev-list --objects HEAD ^origin/main | cut -d' ' -f1";
const COMMIT: &str = "echo two > file.txt && git add file.txt && GIT commit -qm Two";

fn import(place: &Place, packed: &Packed) -> Result<(), Failure> {
    let request = GitRequest::ImportPack {
        cwd: place.text("repo"),
        pack: place.text("pack"),
        branch: "main".to_owned(),
        head: packed.head.clone(),
        commit: packed.commit.clone(),
        tree: packed.tree.clone(),
    };
    OsGit::new().perform(&request).map(drop)
}

fn tip(place: &Place) -> String {
    place.git("repo", &["rev-parse", "main"])
}

#[test]
fn the_branch_and_the_index_follow_and_no_file_changes() {
    for init in [&[][..], &["--object-format=sha256"]] {
        let place = Place::with_commit(init);
        let packed = packed(&place, COMMIT, ALL);
        place.write("repo/file.txt", "work\n");
        import(&place, &packed).unwrap();
        assert_eq!(tip(&place), packed.commit, "{init:?}");
        assert_eq!(place.git("repo", &["show", ":file.txt"]), "two");
        assert_eq!(fs::read_to_string(place.path("repo/file.txt")).unwrap(), "work\n");
        // An import that was cut short after the branch had moved is done again.
        import(&place, &packed).unwrap();
        place.git("repo", &["fsck", "--strict"]);
    }
}

#[test]
fn a_faulty_pack_changes_nothing() {
    let to_git = "t=$(printf '040000 tree %s\\t.git\\n' $(git write-tree) | git mktree)\n\
                  git update-ref HEAD $(GIT commit-tree -p HEAD -m Evil $t)";
    let table = [
        ("a commit without its tree", COMMIT, "git rev-parse HEAD"),
        ("a path into the folder of git", to_git, ALL),
    ];
    for (what, line, objects) in table {
        let place = Place::with_commit(&[]);
        let packed = packed(&place, line, objects);
        let failure = import(&place, &packed).unwrap_err();
        assert_eq!(failure.kind, FailureKind::Conflict, "{what}: {failure}");
        assert_eq!(tip(&place), packed.head, "{what}");
        assert_eq!(place.git("repo", &["show", ":file.txt"]), "one", "{what}");
    }
}

#[test]
fn a_branch_that_moved_is_left_where_it_is() {
    let place = Place::with_commit(&[]);
    let packed = packed(&place, COMMIT, ALL);
    place.commit("repo", "other.txt", "meanwhile\n");
    let moved = tip(&place);
    let failure = import(&place, &packed).unwrap_err();
    assert_eq!(failure.kind, FailureKind::Conflict);
    assert!(failure.message.contains(&moved), "{failure}");
    assert_eq!(tip(&place), moved);
}

#[test]
fn a_locked_index_is_reported_as_busy_and_moves_no_branch() {
    let place = Place::with_commit(&[]);
    let packed = packed(&place, COMMIT, ALL);
    place.write("repo/.git/index.lock", "");
    assert_eq!(import(&place, &packed).unwrap_err().kind, FailureKind::Busy);
    assert_eq!(tip(&place), packed.head);
    fs::remove_file(place.path("repo/.git/index.lock")).unwrap();
    import(&place, &packed).unwrap();
    assert_eq!(tip(&place), packed.commit);
}

#[test]
fn a_pack_is_a_plain_file_of_bounded_size() {
    let place = Place::with_commit(&[]);
    let packed = packed(&place, COMMIT, ALL);
    fs::rename(place.path("pack"), place.path("real")).unwrap();
    #[cfg(unix)]
    {
        std::os::unix::fs::symlink(place.path("real"), place.path("pack")).unwrap();
        import(&place, &packed).unwrap_err();
        fs::remove_file(place.path("pack")).unwrap();
    }
    fs::create_dir(place.path("pack")).unwrap();
    import(&place, &packed).unwrap_err();
    fs::remove_dir(place.path("pack")).unwrap();
    let large = fs::File::create(place.path("pack")).unwrap();
    large.set_len(limits::IMPORT_PACK_BYTES + 1).unwrap();
    let failure = import(&place, &packed).unwrap_err();
    assert_eq!(failure.kind, FailureKind::TooLarge, "{failure}");
    assert_eq!(tip(&place), packed.head);
}
