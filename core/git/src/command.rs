//! Starts git with hardened settings and a clean environment.

use std::rc::Rc;

use onloop_effect::{Failure, FailureKind, is_of_system, is_within};
use onloop_syntax::text::{name_bytes, name_text};
use onloop_syntax::time::Timestamp;
use onloop_syntax::{limits, text};

use crate::files::answer;
use crate::paths::{ancestors, is_utf8, join};
use crate::{CommandEnd, GitCommand, Slot, Step, StepReply, Surroundings};
use crate::{known_failures, settings};

/// Options of a command that is isolated from the checkout: an index of its own, no network, and a
/// time limit, because git blocks on a named pipe in place of a `.gitignore`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct IsolatedOptions<'a> {
    /// Index file; `None`: the checkout's, which is only read.
    pub(crate) index: Option<&'a str>,
    /// Time of a new commit, whose author is onloop and not the user.
    pub(crate) committed: Option<Timestamp>,
    /// Most bytes of the output.
    pub(crate) limit_bytes: u64,
    /// Names of files behind the other arguments.
    pub(crate) paths: &'a [String],
}

impl Default for IsolatedOptions<'_> {
    fn default() -> Self {
        let limit_bytes = limits::GIT_ANSWER_BYTES;
        IsolatedOptions { index: None, committed: None, limit_bytes, paths: &[] }
    }
}

/// Whether hooks of the repository and of the user may run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Hooks {
    Off,
    On,
}

/// An absolute path without `..`, by its words.
fn without_parents(path: &str) -> String {
    let mut parts = Vec::new();
    for part in path.split('/').filter(|part| !matches!(*part, "" | ".")) {
        match part {
            ".." => drop(parts.pop()),
            part => parts.push(part),
        }
    }
    format!("/{}", parts.join("/"))
}

/// Whether git inherits this variable.
fn is_inherited(name: &str) -> bool {
    !name.starts_with("GIT_")
        || settings::INHERITED_VARIABLES.contains(&name)
        || settings::INHERITED_PREFIXES.iter().any(|prefix| name.starts_with(prefix))
}

/// The git program of a host.
#[derive(Clone, Debug)]
pub(crate) struct GitProgram {
    pub(crate) slot: Slot,
    pub(crate) surroundings: Rc<Surroundings>,
    /// Longest time of each command.
    longest_ms: u64,
    interruptible: bool,
}

/// Exit code of a git that a signal ended.
pub(crate) const SIGNALLED: i32 = -1;

/// What git answered.
#[derive(Debug)]
pub(crate) struct Answer {
    pub(crate) exit: i32,
    pub(crate) stdout: Vec<u8>,
    stderr: Vec<u8>,
    /// The current folder of the command.
    cwd: String,
    /// The command, for messages.
    asked: String,
    /// Why git found no repository.
    no_repository: Option<Failure>,
}

impl GitProgram {
    pub(crate) fn new(slot: Slot, surroundings: Surroundings) -> GitProgram {
        let longest_ms = surroundings.longest_ms.unwrap_or(u64::MAX);
        GitProgram { slot, surroundings: Rc::new(surroundings), longest_ms, interruptible: true }
    }

    /// Returns a program that no interrupt ends, for a rollback after an interrupt.
    pub(crate) fn undisturbed(&self) -> GitProgram {
        let longest_ms = limits::GIT_QUESTION_TIMEOUT_MS.min(self.longest_ms);
        GitProgram { longest_ms, interruptible: false, ..self.clone() }
    }

    /// Runs a quick command in `cwd`.
    pub(crate) async fn answer(&self, cwd: &str, args: &[&str]) -> Result<Answer, Failure> {
        self.answer_to(cwd, args, &[]).await
    }

    /// Runs a quick command in `cwd` with `input` on its standard input.
    pub(crate) async fn answer_to(
        &self,
        cwd: &str,
        args: &[&str],
        input: &[u8],
    ) -> Result<Answer, Failure> {
        self.perform(cwd, args, input, Hooks::Off, limits::GIT_QUESTION_TIMEOUT_MS).await
    }

    /// Runs a quick command in `cwd` with the user's hooks.
    pub(crate) async fn answer_with_hooks(
        &self,
        cwd: &str,
        args: &[&str],
    ) -> Result<Answer, Failure> {
        self.perform(cwd, args, &[], Hooks::On, limits::GIT_QUESTION_TIMEOUT_MS).await
    }

    /// Runs a command in `cwd` that may take long.
    pub(crate) async fn act(&self, cwd: &str, args: &[&str]) -> Result<Answer, Failure> {
        self.act_on(cwd, args, &[]).await
    }

