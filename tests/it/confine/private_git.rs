//! The folder of git that a run has for itself: what works in it, what of it reaches the repository, and
//! what does not.

use super::place::Place;
use super::run::{place, run};
use crate::rounds::sampled;

/// What `git` says in a folder of the place.
fn said(place: &Place, folder: &str, words: &[&str]) -> String {
    let output = place.command("git", folder).args(words).output().unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    format!("{text}{}", String::from_utf8_lossy(&output.stderr)).trim_end().to_owned()
}

/// The folder of the only run, below that of the place.
fn run_folder(place: &Place) -> String {
    let runs = std::fs::read_dir(place.path("state/runs")).unwrap().flatten();
    let mut names = runs.map(|run| run.file_name().into_string().unwrap());
    format!("state/runs/{}", names.find(|name| name.starts_with("try-")).unwrap())
}

const WORKTREE: &str = ".hotl-worktrees/repo/hotl-try";

/// Everyday commands. The branch ends with a merge of two commits.
const EVERYDAY: &str = "\
    echo made > made && git add made && git commit -qm Made &&\n\
    git checkout -qb side && echo s > s && git add s && git commit -qm Side &&\n\
    git checkout -q - && echo o > o && git add o && git commit -qm Other &&\n\
    git merge -q --no-ff -m Merge side && git branch -d side && git branch kept &&\n\
    git tag gone && git tag -d gone && git tag mine &&\n\
    echo more >> made && git stash -q && git stash pop -q && git checkout -q made &&\n\
    git pack-refs --all && git gc -q && git config user.name Agent &&\n\
    git checkout -qb next HEAD~1 && echo n > n && git add n && git commit -qm Next &&\n\
    git rebase -q hotl/try && git checkout -q hotl/try &&\n\
    echo intended > intended && git add --intent-to-add intended &&\n\
    echo staged > staged && git add staged && git fsck";

#[test]
fn everyday_git_works_and_the_branch_alone_is_imported() {
    let verify =
        " git log -1 --format=%s | grep Merge && git diff --cached --name-only | grep staged";
    for (options, checkout, branch) in
        sampled(2, [(&[][..], WORKTREE, "hotl/try"), (&["--mode", "branch"], "repo", "hotl/try")])
    {
        let place = place("confine: on\n", verify, EVERYDAY);
        let before = said(&place, "repo", &["config", "--list", "--local"]);
        let done = run(&place, options);
        assert_eq!(done.exit, Some(0), "{options:?}: {}", done.stderr);
        let log = said(&place, "repo", &["log", "--format=%s", "-4", branch]);
        assert_eq!(log, "Merge\nOther\nSide\nMade", "{options:?}");
        assert_eq!(said(&place, "repo", &["tag"]), "", "{options:?}");
        let left = "commits outside of branch `hotl/try`, which are removed with the run: \
                    refs/heads/next. Only";
        assert!(crate::flat(&done.stderr).contains(left), "{options:?}: {}", done.stderr);
        let branches = said(&place, "repo", &["branch", "--format=%(refname:short)"]);
        let expected: Vec<&str> = ["elsewhere", "hotl/try", "main", "work"].into();
        assert_eq!(branches.lines().collect::<Vec<_>>(), expected, "{options:?}");
        let status = said(&place, checkout, &["status", "--porcelain", "--untracked-files=no"]);
        assert_eq!(status, " M hotl-workflow-try.md\nA  intended\nA  staged", "{options:?}");
        assert_eq!(said(&place, "repo", &["config", "--list", "--local"]), before);
        assert_eq!(said(&place, "repo", &["fsck", "--no-dangling"]), "", "{options:?}");
        assert!(!place.path(&run_folder(&place)).join("git").exists(), "{options:?}");
    }
}

