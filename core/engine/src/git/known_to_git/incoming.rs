//! What commits that a call takes over would change. A command in the sandbox may commit what it must
//! not write: hooks and what they run, and what decides about agents.

use super::remotes::{FILES_OF_COMMITS, revisions, source};
use crate::git::hardened;
use changes::changes;
use onloop_agents::confine::OF_AGENTS;
use onloop_effect::{Failure, FailureKind, Io};
use onloop_permission::{Context, Examined, is_protected_branch};
use onloop_syntax::text;
use std::collections::BTreeSet;
use words::{is_told, is_unclear, operands, own_revisions};

mod changes;
mod words;

/// What a command of git takes over.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Takes {
    /// Files as a revision has them. Where it has them as the current one, a merge leaves them.
    Files,
    /// The same, and the changes since a revision anew.
    FilesAndChanges,
    /// What revisions changed.
    Changes,
    /// A stash, with its index and the files that git did not track.
    Stash,
    /// The index alone, as a revision has it.
    Index,
}

/// Commands of git that take over a revision, and the one that they take without a word.
const TAKES: [(&str, Takes, &str); 12] = [
    ("git merge", Takes::Files, "@{upstream}"),
    ("git rebase", Takes::FilesAndChanges, "@{upstream}"),
    ("git cherry-pick", Takes::Changes, ""),
    ("git switch", Takes::Files, ""),
    ("git checkout", Takes::Files, ""),
    ("git revert", Takes::Changes, ""),
    ("git stash apply", Takes::Stash, "refs/stash@{0}"),
    ("git stash branch", Takes::Stash, "refs/stash@{0}"),
    ("git stash pop", Takes::Stash, "refs/stash@{0}"),
    ("git reset", Takes::Index, "HEAD"),
    ("git restore", Takes::Index, "HEAD"),
    // What it fetches is not known before.
    ("git pull", Takes::Files, ""),
];

/// Options with which git continues what it began, or returns to the current revision.
const RESUMING: [&str; 4] = ["--continue", "--abort", "--skip", "--quit"];

/// Commands of git that may put changes aside meanwhile, and return to the current revision for it.
const ASIDE: [&str; 3] = ["git merge", "git rebase", "git pull"];

/// Settings of git with which these do so without a word.
const ASIDE_SETTINGS: [&str; 2] = ["merge.autostash", "rebase.autostash"];

/// How questions to git about the changes of commits begin, whatever settings say.
const LOG: [&str; 8] = [
    "-c",
    "log.showRoot=true",
    "-c",
    "log.diffMerges=separate",
    "log",
    "-m",
    "--format=",
    "--no-show-signature",
];

/// How questions to git about changes end. A file of the checkout may have git look away from
/// repositories inside.
const RAW: [&str; 6] =
    ["--raw", "-z", "--no-renames", "--no-relative", "--ignore-submodules=dirty", "--"];

/// Commands of git that move names: what the line takes over afterwards may be what they name.
const NAMES: [&str; 4] = ["git branch", "git tag", "git reset", "git fetch"];

/// Beginnings of the names of files that say what the next command of git runs, where a manager of hooks
/// is installed.
const OF_HOOKS: [&str; 7] = [
    ".pre-commit-config.",
    "lefthook",
    ".lefthook",
    ".overcommit.yml",
    "hk.pkl",
    "prek.toml",
    "captainhook.json",
];

/// What a line takes over that hooks run.
#[derive(Default)]
struct Running {
    /// The files, from the top folder.
    paths: BTreeSet<String>,
    /// The commits that may bring them.
    commits: BTreeSet<String>,
}