    /// Like [`GitProgram::act`], with `input` on its standard input.
    pub(crate) async fn act_on(
        &self,
        cwd: &str,
        args: &[&str],
        input: &[u8],
    ) -> Result<Answer, Failure> {
        self.perform(cwd, args, input, Hooks::Off, limits::GIT_ACT_TIMEOUT_MS).await
    }

    /// Like [`GitProgram::act`], with the user's hooks.
    pub(crate) async fn act_with_hooks(&self, cwd: &str, args: &[&str]) -> Result<Answer, Failure> {
        self.perform(cwd, args, &[], Hooks::On, limits::GIT_ACT_TIMEOUT_MS).await
    }

    async fn perform(
        &self,
        cwd: &str,
        args: &[&str],
        input: &[u8],
        hooks: Hooks,
        timeout_ms: u64,
    ) -> Result<Answer, Failure> {
        let command = self.command(cwd, hooks, &[], args, input);
        let command = GitCommand { timeout_ms: timeout_ms.min(self.longest_ms), ..command };
        self.run(cwd, args, command).await
    }

    /// Asks git in `cwd` beside the checkout, with `input` on its standard input.
    ///
    /// # Errors
    ///
    /// `TooLarge` when it answers more than it may; `Other` when it takes longer than
    /// [`limits::CHECKPOINT_TIMEOUT_MS`].
    pub(crate) async fn answer_isolated(
        &self,
        cwd: &str,
        args: &[&str],
        input: &[u8],
        options: IsolatedOptions<'_>,
    ) -> Result<Answer, Failure> {
        self.run(cwd, args, self.isolated(cwd, args, input, options)).await
    }

    /// Asks two things beside the checkout at once.
    pub(crate) async fn answer_both(
        &self,
        cwd: &str,
        args: [&[&str]; 2],
        options: IsolatedOptions<'_>,
    ) -> Result<[Answer; 2], Failure> {
        let commands = args.map(|args| self.isolated(cwd, args, &[], options)).into();
        let timeout_ms = limits::CHECKPOINT_TIMEOUT_MS.min(self.longest_ms);
        let mut ends = self.ends_of(commands).await?.into_iter();
        let mut answers = Vec::new();
        for args in args {
            let end = ends.next().unwrap_or(CommandEnd::TooLarge);
            answers.push(self.answered(cwd, args, end, (timeout_ms, options.limit_bytes)).await?);
        }
        Ok(<[Answer; 2]>::try_from(answers).expect("there is one for each"))
    }

    fn isolated(
        &self,
        cwd: &str,
        args: &[&str],
        input: &[u8],
        options: IsolatedOptions<'_>,
    ) -> GitCommand {
        let mut command = self.command(cwd, Hooks::Off, settings::ISOLATED_CONFIG, args, input);
        command.timeout_ms = limits::CHECKPOINT_TIMEOUT_MS.min(self.longest_ms);
        command.limit_bytes = options.limit_bytes;
        let mut set = |name: &str, value: &str| {
            command.env.push((name.to_owned(), value.to_owned()));
        };
        set("GIT_NO_LAZY_FETCH", "1");
        set("GIT_ALLOW_PROTOCOL", "none");
        if options.paths.iter().any(|path| !is_utf8(path)) {
            // Not every host can pass such an argument, so a pattern stands for it.
            set("GIT_LITERAL_PATHSPECS", "0");
            set("GIT_GLOB_PATHSPECS", "1");
        }
        if let Some(index) = options.index {
            set("GIT_INDEX_FILE", index);
            set("GIT_INDEX_VERSION", "4");
        }
        if let Some(at) = options.committed {
            let date = format!("@{} +0000", at.as_millis().div_euclid(1000));
            for who in ["AUTHOR", "COMMITTER"] {
                set(&format!("GIT_{who}_NAME"), "onloop");
                set(&format!("GIT_{who}_EMAIL"), "onloop@localhost");
                set(&format!("GIT_{who}_DATE"), &date);
            }
        }
        command.args.extend(pathspecs(options.paths));
        command
    }

