//! What the environment says to git: where repositories are looked for, what files are written, who logs
//! in. The variables of this process are shared by all tests, so that a child is asked.

use std::os::unix::fs::PermissionsExt;

use onloop_core::effect::KeptFile;
use onloop_core::time::Timestamp;

use super::*;

const CASE: &str = "ONLOOP_TEST_GIT";
const CWD: &str = "ONLOOP_TEST_REPOSITORY";

impl Place {
    /// What [`answer`] says in a process of its own, whose home is the place's.
    fn answer(&self, case: &str, cwd: &str, environment: &[(&str, String)]) -> String {
        let output = Command::new(std::env::current_exe().unwrap())
            .args(["--exact", "host::git::tests::environment::what_leads_nowhere_counts_only_where_it_is_looked_for"])
            .arg("--nocapture")
            .env_remove("XDG_CONFIG_HOME")
            .env_remove("GIT_CONFIG_GLOBAL")
            .env("HOME", self.path("."))
            .env("GIT_CONFIG_NOSYSTEM", "1")
            .env(CASE, case)
            .env(CWD, self.path(cwd))
            .envs(environment.iter().map(|(name, value)| (name, value)))
            .output()
            .unwrap();
        let said = String::from_utf8(output.stdout).unwrap();
        let answer = said.split_once("answer=").and_then(|(_, rest)| rest.split_once('\n'));
        answer.unwrap_or_else(|| panic!("{said}")).0.to_owned()
    }
}

/// Prints what git answers to this process.
fn answer(case: &str) {
    let cwd = std::env::var(CWD).unwrap();
    let mut git = OsGit::new();
    let branch = "x".to_owned();
    let answered = match case {
        "survey" => git.perform(&GitRequest::Survey { cwd, branch }),
        "head" => git.perform(&GitRequest::Head { cwd }),
        "switch" => git.perform(&GitRequest::Switch { cwd, branch, create: true }),
        "worktree" => {
            let Ok(Outcome::Commit { commit }) =
                git.perform(&GitRequest::Head { cwd: cwd.clone() })
            else {
                panic!("no commit")
            };
            let path = format!("{cwd}/../tree");
            git.perform(&GitRequest::CreateWorktree { cwd, path, branch, create_at: commit })
        }
        "keep" => git.perform(&GitRequest::KeepFiles {
            cwd,
            files: vec![KeptFile { name: "a".to_owned(), bytes: b"a".to_vec().into() }],
            name: None,
            parent: None,
            message: "m".to_owned(),
            at: Timestamp::EPOCH,
        }),
        other => panic!("{other}"),
    };
    let answer = match answered {
        Ok(Outcome::Survey(GitSurvey { repository: Some(found) })) => {
            format!("{:?} {:?}", found.branch, found.dirty)
        }
        Ok(Outcome::Survey(GitSurvey { repository: None })) => "no repository".to_owned(),
        Ok(Outcome::Done) => "done".to_owned(),
        Ok(other) => format!("{other:?}"),
        Err(failure) => format!("{:?}", failure.kind),
    };
    println!("\nanswer={answer}");
}

#[test]
fn a_repository_is_not_looked_for_above_a_ceiling() {
    let place = Place::with_commit(&[]);
    fs::create_dir_all(place.path("repo/sub/deep")).unwrap();
    let survey = |ceilings: &[&str]| {
        let ceilings: Vec<String> = ceilings.iter().map(|path| place.text(path)).collect();
        place.answer("survey", "repo/sub/deep", &[("GIT_CEILING_DIRECTORIES", ceilings.join(":"))])
    };
    assert_eq!(survey(&[]), "Some(\"main\") []");
    assert_eq!(survey(&["other", "repo/sub"]), "no repository");
    // The folder itself is always looked into, and a ceiling above the repository changes nothing.
    assert_eq!(survey(&["", "repo/sub/deep"]), "Some(\"main\") []");
}

