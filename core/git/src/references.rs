//! Refs of checkpoints, and differences between commits.

use onloop_effect::{Failure, FailureKind, NamedCheckpoint};
use onloop_syntax::text::name_text;
use onloop_syntax::time::Timestamp;

use crate::command::{Answer, GitProgram, IsolatedOptions, lines_until_nul, text};

/// Prefix of the refs of checkpoints.
pub(crate) const CHECKPOINTS: &str = "refs/onloop/";

/// The ref of notes about commits.
const NOTES: &str = "refs/notes/onloop";

impl GitProgram {
    /// Returns the diff of two commits, for people.
    pub(crate) async fn diff(
        &self,
        cwd: &str,
        (from, to): (&str, &str),
        stat: bool,
        paths: &[String],
        limit_bytes: u64,
    ) -> Result<Vec<u8>, Failure> {
        let form = if stat { "--stat=76" } else { "--patch" };
        let args = [
            "diff-tree",
            "-r",
            form,
            "--no-ext-diff",
            "--no-textconv",
            "--no-color",
            "--find-renames",
            "--submodule=short",
            from,
            to,
            "--",
        ];
        let options = IsolatedOptions { limit_bytes, paths, ..IsolatedOptions::default() };
        let answer = self.answer_isolated(cwd, &args, &[], options).await?;
        let said = answer.said();
        let is_missing = |commit: &&str| said.ends_with(&format!("bad object {commit}"));
        match [from, to].into_iter().find(is_missing) {
            Some(commit) => {
                let message = format!("commit {commit} is not in the repository around `{cwd}`");
                Err(Failure::new(FailureKind::NotFound, message))
            }
            None => answer.success(),
        }
    }

    /// Returns the paths that differ between two commits.
    pub(crate) async fn changed_paths(
        &self,
        cwd: &str,
        from: &str,
        to: &str,
    ) -> Result<Vec<String>, Failure> {
        let args = ["diff-tree", "-r", "--name-only", "-z", "--no-renames", from, to, "--"];
        let listed =
            self.answer_isolated(cwd, &args, &[], IsolatedOptions::default()).await?.success()?;
        let paths = lines_until_nul(&listed);
        let mut paths: Vec<String> = paths.map(name_text).collect();
        paths.sort();
        paths.dedup();
        Ok(paths)
    }

    /// Replaces the note of a commit.
    pub(crate) async fn note(
        &self,
        cwd: &str,
        commit: &str,
        text: &str,
        at: Timestamp,
    ) -> Result<(), Failure> {
        self.demand_intact(cwd, commit, None).await?;
        let args = ["notes", "--ref", NOTES, "add", "--force", "--file", "-", commit];
        let options = IsolatedOptions { committed: Some(at), ..IsolatedOptions::default() };
        self.answer_isolated(cwd, &args, text.as_bytes(), options).await?.success().map(drop)
    }

    /// Returns every commit with a ref below [`CHECKPOINTS`].
    pub(crate) async fn checkpoints(&self, cwd: &str) -> Result<Vec<NamedCheckpoint>, Failure> {
        self.named_below(cwd, CHECKPOINTS).await
    }

    /// Returns every commit with a ref below `base`, which ends with a slash.
    pub(crate) async fn named_below(
        &self,
        cwd: &str,
        base: &str,
    ) -> Result<Vec<NamedCheckpoint>, Failure> {
        let format = "--format=%(refname)%00%(objectname)%00%(committerdate:unix)";
        let args = ["for-each-ref", format, base];
        let listed =
            self.answer_isolated(cwd, &args, &[], IsolatedOptions::default()).await?.success()?;
        let mut found = Vec::new();
        for line in text(&listed).lines() {
            let mut fields = line.split('\0');
            let (name, commit, time) = (fields.next(), fields.next(), fields.next());
            let name = name.and_then(|name| name.strip_prefix(base));
            // A ref to another object has no time and is not a checkpoint.
            let time = time.and_then(|time| time.parse::<i64>().ok());
            if let (Some(name), Some(commit), Some(seconds)) = (name, commit, time) {
                let at = Timestamp::from_millis(seconds.saturating_mul(1000));
                found.push(NamedCheckpoint {
                    name: name.to_owned(),
                    commit: commit.to_owned(),
                    at,
                });
            }
        }
        Ok(found)
    }

    /// Returns every branch, tag and remote branch, as a line of an id and a name.
    pub(crate) async fn reference_lines(&self, git_folder: &str) -> Result<Vec<u8>, Failure> {
        let format = "--format=%(objectname) %(refname)";
        let args = ["for-each-ref", format, "refs/heads/", "refs/remotes/", "refs/tags/"];
        self.of_git_folder(git_folder, &args).await?.success()
    }

    /// Returns what the file `HEAD` of a git folder says, wherever the repository keeps its refs.
    pub(crate) async fn head_line(&self, git_folder: &str) -> Result<Vec<u8>, Failure> {
        let symbolic = self.of_git_folder(git_folder, &["symbolic-ref", "--quiet", "HEAD"]).await?;
        match symbolic.success() {
            Ok(name) => Ok([b"ref: ", &name[..]].concat()),
            Err(_) => {
                self.of_git_folder(git_folder, &["rev-parse", "--verify", "HEAD"]).await?.success()
            }
        }
    }

    /// Asks in a git folder, whose owner git has looked at in its checkout.
    async fn of_git_folder(&self, git_folder: &str, args: &[&str]) -> Result<Answer, Failure> {
        let args = [&["-c", "safe.directory=*"], args].concat();
        self.answer_isolated(git_folder, &args, &[], IsolatedOptions::default()).await
    }

    /// Deletes a ref that must point to `commit`.
    pub(crate) async fn forget_checkpoint(
        &self,
        cwd: &str,
        reference: &str,
        commit: &str,
    ) -> Result<(), Failure> {
        let found = self.commit(cwd, reference).await?;
        if found.as_deref() != Some(commit) {
            let (kind, found) = match found {
                Some(found) => (FailureKind::Conflict, found),
                None => (FailureKind::NotFound, "nothing".to_owned()),
            };
            let message = format!("`{reference}` names {found}, expected {commit}");
            return Err(Failure::new(kind, message));
        }
        let args = ["update-ref", "--no-deref", "-d", reference, commit];
        self.answer_isolated(cwd, &args, &[], IsolatedOptions::default()).await?.success().map(drop)
    }
}
