//! `kill -9` at any moment of `onloop finish`, then the same command again: what is said to be done
//! is what git says, and no work is without a name.

use std::time::{Duration, Instant};

use onloop_tests::Random;
use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;

use crate::rounds::rounds;
use crate::run::{begin, output_of};
use crate::workspace::{Run, Workspace};

const WORKFLOW: &str = "---
intent: write files
success_criteria: the files are there
risk_level: low
---

- [ ] **Step 1: Write**
action: write a file
loop: false
verify: test -f one.txt

```sh
echo one > one.txt
mkdir -p folder && echo a > folder/a.txt
```

- [ ] **Step 2: Write more**
action: write another
loop: false
verify: test -f two.txt

```sh
echo two > two.txt
```
";

/// Kills in one round before the command is left in peace.
const KILLS: u64 = 6;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Wish {
    Merge,
    Publish,
    Discard,
}

impl Wish {
    fn words(self) -> &'static [&'static str] {
        match self {
            Wish::Merge => &["merge"],
            Wish::Publish => &["publish"],
            Wish::Discard => &["discard", "--confirm", "discard"],
        }
    }

    fn outcome(self) -> &'static str {
        match self {
            Wish::Merge => "merged",
            Wish::Publish => "published",
            Wish::Discard => "discarded",
        }
    }
}

/// A completed run that is finished under fire.
struct Round {
    project: Workspace,
    id: String,
    wish: Wish,
    /// The tree that was verified.
    work: String,
    about: String,
    kills: u64,
}

impl Round {
    fn new(seed: u64, random: &mut Random) -> Round {
        let wish = [Wish::Merge, Wish::Publish, Wish::Discard][random.below(3) as usize];
        let mode = ["worktree", "branch"][random.below(2) as usize];
        let by_step = random.chance(30);
        let project = Workspace::git();
        project.write(".gitignore", "hotl-workflow-x.md\n");
        project.commit("Ignore the workflow");
        let commit = if by_step { "risk_level: low\ncommit: step" } else { "risk_level: low" };
        project.write("hotl-workflow-x.md", WORKFLOW.replace("risk_level: low", commit));
        project.git_says(&["init", "--quiet", "--bare", "../remote.git"]);
        project.git_says(&["remote", "add", "origin", "../remote.git"]);
        project
            .onloop(&["run", "hotl-workflow-x.md", "--agent", "script", "--mode", mode])
            .expect_exit(0);
        let ids = project.kept_ids();
        let [id] = ids.as_slice() else { panic!("one run was expected: {ids:?}") };
        let id = id.clone();
        let work = project.git_says(&["rev-parse", &format!("refs/onloop/{id}/2-1:folder")]);
        if (wish, mode) == (Wish::Discard, "branch") {
            // What is not committed in a checkout that others use is not discarded.
            project.commit("Work");
        }
        let about = format!("seed {seed}: {wish:?}, {mode}, by step: {by_step}");
        Round { project, id, wish, work, about, kills: 0 }
    }

    fn command(&self) -> Vec<&str> {
        [&["finish", &self.id][..], self.wish.words()].concat()
    }

    /// Runs the command and kills it after a random part of `typical`.
    fn killed(&mut self, random: &mut Random, typical: Duration) -> Run {
        let child = begin(&self.project, &self.command());
        std::thread::sleep(typical.mul_f64(random.below(1000) as f64 / 1000.0));
        // It may be over already.
        let _ = kill_process(Pid::from_child(&child), Signal::KILL);
        let run = output_of(child);
        self.kills += u64::from(run.exit.is_none());
        run
    }

    fn recorded(&self) -> Option<Value> {
        let record = super::OnDisk::of(&self.project).snapshot();
        Some(record["finish"].clone()).filter(|finish| !finish.is_null())
    }

    fn git(&self, words: &[&str]) -> Run {
        let output = self.project.command_at(".", "git").args(words).output();
        output.expect("git is there").into()
    }

    fn is_there(&self, revision: &str) -> bool {
        self.git(&["rev-parse", "--verify", "--quiet", revision]).exit == Some(0)
    }