#[test]
fn what_an_agent_plants_in_its_folder_is_read_by_no_git_outside() {
    let place = place(
        "confine: on\n",
        " git config user.planted && exit 1; git log -1 --format=%s | grep Made && \
         test \"$(git show HEAD:a.txt)\" = a && git commit -qm 'By the check' --allow-empty",
        "G=$(git rev-parse --git-common-dir)\n\
         W=$(git rev-parse --git-dir)\n\
         echo made > made && git add made && git commit -qm Made\n\
         mark=\"touch $HOME/../outside/ran\"\n\
         git config core.fsmonitor \"$mark; false\"\n\
         git config core.sshCommand \"$mark\"\n\
         git config user.planted yes\n\
         git config filter.x.clean \"$mark; cat\"\n\
         mkdir -p \"$G/info\" && echo '* filter=x' > \"$G/info/attributes\"\n\
         echo \"$mark\" > \"$G/hooks/post-commit\" 2>/dev/null\n\
         ln -sf ~/.bashrc \"$G/packed-refs.lock\"\n\
         rm -f \"$W/ORIG_HEAD\" && ln -s ~/.bashrc \"$W/ORIG_HEAD\"\n\
         mkdir -p \"$G/logs\" && ln -sf ~/.bashrc \"$G/logs/HEAD\"\n\
         evil=$(echo evil | git hash-object -w --stdin)\n\
         git replace $(git rev-parse HEAD:a.txt) $evil\n\
         git show HEAD:a.txt | grep evil || exit 9\n\
         rm -f \"$G/packed-refs.lock\"",
    );
    let before = place.outside();
    let done = run(&place, &[]);
    assert_eq!(done.exit, Some(0), "{}", done.stderr);
    assert_eq!(said(&place, "repo", &["log", "-1", "--format=%s", "hotl/try"]), "Made");
    assert_eq!(said(&place, "repo", &["show", "hotl/try:a.txt"]), "a");
    assert_eq!(said(&place, "repo", &["replace", "--list"]), "");
    for folder in ["repo", WORKTREE] {
        place.git(folder, &["status"]);
    }
    place.git("repo", &["gc", "--quiet"]);
    let changed = place.changes_since(&before).into_iter();
    let changed: Vec<String> = changed
        .filter(|line| !line.starts_with("repo/.git/") && !line.starts_with("state/"))
        .collect();
    let changed: Vec<&String> =
        changed.iter().filter(|line| !line.starts_with(".hotl-worktrees")).collect();
    assert_eq!(changed, Vec::<&String>::new());
    for name in ["config", "info/attributes", "hooks/post-commit"] {
        let text = place.read(&format!("repo/.git/{name}"));
        assert!(!text.contains("outside/ran"), "{name}: {text}");
    }
}

/// Ways to make a commit that git's own check refuses, each with `made` in the checkout.
const REFUSED: &[(&str, &str)] = &[
    (
        "a path into the folder of git",
        "t=$(printf '100644 blob %s\\tconfig\\n' $(git rev-parse HEAD:a.txt) | git mktree)\n\
         t=$(printf '040000 tree %s\\t.git\\n' $t | git mktree)\n\
         git update-ref HEAD $(git commit-tree -p HEAD -m Evil $t)",
    ),
    (
        "a link in place of .gitmodules",
        "b=$(printf 'x' | git hash-object -w --stdin)\n\
         t=$(printf '120000 blob %s\\t.gitmodules\\n' $b | git mktree)\n\
         git update-ref HEAD $(git commit-tree -p HEAD -m Evil $t)",
    ),
    (
        "an object with other content",
        "git add made && git commit -qm Evil && o=$(git rev-parse HEAD:made)\n\
         f=$(git rev-parse --git-common-dir)/objects/$(echo $o | cut -c-2)/$(echo $o | cut -c3-)\n\
         e=$(echo evil | git hash-object -w --stdin)\n\
         g=$(git rev-parse --git-common-dir)/objects/$(echo $e | cut -c-2)/$(echo $e | cut -c3-)\n\
         chmod u+w $f && cp $g $f",
    ),
    (
        "an object that is missing",
        "git add made && git commit -qm Evil && o=$(git rev-parse HEAD:made)\n\
         rm -f $(git rev-parse --git-common-dir)/objects/$(echo $o | cut -c-2)/$(echo $o | cut -c3-)",
    ),
    ("no branch", "git checkout -q --detach && git branch -D hotl/try"),
    ("no folder of git", "rm -rf \"$(git rev-parse --git-common-dir)\"/* 2>/dev/null; true"),
];

#[test]
fn a_commit_that_git_refuses_is_reported_and_its_files_stay() {
    for (what, line) in sampled(3, REFUSED) {
        let script = format!("echo made > made\n{line}");
        let place = place("confine: on\n", " grep made made", &script);
        let before = said(&place, "repo", &["rev-parse", "main"]);
        let done = run(&place, &[]);
        assert_eq!(done.exit, Some(0), "{what}: {}", done.stderr);
        let told = crate::flat(&done.stderr);
        assert!(told.contains("is not in branch `hotl/try`"), "{what}: {told}");
        assert_eq!(said(&place, "repo", &["rev-parse", "hotl/try"]), before, "{what}");
        assert_eq!(place.read(&format!("{WORKTREE}/made")), "made\n", "{what}");
        assert_eq!(said(&place, "repo", &["fsck", "--no-dangling"]), "", "{what}");
    }
}