    fn command(
        &self,
        cwd: &str,
        hooks: Hooks,
        more: &[&str],
        args: &[&str],
        input: &[u8],
    ) -> GitCommand {
        let no_hooks = [settings::NO_HOOKS];
        let no_hooks = if hooks == Hooks::Off { &no_hooks[..] } else { &[] };
        let settings = settings::HARDENED_CONFIG.iter().chain(no_hooks).chain(more);
        let settings = settings.flat_map(|setting| ["-c", setting]);
        let words = ["--no-pager"].into_iter().chain(settings).chain(args.iter().copied());
        let env = settings::ENVIRONMENT.iter();
        let env = env.map(|(name, value)| ((*name).to_owned(), (*value).to_owned()));
        // Hooks may need what an agent can change.
        let path = if hooks == Hooks::Off { self.path_outside_of(cwd) } else { None };
        let env = env.chain(path.map(|path| ("PATH".to_owned(), path)));
        let inherited = self.surroundings.env.keys();
        GitCommand {
            cwd: cwd.to_owned(),
            args: words.map(str::to_owned).collect(),
            stdin: input.to_vec().into(),
            env: env.collect(),
            env_remove: inherited.filter(|name| !is_inherited(name)).cloned().collect(),
            timeout_ms: 0,
            limit_bytes: limits::GIT_ANSWER_BYTES,
            interruptible: self.interruptible,
        }
    }

    /// `PATH` without folders in which an agent may write: those in `cwd` and in the folder of this
    /// program, and relative ones. `None`: it has none.
    fn path_outside_of(&self, cwd: &str) -> Option<String> {
        let path = self.surroundings.env.get("PATH").filter(|_| cwd.starts_with('/'))?;
        let is_outside = |entry: &&str| {
            let own = [cwd, &self.surroundings.cwd];
            let folder = without_parents(entry);
            entry.starts_with('/') && !own.iter().any(|own| is_within(&folder, own))
        };
        let kept: Vec<&str> = path.split(':').filter(is_outside).collect();
        Some(kept.join(":"))
    }

    /// `path` without folders of other worktrees of the repository at `cwd`, and without those in which `git`
    /// is a link to where an agent may write.
    async fn path_elsewhere(&self, cwd: &str, path: &str) -> String {
        let pointer = self.read_text(&join(cwd, ".git")).await.unwrap_or_default();
        let main =
            pointer.strip_prefix("gitdir: ").and_then(|to| to.split_once("/.git/worktrees/"));
        let main = main.map_or_else(|| cwd.trim_end_matches("/.git"), |(main, _)| main);
        let linked = format!("gitdir: {main}/.git/worktrees/");
        let mut own = vec![cwd, main, &self.surroundings.cwd];
        let of_users = || path.split(':').filter(|folder| !is_of_system(folder));
        for above in of_users().flat_map(ancestors) {
            let pointer = self.read_text(&join(above, ".git")).await;
            own.extend(pointer.filter(|pointer| pointer.starts_with(&linked)).map(|_| above));
        }
        let is_own = |path: &str| own.iter().any(|own| is_within(path, own));
        let mut kept = Vec::new();
        for folder in path.split(':').filter(|folder| !is_own(folder)) {
            let program = join(folder, "git");
            if is_of_system(folder) || !is_own(&self.resolved(&program).await) {
                kept.push(folder);
            }
        }
        kept.join(":")
    }

    async fn run(&self, cwd: &str, args: &[&str], command: GitCommand) -> Result<Answer, Failure> {
        self.demand_no_links(cwd, args).await?;
        let bounds = (command.timeout_ms, command.limit_bytes);
        let mut ends = self.ends_of(vec![command]).await?;
        self.answered(cwd, args, ends.pop().unwrap_or(CommandEnd::TooLarge), bounds).await
    }

    async fn ends_of(&self, mut commands: Vec<GitCommand>) -> Result<Vec<CommandEnd>, Failure> {
        for GitCommand { cwd, env, .. } in &mut commands {
            if let Some((_, path)) = env.iter_mut().find(|(name, _)| name == "PATH") {
                *path = self.path_elsewhere(cwd, path).await;
            }
        }
        answer!(self.ask(Step::Run { commands }).await, StepReply::Ended { ends } => ends)
    }

    async fn answered(
        &self,
        cwd: &str,
        args: &[&str],
        end: CommandEnd,
        (timeout_ms, limit_bytes): (u64, u64),
    ) -> Result<Answer, Failure> {
        let asked = format!("`git {}` in `{cwd}`", args.join(" "));
        let waits = |program: Option<String>| {
            program.map_or_else(String::new, |program| format!(": it was waiting for `{program}`"))
        };
        let (kind, message) = match end {
            CommandEnd::Exited { exit, stdout, stderr } => {
                let (stdout, stderr) = (stdout.into(), Vec::from(stderr));
                let no_repository = match exit {
                    0 => None,
                    _ => self.no_repository_said(&String::from_utf8_lossy(&stderr), cwd).await,
                };
                let cwd = cwd.to_owned();
                return Ok(Answer { exit, stdout, stderr, cwd, asked, no_repository });
            }
            CommandEnd::TooLarge => {
                (FailureKind::TooLarge, format!("{asked}: more than {limit_bytes} bytes"))
            }
            CommandEnd::TimedOut { waits_for } => {
                let (time, waits) = (text::span(timeout_ms), waits(waits_for));
                (FailureKind::Other, format!("{asked} was ended after {time}{waits}"))
            }
            CommandEnd::Interrupted { waits_for } => {
                (FailureKind::Interrupted, format!("{asked} was interrupted{}", waits(waits_for)))
            }
        };
        Err(Failure::new(kind, message))
    }
}