/// Why a person must decide about commands that are allowed and take over commits; `None` if those
/// change no such file.
pub(super) async fn question(io: &Io, context: &Context, commands: &[Examined]) -> Option<String> {
    let takes = |name: &str| TAKES.into_iter().find(|(known, ..)| *known == name);
    commands.iter().find(|command| takes(&command.name).is_some())?;
    let root = context.places.root.as_deref().unwrap_or(&context.places.cwd);
    // Commits bring no programs that what follows in the line finds by its name.
    let programs = if commands.len() > 1 { &context.places.program_folders[..] } else { &[] };
    let hooks = context.places.git_hooks.iter().chain(programs);
    let hooks = hooks.filter_map(|path| path.strip_prefix(root)?.strip_prefix('/'));
    let hooks = hooks.chain(OF_AGENTS).map(str::to_lowercase);
    let place = Place { io, root, protected: hooks.collect() };
    // The questions below see the commits as they are; git takes those that stand for them.
    let replaced = ["for-each-ref", "--count=1", "--format=%(refname)", "refs/replace/"];
    if !place.says(&replaced).await.is_ok_and(|refs| refs.is_empty()) {
        return Some("git may take other commits for those named (`git replace`)".to_owned());
    }
    let named_before = commands.iter().filter(|command| NAMES.contains(&command.name.as_str()));
    let named_before = named_before.flat_map(|command| command.words.iter().skip(2));
    let named_before: Vec<&str> = named_before.flat_map(|word| revisions(source(word))).collect();
    let mut running = Running::default();
    for command in commands {
        let Some((name, takes, default)) = takes(&command.name) else { continue };
        match place.taken_over(command, (takes, default), &named_before, &mut running).await {
            Ok(None) => {}
            Ok(Some(what)) => return Some(format!("`{name}` {what}")),
            Err(_) => return Some(format!("it is not known what `{name}` takes over")),
        }
    }
    match place.own(&running).await {
        Ok(path) => path.map(|path| {
            format!(
                "it takes over a change of `{path}` in a commit that no protected branch of a \
                 remote is known to have"
            )
        }),
        Err(failure) => Some(format!("it is not known what it takes over: {failure}")),
    }
}

fn unknown() -> Failure {
    Failure::new(FailureKind::Unknown, "not known")
}

struct Place<'p> {
    io: &'p Io,
    root: &'p str,
    /// Hooks, and what decides about agents, from the top folder and in lower case.
    protected: Vec<String>,
}

