//! A temporary folder, real git, and a host that can be told to fail.

use std::cell::RefCell;
use std::collections::VecDeque;
use std::fs;
use std::ops::RangeInclusive;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::rc::Rc;

use onloop::host::git::OsGit;
use onloop_core::effect;
use onloop_core::effect::{
    Exit, Expect, Failure, FailureKind, FileKind, GitRequest, Program, Reply, Request, Say, Start,
    Stat, Terminal, Turn, Version,
};
use onloop_core::engine::error::exit_of;
use onloop_core::preflight::{PreflightFlags, Prepared};
use onloop_core::time::Timestamp;
use onloop_core::workflow::{self, Plan};
use tempfile::TempDir;

use crate::temporary::temporary_folder;

/// A plan with the slug `x` that pins nothing.
pub(super) fn plan() -> Plan {
    plan_with("x", "").expect("a valid file")
}

/// The plan of a file with these lines in its frontmatter; `None` when it is not valid.
pub(super) fn plan_with(slug: &str, frontmatter: &str) -> Option<Plan> {
    let file = format!(
        "---\nintent: do x\nsuccess_criteria: x is done\nrisk_level: low\n{frontmatter}---\n\
         - [ ] **Step 1: Do**\naction: do\nloop: false\n"
    );
    workflow::parse(&format!("hotl-workflow-{slug}.md"), file.as_bytes()).plan
}

pub(super) struct Machine {
    folder: TempDir,
}

/// How preflight is started.
pub(super) struct Session {
    cwd: PathBuf,
    answers: Option<VecDeque<String>>,
    effects: usize,
    failing: RangeInclusive<usize>,
    state_home: Option<String>,
}

/// How it ended.
pub(super) struct Outcome {
    pub(super) result: Result<Prepared, Exit>,
    pub(super) notes: String,
    pub(super) questions: Vec<String>,
    pub(super) git_requests: usize,
}

impl Outcome {
    pub(super) fn prepared(&self) -> &Prepared {
        self.result.as_ref().unwrap_or_else(|exit| panic!("{exit:?}: {}", self.notes))
    }

    pub(super) fn exit(&self) -> Exit {
        *self.result.as_ref().expect_err("preflight should not go through")
    }
}

impl Machine {
    pub(super) fn new() -> Machine {
        Machine { folder: temporary_folder() }
    }

    /// One commit on `main` that has a workflow file.
    pub(super) fn with_repository() -> Machine {
        let machine = Machine::new();
        machine.init("repo");
        machine.commit("repo", "hotl-workflow-x.md", "the plan\n");
        machine
    }

    pub(super) fn path(&self, relative: &str) -> PathBuf {
        self.folder.path().canonicalize().unwrap().join(relative)
    }

    pub(super) fn text(&self, relative: &str) -> String {
        self.path(relative).to_str().unwrap().to_owned()
    }

    pub(super) fn init(&self, repo: &str) {
        self.git(".", &["init", "--quiet", "--initial-branch=main", repo]);
        self.git(repo, &["config", "user.name", "A"]);
        self.git(repo, &["config", "user.email", "a@example.org"]);
    }

    pub(super) fn commit(&self, repo: &str, file: &str, content: &str) {
        self.write(&format!("{repo}/{file}"), content);
        self.git(repo, &["add", "--", file]);
        self.git(repo, &["commit", "--quiet", "--message", "change"]);
    }

    pub(super) fn write(&self, relative: &str, content: &str) {
        write(&self.path(relative), content.as_bytes()).unwrap();
    }

    pub(super) fn read(&self, relative: &str) -> String {
        fs::read_to_string(self.path(relative)).unwrap()
    }

    pub(super) fn read_absolute(&self, path: &str) -> String {
        fs::read_to_string(path).unwrap()
    }

    pub(super) fn branches(&self) -> String {
        self.git("repo", &["branch", "--format=%(refname:short)"])
    }