#[test]
fn a_resumed_run_imports_what_an_interrupted_turn_committed() {
    let place = place("confine: on\n", " true", "git commit -qm Turn --allow-empty");
    place.write(
        "repo/hotl-workflow-try.md",
        &place
            .read("repo/hotl-workflow-try.md")
            .replace("loop: false\n", "loop: false\ngate: human\n"),
    );
    place.git("repo", &["commit", "--quiet", "--all", "--message", "Ask"]);
    let paused = run(&place, &[]);
    assert_eq!(paused.exit, Some(3), "{}", paused.stderr);
    // A turn that was killed before its import leaves a commit in the run's own folder of git.
    let private = place.path(&format!("{}/git/agent", run_folder(&place)));
    let inside = |words: &[&str]| {
        let mut git = place.command("git", "repo");
        git.env("GIT_DIR", &private);
        git.env("GIT_ALTERNATE_OBJECT_DIRECTORIES", place.path("repo/.git/objects"));
        let output = git.args(words).output().unwrap();
        assert!(output.status.success(), "{output:?}");
        String::from_utf8(output.stdout).unwrap().trim_end().to_owned()
    };
    let commit = inside(&["commit-tree", "-p", "hotl/try", "-m", "Late", "hotl/try^{tree}"]);
    inside(&["update-ref", "refs/heads/hotl/try", &commit]);
    let id = run_folder(&place).rsplit_once('/').unwrap().1.to_owned();
    let approved =
        place.onloop("repo", &["gate", "1", "approved", "--no-continue", "--run-id", &id]);
    assert_eq!(approved.exit, Some(0), "{}", approved.stderr);
    let done = place.onloop("repo", &["resume", &id]);
    assert_eq!(done.exit, Some(0), "{}", done.stderr);
    assert_eq!(said(&place, "repo", &["log", "--format=%s", "-2", "hotl/try"]), "Late\nTurn");
}

#[test]
#[ignore = "only with --all"]
fn an_agent_finds_what_a_person_committed_meanwhile() {
    let place = place("confine: on\n", " true", "git commit -qm Turn --allow-empty\ngit tag mine");
    place.write(
        "repo/hotl-workflow-try.md",
        &(place.read("repo/hotl-workflow-try.md").replace("loop: false\n", "loop: false\ngate: human\n")
            + "\n- [ ] **Step 2: Again**\naction: Go.\nloop: false\nverify: git log -2 --format=%s | grep Person\n\
               \n```bash\ngit log -1 --format=%s | grep Person && git commit -qm Second --allow-empty\n```\n"),
    );
    place.git("repo", &["commit", "--quiet", "--all", "--message", "Ask"]);
    assert_eq!(run(&place, &[]).exit, Some(3));
    place.git(WORKTREE, &["commit", "--quiet", "--allow-empty", "--message", "Person"]);
    let id = run_folder(&place).rsplit_once('/').unwrap().1.to_owned();
    place.onloop("repo", &["gate", "1", "approved", "--no-continue", "--run-id", &id]);
    let done = place.onloop("repo", &["resume", &id]);
    assert_eq!(done.exit, Some(0), "{}", done.stderr);
    let log = said(&place, "repo", &["log", "--format=%s", "-3", "hotl/try"]);
    assert_eq!(log, "Second\nPerson\nTurn");
}

#[test]
#[ignore = "only with --all"]
fn submodules_work_inside_and_outside() {
    let place = place(
        "confine: on\nsetup:\n  - git -c protocol.file.allow=always submodule update --init\n",
        " git status && test \"$(git -C sub log -1 --format=%s)\" = Inner",
        "cd sub && git commit -qm Inner --allow-empty && cd .. && git add sub && git commit -qm Outer",
    );
    place.git("other", &["init", "--quiet", "--initial-branch=main", "."]);
    place.git("other", &["commit", "--quiet", "--allow-empty", "--message", "Begin"]);
    let allow = ["-c", "protocol.file.allow=always"];
    place.git("repo", &[&allow[..], &["submodule", "--quiet", "add", "../other", "sub"]].concat());
    place.git("repo", &["commit", "--quiet", "--all", "--message", "Add a submodule"]);
    let done = run(&place, &[]);
    assert_eq!(done.exit, Some(0), "{}", done.stderr);
    assert_eq!(said(&place, "repo", &["log", "-1", "--format=%s", "hotl/try"]), "Outer");
    let status = said(&place, WORKTREE, &["status", "--porcelain", "--untracked-files=no"]);
    assert_eq!(status, " M hotl-workflow-try.md");
}