    /// What must hold at every moment.
    fn holds(&self, run: &Run) {
        let about = format!("{}: {run:?}", self.about);
        let folder = |name: &str| {
            let found = self.git(&["rev-parse", "--verify", "--quiet", &format!("{name}:folder")]);
            found.stdout.trim_end() == self.work
        };
        let merged = folder("refs/heads/main");
        let published = self.git(&["ls-remote", "origin", "refs/heads/hotl/x"]).stdout;
        let tip = self.git(&["rev-parse", "--verify", "--quiet", "refs/heads/hotl/x"]).stdout;
        let tree = self.project.worktree("hotl/x").exists();
        let branch = self.is_there("refs/heads/hotl/x");
        // Work is held by a branch, a remote or a checkpoint until it is discarded by name.
        let checkpoint = folder(&format!("refs/onloop/{}/2-1", self.id));
        assert!(checkpoint || merged, "{about}: no name holds the work");
        let says = |words: &str| run.stdout.contains(words);
        let done = |what: &str| match what {
            "merged" => merged && !tree && !branch,
            "published" => {
                !tip.is_empty() && published.starts_with(tip.trim_end()) && folder("hotl/x")
            }
            "discarded" => !tree && !branch,
            other => panic!("{about}: {other}"),
        };
        if let Some(finish) = self.recorded() {
            let outcome = finish["disposition"].as_str().expect("a word");
            assert!(done(outcome), "{about}: {outcome} is recorded, and git says otherwise");
        }
        if run.exit == Some(0) {
            assert!(done(self.wish.outcome()), "{about}: it was said, and git says otherwise");
        }
        assert!(!says("Merged hotl/x into main") || merged, "{about}");
        assert!(!says("Pushed hotl/x") || !published.is_empty(), "{about}");
        assert!(!says("Discarded hotl/x") || !tree, "{about}");
        assert!(!says("`git branch hotl/x") || !branch, "{about}");
    }

    /// Gives the command until it is done. A git that outlived its killer may be at work still.
    fn carry_on(&self) {
        let started = Instant::now();
        loop {
            let run = self.project.onloop(&self.command());
            self.holds(&run);
            match run.exit {
                Some(0) => break,
                _ if run.stderr.contains("is already recorded") => break,
                _ if run.stderr.contains("the work was discarded") => break,
                _ => {}
            }
            let patient = started.elapsed() < Duration::from_secs(30);
            assert!(patient, "{}: it does not come to its end: {run:?}", self.about);
        }
        let finish = self.recorded().expect("an outcome");
        assert_eq!(finish["disposition"], self.wish.outcome(), "{}", self.about);
        self.left_behind();
    }

    /// A finished run leaves no part of its worktree, no lock, and one record.
    fn left_behind(&self) {
        let about = &self.about;
        let status = self.project.git_says(&["status", "--porcelain"]);
        if self.wish != Wish::Publish {
            assert_eq!(status, "", "{about}");
            let listed = self.project.git_says(&["worktree", "list", "--porcelain"]);
            assert_eq!(listed.matches("worktree ").count(), 1, "{about}: {listed}");
            let around = self.project.path("../.hotl-worktrees");
            assert!(!around.exists(), "{about}: {around:?}");
        }
        let list = self.project.onloop(&["list", "--json"]).expect_exit(0).stdout;
        let list: Vec<Value> = serde_json::from_str(&list).expect("a JSON list");
        assert_eq!(list.len(), 1, "{about}: {list:#?}");
        let merges = self.project.git_says(&["rev-list", "--merges", "--count", "main"]);
        let expected = if self.wish == Wish::Merge { "1" } else { "0" };
        assert_eq!(merges, expected, "{about}: merged once");
    }
}

#[test]
fn a_killed_finish_says_what_git_says_and_is_brought_to_its_end() {
    let first = std::env::var("ONLOOP_SEED").map_or(1, |seed| seed.parse().expect("a number"));
    let wanted = rounds(6, 200);
    let mut typical = Duration::from_millis(400);
    let (mut kills, mut seed) = (0, first);
    while kills < wanted {
        let mut random = Random::new(seed);
        let mut round = Round::new(seed, &mut random);
        while round.kills < KILLS {
            let started = Instant::now();
            let run = round.killed(&mut random, typical);
            round.holds(&run);
            if run.exit.is_some() {
                // It came to its end by itself, so that this is how long it takes.
                typical = (typical + started.elapsed().min(Duration::from_secs(2))) / 2;
                break;
            }
        }
        round.carry_on();
        kills += round.kills;
        seed += 1;
    }
    println!("{kills} commands were killed in {} rounds", seed - first);
}