#[test]
fn what_leads_nowhere_counts_only_where_it_is_looked_for() {
    // [`Place::answer`] starts this test as a child.
    if let Ok(case) = std::env::var(CASE) {
        return answer(&case);
    }
    let place = Place::new();
    place.write("tree/.git", "gitdir: /nowhere\n");
    place.write("tree/sub/a.txt", "");
    let head = |ceilings: String| {
        place.answer("head", "tree/sub", &[("GIT_CEILING_DIRECTORIES", ceilings)])
    };
    assert_eq!(head(String::new()), "Invalid");
    assert_eq!(head(place.text("tree")), "Commit { commit: None }");
}

#[test]
fn git_inherits_credentials_and_no_other_repository() {
    let place = Place::with_commit(&[]);
    let real = Command::new("sh").args(["-c", "command -v git"]).output().unwrap();
    let real = String::from_utf8(real.stdout).unwrap();
    let executable = |path: &str, script: &str| {
        place.write(path, script);
        fs::set_permissions(place.path(path), fs::Permissions::from_mode(0o755)).unwrap();
    };
    let (seen, sprung) = (place.text("seen"), place.text("sprung"));
    executable(
        "bin/git",
        &format!("#!/bin/sh\nenv >>'{seen}'\nexec '{}' \"$@\"\n", real.trim_end()),
    );
    executable("hooks/post-checkout", &format!("#!/bin/sh\ntouch '{sprung}'\n"));
    let own = |value: &str| value.to_owned();
    let kept = [
        ("GIT_ASKPASS", own("/ask")),
        ("SSH_ASKPASS", own("/ask")),
        ("GIT_PROXY_COMMAND", own("/proxy")),
        ("GIT_SSL_NO_VERIFY", own("0")),
        ("GIT_CONFIG_COUNT", own("2")),
        ("GIT_CONFIG_KEY_0", own("core.hooksPath")),
        ("GIT_CONFIG_VALUE_0", place.text("hooks")),
        ("GIT_CONFIG_KEY_1", own("user.name")),
        ("GIT_CONFIG_VALUE_1", own("B")),
    ];
    let removed = ["GIT_DIR", "GIT_INDEX_FILE", "GIT_WORK_TREE", "GIT_EDITOR"];
    let mut all = kept.to_vec();
    all.extend(removed.map(|name| (name, own("/elsewhere"))));
    let path = std::env::var("PATH").unwrap();
    all.push(("PATH", format!("{}:{path}", place.text("bin"))));
    assert_eq!(place.answer("switch", "repo", &all), "done");
    let seen = place.read("seen");
    for (name, value) in &kept {
        assert!(seen.lines().any(|line| line == format!("{name}={value}")), "{name}");
    }
    for name in removed {
        assert!(!seen.lines().any(|line| line.starts_with(&format!("{name}="))), "{name}");
    }
    // What we turn off stays off, whatever the environment adds.
    assert!(!place.path("sprung").exists());
}

#[test]
fn what_onloop_sets_replaces_what_it_inherits() {
    let place = Place::with_commit(&[]);
    let kept = place.answer("keep", "repo", &[]);
    assert!(kept.starts_with("Commit { commit: Some("), "{kept}");
    let outer = [
        ("GIT_INDEX_FILE", place.text("elsewhere")),
        ("GIT_COMMITTER_NAME", "B".to_owned()),
        ("GIT_COMMITTER_DATE", "2026-01-01T00:00:00Z".to_owned()),
    ];
    assert_eq!(place.answer("keep", "repo", &outer), kept);
}

#[test]
fn files_of_a_worktree_are_what_the_users_attributes_make_of_them() {
    let place = Place::new();
    place.init("repo", &[]);
    place.commit("repo", "a.txt", "hi\n");
    place.write(".gitconfig", "[filter \"loud\"]\n\tsmudge = tr a-z A-Z\n\tclean = tr A-Z a-z\n");
    place.write(".config/git/attributes", "*.txt filter=loud\n");
    assert_eq!(place.answer("worktree", "repo", &[]), "done");
    assert_eq!(place.read("tree/a.txt"), "HI\n");
    // Without the filter the file would look changed.
    assert_eq!(place.answer("survey", "tree", &[]), "Some(\"x\") []");
}