    pub(super) fn git(&self, repo: &str, args: &[&str]) -> String {
        let output = Command::new("git")
            .current_dir(self.path(repo))
            .env("HOME", self.folder.path())
            .env("GIT_CONFIG_GLOBAL", "/dev/null")
            .env("GIT_CONFIG_NOSYSTEM", "1")
            .args(args)
            .output()
            .unwrap();
        let stderr = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "git {args:?}: {stderr}");
        String::from_utf8(output.stdout).unwrap().trim_end().to_owned()
    }

    fn session(&self) -> Session {
        Session {
            cwd: self.path("repo"),
            answers: None,
            effects: 0,
            failing: 0..=0,
            state_home: None,
        }
    }

    /// Starts in another folder than `repo`.
    pub(super) fn at(&self, cwd: &str) -> Session {
        Session { cwd: self.path(cwd), ..self.session() }
    }

    /// With a person at the terminal, who goes away after these answers.
    pub(super) fn answering(&self, answers: &[&str]) -> Session {
        let answers = answers.iter().map(|&answer| answer.to_owned()).collect();
        Session { answers: Some(answers), ..self.session() }
    }

    /// With a host on which the effect of this number, from 1, does not happen.
    pub(super) fn failing_at(&self, number: usize) -> Session {
        Session { failing: number..=number, ..self.session() }
    }

    /// With a host on which no effect from this number on happens.
    pub(super) fn failing_from(&self, number: usize) -> Session {
        Session { failing: number..=usize::MAX, ..self.session() }
    }

    pub(super) fn run(&self, plan: &Plan, flags: &PreflightFlags) -> Outcome {
        self.session().run(plan, flags)
    }

    pub(super) fn run_file(&self, file: &str, plan: &Plan, flags: &PreflightFlags) -> Outcome {
        self.session().run_file(file, plan, flags)
    }
}

impl Session {
    /// With this state home.
    pub(super) fn with_state_home(self, folder: String) -> Session {
        Session { state_home: Some(folder), ..self }
    }

    pub(super) fn run(self, plan: &Plan, flags: &PreflightFlags) -> Outcome {
        self.run_file("hotl-workflow-x.md", plan, flags)
    }

    pub(super) fn run_file(mut self, file: &str, plan: &Plan, flags: &PreflightFlags) -> Outcome {
        let result = Rc::new(RefCell::new(None));
        let mut start = Start::example(["onloop"]);
        self.cwd.to_str().unwrap().clone_into(&mut start.cwd);
        let home = self.state_home.take().map(|home| ("ONLOOP_STATE_HOME".to_owned(), home));
        start.env.extend(home);
        let here = self.answers.is_some();
        start.terminal = Terminal { stdin: here, stdout: here, stderr: here, columns: 80 };
        let mut program = Program::new(start, {
            let (result, plan, flags) = (result.clone(), plan.clone(), flags.clone());
            let file = file.to_owned();
            move |io| async move {
                let prepared =
                    onloop_core::engine::preflight::preflight(&io, &plan, &file, &flags).await;
                let ended = prepared.as_ref().map(|_| Exit::Done).map_err(Clone::clone);
                let exit = exit_of(&io, ended).await;
                *result.borrow_mut() = Some(prepared.map_err(|_| exit));
                exit
            }
        });
        let mut outcome = Outcome {
            result: Err(Exit::Bug),
            notes: String::new(),
            questions: Vec::new(),
            git_requests: 0,
        };
        let mut reply = None;
        while let Turn::Request(request) = program.resume(reply.take()) {
            let answer = self.perform(request, &mut outcome);
            reply = Some(Reply { at: Timestamp::EPOCH, outcome: answer });
        }
        outcome.result = result.borrow_mut().take().expect("the program has ended");
        outcome
    }

