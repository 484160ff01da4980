//! Git requests.

use super::{Io, answer};
use crate::git::{DiffShown, GitRequest, GitSurvey, KeptWork, NamedCheckpoint, WorktreeEntry};
use crate::{Failure, Outcome, Request};

impl Io {
    /// [`GitRequest::Survey`].
    pub async fn git_survey(&self, cwd: &str, branch: &str) -> Result<GitSurvey, Failure> {
        let request = GitRequest::Survey { cwd: cwd.to_owned(), branch: branch.to_owned() };
        answer!(self.request(Request::Git(request)), Outcome::Survey(survey) => survey)
    }

    /// [`GitRequest::Worktrees`].
    pub async fn git_worktrees(&self, cwd: &str) -> Result<Vec<WorktreeEntry>, Failure> {
        let request = GitRequest::Worktrees { cwd: cwd.to_owned() };
        answer!(self.request(Request::Git(request)), Outcome::Worktrees { worktrees } => worktrees)
    }

    /// [`GitRequest::Head`].
    pub async fn git_head(&self, cwd: &str) -> Result<Option<String>, Failure> {
        let request = GitRequest::Head { cwd: cwd.to_owned() };
        answer!(self.request(Request::Git(request)), Outcome::Commit { commit } => commit)
    }

    /// [`GitRequest::MergeBase`].
    pub async fn git_merge_base(
        &self,
        cwd: &str,
        commit: &str,
        branch: &str,
    ) -> Result<Option<String>, Failure> {
        let (cwd, commit, branch) = (cwd.to_owned(), commit.to_owned(), branch.to_owned());
        let request = GitRequest::MergeBase { cwd, commit, branch };
        answer!(self.request(Request::Git(request)), Outcome::Commit { commit } => commit)
    }

    /// [`GitRequest::RemoteBranch`].
    pub async fn git_remote_branch(
        &self,
        cwd: &str,
        remote: &str,
        branch: &str,
    ) -> Result<Option<String>, Failure> {
        let (cwd, remote, branch) = (cwd.to_owned(), remote.to_owned(), branch.to_owned());
        let request = GitRequest::RemoteBranch { cwd, remote, branch };
        answer!(self.request(Request::Git(request)), Outcome::Commit { commit } => commit)
    }

    /// [`GitRequest::Checkpoint`], with `request`.
    pub async fn git_checkpoint(&self, request: GitRequest) -> Result<KeptWork, Failure> {
        answer!(self.request(Request::Git(request)), Outcome::Checkpoint(kept) => kept)
    }

    /// [`GitRequest::Diff`].
    pub async fn git_diff(
        &self,
        cwd: &str,
        (from, to): (&str, &str),
        shown: DiffShown<'_>,
        limit_bytes: u64,
    ) -> Result<Vec<u8>, Failure> {
        let (cwd, from, to) = (cwd.to_owned(), from.to_owned(), to.to_owned());
        let (stat, paths) = match shown {
            DiffShown::Patch => (false, Vec::new()),
            DiffShown::Stat => (true, Vec::new()),
            DiffShown::PatchOf(paths) => (false, paths.to_vec()),
            DiffShown::StatOf(paths) => (true, paths.to_vec()),
        };
        let request = GitRequest::Diff { cwd, from, to, stat, paths, limit_bytes };
        answer!(self.request(Request::Git(request)), Outcome::Diff { bytes } => bytes.into())
    }

    /// [`GitRequest::ChangedPaths`].
    pub async fn git_changed_paths(
        &self,
        cwd: &str,
        from: &str,
        to: &str,
    ) -> Result<Vec<String>, Failure> {
        let (cwd, from, to) = (cwd.to_owned(), from.to_owned(), to.to_owned());
        let request = GitRequest::ChangedPaths { cwd, from, to };
        answer!(self.request(Request::Git(request)), Outcome::Names { names } => names)
    }

    /// [`GitRequest::CommitKept`], with `request`.
    pub async fn git_commit_kept(&self, request: GitRequest) -> Result<Option<String>, Failure> {
        answer!(self.request(Request::Git(request)), Outcome::Commit { commit } => commit)
    }

    /// [`GitRequest::Checkpoints`].
    pub async fn git_checkpoints(&self, cwd: &str) -> Result<Vec<NamedCheckpoint>, Failure> {
        let request = GitRequest::Checkpoints { cwd: cwd.to_owned() };
        answer!(
            self.request(Request::Git(request)),
            Outcome::Checkpoints { checkpoints } => checkpoints
        )
    }

    /// [`GitRequest::KeepFiles`], with `request`.
    pub async fn git_keep_files(&self, request: GitRequest) -> Result<Option<String>, Failure> {
        answer!(self.request(Request::Git(request)), Outcome::Commit { commit } => commit)
    }

    /// [`GitRequest::ReadKept`].
    pub async fn git_read_kept(
        &self,
        cwd: &str,
        commit: &str,
        name: &str,
        limit_bytes: u64,
    ) -> Result<Vec<u8>, Failure> {
        let (cwd, commit, name) = (cwd.to_owned(), commit.to_owned(), name.to_owned());
        let request = GitRequest::ReadKept { cwd, commit, name, limit_bytes };
        answer!(self.request(Request::Git(request)), Outcome::KeptFile { bytes } => bytes.into())
    }

    /// [`GitRequest::FetchRefs`].
    pub async fn git_fetch_refs(
        &self,
        cwd: &str,
        remote: &str,
        prefix: &str,
    ) -> Result<Vec<NamedCheckpoint>, Failure> {
        let (cwd, remote, prefix) = (cwd.to_owned(), remote.to_owned(), prefix.to_owned());
        let request = GitRequest::FetchRefs { cwd, remote, prefix };
        answer!(
            self.request(Request::Git(request)),
            Outcome::Checkpoints { checkpoints } => checkpoints
        )
    }

    /// Any [`GitRequest`] whose reply has no value.
    pub async fn git(&self, request: GitRequest) -> Result<(), Failure> {
        self.done(Request::Git(request)).await
    }
}