impl Place<'_> {
    async fn says(&self, words: &[&str]) -> Result<String, Failure> {
        hardened::text(self.io, self.root, words).await
    }

    /// What a command takes over and a person must decide about.
    async fn taken_over(
        &self,
        command: &Examined,
        (takes, default): (Takes, &str),
        named_before: &[&str],
        running: &mut Running,
    ) -> Result<Option<String>, Failure> {
        let own = own_revisions(command, takes);
        let mut found = BTreeSet::new();
        for word in own.iter().map(String::as_str).chain(named_before.iter().copied()) {
            // It may name several, of which git takes all and tells one.
            if word.contains("FETCH_HEAD") || word == "--all" || is_unclear(word, takes) {
                return Err(unknown());
            }
            found.extend(self.commits(word).await?);
        }
        let is_default = found.is_empty() || takes == Takes::Index || !is_told(command);
        if is_default && !default.is_empty() {
            found.extend(self.revision(default).await?);
        }
        let named: Vec<&str> = found.iter().map(String::as_str).collect();
        let mut questions = Vec::new();
        let goes_back = self.goes_back(command).await?;
        if goes_back {
            questions.push(raw(&["diff", "-R"], &["HEAD"]));
        }
        let resumes = matches!(own.as_slice(), [only] if RESUMING.contains(&only.as_str()));
        if !resumes && !named.is_empty() {
            questions.extend(self.questions(takes, &named).await?);
        }
        for question in questions {
            let what = self.incoming(takes, &question, &mut running.paths).await?;
            if what.is_some() {
                return Ok(what);
            }
        }
        for (question, brought) in self.meetings(takes, &named).await? {
            let said = self.answer(&question).await?;
            let here = changes(&said).ok_or_else(unknown)?;
            let Some(found) = here.iter().find(|change| change.lacks(&self.protected)) else {
                continue;
            };
            let brought = self.answer(&brought).await?;
            let brought = changes(&brought).ok_or_else(unknown)?;
            if brought.iter().any(|change| change.is_new_where_others_left(&here)) {
                let path = text::one_line(found.path);
                return Ok(Some(format!("may move files to the folder of `{path}`")));
            }
        }
        let uses_current = goes_back || takes == Takes::FilesAndChanges;
        running.commits.extend(uses_current.then(|| "HEAD".to_owned()));
        let named = named.iter().map(|revision| revision.trim_start_matches('^').to_owned());
        running.commits.extend(named);
        Ok(None)
    }

    /// The commits that a word names for `git rev-parse`; none where it names nothing.
    async fn revision(&self, word: &str) -> Result<Vec<String>, Failure> {
        let said = self.says(&["rev-parse", "--quiet", "--revs-only", word]).await?;
        Ok(said.lines().map(str::to_owned).collect())
    }

    /// The commits that a word may name. Behind a word that is no revision, git takes all for files.
    async fn commits(&self, word: &str) -> Result<Vec<String>, Failure> {
        let mut found = self.revision(word).await?;
        // A tag hides a branch.
        found.extend(self.revision(&format!("refs/heads/{word}")).await?);
        if found.is_empty() {
            let remote = format!("refs/remotes/*/{word}");
            let said = self.says(&["for-each-ref", "--format=%(objectname)", &remote]).await?;
            found.extend(said.lines().map(str::to_owned));
        }
        Ok(found)
    }

    /// Whether a command returns to the current revision, perhaps only meanwhile.
    async fn goes_back(&self, command: &Examined) -> Result<bool, Failure> {
        let returns = |word: &&str| *word == "--autostash" || RESUMING.contains(word);
        if operands(command).iter().any(returns) {
            return Ok(true);
        }
        if !ASIDE.contains(&command.name.as_str()) {
            return Ok(false);
        }
        let settings = self.says(&["config", "--list"]).await?;
        let is_set = |line: &str| {
            ASIDE_SETTINGS.iter().any(|name| line.starts_with(name)) && !line.ends_with("=false")
        };
        Ok(settings.lines().any(is_set))
    }

    /// The questions to git about which files change.
    async fn questions(&self, takes: Takes, named: &[&str]) -> Result<Vec<Vec<String>>, Failure> {
        if takes == Takes::Index {
            let brought = |revision: &&str| raw(&["diff", "--cached", "-R"], &[revision]);
            return Ok(named.iter().map(brought).collect());
        }
        if takes == Takes::Changes {
            return Ok(vec![raw(&[&LOG, alone(named)].concat(), named)]);
        }
        let mut questions = Vec::new();
        for revision in named.iter().map(|revision| revision.trim_start_matches('^')) {
            let between = |revision: &str| raw(&["diff", "HEAD"], &[revision]);
            questions.push(between(revision));
            match takes {
                Takes::FilesAndChanges => {
                    let others = named.iter().copied().filter(|other| *other != revision);
                    let base = format!("^{revision}");
                    let onto: Vec<&str> = others.chain(["HEAD", &base]).collect();
                    questions.push(raw(&LOG, &onto));
                }
                Takes::Stash => {
                    for parent in ["^1", "^2"] {
                        questions.push(between(&format!("{revision}{parent}")));
                    }
                    for tree in self.revision(&format!("{revision}^3")).await? {
                        questions.push(words(&["ls-tree", "-r", "-z", "--full-tree", &tree]));
                    }
                }
                Takes::Files | Takes::Changes | Takes::Index => {}
            }
        }
        Ok(questions)
    }

    /// Pairs of questions to git: what where changes come from has otherwise than what is here, and what
    /// they change there. Git puts a file that they bring into the folder to which those beside it have
    /// moved.
    async fn meetings(
        &self,
        takes: Takes,
        named: &[&str],
    ) -> Result<Vec<(Vec<String>, Vec<String>)>, Failure> {
        let mut found = Vec::new();
        match takes {
            Takes::Changes if !named.is_empty() => {
                let commits = self.says(&[&["rev-list"], alone(named), named].concat()).await?;
                for commit in commits.lines() {
                    let brought = raw(&[&LOG[..], &["--no-walk"]].concat(), &[commit]);
                    found.push((raw(&["diff", "HEAD"], &[commit]), brought));
                }
            }
            Takes::Stash => {
                for stash in named {
                    let base = format!("{stash}^1");
                    let here = raw(&["diff", "--cached", "-R"], &[&base]);
                    found.push((here, raw(&["diff", &base], &[stash])));
                }
            }
            Takes::Files | Takes::FilesAndChanges => {
                for revision in named.iter().map(|revision| revision.trim_start_matches('^')) {
                    let bases = match self.says(&["merge-base", "--all", "HEAD", revision]).await {
                        Err(failure) if failure.kind == FailureKind::Other => String::new(),
                        bases => bases?,
                    };
                    for base in bases.lines() {
                        let brought = raw(&["diff", base], &[revision]);
                        found.push((raw(&["diff", "HEAD"], &[base]), brought));
                    }
                }
            }
            Takes::Changes | Takes::Index => {}
        }
        Ok(found)
    }

    async fn answer(&self, question: &[String]) -> Result<String, Failure> {
        self.says(&question.iter().map(String::as_str).collect::<Vec<_>>()).await
    }

    /// What changes by the answer to a question, if a person must decide about it. Notes what hooks
    /// run.
    async fn incoming(
        &self,
        takes: Takes,
        question: &[String],
        running: &mut BTreeSet<String>,
    ) -> Result<Option<String>, Failure> {
        let said = self.answer(question).await?;
        let changes = changes(&said).ok_or_else(unknown)?;
        if changes.iter().any(|change| change.brings_repository(takes)) {
            return Ok(Some("brings a repository inside, which git then enters".to_owned()));
        }
        if takes == Takes::Index {
            return Ok(None);
        }
        if let Some(change) = changes.iter().find(|change| change.is_of(&self.protected)) {
            return Ok(Some(format!("takes over a change of `{}`", text::one_line(change.path))));
        }
        let runs = |path: &&str| OF_HOOKS.iter().any(|name| path.to_lowercase().starts_with(name));
        let paths = changes.iter().map(|change| change.path).filter(runs);
        running.extend(paths.map(str::to_owned));
        Ok(None)
    }

    /// A file that hooks run in a commit that no protected branch of a remote is known to have: to
    /// others an agent pushes without a question.
    async fn own(&self, running: &Running) -> Result<Option<String>, Failure> {
        if running.paths.is_empty() {
            return Ok(None);
        }
        let refs = self.says(&["for-each-ref", "--format=%(refname)", "refs/remotes/"]).await?;
        let is_protected = |name: &&str| {
            let inside = name.strip_prefix("refs/remotes/").and_then(|name| name.split_once('/'));
            inside.is_some_and(|(_, branch)| branch == "HEAD" || is_protected_branch(branch))
        };
        let known = ["--not"].into_iter().chain(refs.lines().filter(is_protected)).chain(["--not"]);
        let commits = known.chain(running.commits.iter().map(String::as_str));
        let words: Vec<&str> = FILES_OF_COMMITS.into_iter().chain(commits).chain(["--"]).collect();
        let said = self.says(&words).await?;
        Ok(said.split('\0').find(|path| running.paths.contains(*path)).map(text::one_line))
    }
}

fn words(words: &[&str]) -> Vec<String> {
    words.iter().map(|word| (*word).to_owned()).collect()
}

/// The option for commits that are meant alone. A range says itself where to stop.
fn alone(named: &[&str]) -> &'static [&'static str] {
    match named.iter().any(|revision| revision.starts_with('^')) {
        true => &[],
        false => &["--no-walk"],
    }
}

/// A question to git about changes.
fn raw(begin: &[&str], revisions: &[&str]) -> Vec<String> {
    words(&[begin, revisions, &RAW[..]].concat())
}