impl Answer {
    /// The answer of a command that had finished its work when it was ended.
    pub(crate) fn done(cwd: &str) -> Answer {
        let (stdout, stderr, asked) = (Vec::new(), Vec::new(), String::new());
        Answer { exit: 0, stdout, stderr, cwd: cwd.to_owned(), asked, no_repository: None }
    }

    /// Returns the standard error.
    pub(crate) fn said(&self) -> String {
        String::from_utf8_lossy(&self.stderr).trim_end().to_owned()
    }

    pub(crate) fn into_failure(self) -> Failure {
        let said = self.said();
        let known = || known_failures::recognize(&said, &self.cwd);
        if let Some(named) = self.no_repository.or_else(known) {
            return named;
        }
        if self.exit == SIGNALLED {
            let message = format!("{} was ended by a signal", self.asked);
            return Failure::new(FailureKind::Unknown, message);
        }
        let said = if said.is_empty() { "no reason given" } else { &said };
        let message = format!("{} ended with {}: {said}", self.asked, self.exit);
        Failure::new(FailureKind::Other, message)
    }

    /// Standard output of a command that had to succeed.
    pub(crate) fn success(self) -> Result<Vec<u8>, Failure> {
        match self.exit {
            0 => Ok(self.stdout),
            _ => Err(self.into_failure()),
        }
    }

    /// Standard output; `None` where git answers "no": exit code 1 without a message.
    pub(crate) fn yes_or_no(self) -> Result<Option<Vec<u8>>, Failure> {
        match self.exit {
            0 => Ok(Some(self.stdout)),
            1 => Ok(None),
            _ => Err(self.into_failure()),
        }
    }
}

/// Paths as arguments. If one is not UTF-8, all are patterns in which such a byte is any byte.
fn pathspecs(paths: &[String]) -> Vec<String> {
    if paths.iter().all(|path| is_utf8(path)) {
        return paths.to_vec();
    }
    let pattern = |path: &String| {
        let bytes = name_bytes(path);
        let mut pattern = String::new();
        for chunk in bytes.utf8_chunks() {
            for c in chunk.valid().chars() {
                pattern.extend(matches!(c, '*' | '?' | '[' | '\\').then_some('\\'));
                pattern.push(c);
            }
            pattern.extend(chunk.invalid().iter().map(|_| '?'));
        }
        // A folder is everything below it.
        [format!("{pattern}/**"), pattern]
    };
    paths.iter().flat_map(pattern).collect()
}

/// Returns an answer of one line, without its line break.
pub(crate) fn text(output: &[u8]) -> String {
    let output = output.strip_suffix(b"\n").unwrap_or(output);
    String::from_utf8_lossy(output).into_owned()
}

/// Joins paths, each terminated by NUL.
pub(crate) fn until_nul<'p>(paths: impl Iterator<Item = &'p [u8]>) -> Vec<u8> {
    paths.flat_map(|path| [path, b"\0"]).collect::<Vec<_>>().concat()
}

/// The files that a request names, each terminated by NUL.
pub(crate) fn list_of(names: &[String]) -> Vec<u8> {
    names.iter().flat_map(|name| [&name_bytes(name)[..], b"\0"].concat()).collect()
}

/// The name of a file, for people.
pub(crate) fn shown_name(name: &[u8]) -> String {
    text::one_line(&name_text(name))
}

/// Splits an output at NUL.
pub(crate) fn lines_until_nul(output: &[u8]) -> impl Iterator<Item = &[u8]> {
    output.split(|&byte| byte == 0).filter(|part| !part.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_that_is_not_text_is_a_pattern() {
        let raw = name_text(b"a*/\xff");
        assert_eq!(pathspecs(&["a*".to_owned()]), ["a*"]);
        assert_eq!(pathspecs(&[raw]), [r"a\*/?/**", r"a\*/?"]);
    }
}
