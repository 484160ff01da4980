//! Requests with relative paths of a folder other than the host's.

use super::{FileSize, GitRequest, LaunchSpec, ProcessSpec, Request, ServeRequest};

/// The request with absolute paths; relative ones are taken from `cwd`.
pub fn rooted(request: Request, cwd: &str) -> Request {
    let at = |path: String| absolute(cwd, &path);
    match request {
        Request::Read { path, limit_bytes } => Request::Read { path: at(path), limit_bytes },
        Request::ReadTail { path, limit_bytes } => {
            Request::ReadTail { path: at(path), limit_bytes }
        }
        Request::Write { path, bytes, expect, durability, private } => {
            Request::Write { path: at(path), bytes, expect, durability, private }
        }
        Request::Append { path, bytes, expect_len_bytes, durability, private } => {
            Request::Append { path: at(path), bytes, expect_len_bytes, durability, private }
        }
        Request::Patch { path, offset_bytes, old, new } => {
            Request::Patch { path: at(path), offset_bytes, old, new }
        }
        Request::Remove { path } => Request::Remove { path: at(path) },
        Request::List { path } => Request::List { path: at(path) },
        Request::Stat { path } => Request::Stat { path: at(path) },
        Request::Canonical { path } => Request::Canonical { path: at(path) },
        Request::Lock { path, wait_ms, private, role, run } => {
            Request::Lock { path: at(path), wait_ms, private, role, run }
        }
        Request::Unlock { path } => Request::Unlock { path: at(path) },
        Request::Holder { path } => Request::Holder { path: at(path) },
        Request::Process(spec) => {
            let (spec_cwd, stream_to) = (at(spec.cwd), spec.stream_to.map(at));
            let observe = spec.observe.into_iter().map(at).collect();
            Request::Process(ProcessSpec { cwd: spec_cwd, stream_to, observe, ..spec })
        }
        Request::Git(request) => Request::Git(rooted_git(request, cwd)),
        Request::Changes { folders, wait_ms, working } => {
            Request::Changes { folders: folders.into_iter().map(at).collect(), wait_ms, working }
        }
        Request::Serve(ServeRequest::Next { wait_ms, folders }) => {
            let folders = folders.into_iter().map(at).collect();
            Request::Serve(ServeRequest::Next { wait_ms, folders })
        }
        Request::Launch(spec) => {
            let (spec_cwd, log) = (at(spec.cwd), spec.log.map(at));
            Request::Launch(LaunchSpec { cwd: spec_cwd, log, ..spec })
        }
        Request::Ask { question, choices, unless_changed } => {
            let unless_changed = unless_changed
                .map(|FileSize { path, size_bytes }| FileSize { path: at(path), size_bytes });
            Request::Ask { question, choices, unless_changed }
        }
        Request::Ancestors
        | Request::Wait { .. }
        | Request::End
        | Request::EndGroup { .. }
        | Request::Interrupt { .. }
        | Request::Http(_)
        | Request::Serve(_)
        | Request::ReadInput { .. }
        | Request::Sleep { .. }
        | Request::Say(_) => request,
    }
}

/// The request to git with absolute paths; relative ones are taken from `root`.
pub fn rooted_git(mut request: GitRequest, root: &str) -> GitRequest {
    match &mut request {
        GitRequest::CreateWorktree { cwd, path, .. } | GitRequest::RemoveWorktree { cwd, path } => {
            *cwd = absolute(root, cwd);
            *path = absolute(root, path);
        }
        GitRequest::Checkpoint { cwd, index, .. }
        | GitRequest::Restore { cwd, index, .. }
        | GitRequest::CommitKept { cwd, index, .. } => {
            *cwd = absolute(root, cwd);
            *index = absolute(root, index);
        }
        GitRequest::ImportPack { cwd, pack, .. } => {
            *cwd = absolute(root, cwd);
            *pack = absolute(root, pack);
        }
        GitRequest::Survey { cwd, .. }
        | GitRequest::Worktrees { cwd }
        | GitRequest::Head { cwd }
        | GitRequest::Switch { cwd, .. }
        | GitRequest::DeleteBranch { cwd, .. }
        | GitRequest::MergeBase { cwd, .. }
        | GitRequest::RemoteBranch { cwd, .. }
        | GitRequest::Merge { cwd, .. }
        | GitRequest::RecoverMerge { cwd, .. }
        | GitRequest::Push { cwd, .. }
        | GitRequest::Stash { cwd, .. }
        | GitRequest::Diff { cwd, .. }
        | GitRequest::ChangedPaths { cwd, .. }
        | GitRequest::Checkpoints { cwd }
        | GitRequest::Note { cwd, .. }
        | GitRequest::KeepFiles { cwd, .. }
        | GitRequest::ReadKept { cwd, .. }
        | GitRequest::PushRefs { cwd, .. }
        | GitRequest::FetchRefs { cwd, .. }
        | GitRequest::ForgetCheckpoint { cwd, .. } => *cwd = absolute(root, cwd),
    }
    request
}

/// `path` as an absolute path.
pub fn absolute(cwd: &str, path: &str) -> String {
    let has_drive = path.as_bytes().get(1) == Some(&b':');
    if path.starts_with(['/', '\\']) || has_drive {
        return path.to_owned();
    }
    match path {
        "" | "." => cwd.to_owned(),
        path => format!("{}/{path}", cwd.trim_end_matches('/')),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_taken_from_the_folder_of_the_call() {
        let table = [
            (".", "/srv/a"),
            ("b.md", "/srv/a/b.md"),
            ("../b", "/srv/a/../b"),
            ("/etc", "/etc"),
            ("C:/x", "C:/x"),
        ];
        for (path, expected) in table {
            assert_eq!(absolute("/srv/a", path), expected);
        }
        assert_eq!(absolute("/", "b"), "/b");
        let patch = Request::Patch {
            path: "p".to_owned(),
            offset_bytes: 0,
            old: Vec::new().into(),
            new: Vec::new().into(),
        };
        assert!(matches!(rooted(patch, "/w"), Request::Patch { path, .. } if path == "/w/p"));
    }
}