    fn perform(
        &mut self,
        request: Request,
        outcome: &mut Outcome,
    ) -> Result<effect::Outcome, Failure> {
        if changes_something(&request) {
            self.effects += 1;
            if self.failing.contains(&self.effects) {
                return Err(Failure::new(FailureKind::Other, "no luck"));
            }
        }
        match request {
            Request::Git(request) => {
                outcome.git_requests += 1;
                OsGit::new().perform(&request)
            }
            Request::Say(Say::Note(note)) => {
                outcome.notes.push_str(&note);
                Ok(effect::Outcome::Done)
            }
            Request::Ask { question, choices: _, unless_changed: _ } => {
                outcome.questions.push(question);
                let answer = self.answers.as_mut().and_then(VecDeque::pop_front);
                let answer = answer.ok_or(Failure::new(FailureKind::Closed, "gone"))?;
                Ok(effect::Outcome::Answer { answer })
            }
            other => self.file(other).map_err(|error| {
                let kind = match error.kind() {
                    std::io::ErrorKind::NotFound => FailureKind::NotFound,
                    std::io::ErrorKind::AlreadyExists => FailureKind::Exists,
                    _ => FailureKind::Other,
                };
                Failure::new(kind, error.to_string())
            }),
        }
    }

    fn file(&self, request: Request) -> std::io::Result<effect::Outcome> {
        let at = |path: &str| self.cwd.join(path);
        Ok(match request {
            Request::Read { path, .. } => {
                let version = Version(String::new());
                effect::Outcome::File { bytes: fs::read(at(&path))?.into(), version }
            }
            Request::Write { path, bytes, expect, .. } => {
                if expect == Expect::Absent && at(&path).exists() {
                    return Err(std::io::ErrorKind::AlreadyExists.into());
                }
                write(&at(&path), &bytes)?;
                effect::Outcome::Written { version: Version(String::new()) }
            }
            Request::Canonical { path } => {
                let path = at(&path).canonicalize()?;
                effect::Outcome::Path { path: path.to_str().expect("UTF-8").to_owned() }
            }
            Request::Stat { path } => {
                let metadata = fs::symlink_metadata(at(&path))?;
                let kind = match metadata.file_type() {
                    kind if kind.is_file() => FileKind::File,
                    kind if kind.is_dir() => FileKind::Folder,
                    kind if kind.is_symlink() => FileKind::Link,
                    _ => FileKind::Other,
                };
                effect::Outcome::Stat(Stat {
                    kind,
                    size_bytes: metadata.len(),
                    modified: Timestamp::EPOCH,
                    executable: false,
                    foreign: false,
                })
            }
            Request::List { path } => {
                let mut names = Vec::new();
                for entry in fs::read_dir(at(&path))? {
                    names.push(entry?.file_name().into_string().expect("UTF-8"));
                }
                names.sort();
                effect::Outcome::Names { names }
            }
            Request::Lock { .. } | Request::Unlock { .. } => effect::Outcome::Done,
            other => panic!("preflight has no reason to ask for {other:?}"),
        })
    }
}

/// Whether a request is an effect. Looking is none.
fn changes_something(request: &Request) -> bool {
    match request {
        Request::Write { .. } => true,
        Request::Git(request) => match request {
            GitRequest::Survey { .. }
            | GitRequest::Worktrees { .. }
            | GitRequest::Head { .. }
            | GitRequest::MergeBase { .. }
            | GitRequest::RemoteBranch { .. }
            | GitRequest::Diff { .. }
            | GitRequest::ChangedPaths { .. }
            | GitRequest::ReadKept { .. }
            | GitRequest::Checkpoints { .. } => false,
            GitRequest::CreateWorktree { .. }
            | GitRequest::RemoveWorktree { .. }
            | GitRequest::Switch { .. }
            | GitRequest::DeleteBranch { .. }
            | GitRequest::Merge { .. }
            | GitRequest::Push { .. }
            | GitRequest::Stash { .. }
            | GitRequest::Checkpoint { .. }
            | GitRequest::RecoverMerge { .. }
            | GitRequest::Restore { .. }
            | GitRequest::ForgetCheckpoint { .. }
            | GitRequest::Note { .. }
            | GitRequest::KeepFiles { .. }
            | GitRequest::PushRefs { .. }
            | GitRequest::FetchRefs { .. }
            | GitRequest::ImportPack { .. }
            | GitRequest::CommitKept { .. } => true,
        },
        _ => false,
    }
}

fn write(path: &Path, bytes: &[u8]) -> std::io::Result<()> {
    fs::create_dir_all(path.parent().expect("files are in folders"))?;
    fs::write(path, bytes)
}
